"""What a row does during a phase: whether it is closed, and which of its directions stick, slip or roll."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..mechanics.rows import Row

AT_REST = 2e-13  # of the largest speed: up to this a slip in space has no direction of its own
ACROSS = 0.5  # cosine: slips farther than this from their way are across it
LEAST_SPEED = 5.0  # m/s, rad/s; the largest speed counts as this at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What one row does during a phase.

    Attributes
    ----------
    closed : bool
    slip : tuple of float
        Unit direction of slip, one or two components; empty: sticks, or has no friction.
    roll : tuple of float
        Unit direction of rolling, or of the spin about the normal, for rows that resist it; empty: does not roll.
    sign : float
        Of the normal reaction of a bilateral contact that slips.
    """

    closed: bool = False
    slip: tuple[float, ...] = ()
    roll: tuple[float, ...] = ()
    sign: float = 1.0

    def but(
        self, slip: tuple[float, ...] | None = None, roll: tuple[float, ...] | None = None, sign: float | None = None
    ) -> Mode:  # fmt: skip
        """Return the mode with another direction or sign."""
        return Mode(
            closed=self.closed, slip=self.slip if slip is None else slip, roll=self.roll if roll is None else roll,
            sign=self.sign if sign is None else sign,
        )  # fmt: skip

    def name(self, row: Row) -> str:
        """Return open, active, stick or slip."""
        if not self.closed:
            return "open"
        return ("slip" if self.slip else "stick") if rough(row) else "active"


OPEN, CLOSED = Mode(), Mode(closed=True)
NO_ROWS = slice(0, 0)
_SLIPS = [slice(1, min(n, 3)) for n in range(4)]  # by number of rows, of which more make no difference
Modes = Mapping[str, Mode]


def rough(row: Row) -> bool:
    """Whether a row carries friction that can act."""
    return row.frictional and max(row.mu_s, row.mu_r, row.mu_t, row.cap_s) > 0.0


def parts_of(row: Row) -> tuple[slice, slice]:
    """Return which components of a row are its slip, and which its rolling or spin (empty without resistance)."""
    if row.kind == "dry":
        return slice(0, row.size), NO_ROWS
    moments, slip = row.moments, _SLIPS[min(len(row.rate), 3)]
    if len(moments) > 1:
        mend = "Give one of the two, or take stepper=MoreauJean()."
        raise InputError(f"mu_r, mu_t of {row.id}", (row.mu_r, row.mu_t), "one of them for events", mend)
    return slip, moments[0][0] if moments else NO_ROWS


def held_components(row: Row, mode: Mode) -> list[int]:
    """Return which components of a row are held: what is closed, and what sticks."""
    if not mode.closed:
        return []
    if row.kind == "bilateral":
        return list(range(row.size))
    (slip, roll), found = parts_of(row), [] if row.kind == "dry" else [0]
    if rough(row):
        found += [] if mode.slip else list(range(slip.start, slip.stop))
        found += [] if mode.roll else list(range(roll.start, roll.stop))
    return found


def limit_of(row: Row, mode: Mode) -> float:
    """Return the friction coefficient of a contact that sticks."""
    return row.mu if row.moments and not mode.roll else row.mu_s


def undirected(u: Array, v: Array) -> bool:
    """Whether a slip u in space is zero to rounding of the velocities v, so that it has no direction of its own."""
    speed = math.hypot(u[0], u[1])
    return speed <= AT_REST * LEAST_SPEED or speed <= AT_REST * max(map(abs, v.tolist()))


def direction(u: Array, e: Array, v: Array) -> Array:
    """Return the direction of slip on the line of u nearer to e: e in the plane, or at rest beside velocities v.

    So the motion goes on smoothly where the slip passes through zero on a straight line.
    """
    if len(e) == 1 or undirected(u, v):
        return e
    speed = math.hypot(u[0], u[1])
    d: Array = u / (speed if u @ e >= 0.0 else -speed)
    return d


def stopped(row: Row, mode: Mode, v: Array, still: float) -> list[slice]:
    """Return which of slip and rolling in space have no direction of their own beside velocities v, but their mode's.

    They are zero to rounding; or no faster than what is still (m/s), and across their way: where one stops its part
    along that is zero, and what is left is the error of the velocities.
    """
    parts = zip(parts_of(row), (mode.slip, mode.roll), strict=True)
    return [where for where, e in parts if len(e) == 2 and _at_rest(row.rate[where], np.array(e), v, still)]


def _at_rest(u: Array, e: Array, v: Array, still: float) -> bool:
    speed = math.hypot(u[0], u[1])
    return undirected(u, v) or (speed <= still and abs(float(u @ e)) <= ACROSS * speed)


def turned(row: Row, mode: Mode, v: Array) -> Mode:
    """Return a mode with its directions as the row has them now, where velocities are v."""
    if len(mode.slip) < 2 and len(mode.roll) < 2:
        return mode
    slip, roll = parts_of(row)
    new = [tuple(direction(row.rate[where], np.array(e), v).tolist()) if e else e for where, e in
           ((slip, mode.slip), (roll, mode.roll))]  # fmt: skip
    return replace(mode, slip=new[0], roll=new[1])


def completed(rows: Sequence[Row], known: Modes) -> dict[str, Mode]:
    """Return modes for all rows: those that are new are open."""
    return {
        row.id: known.get(row.id, CLOSED if row.kind == "dry" or row.bilateral else OPEN) for row in rows
    }  # fmt: skip


FREE = "open"
INACTIVE = "inactive"
