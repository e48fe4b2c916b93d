"""One step of the theta scheme for free bodies with contacts, compiled; see `scheme`.

What the kernels cannot do themselves they hand to their caller by a code: a new graph of contacts to be analysed, too
little room, a contact problem that Newton's method on the modes does not solve, a projection that does not succeed, a
step at whose end bodies overlap in a contact that is not listed.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....contact.free_bodies.coulomb import step_sizes
from ....contact.free_bodies.newton import FINE, READY, modes_newton, motion, residual, slips, without_impulses
from ....contact.free_bodies.proximal import proximal_point
from ....contact.free_bodies.structure import block_multiply, relative_motion
from ....linalg.block_lu import Ordering
from ..scheme import CLAIMED, FINER, MAX_PASSES, ROUGH, SETTLED
from ..settling import hopeless, stalled
from .active_contacts import find_acting, find_late, rates_at, restitution
from .body_kinematics import evaluate, momentum, move_bodies, place_contacts, pose_bodies, sort_by_pair, turn_spins
from .position_projection import CONTRARY, held_push, hold_pushing, project_end
from .records import (
    ACTS,
    HELD,
    JOINED,
    LATE,
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
from .rest_correction import settle, take_up

DONE, GRAPH, ROOM, HARD, OVERLAP, EVENT, GAINS, UNLISTED = range(8)
NEXT, ENDS, JOINS, LEAVES = range(4)  # what follows passes that have settled
MOST_FACTORS = 60
NEARLY = 1e-10  # last changes above this leave the rates of dependent contacts in disagreement
POLISHED = 1e-6  # residuals from here on are Newton's to finish
GAINED = 0.01  # by two passes: where bodies are held in loops that gain less, they are not worth their price


@kernel(f"void(Index, BodyProblem, {A2}, {A2})", borrows=True)
def recall(index: Index, problem: BodyProblem, impulse: Array, p: Array) -> None:
    """Put the last impulses of the contacts that act."""
    for c in range(problem.contacts.first[-1]):
        for k in range(3):
            p[c, k] = impulse[index.marks[WHICH, c], k]


@kernel(f"void(int64, Features, Poses, Index, BodyProblem, {A2}, {A2})", borrows=True)
def place_acting(
    n: int, features: Features, poses: Poses, index: Index, problem: BodyProblem, impulse: Array, p: Array
) -> None:
    """Put the contacts that act at the middle of the step, their laws, scales and first impulses."""
    numbers, contacts = index.marks, problem.contacts
    sort_by_pair(n, numbers[ACTS], numbers[OF], contacts.first, numbers[WHICH])
    place_contacts(contacts, numbers[WHICH], features.bodies, poses.geometry[1], poses.x[1], poses.frame, problem.w)
    for c in range(contacts.first[-1]):
        f = numbers[WHICH, c]
        problem.mu[c] = features.law[f, 0]
    step_sizes(contacts, problem.mu, problem.inverse, problem.rho)
    recall(index, problem, impulse, p)


@kernel(
    "boolean(int64, Bodies, Features, BodyState, Poses, Index, BodyProblem, Iterate, BodySpan, int64)", borrows=True
)
def begin_step(
    n: int, bodies: Bodies, features: Features, state: BodyState, poses: Poses, index: Index, problem: BodyProblem,
    iterate: Iterate, span: BodySpan, still: int,
) -> bool:  # fmt: skip
    """Put everything at the middle of the step: poses, contacts that act, last impulses, scales.

    Returns whether M, contacts and scales are what they were.

    The poses at the start are known. With `still` nothing has moved since the last
    step began: what was found then still stands.
    """
    x, R, geometry, _frame, moved, _rows = poses
    q, v, impulse, force, v0, guess, v1, _mean, free, q1 = state
    dt, theta = span.dt, span.theta
    rest = (1.0 - theta) * dt
    if not still:
        move_bodies(q, v, rest, q1)
        pose_bodies(q1, x[1], R[1])
        turn_spins(R[0], v, 0.0, v1)
        turn_spins(R[1], v, 0.0, v0)
        for i in range(len(v)):
            moved[i] = 1
        evaluate(n, features, moved, x[1], R[1], geometry[0], geometry[1])
    for i in range(len(v)):
        for k in range(6):
            guess[i, k] = v0[i, k]
    momentum(bodies, R[1], force, v0, guess, dt, theta, problem.M, problem.inverse, problem.h)
    block_multiply(problem.inverse, problem.h, free)
    turn_spins(R[1], free, 1.0, free)
    changed = find_acting(n, features, poses, index, impulse, v, free, v1, rest, span)
    same = bool(still and changed == 0)
    if same:
        recall(index, problem, impulse, iterate.p)
    else:
        place_acting(n, features, poses, index, problem, impulse, iterate.p)
    return same


@kernel("void(int64, Features, BodyState, Poses, float64, float64)", borrows=True)
def move_to_end(n: int, features: Features, state: BodyState, poses: Poses, dt: float, theta: float) -> None:
    """Put the end of the step as v and v1 lead there, and the contacts of the bodies that `moved`."""
    x, R, geometry, _frame, moved, _rows = poses
    q, v, v1, mean, q1 = state.q, state.v, state.v1, state.mean, state.q1
    for i in range(len(v)):
        for k in range(6):
            mean[i, k] = (1.0 - theta) * v[i, k] + theta * v1[i, k]
    move_bodies(q, mean, dt, q1)
    pose_bodies(q1, x[2], R[2])
    evaluate(n, features, moved, x[2], R[2], geometry[1], geometry[2])


@kernel("void(BodyState, Poses)", borrows=True)
def note_moved(state: BodyState, poses: Poses) -> None:
    """Put v1, the guess of v+ with spins in body axes, and mark the bodies that move."""
    v, guess, v1, moved = state.v, state.guess, state.v1, poses.moved
    turn_spins(poses.R[1], guess, 1.0, v1)
    for i in range(len(v)):
        moved[i] = 0
        for k in range(6):
            moved[i] += v[i, k] != 0.0 or v1[i, k] != 0.0


@kernel(
    "UniTuple(int64, 2)(int64, Bodies, Features, BodyState, Poses, Aside, BodyProblem, Ordering, BodyWork, "
    "Iterate, BodySpan)",
    borrows=True,
)
def project_held(
    n: int, bodies: Bodies, features: Features, state: BodyState, poses: Poses, aside: Aside, beside: BodyProblem,
    ordering: Ordering, work: BodyWork, iterate: Iterate, span: BodySpan,
) -> tuple[int, int]:  # fmt: skip
    """Project the end of the step with the gaps that are held, and without where these contradict one another.

    Returns the passes, negative if it fails, and the factorisations.
    """
    shifts, factors = project_end(n, bodies, features, state, poses, aside, beside, ordering, work, iterate)
    if shifts == CONTRARY:
        move_to_end(n, features, state, poses, span.dt, span.theta)
        for f in range(n):
            aside.marks[HELD, f] = 0
        shifts, used = project_end(n, bodies, features, state, poses, aside, beside, ordering, work, iterate)
        factors += used
    return shifts, factors


@kernel(
    "UniTuple(int64, 2)(int64, Bodies, Features, BodyState, Poses, Index, Aside, BodyProblem, BodyProblem, "
    "Ordering, BodyWork, Iterate, BodySpan, int64)",
    borrows=True,
)
def refresh(
    n: int, bodies: Bodies, features: Features, state: BodyState, poses: Poses, index: Index, aside: Aside,
    problem: BodyProblem, beside: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, span: BodySpan,
    first: int,
) -> tuple[int, int]:  # fmt: skip
    """Put h, M and w of the contact problem for the guess of v+: the laws hold for the rates at the end it leads to.

    Where the laws hold at the middle w does not depend on the guess. Returns how many contacts close late (negative if
    the projection failed) and the factorisations of the projection. `beside` is the problem of the projection.
    """
    x, R, geometry, frame, moved, rows = poses
    v, force, v0, guess, v1 = state.v, state.force, state.v0, state.guess, state.v1
    numbers, bounce, pair = index.marks, index.bounce, features.bodies
    dt, theta, w, u, rate = span.dt, span.theta, problem.w, iterate.u, rows[2]
    rest, factors = (1.0 - theta) * dt, 0
    if not first:  # else it has just been done
        momentum(bodies, R[1], force, v0, guess, dt, theta, problem.M, problem.inverse, problem.h)
    note_moved(state, poses)
    move_to_end(n, features, state, poses, dt, theta)
    if span.project:
        hold_pushing(n, features, state, poses, index, aside, problem, iterate.p, u, rest, first, span)
        shifts, factors = project_held(
            n, bodies, features, state, poses, aside, beside, ordering, work, iterate, span
        )  # fmt: skip
        if shifts < 0:
            return -1, factors
    late = find_late(n, features, poses, index, v, rest)
    turn_spins(R[2], v1, 0.0, v1)
    relative_motion(problem.contacts, guess, u)
    for c in range(problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        for k in range(3):
            w[c, k] = span.laws[SHARE] * bounce[f, k]
        if span.laws[MIDDLE] == 0.0 and (moved[pair[f, 0]] or moved[pair[f, 1]]):
            rates_at(geometry[2, f], pair[f], x[2], v1, frame, rate)
            for k in range(3):
                w[c, k] += rate[k] - u[c, k]
    return late, factors


@kernel("void(int64, Index, BodyProblem, Iterate)", borrows=True)
def lay_aside(n: int, index: Index, problem: BodyProblem, iterate: Iterate) -> None:
    """Keep impulses and normal speeds by feature, for `take_again`."""
    p, u, _best, impulse, _v = iterate
    for f in range(n):
        impulse[f, 0] = impulse[f, 1] = impulse[f, 2] = 0.0
        index.value[f] = np.inf
    for c in range(problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        for k in range(3):
            impulse[f, k] = p[c, k]
        index.value[f] = u[c, 0]


@kernel("void(int64, Features, Poses, Index, BodyProblem, Iterate)", borrows=True)
def take_again(n: int, features: Features, poses: Poses, index: Index, problem: BodyProblem, iterate: Iterate) -> None:
    """Put the contacts that act now, with the impulses and normal speeds laid aside."""
    place_acting(n, features, poses, index, problem, iterate.other, iterate.p)
    for c in range(problem.contacts.first[-1]):
        iterate.u[c, 0] = index.value[index.marks[WHICH, c]]


@kernel("void(int64, Features, BodyState, Poses, Index, BodyProblem, Iterate, BodySpan)", borrows=True)
def join_late(
    n: int, features: Features, state: BodyState, poses: Poses, index: Index, problem: BodyProblem, iterate: Iterate,
    span: BodySpan,
) -> None:  # fmt: skip
    """Let the contacts that close late act, with their restitution terms."""
    numbers, rate, turned = index.marks, poses.rows[2], state.mean
    lay_aside(n, index, problem, iterate)
    turn_spins(poses.R[0], state.v, 0.0, turned)
    for f in range(n):
        if numbers[LATE, f]:
            numbers[ACTS, f] = numbers[JOINED, f] = 1
            if features.law[f, 1] != 0.0 or features.law[f, 2] != 0.0:
                restitution(f, features, poses, turned, index, span.speed, rate)
    take_again(n, features, poses, index, problem, iterate)


@kernel(f"boolean(Index, BodyProblem, {A2}, int64)", borrows=True)
def idle(index: Index, problem: BodyProblem, p: Array, c: int) -> bool:
    """Return whether contact c joined and does not push."""
    return bool(index.marks[JOINED, index.marks[WHICH, c]] and p[c, 0] == 0.0 and p[c, 1] == 0.0 and p[c, 2] == 0.0)


@kernel("boolean(int64, Features, Poses, Index, BodyProblem, Iterate)", borrows=True)
def leave_idle(n: int, features: Features, poses: Poses, index: Index, problem: BodyProblem, iterate: Iterate) -> bool:
    """Let the contacts that joined and do not push act no longer; return whether there were any.

    Others may have stopped what they joined for. Where they stay they would be closed, which pulls the bodies.
    """
    numbers, some = index.marks, False
    for c in range(problem.contacts.first[-1]):
        some = some or idle(index, problem, iterate.p, c)
    if not some:
        return False
    lay_aside(n, index, problem, iterate)
    for c in range(problem.contacts.first[-1]):
        if idle(index, problem, iterate.p, c):
            numbers[ACTS, numbers[WHICH, c]] = 0
    take_again(n, features, poses, index, problem, iterate)
    return True


@kernel(f"float64({A3}, {A2}, {A2}, {A2})", borrows=True)
def largest_change(M: Array, h: Array, v: Array, guess: Array) -> float:
    """Return the largest change of speed of a body (spins by the radius of gyration), relative to the largest speed."""
    change = speed = 0.0
    for i in range(len(v)):
        if not np.isfinite(v[i, 0] + v[i, 1] + v[i, 2] + v[i, 3] + v[i, 4] + v[i, 5]):
            return np.inf
        m = M[i, 3, 0]
        d = e = 0.0
        for k in range(3):
            J = M[i, k, k] / m
            x, y, z = v[i, k] - guess[i, k], v[i, 3 + k] - guess[i, 3 + k], h[i, k] / m
            d += x * x + J * y * y
            e += v[i, k] * v[i, k] + J * v[i, 3 + k] * v[i, 3 + k] + z * z
        change, speed = max(change, d), max(speed, e)
    return float(np.sqrt(change / speed)) if change > 0.0 else 0.0


@kernel(
    "Tuple((float64, float64, int64, int64, float64, boolean))(BodyProblem, Ordering, BodyWork, Iterate, "
    "float64, float64, float64, boolean)",
    inline=True,
    borrows=True,
)
def solve_contacts(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, alpha: float, near: float, ready: float,
    held: bool,
) -> tuple[float, float, int, int, float, bool]:  # fmt: skip
    """Solve the contact problem to E <= near; return E, its floor, factorisations, proximal solves, alpha, held."""
    p, u, best, _other, v = iterate
    slow = 0
    E, factors, floor, alpha, held = modes_newton(
        problem, ordering, work, p, v, u, best, alpha, near, ready, MOST_FACTORS, held
    )
    if not max(near, floor) >= E:
        slow = 1
        E, used, floor = proximal_point(problem, ordering, work, p, v, u, near, 25)
        factors, held = factors + used, False
        if ready < E < POLISHED:
            E, used, floor, alpha, held = modes_newton(
                problem, ordering, work, p, v, u, best, alpha, near, ready, MOST_FACTORS, held
            )
            factors += used
    return E, floor, factors, slow, alpha, held


@kernel(
    "Tuple((float64, float64, int64))(BodyProblem, Ordering, BodyWork, Iterate, float64, float64, float64)",
    inline=True,
    borrows=True,
)
def rest_bodies(
    problem: BodyProblem, ordering: Ordering, work: BodyWork, iterate: Iterate, near: float, E: float, floor: float
) -> tuple[float, float, int]:  # fmt: skip
    """Remove what rounding leaves of the speed of bodies at rest; return E, its floor and factorisations."""
    p, u, best, _other, v = iterate
    factors = 0
    if settle(problem, p, v, work.dv, work.F, 1) > 0:
        take_up(problem, ordering, work, p, u, work.F)
        E, _used, floor, _alpha, _held = modes_newton(
            problem, ordering, work, p, v, u, best, FINE, near, np.inf, 0, True
        )
        factors = 1
        settle(problem, p, v, work.dv, work.F, 0)
    return E, floor, factors


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


@kernel("float64(BodyProblem, BodyWork, Iterate)", borrows=True)
def residual_at_end(problem: BodyProblem, work: BodyWork, iterate: Iterate) -> float:
    """Return E of the impulses in the contact problem renewed for the end that they lead to, less its rounding."""
    p, u, best, _other, v = iterate
    scale, floor = without_impulses(problem, work, p, v, u, best)
    motion(problem, p, work.F, v, u)
    return residual(problem, scale, p, u) - floor


@kernel(
    "int64(int64, Features, BodyState, Poses, Index, BodyProblem, BodyWork, Iterate, BodySpan, int64, float64, "
    "boolean)",
    borrows=True,
)
def end_passes(
    n: int, features: Features, state: BodyState, poses: Poses, index: Index, problem: BodyProblem, work: BodyWork,
    iterate: Iterate, span: BodySpan, late: int, goal: float, left: bool,
) -> int:  # fmt: skip
    """Say what follows passes that change nothing more; NEXT if their impulses do not obey the laws at the end.

    left: whether idle contacts have left before: where they close once more they stay.
    """
    if residual_at_end(problem, work, iterate) > max(CLAIMED, goal):
        return NEXT
    if late > 0:
        join_late(n, features, state, poses, index, problem, iterate, span)
        return JOINS
    return ENDS if left or not leave_idle(n, features, poses, index, problem, iterate) else LEAVES


@kernel(f"void({A2}, {A2})", borrows=True)
def take_guess(v: Array, guess: Array) -> None:
    """Let v be what v+ is taken to be."""
    for i in range(len(v)):
        for k in range(6):
            guess[i, k] = v[i, k]


@kernel("boolean(BodyProblem, Poses, Iterate, BodySpan, float64, float64, float64, int64)", borrows=True)
def give_up(
    problem: BodyProblem, poses: Poses, iterate: Iterate, span: BodySpan, change: float, last: float, earlier: float,
    passes: int,
) -> bool:  # fmt: skip
    """Return whether passes that have not settled will not, or cost more than the laws at the middle of the step."""
    if span.laws[MIDDLE] != 0.0:
        return False
    if hopeless(change, last, earlier, MAX_PASSES - passes):
        return True
    return bool(passes > 2 and change > max(GAINED * earlier, NEARLY) and looped(problem, iterate.p, poses.moved))


@kernel(
    "UniTuple(float64, 7)(int64, Bodies, Features, BodyState, Poses, Index, Aside, BodyProblem, BodyProblem, "
    "Ordering, BodyWork, BodyWork, Iterate, BodySpan, float64, int64, boolean)",
    borrows=True,
)
def solve_step(
    n: int, bodies: Bodies, features: Features, state: BodyState, poses: Poses, index: Index, aside: Aside,
    problem: BodyProblem, beside: BodyProblem, ordering: Ordering, work: BodyWork, bench: BodyWork, iterate: Iterate,
    span: BodySpan, tol: float, given: int, held: bool,
) -> tuple[float, float, float, float, float, float, float]:  # fmt: skip
    """Solve the contact problem, renewed until v+ no longer changes; the answer is in `guess` and p, the end in q1.

    held: whether the factors at hand are those of the contacts that act. `bench` is where the projection works, so
    that they are kept from pass to pass. Returns E, what counted as solved, the numbers of factorisations, passes and
    proximal solves, DONE, HARD or OVERLAP, and whether the next step may hold the factors if nothing moves till then.
    """
    last, earlier, E, goal, alpha, factors, passes, slow = np.inf, np.inf, 0.0, tol, FINE, 0, 0, 0
    begun, settled, code = 0, False, OVERLAP  # begun: the passes that there were before those with the contacts now
    fine = False  # whether the last answer was a full one: a rough one may not have moved at all
    joined, left = given > 0, False  # whether contacts may have joined, and idle ones have left again
    for f in range(0 if given else n):
        index.marks[JOINED, f] = 0
    while passes < begun + MAX_PASSES:
        late, used = refresh(
            n, bodies, features, state, poses, index, aside, problem, beside, ordering, bench, iterate, span,
            int(passes == 0 and not given),
        )  # fmt: skip
        factors += used
        if late < 0:
            break
        said = NEXT
        if settled:
            said = end_passes(n, features, state, poses, index, problem, work, iterate, span, late, goal, left)
        if said == ENDS:
            code = DONE
            break
        if said != NEXT:
            last, earlier, begun, settled, held = np.inf, np.inf, passes, False, False
            joined, left = joined or said == JOINS, left or said == LEAVES
            continue
        passes += 1
        near = max(tol, min(ROUGH, FINER * last))
        ready = near if given and passes == 1 else READY * tol
        E, floor, used, more, alpha, held = solve_contacts(problem, ordering, work, iterate, alpha, near, ready, held)
        goal, factors, slow = max(near, floor), factors + used, slow + more
        if not goal >= E and not (E <= ROUGH and last > NEARLY):
            code = HARD
            break
        E, floor, used = rest_bodies(problem, ordering, work, iterate, near, E, floor)
        goal, factors, held = max(tol, floor), factors + used, held and used == 0
        change = largest_change(problem.M, problem.h, iterate.v, state.guess)
        if change == np.inf:
            break
        take_guess(iterate.v, state.guess)
        settled = goal >= E and (change <= SETTLED or (fine and stalled(change, last, earlier)))
        if goal >= E and change == 0.0 and late == 0 and not joined and held_push(index, aside, problem, iterate.p):
            code = DONE
            break
        if not settled and give_up(problem, poses, iterate, span, change, last, earlier, passes - begun):
            break
        last, earlier, fine = change, last if last > SETTLED else np.inf, bool(goal >= E)
    keeps = held and passes == 1 and not joined and alpha == FINE and not slips(problem.contacts.first[-1], work.mode)
    return E, goal, float(factors), float(passes), float(slow), float(code), float(int(keeps))


@kernel(f"boolean(int64, BodyState, Poses, Index, BodyProblem, {A2})", borrows=True)
def end_step(n: int, state: BodyState, poses: Poses, index: Index, problem: BodyProblem, p: Array) -> bool:
    """Put the state at the end of the step, and the impulses that the next one must know (not of rebounds).

    Returns whether nothing has moved, bit by bit, and nothing moves.
    """
    q, v, impulse, guess, q1 = state.q, state.v, state.impulse, state.guess, state.q1
    bounce, numbers = index.bounce, index.marks
    for f in range(n):
        for k in range(3):
            impulse[f, k] = 0.0
    for c in range(problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        if bounce[f, 0] == 0.0 and bounce[f, 1] == 0.0 and bounce[f, 2] == 0.0:
            for k in range(3):
                impulse[f, k] = p[c, k]
    turn_spins(poses.R[1], guess, 1.0, v)
    still = True
    for i in range(len(q)):
        for k in range(7):
            still = still and q[i, k] == q1[i, k]
            q[i, k] = q1[i, k]
        for k in range(6):
            still = still and v[i, k] == 0.0
    return still
