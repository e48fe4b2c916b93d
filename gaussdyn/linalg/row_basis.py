"""A growing and shrinking set of rows B_W = T Q: Q has orthonormal rows, T is lower triangular (k, k).

A thin LQ factorization kept by Gram-Schmidt with reorthogonalisation and plane rotations (Daniel, Gragg, Kaufman,
Stewart, Math. Comp. 30 (1976) 772-795). It decides whether a row depends on the others without squaring their
condition number. Both arrays are (n, n) with the first k rows in use; a basis is passed as the pair (Q, T).
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array
from .dense import add_multiple, dot, norm, subtract_rows

Basis = tuple[Array, Array]
BASIS = "Tuple((float64[:,::1], float64[:,::1]))"
AGAIN = 0.7  # a projection that keeps less than this of its length is repeated: twice is enough


@kernel("float64(float64[:,::1], int64, float64[::1], float64[::1], float64[::1])")
def split(Q: Array, k: int, b: Array, along: Array, across: Array) -> float:
    """Split b = Q^T along + across, across orthogonal to the first k rows of Q; return |across|.

    A remainder at rounding level is returned as exactly zero, and so is any remainder when Q is square.
    """
    n = b.shape[0]
    for i in range(n):
        across[i] = b[i]
    before = norm(across)
    if k == 0:
        return before
    for i in range(k):
        along[i] = dot(Q[i], across, n)
    subtract_rows(across, along, Q, k, 0)
    after = norm(across)
    if k < n and after > AGAIN * before:
        return after
    part = np.empty(k)
    for _ in range(2):
        before = after
        for i in range(k):
            part[i] = dot(Q[i], across, n)
            along[i] += part[i]
        subtract_rows(across, part, Q, k, 0)
        after = norm(across)
        if k < n and after > AGAIN * before:
            return after
    for i in range(n):
        across[i] = 0.0
    return 0.0


@kernel(f"void({BASIS}, int64, float64[::1], float64[::1], float64)")
def append(basis: Basis, k: int, along: Array, across: Array, length: float) -> None:
    """Append, as row k, the row that `split` took apart; length = |across| > 0."""
    Q, T = basis
    for i in range(across.shape[0]):
        Q[k, i] = across[i] / length
    for i in range(k):
        T[k, i] = along[i]
    T[k, k] = length


@kernel(f"void({BASIS}, int64, int64)")
def remove(basis: Basis, k: int, j: int) -> None:
    """Remove row j of the k rows, and restore the triangle by plane rotations."""
    Q, T = basis
    n = Q.shape[1]
    for i in range(j, k - 1):
        for c in range(i + 2):
            T[i, c] = T[i + 1, c]
    for i in range(j, k - 1):
        length = np.hypot(T[i, i], T[i, i + 1])
        cos, sin = T[i, i] / length, T[i, i + 1] / length
        T[i, i] = length
        for row in range(i + 1, k - 1):
            first, second = T[row, i], T[row, i + 1]
            T[row, i], T[row, i + 1] = cos * first + sin * second, cos * second - sin * first
        upper, lower = Q[i], Q[i + 1]
        for c in range(n):
            first, second = upper[c], lower[c]
            upper[c] = cos * first + sin * second
            lower[c] = cos * second - sin * first


@kernel("void(float64[:,::1], int64, float64[::1])")
def solve_lower(T: Array, k: int, x: Array) -> None:
    """Overwrite the first k entries of x with T^-1 x."""
    for i in range(k):
        x[i] = (x[i] - dot(T[i], x, i)) / T[i, i]


@kernel("void(float64[:,::1], int64, float64[::1])")
def solve_lower_transposed(T: Array, k: int, x: Array) -> None:
    """Overwrite the first k entries of x with T^-T x: the combination of rows that gives Q^T x."""
    for i in range(k - 1, -1, -1):
        x[i] /= T[i, i]
        add_multiple(x, -x[i], T[i], i)
