"""Cholesky factors of dense matrices whose rows begin late, compiled: what is zero before costs nothing."""

from __future__ import annotations

import numpy as np

from .._jit import A1, A2, I1, kernel
from ..arrays import Array, IntArray

LONG = 8  # terms of a sum from which on it is taken in parts


@kernel(f"float64({A1}, {A1}, int64, int64)", inline=True, borrows=True)
def part_dot(x: Array, y: Array, low: int, high: int) -> float:
    """Return the sum of x[i] y[i], low <= i < high; of long ones as four sums, which the processor takes together."""
    s0 = s1 = s2 = s3 = 0.0
    whole = low + (high - low) // 4 * 4 if high - low >= LONG else low
    for i in range(low, whole, 4):
        s0 += x[i] * y[i]
        s1 += x[i + 1] * y[i + 1]
        s2 += x[i + 2] * y[i + 2]
        s3 += x[i + 3] * y[i + 3]
    s = (s0 + s1) + (s2 + s3)
    for i in range(whole, high):
        s += x[i] * y[i]
    return s


@kernel(f"float64({A2}, int64, {I1}, float64)", borrows=True)
def cholesky(S: Array, n: int, first: IntArray, drop: float) -> float:
    """Factorise the lower part of S[:n, :n] in place; return the least pivot over its diagonal entry (0: singular).

    `first` becomes the first entry of every row that is not zero: those before it stay so, and cost nothing. Pivots
    up to `drop` of their diagonal entry become infinite: `cholesky_solve` leaves these unknowns at zero.
    """
    least = 1.0
    for i in range(n):
        low = 0
        while low < i and S[i, low] == 0.0:
            low += 1
        first[i] = low
        for j in range(low, i + 1):
            s = S[i, j] - part_dot(S[i], S[j], max(low, first[j]), j)
            if i > j:
                S[i, j] = s / S[j, j]
            elif s > drop * S[i, i]:
                least = min(least, s / S[i, i])
                S[i, i] = np.sqrt(s)
            elif drop == 0.0:
                return 0.0
            else:
                S[i, i] = np.inf
    return least


@kernel(f"void({A2}, int64, {I1}, {A1})", borrows=True)
def forward_solve(S: Array, n: int, first: IntArray, b: Array) -> None:
    """Put b = L^-1 b, with the factor L in the lower part of S[:n, :n]."""
    for i in range(n):
        b[i] = (b[i] - part_dot(S[i], b, first[i], i)) / S[i, i]


@kernel(f"void({A2}, int64, {I1}, {A1})", borrows=True)
def backward_solve(S: Array, n: int, first: IntArray, b: Array) -> None:
    """Put b = L^-T b."""
    for i in range(n - 1, -1, -1):
        row = S[i]
        value = b[i] / row[i]
        b[i] = value
        for k in range(first[i], i):
            b[k] -= row[k] * value


@kernel(f"void({A2}, int64, {I1}, {A1})", borrows=True)
def cholesky_solve(S: Array, n: int, first: IntArray, b: Array) -> None:
    """Solve in place with the factor in the lower part of S[:n, :n]."""
    forward_solve(S, n, first, b)
    backward_solve(S, n, first, b)
