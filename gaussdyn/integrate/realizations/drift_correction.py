"""Rigid rows put back exactly: coordinates and velocities moved the least, in the metric of the mass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...arrays import EPS, Array
from ...linalg.factor import cholesky, solve_spd
from ...mechanics.rows import Row
from ...mechanics.system import System

MAX_STEPS = 8
RANK = 1e-11


def held(system: System, law: Any, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """Return (q, v) with the gaps and rates of the rigid rows at zero, up to rounding."""

    def rigid(rows: Iterable[Row], levels: tuple[str, ...]) -> list[Row]:
        """Return the rigid rows on some levels."""
        return [row for row in rows if law.role(row) == "rigid" and row.level in levels]

    if not rigid(system.rows(t, q, v), ("position", "velocity")):
        return q, v
    L = cholesky("mass(q)", np.asarray(system.mass(q)))

    def gaps(x: Array) -> list[Row]:
        """Return the rigid rows on positions at q = x."""
        return rigid(system.rows(t, x, v), ("position",))

    q = _newton(L, q, gaps, lambda row: np.array([row.gap]), lambda x, step: system.move(x, step, 1.0))

    def rates(x: Array) -> list[Row]:
        """Return the rigid rows at v = x."""
        return rigid(system.rows(t, q, x), ("position", "velocity"))

    return q, _newton(L, v, rates, lambda row: row.rate, lambda x, step: x + step)


def _newton(
    L: Array,
    x: Array,
    rows_at: Callable[[Array], list[Row]],
    error: Callable[[Row], Array],
    moved: Callable[[Array, Array], Array],
) -> Array:
    """Return x after Newton steps of least mass norm, as long as the errors get smaller."""
    rows = rows_at(x)
    if not rows:
        return x
    e = np.concatenate([error(row) for row in rows])
    for _ in range(MAX_STEPS):
        if np.abs(e).max(initial=0.0) <= EPS * (1.0 + float(np.abs(x).max(initial=0.0))):
            break
        G = np.vstack([row.J for row in rows])
        back = solve_spd(L, np.ascontiguousarray(G.T))
        trial = moved(x, -back @ np.linalg.lstsq(G @ back, e, rcond=RANK)[0])
        rows = rows_at(trial)
        new = np.concatenate([error(row) for row in rows])
        if not np.abs(new).max() < np.abs(e).max():
            break
        x, e = trial, new
    return x
