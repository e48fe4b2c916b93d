"""One island of a contact problem: solved from its last impulses, by what costs more and more.

Newton's method; that of Josephy where there are few contacts; proximal points where these are near; central paths,
ended by Newton's method where it can; long ones, ended by proximal points and by pivots of the pairs of bodies that
these leave; answers with other friction.
"""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from ...linalg.block_lu import Ordering
from .bodies_interior_point import begin_path, follow_path
from .body_problem import BodyProblem, BodyWork, Iterate
from .coulomb import linearise_modes
from .frozen_directions import Exactness
from .frozen_modes import Border, impulses_of
from .josephy_newton import josephy_newton, pivot_pairs
from .newton import (
    COARSE,
    FINE,
    Goal,
    modes_newton,
    motion,
    newton_step,
    residual,
    rounding_floor,
    without_impulses,
)
from .one_by_one import gauss_seidel
from .proximal import proximal_point
from .proximal_path import BEGAN, LOG, Care, ProximalPath, begin_on_path, next_point, room_on_path
from .structure import copy_rows

FIRST, FIRST_TRY = 4, 12  # factorisations from the last impulses: if few of them gain nothing more will not
SHRUNK = 0.5  # of the residual by the few
FEW, MORE, GAINED = 3, 8, 0.1  # the same of Newton's method at the end of paths: a few, more if these gain as much
PIVOTED, STEPS = 40, 12  # contacts up to which normal impulses are pivoted, and how often at most
SWEEPS = 10  # before what begins near the last impulses
CLOSE, BRIEF = 1e-3, 16  # residual of these from which proximal points are taken at once, and factorisations of them
GOALS = (1e-4, 1e-5)  # residuals along a path from which Newton's method is tried
WARM = (0.3, 3.0, 0.1, 10.0, 1.0, 30.0, 0.03, 0.0)  # begins of paths: nearer to the last impulses or farther inside
SOON = 2  # of these before other friction, where nothing is cut: where two end in one place the others mostly do
LONG = 70  # iterations after which a path is left
NEARLY, AFTER = 1e-4, 15  # residual below which so many factorisations of proximal points end a path
LONGER = 100  # as many where there are more contacts than are pivoted, before a step is cut
POINTS = 60  # factorisations of proximal points from the first impulses, where no path ends
UNLIKE, WEDGED = 1e3, 1500  # ratio of masses from which bodies may be wedged so that only these get there, and how many
PATIENTLY, PATIENCE = 1e-6, 60  # residual from which so many steps of Newton's method end what is begun
AWAY, STRAYS = 30.0, 8  # times the best residual, and above NEARLY: after so many steps there the modes are wrong
PAIRED, AT_LAST = 100, 200  # factorisations of steps that pivot pairs of bodies; of proximal points at the end
TRIED = 1e-5  # term of a path through folds below which Newton's method is tried
FINEST, COARSEST = 1e-11, 100.0  # terms at which such a path ends
THROUGH = 600  # factorisations of such paths, one after the other
ANEW, FALLS = 400, 0.7  # factorisations of each of those faithfully followed, and what E falls to from one to the next
WANDERS, TWO = 400, 2  # iterations of long paths, and how many before a step is cut, and end through folds
OTHER = (1.03, 0.99, 1.5, 1.1, 0.97, 1.01, 1.2, 0.9)  # frictions whose answers are begun from where all else fails
LAST_TRY = 150  # factorisations of each
ENOUGH = 2500  # factorisations after which, where folds were followed, nothing more is begun
POLISHED = 1e-6  # residuals from here on are Newton's to finish
LEAST = 1e-9  # of the local compliance: how little contacts yield at least


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, float64)", borrows=True)
def newton_first(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, ready: float
) -> tuple[float, float, int]:  # fmt: skip
    """Improve p by Newton's method as long as it gains; return E, its floor and the number of factorisations."""
    begin, _none, floor, _alpha, _held = modes_newton(
        problem, ordering, work, iterate, FINE, Goal(tol, np.inf, 0), False
    )
    E, factors, floor, alpha, _held = modes_newton(
        problem, ordering, work, iterate, FINE, Goal(tol, ready, FIRST), False
    )
    if max(tol, floor) < E < SHRUNK * begin:
        goal = Goal(tol, ready, FIRST_TRY - FIRST)
        E, used, floor, _alpha, _held = modes_newton(problem, ordering, work, iterate, alpha, goal, False)
        factors += used
    return E, floor, factors


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64)", borrows=True)
def full_newton(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, few: int
) -> tuple[float, float, int]:  # fmt: skip
    """Take full Newton steps to which contacts yield a little, whatever they do to E; p becomes the best point met.

    No more than `few` if these do not lower E to a tenth; with the right modes it falls by powers of ten. Contacts that
    depend on one another and whose rates disagree by rounding move the impulses at a constant pace, and E stays as it
    is, until one of them opens or slips: they get there sooner if they yield less. Where E is far above its least again
    and again the modes are wrong, and more steps are in vain. Returns E, its floor and the number of factorisations.
    """
    p, u, best, _start, v = iterate
    n, alpha, factors, E, begin, last, far = problem.contacts.first[-1], COARSE, 0, np.inf, np.inf, np.inf, 0
    scale, floor = without_impulses(problem, work, p, v, u, best)
    for it in range(max(few, MORE) + 1):
        motion(problem, p, work.F, v, u)
        now = residual(problem, scale, p, u)
        begin = now if it == 0 else begin
        if now < E:
            E = now
            copy_rows(n, p, best)
        far += now > max(AWAY * E, NEARLY)
        done = max(tol, floor) >= E or it == max(few, MORE) or far == STRAYS
        if done or (it == few and GAINED * begin < E) or not np.isfinite(now):
            break
        changed = linearise_modes(n, problem.mu, problem.rho, alpha, p, u, work, True)
        if it > 0 and (changed > 0 or now > 0.5 * last):
            alpha = COARSE if changed > 0 else max(0.1 * alpha, LEAST)
            linearise_modes(n, problem.mu, problem.rho, alpha, p, u, work, True)
        last = now
        newton_step(problem, ordering, work, p, True)
        factors += 1
    copy_rows(n, best, p)
    motion(problem, p, work.F, v, u)
    return E, floor, factors


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64)")
def by_pivots(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float
) -> tuple[float, float, int]:  # fmt: skip
    """Pivot normal impulses from p; return E, its floor and the number of factorisations.

    Full Newton steps end it where pivots leave much rounding: they are small where contacts of parallel faces stick.
    """
    E, floor, factors = josephy_newton(problem, ordering, work, iterate, tol, STEPS)
    if max(tol, floor) < E:
        E, floor, used = full_newton(problem, ordering, work, iterate, tol, FEW)
        factors += used
    return E, floor, factors


@kernel("void(BodyProblem, BodyWork, Iterate)", borrows=True)
def sweep_from_start(problem: BodyProblem, work: BodyWork, iterate: Iterate) -> None:
    """Put what sweeps make of the first impulses."""
    p, u, _best, start, v = iterate
    copy_rows(problem.contacts.first[-1], start, p)
    motion(problem, p, work.F, v, u)
    gauss_seidel(problem, p, v, SWEEPS)
    motion(problem, p, work.F, v, u)


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64)")
def by_proximal_points(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, limit: int
) -> tuple[float, float, int]:  # fmt: skip
    """Take proximal points from p, ended by pivots and Newton's method; return E, its floor and factorisations."""
    p, u, _best, _start, v = iterate
    E, factors, floor = proximal_point(problem, ordering, work, p, v, u, tol, limit)
    if max(tol, floor) < E < PATIENTLY:
        if problem.contacts.first[-1] <= PIVOTED:
            E, floor, used = josephy_newton(problem, ordering, work, iterate, tol, STEPS)
        else:
            E, floor, used = pivot_pairs(problem, ordering, work, iterate, tol, PAIRED)
        factors += used
    if max(tol, floor) < E < PATIENTLY:
        E, floor, used = full_newton(problem, ordering, work, iterate, tol, PATIENCE)
        factors += used
    return E, floor, factors


@kernel("Care(boolean)")
def care_of(faithful: bool) -> Care:
    """Return how a path through folds is followed: as well as it goes, or step by step as it is."""
    if faithful:
        return Care(Exactness(1e-6, 60, 1e-8), 1e-6, 1e-3, 1e-7, 1e-2, 1e-7, 8, True)
    return Care(Exactness(1e-2, 10, 0.0), 1e-5, np.inf, np.inf, np.inf, 1e-3, 5, False)


@kernel(
    "Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, ProximalPath, Care, float64, int64)"
)
def to_the_end(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, path: ProximalPath, care: Care,
    tol: float, limit: int,
) -> tuple[float, float, int]:  # fmt: skip
    """Follow the proximal path of p to its end, or to where its points, or Newton's method from there, are answers.

    Newton's method is tried at every tenth of the term. Returns E, its floor and the number of factorisations. p is
    the end; where that was not reached it stays, and E is infinite, or is the last point of a path followed faithfully.
    """
    p, u, best, _start, v = iterate
    n, border, going = problem.contacts.first[-1], Border(0.0, -1, False), 1
    scale, floor = without_impulses(problem, work, p, v, u, best)
    motion(problem, p, work.F, v, u)
    factors = begin_on_path(problem, ordering, work, iterate, path, scale, residual(problem, scale, p, u))
    trial, least = np.log(TRIED), np.log(FINEST)
    while going == 1 and path.at[LOG] > least and path.at[LOG] < np.log(COARSEST) and factors < limit:
        going, border, used = next_point(problem, ordering, work, path, care, border, least, limit - factors)
        factors += used
        if going != 1:
            break
        last = path.at[LOG] == least
        impulses_of(n, problem.mu, path.x if last else path.kept, path.mode if last else path.kept_mode, p)
        motion(problem, p, work.F, v, u)
        E = residual(problem, scale, p, u)
        if max(tol, floor) >= E:
            return E, rounding_floor(problem, scale, p), factors
        if last or path.at[BEGAN] < trial:
            trial = path.at[BEGAN] - np.log(10.0)
            E, floor, used = full_newton(problem, ordering, work, iterate, tol, MORE)
            factors += used
            if max(tol, floor) >= E or last:
                return E, floor, factors
    if care.faithful:
        impulses_of(n, problem.mu, path.kept, path.kept_mode, p)
    else:
        copy_rows(n, path.centre, p)
    motion(problem, p, work.F, v, u)
    return residual(problem, scale, p, u) if care.faithful else np.inf, floor, factors


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, Care, float64, int64)", rare=True)
def through_folds(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, care: Care, tol: float, limit: int
) -> tuple[float, float, int]:  # fmt: skip
    """Follow proximal paths through their folds, that of p, then that of its end, as long as E falls to a tenth.

    Faithfully: that of where it was left, too, as long as E falls. Returns E, its floor and the number of
    factorisations.
    """
    path = room_on_path(problem.contacts.first[-1])
    gained, most = (FALLS, ANEW) if care.faithful else (GAINED, limit)
    E, floor, factors, last = np.inf, 0.0, 0, np.inf
    while factors < limit:
        E, floor, used = to_the_end(problem, ordering, work, iterate, path, care, tol, min(most, limit - factors))
        factors += used
        if max(tol, floor) >= E or not gained * last > E:
            break
        last = E
    return E, floor, factors


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64, float64)")
def along_path(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, trial: int, most: float
) -> tuple[float, float, int]:  # fmt: skip
    """Follow a central path from p, near the first impulses, to where Newton's method ends it, or proximal points.

    It is left after `most` factorisations. Returns E, its floor and the number of factorisations.
    """
    path = begin_path(problem, work, iterate, WARM[trial])
    factors, left, E, floor = 0, int(min(LONG, max(most, 1.0))), 1.0, 0.0
    for goal in GOALS:
        E, used = follow_path(problem, ordering, work, path, iterate, goal, left)
        factors, left = factors + used, left - used
        if not goal >= E:
            break
        E, floor, used = full_newton(problem, ordering, work, iterate, tol, FEW)
        factors += used
        if max(tol, floor) >= E:
            return E, floor, factors
    if E < NEARLY and most == np.inf and problem.contacts.first[-1] > PIVOTED:
        p, u, _best, _start, v = iterate
        E, used, floor = proximal_point(problem, ordering, work, p, v, u, tol, AFTER)
        factors += used
        if max(tol, floor) < E:
            E, floor, used = through_folds(problem, ordering, work, iterate, care_of(False), tol, THROUGH)
            factors += used
    elif E < NEARLY:
        few = AFTER
        if problem.contacts.first[-1] > PIVOTED:
            few = LONGER
        E, floor, used = by_proximal_points(problem, ordering, work, iterate, tol, few)
        factors += used
    return E, floor, factors


@kernel("Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64, int64)", rare=True)
def by_long_paths(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, trials: int, faithful: bool
) -> tuple[float, float, int]:  # fmt: skip
    """Follow central paths for long, ended by proximal points and pivoted pairs, the first two through folds, too.

    A path that turns back wanders, and mostly comes near an answer in the end. Returns as `along_path`.
    """
    E, floor, factors = np.inf, 0.0, 0
    for trial in range(trials):
        if max(tol, floor) >= E:
            break
        sweep_from_start(problem, work, iterate)
        path, left, reached = begin_path(problem, work, iterate, WARM[trial]), WANDERS, False
        for goal in GOALS:
            E, used = follow_path(problem, ordering, work, path, iterate, goal, left)
            factors, left = factors + used, left - used
            if not goal >= E:
                break
            E, floor, used = by_proximal_points(problem, ordering, work, iterate, tol, POINTS)
            factors, reached = factors + used, not max(tol, floor) >= E
            if not reached:
                break
        if reached:
            E, floor, used = by_proximal_points(problem, ordering, work, iterate, tol, AT_LAST)
            factors += used
        if (reached or not faithful) and trial < TWO and max(tol, floor) < E:
            E, floor, used = through_folds(problem, ordering, work, iterate, care_of(faithful), tol, THROUGH)
            factors += used
    return E, floor, factors


@kernel("boolean(BodyProblem)", borrows=True)
def has_dependent(problem: BodyProblem) -> bool:
    """Return whether bodies touch one another in more than two places: such contacts depend on one another."""
    first, some = problem.contacts.first, False
    for k in range(len(first) - 1):
        some = some or first[k + 1] - first[k] > 2
    return some


@kernel("boolean(BodyProblem)", borrows=True)
def has_unlike(problem: BodyProblem) -> bool:
    """Return whether masses differ so much that heavy bodies may wedge light ones, whose inertia hardly counts then.

    How such a light body is held is the same problem for steps of every length, and what E lacks of it looks small
    beside the momentum of the heavy ones.
    """
    least, most = np.inf, 0.0
    for i in range(len(problem.M)):
        least, most = min(least, problem.M[i, 3, 0]), max(most, problem.M[i, 3, 0])
    return most > UNLIKE * least


@kernel(
    "Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, float64, int64, int64)",
    rare=True,
)
def by_paths(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, most: float, first: int,
    last: int,
) -> tuple[float, float, int]:  # fmt: skip
    """Begin from the first impulses once more, by what reaches answers that are far; as `along_path`.

    Paths begin at those of WARM from `first` to `last`.
    """
    p, u, best, _start, v = iterate
    sweep_from_start(problem, work, iterate)
    scale, floor = without_impulses(problem, work, p, v, u, best)
    motion(problem, p, work.F, v, u)
    E, factors, swept = residual(problem, scale, p, u), 0, True
    if E < CLOSE and first == 0 and has_dependent(problem):
        E, floor, factors = by_proximal_points(problem, ordering, work, iterate, tol, BRIEF)
        swept = False
    for trial in range(first, last):
        if max(tol, floor) >= E or factors >= most:
            return E, floor, factors
        if not swept:
            sweep_from_start(problem, work, iterate)
        swept = False
        E, floor, used = along_path(problem, ordering, work, iterate, tol, trial, most - factors)
        factors += used
    if max(tol, floor) < E and factors < most:
        sweep_from_start(problem, work, iterate)
        E, floor, used = by_proximal_points(problem, ordering, work, iterate, tol, POINTS)
        factors += used
    return E, floor, factors


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate, float64, float64)")
def with_other_friction(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, share: float
) -> int:  # fmt: skip
    """Begin from the answer with other coefficients of friction: a path may end there that does not in this problem."""
    p, u, _best, _start, v = iterate
    n, mu = problem.contacts.first[-1], problem.mu.copy()
    for c in range(n):
        problem.mu[c] = share * mu[c]
    _E, used, _floor = proximal_point(problem, ordering, work, p, v, u, tol, LAST_TRY)
    for c in range(n):
        problem.mu[c] = mu[c]
    return used


@kernel("UniTuple(int64, 3)(BodyProblem, Ordering, BodyWork, Iterate, float64, float64, float64)")
def solve_island(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, tol: float, ready: float, most: float
) -> tuple[int, int, int]:  # fmt: skip
    """Solve the contact problem from p; return if it is, factorisations, and whether Newton's method was not enough.

    Nothing more is begun after `most` factorisations.
    What is solved is refined to `ready` where that is possible: bodies at rest stand still, and cost a check. Where
    contacts depend on one another that takes proximal points.
    """
    p, u, _best, start, v = iterate
    copy_rows(problem.contacts.first[-1], p, start)
    E, floor, factors = newton_first(problem, ordering, work, iterate, tol, ready)
    slow = int(not max(tol, floor) >= E)
    if slow and problem.contacts.first[-1] <= PIVOTED:
        E, floor, used = by_pivots(problem, ordering, work, iterate, tol)
        factors += used
    through = most == np.inf and problem.contacts.first[-1] > PIVOTED
    if max(tol, floor) < E and through:
        E, floor, used = by_long_paths(problem, ordering, work, iterate, tol, len(WARM), True)
        factors += used
    if max(tol, floor) < E:
        soon = SOON if most == np.inf else len(WARM)
        E, floor, used = by_paths(problem, ordering, work, iterate, tol, most - factors, 0, soon)
        factors += used
    if max(tol, floor) < E and most < np.inf and problem.contacts.first[-1] > PIVOTED:
        E, floor, used = by_long_paths(problem, ordering, work, iterate, tol, TWO, False)
        factors += used
    if max(tol, floor) < E and has_unlike(problem):
        sweep_from_start(problem, work, iterate)
        E, floor, used = by_proximal_points(problem, ordering, work, iterate, tol, WEDGED)
        factors += used
    enough = min(most, ENOUGH) if through and not has_unlike(problem) else most
    for share in OTHER:
        if max(tol, floor) >= E or factors >= enough:
            break
        factors += with_other_friction(problem, ordering, work, iterate, tol, share)
        E, floor, used = by_proximal_points(problem, ordering, work, iterate, tol, LAST_TRY)
        factors += used
    if max(tol, floor) < E and most == np.inf and factors < enough:
        E, floor, used = by_paths(problem, ordering, work, iterate, tol, most, SOON, len(WARM))
        factors += used
    if slow and ready < E < POLISHED:
        E, floor, used = newton_first(problem, ordering, work, iterate, tol, ready)
        factors += used
    if max(ready, floor) < E < POLISHED and has_dependent(problem):
        E, used, floor = proximal_point(problem, ordering, work, p, v, u, ready, BRIEF)
        factors += used
    return int(max(tol, floor) >= E), factors, slow
