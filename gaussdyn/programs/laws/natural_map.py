"""The natural map of a whole problem, |r - P(r - rho u^)|, compiled."""

from __future__ import annotations

import numpy as np

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ...linalg.sparse_rows import ROWS, Rows, row_motion
from .projections import TABLE, Table, length, natural


@kernel(f"float64({ROWS}, {A2}, {A1}, {A1}, {TABLE}, {A1}, {A2})", borrows=True)
def residual_within(rows: Rows, W_abs: Array, q: Array, r: Array, table: Table, rho: Array, work: Array) -> float:
    """Return |r - P(r - rho u^)|; `work` (10, 6) is work space."""
    code, start, P = table
    total, U, R, F = 0.0, work[7], work[8], work[9]
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            U[a], R[a] = row_motion(rows, W_abs, q, r, first + a), r[first + a]
        natural(code[k], d, P[k], U, R, rho[k], F, work[:7])
        total += length(F, 0, d) ** 2
    return float(np.sqrt(total))


@kernel(f"float64({ROWS}, {A2}, {A1}, {A1}, {TABLE}, {A1})", entry=True)
def residual(rows: Rows, W_abs: Array, q: Array, r: Array, table: Table, rho: Array) -> float:
    """Return |r - P(r - rho u^)|."""
    return residual_within(rows, W_abs, q, r, table, rho, np.zeros((10, 6)))
