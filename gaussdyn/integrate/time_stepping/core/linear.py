"""Linear algebra of a step: the mass by nodes, rows that reach over some of them, and what they lead to."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, I2, kernel
from ...._jit.lanes import add_four, add_four_rows
from ....arrays import Array, IntArray
from ....linalg.branches import (
    back_solve,
    factor_block,
    half_solve,
    half_solve_branch,
    half_solve_columns,
    invert_block,
)
from ....linalg.envelope import LONG, part_dot
from .records import ALONE, BRANCH, CALLBACK, FOREST, HIGH, LOW, NODE, NODES, Data, Layout

SMALL = 6  # velocities of a node whose factor is inverted: a body
FEW_TREES = 4  # up to which rows of trees are taken together, column by column: farther apart they have too many zeros


@kernel(f"boolean({A2}, Layout, {A2})", borrows=True)
def factor_nodes(M: Array, layout: Layout, L: Array) -> bool:
    """Put the factors of the diagonal blocks of M, see `factor_block`; False if one is not positive definite."""
    nodes = layout.nodes
    for node in range(len(nodes) - 1):  # noqa: SIM110
        if not factor_block(M, layout.branches, nodes[node], nodes[node + 1], L):
            return False
    return True


@kernel("boolean(Layout, Data)", borrows=True)
def factor_bare_mass(layout: Layout, data: Data) -> bool:
    """Put K, the factor of the mass without what stands beside it, unless it is there; False if there is none.

    That of a system in Python is put there by who puts something beside its mass, see `endings`.
    """
    if layout.who != FOREST or data.K[0, 0] == data.K[0, 0]:
        return True
    M, bare, fine = data.M, data.bare, False
    for turn in range(2):  # they change places, and back
        for j in range(len(bare)):
            bare[j], M[j, j] = M[j, j], bare[j]
        fine = fine if turn else factor_nodes(M, layout, data.K)
    return bool(fine)


@kernel(f"boolean({A2}, {A2}, int64, int64)", borrows=True)
def keep_block(M: Array, kept: Array, first: int, end: int) -> bool:
    """Return whether a diagonal block of symmetric matrices is the same; the second has that of the first then."""
    for i in range(first, end):
        row, other, same = M[i], kept[i], True
        for j in range(first, i + 1):
            same = same and row[j] == other[j]
        if not same:  # what follows need not be looked at
            for a in range(i, end):
                row, other = M[a], kept[a]
                for j in range(first, a + 1):
                    other[j] = row[j]
            return False
    return True


@kernel("boolean(Layout, Data)", borrows=True)
def factor_mass(layout: Layout, data: Data) -> bool:
    """Put the factor of M, and the inverse of its small blocks; what is known of the same block stands.

    Returns False if M is not positive definite.
    """
    M, of, L, nodes = data.M, data.of, data.L, layout.nodes
    for node in range(len(nodes) - 1):
        first, end = nodes[node], nodes[node + 1]
        if keep_block(M, of, first, end):
            continue
        if not factor_block(M, layout.branches, first, end, L):
            of[first, first] = np.nan
            return False
        if end - first <= SMALL and len(data.inverse) > 0:
            invert_block(L, first, end, data.inverse)
    return True


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
    nodes, branches = layout.nodes, layout.branches
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
            half_solve(L, branches, first, end, x)
            back_solve(L, branches, first, end, x)


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
            back_solve(L, layout.branches, nodes[n], nodes[n + 1], x)


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_nodes(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = M x for a matrix of diagonal blocks."""
    for n in range(len(nodes) - 1):
        for i in range(nodes[n], nodes[n + 1]):
            y[i] = part_dot(M[i], x, nodes[n], nodes[n + 1])


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_mass(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = M x for a symmetric matrix of diagonal blocks, column by column, which the processor takes together."""
    for n in range(len(nodes) - 1):
        first, end = nodes[n], nodes[n + 1]
        if end - first < LONG:
            for i in range(first, end):
                y[i] = part_dot(M[i], x, first, end)
            continue
        for j in range(first, end):
            y[j] = 0.0
        whole = first + (end - first) // 4 * 4
        for i in range(first, whole, 4):
            r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
            s0, s1, s2, s3 = x[i], x[i + 1], x[i + 2], x[i + 3]
            for j in range(first, end):
                y[j] += (r0[j] * s0 + r1[j] * s1) + (r2[j] * s2 + r3[j] * s3)
        for i in range(whole, end):
            row, s = M[i], x[i]
            for j in range(first, end):
                y[j] += row[j] * s


@kernel(f"void({A2}, {I1}, {A1}, {A1})", borrows=True)
def multiply_abs(M: Array, nodes: IntArray, x: Array, y: Array) -> None:
    """Put y = |M| x in the same way."""
    for n in range(len(nodes) - 1):
        first, end = nodes[n], nodes[n + 1]
        for j in range(first, end):
            y[j] = 0.0
        whole = first + (end - first) // 4 * 4 if end - first >= LONG else first
        for i in range(first, whole, 4):
            r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
            s0, s1, s2, s3 = x[i], x[i + 1], x[i + 2], x[i + 3]
            for j in range(first, end):
                y[j] += (abs(r0[j]) * s0 + abs(r1[j]) * s1) + (abs(r2[j]) * s2 + abs(r3[j]) * s3)
        for i in range(whole, end):
            row, s = M[i], x[i]
            for j in range(first, end):
                y[j] += abs(row[j]) * s


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
    alone = layout.reach[i, ALONE] - 1
    if alone >= 0:
        return float(J[i, alone] * x[alone])
    return part_dot(J[i], x, layout.reach[i, LOW], layout.reach[i, HIGH])


@kernel(f"float64(Layout, {A2}, int64, {A1})", borrows=True)
def row_dot_abs(layout: Layout, J: Array, i: int, x: Array) -> float:
    """Return |J[i]| . |x|."""
    alone, s = layout.reach[i, ALONE] - 1, 0.0
    if alone >= 0:
        return float(abs(J[i, alone] * x[alone]))
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
    nodes, reach = layout.nodes, layout.reach[row]
    if diagonal(inverse, nodes):
        for i in range(reach[LOW], reach[HIGH]):
            x[i] = inverse[i, i] * J[i]
        return
    if reach[BRANCH]:
        half_solve_branch(L, layout.branches, reach[HIGH] - 1, J, nodes[reach[NODE]], x)
        return
    for node in range(reach[NODE], reach[NODES]):
        first, end = nodes[node], nodes[node + 1]
        if end - first > SMALL or len(inverse) == 0:
            for i in range(first, end):
                x[i] = J[i]
            half_solve(L, layout.branches, first, min(end, reach[HIGH]), x)
            continue
        for i in range(first, end):
            s = 0.0
            for j in range(i, end):
                s += inverse[j, i] * J[j]
            x[i] = s


@kernel("boolean(Layout)", borrows=True)
def taken_together(layout: Layout) -> bool:
    """Return whether rows are taken together: those of few trees share what moves their roots, and have few zeros."""
    return bool(layout.who == FOREST and len(layout.nodes) <= 1 + FEW_TREES)


@kernel("int64(int64)", borrows=True, entry=True)
def whole_fours(n: int) -> int:
    """Return the next multiple of four, as many columns as the processor has none left over."""
    return (n + 3) // 4 * 4


@kernel(f"void(Layout, {A2}, {A2}, {A2}, {I1}, {A2}, {A2})", borrows=True)
def half_solve_rows(layout: Layout, L: Array, inverse: Array, J: Array, at: IntArray, Z: Array, X: Array) -> None:
    """Put Z = J L^-1 of the n rows `at` of J, as far as they reach; X, shape (nv, n) at least, becomes Z^T of trees.

    With columns of zeros up to a multiple of four.
    """
    reach, nv, n = layout.reach, len(L), len(at)
    wide = whole_fours(n)
    if not taken_together(layout):
        for i in range(n):
            solve_row(layout, L, inverse, J[at[i]], at[i], Z[i])
        return
    for k in range(nv):
        x = X[k]
        for i in range(wide):
            x[i] = 0.0
    for i in range(n):
        row, alone = J[at[i]], reach[at[i], ALONE] - 1
        for k in range(reach[at[i], LOW] if alone < 0 else alone, reach[at[i], HIGH] if alone < 0 else alone + 1):
            X[k, i] = row[k]
    half_solve_columns(L, layout.branches, X, wide)
    for i in range(n):
        z = Z[i]
        for k in range(reach[at[i], HIGH]):
            z[k] = X[k, i]


@kernel(f"void({A1}, int64, int64, {A2}, {A1}, int64)", borrows=True)
def add_columns(z: Array, low: int, high: int, X: Array, out: Array, n: int) -> None:
    """Put whole fours of entries up to n of the sum of z[k] X[k], low <= k < high; zeros cost nothing."""
    for j in range(n):
        out[j] = 0.0
    whole, wide = low + (high - low) // 4 * 4, X.shape[1]
    for k in range(low, whole, 4):
        s0, s1, s2, s3, at = z[k], z[k + 1], z[k + 2], z[k + 3], k * wide
        if s0 == 0.0 and s1 == 0.0 and s2 == 0.0 and s3 == 0.0:
            continue
        for j in range(0, n, 4):
            i = at + j
            add_four_rows(out, j, (s0, s1, s2, s3), X, (i, i + wide, i + 2 * wide, i + 3 * wide))
    for k in range(whole, high):
        s, at = z[k], k * wide
        for j in range(0, n if s != 0.0 else 0, 4):
            add_four(out, j, s, X, at + j)


@kernel(f"void({I2}, {I1}, int64, {A2}, {A2}, {A1})", borrows=True)
def products_in_reach(reach: IntArray, at: IntArray, n: int, Z: Array, A: Array, farthest: Array) -> None:
    """Put A = Z Z^T, of rows that reach as far as the rows `at`: those of bodies one after the other have few products.

    farthest: work space, how far any row up to each reaches.
    """
    far = 0
    for i in range(n):
        low, high, z, own, near = reach[at[i], LOW], reach[at[i], HIGH], Z[i], A[i], i
        far = max(far, high)
        farthest[i] = far
        while near > 0 and farthest[near - 1] > low:
            near -= 1
        for j in range(near):
            if own[j] != 0.0:
                own[j] = A[j, i] = 0.0
        for j in range(near, i + 1):
            first, end = max(low, reach[at[j], LOW]), min(high, reach[at[j], HIGH])
            own[j] = A[j, i] = part_dot(z, Z[j], first, end) if first < end else 0.0


@kernel(f"Tuple(({A2}, {A2}))(Layout, Data)", borrows=True)
def metric_of_shifts(layout: Layout, data: Data) -> tuple[Array, Array]:
    """Return the factor of the mass in whose metric shifts are least, and the inverse of its small blocks if known."""
    if layout.who != CALLBACK:
        return data.K, data.inverse
    known = data.K[0, 0] == data.K[0, 0]
    return (data.K, data.inverse[:0]) if known else (data.L, data.inverse)


@kernel(f"void(Layout, {A2}, {A2}, {A2}, {I1}, {A2}, {A2}, {A2})", borrows=True)
def cross_products(
    layout: Layout, L: Array, inverse: Array, J: Array, at: IntArray, Z: Array, A: Array, X: Array
) -> None:  # fmt: skip
    """Put Z = J L^-1 and A = J (L^T L)^-1 J^T = Z Z^T of the rows `at` of J; X: see `half_solve_rows`.

    A comes back as it went, symmetric.
    """
    n, reach = len(at), layout.reach
    half_solve_rows(layout, L, inverse, J, at, Z, X)
    if not taken_together(layout):
        products_in_reach(reach, at, n, Z, A, X[0])
        return
    for i in range(n):
        add_columns(Z[i], 0, reach[at[i], HIGH], X, A[i], whole_fours(i + 1))
        for j in range(i + 1):
            A[j, i] = A[i, j]
