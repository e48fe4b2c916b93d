"""Products of a matrix that is held by rows (CSR): data, indices, indptr."""

from __future__ import annotations

from .._jit import A1, A2, I1, kernel
from ..arrays import Array, IntArray

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


@kernel(f"void({ROWS}, {A1}, {A1}, {A1})", borrows=True, entry=True)
def motion(rows: Rows, q: Array, r: Array, u: Array) -> None:
    """Put u = W r + q."""
    data, indices, indptr = rows
    for i in range(len(q)):
        s = 0.0
        for c in range(indptr[i], indptr[i + 1]):
            s += data[c] * r[indices[c]]
        u[i] = s + q[i]
