"""Rotations of bodies, compiled: sine and cosine together, turns about axes, quaternions."""

from __future__ import annotations

import math

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ..collision.vectors import V3, Vector

FRAME = f"UniTuple({V3}, 4)"
Frame = tuple[Vector, Vector, Vector, Vector]  # place and axes in space
LARGE = 1e3  # rad: above, sine and cosine are those of the system
QUARTERS, ROUND = 2.0 / math.pi, 6755399441055744.0  # added and taken off again, 1.5 2^52 leaves a whole number
HALF_PI, REST = 1.57079632673412561417, 6.07710050650619224932e-11  # pi / 2: the first 33 bits, and what is left
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@kernel(f"void({A1}, {A1}, {A1})", borrows=True)
def sines_cosines(x: Array, s: Array, c: Array) -> None:
    """Put sines and cosines of angles to 1.1e-16: without branches the processor takes several at once.

    Source: polynomials and reduction of fdlibm (Sun Microsystems, 1993), `k_sin.c`, `k_cos.c`, `e_rem_pio2.c`.
    """
    for i in range(len(x)):
        n = (x[i] * QUARTERS + ROUND) - ROUND
        far, small = x[i] - n * HALF_PI, n * REST
        y = far - small
        tail = (far - y) - small
        z = y * y
        v = z * y
        sine = y - ((z * (0.5 * tail - v * (S2 + z * (S3 + z * (S4 + z * (S5 + z * S6))))) - tail) - v * S1)
        half = 0.5 * z
        w, r = 1.0 - half, z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
        cosine = w + (((1.0 - w) - half) + (z * r - y * tail))
        rounds = ((0.25 * n - 0.375) + ROUND) - ROUND
        quarter = n - 4.0 * rounds
        odd = quarter == 1.0 or quarter == 3.0
        a, b = cosine if odd else sine, -sine if odd else cosine
        s[i], c[i] = -a if quarter > 1.0 else a, -b if quarter > 1.0 else b
    for i in range(len(x)):
        if not abs(x[i]) < LARGE:
            s[i], c[i] = math.sin(x[i]), math.cos(x[i])


@kernel(f"{FRAME}({V3}, {A2})", borrows=True)
def frame_at(x: Vector, R: Array) -> Frame:
    """Return a frame whose axes are the columns of R."""
    return x, (R[0, 0], R[1, 0], R[2, 0]), (R[0, 1], R[1, 1], R[2, 1]), (R[0, 2], R[1, 2], R[2, 2])


@kernel(f"{V3}({FRAME}, int64)", inline=True, borrows=True)
def axis_along(frame: Frame, along: int) -> Vector:
    """Return one of the axes of a frame, see `Trees.joints`, one way or the other."""
    k, sign = abs(along), 1.0 if along > 0 else -1.0
    axis = frame[1] if k == 1 else frame[2] if k == 2 else frame[3]
    return (sign * axis[0], sign * axis[1], sign * axis[2])


@kernel(f"{V3}({FRAME}, {V3})", borrows=True)
def in_space(frame: Frame, own: Vector) -> Vector:
    """Return a vector that has these components in the axes of a frame."""
    _, a, b, c = frame
    x, y, z = own
    return (a[0] * x + b[0] * y + c[0] * z, a[1] * x + b[1] * y + c[1] * z, a[2] * x + b[2] * y + c[2] * z)


@kernel(f"{V3}(float64, {V3}, float64, {V3})", borrows=True)
def mixed(s: float, a: Vector, t: float, b: Vector) -> Vector:
    """Return s a + t b."""
    return (s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2])


@kernel(f"{FRAME}({FRAME}, int64, float64, float64)", inline=True, borrows=True)
def turn_along(frame: Frame, along: int, s: float, c: float) -> Frame:
    """Return a frame turned about one of its own axes, see `Trees.joints`, by an angle of this sine and cosine."""
    x, a, b, d = frame
    if along < 0:
        s, along = -s, -along
    if along == 1:
        b, d = mixed(c, b, s, d), mixed(c, d, -s, b)
    elif along == 2:
        d, a = mixed(c, d, s, a), mixed(c, a, -s, d)
    else:
        a, b = mixed(c, a, s, b), mixed(c, b, -s, a)
    return x, a, b, d


@kernel(f"{FRAME}({FRAME}, {A2})", borrows=True)
def turn_axes(frame: Frame, turn: Array) -> Frame:
    """Return a frame turned by a rotation that is given in its own axes."""
    x, a, b, c = frame_at(frame[0], turn)
    return x, in_space(frame, a), in_space(frame, b), in_space(frame, c)


@kernel(f"void({V3}, float64, float64, {A2})", borrows=True)
def turn_about(axis: Vector, s: float, c: float, out: Array) -> None:
    """Put the rotation about a unit axis (Rodrigues) by an angle whose half has this sine and cosine."""
    x, y, z = axis
    k, s = 2.0 * s * s, 2.0 * s * c  # 1 - cosine, without cancellation, and sine
    c = 1.0 - k
    out[0, 0], out[0, 1], out[0, 2] = c + k * x * x, k * x * y - s * z, k * x * z + s * y
    out[1, 0], out[1, 1], out[1, 2] = k * x * y + s * z, c + k * y * y, k * y * z - s * x
    out[2, 0], out[2, 1], out[2, 2] = k * x * z - s * y, k * y * z + s * x, c + k * z * z


@kernel(f"void({A1}, int64, {A2})", borrows=True)
def turn_of(q: Array, i: int, out: Array) -> None:
    """Put the rotation of the quaternion that begins at q[i], of any length but 0."""
    w, a, b, c = q[i], q[i + 1], q[i + 2], q[i + 3]
    s = 2.0 / (w * w + a * a + b * b + c * c)
    out[0, 0], out[0, 1], out[0, 2] = 1.0 - s * (b * b + c * c), s * (a * b - w * c), s * (a * c + w * b)
    out[1, 0], out[1, 1], out[1, 2] = s * (a * b + w * c), 1.0 - s * (a * a + c * c), s * (b * c - w * a)
    out[2, 0], out[2, 1], out[2, 2] = s * (a * c - w * b), s * (b * c + w * a), 1.0 - s * (a * a + b * b)
