"""Contacts of cylinders and ellipsoids with surfaces of triangles, compiled."""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..box_box import relative
from ..cylinders.cylinder_round import (
    CAP,
    POINT,
    POINTS,
    RIM,
    TILTED,
    put_rim_on_line,
    rim_over_line,
    rim_place,
)
from ..ellipsoids.ellipsoid_round import over_line
from ..ellipsoids.ellipsoid_solid import CORNER, EDGE, FACE, NOTHING, Near, matrix_from, put_nearest, to_face
from ..feature_kinematics import BALL_PLANE
from ..nearest_direction import row3
from ..primitives import BORDER, HALF_LENGTH, RADIUS, axis_of, ball, disc, line, plane, put, seen_from, unit
from ..rim_kinematics import DISC_PLANE, ZERO
from ..smooth_kinematics import ELLIPSOID_BALL, M6, Matrix, farthest_along, round_matrix, smooth_normal
from ..solid_solid import placed, placed_back
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
from ..vectors import A2, V3, Vector, along, dot3, turned_back
from .round_on_surface import axis_on_ridges
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


@kernel(f"void({A2}, {A2}, {TOUCH}, UniTuple(int64, 3), int64, {A2}, {A2})", borrows=True)
def rim_over_triangle(
    world: Array, solids: Array, touch: Touch, which: tuple[int, int, int], start: int, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the lowest point of a rim over a triangle, and the points of the rim where it lies flat."""
    i, j, limit, deep = touch
    f, face, cap = which
    block, r = int(world[j, BLOCK]), world[i, RADIUS]
    n, top, border = normal_of(solids, block, face), offset_of(solids, block, face), BORDER * extent_of(solids, block)
    m, middle = turned_back(room, n), unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH])
    across = math.sqrt(m[0] * m[0] + m[1] * m[1])
    low, label = dot3(n, placed(room, middle)) - top - r * across, face_label(solids, block, face)
    if low > limit or low < -deep:
        return
    foot = along(ZERO, top, n)
    if across > TILTED and not known(found, start, i, RIM + cap, j, label):
        lowest = placed(room, along(middle, -r / across, (m[0], m[1], 0.0)))
        if over_face(solids, block, f, lowest, border):
            put(found, DISC_PLANE, (i, RIM + cap, j, label), disc(middle, r), plane(foot, n))
    for k in range(POINTS if low + 2.0 * r * across <= limit else 0):
        p, feature = along(rim_place(r, k), 1.0, middle), POINT + POINTS * cap + k
        if over_face(solids, block, f, placed(room, p), border) and not known(found, start, i, feature, j, label):
            put(found, BALL_PLANE, (i, feature, j, label), ball(p, 0.0), plane(foot, n))


@kernel(f"void({A2}, {A2}, {TOUCH}, int64, {A2}, {A2})", borrows=True)
def caps_on_ridges(world: Array, solids: Array, touch: Touch, f: int, room: Array, found: Array) -> None:
    """Add the convex corners of triangle f under caps, and its convex edges that a rim touches."""
    i, j, limit, deep = touch
    block, R, H, e = int(world[j, BLOCK]), world[i, RADIUS], world[i, HALF_LENGTH], axis_of(world, i, 2)
    first, last = loop_of(solids, block, f)
    for row in range(first, last):
        k, g = int(solids[row, 0]), int(solids[row, 1])
        for cap in range(2):
            s, p = 1.0 if cap else -1.0, corner_of(solids, block, k)
            q, away = placed_back(room, p), seen_from(world, j, along(ZERO, -s, e))
            gap, out = s * q[2] - H, q[0] * q[0] + q[1] * q[1]
            if -deep <= gap <= limit and out <= R * R and owns_corner(solids, block, f, k):
                foot = unit(2, s * H)
                if out_of_peak(solids, block, k, away):
                    put(found, BALL_PLANE, (j, k, i, CAP + cap), ball(p, 0.0), plane(foot, unit(2, s)))
            if not owns_edge(solids, block, f, g):
                continue
            middle, u, half = edge_of(solids, block, g)
            guess = along(ZERO, -s, e)
            gap, n, t = rim_over_line(world, i, cap, j, line(middle, u, 0.0), guess)
            if -deep <= gap <= limit and abs(t) <= half and out_of_ridge(solids, block, g, u, seen_from(world, j, n)):
                label = (i, RIM + cap, j, edge_label(solids, block, g))
                put_rim_on_line(label, world, line(middle, u, 0.0), n, t, found)


@kernel(f"void({A2}, {A2}, {TOUCH}, {A2}, {A2})", borrows=True)
def cylinder_on_surface(world: Array, solids: Array, touch: Touch, room: Array, found: Array) -> None:
    """Add the contacts of a cylinder with a surface: its rims, its side, its caps."""
    i, j, _, _ = touch
    relative(world, j, i, room)
    block, start = int(world[j, BLOCK]), int(found[0, 0])
    box, (count, rows) = bounds_of(world, i, j, touch[2]), triangles_of(solids, block)
    place = next_triangle(solids, block, box, 0)
    while place < count:
        f, face = int(solids[rows + place, 0]), int(solids[rows + place, 1])
        for cap in range(2):
            rim_over_triangle(world, solids, touch, (f, face, cap), start, room, found)
        caps_on_ridges(world, solids, touch, f, room, found)
        axis_on_ridges(world, solids, touch, f, found)
        place = next_triangle(solids, block, box, place + 1)


@kernel(f"Tuple((int64, int64, float64, {V3}))({A2}, int64, int64, {M6}, {V3})", borrows=True)
def to_ridge(solids: Array, block: int, e: int, A: Matrix, d: Vector) -> Near:
    """Return convex edge e with its gap from an ellipsoid about d, or nothing where another part is nearer."""
    middle, u, half = edge_of(solids, block, e)
    way = along(d, -1.0, middle)
    n, gap, t = over_line(A, way, u, way)
    return (EDGE, e, gap, n) if abs(t) <= half and out_of_ridge(solids, block, e, u, n) else NOTHING


@kernel(f"Tuple((int64, int64, float64, {V3}))({A2}, int64, int64, {M6}, {V3})", borrows=True)
def to_peak(solids: Array, block: int, k: int, A: Matrix, d: Vector) -> Near:
    """Return convex corner k with its gap from an ellipsoid about d, or nothing where another part is nearer."""
    way = along(d, -1.0, corner_of(solids, block, k))
    n = smooth_normal(ELLIPSOID_BALL, way, ZERO, A, round_matrix(0.0), way)
    _, h = farthest_along(A, n)
    return (CORNER, k, dot3(n, way) - h, n) if out_of_peak(solids, block, k, n) else NOTHING


@kernel(f"void({A2}, {A2}, {TOUCH}, {A2}, {A2})", borrows=True)
def ellipsoid_on_surface(world: Array, solids: Array, touch: Touch, room: Array, found: Array) -> None:
    """Add the contacts of an ellipsoid with a surface."""
    i, j, limit, deep = touch
    relative(world, j, i, room)
    block, A, d, start = int(world[j, BLOCK]), matrix_from(world, i, room), row3(room, 3), int(found[0, 0])
    box, (count, rows) = bounds_of(world, i, j, touch[2]), triangles_of(solids, block)
    place = next_triangle(solids, block, box, 0)
    while place < count:
        f, face = int(solids[rows + place, 0]), int(solids[rows + place, 1])
        near = to_face(solids, block, f, A, d)
        if -deep <= near[2] <= limit and not known(found, start, i, 0, j, face_label(solids, block, face)):
            put_nearest(world, solids, j, i, (FACE, face, near[2], near[3]), found)
        first, last = loop_of(solids, block, f)
        for row in range(first, last):
            k, e = int(solids[row, 0]), int(solids[row, 1])
            near = to_ridge(solids, block, e, A, d) if owns_edge(solids, block, f, e) else NOTHING
            if -deep <= near[2] <= limit:
                put_nearest(world, solids, j, i, near, found)
            near = to_peak(solids, block, k, A, d) if owns_corner(solids, block, f, k) else NOTHING
            if -deep <= near[2] <= limit:
                put_nearest(world, solids, j, i, near, found)
        place = next_triangle(solids, block, box, place + 1)
