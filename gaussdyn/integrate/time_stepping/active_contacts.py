"""Which contacts act within a step: those that are closed, and those that would otherwise end it below zero."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, LocalDynamics, rows_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import check_same_rows
from .position_projection import CLOSE, in_place

TOGETHER = 1e-6  # of a step: contacts that close within this of one another are taken to close at once


def acting(system: System, start: State, middle: LocalDynamics, rest: float) -> dict[str, Array]:
    """Return the restitution term of every row that acts from the beginning of the step, by id (m/s).

    A unilateral row does if it is closed at the start and either approaches (closed at the midpoint too), or rests,
    or pushed in the last step. One that is open at the start joins if the step would otherwise end below zero.

    Parameters
    ----------
    system : System
    start : State
    middle : LocalDynamics
        At the midpoint, with all rows.
    rest : float
        Time from the start to the midpoint, s.
    """
    begin: dict[str, Row] = {}

    def at_start(row: Row) -> Row:
        """Return the row at the start of the step."""
        if not begin:
            begin.update(rows_at_start(system, start, middle))
        return begin[row.id]

    found = {}
    for row in middle.rows:
        if one_sided(row) and not _closed(row, start, middle, rest, at_start):
            continue
        bounces = row.level == "position" and (row.eps_n != 0.0 or row.eps_t != 0.0)
        found[row.id] = restitution(at_start(row), middle.activation) if bounces else np.zeros(row.size)
    return found


def joining(
    system: System, start: State, middle: LocalDynamics, ids: Iterable[str], added: Collection[str]
) -> dict[str, Array]:
    """Return the restitution terms of rows that join in the middle of a step.

    Those that were added have none if their gap was below zero at the start: their features were beside each other.
    """
    begin, found = rows_at_start(system, start, middle), {}
    for key in ids:
        beside = key in added and begin[key].gap < -middle.activation.gap
        found[key] = np.zeros(begin[key].size) if beside else restitution(begin[key], middle.activation)
    return found


def rows_at_start(system: System, start: State, middle: LocalDynamics) -> dict[str, Row]:
    """Return all rows at the start of the step, by id."""
    rows = rows_of(system, start.t, start.q, start.v)
    check_same_rows(rows, middle.rows)
    return {row.id: row for row in rows}


def late(middle: LocalDynamics, end: tuple[Row, ...], acts: Mapping[str, Array], rest: float) -> tuple[str, ...]:
    """Return the rows that do not act and end below zero: of each body those that close first.

    What closes later may not close at all once the first ones push, so it is asked again.
    """
    below = [
        (_when(row, rest, last), last) for row, last in zip(middle.rows, end, strict=True)
        if last.gap < -CLOSE and last.id not in acts and one_sided(last)
    ]  # fmt: skip
    found: list[tuple[float, Row]] = []
    for s, row in sorted(below, key=lambda pair: pair[0]):
        if not any(s > other + TOGETHER and (one.J[0] != 0.0) @ (row.J[0] != 0.0) for other, one in found):
            found.append((s, row))
    return tuple(row.id for _, row in found)


def one_sided(row: Row) -> bool:
    """Return whether a row is a gap that may open and close."""
    return in_place(row) and not row.bilateral


def restitution(row: Row, activation: Activation) -> Array:
    """Return eps times the approaching rate at the start: nothing where the contact does not approach."""
    term = np.zeros(row.size)
    if row.kind not in ("contact", "unilateral") or row.rate[0] >= -activation.speed:
        return term
    term[0] = row.eps_n * row.rate[0]
    term[1:3] = row.eps_t * row.rate[1:3]
    return term


def _when(row: Row, rest: float, end: Row) -> float:
    """Return the fraction of the step after which a gap is zero, by a straight line."""
    before = max(row.gap - rest * float(row.rate[0]), 0.0)
    return before / (before - end.gap)


def _closed(row: Row, start: State, middle: LocalDynamics, rest: float, at_start: Callable[[Row], Row]) -> bool:
    """Return whether a contact is closed at the start and does not leave, looking there only in case of doubt."""
    zero = middle.activation.gap
    before = row.gap - rest * float(row.rate[0])  # at the start, but for the curvature
    if before <= zero and row.gap <= zero:
        return True
    if _pushed(start, row) and before <= zero + _reach(row, middle):
        return True
    if min(before, row.gap) > zero:
        return False
    first = at_start(row)
    return first.gap <= zero and (row.gap <= zero or abs(float(first.rate[0])) <= middle.activation.speed)


def _pushed(start: State, row: Row) -> bool:
    last = start.memory.get(row.id)
    return last is not None and bool(last.size) and float(last[0]) > 0.0


def _reach(row: Row, middle: LocalDynamics) -> float:
    """Return by how much a gap may have changed within a step (m): more than that is not an error of the scheme."""
    return middle.dt * float(np.abs(row.J[0]) @ (np.abs(middle.v) + np.abs(middle.x_free)))
