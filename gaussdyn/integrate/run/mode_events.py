"""What changed at a constraint from one step to the next."""

from __future__ import annotations

from collections.abc import Mapping

from ...mechanics.rows import Row
from ..contact_modes import FREE, INACTIVE
from ..stepper import Step
from .values import Event

UNSETTLED, CROWDED = "unsettled", "crowded"
RESTED = "accumulation"


def contact_states(step: Step, before: Mapping[str, str]) -> dict[str, str]:
    """Return open, active, stick or slip of every row that can change.

    A mode on the border of two (degenerate) leaves the row in the state it had, so that rounding makes no events.
    """
    return {row.id: _state(row, step.modes.get(row.id), before.get(row.id, FREE)) for row in step.rows if _changes(row)}


def events(t: float, before: Mapping[str, str], now: Mapping[str, str]) -> list[Event]:
    """Return touchdown, lift_off, stick and slip events at time t (s); a contact that is no longer there lifted off."""
    found = []
    for key, state in now.items():
        kind = _kind(before.get(key, FREE), state)
        if kind is not None:
            found.append(Event(t=t, kind=kind, id=key))
    gone = (key for key, state in before.items() if key not in now and state != FREE)
    return found + [Event(t=t, kind="lift_off", id=key) for key in gone]


def _changes(row: Row) -> bool:
    return row.kind != "bilateral"


def _state(row: Row, mode: str | None, before: str) -> str:
    if mode is None or mode in (FREE, INACTIVE):
        return FREE
    if mode == "degenerate":
        return before
    return mode


def _kind(before: str, now: str) -> str | None:
    if before == now:
        return None
    if now == FREE:
        return "lift_off"
    return "touchdown" if before == FREE else now
