"""The position projection at the end of a step for free bodies, compiled; the rules are those of `projection`."""

from __future__ import annotations

import numpy as np

from ...._jit import A2, kernel
from ....arrays import Array
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....contact.free_bodies.coulomb import step_sizes
from ....contact.free_bodies.newton import EPS, factorise_modes, motion, newton_direction
from ....contact.free_bodies.structure import block_multiply
from ....linalg.block_lu import Ordering
from .active_contacts import CLOSE, approach, normal_row
from .body_kinematics import evaluate, momentum, move_bodies, place_contacts, pose_bodies, sort_by_pair, turn_spins
from .records import (
    ACTS,
    ALL,
    HELD,
    MIDDLE,
    OF,
    SHARE,
    WHICH,
    Aside,
    Bodies,
    BodySpan,
    BodyState,
    Features,
    Index,
    Poses,
)
from .rest_correction import reached_speeds, single_pushes

SLOW, CANCELS = 1e-9, 1e-12  # as in `scheme`
ALLOWED = 1e-10  # m; as in `projection`
PROJECTIONS = 20  # as in `projection`
SLOWEST = 0.25  # as in `projection`
CONTRARY = -1000  # instead of the number of passes: no place has all the gaps that are held
LOOSELY = 2  # mark of contacts that are held only as far as that is no strain
STRAIN = 100.0  # as in `projection`
SOFT = 1e-7  # compliance of a gap that pushes, relative to the local one; taken out again round by round
SOFTER = (1e-2, 1e-4)  # where many gaps begin to push, they are found in a few factorisations like that
ROUNDS = 20
FEW_FACTORS = 8  # of the first round, before it is begun again softer
MOST_FACTORS = 40  # of one round


@kernel(f"int64(BodyProblem, BodyWork, {A2}, {A2}, float64)", borrows=True)
def press(problem: BodyProblem, work: BodyWork, centre: Array, u: Array, soft: float) -> int:
    """Put the pushes of soft gaps, centre - k u where that is positive or the gap is held; return how many changed."""
    mu, rho, E, e, mode, changed = problem.mu, problem.rho, work.E, work.e, work.mode, 0
    for c in range(problem.contacts.first[-1]):
        for i in range(3):
            e[c, i] = 0.0
            for j in range(3):
                E[c, i, j] = 0.0
        k = rho[c] / soft
        push = centre[c, 0] - k * u[c, 0]
        now = int(push > 0.0 or mu[c] < 0.0)
        if now:
            E[c, 0, 0], e[c, 0] = k, push
        changed += now != mode[c]
        mode[c] = now
    return changed


@kernel(f"float64(BodyProblem, BodyWork, {A2}, {A2}, float64, float64, float64, float64)", borrows=True)
def slope(
    problem: BodyProblem, work: BodyWork, centre: Array, u: Array, soft: float, first: float, second: float, t: float
) -> float:
    """Return the derivative of what `squeeze` minimises, t along the direction: first + t second - p(t) du."""
    mu, rho, du, value = problem.mu, problem.rho, work.du, first + t * second
    for c in range(problem.contacts.first[-1]):
        push = centre[c, 0] - rho[c] / soft * (u[c, 0] + t * du[c, 0])
        if push > 0.0 or mu[c] < 0.0:
            value -= push * du[c, 0]
    return value


@kernel("float64(BodyProblem, BodyWork, Iterate, float64)", borrows=True)
def share_to_go(problem: BodyProblem, work: BodyWork, iterate: Iterate, soft: float) -> float:
    """Return how far to go along the direction: all of it, or to where the derivative (it only grows) vanishes."""
    _p, u, centre, _push, d = iterate
    dv, Mdv, first, second = work.dv, work.F, 0.0, 0.0
    block_multiply(problem.M, dv, Mdv)
    for i in range(len(d)):
        for k in range(6):
            first += d[i, k] * Mdv[i, k]
            second += dv[i, k] * Mdv[i, k]
    begin = slope(problem, work, centre, u, soft, first, second, 0.0)
    if not begin < 0.0 or slope(problem, work, centre, u, soft, first, second, 1.0) <= -1e-6 * begin:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(30):
        t = 0.5 * (low + high)
        if slope(problem, work, centre, u, soft, first, second, t) > 0.0:
            high = t
        else:
            low = t
    return high


@kernel("Tuple((int64, boolean))(BodyProblem, Ordering, BodyWork, Iterate, float64, int64, boolean)", borrows=True)
def squeeze(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, soft: float, limit: int, twice: bool
) -> tuple[int, bool]:  # fmt: skip
    """Minimise 1/2 d^T M d + sum p^2 / 2 k over d, p the pushes of soft gaps, from where `place_centre` left them.

    Strictly convex and piecewise quadratic: Newton's method with exact line search ends at the minimum after finitely
    many steps. The factors at hand are those of the modes at hand. They solve to rounding over `soft` of the shift, and
    pushes show it: `twice` asks for the last step a second time. Returns the number of factorisations, and whether it
    ended within `limit` steps.
    """
    _p, u, centre, _push, d = iterate
    g, share, factors = work.F, 0.0, 0
    for it in range(limit):
        changed = press(problem, work, centre, u, soft)
        if it > 0 and changed == 0 and share == 1.0:
            if not twice:
                return factors, True
            twice = False
        if changed > 0:
            factorise_modes(problem, ordering, work)
            factors += 1
        block_multiply(problem.M, d, g)
        for i in range(len(g)):
            for k in range(6):
                g[i, k] = -g[i, k]
        newton_direction(problem, ordering, work, g)
        share = share_to_go(problem, work, iterate, soft)
        for i in range(len(d)):
            for k in range(6):
                d[i, k] += share * work.dv[i, k]
        for c in range(problem.contacts.first[-1]):
            u[c, 0] += share * work.du[c, 0]
    return factors, False


@kernel("void(BodyProblem, Iterate)", borrows=True)
def place_centre(problem: BodyProblem, iterate: Iterate) -> None:
    """Let gaps be pushed from the pushes at hand, and note how wide they are."""
    _p, u, centre, p, _d = iterate
    for c in range(problem.contacts.first[-1]):
        centre[c, 0], centre[c, 1] = p[c, 0], u[c, 0]


@kernel("float64(BodyProblem, BodyWork, Iterate)", borrows=True)
def take_pushes(problem: BodyProblem, work: BodyWork, iterate: Iterate) -> float:
    """Put the pushes, and gaps and shift that belong to them; return how much a gap changed at most."""
    _p, u, centre, p, d = iterate
    for c in range(problem.contacts.first[-1]):
        p[c, 0] = work.e[c, 0]
    motion(problem, p, work.F, d, u)
    change = 0.0
    for c in range(problem.contacts.first[-1]):
        change = max(change, abs(u[c, 0] - centre[c, 1]))
    return change


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate)", borrows=True)
def begin_softer(problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate) -> int:
    """Find which gaps push from no pushes, softer ones first; return the number of factorisations."""
    _p, u, _centre, p, d = iterate
    factors = 0
    for c in range(problem.contacts.first[-1]):
        p[c, 0] = 0.0
    motion(problem, p, work.F, d, u)
    for soft in SOFTER:
        for c in range(problem.contacts.first[-1]):
            work.mode[c] = -1
        place_centre(problem, iterate)
        used, _ended = squeeze(problem, ordering, work, iterate, soft, MOST_FACTORS, False)
        factors += used
        take_pushes(problem, work, iterate)
    for c in range(problem.contacts.first[-1]):
        work.mode[c] = -1
    return factors


@kernel("int64(BodyProblem, Ordering, BodyWork, Iterate, float64)", borrows=True)
def push_apart(problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, enough: float) -> int:
    """Find the least d = M^-1 J^T p with gaps u = J d + w >= 0, p >= 0 where u = 0; return the factorisations.

    p, u, d in `iterate` (p is where to begin, at first). The method of multipliers: soft gaps push, and where they are
    pushed from is moved until no gap changes by more than `enough`. What contradicts is met by least squares, and so is
    every gap that is held, by pushes of either sign. Where few factorisations do not tell which gaps push, softer ones
    do: hard ones begin to push one after the other.
    """
    _p, u, _centre, p, d = iterate
    for c in range(problem.contacts.first[-1]):
        work.mode[c] = -1
    motion(problem, p, work.F, d, u)
    place_centre(problem, iterate)
    factors, ended = squeeze(problem, ordering, work, iterate, SOFT, FEW_FACTORS, True)
    if not ended:
        factors += begin_softer(problem, ordering, work, iterate)
        place_centre(problem, iterate)
        used, _ended = squeeze(problem, ordering, work, iterate, SOFT, MOST_FACTORS, True)
        factors += used
    change = take_pushes(problem, work, iterate)
    for _ in range(ROUNDS - 1):
        if change <= enough:
            break
        place_centre(problem, iterate)
        used, _ended = squeeze(problem, ordering, work, iterate, SOFT, MOST_FACTORS, False)
        factors += used
        change = take_pushes(problem, work, iterate)
    return factors


@kernel("UniTuple(float64, 2)(int64, Aside, Poses)", borrows=True)
def farthest(n: int, aside: Aside, poses: Poses) -> tuple[float, float]:
    """Return how far the gaps at the end are from where they should be, and the deepest; inf where shifts overflow."""
    numbers, goal, gaps, far, deepest = aside.marks, aside.goal, poses.geometry[2], 0.0, 0.0
    for f in range(n):
        gap = gaps[f, 0] if numbers[ALL, f] else 0.0
        if not np.isfinite(gap):
            return np.inf, np.inf
        far = max(far, abs(gap - goal[f]) if numbers[HELD, f] else -gap)
        deepest = max(deepest, -gap)
    return far, deepest


@kernel("void(Bodies, Features, BodyState, Poses, Aside, BodyProblem)", borrows=True)
def place_gaps(
    bodies: Bodies, features: Features, state: BodyState, poses: Poses, aside: Aside, problem: BodyProblem
) -> None:
    """Put contacts, masses and scales where the bodies are at the end of the step."""
    x, R, geometry, frame, _moved, _rows = poses
    force, zero, mu = state.force, state.mean, problem.mu
    for i in range(len(zero)):
        for k in range(6):
            zero[i, k] = 0.0
    place_contacts(problem.contacts, aside.marks[WHICH], features.bodies, geometry[2], x[2], frame, problem.w)
    momentum(bodies, R[2], force, zero, zero, 0.0, 1.0, problem.M, problem.inverse, problem.h)
    for c in range(problem.contacts.first[-1]):
        mu[c] = 0.0
    step_sizes(problem.contacts, mu, problem.inverse, problem.rho)


@kernel("Tuple((boolean, int64))(Poses, Aside, BodyProblem, Ordering, BodyWork, Iterate, float64)", borrows=True)
def close_gaps(
    poses: Poses, aside: Aside, problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate,
    enough: float,
) -> tuple[bool, int]:  # fmt: skip
    """Find the shift that removes the gaps to first order, from no pushes.

    Returns whether those held do not contradict one another, and the number of factorisations.
    """
    numbers, goal, gaps, p, u = aside.marks, aside.goal, poses.geometry[2], iterate.other, iterate.u
    short = left = 0.0
    for c in range(problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        problem.w[c, 0], problem.mu[c] = gaps[f, 0], 0.0
        p[c, 0] = p[c, 1] = p[c, 2] = 0.0
        if numbers[HELD, f]:
            problem.w[c, 0], problem.mu[c] = gaps[f, 0] - goal[f], -1.0
            short = max(short, abs(problem.w[c, 0]))
    factors = push_apart(problem, ordering, work, iterate, enough)
    for c in range(problem.contacts.first[-1]):
        left = max(left, abs(u[c, 0]) if numbers[HELD, numbers[WHICH, c]] else 0.0)
    return left <= max(CLOSE, 0.1 * short), factors


@kernel(f"boolean(BodyProblem, BodyWork, {A2})", borrows=True)
def strains(problem: BodyProblem, work: BodyWork, d: Array) -> bool:
    """Return whether a shift d is out of proportion to the gaps it removes, in the metric of the mass."""
    block_multiply(problem.M, d, work.F)
    spent = needed = 0.0
    for i in range(len(d)):
        for k in range(6):
            spent += d[i, k] * work.F[i, k]
    for c in range(problem.contacts.first[-1]):
        short = problem.w[c, 0] if problem.mu[c] < 0.0 else min(problem.w[c, 0], 0.0)
        needed += problem.rho[c] * short * short
    return bool(spent > STRAIN * needed)


@kernel(f"void(int64, Aside, int64, BodyProblem, {A2})", borrows=True)
def note_shift(n: int, aside: Aside, taken: int, problem: BodyProblem, p: Array) -> None:
    """Keep the pushes of a pass by feature; NaN of the first one says that no pass follows."""
    shifts = aside.shifts
    for f in range(n):
        shifts[f, taken], shifts[f, taken + 1] = 0.0, np.nan
    for c in range(problem.contacts.first[-1]):
        shifts[aside.marks[WHICH, c], taken] = p[c, 0]


@kernel(
    "UniTuple(int64, 2)(int64, Bodies, Features, BodyState, Poses, Aside, BodyProblem, Ordering, BodyWork, Iterate)",
    borrows=True,
)
def project_end(
    n: int, bodies: Bodies, features: Features, state: BodyState, poses: Poses, aside: Aside, problem: BodyProblem,
    ordering: Ordering, work: BodyWork, iterate: Iterate,
) -> tuple[int, int]:  # fmt: skip
    """Move the end of the step (q in q1) until no gap is negative, those held are closed; see `projection`.

    Every pass shifts by M^-1 J^T p with J and M where it begins, p >= 0 and p = 0 where it leaves a gap (to first
    order), of either sign where the gap is held. Returns the passes, negative if it fails, `CONTRARY` if gaps that are
    held are why, and the factorisations. The pushes stay in `aside.shifts`, see `note_shift`.
    """
    x, R, geometry, _frame, moved, _rows = poses
    d, q1, size, factors = iterate.v, state.q1, 0.0, 0
    last = earlier = first = np.inf  # how far gaps were off in the three passes before
    held = loosely = False
    for f in range(min(n, 1)):
        aside.shifts[f, 0] = np.nan
    for f in range(n):
        held, loosely = held or aside.marks[HELD, f] != 0, loosely or aside.marks[HELD, f] == LOOSELY
    for i in range(len(q1)):
        for k in range(7):
            size = max(size, abs(q1[i, k]))
    limit, allowed = max(CLOSE, 32.0 * EPS * size), max(ALLOWED, 32.0 * EPS * size)
    for it in range(PROJECTIONS + 1):
        far, deepest = farthest(n, aside, poses)
        if far <= limit or it == PROJECTIONS:
            return (it if deepest <= allowed else -1 - it), factors
        if held and (far > max(SLOWEST * first, allowed) or far == np.inf):
            return CONTRARY, factors
        if far == np.inf:
            return -1 - it, factors
        first, earlier, last = earlier, last, far
        if it == 0:
            sort_by_pair(n, aside.marks[ALL], aside.marks[OF], problem.contacts.first, aside.marks[WHICH])
        place_gaps(bodies, features, state, poses, aside, problem)
        agree, used = close_gaps(poses, aside, problem, ordering, work, iterate, 0.1 * limit)
        factors += used
        if not agree or (loosely and held and strains(problem, work, d)):
            held = False
            for f in range(n):
                aside.marks[HELD, f] = 0
            _agree, used = close_gaps(poses, aside, problem, ordering, work, iterate, 0.1 * limit)
            factors += used
        note_shift(n, aside, it, problem, iterate.other)
        turn_spins(R[2], d, 1.0, d)
        move_bodies(q1, d, 1.0, q1)
        for i in range(len(q1)):
            moved[i] = 1
        pose_bodies(q1, x[2], R[2])
        evaluate(n, features, moved, x[2], R[2], geometry[1], geometry[2])
    return -1 - PROJECTIONS, factors


@kernel(
    f"void(int64, Features, BodyState, Poses, Index, Aside, BodyProblem, {A2}, {A2}, float64, int64, BodySpan)",
    borrows=True,
)
def hold_pushing(
    n: int, features: Features, state: BodyState, poses: Poses, index: Index, aside: Aside, problem: BodyProblem,
    p: Array, u: Array, rest: float, first: int, span: BodySpan,
) -> None:  # fmt: skip
    """Mark the contacts whose law leaves them no speed: they end closed, or at the height of their rebound.

    On the first pass, with no u known, those that pushed in the last step. With the laws at the middle gaps need not
    end closed: they are held as far as that is no strain.
    """
    x, R, geometry, _frame, _moved, rows = poses
    bounce, marks, goal, row, reach = index.bounce, aside.marks, aside.goal, rows[0], state.mean
    if not first:
        single_pushes(problem, p, reach)
        reached_speeds(problem, CANCELS / SLOW, reach)
    for f in range(n):
        marks[HELD, f], goal[f], marks[ALL, f] = 0, 0.0, index.marks[ACTS, f]
    for c in range(problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        marks[HELD, f] = p[c, 0] > 0.0
        if not first:
            scale = 0.0
            for side in range(2):
                i = features.bodies[f, side]
                if i >= 0:
                    normal_row(geometry[1, f], features.bodies[f], side, x[1], R[1], row)
                    for k in range(6):
                        scale += abs(row[k]) * (abs(state.v[i, k]) + abs(state.free[i, k]) + reach[i, k // 3])
            marks[HELD, f] = u[c, 0] <= SLOW * scale
        if bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0:
            at, e = geometry[1, f], span.laws[SHARE] * features.law[f, 1]
            goal[f] = e * e * max(at[0] - rest * approach(at, features.bodies[f], x[1], R[1], state.v, row), 0.0)
        elif span.laws[MIDDLE] > 0.0:
            marks[HELD, f] *= LOOSELY


@kernel(f"boolean(Index, Aside, BodyProblem, {A2})", borrows=True)
def held_push(index: Index, aside: Aside, problem: BodyProblem, p: Array) -> bool:
    """Return whether the contacts that were held closed are those that push."""
    for c in range(problem.contacts.first[-1]):
        if (aside.marks[HELD, index.marks[WHICH, c]] != 0) != (p[c, 0] > 0.0):
            return False
    return True
