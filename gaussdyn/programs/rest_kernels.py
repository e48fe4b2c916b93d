"""A few contacts at rest, compiled: of all reactions that hold them, those that use friction as evenly as they can.

Where friction is just enough for rest there is no room between the modes, and Newton's method on the law only halves
the residual in every step. But the reactions that minimise sum |r_T|^2 / r_N under u = 0 then lie on all cones at once.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array, IntArray
from .law_kernels import A1, A2, I1, length
from .newton_kernels import TABLE, Table

SHIFT = 3e-3  # weight of the reactions beside W (mean diagonal 1): small for u = 0 soon, large for digits in r
ROUNDS = 12  # most corrections of u
STILL = 1e-14  # change of r that ends them: the next one would be thirty times smaller
NEAR = 0.03  # normal speed (of |q|) up to which a contact that carries nothing yet may carry load at rest
EVEN = 100.0  # largest weight of a tangential reaction


@kernel(f"void({A1}, int64)", borrows=True)
def lower_upper(A: Array, n: int) -> None:
    """Factorise a matrix of n rows in place without pivots (it is nearly symmetric, and shifted)."""
    for k in range(n):
        for i in range(k + 1, n):
            f = A[n * i + k] / A[n * k + k]
            A[n * i + k] = f
            for j in range(k + 1, n):
                A[n * i + j] -= f * A[n * k + j]


@kernel(f"void({A1}, int64, {A1})", borrows=True)
def solve_lower_upper(A: Array, n: int, x: Array) -> None:
    """Solve in place of the right side, with the factors of `lower_upper`."""
    for i in range(n):
        for j in range(i):
            x[i] -= A[n * i + j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= A[n * i + j] * x[j]
        x[i] /= A[n * i + i]


@kernel(f"int64({A2}, {A1}, {TABLE}, {A1}, float64, {I1}, {A1}, {A1})", borrows=True)
def closed_rows(
    W: Array, q: Array, table: Table, r: Array, near: float, place: IntArray, shift: Array, centre: Array
) -> int:
    """List the rows of Coulomb contacts that carry load or have u_N < near, with weights and centres; return how many.

    0 if none carries load, or where there is another law, to which nothing here applies.
    """
    code, start, _P = table
    m, blocks, load = 0, 0, 0.0
    for k in range(len(code)):
        if code[k] != 1:
            return 0
        if r[start[k]] > 0.0:
            blocks += 1
            load += r[start[k]]
    for k in range(len(code) if blocks > 0 else 0):
        n, u = r[start[k]], q[start[k]]
        for j in range(len(q) if n <= 0.0 else 0):
            u += W[start[k], j] * r[j]
        if n > 0.0 or u < near:
            for i in range(start[k], start[k + 1]):
                normal = i == start[k]
                place[m], centre[m] = i, n if normal else 0.0
                shift[m] = SHIFT * (1.0 if normal or n <= 0.0 else min(load / (blocks * n), EVEN))
                m += 1
    return m


@kernel(f"boolean({A2}, {A1}, {TABLE}, {A1}, float64, {I1}, {A2}, {A1}, {A1})", borrows=True)
def rest_from(
    W: Array, q: Array, table: Table, r: Array, near: float, place: IntArray, V: Array, A: Array, x: Array
) -> bool:
    """Put into r a reaction that keeps the closed contacts (`closed_rows`) at rest; false if none or it fails.

    Least in sum |r_T|^2 / r_N with the given r_N, and nearest to it. The shifted equations are solved again from their
    last answer until u = 0. V (2, n), A (n n) and x (n) are work space.
    """
    shift, old = V[0], V[1]
    m = closed_rows(W, q, table, r, near, place, shift, old)
    for a in range(m):
        for b in range(m):
            A[m * a + b] = W[place[a], place[b]]
        A[m * a + a] += shift[a]
    lower_upper(A, m)
    for _ in range(ROUNDS):
        change = 0.0
        for a in range(m):
            x[a] = shift[a] * old[a] - q[place[a]]
        solve_lower_upper(A, m, x)
        for a in range(m):
            change = max(change, abs(x[a] - old[a]))
            old[a] = x[a]
        if not change > STILL:
            break
    if m == 0 or not np.isfinite(length(old, 0, m)):
        return False
    for i in range(len(r)):
        r[i] = 0.0
    for a in range(m):
        r[place[a]] = old[a]
    return True


@kernel(f"float64({A2}, {A1}, {TABLE}, {A1})", borrows=True)
def fastest_slip(W: Array, q: Array, table: Table, r: Array) -> float:
    """Return the largest |u_T| of the contacts that carry load."""
    start, top = table[1], 0.0
    for k in range(len(start) - 1):
        if r[start[k]] > 0.0:
            total = 0.0
            for i in range(start[k] + 1, start[k + 1]):
                u = q[i]
                for j in range(len(q)):
                    u += W[i, j] * r[j]
                total += u * u
            top = max(top, total)
    return float(np.sqrt(top))
