"""One step of the theta scheme for free bodies with contacts, compiled; see `scheme`.

`begin_step` puts everything at the middle, `solve_step` solves its contact problem in passes, `end_step` puts the state
at its end. A pass: the problem is renewed for the velocity that the last one gave, and where nothing changes any more
it is settled what follows (`open_pass`); it is solved, and what rounding leaves of bodies at rest is removed
(`solve_pass`); how far the velocity has moved tells whether another is needed (`judge_pass`).

What the kernels cannot do themselves they hand to their caller by a code: a new graph of contacts to be analysed
(GRAPH), too little room (ROOM), a contact problem that Newton's method on the modes does not solve (HARD), a projection
that does not succeed (OVERLAP), an impact that may gain energy (GAINS), a step at whose end bodies overlap in a contact
that is not listed (UNLISTED), an end that is no state, of numbers that have no squares (BEYOND).
"""

from __future__ import annotations

import numpy as np

from ...._jit import A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem
from ....contact.free_bodies.graded_newton import graded_newton
from ....contact.free_bodies.newton import FINE, READY, Goal, modes_newton, motion, residual, slips, without_impulses
from ....contact.free_bodies.one_island import POLISHED
from ....contact.free_bodies.proximal import proximal_point
from ....contact.free_bodies.structure import block_multiply, copy_rows, relative_motion
from ....mechanics.collision.feature_kinematics import chart_at
from ..extrapolation import DEPTH, USED, extrapolate, forget_passes, note_pass
from ..scheme import CLAIMED, FINER, MAX_PASSES, ROUGH, SETTLED
from ..settling import hopeless, stalled
from .active_contacts import find_acting, find_late, place_acting, rates_at, recall
from .body_kinematics import evaluate, move_bodies, pose_bodies, renew, turn_spins
from .joining_contacts import join_late, leave_idle
from .position_projection import NO_PLACE, held_push, hold_pushing, let_go, project_end
from .records import (
    DONE,
    FEATURES,
    HARD,
    JOINED,
    MIDDLE,
    OVERLAP,
    SHARE,
    WHICH,
    BodyAnswer,
    BodySolver,
    BodySpan,
    BodyStep,
    Projection,
)
from .rest_correction import settle, take_up

NEXT, JOINS, LEAVES, ENDS, GIVEN_UP = range(5)  # what follows a pass; with the last two there is none any more
FEW_FACTORS, GRADED, MOST_FACTORS = 8, 30, 60  # before the term is graded, of these steps, and where E says little
NEARLY = 1e-10  # last changes above this leave the rates of dependent contacts in disagreement
TRUSTED = 20  # extrapolated guesses, before passes are given up
WORTHWHILE = 0.01  # by two passes: where bodies are held in loops that gain less, they are not worth their price


@kernel(f"void({A2}, {A2})", borrows=True)
def take_guess(v: Array, guess: Array) -> None:
    """Let v be what v+ is taken to be."""
    for i in range(len(v)):
        for k in range(6):
            guess[i, k] = v[i, k]


@kernel("boolean(BodyStep, BodySolver, BodySpan, boolean)", borrows=True)
def begin_step(step: BodyStep, solver: BodySolver, span: BodySpan, still: bool) -> bool:
    """Put everything at the middle of the step: poses, contacts that act, last impulses, scales.

    Returns whether M, contacts and scales are what they were.

    The poses at the start are known. With `still` nothing has moved since the last
    step began: what was found then still stands.
    """
    x, R, geometry, _frame, moved, _rows = step.poses
    q, v, impulse, _force, v0, guess, v1, _mean, free, q1 = step.state
    if not still:
        move_bodies(q, v, (1.0 - span.theta) * span.dt, q1)
        pose_bodies(q1, x[1], R[1])
        turn_spins(R[0], v, 0.0, v1)
        turn_spins(R[1], v, 0.0, v0)
        for i in range(len(v)):
            moved[i] = 1
        evaluate(step.counts[FEATURES], step.features, moved, x[1], R[1], geometry[0], geometry[1])
    take_guess(v0, guess)
    renew(step, solver, span)
    block_multiply(solver.problem.inverse, solver.problem.h, free)
    turn_spins(R[1], free, 1.0, free)
    changed = find_acting(step, span)
    if still and changed == 0:
        recall(step, solver, impulse)
        return True
    place_acting(step, solver, impulse)
    return False


@kernel("void(BodyStep, BodySpan)", borrows=True)
def move_to_end(step: BodyStep, span: BodySpan) -> None:
    """Put the end of the step as v and v1 lead there, and the contacts of the bodies that `moved`."""
    x, R, geometry, _frame, moved, _rows = step.poses
    q, v, v1, mean, q1, theta = step.state.q, step.state.v, step.state.v1, step.state.mean, step.state.q1, span.theta
    for i in range(len(v)):
        for k in range(6):
            mean[i, k] = (1.0 - theta) * v[i, k] + theta * v1[i, k]
    move_bodies(q, mean, span.dt, q1)
    pose_bodies(q1, x[2], R[2])
    evaluate(step.counts[FEATURES], step.features, moved, x[2], R[2], geometry[1], geometry[2])


@kernel("void(BodyStep)", borrows=True)
def note_moved(step: BodyStep) -> None:
    """Put v1, the guess of v+ with spins in body axes, and mark the bodies that move."""
    v, guess, v1, moved = step.state.v, step.state.guess, step.state.v1, step.poses.moved
    turn_spins(step.poses.R[1], guess, 1.0, v1)
    for i in range(len(v)):
        moved[i] = 0
        for k in range(6):
            moved[i] += v[i, k] != 0.0 or v1[i, k] != 0.0


@kernel("UniTuple(int64, 2)(BodyStep, Projection, BodySpan)", borrows=True)
def project_held(step: BodyStep, projection: Projection, span: BodySpan) -> tuple[int, int]:
    """Project the end of the step with the gaps that are held, and without where these contradict one another.

    Returns the passes, negative if it fails, and the factorisations.
    """
    shifts, factors = project_end(step, projection)
    if shifts == NO_PLACE:
        move_to_end(step, span)
        let_go(step, projection)
        shifts, used = project_end(step, projection)
        factors += used
    return shifts, factors


@kernel("void(BodyStep, BodySolver)", borrows=True)
def put_added_rates(step: BodyStep, solver: BodySolver) -> None:
    """Put w: restitution, and the rates at the end of the step less those at the middle, unless the laws hold there.

    Tangents at the end are those of the chart at the middle: friction is along them.
    """
    x, R, geometry, frame, moved, rows = step.poses
    v1, guess, bounce, pair = step.state.v1, step.state.guess, step.acting.bounce, step.features.bodies
    which, w, u, rate, kept = step.acting.marks[WHICH], solver.problem.w, solver.iterate.u, rows[2], step.laws[SHARE]
    at_end = step.laws[MIDDLE] == 0.0
    turn_spins(R[2], v1, 0.0, v1)
    relative_motion(solver.problem.contacts, guess, u)
    for c in range(solver.problem.contacts.first[-1]):
        f = which[c]
        for k in range(3):
            w[c, k] = kept * bounce[f, k]
        if at_end and (moved[pair[f, 0]] or moved[pair[f, 1]]):
            rates_at(chart_at(geometry[1, f, 1:4]), geometry[2, f], pair[f], x[2], v1, frame, rate)
            for k in range(3):
                w[c, k] += rate[k] - u[c, k]


@kernel("UniTuple(int64, 2)(BodyStep, BodySolver, Projection, BodySpan, boolean)", borrows=True)
def refresh(
    step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, first: bool
) -> tuple[int, int]:  # fmt: skip
    """Put h, M and w of the contact problem for the guess of v+: the laws hold for the rates at the end it leads to.

    Where the laws hold at the middle w does not depend on the guess. Returns how many contacts close late (negative if
    the projection failed) and the factorisations of the projection.
    """
    factors = 0
    if not first:  # else it has just been done
        renew(step, solver, span)
    note_moved(step)
    move_to_end(step, span)
    if span.project:
        hold_pushing(step, solver, projection, span, first)
        shifts, factors = project_held(step, projection, span)
        if shifts < 0:
            return -1, factors
    late = find_late(step, span)
    put_added_rates(step, solver)
    return late, factors


@kernel(f"float64({A3}, {A2}, {A2}, {A2})", borrows=True)
def largest_change(M: Array, h: Array, v: Array, guess: Array) -> float:
    """Return the largest change of speed of a body (spins by the radius of gyration), relative to the largest speed.

    Infinite where that of a body has no square: such passes do not settle.
    """
    change = speed = 0.0
    for i in range(len(v)):
        m = M[i, 3, 0]
        d = e = 0.0
        for k in range(3):
            J = M[i, k, k] / m
            x, y, z = v[i, k] - guess[i, k], v[i, 3 + k] - guess[i, 3 + k], h[i, k] / m
            d += x * x + J * y * y
            e += v[i, k] * v[i, k] + J * v[i, 3 + k] * v[i, 3 + k] + z * z
        if not np.isfinite(d + e):
            return np.inf
        change, speed = max(change, d), max(speed, e)
    return float(np.sqrt(change / speed)) if change > 0.0 else 0.0


@kernel(
    "Tuple((float64, float64, int64, int64, float64, boolean))(BodySolver, float64, float64, float64, boolean)",
    borrows=True,
)
def solve_contacts(
    solver: BodySolver, alpha: float, near: float, ready: float, factored: bool
) -> tuple[float, float, int, int, float, bool]:
    """Solve the contact problem to E <= near; return E, its floor, factorisations, proximal solves, alpha, factored."""
    problem, ordering, work = solver.problem, solver.ordering, solver.work
    p, u, _best, start, v = solver.iterate
    slow, goal, n = 0, Goal(near, ready, MOST_FACTORS), problem.contacts.first[-1]
    copy_rows(n, p, start)
    few = Goal(near, ready, FEW_FACTORS)
    E, factors, floor, alpha, factored = modes_newton(problem, ordering, work, solver.iterate, alpha, few, factored)
    if max(near, floor) >= E and READY * floor > ready:  # it goes on where E hides what is wrong with heavy bodies
        E, used, floor, alpha, factored = modes_newton(problem, ordering, work, solver.iterate, alpha, goal, factored)
        factors += used
    if not max(near, floor) >= E:
        slow = 1
        copy_rows(n, start, p)
        E, used, floor = graded_newton(problem, ordering, work, solver.iterate, near, GRADED)
        factors, factored = factors + used, False
        if not max(near, floor) >= E:
            copy_rows(n, start, p)
            E, used, floor, alpha, _held = modes_newton(problem, ordering, work, solver.iterate, FINE, goal, False)
            factors += used
        if not max(near, floor) >= E:
            E, used, floor = proximal_point(problem, ordering, work, p, v, u, near, 25)
            factors += used
        if ready < E < POLISHED:
            E, used, floor, alpha, factored = modes_newton(
                problem, ordering, work, solver.iterate, alpha, goal, factored
            )
            factors += used
    return E, floor, factors, slow, alpha, factored


@kernel("Tuple((float64, float64, int64))(BodySolver, float64, float64, float64)", borrows=True)
def rest_bodies(solver: BodySolver, near: float, E: float, floor: float) -> tuple[float, float, int]:
    """Remove what rounding leaves of the speed of bodies at rest; return E, its floor and factorisations."""
    problem, ordering, work = solver.problem, solver.ordering, solver.work
    p, u, _best, _other, v = solver.iterate
    if settle(problem, p, v, work.dv, work.F, 1) == 0:
        return E, floor, 0
    take_up(problem, ordering, work, p, u, work.F)
    goal = Goal(near, np.inf, 0)
    E, _used, floor, _alpha, _held = modes_newton(problem, ordering, work, solver.iterate, FINE, goal, True)
    settle(problem, p, v, work.dv, work.F, 0)
    return E, floor, 1


@kernel(f"boolean(BodyProblem, {A2}, {I1})", borrows=True)
def looped(problem: BodyProblem, p: Array, touched: IntArray) -> bool:
    """Return whether bodies hold one another in a loop: more pairs push than there are bodies in them.

    touched (bodies + 1,) is work space.
    """
    pair, first, pairs, bodies = problem.contacts.pair, problem.contacts.first, 0, 0
    for i in range(len(touched)):
        touched[i] = 0
    for k in range(len(first) - 1):
        pushes = False
        for c in range(first[k], first[k + 1]):
            pushes = pushes or p[c, 0] > 0.0
        pairs += pushes
        for side in range(2):
            if pushes and pair[k, side] >= 0:
                bodies += touched[pair[k, side]] == 0
                touched[pair[k, side]] = 1
    return pairs > bodies


@kernel("float64(BodySolver)", borrows=True)
def residual_at_end(solver: BodySolver) -> float:
    """Return E of the impulses in the contact problem renewed for the end that they lead to, less its rounding."""
    p, u, best, _other, v = solver.iterate
    scale, floor = without_impulses(solver.problem, solver.work, p, v, u, best)
    motion(solver.problem, p, solver.work.F, v, u)
    return residual(solver.problem, scale, p, u) - floor


@kernel("int64(BodyStep, BodySolver, BodySpan, int64, float64, boolean)", borrows=True)
def end_passes(step: BodyStep, solver: BodySolver, span: BodySpan, late: int, goal: float, left: bool) -> int:
    """Say what follows passes that change nothing more; NEXT if their impulses do not obey the laws at the end.

    left: whether idle contacts have left before: where they close once more they stay.
    """
    if residual_at_end(solver) > max(CLAIMED, goal):
        return NEXT
    if late > 0:
        join_late(step, solver, span)
        return JOINS
    return ENDS if left or not leave_idle(step, solver) else LEAVES


@kernel("void(BodySolver)", borrows=True)
def weigh_velocities(solver: BodySolver) -> None:
    """Put the masses by which changes of velocities are compared."""
    weight, M = solver.trail.weight, solver.problem.M
    for i in range(len(M)):
        for k in range(3):
            weight[6 * i + k], weight[6 * i + 3 + k] = M[i, 3, 0], M[i, k, k]


@kernel("boolean(BodyStep, BodySolver, float64, float64, float64, int64)", borrows=True)
def guess_again(step: BodyStep, solver: BodySolver, change: float, last: float, earlier: float, passes: int) -> bool:
    """Put the guess of v+ for the next pass; False if there shall be none: the laws at the middle are cheaper.

    It is what the last pass has led to, or, where passes would not settle in those that are left, several together;
    these tell little with more pairs of bodies than differences between passes that count.
    """
    guess, v, trail = step.state.guess, solver.iterate.v, solver.trail
    note_pass(trail, guess.reshape(-1), v.reshape(-1))
    take_guess(v, guess)
    if step.laws[MIDDLE] != 0.0:
        return True
    lost = hopeless(change, last, earlier, MAX_PASSES - passes)
    slow = passes > 2 and change > max(WORTHWHILE * earlier, NEARLY)
    if (slow or lost) and looped(solver.problem, solver.iterate.p, step.touched):
        return False
    if lost and (trail.counts[USED] >= TRUSTED or len(solver.problem.contacts.pair) > DEPTH):
        return False
    if lost or trail.counts[USED] > 0:
        weigh_velocities(solver)
        extrapolate(trail, guess.reshape(-1))
    return True


@kernel("void(BodyStep)", borrows=True)
def forget_joined(step: BodyStep) -> None:
    """Note that no contact has joined since the step began."""
    marks = step.acting.marks
    for f in range(step.counts[FEATURES]):
        marks[JOINED, f] = 0


@kernel(
    "UniTuple(int64, 3)(BodyStep, BodySolver, Projection, BodySpan, boolean, boolean, float64, boolean)", borrows=True
)
def open_pass(
    step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, first: bool, settled: bool,
    goal: float, left: bool,
) -> tuple[int, int, int]:  # fmt: skip
    """Put the problem for the end that the last v+ leads to; where passes have settled say what follows, else NEXT.

    Returns how many contacts close late (negative: the projection failed), factorisations and what follows.
    """
    late, factors = refresh(step, solver, projection, span, first)
    if late < 0:
        return late, factors, GIVEN_UP
    return late, factors, end_passes(step, solver, span, late, goal, left) if settled else NEXT


@kernel(
    "Tuple((float64, float64, int64, int64, float64, boolean, boolean))"
    "(BodySolver, float64, float64, float64, boolean, boolean)",
    borrows=True,
)
def solve_pass(
    solver: BodySolver, tol: float, last: float, alpha: float, given: bool, factored: bool
) -> tuple[float, float, int, int, float, bool, bool]:
    """Solve the problem of a pass as exactly as the last change is worth; then rest what rounding leaves moving.

    given: whether the impulses at hand are an answer already.
    Returns E, what counts as solved, factorisations, proximal solves, alpha, factored, and False where it is HARD.
    """
    near = max(tol, min(ROUGH, FINER * last))
    ready = near if given else READY * tol
    E, floor, factors, slow, alpha, factored = solve_contacts(solver, alpha, near, ready, factored)
    goal = max(near, floor)
    if not goal >= E and not (E <= ROUGH and last > NEARLY):
        return E, goal, factors, slow, alpha, factored, False
    E, floor, used = rest_bodies(solver, near, E, floor)
    return E, max(tol, floor), factors + used, slow, alpha, factored and used == 0, True


@kernel(
    "Tuple((int64, float64, boolean))"
    "(BodyStep, BodySolver, Projection, boolean, boolean, boolean, UniTuple(float64, 2), int64)",
    borrows=True,
)
def judge_pass(
    step: BodyStep, solver: BodySolver, projection: Projection, met: bool, fine: bool, same: bool,
    changes: tuple[float, float], passes: int,
) -> tuple[int, float, bool]:  # fmt: skip
    """Judge a pass by how far v+ has moved; return what follows, that change, and whether passes have settled.

    What follows: NEXT, ENDS (nothing is left to do), GIVEN_UP.

    met, fine: whether this answer and the last one are full ones: a rough one may not have moved at all.
    same: whether the contacts are those at the start. changes: of v+ in the last pass and in the one before.
    """
    last, earlier = changes
    change = largest_change(solver.problem.M, solver.problem.h, solver.iterate.v, step.state.guess)
    if change == np.inf:
        return GIVEN_UP, change, False
    settled = met and (change <= SETTLED or (fine and stalled(change, last, earlier)))
    if settled:
        take_guess(solver.iterate.v, step.state.guess)
    if met and change == 0.0 and same and held_push(step, solver, projection):
        return ENDS, change, settled
    if not settled and not guess_again(step, solver, change, last, earlier, passes):
        return GIVEN_UP, change, settled
    return NEXT, change, settled


@kernel("boolean(BodySolver, boolean, boolean, int64, float64)", borrows=True)
def keeps_factors(solver: BodySolver, factored: bool, joined: bool, passes: int, alpha: float) -> bool:
    """Return whether the factors at hand are those of the whole step, in which nothing slips."""
    whole = factored and passes == 1 and not joined and alpha == FINE
    return whole and not slips(solver.problem.contacts.first[-1], solver.work.mode)


@kernel("BodyAnswer(BodyStep, BodySolver, Projection, BodySpan, boolean, boolean)", borrows=True)
def solve_step(
    step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, given: bool, factored: bool
) -> BodyAnswer:  # fmt: skip
    """Solve the contact problem, renewed until v+ no longer changes; the answer is in `guess` and p, the end in q1.

    given: whether the impulses at hand are an answer already; factored: whether the factors at hand are those of the
    contacts that act.
    """
    E, goal, alpha = 0.0, span.tol, FINE
    last, earlier = np.inf, np.inf  # changes of v+ in the last pass and in the one before
    factors, slow, code = 0, 0, OVERLAP
    passes, begun, said = 0, 0, NEXT  # begun: the passes before those with the contacts now
    settled = fine = False  # whether passes change nothing more, and whether the last answer was a full one
    joined, left = given, False  # whether contacts may have joined, and idle ones have left again
    forget_passes(solver.trail)
    if not given:
        forget_joined(step)
    while passes < begun + MAX_PASSES:
        first = passes == 0 and not given
        late, used, said = open_pass(step, solver, projection, span, first, settled, goal, left)
        factors += used
        if said >= ENDS:
            break
        if said != NEXT:  # begin passes anew where contacts join or leave
            last, earlier, begun, settled, factored = np.inf, np.inf, passes, False, False
            forget_passes(solver.trail)
            joined, left = joined | (said == JOINS), left | (said == LEAVES)
            continue
        passes += 1
        ready = given and passes == 1
        E, goal, used, more, alpha, factored, solved = solve_pass(solver, span.tol, last, alpha, ready, factored)
        factors, slow, met = factors + used, slow + more, goal >= E
        if not solved:
            code = HARD
            break
        same, changes = late == 0 and not joined, (last, earlier)
        said, change, settled = judge_pass(step, solver, projection, met, fine, same, changes, passes - begun)
        if said != NEXT:
            break
        last, earlier, fine = change, last if last > SETTLED else np.inf, met
    if said == ENDS:
        code = DONE
    keeps = keeps_factors(solver, factored, joined, passes, alpha)
    return BodyAnswer(E, goal, factors, passes, slow, code, -1, keeps)


@kernel("boolean(BodyStep, BodySolver)", borrows=True)
def end_step(step: BodyStep, solver: BodySolver) -> bool:
    """Put the state at the end of the step, and the impulses that the next one must know (not of rebounds).

    Returns whether nothing has moved, bit by bit, and nothing moves.
    """
    q, v, impulse, guess, q1 = step.state.q, step.state.v, step.state.impulse, step.state.guess, step.state.q1
    bounce, which, p = step.acting.bounce, step.acting.marks[WHICH], solver.iterate.p
    for f in range(step.counts[FEATURES]):
        for k in range(3):
            impulse[f, k] = 0.0
    for c in range(solver.problem.contacts.first[-1]):
        f = which[c]
        if bounce[f, 0] == 0.0 and bounce[f, 1] == 0.0 and bounce[f, 2] == 0.0:
            for k in range(3):
                impulse[f, k] = p[c, k]
    turn_spins(step.poses.R[1], guess, 1.0, v)
    still = True
    for i in range(len(q)):
        for k in range(7):
            still = still and q[i, k] == q1[i, k]
            q[i, k] = q1[i, k]
        for k in range(6):
            still = still and v[i, k] == 0.0
    return still
