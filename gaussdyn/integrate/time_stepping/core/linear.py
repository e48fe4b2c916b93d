"""Linear algebra of a step: the mass by nodes, rows that reach over some of them, and what they lead to."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, kernel
from ....arrays import Array, IntArray
from .records import HIGH, LOW, NODE, NODES, Data, Layout

LONG = 8  # terms of a sum from which on it is taken in parts
SMALL = 6  # velocities of a node whose block of M is inverted: a body


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


@kernel(f"boolean({A2}, int64, int64, {A2})", borrows=True)
def factor_block(M: Array, first: int, end: int, L: Array) -> bool:
    """Put the lower Cholesky factor of a diagonal block; False if it is not positive definite."""
    for i in range(first, end):
        for j in range(first, i + 1):
            s = M[i, j] - part_dot(L[i], L[j], first, j)
            if i > j:
                L[i, j] = s / L[j, j]
            elif s > 0.0:
                L[i, i] = np.sqrt(s)
            else:
                return False
    return True


@kernel(f"void({A2}, int64, int64, {A2})", borrows=True)
def invert_block(L: Array, first: int, end: int, inverse: Array) -> None:
    """Put the inverse of L L^T, of a diagonal block: first that of L, then the product of its columns."""
    for j in range(first, end):
        inverse[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, end):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * inverse[k, j]
            inverse[i, j] = s / L[i, i]
    for i in range(first, end):
        for j in range(first, i + 1):
            s = 0.0
            for k in range(i, end):
                s += inverse[k, i] * inverse[k, j]
            inverse[i, j] = s
        for j in range(first, i):
            inverse[j, i] = inverse[i, j]


@kernel(f"boolean({A2}, {I1}, {A2})", borrows=True)
def factor_nodes(M: Array, nodes: IntArray, L: Array) -> bool:
    """Put the lower Cholesky factors of the diagonal blocks of M; False if one is not positive definite."""
    for node in range(len(nodes) - 1):  # noqa: SIM110
        if not factor_block(M, nodes[node], nodes[node + 1], L):
            return False
    return True


@kernel("boolean(Layout, Data)", borrows=True)
def factor_mass(layout: Layout, data: Data) -> bool:
    """Put the factor of M, and the inverse of its small blocks; what is known of the same block stands.

    Returns False if M is not positive definite.
    """
    M, of, nodes = data.M, data.of, layout.nodes
    for node in range(len(nodes) - 1):
        first, end, same = nodes[node], nodes[node + 1], True
        for i in range(first, end):
            for j in range(first, end):
                same = same and M[i, j] == of[i, j]
                of[i, j] = M[i, j]
        if same:
            continue
        if not factor_block(M, first, end, data.L):
            of[first, first] = np.nan
            return False
        if end - first <= SMALL and len(data.inverse) > 0:
            invert_block(data.L, first, end, data.inverse)
    return True


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def solve_nodes(L: Array, nodes: IntArray, b: Array, x: Array) -> None:
    """Put x = (L L^T)^-1 b; the two may be the same. Blocks of zeros cost nothing."""
    for n in range(len(nodes) - 1):
        first, end, some = nodes[n], nodes[n + 1], nodes[n + 1]
        for i in range(end - 1, first - 1, -1):
            x[i] = b[i]
            some = i if b[i] != 0.0 else some
        for i in range(some, end):
            x[i] = (x[i] - part_dot(L[i], x, some, i)) / L[i, i]
        for i in range(end - 1 if some < end else -1, first - 1, -1):
            row = L[i]
            value = x[i] / row[i]
            x[i] = value
            for k in range(first, i):
                x[k] -= row[k] * value


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_nodes(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = M x for a matrix of diagonal blocks."""
    for n in range(len(nodes) - 1):
        for i in range(nodes[n], nodes[n + 1]):
            s = 0.0
            for j in range(nodes[n], nodes[n + 1]):
                s += M[i, j] * x[j]
            y[i] = s


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_abs(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = |M| x for a matrix of diagonal blocks."""
    for n in range(len(nodes) - 1):
        for i in range(nodes[n], nodes[n + 1]):
            s = 0.0
            for j in range(nodes[n], nodes[n + 1]):
                s += abs(M[i, j]) * x[j]
            y[i] = s


@kernel(f"float64({A1}, {A1})", borrows=True)
def dot(x: Array, y: Array) -> float:
    """Return x . y."""
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


@kernel(f"float64(Layout, {A2}, int64, {A1})", borrows=True)
def row_dot(layout: Layout, J: Array, i: int, x: Array) -> float:
    """Return J[i] . x."""
    return part_dot(J[i], x, layout.reach[i, LOW], layout.reach[i, HIGH])


@kernel(f"float64(Layout, {A2}, int64, {A1})", borrows=True)
def row_dot_abs(layout: Layout, J: Array, i: int, x: Array) -> float:
    """Return |J[i]| . |x|."""
    s = 0.0
    for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
        s += abs(J[i, j] * x[j])
    return s


@kernel(f"void(Layout, int64, float64, {A1}, {A1})", borrows=True)
def add_row(layout: Layout, i: int, scale: float, x: Array, y: Array) -> None:
    """Add scale times x, which reaches as far as row i does, to y."""
    for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
        y[j] += scale * x[j]


@kernel(f"void(Layout, {A2}, {A2}, {A1}, int64, {A1})", borrows=True)
def solve_row(layout: Layout, L: Array, inverse: Array, J: Array, row: int, x: Array) -> None:
    """Put x = (L L^T)^-1 J where a row reaches, by the inverse of small blocks if it has entries."""
    nodes = layout.nodes
    for node in range(layout.reach[row, NODE], layout.reach[row, NODES]):
        first, end = nodes[node], nodes[node + 1]
        if end - first > SMALL or len(inverse) == 0:
            solve_nodes(L, nodes[node : node + 2], J, x)
            continue
        for i in range(first, end):
            s = 0.0
            for j in range(first, end):
                s += inverse[i, j] * J[j]
            x[i] = s


@kernel(f"void(Layout, {A2}, {A2}, {A2}, {I1}, int64, {A2}, {A2})", borrows=True)
def cross_products(
    layout: Layout, L: Array, inverse: Array, J: Array, at: IntArray, n: int, Z: Array, A: Array
) -> None:  # fmt: skip
    """Put Z = J (L L^T)^-1 and A = J Z^T of the n rows `at` of J; Z has a row for each of them. See `solve_row`."""
    reach = layout.reach
    for i in range(n):
        solve_row(layout, L, inverse, J[at[i]], at[i], Z[i])
        low, high, z = reach[at[i], LOW], reach[at[i], HIGH], Z[i]
        for j in range(i + 1):
            row = at[j]
            A[i, j] = A[j, i] = part_dot(z, J[row], max(low, reach[row, LOW]), min(high, reach[row, HIGH]))


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
            s = S[i, j]
            for k in range(max(low, first[j]), j):
                s -= S[i, k] * S[j, k]
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
def cholesky_solve(S: Array, n: int, first: IntArray, b: Array) -> None:
    """Solve in place with the factor in the lower part of S[:n, :n]."""
    for i in range(n):
        s = b[i]
        for k in range(first[i], i):
            s -= S[i, k] * b[k]
        b[i] = s / S[i, i]
    for i in range(n - 1, -1, -1):
        row = S[i]
        value = b[i] / row[i]
        b[i] = value
        for k in range(first[i], i):
            b[k] -= row[k] * value
