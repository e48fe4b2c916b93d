"""The compiled steps against the reference in plain numpy, for random systems of every kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import stepping_cases as cases
from evidence import first
from reference_step import NotSettledError, apart, reference_of

from gaussdyn import MoreauJean

DT = 2e-3
KINDS: dict[str, tuple[Callable[[int], cases.Case], int]] = {  # and how many steps are taken for one that is compared
    "free": (cases.tumble, 15), "space": (cases.mechanism, 1), "planar": (cases.linkage, 1), "shapes": (cases.pile, 15),
    "tree": (cases.tree, 5), "lagrangian": (cases.lagrangian, 4), "user": (cases.user, 3),
}  # fmt: skip


CASES = [case for kind in KINDS if kind != "user" for case in first(4, [(kind, seed) for seed in range(6)])]
CASES_IN_PYTHON = first(2, [("user", seed) for seed in range(6)])  # whose steps take fifty times as long


@pytest.mark.parametrize(("kind", "seed"), [*CASES, *CASES_IN_PYTHON])
def test_a_step_is_that_of_the_reference(kind: str, seed: int) -> None:
    """Velocities, places, work and the rows that act, over several steps with impacts, slip, stops and rest."""
    make, every = KINDS[kind]
    system, state = make(seed)
    control, compared = 0.3 * np.random.default_rng(seed).normal(size=controls(system)), 0
    for k in range(8 * every):
        step = MoreauJean(dt=DT).advance(system, state, 10.0, control=control)
        assert step.solution.solved
        if k % every == every - 1:
            try:
                off = apart(step, reference_of(system, step))
            except NotSettledError:  # plain passes do not always contract
                off = 0.0
            else:
                compared += 1
            assert off <= 1e-10
        state = step.state
    assert compared >= 7


def controls(system: object) -> int:
    """Return how many numbers a control has."""
    return len(getattr(system, "actuators", ())) or system.nv
