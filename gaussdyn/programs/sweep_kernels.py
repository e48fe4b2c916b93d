"""Block Gauss-Seidel sweeps and the residual of a whole problem, compiled.

`rows` is W by rows (CSR): data, indices, indptr.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array, IntArray
from .block_kernels import by_newton, simple_block
from .law_kernels import A1, A2, A3, I1, length, natural
from .newton_kernels import TABLE, Table

ROWS = f"Tuple(({A1}, {I1}, {I1}))"
Rows = tuple[Array, IntArray, IntArray]


@kernel(f"float64({ROWS}, {A2}, {A1}, {A1}, int64)", borrows=True)
def row_motion(rows: Rows, W_abs: Array, q: Array, r: Array, i: int) -> float:
    """Return row i of u = W r + W_abs |r| + q; W_abs may have no rows."""
    data, indices, indptr = rows
    s = q[i]
    for c in range(indptr[i], indptr[i + 1]):
        s += data[c] * r[indices[c]]
    if len(W_abs) > 0:
        for c in range(len(q)):
            s += W_abs[i, c] * abs(r[c])
    return float(s)


@kernel(f"float64({ROWS}, {A2}, {A1}, {A1}, {TABLE}, {A1})")
def residual(rows: Rows, W_abs: Array, q: Array, r: Array, table: Table, rho: Array) -> float:
    """Return |r - P(r - rho u^)|."""
    code, start, P = table
    total, U, R, F, x, Y = 0.0, np.zeros(5), np.zeros(5), np.zeros(5), np.zeros(5), np.zeros((5, 5))
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            U[a], R[a] = row_motion(rows, W_abs, q, r, first + a), r[first + a]
        natural(code[k], d, P[k], U, R, rho[k], F, x, Y)
        total += length(F, 0, d) ** 2
    return float(np.sqrt(total))


@kernel(f"int64({ROWS}, {A2}, {A1}, {TABLE}, {A3}, {A1}, int64)")
def gauss_seidel(rows: Rows, W_abs: Array, q: Array, table: Table, D: Array, r: Array, sweeps: int) -> int:
    """Solve every block in turn exactly with the others fixed; return how often a block had no solution.

    D holds the diagonal blocks, for BilateralSliding with the entry of W_abs in D[k, 0, 1].
    """
    code, start, P = table
    b, x, work, failed = np.zeros(5), np.zeros(5), np.zeros((12, 5)), 0
    for visit in range(sweeps * len(code)):
        k = visit % len(code)
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            x[a] = r[first + a]
            b[a] = row_motion(rows, W_abs, q, r, first + a)
            for c in range(d):
                b[a] -= D[k, a, c] * r[first + c]
        if code[k] == 4:
            b[0] -= D[k, 0, 1] * abs(r[first])
        done = simple_block(code[k], d, D[k], b, P[k], x, work)
        if done < 0:
            done = by_newton(code[k], d, D[k], b, P[k], x, work)
        failed += done == 0
        for a in range(d):
            r[first + a] = x[a]
    return failed
