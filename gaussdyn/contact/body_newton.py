"""Newton's method on the modes of contacts between free bodies, from the impulses of the last step.

    M v = h + J^T p,    u = J v + w,    every (u_c, p_c) in Coulomb's law

in velocity space: every iteration factorises M + J^T E J over the bodies (6x6 blocks); W = J M^-1 J^T is never formed.
The velocity is recomputed from the impulses each time, so that each iteration refines the last and the equation of
motion holds to rounding. Source: Alart, Curnier (1991); proximal term after Rockafellar (1976).
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arrays import Array, IntArray
from ..linalg.block_lu import ORDERING, Ordering, factorise, solve_factorised
from .body_kernels import (
    A1,
    A2,
    A3,
    CONTACTS,
    I1,
    Contacts,
    add_wrench,
    assemble,
    block_multiply,
    relative_motion,
)
from .body_laws import SLIP, linearise_modes, natural_length, weighted_length

PROBLEM = f"Tuple(({CONTACTS}, {A3}, {A3}, {A2}, {A2}, {A1}, {A1}))"
Problem = tuple[Contacts, Array, Array, Array, Array, Array, Array]
"""contacts; M and its inverse as in `block_multiply`; h (bodies, 6); w (c, 3); mu, rho (c,)."""
WORK = f"Tuple(({A3}, {A3}, {A2}, {A2}, {A2}, {A2}, {A2}, {A2}, {I1}))"
Work = tuple[Array, Array, Array, Array, Array, Array, Array, Array, IntArray]
"""B (blocks, 6, 6); E (c, 3, 3); e, dp, du (c, 3); dv, F, y (bodies, 6); mode (c,)."""
EPS = 2.0**-52
ALPHA = 1e-10  # proximal term, relative to the local compliance


@kernel(f"void({PROBLEM}, {A2}, {A2}, {A2}, {A2})", borrows=True)
def motion(problem: Problem, p: Array, F: Array, v: Array, u: Array) -> None:
    """Put v = M^-1 (h + J^T p) and u = J v + w; F is work space."""
    contacts, _M, inverse, h, w, _mu, _rho = problem
    for i in range(len(h)):
        for k in range(6):
            F[i, k] = h[i, k]
    add_wrench(contacts, p, F)
    block_multiply(inverse, F, v)
    relative_motion(contacts, v, u)
    for c in range(contacts[1][-1]):
        for k in range(3):
            u[c, k] += w[c, k]


@kernel(f"UniTuple(float64, 2)({PROBLEM}, {A2}, {A2})", borrows=True)
def scale_and_floor(problem: Problem, p: Array, u: Array) -> tuple[float, float]:
    """Return |rho q| with q in u, and what counts as solved with any tolerance: 10 eps |p| / |rho q|."""
    mu, rho, n = problem[5], problem[6], problem[0][1][-1]
    scale, size = weighted_length(n, mu, rho, u), 0.0
    for c in range(n):
        size += p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
    floor = EPS * np.sqrt(size) / scale if scale > EPS else 0.0
    return scale, min(10.0 * floor, 1e-8)


@kernel(f"float64({PROBLEM}, float64, {A2}, {A2})", borrows=True)
def residual(problem: Problem, scale: float, p: Array, u: Array) -> float:
    """Return E = |p - P(p - rho u^)| / |rho q|."""
    size = natural_length(problem[0][1][-1], problem[5], problem[6], p, u)
    return size / scale if scale > 0.0 else size


@kernel(f"void({PROBLEM}, {ORDERING}, {WORK}, {A2})", borrows=True)
def newton_direction(problem: Problem, ordering: Ordering, work: Work, g: Array) -> None:
    """Solve M dv = g + J^T dp, dp = e - E J dv with the factors in B; dv, du = J dv and dp are in `work`."""
    B, E, e, dp, du, dv, _F, y, _mode = work
    contacts = problem[0]
    for i in range(len(g)):
        for k in range(6):
            dv[i, k] = g[i, k]
    add_wrench(contacts, e, dv)
    solve_factorised(len(dv), ordering, B, dv, y)
    relative_motion(contacts, dv, du)
    for c in range(contacts[1][-1]):
        for k in range(3):
            dp[c, k] = e[c, k] - (E[c, k, 0] * du[c, 0] + E[c, k, 1] * du[c, 1] + E[c, k, 2] * du[c, 2])


@kernel(f"void({PROBLEM}, {ORDERING}, {WORK})", borrows=True)
def factorise_modes(problem: Problem, ordering: Ordering, work: Work) -> None:
    """Put the factors of M + J^T E J into B."""
    n = len(problem[1])
    assemble(problem[0], work[1], problem[1], ordering[1], n + 2 * len(ordering[3]), work[0])
    factorise(n, ordering, work[0])


@kernel(
    f"Tuple((float64, int64, float64))({PROBLEM}, {ORDERING}, {WORK}, {A2}, {A2}, {A2}, {A2}, float64, float64, int64)"
)
def modes_newton(
    problem: Problem, ordering: Ordering, work: Work, p: Array, v: Array, u: Array, best: Array, tol: float,
    ready: float, limit: int,
) -> tuple[float, int, float]:  # fmt: skip
    """Improve p until E <= tol; the given p is taken as it is where its E <= ready.

    Once below tol, refinement goes on as long as it gains a factor of two, so that bodies at rest stand still
    to rounding. The factors are kept while no mode changes and nothing slips. Returns E, the number of factorisations,
    and the least residual to ask for; p is the best point met (`best` is work space), v and u belong to it.
    """
    n, mode = problem[0][1][-1], work[8]
    F, dv = work[6], work[5]
    for i in range(len(dv)):
        for k in range(6):
            dv[i, k] = 0.0
    for c in range(n):
        for k in range(3):
            best[c, k] = 0.0
        mode[c] = -1
    motion(problem, best, F, v, u)
    scale, floor = scale_and_floor(problem, p, u)
    goal = max(tol, floor)
    E, last, factors, fresh = np.inf, np.inf, 0, False
    zero = np.zeros_like(v)
    for it in range(limit + 1):
        motion(problem, p, F, v, u)
        now = residual(problem, scale, p, u)
        if not now < E and it > 0 and (goal >= E or not np.isfinite(now)):
            break
        if now < E:
            last, E = E, now
            for c in range(n):
                for k in range(3):
                    best[c, k] = p[c, k]
        if (it == 0 and ready >= E) or it == limit or (goal >= E and (it > 0 and 0.5 * last < E)) or E == 0.0:
            break
        changed = linearise_modes(n, problem[5], problem[6], ALPHA, p, u, work[1], work[2], mode)
        if goal >= E and changed > 0 and it > 0:
            break
        slips = False
        for c in range(n):
            slips = slips or mode[c] == SLIP
        if changed > 0 or slips or not fresh:
            factorise_modes(problem, ordering, work)
            factors, fresh = factors + 1, True
        newton_direction(problem, ordering, work, zero)
        for c in range(n):
            for k in range(3):
                p[c, k] += work[3][c, k]
    for c in range(n):
        for k in range(3):
            p[c, k] = best[c, k]
    motion(problem, p, F, v, u)
    return E, factors, floor
