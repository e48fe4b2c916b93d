"""Rotations in space: unit quaternions (w, x, y, z) that turn body axes into space, and their matrices.

Small and written out: every function is called several times per body and step. A quaternion q and its multiples stand
for the same rotation wherever a matrix is made of it, so that functions of q are smooth off the unit sphere too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, vector
from ..errors import InputError

IDENTITY = (1.0, 0.0, 0.0, 0.0)
ROUNDED = 1e-6  # a given quaternion that is off length one by no more was meant to have it


def product(p: ArrayLike, q: ArrayLike) -> Array:
    """Return the quaternion p q, shape (4,): first the turn q, then p."""
    a, b, c, d = np.asarray(p, dtype=np.float64).tolist()
    w, x, y, z = np.asarray(q, dtype=np.float64).tolist()
    return np.array([
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ])  # fmt: skip


def matrix_of(q: ArrayLike) -> Array:
    """Return the rotation matrix of a quaternion of any length but 0, shape (3, 3)."""
    w, x, y, z = np.asarray(q, dtype=np.float64).tolist()
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array([
        [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
    ])  # fmt: skip


def quaternion_of(R: ArrayLike) -> Array:
    """Return the unit quaternion of a rotation matrix, w >= 0, shape (4,); the largest component decides (Shepperd)."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(R, dtype=np.float64).tolist()
    guesses = {
        a + e + i: (1.0 + a + e + i, h - f, c - g, d - b),
        a - e - i: (h - f, 1.0 + a - e - i, b + d, c + g),
        e - a - i: (c - g, b + d, 1.0 + e - a - i, f + h),
        i - a - e: (d - b, c + g, f + h, 1.0 + i - a - e),
    }
    q = np.array(guesses[max(guesses)])
    return q / (math.copysign(1.0, q[0]) * math.sqrt(q @ q))


def conjugate(q: Array) -> Array:
    """Return the inverse of a unit quaternion, shape (4,)."""
    return np.array([q[0], -q[1], -q[2], -q[3]])


def exponential(turn: ArrayLike) -> Array:
    """Return the unit quaternion of a rotation about the axis `turn` by the angle |turn|, rad, shape (4,)."""
    x = vector("turn", turn, 3)
    half = 0.5 * math.sqrt(x @ x)
    scale = 0.5 * (math.sin(half) / half if half > 0.0 else 1.0)
    return np.array([math.cos(half), *(scale * x)])


def logarithm(q: Array) -> Array:
    """Return the rotation vector of a unit quaternion, rad, shape (3,), of length at most pi."""
    u = q[1:] if q[0] >= 0.0 else -q[1:]
    sine = math.sqrt(u @ u)
    scale = 2.0 * math.atan2(sine, abs(float(q[0]))) / sine if sine > 0.0 else 2.0
    return np.asarray(scale * u)


def pointing(axis: ArrayLike) -> tuple[float, float, float, float]:
    """Return the quaternion of the shortest turn that brings the z axis into `axis`: for markers of joints.

    Raises
    ------
    InputError
        A zero axis, NaN.
    """
    n = vector("axis", axis, 3)
    length = math.sqrt(n @ n)
    if length == 0.0:
        raise InputError(
            "axis", axis, "a direction: three numbers that are not all zero", "Write axis=(0.0, 0.0, 1.0)."
        )
    x, y, z = (n / length).tolist()
    w = 1.0 + z if z > 0.0 else (x * x + y * y) / (1.0 - z)  # without cancellation
    size = math.hypot(w, x, y)
    return (w / size, -y / size, x / size, 0.0) if size > 0.0 else (0.0, 1.0, 0.0, 0.0)


def unit_quaternion(name: str, value: ArrayLike) -> tuple[float, float, float, float]:
    """Return `value` with length one.

    Raises
    ------
    InputError
        Not four finite numbers, or a length that is not one within 1e-6.
    """
    q = vector(name, value, 4)
    length = math.sqrt(q @ q)
    if abs(length - 1.0) > ROUNDED:
        mend = (
            f"Divide it by its length, {length:.9g}; the order is (w, x, y, z); no turn: quaternion=(1.0, "
            "0.0, 0.0, 0.0)."
        )
        raise InputError(name, q.tolist(), "a unit quaternion (to within 1e-6)", mend)
    if length != 1.0:
        q = q / length
    w, x, y, z = q.tolist()
    return w, x, y, z


def cross_matrix(x: Array) -> Array:
    """Return the matrix of the cross product with x, shape (3, 3)."""
    a, b, c = x.tolist()
    return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])


def cross(a: Array, b: Array) -> Array:
    """Return a x b of two vectors of shape (3,) (numpy's takes twenty times as long)."""
    ax, ay, az = a.tolist()
    bx, by, bz = b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def times_vectors(Q: Array, W: Array) -> Array:
    """Return the quaternion products q (0, w), row by row, shape (n, 4)."""
    (a, b, c, d), (x, y, z) = Q.T, W.T
    parts = [-b * x - c * y - d * z, a * x + c * z - d * y, a * y - b * z + d * x, a * z + b * y - c * x]
    return np.stack(parts, axis=1)
