"""The position projection at the end of a step for free bodies, compiled; the rules are those of `projection`."""

from __future__ import annotations

import numpy as np

from ...._jit import A2, I1, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork
from ....contact.free_bodies.coulomb import step_sizes
from ....contact.free_bodies.structure import block_multiply
from ..scheme import ALLOWED, CANCELS, CLOSE, PASSES, ROUNDING, SLOW, SLOWEST, STRAIN
from .active_contacts import approach, approach_size
from .body_kinematics import evaluate, momentum, move_bodies, place_contacts, pose_bodies, sort_by_pair, turn_spins
from .gap_islands import push_near_apart
from .records import (
    ACTS,
    ALL,
    FEATURES,
    HELD,
    MIDDLE,
    OF,
    SHARE,
    WHICH,
    BodySolver,
    BodySpan,
    BodyStep,
    Projection,
)
from .rest_correction import reached_speeds, single_pushes
from .soft_gaps import GROWN, MANY, widest

FIRST = 1e-3  # of the gaps to be removed: what a pass may leave of them at most
NO_PLACE = -1000  # instead of the number of passes: no place has all the gaps that are held
CURVED = 1.0  # 1/m: of many gaps a pass may leave this times their square: its shift is not small by as much
LOOSELY = 2  # mark of contacts that are held only as far as that is no strain


@kernel(f"UniTuple(boolean, 2)({I1}, int64)", borrows=True)
def holds(marks: IntArray, n: int) -> tuple[bool, bool]:
    """Return whether any of the n gaps marked is held, and whether any is held loosely."""
    held = loosely = False
    for f in range(n):
        held, loosely = held or marks[f] != 0, loosely or marks[f] == LOOSELY
    return held, loosely


@kernel(f"float64({A2})", borrows=True)
def largest_coordinate(q: Array) -> float:
    """Return the largest coordinate of bodies, (n, 7), in magnitude."""
    size = 0.0
    for i in range(len(q)):
        for k in range(7):
            size = max(size, abs(q[i, k]))
    return size


@kernel("UniTuple(float64, 2)(BodyStep, Projection)", borrows=True)
def farthest(step: BodyStep, projection: Projection) -> tuple[float, float]:
    """Return how far the gaps at the end are from where they should be, and the deepest; inf where shifts overflow."""
    marks, _shifts, goal = projection.aside
    gaps, far, deepest = step.poses.geometry[2], 0.0, 0.0
    for f in range(step.counts[FEATURES]):
        gap = gaps[f, 0] if marks[ALL, f] else 0.0
        if not np.isfinite(gap):
            return np.inf, np.inf
        far = max(far, abs(gap - goal[f]) if marks[HELD, f] else -gap)
        deepest = max(deepest, -gap)
    return far, deepest


@kernel("void(BodyStep, Projection)", borrows=True)
def place_gaps(step: BodyStep, projection: Projection) -> None:
    """Put contacts, masses and scales where the bodies are at the end of the step."""
    x, R, geometry, frame, _moved, _rows = step.poses
    problem, zero = projection.problem, step.state.mean
    for i in range(len(zero)):
        for k in range(6):
            zero[i, k] = 0.0
    which = projection.aside.marks[WHICH]
    place_contacts(problem.contacts, which, step.features.bodies, geometry[2], x[2], frame, problem.w)
    momentum(step.bodies, R[2], step.state.force, zero, zero, 0.0, 1.0, problem)
    for c in range(problem.contacts.first[-1]):
        problem.mu[c] = 0.0
    step_sizes(problem.contacts, problem.mu, problem.inverse, problem.rho)


@kernel("Tuple((boolean, int64))(BodyStep, Projection, float64)", borrows=True)
def close_gaps(step: BodyStep, projection: Projection, enough: float) -> tuple[bool, int]:
    """Find the shift that removes the gaps to first order, from no pushes.

    Returns whether those held do not contradict one another, and the number of factorisations.
    """
    marks, _shifts, goal = projection.aside
    problem, iterate, gaps = projection.problem, projection.iterate, step.poses.geometry[2]
    w, mu, p, u, count = problem.w, problem.mu, iterate.other, iterate.u, problem.contacts.first[-1]
    short = left = 0.0
    for c in range(count):
        f = marks[WHICH, c]
        w[c, 0], mu[c] = gaps[f, 0], 0.0
        p[c, 0] = p[c, 1] = p[c, 2] = 0.0
        if marks[HELD, f]:
            w[c, 0], mu[c] = gaps[f, 0] - goal[f], -1.0
            short = max(short, abs(w[c, 0]))
    factors = push_near_apart(problem, projection.ordering, projection.work, iterate, enough)
    for c in range(count):
        left = max(left, abs(u[c, 0]) if marks[HELD, marks[WHICH, c]] else 0.0)
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


@kernel("void(BodyStep, Projection, int64)", borrows=True)
def note_shift(step: BodyStep, projection: Projection, taken: int) -> None:
    """Keep the pushes of a pass by feature; NaN of the first one says that no pass follows."""
    marks, shifts, _goal = projection.aside
    p = projection.iterate.other
    for f in range(step.counts[FEATURES]):
        shifts[f, taken], shifts[f, taken + 1] = 0.0, np.nan
    for c in range(projection.problem.contacts.first[-1]):
        shifts[marks[WHICH, c], taken] = p[c, 0]


@kernel("void(BodyStep, Projection)", borrows=True)
def let_go(step: BodyStep, projection: Projection) -> None:
    """Let no gap be held."""
    marks = projection.aside.marks
    for f in range(step.counts[FEATURES]):
        marks[HELD, f] = 0


@kernel("Tuple((boolean, int64))(BodyStep, Projection, float64, boolean, boolean)", borrows=True)
def close_or_let_go(
    step: BodyStep, projection: Projection, enough: float, held: bool, loosely: bool
) -> tuple[bool, int]:  # fmt: skip
    """Find the shift that removes the gaps, with none held where those held contradict one another, or strain.

    Those that nearly depend on one another contradict, too, as a crossing and the ends on both its sides: their pushes
    cancel but for a thousandth.

    Returns whether gaps are held still, and the number of factorisations.
    """
    agree, factors = close_gaps(step, projection, enough)
    agree = agree and not (held and widest(projection.problem, projection.iterate.other)[1] > GROWN)
    if not agree or (loosely and held and strains(projection.problem, projection.work, projection.iterate.v)):
        held = False
        let_go(step, projection)
        _agree, used = close_gaps(step, projection, enough)
        factors += used
    return held, factors


@kernel("void(BodyStep, Projection)", borrows=True)
def shift_end(step: BodyStep, projection: Projection) -> None:
    """Move the end of the step by the shift found, with all its contacts."""
    x, R, geometry, _frame, moved, _rows = step.poses
    d, q1 = projection.iterate.v, step.state.q1
    turn_spins(R[2], d, 1.0, d)
    move_bodies(q1, d, 1.0, q1)
    for i in range(len(q1)):
        moved[i] = 1
    pose_bodies(q1, x[2], R[2])
    evaluate(step.counts[FEATURES], step.features, moved, x[2], R[2], geometry[1], geometry[2])


@kernel("UniTuple(int64, 2)(BodyStep, Projection)", borrows=True, rare=True)
def project_end(step: BodyStep, projection: Projection) -> tuple[int, int]:
    """Move the end of the step (q in q1) until no gap is negative, those held are closed; see `projection`.

    Every pass shifts by M^-1 J^T p with J and M where it begins, p >= 0 and p = 0 where it leaves a gap (to first
    order), of either sign where the gap is held. Returns the passes, negative if it fails, `NO_PLACE` if gaps that are
    held are why, and the factorisations. The pushes stay in `aside.shifts`, see `note_shift`.
    """
    n, marks, problem, factors = step.counts[FEATURES], projection.aside.marks, projection.problem, 0
    last = earlier = first = np.inf  # how far gaps were off in the three passes before
    for f in range(min(n, 1)):
        projection.aside.shifts[f, 0] = np.nan
    held, loosely = holds(marks[HELD], n)
    size = largest_coordinate(step.state.q1)
    limit, allowed = max(CLOSE, ROUNDING * size), max(ALLOWED, ROUNDING * size)
    for it in range(PASSES + 1):
        far, deepest = farthest(step, projection)
        if far <= limit or it == PASSES:
            return (it if deepest <= allowed else -1 - it), factors
        if held and (far > max(SLOWEST * first, allowed) or far == np.inf):
            return NO_PLACE, factors
        if far == np.inf:
            return -1 - it, factors
        first, earlier, last = earlier, last, far
        if it == 0:
            sort_by_pair(n, marks[ALL], marks[OF], problem.contacts.first, marks[WHICH])
        place_gaps(step, projection)
        enough = 0.1 * limit
        if problem.contacts.first[-1] > MANY:
            enough = max(enough, min(CURVED * far, FIRST) * far)
        held, used = close_or_let_go(step, projection, enough, held, loosely)
        factors += used
        note_shift(step, projection, it)
        shift_end(step, projection)
    return -1 - PASSES, factors


@kernel("void(BodyStep, BodySolver)", borrows=True)
def put_speeds_at_hand(step: BodyStep, solver: BodySolver) -> None:
    """Put in `mean` how large speeds are as if no parts cancelled: v, v without impulses, and what these bring."""
    v, free, mean = step.state.v, step.state.free, step.state.mean
    single_pushes(solver.problem, solver.iterate.p, mean)
    reached_speeds(solver.problem, CANCELS / SLOW, mean)
    for i in range(len(v)):
        speed, spin = mean[i, 0], mean[i, 1]
        for k in range(6):
            mean[i, k] = abs(v[i, k]) + abs(free[i, k]) + (speed if k < 3 else spin)


@kernel("void(BodyStep, BodySolver, Projection, BodySpan, boolean)", borrows=True)
def hold_pushing(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, first: bool) -> None:
    """Mark the contacts whose law leaves them no speed: they end closed, or at the height of their rebound.

    On the first pass, with no u known, those that pushed in the last step. With the laws at the middle gaps need not
    end closed: they are held as far as that is no strain.
    """
    x, R, geometry, _frame, _moved, rows = step.poses
    numbers, bounce, _value = step.acting
    marks, _shifts, goal = projection.aside
    p, u, law, bodies, v = solver.iterate.p, solver.iterate.u, step.features.law, step.features.bodies, step.state.v
    rest = (1.0 - span.theta) * span.dt
    if not first:
        put_speeds_at_hand(step, solver)
    for f in range(step.counts[FEATURES]):
        marks[HELD, f], goal[f], marks[ALL, f] = 0, 0.0, numbers[ACTS, f]
    for c in range(solver.problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        if first:
            marks[HELD, f] = p[c, 0] > 0.0
        else:
            size = approach_size(geometry[1, f], bodies[f], x[1], R[1], step.state.mean, rows[0])
            marks[HELD, f] = u[c, 0] <= SLOW * size
        if bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0:
            at, e = geometry[1, f], step.laws[SHARE] * law[f, 1]
            begun = at[0] - rest * approach(at, bodies[f], x[1], R[1], v, rows[0])
            goal[f] = e * e * max(begun, 0.0)
        elif step.laws[MIDDLE] > 0.0:
            marks[HELD, f] *= LOOSELY


@kernel("boolean(BodyStep, BodySolver, Projection)", borrows=True)
def held_push(step: BodyStep, solver: BodySolver, projection: Projection) -> bool:
    """Return whether the contacts that were held closed are those that push."""
    which, held, p, same = step.acting.marks[WHICH], projection.aside.marks[HELD], solver.iterate.p, True
    for c in range(solver.problem.contacts.first[-1]):
        same = same and (held[which[c]] != 0) == (p[c, 0] > 0.0)
    return same
