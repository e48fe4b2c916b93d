"""Proximal point iteration around a semismooth Newton method with line search, for contacts between free bodies.

Slower and surer than Newton's method on the modes: it may start anywhere. The proximal term falls with E. Where its
Newton steps stall sweeps over the contacts go on from there, under a larger term. Where they stall again and again it
falls back by and by, and sweeps are kept only if they gain: where light bodies are wedged between heavy ones one size
of it serves for hundreds of steps. Source: Rockafellar (1976); De Luca, Facchinei, Kanzow (1996) for the line search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, kernel, record
from ...arrays import Array
from ...linalg.block_lu import Ordering
from .body_problem import BodyProblem, BodyWork
from .coulomb import linearise_modes
from .newton import factorise_modes, motion, newton_direction, residual, rounding_floor, scale_and_floor
from .one_by_one import gauss_seidel
from .structure import add_wrench, block_multiply, copy_rows, relative_motion

SHARE = 0.3  # of E: the proximal term, and the residual that is asked for with it
MOST, LEAST = 0.1, 1e-9  # of the local compliance: bounds of the proximal term
STALLS = 0.05  # step lengths below: the modes nearby are the wrong ones
GROWS, FALLS = 10.0, 0.5  # factors of the proximal term, beside E, where Newton's method stalled, and where it ended
FEW = 5  # stalls up to which the term goes with E at once, and sweeps are kept whatever they do
SWEEPS = 20  # they cost some two factorisations


@record(*[A2] * 5, A1, by_value=True)
class ProximalPoint(NamedTuple):
    """Where the iteration stands.

    Attributes
    ----------
    x, centre : Array, shape (c, 3)
        Impulses: those at hand, and those that the proximal term holds them to.
    v, u : Array, shape (n, 6) and (c, 3)
        The velocities that belong to x.
    shifted : Array, shape (c, 3)
        u + alpha / rho (x - centre): the velocity that the regularised problem sees.
    s : Array, shape (c,)
        Step sizes of its equations.
    """

    x: Array
    centre: Array
    v: Array
    u: Array
    shifted: Array
    s: Array


@kernel(f"float64(BodyProblem, {A1}, {A2}, {A2}, {A2}, {A2}, float64, float64)", borrows=True)
def merit(
    problem: BodyProblem, s: Array, x: Array, u: Array, dx: Array, du: Array, alpha: float, t: float
) -> float:  # fmt: skip
    """Return |x - P(x - s u)|^2 at x + t dx, where the velocity is u + t (du + alpha / s dx)."""
    total, mu = 0.0, problem.mu
    for c in range(problem.contacts.first[-1]):
        k = alpha / s[c]
        x0, x1, x2 = x[c, 0] + t * dx[c, 0], x[c, 1] + t * dx[c, 1], x[c, 2] + t * dx[c, 2]
        y0 = x0 - s[c] * (u[c, 0] + t * (du[c, 0] + k * dx[c, 0]))
        y0 = y0 if mu[c] < 0.0 else max(y0, 0.0)
        y1 = x1 - s[c] * (u[c, 1] + t * (du[c, 1] + k * dx[c, 1]))
        y2 = x2 - s[c] * (u[c, 2] + t * (du[c, 2] + k * dx[c, 2]))
        h, radius = np.sqrt(y1 * y1 + y2 * y2), max(mu[c], 0.0) * y0
        if h > radius:
            y1 *= radius / h
            y2 *= radius / h
        total += (x0 - y0) ** 2 + (x1 - y1) ** 2 + (x2 - y2) ** 2
    return total


@kernel(f"float64(BodyProblem, {A1}, {A2}, {A2}, {A2}, {A2}, float64)", borrows=True)
def step_length(problem: BodyProblem, s: Array, x: Array, u: Array, dx: Array, du: Array, alpha: float) -> float:
    """Return the step length in {1, 1/2, ...} that lowers the merit enough, else the best of them."""
    now = merit(problem, s, x, u, dx, du, alpha, 0.0)
    t, best_t, best = 1.0, 1.0, np.inf
    for _ in range(6):
        value = merit(problem, s, x, u, dx, du, alpha, t)
        if value < best:
            best_t, best = t, value
        if value <= (1.0 - 0.1 * t) * now:
            break
        t *= 0.5
    return best_t


@kernel(f"void(BodyProblem, ProximalPoint, float64, {A2})", borrows=True)
def shifted_motion(problem: BodyProblem, point: ProximalPoint, alpha: float, F: Array) -> None:
    """Put u at x, and shifted; F is work space."""
    x, centre, v, u, shifted, _s = point
    motion(problem, x, F, v, u)
    rho = problem.rho
    for c in range(problem.contacts.first[-1]):
        for k in range(3):
            shifted[c, k] = u[c, k] + alpha / rho[c] * (x[c, k] - centre[c, k])


@kernel("int64(BodyProblem, Ordering, BodyWork, ProximalPoint, float64, float64, float64, int64)")
def regularised_newton(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, point: ProximalPoint, alpha: float, scale: float,
    goal: float, limit: int,
) -> int:  # fmt: skip
    """Solve the problem with the proximal term alpha at `centre`, from x; return the number of factorisations."""
    x, _centre, v, _u, shifted, s = point
    mu, rho, inverse, n = problem.mu, problem.rho, problem.inverse, problem.contacts.first[-1]
    dp, du, dv, F = work.dp, work.du, work.dv, work.F
    g, zero = 1.0 / np.sqrt(min(alpha, 1.0)), np.zeros_like(v)
    for c in range(n):
        s[c] = rho[c] * g
    shifted_motion(problem, point, alpha, F)
    for it in range(limit):
        size = residual(problem, scale, x, shifted)
        if size <= goal or not np.isfinite(size):
            return it
        linearise_modes(n, mu, s, alpha * g, x, shifted, work, True)
        factorise_modes(problem, ordering, work)
        newton_direction(problem, ordering, work, zero)
        for i in range(len(dv)):
            for k in range(6):
                dv[i, k] = 0.0
        add_wrench(problem.contacts, dp, dv)  # du = W dp exactly as the impulses will be felt
        block_multiply(inverse, dv, F)
        relative_motion(problem.contacts, F, du)
        t = step_length(problem, s, x, shifted, dp, du, alpha * g)
        if t < STALLS:
            return it + 1
        for c in range(n):
            for k in range(3):
                x[c, k] += t * dp[c, k]
        shifted_motion(problem, point, alpha, F)
    return limit


@kernel(
    f"Tuple((float64, int64, float64))(BodyProblem, Ordering, BodyWork, {A2}, {A2}, {A2}, float64, int64)", rare=True
)
def proximal_point(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, p: Array, v: Array, u: Array, tol: float, limit: int
) -> tuple[float, int, float]:
    """Improve p until E <= tol or `limit` factorisations.

    Returns E, the number of factorisations, and the least residual to ask for; v and u belong to p.
    """
    n, F = problem.contacts.first[-1], work.F
    x, centre, shifted, s = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p), np.zeros(len(p))
    point = ProximalPoint(x, centre, v, u, shifted, s)
    motion(problem, x, F, v, u)
    scale, floor = scale_and_floor(problem, p, u)
    goal, more = max(tol, floor), 1.0
    copy_rows(n, p, centre)
    motion(problem, centre, F, v, u)
    now = residual(problem, scale, centre, u)
    best, used, stalls = now, 0, 0
    while best > goal and used < limit and np.isfinite(now):
        alpha = min(max(more * SHARE * now, LEAST), MOST * more)
        wanted = SHARE * max(min(now, 1.0), goal)
        copy_rows(n, centre, x)
        used += max(1, regularised_newton(problem, ordering, work, point, alpha, scale, wanted, 15))
        found = residual(problem, scale, x, u)
        stalled = not residual(problem, scale, x, shifted) <= wanted
        if found < now or not stalled:
            copy_rows(n, x, centre)
            now = found
        if stalled:
            stalls += 1
            more = max(more, LEAST / (SHARE * now)) * GROWS
            copy_rows(n, centre, x)
            motion(problem, x, F, v, u)
            gauss_seidel(problem, x, v, SWEEPS)
            motion(problem, x, F, v, u)
            found = residual(problem, scale, x, u)
            if found < now or stalls <= FEW:
                copy_rows(n, x, centre)
                now = found
        else:
            more = max(FALLS * more, 1.0) if stalls > FEW else 1.0
        if now < best:
            copy_rows(n, centre, p)
            best = now
    motion(problem, p, F, v, u)
    return best, used, rounding_floor(problem, scale, p)
