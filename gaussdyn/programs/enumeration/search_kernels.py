"""Compiled search over the modes of all blocks: a tree of partial modes, cut by linear relaxations.

Every node is a small dense linear system A f = b, A f >= b or A f > b over free reactions f. It is decided on the
dictionary of its slacks: equalities and free columns are pivoted out first, then violated slacks are mended one by
one. Strict rows carry an infinitesimal, so that one pass decides strict systems too, and the row that cannot be
mended is a Farkas (or Motzkin) vector. What is found here is only a guess: `enumeration` proves it exactly.

A table is (rows [A | b], kinds, start, options): the rows of mode o of block b are start[b, o] .. start[b, o + 1],
the rows valid in all its modes follow as mode options[b]. A dictionary is (T, kind, basic, nonbasic): T holds the
coefficients, the constants and the infinitesimals of the basic variables, m rows of n + 2 numbers.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...arrays import Array, IntArray

EQUAL, AT_LEAST, ABOVE, FREE = 0, 1, 2, 3
PIVOT = 1e-10
UNDECIDED = -1  # a block without a mode yet: its rows are those valid in all its modes

TABLE = "Tuple((float64[:,::1], int64[::1], int64[:,::1], int64[::1]))"
DICTIONARY = "Tuple((float64[:,::1], int64[::1], int64[::1], int64[::1]))"
LEAVES = "Tuple((int64[:,::1], int64[::1], float64[:,::1]))"
Table = tuple[Array, IntArray, IntArray, IntArray]
Dictionary = tuple[Array, IntArray, IntArray, IntArray]
Leaves = tuple[IntArray, IntArray, Array]


@kernel(f"void({DICTIONARY}, int64, int64, int64)")
def pivot(dictionary: Dictionary, m: int, r: int, c: int) -> None:
    """Exchange the basic variable of row r with the nonbasic variable of column c."""
    T, _, basic, nonbasic = dictionary
    p, width = T[r, c], T.shape[1]
    for j in range(width):
        T[r, j] = -T[r, j] / p
    T[r, c] = 1.0 / p
    for i in range(m):
        a = T[i, c]
        if i == r or a == 0.0:
            continue
        T[i, c] = 0.0
        for j in range(width):
            T[i, j] += a * T[r, j]
    basic[r], nonbasic[c] = nonbasic[c], basic[r]


@kernel(f"void({DICTIONARY}, int64)")
def expel_equalities(dictionary: Dictionary, m: int) -> None:
    """Exchange every equality with the free variable that has the largest coefficient in it."""
    T, kind, basic, nonbasic = dictionary
    for i in range(m):
        if kind[basic[i]] != EQUAL:
            continue
        best = -1
        for j in range(T.shape[1] - 2):
            if kind[nonbasic[j]] == FREE and (best < 0 or abs(T[i, j]) > abs(T[i, best])):
                best = j
        if best >= 0 and abs(T[i, best]) > PIVOT:
            pivot(dictionary, m, i, best)


@kernel(f"void({DICTIONARY}, int64)")
def expel_free(dictionary: Dictionary, m: int) -> None:
    """Exchange every free variable left with the inequality in which it has the largest coefficient."""
    T, kind, basic, nonbasic = dictionary
    for j in range(T.shape[1] - 2):
        if kind[nonbasic[j]] != FREE:
            continue
        best = -1
        for i in range(m):
            slack = kind[basic[i]] == AT_LEAST or kind[basic[i]] == ABOVE
            if slack and (best < 0 or abs(T[i, j]) > abs(T[best, j])):
                best = i
        if best >= 0 and abs(T[best, j]) > PIVOT:
            pivot(dictionary, m, best, j)


@kernel("float64(float64, float64, int64, float64)")
def wrongness(c0: float, c1: float, kind: int, tol: float) -> float:
    """Return how far the value c0 + c1 delta violates its condition (an infinitesimal violation counts little)."""
    if kind == FREE:
        return 0.0
    if kind == EQUAL:
        return max(abs(c0), 1e-3 * abs(c1)) if abs(c0) > tol or abs(c1) > tol else 0.0
    if c0 < -tol:
        return -c0
    return 1e-3 * tol * min(-c1, 1.0) if c0 <= tol and c1 < -1e-7 else 0.0


@kernel(f"int64({DICTIONARY}, int64, float64, int64)")
def violated(dictionary: Dictionary, m: int, tol: float, careful: int) -> int:
    """Return the row most violated (of least index, if careful), or -1."""
    T, kind, basic, _ = dictionary
    n = T.shape[1] - 2
    worst, row = 0.0, -1
    for i in range(m):
        x = wrongness(T[i, n], T[i, n + 1], kind[basic[i]], tol)
        if x > 0.0 and (row < 0 or (basic[i] < basic[row] if careful else x > worst)):
            worst, row = x, i
    return row


@kernel(f"int64({DICTIONARY}, int64, float64, int64)")
def entering(dictionary: Dictionary, row: int, sign: float, careful: int) -> int:
    """Return the column that mends the row best (of least index, if careful), or -1."""
    T, kind, _, nonbasic = dictionary
    best = -1
    for j in range(T.shape[1] - 2):
        a = sign * T[row, j]
        if a <= PIVOT or kind[nonbasic[j]] == EQUAL or kind[nonbasic[j]] == FREE:
            continue
        if best < 0 or (nonbasic[j] < nonbasic[best] if careful else a > sign * T[row, best]):
            best = j
    return best


@kernel(f"void({DICTIONARY}, int64, float64, float64[::1])")
def refutation(dictionary: Dictionary, row: int, sign: float, lam: Array) -> None:
    """Read the multipliers off the row that cannot be mended."""
    T, _, basic, nonbasic = dictionary
    n = T.shape[1] - 2
    lam[basic[row] - n] = sign
    for j in range(n):
        if nonbasic[j] >= n:
            lam[nonbasic[j] - n] = -sign * T[row, j]


@kernel(f"int64({DICTIONARY}, int64, float64, float64[::1])")
def decide(dictionary: Dictionary, m: int, tol: float, lam: Array) -> int:
    """Decide the system of m rows; 1 feasible, 0 infeasible (multipliers in lam), 2 gave up."""
    T, _, basic, nonbasic = dictionary
    n = T.shape[1] - 2
    nonbasic[:n] = np.arange(n)
    basic[:m] = np.arange(n, n + m)
    lam[:] = 0.0
    expel_equalities(dictionary, m)
    expel_free(dictionary, m)
    for step in range(60 * (m + n)):
        careful = 1 if step > 6 * (m + n) else 0  # least index from here on: no cycling
        row = violated(dictionary, m, tol, careful)
        if row < 0:
            return 1
        value = T[row, n] if abs(T[row, n]) > tol else T[row, n + 1]
        sign = -1.0 if value > 0.0 else 1.0
        column = entering(dictionary, row, sign, careful)
        if column < 0:
            refutation(dictionary, row, sign, lam)
            return 0
        pivot(dictionary, m, row, column)
    return 2


@kernel(f"int64({TABLE}, int64[::1], {DICTIONARY})")
def gather(table: Table, modes: IntArray, dictionary: Dictionary) -> int:
    """Write the system of a (partial) mode into the dictionary; return its number of rows."""
    rows, row_kind, start, options = table
    T, kind, _, _ = dictionary
    n, m = rows.shape[1] - 1, 0
    kind[:n] = FREE
    for b in range(len(modes)):
        option = options[b] if modes[b] == UNDECIDED else modes[b]
        for i in range(start[b, option], start[b, option + 1]):
            T[m, :n] = rows[i, :n]
            T[m, n] = -rows[i, n]
            T[m, n + 1] = -1.0 if row_kind[i] == ABOVE else 0.0
            kind[n + m] = row_kind[i]
            m += 1
    return m


@kernel(f"{DICTIONARY}({TABLE}, int64)", entry=True)
def room(table: Table, size: int) -> Dictionary:
    """Return an empty dictionary for systems of up to `size` rows."""
    n = table[0].shape[1] - 1
    return np.empty((size, n + 2)), np.empty(n + size, np.int64), np.empty(size, np.int64), np.empty(n, np.int64)


@kernel(f"int64({TABLE}, int64[::1], {DICTIONARY}, float64, float64[::1])", entry=True)
def test_mode(table: Table, modes: IntArray, dictionary: Dictionary, tol: float, lam: Array) -> int:
    """Decide one (partial) mode; see `decide`."""
    return decide(dictionary, gather(table, modes, dictionary), tol, lam)


@kernel(f"UniTuple(int64, 2)({TABLE}, int64[::1], {DICTIONARY}, float64, {LEAVES})")
def choose(table: Table, modes: IntArray, dictionary: Dictionary, tol: float, best: Leaves) -> tuple[int, int]:
    """Find the open block with the fewest feasible modes; its verdicts and multipliers go to `best`.

    Returns
    -------
    block, systems : int
        The block, and how many systems were decided.
    """
    options = table[3]
    _, best_verdict, best_lam = best
    verdict, lam = np.empty_like(best_verdict), np.empty_like(best_lam)
    block, fewest, systems = -1, len(verdict) + 1, 0
    for b in range(len(modes)):
        if modes[b] != UNDECIDED:
            continue
        alive = 0
        for o in range(options[b]):
            modes[b] = o
            verdict[o] = test_mode(table, modes, dictionary, tol, lam[o])
            alive += 1 if verdict[o] != 0 else 0
        modes[b] = UNDECIDED
        systems += options[b]
        if alive < fewest:
            block, fewest = b, alive
            best_verdict[:], best_lam[:] = verdict, lam
        if alive <= 1:
            break
    return block, systems


@kernel(f"UniTuple(int64, 3)({TABLE}, int64[:,::1], int64, float64, {LEAVES})", entry=True)
def explore(table: Table, stack: IntArray, depth: int, tol: float, leaves: Leaves) -> tuple[int, int, int]:
    """Search the subtrees on the stack until it is empty or the leaf buffers are nearly full.

    Every node on the stack is believed feasible. Infeasible children of a node become leaves (modes, verdict,
    multipliers), feasible ones go on the stack, complete ones are leaves too.

    Returns
    -------
    count, depth, systems : int
        Leaves written, nodes left on the stack, linear systems decided.
    """
    options = table[3]
    leaf_modes, leaf_verdict, leaf_lam = leaves
    most, size = options.max(), leaf_lam.shape[1]
    dictionary = room(table, size)
    best = np.empty((most, len(options)), np.int64), np.empty(most, np.int64), np.empty((most, size))
    modes, count, systems = np.empty(len(options), np.int64), 0, 0
    while depth > 0 and count + most <= len(leaf_modes) and depth + most <= len(stack):
        depth -= 1
        modes[:] = stack[depth]
        block, decided = choose(table, modes, dictionary, tol, best)
        systems += decided
        modes[block] = 0
        complete = modes.min() != UNDECIDED
        for o in range(options[block]):
            modes[block] = o
            if best[1][o] != 0 and not complete:
                stack[depth] = modes
                depth += 1
                continue
            leaf_modes[count], leaf_verdict[count], leaf_lam[count] = modes, best[1][o], best[2][o]
            count += 1
    return count, depth, systems
