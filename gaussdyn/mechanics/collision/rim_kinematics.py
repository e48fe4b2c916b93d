"""Pairs of primitives with a circle, compiled: the rim of a disc against a plane, a ball, a line and another rim.

The rim of A has radius ra about a, in the plane across da. The normal n, from B into A, makes the separation along it
largest: n . (a - b) - ra |n - (n . da) da| less the same of B. Of a disc over a plane it is that of the plane, of a
ball the way to the nearest point of the rim; of another rim Newton's method finds it from where it was when the contact
was found. The gap, stationary in n, is then exact to rounding; rates of n follow from the condition by implicit
differentiation.

Over a line Newton's method finds the point of the rim that is nearest to it, as a direction from the centre; the normal
is across the line and across the rim there. That is well posed wherever the rim crosses the line at an angle, also
where they touch. A line that passes over a disc crosses its rim twice; both crossings stay what they are as the disc
turns through the line, where their separations change places. Where such a line leaves the disc the crossings meet, and
there is no direction across both any more: beyond that the normal is that of the disc. It is on a flat one, too, where
one crossing is no higher than the other but for what no gap tells: as they part there, what a disc is tipped by would
turn normals without bound.

* DISC_PLANE: the lowest point of the rim over the plane through b with the outward normal db.
* RIM_BALL: ball of radius rb about b.
* RIM_LINE: line through b along db, with radius rb.
* RIM_RIM: rim of radius rb about b, in the plane across db.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..._jit import kernel, record
from .vectors import V3, Vector, along, cross3, dot3

DISC_PLANE, RIM_BALL, RIM_LINE, RIM_RIM = 6, 7, 8, 9
LINES = f"UniTuple({V3}, 6)"
Lines = tuple[Vector, Vector, Vector, Vector, Vector, Vector]
"""a - b, da, db and their rates."""
ROUNDS, STEP = 40, 0.3  # Newton steps, and the longest one, rad
CROSSING = 0.995  # cosine: a line crosses a disc flatly while the normal across both is within 0.1 rad of the axis
LEVEL_LINE = 3e-10  # m: a line over a disc that rises by less from its middle to the rim is level with it
TIPPED_LINE = 1e-9  # m: one that rises by more is tipped
NO_CROSSING = 1e-12  # sine, and share of the radius: a rim along a line that it touches has no normal of its own
ZERO = (0.0, 0.0, 0.0)


@record(V3, V3, V3, V3, "float64", "float64", by_value=True)
class Nearest(NamedTuple):
    """The point of a rim that is nearest to a line.

    Attributes
    ----------
    spoke, ahead : Vector
        From the centre to it and along the rim, of length one.
    way : Vector
        To it from the point of the line that it is nearest to.
    normal : Vector
        Across the rim and the line, of length one; which way is chosen by who asks.
    at : float
        Where on the line, from its point.
    slope : float
        Of half the squared distance along the rim, m: zero but for rounding if it was found.
    """

    spoke: Vector
    ahead: Vector
    way: Vector
    normal: Vector
    at: float
    slope: float


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


@kernel(f"Tuple(({V3}, float64, float64))({V3}, {V3}, {V3}, {V3}, float64, float64)", borrows=True)
def slope(n: Vector, d: Vector, ea: Vector, eb: Vector, ra: float, rb: float) -> tuple[Vector, float, float]:
    """Return the gradient of the separation along n, and the curvatures ra / k^3 and rb / k^3 of the two rims."""
    ka, kb = max(across(n, ea), 1e-12), max(across(n, eb), 1e-12)
    g, curved = along(d, ra * dot3(n, ea) / ka, ea), ra / (ka * ka * ka)
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


@kernel(f"Tuple((float64, float64, {V3}, {V3}, {V3}))({V3}, {V3})", borrows=True)
def off_axis(n: Vector, e: Vector) -> tuple[float, float, Vector, Vector, Vector]:
    """Return sine and cosine of the angle of n off an axis, the side of it that is nearer, the spoke, and across."""
    u = along(ZERO, 1.0 if dot3(n, e) >= 0.0 else -1.0, e)
    off = cross3(u, cross3(n, u))
    sine = math.sqrt(dot3(off, off))
    p = along(ZERO, 1.0 / sine, off) if sine > 0.0 else tangents(RIM_RIM, u, u)[0]
    return sine, dot3(n, u), u, p, cross3(u, p)


@kernel(f"UniTuple(float64, 5)({V3}, {V3}, {V3}, {V3}, float64, float64)", borrows=True)
def polar_slopes(
    n: Vector, d: Vector, e: Vector, other: Vector, r: float, R: float
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """Return slopes and curvatures of the separation of two rims as n leans off the axis e of one, and turns about it.

    That by leaning, that by turning over the sine of the angle, and their rates: of the first by leaning, of the second
    by leaning and by turning. All stay finite as n comes to the axis, where the rim meets what is on its disc.
    """
    sine, cosine, u, p, t = off_axis(n, e)
    m, k = along(along(ZERO, cosine, p), -sine, u), max(across(n, other), 1e-12)
    w, curved = along(d, R * dot3(n, other) / k, other), R / (k * k * k)
    om, ot = dot3(other, m), dot3(other, t)
    leaning, turning = dot3(m, w) - r * cosine, dot3(t, w)
    return (
        leaning,
        turning,
        r * sine - dot3(n, w) + curved * om * om,
        curved * om * ot,
        curved * sine * ot * ot - dot3(p, w),
    )


@kernel(f"Tuple(({V3}, float64))({V3}, {V3}, {V3}, {V3}, float64, float64)", borrows=True)
def leant(n: Vector, d: Vector, e: Vector, other: Vector, r: float, R: float) -> tuple[Vector, float]:
    """Return the normal of two rims after a Newton step of its angle off an axis and of that about it, and how far.

    Straight on, a step passes over the axis, and turns by any angle beside it; here it comes to a tenth of its angle.
    """
    sine, cosine, u, p, t = off_axis(n, e)
    g, h, a, b, c = polar_slopes(n, d, e, other, r, R)
    det = a * c - sine * b * b
    if a < 0.0 and det > 0.0:
        x, y = (sine * b * h - c * g) / det, (b * g - a * h) / det
    else:
        x, y = -g / a if a < 0.0 else math.copysign(STEP, g), -h / c if c < 0.0 else math.copysign(STEP, h)
    size = math.sqrt(x * x + y * y)
    cut = STEP / size if size > STEP else 1.0
    angle = math.atan2(sine, cosine)
    x, y = max(cut * x, -0.9 * angle), cut * y
    spoke = along(along(ZERO, math.cos(y), p), math.sin(y), t)
    return normalized(along(along(ZERO, math.cos(angle + x), u), math.sin(angle + x), spoke)), math.hypot(x, sine * y)


@kernel(f"{V3}({V3}, {V3}, {V3}, float64, float64, {V3})", borrows=True)
def common_normal(d: Vector, ea: Vector, eb: Vector, ra: float, rb: float, guess: Vector) -> Vector:
    """Return the direction of the largest separation of two rims, near a guess: Newton steps about the nearer axis."""
    n = normalized(guess)
    for _ in range(ROUNDS):
        if abs(dot3(n, ea)) >= abs(dot3(n, eb)):
            n, size = leant(n, d, ea, eb, ra, rb)
        else:
            n, size = leant(n, d, eb, ea, rb, ra)
        if size < 1e-14:
            break
    return n


@kernel(f"float64({V3}, {V3}, {V3}, {V3}, float64, float64)", borrows=True)
def roughness(n: Vector, d: Vector, ea: Vector, eb: Vector, ra: float, rb: float) -> float:
    """Return how far a direction is from a common normal of two rims: the larger slope of their separation, m.

    Next to an axis rounding turns n about it; what that does to the separation counts, not the angle.
    """
    by_a = abs(dot3(n, ea)) >= abs(dot3(n, eb))
    e, other, r, R = (ea, eb, ra, rb) if by_a else (eb, ea, rb, ra)
    g, h, _, _, _ = polar_slopes(n, d, e, other, r, R)
    return max(abs(g), across(n, e) * abs(h))


@kernel(f"{V3}({V3}, {LINES}, float64, float64)", borrows=True)
def normal_rate(n: Vector, lines: Lines, ra: float, rb: float) -> Vector:
    """Return the rate of the common normal of two rims."""
    d, ea, eb, w, dea, deb = lines
    t, s = tangents(RIM_RIM, n, eb)
    grad, ca, cb = slope(n, d, ea, eb, ra, rb)
    lift, ka, kb = dot3(n, grad), max(across(n, ea), 1e-12), max(across(n, eb), 1e-12)
    moved = along(along(w, ca * dot3(n, dea), ea), ra * dot3(n, ea) / ka, dea)
    moved = along(along(moved, cb * dot3(n, deb), eb), rb * dot3(n, eb) / kb, deb)
    ta, tb, sa, sb = dot3(t, ea), dot3(t, eb), dot3(s, ea), dot3(s, eb)
    h11, h12 = ca * ta * ta + cb * tb * tb - lift, ca * ta * sa + cb * tb * sb
    h22, g, h = ca * sa * sa + cb * sb * sb - lift, dot3(t, moved), dot3(s, moved)
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


@kernel(f"{V3}({V3}, {V3})", borrows=True)
def spoke_towards(way: Vector, axis: Vector) -> Vector:
    """Return the direction of the rim across an axis in which a way leads; any for one along the axis."""
    p = cross3(axis, cross3(way, axis))
    size = math.sqrt(dot3(p, p))
    if size == 0.0:
        p = cross3(axis, (1.0, 0.0, 0.0) if abs(axis[0]) < 0.6 else (0.0, 1.0, 0.0))
        size = math.sqrt(dot3(p, p))
    return along(ZERO, 1.0 / size, p)


@kernel(f"{V3}({V3}, {V3}, {V3}, float64, {V3})", borrows=True)
def turned_to_line(d: Vector, axis: Vector, u: Vector, r: float, start: Vector) -> Vector:
    """Return the spoke of a rim to its point nearest to a line along u, from the spoke where to start."""
    e = start
    for _ in range(ROUNDS):
        w, t = along(d, r, e), cross3(axis, e)
        k, s = dot3(t, u), dot3(w, u)
        g, h = dot3(w, t) - s * k, r * (1.0 - k * k) - dot3(w, e) + s * dot3(e, u)
        x = -g / h if h > 0.0 else -math.copysign(STEP, g)
        x = max(-STEP, min(STEP, x))
        e = along(e, x, t)
        e = along(ZERO, 1.0 / math.sqrt(dot3(e, e)), e)
        if abs(x) < 1e-14:
            break
    return e


@kernel(f"{V3}({V3}, {V3}, {V3}, float64, boolean)", borrows=True)
def spoke_to_level(d: Vector, axis: Vector, u: Vector, r: float, last: bool) -> Vector:
    """Return the spoke to one of the two crossings of a line along u that is level with a disc, or nearest to it.

    In closed form: where the crossings meet, slopes vanish with the third power of the way to them.
    """
    foot = cross3(axis, cross3(along(along(ZERO, dot3(d, u), u), -1.0, d), axis))
    far = math.sqrt(dot3(foot, foot))
    if far >= r:
        return along(ZERO, 1.0 / far, foot)
    half = math.sqrt((r - far) * (r + far))
    return normalized(along(foot, half if last else -half, normalized(cross3(axis, cross3(u, axis)))))


@kernel(f"Nearest({V3}, {V3}, {V3}, float64, {V3})", borrows=True)
def nearest_at(d: Vector, axis: Vector, u: Vector, r: float, e: Vector) -> Nearest:
    """Return what is known of the nearest point of a rim, from its spoke."""
    w, t = along(d, r, e), cross3(axis, e)
    s = dot3(w, u)
    way, m = along(w, -s, u), cross3(u, t)
    far, size = math.sqrt(dot3(way, way)), math.sqrt(dot3(m, m))
    if far > r * size:
        n = along(ZERO, 1.0 / far, way)
    elif size > NO_CROSSING:
        n = along(ZERO, math.copysign(1.0 / size, dot3(way, m)), m)
    else:
        n = ZERO
    return Nearest(e, t, way, n, s, dot3(way, t))


@kernel(f"Nearest({V3}, {V3}, {V3}, float64, {V3})", borrows=True)
def nearest_on_rim(d: Vector, axis: Vector, u: Vector, r: float, start: Vector) -> Nearest:
    """Return the point of a rim nearest to a line along u, from the spoke where to start.

    d leads from the line to the centre, the normal to the rim.
    """
    return nearest_at(d, axis, u, r, turned_to_line(d, axis, u, r, start))


@kernel(f"UniTuple({V3}, 2)({LINES}, {V3}, {V3}, float64, boolean)", borrows=True)
def across_crossing(
    lines: Lines, t: Vector, dt: Vector, r: float, level: bool
) -> tuple[Vector, Vector]:  # fmt: skip
    """Return a vector across a line and a rim along t that it crosses, on the side of the axis, and its rate.

    Of a level line, and where that across both is not nearly the axis, the axis itself, across the line; in between
    from one to the other.
    """
    _, axis, u, _, daxis, du = lines
    k, dk = dot3(axis, u), dot3(daxis, u) + dot3(axis, du)
    flat, dflat = along(axis, -k, u), along(along(daxis, -dk, u), -k, du)
    m, dm = cross3(u, t), along(cross3(du, t), 1.0, cross3(u, dt))
    sine = dot3(m, axis)
    if level or abs(sine) < CROSSING * math.sqrt(dot3(m, m)):
        return flat, dflat
    dsine = dot3(dm, axis) + dot3(m, daxis)
    rise = (r * abs(k * sine) - LEVEL_LINE) / (TIPPED_LINE - LEVEL_LINE)
    if rise < 1.0:
        x = max(rise, 0.0)
        part, dpart = x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x) * r / (TIPPED_LINE - LEVEL_LINE)
        dpart *= math.copysign(1.0, k * sine) * (dk * sine + k * dsine)
        off = along(m, -sine, flat)
        doff = along(along(dm, -dsine, flat), -sine, dflat)
        m, dm = along(along(ZERO, sine, flat), part, off), along(along(ZERO, dsine, flat), sine, dflat)
        dm = along(along(dm, part, doff), dpart, off)
    sign = math.copysign(1.0, sine)
    return along(ZERO, sign, m), along(ZERO, sign, dm)


@kernel(f"Tuple((boolean, {V3}))({V3}, {V3}, {V3}, float64, boolean)", borrows=True)
def level_with(d: Vector, axis: Vector, u: Vector, r: float, last: bool) -> tuple[bool, Vector]:
    """Return whether a line that crosses a disc is level with it, and `spoke_to_level`."""
    e = spoke_to_level(d, axis, u, r, last)
    return bool(r * abs(dot3(axis, u) * dot3(cross3(u, cross3(axis, e)), axis)) <= LEVEL_LINE), e


@kernel(f"Tuple((float64, {V3}, {V3}, {V3}, {V3}))({LINES}, float64, float64, {V3}, float64, float64)", borrows=True)
def rim_on_line(
    lines: Lines, r: float, rb: float, guess: Vector, at: float, side: float
) -> tuple[float, Vector, Vector, Vector, Vector]:  # fmt: skip
    """Return what `rim_motion` does, for a rim and a line; `at`: about where on the line it is, `guess`: the normal.

    side: of one that crosses the disc, whether its normal looks along the axis (> 0) or against it (< 0), and whether
    it is the first crossing along the line (1) or the last (2); else zero.
    """
    d, axis, u, w, daxis, du = lines
    if side != 0.0:
        level, start = level_with(d, axis, u, r, abs(side) > 1.0)
    else:
        level, start = False, spoke_towards(along(along(ZERO, at, u), -1.0, d), axis)
    one = nearest_at(d, axis, u, r, start if level else turned_to_line(d, axis, u, r, start))
    e, t, n = one.spoke, one.ahead, one.normal
    if side == 0.0 and dot3(n, along(guess, -1.0, e)) < 0.0:  # the nearest part of a disc looks against the normal
        n = along(ZERO, -1.0, n)
    if n == ZERO:
        n = along(guess, -dot3(guess, u), u)
        n = along(ZERO, 1.0 / max(math.sqrt(dot3(n, n)), 1e-300), n)
    k, eu, s, touch = dot3(t, u), dot3(e, u), one.at, along(d, r, e)
    # rates with the spoke carried along, then what it turns by so that it stays the nearest
    de, dt = along(ZERO, -dot3(e, daxis), axis), along(ZERO, -dot3(t, daxis), axis)
    speed = along(w, r, de)
    ds, dk = dot3(speed, u) + dot3(touch, du), dot3(dt, u) + dot3(t, du)
    g, h = dot3(speed, t) + dot3(touch, dt) - ds * k - s * dk, r * (1.0 - k * k) - dot3(touch, e) + s * eu
    x = -g / h if abs(h) > NO_CROSSING * r else 0.0
    de, dt, speed = along(de, x, t), along(dt, -x, e), along(speed, r * x, t)
    if side != 0.0:
        m, dm = across_crossing(lines, t, dt, r, level)
        size = math.copysign(math.sqrt(dot3(m, m)), side)
        n = along(ZERO, 1.0 / size, m)
    else:
        m, dm = cross3(u, t), along(cross3(du, t), 1.0, cross3(u, dt))
        size, far = dot3(m, n), dot3(one.way, n)
        if abs(far) > r * abs(size):
            ds = dot3(speed, u) + dot3(touch, du)
            m, dm, size = one.way, along(along(speed, -ds, u), -s, du), far
    dn = along(ZERO, 1.0 / size, along(dm, -dot3(dm, n), n)) if abs(size) > NO_CROSSING * r else ZERO
    return dot3(n, touch) - rb, n, dn, along(ZERO, -r, e), along(ZERO, -r, de)


@kernel(f"Tuple((float64, {V3}, {V3}, {V3}, {V3}))(int64, {LINES}, float64, float64, {V3})", borrows=True)
def rim_motion(
    kind: int, lines: Lines, ra: float, rb: float, guess: Vector
) -> tuple[float, Vector, Vector, Vector, Vector]:  # fmt: skip
    """Return the gap, the normal and its rate, the way to a from the point of A that touches, and the rate of that.

    Not of a rim over a line, see `rim_on_line`.
    """
    if kind == RIM_BALL:
        return rim_on_ball(lines, ra, rb)
    d, ea, eb, dea, deb = lines[0], lines[1], lines[2], lines[4], lines[5]
    if kind == DISC_PLANE:
        n, dn, other = eb, deb, 0.0
    else:
        n = common_normal(d, ea, eb, ra, rb, guess)
        dn, other = normal_rate(n, lines, ra, rb), rb * across(n, eb)
    p, dp = rim_point(n, dn, ea, dea, ra)
    return dot3(n, d) - dot3(n, p) - other, n, dn, p, dp
