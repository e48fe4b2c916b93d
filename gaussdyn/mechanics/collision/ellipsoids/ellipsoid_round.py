"""Contacts of ellipsoids with balls, capsules, cylinders and one another, compiled: there is one nearest point.

The ellipsoid is shape A of its contacts. `room` as in `box_box`.
"""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..box_box import relative
from ..cylinders.cylinder_round import CAP, RIM
from ..nearest_direction import way_between
from ..primitives import (
    BORDER,
    ELLIPSOID_HERE,
    END,
    HALF_LENGTH,
    NONE,
    RADIUS,
    axis_of,
    ball,
    centre_of,
    disc,
    line,
    plane,
    put,
    put_with_guess,
    seen_from,
    size_of,
    to_shape,
    to_space,
    unit,
)
from ..rim_kinematics import ZERO
from ..smooth_kinematics import (
    ELLIPSOID_BALL,
    ELLIPSOID_ELLIPSOID,
    ELLIPSOID_LINE,
    ELLIPSOID_PLANE,
    ELLIPSOID_RIM,
    M6,
    Matrix,
    farthest_along,
    rim_normal,
    round_matrix,
    smooth_normal,
    with_square,
)
from ..vectors import A2, V3, Vector, along, cross3, dot3


@kernel(f"{M6}({A2}, int64)", borrows=True)
def matrix_of_shape(world: Array, i: int) -> Matrix:
    """Return the matrix of ellipsoid i in space."""
    M, h = round_matrix(0.0), size_of(world, i)
    for k in range(3):
        M = with_square(M, h[k] * h[k], axis_of(world, i, k))
    return M


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def turned_out(world: Array, i: int, n: Vector) -> Vector:
    """Return a direction in the axes of shape i in space."""
    e = along(along(ZERO, n[0], axis_of(world, i, 0)), n[1], axis_of(world, i, 1))
    return along(e, n[2], axis_of(world, i, 2))


@kernel(f"void({A2}, int64, int64, {V3}, int64, float64, {A2})", borrows=True)
def ball_ellipsoid(world: Array, i: int, feature: int, at: Vector, j: int, limit: float, found: Array) -> None:
    """Add the contact of a ball about `at` (axes of shape i) with ellipsoid j."""
    r, h, b = world[i, RADIUS], size_of(world, j), to_space(world, i, at)
    p, d = to_shape(world, j, b), along(centre_of(world, j), -1.0, b)
    guess = turned_out(world, j, (-p[0] / (h[0] * h[0]), -p[1] / (h[1] * h[1]), -p[2] / (h[2] * h[2])))
    A = matrix_of_shape(world, j)
    n = smooth_normal(ELLIPSOID_BALL, d, ZERO, A, round_matrix(0.0), guess if guess != ZERO else (0.0, 0.0, 1.0))
    _, reach = farthest_along(A, n)
    if dot3(n, d) - reach - r <= limit:
        put_with_guess(found, ELLIPSOID_BALL, (j, 0, i, feature), ELLIPSOID_HERE, ball(at, r), seen_from(world, i, n))


@kernel(f"Tuple(({V3}, float64, float64))({M6}, {V3}, {V3}, {V3})", borrows=True)
def over_line(A: Matrix, d: Vector, e: Vector, guess: Vector) -> tuple[Vector, float, float]:
    """Return the normal of an ellipsoid with a line along e, its gap, and where on the line; d: from there to it."""
    if dot3(cross3(guess, e), cross3(guess, e)) <= 1e-24 * dot3(guess, guess):
        guess = cross3(e, (1.0, 0.0, 0.0) if abs(e[0]) < 0.6 else (0.0, 1.0, 0.0))
    n = smooth_normal(ELLIPSOID_LINE, d, e, A, round_matrix(0.0), guess)
    p, h = farthest_along(A, n)
    return n, dot3(n, d) - h, dot3(along(d, -1.0, p), e)


@kernel(f"void({A2}, int64, int64, float64, {A2})", borrows=True)
def capsule_ellipsoid(world: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the contact of capsule i with ellipsoid j: between its ends, or at the nearer one."""
    e, d, r = axis_of(world, i, 2), along(centre_of(world, j), -1.0, centre_of(world, i)), world[i, RADIUS]
    n, gap, t = over_line(matrix_of_shape(world, j), d, e, d)
    if abs(t) > world[i, HALF_LENGTH]:
        end = 1 if t > 0.0 else 0
        ball_ellipsoid(
            world, i, END + end, unit(2, world[i, HALF_LENGTH] if end else -world[i, HALF_LENGTH]), j, limit, found
        )
    elif gap - r <= limit:
        guess = seen_from(world, i, n)
        put_with_guess(found, ELLIPSOID_LINE, (j, 0, i, 0), ELLIPSOID_HERE, line(NONE, unit(2, 1.0), r), guess)


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def ellipsoid_ellipsoid(
    world: Array, solids: Array, i: int, j: int, limit: float, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contact of two ellipsoids."""
    relative(world, i, j, room)
    near, own = way_between(world, solids, i, j, limit, room)
    if not near:
        return
    way = turned_out(world, i, own)
    A, B = matrix_of_shape(world, i), matrix_of_shape(world, j)
    d = along(centre_of(world, i), -1.0, centre_of(world, j))
    n = smooth_normal(ELLIPSOID_ELLIPSOID, d, ZERO, A, B, along(ZERO, -1.0, way))
    _, h = farthest_along(A, n)
    _, k = farthest_along(B, n)
    if dot3(n, d) - h - k <= limit:
        guess = seen_from(world, j, n)
        put_with_guess(found, ELLIPSOID_ELLIPSOID, (i, 0, j, 0), ELLIPSOID_HERE, ELLIPSOID_HERE, guess)


@kernel(f"void({A2}, int64, int64, int64, {V3}, float64, {A2})", borrows=True)
def put_on_rim(world: Array, i: int, cap: int, j: int, guess: Vector, limit: float, found: Array) -> None:
    """Add the contact of a rim of cylinder i with ellipsoid j."""
    A, e, r = matrix_of_shape(world, j), axis_of(world, i, 2), world[i, RADIUS]
    middle = unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH])
    d = along(centre_of(world, j), -1.0, to_space(world, i, middle))
    B = with_square(round_matrix(r), -r * r, e)
    n = rim_normal(d, e, A, r, guess)
    _, h = farthest_along(A, n)
    _, k = farthest_along(B, n)
    if dot3(n, d) - h - k <= limit:
        own = seen_from(world, i, n)
        put_with_guess(found, ELLIPSOID_RIM, (j, 0, i, RIM + cap), ELLIPSOID_HERE, disc(middle, r), own)


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def cylinder_ellipsoid(
    world: Array, solids: Array, i: int, j: int, limit: float, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contact of cylinder i with ellipsoid j: cap, side or rim."""
    relative(world, i, j, room)
    near, own = way_between(world, solids, i, j, limit, room)
    if not near:
        return
    guess, cap = turned_out(world, i, own), 1 if own[2] > 0.0 else 0
    A, e, s = matrix_of_shape(world, j), axis_of(world, i, 2), 1.0 if cap else -1.0
    d, R, H = along(centre_of(world, j), -1.0, centre_of(world, i)), world[i, RADIUS], world[i, HALF_LENGTH]
    p, h = farthest_along(A, along(ZERO, s, e))
    flat, q = s * dot3(e, d) - H - h, along(d, -1.0, p)
    out = along(q, -dot3(q, e), e)
    n, gap, t = over_line(A, d, e, guess)
    on_cap, on_side = math.sqrt(dot3(out, out)) <= R * (1.0 + BORDER), abs(t) <= H
    if on_cap and (flat >= gap - R or not on_side):
        if flat <= limit:
            put(found, ELLIPSOID_PLANE, (j, 0, i, CAP + cap), ELLIPSOID_HERE, plane(unit(2, s * H), unit(2, s)))
    elif on_side:
        if gap - R <= limit:
            seen = seen_from(world, i, n)
            put_with_guess(found, ELLIPSOID_LINE, (j, 0, i, 0), ELLIPSOID_HERE, line(NONE, unit(2, 1.0), R), seen)
    else:
        put_on_rim(world, i, 1 if t > 0.0 else 0, j, guess, limit, found)
