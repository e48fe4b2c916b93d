"""The largest values of many linear functions on one slice: reduced once, solved one after the other, mended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, BoolArray, IntArray, matrix
from ...errors import InputError
from ...linalg.cones import norms
from .cone_slice import ConeSlice, Support, Verdict

RANK = 1e-12  # singular values below it, relative to the largest, are rounding
AGREE = 1e-9  # of what is left of f, relative to its size, where the equations contradict each other
SAME = 1e-10  # of a function that moves along a line of the slice, relative to its size
SAME_ROUNDED = 1e-13  # of a function that is the same all over the slice, relative to its size
ROOM = 1e-6  # of the middle of the set, relative to its load, that may be used to mend a point
ENDS = (Verdict.BOUNDED, Verdict.UNBOUNDED, Verdict.EMPTY, Verdict.UNDECIDED)


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A slice without free entries, with orthonormal rows, Lorentz cones and a load of length one.

    Free entries are left (f - K s), the others s = size x / heads.

    Attributes
    ----------
    Q : Array, shape (m', n')
    d : Array, shape (m',)
    start : IntArray
    free, kept : IntArray
        Places of the free entries and of the others in s.
    heads : Array, shape (n',)
        Slopes at the heads of cones, 1 elsewhere: x = heads s.
    size : float
        Length of the load.
    back : Array, shape (m, m')
        y = back w.
    left : Array, shape (free, m)
        Pseudoinverse of the free columns.
    proof : Array or None, shape (m,)
        Combination of the equations that contradicts itself.
    """

    Q: Array
    d: Array
    start: IntArray
    free: IntArray
    kept: IntArray
    heads: Array
    size: float
    back: Array
    left: Array
    proof: Array | None


def support(slice: ConeSlice, C: Array) -> Support:
    """Return the largest value of every row of C on a slice, with its proof.

    Parameters
    ----------
    slice : ConeSlice
    C : array_like, shape (k, n)

    Raises
    ------
    InputError
        A function of another length than n.
    """
    C = matrix("C", C)
    if C.shape[1] != slice.n:
        raise InputError(
            "C", f"functions of {C.shape[1]} entries", f"{slice.n} entries, as s has", f"Write C=numpy.eye({slice.n})."
        )
    reduced = _reduce(slice)
    if reduced.proof is not None:
        return _contradiction(slice, C, reduced.proof)
    goals, lines, T = _without_free(slice, reduced, C)
    fixed = goals @ reduced.Q.T  # what no choice changes
    moving = goals - fixed @ reduced.Q
    moving[norms(moving) <= SAME_ROUNDED * norms(goals)] = 0.0
    X, W, status = _solve(reduced, moving)
    X, W = _mended(reduced, moving, X, W, status)
    status = np.where(lines & (status[:-1] != 2), 1, status[:-1])
    found = (status != 2)[:, None]
    return _answer(slice, C, reduced, X, (T + fixed @ reduced.back.T) * found + W @ reduced.back.T, status, lines)


def _reduce(slice: ConeSlice) -> Reduced:
    """Eliminate free entries and dependent rows."""
    kinds = np.repeat([cone.kind == "free" for cone in slice.cones], [cone.size for cone in slice.cones])
    free, kept = np.flatnonzero(kinds), np.flatnonzero(~kinds.astype(bool))
    heads, sizes = np.ones(slice.n), []
    for cone, a in zip(slice.cones, slice.start, strict=False):
        if cone.kind != "free":
            heads[a] = cone.mu if cone.kind == "cone" else 1.0
            sizes.append(cone.size)
    F, K = slice.A[:, free], slice.A[:, kept] / heads[kept]
    rows = _complement(F)
    U, s, Q = np.linalg.svd(rows.T @ K, full_matrices=False)
    rank = int((s > RANK * (np.abs(slice.A).max(initial=0.0))).sum())
    U, s, Q, load = U[:, :rank], s[:rank], np.ascontiguousarray(Q[:rank]), rows.T @ slice.f
    missed = load - U @ (U.T @ load)
    proof = None
    if np.linalg.norm(missed) > AGREE * np.linalg.norm(slice.f):
        proof = -rows @ missed / float(missed @ missed)
    d = (U.T @ load) / s
    size = float(np.linalg.norm(d)) or 1.0
    return Reduced(Q, d / size, np.cumsum([0, *sizes]).astype(np.int64), free, kept, heads[kept], size,
                   rows @ (U / s), np.asarray(np.linalg.pinv(F, rcond=RANK)), proof)  # fmt: skip


def _complement(F: Array) -> Array:
    """Return an orthonormal basis of what the columns of F do not span, shape (m, m - rank)."""
    if not F.size:
        return np.eye(len(F))
    U, s, _ = np.linalg.svd(F)
    return np.asarray(U[:, int((s > RANK * s[0]).sum()) :])


def _without_free(slice: ConeSlice, reduced: Reduced, C: Array) -> tuple[Array, BoolArray, Array]:
    """Return the functions on the entries that are left, which ones move along lines, and their part of y."""
    T = C[:, reduced.free] @ reduced.left
    off = C[:, reduced.free] - T @ slice.A[:, reduced.free]
    lines: BoolArray = np.asarray(norms(off) > SAME * norms(C) if off.size else np.zeros(len(C)), dtype=bool)
    goals = (C[:, reduced.kept] - T @ slice.A[:, reduced.kept]) / reduced.heads
    terms = (np.abs(C[:, reduced.kept]) + np.abs(T) @ np.abs(slice.A[:, reduced.kept])) / reduced.heads
    return np.where(np.abs(goals) <= SAME_ROUNDED * terms, 0.0, goals), lines, T


def _solve(reduced: Reduced, goals: Array) -> tuple[Array, Array, IntArray]:
    """Return x and the multiplier of every function and of the sum of all heads, which is the last one.

    Functions that are the same all over the slice share one point, and need no multiplier if there is one.
    """
    from .interior_point import smallest_many

    heads = np.zeros((1, reduced.Q.shape[1]))
    heads[0, reduced.start[:-1]] = 1.0
    goals = np.vstack([goals, heads])
    scale = norms(goals)[:, None]
    still = scale[:, 0] == 0.0
    scale[still] = 1.0
    X, W = np.zeros(goals.shape), np.zeros((len(goals), len(reduced.d)))
    status = np.zeros(len(goals), dtype=np.int64)
    if reduced.Q.shape[1]:
        asked = np.flatnonzero(~still | (np.cumsum(still) == 1))
        x, w, found = X[asked], W[asked], status[asked]
        smallest_many(reduced.Q, reduced.d, np.ascontiguousarray(-(goals / scale)[asked]), reduced.start, x, w, found)
        place = np.where(still, np.argmax(still), np.arange(len(goals)))
        place = np.searchsorted(asked, place)
        X, W, status = x[place], w[place], found[place]
        W[still & (status == 0)] = 0.0
    return X, -W * scale, status


def _mended(reduced: Reduced, goals: Array, X: Array, W: Array, status: IntArray) -> tuple[Array, Array]:
    """Return points moved back into the set and multipliers moved to where they prove their bound.

    The multiplier of the sum of all heads lies inside the dual cone; a mean of all points lies as deep in the set as
    there is room. A little of each takes away what the iteration left.
    """
    found, Q, d = status == 0, reduced.Q, reduced.d
    rays = status == 1
    X[rays] -= (X[rays] @ Q.T) @ Q
    if not found.any():
        return X[:-1], W[:-1]
    X[found] += (d - X[found] @ Q.T) @ Q
    middle = X[found].mean(axis=0)
    away = np.where(found, np.maximum(_outside(X, reduced.start), 0.0), 0.0)[:-1]
    room = max(-float(_outside(middle[None], reduced.start)[0]), 0.0)
    share = np.where((away > 0.0) & (room > ROOM), np.minimum(1.01 * away / (room + 1e-300), 1.0), 0.0)
    points = X[:-1] + share[:, None] * (middle - X[:-1])
    if not found[-1]:
        return points, W[:-1]
    miss = np.where(found[:-1], np.maximum(_outside(W[:-1] @ Q - goals, reduced.start), 0.0), 0.0)
    return points, W[:-1] + 1.01 * miss[:, None] * W[-1]


def _outside(X: Array, start: IntArray) -> Array:
    """Return how far the rows of X are outside the Lorentz cones; <= 0 where they are inside."""
    if not X.shape[1]:
        return np.zeros(len(X))
    squares = X * X
    heads = X[:, start[:-1]]
    tails = np.add.reduceat(squares, start[:-1], axis=1) - squares[:, start[:-1]]
    return np.asarray((np.sqrt(np.maximum(tails, 0.0)) - heads).max(axis=1))


def _answer(
    slice: ConeSlice, C: Array, reduced: Reduced, X: Array, Y: Array, status: IntArray, lines: BoolArray
) -> Support:
    """Return the answers in the numbers of the slice."""
    verdicts = tuple(ENDS[int(k)] for k in status[: len(C)])
    bounded = np.array([one is Verdict.BOUNDED for one in verdicts], dtype=bool)
    points = np.zeros(C.shape)
    known = status[: len(C), None] < 2
    points[:, reduced.kept] = (
        known * X / reduced.heads * np.where(bounded, reduced.size * bool(reduced.d.any()), 1.0)[:, None]
    )
    load = np.where(bounded[:, None], slice.f, 0.0) - points[:, reduced.kept] @ slice.A[:, reduced.kept].T
    points[:, reduced.free] = load @ reduced.left.T
    for k in np.flatnonzero(lines):  # along a line: what the free entries may do among themselves
        points[k] = 0.0
        points[k, reduced.free] = C[k, reduced.free] - reduced.left @ (slice.A[:, reduced.free] @ C[k, reduced.free])
    along = (C * points).sum(axis=1)
    rays = np.array([one is Verdict.UNBOUNDED for one in verdicts], dtype=bool) & (along > 0.0)
    points[rays] /= along[rays, None]
    empty = np.array([one is Verdict.EMPTY for one in verdicts], dtype=bool)
    Y = np.where(rays[:, None], 0.0, Y)
    if empty.any():
        below = Y @ slice.f
        Y = np.where((empty & (below < 0.0))[:, None], Y / np.where(below < 0.0, -below, 1.0)[:, None], Y)
    value = np.select([bounded, rays, empty], [Y @ slice.f, np.inf, -np.inf], np.nan)
    return Support(slice=slice, C=C, verdicts=verdicts, value=value, points=points, multipliers=Y)


def _contradiction(slice: ConeSlice, C: Array, proof: Array) -> Support:
    """Return that the slice is empty, for its equations contradict each other: A^T y = 0, f.y = -1."""
    k = len(C)
    return Support(slice=slice, C=C, verdicts=(Verdict.EMPTY,) * k, value=np.full(k, -np.inf),
                   points=np.zeros(C.shape), multipliers=np.tile(proof / -float(proof @ slice.f), (k, 1)))  # fmt: skip
