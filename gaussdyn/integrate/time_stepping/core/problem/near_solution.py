"""Newton's method from reactions that are nearly right, with a factor that serves as long as W stands.

A step meets the same problem again, pass by pass, with q a little changed. With u = W r + q and y, Y the reactions
that laws admit at r - rho u and their derivative (`projections.reaction_map`), a step solves

    (I - Y + Y (rho W + alpha)) dr = y - r

as `newton.dense_newton` does, for the blocks that are not open; where W is not formed in velocity space
(`velocity_space`), which is the same step. The factor of the last step goes on (the chord method) while the same blocks
are open and a few more steps at its pace lead to the goal (`pays`). alpha makes the matrix regular where rows
depend on one another; it does not fall as far as there: corners of a foot that share its load would change roles by a
long way in directions that nothing holds. A step that leads away, by E and by |y - r|, is shortened (modes of joints
and feet go round in circles otherwise), one by an older factor is taken back. What does not get there quickly is left
to `first_attempts`.

Where rows depend on one another there are many answers, and if contacts slip, as many motions. The problem with u +
alpha r / rho in place of u, whose matrix is the same, has one, in which equally soft blocks share what they bear
(`even_out`); steps from there keep the shares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....._jit import A1, A2, A3, I1, kernel, record
from ....._jit.lanes import add_four, add_four_rows
from .....arrays import Array, IntArray
from .....linalg.dense import SPARE, factor_flat, solve_flat
from .....programs.blocks.newton.dense_newton import vanishes
from .....programs.laws.projections import TABLE, Table, length, natural, reaction_map
from ..records import Layout
from .velocity_space import VelocitySpace, add_part, factor_motion, move_by, step_in_motion
from .velocity_space import room as velocity_room

FRICTIONLESS, COULOMB, CAPPED = 0, 1, 5  # codes of `programs.laws.projections`
STEPS, REFUSED = 16, 5  # most steps, and those that hardly lower the residual
SOON, ROWS_A_STEP = 2, 8  # steps that a factor is worth: so many, and one more for so many rows
FALL = 0.9  # of the last residual: what counts as lower
SHORTEST = 0.05  # share of a step below which it is not halved again until it leads nearer
PROXIMAL = 1e-5  # term where rows depend on one another
FAINT, REGULAR = 1e-10, 1e-4  # the same where they do not: where pivots are no smaller than this
LOOSE = 1e-6  # tolerance above which an answer is a guess
SHARED = 1e-9  # E above which the last reactions say little of how contacts share what they bear
EVEN, TRIES = 1e-3 * PROXIMAL, 6  # E of a problem that is a little soft, and most steps to it
READY = 0.1  # of the tolerance: what is solved to this is not looked at again
EXACT, OWN = 1e-15, 1e-12  # of size and of |r|: above one of them the last reactions are not taken as they are


@record(I1, I1, I1, I1, A1, A1, A1, A1, A1, A1, A1, A3, A2, A2, "VelocitySpace")
class Near(NamedTuple):
    """Work space, and the last factor.

    Attributes
    ----------
    size : IntArray, shape (4,)
        Rows of the factor, 0: there is none; whether it is one in velocity space; whether rows depend on one another,
        as far as it was seen when W was put or since; whether the factor is that of Y as it is.
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
    numbers = [np.zeros(k, dtype=np.int64) for k in (4, m, m, m)]
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


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1})", borrows=True)
def look(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array) -> float:
    """Put u, F and Y at r; return |r - P(r - rho u^)|."""
    put_rates(near, W, q, r)
    return weigh(near, table, rho, r)


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def look_along(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, share: float) -> float:
    """Do what `look` does where r has gone on by a share of the last step: in velocity space u goes along."""
    if near.size[1] == 0:
        return look(near, W, q, table, rho, r)
    for i in range(len(q)):
        near.u[i] += share * near.b[i]
    return weigh(near, table, rho, r)


@kernel(f"boolean(Near, {I1})", borrows=True)
def same_open(near: Near, start: IntArray) -> bool:
    """Return whether there is a factor, and the blocks that are open were so when it was made."""
    same = near.size[0] > 0
    for k in range(len(start) - 1):
        same = same and vanishes(near.Y[k], start[k + 1] - start[k]) == (near.place[start[k]] < 0)
    return bool(same)


@kernel(f"boolean(Near, {A1}, {I1}, {A1}, float64)", borrows=True)
def factor_reactions(near: Near, W: Array, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put the factor of the equations of the rows that have a place; False if it is singular."""
    place, order, A, m, n = near.place, near.order, near.A, near.size[0], start[len(rho)]
    wide = m + SPARE
    for k in range(len(rho)):
        first, d = start[k], start[k + 1] - start[k]
        if place[first] < 0:
            continue
        for c in range(d):  # of W what has a place
            own, at = near.rows[c], (first + c) * n
            for j in range(m):
                own[j] = W[at + order[j]]
        for a in range(d):
            row = A[place[first + a] * wide : place[first + a] * wide + m]
            for j in range(m):
                row[j] = 0.0
            for c in range(d):
                y = near.Y[k, a, c]
                if y != 0.0:
                    add_part(row, y * rho[k], near.rows[c], 0, m)
                    row[place[first + c]] -= (1.0 - alpha) * y
            row[place[first + a]] += 1.0
    fine = factor_flat(A, m, near.pivot)
    for i in range(m if alpha <= FAINT else 0):
        fine = fine and abs(A[i * wide + i]) > REGULAR
    return bool(fine)


@kernel(f"boolean(Near, {A1}, {I1}, {A1}, float64)", borrows=True)
def make_factor(near: Near, W: Array, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put the factor of the blocks that are not open, with alpha where they ask for it; False if it is singular."""
    m, space = 0, near.space
    for k in range(len(rho)):
        still = vanishes(near.Y[k], start[k + 1] - start[k])
        for i in range(start[k], start[k + 1]):
            near.place[i] = -1 if still else m
            near.order[m] = i  # of the last row that has a place before the next one
            m += 0 if still else 1
    near.size[0], near.size[1] = m, space.used[0]
    if near.size[1]:
        fine = factor_motion(space, near.Y, near.place, start, rho, alpha)
    else:
        near.size[2] |= int(m > len(space.v))  # more equations than velocities
        fine = near.size[2] == 0 and factor_reactions(near, W, start, rho, FAINT)
        if not fine:
            near.size[2], fine = 1, factor_reactions(near, W, start, rho, alpha)
    near.size[0], near.size[3] = m if fine else 0, 1
    return bool(fine)


@kernel(f"void(Near, {A1}, {I1}, {A1}, {A1})", borrows=True)
def step_in_reactions(near: Near, W: Array, start: IntArray, rho: Array, dr: Array) -> None:
    """Put the step by the factor of reactions."""
    place, b, F, n = near.place, near.b, near.F, start[len(rho)]
    some = False
    for i in range(n):
        dr[i] = -F[i] if place[i] < 0 else 0.0
        some = some or dr[i] != 0.0
    if some:  # what the blocks that are open lead to
        none = near.rows[0]
        for i in range(n):
            none[i] = 0.0
        put_rates(near, W, none[:n], dr)
    for k in range(len(rho)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d if place[first] >= 0 else 0):
            b[place[first + a]] = -F[first + a]
            for c in range(d if some else 0):
                b[place[first + a]] -= near.Y[k, a, c] * (rho[k] * near.u[first + c])
    solve_flat(near.A, near.size[0], near.pivot, b)
    for i in range(n):
        if place[i] >= 0:
            dr[i] = b[place[i]]


@kernel(f"void(Near, {A1}, {I1}, {A1}, {A1})", borrows=True)
def take_newton_step(near: Near, W: Array, start: IntArray, rho: Array, r: Array) -> None:
    """Add the step by the factor to r; blocks that are open step to no reaction."""
    near.size[3] = 0
    if near.size[1]:
        step_in_motion(near.space, near.place, start, len(rho), near.F, near.dr, near.b)
    else:
        step_in_reactions(near, W, start, rho, near.dr)
    for i in range(start[len(rho)]):
        r[i] += near.dr[i]


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def shorten(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, before: float) -> float:
    """Take back half of the last step, and again, until |F| is below `before`; return |r - P(r - rho u^)|."""
    E, share = 0.0, 1.0
    while share > SHORTEST:
        share *= 0.5
        for i in range(len(q)):
            r[i] -= share * near.dr[i]
        E = look_along(near, W, q, table, rho, r, -share)
        if before > length(near.F, 0, len(q)):
            break
    return E


@kernel(f"float64(Near, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def weigh_softly(near: Near, table: Table, rho: Array, r: Array, alpha: float) -> float:
    """Do what `weigh` does where blocks yield to their reactions by alpha / rho more, a share of how W lets them."""
    start = table[1]
    for k in range(len(rho)):
        soft = alpha / rho[k]
        for i in range(start[k], start[k + 1]):
            near.u[i] += soft * r[i]
    return weigh(near, table, rho, r)


@kernel(f"boolean(Near, {TABLE})", borrows=True)
def slips(near: Near, table: Table) -> bool:
    """Return whether some contact slips, or some row has a cap: what else shares a load moves as it moves anyway."""
    code, Y = table[0], near.Y
    for k in range(len(code)):
        if code[k] not in (FRICTIONLESS, COULOMB) or (code[k] == COULOMB and (Y[k, 1, 0] != 0.0 or Y[k, 2, 0] != 0.0)):
            return True
    return False


@kernel("boolean(Near, float64, float64, float64)", borrows=True)
def pays(near: Near, last: float, E: float, goal: float) -> bool:
    """Return whether the factor goes on, after a step from `last` to E: few more at that pace lead to the goal."""
    pace, rows = E / last, len(near.space.v) if near.size[1] else near.size[0]
    for _ in range(SOON + rows // ROWS_A_STEP):
        E *= pace
    return bool(goal >= E)


@kernel(f"boolean(Near, {A1}, {I1}, {A1})", borrows=True)
def depend(near: Near, W: Array, start: IntArray, rho: Array) -> bool:
    """Return whether rows of blocks that are not open depend on one another, with a factor where that was not known."""
    if near.size[2] == 0 and near.space.used[0] == 0 and not same_open(near, start):
        make_factor(near, W, start, rho, PROXIMAL)
    return bool(near.size[2] != 0)


@kernel(f"boolean(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def even_out(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, size: float) -> bool:
    """Put the reactions of blocks that are a little soft; False where none are found, and r becomes `before`.

    Equally soft blocks share evenly what W lets them share as they like.
    """
    E, start, goes_on = weigh_softly(near, table, rho, r, PROXIMAL) / size, table[1], True
    for _ in range(TRIES):
        stands = near.size[3] != 0 or (goes_on and same_open(near, start))
        if EVEN >= E or (not stands and not make_factor(near, W, start, rho, PROXIMAL)):
            break
        take_newton_step(near, W, start, rho, r)
        put_rates(near, W, q, r)
        last, E = E, weigh_softly(near, table, rho, r, PROXIMAL) / size
        goes_on = pays(near, last, E, EVEN)
    for i in range(0 if EVEN >= E else len(q)):
        r[i] = near.before[i]
    return bool(EVEN >= E)


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64, float64)", borrows=True)
def take_best(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, most: float, best: float
) -> float:  # fmt: skip
    """Put the best reactions so far if their residual `best` is `most` at most, else those of before; return it.

    In velocity space as they are found to be, without what rounding has left of u on the way.
    """
    taken = most >= best
    for i in range(len(q) if taken else 0):
        r[i] = near.best[i]
    if taken and near.space.used[0]:
        best = look(near, W, q, table, rho, r)
        taken = most >= best
    for i in range(0 if taken else len(q)):
        r[i] = near.before[i]
    return best


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, UniTuple(float64, 2), UniTuple(float64, 2))", borrows=True)
def newton_from(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, goals: tuple[float, float],
    here: tuple[float, float],
) -> float:  # fmt: skip
    """Do what `near_solution` does from r, which has been looked at; here: its E, `size`. Else r becomes `before`."""
    (tol, rough), (E, size), n, start, refused, best = goals, here, len(q), table[1], 0, np.inf
    good = least = max(tol, rough)
    goes_on, seen = True, True
    for taken in range(STEPS):
        exact = EXACT >= E and OWN * length(r, 0, n) >= E * size
        if READY * tol >= E and (taken > 0 or exact or tol > LOOSE):
            return E  # never the last reactions as they were, unless they are exact: rest would waver
        fresh, F = near.size[3] != 0, length(near.F, 0, n)
        stands = goes_on and not fresh and same_open(near, start)
        if not stands and not fresh and not make_factor(near, W, start, rho, PROXIMAL):
            break
        take_newton_step(near, W, start, rho, r)
        last, seen = E, near.size[1] == 0 or not stands
        E = (look(near, W, q, table, rho, r) if seen else look_along(near, W, q, table, rho, r, 1.0)) / size
        if last < E and length(near.F, 0, n) > F:
            if stands:  # the factor was of other modes
                for i in range(n):
                    r[i] -= near.dr[i]
                E, goes_on = look_along(near, W, q, table, rho, r, -1.0) / size, False
                continue
            E, seen = shorten(near, W, q, table, rho, r, F) / size, near.size[1] == 0
        if tol >= E and not (seen or tol > LOOSE):  # what rounding has left of u on the way
            E, seen = look(near, W, q, table, rho, r) / size, True
        if least >= E:
            best = least = E
            for i in range(n):
                near.best[i] = r[i]
        goes_on = pays(near, last, E, READY * tol)
        refused += 0 if FALL * last >= E else 1
        if refused == REFUSED or (refused > 0 and rough >= E):
            break
    return take_best(near, W, q, table, rho, r, good * size, best * size) / size


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, UniTuple(float64, 2), float64)", borrows=True, rare=True)
def share(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, goals: tuple[float, float],
    size: float,
) -> float:  # fmt: skip
    """Do what `near_solution` does, from what blocks bear that are a little soft; inf where rows are independent.

    `Near.before` is r.
    """
    E = np.inf
    if not depend(near, W, table[1], rho):
        return E
    if even_out(near, W, q, table, rho, r, size):
        here, near.size[3] = weigh_softly(near, table, rho, r, -PROXIMAL) / size, 0
        E = newton_from(near, W, q, table, rho, r, goals, (here, size))
    near.size[0] = 0 if not max(goals[0], goals[1]) >= E else near.size[0]
    return E


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, UniTuple(float64, 2), float64)", borrows=True)
def near_solution(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, goals: tuple[float, float],
    size: float,
) -> float:  # fmt: skip
    """Solve u = W r + q from r to E = |r - P(r - rho u^)| / size <= tol; return E, inf where that is not quick.

    goals: tol, and an E with which it ends once it does not fall. r becomes the answer with one of these, or stays as
    it is. Where rows depend on one another it is the answer nearest to that of blocks that are a little soft.
    """
    tol, rough = goals
    for i in range(len(q)):
        near.before[i] = r[i]
    E, near.size[3] = look(near, W, q, table, rho, r) / size, 0
    if tol <= LOOSE and E > SHARED and slips(near, table):
        best = share(near, W, q, table, rho, r, goals, size)
        if max(tol, rough) >= best:
            return best
        if near.size[2] != 0:
            E = look(near, W, q, table, rho, r) / size
    return newton_from(near, W, q, table, rho, r, goals, (E, size))
