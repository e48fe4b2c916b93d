"""Steps of the dual active-set method: activate, release, walk until a violated row is active.

Goldfarb and Idnani, Math. Programming 27 (1983) 1-33, in the metric of H: with H = U^T U and x = U^-1 y the program
asks for the point y of the polyhedron B y >= rhs nearest to y0, B = N U^-1 with rows scaled to length one. The
active rows are kept as B_W = T Q (`linalg.row_basis`), so dependent rows are recognised by the part of them that
is across the others, at any scaling.

Conventions of all kernels here: rows 0..equalities-1 are equalities; `working` (n + 1) lists the active rows, its
last entry counts them; `state` (m) is 1 for active, -1 for set aside (dependent and satisfied), else 0.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...arrays import Array, IntArray
from ...linalg.dense import add_multiple, dot, norm, solve_upper_transposed_many, subtract_rows
from ...linalg.row_basis import BASIS, Basis, append, remove, solve_lower, solve_lower_transposed, split

SOLVED, INFEASIBLE, STUCK, NOT_DEFINITE = 0, 1, 2, 3
EPS = 2.220446049250313e-16
FEASIBLE = 32.0 * EPS  # violation that counts as none, relative to |rhs_i| + |y|
CONSISTENT = 4e-12  # violation of a dependent row that is forgiven, relative to the rows that it combines
COARSE = 1e-8  # below this a violation is believed only after y was computed afresh

Rows = tuple[Array, Array, Array]
ROWS = "Tuple((float64[:,::1], float64[::1], float64[::1]))"  # B^T (n, m), rhs (m), y0 (n)
Active = tuple[IntArray, IntArray]
ACTIVE = "Tuple((int64[::1], int64[::1]))"  # working (n + 1), state (m)
ROW, EQUALITIES, RANGE, COUNT = range(4)  # entries of `choice`: row to bring in, equalities, range of pivots, steps
MATRIX, VECTOR, INTS = "float64[:,::1]", "float64[::1]", "int64[::1]"


@kernel(f"void({MATRIX}, {MATRIX}, {VECTOR}, {MATRIX}, {VECTOR})")
def transform(U: Array, N: Array, rhs: Array, BT: Array, length: Array) -> None:
    """Write B^T = U^-T N^T with columns of length one into BT; divide rhs by the lengths."""
    m, n = N.shape
    for row in range(m):
        for i in range(n):
            BT[i, row] = N[row, i]
    solve_upper_transposed_many(U, BT)
    length[:] = 0.0
    for i in range(n):
        for row in range(m):
            length[row] += BT[i, row] * BT[i, row]
    inverse = np.empty(m)
    for row in range(m):
        length[row] = np.sqrt(length[row]) if length[row] > 0.0 else 1.0
        inverse[row] = 1.0 / length[row]
        rhs[row] *= inverse[row]
    for i in range(n):
        for row in range(m):
            BT[i, row] *= inverse[row]


@kernel(f"void({MATRIX}, {VECTOR}, {VECTOR}, {VECTOR})")
def slacks(BT: Array, rhs: Array, y: Array, slack: Array) -> None:
    """Write B y - rhs into slack."""
    n, m = BT.shape
    for row in range(m):
        slack[row] = rhs[row]
    subtract_rows(slack, y, BT, n, 0)
    for row in range(m):
        slack[row] = -slack[row]


@kernel(f"int64({VECTOR}, {VECTOR}, {INTS}, int64, float64)")
def most_violated(slack: Array, rhs: Array, state: IntArray, equalities: int, size: float) -> int:
    """Return the free inequality with the largest violation above rounding, or -1."""
    worst, chosen = 0.0, -1
    for row in range(equalities, slack.shape[0]):
        if state[row] == 0 and slack[row] < worst and slack[row] < -FEASIBLE * (abs(rhs[row]) + size):
            worst, chosen = slack[row], row
    return chosen


@kernel(f"void({ROWS}, {BASIS}, {ACTIVE}, {VECTOR}, {VECTOR})")
def settle(rows: Rows, basis: Basis, active: Active, y: Array, u: Array) -> None:
    """Compute the nearest point y to y0 on the active rows, and their multipliers u, from the factors alone.

    y = Q^T T^-1 rhs_W + (I - Q^T Q) y0; each part is accurate relative to its own size, so that an answer which is
    small against y0 (a body at rest under a large load) keeps its digits.
    """
    _, rhs, y0 = rows
    Q, T = basis
    (working, _), n = active, y.shape[0]
    k, on_rows = int(working[n]), np.empty(y.shape[0])
    for j in range(k):
        u[j] = rhs[working[j]]
    solve_lower(T, k, u)
    split(Q, k, y0, on_rows, y)
    for j in range(k):
        add_multiple(y, u[j], Q[j], n)
        u[j] -= on_rows[j]
    solve_lower_transposed(T, k, u)


@kernel(f"void({BASIS}, {ACTIVE}, {VECTOR}, int64)")
def drop(basis: Basis, active: Active, u: Array, j: int) -> None:
    """Let the active row at position j go."""
    working, state = active
    n = working.shape[0] - 1
    k = int(working[n])
    remove(basis, k, j)
    state[working[j]] = 0
    for i in range(j, k - 1):
        working[i], u[i] = working[i + 1], u[i + 1]
    working[n] = k - 1


@kernel(f"void({BASIS}, {ACTIVE}, int64, {VECTOR}, {VECTOR}, float64)")
def take(basis: Basis, active: Active, row: int, along: Array, across: Array, length: float) -> None:
    """Make a row active that `split` took apart."""
    working, state = active
    n = working.shape[0] - 1
    append(basis, int(working[n]), along, across, length)
    working[working[n]] = row
    working[n] += 1
    state[row] = 1


@kernel(f"int64({ROWS}, int64, {BASIS}, {ACTIVE}, {VECTOR}, {VECTOR})")
def release(rows: Rows, equalities: int, basis: Basis, active: Active, y: Array, u: Array) -> int:
    """Settle, dropping active inequalities that pull, the strongest first; return how many were dropped."""
    (working, _), n = active, y.shape[0]
    changes = 0
    while True:
        settle(rows, basis, active, y, u)
        pulling = -1
        for j in range(working[n]):
            if working[j] >= equalities and u[j] < 0.0 and (pulling < 0 or u[j] < u[pulling]):
                pulling = j
        if pulling < 0:
            return changes
        drop(basis, active, u, pulling)
        changes += 1


@kernel(f"int64({ROWS}, {INTS}, {BASIS}, {ACTIVE}, {VECTOR}, float64)")
def begin(rows: Rows, guess: IntArray, basis: Basis, active: Active, u: Array, dependent: float) -> int:
    """Activate the equalities (guess[0] of them) and the guessed rows (guess[1:]), then drop pulling ones.

    What is left is dual feasible: the optimum of the program that has these rows only.
    """
    (BT, _, _), (working, state), (Q, _) = rows, active, basis
    n, m = BT.shape
    equalities = guess[0]
    scratch = np.empty((4, n))
    b, along, across, y = scratch[0], scratch[1], scratch[2], scratch[3]
    for i in range(equalities + guess.shape[0] - 1):
        row = i if i < equalities else guess[i - equalities + 1]
        if row < 0 or row >= m or state[row] != 0:
            continue
        for c in range(n):
            b[c] = BT[c, row]
        length = split(Q, int(working[n]), b, along, across)
        if length > dependent:
            take(basis, active, row, along, across, length)
        elif i < equalities:
            state[row] = -1
    return release(rows, equalities, basis, active, y, u)


@kernel(f"void({INTS}, int64, {VECTOR}, int64, float64, {VECTOR})")
def write_ray(working: IntArray, k: int, r: Array, row: int, sign: float, ray: Array) -> None:
    """Write the contradiction: row = sum of r_j active rows, and its right-hand side asks for more than theirs."""
    ray[:] = 0.0
    for j in range(k):
        ray[working[j]] = -sign * r[j]
    ray[row] = sign


@kernel(f"int64({ROWS}, {BASIS}, {ACTIVE}, {VECTOR}, {VECTOR})")
def contradicted_equality(rows: Rows, basis: Basis, active: Active, y: Array, ray: Array) -> int:
    """Return an equality that the others contradict (its ray written), or -1."""
    (BT, rhs, _), (working, state), (Q, T) = rows, active, basis
    n, m = BT.shape
    for row in range(m):
        if state[row] != -1:
            continue
        b, r, across = np.empty(n), np.empty(n), np.empty(n)
        for c in range(n):
            b[c] = BT[c, row]
        k = int(working[n])
        split(Q, k, b, r, across)
        solve_lower_transposed(T, k, r)
        scale = abs(rhs[row]) + norm(y)
        for j in range(k):
            scale += abs(r[j]) * abs(rhs[working[j]])
        gap = rhs[row] - dot(b, y, n)
        if abs(gap) > CONSISTENT * scale:
            write_ray(working, k, r, row, 1.0 if gap > 0 else -1.0, ray)
            return row
    return -1


@kernel(f"int64({VECTOR}, {VECTOR}, {INTS}, int64)")
def first_to_vanish(u: Array, r: Array, working: IntArray, equalities: int) -> int:
    """Return the position of the inequality whose multiplier u - t r reaches zero first, or -1."""
    blocking, best = -1, np.inf
    for j in range(working[working.shape[0] - 1]):
        if working[j] >= equalities and r[j] > 1e-13 and u[j] < best * r[j]:
            blocking, best = j, max(u[j], 0.0) / r[j]
    return blocking


@kernel(f"int64({ROWS}, {INTS}, {BASIS}, {ACTIVE}, {VECTOR}, {VECTOR})")
def bring_in(rows: Rows, choice: IntArray, basis: Basis, active: Active, y: Array, u: Array) -> int:
    """Step until the violated row of `choice` is active.

    Returns
    -------
    int
        SOLVED, or INFEASIBLE if the row depends on active rows that cannot give way; u then holds the combination.
    """
    (BT, rhs, _), (working, _), (Q, T), n = rows, active, basis, y.shape[0]
    row, equalities, dependent = choice[ROW], choice[EQUALITIES], choice[RANGE] * EPS
    scratch = np.empty((4, n))
    b, along, across, r = scratch[0], scratch[1], scratch[2], scratch[3]
    for c in range(n):
        b[c] = BT[c, row]
    push = 0.0
    while True:
        k = int(working[n])
        length = split(Q, k, b, along, across)
        r[:k] = along[:k]
        solve_lower_transposed(T, k, r)
        blocking = first_to_vanish(u, r, working, equalities)
        moves = length > dependent
        if not moves and blocking < 0:
            u[:k] = r[:k]
            return INFEASIBLE
        limit = max(u[blocking], 0.0) / r[blocking] if blocking >= 0 else np.inf
        full = max(rhs[row] - dot(b, y, n), 0.0) / (length * length) if moves else np.inf
        step = min(limit, full)
        if moves:
            add_multiple(y, step, across, n)
        add_multiple(u, -step, r, k)
        push += step
        if full <= limit:
            take(basis, active, row, along, across, length)
            u[k] = push
            return SOLVED
        drop(basis, active, u, blocking)
