"""The pairs of primitives of which every contact in space is made, compiled: gap, frame, rows.

Data of a feature: a (3), da (3), ra, b (3), db (3), rb, of an edge over a rim e (3), reach, s0, and of ellipsoids the
second halves of their matrices (3 and 3); a, da stand in the frame of body A and b, db, e in that of body B. The normal
points from B into A and the gap is positive while they are apart.

* BALL_PLANE: ball of radius ra about a; plane through b with the outward normal db.
* BALL_BALL: balls of radii ra, rb about a and b.
* BALL_LINE: ball of radius ra about a; line through b along db, with radius rb.
* LINE_LINE: lines through a along da and through b along db, with radii; da x db points from B into A. Parallel ones
  are for that instant what BALL_LINE is. Of an axis over an edge `reach` and s0 say where the two end: beyond
  an end that end touches, see `line_kinematics`.
* Those with an ellipsoid: see `smooth_kinematics`; da, and db of a second one, are the first half of its matrix.
* EDGE_RIM: edge of radius ra along da, its ends `reach` from its middle a, over the rim of a face: plane through b with
  the outward normal db, which ends there in the direction e, in a rim whose ends are rb from b. It is what the ball
  about a + s da is where the edge crosses the rim now, between the ends of both: nearly parallel edges cross elsewhere
  after the smallest turn. The rate is that of the material there, which is that of the gap but for what the crossing
  runs along an edge that is not level with the face. s0 is where they crossed when the contact was found. `reach` is
  less than zero where the edge is the side of a cylinder, which ends in rims: then it is what the disc about a + s da
  is, where its lowest point is over the rim.
* Those with a circle: see `rim_kinematics`; e is the normal when the contact was found. Of a rim on a line s0 is where
  on the line it was then; of one that crosses the disc `reach` is `side` there.

The contact point is where a ball or an ellipsoid touches (the pairs with a plane, BALL_LINE), or half-way between the
two surfaces. Both bodies are taken as moving with their material at this one point, so that the reactions have no
moment in sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..._jit import kernel, record
from ...arrays import Array
from .lines.line_kinematics import line_motion
from .rim_kinematics import DISC_PLANE, LINES, RIM_LINE, Lines, rim_motion, rim_on_line, rim_point
from .smooth_kinematics import ELLIPSOID_BALL, ELLIPSOID_PLANE, MOTION, smooth_motion
from .vectors import A1, A2, V3, Vector, along, cross3, dot3, triple3, turned

BALL_PLANE, BALL_BALL, BALL_LINE, LINE_LINE, EDGE_RIM = 0, 1, 2, 3, 5
POLE = 1e-3  # how near to its pole a chart is not used any more
TURNOVER = -0.43  # normals steeper down than this use the other chart of frames: away from axes and common slopes


@kernel(f"boolean({V3}, {V3})", borrows=True)
def parallel(a: Vector, b: Vector) -> bool:
    """Return whether lines along a and b are exactly parallel: across them there are many directions, none signed."""
    m = cross3(a, b)
    return dot3(m, m) == 0.0


@kernel(f"Tuple((float64, {V3}, float64))({A2}, {A1}, {V3}, {V3})", borrows=True)
def over_rim(RB: Array, data: Array, d: Vector, ea: Vector) -> tuple[float, Vector, float]:
    """Return how far from its middle, d from b, an edge along ea is over the rim, m, and a direction of B.

    In that direction the point keeps its place as it runs along the edge: out of the face, or along a rim that ends
    there. Its component along ea comes last; zero where the edge ends.
    """
    reach, half, e = abs(data[17]), data[13], turned(RB, data, 14)
    held, k = e, dot3(e, ea)
    s = -dot3(e, d) / k if k != 0.0 else 0.0
    rim = cross3(turned(RB, data, 10), e)
    slope, y = dot3(rim, ea), dot3(rim, d)
    if abs(slope) > 0.5 and abs(y + s * slope) > half:  # else it hardly moves along the rim
        held, k = rim, slope
        s = (math.copysign(half, y + s * slope) - y) / slope
    if abs(s) > reach:
        return math.copysign(reach, s), held, 0.0
    return s, held, k


@kernel(f"UniTuple({V3}, 2)({A1}, {V3}, {V3}, {V3}, {V3})", borrows=True)
def spoke_down(data: Array, ea: Vector, eb: Vector, dea: Vector, deb: Vector) -> tuple[Vector, Vector]:
    """Return the way from the lowest point of an edge over a face to its axis, m, and its rate."""
    if data[17] < 0.0:
        return rim_point(eb, deb, ea, dea, data[6])
    return along((0.0, 0.0, 0.0), data[6], eb), along((0.0, 0.0, 0.0), data[6], deb)


@record(A1, A2, A1, A1, A1, by_value=True)
class RigidMotion(NamedTuple):
    """How a body moves, in space: see `features.Motion`.

    Attributes
    ----------
    x, v, drift : Array, shape (3,)
        Where the origin of its frame is, its velocity, and its acceleration without that of the velocities.
    R : Array, shape (3, 3)
    omega : Array, shape (3,)
    """

    x: Array
    R: Array
    v: Array
    omega: Array
    drift: Array


@kernel(f"{MOTION}(int64, {A1}, {A2}, {A2}, {LINES}, UniTuple({V3}, 2))", borrows=True, rare=True)
def sought_motion(
    kind: int, data: Array, RA: Array, RB: Array, lines: Lines, omegas: tuple[Vector, Vector]
) -> tuple[float, Vector, Vector, Vector, Vector]:
    """Return what `smooth_motion` does, of a pair whose normal is searched for: one with a rim or an ellipsoid."""
    guess = turned(RB, data, 14)
    if kind == ELLIPSOID_PLANE or kind >= ELLIPSOID_BALL:
        return smooth_motion(kind, data, RA, RB, lines, omegas, guess)
    if kind == RIM_LINE:
        return rim_on_line(lines, data[6], data[13], guess, data[18], data[17])
    return rim_motion(kind, lines, data[6], data[13], guess)


@kernel(f"void(int64, {A1}, RigidMotion, RigidMotion, {A1})", borrows=True)
def feature_motion(kind: int, data: Array, A: RigidMotion, B: RigidMotion, out: Array) -> None:
    """Fill `out` with gap (0), normal (1:4), contact point (4:7), and their rates: normal (7:10), point (10:13)."""
    ra, rb, RA, RB = data[6], data[13], A.R, B.R
    omega_a, omega_b = triple3(A.omega), triple3(B.omega)
    ea, arm_a = turned(RA, data, 3), turned(RA, data, 0)
    eb, arm_b = turned(RB, data, 10), turned(RB, data, 7)
    a, b = along(triple3(A.x), 1.0, arm_a), along(triple3(B.x), 1.0, arm_b)
    va = along(triple3(A.v), 1.0, cross3(omega_a, arm_a))
    vb = along(triple3(B.v), 1.0, cross3(omega_b, arm_b))
    d, w = along(a, -1.0, b), along(va, -1.0, vb)
    dea, deb = cross3(omega_a, ea), cross3(omega_b, eb)
    if kind == LINE_LINE and parallel(ea, eb):
        kind = BALL_LINE
    if kind >= DISC_PLANE or kind == ELLIPSOID_PLANE:
        gap, n, dn, p, dp = sought_motion(kind, data, RA, RB, (d, ea, eb, w, dea, deb), (omega_a, omega_b))
        c, dc = along(a, -1.0, p), along(va, -1.0, dp)
    elif kind in (BALL_PLANE, EDGE_RIM):
        if kind == EDGE_RIM:
            p, dp = spoke_down(data, ea, eb, dea, deb)
            a, d, va, w = along(a, -1.0, p), along(d, -1.0, p), along(va, -1.0, dp), along(w, -1.0, dp)
            s, held, k = over_rim(RB, data, d, ea)
            a, d = along(a, s, ea), along(d, s, ea)
            va, w = along(va, s, dea), along(w, s, dea)
            ds = -(dot3(cross3(omega_b, held), d) + dot3(held, w)) / k if k != 0.0 else 0.0
            va, ra = along(va, ds, ea), 0.0
        gap, n, dn = dot3(eb, d) - ra, eb, deb
        c, dc = along(a, -ra, n), along(va, -ra, dn)
    elif kind == LINE_LINE:
        gap, n, dn, c, dc = line_motion(data, (d, ea, eb, w, dea, deb), (a, va, b, vb))
    else:
        if kind == BALL_LINE:
            s, ds = dot3(d, eb), dot3(w, eb) + dot3(d, deb)
            d, w = along(d, -s, eb), along(along(w, -ds, eb), -s, deb)
        distance = math.sqrt(dot3(d, d))
        inverse = 1.0 / distance if distance > 0.0 else 0.0
        n = along((0.0, 0.0, 0.0), inverse, d) if distance > 0.0 else (0.0, 0.0, 1.0)
        speed = dot3(n, w)
        dn = along(along((0.0, 0.0, 0.0), inverse, w), -speed * inverse, n)
        gap = distance - ra - rb
        if kind == BALL_LINE:
            c, dc = along(a, -ra, n), along(va, -ra, dn)
        else:
            half = 0.5 * (distance + rb - ra)
            c, dc = along(b, half, n), along(along(vb, 0.5 * speed, n), half, dn)
    out[0] = gap
    for i in range(3):
        out[1 + i], out[4 + i], out[7 + i], out[10 + i] = n[i], c[i], dn[i], dc[i]


@kernel(f"void(int64, {A1}, {A1}, {A2}, {A1}, {A2}, {A1})", borrows=True, entry=True, rare=True)
def feature_geometry(kind: int, data: Array, xA: Array, RA: Array, xB: Array, RB: Array, out: Array) -> None:
    """Fill `out`, 7 numbers: gap, normal, contact point, at the poses x, R of the two bodies."""
    ra, rb = data[6], data[13]
    eb = turned(RB, data, 10)
    a, b = along(triple3(xA), 1.0, turned(RA, data, 0)), along(triple3(xB), 1.0, turned(RB, data, 7))
    d, ea = along(a, -1.0, b), turned(RA, data, 3)
    if kind == LINE_LINE and parallel(ea, eb):
        kind = BALL_LINE
    if kind >= DISC_PLANE or kind == ELLIPSOID_PLANE:
        still = (0.0, 0.0, 0.0)
        distance, n, _, p, _ = sought_motion(kind, data, RA, RB, (d, ea, eb, still, still, still), (still, still))
        c, ra, rb = along(a, -1.0, p), 0.0, 0.0
    elif kind in (BALL_PLANE, EDGE_RIM):
        if kind == EDGE_RIM:
            p, _ = spoke_down(data, ea, eb, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
            a, d, ra = along(a, -1.0, p), along(d, -1.0, p), 0.0
            s, _, _ = over_rim(RB, data, d, ea)
            a, d = along(a, s, ea), along(d, s, ea)
        distance, n = dot3(eb, d), eb
        c = along(a, -ra, n)
        rb = 0.0
    elif kind == LINE_LINE:
        still = (0.0, 0.0, 0.0)
        distance, n, _, c, _ = line_motion(data, (d, ea, eb, still, still, still), (a, still, b, still))
        ra, rb = 0.0, 0.0
    else:
        if kind == BALL_LINE:
            d = along(d, -dot3(d, eb), eb)
        distance = math.sqrt(dot3(d, d))
        n = along((0.0, 0.0, 0.0), 1.0 / distance, d) if distance > 0.0 else (0.0, 0.0, 1.0)
        c = along(a, -ra, n) if kind == BALL_LINE else along(b, 0.5 * (distance + rb - ra), n)
    out[0] = distance - ra - rb
    for i in range(3):
        out[1 + i], out[4 + i] = n[i], c[i]


@kernel(f"int64({A1})", inline=True, borrows=True)
def chart_at(n: Array) -> int:
    """Return the chart of a normal, see `tangent_frames.chart_of`."""
    return 1 if n[2] > TURNOVER else -1


@kernel(f"UniTuple(float64, 2)(int64, {A1}, {A2})", borrows=True)
def contact_axes(chart: int, n: Array, frame: Array) -> tuple[float, float]:
    """Fill rows 0-2 of `frame` as `contact_frame` does; return the sign s of the chart and -1 / (s + n_z)."""
    s = float(chart_at(n) if chart == 0 or abs(chart + n[2]) < POLE else chart)
    a = -1.0 / (s + n[2])
    x, y = n[0], n[1]
    b = x * y * a
    frame[0, 0], frame[0, 1], frame[0, 2] = n[0], n[1], n[2]
    frame[1, 0], frame[1, 1], frame[1, 2] = 1.0 + s * x * x * a, s * b, -s * x
    frame[2, 0], frame[2, 1], frame[2, 2] = b, s + y * y * a, -y
    return s, a


@kernel(f"void(int64, {A1}, {A1}, {A2})", borrows=True)
def contact_frame(chart: int, n: Array, rates: Array, frame: Array) -> None:
    """Fill rows 0-2 of `frame` with N, T1, T2 (right-handed, a function of n alone), rows 3-5 with their rates.

    T1 = x and T2 = y at n = z; T1 = x and T2 = -y at n = -z. Each of two charts is smooth beyond its border, where
    n_z = TURNOVER. Source: J. R. Frisvad, Building an orthonormal basis from a 3D unit vector (2012).

    Parameters
    ----------
    chart : int
        1, -1 or 0: that of n. Where n is at its pole that of n, too.
    n, rates : Array, shape (3,)
        The normal and its time derivative.
    frame : Array, shape (6, 3)
    """
    s, a = contact_axes(chart, n, frame)
    da = a * a * rates[2]
    x, y, dx, dy = n[0], n[1], rates[0], rates[1]
    db = dx * y * a + x * dy * a + x * y * da
    for i in range(3):
        frame[3, i] = rates[i]
    frame[4, 0], frame[4, 1], frame[4, 2] = s * x * (2.0 * dx * a + x * da), s * db, -s * dx
    frame[5, 0], frame[5, 1], frame[5, 2] = db, y * (2.0 * dy * a + y * da), -dy


@kernel("int64(int64, int64)", borrows=True)
def axis_of_row(i: int, n: int) -> int:
    """Return along which of N, T1, T2 row i of a contact with n rows looks: N, T1, T2, (R1, R2), (S)."""
    if i < 3:
        return i
    return 0 if n % 2 == 0 and i == n - 1 else i - 2


@kernel(f"void(float64, {A1}, {A1}, {A2}, {A2}, {A2}, int64, {A2})", borrows=True)
def add_body(
    sign: float, x: Array, point: Array, JX: Array, turn: Array, frame: Array, first: int, J: Array
) -> None:  # fmt: skip
    """Add sign times the velocity of a body's material at `point` to the rows of J, shape (k, nv).

    Rows 0-2 take the velocity along N, T1, T2, the others the angular velocity, see `axis_of_row`. The columns of JX
    and turn, shape (3, w), belong to the columns of J from `first` on.
    """
    arm = (point[0] - x[0], point[1] - x[1], point[2] - x[2])
    for j in range(JX.shape[1]):
        w = (turn[0, j], turn[1, j], turn[2, j])
        v = along((JX[0, j], JX[1, j], JX[2, j]), 1.0, cross3(w, arm))
        if v != (0.0, 0.0, 0.0) or w != (0.0, 0.0, 0.0):
            for i in range(J.shape[0]):
                f = triple3(frame[axis_of_row(i, J.shape[0])])
                J[i, first + j] += sign * dot3(f, v if i < 3 else w)


@kernel(f"void(RigidMotion, RigidMotion, {A1}, {A2}, {A1}, {A1})", borrows=True)
def rates_and_drifts(
    A: RigidMotion, B: RigidMotion, motion: Array, frame: Array, rate: Array, drift: Array
) -> None:  # fmt: skip
    """Fill rate and drift, shape (k,), from what `feature_motion` and `contact_frame` gave.

    With u the relative velocity of the material at the contact point c, which itself moves at dc/dt:
    d(t.u)/dt = t.(J a part) + t.(A.drift - B.drift + wA x (dc/dt - vA) - wB x (dc/dt - vB)) + dt/dt.u.
    """
    c, dc = (motion[4], motion[5], motion[6]), (motion[10], motion[11], motion[12])
    omega_a, omega_b, va, vb = triple3(A.omega), triple3(B.omega), triple3(A.v), triple3(B.v)
    u = along(va, 1.0, cross3(omega_a, along(c, -1.0, triple3(A.x))))
    u = along(u, -1.0, along(vb, 1.0, cross3(omega_b, along(c, -1.0, triple3(B.x)))))
    a = along(triple3(A.drift), 1.0, cross3(omega_a, along(dc, -1.0, va)))
    a = along(a, -1.0, along(triple3(B.drift), 1.0, cross3(omega_b, along(dc, -1.0, vb))))
    spin = along(omega_a, -1.0, omega_b)
    for i in range(rate.shape[0]):
        k = axis_of_row(i, rate.shape[0])
        f, df = triple3(frame[k]), triple3(frame[3 + k])
        rate[i] = dot3(f, u) if i < 3 else dot3(f, spin)
        drift[i] = dot3(f, a) + dot3(df, u) if i < 3 else dot3(df, spin)
