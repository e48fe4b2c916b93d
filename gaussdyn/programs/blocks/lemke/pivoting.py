"""Lemke's complementary pivoting with the lexicographic rule, compiled.

The tableau T of w - M z - cover z0 = q has the columns w (0..n-1), z (n..2n-1), z0 (2n) and the right side (2n + 1).
"""

from __future__ import annotations

from ...._jit import A1, A2, I1, kernel
from ....arrays import Array, IntArray

SOLVED, RAY, LIMIT = 0, 1, 2


@kernel(f"boolean({A2}, int64, int64, float64, float64)")
def before(T: Array, i: int, k: int, di: float, dk: float) -> bool:
    """Whether row i of (right side, inverse basis) over di comes before row k over dk lexicographically."""
    n = len(T)
    for j in range(-1, n):
        c = 2 * n + 1 if j < 0 else j
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


@kernel(f"int64({A2}, {I1}, int64)")
def leaving_row(T: Array, basis: IntArray, col: int) -> int:
    """Return the row that blocks the growth of column `col`, -1 if none does; z0 leaves whenever it can."""
    n, row = len(T), -1
    small = 1e-14
    for i in range(n):
        small = max(small, 1e-11 * abs(T[i, col]))
    for i in range(n):
        if T[i, col] > small and (row < 0 or before(T, i, row, T[i, col], T[row, col])):
            row = i
    for i in range(n):
        if row >= 0 and basis[i] == 2 * n and T[i, col] > small:
            a, b = T[i, 2 * n + 1] / T[i, col], T[row, 2 * n + 1] / T[row, col]
            if a <= b + 1e-12 * (abs(a) + abs(b)):
                return i
    return row


@kernel(f"void({A2}, int64, float64, {I1}, {A1})")
def collect(T: Array, col: int, sign: float, basis: IntArray, z: Array) -> None:
    """Put sign times the entries of a tableau column that belong to basic z into z."""
    n = len(basis)
    for i in range(n):
        if n <= basis[i] < 2 * n:
            z[basis[i] - n] = sign * T[i, col]


@kernel(f"Tuple((int64, int64))({A2}, {I1}, {A1}, int64, {A1}, {A1})", entry=True)
def lemke(T: Array, basis: IntArray, cover: Array, limit: int, z: Array, ray: Array) -> tuple[int, int]:
    """Follow Lemke's path from z0 large; return (SOLVED | RAY | LIMIT, pivots). The ratio test excludes cycling.

    On a ray, `ray` holds the direction of z along which the path runs to infinity.
    """
    n, row = len(T), 0
    for i in range(1, n):
        if before(T, i, row, cover[i], cover[row]):
            row = i
    if T[row, 2 * n + 1] >= 0.0:
        return 0, 0
    entering = 2 * n
    for count in range(1, limit + 1):
        leaving, basis[row] = basis[row], entering
        pivot(T, row, entering)
        if leaving == 2 * n:
            collect(T, 2 * n + 1, 1.0, basis, z)
            return 0, count
        entering = leaving + n if leaving < n else leaving - n
        row = leaving_row(T, basis, entering)
        if row < 0:
            collect(T, entering, -1.0, basis, ray)
            collect(T, 2 * n + 1, 1.0, basis, z)
            if n <= entering < 2 * n:
                ray[entering - n] = 1.0
            return 1, count
    return 2, limit
