"""A nonsmooth interior point method for contacts between free bodies: a start for Newton's method from nowhere.

Exact Coulomb; predictor and corrector after Mehrotra in the scaled variables r = (mu p_N, p_T), g = (u_N / mu + s,
u_T), both in the Lorentz cone, with s = |g_T| in every iterate: then g is inside where u_N > 0, and no error of s,
which has a kink, is left to spoil what r o g says. Source: Acary, Armand, Nguyen, Shpakovych (2023), Second-order cone
programming for frictional contact mechanics using interior point algorithm.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...arrays import Array
from ...linalg.block_lu import ORDERING, Ordering
from .newton import PROBLEM, WORK, Problem, Work, factorise_modes, motion, newton_direction, residual, scale_and_floor
from .structure import A1, A2, A3, block_multiply, copy_rows, relative_motion

LEAST_MU = 1e-3  # the cones of smoother contacts are taken this wide: what follows corrects it


@kernel(f"float64(int64, {A2}, {A2})", borrows=True)
def room(n: int, x: Array, d: Array) -> float:
    """Return the largest t with x + t d in all Lorentz cones."""
    low = np.inf
    for i in range(n):
        a = d[i, 0] * d[i, 0] - d[i, 1] * d[i, 1] - d[i, 2] * d[i, 2]
        h = x[i, 0] * d[i, 0] - x[i, 1] * d[i, 1] - x[i, 2] * d[i, 2]
        c = max(x[i, 0] * x[i, 0] - x[i, 1] * x[i, 1] - x[i, 2] * x[i, 2], 0.0)
        t, below = np.inf, h * h - a * c
        if below >= 0.0:
            root = np.sqrt(below)
            if h < 0.0:
                t = c / (root - h)
            elif a < 0.0:
                t = (-h - root) / a
        low = min(low, t if t > 0.0 else np.inf)
        if d[i, 0] < 0.0:
            low = min(low, -x[i, 0] / d[i, 0])
    return low


@kernel("UniTuple(float64, 3)(float64, float64, float64, float64, float64, float64)", borrows=True)
def arrow_solve(x: float, y: float, z: float, a: float, b: float, c: float) -> tuple[float, float, float]:
    """Solve [[x, y, z], [y, x, 0], [z, 0, x]] s = (a, b, c)."""
    s = (x * a - y * b - z * c) / (x * x - y * y - z * z)
    return s, (b - y * s) / x, (c - z * s) / x


@kernel(f"void(int64, {A1}, {A2}, {A2}, {A1}, {A2}, {A2}, {A3}, {A2})", borrows=True)
def linearise_cones(
    n: int, mu: Array, g: Array, r: Array, s: Array, G: Array, rc: Array, E: Array, e: Array
) -> None:  # fmt: skip
    """Eliminate the cone variables of a step to dp = e - E J dv."""
    for i in range(n):
        m = max(mu[i], LEAST_MU)
        g0, g1, g2 = g[i, 0], g[i, 1], g[i, 2]
        r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
        t = np.sqrt(g1 * g1 + g2 * g2)
        l1, l2 = (g1 / t, g2 / t) if t > 0.0 else (0.0, 0.0)
        k0 = G[i, 0] - (s[i] - t) + l1 * G[i, 1] + l2 * G[i, 2]
        z0 = rc[i, 0] - (r0 * k0 + r1 * G[i, 1] + r2 * G[i, 2])
        z1, z2 = rc[i, 1] - (r1 * k0 + r0 * G[i, 1]), rc[i, 2] - (r2 * k0 + r0 * G[i, 2])
        z0, z1, z2 = arrow_solve(g0, g1, g2, z0, z1, z2)
        e[i, 0], e[i, 1], e[i, 2] = z0 / m, z1, z2
        a0, a1, a2 = arrow_solve(g0, g1, g2, r0, r1, r2)
        E[i, 0, 0], E[i, 1, 0], E[i, 2, 0] = a0 / (m * m), a1 / m, a2 / m
        a0, a1, a2 = arrow_solve(g0, g1, g2, r1 + r0 * l1, r0 + r1 * l1, r2 * l1)
        E[i, 0, 1], E[i, 1, 1], E[i, 2, 1] = a0 / m, a1, a2
        a0, a1, a2 = arrow_solve(g0, g1, g2, r2 + r0 * l2, r1 * l2, r0 + r2 * l2)
        E[i, 0, 2], E[i, 1, 2], E[i, 2, 2] = a0 / m, a1, a2


@kernel(f"void(int64, {A1}, {A2}, {A1}, {A2}, {A2}, {A2}, {A2}, {A2}, {A1})", borrows=True)
def cone_directions(
    n: int, mu: Array, g: Array, s: Array, G: Array, du: Array, dp: Array, dg: Array, dr: Array, ds: Array
) -> None:
    """Put the directions of g, r and s that belong to du = J dv and dp."""
    for i in range(n):
        m = max(mu[i], LEAST_MU)
        t = np.sqrt(g[i, 1] * g[i, 1] + g[i, 2] * g[i, 2])
        l1, l2 = (g[i, 1] / t, g[i, 2] / t) if t > 0.0 else (0.0, 0.0)
        dg[i, 1], dg[i, 2] = du[i, 1] + G[i, 1], du[i, 2] + G[i, 2]
        ds[i] = l1 * dg[i, 1] + l2 * dg[i, 2] - (s[i] - t)
        dg[i, 0] = du[i, 0] / m + G[i, 0] + ds[i]
        dr[i, 0], dr[i, 1], dr[i, 2] = m * dp[i, 0], dp[i, 1], dp[i, 2]


@kernel(f"float64(int64, {A2}, {A1}, {A2}, {A1})", borrows=True)
def room_apart(n: int, g: Array, s: Array, dg: Array, ds: Array) -> float:
    """Return the largest t with g_0 - s + t (dg_0 - ds) >= 0: no contact approaches."""
    low = np.inf
    for i in range(n):
        d = dg[i, 0] - ds[i]
        if d < 0.0:
            low = min(low, -(g[i, 0] - s[i]) / d)
    return low


@kernel(f"float64(int64, {A2}, {A1}, {A2}, {A2}, {A2}, {A1}, float64)", borrows=True)
def gap_after(n: int, g: Array, s: Array, r: Array, dg: Array, dr: Array, ds: Array, t: float) -> float:
    """Return the mean of r . g after a step of length t."""
    total = 0.0
    for i in range(n):
        a, b = g[i, 1] + t * dg[i, 1], g[i, 2] + t * dg[i, 2]
        first = g[i, 0] - s[i] + t * (dg[i, 0] - ds[i]) + np.sqrt(a * a + b * b)
        total += first * (r[i, 0] + t * dr[i, 0]) + a * (r[i, 1] + t * dr[i, 1]) + b * (r[i, 2] + t * dr[i, 2])
    return total / n


@kernel(f"void(int64, {A2}, {A1}, {A2}, {A2}, {A2}, {A1}, float64)", borrows=True)
def go(n: int, g: Array, s: Array, r: Array, dg: Array, dr: Array, ds: Array, t: float) -> None:
    """Take a step of length t, with s = |g_T| at its end."""
    for i in range(n):
        apart = g[i, 0] - s[i] + t * (dg[i, 0] - ds[i])
        for k in range(3):
            r[i, k] += t * dr[i, k]
        g[i, 1] += t * dg[i, 1]
        g[i, 2] += t * dg[i, 2]
        s[i] = np.sqrt(g[i, 1] * g[i, 1] + g[i, 2] * g[i, 2])
        g[i, 0] = apart + s[i]


@kernel(f"Tuple((float64, int64))({PROBLEM}, {ORDERING}, {WORK}, {A2}, {A2}, {A2}, float64, int64)")
def interior_point(
    problem: Problem, ordering: Ordering, work: Work, p: Array, v: Array, u: Array, tol: float, limit: int
) -> tuple[float, int]:
    """Solve from nothing to E <= tol; p becomes the best point met. Returns E and the number of iterations."""
    contacts, M, _inverse, _h, w, mu, rho = problem
    dp, du, dv, F = work[3], work[4], work[5], work[6]
    n = contacts[1][-1]
    q, first, x = np.zeros_like(p), np.zeros_like(v), np.zeros_like(v)
    motion(problem, q, F, v, u)
    scale, _floor = scale_and_floor(problem, q, u)
    speed, push = 1e-300, 0.0
    for i in range(n):
        speed += u[i, 0] ** 2 + u[i, 1] ** 2 + u[i, 2] ** 2
        push += rho[i]
    speed = np.sqrt(speed)
    r, g, s = np.zeros_like(p), np.zeros_like(p), np.zeros(len(p))
    dr, dg, ds, rc, G = np.zeros_like(p), np.zeros_like(p), np.zeros(len(p)), np.zeros_like(p), np.zeros_like(p)
    for i in range(n):
        r[i, 0], g[i, 0] = speed * push / n, speed
    best, it = np.inf, 0
    for it in range(limit + 1):
        for i in range(n):
            q[i, 0], q[i, 1], q[i, 2] = r[i, 0] / max(mu[i], LEAST_MU), r[i, 1], r[i, 2]
        motion(problem, q, F, v, u)
        E = residual(problem, scale, q, u)
        if best > E:
            best = E
            copy_rows(n, q, p)
        if best <= tol or it == limit or not np.isfinite(E):
            break
        block_multiply(M, x, first)
        for i in range(len(F)):
            for k in range(6):
                first[i, k] = F[i, k] - first[i, k]
        relative_motion(contacts, x, u)
        gap = 0.0
        for i in range(n):
            G[i, 0] = (u[i, 0] + w[i, 0]) / max(mu[i], LEAST_MU) + s[i] - g[i, 0]
            for k in range(1, 3):
                G[i, k] = u[i, k] + w[i, k] - g[i, k]
                rc[i, k] = -(g[i, 0] * r[i, k] + r[i, 0] * g[i, k])
            rc[i, 0] = -(g[i, 0] * r[i, 0] + g[i, 1] * r[i, 1] + g[i, 2] * r[i, 2])
            gap -= rc[i, 0] / n
        linearise_cones(n, mu, g, r, s, G, rc, work[1], work[2])
        factorise_modes(problem, ordering, work)
        newton_direction(problem, ordering, work, first)
        cone_directions(n, mu, g, s, G, du, dp, dg, dr, ds)
        t = min(1.0, min(room(n, r, dr), room_apart(n, g, s, dg, ds)))
        after = max(gap_after(n, g, s, r, dg, dr, ds, t), 0.0)
        centring = 0.998 * min(1.0, after / gap) ** max(1.0, 3.0 * t * t)
        for i in range(n):
            rc[i, 0] += centring * gap
            if centring < 0.5:
                rc[i, 0] -= dg[i, 0] * dr[i, 0] + dg[i, 1] * dr[i, 1] + dg[i, 2] * dr[i, 2]
                for k in range(1, 3):
                    rc[i, k] -= dg[i, 0] * dr[i, k] + dr[i, 0] * dg[i, k]
        linearise_cones(n, mu, g, r, s, G, rc, work[1], work[2])
        newton_direction(problem, ordering, work, first)
        cone_directions(n, mu, g, s, G, du, dp, dg, dr, ds)
        t = min(1.0, (0.9 + 0.09 * min(1.0, t)) * min(room(n, r, dr), room_apart(n, g, s, dg, ds)))
        go(n, g, s, r, dg, dr, ds, t)
        for i in range(len(x)):
            for k in range(6):
                x[i, k] += t * dv[i, k]
        if t < 1e-12:
            break
    return best, it
