"""Newton's method from reactions that are nearly right, with a factor that serves as long as W stands.

A step meets the same problem again, pass by pass, with q a little changed. With u = W r + q and y, Y the reactions
that laws admit at r - rho u and their derivative (`projections.reaction_map`), a step solves

    (I - Y + Y (rho W + alpha)) dr = y - r

as `newton.dense_newton` does, for the blocks that are not open. The factor of the last step goes on (the chord
method) while the same blocks are open and the residual falls well: by about the change since it was made. alpha makes
the matrix regular where rows depend on one another; it does not fall as far as there: corners of a foot that share
its load would change roles by a long way in directions that nothing holds. What does not get there quickly is left to
`first_attempts`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, kernel, record
from ....arrays import Array, IntArray
from ....linalg.dense import factor_flat, solve_flat
from ....programs.blocks.newton.dense_falling import MOST, SHARE
from ....programs.blocks.newton.dense_newton import linearize_into, vanishes
from ....programs.laws.projections import TABLE, Table, length, natural
from .linear import part_dot

SAME = (0, 5)  # codes of laws whose natural map is r - y itself: without friction, dry
STEPS, REFUSED = 12, 3  # most steps, and those that hardly lower the residual
CHORD, FALL = 0.1, 0.9  # of the last residual: up to which a factor goes on; what counts as lower
LEAST = 1e-5  # proximal term
READY = 0.1  # of the tolerance: what is solved to this is not looked at again
EXACT, OWN = 1e-15, 1e-12  # of size and of |r|: above one of them the last reactions are not taken as they are


@record(I1, I1, I1, A1, A1, A1, A1, A1, A1, A1, A3, A2)
class Near(NamedTuple):
    """Work space, and the last factor.

    Attributes
    ----------
    size : IntArray, shape (1,)
        Rows of the factor, 0: there is none.
    place : IntArray, shape (m,)
        The equation of every row, -1: its block is open.
    pivot : IntArray, shape (m,)
    A : Array, shape (m m,)
        The factor, row by row.
    u, F, dr, b, before, best : Array, shape (m,)
        Velocities, y - r with the other sign, a step and its right side, what the reactions were, the best so far.
    Y : Array, shape (n, 6, 6)
    work : Array, shape (10, 6)
    """

    size: IntArray
    place: IntArray
    pivot: IntArray
    A: Array
    u: Array
    F: Array
    dr: Array
    b: Array
    before: Array
    best: Array
    Y: Array
    work: Array


def room(n: int, m: int) -> Near:
    """Return work space for n blocks with m rows."""
    numbers = [np.zeros(k, dtype=np.int64) for k in (1, m, m)]
    vectors = [np.zeros(m) for _ in range(6)]
    return Near._make([*numbers, np.zeros(m * m), *vectors, np.zeros((n, 6, 6)), np.zeros((10, 6))])


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1})", borrows=True)
def look(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array) -> float:
    """Put u, F and Y at r; return |r - P(r - rho u^)|."""
    code, start, P = table
    n, work, total = len(q), near.work, 0.0
    U, R, x, F = work[6], work[7], work[8], work[9]
    for i in range(n):
        near.u[i] = q[i] + part_dot(W[i * n : (i + 1) * n], r, 0, n)
    linearize_into(table, rho, near.u, r, near.F, near.Y, U, R)
    for k in range(len(rho)):
        first, d = start[k], start[k + 1] - start[k]
        if code[k] in SAME:
            total += length(near.F, first, first + d) ** 2
            if d == 1 and near.Y[k, 0, 0] < 0.5:  # it slides: rounding may leave a trace of no derivative
                near.Y[k, 0, 0] = 0.0
            continue
        for a in range(d):
            U[a], R[a] = near.u[first + a], r[first + a]
        natural(code[k], d, P[k], U, R, rho[k], F, x, work[:6])
        total += length(F, 0, d) ** 2
    return float(np.sqrt(total))


@kernel(f"boolean(Near, {I1})", borrows=True)
def same_open(near: Near, start: IntArray) -> bool:
    """Return whether there is a factor, and the blocks that are open were so when it was made."""
    same = near.size[0] > 0
    for k in range(len(start) - 1):
        same = same and vanishes(near.Y[k], start[k + 1] - start[k]) == (near.place[start[k]] < 0)
    return bool(same)


@kernel(f"boolean(Near, {A1}, {I1}, {A1}, float64)", borrows=True)
def make_factor(near: Near, W: Array, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put the factor of the blocks that are not open; False if it is singular."""
    place, A, blocks, m = near.place, near.A, len(rho), 0
    n = start[blocks]
    for k in range(blocks):
        still = vanishes(near.Y[k], start[k + 1] - start[k])
        for i in range(start[k], start[k + 1]):
            place[i] = -1 if still else m
            m += 0 if still else 1
    for k in range(blocks):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d if place[first] >= 0 else 0):
            row = A[place[first + a] * m : (place[first + a] + 1) * m]
            for j in range(m):
                row[j] = 0.0
            for c in range(d):
                y = near.Y[k, a, c]
                if y == 0.0:
                    continue
                for l in range(blocks):
                    if place[start[l]] >= 0:
                        for j in range(start[l], start[l + 1]):
                            row[place[j]] += y * rho[k] * W[(first + c) * n + j]
                row[place[first + c]] -= (1.0 - alpha) * y
            row[place[first + a]] += 1.0
    fine = factor_flat(A, m, near.pivot)
    near.size[0] = m if fine else 0
    return bool(fine)


@kernel(f"void(Near, {A1}, {I1}, {A1}, {A1})", borrows=True)
def take_newton_step(near: Near, W: Array, start: IntArray, rho: Array, r: Array) -> None:
    """Add the step by the factor to r; blocks that are open step to no reaction."""
    place, dr, b, F, some = near.place, near.dr, near.b, near.F, False
    n = start[len(rho)]
    for i in range(n):
        dr[i] = -F[i] if place[i] < 0 else 0.0
        some = some or dr[i] != 0.0
    for k in range(len(rho)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d if place[first] >= 0 else 0):
            b[place[first + a]] = -F[first + a]
            for c in range(d if some else 0):
                moved = rho[k] * part_dot(W[(first + c) * n : (first + c + 1) * n], dr, 0, n)
                b[place[first + a]] -= near.Y[k, a, c] * moved
    solve_flat(near.A, near.size[0], near.pivot, b)
    for i in range(n):
        r[i] += b[place[i]] if place[i] >= 0 else dr[i]


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64, float64)", borrows=True)
def near_solution(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, tol: float, size: float
) -> float:  # fmt: skip
    """Solve u = W r + q from r to E = |r - P(r - rho u^)| / size <= tol; return E, inf where that is not quick.

    r becomes the answer, or stays as it is.
    """
    n, start, refused, least, best = len(q), table[1], 0, tol, np.inf
    for i in range(n):
        near.before[i] = r[i]
    E, goes_on = look(near, W, q, table, rho, r) / size, True
    for taken in range(STEPS):
        exact = EXACT >= E and OWN * length(r, 0, n) >= E * size
        if READY * tol >= E and (taken > 0 or exact):
            return E  # never the last reactions as they were, unless they are exact: rest would waver
        alpha, stands = min(max(SHARE * E, LEAST), MOST), goes_on and same_open(near, start)
        if not stands and not make_factor(near, W, start, rho, alpha):
            break
        take_newton_step(near, W, start, rho, r)
        last, E = E, look(near, W, q, table, rho, r) / size
        if least >= E:
            best = least = E
            for i in range(n):
                near.best[i] = r[i]
        goes_on = CHORD * last >= E
        refused += 0 if FALL * last >= E else 1
        if refused == REFUSED:
            break
    for i in range(n):
        r[i] = near.best[i] if tol >= best else near.before[i]
    return best
