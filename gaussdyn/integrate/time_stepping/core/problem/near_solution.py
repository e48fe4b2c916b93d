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

import numpy as np

from ....._jit import A1, I1, kernel
from .....arrays import Array, IntArray
from .....linalg.dense import SPARE, factor_flat, solve_flat
from .....programs.blocks.newton.dense_newton import vanishes
from .....programs.laws.projections import TABLE, Table, length
from .near_residual import (
    COULOMB,
    CURRENT,
    DISAGREES,
    EQUATIONS,
    FRICTIONLESS,
    IN_MOTION,
    REDUNDANT,
    Near,
    look,
    look_along,
    put_rates,
    weigh_softly,
)
from .velocity_space import add_part, factor_motion, step_in_motion

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


@kernel(f"boolean(Near, {I1})", borrows=True)
def same_open(near: Near, start: IntArray) -> bool:
    """Return whether there is a factor, and the blocks that are open were so when it was made."""
    same = near.size[EQUATIONS] > 0
    for k in range(len(start) - 1):
        same = same and vanishes(near.Y[k], start[k + 1] - start[k]) == (near.place[start[k]] < 0)
    return bool(same)


@kernel(f"boolean(Near, {A1}, {I1}, {A1}, float64)", borrows=True)
def factor_reactions(near: Near, W: Array, start: IntArray, rho: Array, alpha: float) -> bool:
    """Put the factor of the equations of the rows that have a place; False if it is singular."""
    place, order, A, m, n = near.place, near.order, near.A, near.size[EQUATIONS], start[len(rho)]
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
    near.size[EQUATIONS], near.size[IN_MOTION] = m, space.used[0]
    if near.size[IN_MOTION]:
        fine = factor_motion(space, near.Y, near.place, start, rho, alpha)
    else:
        near.size[REDUNDANT] |= int(m > len(space.v))  # more equations than velocities
        fine = near.size[REDUNDANT] == 0 and factor_reactions(near, W, start, rho, FAINT)
        if not fine:
            near.size[REDUNDANT], fine = 1, factor_reactions(near, W, start, rho, alpha)
    near.size[EQUATIONS], near.size[CURRENT] = m if fine else 0, 1
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
    solve_flat(near.A, near.size[EQUATIONS], near.pivot, b)
    for i in range(n):
        if place[i] >= 0:
            dr[i] = b[place[i]]


@kernel(f"void(Near, {A1}, {I1}, {A1}, {A1})", borrows=True)
def take_newton_step(near: Near, W: Array, start: IntArray, rho: Array, r: Array) -> None:
    """Add the step by the factor to r; blocks that are open step to no reaction."""
    near.size[CURRENT] = 0
    if near.size[IN_MOTION]:
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
    pace, rows = E / last, len(near.space.v) if near.size[IN_MOTION] else near.size[EQUATIONS]
    for _ in range(SOON + rows // ROWS_A_STEP):
        E *= pace
    return bool(goal >= E)


@kernel(f"boolean(Near, {A1}, {I1}, {A1})", borrows=True)
def depend(near: Near, W: Array, start: IntArray, rho: Array) -> bool:
    """Return whether rows of blocks that are not open depend on one another, with a factor where that was not known."""
    if near.size[REDUNDANT] == 0 and near.space.used[0] == 0 and not same_open(near, start):
        make_factor(near, W, start, rho, PROXIMAL)
    return bool(near.size[REDUNDANT] != 0)


@kernel(f"boolean(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, float64)", borrows=True)
def even_out(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, size: float) -> bool:
    """Put the reactions of blocks that are a little soft; False where none are found, and r becomes `before`.

    Equally soft blocks share evenly what W lets them share as they like.
    """
    E, start, goes_on = weigh_softly(near, table, rho, r, PROXIMAL) / size, table[1], True
    for _ in range(TRIES):
        stands = near.size[CURRENT] != 0 or (goes_on and same_open(near, start))
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


@kernel(f"boolean(Near, {A1}, {A1}, {TABLE}, {A1}, {A1})", borrows=True, rare=True)
def disagree(near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array) -> bool:
    """Return whether nothing lowers F while blocks keep their modes: data of rows that depend on one another disagree.

    Newton's method stands still then, (I - Y + Y rho W) F = 0. What solves such a problem all the same slips at bounds
    of friction and caps, against one another, however little the data disagree.
    """
    start, none, left, size = table[1], near.rows[0], 0.0, 0.0
    for i in range(len(q)):
        none[i] = 0.0
    put_rates(near, W, none[: len(q)], near.F)
    for k in range(len(rho)):
        first, d = start[k], start[k + 1] - start[k]
        for a in range(d):
            change = near.F[first + a]
            for c in range(d):
                change += near.Y[k, a, c] * (rho[k] * near.u[first + c] - near.F[first + c])
            left, size = left + change**2, size + near.F[first + a] ** 2
    put_rates(near, W, q, r)
    return bool(left <= REGULAR * REGULAR * size)


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, UniTuple(float64, 3), UniTuple(float64, 2))", borrows=True)
def newton_from(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, goals: tuple[float, float, float],
    here: tuple[float, float],
) -> float:  # fmt: skip
    """Do what `near_solution` does from r, which has been looked at; here: its E, `size`. Else r becomes `before`."""
    (tol, rough, apart), (E, size), n, start, refused, best = goals, here, len(q), table[1], 0, np.inf
    least, near.size[DISAGREES] = max(tol, rough), 0
    goes_on, seen = True, True
    for taken in range(STEPS):
        exact = EXACT >= E and OWN * length(r, 0, n) >= E * size
        if READY * tol >= E and (taken > 0 or exact or tol > LOOSE):
            return E  # never the last reactions as they were, unless they are exact: rest would waver
        fresh, F = near.size[CURRENT] != 0, length(near.F, 0, n)
        stands = goes_on and not fresh and same_open(near, start)
        if not stands and not fresh and not make_factor(near, W, start, rho, PROXIMAL):
            break
        take_newton_step(near, W, start, rho, r)
        last, seen = E, near.size[IN_MOTION] == 0 or not stands
        E = (look(near, W, q, table, rho, r) if seen else look_along(near, W, q, table, rho, r, 1.0)) / size
        if last < E and length(near.F, 0, n) > F:
            if stands:  # the factor was of other modes
                for i in range(n):
                    r[i] -= near.dr[i]
                E, goes_on = look_along(near, W, q, table, rho, r, -1.0) / size, False
                continue
            E, seen = shorten(near, W, q, table, rho, r, F) / size, near.size[IN_MOTION] == 0
        if tol >= E and not (seen or tol > LOOSE):  # what rounding has left of u on the way
            E, seen = look(near, W, q, table, rho, r) / size, True
        refused += 0 if FALL * last >= E else 1
        if refused > 0 and apart >= E > least and disagree(near, W, q, table, rho, r):
            rough, least, near.size[DISAGREES] = E, E, 1
        if least >= E:
            best = least = E
            for i in range(n):
                near.best[i] = r[i]
        goes_on = pays(near, last, E, READY * tol)
        if refused == REFUSED or (refused > 0 and rough >= E):
            break
    return take_best(near, W, q, table, rho, r, max(tol, rough) * size, best * size) / size


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, UniTuple(float64, 3), float64)", borrows=True, rare=True)
def share(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, goals: tuple[float, float, float],
    size: float,
) -> float:  # fmt: skip
    """Do what `near_solution` does, from what blocks bear that are a little soft; inf where rows are independent.

    `Near.before` is r.
    """
    E = np.inf
    if not depend(near, W, table[1], rho):
        return E
    if even_out(near, W, q, table, rho, r, size):
        here, near.size[CURRENT] = weigh_softly(near, table, rho, r, -PROXIMAL) / size, 0
        E = newton_from(near, W, q, table, rho, r, goals, (here, size))
    near.size[EQUATIONS] = 0 if not max(goals) >= E else near.size[EQUATIONS]
    return E


@kernel(f"float64(Near, {A1}, {A1}, {TABLE}, {A1}, {A1}, UniTuple(float64, 3), float64)", borrows=True)
def near_solution(
    near: Near, W: Array, q: Array, table: Table, rho: Array, r: Array, goals: tuple[float, float, float],
    size: float,
) -> float:  # fmt: skip
    """Solve u = W r + q from r to E = |r - P(r - rho u^)| / size <= tol; return E, inf where that is not quick.

    goals: tol; an E with which it ends once it does not fall; one with which it ends where the data disagree by it, see
    `disagree`. r becomes the answer with one of these, or stays as it is. Where rows depend on one another it is the
    answer nearest to that of blocks that are a little soft.
    """
    tol, rough, apart = goals
    for i in range(len(q)):
        near.before[i] = r[i]
    E, near.size[CURRENT] = look(near, W, q, table, rho, r) / size, 0
    if tol <= LOOSE and E > SHARED and slips(near, table):
        best = share(near, W, q, table, rho, r, goals, size)
        if max(tol, rough, apart) >= best:
            return best
        if near.size[REDUNDANT] != 0:
            E = look(near, W, q, table, rho, r) / size
    return newton_from(near, W, q, table, rho, r, goals, (E, size))
