"""Contacts of cylinders with one another, compiled: the cap, the sides or the rims of largest separation decide.

`room` as in `box_box`.
"""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..box_box import relative, swap_roles
from ..capsule_box import LIKE_FACE
from ..feature_kinematics import BALL_PLANE
from ..nearest_direction import way_between
from ..primitives import (
    BORDER,
    HALF_LENGTH,
    NONE,
    RADIUS,
    SAME,
    UP,
    axis_of,
    ball,
    centre_of,
    disc,
    line,
    plane,
    put,
    put_with_guess,
    seen_from,
    to_axes,
    to_space,
    unit,
)
from ..rim_kinematics import DISC_PLANE, RIM_RIM, ZERO, across, common_normal, roughness
from ..round_shapes import PARALLEL, axis_axis
from ..solid_solid import placed, placed_back
from ..vectors import A2, V3, Vector, along, cross3, dot3, turned_back
from .cylinder_round import (
    ACROSS,
    CAP,
    PASS,
    POINT,
    POINTS,
    RIM,
    ROUGH,
    TILTED,
    axis_over_caps,
    put_rim_on_line,
    rim_over_line,
    rim_place,
    rims_on_axis,
)

START = 0.1  # rad: lean off the normal of a cap with which the search for rims past it starts, at most
BEST = "Tuple((int64, float64))"
CAPS = "Tuple((int64, int64, int64, float64, float64))"
Caps = tuple[int, int, int, float, float]  # two cylinders, the cap of the first, limit, border


@kernel(f"{BEST}({A2}, int64, int64, {A2})", borrows=True)
def best_cap_of(world: Array, i: int, j: int, room: Array) -> tuple[int, float]:
    """Return the cap of cylinder i from which cylinder j is farthest, and how far."""
    z, rise = room[3, 2], abs(room[2, 2])
    gap = (
        abs(z)
        - world[i, HALF_LENGTH]
        - world[j, HALF_LENGTH] * rise
        - world[j, RADIUS] * math.sqrt(max(0.0, 1.0 - rise * rise))
    )
    return (1 if z > 0.0 else 0), gap


@kernel(f"void({A2}, {CAPS}, int64, {A2}, {A2})", borrows=True)
def rim_on_cap(world: Array, caps: Caps, other: int, room: Array, found: Array) -> None:
    """Add the lowest point of a rim of the second cylinder over a cap of the first, or its points if it lies flat."""
    i, j, cap, limit, border = caps
    s, r, R = 1.0 if cap else -1.0, world[j, RADIUS], world[i, RADIUS] + border
    m, middle = turned_back(room, unit(2, s)), unit(2, world[j, HALF_LENGTH] if other else -world[j, HALF_LENGTH])
    tilt, end, n = math.sqrt(m[0] * m[0] + m[1] * m[1]), unit(2, s * world[i, HALF_LENGTH]), unit(2, s)
    low = s * placed(room, middle)[2] - world[i, HALF_LENGTH] - r * tilt
    if low <= limit and tilt > TILTED:
        p = placed(room, along(middle, -r / tilt, (m[0], m[1], 0.0)))
        if p[0] * p[0] + p[1] * p[1] <= R * R:
            put(found, DISC_PLANE, (j, RIM + other, i, CAP + cap), disc(middle, r), plane(end, n))
    for k in range(POINTS if low + 2.0 * r * tilt <= limit else 0):
        q = along(rim_place(r, k), 1.0, middle)
        p = placed(room, q)
        if p[0] * p[0] + p[1] * p[1] <= R * R:
            put(found, BALL_PLANE, (j, POINT + POINTS * other + k, i, CAP + cap), ball(q, 0.0), plane(end, n))


@kernel(f"void({A2}, {CAPS}, int64, {A2}, {A2})", borrows=True)
def under_cap(world: Array, caps: Caps, other: int, room: Array, found: Array) -> None:
    """Add points of the rim of the first cylinder's cap under that of the second."""
    i, j, cap, limit, border = caps
    s, t, R = 1.0 if cap else -1.0, 1.0 if other else -1.0, world[j, RADIUS] - border
    middle, end, n = unit(2, s * world[i, HALF_LENGTH]), unit(2, t * world[j, HALF_LENGTH]), unit(2, t)
    for k in range(POINTS):
        p = along(rim_place(world[i, RADIUS], k), 1.0, middle)
        q = placed_back(room, p)
        if q[0] * q[0] + q[1] * q[1] < R * R and t * q[2] - world[j, HALF_LENGTH] <= limit:
            put(found, BALL_PLANE, (i, POINT + POINTS * cap + k, j, CAP + other), ball(p, 0.0), plane(end, n))


@kernel(f"void({A2}, {CAPS}, int64, {A2}, {A2})", borrows=True)
def rims_that_cross(world: Array, caps: Caps, other: int, room: Array, found: Array) -> None:
    """Add where the rims of two caps that lie on each other cross."""
    i, j, cap, limit, border = caps
    s, t = 1.0 if cap else -1.0, 1.0 if other else -1.0
    middle, end, n = unit(2, s * world[i, HALF_LENGTH]), unit(2, t * world[j, HALF_LENGTH]), unit(2, t)
    c = placed(room, end)
    apart2, a, b = c[0] * c[0] + c[1] * c[1], world[i, RADIUS], world[j, RADIUS]
    apart = math.sqrt(apart2)
    if apart <= abs(a - b) + border or apart >= a + b:
        return
    along_way = (apart2 + a * a - b * b) / (2.0 * apart)
    aside = math.sqrt(max(0.0, a * a - along_way * along_way))
    for which in range(2):
        side = aside if which else -aside
        p = ((along_way * c[0] - side * c[1]) / apart, (along_way * c[1] + side * c[0]) / apart, middle[2])
        if t * placed_back(room, p)[2] - world[j, HALF_LENGTH] <= limit:
            label = (i, PASS + 2 * cap + which, j, CAP + other)
            put(found, BALL_PLANE, label, ball(p, 0.0), plane(end, n))


@kernel(f"void({A2}, {CAPS}, {A2}, {A2})", borrows=True)
def cylinder_on_cap(world: Array, caps: Caps, room: Array, found: Array) -> None:
    """Add the contacts of the second cylinder with a cap of the first."""
    i, j, cap, limit, _ = caps
    rise = room[2, 2] * (1.0 if cap else -1.0)
    for other in range(2):
        rim_on_cap(world, caps, other, room, found)
    if abs(rise) >= LIKE_FACE:
        under_cap(world, caps, 0 if rise > 0.0 else 1, room, found)
        rims_that_cross(world, caps, 0 if rise > 0.0 else 1, room, found)
    else:
        axis_over_caps(world, j, i, limit, found)


@kernel(f"Tuple((float64, {V3}))({A2}, int64, int64, int64, int64, {V3})", borrows=True)
def rims_apart(world: Array, i: int, cap: int, j: int, other: int, guess: Vector) -> tuple[float, Vector]:
    """Return the gap of two rims and the normal in space; -1e300 if the caps do not look at each other."""
    ea, eb, ra, rb = axis_of(world, i, 2), axis_of(world, j, 2), world[i, RADIUS], world[j, RADIUS]
    a = to_space(world, i, unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH]))
    d = along(a, -1.0, to_space(world, j, unit(2, world[j, HALF_LENGTH] if other else -world[j, HALF_LENGTH])))
    n = common_normal(d, ea, eb, ra, rb, guess)
    first, second = dot3(n, ea) * (1.0 if cap else -1.0), dot3(n, eb) * (1.0 if other else -1.0)
    if roughness(n, d, ea, eb, ra, rb) > ROUGH * max(ra, rb) or max(first, -second) > ROUGH:
        return -1e300, n
    return dot3(n, d) - ra * across(n, ea) - rb * across(n, eb), n


@kernel(f"Tuple((float64, int64, {V3}, float64))({A2}, int64, int64, {V3}, float64)", borrows=True)
def rim_on_side(world: Array, i: int, j: int, guess: Vector, doubt: float) -> tuple[float, int, Vector, float]:
    """Return the gap of the rim of cylinder i farthest from the side of cylinder j, its cap, normal, and where there.

    -1e300 without. Both rims are asked where the sine of the guess of the normal (into i) off a cap is within `doubt`.
    """
    best, which, normal, at = -1e300, 0, guess, 0.0
    lean = -dot3(guess, axis_of(world, i, 2))
    for cap in range(2):
        if lean * (1.0 if cap else -1.0) >= -doubt:
            gap, n, t = rim_over_line(world, i, cap, j, line(NONE, UP, world[j, RADIUS]), guess)
            if gap > best and abs(t) <= world[j, HALF_LENGTH]:
                best, which, normal, at = gap, cap, n, t
    return best, which, normal, at


@kernel(f"Tuple((float64, int64, int64, {V3}))({A2}, int64, int64, {V3}, float64)", borrows=True)
def farthest_rims(world: Array, i: int, j: int, guess: Vector, doubt: float) -> tuple[float, int, int, Vector]:
    """Return the gap of the rims of two cylinders that are farthest apart, their caps, and the normal; see above."""
    best, one, two, normal = -1e300, 0, 0, guess
    first, second = -dot3(guess, axis_of(world, i, 2)), dot3(guess, axis_of(world, j, 2))
    for cap in range(2):
        for other in range(2):
            if min(first * (1.0 if cap else -1.0), second * (1.0 if other else -1.0)) >= -doubt:
                gap, n = rims_apart(world, i, cap, j, other, guess)
                if gap > best:
                    best, one, two, normal = gap, cap, other, n
    return best, one, two, normal


@kernel(f"float64({A2}, int64, int64, float64, float64, {V3}, float64, {A2})", borrows=True)
def rims(world: Array, i: int, j: int, limit: float, above: float, guess: Vector, doubt: float, found: Array) -> float:
    """Add the contact of the rims that are nearest, or of one with the other side, if it is farther than `above`.

    Returns its gap, -1e300 without. The guess is that of the normal, into i, in space.
    """
    gap, cap, other, n = farthest_rims(world, i, j, guess, doubt)
    first, p, m, t = rim_on_side(world, i, j, guess, doubt)
    second, q, k, s = rim_on_side(world, j, i, along(ZERO, -1.0, guess), doubt)
    most = max(gap, first, second)
    if most <= above or most > limit:
        return most
    if first == most:
        put_rim_on_line((i, RIM + p, j, 0), world, line(NONE, UP, world[j, RADIUS]), m, t, found)
    elif second == most:
        put_rim_on_line((j, RIM + q, i, 0), world, line(NONE, UP, world[i, RADIUS]), k, s, found)
    else:
        a, b = (
            unit(2, world[i, HALF_LENGTH] if cap else -world[i, HALF_LENGTH]),
            unit(2, world[j, HALF_LENGTH] if other else -world[j, HALF_LENGTH]),
        )
        label = (i, RIM + cap, j, RIM + other)
        put_with_guess(
            found, RIM_RIM, label, disc(a, world[i, RADIUS]), disc(b, world[j, RADIUS]), seen_from(world, j, n)
        )
    return most


@kernel(f"float64({A2}, int64, int64)", borrows=True)
def sides_apart(world: Array, i: int, j: int) -> float:
    """Return how far the sides of two cylinders are apart; -1e300 if they do not pass each other."""
    ea, eb = axis_of(world, i, 2), axis_of(world, j, 2)
    d, m = along(centre_of(world, i), -1.0, centre_of(world, j)), cross3(ea, eb)
    k2, r = dot3(m, m), world[i, RADIUS] + world[j, RADIUS]
    if k2 < 1e-8:
        t = dot3(d, eb)
        p = along(d, -t, eb)
        return math.sqrt(dot3(p, p)) - r if abs(t) <= world[i, HALF_LENGTH] + world[j, HALF_LENGTH] else -1e300
    s, t = -dot3(cross3(d, eb), m) / k2, -dot3(cross3(d, ea), m) / k2
    if abs(s) >= world[i, HALF_LENGTH] or abs(t) >= world[j, HALF_LENGTH]:
        return -1e300
    return float(abs(dot3(d, m)) / math.sqrt(k2) - r)


@kernel(f"{V3}({A2}, {CAPS}, {A2})", borrows=True)
def over_rim(world: Array, caps: Caps, room: Array) -> Vector:
    """Return a normal of rims, into the first cylinder, if the lowest point of the second is past its cap; else zero.

    What holds them is next to the normal of that cap, so that a search from there does not miss it. None where the
    caps lie on each other: the crossings of their rims do.
    """
    i, j, cap, _, _ = caps
    s, R = 1.0 if cap else -1.0, world[i, RADIUS]
    m, rise = turned_back(room, unit(2, s)), s * room[2, 2]
    if abs(rise) >= LIKE_FACE:
        return ZERO
    tilt = math.sqrt(m[0] * m[0] + m[1] * m[1])
    middle = unit(2, -world[j, HALF_LENGTH] if rise > 0.0 else world[j, HALF_LENGTH])
    p = placed(room, along(middle, -world[j, RADIUS] / tilt, (m[0], m[1], 0.0)))
    far = math.sqrt(p[0] * p[0] + p[1] * p[1])
    if far <= R:
        return ZERO
    lean = min(START, (far - R) / R)
    n = along(along(ZERO, -s, axis_of(world, i, 2)), -lean * p[0] / far, axis_of(world, i, 0))
    return along(n, -lean * p[1] / far, axis_of(world, i, 1))


@kernel(f"void({A2}, int64, {CAPS}, float64, {A2}, {A2})", borrows=True)
def rims_or_cap(world: Array, i: int, caps: Caps, same: float, room: Array, found: Array) -> None:
    """Add the contacts of the cap that decides, or those of rims next to it; i is the cylinder that came first.

    Both where they are as good: as the lowest point of a rim leaves the cap, the contact of the rims is there already.
    """
    first, second, _, limit, _ = caps
    n = over_rim(world, caps, room)
    if n != ZERO:
        _, gap = best_cap_of(world, first, second, room)
        j, guess = (second, n) if i == first else (first, along(ZERO, -1.0, n))
        if rims(world, i, j, limit, gap - same, guess, ACROSS, found) > gap + same:
            return
    cylinder_on_cap(world, caps, room, found)


@kernel(f"void({A2}, {CAPS}, {A2}, {A2})", borrows=True)
def points_of_caps(world: Array, caps: Caps, room: Array, found: Array) -> None:
    """Add points of rims of two caps that lie nearly on each other, past which their rims are nearer."""
    rise = room[2, 2] * (1.0 if caps[2] else -1.0)
    other = 0 if rise > 0.0 else 1
    rim_on_cap(world, caps, other, room, found)
    under_cap(world, caps, other, room, found)


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def cylinder_cylinder(
    world: Array, solids: Array, i: int, j: int, limit: float, room: Array, found: Array
) -> None:  # fmt: skip
    """Add the contacts of two cylinders."""
    relative(world, i, j, room)
    size = max(world[i, RADIUS], world[i, HALF_LENGTH], world[j, RADIUS], world[j, HALF_LENGTH])
    same, border = SAME * size, BORDER * size
    cap, gap = best_cap_of(world, i, j, room)
    side = sides_apart(world, i, j)
    swap_roles(room)
    other, second = best_cap_of(world, j, i, room)
    swap_roles(room)
    flat = max(gap, second)
    if max(flat, side) > limit:
        return
    near, v = way_between(world, solids, i, j, limit, room)
    above = max(flat, side) + same
    if not near:
        return
    guess, tilt = to_axes(world, i, along(ZERO, -1.0, v)), math.hypot(room[2, 0], room[2, 1])
    on_caps = abs(v[2]) >= LIKE_FACE and abs(room[2, 2]) >= LIKE_FACE
    if not (on_caps and tilt < PARALLEL) and rims(world, i, j, limit, above, guess, 0.0, found) > above:
        if on_caps:
            points_of_caps(world, (i, j, cap, limit, border), room, found)
        return
    beside = min(abs(v[2]), abs(dot3(guess, axis_of(world, j, 2))))
    if beside < ACROSS and rims(world, i, j, limit, above, guess, ACROSS, found) > above:
        return
    if side > flat + same:
        axis_axis(world, i, j, limit, found)
        rims_on_axis(world, i, j, limit, found)
        rims_on_axis(world, j, i, limit, found)
    elif second > gap + same:
        swap_roles(room)
        rims_or_cap(world, i, (j, i, other, limit, border), same, room, found)
    else:
        rims_or_cap(world, i, (i, j, cap, limit, border), same, room, found)
