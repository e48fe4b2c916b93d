"""A nonsmooth interior point method for contacts between free bodies: a start for Newton's method from afar.

Predictor and corrector after Mehrotra along the central path. Coulomb's law is not monotone, so that the path may turn
back: tau grows again before it falls to zero. Where it hardly falls, the path is followed by its own length, as one
follows a curve of equilibria through a fold; the sign of the determinant says which way is on.

Sources: Acary, Armand, Nguyen, Shpakovych (2023), Second-order cone programming for frictional contact mechanics using
interior point algorithm; Allgower, Georg (1990), Numerical continuation methods.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, kernel, record
from ...arrays import Array
from ...linalg.block_lu import Ordering, orientation
from .body_problem import BodyProblem, BodyWork
from .cone_path import (
    LEAST_MU,
    YIELDS,
    Direction,
    Point,
    combine,
    gap_after,
    go,
    let_yield,
    linearise_cones,
    longest_step,
    products,
    put_direction,
    relative_lengths,
)
from .newton import factorise_modes, motion, newton_direction, residual, scale_and_floor
from .structure import block_multiply, copy_rows, relative_motion

SLOW = 0.85  # centring above, twice: the path may turn
FIRST, SHORTEST, LONGEST = 0.3, 0.02, 0.6  # steps along the path: change of the contact that changes most, relative
BOLDER, SHORTER = 1.7, 0.6  # factors of that
NEAR, OFF, ASTRAY = 0.6, 1.5, 4.0  # from the path, relative to tau: good, bearable, too far for longer steps
STEEP = 0.2  # of the largest relative change: tau falls so fast that it may be the parameter again
WHOLE = 0.8  # step lengths from here on were nearly full ones
LEAST_TAU = 0.05  # of the last
FARTHEST = 0.7  # relative change of one contact in a step along the path
BOLD, SHY = 0.09, 0.9  # of the way to the border: SHY + t BOLD until a path turns; nearer to it the turn is far away
PACE, PACE_TURNS, BENT, SIDE, STEP, TURNED = range(6)  # entries of `Place.pace`


@record("Point", A2, A1, by_value=True)
class Place(NamedTuple):
    """Where one stands on a path.

    Attributes
    ----------
    point : Point
    x : Array, shape (n, 6)
        The velocity that is followed, m/s and rad/s.
    pace : Array, shape (6,)
        PACE: slow steps; PACE_TURNS: turns; BENT: whether it is followed by its length; SIDE: on which side tau lies;
        STEP: how far to go along it; TURNED: whether it was ever followed by its length.
    """

    point: Point
    x: Array
    pace: Array


@kernel(f"void(BodyProblem, Point, {A2}, {A2}, {A2}, {A2}, float64, float64)", borrows=True)
def place_inside(
    problem: BodyProblem, point: Point, p: Array, v: Array, u: Array, x: Array, scale: float, warm: float
) -> None:  # fmt: skip
    """Begin near p, where v and u belong to p, or with warm = 0 far inside all cones, where u is that without impulses.

    warm is the distance from the borders, relative to the mean impulse that the motion without impulses asks for.
    """
    mu, rho, n = problem.mu, problem.rho, problem.contacts.first[-1]
    r, g, y, k = point
    speed = push = 0.0
    for i in range(n):
        speed += u[i, 0] ** 2 + u[i, 1] ** 2 + u[i, 2] ** 2
        push += rho[i] / n
    speed, mean = np.sqrt(speed), scale / np.sqrt(n)
    for i in range(n):
        r[i, 0], r[i, 1], r[i, 2] = speed * push, 0.0, 0.0
        y[i], g[i, 1], g[i, 2] = speed, 0.0, 0.0
        if warm > 0.0:
            m = max(mu[i], LEAST_MU)
            r[i, 1], r[i, 2] = p[i, 1], p[i, 2]
            r[i, 0] = max(m * p[i, 0], np.sqrt(p[i, 1] ** 2 + p[i, 2] ** 2)) + warm * mean
            y[i], g[i, 1], g[i, 2] = max(u[i, 0] / m, 0.0) + warm * mean / rho[i], u[i, 1], u[i, 2]
        g[i, 0] = y[i] + np.sqrt(g[i, 1] ** 2 + g[i, 2] ** 2 + k * k * y[i] * y[i])
    for i in range(len(x)):
        for j in range(6):
            x[i, j] = v[i, j] if warm > 0.0 else 0.0


@kernel(f"void(BodyProblem, Point, {A2}, {A2}, {A2}, {A2}, {A2})", borrows=True)
def put_misfit(
    problem: BodyProblem, point: Point, x: Array, F: Array, u: Array, first: Array, G: Array
) -> None:  # fmt: skip
    """Put what the momentum lacks at the velocity x, first = F - M x, and what y and g_T lack of J x + w."""
    mu, w = problem.mu, problem.w
    block_multiply(problem.M, x, first)
    for i in range(len(F)):
        for j in range(6):
            first[i, j] = F[i, j] - first[i, j]
    relative_motion(problem.contacts, x, u)
    for i in range(problem.contacts.first[-1]):
        G[i, 0] = (u[i, 0] + w[i, 0]) / max(mu[i], LEAST_MU) - point.y[i]
        G[i, 1], G[i, 2] = u[i, 1] + w[i, 1] - point.g[i, 1], u[i, 2] + w[i, 2] - point.g[i, 2]


@kernel(f"void(BodyProblem, Ordering, BodyWork, Point, {A2}, {A2}, {A2}, Direction, boolean)", borrows=True)
def find_direction(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, point: Point, G: Array, rc: Array, first: Array,
    to: Direction, anew: bool,
) -> None:  # fmt: skip
    """Put the Newton direction by which r o g changes by rc; factors are kept unless anew."""
    n, mu, rho, dp, du = problem.contacts.first[-1], problem.mu, problem.rho, work.dp, work.du
    linearise_cones(n, mu, point, G, rc, work.E, work.e)
    let_yield(n, rho, work.E, work.e)
    if anew:
        factorise_modes(problem, ordering, work)
    newton_direction(problem, ordering, work, first)
    for i in range(n):
        for j in range(3):
            du[i, j] += YIELDS / rho[i] * dp[i, j]
    put_direction(n, mu, point, G, du, dp, work.dv, to)


@kernel(f"void(int64, {A2}, Direction, float64, boolean)", borrows=True)
def aim(n: int, rc: Array, to: Direction, tau: float, second: bool) -> None:
    """Change what r o g lacks to that of the path at tau, with the terms of second order of the direction."""
    dr, dg = to.dr, to.dg
    for i in range(n):
        rc[i, 0] += tau
        if second:
            rc[i, 0] -= dg[i, 0] * dr[i, 0] + dg[i, 1] * dr[i, 1] + dg[i, 2] * dr[i, 2]
            for j in range(1, 3):
                rc[i, j] -= dg[i, 0] * dr[i, j] + dr[i, 0] * dg[i, j]


@kernel("UniTuple(float64, 3)(int64, Point, Direction, Direction, float64, float64, float64)", borrows=True)
def follow(
    n: int, point: Point, to: Direction, along: Direction, gap: float, side: float, step: float
) -> tuple[float, float, float]:  # fmt: skip
    """Put the step along the path in `to`, which was that to tau = 0; `along` is the change with tau.

    Back to the path at right angles, and on by `step`, with tau on one side. Returns the length to go, how fast tau
    changes, relative to the contact that changes most, and the tau that is aimed at.
    """
    length, product, most, _most_to = relative_lengths(n, point, to, along, gap)
    length += n / (gap * gap)
    most = np.sqrt(most + 1.0 / (gap * gap))
    tau = max(gap - product / length + side * step / most, LEAST_TAU * gap)
    combine(n, to, tau, along)
    _length, _product, _most, most_to = relative_lengths(n, point, to, along, 0.0)
    t = min(1.0, 0.9 * longest_step(n, point, to), FARTHEST / max(np.sqrt(most_to), 1e-300))
    return t, 1.0 / (gap * most), tau


@kernel("float64(float64, float64, float64)", borrows=True)
def next_step(step: float, t: float, off: float) -> float:
    """Return how far to go along the path next."""
    if t > WHOLE and off < OFF:
        return min(BOLDER * step, LONGEST)
    return max(SHORTER * step, SHORTEST) if t < 0.5 or off > ASTRAY else step


@kernel(f"Place(BodyProblem, BodyWork, {A2}, {A2}, {A2}, float64, float64)")
def begin_path(
    problem: BodyProblem, work: BodyWork, p: Array, v: Array, u: Array, warm: float, k: float
) -> Place:  # fmt: skip
    """Return where a path begins: near p, or with warm = 0 far inside; k as in `cone_path`."""
    F, q, x = work.F, np.zeros_like(p), np.zeros_like(v)
    point = Point(np.zeros_like(p), np.zeros_like(p), np.zeros(len(p)), k)
    motion(problem, q, F, v, u)
    scale, _floor = scale_and_floor(problem, q, u)
    if warm > 0.0:
        motion(problem, p, F, v, u)
    place_inside(problem, point, p, v, u, x, scale, warm)
    pace = np.array([0.0, 0.0, 0.0, -1.0, FIRST, 0.0])
    return Place(point, x, pace)


@kernel(f"void(int64, {A1}, Point, {A2})", borrows=True)
def put_impulses(n: int, mu: Array, point: Point, q: Array) -> None:
    """Put the impulses of a point."""
    r = point.r
    for i in range(n):
        q[i, 0], q[i, 1], q[i, 2] = r[i, 0] / max(mu[i], LEAST_MU), r[i, 1], r[i, 2]


@kernel(
    f"Tuple((float64, int64))(BodyProblem, Ordering, BodyWork, Place, {A2}, {A2}, {A2}, float64, int64, float64)",
)
def follow_path(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, place: Place, p: Array, v: Array, u: Array, tol: float,
    limit: int, turns: float,
) -> tuple[float, int]:  # fmt: skip
    """Follow a path on from `place` to E <= tol; p becomes the best point met. A path that turns more often is left.

    Returns E and the number of iterations, each with one factorisation.
    """
    mu, n, F, (point, x, pace) = problem.mu, problem.contacts.first[-1], work.F, place
    q, rc, G, none = np.zeros_like(p), np.zeros_like(p), np.zeros_like(p), np.zeros_like(p)
    first, zero = np.zeros_like(v), np.zeros_like(v)
    to = Direction(np.zeros_like(p), np.zeros_like(p), np.zeros(len(p)), np.zeros_like(v))
    along = Direction(np.zeros_like(p), np.zeros_like(p), np.zeros(len(p)), np.zeros_like(v))
    motion(problem, q, F, v, u)
    scale, _floor = scale_and_floor(problem, q, u)
    best, it, centring = np.inf, 0, 0.0
    for it in range(limit + 1):
        put_impulses(n, mu, point, q)
        motion(problem, q, F, v, u)
        E = residual(problem, scale, q, u)
        if best > E:
            best = E
            copy_rows(n, q, p)
        if best <= tol or it == limit or pace[PACE_TURNS] > turns or not np.isfinite(E):
            break
        gap, off = products(n, point, rc)
        put_misfit(problem, point, x, F, u, first, G)
        find_direction(problem, ordering, work, point, G, rc, first, to, True)
        before, pace[SIDE] = pace[SIDE], -orientation(len(v), work.B)
        t = min(1.0, longest_step(n, point, to))
        if pace[BENT] == 0.0:
            centring = 0.998 * min(1.0, max(gap_after(n, point, to, t), 0.0) / gap) ** max(1.0, 3.0 * t * t)
            pace[PACE] = pace[PACE] + 1.0 if centring > SLOW else 0.0
            pace[BENT], pace[STEP] = 1.0 if pace[PACE] >= 2.0 or pace[SIDE] > 0.0 else 0.0, FIRST
        if pace[BENT] > 0.0:
            pace[PACE_TURNS] += pace[SIDE] != before
            pace[TURNED] = 1.0
            for i in range(n):
                rc[i, 0], rc[i, 1], rc[i, 2] = 1.0, 0.0, 0.0
            find_direction(problem, ordering, work, point, none, rc, zero, along, False)
            t, steep, _tau = follow(n, point, to, along, gap, pace[SIDE], pace[STEP])
            pace[STEP] = next_step(pace[STEP], t, off)
            if pace[SIDE] < 0.0 and off < NEAR and steep > STEEP and t > WHOLE:
                pace[BENT], pace[PACE] = 0.0, 0.0
        else:
            aim(n, rc, to, centring * gap, centring < 0.5)
            find_direction(problem, ordering, work, point, G, rc, first, to, False)
            bold = BOLD * t if pace[TURNED] == 0.0 else 0.0
            t = min(1.0, (SHY + bold) * longest_step(n, point, to))
        go(n, point, x, to, t)
        if t < 1e-12:
            pace[PACE_TURNS] = np.inf
            break
    return best, it
