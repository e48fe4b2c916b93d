"""Contacts whose modes are held while impulses and velocities move along a smooth curve, and where they leave them.

x = p - rho u holds both: where a contact is open p = 0, where it sticks p = x, and where it slips p_N = x_N and
p_T = mu x_N x_T / |x_T|. The law says that x belongs to the modes; held, they go on smoothly beyond. What slips is
moved in its direction and length: nearly sticking contacts have |rho u_T| far below |x_T|, and a straight step along
which x_T turns by an angle a would change it by a^2 |x_T| / 2. Source: Alart, Curnier (1991) for x.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, I1, kernel, record
from ...arrays import Array, IntArray
from .body_problem import BodyProblem, BodyWork
from .coulomb import OPEN, SLIP, STICK
from .newton import motion

TURN = 0.3  # by how much a direction of slip may turn in a step, rad
CLEAN = 0.3  # of the angle within which a contact that comes to stick may turn on the way there ...
NEARER = 0.6  # ... else so much of the way is taken
SAME = 1e-6  # of a step: a border that near is the one that was just passed


@record("float64", "int64", "boolean", by_value=True)
class Border(NamedTuple):
    """Where a contact leaves its mode.

    Attributes
    ----------
    way : float
        How far it is, in steps.
    contact : int
        Which contact, -1 for none.
    opens : bool
        Whether x_N = 0 there, else |x_T| = mu x_N.
    """

    way: float
    contact: int
    opens: bool


@kernel(f"void(int64, {A1}, {A2}, {I1})", borrows=True)
def modes_at(n: int, mu: Array, x: Array, mode: IntArray) -> None:
    """Put the modes that the law says for x; contacts without friction slip."""
    for c in range(n):
        mode[c] = OPEN
        if x[c, 0] > 0.0:
            mode[c] = STICK if mu[c] > 0.0 and math.hypot(x[c, 1], x[c, 2]) <= mu[c] * x[c, 0] else SLIP


@kernel(f"void(int64, {A1}, {A2}, {I1}, {A2})", borrows=True)
def impulses_of(n: int, mu: Array, x: Array, mode: IntArray, p: Array) -> None:
    """Put the impulses that belong to x in these modes."""
    for c in range(n):
        if mode[c] == OPEN:
            p[c, 0] = p[c, 1] = p[c, 2] = 0.0
            continue
        t = math.hypot(x[c, 1], x[c, 2])
        f = 1.0 if mode[c] == STICK else mu[c] * x[c, 0] / max(t, 1e-300)
        p[c, 0], p[c, 1], p[c, 2] = x[c, 0], f * x[c, 1], f * x[c, 2]


@kernel(f"void(BodyProblem, BodyWork, {A2}, {I1}, float64)", borrows=True)
def linearise_frozen(problem: BodyProblem, work: BodyWork, x: Array, mode: IntArray, alpha: float) -> None:
    """Put E: dp = E (r - du) where u + alpha / rho (p - centre) - (p - x) / rho is to change by r."""
    E, mu, rho = work.E, problem.mu, problem.rho
    for c in range(problem.contacts.first[-1]):
        for i in range(3):
            for j in range(3):
                E[c, i, j] = 0.0
        k = rho[c] / alpha
        if mode[c] == OPEN:
            continue
        E[c, 0, 0] = k
        if mode[c] == STICK:
            E[c, 1, 1], E[c, 2, 2] = k, k
        elif mu[c] > 0.0:
            t = max(math.hypot(x[c, 1], x[c, 2]), 1e-300)
            y, z, g = x[c, 1] / t, x[c, 2] / t, mu[c] * x[c, 0] / t
            f = rho[c] * g / max(1.0 - g * (1.0 - alpha), alpha)
            E[c, 1, 0], E[c, 2, 0] = mu[c] * y * k, mu[c] * z * k
            E[c, 1, 1], E[c, 1, 2] = f * z * z, -f * y * z
            E[c, 2, 1], E[c, 2, 2] = -f * y * z, f * y * y


@kernel(f"void(BodyProblem, BodyWork, {A2}, {I1}, float64, {A2}, {A2}, {A2})", borrows=True)
def misfit(
    problem: BodyProblem, work: BodyWork, x: Array, mode: IntArray, alpha: float, centre: Array, p: Array, off: Array
) -> None:  # fmt: skip
    """Put p that belongs to x, and off = u + alpha / rho (p - centre) - (p - x) / rho, with u of p."""
    n, rho = problem.contacts.first[-1], problem.rho
    impulses_of(n, problem.mu, x, mode, p)
    motion(problem, p, work.F, work.dv, off)
    for c in range(n):
        for k in range(3):
            off[c, k] += (alpha * (p[c, k] - centre[c, k]) - p[c, k] + x[c, k]) / rho[c]


@kernel(f"void(int64, {A2}, {A2}, float64, {I1})", borrows=True)
def move(n: int, x: Array, d: Array, h: float, mode: IntArray) -> None:
    """Put x += h d; what slips turns, and grows by what d has along it."""
    for c in range(n):
        x[c, 0] += h * d[c, 0]
        y, z = x[c, 1], x[c, 2]
        t = math.hypot(y, z)
        if mode[c] != SLIP or t == 0.0:
            x[c, 1], x[c, 2] = y + h * d[c, 1], z + h * d[c, 2]
            continue
        y, z = y / t, z / t
        r, a = t + h * (d[c, 1] * y + d[c, 2] * z), h * (d[c, 2] * y - d[c, 1] * z) / t
        cosine, sine = math.cos(a), math.sin(a)
        x[c, 1], x[c, 2] = r * (y * cosine - z * sine), r * (z * cosine + y * sine)


@kernel(f"float64(float64, {A2}, {A2}, int64)", inline=True, borrows=True)
def way_to_slip(mu: float, x: Array, d: Array, c: int) -> float:
    """Return how far along d a contact that sticks slips: the root of |x_T|^2 = (mu x_N)^2, back where it is beyond."""
    A = d[c, 1] * d[c, 1] + d[c, 2] * d[c, 2] - mu * mu * d[c, 0] * d[c, 0]
    B = x[c, 1] * d[c, 1] + x[c, 2] * d[c, 2] - mu * mu * x[c, 0] * d[c, 0]
    C = x[c, 1] * x[c, 1] + x[c, 2] * x[c, 2] - mu * mu * x[c, 0] * x[c, 0]
    if C >= 0.0:
        return -0.5 * C / B if B > 0.0 else np.inf
    D = B * B - A * C
    if D < 0.0:
        return np.inf
    S = B + math.copysign(math.sqrt(D), B)
    first, second = -C / S if S != 0.0 else np.inf, -S / A if A != 0.0 else np.inf
    return float(min(first if first > 0.0 else np.inf, second if second > 0.0 else np.inf))


@kernel(f"Tuple((float64, float64))(float64, {A2}, {A2}, int64)", inline=True, borrows=True)
def way_to_stick(mu: float, x: Array, d: Array, c: int) -> tuple[float, float]:
    """Return how far along d a contact that slips sticks, and how far it may go before: it must not turn on the way.

    Just before it sticks its velocity may point anywhere: its direction turns the faster the smaller it is.
    """
    t = max(math.hypot(x[c, 1], x[c, 2]), 1e-300)
    turn = abs(x[c, 1] * d[c, 2] - x[c, 2] * d[c, 1]) / (t * t)
    most = TURN / turn if turn > 0.0 else np.inf
    rate = mu * d[c, 0] - (x[c, 1] * d[c, 1] + x[c, 2] * d[c, 2]) / t
    if mu <= 0.0 or rate <= 0.0:
        return np.inf, most
    way = (t - mu * x[c, 0]) / rate
    share = min(max(mu * x[c, 0] / t, 0.0), 1.0)
    if way > 0.0 and turn * way > CLEAN * math.sqrt(2.0 * (1.0 - share)) + 1e-7:
        most = min(most, NEARER * way)
    return way, most


@kernel(f"Tuple((Border, float64))(BodyProblem, {A2}, {A2}, {I1}, Border, float64)", borrows=True)
def first_border(
    problem: BodyProblem, x: Array, d: Array, mode: IntArray, passed: Border, back: float
) -> tuple[Border, float]:  # fmt: skip
    """Return the first border along d, at most `back` behind, and how far directions of slip allow to go.

    The border that was just passed does not count.
    """
    mu, most = problem.mu, np.inf
    way, contact, opens = np.inf, -1, False
    for c in range(problem.contacts.first[-1]):
        normal, slip = np.inf, np.inf
        if d[c, 0] != 0.0 and (mode[c] == OPEN) == (d[c, 0] > 0.0):
            normal = -x[c, 0] / d[c, 0]
        if mode[c] == STICK:
            slip = way_to_slip(mu[c], x, d, c)
        elif mode[c] == SLIP:
            slip, allowed = way_to_stick(mu[c], x, d, c)
            most = min(most, allowed)
        if c == passed.contact and passed.opens and abs(normal) < SAME:
            normal = np.inf
        if c == passed.contact and not passed.opens and abs(slip) < SAME:
            slip = np.inf
        if -back <= normal < way:
            way, contact, opens = normal, c, True
        if -back <= slip < way:
            way, contact, opens = slip, c, False
    return Border(way, contact, opens), most


@kernel(f"Tuple((float64, float64, float64))({A1}, {A2}, {A2}, {A2}, Border)", inline=True, borrows=True)
def at_border(mu: Array, x: Array, c: Array, d: Array, border: Border) -> tuple[float, float, float]:
    """Return how far x is beyond a border, and how fast c and d cross it."""
    k = border.contact
    if border.opens:
        return x[k, 0], c[k, 0], d[k, 0]
    t = max(math.hypot(x[k, 1], x[k, 2]), 1e-300)
    y, z, m = x[k, 1] / t, x[k, 2] / t, mu[k]
    return t - m * x[k, 0], y * c[k, 1] + z * c[k, 2] - m * c[k, 0], y * d[k, 1] + z * d[k, 2] - m * d[k, 0]


@kernel(f"void({A1}, {A2}, {I1}, Border)", inline=True, borrows=True)
def pass_border(mu: Array, x: Array, mode: IntArray, border: Border) -> None:
    """Change the mode of the contact whose border is passed."""
    k = border.contact
    if not border.opens:
        mode[k] = STICK if mode[k] == SLIP else SLIP
    elif mode[k] == OPEN:
        mode[k] = SLIP if mu[k] <= 0.0 or x[k, 1] != 0.0 or x[k, 2] != 0.0 else STICK
    else:
        mode[k] = OPEN
