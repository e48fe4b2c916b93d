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
from .coulomb import OPEN, STICK
from .frozen_directions import Exactness, take_away
from .frozen_modes import Border, at_border, first_border, linearise_frozen, misfit, modes_at, move, pass_border
from .newton import factorise_modes
from .proximal import ProximalPoint, regularised_newton
from .structure import copy_rows

FAR, LARGE = 0.3, 0.5  # corrections that are given up: of the impulses; of the step, or the correction before
NEAR, REFINED = 1e-3, 2  # corrections that are refined by the factors at hand, and how often
TIGHT, TIGHTEST = 0.03, 1e-7  # of the step before: corrections up to which its direction is that of the point
LONGEST, CUT = 1.5, 0.25  # steps, of log alpha; what is left of one that failed
BEGIN, EXACT = 1e-2, 1e-3  # the first term; residual of its point beside that of the centre ...
BEGINS = 30  # ... and Newton steps to it
JUMP = 5.0  # a correction of log alpha above is none
LOG, LENGTH, SHARE, BEGAN, CORRECTED, STEPPED, FIXED = range(7)  # entries of `ProximalPath.at`


@record("Exactness", *["float64"] * 5, "int64", "boolean", by_value=True)
class Care(NamedTuple):
    """How closely a path is followed.

    Attributes
    ----------
    exact : Exactness
        Of directions.
    close : float
        Corrections, of the impulses, up to which a point is on the path.
    part : float
        The misfit there, as a part of what the term asks for.
    stray : float
        How far contacts may be beyond the borders of their modes there, of the impulses.
    reach : float
        Longest step, of the impulses.
    shortest : float
        Steps that failed are given up below, as a share of a full one.
    many : int
        Corrections in a row that are given up.
    faithful : bool
        Whether all but the first, `reach` and `shortest` is looked at, else only `close`.
    """

    exact: Exactness
    close: float
    part: float
    stray: float
    reach: float
    shortest: float
    many: int
    faithful: bool


@record(*[A2] * 7, I1, I1, A1, by_value=True)
class ProximalPath(NamedTuple):
    """Where the path stands, and what the next step needs.

    Attributes
    ----------
    x, centre, p, off, along, fix, kept : Array, shape (c, 3)
        p - rho u with the velocity that the regularised problem sees; the centre; impulses; the misfit; the direction
        for each log alpha; a correction; x where the last step began.
    mode, kept_mode : IntArray, shape (c,)
    at : Array, shape (7,)
        LOG: log alpha. LENGTH: of the last step. SHARE: of full steps, that is taken. BEGAN: log alpha where the last
        step began. CORRECTED: how many corrections there were since. STEPPED, FIXED: how far the last step, and the
        last correction, moved the impulses, beside their size.
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


@kernel("float64(BodyProblem, Ordering, BodyWork, ProximalPath, Exactness)", borrows=True)
def look(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, path: ProximalPath, exact: Exactness
) -> float:  # fmt: skip
    """Put the direction and the correction where the path stands; return the sign of the determinant."""
    n, rho, alpha = problem.contacts.first[-1], problem.rho, math.exp(path.at[LOG])
    x, centre, p, along, fix, mode = path.x, path.centre, path.p, path.along, path.fix, path.mode
    linearise_frozen(problem, work, x, mode, max(alpha, exact.fine))
    factorise_modes(problem, ordering, work)
    sign = sign_of_pivots(len(problem.M), work.B)
    misfit(problem, work, x, mode, alpha, centre, p, fix)
    take_away(problem, ordering, work, exact, alpha, x, mode, fix)
    for c in range(n):
        for k in range(3):
            along[c, k] = alpha * (p[c, k] - centre[c, k]) / rho[c]
    take_away(problem, ordering, work, exact, alpha, x, mode, along)
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


@kernel("float64(BodyProblem, ProximalPath)", borrows=True)
def strays(problem: BodyProblem, path: ProximalPath) -> float:
    """Return how far contacts are beyond the borders of their modes, beside the impulses."""
    mu, x, mode, beyond, whole = problem.mu, path.x, path.mode, 0.0, 0.0
    for c in range(problem.contacts.first[-1]):
        t, m = math.hypot(x[c, 1], x[c, 2]), mu[c] * x[c, 0]
        if mode[c] == OPEN or x[c, 0] < 0.0:
            d = x[c, 0] if (mode[c] == OPEN) == (x[c, 0] > 0.0) else 0.0
        else:
            d = t - m if (mode[c] == STICK) == (t > m) and mu[c] > 0.0 else 0.0
        beyond += d * d
        whole += path.p[c, 0] ** 2 + path.p[c, 1] ** 2 + path.p[c, 2] ** 2
    return math.sqrt(beyond / whole) if whole > 0.0 else 0.0


@kernel("boolean(int64, ProximalPath, float64)", borrows=True)
def go_back(n: int, path: ProximalPath, shortest: float) -> bool:
    """Go back to where the last step began, for a shorter one; return whether one is worth trying."""
    at = path.at
    copy_rows(n, path.kept, path.x)
    for c in range(n):
        path.mode[c] = path.kept_mode[c]
    at[LOG], at[CORRECTED] = at[BEGAN], 0.0
    at[SHARE] *= CUT
    return bool(at[SHARE] >= shortest)


@kernel("Border(BodyProblem, ProximalPath, Care, float64, float64, Border)", borrows=True)
def go_on(
    problem: BodyProblem, path: ProximalPath, care: Care, way: float, least: float, passed: Border
) -> Border:  # fmt: skip
    """Take a step from a point on the path, up to the next border, which is passed, and to log alpha = `least` at most.

    way: the sign of the change of alpha.
    """
    n, at, along, x, mode = problem.contacts.first[-1], path.at, path.along, path.x, path.mode
    at[SHARE] = min(1.0, 2.0 * at[SHARE]) if at[CORRECTED] <= 1.0 else at[SHARE]
    at[BEGAN], at[CORRECTED] = at[LOG], 0.0
    copy_rows(n, x, path.kept)
    for c in range(n):
        path.kept_mode[c] = mode[c]
        for k in range(3):
            along[c, k] *= way
    size = whole = 0.0
    border, turn = first_border(problem, x, along, mode, passed, np.inf if care.faithful else at[LENGTH])
    for c in range(n):
        for k in range(3):
            size += along[c, k] ** 2
            whole += path.p[c, k] ** 2
    size = math.sqrt(size / whole) if whole > 0.0 else np.inf
    most = at[SHARE] * min(LONGEST, turn, care.reach / size if size > 0.0 else np.inf)
    h = min(border.way, most)
    if care.faithful and border.way < 0.0:
        h = 0.0
    elif way < 0.0 and at[LOG] - h <= least:
        h, border = at[LOG] - least, Border(h, -1, False)
    elif border.way > most:
        border = Border(h, -1, False)
    at[STEPPED] = at[FIXED] = abs(h) * size
    move(n, x, along, h, mode)
    at[LOG] += way * h
    at[LENGTH] = abs(h)
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
    at[LOG], at[LENGTH], at[SHARE], at[CORRECTED] = math.log(BEGIN), 0.0, 1.0, 0.0
    return int(used)


@kernel("boolean(BodyProblem, ProximalPath, float64)", borrows=True)
def exact_enough(problem: BodyProblem, path: ProximalPath, part: float) -> bool:
    """Return whether the misfit, which is put, is a small part of what the proximal term asks for."""
    rho, p, centre, off, lacks, asked = problem.rho, path.p, path.centre, path.off, 0.0, 0.0
    for c in range(problem.contacts.first[-1]):
        for k in range(3):
            lacks += (rho[c] * off[c, k]) ** 2
            asked += (p[c, k] - centre[c, k]) ** 2
    return bool(math.sqrt(lacks) <= part * math.exp(path.at[LOG]) * math.sqrt(asked))


@kernel("boolean(BodyProblem, Ordering, BodyWork, ProximalPath, Care, Border, boolean, float64)", borrows=True)
def refine(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, path: ProximalPath, care: Care, border: Border,
    first: bool, size: float,
) -> bool:  # fmt: skip
    """Correct x on, with the factors and direction at hand, after a correction of this size; return if it is exact."""
    n, at, share = problem.contacts.first[-1], path.at, 0.0
    for again in range(REFINED + 1):
        if not size <= NEAR:
            return False
        if again > 0:
            move(n, path.x, path.fix, 1.0, path.mode)
            at[LOG] += share
        misfit(problem, work, path.x, path.mode, math.exp(at[LOG]), path.centre, path.p, path.off)
        if exact_enough(problem, path, care.part):
            return True
        if again < REFINED:
            copy_rows(n, path.off, path.fix)
            take_away(problem, ordering, work, care.exact, math.exp(at[LOG]), path.x, path.mode, path.fix)
            share = share_along(problem, path, border, first)
            size = correct(n, path, share)
    return False


@kernel("ProximalPath(int64)")
def room_on_path(n: int) -> ProximalPath:
    """Return space for a path of n contacts."""
    x, centre, p, off = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3))
    along, fix, kept, at = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(7)
    return ProximalPath(x, centre, p, off, along, fix, kept, np.zeros(n, np.int64), np.zeros(n, np.int64), at)


@kernel("Tuple((int64, Border, int64))(BodyProblem, Ordering, BodyWork, ProximalPath, Care, Border, float64, int64)")
def next_point(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, path: ProximalPath, care: Care, border: Border,
    least: float, limit: int,
) -> tuple[int, Border, int]:  # fmt: skip
    """Correct x until it is on the path, and take a step from there.

    Returns whether that was done (1), the path is lost (-1), or `limit` factorisations did not do (0); the border
    passed; and factorisations. `path.p` are the impulses from where the step was taken.
    """
    n, at, first, begun, used = problem.contacts.first[-1], path.at, path.at[LENGTH] == 0.0, border, 0
    while used < limit:
        sign = look(problem, ordering, work, path, care.exact)
        used += 1
        share = share_along(problem, path, border, first)
        size = correct(n, path, share)
        failed = not size <= FAR or at[CORRECTED] > care.many or not abs(share) <= JUMP
        failed = failed or (care.faithful and not first and size > LARGE * at[FIXED] + care.close)
        at[FIXED], there = size, False
        if not failed:
            move(n, path.x, path.fix, 1.0, path.mode)
            at[LOG] += share
            there = size <= care.close
        if care.faithful and not failed:
            exact = refine(problem, ordering, work, path, care, border, first, size)
            there = there and exact and (first or size <= max(TIGHT * at[STEPPED], TIGHTEST))
            failed = there and not first and strays(problem, path) > care.stray
        if failed and (first or not go_back(n, path, care.shortest)):
            return -1, border, used
        if failed:
            first, border = True, begun
        elif there:
            return 1, go_on(problem, path, care, -sign, least, border), used
        else:
            at[CORRECTED] += 1.0
    return 0, border, used
