"""The faces or edges that keep two polyhedra apart, compiled: separating axes about the corners that are nearest.

Of two polyhedra the axis of largest separation is the normal of a face, or across two edges whose arcs of normals cross
on the sphere. From the pair of corners that are nearest in a given direction, faces and edges that meet there are
compared, then those about the corners of the best, until nothing is better.

Source: D. Gregorius, The separating axis test between convex polyhedra, GDC (2013), for the arcs.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .box_box import ALIGNED, ROUNDING, SAME_WAY
from .nearest_direction import LAST, NOWHERE, WEIGHTS, row3
from .solids import climb, climb_below, corner_of, edge_row, links_of, loop_of, normal_of, offset_of, over_face
from .vectors import A2, V3, Vector, along, cross3, dot3, turned_back, turned_by

ROUNDS = 24
AXIS = "Tuple((int64, int64, float64, int64, int64))"
Axis = tuple[int, int, float, int, int]
"""For a face: of which solid (0 or 1), which, separation, nearest corners of both. For edges: their numbers instead of
the first two. Without any: separation -1e300."""


@kernel(f"boolean({A2}, int64, {V3}, {AXIS}, int64)", borrows=True)
def looks_at(solids: Array, other: int, n: Vector, best: Axis, whose: int) -> bool:
    """Return whether the best face is one of the other solid, `whose`, that lies along a face with normal n (its axes).

    Of two such faces either will do; of others the better one, or a gap is less than nothing where there is none.
    """
    return bool(best[0] == whose and dot3(n, normal_of(solids, other, best[1])) < -ALIGNED)


@kernel(f"{AXIS}({A2}, int64, int64, int64, int64, float64, {AXIS}, {A2})", borrows=True)
def better_face(solids: Array, x: int, y: int, a: int, b: int, same: float, best: Axis, room: Array) -> Axis:
    """Return the face about corner a of solid x or b of solid y with the largest separation, if it beats the best.

    Corners a and b are no nearer to faces of the other solid than its nearest ones: most faces are out of the question.
    """
    d = row3(room, 3)
    p, q = corner_of(solids, x, a), along(d, 1.0, turned_by(room, corner_of(solids, y, b)))
    back = turned_back(room, along(p, -1.0, d))
    first, last = links_of(solids, x, a)
    for row in range(first, last):
        f = int(solids[row, 2])
        n = normal_of(solids, x, f)
        enough, m = offset_of(solids, x, f) + best[2] + ROUNDING * same, turned_back(room, n)
        if dot3(n, q) <= enough:
            continue
        enough += same if looks_at(solids, y, m, best, 1) else 0.0
        k = climb_below(solids, y, b, along(NOWHERE, -1.0, m), dot3(n, d) - enough)
        if k >= 0:
            s = dot3(n, along(d, 1.0, turned_by(room, corner_of(solids, y, k)))) - offset_of(solids, x, f)
            best = (0, f, s, a, k)
    first, last = links_of(solids, y, b)
    for row in range(first, last):
        f = int(solids[row, 2])
        n = normal_of(solids, y, f)
        enough, m = offset_of(solids, y, f) + best[2] + ROUNDING * same, turned_by(room, n)
        if dot3(n, back) <= enough:
            continue
        enough += same if looks_at(solids, x, m, best, 0) else 0.0
        k = climb_below(solids, x, a, along(NOWHERE, -1.0, m), -dot3(m, d) - enough)
        if k >= 0:
            s = dot3(n, turned_back(room, along(corner_of(solids, x, k), -1.0, d))) - offset_of(solids, y, f)
            best = (1, f, s, k, b)
    return best


@kernel(f"UniTuple(float64, 2)({A2}, int64, int64, {V3})", borrows=True)
def sides(solids: Array, block: int, e: int, w: Vector) -> tuple[float, float]:
    """Return the components of the normals beside edge e along w."""
    m = edge_row(solids, block, e)
    return dot3(w, normal_of(solids, block, int(solids[m, 2]))), dot3(w, normal_of(solids, block, int(solids[m, 3])))


@kernel(f"{V3}({A2}, int64, int64)", borrows=True)
def along_edge(solids: Array, block: int, e: int) -> Vector:
    """Return the direction of edge e."""
    m = edge_row(solids, block, e)
    a, b = corner_of(solids, block, int(solids[m, 0])), corner_of(solids, block, int(solids[m, 1]))
    return along(NOWHERE, 0.5 / solids[m, 4], along(b, -1.0, a))


@kernel(f"{V3}({A2}, int64, int64, {V3}, {V3})", borrows=True)
def across_edges(solids: Array, x: int, e: int, u: Vector, w: Vector) -> Vector:
    """Return the direction across edge e of x, along u, and one along w, out of x; zero for edges nearly parallel."""
    n = cross3(u, w)
    k2 = dot3(n, n)
    if k2 < SAME_WAY:
        return NOWHERE
    m = edge_row(solids, x, e)
    out = along(normal_of(solids, x, int(solids[m, 2])), 1.0, normal_of(solids, x, int(solids[m, 3])))
    return along(NOWHERE, (1.0 if dot3(n, out) > 0.0 else -1.0) / math.sqrt(k2), n)


@kernel(f"{AXIS}({A2}, int64, int64, int64, int64, float64, {AXIS}, {A2})", borrows=True)
def better_edges(solids: Array, x: int, y: int, a: int, b: int, same: float, best: Axis, room: Array) -> Axis:
    """Return the edges at corner a of solid x and b of solid y of the largest separation, if they beat the best.

    Those that face each other with some direction: the arcs of their normals cross.
    """
    way = along(along(row3(room, 3), 1.0, turned_by(room, corner_of(solids, y, b))), -1.0, corner_of(solids, x, a))
    start, stop = links_of(solids, y, b)
    begin, end = links_of(solids, x, a)
    for row in range(start, stop):
        g = int(solids[row, 0])
        w = turned_by(room, along_edge(solids, y, g))
        for k in range(begin, end):
            e = int(solids[k, 0])
            first, second = sides(solids, x, e, w)
            if first * second >= 0.0:
                continue
            u = along_edge(solids, x, e)
            left, right = sides(solids, y, g, turned_back(room, u))
            if left * right < 0.0 and left * second < 0.0:
                n = across_edges(solids, x, e, u, w)
                s = dot3(n, way)
                if n != NOWHERE and s > best[2] + same:
                    best = (e, g, s, a, b)
    return best


@kernel(f"boolean({A2}, int64, int64, {AXIS}, {A2})", borrows=True)
def beside_face(solids: Array, x: int, y: int, face: Axis, room: Array) -> bool:
    """Return whether the corner nearest to a face is beside it: then some other feature may be in between."""
    d = row3(room, 3)
    if face[0] == 0:
        p = along(d, 1.0, turned_by(room, corner_of(solids, y, face[4])))
        return not over_face(solids, x, face[1], p, 0.0)
    return not over_face(solids, y, face[1], turned_back(room, along(corner_of(solids, x, face[3]), -1.0, d)), 0.0)


@kernel(f"UniTuple({AXIS}, 2)({A2}, int64, int64, {AXIS}, {AXIS}, float64, {A2})", borrows=True)
def about_face(
    solids: Array, x: int, y: int, face: Axis, edges: Axis, same: float, room: Array
) -> tuple[Axis, Axis]:  # fmt: skip
    """Return the better of what was found and what is about the other corners of its face."""
    first, last = loop_of(solids, x if face[0] == 0 else y, face[1])
    whose, a, b = face[0], face[3], face[4]
    for row in range(first, last):
        k = int(solids[row, 0])
        face = better_face(solids, x, y, k if whose == 0 else a, b if whose == 0 else k, same, face, room)
        edges = better_edges(solids, x, y, k if whose == 0 else a, b if whose == 0 else k, same, edges, room)
    return face, edges


@kernel(f"UniTuple({AXIS}, 2)({A2}, int64, int64, {V3}, float64, {A2})", borrows=True)
def separating_features(solids: Array, x: int, y: int, n: Vector, same: float, room: Array) -> tuple[Axis, Axis]:
    """Return the face and the edges of solids x and y with the largest separations, from a direction to begin with.

    And from the corners that `nearest_direction` has left in `room`.
    """
    a, b = int(room[WEIGHTS, LAST]), int(room[WEIGHTS + 1, LAST])
    a, b = climb(solids, x, a, n), climb(solids, y, b, along(NOWHERE, -1.0, turned_back(room, n)))
    face, edges = (-1, -1, -1e300, a, b), (-1, -1, -1e300, a, b)
    for _ in range(ROUNDS):
        before = max(face[2], edges[2])
        face = better_face(solids, x, y, a, b, same, face, room)
        edges = better_edges(solids, x, y, a, b, same, edges, room)
        if face[2] > edges[2] and face[3] == a and face[4] == b and beside_face(solids, x, y, face, room):
            face, edges = about_face(solids, x, y, face, edges, same, room)
        if max(face[2], edges[2]) <= before or edges[2] > face[2] or (face[3] == a and face[4] == b):
            break
        a, b = face[3], face[4]
    return face, edges
