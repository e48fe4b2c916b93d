"""Newton's method on the modes of contacts between free bodies, from the impulses of the last step.

    M v = h + J^T p,    u = J v + w,    every (u_c, p_c) in Coulomb's law

in velocity space: every iteration factorises M + J^T E J over the bodies (6x6 blocks); W = J M^-1 J^T is never formed.
The velocity is recomputed from the impulses each time, so that each iteration refines the last and the equation of
motion holds to rounding. Source: Alart, Curnier (1991); proximal term after Rockafellar (1976).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A2, A3, I1, kernel, record
from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering, factorise, solve_factorised
from .body_problem import BodyProblem, BodyWork, Iterate
from .coulomb import SLIP, linearise_modes, natural_length, weighted_length
from .structure import add_wrench, assemble, block_multiply, copy_rows, relative_motion

EPS = 2.0**-52
FINE = 1e-10  # proximal term, relative to the local compliance, that gives long chains in one step ...
COARSE = 1e-7  # ... and one that bears dependent contacts whose rates disagree by rounding
SLOW = 0.2  # of the last residual: a finer term gains more
READY = 0.01  # of the tolerance: no more is asked for
PATIENCE = 12  # iterations without a better point; those on the way through modes need a few
KEEP = 0.1  # of the last residual: where contacts slip, better than that the factors at hand still serve


@kernel(f"void(BodyProblem, {A2}, {A2}, {A2}, {A2})", borrows=True)
def motion(problem: BodyProblem, p: Array, F: Array, v: Array, u: Array) -> None:
    """Put v = M^-1 (h + J^T p) and u = J v + w; F is work space."""
    contacts, inverse, h, w = problem.contacts, problem.inverse, problem.h, problem.w
    for i in range(len(h)):
        for k in range(6):
            F[i, k] = h[i, k]
    add_wrench(contacts, p, F)
    block_multiply(inverse, F, v)
    relative_motion(contacts, v, u)
    for c in range(contacts.first[-1]):
        for k in range(3):
            u[c, k] += w[c, k]


@kernel(f"float64(BodyProblem, float64, {A2})", borrows=True)
def rounding_floor(problem: BodyProblem, scale: float, p: Array) -> float:
    """Return what counts as solved with any tolerance: 10 eps |p| / |rho q|."""
    size = 0.0
    for c in range(problem.contacts.first[-1]):
        size += p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
    return min(10.0 * EPS * np.sqrt(size) / scale, 1e-8) if scale > EPS else 0.0


@kernel(f"UniTuple(float64, 2)(BodyProblem, {A2}, {A2})", borrows=True)
def scale_and_floor(problem: BodyProblem, p: Array, u: Array) -> tuple[float, float]:
    """Return |rho q| with q in u, and the `rounding_floor` of p."""
    scale = weighted_length(problem.contacts.first[-1], problem.mu, problem.rho, u)
    return scale, rounding_floor(problem, scale, p)


@kernel(f"float64(BodyProblem, float64, {A2}, {A2})", borrows=True)
def residual(problem: BodyProblem, scale: float, p: Array, u: Array) -> float:
    """Return E = |p - P(p - rho u^)| / |rho q|."""
    size = natural_length(problem.contacts.first[-1], problem.mu, problem.rho, p, u)
    return size / scale if scale > 0.0 else size


@kernel(f"void(BodyProblem, Ordering, BodyWork, {A2})", borrows=True)
def newton_direction(problem: BodyProblem, ordering: Ordering, work: BodyWork, g: Array) -> None:
    """Solve M dv = g + J^T dp, dp = e - E J dv with the factors in B; dv, du = J dv and dp are in `work`."""
    B, E, e, dp, du, dv, _F, y, _mode = work
    contacts = problem.contacts
    for i in range(len(g)):
        for k in range(6):
            dv[i, k] = g[i, k]
    add_wrench(contacts, e, dv)
    solve_factorised(len(dv), ordering, B, dv, y)
    relative_motion(contacts, dv, du)
    for c in range(contacts.first[-1]):
        for k in range(3):
            dp[c, k] = e[c, k] - (E[c, k, 0] * du[c, 0] + E[c, k, 1] * du[c, 1] + E[c, k, 2] * du[c, 2])


@kernel("void(BodyProblem, Ordering, BodyWork)", borrows=True)
def factorise_modes(problem: BodyProblem, ordering: Ordering, work: BodyWork) -> None:
    """Put the factors of M + J^T E J into B."""
    n = len(problem.M)
    assemble(problem.contacts, work.E, problem.M, ordering.rank, n + 2 * len(ordering.rows), work.B)
    factorise(n, ordering, work.B)


@kernel(f"UniTuple(float64, 2)(BodyProblem, BodyWork, {A2}, {A2}, {A2}, {A2})", inline=True, borrows=True)
def without_impulses(
    problem: BodyProblem, work: BodyWork, p: Array, v: Array, u: Array, nothing: Array
) -> tuple[float, float]:  # fmt: skip
    """Return `scale_and_floor` from the motion without impulses; `nothing` is work space."""
    for c in range(problem.contacts.first[-1]):
        nothing[c, 0] = nothing[c, 1] = nothing[c, 2] = 0.0
    motion(problem, nothing, work.F, v, u)
    return scale_and_floor(problem, p, u)


@kernel(f"boolean(int64, {I1})", inline=True, borrows=True)
def slips(n: int, mode: IntArray) -> bool:
    """Return whether any of n contacts slips."""
    found = False
    for c in range(n):
        found = found or mode[c] == SLIP
    return found


@kernel(f"float64({A3}, {A2})", borrows=True)
def momentum_of(M: Array, v: Array) -> float:
    """Return the length of all momenta together, m |v|; spins count by the radius of gyration."""
    total = 0.0
    for i in range(len(v)):
        m = M[i, 3, 0]
        for k in range(3):
            total += m * (m * v[i, k] * v[i, k] + M[i, k, k] * v[i, 3 + k] * v[i, 3 + k])
    return float(np.sqrt(total))


@kernel(f"float64(BodyProblem, Ordering, BodyWork, {A2}, boolean)", inline=True, borrows=True)
def newton_step(problem: BodyProblem, ordering: Ordering, work: BodyWork, p: Array, again: bool) -> float:
    """Take a Newton step with the linearisation at hand; the factors are kept unless `again`.

    Returns how much momentum it moves.
    """
    zero = work.F
    for i in range(len(zero)):
        for k in range(6):
            zero[i, k] = 0.0
    if again:
        factorise_modes(problem, ordering, work)
    newton_direction(problem, ordering, work, zero)
    for c in range(problem.contacts.first[-1]):
        for k in range(3):
            p[c, k] += work.dp[c, k]
    return momentum_of(problem.M, work.dv)


@kernel("float64(float64, boolean, boolean, float64)", inline=True, borrows=True)
def next_term(alpha: float, grew: bool, same: bool, share: float) -> float:
    """Return the proximal term to go on with: where E grew a coarser one, where it hardly shrinks a finer one."""
    if grew:
        return COARSE
    return FINE if same and share > SLOW else alpha


@record("float64", "float64", "int64", by_value=True)
class Goal(NamedTuple):
    """What Newton's method is to reach.

    Kernels ask `goal >= E` and `not goal >= E`, never `E > goal`: where E is NaN the first is false, so that it never
    counts as solved.

    Attributes
    ----------
    tol : float
        E that counts as solved.
    ready : float
        E up to which nothing is done, and more is not asked for.
    limit : int
        Iterations.
    """

    tol: float
    ready: float
    limit: int


@kernel(
    "Tuple((float64, int64, float64, float64, boolean))"
    "(BodyProblem, Ordering, BodyWork, Iterate, float64, Goal, boolean)",
    borrows=True,
)
def modes_newton(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, alpha: float, aim: Goal, factored: bool
) -> tuple[float, int, float, float, bool]:
    """Improve p until E <= tol; the given p is taken as it is where its E <= ready.

    Once below tol, refinement goes on to `ready` or as long as it gains a factor of two, so that bodies at rest stand
    still to rounding. What rounding does to light bodies hides in E what is wrong with heavy ones: where E can fall no
    further, it goes on as long as the momentum that a step moves is halved. The factors are kept while no mode changes
    and E falls fast or is below tol; `factored`: those at hand are of this alpha and these contacts. The proximal term
    alpha changes once at most. Returns E, the number of factorisations, the least residual to ask for, alpha, and
    whether the factors may serve again; p is the best point met, v and u belong to it.
    """
    (p, u, best, _other, v), (tol, ready, limit) = iterate, aim
    n, mode, F = problem.contacts.first[-1], work.mode, work.F
    scale, floor = without_impulses(problem, work, p, v, u, best)
    goal, E, now, last, factors = max(tol, floor), np.inf, 0.0, np.inf, 0
    changed, switched = n, False  # modes that the last linearisation changed; whether alpha has changed
    again, waited = not factored, 0  # whether the next step factorises; iterations since the best point
    moved, before = np.inf, np.inf  # momentum that the last step moved, and the one before
    blind = False  # whether rounding hides in E what is wrong with heavy bodies
    for it in range(limit + 1):
        # measure what the last step led to
        motion(problem, p, F, v, u)
        now = residual(problem, scale, p, u)
        moving = blind and moved > floor * scale
        nearer = now < E or (moving and goal >= now and moved < 0.5 * before)
        grew = it > 0 and not nearer
        if grew and (goal >= E or (switched and not np.isfinite(now))):
            break
        # keep the best point
        waited += 1
        if nearer:
            last, E, waited = E, now, 0
            copy_rows(n, p, best)
            floor = rounding_floor(problem, scale, p)
            goal, blind = max(tol, floor), READY * floor > ready
        if ready >= E or it == limit or waited > PATIENCE or (goal >= E and it > 0 and 0.5 * last < E and not moving):
            break
        # choose the proximal term; with another one, go on from the best point
        stale = not again and slips(n, mode)
        other = alpha if switched or it == 0 or stale else next_term(alpha, grew, changed == 0, E / last)
        if other != alpha or (grew and stale):
            switched, alpha, factored = switched or other != alpha, other, False
            copy_rows(n, best, p)
            motion(problem, p, F, v, u)
        # linearise the laws; factorise anew where modes have changed
        again = not factored or (goal < E and it > 0 and KEEP * last < E and slips(n, mode))
        changed = linearise_modes(n, problem.mu, problem.rho, alpha, p, u, work, again)
        if not factored:
            changed = n
        elif changed > 0:
            if goal >= E and it > 0 and not moving:
                factored = False
                break
            if not again and slips(n, mode):
                linearise_modes(n, problem.mu, problem.rho, alpha, p, u, work, True)
            again = True
        # step
        before, moved = moved, newton_step(problem, ordering, work, p, again)
        factors, factored = factors + again, True
    if now != E:
        copy_rows(n, best, p)
        motion(problem, p, F, v, u)
    return E, factors, floor, alpha, factored
