"""Contacts of convex polyhedra with one another, compiled, by the rules of `box_box`.

The face or the edges of largest separation decide. In contact by a face, the corners of its overlap with the face that
looks at it are the contacts: corners of one on the face of the other, and crossings of their edges, line against line
unless nearly parallel. Further corners that come near the face are contacts too: a solid may rock onto its next face
within a step. Where edges decide whose axis is like the normal of a face, both the face and these edges are looked at:
on the ridge between two faces that are nearly in one plane another solid touches neither.

`room` as in `box_box`; after its first rows come the corners of a face of Y in the axes of X, then points noted.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .box_box import ALIGNED, LIKE_FACE, ROUNDING, relative, slim, swap_roles
from .feature_kinematics import BALL_PLANE
from .nearest_direction import NOWHERE, row3, way_between
from .primitives import (
    BORDER,
    KIND,
    LEVEL,
    NONE,
    SAME,
    ball,
    centre_of,
    line,
    plane,
    put,
    put_edges,
    put_over_rim,
    without_rim,
)
from .separating_features import AXIS, Axis, across_edges, along_edge, separating_features
from .solids import (
    BLOCK,
    corner_of,
    count_of,
    edge_label,
    edge_of,
    edge_row,
    extent_of,
    face_label,
    farthest_corner,
    links_of,
    loop_of,
    normal_of,
    offset_of,
    over_face,
    radius_of,
    rim_label,
    within,
)
from .vectors import A2, V3, Vector, along, cross3, dot3, turned_back, turned_by

CROSSED = 0.01  # squared sine: edges that cross at less than 0.1 rad count as parallel
LOOP = 5  # row of `room` with the first corner of the face of Y
PAIR = "Tuple((int64, int64, int64, int64, float64, float64, float64))"
Pair = tuple[int, int, int, int, float, float, float]  # X, Y, face of X, face of Y, limit, border, same
TOWARDS = -0.1  # cosine: faces that look at a face have normals against it by at least this


@kernel(f"{V3}({A2}, {V3})", borrows=True)
def placed(room: Array, p: Vector) -> Vector:
    """Return a point of Y in the axes of X."""
    return along(row3(room, 3), 1.0, turned_by(room, p))


@kernel(f"{V3}({A2}, {V3})", borrows=True)
def placed_back(room: Array, p: Vector) -> Vector:
    """Return a point of X in the axes of Y."""
    return turned_back(room, along(p, -1.0, row3(room, 3)))


@kernel(f"int64({A2}, int64, {V3}, {A2})", borrows=True)
def facing(solids: Array, y: int, n: Vector, room: Array) -> int:
    """Return the face of Y that looks most against n, a direction in the axes of X."""
    m = turned_back(room, n)
    k = farthest_corner(solids, y, along(NOWHERE, -1.0, m))
    best, least = -1, 1e300
    first, last = links_of(solids, y, k)
    for row in range(first, last):
        f = int(solids[row, 2])
        value = dot3(m, normal_of(solids, y, f))
        if value < least - SAME or (value < least + SAME and f < best):
            best, least = f, value
    return best


@kernel(f"int64({A2}, int64, int64, {V3}, float64)", borrows=True)
def noted(room: Array, first: int, last: int, p: Vector, same: float) -> int:
    """Note a point as row `last` of `room` and return last + 1, or return last if it is there already."""
    for m in range(first, last):
        d = along(row3(room, m), -1.0, p)
        if max(abs(d[0]), abs(d[1]), abs(d[2])) <= same:
            return last
    room[last, 0], room[last, 1], room[last, 2] = p
    return last + 1


@kernel(f"{V3}({A2}, int64, int64, {V3})", borrows=True)
def onto_face(solids: Array, x: int, f: int, p: Vector) -> Vector:
    """Return the point of the plane of face f below p."""
    n = normal_of(solids, x, f)
    return along(p, offset_of(solids, x, f) - dot3(n, p), n)


@kernel(f"int64({A2}, {A2}, {PAIR}, {A2}, {A2})", borrows=True)
def corners_on(world: Array, solids: Array, pair: Pair, room: Array, found: Array) -> int:
    """Add corners of Y's face over that of X, lay its loop into `room`; return the row after the points noted."""
    i, j, f, g, limit, border, _ = pair
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    n, top = normal_of(solids, x, f), offset_of(solids, x, f)
    begin, end = loop_of(solids, y, g)
    first = LOOP + end - begin
    last = first
    for row in range(begin, end):
        k = int(solids[row, 0])
        q = corner_of(solids, y, k)
        p = placed(room, q)
        room[LOOP + row - begin, 0], room[LOOP + row - begin, 1], room[LOOP + row - begin, 2] = p
        if over_face(solids, x, f, p, border):
            last = noted(room, first, last, onto_face(solids, x, f, p), -1.0)
            if dot3(n, p) - top <= limit:
                label = (j, k, i, face_label(solids, x, f))
                put(found, BALL_PLANE, label, ball(q, 0.0), plane(along(NONE, top, n), n))
    return last


@kernel(f"boolean({A2}, int64, int64, int64, {V3})", borrows=True)
def comes_near(solids: Array, y: int, k: int, g: int, m: Vector) -> bool:
    """Return whether corner k of Y is not one of its face g, but of another one that looks against m (axes of Y)."""
    first, last = links_of(solids, y, k)
    looks = False
    for row in range(first, last):
        f = int(solids[row, 2])
        if f == g:
            return False
        looks = looks or dot3(m, normal_of(solids, y, f)) < TOWARDS
    return looks


@kernel(f"void({A2}, {A2}, {PAIR}, {A2}, {A2})", borrows=True)
def other_corners(world: Array, solids: Array, pair: Pair, room: Array, found: Array) -> None:
    """Add the corners of Y near the face of X that are not of the face that looks at it."""
    i, j, f, g, limit, border, _ = pair
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    n, top = normal_of(solids, x, f), offset_of(solids, x, f)
    m, high = turned_back(room, n), limit + top - dot3(n, row3(room, 3))
    for k in range(count_of(solids, y, 0)):
        q = corner_of(solids, y, k)
        if dot3(m, q) <= high and comes_near(solids, y, k, g, m) and over_face(solids, x, f, placed(room, q), border):
            put(found, BALL_PLANE, (j, k, i, face_label(solids, x, f)), ball(q, 0.0), plane(along(NONE, top, n), n))


@kernel(f"float64({A2}, int64, int64, int64, {A2})", borrows=True)
def separation(solids: Array, x: int, y: int, f: int, room: Array) -> float:
    """Return how far solid y is from the plane of face f of x, m."""
    n = normal_of(solids, x, f)
    low = corner_of(solids, y, farthest_corner(solids, y, along(NOWHERE, -1.0, turned_back(room, n))))
    return float(dot3(n, placed(room, low)) - offset_of(solids, x, f))


@kernel(f"boolean({A2}, {A2}, {PAIR}, {A2})", borrows=True, rare=True)
def lies_level(world: Array, solids: Array, pair: Pair, room: Array) -> bool:
    """Return whether X and Y do not meet now, or have level faces beside the border of f, see `box_box`."""
    x, y, f, same = int(world[pair[0], BLOCK]), int(world[pair[1], BLOCK]), pair[2], pair[6]
    level = separation(solids, x, y, f, room) > same
    begin, end = loop_of(solids, x, f)
    for row in range(begin, end):
        first, last = links_of(solids, x, int(solids[row, 0]))
        for k in range(first, last):
            beside = int(solids[k, 2])
            n = normal_of(solids, x, beside)
            m = turned_by(room, normal_of(solids, y, facing(solids, y, n, room)))
            level = level or (dot3(n, m) < -ALIGNED and separation(solids, x, y, beside, room) >= -same)
    return level


@kernel(f"float64({A2}, {A2}, {PAIR}, {A2})", borrows=True)
def deepest(world: Array, solids: Array, pair: Pair, room: Array) -> float:
    """Return how far behind the face of Y a corner of X may be: twice as deep as Y is behind the face of X, at most.

    What is farther behind has gone past Y, not into it.
    """
    x, y, border = int(world[pair[0], BLOCK]), int(world[pair[1], BLOCK]), pair[5]
    return min(0.0, 2.0 * separation(solids, x, y, pair[2], room)) - border


@kernel(f"int64({A2}, {A2}, {PAIR}, {A2}, {A2}, int64)", borrows=True)
def corners_under(world: Array, solids: Array, pair: Pair, room: Array, found: Array, last: int) -> int:
    """Add corners of X's face under that of Y, unless a corner of Y is there; return the row after the points noted."""
    i, j, f, g, limit, border, same = pair
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    n, top = normal_of(solids, y, g), offset_of(solids, y, g)
    begin, end = loop_of(solids, y, g)
    first, least = LOOP + end - begin, deepest(world, solids, pair, room)
    begin, end = loop_of(solids, x, f)
    for row in range(begin, end):
        k = int(solids[row, 0])
        p = corner_of(solids, x, k)
        q = placed_back(room, p)
        if dot3(n, q) - top < least or not over_face(solids, y, g, q, border):
            continue
        before = last
        last = noted(room, first, last, p, same)
        if last > before and dot3(n, q) - top <= limit:
            put(found, BALL_PLANE, (i, k, j, face_label(solids, y, g)), ball(p, 0.0), plane(along(NONE, top, n), n))
    return last


@kernel(f"void({A2}, {A2}, {PAIR}, int64, int64, {V3}, {A2}, {A2})", borrows=True)
def put_crossing(
    world: Array, solids: Array, pair: Pair, y_row: int, x_row: int, p: Vector, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contact at p (axes of X), where an edge of Y passes over the border of X, by their rows of the loops.

    They bound each other as lines, whose nearest points move along them. Where they are nearly parallel these would run
    away: the point of Y over the border bounds it against the face.
    """
    i, j, f = pair[0], pair[1], pair[2]
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    e, g, n = int(solids[x_row, 1]), int(solids[y_row, 1]), normal_of(solids, x, f)
    middle, u, half = edge_of(solids, x, e)
    centre, own, reach = edge_of(solids, y, g)
    w = turned_by(room, own)
    out = (-solids[x_row, 2], -solids[x_row, 3], -solids[x_row, 4])
    slope, edge = dot3(u, w), edge_label(solids, y, g)
    k2 = 1.0 - slope * slope
    if k2 > CROSSED and abs(dot3(out, w)) > LIKE_FACE * math.sqrt(k2):
        db = along(NONE, 1.0 if dot3(cross3(w, u), n) > 0.0 else -1.0, u)
        put_edges(found, (j, edge, i, edge_label(solids, x, e)), line(centre, own, 0.0), line(middle, db, 0.0))
        return
    t = dot3(along(p, -1.0, placed(room, centre)), w)
    label = (j, edge, i, rim_label(solids, x, e))
    put_over_rim(found, label, line(centre, own, 0.0), plane(middle, n), out, (reach, half, t))


@kernel(f"int64({A2}, {A2}, {PAIR}, {A2}, {A2}, int64)", borrows=True)
def crossings(world: Array, solids: Array, pair: Pair, room: Array, found: Array, last: int) -> int:
    """Add the contacts where edges of Y's face pass over X's border; return the row after the points noted."""
    i, j, f, g, limit, border, same = pair
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    n, top = normal_of(solids, x, f), offset_of(solids, x, f)
    begin, end = loop_of(solids, y, g)
    start, stop = loop_of(solids, x, f)
    size, first = end - begin, LOOP + end - begin
    for m in range(size):
        P, Q = row3(room, LOOP + m), row3(room, LOOP + (m + 1) % size)
        for row in range(start, stop):
            a, b = -within(solids, row, P), -within(solids, row, Q)
            if (a > border) == (b > border):
                continue
            p = along(P, a / (a - b), along(Q, -1.0, P))
            middle, u, half = edge_of(solids, x, int(solids[row, 1]))
            if abs(dot3(along(p, -1.0, middle), u)) > half + border:
                continue
            before = last
            last = noted(room, first, last, onto_face(solids, x, f, p), same)
            if last > before and dot3(n, p) - top <= limit:
                put_crossing(world, solids, pair, begin + m, row, p, room, found)
    return last


@kernel(f"boolean({A2}, {A2}, int64, int64, int64, float64, {A2}, {A2})", borrows=True)
def face_solid(
    world: Array, solids: Array, i: int, j: int, f: int, limit: float, room: Array, found: Array
) -> bool:  # fmt: skip
    """Add the contacts of solid j with face f of solid i; return False if it is level with them, see `box_box`."""
    x, y, before = int(world[i, BLOCK]), int(world[j, BLOCK]), found[0, 0]
    size, n = max(extent_of(solids, x), extent_of(solids, y)), normal_of(solids, x, f)
    g = facing(solids, y, n, room)
    pair = (i, j, f, g, limit, BORDER * size, SAME * size)
    last = corners_on(world, solids, pair, room, found)
    other_corners(world, solids, pair, room, found)
    begin, end = loop_of(solids, y, g)
    if last == LOOP + 2 * (end - begin):
        return True
    steep = dot3(n, turned_by(room, normal_of(solids, y, g))) > -LIKE_FACE  # see `box_box.face_face`
    if not steep:
        last = corners_under(world, solids, pair, room, found, last)
    last = crossings(world, solids, pair, room, found, last)
    if steep:
        last = corners_under(world, solids, pair, room, found, last)
    level = LEVEL * min(extent_of(solids, x), extent_of(solids, y))
    if slim(room, LOOP + end - begin, last, 3, level) and lies_level(world, solids, pair, room):
        found[0, 0] = before
        return False
    return True


@kernel(f"boolean({A2}, {A2}, int64, int64, int64, int64, {A2}, {A2})", borrows=True)
def edge_edge(
    world: Array, solids: Array, i: int, j: int, e: int, g: int, room: Array, found: Array
) -> bool:  # fmt: skip
    """Add the contact of edge e of solid i with edge g of solid j; False if they do not meet between their ends."""
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    p, u, half = edge_of(solids, x, e)
    q, own, reach = edge_of(solids, y, g)
    w, d = turned_by(room, own), along(placed(room, q), -1.0, p)
    slope = dot3(u, w)
    t = (slope * dot3(d, u) - dot3(d, w)) / (1.0 - slope * slope)
    s = dot3(d, u) + t * slope
    slack = BORDER * max(half, reach)
    if abs(s) > half + slack or abs(t) > reach + slack:
        return False
    out = dot3(cross3(u, w), across_edges(solids, x, e, u, w))
    da = along(NONE, -1.0 if out > 0.0 else 1.0, u)
    put_edges(found, (i, edge_label(solids, x, e), j, edge_label(solids, y, g)), line(p, da, 0.0), line(q, own, 0.0))
    return True


@kernel(f"boolean({A2}, {A2}, UniTuple(int64, 4), int64, {A2})", borrows=True)
def has_edges(world: Array, solids: Array, pair: tuple[int, int, int, int], before: int, found: Array) -> bool:
    """Return whether edge e of solid i and edge g of solid j, (i, j, e, g), are a contact after the first `before`."""
    i, j, e, g = pair
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    one, other = (
        (edge_label(solids, x, e), rim_label(solids, x, e)),
        (edge_label(solids, y, g), rim_label(solids, y, g)),
    )
    has = False
    for row in range(before + 1, min(int(found[0, 0]) + 1, len(found))):
        first, second = int(found[row, KIND + 2]), int(found[row, KIND + 4])
        if int(found[row, KIND + 1]) == j:
            first, second = second, first
        has = has or ((first == one[0] or first == one[1]) and (second == other[0] or second == other[1]))
    return has


@kernel(f"boolean({A2}, int64, int64, {AXIS}, {A2})", borrows=True, rare=True)
def run_along(solids: Array, x: int, y: int, edges: Axis, room: Array) -> bool:
    """Return whether two edges are nearly parallel: the ends of what they share hold them, too."""
    slope = dot3(along_edge(solids, x, edges[0]), turned_by(room, along_edge(solids, y, edges[1])))
    return bool(slope * slope > 1.0 - CROSSED)


@kernel(f"Tuple((int64, int64))({A2}, int64, int64, {AXIS}, {A2})", borrows=True)
def face_like(solids: Array, x: int, y: int, edges: Axis, room: Array) -> tuple[int, int]:
    """Return the face whose normal is nearly the axis across two edges: of which solid, and which, or -1."""
    e, g = edges[0], edges[1]
    u, w = along_edge(solids, x, e), turned_by(room, along_edge(solids, y, g))
    n = across_edges(solids, x, e, u, w)
    m, k, own = edge_row(solids, x, e), edge_row(solids, y, g), turned_back(room, n)
    for side in range(2, 4):
        f = int(solids[m, side])
        if dot3(n, normal_of(solids, x, f)) > LIKE_FACE:
            return 0, f
        f = int(solids[k, side])
        if dot3(own, normal_of(solids, y, f)) < -LIKE_FACE:
            return 1, f
    return 0, -1


@kernel(f"void({A2}, {A2}, int64, int64, {AXIS}, float64, {A2}, {A2})", borrows=True)
def nearest_corner(
    world: Array, solids: Array, i: int, j: int, face: Axis, limit: float, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the corner nearest to a face that is hardly beside it: it is over another face that is about as near."""
    upper, k, lower = (j, face[4], i) if face[0] == 0 else (i, face[3], j)
    block, f = int(world[lower, BLOCK]), face[1]
    same = SAME * max(extent_of(solids, int(world[i, BLOCK])), extent_of(solids, int(world[j, BLOCK])))
    border = 10.0 * same - 2.0 * min(0.0, face[2])
    q = corner_of(solids, int(world[upper, BLOCK]), k)
    p = placed(room, q) if face[0] == 0 else placed_back(room, q)
    n, top = normal_of(solids, block, f), offset_of(solids, block, f)
    if dot3(n, p) - top <= limit and over_face(solids, block, f, p, border):
        label = (upper, k, lower, face_label(solids, block, f))
        put(found, BALL_PLANE, label, ball(q, 0.0), plane(along(NONE, top, n), n))


@kernel(f"boolean({A2}, {A2}, int64, int64, float64)", borrows=True)
def balls_apart(world: Array, solids: Array, i: int, j: int, limit: float) -> bool:
    """Return whether the balls about two polyhedra are farther apart than `limit`: most are whose bounds meet."""
    d = along(centre_of(world, j), -1.0, centre_of(world, i))
    reach = radius_of(solids, int(world[i, BLOCK])) + radius_of(solids, int(world[j, BLOCK])) + limit
    return dot3(d, d) > max(reach, 0.0) ** 2


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def solid_solid(world: Array, solids: Array, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of two polyhedra."""
    x, y = int(world[i, BLOCK]), int(world[j, BLOCK])
    if balls_apart(world, solids, i, j, limit):
        return
    relative(world, i, j, room)
    same = SAME * max(extent_of(solids, x), extent_of(solids, y))
    near, n = way_between(world, solids, i, j, limit, room)
    if not near:
        return
    face, edges = separating_features(solids, x, y, n, same, room)
    if max(face[2], edges[2]) > limit:
        return
    whose, f, close, crossed = face[0], face[1], -1, 0
    if edges[2] > face[2] + ROUNDING * same:
        like, close = face_like(solids, x, y, edges, room)
        if close >= 0:
            whose, f = like, close
        elif edge_edge(world, solids, i, j, edges[0], edges[1], room, found):
            if not run_along(solids, x, y, edges, room):
                return
            crossed = int(found[0, 0])
    before = found[0, 0]
    if whose == 0:
        runs_into = face_solid(world, solids, i, j, f, limit, room, found)
    else:
        swap_roles(room)
        runs_into = face_solid(world, solids, j, i, f, limit, room, found)
        swap_roles(room)
    if 0 < crossed < len(found):
        one, other = rim_label(solids, x, edges[0]), rim_label(solids, y, edges[1])
        without_rim(found, crossed, one if i < j else other, other if i < j else one)
    if crossed > 0 or not runs_into:
        return
    if close >= 0 and not has_edges(world, solids, (i, j, edges[0], edges[1]), int(before), found):
        edge_edge(world, solids, i, j, edges[0], edges[1], room, found)  # beside the face, or of one next to it
    if found[0, 0] == before:
        nearest_corner(world, solids, i, j, face, limit, room, found)
