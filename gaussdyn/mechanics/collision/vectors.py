"""Vectors in space as tuples of three numbers, compiled."""

from __future__ import annotations

from ..._jit import kernel
from ...arrays import Array

A1, A2 = "float64[::1]", "float64[:,::1]"
V3 = "UniTuple(float64, 3)"
Vector = tuple[float, float, float]


@kernel(f"{V3}({V3}, {V3})", borrows=True)
def cross3(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel(f"float64({V3}, {V3})", borrows=True)
def dot3(a: Vector, b: Vector) -> float:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(f"{V3}({V3}, float64, {V3})", borrows=True)
def along(a: Vector, s: float, b: Vector) -> Vector:
    """Return a + s b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@kernel(f"{V3}({A2}, {A1}, int64)", borrows=True)
def turned(R: Array, data: Array, i: int) -> Vector:
    """Return R data[i:i+3]."""
    x, y, z = data[i], data[i + 1], data[i + 2]
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@kernel(f"{V3}({A2}, {V3})", borrows=True)
def turned_by(R: Array, x: Vector) -> Vector:
    """Return R x."""
    return (
        R[0, 0] * x[0] + R[0, 1] * x[1] + R[0, 2] * x[2],
        R[1, 0] * x[0] + R[1, 1] * x[1] + R[1, 2] * x[2],
        R[2, 0] * x[0] + R[2, 1] * x[1] + R[2, 2] * x[2],
    )


@kernel(f"{V3}({A2}, {V3})", borrows=True)
def turned_back(R: Array, x: Vector) -> Vector:
    """Return R^T x."""
    return (
        R[0, 0] * x[0] + R[1, 0] * x[1] + R[2, 0] * x[2],
        R[0, 1] * x[0] + R[1, 1] * x[1] + R[2, 1] * x[2],
        R[0, 2] * x[0] + R[1, 2] * x[1] + R[2, 2] * x[2],
    )


@kernel(f"{V3}({A1})", borrows=True)
def triple3(x: Array) -> Vector:
    """Return an array of three numbers as a tuple."""
    return (x[0], x[1], x[2])


@kernel(f"{V3}({A1}, int64)", borrows=True)
def three(x: Array, i: int) -> Vector:
    """Return x[i:i+3] as a tuple: numba would ask of a slice whether it ends within the array."""
    return (x[i], x[i + 1], x[i + 2])
