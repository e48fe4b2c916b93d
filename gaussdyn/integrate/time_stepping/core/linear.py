"""Linear algebra of a step: the mass by nodes, rows that reach over some of them, and what they lead to."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, kernel
from ....arrays import Array, IntArray
from .records import HIGH, LOW, NODE, NODES, Layout


@kernel(f"boolean({A2}, {I1}, {A2})", borrows=True)
def factor_nodes(M: Array, nodes: IntArray, L: Array) -> bool:
    """Put the lower Cholesky factor of a matrix of diagonal blocks; False if it is not positive definite."""
    for b in range(len(nodes) - 1):
        first, end = nodes[b], nodes[b + 1]
        for i in range(first, end):
            for j in range(first, i + 1):
                s = M[i, j]
                for k in range(first, j):
                    s -= L[i, k] * L[j, k]
                if i > j:
                    L[i, j] = s / L[j, j]
                elif s > 0.0:
                    L[i, i] = np.sqrt(s)
                else:
                    return False
    return True


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def solve_nodes(L: Array, nodes: IntArray, b: Array, x: Array) -> None:
    """Put x = (L L^T)^-1 b; the two may be the same. Blocks of zeros cost nothing."""
    for n in range(len(nodes) - 1):
        first, end, some = nodes[n], nodes[n + 1], False
        for i in range(first, end):
            x[i] = b[i]
            some = some or b[i] != 0.0
        if not some:
            continue
        for i in range(first, end):
            s = x[i]
            for k in range(first, i):
                s -= L[i, k] * x[k]
            x[i] = s / L[i, i]
        for i in range(end - 1, first - 1, -1):
            s = x[i]
            for k in range(i + 1, end):
                s -= L[k, i] * x[k]
            x[i] = s / L[i, i]


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
    s = 0.0
    for j in range(layout.reach[i, LOW], layout.reach[i, HIGH]):
        s += J[i, j] * x[j]
    return s


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


@kernel(f"void(Layout, {A2}, {A2}, int64, {A1})", borrows=True)
def solve_row(layout: Layout, L: Array, J: Array, i: int, x: Array) -> None:
    """Put x = (L L^T)^-1 J[i] where row i reaches."""
    solve_nodes(L, layout.nodes[layout.reach[i, NODE] : layout.reach[i, NODES] + 1], J[i], x)


@kernel(f"void(Layout, {A2}, {A2}, {I1}, int64, {A2}, {A2})", borrows=True)
def cross_products(layout: Layout, L: Array, J: Array, at: IntArray, n: int, Z: Array, A: Array) -> None:
    """Put Z = J (L L^T)^-1 and A = J Z^T of the n rows `at` of J; Z has a row for each of them."""
    reach = layout.reach
    for i in range(n):
        solve_row(layout, L, J, at[i], Z[i])
        low, high, z = reach[at[i], LOW], reach[at[i], HIGH], Z[i]
        for j in range(i + 1):
            row, s = at[j], 0.0
            for k in range(max(low, reach[row, LOW]), min(high, reach[row, HIGH])):
                s += z[k] * J[row, k]
            A[i, j] = A[j, i] = s


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
        b[i] /= S[i, i]
        for k in range(first[i], i):
            b[k] -= S[i, k] * b[i]
