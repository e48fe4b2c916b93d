"""Factors M = L^T L of trees, branch by branch, and solutions with them: what is zero in M stays zero.

Velocities are eliminated from the leaves to the root. `branches[k]` has how many velocities stand on the way from the
root to k, k among them, and which; its last entry says how many of these stand one beside the other from the first on.
Two that stand one beside the other are taken together: what is before both is read and written once.
"""

from __future__ import annotations

import numpy as np

from .._jit import A1, A2, I2, kernel
from .._jit.lanes import add_four, add_two, none_of_four, scale_four
from ..arrays import Array, IntArray


@kernel(f"boolean({A2}, {I2}, int64, int64, {A2})", borrows=True)
def factor_block(M: Array, branches: IntArray, first: int, end: int, L: Array) -> bool:
    """Put L with M = L^T L, of a diagonal block, by branches; False if it is not positive definite.

    Velocities are eliminated from the leaves of a tree to its root: row k of L has entries for what M couples k with,
    the velocities on the way from the root to k, and they stand one beside the other in its first places; in that of
    the diagonal its inverse. What comes after them means nothing: rows have room for whole fours.
    """
    for k in range(first, end):
        row, branch, n = L[k], branches[k], branches[k, 0]
        for a in range(n):
            row[a] = M[k, branch[1 + a]]
        row[n], row[n + 1], row[n + 2] = 0.0, 0.0, 0.0
    fine, k = True, end - 1
    while k >= first:
        row, branch = L[k], branches[k]
        n = branch[0] - 1
        fine, inverse = fine and row[n] > 0.0, 1.0 / np.sqrt(row[n])
        row[n] = inverse
        for a in range(n):
            row[a] *= inverse
        if n == 0 or branch[n] != k - 1:
            for a in range(n):
                out, scale = L[branch[1 + a]], row[a]
                for b in range(0, a + 1, 4):
                    add_four(out, b, -scale, row, b)
            k -= 1
            continue
        n -= 1
        before, scale = L[k - 1], row[n]
        for b in range(0, n + 1, 4):
            add_four(before, b, -scale, row, b)
        fine, inverse = fine and before[n] > 0.0, 1.0 / np.sqrt(before[n])
        before[n] = inverse
        for a in range(n):
            before[a] *= inverse
        for a in range(n):
            out, scale, other = L[branch[1 + a]], row[a], before[a]
            for b in range(0, a + 1, 4):
                add_two(out, b, -scale, row, b, -other, before, b)
        k -= 2
    return bool(fine)


@kernel(f"void({A2}, int64, int64, {A2})", borrows=True)
def invert_block(L: Array, first: int, end: int, inverse: Array) -> None:
    """Put the inverse of L, of a diagonal block without zeros."""
    for j in range(first, end):
        inverse[j, j] = L[j, j - first]
        for i in range(j + 1, end):
            s = 0.0
            for k in range(j, i):
                s -= L[i, k - first] * inverse[k, j]
            inverse[i, j] = s * L[i, i - first]


@kernel(f"void({A2}, {I2}, int64, int64, {A1})", borrows=True)
def half_solve(L: Array, branches: IntArray, first: int, end: int, x: Array) -> None:
    """Put x = L^-T x, of a diagonal block: from the velocities that x has entries for only the way to the root."""
    k = end - 1
    while k >= first:
        if x[k] == 0.0:
            k -= 1
            continue
        row, branch = L[k], branches[k]
        n, low = branch[0] - 1, branch[1]
        value = x[k] * row[n]
        x[k] = value
        if n == 0 or branch[n] != k - 1:
            whole = min(branch[-1], n) // 4 * 4
            for a in range(0, whole, 4):
                add_four(x, low + a, -value, row, a)
            for a in range(whole, n):
                x[branch[1 + a]] -= row[a] * value
            k -= 1
            continue
        n -= 1  # together with the one before, as in `factor_block`
        before, whole = L[k - 1], min(branch[-1], n) // 4 * 4
        other = (x[k - 1] - row[n] * value) * before[n]
        x[k - 1] = other
        for a in range(0, whole, 4):
            add_two(x, low + a, -value, row, a, -other, before, a)
        for a in range(whole, n):
            j = branch[1 + a]
            x[j] = (x[j] - row[a] * value) - before[a] * other
        k -= 2


@kernel(f"void({A2}, {I2}, int64, {A1}, int64, {A1})", borrows=True)
def half_solve_branch(L: Array, branches: IntArray, end: int, J: Array, first: int, x: Array) -> None:
    """Put x = L^-T J of a row with entries for the velocities of one branch alone, which ends at `end`.

    What x has from `first`, where the block begins, up to there it is only once all is solved side by side.
    """
    branch = branches[end]
    n, last = branch[0], end + 1
    part = x[first : first + n]
    for a in range(n):
        part[a] = J[branch[1 + a]]
    for a in range(n - 1, -1, -1):
        row = L[branch[1 + a]]
        value = part[a] * row[a]
        part[a] = value
        for b in range(a):
            part[b] -= row[b] * value
    for a in range(n - 1, -1, -1):  # no entry comes to stand before the place that it is taken from
        j, value = branch[1 + a], part[a]
        for i in range(j + 1, last):
            x[i] = 0.0
        x[j], last = value, j
    for i in range(first, last):
        x[i] = 0.0


@kernel(f"void({A2}, {I2}, int64, int64, {A1})", borrows=True)
def back_solve(L: Array, branches: IntArray, first: int, end: int, x: Array) -> None:
    """Put x = L^-1 x, of a diagonal block."""
    k = first
    while k < end:
        row, branch, s0, s1, s2, s3 = L[k], branches[k], 0.0, 0.0, 0.0, 0.0
        n, low = branch[0] - 1, branch[1]
        whole = min(branch[-1], n) // 4 * 4
        if k + 1 == end or branches[k + 1, 1 + n] != k or min(branches[k + 1, -1], n + 1) // 4 * 4 != whole:
            for a in range(0, whole, 4):  # as four sums, which the processor takes together
                s0 += row[a] * x[low + a]
                s1 += row[a + 1] * x[low + a + 1]
                s2 += row[a + 2] * x[low + a + 2]
                s3 += row[a + 3] * x[low + a + 3]
            for a in range(whole, n):
                s0 += row[a] * x[branch[1 + a]]
            x[k] = (x[k] - ((s0 + s1) + (s2 + s3))) * row[n]
            k += 1
            continue
        after, t0, t1, t2, t3 = L[k + 1], 0.0, 0.0, 0.0, 0.0
        for a in range(0, whole, 4):
            x0, x1, x2, x3 = x[low + a], x[low + a + 1], x[low + a + 2], x[low + a + 3]
            s0, s1, s2, s3 = s0 + row[a] * x0, s1 + row[a + 1] * x1, s2 + row[a + 2] * x2, s3 + row[a + 3] * x3
            t0, t1, t2, t3 = t0 + after[a] * x0, t1 + after[a + 1] * x1, t2 + after[a + 2] * x2, t3 + after[a + 3] * x3
        for a in range(whole, n):
            value = x[branch[1 + a]]
            s0, t0 = s0 + row[a] * value, t0 + after[a] * value
        x[k] = (x[k] - ((s0 + s1) + (s2 + s3))) * row[n]
        t0 += after[n] * x[k]
        x[k + 1] = (x[k + 1] - ((t0 + t1) + (t2 + t3))) * after[n + 1]
        k += 2


@kernel(f"void({A2}, {I2}, {A2}, int64)", borrows=True)
def half_solve_columns(L: Array, branches: IntArray, X: Array, n: int) -> None:
    """Put X = L^-T X, whole fours of columns up to n: what is zero in all four of them costs nothing.

    A velocity is taken together with the one before it on its branch, where they stand one next to the other: what is
    before both is read and written once.
    """
    for first in range(0, n, 4):
        k = len(L) - 1
        while k >= 0:
            x = X[k]
            if none_of_four(x, first):
                k -= 1
                continue
            row, branch = L[k], branches[k]
            m = branch[0] - 1
            scale_four(x, first, row[m])
            if m == 0 or branch[m] != k - 1:
                for a in range(m):
                    add_four(X[branch[1 + a]], first, -row[a], x, first)
                k -= 1
                continue
            m -= 1
            next_row, next_x = L[k - 1], X[k - 1]
            add_four(next_x, first, -row[m], x, first)
            scale_four(next_x, first, next_row[m])
            for a in range(m):
                add_two(X[branch[1 + a]], first, -row[a], x, first, -next_row[a], next_x, first)
            k -= 2
