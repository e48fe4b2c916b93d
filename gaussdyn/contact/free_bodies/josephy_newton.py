"""Newton's method with the normal complementarity kept (Josephy), for few contacts: all of an island, or some of it.

Friction is linearised at the modes as in `newton`, but whether a contact pushes or opens is left to a linear
complementarity problem of all normal impulses x,

    x >= 0,    u_N = W x + q >= 0,    x . u_N = 0,    p_T = mu x d - G u_T where a contact slips along d,

that Lemke's method solves. Newton's method on the modes changes those of all contacts by what they look like at its
last point: where more contacts push than the motion has freedoms, and their rates disagree by the rounding of their
normals, it exchanges loads among them without an end. Here they are exchanged until the right ones open, in one step.

In larger islands this is done for those pairs of bodies where nearly all of E is left in the end: faces that slide on
each other, with normals that differ by 1e-5 rad or less. W has eigenvalues there that are the squares of such angles;
proximal points would have to go on until their term is as small. All other contacts follow with their modes.
Source: Josephy (1979), Newton's method for generalized equations; Lemke (1965).
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import A1, A2, I1, kernel
from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering
from ...programs.blocks.lemke.pivoting import SOLVED, lemke
from .body_problem import BodyProblem, BodyWork, Iterate
from .coulomb import linearise_modes, natural_length
from .newton import COARSE, factorise_modes, motion, newton_direction, residual, rounding_floor, without_impulses
from .proximal import proximal_point
from .structure import copy_rows

STIFF = 1e5  # times rho: how little the tangents of contacts that stick yield
PIVOTS = 5  # times the contacts
PATIENCE = 3  # steps without a better point
SHARE, FEW, AFTER = 0.05, 40, 15  # of the square of what is off; contacts at most; factorisations after each step


@kernel(f"void(BodyProblem, {A2}, {A2}, BodyWork, {I1}, {A2})", borrows=True)
def linearise_friction(
    problem: BodyProblem, p: Array, u: Array, work: BodyWork, few: IntArray, slope: Array
) -> None:  # fmt: skip
    """Put E of a few contacts, and e of their tangents without normal impulses: dp = e - E du.

    slope (c, 2): how tangential impulses go with the normal one, mu d where a contact slips, or would if it pushed.
    """
    E, e, mu, rho = work.E, work.e, problem.mu, problem.rho
    for c in few:
        s, m = rho[c], mu[c]
        for i in range(3):
            e[c, i] = 0.0
            for j in range(3):
                E[c, i, j] = 0.0
        slope[c, 0] = slope[c, 1] = 0.0
        if m <= 0.0:
            continue
        x, y, z = p[c, 0] - s * u[c, 0], p[c, 1] - s * u[c, 1], p[c, 2] - s * u[c, 2]
        t = math.hypot(y, z)
        if x > 0.0 and t <= m * x:
            E[c, 1, 1] = E[c, 2, 2] = STIFF * s
            e[c, 1], e[c, 2] = -STIFF * s * u[c, 1], -STIFF * s * u[c, 2]
            continue
        f = 0.0
        if x > 0.0:
            f = m * x / t
            f *= s / max(1.0 - f, 1.0 / STIFF)
        else:
            y, z = -u[c, 1], -u[c, 2]
            t = math.hypot(y, z)
        y, z = (y / t, z / t) if t > 0.0 else (1.0, 0.0)
        slope[c, 0], slope[c, 1] = m * y, m * z
        E[c, 1, 1], E[c, 1, 2], E[c, 2, 1], E[c, 2, 2] = f * z * z, -f * y * z, -f * y * z, f * y * y
        across = f * (y * u[c, 2] - z * u[c, 1])
        e[c, 1], e[c, 2] = z * across - p[c, 1], -y * across - p[c, 2]


@kernel(f"boolean({A2}, {A1}, {A1}, {A1})")
def complementary(W: Array, q: Array, rho: Array, x: Array) -> bool:
    """Put x >= 0 with W x + q >= 0 and x . (W x + q) = 0; return whether it was found."""
    n = len(q)
    T, basis, ray, z = np.zeros((n, 2 * n + 2)), np.arange(n), np.zeros(n), np.zeros(n)
    size = np.sqrt(rho)
    for i in range(n):
        T[i, i], T[i, 2 * n], T[i, 2 * n + 1] = 1.0, -1.0, size[i] * q[i]
        for j in range(n):
            T[i, n + j] = -size[i] * W[i, j] * size[j]
    status, _pivots = lemke(T, basis, np.ones(n), PIVOTS * n, z, ray)
    for i in range(n):
        x[i] = size[i] * max(z[i], 0.0)
    return bool(status == SOLVED)


@kernel(f"boolean(BodyProblem, Ordering, BodyWork, {A2}, {A2}, {I1}, {A2}, {A2})")
def josephy_step(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, p: Array, u: Array, few: IntArray, slope: Array, W: Array
) -> bool:  # fmt: skip
    """Take a step to p from where the motion is u; return whether there was one.

    The normals of these few contacts are pivoted, the others keep their modes. slope (c, 2) and W (few, few) are work
    space.
    """
    n, m, e, du, dp, zero = problem.contacts.first[-1], len(few), work.e, work.du, work.dp, work.F
    x, q, known = np.zeros(m), np.zeros(m), np.zeros((n, 3))
    if m < n:
        linearise_modes(n, problem.mu, problem.rho, COARSE, p, u, work, True)
    linearise_friction(problem, p, u, work, few, slope)
    for i in range(len(zero)):
        for k in range(6):
            zero[i, k] = 0.0
    factorise_modes(problem, ordering, work)
    for c in few:
        e[c, 0] = -p[c, 0]
    copy_rows(n, e, known)
    newton_direction(problem, ordering, work, zero)
    for j in range(m):
        q[j] = u[few[j], 0] + du[few[j], 0]
    for c in range(n):
        e[c, 0] = e[c, 1] = e[c, 2] = 0.0
    for j in range(m):
        c = few[j]
        e[c, 0], e[c, 1], e[c, 2] = 1.0, slope[c, 0], slope[c, 1]
        newton_direction(problem, ordering, work, zero)
        e[c, 0] = e[c, 1] = e[c, 2] = 0.0
        for i in range(m):
            W[i, j] = du[few[i], 0]
    if not complementary(W, q, problem.rho[few], x):
        return False
    copy_rows(n, known, e)
    for j in range(m):
        c = few[j]
        e[c, 0] = x[j] - p[c, 0]
        e[c, 1], e[c, 2] = known[c, 1] + slope[c, 0] * x[j], known[c, 2] + slope[c, 1] * x[j]
    newton_direction(problem, ordering, work, zero)
    for c in range(n):
        for k in range(3):
            p[c, k] += dp[c, k]
    return True


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64)")
def josephy_newton(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, limit: int
) -> tuple[float, float, int]:  # fmt: skip
    """Take such steps from p, whatever they do to E; p becomes the best point met.

    No more than `limit`. No gap may be held (mu < 0). Returns E, its floor and the number of factorisations.
    """
    p, u, best, _start, v = iterate
    n, E, waited, factors, goes = problem.contacts.first[-1], np.inf, 0, 0, True
    few, slope, W = np.arange(n), np.zeros((n, 2)), np.zeros((n, n))
    scale, floor = without_impulses(problem, work, p, v, u, best)
    while True:
        motion(problem, p, work.F, v, u)
        now = residual(problem, scale, p, u)
        waited += 1
        if now < E:
            E, waited = now, 0
            copy_rows(n, p, best)
            floor = rounding_floor(problem, scale, p)
        if max(tol, floor) >= E or waited == PATIENCE or factors == limit or not np.isfinite(now) or not goes:
            break
        goes = josephy_step(problem, ordering, work, p, u, few, slope, W)
        factors += 1
    copy_rows(n, best, p)
    motion(problem, p, work.F, v, u)
    return E, floor, factors


@kernel(f"{I1}(BodyProblem, {A2}, {A2})")
def where_off(problem: BodyProblem, p: Array, u: Array) -> IntArray:
    """Return the contacts of those bodies whose contacts with each other are off by more than SHARE of all.

    Two bodies may touch as a pair and as the same in the other order.
    """
    (pair, first, _slot, _R, _ra, _rb), mu, rho = problem.contacts, problem.mu, problem.rho
    number, total, count = len(first) - 1, 0.0, 0
    off, part = np.zeros(number), np.zeros(first[-1], np.bool_)
    for k in range(number):
        a, b = first[k], first[k + 1]
        off[k] = natural_length(b - a, mu[a:b], rho[a:b], p[a:b], u[a:b]) ** 2
        total += off[k]
    for k in range(number):
        if off[k] <= SHARE * total:
            continue
        for j in range(number):
            same = pair[j, 0] == pair[k, 0] and pair[j, 1] == pair[k, 1]
            if same or (pair[j, 0] == pair[k, 1] and pair[j, 1] == pair[k, 0]):
                part[first[j] : first[j + 1]] = True
    few = np.zeros(np.sum(part), np.int64)
    for c in range(first[-1]):
        if part[c]:
            few[count] = c
            count += 1
    return few


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64)", rare=True)
def pivot_pairs(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, limit: int
) -> tuple[float, float, int]:  # fmt: skip
    """Pivot the normals of pairs where p is off, and let proximal points follow, up to `limit` factorisations.

    p becomes the best point met. Returns E, its floor and the number of factorisations.
    """
    p, u, best, _start, v = iterate
    n, kept, factors, waited = problem.contacts.first[-1], p.copy(), 0, 0
    slope, W = np.zeros((n, 2)), np.zeros((FEW, FEW))
    scale, floor = without_impulses(problem, work, p, v, u, best)
    motion(problem, p, work.F, v, u)
    E = residual(problem, scale, p, u)
    while not max(tol, floor) >= E and factors < limit and waited < PATIENCE:
        few = where_off(problem, p, u)
        if len(few) > FEW or not josephy_step(problem, ordering, work, p, u, few, slope, W):
            break
        now, used, floor = proximal_point(problem, ordering, work, p, v, u, tol, AFTER)
        factors, waited = factors + 1 + used, waited + 1
        if now < E:
            E, waited = now, 0
            copy_rows(n, p, kept)
    copy_rows(n, kept, p)
    motion(problem, p, work.F, v, u)
    return E, floor, factors
