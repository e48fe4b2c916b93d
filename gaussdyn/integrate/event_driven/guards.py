"""The conditions of a phase: how far every mode is from its end, and how fast it gets there.

A `Phase` makes its guards from modes and rows (`guards_of`); `event_location` finds where the first of them ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...mechanics.borders import Crossing, Extent
from ...mechanics.rows import Row
from ..contact_modes import NO_ROWS, OPEN, Mode, limit_of, parts_of, rough
from .phase_state import Instant

ONSET = "onset"  # of friction in a phase that began without any: no guard, for nothing falls below zero
TOGETHER = {"place": 1e-10, "speed": 1e-9, "force": 1e-9, "acceleration": 1e-9}  # conditions that end at one time


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A condition that ends the phase where it falls below zero.

    Attributes
    ----------
    kind : str
        touchdown, lift_off, slip, stop, roll, stop_roll, turn (the normal reaction of a bilateral contact that slips
        changes its sign), end (of a feature that touches, as an edge).
    id : str
    k : int
        Number of the row.
    unit : str
        place, speed, acceleration or force.
    mode : Mode
        Of the row.
    part : slice
        What of it slips, or rolls.
    extent : Extent, Crossing or None
        Where the features end, for the kind end.
    """

    kind: str
    id: str
    k: int
    unit: str
    mode: Mode = OPEN
    part: slice = field(default_factory=lambda: NO_ROWS)
    extent: Extent | Crossing | None = None

    def value(self, now: Instant) -> float:
        """Return how far it is from the end of the phase; >= 0 within it."""
        if self.extent is not None:
            return self.extent.room(now.q)
        return _VALUE[self.kind](self, now.rows[self.k], now)

    def rate(self, now: Instant) -> float:
        """Return the rate of that; NaN where it is not known."""
        row = now.rows[self.k]
        if self.kind == "touchdown" and row.level == "position":
            return float(row.rate[0])
        if self.kind == "touchdown" and row.level == "velocity":
            return float(row.J[0] @ now.a + row.drift[0])
        if self.kind in ("stop", "stop_roll"):
            return float(np.dot(row.J[self.part] @ now.a + row.drift[self.part], self.ahead))
        return math.nan

    @property
    def ahead(self) -> tuple[float, ...]:
        """The direction in which it slips or rolls."""
        return self.mode.roll if self.kind == "stop_roll" else self.mode.slip


def guards_of(k: int, row: Row, mode: Mode) -> list[Guard]:
    """Return the conditions of one row."""
    unit = {"position": "place", "velocity": "speed", "acceleration": "acceleration"}[row.level]
    if not mode.closed:
        return [Guard("touchdown", row.id, k, unit, mode)]
    found = [] if row.bilateral or row.kind == "dry" else [Guard("lift_off", row.id, k, "force", mode)]
    if not rough(row):
        return found
    slip, roll = parts_of(row)
    kind, unit = ("stop", "speed") if mode.slip else ("slip", "force")
    found.append(Guard(kind, row.id, k, unit, mode, slip))
    if mode.slip and row.kind == "bilateral_contact":
        found.append(Guard("turn", row.id, k, "force", mode))
    if row.moments:
        kind, unit = ("stop_roll", "speed") if mode.roll else ("roll", "force")
        found.append(Guard(kind, row.id, k, unit, mode, roll))
    return found


def _open(guard: Guard, row: Row, now: Instant) -> float:
    """Return the gap of an open row, or what takes its place on the other levels."""
    return row.gap if row.level != "acceleration" else float(row.J[0] @ now.a + row.drift[0])


def _friction_left(guard: Guard, row: Row, now: Instant) -> float:
    r = now.r[guard.k]
    if row.kind == "dry":
        return row.cap_s - _length(r)
    return limit_of(row, guard.mode) * abs(float(r[0])) - _length(r[1:3])


def _rolling_left(guard: Guard, row: Row, now: Instant) -> float:
    (where, mu), *_ = row.moments
    return mu * float(now.r[guard.k][0]) - _length(now.r[guard.k][where])


def _moving(guard: Guard, row: Row, now: Instant) -> float:
    return float(np.dot(row.rate[guard.part], guard.ahead))


_VALUE: dict[str, Callable[[Guard, Row, Instant], float]] = {
    "touchdown": _open,
    "lift_off": lambda guard, row, now: float(now.r[guard.k][0]),
    "turn": lambda guard, row, now: guard.mode.sign * float(now.r[guard.k][0]),
    "slip": _friction_left,
    "stop": _moving,
    "roll": _rolling_left,
    "stop_roll": _moving,
}


def _length(x: Array) -> float:
    return abs(float(x[0])) if len(x) == 1 else math.sqrt(float(x @ x))


def limit_name(guard: Guard, row: Row) -> str:
    """Return which coefficient of a row limits what a guard looks at; empty: none."""
    if guard.kind == "roll":
        return "mu_t" if row.size == 4 else "mu_r"
    if guard.kind != "slip":
        return ""
    if row.kind == "dry":
        return "cap_s"
    return "mu" if row.moments and not guard.mode.roll else "mu_s"
