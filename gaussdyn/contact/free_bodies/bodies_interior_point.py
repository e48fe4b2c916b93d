"""A nonsmooth interior point method for contacts between free bodies: a start for Newton's method from afar.

Predictor and corrector after Mehrotra. Coulomb's law is not monotone, so that the path of centres may turn back. Where
steps become short or hardly lower r . g, directions follow the sliding velocity only in part: with none of it they are
those of a convex program, whose path never turns. What is not followed is found again in the next step as a misfit, and
r . g falls no faster than that.

Sources: as `cone_path`; Mehrotra (1992), On the implementation of a primal-dual interior point method.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, kernel, record
from ...arrays import Array
from ...linalg.block_lu import Ordering
from .body_problem import BodyProblem, BodyWork, Iterate
from .cone_path import (
    LEAST_MU,
    YIELDS,
    Direction,
    Frame,
    Misfit,
    Point,
    gap_after,
    go,
    go_each,
    let_yield,
    linearise_cones,
    longest_step,
    products,
    put_constants,
    put_direction,
    second_order,
)
from .newton import factorise_modes, motion, newton_direction, residual, scale_and_floor
from .structure import block_multiply, copy_rows, relative_motion

SLOW, SHORT, JAMMED = 0.85, 0.5, 0.2  # centring above, and steps below
PARTLY, HALF, BACK = 0.8, 0.5, 0.2  # share of the sliding velocity that is followed there; what it gains elsewhere
SHARE, MOST = 0.3, 3.0  # of the misfit, as an error of r . g: this falls no lower; and how much it may grow
FULL = 0.5  # centring below: steps are long, and terms of second order help
SHY, EACH = 0.99, 0.9  # of the way to the border: of all contacts together, or of each where that would be short


@record("Point", "Direction", "Misfit", "Frame", A2, A2, A2, A1, by_value=True)
class Path(NamedTuple):
    """Where one stands on a path, and what goes on from there.

    Attributes
    ----------
    point : Point
    to : Direction
    lacks : Misfit
    frame : Frame
    rc : Array, shape (c, 3)
        What r o g is to change by.
    first : Array, shape (n, 6)
        What the momentum lacks, N s and N m s.
    q : Array, shape (c, 3)
        The impulses of the point, N s.
    pace : Array, shape (1,)
        How far directions follow the sliding velocity, 0 to 1.
    """

    point: Point
    to: Direction
    lacks: Misfit
    frame: Frame
    rc: Array
    first: Array
    q: Array
    pace: Array


@kernel(f"void(BodyProblem, Path, {A2}, float64, float64)", borrows=True)
def place_inside(problem: BodyProblem, path: Path, u: Array, scale: float, warm: float) -> None:
    """Begin near the impulses in q, to which u belongs, or with warm = 0 far inside all cones.

    warm is the distance from the borders, relative to the mean impulse that the motion without impulses asks for.
    """
    mu, rho, n, (r, g, _x), q = problem.mu, problem.rho, problem.contacts.first[-1], path.point, path.q
    speed = push = 0.0
    for i in range(n):
        speed += u[i, 0] ** 2 + u[i, 1] ** 2 + u[i, 2] ** 2
        push += rho[i] / n
    speed, mean = math.sqrt(speed), scale / math.sqrt(n)
    for i in range(n):
        r[i, 0], r[i, 1], r[i, 2] = speed * push, 0.0, 0.0
        g[i, 0], g[i, 1], g[i, 2] = speed, 0.0, 0.0
        if warm > 0.0:
            m = max(mu[i], LEAST_MU)
            r[i, 1], r[i, 2], g[i, 1], g[i, 2] = q[i, 1], q[i, 2], u[i, 1], u[i, 2]
            r[i, 0] = max(m * q[i, 0], math.hypot(q[i, 1], q[i, 2])) + warm * mean
            g[i, 0] = max(u[i, 0] / m, 0.0) + math.hypot(u[i, 1], u[i, 2]) + warm * mean / rho[i]


@kernel("Path(BodyProblem, BodyWork, Iterate, float64)")
def begin_path(problem: BodyProblem, work: BodyWork, iterate: Iterate, warm: float) -> Path:
    """Return where a path begins: near p, or with warm = 0 far inside."""
    p, u, _best, _other, v = iterate
    c, n = len(p), len(v)
    point = Point(np.zeros((c, 3)), np.zeros((c, 3)), np.zeros((n, 6)))
    to = Direction(np.zeros((c, 3)), np.zeros((c, 3)), np.zeros((n, 6)))
    lacks = Misfit(np.zeros((c, 3)), np.zeros((c, 2)))
    frame = Frame(np.zeros((c, 4)), np.zeros((c, 3)), np.zeros((c, 3, 4)))
    path = Path(point, to, lacks, frame, np.zeros((c, 3)), np.zeros((n, 6)), np.zeros((c, 3)), np.ones(1))
    motion(problem, path.q, work.F, v, u)
    scale, _floor = scale_and_floor(problem, path.q, u)
    if warm > 0.0:
        copy_rows(problem.contacts.first[-1], p, path.q)
        motion(problem, path.q, work.F, v, u)
        for i in range(n):
            for j in range(6):
                point.x[i, j] = v[i, j]
    place_inside(problem, path, u, scale, warm)
    return path


@kernel(f"float64(BodyProblem, Path, {A2}, {A2})", borrows=True)
def put_misfit(problem: BodyProblem, path: Path, F: Array, u: Array) -> float:
    """Put what the point lacks: `first` = F - M x, and G; return what G is as an error of r . g."""
    (r, g, x), (G, slide), mu, w, error = path.point, path.lacks, problem.mu, problem.w, 0.0
    block_multiply(problem.M, x, path.first)
    for i in range(len(F)):
        for j in range(6):
            path.first[i, j] = F[i, j] - path.first[i, j]
    relative_motion(problem.contacts, x, u)
    n = problem.contacts.first[-1]
    for i in range(n):
        y, z = u[i, 1] + w[i, 1], u[i, 2] + w[i, 2]
        s = math.hypot(y, z)
        slide[i, 0], slide[i, 1] = (y / s, z / s) if s > 0.0 else (0.0, 0.0)
        G[i, 0] = (u[i, 0] + w[i, 0]) / max(mu[i], LEAST_MU) + s - g[i, 0]
        G[i, 1], G[i, 2] = y - g[i, 1], z - g[i, 2]
        error += r[i, 0] * (abs(G[i, 0]) + abs(G[i, 1]) + abs(G[i, 2])) / n
    return error


@kernel("void(BodyProblem, Ordering, BodyWork, Path, boolean)", borrows=True)
def find_direction(problem: BodyProblem, ordering: Ordering, work: BodyWork, path: Path, anew: bool) -> None:
    """Put the Newton direction by which r o g changes by rc; E and its factors are kept unless anew."""
    n, mu, rho, dp, du = problem.contacts.first[-1], problem.mu, problem.rho, work.dp, work.du
    follows = path.pace[0]
    if anew:
        linearise_cones(n, mu, path.frame, path.lacks, follows, work.E)
        let_yield(n, rho, work.E, path.frame.yields)
        factorise_modes(problem, ordering, work)
    put_constants(n, mu, path.frame, path.lacks.G, path.rc, work.e)
    newton_direction(problem, ordering, work, path.first)
    for i in range(n):
        for j in range(3):
            du[i, j] += YIELDS / rho[i] * dp[i, j]
    put_direction(n, mu, path.lacks, follows, du, dp, work.dv, path.to)


@kernel("float64(float64, float64, float64)", borrows=True)
def next_pace(pace: float, t: float, centring: float) -> float:
    """Return how far the next direction follows the sliding velocity."""
    if t < JAMMED:
        return HALF
    return PARTLY if t < SHORT or centring > SLOW else min(1.0, pace + BACK)


@kernel(f"void(int64, {A1}, {A2}, {A2})", borrows=True)
def put_impulses(n: int, mu: Array, r: Array, q: Array) -> None:
    """Put the impulses of a point."""
    for i in range(n):
        q[i, 0], q[i, 1], q[i, 2] = r[i, 0] / max(mu[i], LEAST_MU), r[i, 1], r[i, 2]


@kernel("void(BodyProblem, Ordering, BodyWork, Path, float64)", borrows=True)
def step_on(problem: BodyProblem, ordering: Ordering, work: BodyWork, path: Path, error: float) -> None:
    """Take a step on from a point whose misfit is put; error is what it is as one of r . g."""
    n, point, to, rc, pace = problem.contacts.first[-1], path.point, path.to, path.rc, path.pace
    gap = products(n, point, path.frame, rc)
    find_direction(problem, ordering, work, path, True)
    t = min(1.0, longest_step(n, point, to))
    centring = 0.998 * min(1.0, max(gap_after(n, point, to, t), 0.0) / gap) ** max(1.0, 3.0 * t * t)
    centring = max(centring, min(SHARE * error / gap, MOST))
    for i in range(n):
        rc[i, 0] += centring * gap
    if centring < FULL:
        second_order(n, path.frame, to, rc)
    find_direction(problem, ordering, work, path, False)
    t = min(1.0, SHY * longest_step(n, point, to))
    if t < SHORT:
        go_each(n, point, to, EACH)
    else:
        go(n, point, to, t)
    pace[0] = next_pace(pace[0], t, centring)


@kernel("Tuple((float64, int64))(BodyProblem, Ordering, BodyWork, Path, Iterate, float64, int64)", borrows=True)
def follow_path(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, path: Path, iterate: Iterate, tol: float, limit: int
) -> tuple[float, int]:  # fmt: skip
    """Follow a path on to E <= tol; p becomes the best point met.

    Returns E and the number of iterations, each with one factorisation.
    """
    p, u, _best, _other, v = iterate
    n, q, best, it = problem.contacts.first[-1], path.q, np.inf, 0
    for i in range(n):
        q[i, 0] = q[i, 1] = q[i, 2] = 0.0
    motion(problem, q, work.F, v, u)
    scale, _floor = scale_and_floor(problem, q, u)
    for it in range(limit + 1):
        put_impulses(n, problem.mu, path.point.r, q)
        motion(problem, q, work.F, v, u)
        E = residual(problem, scale, q, u)
        if best > E:
            best = E
            copy_rows(n, q, p)
        if best <= tol or it == limit or not np.isfinite(E):
            break
        step_on(problem, ordering, work, path, put_misfit(problem, path, work.F, u))
    return best, it
