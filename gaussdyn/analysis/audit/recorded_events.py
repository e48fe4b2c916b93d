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
from ...integrate.stretch import CROWDED, SHORTENED, UNSETTLED
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
    others = sum(not _may_be(run, k, one) for one in events if one.id not in known and one.kind != CHOSEN)
    return sum(((told - due) + (due - told)).values()) + others


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


def _may_be(run: Trajectory, k: int, event: Event) -> bool:
    """Return whether an event of a row without modes on record may be: one that pushes has not lifted off."""
    row = run.rows.get(event.id)
    if event.kind in NOTES:
        return row is not None or any(event.id == one for one in run.table.ids)  # type: ignore[union-attr]
    if row is None or (event.kind not in TURNS and not _rubs(row)):
        return False
    r = run.reactions(event.id)
    normal = np.zeros(2) if r is None or row["kind"] == "dry" else r[[k - 1, k], 0]
    return not (event.kind == "touchdown" and normal[0] > 0.0) and not (event.kind == "lift_off" and normal[1] > 0.0)


def _rubs(row: Mapping[str, float]) -> bool:
    return max(float(row.get(name, 0.0)) for name in ("mu", "mu_s", "cap", "cap_s")) > 0.0
