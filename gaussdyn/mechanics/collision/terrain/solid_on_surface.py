"""Contacts of convex polyhedra with surfaces of triangles, compiled.

Corners over triangles, convex corners of the surface under faces, and edges on convex edges: where the normal is one of
both, which the arcs of their normals say.
"""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array
from ..box_box import relative
from ..feature_kinematics import BALL_PLANE, LINE_LINE
from ..primitives import BORDER, SAME, ball, line, plane, put
from ..rim_kinematics import ZERO
from ..solid_solid import CROSSED, placed, placed_back
from ..solids import (
    BLOCK,
    corner_of,
    count_of,
    edge_label,
    edge_of,
    edge_row,
    extent_of,
    face_label,
    loop_of,
    normal_of,
    offset_of,
    over_face,
)
from ..vectors import A2, V3, Vector, along, cross3, dot3, turned_back, turned_by
from .round_on_surface import ball_on_surface
from .surface_search import (
    ARC,
    TOUCH,
    Touch,
    bounds_of,
    next_triangle,
    out_of_peak,
    out_of_ridge,
    owns_corner,
    owns_edge,
    triangles_of,
)


@kernel(f"int64({A2}, int64, {V3})", borrows=True)
def outermost_face(solids: Array, block: int, p: Vector) -> int:
    """Return the face that a point is least behind."""
    best, top = 0, -1e300
    for f in range(count_of(solids, block, 2)):
        height = dot3(normal_of(solids, block, f), p) - offset_of(solids, block, f)
        if height > top:
            best, top = f, height
    return best


@kernel(f"void({A2}, {A2}, {TOUCH}, int64, {A2}, {A2})", borrows=True)
def corner_under(world: Array, solids: Array, touch: Touch, k: int, room: Array, found: Array) -> None:
    """Add the contact of convex corner k of the surface with the face of the solid that it is under."""
    i, j, limit, deep = touch
    x, y = int(world[j, BLOCK]), int(world[i, BLOCK])
    p = corner_of(solids, x, k)
    q = placed_back(room, p)
    f = outermost_face(solids, y, q)
    n, top = normal_of(solids, y, f), offset_of(solids, y, f)
    gap = dot3(n, q) - top
    over = -deep <= gap <= limit and over_face(solids, y, f, q, BORDER * extent_of(solids, y))
    if over and out_of_peak(solids, x, k, along(ZERO, -1.0, turned_by(room, n))):
        put(found, BALL_PLANE, (j, k, i, face_label(solids, y, f)), ball(p, 0.0), plane(along(ZERO, top, n), n))


@kernel(f"boolean({A2}, int64, int64, {V3}, {V3})", borrows=True)
def out_of_edge(solids: Array, block: int, g: int, u: Vector, d: Vector) -> bool:
    """Return whether a direction is between the normals of the faces of edge g, along u."""
    m = edge_row(solids, block, g)
    left, right = normal_of(solids, block, int(solids[m, 2])), normal_of(solids, block, int(solids[m, 3]))
    out = dot3(d, along(left, 1.0, right)) > 0.0
    return out and dot3(d, cross3(left, u)) <= ARC and dot3(d, cross3(u, right)) <= ARC


@kernel(f"void({A2}, {A2}, {TOUCH}, int64, {A2}, {A2})", borrows=True)
def edges_across(world: Array, solids: Array, touch: Touch, e: int, room: Array, found: Array) -> None:
    """Add the contacts of convex edge e of the surface with the edges of the solid that cross it."""
    i, j, limit, deep = touch
    x, y = int(world[j, BLOCK]), int(world[i, BLOCK])
    p, u, half = edge_of(solids, x, e)
    slack = SAME * half
    for g in range(count_of(solids, y, 1)):
        q, own, reach = edge_of(solids, y, g)
        w = turned_by(room, own)
        m, d, slope = cross3(u, w), along(placed(room, q), -1.0, p), dot3(u, w)
        k2 = dot3(m, m)
        if k2 < CROSSED:
            continue
        t = (slope * dot3(d, u) - dot3(d, w)) / k2
        s = dot3(d, u) + t * slope
        if abs(s) > half + slack or abs(t) > reach + slack:
            continue
        for side in range(2):
            n = along(ZERO, (1.0 if side else -1.0) / k2**0.5, m)
            gap = dot3(n, d)
            near = -deep <= gap <= limit and out_of_ridge(solids, x, e, u, n)
            if near and out_of_edge(solids, y, g, own, along(ZERO, -1.0, turned_back(room, n))):
                da = along(ZERO, 1.0 if dot3(cross3(w, u), n) > 0.0 else -1.0, own)
                label = (i, edge_label(solids, y, g), j, edge_label(solids, x, e))
                put(found, LINE_LINE, label, line(q, da, 0.0), line(p, u, 0.0))


@kernel(f"void({A2}, {A2}, {TOUCH}, {A2}, {A2})", borrows=True)
def solid_on_surface(world: Array, solids: Array, touch: Touch, room: Array, found: Array) -> None:
    """Add the contacts of a polyhedron with a surface."""
    i, j, _, _ = touch
    x, y = int(world[j, BLOCK]), int(world[i, BLOCK])
    relative(world, j, i, room)
    for k in range(count_of(solids, y, 0)):
        ball_on_surface(world, solids, touch, corner_of(solids, y, k), 0.0, k, found)
    box, (count, rows) = bounds_of(world, i, j, touch[2]), triangles_of(solids, x)
    place = next_triangle(solids, x, box, 0)
    while place < count:
        f = int(solids[rows + place, 0])
        first, last = loop_of(solids, x, f)
        for row in range(first, last):
            if owns_corner(solids, x, f, int(solids[row, 0])):
                corner_under(world, solids, touch, int(solids[row, 0]), room, found)
            if owns_edge(solids, x, f, int(solids[row, 1])):
                edges_across(world, solids, touch, int(solids[row, 1]), room, found)
        place = next_triangle(solids, x, box, place + 1)
