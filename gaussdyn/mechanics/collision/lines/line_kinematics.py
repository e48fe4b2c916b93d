"""Two lines, compiled: where they pass each other; and what touches beyond an end of one.

The crossing of lines that are nearly parallel runs far for the smallest turn: for each rad that they tip towards each
other, by the radius over the square of the angle between them. Within a step it runs past an end of what the two share,
where lines without ends would go on to touch. What is nearest there is that end: of an axis a ball, or the rim of a
cylinder, over the other line; of an edge the corner. The gap is the same where the crossing comes to the end.
"""

from __future__ import annotations

import math

from ...._jit import kernel
from ....arrays import Array
from ..rim_kinematics import LINES, ZERO, Lines, rim_on_line
from ..smooth_kinematics import MOTION
from ..vectors import A1, V3, Vector, along, cross3, dot3

MIDST, ON_A, ON_B = range(3)  # where lines with ends are nearest: between these, or at one of A or B
Motion = tuple[float, Vector, Vector, Vector, Vector]


@kernel(f"Tuple((int64, float64))({A1}, {V3}, {V3}, {V3})", borrows=True)
def nearest_end(data: Array, d: Vector, ea: Vector, eb: Vector) -> tuple[int, float]:
    """Return at which end the lines of a feature are nearest, and where on its line that is; see `line_motion`."""
    reach, half, m = abs(data[17]), data[18], cross3(ea, eb)
    k2 = dot3(m, m)
    if reach == 0.0 or k2 == 0.0:
        return MIDST, 0.0
    slope, on_a, on_b = dot3(ea, eb), dot3(d, ea), dot3(d, eb)
    s = (slope * on_b - on_a) / k2
    t = on_b + s * slope
    if abs(s) <= reach and abs(t) <= half:
        return MIDST, 0.0
    if abs(s) > reach:
        s = math.copysign(reach, s)
        t = on_b + s * slope
    if abs(t) <= half:
        return ON_A, s
    t = math.copysign(half, t)
    if abs(t * slope - on_a) <= reach:
        return ON_B, t
    return ON_A, s


@kernel(f"{MOTION}({LINES}, float64, float64)", borrows=True)
def ball_on_line(lines: Lines, ra: float, rb: float) -> Motion:
    """Return gap, normal and its rate, and the way from the contact point to the ball's centre and its rate."""
    d, _, eb, w, _, deb = lines
    s, ds = dot3(d, eb), dot3(w, eb) + dot3(d, deb)
    d, w = along(d, -s, eb), along(along(w, -ds, eb), -s, deb)
    distance = math.sqrt(dot3(d, d))
    if distance == 0.0:
        return -ra - rb, (0.0, 0.0, 1.0), ZERO, along(ZERO, ra, (0.0, 0.0, 1.0)), ZERO
    n = along(ZERO, 1.0 / distance, d)
    dn = along(along(ZERO, 1.0 / distance, w), -dot3(n, w) / distance, n)
    return distance - ra - rb, n, dn, along(ZERO, ra, n), along(ZERO, ra, dn)


@kernel(f"{MOTION}({A1}, {LINES}, Tuple((int64, float64)))", borrows=True, rare=True)
def end_motion(data: Array, lines: Lines, end: tuple[int, float]) -> Motion:
    """Return what `line_motion` does, at an end."""
    d, ea, eb, w, dea, deb = lines
    (which, s), ra, rb = end, data[6], data[13]
    if which == ON_B:
        back = (along(along(ZERO, s, eb), -1.0, d), ea, ea, along(along(ZERO, s, deb), -1.0, w), dea, dea)
        gap, n, dn, p, dp = ball_on_line(back, rb, ra)
        return gap, along(ZERO, -1.0, n), along(ZERO, -1.0, dn), along(p, -1.0, back[0]), along(dp, -1.0, back[3])
    there = (along(d, s, ea), ea, eb, along(w, s, dea), dea, deb)
    if data[17] < 0.0:
        t = dot3(there[0], eb)
        gap, n, dn, p, dp = rim_on_line(there, ra, rb, along(there[0], -t, eb), t, 0.0)
    else:
        gap, n, dn, p, dp = ball_on_line(there, ra, rb)
    return gap, n, dn, along(p, -s, ea), along(dp, -s, dea)


@kernel(f"{MOTION}({LINES}, float64, float64)", borrows=True)
def crossing_motion(lines: Lines, ra: float, rb: float) -> Motion:
    """Return what `line_motion` does, between the ends; of the contact point where it is from the point of B."""
    d, ea, eb, w, dea, deb = lines
    m, dm = cross3(ea, eb), along(cross3(dea, eb), 1.0, cross3(ea, deb))
    k = math.sqrt(dot3(m, m))
    n = along(ZERO, 1.0 / k, m)
    dk = dot3(n, dm)
    dn = along(along(ZERO, 1.0 / k, dm), -dk / k, n)
    distance = dot3(n, d)
    side = cross3(d, ea)
    t = -dot3(side, n) / k
    dside = along(cross3(w, ea), 1.0, cross3(d, dea))
    dt = -(dot3(dside, n) + dot3(side, dn) + t * dk) / k
    half, dhalf = 0.5 * (distance + rb - ra), 0.5 * (dot3(dn, d) + dot3(n, w))
    c = along(along(ZERO, t, eb), half, n)
    return distance - ra - rb, n, dn, c, along(along(along(along(ZERO, dt, eb), t, deb), dhalf, n), half, dn)


@kernel(f"{MOTION}({A1}, {LINES}, UniTuple({V3}, 4))", borrows=True)
def line_motion(data: Array, lines: Lines, points: tuple[Vector, Vector, Vector, Vector]) -> Motion:
    """Return gap, normal, its rate, contact point and its rate of two lines through points a and b.

    Parameters
    ----------
    data : Array, shape (25,)
        Of the feature; 17 and 18: how far the lines go to both sides of their points, 0 if that does not count, the
        first one less than zero where that line ends in a rim.
    lines : tuple
        See `rim_kinematics`.
    points : (a, da/dt, b, db/dt)
    """
    a, va, b, vb = points
    end = nearest_end(data, lines[0], lines[1], lines[2])
    if end[0] == MIDST:
        gap, n, dn, c, dc = crossing_motion(lines, data[6], data[13])
        return gap, n, dn, along(b, 1.0, c), along(vb, 1.0, dc)
    gap, n, dn, p, dp = end_motion(data, lines, end)
    return gap, n, dn, along(a, -1.0, p), along(va, -1.0, dp)
