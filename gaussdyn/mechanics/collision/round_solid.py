"""Contacts of balls and capsules with convex polyhedra, compiled, by the rules of `ball_box` and `capsule_box`."""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .capsule_box import LIKE_FACE
from .feature_kinematics import BALL_BALL, BALL_LINE, BALL_PLANE
from .primitives import (
    BORDER,
    END,
    LEVEL,
    NONE,
    RADIUS,
    ShapeAxis,
    axis_seen_from,
    ball,
    line,
    plane,
    put,
    put_lines,
    put_over_rim,
    size_of,
    to_shape,
    to_space,
    unit,
)
from .round_shapes import PARALLEL
from .solids import (
    BLOCK,
    corner_of,
    count_of,
    edge_label,
    edge_of,
    edge_row,
    extent_of,
    face_label,
    links_of,
    loop_of,
    normal_of,
    offset_of,
    over_face,
    rim_label,
    within,
)
from .vectors import A2, V3, Vector, along, cross3, dot3

FACE, EDGE, CORNER = 0, 1, 2
NEAREST = f"Tuple((int64, int64, {V3}))"
Nearest = tuple[int, int, Vector]  # what is nearest, its number, and the way from there to the point


@kernel(f"{NEAREST}({A2}, int64, {V3})", borrows=True)
def nearest_of_solid(solids: Array, block: int, p: Vector) -> Nearest:
    """Return the part of a polyhedron nearest to a point; for a point inside, the face that it is least behind."""
    border, top, face = BORDER * extent_of(solids, block), -1e300, 0
    for f in range(count_of(solids, block, 2)):
        height = dot3(normal_of(solids, block, f), p) - offset_of(solids, block, f)
        if height > top + border:
            top, face = height, f
        if height > border and over_face(solids, block, f, p, border):
            return FACE, f, along(NONE, height, normal_of(solids, block, f))
    if top <= border:
        return FACE, face, along(NONE, top, normal_of(solids, block, face))
    best, side, way, least = 0, 0, NONE, 1e300
    for e in range(count_of(solids, block, 1)):
        middle, u, half = edge_of(solids, block, e)
        d = along(p, -1.0, middle)
        t = dot3(d, u)
        d = along(d, -max(-half, min(half, t)), u)
        if dot3(d, d) < least:
            least, way, best, side = dot3(d, d), d, e, 0 if abs(t) < half else (-1 if t < 0.0 else 1)
    if side == 0:
        return EDGE, best, way
    return CORNER, int(solids[edge_row(solids, block, best), 0 if side < 0 else 1]), way


@kernel(f"{V3}({A2}, {A2}, int64, int64, {V3}, int64, float64, {A2})", borrows=True)
def ball_solid(
    world: Array, solids: Array, i: int, feature: int, at: Vector, j: int, limit: float, found: Array
) -> Vector:  # fmt: skip
    """Add the contact of a ball about `at` (axes of shape i) with what is nearest of solid j; return the way to it.

    A point (radius 0) has contacts with faces only. The way leads from the solid to the centre, in the axes of j.
    """
    r, block = world[i, RADIUS], int(world[j, BLOCK])
    what, k, d = nearest_of_solid(solids, block, to_shape(world, j, to_space(world, i, at)))
    if what == FACE:
        n, top = normal_of(solids, block, k), offset_of(solids, block, k)
        if dot3(n, d) - r <= limit:
            label = (i, feature, j, face_label(solids, block, k))
            put(found, BALL_PLANE, label, ball(at, r), plane(along(NONE, top, n), n))
    elif r > 0.0 and dot3(d, d) <= (r + limit) * (r + limit):
        if what == CORNER:
            put(found, BALL_BALL, (i, feature, j, k), ball(at, r), ball(corner_of(solids, block, k), 0.0))
        else:
            middle, u, _ = edge_of(solids, block, k)
            put(found, BALL_LINE, (i, feature, j, edge_label(solids, block, k)), ball(at, r), line(middle, u, 0.0))
    return d


@kernel(f"boolean({A2}, int64, int64, {V3}, {V3}, float64)", borrows=True)
def out_of_edge(solids: Array, block: int, e: int, u: Vector, d: Vector, slack: float) -> bool:
    """Return whether a way leads out of edge e, along u, between its faces: no point of the solid is nearer then.

    It may lead over either face by `slack` (of its own length, m). However sharp the edge is: of two normals that are
    more than 120 degrees apart, a way into the solid may look more along each than they do along each other.
    """
    m = edge_row(solids, block, e)
    left, right = normal_of(solids, block, int(solids[m, 2])), normal_of(solids, block, int(solids[m, 3]))
    out = dot3(d, along(left, 1.0, right)) > 0.0
    return out and dot3(d, cross3(left, u)) <= slack and dot3(d, cross3(right, u)) >= -slack


@kernel(f"boolean({A2}, int64, int64, {V3})", borrows=True)
def out_of_corner(solids: Array, block: int, k: int, d: Vector) -> bool:
    """Return whether a way leads out of corner k: against all edges there."""
    first, last = links_of(solids, block, k)
    for row in range(first, last):
        if dot3(d, along(corner_of(solids, block, int(solids[row, 1])), -1.0, corner_of(solids, block, k))) > 0.0:
            return False
    return True


@kernel(f"Tuple((int64, {V3}))({A2}, {A2}, ShapeAxis, int64, float64, {A2})", borrows=True)
def axis_on_edges(
    world: Array, solids: Array, axis: ShapeAxis, j: int, limit: float, found: Array
) -> tuple[int, Vector]:  # fmt: skip
    """Add the contact of an axis with the edge of solid j that it passes.

    Returns the edge and the way to the axis; without any, -1 and zero.
    """
    i, p, e, length, r = axis
    block, reach = int(world[j, BLOCK]), (1.0 - LEVEL) * length
    for g in range(count_of(solids, block, 1)):
        middle, u, half = edge_of(solids, block, g)
        slope, d = dot3(u, e), along(p, -1.0, middle)
        k2 = 1.0 - slope * slope
        if k2 < PARALLEL * PARALLEL:
            continue
        t = (slope * dot3(d, u) - dot3(d, e)) / k2
        s = dot3(d, u) + t * slope
        d = along(along(d, t, e), -s, u)
        if abs(t) >= reach or abs(s) > (1.0 + BORDER) * half or not out_of_edge(solids, block, g, u, d, 0.0):
            continue
        if dot3(d, d) <= (r + limit) * (r + limit):
            da = unit(2, 1.0 if dot3(cross3(e, u), d) > 0.0 else -1.0)
            label = (i, 0, j, edge_label(solids, block, g))
            put_lines(found, label, line(NONE, da, r), line(middle, u, 0.0), length, half)
        return g, d
    return -1, NONE


@kernel(f"{V3}({A2}, {A2}, ShapeAxis, int64, float64, {A2})", borrows=True)
def axis_on_corners(
    world: Array, solids: Array, axis: ShapeAxis, j: int, limit: float, found: Array
) -> Vector:  # fmt: skip
    """Add the contacts of an axis with corners of solid j; return the way to one, or zero."""
    i, p, e, length, r = axis
    block, reach, way = int(world[j, BLOCK]), (1.0 - LEVEL) * length, NONE
    for k in range(count_of(solids, block, 0)):
        q = corner_of(solids, block, k)
        t = dot3(e, along(q, -1.0, p))
        d = along(along(p, t, e), -1.0, q)
        if abs(t) < reach and dot3(d, d) <= (r + limit) * (r + limit) and out_of_corner(solids, block, k, d):
            way = d
            if r > 0.0:
                put(found, BALL_LINE, (j, k, i, 0), ball(q, 0.0), line(NONE, unit(2, 1.0), r))
    return way


@kernel(f"int64({A2}, int64, ShapeAxis)", borrows=True)
def highest_face(solids: Array, block: int, axis: ShapeAxis) -> int:
    """Return the face above which an axis is highest, at its lower end."""
    p, e, reach, best, top = axis.middle, axis.way, axis.reach, 0, -1e300
    for f in range(count_of(solids, block, 2)):
        n = normal_of(solids, block, f)
        height = dot3(n, p) - abs(dot3(n, e)) * reach - offset_of(solids, block, f)
        if height > top:
            best, top = f, height
    return best


@kernel(f"boolean({V3}, {V3}, float64, {V3}, {V3}, float64)", borrows=True)
def crosses(d: Vector, e: Vector, reach: float, u: Vector, out: Vector, half: float) -> bool:
    """Return whether the axis d + t e, from the middle of an edge along u, crosses it flatly: see `capsule_box`."""
    slope, across = dot3(e, u), dot3(e, out)
    k2 = 1.0 - slope * slope
    if k2 < PARALLEL * PARALLEL or across * across < LIKE_FACE * LIKE_FACE * k2:
        return False
    t = (slope * dot3(d, u) - dot3(d, e)) / k2
    return abs(t) < reach and abs(dot3(d, u) + t * slope) <= (1.0 + BORDER) * half


@kernel(f"Tuple((float64, float64, int64, int64))({A2}, int64, int64, ShapeAxis)", borrows=True)
def over_loop(solids: Array, block: int, f: int, axis: ShapeAxis) -> tuple[float, float, int, int]:
    """Return from where to where an axis is over face f, and over which rows of its loop it comes and goes."""
    first, last = loop_of(solids, block, f)
    p, e, low, high, low_row, high_row = axis.middle, axis.way, -axis.reach, axis.reach, -1, -1
    for row in range(first, last):
        room, rise = within(solids, row, p), -dot3((solids[row, 2], solids[row, 3], solids[row, 4]), e)
        if rise == 0.0:
            if room < -BORDER * extent_of(solids, block):
                return 1.0, -1.0, -1, -1
        elif rise > 0.0 and room / rise < high:
            high, high_row = room / rise, row
        elif rise < 0.0 and room / rise > low:
            low, low_row = room / rise, row
    return low, high, low_row, high_row


@kernel(f"void({A2}, ShapeAxis, ShapeAxis, UniTuple(int64, 3), float64, {A2}, int64)", borrows=True)
def axis_on_face(
    solids: Array, axis: ShapeAxis, lowest: ShapeAxis, which: tuple[int, int, int], limit: float, found: Array,
    known: int,
) -> None:  # fmt: skip
    """Add where an axis passes over the border of a face, which: solid, its block, face; edge `known` is left out.

    `lowest` is the axis above the lowest line of its surface, its radius how far below that is.
    """
    (j, block, f), (i, p, e, reach, r) = which, axis
    n, top = normal_of(solids, block, f), offset_of(solids, block, f)
    low, high, low_row, high_row = over_loop(solids, block, f, lowest)
    if low > high:
        return
    for end in range(2):
        t, row = (low, low_row) if end == 0 else (high, high_row)
        if row < 0 or int(solids[row, 1]) == known or dot3(n, along(lowest.middle, t, e)) - top - lowest.radius > limit:
            continue
        g, out = int(solids[row, 1]), (-solids[row, 2], -solids[row, 3], -solids[row, 4])
        middle, u, half = edge_of(solids, block, g)
        d = along(p, -1.0, middle)
        if crosses(d, e, reach, u, out, half):
            da = unit(2, 1.0 if dot3(cross3(e, u), n) > 0.0 else -1.0)
            label = (i, 0, j, edge_label(solids, block, g))
            put_lines(found, label, line(NONE, da, r), line(middle, u, 0.0), reach, half)
        else:
            label = (i, 0, j, rim_label(solids, block, g))
            put_over_rim(found, label, line(NONE, unit(2, 1.0), r), plane(middle, n), out, (reach, half, t))


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2})", borrows=True)
def capsule_solid(world: Array, solids: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of capsule i with polyhedron j."""
    size, block = size_of(world, i), int(world[j, BLOCK])
    first = ball_solid(world, solids, i, END, (0.0, 0.0, -size[1]), j, limit, found)
    second = ball_solid(world, solids, i, END + 1, (0.0, 0.0, size[1]), j, limit, found)
    axis = axis_seen_from(world, j, i)
    known, way = axis_on_edges(world, solids, axis, j, limit, found)
    if known < 0:
        way = axis_on_corners(world, solids, axis, j, limit, found)
    if known < 0 and way == NONE:
        way = first if dot3(first, first) < dot3(second, second) else second
    f = highest_face(solids, block, axis)
    n = normal_of(solids, block, f)
    distance = math.sqrt(dot3(way, way))
    inside = distance <= BORDER * extent_of(solids, block) or dot3(n, way) <= 0.0
    if inside or dot3(n, way) >= LIKE_FACE * distance:
        axis_on_face(solids, axis, axis, (j, block, f), limit, found, known)
