"""What changed at a constraint from one step to the next."""

from __future__ import annotations

from collections.abc import Mapping

from ..contact.assemble import blocks
from ..contact.omega import admissible_set
from ..contact.snapshot import LocalDynamics
from ..mechanics.rows import Row
from ..programs.quadratic import QuadraticProgram
from ..programs.solution import Solution
from .stepper import Step
from .trajectory import Event

PUSHING = ("stick", "slip", "active")
FREE = "open"
INACTIVE = "inactive"
UNSETTLED = "unsettled"
RESTED = "accumulation"


def row_modes(dynamics: LocalDynamics, solution: Solution) -> dict[str, str]:
    """Return the mode of every inequality or block of a contact problem, by row id; bilateral rows have none.

    One that does not push is inactive, as inequalities are: it took part in the step, which open ones do not.
    """
    if isinstance(solution.problem, QuadraticProgram):
        omega = admissible_set(dynamics)
        ids = [row.id for row in omega.rows[len(omega.b) :]]
    else:
        ids = [part.active.row.id for part in blocks(dynamics) if part.law is not None]
    return {id: acting_mode(mode) for id, mode in zip(ids, solution.modes, strict=True)}


def acting_mode(mode: str) -> str:
    """Return how the mode of a row in a contact problem is called in its step."""
    return INACTIVE if mode == FREE else mode


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
