"""Small dense linear algebra of a step: the mass by nodes, and symmetric systems that rows lead to."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I1, kernel
from ....arrays import Array, IntArray


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


@kernel(f"float64({A1}, {A1})", borrows=True)
def dot(x: Array, y: Array) -> float:
    """Return x . y."""
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y[i]
    return s


@kernel(f"float64({A1}, {A1})", borrows=True)
def dot_abs(x: Array, y: Array) -> float:
    """Return |x| . |y|."""
    s = 0.0
    for i in range(len(x)):
        s += abs(x[i] * y[i])
    return s


@kernel(f"float64({A2}, int64)", borrows=True)
def cholesky(S: Array, n: int) -> float:
    """Factorise the lower part of S[:n, :n] in place; return the least pivot over its diagonal entry (0: singular)."""
    least = 1.0
    for i in range(n):
        for j in range(i + 1):
            s = S[i, j]
            for k in range(j):
                s -= S[i, k] * S[j, k]
            if i > j:
                S[i, j] = s / S[j, j]
            else:
                least = min(least, s / S[i, i]) if S[i, i] > 0.0 else 0.0
                if not s > 0.0:
                    return 0.0
                S[i, i] = np.sqrt(s)
    return least


@kernel(f"void({A2}, int64, {A1})", borrows=True)
def cholesky_solve(S: Array, n: int, b: Array) -> None:
    """Solve in place with the factor in the lower part of S[:n, :n]."""
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= S[i, k] * b[k]
        b[i] = s / S[i, i]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for k in range(i + 1, n):
            s -= S[k, i] * b[k]
        b[i] = s / S[i, i]
