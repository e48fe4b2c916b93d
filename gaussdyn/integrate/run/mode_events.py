"""What changed at a constraint from one step to the next."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import get_args

import numpy as np

from ...arrays import IntArray
from ..contact_modes import FREE, INACTIVE
from ..mode_changes import ChangeKind
from ..stretch import WORDS, NoteKind, Stretch
from .uniqueness_checks import CHOSEN
from .values import Event

OPEN = -1
STATE = np.array([OPEN if word in (FREE, INACTIVE) else WORDS.index(word) for word in WORDS])
EVENT_KINDS = (*get_args(ChangeKind), *get_args(NoteKind), "active", CHOSEN)
SAME = WORDS.index("degenerate")  # on the border of two modes: the state that it had, so that rounding makes no events


def contact_states(steps: Stretch, before: Mapping[str, str], closed: Collection[str] | None) -> IntArray:
    """Return open, active, stick or slip (numbers of `WORDS`) before the first step and after every one, (n + 1, R).

    Constraints that cannot change are open. Those that are `closed`, where the run begins with the first step, have
    not touched down in it: before it they were what they are after it.
    """
    first = [WORDS.index(before.get(key, FREE)) for key in steps.of.ids]
    states: IntArray = STATE[np.concatenate([np.array(first, dtype=np.int64).reshape(1, -1), steps.mode])]
    states[:, ~steps.of.changes] = OPEN
    for k in np.flatnonzero((states == SAME).any(axis=1)):
        states[k] = np.where(states[k] == SAME, states[k - 1], states[k])
    if closed is not None:
        began = np.array([key in closed for key in steps.of.ids], dtype=np.bool_)
        states[0, began] = states[1, began]
    return states


def events(steps: Stretch, states: IntArray, before: Mapping[str, str]) -> list[list[Event]]:
    """Return the events of every step: located ones, or what its states tell; and whether its laws held at its middle.

    Contacts that were there before the first step, and are not in it, lifted off.
    """
    found: list[list[Event]] = [[] for _ in range(len(steps))]
    ends, ids = steps.spans[:, 2].tolist(), steps.of.ids
    if steps.changes is not None:
        for k, one in steps.changes:
            found[k].append(Event(t=one.t, kind=one.kind, id=one.id))
    else:
        for k, j in np.argwhere(states[1:] != states[:-1]).tolist():
            found[k].append(Event(t=ends[k], kind=_kind(int(states[k, j]), int(states[k + 1, j])), id=ids[j]))
        listed = frozenset(ids)  # a run may have thousands of contacts
        gone = [key for key, state in before.items() if state != FREE and key not in listed]
        found[0] += [Event(t=ends[0], kind="lift_off", id=key) for key in gone]
    for k, kind, id in steps.notes:
        found[k].append(Event(t=ends[k], kind=kind, id=id))
    return found


def _kind(before: int, now: int) -> str:
    if now == OPEN:
        return "lift_off"
    return "touchdown" if before == OPEN else WORDS[now]
