"""Which corners and edges of two convex shapes touch: separating axes, clipping, and distances of round shapes.

Every answer is a list of `Touch`: a corner of one against an edge of the other, or a corner against a corner. Faces
that lie on each other touch with the two ends of what they share. Where two corners fall on each other within `tol`
the corner of the first shape counts, so that rounding decides nothing.

Source: Ericson (2005), Real-time collision detection, 4.4 and 5.1, for separating axes and closest points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from .shapes import Outline
from .vectors import Pair

TIE = 1e-3  # of tol: separations that differ by less are equal


@dataclass(frozen=True, slots=True, eq=False)
class Posed:
    """A shape in space: its core's corners, outward edge normals and lengths, and the skin around it.

    Attributes
    ----------
    corners : Array, shape (n, 2)
        m, counter-clockwise.
    normals, offsets, lengths : Array, shapes (m, 2), (m,), (m,)
        Edge k runs from corner k to the next; n.x = offset on it.
    skin : float
        m.
    """

    corners: Array
    normals: Array
    offsets: Array
    lengths: Array
    skin: float

    @classmethod
    def of(cls, shape: Outline) -> Posed:
        """Return a shape in its own frame."""
        corners = np.array(shape.corners)
        along = np.roll(corners, -1, axis=0) - corners if len(corners) > 1 else np.zeros((0, 2))
        lengths = np.hypot(along[:, 0], along[:, 1])
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / lengths[:, None]
        offsets = np.einsum("ki,ki->k", normals, corners[: len(normals)])
        return cls(corners, normals, offsets, lengths, shape.skin)

    def moved(self, at: Pair, angle: float) -> Posed:
        """Return the shape turned by an angle, then shifted."""
        c, s = math.cos(angle), math.sin(angle)
        turn, shift = np.array([[c, s], [-s, c]]), np.array(at)
        normals = self.normals @ turn
        return Posed(self.corners @ turn + shift, normals, self.offsets + normals @ shift, self.lengths, self.skin)

    def heights(self, points: Array) -> Array:
        """Return how far points are beyond the edges, shape (points, m), m."""
        return np.asarray(points @ self.normals.T - self.offsets)

    def places(self, points: Array) -> Array:
        """Return where points are along the edges, from the first corner of each, shape (points, m), m."""
        along = np.stack([-self.normals[:, 1], self.normals[:, 0]])
        starts = np.einsum("ik,ki->k", along, self.corners[: len(self.normals)])
        return np.asarray(points @ along - starts)


class Touch(NamedTuple):
    """A pair of features: corner `i` of the shape `side` (0 or 1) against edge `j` of the other; gap in m.

    With ``side = -1`` corner i of the first shape against corner j of the second.
    """

    gap: float
    side: int
    i: int
    j: int


def closest(a: Posed, b: Posed, tol: float) -> Touch:
    """Return the nearest pair of features; of overlapping shapes the edge with the least depth.

    For sharp shapes the gap is the largest separation along a normal, a lower bound of the distance.
    """
    heights = [a.heights(b.corners), b.heights(a.corners)]
    separations = np.concatenate([h.min(axis=0) for h in heights])
    best = float(separations.max(initial=-np.inf))
    skin = a.skin + b.skin
    if len(separations) == 0 or (skin > 0.0 and best > 0.0):
        return _nearest(a, b, heights, tol)
    k = int(np.argmax(separations >= best - TIE * tol))
    side, edge = (1, k) if k < len(a.normals) else (0, k - len(a.normals))
    corner = int(np.argmin(heights[1 - side][:, edge]))
    return Touch(float(separations[k]) - skin, side, corner, edge)


def _nearest(a: Posed, b: Posed, heights: list[Array], tol: float) -> Touch:
    """Return the closest points of two cores that do not overlap."""
    skin, found = a.skin + b.skin, []
    for side, (mine, other) in enumerate(((b, a), (a, b))):
        high = heights[side]
        if high.size:
            place = other.places(mine.corners)
            inside = (place >= -tol) & (place <= other.lengths + tol) & (high > 0.0)
            high = np.where(inside, high, np.inf)
            i, j = divmod(int(np.argmin(high)), high.shape[1])
            found.append(Touch(float(high[i, j]) - skin, 1 - side, i, j))
    d = a.corners[:, None] - b.corners[None]
    apart = np.hypot(d[..., 0], d[..., 1])
    i, j = divmod(int(np.argmax(apart <= apart.min() + TIE * tol)), len(b.corners))
    found.append(Touch(float(apart[i, j]) - skin, -1, i, j))
    return min(found, key=lambda touch: touch.gap)


def touches(a: Posed, b: Posed, reach: float, tol: float, first: Touch | None = None) -> list[Touch]:
    """Return the pairs of features with a gap of at most `reach`, two at most; `first` is the closest, if known."""
    first = closest(a, b, tol) if first is None else first
    if first.gap > reach:
        return []
    if first.side < 0:
        return [first]
    inner, outer = (a, b) if first.side == 0 else (b, a)
    if len(inner.corners) == 1:
        return [first]
    found = _shared(inner, outer, first, tol)
    if not found and a.skin + b.skin > 0.0:
        found = [first]
    return [touch for touch in found if touch.gap <= reach]


def _shared(inner: Posed, outer: Posed, first: Touch, tol: float) -> list[Touch]:
    """Return the ends of what an edge of `outer` shares with the edge of `inner` that faces it."""
    edge, skin, count = first.j, inner.skin + outer.skin, len(inner.corners)
    facing = _facing(inner, outer.normals[edge], tol)
    ends, rims = (facing, (facing + 1) % count), (edge, (edge + 1) % len(outer.corners))
    place = outer.places(inner.corners[list(ends)])[:, edge]
    length, low, high = float(outer.lengths[edge]), float(place.min()), float(place.max())
    if skin == 0.0 and min(high, length) - max(low, 0.0) <= 2.0 * tol < min(high - low, length):
        return []  # sharp corners that only meet: they are free to pass each other on either side
    wide = tol if first.side == 0 else -tol  # the corners of the first shape count where two coincide
    heights = outer.heights(inner.corners[list(ends)])[:, edge] - skin
    found = [
        Touch(float(heights[k]), first.side, ends[k], edge) for k in (0, 1) if -wide <= place[k] <= length + wide
    ]  # fmt: skip
    depths = inner.heights(outer.corners[list(rims)])[:, facing] - skin
    floor = min(first.gap, 0.0) - tol  # deeper than the shapes are: an edge that is not meant
    for k, s in enumerate((0.0, length)):
        if low + wide < s < high - wide and depths[k] >= floor:
            found.append(Touch(float(depths[k]), 1 - first.side, rims[k], facing))
    return found


def _facing(inner: Posed, normal: Array, tol: float) -> int:
    """Return the edge at the lowest corner along `normal` that faces it most."""
    low = inner.corners @ normal
    lowest = low <= low.min() + tol
    against = np.where(lowest | lowest[np.arange(1, len(lowest) + 1) % len(lowest)], inner.normals @ normal, np.inf)
    return int(np.argmax(against <= against.min() + 1e-9))
