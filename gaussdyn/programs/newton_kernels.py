"""The semismooth Newton method on the block laws, compiled: linearisation, merit, dense inner loop.

At x = r - rho u every law asks r = y(x) (`law_kernels.reaction_map`). With u = W r + q + (alpha / rho) (r - centre)
the step solves (I - Y + Y rho (W + alpha / rho)) dr = y - r. The proximal term alpha makes the matrix regular where
W is rank deficient, which is normal. `table` is (code, start, P) of `laws.LawTable`; prox = alpha / rho by rows.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array, IntArray
from .law_kernels import A1, A2, A3, I1, length, reaction_map

TABLE = f"Tuple(({I1}, {I1}, {A2}))"
Table = tuple[IntArray, IntArray, Array]


@kernel(f"void({TABLE}, {A1}, {A1}, {A1}, {A1}, {A3})")
def linearize(table: Table, rho: Array, u: Array, r: Array, F: Array, Y: Array) -> None:
    """Put F = r - y(r - rho u) and the derivatives Y (n, 5, 5) of y block by block."""
    code, start, P = table
    x, y = np.zeros(5), np.zeros(5)
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            x[a] = r[first + a] - rho[k] * u[first + a]
        reaction_map(code[k], d, P[k], x, y, Y[k])
        for a in range(d):
            F[first + a] = r[first + a] - y[a]


@kernel(f"float64({TABLE}, {A1}, {A1}, {A1}, {A1}, {A1}, float64)")
def merit(table: Table, rho: Array, u: Array, r: Array, du: Array, dr: Array, t: float) -> float:
    """Return |F|^2 at (u + t du, r + t dr)."""
    code, start, P = table
    total, x, y, Y = 0.0, np.zeros(5), np.zeros(5), np.zeros((5, 5))
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            i = first + a
            x[a] = r[i] + t * dr[i] - rho[k] * (u[i] + t * du[i])
        reaction_map(code[k], d, P[k], x, y, Y)
        for a in range(d):
            i = first + a
            total += (r[i] + t * dr[i] - y[a]) ** 2
    return total


@kernel(f"float64({TABLE}, {A1}, {A1}, {A1}, {A1}, {A1})", borrows=True)
def line_search(table: Table, rho: Array, u: Array, r: Array, du: Array, dr: Array) -> float:
    """Return the step length in {1, 1/2, ...} that lowers |F|^2 enough, else the best of them."""
    now = merit(table, rho, u, r, du, dr, 0.0)
    t, best, best_t = 1.0, np.inf, 1.0
    for _ in range(8):
        value = merit(table, rho, u, r, du, dr, t)
        if value < best:
            best, best_t = value, t
        if value <= (1.0 - 0.1 * t) * now:
            break
        t *= 0.5
    return best_t


@kernel(f"boolean({A2}, {A1})", borrows=True)
def solve_dense(A: Array, b: Array) -> bool:
    """Solve A x = b by elimination with row pivots; b becomes x, A is overwritten. False if A is singular."""
    n = len(b)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if not abs(A[p, k]) > 0.0:
            return False
        if p != k:
            for j in range(k, n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            if f != 0.0:
                b[i] -= f * b[k]
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]
    return True


@kernel(f"void({A2}, {A2}, {A1}, {A1}, {A1}, {A1}, {A1})", borrows=True)
def proximal_motion(W: Array, W_abs: Array, q: Array, prox: Array, centre: Array, r: Array, u: Array) -> None:
    """Put u = W r + W_abs |r| + q + prox (r - centre); W_abs may have no rows."""
    n = len(q)
    for i in range(n):
        s = q[i] + prox[i] * (r[i] - centre[i])
        for j in range(n):
            s += W[i, j] * r[j]
        if len(W_abs) > 0:
            for j in range(n):
                s += W_abs[i, j] * abs(r[j])
        u[i] = s


@kernel(f"void({A2}, {A2}, {I1}, {A1}, {A1}, float64, {A3}, {A2})", borrows=True)
def newton_matrix(
    W: Array, W_abs: Array, start: IntArray, rho: Array, r: Array, alpha: float, Y: Array, A: Array
) -> None:
    """Put A = I - Y + Y (rho W + alpha), with the columns of W_abs signed by r."""
    n = len(r)
    for k in range(len(start) - 1):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            i = first + a
            for j in range(n):
                A[i, j] = 0.0
            for b in range(d):
                y = Y[k, a, b]
                if y == 0.0:
                    continue
                A[i, first + b] -= (1.0 - alpha) * y
                for j in range(n):
                    A[i, j] += rho[k] * y * W[first + b, j]
                if len(W_abs) > 0:
                    for j in range(n):
                        A[i, j] += rho[k] * y * W_abs[first + b, j] * (1.0 if r[j] >= 0.0 else -1.0)
            A[i, i] += 1.0


@kernel(f"Tuple((float64, int64))({A2}, {A2}, {A1}, {TABLE}, {A1}, float64, {A1}, {A1}, float64, int64)")
def newton_dense(
    W: Array, W_abs: Array, q: Array, table: Table, rho: Array, alpha: float, centre: Array, r: Array, tol: float,
    limit: int,
) -> tuple[float, int]:  # fmt: skip
    """Newton's method with line search at fixed alpha and centre, from r; r becomes the answer.

    Returns |F| and the number of steps. Stops where |F| no longer falls at rounding level (|q| = 1 is assumed).
    """
    n, start = len(q), table[1]
    u, F, du, dr, prox, step = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    Y, A = np.zeros((len(rho), 5, 5)), np.zeros((n, n))
    for k in range(len(rho)):
        for i in range(start[k], start[k + 1]):
            prox[i] = alpha / rho[k]
    last, size = np.inf, np.inf
    for it in range(limit + 1):
        proximal_motion(W, W_abs, q, prox, centre, r, u)
        linearize(table, rho, u, r, F, Y)
        size = length(F, 0, n)
        if size <= tol or it == limit or not np.isfinite(size) or 0.5 * last < size < 1e-10:
            return size, it
        last = size
        newton_matrix(W, W_abs, start, rho, r, alpha, Y, A)
        for i in range(n):
            dr[i] = -F[i]
        if not solve_dense(A, dr):
            return size, it
        for i in range(n):
            step[i] = r[i] + dr[i]
        proximal_motion(W, W_abs, q, prox, centre, step, du)
        for i in range(n):
            du[i] -= u[i]
        t = line_search(table, rho, u, r, du, dr)
        for i in range(n):
            r[i] += t * dr[i]
    return size, limit
