"""Block Gauss-Seidel sweeps and the residual of a whole problem, compiled.

`rows` is W by rows (CSR): data, indices, indptr.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.sparse_rows import ROWS, Rows, row_motion
from ...laws.natural_map import residual
from ...laws.projections import TABLE, Table
from ..one_block import by_newton, simple_block

LEAST, MOST = 1e-200, 1e200  # of |q|^2: outside squares leave the range of doubles, which scaled problems avoid


@record("float64", "float64", "int64", "int64", by_value=True)
class Patience(NamedTuple):
    """How long sweeps are made.

    Attributes
    ----------
    tol : float
        E that is asked for.
    ahead : float
        Sweeps still to come, by the rate at which E falls, beyond which they are given up.
    least, most : int
        Sweeps before that rate is looked at (2 or more), and sweeps in all.
    """

    tol: float
    ahead: float
    least: int
    most: int


@kernel(f"int64({ROWS}, {A2}, {A1}, {TABLE}, {A3}, {A1}, int64)", entry=True)
def gauss_seidel(rows: Rows, W_abs: Array, q: Array, table: Table, D: Array, r: Array, sweeps: int) -> int:
    """Solve every block in turn exactly with the others fixed; return how often a block had no solution.

    D holds the diagonal blocks, for BilateralSliding with the entry of W_abs in D[k, 0, 1].
    """
    code, start, P = table
    b, x, work, failed = np.zeros(6), np.zeros(6), np.zeros((13, 6)), 0
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


@kernel(f"float64({ROWS}, {A1}, {TABLE}, {A3}, {A1}, {A1}, {A2})", borrows=True)
def one_sweep(rows: Rows, q: Array, table: Table, D: Array, b: Array, r: Array, work: Array) -> float:
    """Solve every block in turn exactly with the others fixed; return |change of r|^2.

    Blocks that ask for Newton's method are left alone; b (6) and work (14, 6) are work space.
    """
    code, start, P = table
    data, indices, indptr = rows
    x, total = work[13], 0.0
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        if code[k] == 1:  # an open contact is told by its normal row alone
            s = q[first]
            for c in range(indptr[first], indptr[first + 1]):
                s += data[c] * r[indices[c]]
            for c in range(d):
                s -= D[k, 0, c] * r[first + c]
            if s >= 0.0:
                for a in range(d):
                    total += r[first + a] ** 2
                    r[first + a] = 0.0
                continue
        for a in range(d):
            s = q[first + a]
            for c in range(indptr[first + a], indptr[first + a + 1]):
                s += data[c] * r[indices[c]]
            for c in range(d):
                s -= D[k, a, c] * r[first + c]
            x[a], b[a] = r[first + a], s
        if simple_block(code[k], d, D[k], b, P[k], x, work) < 0:
            continue
        for a in range(d):
            total += (x[a] - r[first + a]) ** 2
            r[first + a] = x[a]
    return total


@kernel(f"UniTuple(float64, 2)({I1}, {A1}, {A1})", borrows=True)
def squares(start: IntArray, q: Array, rho: Array) -> tuple[float, float]:
    """Return |rho q|^2 and |q|^2."""
    weight, size = 0.0, 0.0
    for k in range(len(rho)):
        for i in range(start[k], start[k + 1]):
            weight += (rho[k] * q[i]) ** 2
            size += q[i] ** 2
    return weight, size


@kernel(f"Tuple((float64, int64))({ROWS}, {A1}, {TABLE}, {A3}, {A1}, Patience, {A1})", entry=True)
def quick_sweeps(
    rows: Rows, q: Array, table: Table, D: Array, rho: Array, patience: Patience, r: Array
) -> tuple[float, int]:  # fmt: skip
    """Sweeps from r as long as their rate promises E <= tol soon; returns E and the sweeps made.

    The change of r in a sweep, in units of |rho q|, is nearly E, and stands for it where it is far below tol, or
    above; its fall over the last two sweeps (over one after the second) is the rate. In any units; infinite where
    squares of q leave the range of doubles.
    """
    tol, ahead, least, most = patience
    start, none, b, work = table[1], np.zeros((0, 0)), np.zeros(6), np.zeros((14, 6))
    before, last = np.inf, np.inf
    weight, size = squares(start, q, rho)
    if not LEAST < size < MOST:
        return np.inf, 0
    weight = np.sqrt(weight)
    for done in range(1, most + 1):
        change = np.sqrt(one_sweep(rows, q, table, D, b, r, work)) / weight
        if change <= 1e-3 * tol:
            return change, done
        if change <= tol or not np.isfinite(change) or done == most:
            E = residual(rows, none, q, r, table, rho) / weight
            if 0.3 * tol >= E or not np.isfinite(change) or done == most:
                return E, done
        if done >= least:
            rate = np.sqrt(change / before) if done > 2 else change / last
            if not rate < 1.0 or np.log(0.1 * tol / change) < ahead * np.log(rate):
                return change, done
        before, last = last, change
    return np.inf, most
