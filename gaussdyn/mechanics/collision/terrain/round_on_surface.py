"""Contacts of points, balls and capsules with surfaces of triangles, compiled.

A ball touches a triangle that it is over, a convex edge where the way from there is between the normals of its
triangles, and a corner where it leads out of all. So nothing is touched at edges within a plane or in a hollow: a ball
rolls over them as over one face.
"""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array
from ..feature_kinematics import BALL_BALL, BALL_LINE, BALL_PLANE, LINE_LINE
from ..primitives import (
    BORDER,
    END,
    HALF_LENGTH,
    KIND,
    LEVEL,
    NONE,
    RADIUS,
    axis_seen_from,
    ball,
    line,
    plane,
    put,
    to_shape,
    to_space,
    unit,
)
from ..rim_kinematics import ZERO
from ..round_shapes import PARALLEL
from ..solids import (
    BLOCK,
    corner_of,
    edge_label,
    edge_of,
    extent_of,
    face_label,
    loop_of,
    normal_of,
    offset_of,
    over_face,
)
from ..vectors import A2, V3, Vector, along, cross3, dot3
from .surface_search import (
    TOUCH,
    Touch,
    bounds_of,
    known,
    next_triangle,
    out_of_peak,
    out_of_ridge,
    owns_corner,
    owns_edge,
    triangles_of,
)

DEPTH = 18  # column of `found` for how far something is above a triangle, until the nearest are chosen
POINT = f"Tuple(({V3}, {V3}, float64, int64))"
Point = tuple[Vector, Vector, float, int]
"""A ball: its centre in the axes of its shape and in those of the surface, radius, its feature in labels."""


@kernel(f"void({A2}, {TOUCH}, {POINT}, int64, int64, int64, {A2})", borrows=True)
def ball_over(solids: Array, touch: Touch, point: Point, block: int, f: int, face: int, found: Array) -> None:
    """Add the contact of a ball with triangle f, which counts as `face`, if it is over it."""
    i, j, limit, deep = touch
    at, p, r, feature = point
    n, top = normal_of(solids, block, face), offset_of(solids, block, face)
    height = dot3(n, p) - top
    if height - r <= limit and height >= -deep and over_face(solids, block, f, p, BORDER * extent_of(solids, block)):
        label = (i, feature, j, face_label(solids, block, face))
        put(found, BALL_PLANE, label, ball(at, r), plane(along(ZERO, top, n), n))
        if int(found[0, 0]) < len(found):
            found[int(found[0, 0]), DEPTH] = height


@kernel(f"void({A2}, {TOUCH}, {POINT}, int64, int64, {A2})", borrows=True)
def ball_on_borders(solids: Array, touch: Touch, point: Point, block: int, f: int, found: Array) -> None:
    """Add the contacts of a ball with the convex edges and corners that belong to triangle f."""
    i, j, limit, _ = touch
    at, p, r, feature = point
    first, last = loop_of(solids, block, f)
    for row in range(first, last):
        k, e = int(solids[row, 0]), int(solids[row, 1])
        if owns_edge(solids, block, f, e):
            middle, u, half = edge_of(solids, block, e)
            d = along(p, -1.0, middle)
            t = dot3(d, u)
            d = along(d, -t, u)
            near = abs(t) < half and dot3(d, d) <= (r + limit) * (r + limit)
            if near and out_of_ridge(solids, block, e, u, d):
                put(found, BALL_LINE, (i, feature, j, edge_label(solids, block, e)), ball(at, r), line(middle, u, 0.0))
        d = along(p, -1.0, corner_of(solids, block, k))
        near = dot3(d, d) <= (r + limit) * (r + limit) and owns_corner(solids, block, f, k)
        if near and out_of_peak(solids, block, k, d):
            put(found, BALL_BALL, (i, feature, j, k), ball(at, r), ball(corner_of(solids, block, k), 0.0))


@kernel(f"void({A2}, int64, float64)", borrows=True)
def keep_nearest(found: Array, start: int, border: float) -> None:
    """Leave out what is beneath a triangle of the contacts since `start`, where it is above another one, or less deep.

    What is deepest has come in elsewhere: behind a ridge another slope is farther off, and no way out.
    """
    last = int(found[0, 0])
    if last >= len(found):
        return
    best = -1e300
    for c in range(start + 1, last + 1):
        best = max(best, found[c, DEPTH]) if int(found[c, KIND]) == BALL_PLANE else best
    least, kept = min(0.0, 2.0 * best) - border, start
    for c in range(start + 1, last + 1):
        if int(found[c, KIND]) == BALL_PLANE and found[c, DEPTH] < least:
            continue
        kept += 1
        for a in range(KIND + 5):
            found[kept, a] = found[c, a]
        if int(found[kept, KIND]) == BALL_PLANE:
            found[kept, DEPTH] = 0.0
    found[0, 0] = kept


@kernel(f"void({A2}, {A2}, {TOUCH}, {V3}, float64, int64, {A2})", borrows=True)
def ball_on_surface(
    world: Array, solids: Array, touch: Touch, at: Vector, r: float, feature: int, found: Array
) -> None:  # fmt: skip
    """Add the contacts of a ball about `at` with a surface; a point (r = 0) has contacts with faces only."""
    i, j, limit, deep = touch
    p, block, start = to_shape(world, j, to_space(world, i, at)), int(world[j, BLOCK]), int(found[0, 0])
    point, reach = (at, p, r, feature), r + max(limit, deep)
    box = (along(p, -1.0, (reach, reach, reach)), along(p, 1.0, (reach, reach, reach)))
    count, rows = triangles_of(solids, block)
    place = next_triangle(solids, block, box, 0)
    while place < count:
        f, face = int(solids[rows + place, 0]), int(solids[rows + place, 1])
        if not known(found, start, i, feature, j, face_label(solids, block, face)):
            ball_over(solids, touch, point, block, f, face, found)
        if r > 0.0:
            ball_on_borders(solids, touch, point, block, f, found)
        place = next_triangle(solids, block, box, place + 1)
    keep_nearest(found, start, BORDER * extent_of(solids, block))


@kernel(f"void({A2}, {A2}, {TOUCH}, int64, {A2})", borrows=True)
def axis_on_ridges(world: Array, solids: Array, touch: Touch, f: int, found: Array) -> None:
    """Add the contacts of the axis of a capsule or cylinder, between its ends, with edges and corners of triangle f."""
    i, j, limit, _ = touch
    block, (_, p, e, length, r) = int(world[j, BLOCK]), axis_seen_from(world, j, i)
    reach = (1.0 - LEVEL) * length
    first, last = loop_of(solids, block, f)
    for row in range(first, last):
        k, g = int(solids[row, 0]), int(solids[row, 1])
        q = corner_of(solids, block, k)
        t = dot3(e, along(q, -1.0, p))
        d = along(along(p, t, e), -1.0, q)
        near = r > 0.0 and abs(t) < reach and dot3(d, d) <= (r + limit) * (r + limit)
        if near and owns_corner(solids, block, f, k) and out_of_peak(solids, block, k, d):
            put(found, BALL_LINE, (j, k, i, 0), ball(q, 0.0), line(NONE, unit(2, 1.0), r))
        middle, u, half = edge_of(solids, block, g)
        slope, d = dot3(u, e), along(p, -1.0, middle)
        k2 = 1.0 - slope * slope
        if k2 < PARALLEL * PARALLEL or not owns_edge(solids, block, f, g):
            continue
        t = (slope * dot3(d, u) - dot3(d, e)) / k2
        s = dot3(d, u) + t * slope
        d = along(along(d, t, e), -s, u)
        near = abs(t) < reach and abs(s) < half and dot3(d, d) <= (r + limit) * (r + limit)
        if near and out_of_ridge(solids, block, g, u, d):
            da = unit(2, 1.0 if dot3(cross3(e, u), d) > 0.0 else -1.0)
            put(found, LINE_LINE, (i, 0, j, edge_label(solids, block, g)), line(NONE, da, r), line(middle, u, 0.0))


@kernel(f"void({A2}, {A2}, {TOUCH}, {A2})", borrows=True)
def capsule_on_surface(world: Array, solids: Array, touch: Touch, found: Array) -> None:
    """Add the contacts of a capsule with a surface: its ends, and its axis over convex edges and corners."""
    i, j, _, _ = touch
    r, block = world[i, RADIUS], int(world[j, BLOCK])
    for end in range(2):
        at = unit(2, world[i, HALF_LENGTH] if end else -world[i, HALF_LENGTH])
        ball_on_surface(world, solids, touch, at, r, END + end, found)
    box, (count, rows) = bounds_of(world, i, j, touch[2]), triangles_of(solids, block)
    place = next_triangle(solids, block, box, 0)
    while place < count:
        axis_on_ridges(world, solids, touch, int(solids[rows + place, 0]), found)
        place = next_triangle(solids, block, box, place + 1)
