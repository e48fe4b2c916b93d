"""All zeros of n functions of n variables in a box, each enclosed and proved to be the only one there.

Branch and prune with Krawczyk's operator K = m - Y f(m) + (I - Y F'(X)) (X - m): where K and X are disjoint there is no
zero, where K lies inside X there is exactly one. Whole generations of boxes are worked on at once.
Source: Neumaier, Interval Methods for Systems of Equations (1990), chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .intervals import Interval

SPLIT = 0.4871  # not in the middle: zeros like to lie on axes of symmetry
GROWTH = 0.05  # a zero on a common side of two boxes is inside both when they are a little larger
NEWTON = 30

# f(X) of shape (n, m) and its derivatives (n, n, m), for boxes X: lists of intervals with arrays of m entries
Function = Callable[[list[Interval]], list[Interval]]
Flags = NDArray[np.bool_]
Derivative = Callable[[list[Interval]], list[list[Interval]]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Zeros:
    """The zeros in a box.

    Attributes
    ----------
    lo, hi : Array, shape (k, n)
        Enclosures, each with exactly one zero.
    left : Array, shape (j, 2, n)
        Boxes that could not be decided: multiple zeros, or too many boxes. None left: the list is complete.
    boxes : int
        How many boxes were looked at.
    """

    lo: Array
    hi: Array
    left: Array
    boxes: int

    @property
    def points(self) -> Array:
        """Middles of the enclosures, shape (k, n)."""
        middles: Array = 0.5 * (self.lo + self.hi)
        return middles

    @property
    def complete(self) -> bool:
        """Whether it is proved that there are no others."""
        return len(self.left) == 0


def isolate(
    f: Function, df: Derivative, low: Array, high: Array, *, also: Function | None = None, most: int = 200_000,
    least: float = 1e-8,
) -> Zeros:  # fmt: skip
    """Find all zeros of f in a box.

    Parameters
    ----------
    f, df : callable
        Values and derivatives over boxes.
    low, high : array_like, shape (n,)
    also : callable, optional
        Further functions that vanish at every zero: they help to discard boxes.
    most : int
        Boxes looked at before it gives up.
    least : float
        Boxes smaller than this share of the whole are left undecided.
    """
    lo, hi = np.atleast_2d(np.asarray(low, dtype=float)), np.atleast_2d(np.asarray(high, dtype=float))
    size = (hi - lo)[0]
    found: list[tuple[Array, Array]] = []
    left: list[Array] = []
    looked = 0
    while len(lo):
        looked += len(lo)
        keep = _may_vanish(f, df, lo, hi)
        if also is not None and keep.any():
            values = also(columns(lo[keep], hi[keep]))
            keep[keep] = np.all([value.holds() for value in values], axis=0)
        lo, hi = lo[keep], hi[keep]
        if not len(lo):
            break
        sure, empty, tight = _krawczyk(f, df, lo, hi)
        for k in np.flatnonzero(sure):
            one = _polished(f, df, tight[0][k], tight[1][k])
            if (one[0] <= hi[k]).all() and (one[1] >= lo[k]).all():
                found.append(one)
        # a zero of the box lies in the box and in K
        lo, hi = np.maximum(lo, tight[0]), np.minimum(hi, tight[1])
        open_ = ~sure & ~empty & (lo <= hi).all(axis=1)
        lo, hi = lo[open_], hi[open_]
        small = ((hi - lo) <= least * size).all(axis=1)
        left.append(np.stack([lo[small], hi[small]], axis=1))
        lo, hi = lo[~small], hi[~small]
        if looked > most:
            left.append(np.stack([lo, hi], axis=1))
            break
        lo, hi = _halves(lo, hi, size)
    ends = _distinct(found)
    n = len(size)
    rest = np.concatenate([np.empty((0, 2, n)), *left])
    return Zeros(lo=ends[0].reshape(-1, n), hi=ends[1].reshape(-1, n), left=rest, boxes=looked)


def columns(lo: Array, hi: Array) -> list[Interval]:
    """Return boxes of shape (m, n) as n intervals over m boxes."""
    return [Interval(lo[:, j], hi[:, j]) for j in range(lo.shape[1])]


def mean_value(value: Interval, slope: list[Interval], X: list[Interval], m: list[Array]) -> Interval:
    """Return f(m) + f'(X) (X - m): values of f over X with an error that falls with the square of the width."""
    for part, x, middle in zip(slope, X, m, strict=True):
        value = value + part * (x - middle)
    return value


def _may_vanish(f: Function, df: Derivative, lo: Array, hi: Array) -> Flags:
    """Return where no component of f is known to be without zero."""
    X = columns(lo, hi)
    m = [x.mid for x in X]
    here, slopes = f([Interval(x) for x in m]), df(X)
    keep: Flags = np.ones(len(lo), dtype=np.bool_)
    for value, plain, slope in zip(here, f(X), slopes, strict=True):
        keep &= mean_value(value, slope, X, m).holds() & plain.holds()
    return keep


def _krawczyk(f: Function, df: Derivative, lo: Array, hi: Array) -> tuple[Flags, Flags, tuple[Array, Array]]:
    """Return where there is exactly one zero, where there is none, and K, for slightly larger boxes."""
    n = lo.shape[1]
    grow = GROWTH * (hi - lo) + 1e-15 * (np.abs(lo) + np.abs(hi)) + 1e-300
    lo, hi = lo - grow, hi + grow
    X = columns(lo, hi)
    m = [x.mid for x in X]
    slopes = df(X)
    middle = np.array([[np.broadcast_to(part.mid, len(lo)) for part in row] for row in slopes])
    Y = _inverses(np.moveaxis(middle, 2, 0))
    here = f([Interval(x) for x in m])
    low, high = np.empty_like(lo), np.empty_like(hi)
    for i in range(n):
        K = Interval(m[i])
        for k in range(n):
            K = K - here[k] * Y[:, i, k]
        for j in range(n):
            entry = Interval(np.full(len(lo), float(i == j)))
            for k in range(n):
                entry = entry - slopes[k][j] * Y[:, i, k]
            K = K + entry * (X[j] - m[j])
        low[:, i], high[:, i] = K.lo, K.hi
    bad = ~(np.isfinite(low) & np.isfinite(high)).all(axis=1)
    low[bad], high[bad] = lo[bad], hi[bad]
    sure: Flags = np.all((low > lo) & (high < hi), axis=1)
    empty: Flags = np.any((high < lo) | (low > hi), axis=1)
    return sure, empty, (np.maximum(low, lo), np.minimum(high, hi))


def _inverses(A: Array) -> Array:
    """Return approximate inverses, zero where there is none: K is then the whole box."""
    scale = np.abs(A).max(axis=(1, 2))
    with np.errstate(all="ignore"):
        size = np.abs(np.linalg.det(np.where(np.isfinite(A), A, 0.0)))
    good = np.isfinite(A).all(axis=(1, 2)) & (scale > 0.0) & (size > 0.0)
    out = np.zeros_like(A)
    out[good] = np.linalg.inv(A[good])
    return np.where(np.isfinite(out), out, 0.0)


def _polished(f: Function, df: Derivative, lo: Array, hi: Array) -> tuple[Array, Array]:
    """Shrink the enclosure of a zero that is alone in it: Newton's method, then a proof around where it ends."""
    x = 0.5 * (lo + hi)
    for _ in range(NEWTON):
        X = columns(x[None], x[None])
        J = np.array([[float(part.mid[0]) for part in row] for row in df(X)])
        value = np.array([float(part.mid[0]) for part in f(X)])
        with np.errstate(all="ignore"):
            step = np.linalg.solve(J, value) if np.isfinite(J).all() and np.linalg.det(J) != 0.0 else np.zeros_like(x)
        after = np.clip(x - step, lo, hi)
        if (after == x).all():
            break
        x = after
    for radius in (1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-8, 1e-6):
        size = radius * np.maximum(1.0, np.abs(x))
        sure, _, (low, high) = _krawczyk(f, df, (x - size)[None], (x + size)[None])
        if sure[0]:
            return np.maximum(lo, low[0]), np.minimum(hi, high[0])
    return lo, hi


def _halves(lo: Array, hi: Array, size: Array) -> tuple[Array, Array]:
    """Cut every box across its longest side, as a share of the whole."""
    if not len(lo):
        return lo, hi
    rows, side = np.arange(len(lo)), ((hi - lo) / size).argmax(axis=1)
    at = lo[rows, side] + SPLIT * (hi - lo)[rows, side]
    first, second = hi.copy(), lo.copy()
    first[rows, side] = second[rows, side] = at
    return np.concatenate([lo, second]), np.concatenate([first, hi])


def _distinct(found: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return enclosures that do not overlap: neighbours may have found the same zero."""
    kept: list[tuple[Array, Array]] = []
    for lo, hi in found:
        if not any((lo <= b).all() and (hi >= a).all() for a, b in kept):
            kept.append((lo, hi))
    kept.sort(key=lambda one: tuple(one[0][::-1]))
    return np.array([a for a, _ in kept]), np.array([b for _, b in kept])
