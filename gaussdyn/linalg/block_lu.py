"""LU factors of a sparse matrix of 6x6 blocks with a symmetric pattern, in an elimination order fixed once per graph.

`analyse` turns the elimination into flat lists of block products, so that the numeric kernels are plain loops without
searching or allocation. There is no pivoting: the diagonal is a mass matrix plus something close to positive
semidefinite, and callers refine their answers against the original equations.

Storage: one array (n + 2 nl, 6, 6) of blocks, diagonal first, then those below it column by column, then those above
it (the mirror images), all in elimination order. Source: George, Liu (1981), Computer solution of large sparse
positive definite systems (minimum degree); Duff, Erisman, Reid (2017), Direct methods for sparse matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import A2, A3, I1, I2, kernel, record
from .._jit.block_product import multiply_block, subtract_product
from ..arrays import Array, BoolArray, IntArray

B2 = "boolean[:,::1]"


@record(*[I1] * 5, I2, by_value=True)
class Ordering(NamedTuple):
    """An order of elimination of n vertices, and what it takes.

    Attributes
    ----------
    order, rank : IntArray, shape (n,)
        The vertices in their order, and its inverse.
    start : IntArray, shape (n + 1,)
        The neighbours that vertex order[k] still has are rows[start[k]:start[k + 1]].
    rows : IntArray, shape (start[n],)
        Neighbours, as ranks, sorted.
    first : IntArray, shape (n + 1,)
        The updates of step k are first[k]:first[k + 1].
    update : IntArray, shape (first[n], 3)
        Step k subtracts block[update[t, 1]] block[update[t, 2]] from block[update[t, 0]].
    """

    order: IntArray
    rank: IntArray
    start: IntArray
    rows: IntArray
    first: IntArray
    update: IntArray


@kernel(f"void({B2}, {I1}, {I1}, int64, int64)", borrows=True)
def eliminate(near: BoolArray, degree: IntArray, rows: IntArray, begin: int, end: int) -> None:
    """Join the vertices in rows[begin:end], the neighbours of one that is taken out, to one another."""
    for s in range(begin, end):
        i = rows[s]
        degree[i] -= 1
        for t in range(begin, s):
            j = rows[t]
            if not near[i, j]:
                near[i, j] = near[j, i] = True
                degree[i] += 1
                degree[j] += 1


@kernel(f"{I1}({I1}, int64)")
def roomier(x: IntArray, size: int) -> IntArray:
    """Return an array of this size that begins with x."""
    y = np.zeros(size, np.int64)
    y[: len(x)] = x
    return y


@kernel(f"int64({I1}, int64, {I1})", borrows=True)
def least_of(left: IntArray, count: int, degree: IntArray) -> int:
    """Return where the vertex of least degree is among those left, ties by number."""
    best = 0
    for p in range(1, count):
        i, j = left[p], left[best]
        if degree[i] < degree[j] or (degree[i] == degree[j] and i < j):
            best = p
    return best


@kernel(f"void({B2}, {I1}, {I1}, {I1}, {I1})", borrows=True)
def sort_rows(near: BoolArray, order: IntArray, rank: IntArray, start: IntArray, rows: IntArray) -> None:
    """Put ranks in the place of vertices, those of each step sorted: by insertion if few, else by a look at all."""
    n = len(rank)
    for k in range(n):
        begin, end = start[k], start[k + 1]
        if (end - begin) ** 2 > 4 * (n - k):
            s = begin
            for j in range(k + 1, n):
                if near[order[k], order[j]]:
                    rows[s] = j
                    s += 1
            continue
        for s in range(begin, end):
            j, t = rank[rows[s]], s
            while t > begin and rows[t - 1] > j:
                rows[t] = rows[t - 1]
                t -= 1
            rows[t] = j


@kernel(f"Tuple(({I1}, {I1}, {I1}, {I1}))(int64, {I1}, {I1})")
def minimum_degree(n: int, a: IntArray, b: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Order n vertices joined by edges (a[k], b[k]) by least degree, ties by number; negative ends are no vertices.

    Returns order (n), rank (its inverse), and the fill: the neighbours (as ranks, sorted) that vertex order[k] still
    has when it is eliminated are rows[start[k]:start[k + 1]].
    """
    near, degree, rank = np.zeros((n, n), np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64)
    order, start, left = np.zeros(n, np.int64), np.zeros(n + 1, np.int64), np.arange(n)
    rows = np.zeros(2 * len(a) + n, np.int64)
    for k in range(len(a)):
        i, j = a[k], b[k]
        if i >= 0 and j >= 0 and i != j and not near[i, j]:
            near[i, j] = near[j, i] = True
            degree[i] += 1
            degree[j] += 1
    for step in range(n):
        count = n - step - 1
        p = least_of(left, count + 1, degree)
        best, left[p] = left[p], left[count]
        order[step], rank[best], s = best, step, start[step]
        start[step + 1] = s + degree[best]
        if start[step + 1] > len(rows):
            rows = roomier(rows, 2 * len(rows) + n)
        for p in range(count):
            if near[best, left[p]]:
                rows[s] = left[p]
                s += 1
        eliminate(near, degree, rows, start[step], s)
    sort_rows(near, order, rank, start, rows)
    return order, rank, start, rows[: start[n]]


@kernel(f"void(int64, {I1}, {I1}, int64, int64, {I2})", borrows=True)
def put_updates(n: int, start: IntArray, rows: IntArray, k: int, t: int, update: IntArray) -> None:
    """Put the updates of step k, from t on; of two neighbours the later one is among those of the earlier."""
    begin, end = start[k], start[k + 1]
    below, above, size = n, n + start[n], end - begin
    for p in range(size):
        i = rows[begin + p]
        x, at = start[i], t + p * size
        update[at + p, 0] = i
        for s in range(p + 1, size):
            while rows[x] < rows[begin + s]:
                x += 1
            update[at + s, 0], update[t + s * size + p, 0] = above + x, below + x
        for s in range(size):
            update[at + s, 1], update[at + s, 2] = below + begin + p, above + begin + s


@kernel(f"int64(int64, int64, int64, {I1}, {I1})", borrows=True)
def block_at(n: int, i: int, j: int, start: IntArray, rows: IntArray) -> int:
    """Return the index of block (i, j), given as ranks; -1 if it is not stored."""
    if i == j:
        return i
    low, high = min(i, j), max(i, j)
    x, y = start[low], start[low + 1]
    while x < y:
        middle = (x + y) >> 1
        if rows[middle] < high:
            x = middle + 1
        else:
            y = middle
    if x == start[low + 1] or rows[x] != high:
        return -1
    return int(n + x if i > j else n + start[n] + x)


@kernel(f"Ordering(int64, {I1}, {I1}, int64)")
def analyse_within(n: int, a: IntArray, b: IntArray, most: int) -> Ordering:
    """`analyse`, but without the updates if there would be more than `most` (24 bytes each); first tells how many."""
    order, rank, start, rows = minimum_degree(n, a, b)
    first, total = np.zeros(n + 1, np.int64), 0
    for k in range(n):
        total += (start[k + 1] - start[k]) ** 2
        first[k + 1] = total
    if total > most:
        return Ordering(order, rank, start, rows, first, np.zeros((0, 3), np.int64))
    update = np.zeros((total, 3), np.int64)
    for k in range(n):
        put_updates(n, start, rows, k, first[k], update)
    return Ordering(order, rank, start, rows, first, update)


@kernel(f"Ordering(int64, {I1}, {I1})", entry=True)
def analyse(n: int, a: IntArray, b: IntArray) -> Ordering:
    """Return order, rank, start, rows as `minimum_degree` does, and the updates of the elimination.

    Step k subtracts block[update[t, 1]] block[update[t, 2]] from block[update[t, 0]] for first[k] <= t < first[k+1].
    """
    return analyse_within(n, a, b, 1 << 62)


@kernel(f"void({A2})", borrows=True)
def invert(D: Array) -> None:
    """Invert a 6x6 matrix in place by Gauss-Jordan, without pivots."""
    for k in range(6):
        d = 1.0 / D[k, k]
        D[k, k] = 1.0
        for j in range(6):
            D[k, j] *= d
        for i in range(6):
            if i != k:
                f = D[i, k]
                D[i, k] = 0.0
                for j in range(6):
                    D[i, j] -= f * D[k, j]


@kernel(f"void(int64, Ordering, {A3})", borrows=True)
def factorise(n: int, ordering: Ordering, B: Array) -> None:
    """Factorise in place: inverse diagonal blocks, L below, U above."""
    start, first, update = ordering.start, ordering.first, ordering.update
    for k in range(n):
        invert(B[k])
        for p in range(n + start[k], n + start[k + 1]):
            multiply_block(B, p, k)
        for t in range(first[k], first[k + 1]):
            subtract_product(B, update[t, 0], update[t, 1], update[t, 2])


@kernel(f"void(int64, Ordering, {A3}, {A2}, {A2})", borrows=True)
def solve_factorised(n: int, ordering: Ordering, B: Array, x: Array, y: Array) -> None:
    """Solve in place of the right side x (n, 6), in the order of the vertices; y (n, 6) is work space."""
    order, start, rows = ordering.order, ordering.start, ordering.rows
    above = n + start[n]
    for k in range(n):
        for i in range(6):
            y[k, i] = x[order[k], i]
    for k in range(n):
        y0, y1, y2, y3, y4, y5 = y[k, 0], y[k, 1], y[k, 2], y[k, 3], y[k, 4], y[k, 5]
        for p in range(start[k], start[k + 1]):
            r, m = rows[p], n + p
            for i in range(6):
                y[r, i] -= (
                    B[m, i, 0] * y0 + B[m, i, 1] * y1 + B[m, i, 2] * y2
                    + B[m, i, 3] * y3 + B[m, i, 4] * y4 + B[m, i, 5] * y5
                )  # fmt: skip
    for k in range(n - 1, -1, -1):
        for p in range(start[k], start[k + 1]):
            r, m = rows[p], above + p
            y0, y1, y2, y3, y4, y5 = y[r, 0], y[r, 1], y[r, 2], y[r, 3], y[r, 4], y[r, 5]
            for i in range(6):
                y[k, i] -= (
                    B[m, i, 0] * y0 + B[m, i, 1] * y1 + B[m, i, 2] * y2
                    + B[m, i, 3] * y3 + B[m, i, 4] * y4 + B[m, i, 5] * y5
                )  # fmt: skip
        y0, y1, y2, y3, y4, y5 = y[k, 0], y[k, 1], y[k, 2], y[k, 3], y[k, 4], y[k, 5]
        for i in range(6):
            y[k, i] = (
                B[k, i, 0] * y0 + B[k, i, 1] * y1 + B[k, i, 2] * y2
                + B[k, i, 3] * y3 + B[k, i, 4] * y4 + B[k, i, 5] * y5
            )  # fmt: skip
    for k in range(n):
        for i in range(6):
            x[order[k], i] = y[k, i]
