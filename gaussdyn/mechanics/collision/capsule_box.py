"""Contacts of a capsule with a box, compiled: its ends, and its axis over the faces, edges and corners between them."""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .box_box import ball_box
from .feature_kinematics import BALL_LINE
from .primitives import (
    BORDER,
    EDGE,
    END,
    NONE,
    RIM,
    ShapeAxis,
    axis_seen_from,
    ball,
    corner,
    edge_middle,
    edge_number,
    line,
    plane,
    put,
    put_lines,
    put_over_rim,
    size_of,
    unit,
)
from .round_shapes import PARALLEL
from .vectors import A2, V3, Vector, along, cross3, dot3

LIKE_FACE = 0.995  # cosine: where the shortest way is within 0.1 rad of a face's normal, the face may be touched too


@kernel(f"{V3}({V3}, {V3})", borrows=True)
def beyond(p: Vector, h: Vector) -> Vector:
    """Return p less the point of the box with half sides h that is nearest to it."""
    return (
        p[0] - max(-h[0], min(h[0], p[0])), p[1] - max(-h[1], min(h[1], p[1])), p[2] - max(-h[2], min(h[2], p[2]))
    )  # fmt: skip


@kernel(f"float64({V3}, {V3}, float64, {V3})", borrows=True)
def nearest_on_axis(p: Vector, e: Vector, half_length: float, h: Vector) -> float:
    """Return s in [-half_length, half_length] for which p + s e is nearest to the box with half sides h.

    The derivative of the squared distance is piecewise linear and grows; its kinks are where a coordinate passes a
    face.
    """
    low, high = -half_length, half_length
    for a in range(3):
        for sign in (-1.0, 1.0):
            if e[a] == 0.0:
                continue
            s = (sign * h[a] - p[a]) / e[a]
            if low < s < high:
                if dot3(e, beyond(along(p, s, e), h)) < 0.0:
                    low = s
                else:
                    high = s
    slope_low, slope_high = dot3(e, beyond(along(p, low, e), h)), dot3(e, beyond(along(p, high, e), h))
    if slope_low >= 0.0 and slope_high > slope_low:
        return low
    if slope_high <= 0.0 and slope_high > slope_low:
        return high
    return low - slope_low * (high - low) / (slope_high - slope_low) if slope_high > slope_low else 0.5 * (low + high)


@kernel(f"boolean({V3}, {V3}, float64, int64, int64, {V3})", borrows=True)
def crosses(d: Vector, e: Vector, half_length: float, along_edge: int, k: int, h: Vector) -> bool:
    """Return whether the axis d + t e, from the middle of an edge, crosses that edge, its face across k beneath it.

    They cross if they are nearest between their ends and the way from the edge to the axis is within 0.1 rad of k.
    """
    a = 3 - along_edge - k
    k2 = e[a] * e[a] + e[k] * e[k]
    if k2 < PARALLEL * PARALLEL or e[a] * e[a] < LIKE_FACE * LIKE_FACE * k2:
        return False
    t = -(d[a] * e[a] + d[k] * e[k]) / k2
    return abs(t) < half_length and abs(d[along_edge] + t * e[along_edge]) <= (1.0 + BORDER) * h[along_edge]


@kernel(f"void({A2}, ShapeAxis, int64, int64, float64, float64, {A2}, int64)", borrows=True)
def axis_on_face(
    world: Array, axis: ShapeAxis, j: int, k: int, s: float, limit: float, found: Array, known: int
) -> None:
    """Add where the axis of a capsule passes over the border of face (k, s) of box j.

    Edge number `known` is left out: it has a contact with the axis already. The axis and the edge it passes over touch
    where they cross; where they do not, the point of the axis over the edge is held above the face.
    """
    (i, p, e, reach, r), h = axis, size_of(world, j)
    low, high, low_edge, high_edge = -reach, reach, -1, -1
    for step in range(1, 3):
        a, other = (k + step) % 3, (k + 3 - step) % 3
        for side in (-1.0, 1.0):
            room = h[a] - side * p[a]
            rise = side * e[a]
            if rise == 0.0:
                if room < -BORDER * h[a]:
                    return
                continue
            first, second = (s > 0.0, side > 0.0) if step == 1 else (side > 0.0, s > 0.0)
            edge, t = edge_number(other, first, second), room / rise
            if rise > 0.0 and t < high:
                high, high_edge = t, edge
            elif rise < 0.0 and t > low:
                low, low_edge = t, edge
    if low > high:
        return
    for which in range(2):
        t, edge = (low, low_edge) if which == 0 else (high, high_edge)
        if edge >= 0 and edge != known and s * (p[k] + t * e[k]) - h[k] - r <= limit:
            middle, db = edge_middle(h, edge), unit(edge // 4, 1.0)
            if crosses(along(p, -1.0, middle), e, reach, edge // 4, k, h):
                da = unit(2, 1.0 if s * cross3(e, db)[k] > 0.0 else -1.0)
                along_capsule, along_edge = line(NONE, da, r), line(middle, db, 0.0)
                put_lines(found, (i, 0, j, EDGE + edge), along_capsule, along_edge, reach, h[edge // 4])
            else:
                label, on = (i, 0, j, RIM + edge), edge // 4
                out = unit(3 - on - k, 1.0 if middle[3 - on - k] > 0.0 else -1.0)
                put_over_rim(
                    found, label, line(NONE, unit(2, 1.0), r), plane(middle, unit(k, s)), out, (reach, h[on], t)
                )


@kernel(f"int64({A2}, ShapeAxis, int64, float64, {V3}, {A2})", borrows=True)
def axis_on_edge(world: Array, axis: ShapeAxis, j: int, s: float, d: Vector, found: Array) -> int:
    """Add the contact of the axis of a capsule with the edge or corner of box j that d, at its point s, comes from.

    Returns the number of the edge, or -1. Along a parallel edge the corners at its ends are taken.
    """
    (i, p, e, reach, r), h = axis, size_of(world, j)
    k, number = -1, 0
    for a in range(3):
        if d[a] == 0.0:
            k = a
        number += (1 << a) if d[a] > 0.0 else 0
    if k >= 0 and 1.0 - e[k] * e[k] >= PARALLEL * PARALLEL:
        if abs(s) >= reach:
            return -1
        edge, db = edge_number(k, d[(k + 1) % 3] > 0.0, d[(k + 2) % 3] > 0.0), unit(k, 1.0)
        da = unit(2, 1.0 if dot3(cross3(e, db), d) > 0.0 else -1.0)
        one, other = line(NONE, da, r), line(edge_middle(h, edge), db, 0.0)
        put_lines(found, (i, 0, j, EDGE + edge), one, other, reach, h[k])
        return edge
    for end in range(2 if k >= 0 else 1):
        c = number + (1 << k if end else 0)
        q = corner(h, c)
        if r > 0.0 and abs(dot3(e, along(q, -1.0, p))) < reach:
            put(found, BALL_LINE, (j, c, i, 0), ball(q, 0.0), line(NONE, unit(2, 1.0), r))
    return -1


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def capsule_box(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of capsule i with box j."""
    size, h = size_of(world, i), size_of(world, j)
    for end in range(2):
        at = (0.0, 0.0, size[1] if end else -size[1])
        ball_box(world, i, END + end, at, j, limit, found)
    axis = axis_seen_from(world, j, i)
    p, e = axis.middle, axis.way
    s = nearest_on_axis(p, e, size[1], h)
    d = beyond(along(p, s, e), h)
    distance = math.sqrt(dot3(d, d))
    if distance > size[0] + limit:
        return
    inside = distance <= BORDER * max(h[0], h[1], h[2])
    k, most = 0, -1e300
    for a in range(3):
        value = abs(p[a]) - h[a] - abs(e[a]) * size[1] if inside else abs(d[a])
        if value > most:
            k, most = a, value
    sign, known = 1.0 if (p[k] if inside else d[k]) > 0.0 else -1.0, -1
    if not inside and abs(most) < distance:
        known = axis_on_edge(world, axis, j, s, d, found)
    if inside or most >= LIKE_FACE * distance:
        axis_on_face(world, axis, j, k, sign, limit, found, known)
