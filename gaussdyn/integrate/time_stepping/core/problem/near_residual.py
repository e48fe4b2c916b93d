"""What laws leave of reactions: y, Y and the residual of each block, and work space for Newton's method with them.

With u = W r + q, F = r - y(r - rho u), Y the derivative of y, see `projections.reaction_map`; the residual that counts
is the natural one, |r - P(r - rho u^)|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, A3, I1, kernel, record
from ....._jit.lanes import add_four, add_four_rows
from .....arrays import Array, IntArray
from .....linalg.dense import SPARE
from .....programs.laws.projections import TABLE, Table, length, natural, reaction_map
from ..records import Layout
from .velocity_space import VelocitySpace, move_by
from .velocity_space import room as velocity_room

FRICTIONLESS, COULOMB, CAPPED = 0, 1, 5  # codes of `programs.laws.projections`
EQUATIONS, IN_MOTION, REDUNDANT, CURRENT, DISAGREES = range(5)  # entries of `Near.size`


@record(I1, I1, I1, I1, A1, A1, A1, A1, A1, A1, A1, A3, A2, A2, "VelocitySpace")
class Near(NamedTuple):
    """Work space, and the last factor.

    Attributes
    ----------
    size : IntArray, shape (5,)
        EQUATIONS: how many the factor has, 0: there is none. IN_MOTION: it is one in velocity space. REDUNDANT: rows
        depend on one another, as far as it was seen when W was put or since. CURRENT: the factor is that of Y as it is.
        DISAGREES: the last answer is one only as far as the data agree.
    place : IntArray, shape (m,)
        The equation of every row, -1: its block is open.
    order : IntArray, shape (m,)
        The row of every equation.
    pivot : IntArray, shape (m,)
    A : Array, shape (m (m + SPARE),)
        The factor, row by row, see `factor_flat`.
    u, F, dr, b, before, best : Array, shape (m,), of u (m + 3,)
        Velocities, y - r with the other sign, a step and its right side (in velocity space by how
        much it changes u), what the reactions were, the best so far.
    Y : Array, shape (n, 6, 6)
    work : Array, shape (10, 6)
    rows : Array, shape (6, m)
        Of W, for the rows that have a place.
    space : VelocitySpace
    """

    size: IntArray
    place: IntArray
    order: IntArray
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
    rows: Array
    space: VelocitySpace


def room(n: int, layout: Layout, M: Array, Z: Array) -> Near:
    """Return work space for n blocks; see `velocity_space.room`."""
    m = len(Z)
    numbers = [np.zeros(k, dtype=np.int64) for k in (5, m, m, m)]
    vectors = [np.zeros(m + 3), *(np.zeros(m) for _ in range(5))]
    rest = np.zeros((n, 6, 6)), np.zeros((10, 6)), np.zeros((6, m)), velocity_room(n, layout, M, Z)
    return Near._make([*numbers, np.zeros(m * (m + SPARE)), *vectors, *rest])


@kernel(f"void(Near, {A1}, {A1}, {A1})", borrows=True)
def put_rates(near: Near, W: Array, q: Array, r: Array) -> None:
    """Put u = W r + q."""
    n, u = len(q), near.u
    if near.space.used[0]:
        move_by(near.space, q, r, u)
        return
    for i in range(n):
        u[i] = q[i]
    u[n], u[n + 1], u[n + 2], whole = 0.0, 0.0, 0.0, n // 4 * 4
    for i in range(0, whole, 4):  # column by column, W being symmetric, which the processor takes together
        s0, s1, s2, s3 = r[i], r[i + 1], r[i + 2], r[i + 3]
        if s0 == 0.0 and s1 == 0.0 and s2 == 0.0 and s3 == 0.0:
            continue
        for j in range(0, n, 4):
            at = i * n + j
            add_four_rows(u, j, (s0, s1, s2, s3), W, (at, at + n, at + 2 * n, at + 3 * n))
    for i in range(whole, n):
        for j in range(0, n if r[i] != 0.0 else 0, 4):
            add_four(u, j, r[i], W, i * n + j)


@kernel(f"float64(int64, {A1}, float64, {A2})", borrows=True)
def scalar_map(code: int, P: Array, x: float, Y: Array) -> float:
    """Return y(x) of a block of one row without friction, or with a cap, and put its derivative into Y."""
    Y[0, 0] = 0.0
    if code == FRICTIONLESS:
        Y[0, 0] = 1.0 if x > 0.0 else 0.0
        return max(x, 0.0)
    t = abs(x)
    if 0.0 < P[1] >= t:
        Y[0, 0] = 1.0
        return x
    return P[2] * (1.0 / t) * x if t > 0.0 else 0.0


@kernel(f"float64({A1}, float64, {A1}, {A1}, int64, {A1}, {A2})", borrows=True)
def coulomb_map(P: Array, rho: float, u: Array, r: Array, first: int, F: Array, Y: Array) -> float:
    """Put F and Y of a contact with rows N, T1, T2; return |r - P(r - rho u^)|^2. See `reaction_map`, `natural`."""
    mu, r0, r1, r2 = P[0], r[first], r[first + 1], r[first + 2]
    v0, v1, v2 = rho * u[first], rho * u[first + 1], rho * u[first + 2]
    x0, x1, x2 = r0 - v0, r1 - v1, r2 - v2
    for a in range(3):
        for c in range(3):
            Y[a, c] = 0.0
    t, y0, f = np.sqrt(x1 * x1 + x2 * x2), max(x0, 0.0), 0.0
    if x0 > 0.0:
        Y[0, 0], f = 1.0, 1.0
        if t <= P[1] * x0 and P[1] > 0.0:
            Y[1, 1] = Y[2, 2] = 1.0
        else:
            e1, e2 = (x1 / t, x2 / t) if t > 0.0 else (0.0, 0.0)
            f = mu * x0 / t if t > 0.0 else 0.0
            Y[1, 0], Y[2, 0] = mu * e1, mu * e2
            Y[1, 1], Y[1, 2], Y[2, 1], Y[2, 2] = f * (1.0 - e1 * e1), -f * e1 * e2, -f * e2 * e1, f * (1.0 - e2 * e2)
    F[first], F[first + 1], F[first + 2] = r0 - y0, r1 - f * x1, r2 - f * x2
    x0 -= mu * np.sqrt(v1 * v1 + v2 * v2)
    y0, f = x0, 1.0
    if mu * t <= -x0:
        y0 = f = 0.0
    elif t > mu * x0:
        y0 = (x0 + mu * t) / (1.0 + mu * mu)
        f = mu * y0 / t
    return float((r0 - y0) ** 2 + (r1 - f * x1) ** 2 + (r2 - f * x2) ** 2)


@kernel(f"float64(Near, int64, int64, int64, {A1}, float64, {A1}, int64)", borrows=True)
def any_map(near: Near, k: int, code: int, d: int, P: Array, rho: float, r: Array, first: int) -> float:
    """Put F and Y of a block of d rows from `first` on, with reactions r; return |r - P(r - rho u^)|^2."""
    U, x, y, F = near.work[7], near.work[6], near.work[8], near.work[9]
    for a in range(d):
        U[a] = near.u[first + a]
        x[a] = r[a] - rho * U[a]
    reaction_map(code, d, P, x, y, near.Y[k])
    for a in range(d):
        near.F[first + a] = r[a] - y[a]
    if code == FRICTIONLESS or (code == CAPPED and P[1] <= P[2]):  # that is r - P(r - rho u) itself
        return length(near.F, first, first + d) ** 2
    natural(code, d, P, U, r, rho, F, near.work[:7])
    return length(F, 0, d) ** 2


@kernel(f"float64(Near, {TABLE}, {A1}, {A1})", borrows=True)
def weigh(near: Near, table: Table, rho: Array, r: Array) -> float:
    """Put F and Y at r and u; return |r - P(r - rho u^)|."""
    code, start, P = table
    u, total = near.u, 0.0
    for k in range(len(rho)):
        first, d, kind = start[k], start[k + 1] - start[k], code[k]
        if d == 1 and (kind == FRICTIONLESS or (kind == CAPPED and P[k, 1] <= P[k, 2])):
            near.F[first] = r[first] - scalar_map(kind, P[k], r[first] - rho[k] * u[first], near.Y[k])
            total += near.F[first] ** 2
        elif d == 3 and kind == COULOMB and P[k, 1] <= P[k, 0]:
            total += coulomb_map(P[k], rho[k], u, r, first, near.F, near.Y[k])
        else:
            total += any_map(near, k, kind, d, P[k], rho[k], r[first : first + d], first)
    return float(np.sqrt(total))


@kernel(f"float64(Near, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def weigh_softly(near: Near, table: Table, rho: Array, r: Array, alpha: float) -> float:
    """Do what `weigh` does where blocks yield to their reactions by alpha / rho more, a share of how W lets them."""
    start = table[1]
    for k in range(len(rho)):
        soft = alpha / rho[k]
        for i in range(start[k], start[k + 1]):
            near.u[i] += soft * r[i]
    return weigh(near, table, rho, r)


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1})", borrows=True)
def look(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array) -> float:
    """Put u, F and Y at r; return |r - P(r - rho u^)|."""
    put_rates(near, W, q, r)
    return weigh(near, table, rho, r)


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def look_along(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, share: float) -> float:
    """Do what `look` does where r has gone on by a share of the last step: in velocity space u goes along."""
    if near.size[IN_MOTION] == 0:
        return look(near, W, q, table, rho, r)
    for i in range(len(q)):
        near.u[i] += share * near.b[i]
    return weigh(near, table, rho, r)
