"""The conditions of a phase: how far every mode is from its end, and how fast it gets there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.borders import Crossing, Extent
from ...mechanics.rows import Row
from ..contact_modes import Mode, limit_of, parts_of, rough
from .phase_state import Instant


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
    extent : Extent, Crossing or None
        Where the features end, for the kind end.
    """

    kind: str
    id: str
    k: int
    unit: str
    extent: Extent | Crossing | None = None


def guards_of(k: int, row: Row, mode: Mode) -> list[Guard]:
    """Return the conditions of one row."""
    unit = {"position": "place", "velocity": "speed", "acceleration": "acceleration"}[row.level]
    if not mode.closed:
        return [Guard("touchdown", row.id, k, unit)]
    found = [] if row.bilateral or row.kind == "dry" else [Guard("lift_off", row.id, k, "force")]
    if not rough(row):
        return found
    found.append(Guard("stop", row.id, k, "speed") if mode.slip else Guard("slip", row.id, k, "force"))
    if mode.slip and row.kind == "bilateral_contact":
        found.append(Guard("turn", row.id, k, "force"))
    if row.moments:
        found.append(Guard("stop_roll", row.id, k, "speed") if mode.roll else Guard("roll", row.id, k, "force"))
    return found


def value_open(now: Instant, k: int, mode: Mode) -> float:
    """Return the gap of an open row, or what takes its place on the other levels."""
    row = now.rows[k]
    return row.gap if row.level != "acceleration" else float(row.J[0] @ now.a + row.drift[0])


def _friction_left(now: Instant, k: int, mode: Mode) -> float:
    row, r = now.rows[k], now.r[k]
    if row.kind == "dry":
        return row.cap_s - _length(r)
    return limit_of(row, mode) * abs(float(r[0])) - _length(r[1:3])


def _rolling_left(now: Instant, k: int, mode: Mode) -> float:
    (where, mu), *_ = now.rows[k].moments
    return mu * float(now.r[k][0]) - _length(now.r[k][where])


def _slipping(now: Instant, k: int, mode: Mode) -> float:
    where, _ = parts_of(now.rows[k])
    return float(np.dot(now.rows[k].rate[where], mode.slip))


def _rolling(now: Instant, k: int, mode: Mode) -> float:
    return float(np.dot(now.rows[k].rate[parts_of(now.rows[k])[1]], mode.roll))


_VALUE: dict[str, Callable[[Instant, int, Mode], float]] = {
    "touchdown": value_open,
    "lift_off": lambda now, k, mode: float(now.r[k][0]),
    "turn": lambda now, k, mode: mode.sign * float(now.r[k][0]),
    "slip": _friction_left,
    "stop": _slipping,
    "roll": _rolling_left,
    "stop_roll": _rolling,
}


def value_of(now: Instant, guard: Guard, mode: Mode) -> float:
    """Return how far a guard is from the end of the phase; >= 0 within it."""
    if guard.extent is not None:
        return guard.extent.room(now.q)
    return _VALUE[guard.kind](now, guard.k, mode)


def rate_of(now: Instant, guard: Guard, mode: Mode) -> float:
    """Return the rate of a condition; NaN where it is not known."""
    row = now.rows[guard.k]
    if guard.kind == "touchdown" and row.level == "position":
        return float(row.rate[0])
    if guard.kind == "touchdown" and row.level == "velocity":
        return float(row.J[0] @ now.a + row.drift[0])
    if guard.kind in ("stop", "stop_roll"):
        slip, roll = parts_of(row)
        where, e = (slip, mode.slip) if guard.kind == "stop" else (roll, mode.roll)
        return float(np.dot(row.J[where] @ now.a + row.drift[where], e))
    return math.nan


def _length(x: Array) -> float:
    return abs(float(x[0])) if len(x) == 1 else math.sqrt(float(x @ x))
