"""Contacts of round shapes and of half-spaces, compiled; arrays as in `primitives`, limit: the largest gap, m."""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .feature_kinematics import BALL_BALL, BALL_LINE, BALL_PLANE, LINE_LINE
from .primitives import (
    BOX,
    CAPSULE,
    ELLIPSOID,
    ELLIPSOID_HERE,
    END,
    HALF_LENGTH,
    NONE,
    RADIUS,
    axis_of,
    ball,
    centre_of,
    corner,
    line,
    plane,
    put,
    size_of,
    square,
    to_space,
    unit,
)
from .smooth_kinematics import ELLIPSOID_PLANE
from .vectors import A2, V3, Vector, along, cross3, dot3

PARALLEL = 1e-4  # sine of the angle between axes below which the ends of capsules stand for their crossing
SURE = 1e-9  # relative: far more than rounding


@kernel(f"void({A2}, int64, int64, int64, float64, {A2})", borrows=True)
def on_half_space(world: Array, kind: int, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of shape i with the half-space j: centre, ends, corners or the lowest point."""
    size = size_of(world, i)
    n = axis_of(world, j, 2)
    x = along(centre_of(world, i), -1.0, centre_of(world, j))
    height = dot3(n, x)
    if kind == BOX:
        a, b, c = dot3(n, axis_of(world, i, 0)), dot3(n, axis_of(world, i, 1)), dot3(n, axis_of(world, i, 2))
        if height - abs(a) * size[0] - abs(b) * size[1] - abs(c) * size[2] > limit:
            return
        for m in range(8):
            p = corner(size, m)
            if height + a * p[0] + b * p[1] + c * p[2] <= limit:
                put(found, BALL_PLANE, (i, m, j, 0), ball(p, 0.0), plane(NONE, (0.0, 0.0, 1.0)))
    elif kind == CAPSULE:
        rise = dot3(n, axis_of(world, i, 2)) * size[1]
        for end in range(2):
            s = -1.0 if end == 0 else 1.0
            if height + s * rise - size[0] <= limit:
                p = (0.0, 0.0, s * size[1])
                put(found, BALL_PLANE, (i, END + end, j, 0), ball(p, size[0]), plane(NONE, (0.0, 0.0, 1.0)))
    elif kind == ELLIPSOID:
        a, b, c = dot3(n, axis_of(world, i, 0)), dot3(n, axis_of(world, i, 1)), dot3(n, axis_of(world, i, 2))
        if height - math.sqrt(square((a * size[0], b * size[1], c * size[2]))) <= limit:
            put(found, ELLIPSOID_PLANE, (i, 0, j, 0), ELLIPSOID_HERE, plane(NONE, (0.0, 0.0, 1.0)))
    elif height - size[0] <= limit:
        put(found, BALL_PLANE, (i, 0, j, 0), ball(NONE, size[0]), plane(NONE, (0.0, 0.0, 1.0)))


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def sphere_sphere(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contact of two spheres; two points never touch."""
    ra, rb = world[i, RADIUS], world[j, RADIUS]
    d, r = along(centre_of(world, i), -1.0, centre_of(world, j)), ra + rb + limit
    if square(d) <= r * r and ra + rb > 0.0:
        put(found, BALL_BALL, (i, 0, j, 0), ball(NONE, ra), ball(NONE, rb))


@kernel(f"int64({A2}, int64, int64, {V3}, int64, float64, {A2}, int64)", borrows=True)
def ball_capsule(
    world: Array,
    i: int,
    feature: int,
    p: Vector,
    j: int,
    limit: float,
    found: Array,
    known: int,
) -> int:
    """Add the contact of a ball about p (frame of shape i) with capsule j.

    `known` holds a bit for every end of j that need not be added; returns the bits of the end that was nearest.
    """
    ra, rb, h = world[i, RADIUS], world[j, RADIUS], world[j, HALF_LENGTH]
    d = along(to_space(world, i, p), -1.0, centre_of(world, j))
    e = axis_of(world, j, 2)
    s = dot3(d, e)
    nearest = -1 if s <= -h else (1 if s >= h else 0)
    d = along(d, -s if nearest == 0 else -h * nearest, e)
    r = ra + rb + limit
    bit = 0 if nearest == 0 else (1 if nearest < 0 else 2)
    if square(d) > r * r or ra + rb == 0.0 or bit & known:
        return 0
    if nearest == 0:
        put(found, BALL_LINE, (i, feature, j, 0), ball(p, ra), line(NONE, (0.0, 0.0, 1.0), rb))
    else:
        b = (0.0, 0.0, h * nearest)
        put(found, BALL_BALL, (i, feature, j, END + bit - 1), ball(p, ra), ball(b, rb))
    return bit


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def axis_axis(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contact of two capsules whose axes pass each other between their ends."""
    ea, eb = axis_of(world, i, 2), axis_of(world, j, 2)
    d, m = along(centre_of(world, i), -1.0, centre_of(world, j)), cross3(ea, eb)
    k2 = square(m)
    if k2 < PARALLEL * PARALLEL:
        return
    s, t = -dot3(cross3(d, eb), m) / k2, -dot3(cross3(d, ea), m) / k2
    distance, r = dot3(d, m) / math.sqrt(k2), world[i, RADIUS] + world[j, RADIUS] + limit
    if abs(s) < world[i, HALF_LENGTH] and abs(t) < world[j, HALF_LENGTH] and abs(distance) <= r:
        da = unit(2, 1.0 if distance >= 0.0 else -1.0)
        put(
            found, LINE_LINE, (i, 0, j, 0), line(NONE, da, world[i, RADIUS]), line(NONE, unit(2, 1.0), world[j, RADIUS])
        )


@kernel(f"boolean({A2}, int64, int64, float64)", borrows=True)
def far_apart(world: Array, i: int, j: int, limit: float) -> bool:
    """Return whether two capsules are surely open by more than `limit`, as they are if some direction n tells.

    Along it centres are |d . n| apart, and axes reach h |a . n| from there. It is that of d, or across an axis.
    """
    a, b, d = axis_of(world, i, 2), axis_of(world, j, 2), along(centre_of(world, i), -1.0, centre_of(world, j))
    most = (limit + world[i, RADIUS] + world[j, RADIUS]) * (1.0 + SURE)
    for n in (d, along(d, -dot3(a, d), a), along(d, -dot3(b, d), b)):
        reach = world[i, HALF_LENGTH] * abs(dot3(a, n)) + world[j, HALF_LENGTH] * abs(dot3(b, n))
        if dot3(d, n) - reach > most * math.sqrt(dot3(n, n)):
            return True
    return False


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def capsule_capsule(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contacts of two capsules: their ends against each other, and where their axes cross."""
    if far_apart(world, i, j, limit):
        return
    ends = 0  # bits 1, 2: end 0 of j met end 0, 1 of i; bits 4, 8: the same for end 1 of j
    for end in range(2):
        h = world[i, HALF_LENGTH] * (1.0 if end else -1.0)
        bit = ball_capsule(world, i, END + end, (0.0, 0.0, h), j, limit, found, 0)
        ends |= (1 << end) * ((1 if bit & 1 else 0) + (4 if bit & 2 else 0))
    for end in range(2):
        h = world[j, HALF_LENGTH] * (1.0 if end else -1.0)
        known = ends >> 2 if end else ends & 3
        ball_capsule(world, j, END + end, (0.0, 0.0, h), i, limit, found, known)
    axis_axis(world, i, j, limit, found)
