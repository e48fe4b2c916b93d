"""Joints whose rows depend on one another, in every configuration or only in those that they allow.

With D the lengths of their rows G in the metric of the inverse mass and N the left null vectors of D^-1 G,

    G <- D (1 - N N^T) D^-1 G,        w <- D (1 - N N^T) D^-1 w

are dependent to rounding and agree. G M^-1 G^T then has the null vectors D^-1 N; made orthonormal, Z, these stand
beside it as Z Z^T, so that multipliers have none of them: they are the smallest.
"""

from __future__ import annotations

import numpy as np

from ....._jit import A1, A2, I1, kernel
from .....arrays import Array, IntArray
from .....linalg.branches import half_solve
from .....linalg.envelope import part_dot
from ...scheme import CONTRARY
from ..linear import dot, multiply_abs, multiply_mass
from ..records import ALONE, BILATERAL, BRANCH, FIXED, HIGH, LOW, NODE, NODES, POSITION, Bound, Data, Layout, Rows

LOOKED, COUNT, AMONG, CLOSE_TO = range(4)  # entries of `Bound.known`
BESIDE = 1e-2  # relative singular value that may be zero at places beside: those that joints allow
SHORT = 1e-3  # of the longest row: shorter ones are not drawn out to its length, and their rounding with them


@kernel("void(Layout, Data)", borrows=True)
def list_joints(layout: Layout, data: Data) -> None:
    """Put the rows of joints that act."""
    bound, g = data.bound, 0
    for k in range(layout.counts[FIXED]):
        if layout.kind[k] == BILATERAL and layout.level[k] == POSITION:
            row, acts = layout.start[k], data.acts[k] != 0
            bound.of_row[row] = g if acts else -1
            if acts:
                bound.rows[g] = row
                g += 1
    bound.known[AMONG] = g


@kernel(f"void(Layout, Data, Rows, {A2})", borrows=True)
def scale_rows(layout: Layout, data: Data, rows: Rows, X: Array) -> None:
    """Put the rows of joints in the metric of the inverse mass, divided by their lengths, and these."""
    bound, nodes, nv, longest = data.bound, layout.nodes, X.shape[1], 0.0
    for i in range(len(X)):
        x, J = X[i], rows.J[bound.rows[i]]
        for a in range(nv):
            x[a] = J[a]
        for node in range(len(nodes) - 1):
            half_solve(data.L, layout.branches, nodes[node], nodes[node + 1], x)
        bound.lengths[i] = np.sqrt(part_dot(x, x, 0, nv))
        longest = max(longest, bound.lengths[i])
    for i in range(len(X)):
        bound.lengths[i] = max(bound.lengths[i], SHORT * longest if longest > 0.0 else 1.0)
        for a in range(nv):
            X[i, a] /= bound.lengths[i]


@kernel(f"void({A2}, {A2}, {I1}, {A1})", borrows=True)
def split_rows(X: Array, T: Array, order: IntArray, left: Array) -> None:
    """Split X = T Q: always the row next of which most is left, by Gram-Schmidt, twice over.

    Q replaces X row by row, T is lower triangular in the order that is put, `left` is what was left of each: about the
    singular values (G. H. Golub, C. F. Van Loan, Matrix Computations, 2013, 5.4.2).
    """
    g, nv = X.shape
    for i in range(g):
        order[i] = i
    for k in range(g):
        far = k
        for i in range(k, g):
            left[i] = np.sqrt(part_dot(X[order[i]], X[order[i]], 0, nv))
            far = i if left[i] > left[far] else far
        order[k], order[far], left[k] = order[far], order[k], left[far]
        x = X[order[k]]
        T[order[k], k] = left[k]
        for a in range(nv if left[k] > 0.0 else 0):
            x[a] /= left[k]
        for i in range(k + 1, g):
            y = X[order[i]]
            for _ in range(2):
                s = part_dot(x, y, 0, nv)
                T[order[i], k] += s
                for a in range(nv):
                    y[a] -= s * x[a]


@kernel(f"void({A2}, int64, int64)", borrows=True)
def orthonormalize(A: Array, g: int, count: int) -> None:
    """Make the first columns of A orthonormal."""
    for c in range(count):
        for _ in range(2):  # once more, for what cancels
            for e in range(c):
                s = 0.0
                for i in range(g):
                    s += A[i, e] * A[i, c]
                for i in range(g):
                    A[i, c] -= s * A[i, e]
        size = 0.0
        for i in range(g):
            size += A[i, c] ** 2
        for i in range(g):
            A[i, c] /= np.sqrt(size)


@kernel("int64(Layout, Data, Rows, float64)")
def find_null(layout: Layout, data: Data, rows: Rows, tol: float) -> int:
    """Put lengths and null vectors of the rows of joints; return how many there are, and note how many nearly are.

    A row that depends on those before it, in the order of `split_rows`, is a combination of theirs in T.
    """
    bound, g, rank, beside = data.bound, data.bound.known[AMONG], 0, 0
    X, T, N = np.zeros((g, len(data.v))), np.zeros((g, g)), bound.N
    order, left = np.zeros(g, np.int64), np.zeros(g)
    scale_rows(layout, data, rows, X)
    split_rows(X, T, order, left)
    for i in range(g):
        rank, beside = rank + int(left[i] > tol * left[0]), beside + int(left[i] <= BESIDE * left[0])
    bound.known[CLOSE_TO] = beside
    for c in range(g - rank):
        own = T[order[rank + c]]
        for i in range(g):
            N[i, c] = 0.0
        N[order[rank + c], c] = 1.0
        for k in range(rank - 1, -1, -1):
            N[order[k], c] = -own[k] / T[order[k], k]
            for l in range(k):
                own[l] += N[order[k], c] * T[order[k], l]
    orthonormalize(N, g, g - rank)
    return int(g - rank)


@kernel("void(Layout, Bound, int64)", borrows=True)
def bind(layout: Layout, bound: Bound, count: int) -> None:
    """Have the rows of joints depend on one another: they reach over all velocities, and have null vectors."""
    g, null = bound.known[AMONG], bound.null
    for i in range(g if bound.known[COUNT] == 0 else 0):
        reach = layout.reach[bound.rows[i]]
        for c in range(len(reach)):
            bound.reach[i, c] = reach[c]
        reach[LOW], reach[HIGH], reach[NODE], reach[NODES] = 0, layout.nodes[-1], 0, len(layout.nodes) - 1
        reach[BRANCH] = reach[ALONE] = 0
    for c in range(count):
        for i in range(g):
            null[i, c] = bound.N[i, c] / bound.lengths[i]
    orthonormalize(null, g, count)
    bound.known[COUNT] = count


@kernel("void(Layout, Data)", borrows=True)
def release(layout: Layout, data: Data) -> None:
    """Forget what was known of joints in the last step."""
    bound = data.bound
    for i in range(bound.known[AMONG] if bound.known[COUNT] > 0 else 0):
        row = bound.rows[i]
        for c in range(bound.reach.shape[1]):
            layout.reach[row, c] = bound.reach[i, c]
        for j in range(len(data.v)):
            data.begin.J[row, j] = data.mid.J[row, j] = data.end.J[row, j] = data.seen.J[row, j] = 0.0
    bound.known[LOOKED] = bound.known[COUNT] = 0


@kernel(f"void(Bound, {A1})", borrows=True)
def clear(bound: Bound, w: Array) -> None:
    """Take out of numbers that belong to all rows what those of joints do not share."""
    for c in range(bound.known[COUNT]):
        s = 0.0
        for i in range(bound.known[AMONG]):
            s += bound.N[i, c] * w[bound.rows[i]] / bound.lengths[i]
        for i in range(bound.known[AMONG]):
            w[bound.rows[i]] -= s * bound.N[i, c] * bound.lengths[i]


@kernel(f"void(Bound, {A1}, {I1}, int64, {A1})", borrows=True)
def clear_gaps(bound: Bound, gap: Array, at: IntArray, n: int, scale: Array) -> None:
    """Do the same to the gaps of the rows `at`, divided by `scale`; those of all joints are among them."""
    for i in range(n if bound.known[COUNT] > 0 else 0):
        if at[i] < len(bound.column):
            bound.column[at[i]] = gap[i] * scale[i]
    clear(bound, bound.column)
    for i in range(n if bound.known[COUNT] > 0 else 0):
        if at[i] < len(bound.column):
            gap[i] = bound.column[at[i]] / scale[i]


@kernel(f"void(Data, {A2})", borrows=True)
def clear_rows(data: Data, J: Array) -> None:
    """Do the same to the columns of J, all at once."""
    bound, shared = data.bound, data.V[15]
    for c in range(bound.known[COUNT]):
        for j in range(len(shared)):
            shared[j] = 0.0
        for i in range(bound.known[AMONG]):
            row, part, size = J[bound.rows[i]], bound.N[i, c], bound.lengths[i]
            for j in range(len(shared)):
                shared[j] += part * row[j] / size
        for i in range(bound.known[AMONG]):
            row, part, size = J[bound.rows[i]], bound.N[i, c], bound.lengths[i]
            for j in range(len(shared)):
                row[j] -= shared[j] * part * size


@kernel(f"void(Bound, {A2}, {I1}, int64, {A1})", borrows=True)
def stand_beside(bound: Bound, S: Array, at: IntArray, n: int, scale: Array) -> None:
    """Add Z Z^T, times the size of S, to the lower part of S = G M^-1 G^T of the rows `at`, divided by `scale`."""
    if bound.known[COUNT] == 0:
        return
    size = 0.0
    for i in range(n):
        size = max(size, S[i, i] * scale[i] * scale[i])
    for c in range(bound.known[COUNT]):
        for i in range(n):
            a = bound.of_row[at[i]] if at[i] < len(bound.of_row) else -1
            for j in range(i + 1 if a >= 0 else 0):
                b = bound.of_row[at[j]] if at[j] < len(bound.of_row) else -1
                if b >= 0:
                    S[i, j] += size * bound.null[a, c] * bound.null[b, c] / scale[i] / scale[j]


@kernel(f"boolean(Layout, Data, {A1}, {A1})", borrows=True)
def contrary(layout: Layout, data: Data, speed: Array, size: Array) -> bool:
    """Return whether the rates of dependent rows at the end contradict one another by more than rounding of speeds.

    Those after the step count, too: motors may ask for speeds that nothing had before.
    """
    bound, most = data.bound, 0.0
    if bound.known[COUNT] == 0:
        return False
    for c in range(bound.known[COUNT]):
        s = 0.0
        for i in range(bound.known[AMONG]):
            s += bound.N[i, c] * data.end.rate[bound.rows[i]] / bound.lengths[i]
        most = max(most, abs(s))
    multiply_abs(data.M, layout.nodes, speed, size)
    square = dot(speed, size)
    multiply_mass(data.M, layout.nodes, data.v1, size)
    return bool(most > CONTRARY * np.sqrt(max(square, dot(data.v1, size))))
