"""What is held stays held: gaps of closed rows and rates of what does not move, put back to zero.

Source: Eich (1993), projections in the metric of the mass; they are the size of the integrator's error.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..contact.snapshot import rows_of
from ..mechanics.rows import Row
from ..mechanics.system import System
from .phases import RANK, Modes, held_components, over_mass

GAP, RATE = 1e-13, 1e-13  # m, m/s: less is left as it is, times max(1, |q|) and max(1, |v|)
PASSES = 5


def held(system: System, modes: Modes, t: float, q: Array, v: Array, rows: tuple[Row, ...]) -> tuple[Array, Array]:
    """Return q and v with closed gaps and held rates at zero; the very same ones where they are."""
    q, rows = _placed(system, modes, t, q, v, rows)
    return q, stilled(system.mass(q), v, *_held_rates(rows, modes, len(v)))


def _placed(
    system: System, modes: Modes, t: float, q: Array, v: Array, rows: tuple[Row, ...]
) -> tuple[Array, tuple[Row, ...]]:  # fmt: skip
    limit = GAP * max(1.0, float(np.abs(q).max(initial=0.0)))
    for _ in range(PASSES):
        closed = [row for row in rows if row.level == "position" and row.kind != "dry" and modes[row.id].closed]
        gap = np.array([row.gap for row in closed])
        if not len(gap) or float(np.abs(gap).max()) <= limit:
            break
        J = np.array([row.J[0] for row in closed])
        q = system.move(q, stilled(system.mass(q), np.zeros(len(v)), J, gap, limit=0.0), 1.0)
        rows = rows_of(system, t, q, v)
    return q, rows


def stilled(M: Array, v: Array, G: Array, rate: Array, *, limit: float | None = None) -> Array:
    """Return the nearest v at which rows with these rates have none; shortest in the metric of M."""
    limit = RATE * max(1.0, float(np.abs(v).max(initial=0.0))) if limit is None else limit
    if not len(rate) or float(np.abs(rate).max()) <= limit:
        return v
    X = over_mass(M, G.T)
    changed: Array = v - X @ np.linalg.lstsq(G @ X, rate, rcond=RANK)[0]
    return changed


def _held_rates(rows: tuple[Row, ...], modes: Modes, nv: int) -> tuple[Array, Array]:
    """Return the rows that are held, and their rates."""
    G, rate = [np.zeros((0, nv))], [np.zeros(0)]
    for row in rows:
        at = held_components(row, modes[row.id])
        if at and row.level != "acceleration":
            G.append(row.J[at])
            rate.append(row.rate[at])
    return np.vstack(G), np.concatenate(rate)
