"""Lemke's complementary pivoting with the lexicographic rule, compiled."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array, IntArray
from .law_kernels import A1, A2, I1

SOLVED, RAY, LIMIT = 0, 1, 2


@kernel(f"boolean({A2}, int64, int64, float64, float64, int64)")
def smaller_ratio(T: Array, i: int, k: int, di: float, dk: float, n: int) -> bool:
    """Whether row i of (right side, inverse basis) over di comes before row k over dk lexicographically."""
    last = T.shape[1] - 1
    for j in range(-1, n):
        c = last if j < 0 else j
        a, b = T[i, c] / di, T[k, c] / dk
        if abs(a - b) > 1e-11 * (abs(a) + abs(b)):
            return bool(a < b)
    return False


@kernel(f"void({A2}, int64, int64)")
def pivot(T: Array, row: int, col: int) -> None:
    """Bring column `col` into the basis at row `row`."""
    m, n = T.shape
    inverse = 1.0 / T[row, col]
    for j in range(n):
        T[row, j] *= inverse
    for i in range(m):
        f = T[i, col]
        if i != row and f != 0.0:
            for j in range(n):
                T[i, j] -= f * T[row, j]


@kernel(f"Tuple((int64, int64))({A2}, {A1}, {A1}, int64, {A1}, {A1}, {I1})")
def lemke(
    M: Array, q: Array, cover: Array, limit: int, z: Array, ray: Array, basis: IntArray
) -> tuple[int, int]:
    """Follow Lemke's path from z0 large; returns (SOLVED | RAY | LIMIT, pivots).

    w - M z - cover z0 = q. Columns 0..n-1 are w, n..2n-1 z, 2n z0. The lexicographic ratio test excludes cycling.
    On a ray, `ray` holds the direction of z along which the path runs to infinity.
    """
    n = len(q)
    T = np.zeros((n, 2 * n + 2))
    for i in range(n):
        T[i, i] = 1.0
        basis[i] = i
        for j in range(n):
            T[i, n + j] = -M[i, j]
        T[i, 2 * n] = -cover[i]
        T[i, 2 * n + 1] = q[i]
    row = 0
    for i in range(1, n):  # the most negative q / cover leaves first; lexicographically least of equals
        if smaller_ratio(T, i, row, cover[i], cover[row], n):
            row = i
    status, count = 2, 0
    if not T[row, 2 * n + 1] < 0.0:
        status = 0
    else:
        entering = 2 * n
        for count in range(1, limit + 1):
            leaving = basis[row]
            pivot(T, row, entering)
            basis[row] = entering
            if leaving == 2 * n:
                status = 0
                break
            entering = leaving + n if leaving < n else leaving - n
            top = 0.0
            for i in range(n):
                top = max(top, abs(T[i, entering]))
            row = -1
            for i in range(n):
                d = T[i, entering]
                if d > 1e-11 * top and d > 1e-14:
                    if row < 0 or smaller_ratio(T, i, row, d, T[row, entering], n):
                        row = i
            if row >= 0:  # z0 leaves whenever it can: it ends the path
                for i in range(n):
                    d = T[i, entering]
                    if basis[i] == 2 * n and d > 1e-11 * top:
                        a, b = T[i, 2 * n + 1] / d, T[row, 2 * n + 1] / T[row, entering]
                        if a <= b + 1e-12 * (abs(a) + abs(b)):
                            row = i
            if row < 0:
                status = 1
                if entering >= n and entering < 2 * n:
                    ray[entering - n] = 1.0
                for i in range(n):
                    if basis[i] >= n and basis[i] < 2 * n:
                        ray[basis[i] - n] = -T[i, entering]
                break
    for i in range(n):
        if basis[i] >= n and basis[i] < 2 * n:
            z[basis[i] - n] = max(T[i, 2 * n + 1], 0.0)
    return status, count
