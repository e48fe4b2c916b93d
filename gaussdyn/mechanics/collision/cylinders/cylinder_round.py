"""Contacts of cylinders with half-spaces, balls and capsules, compiled.

Where a cap lies flat, eight points of its rim are contacts, fixed to the cylinder; tilted, the lowest point of the rim.

Features of a cylinder in labels: its axis 0 (which stands for its side), caps 1 and 2, points of rims 3 to 18, rims 19
and 20, and 21 to 24 where an edge crosses a cap, two for each.
"""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..feature_kinematics import BALL_LINE, BALL_PLANE
from ..primitives import (
    BORDER,
    END,
    HALF_LENGTH,
    LABEL,
    LEVEL,
    NONE,
    RADIUS,
    UP,
    Label,
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
    to_axes,
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
    nearest_on_rim,
    normalized,
    rim_point,
    spoke_towards,
)
from ..round_shapes import axis_axis
from ..vectors import A2, V3, Vector, along, dot3

CAP, POINT, RIM, PASS = 1, 3, 19, 21  # first numbers of features in labels
POINTS = 8  # of a rim
TILTED = 1e-9  # sine: a cap tilted by less has no lowest point
LYING = 0.1  # sine: an axis that runs along a face to within this lies on it
ACROSS = 0.1  # sine up to which the way out, known to some 1e-3, does not say which rim is nearest
ROUGH = 1e-9  # of the radius: slope with which a common normal counts as found
FLAT_WAY = 1e-12  # square of a sine: lines nearer to the axis pass over no rim


@kernel(f"{V3}(float64, int64)", borrows=True)
def rim_place(radius: float, m: int) -> Vector:
    """Return point m of the eight of a rim, from its centre; those on axes exactly."""
    k = m % 8
    c = 0.5 * math.sqrt(2.0)
    x = 1.0 if k == 0 else (-1.0 if k == 4 else (0.0 if k % 4 == 2 else (c if k in (1, 7) else -c)))
    y = 1.0 if k == 2 else (-1.0 if k == 6 else (0.0 if k % 4 == 0 else (c if k in (1, 3) else -c)))
    return (radius * x, radius * y, 0.0)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True, rare=True)
def cylinder_plane(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of cylinder i with half-space j."""
    n = axis_of(world, j, 2)
    m, r, up = seen_from(world, i, n), world[i, RADIUS], (0.0, 0.0, 1.0)
    height = dot3(n, along(centre_of(world, i), -1.0, centre_of(world, j)))
    across = math.sqrt(m[0] * m[0] + m[1] * m[1])
    for cap in range(2):
        middle = (0.0, 0.0, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH])
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
    r, R, h = world[i, RADIUS], world[j, RADIUS], world[j, HALF_LENGTH]
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


@kernel(f"Tuple((float64, {V3}, float64, {V3}))({A2}, int64, int64, int64, Primitive, {V3}, {V3})", borrows=True)
def rim_near_line(
    world: Array, i: int, cap: int, j: int, edge: Primitive, start: Vector, guess: Vector
) -> tuple[float, Vector, float, Vector]:  # fmt: skip
    """Return the gap of a rim of cylinder i from a line of shape j, the normal, where on the line it is, and the spoke.

    The spoke where to start, the guess (for a rim along a line that it touches), the normal and the spoke stand in
    space. The normal looks out of what is beside the rim: the side and the cap. If none was found the gap is -1e300.
    """
    r, ea, eb = world[i, RADIUS], axis_of(world, i, 2), to_axes(world, j, edge.axis)
    d = along(
        to_space(world, i, unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH])),
        -1.0,
        to_space(world, j, edge.point),
    )
    one = nearest_on_rim(d, ea, eb, r, start)
    n = one.normal if one.normal != ZERO else normalized(along(guess, -dot3(guess, eb), eb))
    if dot3(n, along(one.spoke, 1.0 if cap else -1.0, ea)) > 0.0:
        n = along(ZERO, -1.0, n)
    if abs(one.slope) > ROUGH * r:
        return -1e300, n, 0.0, one.spoke
    return dot3(n, one.way) - edge.radius, n, one.at, one.spoke


@kernel(f"Tuple((float64, float64, float64))({A2}, int64, int64, int64, Primitive)", borrows=True)
def line_over_cap(world: Array, i: int, cap: int, j: int, edge: Primitive) -> tuple[float, float, float]:
    """Return how much of a cap of cylinder i a line of shape j over it cuts off, m, and from where to where on it.

    Nothing where that is no more than what is level with it: the line runs along the rim.
    """
    middle, u = (
        unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH]),
        seen_from(world, i, to_axes(world, j, edge.axis)),
    )
    q, r = along(to_shape(world, i, to_space(world, j, edge.point)), -1.0, middle), world[i, RADIUS]
    flat = u[0] * u[0] + u[1] * u[1]
    if flat < FLAT_WAY:
        return 0.0, 0.0, 0.0
    side, t = q[0] * u[1] - q[1] * u[0], -(q[0] * u[0] + q[1] * u[1]) / flat
    cut = r - abs(side) / math.sqrt(flat)
    if cut <= LEVEL * r:
        return 0.0, 0.0, 0.0
    half = math.sqrt(cut * (2.0 * r - cut) / flat)
    return cut, t - half, t + half


@kernel(f"{V3}({A2}, int64, int64, int64, Primitive, float64)", borrows=True)
def spoke_to(world: Array, i: int, cap: int, j: int, edge: Primitive, at: float) -> Vector:
    """Return the spoke of a cap of cylinder i towards a place on a line of shape j, in space."""
    centre = to_space(world, i, unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH]))
    p = to_space(world, j, along(edge.point, at, edge.axis))
    return spoke_towards(along(p, -1.0, centre), axis_of(world, i, 2))


@kernel(f"boolean({A2}, int64, int64, {V3}, {V3})", borrows=True)
def is_outward(world: Array, i: int, cap: int, n: Vector, spoke: Vector) -> bool:
    """Return whether the rim of a cap is the part of cylinder i farthest against n, at the end of a spoke.

    Nor is it where n is hardly off the axis: the cap is.
    """
    ea = axis_of(world, i, 2)
    return dot3(n, ea) * (1.0 if cap else -1.0) <= 0.0 and dot3(n, spoke) <= 0.0 and across(n, ea) > TILTED


@kernel(f"Tuple((float64, {V3}, float64))({A2}, int64, int64, int64, Primitive, {V3})", borrows=True)
def rim_over_line(
    world: Array, i: int, cap: int, j: int, edge: Primitive, guess: Vector
) -> tuple[float, Vector, float]:  # fmt: skip
    """Return what `rim_near_line` does, where the rim is the part of the cylinder that is nearest; else -1e300.

    Where the line passes over the cap it is one of two crossings.
    """
    cut, first, last = line_over_cap(world, i, cap, j, edge)
    centre = to_shape(world, j, to_space(world, i, unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH])))
    best, normal, at, place = -1e300, guess, 0.0, dot3(along(centre, -1.0, edge.point), edge.axis)
    for which in range(3 if cut > 0.0 else 1):
        start = spoke_to(world, i, cap, j, edge, place)
        gap, n, t, spoke = rim_near_line(world, i, cap, j, edge, start, guess)
        if gap > best and is_outward(world, i, cap, n, spoke):
            best, normal, at = gap, n, t
        place = first if which == 0 else last
    return best, normal, at


@kernel(f"void({LABEL}, {A2}, Primitive, {V3}, float64, {A2})", borrows=True)
def put_rim_on_line(label: Label, world: Array, edge: Primitive, n: Vector, at: float, found: Array) -> None:
    """Add the contact of a rim with a line, of this label: a rim, or one of its crossings.

    n: its normal in space; at: where on the line.
    """
    i, feature, j, _ = label
    cap = feature - RIM if feature < PASS else (feature - PASS) // 2
    middle = unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH])
    put_with_guess(found, RIM_LINE, label, disc(middle, world[i, RADIUS]), edge, seen_from(world, j, n))
    c = int(found[0, 0])
    if c < len(found):
        found[c, 17] = 0.0 if feature < PASS else (-1.0 if cap else 1.0) * (1 + (feature - PASS) % 2)
        found[c, 18] = at


@kernel(f"{V3}({A2}, int64, int64, int64, float64)", borrows=True)
def way_to_rim(world: Array, i: int, cap: int, j: int, s: float) -> Vector:
    """Return about the shortest way to a rim of cylinder i from the axis of shape j: nearest points in turn."""
    ea, e = axis_of(world, i, 2), axis_of(world, j, 2)
    c = to_space(world, i, unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH]))
    d, way = along(c, -1.0, centre_of(world, j)), ZERO
    for _ in range(6):
        way, _ = rim_point(along(along(ZERO, s, e), -1.0, d), ZERO, ea, ZERO, world[i, RADIUS])
        s = max(-world[j, HALF_LENGTH], min(world[j, HALF_LENGTH], dot3(along(d, 1.0, way), e)))
    return along(along(d, 1.0, way), -s, e)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def rims_on_axis(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of the rims of cylinder i with the side of cylinder or capsule j, between its ends."""
    r, h = world[j, RADIUS], world[j, HALF_LENGTH]
    side = line(NONE, UP, r)
    for cap in range(2):
        least, normal, at = 1e300, ZERO, 0.0
        for end in range(2):
            guess = way_to_rim(world, i, cap, j, h if end else -h)
            if dot3(guess, guess) > 0.0:
                gap, n, t = rim_over_line(world, i, cap, j, side, guess)
                if -r < gap < least and abs(t) <= h:
                    least, normal, at = gap, n, t
        if least <= limit:
            put_rim_on_line((i, RIM + cap, j, 0), world, side, normal, at, found)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def axis_over_caps(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add where the axis of shape i, lying on a cap of cylinder j, passes over its rim: balls on the cap."""
    _, p, e, reach, r = axis_seen_from(world, j, i)
    R, flat = world[j, RADIUS], 1.0 - e[2] * e[2]
    if abs(e[2]) > LYING:
        return
    cap, middle = 1 if p[2] > 0.0 else 0, -(p[0] * e[0] + p[1] * e[1]) / flat
    side = p[0] * e[1] - p[1] * e[0]
    room = R * R - side * side / flat
    if room <= 0.0:
        return
    for which in range(2):
        t = middle + (1.0 if which else -1.0) * math.sqrt(room / flat)
        gap = (p[2] + t * e[2]) * (1.0 if cap else -1.0) - world[j, HALF_LENGTH] - r
        if abs(t) < reach and gap <= limit:
            label = (i, 0, j, PASS + 2 * cap + which)
            b, n = unit(2, world[j, HALF_LENGTH] if cap else -world[j, HALF_LENGTH]), unit(2, 1.0 if cap else -1.0)
            put(found, BALL_PLANE, label, ball((0.0, 0.0, t), r), plane(b, n))


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def capsule_cylinder(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of capsule i with cylinder j: its ends, its axis past the side, the rims and over the caps."""
    for end in range(2):
        ball_cylinder(
            world, i, END + end, unit(2, world[i, HALF_LENGTH] if end else -world[i, HALF_LENGTH]), j, limit, found
        )
    axis_axis(world, i, j, limit, found)
    rims_on_axis(world, j, i, limit, found)
    axis_over_caps(world, i, j, limit, found)
