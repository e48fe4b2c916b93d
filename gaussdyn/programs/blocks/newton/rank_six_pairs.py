"""Contacts that join the same two bodies, compiled: their rows of W have rank six, and so has their Newton step.

W = R Ŵ S^T with Ŵ by 6x6 blocks of such groups, its rows and columns chosen among those of W (interpolative
decomposition: Cheng, Gimbutas, Martinsson, Rokhlin, SIAM J. Sci. Comput. 26, 2005). With it (C + D W) dr = F becomes
(1 + Ŵ K) z = Ŵ h, K = S^T C^-1 D R, for z = Ŵ S^T dr: a fourth of the unknowns where boxes rest on boxes. Groups are
found from the pattern of W alone, and refused where the ranks do not bear them out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, I2, kernel, record
from ....arrays import Array, IntArray
from ....linalg.block_lu import Ordering, factorise, solve_factorised
from ....linalg.block_lu3 import BLOCKS, Blocks, invert3, times

PAIRS = f"Tuple(({A3}, {A3}, {I1}, {A3}, {I1}, {I1}, {I1}))"
Pairs = tuple[Array, Array, IntArray, Array, IntArray, IntArray, IntArray]
"""R, S (contacts, 3, 6); group of every contact; Ŵ: blocks (k, 6, 6), indices, indptr; slot of its blocks."""
WIDEST = 8  # contacts in a group
TINY = 1e-9  # what is left of a row beyond rank six, relative to the longest row


@record(*[A3] * 4, A1, I1, A2, *[A3] * 4, by_value=True)
class NewtonSpace(NamedTuple):
    """Work space of a Newton step (C + D W) dr = F of n contacts, of which some are in k groups.

    Attributes
    ----------
    B : Array, shape (blocks, 3, 3) or (blocks, 6, 6)
        Factors.
    C, D : Array, shape (n, 3, 3)
    V : Array, shape (8, n, 3)
        Vectors: u, F, du, work space, dr, two for the full step, the best r.
    rho : Array, shape (n,)
        Step sizes of the equations.
    idle : IntArray, shape (n,)
        By rank: which contacts have D = 0.
    work : Array, shape (10, 6)
    K, Z : shapes (k, 6, 6) and (3, k, 6)
        By groups.
    inverse, X : shapes (grouped, 3, 3) and (3, grouped, 3)
        By contacts in groups.
    """

    B: Array
    C: Array
    D: Array
    V: Array
    rho: Array
    idle: IntArray
    work: Array
    K: Array
    inverse: Array
    X: Array
    Z: Array


@kernel(f"Tuple((int64, {I1}))({I1}, {I1})", entry=True)
def group_by_pattern(indices: IntArray, indptr: IntArray) -> tuple[int, IntArray]:
    """Return the number of groups of block rows with the same columns, and the group of every row."""
    n = len(indptr) - 1
    key, group = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for c in range(n):
        h = indptr[c + 1] - indptr[c]
        for p in range(indptr[c], indptr[c + 1]):
            z = (indices[p] + 1) * 0x1E3779B97F4A7C15
            z = (z ^ (z >> 30)) * 0x3F58476D1CE4E5B9
            h += z ^ (z >> 27)
        key[c] = h
    order, count = np.argsort(key), 0
    for t in range(n):
        if t > 0 and key[order[t]] != key[order[t - 1]]:
            count += 1
        group[order[t]] = count
    return count + 1, group


@kernel(f"Tuple((float64, int64))({A2}, int64)", borrows=True)
def longest_row(X: Array, m: int) -> tuple[float, int]:
    """Return the length of the longest of the rows X[:m, :m], and which it is (-1 if all are zero)."""
    best, at = 0.0, -1
    for i in range(m):
        s = 0.0
        for j in range(m):
            s += X[i, j] * X[i, j]
        if s > best:
            best, at = s, i
    return np.sqrt(best), at


@kernel(f"void({A2}, int64, int64, float64, {A1})", borrows=True)
def take_out(X: Array, m: int, at: int, long: float, along: Array) -> None:
    """Take out of the rows X[:m, :m] what they have along row `at`, of this length, which is written to along (m)."""
    for i in range(m):
        s = 0.0
        for j in range(m):
            s += X[i, j] * X[at, j]
        along[i] = s / long
    for i in range(m):
        if i != at:
            f = along[i] / long
            for j in range(m):
                X[i, j] -= f * X[at, j]
    for j in range(m):
        X[at, j] = 0.0


@kernel(f"int64({A2}, int64, {A2}, {I1}, {A2})", borrows=True)
def skeleton(X: Array, m: int, L: Array, chosen: IntArray, T: Array) -> int:
    """Choose at most six of the rows X[:m, :m] that span the others: X = T X[chosen]. Returns their number.

    Gram and Schmidt with pivots; X is overwritten by what is left, L (6, m) is work space. -1 if six are too few.
    """
    rank, top = 0, 0.0
    while True:
        long, at = longest_row(X, m)
        top = max(top, long)
        if long <= TINY * top:
            break
        if rank == 6:
            return -1
        take_out(X, m, at, long, L[rank])
        chosen[rank] = at
        rank += 1
    for i in range(m):  # sum_b T[i, b] L[a, chosen[b]] = L[a, i], an upper triangle
        for a in range(6):
            T[i, a] = 0.0
        for a in range(rank - 1, -1, -1):
            s = L[a, i]
            for b in range(a + 1, rank):
                s -= T[i, b] * L[a, chosen[b]]
            T[i, a] = s / L[a, chosen[a]]
    return rank


@kernel(f"void({BLOCKS}, {I1}, {I1}, {I1}, boolean, {A2})", borrows=True)
def gather_group(
    blocks: Blocks, group: IntArray, member: IntArray, place: IntArray, across: bool, X: Array
) -> None:  # fmt: skip
    """Put the part of W between the members of one group into X, or `across` its transpose; place: of their rows."""
    data, indices, indptr, _ = blocks
    size = 3 * len(member)
    for i in range(size):
        for j in range(size):
            X[i, j] = 0.0
    for c in member:
        for p in range(indptr[c], indptr[c + 1]):
            if group[indices[p]] != group[c]:
                continue
            for i in range(3):
                for j in range(3):
                    a, b = place[c] + i, place[indices[p]] + j
                    if across:
                        X[b, a] = data[p, i, j]
                    else:
                        X[a, b] = data[p, i, j]


@kernel(f"boolean({BLOCKS}, {I1}, {A3}, {A3}, {I2}, {I2})", entry=True)
def span_groups(blocks: Blocks, group: IntArray, R: Array, S: Array, row_of: IntArray, column_of: IntArray) -> bool:
    """Fill R and S, and the place (contacts, 3) of every chosen row and column in its group, else -1.

    False if a group is too wide or of higher rank.
    """
    n, m = len(group), 3 * WIDEST
    X, L, T, chosen = np.zeros((m, m)), np.zeros((6, m)), np.zeros((m, 6)), np.zeros(6, np.int64)
    member, place = np.argsort(group), np.zeros(n, np.int64)
    row_of[:] = -1
    column_of[:] = -1
    first = 0
    while first < n:
        size = 1
        while first + size < n and group[member[first + size]] == group[member[first]]:
            size += 1
        if size > WIDEST:
            return False
        own = member[first : first + size]
        for e in range(size):
            place[own[e]] = 3 * e
        for across, target, spot in ((False, R, row_of), (True, S, column_of)):
            gather_group(blocks, group, own, place, across, X)
            rank = skeleton(X, 3 * size, L, chosen, T)
            if rank < 0:
                return False
            for a in range(rank):
                spot[own[chosen[a] // 3], chosen[a] % 3] = a
            for i in range(3 * size):
                target[own[i // 3], i % 3] = T[i]
        first += size
    return True


@kernel(f"{I1}({BLOCKS}, int64, {I1})")
def first_of_groups(blocks: Blocks, count: int, group: IntArray) -> IntArray:
    """Return where the blocks of every group begin, (count + 1): one for every group that its contacts meet."""
    _, indices, indptr, _ = blocks
    one = np.zeros(count, np.int64)
    for c in range(len(group)):
        one[group[c]] = c
    seen, first = np.full(count, -1), np.zeros(count + 1, np.int64)
    for g in range(count):
        first[g + 1] = first[g]
        for p in range(indptr[one[g]], indptr[one[g] + 1]):
            h = group[indices[p]]
            if seen[h] != g:
                seen[h] = g
                first[g + 1] += 1
    return first


@kernel(f"Tuple(({A3}, {I1}, {I1}))({BLOCKS}, int64, {I1}, {I2}, {I2})", entry=True)
def between_groups(
    blocks: Blocks, count: int, group: IntArray, row_of: IntArray, column_of: IntArray
) -> tuple[Array, IntArray, IntArray]:
    """Return Ŵ: blocks (k, 6, 6), indices and indptr by groups."""
    data, indices, indptr, _ = blocks
    first, listed = first_of_groups(blocks, count, group), np.zeros(count, np.bool_)
    out, columns, at = np.zeros((first[count], 6, 6)), np.zeros(first[count], np.int64), np.zeros(count, np.int64)
    for c in np.argsort(group):
        g = group[c]
        if not listed[g]:
            k = first[g]
            for p in range(indptr[c], indptr[c + 1]):
                h = group[indices[p]]
                if at[h] < first[g] or at[h] >= k or columns[at[h]] != h:
                    at[h], columns[k] = k, h
                    k += 1
            listed[g] = True
        for p in range(indptr[c], indptr[c + 1]):
            e = indices[p]
            k = at[group[e]]
            for i in range(3):
                a = row_of[c, i]
                for j in range(3):
                    b = column_of[e, j]
                    if a >= 0 and b >= 0:
                        out[k, a, b] = data[p, i, j]
    return out, columns, first


@kernel(f"float64({BLOCKS}, {PAIRS})", entry=True)
def misfit_of_pairs(blocks: Blocks, pairs: Pairs) -> float:
    """Return |W x - R Ŵ S^T x| / |W x| for a vector x without pattern."""
    R, S, group, W6, indices, indptr, _ = pairs
    n, count = len(group), len(indptr) - 1
    x, y, z, v = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((count, 6)), np.zeros((count, 6))
    for c in range(n):
        for i in range(3):
            x[c, i] = np.cos(1.0 + 2.3 * (3 * c + i) * (3 * c + i))
            for a in range(6):
                z[group[c], a] += S[c, i, a] * x[c, i]
    for g in range(count):
        for p in range(indptr[g], indptr[g + 1]):
            for a in range(6):
                for b in range(6):
                    v[g, a] += W6[p, a, b] * z[indices[p], b]
    times(blocks, x, y)
    error, size = 0.0, 0.0
    for c in range(n):
        for i in range(3):
            s = y[c, i]
            size += s * s
            for a in range(6):
                s -= R[c, i, a] * v[group[c], a]
            error += s * s
    return float(np.sqrt(error / size)) if size > 0.0 else 1.0


@kernel(f"void({PAIRS}, Ordering, {A3}, {A3}, {A3}, {A3}, {A3}, {A2})")
def factor_pairs(
    pairs: Pairs, ordering: Ordering, C: Array, D: Array, inverse: Array, K: Array, B: Array, work: Array
) -> None:
    """Put C^-1 by blocks, K = S^T C^-1 D R and the factors B of 1 + Ŵ K; `work` (10, 6) is work space."""
    R, S, group, W6, indices, indptr, slot = pairs
    count, rank = len(indptr) - 1, ordering.rank
    K[:] = 0.0
    B[:] = 0.0
    for c in range(len(group)):
        g = group[c]
        inverse[c] = C[c]
        invert3(inverse[c])
        for i in range(3):
            for j in range(3):
                work[i, j] = (
                    inverse[c, i, 0] * D[c, 0, j] + inverse[c, i, 1] * D[c, 1, j] + inverse[c, i, 2] * D[c, 2, j]
                )
        for i in range(3):
            for b in range(6):
                s = work[i, 0] * R[c, 0, b] + work[i, 1] * R[c, 1, b] + work[i, 2] * R[c, 2, b]
                for a in range(6):
                    K[g, a, b] += S[c, i, a] * s
    for g in range(count):
        for p in range(indptr[g], indptr[g + 1]):
            e, s = indices[p], slot[p]
            for a in range(6):
                w0, w1, w2, w3, w4, w5 = W6[p, a, 0], W6[p, a, 1], W6[p, a, 2], W6[p, a, 3], W6[p, a, 4], W6[p, a, 5]
                for b in range(6):
                    B[s, a, b] = (
                        w0 * K[e, 0, b] + w1 * K[e, 1, b] + w2 * K[e, 2, b]
                        + w3 * K[e, 3, b] + w4 * K[e, 4, b] + w5 * K[e, 5, b]
                    )  # fmt: skip
        for a in range(6):
            B[rank[g], a, a] += 1.0
    factorise(count, ordering, B)


@kernel(f"void({PAIRS}, Ordering, {A3}, {A3}, {A3}, {A2}, {A2}, {A3})")
def apply_pairs(
    pairs: Pairs, ordering: Ordering, D: Array, inverse: Array, B: Array, F: Array, x: Array, Z: Array
) -> None:
    """Put x = (C + D W)^-1 F, with Ŵ for W; Z (3, groups, 6) is work space."""
    R, S, group, W6, indices, indptr, _slot = pairs
    h, z, y = Z[0], Z[1], Z[2]
    h[:] = 0.0
    for c in range(len(group)):
        for i in range(3):
            f = inverse[c, i, 0] * F[c, 0] + inverse[c, i, 1] * F[c, 1] + inverse[c, i, 2] * F[c, 2]
            for a in range(6):
                h[group[c], a] += S[c, i, a] * f
    for g in range(len(indptr) - 1):
        for a in range(6):
            s = 0.0
            for p in range(indptr[g], indptr[g + 1]):
                e = indices[p]
                for b in range(6):
                    s += W6[p, a, b] * h[e, b]
            z[g, a] = s
    solve_factorised(len(indptr) - 1, ordering, B, z, y)
    for c in range(len(group)):
        g = group[c]
        for i in range(3):
            s = 0.0
            for a in range(6):
                s += R[c, i, a] * z[g, a]
            x[c, i] = s
        f0 = F[c, 0] - (D[c, 0, 0] * x[c, 0] + D[c, 0, 1] * x[c, 1] + D[c, 0, 2] * x[c, 2])
        f1 = F[c, 1] - (D[c, 1, 0] * x[c, 0] + D[c, 1, 1] * x[c, 1] + D[c, 1, 2] * x[c, 2])
        f2 = F[c, 2] - (D[c, 2, 0] * x[c, 0] + D[c, 2, 1] * x[c, 1] + D[c, 2, 2] * x[c, 2])
        for i in range(3):
            x[c, i] = inverse[c, i, 0] * f0 + inverse[c, i, 1] * f1 + inverse[c, i, 2] * f2


@kernel(f"void({BLOCKS}, {PAIRS}, Ordering, {A2}, NewtonSpace)")
def solve_pairs(blocks: Blocks, pairs: Pairs, ordering: Ordering, F: Array, space: NewtonSpace) -> None:
    """Solve (C + D W) dr = F, C and D in `space`, in place of F, refined once with W itself."""
    B, C, D, _V, _rho, _idle, work, K, inverse, X, Z = space
    factor_pairs(pairs, ordering, C, D, inverse, K, B, work)
    x, v, rest = X[0], X[1], X[2]
    apply_pairs(pairs, ordering, D, inverse, B, F, x, Z)
    times(blocks, x, v)
    for c in range(len(x)):
        for i in range(3):
            s = F[c, i]
            for j in range(3):
                s -= C[c, i, j] * x[c, j] + D[c, i, j] * v[c, j]
            rest[c, i] = s
    apply_pairs(pairs, ordering, D, inverse, B, rest, v, Z)
    for c in range(len(x)):
        for i in range(3):
            F[c, i] = x[c, i] + v[c, i]
