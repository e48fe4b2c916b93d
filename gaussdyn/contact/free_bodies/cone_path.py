"""The central path of contacts between free bodies: points inside the cones, directions from them, and steps.

    r = (mu p_N, p_T),   g = (y + s, u_T),   y = u_N / mu,   s = |(u_T, k y)|,   r o g = tau (1, 0, 0)

r and g lie in the Lorentz cone, y > 0. As tau falls to zero so does y where a contact pushes, s becomes |u_T|, and the
law is Coulomb's. k rounds the kink of |u_T| off where a contact sticks; paths of different k differ.

Contacts yield a little to a step, by YIELDS / rho times the change of their impulse: what a stiff contact takes up
would else carry more rounding than the momentum that is left to balance. Source of that: Friedlander, Orban (2012), A
primal-dual regularized interior-point method for convex quadratic programs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, kernel, record
from ...arrays import Array

YIELDS = 1e-8  # of the local compliance: steps lose as much, and find it again in what they have to mend next
LEAST_MU = 1e-3  # the cones of smoother contacts are taken this wide: what follows corrects it


@record(A2, A2, A1, "float64", by_value=True)
class Point(NamedTuple):
    """A point inside the cones of c contacts.

    Attributes
    ----------
    r, g : Array, shape (c, 3)
        Impulses, N s, and velocities, m/s, both in the Lorentz cone.
    y : Array, shape (c,)
        u_N / mu, m/s.
    k : float
        How far the kink of |u_T| is rounded off.
    """

    r: Array
    g: Array
    y: Array
    k: float


@record(A2, A2, A1, A2, by_value=True)
class Direction(NamedTuple):
    """How a point changes.

    Attributes
    ----------
    dr, dg : Array, shape (c, 3)
    dy : Array, shape (c,)
    dx : Array, shape (n, 6)
        Change of the velocity that is followed, m/s and rad/s.
    """

    dr: Array
    dg: Array
    dy: Array
    dx: Array


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


@kernel("float64(int64, Point, Direction)", borrows=True)
def longest_step(n: int, point: Point, to: Direction) -> float:
    """Return the largest t for which r stays in its cones and no contact approaches: then g stays in them, too."""
    low = room(n, point.r, to.dr)
    for i in range(n):
        if to.dy[i] < 0.0:
            low = min(low, -point.y[i] / to.dy[i])
    return low


@kernel("UniTuple(float64, 3)(float64, float64, float64, float64, float64, float64)", borrows=True)
def arrow_solve(x: float, y: float, z: float, a: float, b: float, c: float) -> tuple[float, float, float]:
    """Solve [[x, y, z], [y, x, 0], [z, 0, x]] s = (a, b, c)."""
    s = (x * a - y * b - z * c) / (x * x - y * y - z * z)
    return s, (b - y * s) / x, (c - z * s) / x


@kernel(f"void(int64, {A1}, {A3}, {A2})", borrows=True)
def let_yield(n: int, rho: Array, E: Array, e: Array) -> None:
    """Turn dp = e - E du with du = J dv + YIELDS / rho dp into dp = e - E J dv, contact by contact."""
    for i in range(n):
        d = YIELDS / rho[i]
        a, b, c = 1.0 + d * E[i, 0, 0], d * E[i, 0, 1], d * E[i, 0, 2]
        f, g, h = d * E[i, 1, 0], 1.0 + d * E[i, 1, 1], d * E[i, 1, 2]
        p, q, s = d * E[i, 2, 0], d * E[i, 2, 1], 1.0 + d * E[i, 2, 2]
        A, B, C = g * s - h * q, c * q - b * s, b * h - c * g
        D, F, G = h * p - f * s, a * s - c * p, c * f - a * h
        P, Q, S = f * q - g * p, b * p - a * q, a * g - b * f
        t = 1.0 / (a * A + b * D + c * P)
        x, y, z = e[i, 0], e[i, 1], e[i, 2]
        e[i, 0], e[i, 1], e[i, 2] = (
            t * (A * x + B * y + C * z), t * (D * x + F * y + G * z), t * (P * x + Q * y + S * z)
        )  # fmt: skip
        for j in range(3):
            x, y, z = E[i, 0, j], E[i, 1, j], E[i, 2, j]
            E[i, 0, j], E[i, 1, j], E[i, 2, j] = (
                t * (A * x + B * y + C * z), t * (D * x + F * y + G * z), t * (P * x + Q * y + S * z)
            )  # fmt: skip


@kernel(f"void(int64, {A1}, Point, {A2}, {A2}, {A3}, {A2})", borrows=True)
def linearise_cones(n: int, mu: Array, point: Point, G: Array, rc: Array, E: Array, e: Array) -> None:
    """Eliminate the cone variables of a step to dp = e - E du, du = J dv, with r o g to change by rc.

    G (c, 3) is what y and g_T lack of the velocity that is followed.
    """
    all_r, all_g, all_y, k = point
    for i in range(n):
        m = max(mu[i], LEAST_MU)
        g0, g1, g2 = all_g[i, 0], all_g[i, 1], all_g[i, 2]
        r0, r1, r2 = all_r[i, 0], all_r[i, 1], all_r[i, 2]
        s = g0 - all_y[i]
        l1, l2, f = g1 / s, g2 / s, 1.0 + k * k * all_y[i] / s
        k0 = f * G[i, 0] + l1 * G[i, 1] + l2 * G[i, 2]
        z0 = rc[i, 0] - (r0 * k0 + r1 * G[i, 1] + r2 * G[i, 2])
        z1, z2 = rc[i, 1] - (r1 * k0 + r0 * G[i, 1]), rc[i, 2] - (r2 * k0 + r0 * G[i, 2])
        z0, z1, z2 = arrow_solve(g0, g1, g2, z0, z1, z2)
        e[i, 0], e[i, 1], e[i, 2] = z0 / m, z1, z2
        a0, a1, a2 = arrow_solve(g0, g1, g2, r0, r1, r2)
        E[i, 0, 0], E[i, 1, 0], E[i, 2, 0] = f * a0 / (m * m), f * a1 / m, f * a2 / m
        a0, a1, a2 = arrow_solve(g0, g1, g2, r1 + r0 * l1, r0 + r1 * l1, r2 * l1)
        E[i, 0, 1], E[i, 1, 1], E[i, 2, 1] = a0 / m, a1, a2
        a0, a1, a2 = arrow_solve(g0, g1, g2, r2 + r0 * l2, r1 * l2, r0 + r2 * l2)
        E[i, 0, 2], E[i, 1, 2], E[i, 2, 2] = a0 / m, a1, a2


@kernel(f"void(int64, {A1}, Point, {A2}, {A2}, {A2}, {A2}, Direction)", borrows=True)
def put_direction(
    n: int, mu: Array, point: Point, G: Array, du: Array, dp: Array, dv: Array, to: Direction
) -> None:  # fmt: skip
    """Put the direction of the point that belongs to dv, du and dp."""
    dr, dg, dy, dx = to
    k = point.k
    for i in range(n):
        m, s = max(mu[i], LEAST_MU), point.g[i, 0] - point.y[i]
        l1, l2, f = point.g[i, 1] / s, point.g[i, 2] / s, 1.0 + k * k * point.y[i] / s
        dy[i] = du[i, 0] / m + G[i, 0]
        dg[i, 1], dg[i, 2] = du[i, 1] + G[i, 1], du[i, 2] + G[i, 2]
        dg[i, 0] = f * dy[i] + l1 * dg[i, 1] + l2 * dg[i, 2]
        dr[i, 0], dr[i, 1], dr[i, 2] = m * dp[i, 0], dp[i, 1], dp[i, 2]
    for i in range(len(dx)):
        for j in range(6):
            dx[i, j] = dv[i, j]


@kernel("float64(int64, Point, Direction, float64)", borrows=True)
def gap_after(n: int, point: Point, to: Direction, t: float) -> float:
    """Return the mean of r . g after a step of length t."""
    r, g, y, k = point
    dr, dg, dy, _dx = to
    total = 0.0
    for i in range(n):
        a, b, c = g[i, 1] + t * dg[i, 1], g[i, 2] + t * dg[i, 2], y[i] + t * dy[i]
        first = c + np.sqrt(a * a + b * b + k * k * c * c)
        total += first * (r[i, 0] + t * dr[i, 0]) + a * (r[i, 1] + t * dr[i, 1]) + b * (r[i, 2] + t * dr[i, 2])
    return total / n


@kernel(f"void(int64, Point, {A2}, Direction, float64)", borrows=True)
def go(n: int, point: Point, x: Array, to: Direction, t: float) -> None:
    """Take a step of length t; x is the velocity that is followed."""
    r, g, y, k = point
    dr, dg, dy, dx = to
    for i in range(n):
        for j in range(3):
            r[i, j] += t * dr[i, j]
        y[i] += t * dy[i]
        g[i, 1] += t * dg[i, 1]
        g[i, 2] += t * dg[i, 2]
        g[i, 0] = y[i] + np.sqrt(g[i, 1] * g[i, 1] + g[i, 2] * g[i, 2] + k * k * y[i] * y[i])
    for i in range(len(x)):
        for j in range(6):
            x[i, j] += t * dx[i, j]


@kernel(f"UniTuple(float64, 2)(int64, Point, {A2})", borrows=True)
def products(n: int, point: Point, rc: Array) -> tuple[float, float]:
    """Put rc = -r o g; return the mean of r . g, and how far the worst contact is from it, relative."""
    r, g = point.r, point.g
    gap = far = 0.0
    for i in range(n):
        rc[i, 0] = -(g[i, 0] * r[i, 0] + g[i, 1] * r[i, 1] + g[i, 2] * r[i, 2])
        rc[i, 1] = -(g[i, 0] * r[i, 1] + r[i, 0] * g[i, 1])
        rc[i, 2] = -(g[i, 0] * r[i, 2] + r[i, 0] * g[i, 2])
        gap -= rc[i, 0] / n
    for i in range(n):
        far = max(far, (rc[i, 0] + gap) ** 2 + rc[i, 1] ** 2 + rc[i, 2] ** 2)
    return gap, np.sqrt(far) / gap


@kernel("void(int64, Direction, float64, Direction)", borrows=True)
def combine(n: int, to: Direction, tau: float, along: Direction) -> None:
    """Put to += tau along."""
    for i in range(n):
        to.dy[i] += tau * along.dy[i]
        for j in range(3):
            to.dr[i, j] += tau * along.dr[i, j]
            to.dg[i, j] += tau * along.dg[i, j]
    for i in range(len(to.dx)):
        for j in range(6):
            to.dx[i, j] += tau * along.dx[i, j]


@kernel("UniTuple(float64, 4)(int64, Point, Direction, Direction, float64)", borrows=True)
def relative_lengths(n: int, point: Point, to: Direction, along: Direction, gap: float) -> tuple[float, ...]:
    """Return |along|^2, along . (to + gap along), and the largest |along|^2 and |to|^2 of one contact.

    Changes of r and g are counted relative to r_0 and g_0.
    """
    length = product = most = most_to = 0.0
    for i in range(n):
        s, q = 1.0 / point.r[i, 0] ** 2, 1.0 / point.g[i, 0] ** 2
        one = two = 0.0
        for j in range(3):
            a, b = along.dr[i, j], along.dg[i, j]
            c, d = to.dr[i, j], to.dg[i, j]
            one += s * a * a + q * b * b
            two += s * c * c + q * d * d
            product += s * a * (c + gap * a) + q * b * (d + gap * b)
        length, most, most_to = length + one, max(most, one), max(most_to, two)
    return length, product, most, most_to
