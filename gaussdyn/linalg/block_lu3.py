"""The block LU of `block_lu` with 3x3 blocks: systems C + D W, C and D block diagonal, W by blocks of contacts.

W has data (blocks, 3, 3), indices and indptr by block rows; slot says where in the factors each block of W goes.
"""

from __future__ import annotations

import numpy as np

from .._jit import A2, A3, I1, kernel
from ..arrays import Array, IntArray
from .block_lu import Ordering, analyse_within, block_at

BLOCKS = f"Tuple(({A3}, {I1}, {I1}, {I1}))"  # data, indices, indptr, slot
Blocks = tuple[Array, IntArray, IntArray, IntArray]


@kernel(f"Tuple(({A3}, {I1}, {I1}))(float64[::1], {I1}, {I1}, {I1})", entry=True)
def by_blocks(data: Array, indices: IntArray, indptr: IntArray, start: IntArray) -> tuple[Array, IntArray, IntArray]:
    """Gather a CSR matrix whose block rows begin at `start` (1 to 3 rows each) into 3x3 blocks padded with zeros."""
    n = len(start) - 1
    block, seen, place = np.zeros(start[n], np.int64), np.full(n, -1), np.zeros(n, np.int64)
    for k in range(n):
        block[start[k] : start[k + 1]] = k
    first = np.zeros(n + 1, np.int64)
    for k in range(n):
        count = 0
        for p in range(indptr[start[k]], indptr[start[k + 1]]):
            j = block[indices[p]]
            if seen[j] != k:
                seen[j] = k
                count += 1
        first[k + 1] = first[k] + count
    out, columns = np.zeros((first[n], 3, 3)), np.zeros(first[n], np.int64)
    seen[:] = -1
    for k in range(n):
        at = first[k]
        for i in range(start[k], start[k + 1]):
            for p in range(indptr[i], indptr[i + 1]):
                j = block[indices[p]]
                if seen[j] != k:
                    seen[j], place[j], columns[at] = k, at, j
                    at += 1
                out[place[j], i - start[k], indices[p] - start[j]] += data[p]
    return out, columns, first


MOST_UPDATES = 10_000_000  # block products of an elimination (240 MB of lists); more is left to libraries


@kernel(f"Tuple((Ordering, {I1}))({I1}, {I1})", entry=True)
def order_blocks(indices: IntArray, indptr: IntArray) -> tuple[Ordering, IntArray]:
    """Return the elimination order of the blocks, and where each block of W goes in the factors.

    The list of updates is empty although first[-1] > 0 if it would be longer than MOST_UPDATES.
    """
    n = len(indptr) - 1
    rows, slot = np.zeros(len(indices), np.int64), np.zeros(len(indices), np.int64)
    for k in range(n):
        rows[indptr[k] : indptr[k + 1]] = k
    ordering = analyse_within(n, rows, indices, MOST_UPDATES)
    rank = ordering[1]
    for p in range(len(indices)):
        slot[p] = block_at(n, rank[rows[p]], rank[indices[p]], ordering[2], ordering[3])
    return ordering, slot


@kernel(f"void({BLOCKS}, {A2}, {A2})", borrows=True)
def times(blocks: Blocks, x: Array, y: Array) -> None:
    """Put y = W x."""
    data, indices, indptr, _ = blocks
    for c in range(len(indptr) - 1):
        s0 = s1 = s2 = 0.0
        for p in range(indptr[c], indptr[c + 1]):
            j = indices[p]
            a, b, d = x[j, 0], x[j, 1], x[j, 2]
            s0 += data[p, 0, 0] * a + data[p, 0, 1] * b + data[p, 0, 2] * d
            s1 += data[p, 1, 0] * a + data[p, 1, 1] * b + data[p, 1, 2] * d
            s2 += data[p, 2, 0] * a + data[p, 2, 1] * b + data[p, 2, 2] * d
        y[c, 0], y[c, 1], y[c, 2] = s0, s1, s2


@kernel(f"int64({I1}, {A3}, {A3}, {I1})", borrows=True)
def mark_idle(rank: IntArray, C: Array, D: Array, idle: IntArray) -> int:
    """Mark by ranks the rows with D = 0 and C = 1; return how many there are."""
    still = 0
    for c in range(len(rank)):
        top = 0.0
        for i in range(3):
            for j in range(3):
                top = max(top, abs(D[c, i, j]), abs(C[c, i, j] - (1.0 if i == j else 0.0)))
        idle[rank[c]] = 1 if top == 0.0 else 0
        still += idle[rank[c]]
    return still


@kernel(f"int64({BLOCKS}, {I1}, {A3}, {A3}, {A2}, {A3}, {I1})", borrows=True)
def fill(blocks: Blocks, rank: IntArray, C: Array, D: Array, x: Array, B: Array, idle: IntArray) -> int:
    """Put B = C + D W, unfactorised; C and D (n, 3, 3). Rows with D = 0 and C = 1 are idle: their answer is x.

    What idle rows add to the others is taken from the right side x, so that they take no part in the elimination;
    idle (n, by ranks) marks them. Returns how many there are.
    """
    data, indices, indptr, slot = blocks
    n, still = len(indptr) - 1, mark_idle(rank, C, D, idle)
    B[:] = 0.0
    for c in range(n):
        s, t0, t1, t2 = rank[c], 0.0, 0.0, 0.0
        if idle[s] == 1:
            continue
        for p in range(indptr[c], indptr[c + 1]):
            k, e = slot[p], indices[p]
            if still > 0 and idle[rank[e]] == 1:
                t0 += data[p, 0, 0] * x[e, 0] + data[p, 0, 1] * x[e, 1] + data[p, 0, 2] * x[e, 2]
                t1 += data[p, 1, 0] * x[e, 0] + data[p, 1, 1] * x[e, 1] + data[p, 1, 2] * x[e, 2]
                t2 += data[p, 2, 0] * x[e, 0] + data[p, 2, 1] * x[e, 1] + data[p, 2, 2] * x[e, 2]
                continue
            for i in range(3):
                a, b, d = D[c, i, 0], D[c, i, 1], D[c, i, 2]
                for j in range(3):
                    B[k, i, j] = a * data[p, 0, j] + b * data[p, 1, j] + d * data[p, 2, j]
        for i in range(3):
            x[c, i] -= D[c, i, 0] * t0 + D[c, i, 1] * t1 + D[c, i, 2] * t2
            for j in range(3):
                B[s, i, j] += C[c, i, j]
    return still


@kernel(f"void({A2})", borrows=True)
def invert3(A: Array) -> None:
    """Invert a 3x3 matrix in place by cofactors."""
    a, b, c, d, e, f, g, h, i = A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]
    p, q, r = e * i - f * h, f * g - d * i, d * h - e * g
    s = 1.0 / (a * p + b * q + c * r)
    A[0, 0], A[0, 1], A[0, 2] = p * s, (c * h - b * i) * s, (b * f - c * e) * s
    A[1, 0], A[1, 1], A[1, 2] = q * s, (a * i - c * g) * s, (c * d - a * f) * s
    A[2, 0], A[2, 1], A[2, 2] = r * s, (b * g - a * h) * s, (a * e - b * d) * s


@kernel(f"void(Ordering, {A3}, {I1})", borrows=True)
def factorise3(ordering: Ordering, B: Array, idle: IntArray) -> None:
    """Factorise in place, without the idle rows and columns: inverse diagonal blocks, L below, U above."""
    start, rows, first, update = ordering.start, ordering.rows, ordering.first, ordering.update
    n = len(start) - 1
    for k in range(n):
        if idle[k] == 1:
            continue
        invert3(B[k])
        m = start[k + 1] - start[k]
        for e in range(m):
            if idle[rows[start[k] + e]] == 1:
                continue
            p = n + start[k] + e
            for i in range(3):
                a, b, c = B[p, i, 0], B[p, i, 1], B[p, i, 2]
                for j in range(3):
                    B[p, i, j] = a * B[k, 0, j] + b * B[k, 1, j] + c * B[k, 2, j]
            for f in range(m):
                if idle[rows[start[k] + f]] == 1:
                    continue
                t = first[k] + e * m + f
                d, u = update[t, 0], update[t, 2]
                for i in range(3):
                    a, b, c = B[p, i, 0], B[p, i, 1], B[p, i, 2]
                    for j in range(3):
                        B[d, i, j] -= a * B[u, 0, j] + b * B[u, 1, j] + c * B[u, 2, j]


@kernel(f"void(Ordering, {A3}, {I1}, {A2})", borrows=True)
def solve_lower3(ordering: Ordering, B: Array, idle: IntArray, y: Array) -> None:
    """Solve with the lower factor, in place of the right side y (n, 3), in the order of elimination."""
    start, rows = ordering.start, ordering.rows
    n = len(ordering.order)
    for k in range(n):
        if idle[k] == 1:
            continue
        for p in range(start[k], start[k + 1]):
            r = rows[p]
            if idle[r] == 0:
                for i in range(3):
                    y[r, i] -= B[n + p, i, 0] * y[k, 0] + B[n + p, i, 1] * y[k, 1] + B[n + p, i, 2] * y[k, 2]


@kernel(f"void(Ordering, {A3}, {I1}, {A2})", borrows=True)
def solve_upper3(ordering: Ordering, B: Array, idle: IntArray, y: Array) -> None:
    """Solve with the upper factor, in place of the right side y (n, 3), in the order of elimination."""
    start, rows = ordering.start, ordering.rows
    n = len(ordering.order)
    above = n + start[n]
    for k in range(n - 1, -1, -1):
        if idle[k] == 1:
            continue
        a, b, c = y[k, 0], y[k, 1], y[k, 2]
        for p in range(start[k], start[k + 1]):
            r, q = rows[p], above + p
            if idle[r] == 0:
                a -= B[q, 0, 0] * y[r, 0] + B[q, 0, 1] * y[r, 1] + B[q, 0, 2] * y[r, 2]
                b -= B[q, 1, 0] * y[r, 0] + B[q, 1, 1] * y[r, 1] + B[q, 1, 2] * y[r, 2]
                c -= B[q, 2, 0] * y[r, 0] + B[q, 2, 1] * y[r, 1] + B[q, 2, 2] * y[r, 2]
        for i in range(3):
            y[k, i] = B[k, i, 0] * a + B[k, i, 1] * b + B[k, i, 2] * c


@kernel(f"void(Ordering, {A3}, {I1}, {A2}, {A2})", borrows=True)
def solve3(ordering: Ordering, B: Array, idle: IntArray, x: Array, y: Array) -> None:
    """Solve in place of the right side x (n, 3), which is the answer of the idle rows; y (n, 3) is work space."""
    order = ordering.order
    n = len(order)
    for k in range(n):
        for i in range(3):
            y[k, i] = x[order[k], i]
    solve_lower3(ordering, B, idle, y)
    solve_upper3(ordering, B, idle, y)
    for k in range(n):
        for i in range(3):
            x[order[k], i] = y[k, i]
