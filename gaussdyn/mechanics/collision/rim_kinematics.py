"""Pairs of primitives with a circle, compiled: the rim of a disc against a plane, a ball, a line and another rim.

The rim of A has radius ra about a, in the plane across da. The normal n, from B into A, makes the separation along it
largest: n . (a - b) - ra |n - (n . da) da| less the same of B. Of a disc over a plane it is that of the plane, of a
ball the way to the nearest point of the rim; else Newton's method finds it from where it was when the contact was
found. The gap, stationary in n, is then exact to rounding; rates of n follow from the condition by implicit
differentiation.

* DISC_PLANE: the lowest point of the rim over the plane through b with the outward normal db.
* RIM_BALL: ball of radius rb about b.
* RIM_LINE: line through b along db, with radius rb.
* RIM_RIM: rim of radius rb about b, in the plane across db.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from .vectors import V3, Vector, along, cross3, dot3

DISC_PLANE, RIM_BALL, RIM_LINE, RIM_RIM = 6, 7, 8, 9
LINES = f"UniTuple({V3}, 6)"
Lines = tuple[Vector, Vector, Vector, Vector, Vector, Vector]
"""a - b, da, db and their rates."""
ROUNDS, STEP = 40, 0.3  # Newton steps, and the longest one, rad
ZERO = (0.0, 0.0, 0.0)


@kernel(f"{V3}({V3})", borrows=True)
def normalized(a: Vector) -> Vector:
    """Return a vector scaled to length one; zero stays."""
    length = math.sqrt(dot3(a, a))
    return along(ZERO, 1.0 / length, a) if length > 0.0 else a


@kernel(f"float64({V3}, {V3})", borrows=True)
def across(n: Vector, e: Vector) -> float:
    """Return the length of a direction n across e."""
    p = cross3(n, e)
    return math.sqrt(dot3(p, p))


@kernel(f"UniTuple({V3}, 2)(int64, {V3}, {V3})", borrows=True)
def tangents(kind: int, n: Vector, eb: Vector) -> tuple[Vector, Vector]:
    """Return the directions in which n may turn: two, or over a line the one across it, and zero."""
    if kind == RIM_LINE:
        return cross3(eb, n), ZERO
    k = (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0)
    t = normalized(cross3(n, k))
    return t, cross3(n, t)


@kernel(f"Tuple(({V3}, float64, float64))(int64, {V3}, {V3}, {V3}, {V3}, float64, float64)", borrows=True)
def slope(
    kind: int, n: Vector, d: Vector, ea: Vector, eb: Vector, ra: float, rb: float
) -> tuple[Vector, float, float]:  # fmt: skip
    """Return the gradient of the separation along n, and the curvatures ra / k^3 and rb / k^3 of the two rims."""
    ka, kb = max(across(n, ea), 1e-12), max(across(n, eb), 1e-12)
    g, curved = along(d, ra * dot3(n, ea) / ka, ea), ra / (ka * ka * ka)
    if kind == RIM_LINE:
        return g, curved, 0.0
    return along(g, rb * dot3(n, eb) / kb, eb), curved, rb / (kb * kb * kb)


@kernel("UniTuple(float64, 2)(float64, float64, float64, float64, float64)", borrows=True)
def newton_step(g: float, h: float, a: float, b: float, c: float) -> tuple[float, float]:
    """Return the step towards the maximum with gradient (g, h) and Hessian [[a, b], [b, c]]; c = 0: of g alone."""
    if c == 0.0:
        return (-g / a if a < 0.0 else math.copysign(STEP, g)), 0.0
    det = a * c - b * b
    if a < 0.0 and det > 0.0:
        return (h * b - g * c) / det, (g * b - h * a) / det
    size = math.sqrt(g * g + h * h)
    return (STEP * g / size, STEP * h / size) if size > 0.0 else (0.0, 0.0)


@kernel(f"{V3}(int64, {V3}, {V3}, {V3}, float64, float64, {V3})", borrows=True)
def common_normal(kind: int, d: Vector, ea: Vector, eb: Vector, ra: float, rb: float, guess: Vector) -> Vector:
    """Return the direction of the largest separation of a rim from a line or another rim, near a guess."""
    n = normalized(along(guess, -dot3(guess, eb), eb) if kind == RIM_LINE else guess)
    for _ in range(ROUNDS):
        t, s = tangents(kind, n, eb)
        grad, ca, cb = slope(kind, n, d, ea, eb, ra, rb)
        lift = dot3(n, grad)
        ta, tb, sa, sb = dot3(t, ea), dot3(t, eb), dot3(s, ea), dot3(s, eb)
        h11, h12 = ca * ta * ta + cb * tb * tb - lift, ca * ta * sa + cb * tb * sb
        h22 = 0.0 if kind == RIM_LINE else ca * sa * sa + cb * sb * sb - lift
        x, y = newton_step(dot3(t, grad), dot3(s, grad), h11, h12, h22)
        size = math.sqrt(x * x + y * y)
        cut = STEP / size if size > STEP else 1.0
        n = normalized(along(along(n, cut * x, t), cut * y, s))
        if size < 1e-14:
            break
    return normalized(along(n, -dot3(n, eb), eb)) if kind == RIM_LINE else n


@kernel(f"{V3}(int64, {V3}, {LINES}, float64, float64)", borrows=True)
def normal_rate(kind: int, n: Vector, lines: Lines, ra: float, rb: float) -> Vector:
    """Return the rate of the common normal."""
    d, ea, eb, w, dea, deb = lines
    t, s = tangents(kind, n, eb)
    grad, ca, cb = slope(kind, n, d, ea, eb, ra, rb)
    lift, fixed, ka = dot3(n, grad), ZERO, max(across(n, ea), 1e-12)
    turned = ZERO
    if kind == RIM_LINE:  # n stays across the line
        fixed, turned = along(ZERO, -dot3(n, deb), eb), cross3(deb, n)
    moved = along(along(w, ca * (dot3(n, dea) + dot3(fixed, ea)), ea), ra * dot3(n, ea) / ka, dea)
    if kind == RIM_RIM:
        kb = max(across(n, eb), 1e-12)
        moved = along(along(moved, cb * dot3(n, deb), eb), rb * dot3(n, eb) / kb, deb)
    ta, tb, sa, sb = dot3(t, ea), dot3(t, eb), dot3(s, ea), dot3(s, eb)
    h11, h12 = ca * ta * ta + cb * tb * tb - lift, ca * ta * sa + cb * tb * sb
    g = dot3(t, moved) + dot3(turned, grad)
    if kind == RIM_LINE:
        return along(fixed, -g / h11 if h11 != 0.0 else 0.0, t)
    h22, h = ca * sa * sa + cb * sb * sb - lift, dot3(s, moved)
    det = h11 * h22 - h12 * h12
    x, y = ((h * h12 - g * h22) / det, (g * h12 - h * h11) / det) if det != 0.0 else (0.0, 0.0)
    return along(along(ZERO, x, t), y, s)


@kernel(f"UniTuple({V3}, 2)({V3}, {V3}, {V3}, {V3}, float64)", borrows=True)
def rim_point(n: Vector, dn: Vector, e: Vector, de: Vector, r: float) -> tuple[Vector, Vector]:
    """Return the point of a rim farthest along n, from its centre, and its rate; for n along e the centre.

    What is across e comes from products: a difference of lengths one leaves rounding that counts where n is nearly e.
    """
    p = cross3(e, cross3(n, e))
    k = math.sqrt(dot3(p, p))
    if k == 0.0:
        return ZERO, ZERO
    dp = along(along(dn, -dot3(dn, e) - dot3(n, de), e), -dot3(n, e), de)
    return along(ZERO, r / k, p), along(along(ZERO, r / k, dp), -r * dot3(p, dp) / (k * k * k), p)


@kernel(f"Tuple((float64, {V3}, {V3}, {V3}, {V3}))({LINES}, float64, float64)", borrows=True)
def rim_on_ball(lines: Lines, ra: float, rb: float) -> tuple[float, Vector, Vector, Vector, Vector]:
    """Return what `rim_motion` does, for a rim and a ball."""
    d, ea, _, w, dea, _ = lines
    back, rate = along(ZERO, -1.0, d), along(ZERO, -1.0, w)
    m, dm = rim_point(back, rate, ea, dea, ra)
    way, speed = along(d, 1.0, m), along(w, 1.0, dm)
    distance = math.sqrt(dot3(way, way))
    if distance == 0.0:
        return -rb, ea, dea, along(ZERO, -1.0, m), along(ZERO, -1.0, dm)
    n = along(ZERO, 1.0 / distance, way)
    dn = along(along(ZERO, 1.0 / distance, speed), -dot3(n, speed) / distance, n)
    return distance - rb, n, dn, along(ZERO, -1.0, m), along(ZERO, -1.0, dm)


@kernel(f"Tuple((float64, {V3}, {V3}, {V3}, {V3}))(int64, {LINES}, float64, float64, {V3})", borrows=True)
def rim_motion(
    kind: int, lines: Lines, ra: float, rb: float, guess: Vector
) -> tuple[float, Vector, Vector, Vector, Vector]:  # fmt: skip
    """Return the gap, the normal and its rate, the way to a from the point of A that touches, and the rate of that."""
    if kind == RIM_BALL:
        return rim_on_ball(lines, ra, rb)
    d, ea, eb, dea, deb = lines[0], lines[1], lines[2], lines[4], lines[5]
    if kind == DISC_PLANE:
        n, dn, other = eb, deb, 0.0
    else:
        n = common_normal(kind, d, ea, eb, ra, rb, guess)
        dn = normal_rate(kind, n, lines, ra, rb)
        other = rb * across(n, eb) if kind == RIM_RIM else rb
    p, dp = rim_point(n, dn, ea, dea, ra)
    return dot3(n, d) - dot3(n, p) - other, n, dn, p, dp
