"""The semismooth Newton method on the block laws, compiled: linearisation, merit, dense inner loop.

At x = r - rho u every law asks r = y(x) (`projections.reaction_map`). With u = W r + q + (alpha / rho) (r - centre)
the step solves (I - Y + Y rho (W + alpha / rho)) dr = y - r. The proximal term alpha makes the matrix regular where
W is rank deficient, which is normal. `table` is (code, start, P) of `law_table.LawTable`; prox = alpha / rho by rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.dense import solve_dense
from ...laws.projections import TABLE, Table, length, reaction_map

SPACE = 7  # vectors of work space that `newton_within` takes


@record(A2, A2, A1, TABLE, A1, by_value=True)
class DenseProblem(NamedTuple):
    """The problem u = W r + W_abs |r| + q of n rows, and the step sizes of its equations.

    Attributes
    ----------
    W, W_abs : Array, shape (n, n)
        W_abs may have no rows.
    q : Array, shape (n,)
    table : tuple
        The laws.
    rho : Array, shape (blocks,)
    """

    W: Array
    W_abs: Array
    q: Array
    table: Table
    rho: Array


@record(A2, A3, A1, I1, A2, by_value=True)
class DenseSpace(NamedTuple):
    """Work space of Newton's method.

    Attributes
    ----------
    V : Array, shape (SPACE or more, n)
        Vectors: u, F, du, dr, prox, what a full step leads to, b.
    Y : Array, shape (blocks, 6, 6)
        Derivatives of the laws.
    A : Array, shape (n n,)
        The equations A dr = b, flat.
    place : IntArray, shape (n,)
        See `newton_matrix`.
    work : Array, shape (8, 6)
    """

    V: Array
    Y: Array
    A: Array
    place: IntArray
    work: Array


@kernel(f"void({TABLE}, {A1}, {A1}, {A1}, {A1}, {A3}, {A1}, {A1})", borrows=True)
def linearize_into(table: Table, rho: Array, u: Array, r: Array, F: Array, Y: Array, x: Array, y: Array) -> None:
    """Put F = r - y(r - rho u) and the derivatives Y (n, 6, 6) of y block by block; x and y (6) are work space."""
    code, start, P = table
    for k in range(len(code)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            x[a] = r[first + a] - rho[k] * u[first + a]
        reaction_map(code[k], d, P[k], x, y, Y[k])
        for a in range(d):
            F[first + a] = r[first + a] - y[a]


@kernel(f"void({TABLE}, {A1}, {A1}, {A1}, {A1}, {A3})", entry=True)
def linearize(table: Table, rho: Array, u: Array, r: Array, F: Array, Y: Array) -> None:
    """Put F = r - y(r - rho u) and the derivatives Y (n, 6, 6) of y block by block."""
    linearize_into(table, rho, u, r, F, Y, np.zeros(6), np.zeros(6))


@kernel(f"float64({TABLE}, {A1}, {A1}, {A1}, {A1}, {A1}, float64, {A2})", borrows=True)
def merit(table: Table, rho: Array, u: Array, r: Array, du: Array, dr: Array, t: float, work: Array) -> float:
    """Return |F|^2 at (u + t du, r + t dr); `work` (8, 6) is work space."""
    code, start, P = table
    total, x, y, Y = 0.0, work[6], work[7], work[:6]
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


@kernel(f"float64({TABLE}, {A1}, {A1}, {A1}, {A1}, {A1}, float64, {A2})", borrows=True)
def step_into(table: Table, rho: Array, u: Array, r: Array, du: Array, dr: Array, now: float, work: Array) -> float:
    """Return the step length in {1, 1/2, ...} that lowers |F|^2 (now at 0) enough, else the best of them."""
    t, best, best_t = 1.0, np.inf, 1.0
    for _ in range(8):
        value = merit(table, rho, u, r, du, dr, t, work)
        if value < best:
            best, best_t = value, t
        if value <= (1.0 - 0.1 * t) * now:
            break
        t *= 0.5
    return best_t


@kernel(f"float64({TABLE}, {A1}, {A1}, {A1}, {A1}, {A1})", entry=True)
def line_search(table: Table, rho: Array, u: Array, r: Array, du: Array, dr: Array) -> float:
    """Return the step length in {1, 1/2, ...} that lowers |F|^2 enough, else the best of them."""
    work = np.zeros((8, 6))
    return step_into(table, rho, u, r, du, dr, merit(table, rho, u, r, du, dr, 0.0, work), work)


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


@kernel(f"boolean({A2}, int64)", borrows=True)
def vanishes(Y: Array, d: int) -> bool:
    """Whether a derivative (d, d) is zero: the block is open, and its equation says r = 0."""
    for a in range(d):
        for b in range(d):
            if Y[a, b] != 0.0:
                return False
    return True


@kernel(f"void({A2}, {I1}, {A1}, float64, {A3}, {A1}, {A1}, {A1})", borrows=True)
def full_matrix(W: Array, start: IntArray, rho: Array, alpha: float, Y: Array, F: Array, A: Array, b: Array) -> None:
    """Put A = I - Y + Y (rho W + alpha) and b = -F where no block is open, so that nothing need be looked up."""
    n = len(F)
    for k in range(len(start) - 1):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            at = (first + a) * n
            for j in range(n):
                A[at + j] = 0.0
            A[at + first + a] = 1.0
            b[first + a] = -F[first + a]
            for c in range(d):
                y = Y[k, a, c]
                if y != 0.0:
                    A[at + first + c] -= (1.0 - alpha) * y
                    y *= rho[k]
                    for j in range(n):
                        A[at + j] += y * W[first + c, j]


@kernel(f"int64({I1}, {A3}, {A1}, {I1}, {A1})", borrows=True)
def list_equations(start: IntArray, Y: Array, F: Array, place: IntArray, dr: Array) -> int:
    """Put into place[i] the equation of row i, -1 if its block is open, where dr = -F; return how many there are."""
    m = 0
    for k in range(len(start) - 1):
        first, d = start[k], start[k + 1] - start[k]
        still = vanishes(Y[k], d)
        for i in range(first, first + d):
            place[i], dr[i] = -1 if still else m, -F[i] if still else 0.0
            m += 0 if still else 1
    return m


@kernel(f"int64(DenseProblem, float64, {A1}, DenseSpace)", borrows=True)
def newton_matrix(problem: DenseProblem, alpha: float, r: Array, space: DenseSpace) -> int:
    """Put the equations A dr = b of the blocks that are not open, A = I - Y + Y (rho W + alpha), into flat A and b.

    Open blocks step by dr = -F, which is moved to the right side. Returns the number m of equations; place[i] is the
    equation of row i, -1 if its block is open. The columns of W_abs are signed by r.
    """
    W, W_abs, _q, (_code, start, _P), rho = problem
    V, Y, A, place, _work = space
    F, dr, b = V[1], V[3], V[6]
    n, m = len(r), list_equations(start, Y, F, place, dr)
    if m == n and len(W_abs) == 0:
        full_matrix(W, start, rho, alpha, Y, F, A, b)
        return m
    for k in range(len(start) - 1):
        first, d = start[k], start[k + 1] - start[k]
        if place[first] < 0:
            continue
        for a in range(d):
            at, e = place[first + a] * m, 0.0
            for j in range(m):
                A[at + j] = 0.0
            for c in range(d):
                y = Y[k, a, c]
                if y == 0.0:
                    continue
                A[at + place[first + c]] -= (1.0 - alpha) * y
                y *= rho[k]
                for j in range(n):
                    w = W[first + c, j]
                    if len(W_abs) > 0:
                        w += W_abs[first + c, j] * (1.0 if r[j] >= 0.0 else -1.0)
                    if place[j] >= 0:
                        A[at + place[j]] += y * w
                    else:
                        e += y * w * dr[j]
            A[at + place[first + a]] += 1.0
            b[place[first + a]] = -F[first + a] - e
    return m


@kernel(f"Tuple((float64, int64))(DenseProblem, float64, {A1}, {A1}, float64, int64, DenseSpace)")
def newton_within(
    problem: DenseProblem, alpha: float, centre: Array, r: Array, tol: float, limit: int, space: DenseSpace
) -> tuple[float, int]:
    """`newton_dense` in given work space."""
    W, W_abs, q, table, rho = problem
    V, Y, A, place, work = space
    n, start = len(q), table[1]
    u, F, du, dr, prox, step, b = V[0], V[1], V[2], V[3], V[4], V[5], V[6]
    for k in range(len(rho)):
        for i in range(start[k], start[k + 1]):
            prox[i] = alpha / rho[k]
    proximal_motion(W, W_abs, q, prox, centre, r, u)
    linearize_into(table, rho, u, r, F, Y, work[6], work[7])
    last, size = np.inf, length(F, 0, n)
    for it in range(limit + 1):
        if size <= tol or it == limit or not np.isfinite(size) or 0.5 * last < size < 1e-10:
            return size, it
        last = size
        m = newton_matrix(problem, alpha, r, space)
        if not solve_dense(A[: m * m].reshape((m, m)), b[:m]):
            return size, it
        for i in range(n):
            dr[i] = b[place[i]] if place[i] >= 0 else dr[i]
            step[i] = r[i] + dr[i]
        proximal_motion(W, W_abs, q, prox, centre, step, du)
        linearize_into(table, rho, du, step, F, Y, work[6], work[7])
        size = length(F, 0, n)
        if size * size <= 0.9 * last * last:  # the full step, as nearly always
            for i in range(n):
                u[i], r[i] = du[i], step[i]
            continue
        for i in range(n):
            du[i] -= u[i]
        t = step_into(table, rho, u, r, du, dr, last * last, work)
        for i in range(n):
            r[i] += t * dr[i]
        proximal_motion(W, W_abs, q, prox, centre, r, u)
        linearize_into(table, rho, u, r, F, Y, work[6], work[7])
        size = length(F, 0, n)
    return size, limit


@kernel(f"Tuple((float64, int64))(DenseProblem, float64, {A1}, {A1}, float64, int64)", entry=True)
def newton_dense(
    problem: DenseProblem, alpha: float, centre: Array, r: Array, tol: float, limit: int
) -> tuple[float, int]:  # fmt: skip
    """Newton's method with line search at fixed alpha and centre, from r; r becomes the answer.

    Returns |F| and the number of steps. Stops where |F| no longer falls at rounding level (|q| = 1 is assumed).
    """
    n, blocks = len(problem.q), len(problem.rho)
    V, Y, A = np.zeros((SPACE, n)), np.zeros((blocks, 6, 6)), np.zeros(n * n)
    space = DenseSpace(V, Y, A, np.zeros(n, np.int64), np.zeros((8, 6)))
    return newton_within(problem, alpha, centre, r, tol, limit, space)
