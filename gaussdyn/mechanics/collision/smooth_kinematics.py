"""Pairs of primitives with an ellipsoid, compiled: against a plane, a ball, a line, a rim and another ellipsoid.

An ellipsoid about the origin is what its support function h(n) = sqrt(n . M n) says: the point farthest along n is
M n / h. So is a ball (M = r^2 1), and a disc across e (M = r^2 (1 - e e^T)). The normal n, from B into A, makes the
separation n . (a - b) - h_A(n) - h_B(n) largest, across the line where B is one; Newton's method finds it from where
it was when the contact was found. The gap, stationary in n, is then exact to rounding; rates of n follow from the
condition by implicit differentiation.

A symmetric matrix is (xx, yy, zz, yz, zx, xy); in the data of a feature the first three stand in the place of a
direction, the others from `OFF` on, both in the axes of the body.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .rim_kinematics import LINES, RIM_LINE, RIM_RIM, ROUNDS, STEP, ZERO, Lines, newton_step, normalized, tangents
from .vectors import A1, A2, V3, Vector, along, cross3, dot3

ELLIPSOID_PLANE, ELLIPSOID_BALL, ELLIPSOID_LINE, ELLIPSOID_RIM, ELLIPSOID_ELLIPSOID = 4, 10, 11, 12, 13
OFF = 19  # of A; that of B comes 3 later
NARROW = 1e-12  # rad between a guess of a normal and an axis: it may be the axis itself
M6 = "UniTuple(float64, 6)"
Matrix = tuple[float, float, float, float, float, float]
MOTION = f"Tuple((float64, {V3}, {V3}, {V3}, {V3}))"


@kernel(f"{V3}({M6}, {V3})", borrows=True)
def times(M: Matrix, x: Vector) -> Vector:
    """Return M x."""
    return (
        M[0] * x[0] + M[5] * x[1] + M[4] * x[2], M[5] * x[0] + M[1] * x[1] + M[3] * x[2],
        M[4] * x[0] + M[3] * x[1] + M[2] * x[2],
    )  # fmt: skip


@kernel(f"{M6}({M6}, float64, {V3})", borrows=True)
def with_square(M: Matrix, s: float, x: Vector) -> Matrix:
    """Return M + s x x^T."""
    return (
        M[0] + s * x[0] * x[0], M[1] + s * x[1] * x[1], M[2] + s * x[2] * x[2],
        M[3] + s * x[1] * x[2], M[4] + s * x[2] * x[0], M[5] + s * x[0] * x[1],
    )  # fmt: skip


@kernel(f"{M6}(float64)", borrows=True)
def round_matrix(r: float) -> Matrix:
    """Return r^2 1: a ball."""
    return (r * r, r * r, r * r, 0.0, 0.0, 0.0)


@kernel(f"{M6}({A2}, {A1}, int64, int64)", borrows=True)
def matrix_in_space(R: Array, data: Array, i: int, k: int) -> Matrix:
    """Return R M R^T for the matrix M in data[i:i+3] and data[k:k+3]."""
    M = (data[i], data[i + 1], data[i + 2], data[k], data[k + 1], data[k + 2])
    x, y, z = (R[0, 0], R[0, 1], R[0, 2]), (R[1, 0], R[1, 1], R[1, 2]), (R[2, 0], R[2, 1], R[2, 2])
    p, q, s = times(M, x), times(M, y), times(M, z)
    return (dot3(x, p), dot3(y, q), dot3(z, s), dot3(y, s), dot3(z, p), dot3(x, q))


@kernel(f"Tuple(({V3}, float64))({M6}, {V3})", borrows=True)
def farthest_along(M: Matrix, n: Vector) -> tuple[Vector, float]:
    """Return the point farthest along n, and how far it is."""
    p = times(M, n)
    square = dot3(n, p)
    if square <= 0.0:
        return ZERO, 0.0
    h = math.sqrt(square)
    return along(ZERO, 1.0 / h, p), h


@kernel(f"{V3}({M6}, {V3}, float64, {V3})", borrows=True)
def curved(M: Matrix, p: Vector, h: float, x: Vector) -> Vector:
    """Return how the farthest point p moves while the direction changes at x."""
    return along(along(ZERO, 1.0 / h, times(M, x)), -dot3(p, x) / h, p) if h > 0.0 else ZERO


@kernel(f"UniTuple({V3}, 2)(int64, {V3}, {V3})", borrows=True)
def turns(kind: int, n: Vector, eb: Vector) -> tuple[Vector, Vector]:
    """Return the directions in which n may turn, as `rim_kinematics.tangents` has them."""
    return tangents(RIM_LINE if kind == ELLIPSOID_LINE else RIM_RIM, n, eb)


@kernel(f"{V3}(int64, {V3}, {V3}, {M6}, {M6}, {V3})", borrows=True)
def smooth_normal(kind: int, d: Vector, eb: Vector, A: Matrix, B: Matrix, guess: Vector) -> Vector:
    """Return the direction of the largest separation, near a guess, from what is no rim; d = a - b."""
    line = kind == ELLIPSOID_LINE
    n = normalized(along(guess, -dot3(guess, eb), eb) if line else guess)
    for _ in range(ROUNDS):
        t, s = turns(kind, n, eb)
        p, h = farthest_along(A, n)
        q, k = farthest_along(B, n)
        g = along(along(d, -1.0, p), -1.0, q)
        lift = dot3(n, g)
        Ht = along(curved(A, p, h, t), 1.0, curved(B, q, k, t))
        Hs = along(curved(A, p, h, s), 1.0, curved(B, q, k, s))
        h22 = 0.0 if line else -dot3(s, Hs) - lift
        x, y = newton_step(dot3(t, g), dot3(s, g), -dot3(t, Ht) - lift, -dot3(s, Ht), h22)
        size = math.sqrt(x * x + y * y)
        cut = STEP / size if size > STEP else 1.0
        n = normalized(along(along(n, cut * x, t), cut * y, s))
        if size < 1e-14:
            break
    return normalized(along(n, -dot3(n, eb), eb)) if line else n


@kernel("UniTuple(float64, 2)(float64, float64, float64, float64)", borrows=True)
def turned_by(c: float, s: float, y: float, least: float) -> tuple[float, float]:
    """Return cosine and sine of an angle that is turned by y, its cosine no smaller than `least`."""
    c, s = c * math.cos(y) - s * math.sin(y), s * math.cos(y) + c * math.sin(y)
    if c < least:
        return least, math.copysign(math.sqrt(1.0 - least * least), s)
    size = math.sqrt(c * c + s * s)
    return c / size, s / size


@kernel(f"{V3}({V3}, {V3}, {M6}, float64, {V3})", borrows=True)
def rim_normal(d: Vector, e: Vector, A: Matrix, r: float, guess: Vector) -> Vector:
    """Return the direction of the largest separation of an ellipsoid from a rim of radius r about e; d = a - b.

    It is n = c spoke + s e, the spoke leading to the point of the rim that touches: by the angles of n and spoke there
    is no kink where n comes near e. Across e the spoke points to where the ellipsoid touches, whatever the angle of n.
    """
    n = normalized(guess)
    p, h = farthest_along(A, n)
    g = along(d, -1.0, p)
    spoke, s = normalized(along(g, -dot3(g, e), e)), dot3(n, e)
    if spoke == ZERO:
        spoke, _ = tangents(RIM_RIM, e, e)
    c = math.sqrt(max(1.0 - s * s, NARROW * NARROW))
    for _ in range(ROUNDS):
        t, m = cross3(e, spoke), along(along(ZERO, c, e), -s, spoke)  # where spoke and n turn to
        n = along(along(ZERO, c, spoke), s, e)
        p, h = farthest_along(A, n)
        g = along(d, -1.0, p)
        Ht, Hm, x, y = curved(A, p, h, t), curved(A, p, h, m), dot3(t, g), dot3(m, g) + r * s
        h11, h12 = -dot3(spoke, g) - c * dot3(t, Ht), -dot3(t, Hm)
        h21, h22 = -s * x - c * dot3(m, Ht), r * c - dot3(n, g) - dot3(m, Hm)
        det = h11 * h22 - h12 * h21
        if h11 < 0.0 and det > 0.0:
            x, y = (y * h12 - x * h22) / det, (x * h21 - y * h11) / det
        else:
            x, y = math.atan2(x, dot3(spoke, g)), -y / h22 if h22 < 0.0 else math.copysign(STEP, y)
        cut = STEP / abs(y) if abs(y) > STEP else 1.0
        spoke = normalized(along(along(ZERO, math.cos(cut * x), spoke), math.sin(cut * x), t))
        size = c * abs(x) + abs(y)
        c, s = turned_by(c, s, cut * y, 0.1 * c)
        if size < 1e-14:
            break
    return normalized(along(along(ZERO, c, spoke), s, e))


@kernel(f"{V3}(int64, {V3}, {LINES}, {V3}, {M6}, {M6}, {V3})", borrows=True)
def smooth_rate(kind: int, n: Vector, lines: Lines, w: Vector, A: Matrix, B: Matrix, g: Vector) -> Vector:
    """Return the rate of the common normal; w: that of g = d - p - q, the way between the bodies, with n held."""
    eb, deb = lines[2], lines[5]
    t, s = turns(kind, n, eb)
    p, h = farthest_along(A, n)
    q, k = farthest_along(B, n)
    lift, fixed, turned = dot3(n, g), ZERO, ZERO
    if kind == ELLIPSOID_LINE:  # n stays across the line
        fixed, turned = along(ZERO, -dot3(n, deb), eb), cross3(deb, n)
    w = along(w, -1.0, curved(A, p, h, fixed))
    Ht = along(curved(A, p, h, t), 1.0, curved(B, q, k, t))
    h11, x = dot3(t, Ht) + lift, dot3(t, w) + dot3(turned, g)
    if kind == ELLIPSOID_LINE:
        return along(fixed, x / h11 if h11 != 0.0 else 0.0, t)
    Hs = along(curved(A, p, h, s), 1.0, curved(B, q, k, s))
    h12, h22, y = dot3(s, Ht), dot3(s, Hs) + lift, dot3(s, w)
    det = h11 * h22 - h12 * h12
    if det == 0.0:
        return ZERO
    return along(along(ZERO, (x * h22 - y * h12) / det, t), (y * h11 - x * h12) / det, s)


@kernel(f"{V3}({M6}, {V3}, {V3})", borrows=True)
def carried(M: Matrix, n: Vector, omega: Vector) -> Vector:
    """Return the rate of the farthest point along a fixed n while the body turns."""
    p, h = farthest_along(M, n)
    return along(cross3(omega, p), -1.0, curved(M, p, h, cross3(omega, n)))


@kernel(f"{M6}(int64, {A1}, {A2}, {V3})", borrows=True)
def other_matrix(kind: int, data: Array, RB: Array, eb: Vector) -> Matrix:
    """Return the matrix of B: of a ball, a disc or an ellipsoid; zero for others."""
    r = data[13]
    if kind == ELLIPSOID_BALL:
        return round_matrix(r)
    if kind == ELLIPSOID_RIM:
        return with_square(round_matrix(r), -r * r, eb)
    return matrix_in_space(RB, data, 10, OFF + 3) if kind == ELLIPSOID_ELLIPSOID else round_matrix(0.0)


@kernel(f"{MOTION}(int64, {A1}, {A2}, {A2}, {LINES}, UniTuple({V3}, 2), {V3})", borrows=True)
def smooth_motion(
    kind: int, data: Array, RA: Array, RB: Array, lines: Lines, omegas: tuple[Vector, Vector], guess: Vector
) -> tuple[float, Vector, Vector, Vector, Vector]:  # fmt: skip
    """Return the gap, the normal and its rate, the way to a from the point of A that touches, and the rate of that."""
    d, eb, w, deb = lines[0], lines[2], lines[3], lines[5]
    A, B = matrix_in_space(RA, data, 3, OFF), other_matrix(kind, data, RB, eb)
    n, dn = eb, deb
    if kind == ELLIPSOID_RIM:
        n = rim_normal(d, eb, A, data[13], guess)
    elif kind != ELLIPSOID_PLANE:
        n = smooth_normal(kind, d, eb, A, B, guess)
    p, h = farthest_along(A, n)
    q, k = farthest_along(B, n)
    if kind != ELLIPSOID_PLANE:
        moved = along(along(w, -1.0, carried(A, n, omegas[0])), -1.0, carried(B, n, omegas[1]))
        dn = smooth_rate(kind, n, lines, moved, A, B, along(along(d, -1.0, p), -1.0, q))
    dp = along(carried(A, n, omegas[0]), 1.0, curved(A, p, h, dn))
    radius = data[13] if kind == ELLIPSOID_LINE else 0.0
    return dot3(n, d) - h - k - radius, n, dn, p, dp
