"""The path of proximal points of one centre, followed through its turns as the proximal term falls.

    p = P(p - rho (u + alpha / rho (p - centre))),    alpha from where p is unique to almost nothing

Where a heap is about to give way the answer near the last impulses ends in a fold: beyond it none is left nearby, but E
keeps a small least value there, in which Newton's method, central paths and proximal points all end. This path does not
end: all its points are bounded as long as some motion opens all contacts, and it begins where p is unique, so that by
degree it gets to alpha = 0; where it folds alpha grows for a while. With the modes held it is smooth; it is followed
from border to border of the modes, one factorisation for a step and one or two for corrections. Which way it goes on
is told by the sign of the determinant. Source: Chow, Mallet-Paret, Yorke (1978); Allgower, Georg (1990).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, I1, kernel, record
from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering
from .body_problem import BodyProblem, BodyWork, Iterate
from .frozen_directions import take_away
from .frozen_modes import Border, at_border, first_border, linearise_frozen, misfit, modes_at, move, pass_border
from .newton import factorise_modes
from .proximal import ProximalPoint, regularised_newton
from .structure import copy_rows

CLOSE = 1e-5  # of the impulses: corrections up to which a point is on the path
FAR, MANY = 0.3, 5  # corrections above, and how many in a row, that are given up: the step was too long
LONGEST, CUT, SHORTEST = 1.5, 0.25, 1e-3  # steps, of log alpha; what is left of one that failed; given up below
BEGIN, EXACT = 1e-2, 1e-3  # the first term; residual of its point beside that of the centre ...
BEGINS = 30  # ... and Newton steps to it
JUMP = 5.0  # a correction of log alpha above is none


@record(*[A2] * 7, I1, I1, A1, by_value=True)
class ProximalPath(NamedTuple):
    """Where the path stands, and what the next step needs.

    Attributes
    ----------
    x, centre, p, off, along, fix, kept : Array, shape (c, 3)
        p - rho u with the velocity that the regularised problem sees; the centre; impulses; the misfit; the direction
        for each log alpha; a correction; x where the last step began.
    mode, kept_mode : IntArray, shape (c,)
    at : Array, shape (5,)
        log alpha, the length of the last step, the share of full steps that is taken, log alpha where the last step
        began, how many corrections there were since.
    """

    x: Array
    centre: Array
    p: Array
    off: Array
    along: Array
    fix: Array
    kept: Array
    mode: IntArray
    kept_mode: IntArray
    at: Array


@kernel(f"float64(int64, {A3})")
def sign_of_pivots(n: int, B: Array) -> float:
    """Return the sign of the determinant of n 6x6 blocks together."""
    sign, D = 1.0, np.empty((6, 6))
    for b in range(n):
        for i in range(6):
            for j in range(6):
                D[i, j] = B[b, i, j]
        for k in range(6):
            best = k
            for i in range(k + 1, 6):
                best = i if abs(D[i, k]) > abs(D[best, k]) else best
            if best != k:
                sign = -sign
                for j in range(6):
                    D[k, j], D[best, j] = D[best, j], D[k, j]
            sign = -sign if D[k, k] < 0.0 else sign
            for i in range(k + 1, 6):
                f = D[i, k] / D[k, k] if D[k, k] != 0.0 else 0.0
                for j in range(k, 6):
                    D[i, j] -= f * D[k, j]
    return sign


@kernel("float64(BodyProblem, Ordering, BodyWork, ProximalPath)", borrows=True)
def look(problem: BodyProblem, ordering: Ordering, work: BodyWork, path: ProximalPath) -> float:
    """Put the direction and the correction where the path stands; return the sign of the determinant."""
    n, rho, alpha = problem.contacts.first[-1], problem.rho, math.exp(path.at[0])
    x, centre, p, off, along, fix, mode = path.x, path.centre, path.p, path.off, path.along, path.fix, path.mode
    linearise_frozen(problem, work, x, mode, alpha)
    factorise_modes(problem, ordering, work)
    sign = sign_of_pivots(len(problem.M), work.B)
    misfit(problem, work, x, mode, alpha, centre, p, off)
    take_away(problem, ordering, work, alpha, x, mode, off, fix)
    for c in range(n):
        for k in range(3):
            off[c, k] = alpha * (p[c, k] - centre[c, k]) / rho[c]
    take_away(problem, ordering, work, alpha, x, mode, off, along)
    return sign


@kernel("float64(BodyProblem, ProximalPath, Border, boolean)", borrows=True)
def share_along(problem: BodyProblem, path: ProximalPath, border: Border, first: bool) -> float:
    """Return what of the direction is added to a correction: up to the border that was aimed at, else across it."""
    along, fix, x = path.along, path.fix, path.x
    n, dot, size = problem.contacts.first[-1], 0.0, 0.0
    if first:
        return 0.0
    if border.contact >= 0:
        beyond, by_fix, by_along = at_border(problem.mu, x, fix, along, border)
        return -(beyond + by_fix) / by_along if by_along != 0.0 else 0.0
    for c in range(n):
        for k in range(3):
            dot += fix[c, k] * along[c, k]
            size += along[c, k] ** 2 + path.p[c, k] ** 2
    return -dot / size if size > 0.0 else 0.0


@kernel("float64(int64, ProximalPath, float64)", borrows=True)
def correct(n: int, path: ProximalPath, share: float) -> float:
    """Put fix += share along, and return its size beside that of the impulses."""
    fix, along, size, whole = path.fix, path.along, 0.0, 0.0
    for c in range(n):
        for k in range(3):
            fix[c, k] += share * along[c, k]
            size += fix[c, k] ** 2
            whole += path.p[c, k] ** 2
    return math.sqrt(size / whole) if whole > 0.0 else np.inf


@kernel("boolean(int64, ProximalPath)", borrows=True)
def go_back(n: int, path: ProximalPath) -> bool:
    """Go back to where the last step began, for a shorter one; return whether one is worth trying."""
    at = path.at
    copy_rows(n, path.kept, path.x)
    for c in range(n):
        path.mode[c] = path.kept_mode[c]
    at[0], at[4] = at[3], 0.0
    at[2] *= CUT
    return bool(at[2] >= SHORTEST)


@kernel("Border(BodyProblem, ProximalPath, float64, float64, Border)", borrows=True)
def go_on(problem: BodyProblem, path: ProximalPath, way: float, least: float, passed: Border) -> Border:
    """Take a step from a point on the path, up to the next border, which is passed, and to log alpha = `least` at most.

    way: the sign of the change of alpha.
    """
    n, at, along, x, mode = problem.contacts.first[-1], path.at, path.along, path.x, path.mode
    at[2] = min(1.0, 2.0 * at[2]) if at[4] <= 1.0 else at[2]
    at[3], at[4] = at[0], 0.0
    copy_rows(n, x, path.kept)
    for c in range(n):
        path.kept_mode[c] = mode[c]
        for k in range(3):
            along[c, k] *= way
    border, turn = first_border(problem, x, along, mode, passed, at[1])
    most = at[2] * min(LONGEST, turn)
    h = min(border.way, most)
    if way < 0.0 and at[0] - h <= least:
        h, border = at[0] - least, Border(h, -1, False)
    elif border.way > most:
        border = Border(h, -1, False)
    move(n, x, along, h, mode)
    at[0] += way * h
    at[1] = abs(h)
    if border.contact >= 0:
        pass_border(problem.mu, x, mode, border)
    return border


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate, ProximalPath, float64, float64)")
def begin_on_path(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, path: ProximalPath, scale: float,
    E: float,
) -> int:  # fmt: skip
    """Put the first point, of the centre p whose residual is E; return the number of factorisations."""
    n, mu, rho, at = problem.contacts.first[-1], problem.mu, problem.rho, path.at
    copy_rows(n, iterate.p, path.centre)
    copy_rows(n, iterate.p, path.p)
    point = ProximalPoint(path.p, path.centre, iterate.v, iterate.u, path.off, np.zeros(n))
    used = regularised_newton(problem, ordering, work, point, BEGIN, scale, EXACT * E, BEGINS)
    for c in range(n):
        for k in range(3):
            path.x[c, k] = path.p[c, k] - rho[c] * path.off[c, k]
    modes_at(n, mu, path.x, path.mode)
    at[0], at[1], at[2], at[4] = math.log(BEGIN), 0.0, 1.0, 0.0
    return int(used)


@kernel("ProximalPath(int64)")
def room_on_path(n: int) -> ProximalPath:
    """Return space for a path of n contacts."""
    x, centre, p, off = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    along, fix, kept, at = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(5)
    return ProximalPath(x, centre, p, off, along, fix, kept, np.zeros(n, np.int64), np.zeros(n, np.int64), at)


@kernel("Tuple((int64, Border, int64))(BodyProblem, Ordering, BodyWork, ProximalPath, Border, float64, int64)")
def next_point(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, path: ProximalPath, border: Border, least: float,
    limit: int,
) -> tuple[int, Border, int]:  # fmt: skip
    """Correct x until it is on the path, and take a step from there.

    Returns whether that was done (1), the path is lost (-1), or `limit` factorisations did not do (0); the border
    passed; and factorisations. `path.p` are the impulses from where the step was taken.
    """
    n, at, first, begun, used = problem.contacts.first[-1], path.at, path.at[1] == 0.0, border, 0
    while used < limit:
        sign = look(problem, ordering, work, path)
        used += 1
        share = share_along(problem, path, border, first)
        size = correct(n, path, share)
        failed = not size <= FAR or at[4] > MANY or not abs(share) <= JUMP
        if failed and first:
            return -1, border, used
        if failed:
            first, border = True, begun
            if not go_back(n, path):
                return -1, border, used
            continue
        move(n, path.x, path.fix, 1.0, path.mode)
        at[0] += share
        if size <= CLOSE:
            return 1, go_on(problem, path, -sign, least, border), used
        at[4] += 1.0
    return 0, border, used
