"""Reactions of what is held: W r = b with W = G M^-1 B, compiled, also where rows of G depend on one another.

Then G = C G_I, where the rows I were chosen where the phase began, and as many of the equations say all:

    W_I r = b_I,     r the shortest solution,     det (W_I C): its sign changes where reactions have a pole.

Which of all shares obey the laws says `event_driven.redundant_reactions`. How many rows depend on others was found
where the phase began: in the trials of a step gaps are not held to rounding, so that those of two faces that lie on one
another would be independent there.

Rolling resistance holds only what all else that is held leaves: on two points of a floor normal reactions keep a body
from tipping, so that it can roll about one axis. Resistance about the other one is none. It would have a direction in
which nothing rolls once it is at its limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from .._jit import A1, A2, I1, kernel, record
from ..arrays import Array, IntArray

RANK = 1e-10  # singular values below this, relative, belong to redundant rows
FLAT = 1e-14  # determinants below this, relative to the rows, have no sign
LOG_FLAT = math.log(FLAT)
VOID = 1e-13  # of the longest row: shorter ones hold nothing, as a loop across its own plane does; they are rounding
HELD = 1e-12  # of what it were without joints: what W has on the diagonal for a row that joints hold
NOISE = 1e-14  # of the length of a row of W: what is left of it besides others is none below


@record(I1, I1, "int64", I1, I1, I1, A2, A2, A2, A2, A2, A2, A2, A2, A1)
class Redundant(NamedTuple):
    """Rows that are held, n of them, of which k are independent.

    Attributes
    ----------
    chosen : IntArray, shape (k,)
        The rows I: those of all but rolling resistance, then what that adds.
    label : IntArray, shape (n,)
        The first of the rows that each is coupled with.
    firm : int
        How many of `chosen` are no rolling resistance.
    rolling, others : IntArray
        What is rolling resistance, and what is not: no row at all where there are no redundant ones.
    slips : IntArray, shape (n,)
        Whether a row is the normal of a contact that slides.
    G : Array, shape (n, nv)
    C : Array, shape (n, k)
    B, T : Array, shapes (k, nv), (k, k)
        Orthonormal rows and factors: G_I = T B.
    Q, L, D, X, z :
        Work space.
    """

    chosen: IntArray
    label: IntArray
    firm: int
    rolling: IntArray
    others: IntArray
    slips: IntArray
    G: Array
    C: Array
    B: Array
    T: Array
    Q: Array
    L: Array
    D: Array
    X: Array
    z: Array


def directions_of(G: Array) -> Array:
    """Return rows at length one, but those that hold nothing: zeros."""
    length = np.linalg.norm(G, axis=1)
    some = length > VOID * length.max(initial=0.0)
    return G * np.where(some, 1.0 / np.where(some, length, 1.0), 0.0)[:, None]


def rank_of(G: Array) -> int:
    """Return how many rows are independent, whatever their lengths."""
    if not len(G):
        return 0
    s = np.linalg.svd(directions_of(G), compute_uv=False)
    return int(np.count_nonzero(s > RANK * s[0]))


def redundant_of(G: Array, rolling: Sequence[int], slips: Sequence[int]) -> Redundant:
    """Return what is known of rows that depend on one another where a phase begins."""
    n, nv = G.shape
    others = np.setdiff1d(np.arange(n), rolling)
    first = _independent(G, others, np.zeros((0, nv)), rank_of(G[others]))
    more = _independent(G, np.array(rolling, dtype=np.int64), G[first], rank_of(G) - len(first))
    chosen, slides = np.concatenate((first, more)), np.zeros(n, dtype=np.int64)
    slides[list(slips)] = 1
    k = len(chosen)
    return Redundant(
        chosen, np.zeros(n, dtype=np.int64), len(first), np.array(rolling, dtype=np.int64), others, slides,
        np.zeros((n, nv)), np.zeros((n, k)), np.zeros((k, nv)), np.zeros((k, k)), np.zeros((k, n)), np.zeros((k, k)),
        np.zeros((k, k + 1)), np.zeros((n, len(rolling) + 1)), np.zeros(k),
    )  # fmt: skip


def _independent(G: Array, rows: IntArray, given: Array, k: int) -> IntArray:
    """Return k of the rows that are independent of one another and of those given, in their order."""
    if k <= 0:
        return np.zeros(0, dtype=np.int64)
    left = directions_of(G)[rows]
    if len(given):
        basis = np.linalg.qr(given.T)[0]
        left = left - (left @ basis) @ basis.T
    return np.sort(rows[qr(left.T, mode="r", pivoting=True)[1][:k]]).astype(np.int64)


@kernel(f"boolean({A2}, int64)", borrows=True)
def scale_rows(W: Array, n: int) -> bool:
    """Bring the rows of W (n, n + 1) to length one, without the last column; False if one is zero."""
    for i in range(n):
        length = 0.0
        for j in range(n):
            length += W[i, j] * W[i, j]
        length = math.sqrt(length)
        if length == 0.0:
            return False
        for j in range(n + 1):
            W[i, j] /= length
    return True


@kernel(f"UniTuple(float64, 2)({A2}, int64)", borrows=True)
def eliminate(W: Array, n: int) -> tuple[float, float]:
    """Bring W (n, n + 1) to upper triangular form; return the sign and the logarithm of |det W|, 0 and 0: singular.

    Rows have length one, so that the logarithm is zero where n = 1.
    """
    sign, size = 1.0, 0.0
    for i in range(n):
        p = i
        for k in range(i + 1, n):
            if abs(W[k, i]) > abs(W[p, i]):
                p = k
        if p != i:
            sign = -sign
            for j in range(i, n + 1):
                W[i, j], W[p, j] = W[p, j], W[i, j]
        pivot = W[i, i]
        if pivot == 0.0:
            return 0.0, 0.0
        sign = sign if pivot > 0.0 else -sign
        size += math.log(abs(pivot)) if n > 1 else 0.0
        for k in range(i + 1, n):
            c = W[k, i] / pivot
            for j in range(i + 1, n + 1):
                W[k, j] -= c * W[i, j]
    return sign, size


@kernel(f"int64({A2}, int64, {A1})", borrows=True)
def solve_small(W: Array, n: int, side: Array) -> int:
    """Overwrite column n of W (n, n + 1) with the solution; side[0] is the sign of det W, 0 if unclear."""
    if not scale_rows(W, n):
        return 1
    sign, size = eliminate(W, n)
    if sign == 0.0:
        return 1
    for i in range(n - 1, -1, -1):
        total = W[i, n]
        for j in range(i + 1, n):
            total -= W[i, j] * W[j, n]
        W[i, n] = total / W[i, i]
    side[0] = sign if size > LOG_FLAT or n == 1 else 0.0
    return 0


@kernel(f"void({A2}, {A2}, int64, int64)", borrows=True)
def remove_along(Q: Array, L: Array, p: int, n: int) -> None:
    """Remove from row p of Q its parts along the orthonormal rows before it, which are added to row p of L."""
    for m in range(p):
        along = 0.0
        for j in range(n):
            along += Q[m, j] * Q[p, j]
        L[p, m] += along
        for j in range(n):
            Q[p, j] -= along * Q[m, j]


@kernel(f"boolean({A2}, {A2}, int64, int64)", borrows=True)
def orthogonalise(Q: Array, L: Array, k: int, n: int) -> bool:
    """Write the first k rows of Q, n numbers each, as L Q with orthonormal rows; return whether all are independent.

    What others make up becomes a row of zeros.
    """
    whole = True
    for p in range(k):
        size = left = 0.0
        for j in range(n):
            size += Q[p, j] * Q[p, j]
        for m in range(p):
            L[p, m] = 0.0
        remove_along(Q, L, p, n)
        remove_along(Q, L, p, n)  # once more: rounding leaves a part along others
        for j in range(n):
            left += Q[p, j] * Q[p, j]
        L[p, p] = math.sqrt(left) if left > NOISE * NOISE * size else 0.0
        for j in range(n):
            Q[p, j] = Q[p, j] / L[p, p] if L[p, p] > 0.0 else 0.0
        whole = whole and L[p, p] > 0.0
    return bool(whole)


@kernel("boolean(Redundant)", borrows=True)
def combine_rows_held(rows: Redundant) -> bool:
    """Fill in B, T and C; False where the rows that were chosen depend on one another."""
    G, C, B, T, chosen, k, nv = rows.G, rows.C, rows.B, rows.T, rows.chosen, len(rows.chosen), rows.G.shape[1]
    for p in range(k):
        for j in range(nv):
            B[p, j] = G[chosen[p], j]
    if not orthogonalise(B, T, k, nv):
        return False
    for i in range(len(G)):
        for p in range(k - 1, -1, -1):
            total = 0.0
            for j in range(nv):
                total += B[p, j] * G[i, j]
            for m in range(p + 1, k):
                total -= C[i, m] * T[m, p]
            C[i, p] = total / T[p, p]
    return True


@kernel("boolean(Redundant)", borrows=True)
def as_many_depend(rows: Redundant) -> bool:
    """Whether as many rows of G depend on others as where the phase began; False also where that is not clear."""
    if not combine_rows_held(rows):
        return False
    G, B, T, z, k, nv = rows.G, rows.B, rows.T, rows.z, len(rows.chosen), rows.G.shape[1]
    longest = 0.0
    for p in range(k):
        size = 0.0
        for m in range(p + 1):
            size += T[p, m] * T[p, m]
        longest = max(longest, size)
        if not T[p, p] * T[p, p] > RANK * RANK * size:
            return False
    for i in range(len(G)):
        off = size = 0.0
        for p in range(k):
            z[p] = 0.0
            for j in range(nv):
                z[p] += B[p, j] * G[i, j]
        for j in range(nv):
            left = G[i, j]
            for p in range(k):
                left -= z[p] * B[p, j]
            off, size = off + left * left, size + G[i, j] * G[i, j]
        if off > RANK * RANK * size and size > VOID * VOID * longest:
            return False
    return True


@kernel(f"void({A2}, {I1})", borrows=True)
def couple(W: Array, label: IntArray) -> None:
    """Fill in for every row the first one that it is linked with by W, at once or through others."""
    n, moved = len(label), True
    for i in range(n):
        label[i] = i
    while moved:
        moved = False
        for i in range(n):
            for k in range(n):
                if label[k] < label[i] and (W[i, k] != 0.0 or W[k, i] != 0.0):
                    label[i], moved = label[k], True


@kernel(f"float64(Redundant, {A2}, int64)", borrows=True)
def side_of_group(rows: Redundant, W: Array, first: int) -> float:
    """Return the sign of det (W_I C) of what is coupled with a row; 0 where rounding decides."""
    D, C, chosen, label, a = rows.D, rows.C, rows.chosen, rows.label, 0
    for p in range(len(chosen)):
        if label[chosen[p]] != first:
            continue
        b = 0
        for q in range(len(chosen)):
            if label[chosen[q]] != first:
                continue
            D[a, b] = 0.0
            for i in range(len(label)):
                if label[i] == first:
                    D[a, b] += W[chosen[p], i] * C[i, q]
            b += 1
        a += 1
    for i in range(a):
        D[i, a] = 0.0
    if not scale_rows(D, a):
        return 0.0
    sign, size = eliminate(D, a)
    return sign if size > LOG_FLAT or a == 1 else 0.0


@kernel(f"float64(Redundant, {A2})", borrows=True)
def side_of_slips(rows: Redundant, W: Array) -> float:
    """Return the product of the signs of all groups with slips that have one, 0 if none has."""
    label, side = rows.label, 0.0
    couple(W, label)
    for first in range(len(label)):
        slides = False
        for i in range(first, len(label)):
            slides = slides or (label[i] == first and rows.slips[i] != 0)
        one = side_of_group(rows, W, first) if slides else 0.0
        if one != 0.0:
            side = one if side == 0.0 else side * one
    return side


@kernel(f"void(Redundant, {A2})", borrows=True)
def factor_equations(rows: Redundant, W: Array) -> None:
    """Write W_I = L Q, of all but rolling resistance."""
    for p in range(rows.firm):
        for j in range(len(rows.others)):
            rows.Q[p, j] = W[rows.chosen[p], rows.others[j]]
    orthogonalise(rows.Q, rows.L, rows.firm, len(rows.others))


@kernel(f"void(Redundant, {A2}, int64, int64)", borrows=True)
def shortest(rows: Redundant, W: Array, column: int, c: int) -> None:
    """Put the shortest solution for a column of W into column c of X."""
    Q, L, z, X = rows.Q, rows.L, rows.z, rows.X
    for j in range(len(rows.others)):
        X[j, c] = 0.0
    for p in range(rows.firm):
        total = W[rows.chosen[p], column]
        for m in range(p):
            total -= L[p, m] * z[m]
        z[p] = total / L[p, p] if L[p, p] > 0.0 else 0.0
        for j in range(len(rows.others)):
            X[j, c] += z[p] * Q[p, j]


@kernel(f"int64(Redundant, {A2})", borrows=True)
def resist_rolling(rows: Redundant, W: Array) -> int:
    """Fill in z: what rolling resistance holds, along the rows that it adds; 1 where that is not known."""
    D, X, C, n, m, firm = rows.D, rows.X, rows.C, len(W), len(rows.rolling), rows.firm
    k = len(rows.chosen) - firm
    for a in range(k):
        row = rows.chosen[firm + a]
        for b in range(k + 1):
            D[a, b] = 0.0
        for c in range(m + 1):
            entry = W[row, rows.rolling[c] if c < m else n]
            for j in range(len(rows.others)):
                entry -= W[row, rows.others[j]] * X[j, c]
            if c == m:
                D[a, k] = entry
                continue
            for b in range(k):
                D[a, b] += entry * C[rows.rolling[c], firm + b]
    if k and solve_small(D, k, rows.z):
        return 1
    for a in range(k):
        rows.z[a] = D[a, k]
    return 0


@kernel(f"void(Redundant, {A2})", borrows=True)
def put_solution(rows: Redundant, W: Array) -> None:
    """Overwrite the last column of W with what rolling resistance holds, z, and with the others beside it, X."""
    n, m, X = len(W), len(rows.rolling), rows.X
    for c in range(m):
        total = 0.0
        for a in range(len(rows.chosen) - rows.firm):
            total += rows.C[rows.rolling[c], rows.firm + a] * rows.z[a]
        W[rows.rolling[c], n] = total
    for j in range(len(rows.others)):
        total = X[j, m]
        for c in range(m):
            total -= X[j, c] * W[rows.rolling[c], n]
        W[rows.others[j], n] = total


@kernel(f"int64(Redundant, {A2}, {A1})", borrows=True, entry=True)
def solve_redundant(rows: Redundant, W: Array, side: Array) -> int:
    """Overwrite column n of W (n, n + 1) with the shortest solution, see above; side[0]: 0 if nothing slides."""
    n, m = len(W), len(rows.rolling)
    side[0], slides = 0.0, False
    for i in range(n):
        slides = slides or rows.slips[i] != 0
    if (slides or m) and not combine_rows_held(rows):
        return 1
    if slides:
        side[0] = side_of_slips(rows, W)
    factor_equations(rows, W)
    for c in range(m):
        shortest(rows, W, rows.rolling[c], c)
    shortest(rows, W, n, m)
    if m and resist_rolling(rows, W):
        return 1
    put_solution(rows, W)
    return 0
