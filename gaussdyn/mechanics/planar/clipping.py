"""Which corners and edges of two convex shapes touch: separating axes, clipping, and distances of round shapes.

A shape in space is a table, a row for each corner k of its core: the corner, and of the edge from there to the next the
outward normal, the offset (n.x on the edge) and the length; the core of a disc is one corner, and has no edge. Around
it is a skin; `skin` is that of both shapes.

A touch is (gap, side, i, j): corner i of the shape `side` (0 or 1) against edge j of the other, or with ``side = -1``
corner i of the first against corner j of the second. Faces that lie on each other touch with the two ends of what they
share. Where two corners of edges in line fall on each other within `tol` the corner of the first shape counts, so that
rounding decides nothing. Sharp corners that only meet have no touch here: see `search.enter_meeting`.

Source: Ericson (2005), Real-time collision detection, 4.4 and 5.1, for separating axes and closest points.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import A2, kernel
from ...arrays import Array

X, Y, NX, NY, OFFSET, LENGTH = range(6)  # columns of a shape
TIE = 1e-3  # of tol: separations that differ by less are equal
SAME = 1e-9  # of the cosine: edges that face a direction equally
TOUCH = "Tuple((float64, int64, int64, int64))"
Touching = tuple[float, int, int, int]


@kernel(f"void({A2}, float64, float64, float64, {A2})", borrows=True)
def place_outline(shape: Array, x: float, y: float, angle: float, placed: Array) -> None:
    """Put a shape turned by an angle, then shifted."""
    c, s = math.cos(angle), math.sin(angle)
    for k in range(len(shape)):
        placed[k, X] = c * shape[k, X] - s * shape[k, Y] + x
        placed[k, Y] = s * shape[k, X] + c * shape[k, Y] + y
        placed[k, NX] = c * shape[k, NX] - s * shape[k, NY]
        placed[k, NY] = s * shape[k, NX] + c * shape[k, NY]
        placed[k, OFFSET] = shape[k, OFFSET] + placed[k, NX] * x + placed[k, NY] * y
        placed[k, LENGTH] = shape[k, LENGTH]


@kernel(f"int64({A2})", borrows=True)
def edges(shape: Array) -> int:
    """Return how many edges a shape has."""
    return len(shape) if len(shape) > 1 else 0


@kernel(f"float64({A2}, int64, {A2}, int64)", borrows=True)
def height(shape: Array, j: int, other: Array, i: int) -> float:
    """Return how far corner i of another shape is beyond edge j, m."""
    return float(shape[j, NX] * other[i, X] + shape[j, NY] * other[i, Y] - shape[j, OFFSET])


@kernel(f"float64({A2}, int64, {A2}, int64)", borrows=True)
def along_edge(shape: Array, j: int, other: Array, i: int) -> float:
    """Return where corner i of another shape is along edge j, from its first corner, m."""
    return float(shape[j, NX] * (other[i, Y] - shape[j, Y]) - shape[j, NY] * (other[i, X] - shape[j, X]))


@kernel(f"Tuple((float64, int64))({A2}, int64, {A2})", borrows=True)
def lowest(shape: Array, j: int, other: Array) -> tuple[float, int]:
    """Return the least height of a corner of another shape beyond edge j, and that corner."""
    least, at = np.inf, 0
    for i in range(len(other)):
        high = height(shape, j, other, i)
        if high < least:
            least, at = high, i
    return least, at


@kernel(f"float64({A2}, {A2})", borrows=True)
def in_line(a: Array, b: Array) -> float:
    """Return how far b is beyond a core of two corners along its line, m; minus infinity of other cores."""
    if len(a) != 2:
        return -np.inf
    most = -np.inf
    for k in range(2):
        least = np.inf
        for i in range(len(b)):
            least = min(least, a[k, NX] * (b[i, Y] - a[k, Y]) - a[k, NY] * (b[i, X] - a[k, X]))
        most = max(most, least - a[k, LENGTH])
    return float(most)


@kernel(f"{TOUCH}({A2}, {A2}, float64)", borrows=True)
def nearest_edge(inner: Array, outer: Array, tol: float) -> Touching:
    """Return the corner nearest to an edge between the ends of which it lies, outside; side 0."""
    gap, at, on = np.inf, 0, 0
    for i in range(len(inner)):
        for j in range(edges(outer)):
            high, place = height(outer, j, inner, i), along_edge(outer, j, inner, i)
            if -tol <= place <= outer[j, LENGTH] + tol and 0.0 < high < gap:
                gap, at, on = high, i, j
    return gap, 0, at, on


@kernel(f"{TOUCH}({A2}, {A2}, float64, float64)", borrows=True)
def nearest_points(a: Array, b: Array, skin: float, tol: float) -> Touching:
    """Return the closest points of two cores that do not overlap."""
    gap, side, i, j = np.inf, -1, 0, 0
    for one in range(1, -1, -1):
        inner, outer = (b, a) if one == 1 else (a, b)
        high, _, at, on = nearest_edge(inner, outer, tol)
        if high < gap:
            gap, side, i, j = high, one, at, on
    least = np.inf
    for k in range(len(a)):
        for m in range(len(b)):
            least = min(least, math.hypot(a[k, X] - b[m, X], a[k, Y] - b[m, Y]))
    for k in range(len(a)):
        for m in range(len(b)):
            apart = math.hypot(a[k, X] - b[m, X], a[k, Y] - b[m, Y])
            if apart <= least + TIE * tol:
                return (apart - skin, -1, k, m) if apart < gap else (gap - skin, side, i, j)
    return gap - skin, side, i, j


@kernel(f"{TOUCH}({A2}, {A2}, float64, float64)", borrows=True)
def closest(a: Array, b: Array, skin: float, tol: float) -> Touching:
    """Return the nearest pair of features; of overlapping shapes the edge with the least depth.

    For sharp shapes the gap is the largest separation along a normal, a lower bound of the distance.
    """
    best = -np.inf
    for j in range(edges(a)):
        best = max(best, lowest(a, j, b)[0])
    for j in range(edges(b)):
        best = max(best, lowest(b, j, a)[0])
    if best == -np.inf or (skin > 0.0 and max(best, in_line(a, b), in_line(b, a)) > 0.0):
        return nearest_points(a, b, skin, tol)
    for side in range(1, -1, -1):
        outer, inner = (a, b) if side == 1 else (b, a)
        for j in range(edges(outer)):
            least, i = lowest(outer, j, inner)
            if least >= best - TIE * tol:
                return least - skin, side, i, j
    return np.inf, -1, 0, 0  # not reached


@kernel(f"int64({A2}, float64, float64, float64)", borrows=True)
def facing_edge(shape: Array, nx: float, ny: float, tol: float) -> int:
    """Return the edge at the lowest corner along a direction that faces it most."""
    n, least, best = len(shape), np.inf, np.inf
    for k in range(n):
        least = min(least, shape[k, X] * nx + shape[k, Y] * ny)
    for again in range(2):
        for k in range(n):
            e = (k + 1) % n
            low = min(shape[k, X] * nx + shape[k, Y] * ny, shape[e, X] * nx + shape[e, Y] * ny)
            against = shape[k, NX] * nx + shape[k, NY] * ny
            if low <= least + tol:
                if again == 1 and against <= best + SAME:
                    return k
                best = min(best, against)
    return 0


@kernel(f"boolean({A2}, int64, {A2}, int64)", borrows=True)
def level(inner: Array, i: int, outer: Array, j: int) -> bool:
    """Return whether two edges that face each other are parallel."""
    return bool(inner[i, NX] * outer[j, NX] + inner[i, NY] * outer[j, NY] <= SAME - 1.0)


@kernel("boolean(float64, float64, float64, float64, float64)", borrows=True)
def apart(begins: float, ends: float, place: float, length: float, tol: float) -> bool:
    """Return whether no corner of those at two places on an edge is within `tol` of a place on it.

    Where corners of edges not in line meet, one lies on the other shape: the other is beside its edge.
    """
    first = 0.0 <= begins <= length and abs(begins - place) <= tol
    return not (first or (0.0 <= ends <= length and abs(ends - place) <= tol))


@kernel("boolean(float64, float64, float64, float64)", borrows=True)
def free_to_pass(low: float, high: float, length: float, tol: float) -> bool:
    """Return whether an edge from `low` to `high` along another (length) shares no more than a corner with it."""
    return min(high, length) - max(low, 0.0) <= 2.0 * tol < min(high - low, length)


@kernel("float64(int64, float64)", borrows=True)
def counts_first(side: int, tol: float) -> float:
    """Return by how much an edge is widened so that corners of the first shape count where two coincide."""
    return tol if side == 0 else -tol


@kernel(f"int64({A2}, {A2}, float64, float64, {TOUCH}, {A2})", borrows=True)
def shared(inner: Array, outer: Array, skin: float, tol: float, first: Touching, found: Array) -> int:
    """Put the ends of what an edge of `outer` shares with the edge of `inner` that faces it; return how many."""
    gap, side, _, edge = first
    facing = facing_edge(inner, outer[edge, NX], outer[edge, NY], tol)
    end, rim = (facing + 1) % len(inner), (edge + 1) % len(outer)
    begins, ends = along_edge(outer, edge, inner, facing), along_edge(outer, edge, inner, end)
    length, low, high = outer[edge, LENGTH], min(begins, ends), max(begins, ends)
    parallel = skin > 0.0 or level(inner, facing, outer, edge)
    if skin == 0.0 and parallel and free_to_pass(low, high, length, tol):
        return 0
    n, wide = 0, counts_first(side, tol) if parallel else 0.0
    for corner, place in ((facing, begins), (end, ends)):
        if -wide <= place <= length + wide:
            found[n, 0], found[n, 1] = height(outer, edge, inner, corner) - skin, side
            found[n, 2], found[n, 3] = corner, edge
            n += 1
    floor = min(gap, 0.0) - tol  # deeper than the shapes are: an edge that is not meant
    for corner, place in ((edge, 0.0), (rim, length)):
        depth = height(inner, facing, outer, corner) - skin
        inside = low + wide < place < high - wide and depth >= floor
        if inside and (wide != 0.0 or apart(begins, ends, place, length, tol)):
            found[n, 0], found[n, 1], found[n, 2], found[n, 3] = depth, 1 - side, corner, facing
            n += 1
    return n


@kernel(f"int64({A2}, {A2}, float64, float64, {TOUCH}, {A2})", borrows=True)
def touches(a: Array, b: Array, skin: float, tol: float, first: Touching, found: Array) -> int:
    """Put the touches of two shapes, the closest of which is `first`, as rows of `found` (4, 4); return how many."""
    _, side, _, _ = first
    inner, outer = (a, b) if side == 0 else (b, a)
    n = shared(inner, outer, skin, tol, first, found) if side >= 0 and len(inner) > 1 else 0
    if n == 0 and (side < 0 or len(inner) == 1 or skin > 0.0):
        found[0, 0], found[0, 1], found[0, 2], found[0, 3] = first
        n = 1
    return n
