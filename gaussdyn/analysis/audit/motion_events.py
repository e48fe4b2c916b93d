"""What events of a step from event to event say of its recorded motion: each change has one, and each says a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from ...integrate.contact_modes import FREE, parts_of
from ...integrate.run.values import Event
from ...integrate.stepper import near_of
from .motion_figures import still
from .recorded_motion import RecordedArc, RecordedMotion
from .step_figures import EXACT

ENDED = "accumulation"  # infinitely many impacts of a contact are over
STRUCK = ("touchdown", "lift_off", "slip", "stick")  # what may follow an impact at its time


def unnoted(motion: RecordedMotion, following: RecordedMotion | None) -> float:
    """Return how many changes of modes and impacts have no event, and how many events lie where nothing changes.

    Parameters
    ----------
    following : RecordedMotion or None
        The step after it, if that is saved, too.
    """
    after, later = (following.arcs[:1], following.events) if following else ((), ())
    events = (*motion.events, *later)
    changes = {(one.id, one.t) for one in events if one.kind != "impact"}
    strikes = {(one.id, one.t) for one in events if one.kind == "impact"}
    rests = {(key, one.record.t) for one in motion.impacts if one.record.kind == "rest" for key in one.moved}
    changing = near_of(motion.whole, motion.start, 0.0) is not motion.whole
    known = changes | rests
    found = _idle_events(motion) + _misnamed(motion, after, later) + _off_rests(motion)
    for before, then in pairwise((*motion.arcs, *after)):
        found += sum(not _noted(known, key, before.arc.t_end) for key in _changed(before, then, changing))
    for one in motion.impacts:
        found += sum(not _noted(strikes, key, one.record.t) for key in one.approaching)
    return float(found)


def _idle_events(motion: RecordedMotion) -> int:
    """Return how many events lie where no arc begins or ends; where it is undecided what follows they may."""
    times = [motion.start.t, motion.state.t, *(t for one in motion.arcs for t in (one.arc.t, one.arc.t_end))]
    known = [event.t for event in motion.events if event.kind != "undecided"]
    return sum(min(abs(t - other) for other in times) > _near(t) for t in known)


def _off_rests(motion: RecordedMotion) -> int:
    """Return how many ends of sequences of impacts that were passed have no event, and how many events no such end.

    A contact that is struck again on the way, lets go, or is closed by the impact of others, comes to none.
    """
    events = [(one.id, one.t, one.kind) for one in motion.events]
    passed = [(key, one.record.t) for one in motion.impacts for key in one.rebounding]
    ended = [(key, t) for key, t, kind in events if kind == ENDED]
    broken = [(key, t) for key, t, kind in events if kind in ("impact", "lift_off", "touchdown")]
    found = sum(not any(key == other and since < t for other, t in (*ended, *broken)) for key, since in passed)
    return found + sum(not any(key == other and since < t for other, since in passed) for key, t in ended)


def _misnamed(motion: RecordedMotion, after: Sequence[RecordedArc], later: Sequence[Event]) -> int:
    """Return how many events say what modes and jumps around them do not: the last one of each row at each time.

    Where the next step begins with an event of the row, that one says what follows; what comes to rest at once after
    infinitely many impacts stays closed, whatever it would have done.
    """
    again = {event.id for event in later if event.t <= motion.state.t + _near(event.t)}
    found = 0
    for (key, t), events in _by_row_and_time(motion.events).items():
        strikes = [one.record.kind for one in motion.impacts if key in one.moved and one.record.t == t]
        found += sum(one.kind == "impact" for one in events) > strikes.count("impact")
        found += events[-1].kind == "impact" and any(one.kind in STRUCK for one in events)
        if "rest" in strikes or (key in again and abs(t - motion.state.t) <= _near(t)):
            continue
        found += events[-1].kind in STRUCK and not _as_named(events[-1].kind, *_modes_at(motion, after, key, t))
    return found


def _by_row_and_time(events: Iterable[Event]) -> dict[tuple[str, float], list[Event]]:
    """Return the events of each row at each time, in their order."""
    found: dict[tuple[str, float], list[Event]] = {}
    for event in events:
        found.setdefault((event.id, event.t), []).append(event)
    return found


def _modes_at(motion: RecordedMotion, after: Sequence[RecordedArc], key: str, t: float) -> tuple[str, str]:
    """Return the modes of a row along the arcs that end and begin at a time, "" where there is none, or more."""
    arcs = [one.arc for one in (*motion.arcs, *after)]
    before = [arc.modes for arc in arcs if abs(arc.t_end - t) <= _near(t)]
    then = [arc.modes for arc in arcs if abs(arc.t - t) <= _near(t)]
    return tuple(found[0].get(key, FREE) if len(found) == 1 else "" for found in (before, then))  # type: ignore[return-value]


def _as_named(kind: str, before: str, then: str) -> bool:
    """Return whether a change may be named so; where no arc begins or ends nobody knows."""
    if kind in ("slip", "stick"):
        return then in (kind, "")
    return (then == FREE) == (kind == "lift_off") or not then


def _changed(before: RecordedArc, after: RecordedArc, changing: bool) -> Iterable[str]:
    """Yield the rows that stick, slip or push along one arc, and not so along the next."""
    was, now = before.arc.modes, after.arc.modes
    held = _pairs(before, was) if changing else set()
    for key in was.keys() | now.keys():
        if key not in was and changing and _pairs(after, (key,)) <= held:  # a feature that goes on where another ends
            continue
        if was.get(key) != now.get(key) or (was[key] == "slip" and _slip(before, key) * _slip(after, key) < 0.0):
            yield key


def _pairs(one: RecordedArc, keys: Iterable[str]) -> set[frozenset[str]]:
    """Return the pairs of bodies that rows are between, along an arc."""
    return {frozenset(row.between) for row in one.samples[0].dynamics.rows if row.id in keys}


def _slip(one: RecordedArc, key: str) -> float:
    """Return the slip of a row in the plane in the middle of an arc, m/s; zero in space, and where it has no way."""
    d = one.samples[len(one.samples) // 2].dynamics
    row = next((row for row in d.rows if row.id == key), None)
    slip = np.zeros(0) if row is None else row.rate[parts_of(row)[0]]
    moves = len(slip) == 1 and not still(slip, max(1.0, float(np.abs(d.v).max(initial=0.0))))
    return float(slip[0]) if moves else 0.0


def _noted(events: set[tuple[str, float]], key: str, t: float) -> bool:
    """Return whether a row has an event at this time, to the last digits."""
    return any(one == key and abs(when - t) <= _near(t) for one, when in events)


def _near(t: float) -> float:
    """Return by how much times of what is one and the same may differ, s."""
    return EXACT * max(1.0, abs(t))
