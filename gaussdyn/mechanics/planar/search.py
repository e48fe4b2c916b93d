"""The search for contacts of shapes in the plane, compiled: pairs within reach, and how they touch.

Every contact is named by four numbers, (pair, side, i, j), the last three as in `clipping`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, I2, kernel, record
from ...arrays import Array, IntArray
from .clipping import (
    NX,
    NY,
    TIE,
    TOUCH,
    Touching,
    X,
    Y,
    closest,
    facing_edge,
    height,
    level,
    place_outline,
    touches,
)

SLACK = 1e-6  # of the smaller size: gaps that count as closed, and corners that count as coinciding
ONWARD = 4.0  # times what counts as coinciding: so far corners that meet go on until it is seen where they touch
MOMENT = 1e-3  # s: in which they do, or they are at rest
FIRST, END, BODY, FLAT = range(4)  # columns of `solids`
SKIN, SIZE, MIDDLE, BELT = 0, 1, 2, 4  # columns of `sizes`
PLACE, RATE, SPEED, CENTRE = 0, 3, 6, 7  # columns of `motion`


@record(I2, A2, A2, I2, I2, A2, A2, A2, A2)
class Outlines(NamedTuple):
    """The shapes of a system, and work space.

    Attributes
    ----------
    solids : IntArray, shape (s, 4)
        First corner and the one after the last, where the coordinates of the body begin (-1: ground), whether it is a
        half-plane.
    sizes : Array, shape (s, 5)
        Skin, size (infinite for half-planes), middle in the body's frame, speed of the surface.
    table : Array, shape (c, 6)
        Shapes in the frames of their bodies, see `clipping`.
    pairs : IntArray, shape (p, 2)
        That may touch.
    off : IntArray, shape (x, 4)
        Contacts that are left out.
    now, then : Array, shape (c, 6)
        Shapes in space, at present and where two of them meet.
    motion : Array, shape (s, 9)
        Pose (x, y, angle), its rate, the largest speed of a point, the middle in space.
    touch : Array, shape (4, 4)
        Work space: gap, side, i, j of each touch of a pair.
    """

    solids: IntArray
    sizes: Array
    table: Array
    pairs: IntArray
    off: IntArray
    now: Array
    then: Array
    motion: Array
    touch: Array


@kernel(f"void(Outlines, int64, float64, {A2})", borrows=True)
def put_shape(o: Outlines, s: int, dt: float, placed: Array) -> None:
    """Put where a shape will be after dt."""
    m, first, end = o.motion[s], o.solids[s, FIRST], o.solids[s, END]
    x, y, angle = m[PLACE] + dt * m[RATE], m[PLACE + 1] + dt * m[RATE + 1], m[PLACE + 2] + dt * m[RATE + 2]
    place_outline(o.table[first:end], x, y, angle, placed[first:end])


@kernel(f"void(Outlines, {A1}, {A1})", borrows=True)
def put_shapes(o: Outlines, q: Array, v: Array) -> None:
    """Put where all shapes are, and how they move."""
    for s in range(len(o.solids)):
        m, body = o.motion[s], o.solids[s, BODY]
        for k in range(3):
            m[PLACE + k], m[RATE + k] = (q[body + k], v[body + k]) if body >= 0 else (0.0, 0.0)
        x, y = o.sizes[s, MIDDLE], o.sizes[s, MIDDLE + 1]
        cosine, sine = math.cos(m[PLACE + 2]), math.sin(m[PLACE + 2])
        m[CENTRE] = m[PLACE] + cosine * x - sine * y
        m[CENTRE + 1] = m[PLACE + 1] + sine * x + cosine * y
        arm = math.hypot(x, y) + (o.sizes[s, SIZE] if o.solids[s, FLAT] == 0 else 0.0)
        m[SPEED] = math.hypot(m[RATE], m[RATE + 1]) + abs(m[RATE + 2]) * arm
        put_shape(o, s, 0.0, o.now)


@kernel("float64(Outlines, int64)", borrows=True)
def coinciding(o: Outlines, pair: int) -> float:
    """Return the distance below which corners of two shapes coincide, m."""
    return float(SLACK * min(o.sizes[o.pairs[pair, 0], SIZE], o.sizes[o.pairs[pair, 1], SIZE]))


@kernel("float64(Outlines, int64)", borrows=True)
def skin_of(o: Outlines, pair: int) -> float:
    """Return the thickness of both skins, m."""
    return float(o.sizes[o.pairs[pair, 0], SKIN] + o.sizes[o.pairs[pair, 1], SKIN])


@kernel(f"{TOUCH}(Outlines, int64, {A2})", borrows=True)
def closest_of(o: Outlines, pair: int, placed: Array) -> Touching:
    """Return the nearest pair of features of two shapes."""
    a, b = o.solids[o.pairs[pair, 0]], o.solids[o.pairs[pair, 1]]
    return closest(placed[a[FIRST] : a[END]], placed[b[FIRST] : b[END]], skin_of(o, pair), coinciding(o, pair))


@kernel(f"int64(Outlines, {I2}, int64, int64, int64, int64, int64)", borrows=True)
def enter(o: Outlines, found: IntArray, n: int, pair: int, side: int, i: int, j: int) -> int:
    """Enter a contact of the last pair, in order; return how many there are, which may be more than fit."""
    for k in range(len(o.off)):
        if o.off[k, 0] == pair and o.off[k, 1] == side and o.off[k, 2] == i and o.off[k, 3] == j:
            return n
    k = n
    while 0 < k <= len(found) and found[k - 1, 0] == pair:
        before = (found[k - 1, 1], found[k - 1, 2], found[k - 1, 3])
        if before < (side, i, j):
            break
        for c in range(4 if k < len(found) else 0):
            found[k, c] = found[k - 1, c]
        k -= 1
    if k < len(found):
        found[k, 0], found[k, 1], found[k, 2], found[k, 3] = pair, side, i, j
    return n + 1


@kernel(f"int64(Outlines, {I2}, int64, int64, float64, float64)", borrows=True)
def on_plane(o: Outlines, found: IntArray, n: int, pair: int, dt: float, reach: float) -> int:
    """Enter every corner of a shape within reach of a half-plane."""
    first, second = o.pairs[pair, 0], o.pairs[pair, 1]
    plane, solid = (first, second) if o.solids[first, FLAT] else (second, first)
    m, other = o.motion[plane], o.motion[solid]
    line, corners = o.now[o.solids[plane, FIRST]], o.now[o.solids[solid, FIRST] : o.solids[solid, END]]
    far = math.hypot(line[X] - other[CENTRE], line[Y] - other[CENTRE + 1])
    reach += dt * abs(m[RATE + 2]) * far
    for k in range(len(corners)):
        gap = line[NX] * (corners[k, X] - line[X]) + line[NY] * (corners[k, Y] - line[Y]) - o.sizes[solid, SKIN]
        if gap <= reach:
            n = enter(o, found, n, pair, int(solid != first), k, 0)
    return n


@kernel("boolean(Outlines, int64, float64, float64)", borrows=True)
def put_meeting(o: Outlines, pair: int, dt: float, gap: float) -> bool:
    """Put two shapes where they meet within dt, by linear interpolation of the gap, or come closest.

    Returns False if that is where they are now.
    """
    for side in range(2):
        put_shape(o, o.pairs[pair, side], dt, o.then)
    closing = gap - closest_of(o, pair, o.then)[0]
    for side in range(2 if closing > gap else 0):
        put_shape(o, o.pairs[pair, side], dt * gap / closing, o.then)
    return bool(closing > 0.0)


@kernel(f"int64(Outlines, {A2}, {I2}, int64, int64, float64, {TOUCH})", borrows=True)
def enter_touches(
    o: Outlines, placed: Array, found: IntArray, n: int, pair: int, reach: float, first: Touching
) -> int:  # fmt: skip
    """Enter the touches of two shapes, the closest of which is `first`."""
    a, b, x = o.solids[o.pairs[pair, 0]], o.solids[o.pairs[pair, 1]], o.touch
    if first[0] > reach:
        return n
    inner, outer = placed[a[FIRST] : a[END]], placed[b[FIRST] : b[END]]
    for k in range(touches(inner, outer, skin_of(o, pair), coinciding(o, pair), first, x)):
        if x[k, 0] <= reach:
            n = enter(o, found, n, pair, int(x[k, 1]), int(x[k, 2]), int(x[k, 3]))
    return n


@kernel(f"float64(Outlines, int64, float64, {TOUCH})", borrows=True)
def time_apart(o: Outlines, pair: int, way: float, first: Touching) -> float:
    """Return when the corner of a touch will have moved so far (m) past the other shape, s; 0 where it is at rest."""
    p = o.now[o.solids[o.pairs[pair, first[1]], FIRST] + first[2]]
    a, b = o.motion[o.pairs[pair, 0]], o.motion[o.pairs[pair, 1]]
    u = a[RATE] - b[RATE] - a[RATE + 2] * (p[Y] - a[PLACE + 1]) + b[RATE + 2] * (p[Y] - b[PLACE + 1])
    w = a[RATE + 1] - b[RATE + 1] + a[RATE + 2] * (p[X] - a[PLACE]) - b[RATE + 2] * (p[X] - b[PLACE])
    speed = math.hypot(u, w)
    return float(way / speed) if speed * MOMENT > way else 0.0


@kernel("float64(Outlines, int64, int64, int64, int64)", borrows=True)
def height_of(o: Outlines, pair: int, side: int, i: int, j: int) -> float:
    """Return how far the corner of a touch is beyond its edge now, m."""
    inner, outer = o.solids[o.pairs[pair, side], FIRST], o.solids[o.pairs[pair, 1 - side], FIRST]
    return float(height(o.now[outer:], j, o.now[inner:], i))


@kernel(f"boolean(Outlines, int64, {TOUCH})", borrows=True)
def in_line(o: Outlines, pair: int, first: Touching) -> bool:
    """Return whether the edge of a touch and the one that faces it are parallel."""
    inner, outer = o.solids[o.pairs[pair, first[1]]], o.solids[o.pairs[pair, 1 - first[1]]]
    one, other = o.now[inner[FIRST] : inner[END]], o.now[outer[FIRST] : outer[END]]
    facing = facing_edge(one, other[first[3], NX], other[first[3], NY], coinciding(o, pair))
    return bool(level(one, facing, other, first[3]))


@kernel(f"int64(Outlines, {I2}, int64, int64, {TOUCH})", borrows=True)
def enter_meeting(o: Outlines, found: IntArray, n: int, pair: int, first: Touching) -> int:
    """Enter what two sharp corners that only meet touch with, if they are in each other's way.

    It is the motion that tells whether they are, and on which side of each other they pass. At rest they touch with
    `first`, the closest features, unless their edges are in line.
    """
    tol, free = coinciding(o, pair), in_line(o, pair, first)
    ahead = time_apart(o, pair, ONWARD * tol, first)
    if ahead == 0.0:
        return n if free else int(enter(o, found, n, pair, first[1], first[2], first[3]))
    for side in range(2):
        put_shape(o, o.pairs[pair, side], ahead, o.then)
    later, x = closest_of(o, pair, o.then), o.touch
    if later[0] > (-TIE if free else TIE) * tol:
        return n
    a, b = o.solids[o.pairs[pair, 0]], o.solids[o.pairs[pair, 1]]
    for k in range(touches(o.then[a[FIRST] : a[END]], o.then[b[FIRST] : b[END]], 0.0, tol, later, x)):
        side, i, j = int(x[k, 1]), int(x[k, 2]), int(x[k, 3])
        if height_of(o, pair, side, i, j) >= min(first[0], 0.0) - TIE * tol:
            n = enter(o, found, n, pair, side, i, j)
    return n


@kernel(f"int64(Outlines, {I2}, int64, int64, float64, float64)", borrows=True)
def between(o: Outlines, found: IntArray, n: int, pair: int, dt: float, reach: float) -> int:
    """Enter the contacts of two shapes within reach, in the pose in which they meet (or nearly do)."""
    first, tol = closest_of(o, pair, o.now), coinciding(o, pair)
    if first[0] > max(tol, reach):
        return n
    if dt > 0.0 and first[0] > tol and put_meeting(o, pair, dt, first[0]):
        return int(enter_touches(o, o.then, found, n, pair, reach, closest_of(o, pair, o.then)))
    last = int(enter_touches(o, o.now, found, n, pair, reach, first))
    if last == n and first[1] >= 0 and first[0] <= tol and skin_of(o, pair) == 0.0:
        return int(enter_meeting(o, found, n, pair, first))
    return last


@kernel(f"int64(Outlines, {A1}, {A1}, float64, float64, {I2})", borrows=True, entry=True)
def find_touches(o: Outlines, q: Array, v: Array, dt: float, pull: float, found: IntArray) -> int:
    """Put the contacts that may act within dt (s) as rows of `found` (room, 4), in order.

    `pull` is how fast speeds may change, m/s^2. Returns how many there are, which may be more than fit.
    """
    put_shapes(o, q, v)
    n = 0
    for pair in range(len(o.pairs)):
        a, b = o.pairs[pair, 0], o.pairs[pair, 1]
        A, B, size_a, size_b = o.motion[a], o.motion[b], o.sizes[a, SIZE], o.sizes[b, SIZE]
        reach = dt * (A[SPEED] + B[SPEED]) + dt * dt * pull + SLACK * min(size_a, size_b)
        far = math.hypot(A[CENTRE] - B[CENTRE], A[CENTRE + 1] - B[CENTRE + 1])
        if far <= size_a + size_b + reach:
            flat = o.solids[a, FLAT] + o.solids[b, FLAT] > 0
            n = on_plane(o, found, n, pair, dt, reach) if flat else between(o, found, n, pair, dt, reach)
    return n


def outlines_of(
    shapes: list[tuple[Array, int, bool, list[float]]], pairs: IntArray, off: IntArray | None = None
) -> Outlines:
    """Return the record of shapes: of each its table, where its body begins, whether it is flat, its sizes."""
    counts = [len(table) for table, *_ in shapes]
    starts = np.cumsum([0, *counts])
    solids = [[starts[k], starts[k + 1], body, int(flat)] for k, (_, body, flat, _) in enumerate(shapes)]
    table = np.concatenate([table for table, *_ in shapes])
    sizes = np.array([size for *_, size in shapes])
    off = np.zeros((0, 4), dtype=np.int64) if off is None else off
    pairs = np.ascontiguousarray(pairs, dtype=np.int64)
    return with_room(Outlines(np.array(solids, dtype=np.int64), sizes, table, pairs, off, *[table] * 4))


def with_room(outlines: Outlines) -> Outlines:
    """Return a record with work space of its own."""
    space = np.zeros_like(outlines.table), np.zeros_like(outlines.table)
    return outlines._replace(
        now=space[0], then=space[1], motion=np.zeros((len(outlines.solids), 9)), touch=np.zeros((4, 4))
    )  # fmt: skip
