"""The direction in which two convex solids are nearest, compiled: from farthest points alone (GJK).

Solids that touch, or overlap by a little, are shrunk about their centres until they are apart: that changes neither the
normals of faces nor the directions of edges, so that what is nearest then is what touches, and how deep they overlap
follows from it. What is found here only says where to look; gaps come from the features themselves. Most pairs whose
bounds meet are farther apart than contacts are looked for: the first farthest points tell, along the centres.

Sources: E. Gilbert, D. Johnson, S. Keerthi (1988) for the method; P. Wolfe, Finding the nearest point in a polytope
(1976) for the nearest point of a simplex.

`room` as in `box_box`; rows 5-8 hold the corners of the simplex, rows 9-12 their weights and those of the nearest point
of the plane, line or point through them. The third numbers of rows 9 and 10 are the corners of both solids that were
farthest last, where they are not too far apart.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .primitives import SAME
from .solids import farthest
from .vectors import A2, V3, Vector, along, cross3, dot3, turned_back, turned_by

POINTS, WEIGHTS = 5, 9  # rows of `room`
LAST = 2  # column of `room`
CLOSE = 1e-6  # of the squared distance: how near to the smallest one it has to be
KEPT = 1e-12  # smaller weights are none
ROUNDS = 64
OVERLAP, APART, FAR = 0, 1, 2
NOWHERE = (0.0, 0.0, 0.0)


@kernel(f"{V3}({A2}, int64)", borrows=True)
def row3(room: Array, k: int) -> Vector:
    """Return row k of `room`."""
    return (room[k, 0], room[k, 1], room[k, 2])


@kernel(f"boolean({A2}, int64)", borrows=True)
def affine_weights(room: Array, k: int) -> bool:
    """Fill in the weights of the point nearest to the origin on the line or plane through k points; False if flat."""
    p = row3(room, POINTS)
    e, f = along(row3(room, POINTS + 1), -1.0, p), along(row3(room, POINTS + (2 if k > 2 else 1)), -1.0, p)
    ee, pe = dot3(e, e), -dot3(p, e)
    if k == 1:
        room[WEIGHTS, 1] = 1.0
        return True
    if k == 2:
        if ee == 0.0:
            return False
        s = pe / ee
        room[WEIGHTS, 1], room[WEIGHTS + 1, 1] = 1.0 - s, s
        return True
    ff, ef, pf = dot3(f, f), dot3(e, f), -dot3(p, f)
    if k == 3:
        det = ee * ff - ef * ef
        if det <= 1e-14 * ee * ff:
            return False
        s, t = (pe * ff - pf * ef) / det, (pf * ee - pe * ef) / det
        room[WEIGHTS, 1], room[WEIGHTS + 1, 1], room[WEIGHTS + 2, 1] = 1.0 - s - t, s, t
        return True
    g = along(row3(room, POINTS + 3), -1.0, p)
    m = cross3(e, f)
    det = dot3(m, g)
    if det * det <= 1e-20 * ee * ff * dot3(g, g):
        return False
    s, t, u = -dot3(cross3(f, g), p) / det, -dot3(cross3(g, e), p) / det, -dot3(m, p) / det
    room[WEIGHTS, 1], room[WEIGHTS + 1, 1] = 1.0 - s - t - u, s
    room[WEIGHTS + 2, 1], room[WEIGHTS + 3, 1] = t, u
    return True


@kernel(f"int64({A2}, int64, int64)", borrows=True)
def without(room: Array, k: int, m: int) -> int:
    """Take point m of k out of the simplex; return k - 1."""
    for a in range(m, k - 1):
        for c in range(3):
            room[POINTS + a, c], room[WEIGHTS + a, c] = room[POINTS + a + 1, c], room[WEIGHTS + a + 1, c]
    return k - 1


@kernel(f"int64({A2}, int64)", borrows=True)
def nearest_of_simplex(room: Array, k: int) -> int:
    """Set the weights of the point of a simplex nearest to the origin; return how many corners it needs."""
    for _ in range(8):
        if not affine_weights(room, k):
            least = 0
            for m in range(k):
                least = m if room[WEIGHTS + m, 0] < room[WEIGHTS + least, 0] else least
            k = without(room, k, least)
            continue
        step, drop = 1.0, -1
        for m in range(k):
            now, then = room[WEIGHTS + m, 0], room[WEIGHTS + m, 1]
            if then <= KEPT:
                part = now / (now - then) if now > then else 0.0
                if part <= step:
                    step, drop = part, m
        for m in range(k):
            room[WEIGHTS + m, 0] += step * (room[WEIGHTS + m, 1] - room[WEIGHTS + m, 0])
        if drop < 0:
            return k
        k = without(room, k, drop)
    return k


@kernel(f"{V3}({A2}, int64)", borrows=True)
def weighted(room: Array, k: int) -> Vector:
    """Return the sum of the points of a simplex times their weights."""
    v = NOWHERE
    for m in range(k):
        v = along(v, room[WEIGHTS + m, 0], row3(room, POINTS + m))
    return v


@kernel(f"Tuple((int64, {V3}))({A2}, {A2}, int64, int64, float64, float64, {A2})", borrows=True)
def shrunk_direction(
    world: Array, solids: Array, i: int, j: int, scale: float, limit: float, room: Array
) -> tuple[int, Vector]:  # fmt: skip
    """Return whether solids i and j, made smaller by `scale`, OVERLAP or are APART, and the way from i to j.

    FAR where they are, in their own size, farther apart than `limit`. The way is in the axes of i.
    """
    d, a, b, k = row3(room, 3), -1, -1, 0
    v = d if dot3(d, d) > 0.0 else (0.0, 0.0, 1.0)
    size = max(abs(d[0]), abs(d[1]), abs(d[2]))
    for _ in range(ROUNDS):
        a, x = farthest(world, solids, i, a, v)
        b, y = farthest(world, solids, j, b, turned_back(room, (-v[0], -v[1], -v[2])))
        p = along(turned_by(room, y), -1.0, x)
        w, vv, s = along(d, scale, p), dot3(v, v), dot3(v, along(d, 1.0, p))
        least = limit + SAME * size
        if s > 0.0 and s * s > least * least * vv:
            return FAR, v
        if k > 0 and vv - dot3(v, w) <= CLOSE * vv:
            room[WEIGHTS, LAST], room[WEIGHTS + 1, LAST] = a, b
            return APART, v
        for c in range(3):
            room[POINTS + k, c] = w[c]
        room[WEIGHTS + k, 0] = 1.0 if k == 0 else 0.0
        k = nearest_of_simplex(room, k + 1)
        v = weighted(room, k)
        size = max(size, abs(w[0]), abs(w[1]), abs(w[2]))
        if k == 4 or dot3(v, v) <= 1e-24 * size * size:
            return OVERLAP, v
    room[WEIGHTS, LAST], room[WEIGHTS + 1, LAST] = a, b
    return APART, v


@kernel(f"Tuple((boolean, {V3}))({A2}, {A2}, int64, int64, float64, {A2})", borrows=True)
def way_between(world: Array, solids: Array, i: int, j: int, limit: float, room: Array) -> tuple[bool, Vector]:
    """Return the direction, of length one, in which solids i and j are nearest, from i to j in the axes of i.

    And before it whether they are not farther apart than `limit`; if they are, the direction is only one that tells so.
    """
    for shrinking in range(4):
        scale = 0.999 if shrinking == 0 else (0.95 if shrinking == 1 else (0.7 if shrinking == 2 else 0.2))
        how, v = shrunk_direction(world, solids, i, j, scale, limit, room)
        if how != OVERLAP:
            return how == APART, along(NOWHERE, 1.0 / math.sqrt(dot3(v, v)), v)
    room[WEIGHTS, LAST] = room[WEIGHTS + 1, LAST] = 0.0
    d = row3(room, 3)
    length = math.sqrt(dot3(d, d))
    return True, along(NOWHERE, 1.0 / length, d) if length > 0.0 else (0.0, 0.0, 1.0)
