"""Compiled search over the modes of all blocks: a tree of partial modes, cut by linear relaxations.

Every node is a small dense linear system A f = b, A f >= b or A f > b over free reactions f. It is decided on the
dictionary of its slacks: equalities and free columns are pivoted out first, then violated slacks are mended one by
one. Strict rows carry an infinitesimal, so that one pass decides strict systems too, and the row that cannot be
mended is a Farkas (or Motzkin) vector. What is found here is only a guess: `enumeration` proves it exactly.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel

EQUAL, AT_LEAST, ABOVE, FREE = 0, 1, 2, 3
PIVOT = 1e-10
UNDECIDED = -1  # a block without a mode yet: its rows are those valid in all its modes


@kernel("void(float64[:,::1], int64, int64, int64, int64[::1], int64[::1])")
def pivot(T, m, r, c, basic, nonbasic):
    """Exchange the basic variable of row r with the nonbasic variable of column c."""
    p = T[r, c]
    width = T.shape[1]
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


@kernel("void(float64[:,::1], int64, int64, int64[::1], int64[::1], int64[::1])")
def expel_free(T, m, n, kind, basic, nonbasic):
    """Make the equalities, then the free columns, change sides with the largest pivots at hand."""
    for i in range(m):
        if kind[basic[i]] != EQUAL:
            continue
        best = -1
        for j in range(n):
            if kind[nonbasic[j]] == FREE and (best < 0 or abs(T[i, j]) > abs(T[i, best])):
                best = j
        if best >= 0 and abs(T[i, best]) > PIVOT:
            pivot(T, m, i, best, basic, nonbasic)
    for j in range(n):
        if kind[nonbasic[j]] != FREE:
            continue
        best = -1
        for i in range(m):
            slack = kind[basic[i]] == AT_LEAST or kind[basic[i]] == ABOVE
            if slack and (best < 0 or abs(T[i, j]) > abs(T[best, j])):
                best = i
        if best >= 0 and abs(T[best, j]) > PIVOT:
            pivot(T, m, best, j, basic, nonbasic)


@kernel("float64(float64[:,::1], int64, int64, int64[::1], int64, float64)")
def wrongness(T, i, n, kind, variable, tol):
    """Return how far basic row i violates its condition (0: not at all; an infinitesimal violation counts little)."""
    c0, c1 = T[i, n], T[i, n + 1]
    if kind[variable] == FREE:
        return 0.0
    if kind[variable] == EQUAL:
        return max(abs(c0), 1e-3 * abs(c1)) if abs(c0) > tol or abs(c1) > tol else 0.0
    if c0 < -tol:
        return -c0
    return 1e-3 * tol * min(-c1, 1.0) if c0 <= tol and c1 < -1e-7 else 0.0


@kernel("void(float64[:,::1], int64, int64, int64, float64, int64[::1], int64[::1], float64[::1])")
def refutation(T, m, n, row, sign, basic, nonbasic, lam):
    """Read the multipliers off the row that cannot be mended."""
    lam[:m] = 0.0
    lam[basic[row] - n] = sign
    for j in range(n):
        if nonbasic[j] >= n:
            lam[nonbasic[j] - n] = -sign * T[row, j]


@kernel("int64(float64[:,::1], int64, int64, int64[::1], int64[::1], int64[::1], float64[::1], float64)")
def decide(T, m, n, kind, basic, nonbasic, lam, tol):
    """Decide the system in T (m rows: A, -b, -strict); 1 feasible, 0 infeasible (multipliers in lam), 2 gave up.

    `kind` holds the kinds of the n free variables, then of the m slacks.
    """
    for j in range(n):
        nonbasic[j] = j
    for i in range(m):
        basic[i] = n + i
    expel_free(T, m, n, kind, basic, nonbasic)
    for step in range(60 * (m + n)):
        careful = step > 6 * (m + n)  # least index from here on: no cycling
        worst, row = 0.0, -1
        for i in range(m):
            x = wrongness(T, i, n, kind, basic[i], tol)
            if x > 0.0 and (row < 0 or (basic[i] < basic[row] if careful else x > worst)):
                worst, row = x, i
        if row < 0:
            return 1
        value = T[row, n] if abs(T[row, n]) > tol else T[row, n + 1]
        sign = -1.0 if value > 0.0 else 1.0
        best = -1
        for j in range(n):
            a = sign * T[row, j]
            if a <= PIVOT or kind[nonbasic[j]] == EQUAL or kind[nonbasic[j]] == FREE:
                continue
            if best < 0 or (nonbasic[j] < nonbasic[best] if careful else a > sign * T[row, best]):
                best = j
        if best < 0:
            refutation(T, m, n, row, sign, basic, nonbasic, lam)
            return 0
        pivot(T, m, row, best, basic, nonbasic)
    lam[:m] = 0.0
    return 2


@kernel("int64(float64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[::1], float64[:,::1], int64[::1])")
def gather(rows, row_kind, start, modes, options, T, kind):
    """Write the system of a (partial) mode into T and kind; return its number of rows."""
    n = rows.shape[1] - 1
    kind[:n] = FREE
    m = 0
    for b in range(len(modes)):
        option = options[b] if modes[b] == UNDECIDED else modes[b]
        for i in range(start[b, option], start[b, option + 1]):
            T[m, :n] = rows[i, :n]
            T[m, n] = -rows[i, n]
            T[m, n + 1] = -1.0 if row_kind[i] == ABOVE else 0.0
            kind[n + m] = row_kind[i]
            m += 1
    return m


@kernel(
    "UniTuple(int64, 3)(float64[:,::1], int64[::1], int64[:,::1], int64[::1], int64[:,::1], int64, float64,"
    " int64[:,::1], int64[::1], float64[:,::1])"
)
def explore(rows, row_kind, start, options, stack, depth, tol, leaf_modes, leaf_verdict, leaf_lam):
    """Search the subtrees on the stack until it is empty or the leaf buffers are nearly full.

    Every node on the stack is believed feasible. At a node the block is chosen that has the fewest feasible modes;
    infeasible children become leaves, feasible ones go on the stack, complete ones are leaves too.

    Returns
    -------
    leaves, depth, systems : int
        Leaves written, nodes left on the stack, linear systems decided.
    """
    blocks, n = len(options), rows.shape[1] - 1
    size = leaf_lam.shape[1]
    T, kind = np.empty((size, n + 2)), np.empty(n + size, dtype=np.int64)
    basic, nonbasic = np.empty(size, dtype=np.int64), np.empty(n, dtype=np.int64)
    modes, most = np.empty(blocks, dtype=np.int64), 0
    for b in range(blocks):
        most = max(most, options[b])
    # verdicts and multipliers of the children of the block tried now, and of the best block so far
    verdict, best_verdict = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    lam, best_lam = np.empty((most, size)), np.empty((most, size))
    leaves, systems = 0, 0
    while depth > 0 and leaves + most <= len(leaf_modes) and depth + most <= len(stack):
        depth -= 1
        modes[:] = stack[depth]
        best, fewest = -1, most + 1
        for b in range(blocks):
            if modes[b] != UNDECIDED:
                continue
            alive = 0
            for o in range(options[b]):
                modes[b] = o
                m = gather(rows, row_kind, start, modes, options, T, kind)
                verdict[o] = decide(T, m, n, kind, basic, nonbasic, lam[o], tol)
                systems += 1
                alive += verdict[o] != 0
            modes[b] = UNDECIDED
            if alive < fewest:
                best, fewest = b, alive
                best_verdict, verdict = verdict, best_verdict
                best_lam, lam = lam, best_lam
            if alive <= 1:
                break
        last = True
        for b in range(blocks):
            last = last and (b == best or modes[b] != UNDECIDED)
        for o in range(options[best]):
            modes[best] = o
            if best_verdict[o] != 0 and not last:
                stack[depth] = modes
                depth += 1
                continue
            leaf_modes[leaves] = modes
            leaf_verdict[leaves] = best_verdict[o]
            leaf_lam[leaves] = best_lam[o]
            leaves += 1
    return leaves, depth, systems
