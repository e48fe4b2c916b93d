"""Linear algebra of a step: the mass by nodes, rows that reach over some of them, and what they lead to."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, I2, kernel
from ....arrays import Array, IntArray
from .records import FOREST, HIGH, LOW, NEXT, NODE, NODES, START, Data, Layout

LONG = 8  # terms of a sum from which on it is taken in parts
SMALL = 6  # velocities of a node whose factor is inverted: a body


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


@kernel(f"int64({I2}, int64)", inline=True, borrows=True)
def above(runs: IntArray, k: int) -> int:
    """Return the next velocity on the way from k to the root, -1 at the end."""
    return k - 1 if runs[k, START] < k else runs[k, NEXT]


@kernel(f"void({I2}, {A1}, float64, int64, {A1})", inline=True, borrows=True)
def subtract_row(runs: IntArray, row: Array, scale: float, last: int, out: Array) -> None:
    """Take scale times a row off another one, at velocity `last` and at those between it and the root."""
    while last >= 0:
        low = runs[last, START]
        for j in range(low, last + 1):
            out[j] -= scale * row[j]
        last = runs[low, NEXT]


@kernel(f"boolean({A2}, {I2}, int64, int64, {A2})", borrows=True)
def factor_block(M: Array, runs: IntArray, first: int, end: int, L: Array) -> bool:
    """Put lower L with M = L^T L, of a diagonal block; False if it is not positive definite.

    Velocities are eliminated from the leaves of a tree to its root: L has entries where M has, and no others.
    """
    for i in range(first, end):
        for j in range(first, i + 1):
            L[i, j] = M[i, j]
    for k in range(end - 1, first - 1, -1):
        row, i = L[k], above(runs, k)
        if not row[k] > 0.0:
            return False
        row[k] = np.sqrt(row[k])
        inverse = 1.0 / row[k]
        while i >= 0:
            row[i] *= inverse
            i = above(runs, i)
        i = above(runs, k)
        while i >= 0:
            subtract_row(runs, row, row[i], i, L[i])
            i = above(runs, i)
    return True


@kernel(f"void({A2}, int64, int64, {A2})", borrows=True)
def invert_block(L: Array, first: int, end: int, inverse: Array) -> None:
    """Put the inverse of L, of a diagonal block."""
    for j in range(first, end):
        inverse[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, end):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k] * inverse[k, j]
            inverse[i, j] = s / L[i, i]


@kernel(f"boolean({A2}, Layout, {A2})", borrows=True)
def factor_nodes(M: Array, layout: Layout, L: Array) -> bool:
    """Put the factors of the diagonal blocks of M, see `factor_block`; False if one is not positive definite."""
    nodes, runs = layout.nodes, layout.runs
    for node in range(len(nodes) - 1):  # noqa: SIM110
        if not factor_block(M, runs, nodes[node], nodes[node + 1], L):
            return False
    return True


@kernel("void(Data)", borrows=True)
def exchange_diagonal(data: Data) -> None:
    """Have `data.bare` and the diagonal of M change places."""
    for j in range(len(data.bare)):
        data.bare[j], data.M[j, j] = data.M[j, j], data.bare[j]


@kernel("boolean(Layout, Data)", borrows=True)
def factor_bare_mass(layout: Layout, data: Data) -> bool:
    """Put K, the factor of the mass without what stands beside it, unless it is there; False if there is none."""
    if layout.who != FOREST or data.K[0, 0] == data.K[0, 0]:
        return True
    exchange_diagonal(data)
    fine = factor_nodes(data.M, layout, data.K)
    exchange_diagonal(data)
    return bool(fine)


@kernel("boolean(Layout, Data)", borrows=True)
def factor_mass(layout: Layout, data: Data) -> bool:
    """Put the factor of M, and the inverse of its small blocks; what is known of the same block stands.

    Returns False if M is not positive definite.
    """
    M, of, L, nodes = data.M, data.of, data.L, layout.nodes
    for node in range(len(nodes) - 1):
        first, end, same = nodes[node], nodes[node + 1], True
        for i in range(first, end):
            for j in range(first, i + 1):
                same = same and M[i, j] == of[i, j]
                of[i, j] = M[i, j]
        if same:
            continue
        if not factor_block(M, layout.runs, first, end, L):
            of[first, first] = np.nan
            return False
        if end - first <= SMALL and len(data.inverse) > 0:
            invert_block(L, first, end, data.inverse)
    return True


@kernel(f"void({A2}, {I2}, int64, int64, {A1})", borrows=True)
def half_solve(L: Array, runs: IntArray, first: int, end: int, x: Array) -> None:
    """Put x = L^-T x, of a diagonal block: from the velocities that x has entries for only the way to the root."""
    for k in range(end - 1, first - 1, -1):
        if x[k] == 0.0:
            continue
        row = L[k]
        value = x[k] / row[k]
        x[k] = value
        low = runs[k, START]
        for j in range(low, k):
            x[j] -= row[j] * value
        last = runs[low, NEXT]
        while last >= 0:
            low = runs[last, START]
            for j in range(low, last + 1):
                x[j] -= row[j] * value
            last = runs[low, NEXT]


@kernel(f"void({A2}, {I2}, int64, int64, {A1})", borrows=True)
def back_solve(L: Array, runs: IntArray, first: int, end: int, x: Array) -> None:
    """Put x = L^-1 x, of a diagonal block."""
    for k in range(first, end):
        row, low = L[k], runs[k, START]
        s = x[k] - part_dot(row, x, low, k)
        last = runs[low, NEXT]
        while last >= 0:
            low = runs[last, START]
            s -= part_dot(row, x, low, last + 1)
            last = runs[low, NEXT]
        x[k] = s / row[k]


@kernel(f"boolean({A2}, {I1})", borrows=True)
def diagonal(inverse: Array, nodes: IntArray) -> bool:
    """Return whether every velocity is a node, and the inverses of their factors are known."""
    return bool(len(inverse) > 0 and nodes[-1] == len(nodes) - 1)


@kernel(f"void({A2}, int64, int64, {A1})", borrows=True)
def half_small(inverse: Array, first: int, end: int, x: Array) -> None:
    """Put x = L^-T x, of a block whose inverse is known."""
    for j in range(first, end):
        s = 0.0
        for i in range(j, end):
            s += inverse[i, j] * x[i]
        x[j] = s


@kernel(f"void({A2}, int64, int64, {A1})", borrows=True)
def back_small(inverse: Array, first: int, end: int, x: Array) -> None:
    """Put x = L^-1 x, of a block whose inverse is known."""
    for i in range(end - 1, first - 1, -1):
        row, s = inverse[i], 0.0
        for j in range(first, i + 1):
            s += row[j] * x[j]
        x[i] = s


@kernel(f"void({A2}, {A2}, Layout, {A1}, {A1})", borrows=True)
def solve_nodes(L: Array, inverse: Array, layout: Layout, b: Array, x: Array) -> None:
    """Put x = (L^T L)^-1 b; the two may be the same. Blocks of zeros cost nothing; `inverse`: see `solve_row`."""
    nodes, runs = layout.nodes, layout.runs
    if diagonal(inverse, nodes):
        for i in range(len(x)):
            x[i] = b[i] * inverse[i, i] * inverse[i, i]
        return
    for n in range(len(nodes) - 1):
        first, end, some = nodes[n], nodes[n + 1], False
        for i in range(first, end):
            x[i] = b[i]
            some = some or b[i] != 0.0
        if some and end - first <= SMALL and len(inverse) > 0:
            half_small(inverse, first, end, x)
            back_small(inverse, first, end, x)
        elif some:
            half_solve(L, runs, first, end, x)
            back_solve(L, runs, first, end, x)


@kernel(f"void({A2}, {A2}, Layout, {A1})", borrows=True)
def back_nodes(L: Array, inverse: Array, layout: Layout, x: Array) -> None:
    """Put x = L^-1 x: what velocities become of a sum of rows of `cross_products`; `inverse`: see `solve_row`."""
    nodes = layout.nodes
    if diagonal(inverse, nodes):
        for i in range(len(x)):
            x[i] *= inverse[i, i]
        return
    for n in range(len(nodes) - 1):
        if nodes[n + 1] - nodes[n] <= SMALL and len(inverse) > 0:
            back_small(inverse, nodes[n], nodes[n + 1], x)
        else:
            back_solve(L, layout.runs, nodes[n], nodes[n + 1], x)


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_nodes(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = M x for a matrix of diagonal blocks."""
    for n in range(len(nodes) - 1):
        for i in range(nodes[n], nodes[n + 1]):
            y[i] = part_dot(M[i], x, nodes[n], nodes[n + 1])


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_abs(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = |M| x for a symmetric matrix of diagonal blocks."""
    for n in range(len(nodes) - 1):
        first, end = nodes[n], nodes[n + 1]
        for i in range(first, end):
            y[i] = 0.0
        for i in range(first, end):
            row, value = M[i], x[i]
            for j in range(first, end):
                y[j] += abs(row[j]) * value


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
    """Put x = L^-T J where a row reaches, by the inverse of small blocks if it has entries."""
    nodes = layout.nodes
    if diagonal(inverse, nodes):
        for i in range(layout.reach[row, LOW], layout.reach[row, HIGH]):
            x[i] = inverse[i, i] * J[i]
        return
    for node in range(layout.reach[row, NODE], layout.reach[row, NODES]):
        first, end = nodes[node], nodes[node + 1]
        if end - first > SMALL or len(inverse) == 0:
            for i in range(first, end):
                x[i] = J[i]
            half_solve(L, layout.runs, first, end, x)
            continue
        for i in range(first, end):
            s = 0.0
            for j in range(i, end):
                s += inverse[j, i] * J[j]
            x[i] = s


@kernel(f"void(Layout, {A2}, {A2}, {A2}, {I1}, int64, {A2}, {A2})", borrows=True)
def cross_products(
    layout: Layout, L: Array, inverse: Array, J: Array, at: IntArray, n: int, Z: Array, A: Array
) -> None:  # fmt: skip
    """Put Z = J L^-1 and A = J (L^T L)^-1 J^T = Z Z^T of the n rows `at` of J; Z has a row for each of them."""
    reach = layout.reach
    for i in range(n):
        solve_row(layout, L, inverse, J[at[i]], at[i], Z[i])
        low, high, z = reach[at[i], LOW], reach[at[i], HIGH], Z[i]
        for j in range(i + 1):
            first, end = max(low, reach[at[j], LOW]), min(high, reach[at[j], HIGH])
            A[i, j] = A[j, i] = part_dot(z, Z[j], first, end) if first < end else 0.0


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
def cholesky_solve(S: Array, n: int, first: IntArray, b: Array) -> None:
    """Solve in place with the factor in the lower part of S[:n, :n]."""
    for i in range(n):
        b[i] = (b[i] - part_dot(S[i], b, first[i], i)) / S[i, i]
    for i in range(n - 1, -1, -1):
        row = S[i]
        value = b[i] / row[i]
        b[i] = value
        for k in range(first[i], i):
            b[k] -= row[k] * value
