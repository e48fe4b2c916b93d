"""When passes have settled, hover or only seem to; the same rule where they are compiled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussdyn.integrate.time_stepping import fixed_point as passes
from gaussdyn.integrate.time_stepping.fixed_point import _stalled
from gaussdyn.integrate.time_stepping.moreau_jean import MoreauJean
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.mechanics.spatial.system import SpatialSystem
from gaussdyn.programs.solution.status import Status

CHANGES = st.floats(-16, -2).map(lambda k: 10.0**k)


@pytest.mark.parametrize(
    ("changes", "stalled"),
    [
        ([1e-13, 2e-13, 1.5e-13], True),  # hovers
        ([1e-3, 1e-6, 1e-9], False),  # falls
        ([1e-9, 4e-9, 4e-10], False),  # swings as it falls
        ([1e-6, 2e-13, 2e-9], False),  # jumps, as to another answer within the tolerance
        ([2e-13, 2e-9, 1.5e-13], True),  # back after a jump
        ([2e-6, 3e-6, 2.5e-6], False),  # hovers far above rounding
        ([2e-6, 3e-2, 2.5e-6], False),
        ([np.inf, 1e-12, 1e-12], False),
        ([1e-12], False),
    ],
)
def test_changes_that_only_rounding_leaves(changes, stalled):
    assert _stalled(changes[-1], changes[:-1]) is stalled


@settings(deadline=None)
@given(CHANGES, CHANGES, CHANGES)
def test_compiled_passes_stall_by_the_same_rule(earlier, last, change):
    from gaussdyn.integrate.time_stepping.compiled import step as compiled_step

    assert compiled_step.stalled(change, last, earlier) == _stalled(change, [earlier, last])


def test_a_contact_problem_that_no_method_solves_is_asked_once_in_each_way(monkeypatch):
    """Slow methods take seconds, and the next pass has the same problem."""
    slow = []

    def hard(dynamics, **options):
        slow.append(options.get("thorough", True))
        found = resolve(dynamics, **options)
        return found.but(status=Status.MAX_ITERATIONS, residuals=replace(found.residuals, E=1e-11))

    resolve = passes.resolve
    monkeypatch.setattr(passes, "resolve", hard)
    box = brick("box", mass=1.0, half=(0.1, 0.1, 0.1))
    system = SpatialSystem(bodies=[box], obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=0.3))
    state = system.state({"box": (0.0, 0.0, 0.1)}, {"box": (1.0, 0.0, 0.0)})
    step = MoreauJean(dt=1e-3, compiled=False).advance(system, state, 1.0)
    assert step.solution.status is Status.MAX_ITERATIONS
    assert 1 <= sum(slow) <= 3
