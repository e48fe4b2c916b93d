"""Shapes in the plane by the compiled step: it finds their contacts itself, and steps as the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from reference_step import apart, reference_of
from stepping_cases import pile

from gaussdyn import ContactLaw, MoreauJean, PlanarSystem, State
from gaussdyn._jit import entry_of
from gaussdyn.integrate.time_stepping.core.advance import CompiledSystem, _span
from gaussdyn.integrate.time_stepping.core.endings import Ending
from gaussdyn.integrate.time_stepping.core.outside.lazy_step import CompiledStep
from gaussdyn.integrate.time_stepping.core.records import DONE, GAINS
from gaussdyn.integrate.time_stepping.core.row_model import built
from gaussdyn.integrate.time_stepping.core.step import take_step
from gaussdyn.mechanics.planar import HalfPlane, Marker, PlanarContact
from gaussdyn.mechanics.planar.bodies import box, disc


@pytest.mark.parametrize("seed", range(6))
def test_piles_step_as_the_reference(seed: int) -> None:
    """Whatever meets, slides, bounces and comes to rest."""
    system, state = pile(seed)
    stepper = MoreauJean(dt=2e-3)
    seen: Counter[str] = Counter()
    for k in range(360):
        step = stepper.advance(system, state, 10.0)
        if k % 18 == 0 and isinstance(step, CompiledStep):
            assert apart(step, reference_of(system, step)) <= 1e-9
        seen[type(step).__name__] += 1
        seen["contacts"] += len(step.reactions)
        state = step.state
    assert seen["CompiledStep"] >= 300
    assert seen["contacts"] > 1000


def test_many_steps_in_one_call_are_single_ones_bit_by_bit() -> None:
    """However a run is cut, and whatever the room for contacts is at first; from a state that was stored as well."""
    system, start = pile(1)
    stepper, one = MoreauJean(dt=2e-3), start
    for _ in range(120):
        one = stepper.advance(system, one, 10.0).state
    kernels, many, taken = CompiledSystem.of(system, start), start, 0
    assert kernels is not None
    while taken < 120:
        stored = State(t=many.t, q=many.q.copy(), v=many.v.copy(), memory=dict(many.memory))
        done = kernels.advance_many(stepper, stored, min(50, 120 - taken), t_max=10.0, whole=False)
        many, taken = done.state, taken + done.taken
        if not done.taken:
            many, taken = stepper.advance(system, many, 10.0).state, taken + 1
    assert many.digest() == one.digest()


def test_what_a_call_says_of_its_last_step_is_not_that_of_the_one_that_failed() -> None:
    """A step that kernels hand over ends a call: the one before it keeps its own impulses and modes."""
    system, start = pile(4)
    stepper, state, steps = MoreauJean(dt=2e-3), start, []
    kernels = CompiledSystem.of(system, start)
    assert isinstance(kernels, CompiledSystem)
    while (one := kernels.advance_many(stepper, state, 1, t_max=10.0)).last is not None:
        steps.append(one.last)
        state = one.state
    many = kernels.advance_many(stepper, start, len(steps) + 5, t_max=10.0)
    assert many.taken == len(steps) > 50
    assert many.last is not None
    assert many.last.modes == steps[-1].modes
    assert many.last.reactions.keys() == steps[-1].reactions.keys()
    for key, p in steps[-1].reactions.items():
        np.testing.assert_array_equal(many.last.reactions[key], p)
    assert many.state.digest() == steps[-1].state.digest()


def test_an_impact_that_would_gain_energy_ends_no_call() -> None:
    """Where nothing rebounds kernels take it by themselves, laws at its middle: to the bit as `Ending` does."""
    system, state = pile(3)
    stepper, kernels = MoreauJean(dt=2e-3), CompiledSystem.of(system, state)
    assert isinstance(kernels, CompiledSystem)
    while not (one := kernels.advance_many(stepper, state, 1, t_max=10.0)).last.unsettled:
        state = one.state
    fresh = CompiledSystem(system, built(system, state))
    assert fresh._load(state, None, 2e-3)
    span = _span(stepper, state.t, 2e-3, float(one.spans[0, 2]))
    assert entry_of(take_step)(*fresh._sim, span) == GAINS
    assert Ending(fresh, span, None).of(GAINS) == DONE
    np.testing.assert_array_equal(one.state.q, fresh.parts.data.q1)
    np.testing.assert_array_equal(one.state.v, fresh.parts.data.v1)
    last = {id: fresh.parts.data.p[fresh.parts.model.layout.start[k]] for k, id in enumerate(fresh.ids)}
    assert all(last[id] == p[0] for id, p in one.last.reactions.items())


def test_a_contact_given_one_by_one_is_not_found_again() -> None:
    """The disc rests on its own law, with restitution, and not on that of the shapes."""
    ball, floor = disc("ball", mass=1.0, radius=0.1), HalfPlane(name="floor")
    given = PlanarContact(point=Marker("ball"), plane=floor, radius=0.1, eps_n=1.0)
    system = PlanarSystem(bodies=[ball], contacts=[given], obstacles=[floor], contact=ContactLaw(mu=0.5))
    step = MoreauJean(dt=1e-3).advance(system, system.state({"ball": (0.0, 0.1, 0.0)}, {"ball": (1.0, -1.0, 0.0)}), 1.0)
    assert isinstance(step, CompiledStep)
    assert {key: p.shape for key, p in step.reactions.items()} == {"ball/floor": (1,)}
    assert step.state.v[1] == pytest.approx(1.0, abs=0.02)


def test_there_is_room_for_as_many_contacts_as_come() -> None:
    """A row of boxes side by side on a floor, more than there is room for at first."""
    bodies = [box(f"b{k:02d}", mass=1.0, width=0.1, height=0.1) for k in range(12)]
    system = PlanarSystem(bodies=bodies, obstacles=[HalfPlane(name="floor")], contact=ContactLaw(mu=0.3))
    state = system.state({f"b{k:02d}": (0.1 * k, 0.05, 0.0) for k in range(12)})
    step = MoreauJean(dt=1e-3).advance(system, state, 1.0)
    assert isinstance(step, CompiledStep)
    assert np.abs(step.state.v).max() <= 1e-12
    assert sum(float(p[0]) for key, p in step.reactions.items() if "floor" in key) == pytest.approx(12 * 9.81e-3)
