"""The dual active-set method, compiled: one call solves one strictly convex quadratic program.

See `steps` for the method and the conventions.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...arrays import Array, IntArray
from ...linalg.dense import add_multiple, cholesky_upper, dot, norm, solve_upper, solve_upper_transposed
from ...linalg.row_basis import BASIS, Basis, solve_lower, solve_lower_transposed, split
from .steps import (
    ACTIVE,
    COARSE,
    CONSISTENT,
    COUNT,
    EPS,
    EQUALITIES,
    INFEASIBLE,
    INTS,
    MATRIX,
    NOT_DEFINITE,
    RANGE,
    ROW,
    ROWS,
    SOLVED,
    STUCK,
    VECTOR,
    Active,
    Rows,
    begin,
    bring_in,
    contradicted_equality,
    most_violated,
    release,
    settle,
    slacks,
    transform,
    write_ray,
)


@kernel(f"int64({VECTOR}, {VECTOR}, {ACTIVE}, int64, float64)")
def reconsider(slack: Array, rhs: Array, active: Active, equalities: int, size: float) -> int:
    """Put inequalities that were set aside, and are violated after all, back in play; return how many."""
    (_, state), count = active, 0
    for row in range(equalities, slack.shape[0]):
        if state[row] == -1 and slack[row] < -CONSISTENT * (abs(rhs[row]) + size):
            state[row] = 0
            count += 1
    return count


@kernel(f"float64({VECTOR}, {INTS}, int64, {VECTOR}, float64)")
def combined_scale(rhs: Array, working: IntArray, row: int, r: Array, size: float) -> float:
    """Return the size of the terms in rhs_row - sum of r_j rhs_j, which bounds its rounding."""
    scale = float(abs(rhs[row]) + size)
    for j in range(working[working.shape[0] - 1]):
        scale += abs(r[j]) * abs(rhs[working[j]])
    return scale


@kernel(f"int64({ROWS}, {INTS}, {BASIS}, {ACTIVE}, {VECTOR}, {VECTOR})")
def ascend(rows: Rows, choice: IntArray, basis: Basis, active: Active, y: Array, u: Array) -> int:
    """Bring in violated rows until there is none.

    If INFEASIBLE, `choice` has the row at fault and u its combination of the active rows.
    """
    (BT, rhs, y0), (working, state) = rows, active
    slack, noise = np.empty(BT.shape[1]), 1e-3 * COARSE * norm(y0)
    fresh, size = True, norm(y)
    while choice[COUNT] < 50 + 20 * (BT.shape[0] + BT.shape[1]):
        slacks(BT, rhs, y, slack)
        row = most_violated(slack, rhs, state, choice[EQUALITIES], size)
        if not fresh and (row < 0 or slack[row] > -COARSE * (abs(rhs[row]) + size) - noise):
            settle(rows, basis, active, y, u)
            fresh, size = True, norm(y)
            continue
        choice[ROW] = row
        choice[COUNT] += 1
        if row < 0:
            if reconsider(slack, rhs, active, choice[EQUALITIES], size) == 0:
                return SOLVED
        elif bring_in(rows, choice, basis, active, y, u) == SOLVED:
            fresh, size = False, norm(y)
        elif slack[row] < -CONSISTENT * combined_scale(rhs, working, row, u, size):
            return INFEASIBLE
        else:
            state[row] = -1
            release(rows, choice[EQUALITIES], basis, active, y, u)
            fresh, size = True, norm(y)
    return STUCK


Data = tuple[Array, Array, Array, Array]
DATA = "Tuple((float64[:,::1], float64[::1], float64[:,::1], float64[::1]))"  # H, g, N, rhs as given
Factors = tuple[Array, Array]
FACTORS = "Tuple((float64[:,::1], float64[::1]))"  # U, lengths of the rows


@kernel(f"void({DATA}, {FACTORS}, {BASIS}, {INTS}, {VECTOR}, {VECTOR})")
def refine(data: Data, factors: Factors, basis: Basis, working: IntArray, x: Array, u: Array) -> None:
    """Correct x and u once by the residuals of the data as given (iterative refinement on the active rows)."""
    H, g, N, rhs = data
    U, length = factors
    Q, T = basis
    n = x.shape[0]
    k, scratch = int(working[n]), np.empty((4, n))
    force, gap, along, change = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(n):
        force[i] = -g[i] - dot(H[i], x, n)
    for j in range(k):
        row = working[j]
        add_multiple(force, u[j] / length[row], N[row], n)
        gap[j] = (rhs[row] - dot(N[row], x, n)) / length[row]
    solve_upper_transposed(U, force)
    solve_lower(T, k, gap)
    split(Q, k, force, along, change)
    for j in range(k):
        add_multiple(change, gap[j], Q[j], n)
        gap[j] -= along[j]
    solve_upper(U, change)
    solve_lower_transposed(T, k, gap)
    add_multiple(x, 1.0, change, n)
    add_multiple(u, 1.0, gap, k)


@kernel(f"boolean({DATA}, int64, {VECTOR}, {VECTOR})")
def rests(data: Data, equalities: int, w: Array, force: Array) -> bool:
    """Whether x = 0 is admissible and the multipliers w balance the load: then an x of rounding noise is zero."""
    _, g, N, rhs = data
    for row in range(rhs.shape[0]):
        if rhs[row] > 0.0 or (row < equalities and rhs[row] != 0.0):
            return False
    force[:] = g
    for row in range(rhs.shape[0]):
        if w[row] != 0.0:
            add_multiple(force, -w[row], N[row], g.shape[0])
    return norm(force) <= 1e-13 * norm(g)


@kernel(f"Tuple(({VECTOR}, {VECTOR}, {INTS}, {INTS}))({MATRIX}, {VECTOR}, {MATRIX}, {VECTOR}, {INTS})", entry=True)
def solve_rows(H: Array, g: Array, N: Array, rhs: Array, guess: IntArray) -> tuple[Array, Array, IntArray, IntArray]:
    """Minimise 1/2 x^T H x + g^T x, the first guess[0] rows of N x = rhs, the others N x >= rhs.

    Parameters
    ----------
    H, g : Array, shapes (n, n), (n,)
    N, rhs : Array, shapes (m, n), (m,)
    guess : IntArray
        Number of equalities, then the inequalities thought active, the surest first.

    Returns
    -------
    x : Array, shape (n,)
    w : Array, shape (m,)
        Multipliers; if INFEASIBLE a combination of rows that contradicts itself (not yet exact).
    state : IntArray, shape (m,)
        1 for the independent active rows that carry the multipliers, -1 for rows set aside as dependent.
    info : IntArray, shape (2,)
        Status (SOLVED, INFEASIBLE, STUCK, NOT_DEFINITE) and number of steps.
    """
    m, n = N.shape
    U, BT, length, scaled = np.empty((n, n)), np.empty((n, m)), np.empty(m), rhs.copy()
    basis, working, state = (np.empty((n, n)), np.empty((n, n))), np.zeros(n + 1, np.int64), np.zeros(m, np.int64)
    active, equalities = (working, state), guess[0]
    x, w, y0, u = np.empty(n), np.zeros(m), -g, np.zeros(n + 1)
    info, choice = np.zeros(2, np.int64), np.zeros(4, np.int64)
    if cholesky_upper(H, U) >= 0:
        info[0] = NOT_DEFINITE
        return x, w, state, info
    transform(U, N, scaled, BT, length)
    solve_upper_transposed(U, y0)
    rows = (BT, scaled, y0)
    steepest = flattest = 1.0
    for i in range(n):
        steepest, flattest = (max(steepest, U[i, i] / U[0, 0]), min(flattest, U[i, i] / U[0, 0]))
    choice[EQUALITIES], choice[RANGE] = equalities, max(50000, int(64.0 * steepest / flattest))
    choice[COUNT] = begin(rows, guess, basis, active, u, choice[RANGE] * EPS)
    settle(rows, basis, active, x, u)
    choice[ROW] = contradicted_equality(rows, basis, active, x, w)
    info[0] = INFEASIBLE if choice[ROW] >= 0 else ascend(rows, choice, basis, active, x, u)
    info[1] = choice[COUNT]
    if info[0] == INFEASIBLE:
        if choice[ROW] >= equalities:
            write_ray(working, int(working[n]), u, choice[ROW], 1.0, w)
        w /= length
        return x, w, state, info
    small = norm(x) <= 8.0 * n * EPS * norm(y0)
    solve_upper(U, x)
    refine((H, g, N, rhs), (U, length), basis, working, x, u)
    for j in range(working[n]):
        w[working[j]] = (u[j] if working[j] < equalities else max(u[j], 0.0)) / length[working[j]]
    if small and rests((H, g, N, rhs), equalities, w, u[:n]):
        x[:] = 0.0
    return x, w, state, info


@kernel(f"Tuple(({VECTOR}, {VECTOR}, {INTS}, {INTS}))({MATRIX}, {VECTOR}, {MATRIX}, {VECTOR}, {MATRIX}, {VECTOR})")
def solve_arrays(H: Array, g: Array, A: Array, b: Array, C: Array, d: Array) -> tuple[Array, Array, IntArray, IntArray]:
    """Do the same as `solve_rows` for A x = b, C x >= d, cold: for loops that check their answers themselves."""
    m = b.shape[0]
    N, rhs, guess = np.empty((m + d.shape[0], g.shape[0])), np.empty(m + d.shape[0]), np.zeros(1, np.int64)
    N[:m], N[m:], rhs[:m], rhs[m:] = A, C, b, d
    guess[0] = m
    return solve_rows(H, g, N, rhs, guess)
