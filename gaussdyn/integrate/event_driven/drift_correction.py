"""What is held stays held: gaps of closed rows and rates of what does not move, put back to zero.

Source: Eich (1993), projections in the metric of the mass; they are the size of the integrator's error.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...linalg.redundant_rows import RANK
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..contact_modes import Modes, held_components
from .phase_state import largest, over_mass

GAP, RATE = 1e-13, 1e-13  # m, m/s: less is left as it is, times max(1, |q|) and max(1, |v|)
PASSES = 5


def held(
    system: System, modes: Modes, t: float, q: Array, v: Array, rows: tuple[Row, ...], least: float = RATE
) -> tuple[Array, Array]:  # fmt: skip
    """Return q and v with closed gaps and held rates at zero; the very same ones where they are.

    Rates up to `least` (m/s, times max(1, |v|)) are left as they are.
    """
    q, rows = placed(system, modes, t, q, v, rows)
    moving = [(row, held_components(row, modes[row.id])) for row in rows if row.level != "acceleration"]
    rates = [rate for row, at in moving for rate in row.rate[at].tolist()]
    off = max(map(abs, rates), default=0.0)
    if off <= least or off <= least * largest(v):
        return q, v
    return q, stilled(system.mass(q), v, np.vstack([row.J[at] for row, at in moving]), np.array(rates))


def placed(
    system: System, modes: Modes, t: float, q: Array, v: Array, rows: tuple[Row, ...]
) -> tuple[Array, tuple[Row, ...]]:  # fmt: skip
    """Return q with closed gaps at zero, and the rows there; the very same ones where they are."""
    for _ in range(PASSES):
        closed = [row for row in rows if row.level == "position" and row.kind != "dry" and modes[row.id].closed]
        off = max([abs(row.gap) for row in closed], default=0.0)
        if off <= GAP or off <= GAP * largest(q):
            break
        gap, J = np.array([row.gap for row in closed]), np.array([row.J[0] for row in closed])
        q = system.move(q, stilled(system.mass(q), np.zeros(len(v)), J, gap), 1.0)
        rows = rows_of(system, t, q, v)
    return q, rows


def stilled(M: Array, v: Array, G: Array, rate: Array) -> Array:
    """Return the nearest v at which rows with these rates have none; shortest in the metric of M."""
    X = over_mass(M, G.T)
    changed: Array = v - X @ np.linalg.lstsq(G @ X, rate, rcond=RANK)[0]
    return changed
