"""Events of a run as far as its tables tell them: each once, in order, those of time steps just where modes change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation
from ...integrate.contact_modes import FREE, INACTIVE
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.uniqueness_checks import CHOSEN
from ...integrate.run.values import Event
from ...integrate.stretch import CROWDED, NO_ROW, SHORTENED, UNSETTLED
from .saved_rows import events_of

NOTES = (UNSETTLED, CROWDED, SHORTENED)  # events that say how a step was taken
BORDER = "degenerate"  # on the border of two modes: the one that it had
TURNS = {"touchdown", "lift_off"}  # all that may happen to a row without friction


def events_due(run: Trajectory) -> Array:
    """Return for every saved state how many events of its step are not as the modes of contacts say, inf as many.

    Events of time steps are at their ends. Those of contacts in the table follow from its modes where the step before
    is saved, too; of other rows reactions say which cannot be.
    """
    found, modes = np.zeros(len(run)), dict[str, str]()
    if (run.steps.events < 0).any() or run.table is None:
        return found
    stepped = "theta" in run.settings["stepper"]
    for k in range(len(run)):
        before, modes = modes, _modes(run, k, modes)
        if not run.saved[k]:
            continue
        events = events_of(run, k)
        found[k] = _said_twice(run, k, events) + sum(a.t > b.t for a, b in pairwise(events))
        if not stepped:
            found[k] += sum(event.kind in NOTES for event in events)
            continue
        found[k] += sum(event.t != run.t[k] for event in events if event.kind != CHOSEN)
        if k > 0 and run.saved[k] == run.saved[k - 1] + 1:
            found[k] += _off(run, k, events, before, modes)
    return found


def _said_twice(run: Trajectory, k: int, events: Sequence[Event]) -> int:
    """Return how many events say again what the last one of their row has said at that time, beyond its impacts."""
    last, found = dict[str, Event](), 0
    for event in events:
        again = last.get(event.id) == event
        if again and event.kind == "impact":
            blows = [one for one in run.impacts if one.step == run.saved[k] and one.t == event.t]
            again = len(blows) < sum(one == event for one in events)
        found, last[event.id] = found + again, event
    return found


def _modes(run: Trajectory, k: int, before: Mapping[str, str]) -> dict[str, str]:
    """Return open, active, stick or slip of the contacts that the table has at a saved state."""
    said = {one.id: one.mode for one in run.contacts(k)}
    same = {key: before.get(key, FREE) for key, mode in said.items() if mode == BORDER}
    return {key: FREE if mode in (FREE, INACTIVE) else mode for key, mode in said.items()} | same


def _off(
    run: Trajectory, k: int, events: tuple[Event, ...], before: Mapping[str, str], modes: Mapping[str, str]
) -> int:  # fmt: skip
    """Return how many events are missing, or should not be there."""
    known = set() if run.table is None else set(run.table.ids)
    told = Counter((one.id, one.kind) for one in events if one.kind not in (*NOTES, CHOSEN) and one.id in known)
    due = Counter(_due(run, before, modes, _closed(run) if run.saved[k] == 1 else set()))
    rows = run.rows.keys() | known
    if not (run.contacts(k) or any(row.get("kind") == "bilateral" for row in run.rows.values())):
        events = tuple(one for one in events if (one.kind, one.id) != (SHORTENED, NO_ROW))
    return sum(((told - due) + (due - told)).values()) + sum(one.id not in rows for one in events if one.kind != CHOSEN)


def _closed(run: Trajectory) -> set[str]:
    """Return the contacts that are closed where the run begins: they have not just touched down."""
    gap = Activation(**run.settings["stepper"].get("activation", {})).gap
    return {one.id for one in run.contacts(0) if one.gap <= gap}


def _due(
    run: Trajectory, before: Mapping[str, str], modes: Mapping[str, str], closed: set[str]
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """Yield row and kind of every change of a mode."""
    for key in before.keys() | modes.keys():
        was, now = before.get(key, FREE), modes.get(key, FREE)
        if was != now and key not in closed and run.rows.get(key, {}).get("kind") != "bilateral":
            yield key, "lift_off" if now == FREE else "touchdown" if was == FREE else now


def untold(
    run: Trajectory, k: int, before: Mapping[str, set[str]], possible: Mapping[str, set[str]]
) -> float:  # fmt: skip
    """Return how many events of the step to a saved state its rows without modes on record have too many or too few.

    What they may be in before and after the step, by id (`step_figures.possible_modes`), has to allow the event, or to
    allow that there is none; what does not act is open.
    """
    if run.saved[k] != run.saved[k - 1] + 1 or run.saved[k] == 1 or (run.steps.events < 0).any() or run.table is None:
        return 0.0
    known, found = set(run.table.ids), 0
    events = {one.id: one.kind for one in events_of(run, k) if one.kind not in (*NOTES, CHOSEN)}
    for key in (before.keys() | possible.keys() | events.keys()) - known:
        was, now = _states(before.get(key)), _states(possible.get(key))
        found += key in run.rows and not _allowed(events.get(key), was, now)
    return float(found)


def _states(words: set[str] | None) -> set[str]:
    """Return in which states a row may be that may be called so: open where it did not act, any on a border."""
    words = {FREE} if words is None else words
    if BORDER in words:
        return {FREE, "active", "stick", "slip"}
    return {FREE if word in (FREE, INACTIVE) else word for word in words}


def _allowed(kind: str | None, was: set[str], now: set[str]) -> bool:
    """Return whether a row may go from one of these states to one of those with this event, None: without any."""
    if kind is None:
        return bool(was & now)
    if kind == "lift_off":
        return FREE in now and was != {FREE}
    if kind == "touchdown":
        return FREE in was and now != {FREE}
    return kind in now and not was <= {FREE, kind}
