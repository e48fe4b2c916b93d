"""Contacts of cylinders with half-spaces, balls and capsules, compiled.

Where a cap lies flat, eight points of its rim are contacts, fixed to the cylinder; tilted, the lowest point of the rim.

Features of a cylinder in labels: its axis 0 (which stands for its side), caps 1 and 2, points of rims 3 to 18, rims 19
and 20, and 21 to 24 where a rim passes over the border of a face, two for each cap.
"""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..feature_kinematics import BALL_LINE, BALL_PLANE
from ..primitives import (
    BORDER,
    END,
    NONE,
    UP,
    Primitive,
    axis_of,
    axis_seen_from,
    ball,
    centre_of,
    disc,
    line,
    plane,
    put,
    put_with_guess,
    seen_from,
    to_shape,
    to_space,
    unit,
)
from ..rim_kinematics import (
    DISC_PLANE,
    RIM_BALL,
    RIM_LINE,
    ZERO,
    across,
    common_normal,
    normalized,
    rim_point,
    slope,
    tangents,
)
from ..round_shapes import axis_axis
from ..vectors import A2, V3, Vector, along, dot3

CAP, POINT, RIM, PASS = 1, 3, 19, 21  # first numbers of features in labels
POINTS = 8  # of a rim
TILTED = 1e-9  # sine: a cap tilted by less has no lowest point
LYING = 0.1  # sine: an axis that runs along a face to within this lies on it
ROUGH = 1e-9  # of the radius: slope with which a common normal counts as found


@kernel(f"{V3}(float64, int64)", borrows=True)
def rim_place(radius: float, m: int) -> Vector:
    """Return point m of the eight of a rim, from its centre; those on axes exactly."""
    k = m % 8
    c = 0.5 * math.sqrt(2.0)
    x = 1.0 if k == 0 else (-1.0 if k == 4 else (0.0 if k % 4 == 2 else (c if k in (1, 7) else -c)))
    y = 1.0 if k == 2 else (-1.0 if k == 6 else (0.0 if k % 4 == 0 else (c if k in (1, 3) else -c)))
    return (radius * x, radius * y, 0.0)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def cylinder_plane(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of cylinder i with half-space j."""
    n = axis_of(world, j, 2)
    m, r, up = seen_from(world, i, n), world[i, 12], (0.0, 0.0, 1.0)
    height = dot3(n, along(centre_of(world, i), -1.0, centre_of(world, j)))
    across = math.sqrt(m[0] * m[0] + m[1] * m[1])
    for cap in range(2):
        middle = (0.0, 0.0, world[i, 13] if cap else -world[i, 13])
        low = height + m[2] * middle[2] - r * across
        if low <= limit and across > TILTED:
            put(found, DISC_PLANE, (i, RIM + cap, j, 0), disc(middle, r), plane(NONE, up))
        if low + 2.0 * r * across <= limit:
            for k in range(POINTS):
                p = along(rim_place(r, k), 1.0, middle)
                put(found, BALL_PLANE, (i, POINT + POINTS * cap + k, j, 0), ball(p, 0.0), plane(NONE, up))


@kernel(f"void({A2}, int64, int64, {V3}, int64, float64, {A2})", borrows=True)
def ball_cylinder(world: Array, i: int, feature: int, at: Vector, j: int, limit: float, found: Array) -> None:
    """Add the contact of a ball about `at` (axes of shape i) with what is nearest of cylinder j: cap, side or rim.

    A point (radius 0) has none with rims.
    """
    r, R, h = world[i, 12], world[j, 12], world[j, 13]
    p = to_shape(world, j, to_space(world, i, at))
    out, over, border = math.sqrt(p[0] * p[0] + p[1] * p[1]) - R, abs(p[2]) - h, BORDER * max(R, h)
    cap = 1 if p[2] > 0.0 else 0
    end = unit(2, h if cap else -h)
    if out <= border and (over > border or over >= out):
        if over - r <= limit:
            put(found, BALL_PLANE, (i, feature, j, CAP + cap), ball(at, r), plane(end, unit(2, 1.0 if cap else -1.0)))
    elif over <= border:
        if out - r <= limit:
            put(found, BALL_LINE, (i, feature, j, 0), ball(at, r), line(NONE, unit(2, 1.0), R))
    elif r > 0.0 and out * out + over * over <= (r + limit) * (r + limit):
        put(found, RIM_BALL, (j, RIM + cap, i, feature), disc(end, R), ball(at, r))


@kernel(f"Tuple((float64, {V3}, float64))({A2}, int64, int64, int64, Primitive, {V3})", borrows=True)
def rim_over_line(
    world: Array, i: int, cap: int, j: int, edge: Primitive, guess: Vector
) -> tuple[float, Vector, float]:  # fmt: skip
    """Return the gap of a rim of cylinder i from a line of shape j, the normal, and where along the line it is nearest.

    The guess and the normal stand in space; without a common normal, or with one against the cap, the gap is -1e300.
    Nor is one that is hardly off the axis: a line in the plane of a cap touches the cap.
    """
    b, e, radius = edge
    middle = unit(2, world[i, 13] if cap else -world[i, 13])
    ea, eb = axis_of(world, i, 2), along(ZERO, e[0], axis_of(world, j, 0))
    eb = along(along(eb, e[1], axis_of(world, j, 1)), e[2], axis_of(world, j, 2))
    r, d = world[i, 12], along(to_space(world, i, middle), -1.0, to_space(world, j, b))
    n = common_normal(RIM_LINE, d, ea, eb, r, 0.0, guess)
    t, _ = tangents(RIM_LINE, n, eb)
    g, _, _ = slope(RIM_LINE, n, d, ea, eb, r, 0.0)
    inward = dot3(n, ea) * (1.0 if cap else -1.0)
    if abs(dot3(t, g)) > ROUGH * r or inward > 0.0 or across(n, ea) <= TILTED:
        return -1e300, n, 0.0
    p = normalized(along(n, -dot3(n, ea), ea))
    touching = along(d, -r, p)
    return dot3(n, touching) - radius, n, dot3(touching, eb)


@kernel(f"void({A2}, int64, int64, int64, int64, Primitive, {V3}, {A2})", borrows=True)
def put_rim_on_line(
    world: Array, i: int, cap: int, j: int, feature: int, edge: Primitive, n: Vector, found: Array
) -> None:  # fmt: skip
    """Add the contact of a rim of cylinder i with a line of shape j, with its normal in space."""
    middle = unit(2, world[i, 13] if cap else -world[i, 13])
    label = (i, RIM + cap, j, feature)
    put_with_guess(found, RIM_LINE, label, disc(middle, world[i, 12]), edge, seen_from(world, j, n))


@kernel(f"{V3}({A2}, int64, int64, int64, float64)", borrows=True)
def way_to_rim(world: Array, i: int, cap: int, j: int, s: float) -> Vector:
    """Return about the shortest way to a rim of cylinder i from the axis of shape j: nearest points in turn."""
    ea, e = axis_of(world, i, 2), axis_of(world, j, 2)
    c = to_space(world, i, unit(2, world[i, 13] if cap else -world[i, 13]))
    d, way = along(c, -1.0, centre_of(world, j)), ZERO
    for _ in range(6):
        way, _ = rim_point(along(along(ZERO, s, e), -1.0, d), ZERO, ea, ZERO, world[i, 12])
        s = max(-world[j, 13], min(world[j, 13], dot3(along(d, 1.0, way), e)))
    return along(along(d, 1.0, way), -s, e)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def rims_on_axis(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of the rims of cylinder i with the side of cylinder or capsule j, between its ends."""
    r, h = world[j, 12], world[j, 13]
    side = line(NONE, UP, r)
    for cap in range(2):
        least, normal = 1e300, ZERO
        for end in range(2):
            guess = way_to_rim(world, i, cap, j, h if end else -h)
            if dot3(guess, guess) > 0.0:
                gap, n, t = rim_over_line(world, i, cap, j, side, guess)
                if -r < gap < least and abs(t) <= h:
                    least, normal = gap, n
        if least <= limit:
            put_rim_on_line(world, i, cap, j, 0, side, normal, found)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def axis_over_caps(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add where the axis of shape i, lying on a cap of cylinder j, passes over its rim: balls on the cap."""
    _, p, e, reach, r = axis_seen_from(world, j, i)
    R, flat = world[j, 12], 1.0 - e[2] * e[2]
    if abs(e[2]) > LYING:
        return
    cap, middle = 1 if p[2] > 0.0 else 0, -(p[0] * e[0] + p[1] * e[1]) / flat
    side = p[0] * e[1] - p[1] * e[0]
    room = R * R - side * side / flat
    if room <= 0.0:
        return
    for which in range(2):
        t = middle + (1.0 if which else -1.0) * math.sqrt(room / flat)
        gap = (p[2] + t * e[2]) * (1.0 if cap else -1.0) - world[j, 13] - r
        if abs(t) < reach and gap <= limit:
            label = (i, 0, j, PASS + 2 * cap + which)
            b, n = unit(2, world[j, 13] if cap else -world[j, 13]), unit(2, 1.0 if cap else -1.0)
            put(found, BALL_PLANE, label, ball((0.0, 0.0, t), r), plane(b, n))


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def capsule_cylinder(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of capsule i with cylinder j: its ends, its axis past the side, the rims and over the caps."""
    for end in range(2):
        ball_cylinder(world, i, END + end, unit(2, world[i, 13] if end else -world[i, 13]), j, limit, found)
    axis_axis(world, i, j, limit, found)
    rims_on_axis(world, j, i, limit, found)
    axis_over_caps(world, i, j, limit, found)
