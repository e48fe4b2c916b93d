"""Contacts of cylinders with convex polyhedra, compiled.

The side is what a capsule's is: an axis with a radius against edges and corners, and over the border of a face that it
lies on. Along an edge it touches from one end to the other of what they share: both ends are contacts. The face of the
polyhedron, or the cap, of largest separation decides about the rest: rims over the face, corners and edges under the
cap. An edge that crosses a cap touches it at both crossings. Where a rim and an edge are no nearer than face and cap,
they are a contact too: there the lowest point of the rim has left the face.

`room` as in `box_box`, X the polyhedron and Y the cylinder.
"""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..box_box import relative
from ..capsule_box import LIKE_FACE
from ..feature_kinematics import BALL_LINE, BALL_PLANE, EDGE_RIM, LINE_LINE
from ..nearest_direction import row3, way_between
from ..primitives import (
    BORDER,
    HALF_LENGTH,
    KIND,
    LABEL,
    LEVEL,
    NONE,
    RADIUS,
    SAME,
    UP,
    Label,
    ShapeAxis,
    axis_of,
    axis_seen_from,
    ball,
    disc,
    line,
    plane,
    put,
    seen_from,
    to_axes,
    unit,
)
from ..rim_kinematics import CROSSING, DISC_PLANE, ZERO
from ..round_shapes import PARALLEL
from ..round_solid import axis_on_corners, axis_on_edges, axis_on_face, out_of_edge
from ..solid_solid import placed, placed_back
from ..solids import (
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
)
from ..vectors import A2, V3, Vector, along, dot3, turned_back, turned_by
from .cylinder_round import (
    ACROSS,
    CAP,
    LYING,
    PASS,
    POINT,
    POINTS,
    RIM,
    TILTED,
    line_over_cap,
    put_rim_on_line,
    rim_near_line,
    rim_over_line,
    rim_place,
    spoke_to,
)

NEARLY = 0.1  # sine up to which a side that crosses an edge is held by the ends of what they share, too
BEST = "Tuple((int64, float64))"
PLANE = "Tuple((int64, int64, int64, float64, float64))"
Plane = tuple[int, int, int, float, float]  # solid, cylinder, face or cap, limit, border
RIM_AT = f"Tuple((float64, int64, int64, {V3}, float64))"
Rim = tuple[float, int, int, Vector, float]
"""Gap of a rim of a cylinder from an edge (-1e300 without), edge, rim, normal in space, where on the edge."""


@kernel(f"boolean({A2}, {LABEL})", borrows=True)
def is_there(found: Array, label: Label) -> bool:
    """Return whether the pair of shapes that is looked at, the last one, has a contact of this label."""
    for c in range(min(int(found[0, 0]), len(found) - 1), 0, -1):
        i, j = int(found[c, KIND + 1]), int(found[c, KIND + 3])
        if (i != label[0] or j != label[2]) and (i != label[2] or j != label[0]):
            return False
        if i == label[0] and int(found[c, KIND + 2]) == label[1] and int(found[c, KIND + 4]) == label[3]:
            return True
    return False


@kernel(f"float64({A2}, {A2}, int64, int64, int64, {A2})", borrows=True)
def off_face(world: Array, solids: Array, i: int, j: int, f: int, room: Array) -> float:
    """Return how far cylinder j is from face f of solid i."""
    block = int(world[i, BLOCK])
    n = normal_of(solids, block, f)
    rise = dot3(n, turned_by(room, (0.0, 0.0, 1.0)))
    s = dot3(n, row3(room, 3)) - offset_of(solids, block, f) - world[j, HALF_LENGTH] * abs(rise)
    return float(s - world[j, RADIUS] * math.sqrt(max(0.0, 1.0 - rise * rise)))


@kernel(f"{BEST}({A2}, {A2}, int64, int64, {A2})", borrows=True)
def best_face_for(world: Array, solids: Array, i: int, j: int, room: Array) -> tuple[int, float]:
    """Return the face of solid i from which cylinder j is farthest, and how far."""
    best, face = -1e300, 0
    for f in range(count_of(solids, int(world[i, BLOCK]), 2)):
        s = off_face(world, solids, i, j, f, room)
        if s > best + SAME * world[j, RADIUS]:
            best, face = s, f
    return face, best


@kernel(f"boolean({A2}, {A2}, int64, int64, {V3}, float64, {A2})", borrows=True)
def is_level(world: Array, solids: Array, i: int, j: int, n: Vector, cap_gap: float, room: Array) -> bool:
    """Return whether cylinder j is level with a cap, or a face of solid i, across n: it slides over, see `box_box`."""
    block, e = int(world[i, BLOCK]), turned_by(room, (0.0, 0.0, 1.0))
    level = LEVEL * min(max(world[j, RADIUS], world[j, HALF_LENGTH]), extent_of(solids, block))
    if cap_gap > -level and abs(dot3(n, e)) < LIKE_FACE:
        return True
    for f in range(count_of(solids, block, 2)):
        if dot3(n, normal_of(solids, block, f)) < LIKE_FACE and off_face(world, solids, i, j, f, room) > -level:
            return True
    return False


@kernel(f"{BEST}({A2}, {A2}, int64, int64, {A2})", borrows=True)
def best_cap(world: Array, solids: Array, i: int, j: int, room: Array) -> tuple[int, float]:
    """Return the cap of cylinder j from which solid i is farthest, and how far."""
    block, e = int(world[i, BLOCK]), turned_by(room, (0.0, 0.0, 1.0))
    down, up = farthest_corner(solids, block, along(ZERO, -1.0, e)), farthest_corner(solids, block, e)
    above = placed_back(room, corner_of(solids, block, down))[2] - world[j, HALF_LENGTH]
    below = -placed_back(room, corner_of(solids, block, up))[2] - world[j, HALF_LENGTH]
    return (1, above) if above > below else (0, below)


@kernel(f"void({A2}, {A2}, {PLANE}, int64, {A2}, {A2})", borrows=True)
def cap_on_face(world: Array, solids: Array, on: Plane, cap: int, room: Array, found: Array) -> None:
    """Add the lowest point of a rim over a face, and the points of the rim where it lies flat."""
    i, j, f, limit, border = on
    block, r = int(world[i, BLOCK]), world[j, RADIUS]
    n, top = normal_of(solids, block, f), offset_of(solids, block, f)
    m = turned_back(room, n)
    across = math.sqrt(m[0] * m[0] + m[1] * m[1])
    middle, foot, label = (
        unit(2, world[j, HALF_LENGTH] if cap else -world[j, HALF_LENGTH]),
        along(ZERO, top, n),
        face_label(solids, block, f),
    )
    low = dot3(n, placed(room, middle)) - top - r * across
    if low <= limit and across > TILTED:
        p = along(middle, -r / across, (m[0], m[1], 0.0))
        if over_face(solids, block, f, placed(room, p), border):
            put(found, DISC_PLANE, (j, RIM + cap, i, label), disc(middle, r), plane(foot, n))
    for k in range(POINTS if low + 2.0 * r * across <= limit else 0):
        p = along(rim_place(r, k), 1.0, middle)
        if over_face(solids, block, f, placed(room, p), border):
            put(found, BALL_PLANE, (j, POINT + POINTS * cap + k, i, label), ball(p, 0.0), plane(foot, n))


@kernel(f"void({A2}, {A2}, {PLANE}, {A2}, {A2})", borrows=True)
def corners_on_cap(world: Array, solids: Array, on: Plane, room: Array, found: Array) -> None:
    """Add the corners of a solid that are on a cap."""
    i, j, cap, limit, border = on
    block, s = int(world[i, BLOCK]), 1.0 if cap else -1.0
    R = world[j, RADIUS] + border
    for k in range(count_of(solids, block, 0)):
        p = corner_of(solids, block, k)
        q = placed_back(room, p)
        if s * q[2] - world[j, HALF_LENGTH] <= limit and q[0] * q[0] + q[1] * q[1] <= R * R:
            label = (i, k, j, CAP + cap)
            put(found, BALL_PLANE, label, ball(p, 0.0), plane(unit(2, s * world[j, HALF_LENGTH]), unit(2, s)))


@kernel(f"void({A2}, {A2}, {PLANE}, int64, {A2}, {A2})", borrows=True)
def edges_on_cap(world: Array, solids: Array, on: Plane, known: int, room: Array, found: Array) -> None:
    """Add where edges of a solid cross a cap, flatly; edge `known` does, however deep it is.

    The rim on the edge, with their own normal: the same contact at every pose, as the cap tips and the edge leaves it.
    """
    i, j, cap, limit, _ = on
    block, s, ea = int(world[i, BLOCK]), 1.0 if cap else -1.0, axis_of(world, j, 2)
    for e in range(count_of(solids, block, 1)):
        middle, u, half = edge_of(solids, block, e)
        q, w = placed_back(room, middle), turned_back(room, u)
        if s * q[2] - abs(w[2]) * half - world[j, HALF_LENGTH] > limit:
            continue
        edge = line(middle, u, 0.0)
        cut, first, last = line_over_cap(world, j, cap, i, edge)
        for which in range(2 if cut > 0.0 else 0):
            spoke = spoke_to(world, j, cap, i, edge, last if which else first)
            gap, n, t, _ = rim_near_line(world, j, cap, i, edge, spoke, along(ZERO, -s, ea))
            if -s * dot3(n, ea) > CROSSING and abs(t) <= half and gap <= limit:
                label = (j, PASS + 2 * cap + which, i, edge_label(solids, block, e))
                put_rim_on_line(label, world, edge, n, t, found)


@kernel(f"{RIM_AT}({A2}, {A2}, UniTuple(int64, 3), {V3}, {RIM_AT}, {A2})", borrows=True)
def better_rim(
    world: Array, solids: Array, where: tuple[int, int, int], guess: Vector, best: Rim, room: Array
) -> Rim:  # fmt: skip
    """Return the rim and the edge that are farthest apart, of the best so far and edges at a corner.

    where: solid, cylinder, corner. The rim is the one that is towards the solid, by a guess of the normal (in space);
    where that is nearly across the axis it may be either.
    """
    i, j, corner = where
    block, rise = int(world[i, BLOCK]), dot3(guess, axis_of(world, j, 2))
    first, last = links_of(solids, block, corner)
    for cap in range(2):
        if abs(rise) > ACROSS and cap != (rise < 0.0):
            continue
        for row in range(first, last):
            e = int(solids[row, 0])
            middle, u, half = edge_of(solids, block, e)
            gap, n, t = rim_over_line(world, j, cap, i, line(middle, u, 0.0), guess)
            if gap > best[0] and abs(t) <= half and out_of_edge(solids, block, e, u, seen_from(world, i, n), 0.0):
                best = (gap, e, cap, n, t)
    return best


@kernel(f"{RIM_AT}({A2}, {A2}, int64, int64, {A2})", borrows=True)
def best_rim(world: Array, solids: Array, i: int, j: int, room: Array) -> Rim:
    """Return the rim of cylinder j and the edge of solid i that are farthest apart, about the shortest way out."""
    _, out = way_between(world, solids, i, j, 1e300, room)
    guess = to_axes(world, i, out)
    where = (i, j, farthest_corner(solids, int(world[i, BLOCK]), out))
    return better_rim(world, solids, where, guess, (-1e300, -1, 0, guess, 0.0), room)


@kernel(f"{RIM_AT}({A2}, {A2}, UniTuple(int64, 3), {V3}, {A2})", borrows=True)
def rim_past(world: Array, solids: Array, pair: tuple[int, int, int], n: Vector, room: Array) -> Rim:
    """Return the best rim of a cylinder and edge about a face of a solid (or what is deepest under a cap), past it.

    pair: solid, cylinder, face or -1; n: normal out of the solid, its axes. Deep in one another, the shortest way out
    may be far from where two would touch if they were smaller. It goes on about the ends of the best edge.
    """
    i, j, f = pair
    block, guess = int(world[i, BLOCK]), to_axes(world, i, n)
    best = (-1e300, -1, 0, guess, 0.0)
    if f < 0:
        best = better_rim(world, solids, (i, j, farthest_corner(solids, block, n)), guess, best, room)
    first, last = loop_of(solids, block, max(f, 0))
    for row in range(first, last if f >= 0 else first):
        best = better_rim(world, solids, (i, j, int(solids[row, 0])), guess, best, room)
    before = -1
    while best[1] != before:
        before = best[1]
        m = edge_row(solids, block, before)
        for end in range(2):
            best = better_rim(world, solids, (i, j, int(solids[m, end])), best[3], best, room)
    return best


@kernel(f"void({A2}, {A2}, ShapeAxis, int64, int64, {V3}, {A2})", borrows=True)
def ends_along_edge(
    world: Array, solids: Array, axis: ShapeAxis, i: int, g: int, way: Vector, found: Array
) -> None:  # fmt: skip
    """Add where the side of a cylinder along edge g of solid i begins and ends on it: at a corner, or at a rim."""
    for end in range(2):
        corner_on_side(solids, axis, i, (int(world[i, BLOCK]), g, end), found)
        rim_end_on_edge(world, solids, axis, i, (g, end), way, found)


@kernel(f"void({A2}, ShapeAxis, int64, UniTuple(int64, 3), {A2})", borrows=True)
def corner_on_side(solids: Array, axis: ShapeAxis, i: int, which: tuple[int, int, int], found: Array) -> None:
    """Add the corner where an edge of solid i ends, by its block, edge and end, that the side is over, if it is."""
    j, p, e, length, r = axis
    block, g, end = which
    k = int(solids[edge_row(solids, block, g), end])
    q = corner_of(solids, block, k)
    if abs(dot3(e, along(q, -1.0, p))) < (1.0 - LEVEL) * length and not is_there(found, (i, k, j, 0)):
        put(found, BALL_LINE, (i, k, j, 0), ball(q, 0.0), line(NONE, UP, r))


@kernel(f"void({A2}, {A2}, ShapeAxis, int64, UniTuple(int64, 2), {V3}, {A2})", borrows=True)
def rim_end_on_edge(
    world: Array, solids: Array, axis: ShapeAxis, i: int, which: tuple[int, int], way: Vector, found: Array
) -> None:  # fmt: skip
    """Add the rim at an end of the side over edge g of solid i, which (g, end); the way leads from edge to axis."""
    j, p, e, length, _ = axis
    (g, end), block, n = which, int(world[i, BLOCK]), along(ZERO, way[0], axis_of(world, i, 0))
    n = along(along(n, way[1], axis_of(world, i, 1)), way[2], axis_of(world, i, 2))
    middle, u, half = edge_of(solids, block, g)
    at = dot3(u, along(along(p, length if end else -length, e), -1.0, middle))
    label = (j, RIM + end, i, edge_label(solids, block, g))
    if abs(at) <= (1.0 + BORDER) * half and not is_there(found, label):
        put_rim_on_line(label, world, line(middle, u, 0.0), n, at, found)


@kernel(f"void({A2}, {A2}, ShapeAxis, int64, int64, UniTuple(float64, 2), {A2})", borrows=True)
def ends_near_edge(
    world: Array, solids: Array, axis: ShapeAxis, i: int, g: int, between: tuple[float, float], found: Array
) -> None:  # fmt: skip
    """Add the ends of what a side shares with edge g of solid i that it nearly runs along, with gaps `between` two.

    Between them the two cross, or do no more: then one of the ends is the nearest. The crossing runs from one to the
    other when the side turns by the square of the angle between them, so that all three hold the side.
    """
    block, (_, p, e, length, r), (least, most) = int(world[i, BLOCK]), axis, between
    middle, u, _ = edge_of(solids, block, g)
    for end in range(2):
        q = corner_of(solids, block, int(solids[edge_row(solids, block, g), end]))
        d = along(p, -1.0, q)
        way = along(d, -dot3(d, e), e)
        if least <= math.sqrt(dot3(way, way)) - r <= most and out_of_edge(solids, block, g, u, way, 0.0):
            corner_on_side(solids, axis, i, (block, g, end), found)
        d = along(along(p, length if end else -length, e), -1.0, middle)
        way = along(d, -dot3(d, u), u)
        far = math.sqrt(dot3(way, way))
        if far > 0.0 and least <= far - r <= most and out_of_edge(solids, block, g, u, way, 0.0):
            rim_end_on_edge(world, solids, axis, i, (g, end), along(NONE, 1.0 / far, way), found)


@kernel(f"void({A2}, {A2}, int64, int64, UniTuple(float64, 2), {A2})", borrows=True)
def ends_near_edges(
    world: Array, solids: Array, i: int, j: int, between: tuple[float, float], found: Array
) -> None:  # fmt: skip
    """Add the ends of what the side of cylinder j shares with edges of solid i, see `ends_near_edge`."""
    axis, block = axis_seen_from(world, i, j), int(world[i, BLOCK])
    for g in range(count_of(solids, block, 1)):
        middle, u, half = edge_of(solids, block, g)
        over = half + axis.reach - abs(dot3(along(axis.middle, -1.0, middle), u))
        if over > LEVEL * max(axis.reach, axis.radius) and 1.0 - dot3(u, axis.way) ** 2 < NEARLY * NEARLY:
            ends_near_edge(world, solids, axis, i, g, between, found)


@kernel(f"{BEST}({A2}, {A2}, int64, int64, float64, {A2})", borrows=True)
def side_along_edge(world: Array, solids: Array, i: int, j: int, limit: float, found: Array) -> tuple[int, float]:
    """Add the contacts of the side of cylinder j with an edge of solid i along which it runs; as `side_on_solid`."""
    axis, block = axis_seen_from(world, i, j), int(world[i, BLOCK])
    for g in range(count_of(solids, block, 1)):
        middle, u, half = edge_of(solids, block, g)
        slope, d = dot3(u, axis.way), along(axis.middle, -1.0, middle)
        if 1.0 - slope * slope >= PARALLEL * PARALLEL:
            continue
        t = dot3(d, u)
        way = along(d, -t, u)
        if abs(t) >= half + (1.0 - LEVEL) * axis.reach or not out_of_edge(solids, block, g, u, way, 0.0):
            continue
        far = math.sqrt(dot3(way, way))
        if 0.0 < far <= world[j, RADIUS] + limit:
            ends_along_edge(world, solids, axis, i, g, along(NONE, 1.0 / far, way), found)
        return g, far - world[j, RADIUS]
    return -1, -1e300


@kernel(f"void({A2}, float64)", borrows=True)
def end_in_rims(found: Array, before: float) -> None:
    """Let the axes of a cylinder that were added end in its rims: see `line_kinematics`, `feature_kinematics`."""
    for c in range(int(before) + 1, min(int(found[0, 0]) + 1, len(found))):
        if found[c, KIND] in (LINE_LINE, EDGE_RIM):
            found[c, 17] = -abs(found[c, 17])


@kernel(f"Tuple((int64, {V3}))({A2}, {A2}, int64, int64, float64, {A2})", borrows=True)
def side_on_solid(
    world: Array, solids: Array, i: int, j: int, limit: float, found: Array
) -> tuple[int, Vector]:  # fmt: skip
    """Add the contacts of the side of cylinder j with edges and corners of solid i, across them.

    Returns the edge (-1: none), and the way from there to the axis, zero without any.
    """
    axis = axis_seen_from(world, i, j)
    before = found[0, 0]
    known, way = axis_on_edges(world, solids, axis, i, limit, found)
    end_in_rims(found, before)
    return (known, way) if known >= 0 else (known, axis_on_corners(world, solids, axis, i, limit, found))


@kernel(f"Tuple((int64, float64, {V3}))({A2}, {A2}, UniTuple(int64, 2), UniTuple(float64, 2), {A2})", borrows=True)
def side_past_solid(
    world: Array, solids: Array, pair: tuple[int, int], between: tuple[float, float], found: Array
) -> tuple[int, float, Vector]:  # fmt: skip
    """Add the contacts of the side of a cylinder with edges and corners of a solid, if its gap is `between` two.

    Returns the edge, the gap (-1e300 without), and the way to the axis; zero where it runs along the edge. Deeper than
    the lower one, a shorter way out leads over a face, a cap or a rim: what is under that is not beside the side.
    """
    (i, j), (least, limit), before, way = pair, between, found[0, 0], NONE
    known, gap = side_along_edge(world, solids, i, j, limit, found)
    if known < 0:
        known, way = side_on_solid(world, solids, i, j, limit, found)
        gap = math.sqrt(dot3(way, way)) - world[j, RADIUS] if way != NONE else -1e300
    if gap < least:
        known, gap, way, found[0, 0] = -1, -1e300, NONE, before
    return known, gap, way


@kernel(f"void({A2}, {A2}, {PLANE}, int64, {A2}, {A2})", borrows=True)
def flat_cap(world: Array, solids: Array, on: Plane, known: int, room: Array, found: Array) -> None:
    """Add the contacts of a solid with a cap that it is under: its corners, edges, and faces that look at the cap.

    The same wherever the cap decides, or a rim on an edge (`known`) whose normal is like that of the cap, or the face:
    none comes or goes as the cap tips from one to the other.
    """
    i, j, cap, limit, border = on
    block, out = int(world[i, BLOCK]), turned_by(room, unit(2, 1.0 if cap else -1.0))
    corners_on_cap(world, solids, on, room, found)
    edges_on_cap(world, solids, on, known, room, found)
    for f in range(count_of(solids, block, 2)):
        if dot3(out, normal_of(solids, block, f)) <= -LIKE_FACE:
            cap_on_face(world, solids, (i, j, f, limit, border), cap, room, found)


@kernel(f"void({A2}, {A2}, {PLANE}, Tuple((int64, float64)), {V3}, {A2}, {A2})", borrows=True)
def rim_on_edge(
    world: Array, solids: Array, on: Plane, where: tuple[int, float], n: Vector, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contact of a rim with an edge, n its normal in space; with one like that of the cap all that is under it.

    That is both crossings where the edge crosses the cap.
    """
    i, j, rim, _, _ = on
    block, (e, at) = int(world[i, BLOCK]), where
    middle, u, _ = edge_of(solids, block, e)
    edge, like = line(middle, u, 0.0), abs(dot3(n, axis_of(world, j, 2))) > CROSSING
    if like:
        flat_cap(world, solids, on, e, room, found)
    label = (j, RIM + rim, i, edge_label(solids, block, e))
    if (not like or line_over_cap(world, j, rim, i, edge)[0] == 0.0) and not is_there(found, label):
        put_rim_on_line(label, world, edge, n, at, found)


@kernel(f"void({A2}, {A2}, {PLANE}, int64, {A2}, {A2})", borrows=True)
def cylinder_on_face(world: Array, solids: Array, on: Plane, known: int, room: Array, found: Array) -> None:
    """Add the contacts of a cylinder with a face: its rims, the corners under a cap, the side that lies on it.

    Edge `known` has a contact with the side already.
    """
    i, j, f, limit, border = on
    n, e = normal_of(solids, int(world[i, BLOCK]), f), turned_by(room, (0.0, 0.0, 1.0))
    rise = dot3(n, e)
    if abs(rise) >= LIKE_FACE:
        flat_cap(world, solids, (i, j, 0 if rise > 0.0 else 1, limit, border), -1, room, found)
        return
    for cap in range(2):
        cap_on_face(world, solids, on, cap, room, found)
    if abs(rise) <= LYING:
        p, half, r, rim = row3(room, 3), world[j, HALF_LENGTH], world[j, RADIUS], math.sqrt(1.0 - rise * rise)
        lowest, before = ShapeAxis(j, along(p, r * rise / rim, e), e, half, r / rim), found[0, 0]
        which = (i, int(world[i, BLOCK]), f)
        axis_on_face(solids, ShapeAxis(j, p, e, half, r), lowest, which, limit, found, known)
        end_in_rims(found, before)


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def cylinder_solid(world: Array, solids: Array, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contacts of solid i with cylinder j."""
    relative(world, i, j, room)
    same = SAME * max(extent_of(solids, int(world[i, BLOCK])), max(world[j, RADIUS], world[j, HALF_LENGTH]))
    f, face_gap = best_face_for(world, solids, i, j, room)
    cap, cap_gap = best_cap(world, solids, i, j, room)
    flat = max(face_gap, cap_gap)
    if flat > limit:
        return
    rim_gap, edge, rim, across, at = best_rim(world, solids, i, j, room)
    before, rise = found[0, 0], abs(dot3(across, axis_of(world, j, 2)))
    least = (max(flat, rim_gap) if rise > ACROSS else flat) - same
    known, side_gap, way = side_past_solid(world, solids, (i, j), (least, limit), found)
    if known >= 0 and way == NONE:
        side_gap = max(side_gap, rim_gap)
        rim_gap, edge = side_gap, -1
    ends_near_edges(world, solids, i, j, (flat - same, limit), found)
    border = BORDER * same / SAME
    if rim_gap > max(flat, side_gap) + same:
        if rim_gap > limit or is_level(world, solids, i, j, seen_from(world, i, across), cap_gap, room):
            return
        rim_on_edge(world, solids, (i, j, rim, limit, border), (edge, at), across, room, found)
        return
    if side_gap > flat + same:  # the other end of a side that lies on a face past its edge is over the face
        if dot3(way, normal_of(solids, int(world[i, BLOCK]), f)) >= LIKE_FACE * (side_gap + world[j, RADIUS]) > 0.0:
            cylinder_on_face(world, solids, (i, j, f, limit, border), known, room, found)
        return
    by_cap = cap_gap > face_gap + same
    out = turned_by(room, unit(2, 1.0 if cap else -1.0))
    n = along(ZERO, -1.0, out) if by_cap else normal_of(solids, int(world[i, BLOCK]), f)
    if is_level(world, solids, i, j, n, cap_gap, room):
        return
    if by_cap:
        flat_cap(world, solids, (i, j, cap, limit, border), -1, room, found)
    else:
        cylinder_on_face(world, solids, (i, j, f, limit, border), known, room, found)
        if edge >= 0 and flat - same <= rim_gap <= limit and rise <= CROSSING:
            rim_on_edge(world, solids, (i, j, rim, limit, border), (edge, at), across, room, found)
    if found[0, 0] == before:  # nothing is over what was taken for the shortest way out: it leads past a rim
        rim_gap, edge, rim, across, at = rim_past(world, solids, (i, j, -1 if by_cap else f), n, room)
        if flat - same <= rim_gap <= limit:
            rim_on_edge(world, solids, (i, j, rim, limit, border), (edge, at), across, room, found)
