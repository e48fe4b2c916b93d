"""What a run found about its accelerations, found again from its states: whether they exist and are unique."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.uniqueness_checks import Examination, Finding
from ...integrate.stepper import near_of
from ...mechanics.state import State
from ...mechanics.system import System
from .saved_rows import control_of, ends_of

SAME = 1e-6  # relative: margins found twice


def findings_told(run: Trajectory, system: System) -> Array:
    """Return for every saved state 0, or inf where its step begins with another finding than is told.

    Where the step before is not saved nobody knows which contacts had pushed.
    """
    found, effort = np.zeros(len(run)), run.settings.get("examine")
    if effort is None:
        return found
    examination = Examination(effort=effort)
    for k in np.flatnonzero(run.saved > 0).tolist():
        state = _began(run, k)
        if state is not None and not _same(_found(run, system, examination, k, state), _told(run, k)):
            found[k] = np.inf
    return found


def _told(run: Trajectory, k: int) -> Finding:
    step = int(run.saved[k]) - 1
    return Finding(outcome=str(run.steps.outcome[step]), margin=float(run.steps.friction_margin[step]))


def _found(run: Trajectory, system: System, examination: Examination, k: int, state: State) -> Finding:
    control = control_of(run, k)
    if run.saved[k] > 1 or examination.every_step:
        return examination.look(system, state, control)
    rows = tuple(near_of(system, state, 0.0).rows(state.t, state.q, state.v))
    return examination.at_start(system, state, control, rows, run.settings["stepper"]["name"])


def _began(run: Trajectory, k: int) -> State | None:
    """Return the state before a step with the reactions that are looked at there, None if these are not known."""
    start, number = ends_of(run, k)[0], int(run.saved[k])
    if number == 1:
        return start if start.digest() == run.settings["start"] else None
    if run.settings.get("examine") not in ("cheap", "full"):
        return start  # nothing is examined
    if number != run.saved[k - 1] + 1:
        return None
    memory = {key: r[k - 1] for key in run.rows if (r := run.reactions(key)) is not None}
    memory |= {one.id: one.reaction for one in run.contacts(k - 1)}
    return State(t=start.t, q=start.q, v=start.v, memory=memory)


def _same(one: Finding, other: Finding) -> bool:
    a, b = one.margin, other.margin
    near = a == b or (np.isnan(a) and np.isnan(b)) or abs(a - b) <= SAME * max(abs(a), abs(b))
    return one.outcome == other.outcome and bool(near)
