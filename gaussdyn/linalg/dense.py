"""Small dense kernels: Cholesky, triangular solves and sums, written so that the compiler vectorises them.

Reordering a sum is not allowed to the compiler (no fastmath), so the loops are written as row updates, and the
dot product with four accumulators.
"""

from __future__ import annotations

import numpy as np

from .._jit import A1, A2, I1, kernel
from .._jit.lanes import add_four, add_two
from ..arrays import Array, IntArray

SPARE = 3  # entries after each row in `factor_flat`, so that whole fours of it may end there


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


@kernel("void(float64[::1], float64[::1], float64[:,::1], int64, int64)")
def subtract_rows(y: Array, c: Array, X: Array, k: int, start: int) -> None:
    """Subtract the sum of c_i X_i over the first k rows of X from y, on the entries from `start` on.

    Four rows at a time: y is then read and written a quarter as often.
    """
    n, whole = y.shape[0], k - k % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        for j in range(start, n):
            y[j] -= (c0 * x0[j] + c1 * x1[j]) + (c2 * x2[j] + c3 * x3[j])
    for i in range(whole, k):
        x0, c0 = X[i], c[i]
        for j in range(start, n):
            y[j] -= c0 * x0[j]


@kernel("int64(float64[:,::1], float64[:,::1])")
def cholesky_upper(H: Array, U: Array) -> int:
    """Write the upper factor of H = U^T U into U (n, n); H's upper triangle is read, U's lower one left as it is.

    Returns
    -------
    int
        -1, or the coordinate at which H is not positive definite.
    """
    n = H.shape[0]
    column = np.empty(n)
    for i in range(n):
        row, source = U[i], H[i]
        for j in range(i, n):
            row[j] = source[j]
        for k in range(i):
            column[k] = U[k, i]
        subtract_rows(row, column, U, i, i)
        if not row[i] > 0.0:
            return i
        inverse = 1.0 / np.sqrt(row[i])
        for j in range(i, n):
            row[j] *= inverse
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
    column = np.empty(n)
    for i in range(n):
        for k in range(i):
            column[k] = U[k, i]
        row, inverse = X[i], 1.0 / U[i, i]
        subtract_rows(row, column, X, i, 0)
        for c in range(m):
            row[c] *= inverse


@kernel("float64(float64[::1])")
def norm(x: Array) -> float:
    """Return the Euclidean norm of x."""
    return float(np.sqrt(dot(x, x, x.shape[0])))


@kernel(f"boolean({A2}, {A1})", borrows=True)
def solve_dense(A: Array, b: Array) -> bool:
    """Solve A x = b by elimination with row pivots; b becomes x, A is overwritten. False if A is singular."""
    n = len(b)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        if not abs(A[p, k]) > 0.0:
            return False
        if p != k:
            for j in range(k, n):
                A[k, j], A[p, j] = A[p, j], A[k, j]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            if f != 0.0:
                b[i] -= f * b[k]
                for j in range(k + 1, n):
                    A[i, j] -= f * A[k, j]
    for k in range(n - 1, -1, -1):
        value = b[k]
        for j in range(k + 1, n):
            value -= A[k, j] * b[j]
        b[k] = value / A[k, k]
    return True


@kernel(f"boolean({A1}, int64, {I1})", borrows=True)
def factor_flat(A: Array, n: int, pivot: IntArray) -> bool:
    """Factorise A (n, n), given row by row, in place: P A = L U, row k changed places with `pivot[k]`.

    Rows begin n + SPARE apart; what stands between them means nothing. Returns False if A is singular.
    Two columns at a time: what comes after them is then read and written half as often.
    """
    wide = n + SPARE
    for k in range(n):
        first, row, p, most = k - k % 2, k * wide, k, abs(A[k * wide + k])
        for i in range(k + 1, n):
            size = abs(A[i * wide + k])
            if size > most:
                p, most = i, size
        pivot[k] = p
        if p != k:
            other = p * wide
            for j in range(n):
                A[row + j], A[other + j] = A[other + j], A[row + j]
        if not most > 0.0:
            return False
        inverse = 1.0 / A[row + k]
        if first == k:  # the next column alone, of which the pivot comes next
            for i in range(k + 1, n):
                f = A[i * wide + k] * inverse
                A[i * wide + k] = f
                A[i * wide + k + 1] -= f * A[row + k + 1]
            continue
        before = row - wide
        for j in range(k + 1, n, 4):
            add_four(A, row + j, -A[row + first], A, before + j)
        for i in range(k + 1, n):
            below = i * wide
            f, g = A[below + first], A[below + k] * inverse
            A[below + k] = g
            for j in range(k + 1, n if f != 0.0 or g != 0.0 else 0, 4):
                add_two(A, below + j, -f, A, before + j, -g, A, row + j)
    return True


@kernel(f"void({A1}, int64, {I1}, {A1})", borrows=True)
def solve_flat(A: Array, n: int, pivot: IntArray, b: Array) -> None:
    """Overwrite b with A^-1 b, by the factor of `factor_flat`; four rows side by side, whose sums do not wait."""
    wide = n + SPARE
    for k in range(n):
        p = pivot[k]
        b[k], b[p] = b[p], b[k]
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        r0, r1, r2, r3 = i * wide, (i + 1) * wide, (i + 2) * wide, (i + 3) * wide
        s0, s1, s2, s3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        for j in range(i):
            x = b[j]
            s0, s1, s2, s3 = s0 - A[r0 + j] * x, s1 - A[r1 + j] * x, s2 - A[r2 + j] * x, s3 - A[r3 + j] * x
        s1 -= A[r1 + i] * s0
        s2 = s2 - A[r2 + i] * s0 - A[r2 + i + 1] * s1
        b[i], b[i + 1], b[i + 2] = s0, s1, s2
        b[i + 3] = s3 - A[r3 + i] * s0 - A[r3 + i + 1] * s1 - A[r3 + i + 2] * s2
    for i in range(whole, n):
        row, value = i * wide, b[i]
        for j in range(i):
            value -= A[row + j] * b[j]
        b[i] = value
    for i in range(n - 1, whole - 1, -1):
        row, value = i * wide, b[i]
        for j in range(i + 1, n):
            value -= A[row + j] * b[j]
        b[i] = value / A[row + i]
    for i in range(whole - 4, -1, -4):
        r0, r1, r2, r3 = i * wide, (i + 1) * wide, (i + 2) * wide, (i + 3) * wide
        s0, s1, s2, s3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        for j in range(i + 4, n):
            x = b[j]
            s0, s1, s2, s3 = s0 - A[r0 + j] * x, s1 - A[r1 + j] * x, s2 - A[r2 + j] * x, s3 - A[r3 + j] * x
        s3 /= A[r3 + i + 3]
        s2 = (s2 - A[r2 + i + 3] * s3) / A[r2 + i + 2]
        s1 = (s1 - A[r1 + i + 2] * s2 - A[r1 + i + 3] * s3) / A[r1 + i + 1]
        b[i] = (s0 - A[r0 + i + 1] * s1 - A[r0 + i + 2] * s2 - A[r0 + i + 3] * s3) / A[r0 + i]
        b[i + 1], b[i + 2], b[i + 3] = s1, s2, s3
