"""Small dense kernels: Cholesky, triangular solves and sums, written so that the compiler vectorises them.

Reordering a sum is not allowed to the compiler (no fastmath), so the loops are written as row updates, and the
dot product with four accumulators.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array


@kernel("float64(float64[::1], float64[::1], int64)")
def dot(a: Array, b: Array, n: int) -> float:
    """Return the sum of a_i b_i over the first n entries."""
    s0 = s1 = s2 = s3 = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@kernel("void(float64[::1], float64, float64[::1], int64)")
def add_multiple(y: Array, factor: float, x: Array, n: int) -> None:
    """Add factor * x to y in place, over the first n entries."""
    for i in range(n):
        y[i] += factor * x[i]


@kernel("int64(float64[:,::1], float64[:,::1])")
def cholesky_upper(H: Array, U: Array) -> int:
    """Write the upper factor of H = U^T U into U (n, n), zeros below; H's upper triangle is read.

    Returns
    -------
    int
        -1, or the coordinate at which H is not positive definite.
    """
    n = H.shape[0]
    for i in range(n):
        for j in range(n):
            U[i, j] = H[i, j] if j >= i else 0.0
    for k in range(n):
        pivot = U[k, k]
        if not pivot > 0.0:
            return k
        top = U[k]
        inverse = 1.0 / np.sqrt(pivot)
        for j in range(k, n):
            top[j] *= inverse
        for i in range(k + 1, n):
            row, factor = U[i], top[i]
            for j in range(i, n):
                row[j] -= factor * top[j]
    return -1


@kernel("void(float64[:,::1], float64[::1])")
def solve_upper(U: Array, x: Array) -> None:
    """Overwrite x with U^-1 x, U (n, n) upper triangular."""
    n = U.shape[0]
    for i in range(n - 1, -1, -1):
        row, total = U[i], x[i]
        for j in range(i + 1, n):
            total -= row[j] * x[j]
        x[i] = total / row[i]


@kernel("void(float64[:,::1], float64[::1])")
def solve_upper_transposed(U: Array, x: Array) -> None:
    """Overwrite x with U^-T x, U (n, n) upper triangular."""
    n = U.shape[0]
    for i in range(n):
        row = U[i]
        value = x[i] / row[i]
        x[i] = value
        for j in range(i + 1, n):
            x[j] -= value * row[j]


@kernel("void(float64[:,::1], float64[:,::1])")
def solve_upper_transposed_many(U: Array, X: Array) -> None:
    """Overwrite the matrix X (n, m) with U^-T X, U (n, n) upper triangular."""
    n, m = X.shape
    for i in range(n):
        source, inverse = X[i], 1.0 / U[i, i]
        for c in range(m):
            source[c] *= inverse
        for j in range(i + 1, n):
            target, factor = X[j], U[i, j]
            for c in range(m):
                target[c] -= factor * source[c]


@kernel("float64(float64[::1])")
def norm(x: Array) -> float:
    """Return the Euclidean norm of x."""
    return float(np.sqrt(dot(x, x, x.shape[0])))
