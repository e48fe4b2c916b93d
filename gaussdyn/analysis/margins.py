"""The friction margin along a run."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, IntArray
from ..contact.classification.sliding_margin import sliding_margin
from ..integrate.run.trajectory import Trajectory
from ..integrate.run.uniqueness_checks import NOT_EXAMINED, accelerating
from ..mechanics.scene import Scene
from ..mechanics.state import State


def saved_state(run: Trajectory, step: int) -> State | None:
    """Return the state after so many steps, with the reactions that tell closed contacts; None if it was not saved."""
    place = np.flatnonzero(run.saved == step)
    if not len(place):
        return None
    state = run.state(int(place[0]))
    names = ((row, f"{row}.r_N") for row in run.rows)
    pushes = {row: np.array([run[name][place[0]]]) for row, name in names if name in run and run[name][place[0]] > 0.0}
    pushes |= {one.id: one.reaction for one in run.contacts(int(place[0])) if one.reaction[0] > 0.0}
    return State(t=state.t, q=state.q, v=state.v, memory={**pushes, **state.memory})


def friction_margins(run: Trajectory, scene: Scene, points: int = 400) -> tuple[Array, Array]:
    """Return times (s) and friction margins, see `contact.sliding_margin`, at about `points` states.

    Those that the run found when it examined its steps; else they are computed at saved states. States at which
    nothing is known are left out; infinite margins too.
    """
    known = np.flatnonzero(np.isfinite(run.steps.friction_margin))
    if len(known):
        chosen = known[_spread(len(known), points)]
        return run.steps.t[chosen] - run.steps.dt[chosen], run.steps.friction_margin[chosen]
    examined = not (run.steps.outcome == NOT_EXAMINED).any()  # every step, not the first one alone
    return (np.zeros(0), np.zeros(0)) if examined else _at_saved(run, scene, points)


def _at_saved(run: Trajectory, scene: Scene, points: int) -> tuple[Array, Array]:
    """Return times and friction margins at saved states."""
    found = []
    for k in _spread(len(run), points):
        state = saved_state(run, int(run.saved[k]))
        if state is not None:
            margin = sliding_margin(accelerating(scene.system, state, scene.control))
            if margin is not None and np.isfinite(margin):
                found.append((state.t, margin))
    table = np.array(found).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def _spread(n: int, points: int) -> IntArray:
    """Return at most `points` of the indices 0 .. n - 1, evenly spread, both ends among them."""
    return np.unique(np.linspace(0, n - 1, min(points, n)).round().astype(np.int64))
