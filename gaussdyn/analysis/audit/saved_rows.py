"""The rows of a system at a saved state, with what the run says of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...integrate.run.column_names import component_names
from ...integrate.run.contact_history import Contact
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.values import Event
from ...integrate.stepper import near_of
from ...integrate.stretch import CROWDED, UNSETTLED
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System

AHEAD = (0.0, 1.0, 4.0)  # steps: how far beyond a state a contact is looked for that the run names
SOON = (0.0, 1e-4, 1e-2)  # s: the same where there are no steps
ONWARD = (1e-6, 1e-5, 1e-4, 1e-3)  # s: how far states are moved on to where features are found that have taken over


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SavedState:
    """A saved state of a run, and the step that ended there, with the rows of the system.

    Attributes
    ----------
    k : int
    local : System
        See `local_system`.
    start, state : State
    dt : float
        s.
    begin, end : tuple of Row
        Rows of `local` at the start and at the end; `begin` is empty where no step ended, or it was located.
    contacts : tuple of Contact
        That the run names.
    said : mapping of str to (float, Array)
        See `said_of`.
    """

    k: int
    local: System
    start: State
    state: State
    dt: float
    begin: tuple[Row, ...]
    end: tuple[Row, ...]
    contacts: tuple[Contact, ...]
    said: Mapping[str, tuple[float, Array]]

    @classmethod
    def of(cls, run: Trajectory, system: System, k: int, located: bool = False) -> SavedState:
        """Evaluate the system around a saved state."""
        start, state, dt = ends_of(run, k)
        contacts = run.contacts(k)
        at = None if located or not run.saved[k] else start
        local, begin = _local(system, at, state, dt, contacts, tries_of(run, k))
        end = rows_of(local, state.t, state.q, state.v)
        return cls(
            k=k, local=local, start=start, state=state, dt=dt, begin=begin, end=end, contacts=contacts,
            said=_said(run, k, end, contacts),
        )  # fmt: skip


def ends_of(run: Trajectory, k: int) -> tuple[State, State, float]:
    """Return the states before and after the step that ended in saved state k, and its length, s."""
    start = State(t=float(run.before_t[k]), q=run.before_q[k], v=run.before_v[k])
    state = State(t=float(run.t[k]), q=run.q[k], v=run.v[k])
    return start, state, float(run.steps.dt[run.saved[k] - 1]) if run.saved[k] else 0.0


def local_system(run: Trajectory, system: System, k: int, located: bool = False) -> System:
    """Return the system with the contacts of the step that ended in saved state k; at its end if that was located.

    With those, too, that the run names and that are found only there.
    """
    start, state, dt = ends_of(run, k)
    at = None if located or not run.saved[k] else start
    return _local(system, at, state, dt, run.contacts(k), tries_of(run, k))[0]


def tries_of(run: Trajectory, k: int) -> tuple[Array, ...]:
    """Return where the step ended that ended in saved state k, when it was tried before; of older runs not known."""
    evidence = run.evidence.get(int(run.saved[k]))
    return () if evidence is None else evidence.tries


def _local(
    system: System, start: State | None, state: State, dt: float, contacts: Sequence[Contact], tries: Sequence[Array]
) -> tuple[System, tuple[Row, ...]]:
    """Return `local_system`, and its rows at the start of the step.

    Without a start there was no step, or it was located.
    """
    if start is None:
        return near_of(system, state, 0.0), ()
    named = {contact.id for contact in contacts}
    local: Any = near_of(system, start, dt)
    rows = rows_of(local, start.t, start.q, start.v)
    if local is system or not hasattr(local, "taking"):
        return local, rows
    places = [(replace(state, q=q), 0.0) for q in tries]
    for there, ahead in (*places, *((state, ahead * dt) for ahead in AHEAD)):  # one that rebounds has left again
        known = {row.id for row in rows}
        if named <= known:
            break
        local = local.taking(known | named, near_of(system, there, ahead))
        rows = rows_of(local, start.t, start.q, start.v)
    return local, rows


def listing(system: System, state: State, ids: Collection[str], places: Collection[tuple[State, float]] = ()) -> System:
    """Return the system with the contacts near a state, and with those named that are found near others (state, s)."""
    local = near_of(system, state, 0.0)
    if local is system or not hasattr(local, "taking"):
        return local
    known = {row.id for row in rows_of(local, state.t, state.q, state.v)}
    onward = ((replace(state, q=system.move(state.q, state.v, dt)), 0.0) for dt in ONWARD)
    for there, ahead in chain(places, ((state, dt) for dt in SOON), onward):
        if set(ids) <= known:
            break
        local = local.taking(known | set(ids), near_of(system, there, ahead))
        known = {row.id for row in rows_of(local, state.t, state.q, state.v)}
    return local


def one_sided(row: Row) -> bool:
    """Return whether a row is a gap that may open."""
    return row.level == "position" and row.kind in ("contact", "unilateral")


def said_of(run: Trajectory, k: int, rows: Sequence[Row]) -> dict[str, tuple[float, Array]]:
    """Return the gap and the mean reaction of every row that the run claims; an infinite gap where it says nothing."""
    return _said(run, k, rows, run.contacts(k))


def _said(
    run: Trajectory, k: int, rows: Sequence[Row], contacts: Sequence[Contact]
) -> dict[str, tuple[float, Array]]:  # fmt: skip
    """Return the same of rows and of the contacts that the run names."""
    found = {row.id: (np.inf, np.zeros(row.size)) for row in rows}
    found |= {contact.id: (contact.gap, contact.reaction) for contact in contacts}
    for row in rows:
        name = f"{row.id}.gap"
        if name in run:
            r = np.array([float(run[f"{row.id}.{part}"][k]) for part in component_names(row)])
            found[row.id] = float(run[name][k]), r
    return found


def events_of(run: Trajectory, k: int) -> tuple[Event, ...]:
    """Return the events of the step that ended in saved state k; of older runs those that their times say."""
    counts, step = run.steps.events, int(run.saved[k])
    if (counts[:step] >= 0).all():
        end = int(counts[:step].sum())
        return run.events[end - int(counts[step - 1]) : end]
    return tuple(event for event in run.events if run.before_t[k] < event.t <= run.t[k])


def at_middle(run: Trajectory, k: int) -> dict[str, str]:
    """Return which rows had the laws of a step taken at its middle, by the kind of event that says so."""
    return {event.kind: event.id for event in events_of(run, k) if event.kind in (UNSETTLED, CROWDED)}


def control_of(run: Trajectory, k: int) -> Array | None:
    """Return the control that was held during the step, None without any."""
    found: list[float] = []
    while f"control{len(found)}" in run:
        found.append(float(run[f"control{len(found)}"][k]))
    return np.array(found) if found else None
