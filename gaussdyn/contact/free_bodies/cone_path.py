"""Points inside the cones of contacts between free bodies, directions from them towards Coulomb's law, and steps.

    r = (mu p_N, p_T),   g = (u_N / mu + |u_T|, u_T),   r o g = tau (1, 0, 0)

r and g lie in the Lorentz cone; with tau = 0 the law is Coulomb's (De Saxce). For a given |u_T| it is that of a convex
program; what makes it more is how |u_T| changes with the motion: `follows` is the share of that in a direction. g is
followed by itself and meets the motion at the end.

Directions are those of Nesterov and Todd: with the W of each contact for which W g = W^-1 r = l, they change
(W^-1 r) o (W g), so that contacts near the border of their cone hardly hinder the others.

Contacts yield a little to a step, by YIELDS / rho times the change of their impulse: what a stiff contact takes up
would else carry more rounding than the momentum that is left to balance. Source of that: Friedlander, Orban (2012), A
primal-dual regularized interior-point method for convex quadratic programs.

Sources: De Saxce, Feng (1998); Nesterov, Todd (1997), Self-scaled barriers and interior-point methods; Acary, Armand,
Nguyen, Shpakovych (2023), Second-order cone programming for frictional contact mechanics using interior point
algorithm.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, kernel, record
from ...arrays import Array

YIELDS = 1e-8  # of the local compliance: steps lose as much, and find it again in what they have to mend next
LEAST_MU = 1e-3  # the cones of smoother contacts are taken this wide: what follows corrects it
TINY = 1e-300  # stands for the determinant of what lies on the border by rounding


@record(A2, A2, A2, by_value=True)
class Point(NamedTuple):
    """A point inside the cones of c contacts.

    Attributes
    ----------
    r, g : Array, shape (c, 3)
        Impulses, N s, and velocities, m/s, both in the Lorentz cone.
    x : Array, shape (n, 6)
        The velocity of the bodies that is followed, m/s and rad/s.
    """

    r: Array
    g: Array
    x: Array


@record(A2, A2, A2, by_value=True)
class Direction(NamedTuple):
    """How a point changes: dr, dg, dx as r, g, x."""

    dr: Array
    dg: Array
    dx: Array


@record(A2, A2, by_value=True)
class Misfit(NamedTuple):
    """What a point lacks of the motion.

    Attributes
    ----------
    G : Array, shape (c, 3)
        (u_N / mu + |u_T|, u_T) - g, m/s.
    slide : Array, shape (c, 2)
        The direction u_T / |u_T|.
    """

    G: Array
    slide: Array


@record(A2, A2, A3, by_value=True)
class Frame(NamedTuple):
    """What all directions from a point share, contact by contact.

    Attributes
    ----------
    W : Array, shape (c, 4)
        `scaling` of r and g.
    l : Array, shape (c, 3)
        W g = W^-1 r.
    yields : Array, shape (c, 3, 4)
        What `let_yield` multiplies by: the cofactors of its matrix, and the inverse of its determinant in [0, 3].
    """

    W: Array
    l: Array
    yields: Array


@kernel(f"float64({A2}, {A2}, int64)", borrows=True)
def room(x: Array, d: Array, i: int) -> float:
    """Return the largest t with x + t d in the Lorentz cone of contact i."""
    a = d[i, 0] * d[i, 0] - d[i, 1] * d[i, 1] - d[i, 2] * d[i, 2]
    h = x[i, 0] * d[i, 0] - x[i, 1] * d[i, 1] - x[i, 2] * d[i, 2]
    c = max(x[i, 0] * x[i, 0] - x[i, 1] * x[i, 1] - x[i, 2] * x[i, 2], 0.0)
    t, below = np.inf, h * h - a * c
    if below >= 0.0:
        root = math.sqrt(below)
        if h < 0.0:
            t = c / (root - h)
        elif a < 0.0:
            t = (-h - root) / a
    t = t if t > 0.0 else np.inf
    return min(t, -x[i, 0] / d[i, 0]) if d[i, 0] < 0.0 else t


@kernel("float64(int64, Point, Direction)", borrows=True)
def longest_step(n: int, point: Point, to: Direction) -> float:
    """Return the largest t for which r and g stay in their cones."""
    low = np.inf
    for i in range(n):
        low = min(low, room(point.r, to.dr, i), room(point.g, to.dg, i))
    return low


@kernel("UniTuple(float64, 3)(float64, float64, float64, float64, float64, float64)", borrows=True)
def arrow_solve(x: float, y: float, z: float, a: float, b: float, c: float) -> tuple[float, float, float]:
    """Solve [[x, y, z], [y, x, 0], [z, 0, x]] s = (a, b, c)."""
    s = (x * a - y * b - z * c) / (x * x - y * y - z * z)
    return s, (b - y * s) / x, (c - z * s) / x


@kernel(f"UniTuple(float64, 4)({A2}, {A2}, int64)", borrows=True)
def scaling(r: Array, g: Array, i: int) -> tuple[float, float, float, float]:
    """Return (a, w) with W = a [[w_0, w_T'], [w_T, 1 + w_T w_T' / (1 + w_0)]], W^2 = a^2 (2 w w' - diag(1, -1, -1))."""
    p = math.sqrt(max(r[i, 0] ** 2 - r[i, 1] ** 2 - r[i, 2] ** 2, TINY))
    q = math.sqrt(max(g[i, 0] ** 2 - g[i, 1] ** 2 - g[i, 2] ** 2, TINY))
    x, y, z = r[i, 0] / p + g[i, 0] / q, r[i, 1] / p - g[i, 1] / q, r[i, 2] / p - g[i, 2] / q
    size = 2.0 + 2.0 * (r[i, 0] * g[i, 0] + r[i, 1] * g[i, 1] + r[i, 2] * g[i, 2]) / (p * q)
    s = 1.0 / math.sqrt(max(size, TINY))
    return math.sqrt(p / q), s * x, s * y, s * z


@kernel("UniTuple(float64, 3)(float64, float64, float64, float64, float64, float64, float64)", borrows=True)
def scaled(a: float, w: float, y: float, z: float, p: float, q: float, s: float) -> tuple[float, float, float]:
    """Return W (p, q, s) with W of a, (w, y, z); W^-1 is that of 1 / a, (w, -y, -z)."""
    along = y * q + z * s
    more = p + along / (1.0 + w)
    return a * (w * p + along), a * (q + y * more), a * (s + z * more)


@kernel(f"void(int64, {A1}, {A3}, {A3})", borrows=True)
def let_yield(n: int, rho: Array, E: Array, yields: Array) -> None:
    """Turn E of dp = e - E du with du = J dv + YIELDS / rho dp into that of dp = e - E J dv, contact by contact."""
    for i in range(n):
        d = YIELDS / rho[i]
        a, b, c = 1.0 + d * E[i, 0, 0], d * E[i, 0, 1], d * E[i, 0, 2]
        f, g, h = d * E[i, 1, 0], 1.0 + d * E[i, 1, 1], d * E[i, 1, 2]
        p, q, s = d * E[i, 2, 0], d * E[i, 2, 1], 1.0 + d * E[i, 2, 2]
        A, B, C = g * s - h * q, c * q - b * s, b * h - c * g
        D, F, G = h * p - f * s, a * s - c * p, c * f - a * h
        P, Q, S = f * q - g * p, b * p - a * q, a * g - b * f
        t = 1.0 / (a * A + b * D + c * P)
        for j in range(3):
            x, y, z = E[i, 0, j], E[i, 1, j], E[i, 2, j]
            E[i, 0, j], E[i, 1, j], E[i, 2, j] = (
                t * (A * x + B * y + C * z), t * (D * x + F * y + G * z), t * (P * x + Q * y + S * z)
            )  # fmt: skip
        yields[i, 0, 0], yields[i, 0, 1], yields[i, 0, 2], yields[i, 0, 3] = A, B, C, t
        yields[i, 1, 0], yields[i, 1, 1], yields[i, 1, 2] = D, F, G
        yields[i, 2, 0], yields[i, 2, 1], yields[i, 2, 2] = P, Q, S


@kernel("UniTuple(float64, 6)(float64, float64, float64, float64)", inline=True, borrows=True)
def squared(a: float, w: float, y: float, z: float) -> tuple[float, float, float, float, float, float]:
    """Return the upper triangle of W^2, row by row, for W of a, (w, y, z)."""
    b = a * a
    q00, q01, q02 = b * (2.0 * w * w - 1.0), 2.0 * b * w * y, 2.0 * b * w * z
    return q00, q01, q02, b * (2.0 * y * y + 1.0), 2.0 * b * y * z, b * (2.0 * z * z + 1.0)


@kernel(f"void(int64, {A1}, Frame, Misfit, float64, {A3})", borrows=True)
def linearise_cones(n: int, mu: Array, frame: Frame, lacks: Misfit, follows: float, E: Array) -> None:
    """Put the E to which the cone variables of a step are eliminated: dp = e - E du, du = J dv."""
    W, slide = frame.W, lacks.slide
    for i in range(n):
        m = max(mu[i], LEAST_MU)
        q00, q01, q02, q11, q12, q22 = squared(W[i, 0], W[i, 1], W[i, 2], W[i, 3])
        c, d = follows * slide[i, 0], follows * slide[i, 1]
        E[i, 0, 0], E[i, 0, 1], E[i, 0, 2] = q00 / (m * m), (q01 + c * q00) / m, (q02 + d * q00) / m
        E[i, 1, 0], E[i, 1, 1], E[i, 1, 2] = q01 / m, q11 + c * q01, q12 + d * q01
        E[i, 2, 0], E[i, 2, 1], E[i, 2, 2] = q02 / m, q12 + c * q02, q22 + d * q02


@kernel(f"void(int64, {A1}, Frame, {A2}, {A2}, {A2})", borrows=True)
def put_constants(n: int, mu: Array, frame: Frame, G: Array, rc: Array, e: Array) -> None:
    """Put the e that belongs to E after `let_yield`, with l o l to change by rc."""
    W, l, Y = frame
    for i in range(n):
        a, w, y, z = W[i, 0], W[i, 1], W[i, 2], W[i, 3]
        t0, t1, t2 = arrow_solve(l[i, 0], l[i, 1], l[i, 2], rc[i, 0], rc[i, 1], rc[i, 2])
        t0, t1, t2 = scaled(a, w, y, z, t0, t1, t2)
        q00, q01, q02, q11, q12, q22 = squared(a, w, y, z)
        t0 = (t0 - q00 * G[i, 0] - q01 * G[i, 1] - q02 * G[i, 2]) / max(mu[i], LEAST_MU)
        t1 = t1 - q01 * G[i, 0] - q11 * G[i, 1] - q12 * G[i, 2]
        t2 = t2 - q02 * G[i, 0] - q12 * G[i, 1] - q22 * G[i, 2]
        for k in range(3):
            e[i, k] = Y[i, 0, 3] * (Y[i, k, 0] * t0 + Y[i, k, 1] * t1 + Y[i, k, 2] * t2)


@kernel(f"void(int64, {A1}, Misfit, float64, {A2}, {A2}, {A2}, Direction)", borrows=True)
def put_direction(
    n: int, mu: Array, lacks: Misfit, follows: float, du: Array, dp: Array, dv: Array, to: Direction
) -> None:  # fmt: skip
    """Put the direction of the point that belongs to dv, du and dp."""
    dr, dg, dx = to
    G, slide = lacks
    for i in range(n):
        m = max(mu[i], LEAST_MU)
        along = slide[i, 0] * du[i, 1] + slide[i, 1] * du[i, 2]
        dg[i, 0] = du[i, 0] / m + follows * along + G[i, 0]
        dg[i, 1], dg[i, 2] = du[i, 1] + G[i, 1], du[i, 2] + G[i, 2]
        dr[i, 0], dr[i, 1], dr[i, 2] = m * dp[i, 0], dp[i, 1], dp[i, 2]
    for i in range(len(dx)):
        for j in range(6):
            dx[i, j] = dv[i, j]


@kernel("float64(int64, Point, Direction, float64)", borrows=True)
def gap_after(n: int, point: Point, to: Direction, t: float) -> float:
    """Return the mean of r . g after a step of length t."""
    r, g, (dr, dg, _dx), total = point.r, point.g, to, 0.0
    for i in range(n):
        for j in range(3):
            total += (r[i, j] + t * dr[i, j]) * (g[i, j] + t * dg[i, j])
    return total / n


@kernel("void(int64, Point, Direction, float64)", borrows=True)
def go(n: int, point: Point, to: Direction, t: float) -> None:
    """Take a step of length t."""
    (r, g, x), (dr, dg, dx) = point, to
    for i in range(n):
        for j in range(3):
            r[i, j] += t * dr[i, j]
            g[i, j] += t * dg[i, j]
    for i in range(len(x)):
        for j in range(6):
            x[i, j] += t * dx[i, j]


@kernel("void(int64, Point, Direction, float64)", borrows=True)
def go_each(n: int, point: Point, to: Direction, share: float) -> None:
    """Take the whole step, but with every contact no farther than its share of the way to the border of its cone."""
    (r, g, x), (dr, dg, dx) = point, to
    for i in range(n):
        s, t = min(1.0, share * room(r, dr, i)), min(1.0, share * room(g, dg, i))
        for j in range(3):
            r[i, j] += s * dr[i, j]
            g[i, j] += t * dg[i, j]
    for i in range(len(x)):
        for j in range(6):
            x[i, j] += dx[i, j]


@kernel(f"float64(int64, Point, Frame, {A2})", borrows=True)
def products(n: int, point: Point, frame: Frame, rc: Array) -> float:
    """Put W and l of the point, and rc = -l o l; return the mean of r . g."""
    r, g, W, l, gap = point.r, point.g, frame.W, frame.l, 0.0
    for i in range(n):
        a, w, y, z = scaling(r, g, i)
        l0, l1, l2 = scaled(a, w, y, z, g[i, 0], g[i, 1], g[i, 2])
        W[i, 0], W[i, 1], W[i, 2], W[i, 3] = a, w, y, z
        l[i, 0], l[i, 1], l[i, 2] = l0, l1, l2
        rc[i, 0], rc[i, 1], rc[i, 2] = -(l0 * l0 + l1 * l1 + l2 * l2), -2.0 * l0 * l1, -2.0 * l0 * l2
        gap -= rc[i, 0] / n
    return gap


@kernel(f"void(int64, Frame, Direction, {A2})", borrows=True)
def second_order(n: int, frame: Frame, to: Direction, rc: Array) -> None:
    """Take (W^-1 dr) o (W dg) from rc: what the step itself would add to the products."""
    W, (dr, dg, _dx) = frame.W, to
    for i in range(n):
        a, w, y, z = W[i, 0], W[i, 1], W[i, 2], W[i, 3]
        b0, b1, b2 = scaled(1.0 / a, w, -y, -z, dr[i, 0], dr[i, 1], dr[i, 2])
        c0, c1, c2 = scaled(a, w, y, z, dg[i, 0], dg[i, 1], dg[i, 2])
        rc[i, 0] -= b0 * c0 + b1 * c1 + b2 * c2
        rc[i, 1] -= b0 * c1 + c0 * b1
        rc[i, 2] -= b0 * c2 + c0 * b2
