"""The few scalar functions of two markers that all joints in space are made of, with exact derivatives.

With a and b two markers, d = x_a - x_b and Omega = omega_a - omega_b: the components of d in space or along the axes of
b, the cosine between an axis of a and one of b, the turn of a against b as a quaternion, and the angle about z.
"""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Array
from ...linalg.rotations import cross, cross_matrix, quaternion_of
from ..joints.equation import Equation
from .kinematics import SpatialMotion


def offsets(a: SpatialMotion, b: SpatialMotion) -> tuple[Equation, ...]:
    """Return the components x, y, z of d in space, m."""
    d, w, J, drift = a.x - b.x, a.v - b.v, a.J - b.J, a.drift - b.drift
    return tuple(Equation(float(d[k]), J[k], float(w[k]), float(drift[k])) for k in range(3))


def travel(a: SpatialMotion, b: SpatialMotion, axis: int) -> Equation:
    """Return the component of d along an axis of b, m: how far a has slid."""
    n, d, w = b.R[:, axis], a.x - b.x, a.v - b.v
    swing = cross(b.omega, n)
    J = n @ (a.J - b.J) + cross(n, d) @ b.turn
    drift = n @ (a.drift - b.drift) + 2.0 * (swing @ w) + d @ cross(b.omega, swing)
    return Equation(float(n @ d), J, float(n @ w + swing @ d), float(drift))


def cosine(a: SpatialMotion, i: int, b: SpatialMotion, k: int) -> Equation:
    """Return the cosine between axis i of a and axis k of b."""
    m, n, Omega = a.R[:, i], b.R[:, k], a.omega - b.omega
    normal = cross(m, n)
    bend = cross(cross(a.omega, m), n) + cross(m, cross(b.omega, n))
    return Equation(float(m @ n), normal @ (a.turn - b.turn), float(normal @ Omega), float(Omega @ bend))


def twist(a: SpatialMotion, b: SpatialMotion) -> tuple[Equation, ...]:
    """Return 2 u, (w, u) the quaternion of a's axes in those of b with w >= 0: for small turns their angles, rad.

    d(2 u)/dt = (w - [u]x) Omega_b with Omega_b = R_b^T Omega; dw/dt = -u.Omega_b / 2.
    """
    w, *rest = quaternion_of(b.R.T @ a.R).tolist()
    u, Omega = np.array(rest), b.R.T @ (a.omega - b.omega)
    G = w * np.eye(3) - cross_matrix(u)
    rate = G @ Omega
    drift = -0.5 * float(u @ Omega) * Omega - 0.5 * cross(rate, Omega)
    drift -= G @ cross(b.R.T @ b.omega, Omega)
    J = G @ b.R.T @ (a.turn - b.turn)
    return tuple(Equation(2.0 * float(u[k]), J[k], float(rate[k]), float(drift[k])) for k in range(3))


def angle(a: SpatialMotion, b: SpatialMotion, middle: float = 0.0) -> Equation:
    """Return the angle from the x axis of b to that of a about the z axis of b, rad, within pi of `middle`.

    With (c, s, z) the x axis of a in the axes of b: angle = atan2(s, c), rate = g . Omega_b with
    g = (-z c, -z s, c^2 + s^2) / (c^2 + s^2). On a hinge z = 0, and g = (0, 0, 1).
    """
    x, size, g, Omega = _about_z((a.R, a.omega), (b.R, b.omega))
    c, s, z = x
    dc, ds, dz = cross(Omega, x)
    shrink = 2.0 * float(c * dc + s * ds) / size
    dg = np.array([-(dz * c + z * dc) / size - g[0] * shrink, -(dz * s + z * ds) / size - g[1] * shrink, 0.0])
    drift = dg @ Omega - g @ cross(b.R.T @ b.omega, Omega)
    value = middle + wrapped(math.atan2(s, c) - middle)
    return Equation(value, (b.R @ g) @ (a.turn - b.turn), float(g @ Omega), float(drift))


def _about_z(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, float, Array, Array]:
    """Return x = (c, s, z), c^2 + s^2, g and Omega_b of `angle`, from the axes and angular velocities of markers."""
    c, s, z = x = b[0].T @ a[0][:, 0]
    size = float(c * c + s * s) or 1e-300  # the axis points along z: there is no angle
    return x, size, np.array([-z * c / size, -z * s / size, 1.0]), b[0].T @ (a[1] - b[1])


def angle_and_rate(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[float, float]:
    """Return value and rate of `angle` alone, within pi of 0."""
    x, _, g, Omega = _about_z(a, b)
    return wrapped(math.atan2(x[1], x[0])), float(g @ Omega)


def hinge_turn(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return angle and rate about z where the z axes are parallel, from the axes and angular velocities of markers.

    At one state, or at many: shapes (..., 3, 3) and (..., 3). Each by itself, with the bits that it has alone.
    """
    x = (b[0].swapaxes(-1, -2) @ a[0][..., :1])[..., 0]
    angles = [math.atan2(s, c) for c, s, _ in x.reshape(-1, 3).tolist()]  # numpy's has other last digits
    rate: Array = (b[0][..., None, :, 2] @ (a[1] - b[1])[..., None])[..., 0, 0]
    return np.array(angles).reshape(rate.shape), rate


def wrapped(x: float) -> float:
    """Return the angle x in [-pi, pi], rad."""
    return math.remainder(x, 2.0 * math.pi)
