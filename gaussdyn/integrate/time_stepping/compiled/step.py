"""One step of the theta scheme for free bodies with contacts, compiled; see `scheme`.

What the kernels cannot do themselves they hand to their caller by a code: a new graph of contacts to be analysed, too
little room, a contact problem that Newton's method on the modes does not solve, a projection that does not succeed, a
step at whose end bodies overlap in a contact that is not listed.
"""

from __future__ import annotations

import numpy as np

from ...._jit import kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.coulomb import step_sizes
from ....contact.free_bodies.newton import (
    FINE,
    PROBLEM,
    READY,
    WORK,
    Problem,
    Work,
    modes_newton,
    motion,
    residual,
    slips,
    without_impulses,
)
from ....contact.free_bodies.proximal import proximal_point
from ....contact.free_bodies.structure import A1, A2, A3, I1, block_multiply, relative_motion
from ....linalg.block_lu import ORDERING, Ordering
from ..scheme import CLAIMED, FINER, MAX_PASSES, ROUGH, SETTLED
from ..settling import hopeless, stalled
from .active_contacts import (
    ACTS,
    HELD,
    INDEX,
    JOINED,
    LATE,
    OF,
    POSES,
    WHICH,
    Index,
    Poses,
    find_acting,
    find_late,
    rates_at,
    restitution,
)
from .body_kinematics import (
    BODIES,
    FEATURES,
    Bodies,
    Features,
    evaluate,
    momentum,
    move_bodies,
    place_contacts,
    pose_bodies,
    sort_by_pair,
    turn_spins,
)
from .position_projection import CONTRARY, ITERATE, STATE, Iterate, StateArrays, held_push, hold_pushing, project_end
from .rest_correction import settle, take_up

DONE, GRAPH, ROOM, HARD, OVERLAP, EVENT, GAINS, UNLISTED = range(8)
MOST_FACTORS = 60
NEARLY = 1e-10  # last changes above this leave the rates of dependent contacts in disagreement
POLISHED = 1e-6  # residuals from here on are Newton's to finish
GAINED = 0.01  # by two passes: where bodies are held in loops that gain less, they are not worth their price


@kernel(f"void({INDEX}, {PROBLEM}, {A2}, {A2})", borrows=True)
def recall(index: Index, problem: Problem, impulse: Array, p: Array) -> None:
    """Put the last impulses of the contacts that act."""
    for c in range(problem[0][1][-1]):
        for k in range(3):
            p[c, k] = impulse[index[0][WHICH, c], k]


@kernel(f"void(int64, {FEATURES}, {POSES}, {INDEX}, {PROBLEM}, {A2}, {A2})", borrows=True)
def place_acting(
    n: int, features: Features, poses: Poses, index: Index, problem: Problem, impulse: Array, p: Array
) -> None:
    """Put the contacts that act at the middle of the step, their laws, scales and first impulses."""
    numbers, contacts = index[0], problem[0]
    sort_by_pair(n, numbers[ACTS], numbers[OF], contacts[1], numbers[WHICH])
    place_contacts(contacts, numbers[WHICH], features[1], poses[2][1], poses[0][1], poses[3], problem[4])
    for c in range(contacts[1][-1]):
        f = numbers[WHICH, c]
        problem[5][c] = features[4][f, 0]
    step_sizes(contacts, problem[5], problem[2], problem[6])
    recall(index, problem, impulse, p)


@kernel(
    f"boolean(int64, {BODIES}, {FEATURES}, {STATE}, {POSES}, {INDEX}, {PROBLEM}, {ITERATE}, {A1}, int64)", borrows=True
)
def begin_step(
    n: int, bodies: Bodies, features: Features, state: StateArrays, poses: Poses, index: Index, problem: Problem,
    iterate: Iterate, span: Array, still: int,
) -> bool:  # fmt: skip
    """Put everything at the middle of the step: poses, contacts that act, last impulses, scales.

    Returns whether M, contacts and scales are what they were.

    span = (t, dt, t_end, theta, gap, speed, whether to project, whether the laws hold at the middle, the fraction of
    all restitution that is kept); the poses at the start are known. With `still` nothing has moved since the last
    step began: what was found then still stands.
    """
    x, R, geometry, _frame, moved, _rows = poses
    q, v, impulse, force, v0, guess, v1, _mean, free, q1 = state
    dt, theta = span[1], span[3]
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
    momentum(bodies, R[1], force, v0, guess, dt, theta, problem[1], problem[2], problem[3])
    block_multiply(problem[2], problem[3], free)
    turn_spins(R[1], free, 1.0, free)
    changed = find_acting(n, features, poses, index, impulse, v, free, v1, rest, span)
    same = bool(still and changed == 0)
    if same:
        recall(index, problem, impulse, iterate[0])
    else:
        place_acting(n, features, poses, index, problem, impulse, iterate[0])
    return same


@kernel(f"void(int64, {FEATURES}, {STATE}, {POSES}, float64, float64)", borrows=True)
def move_to_end(n: int, features: Features, state: StateArrays, poses: Poses, dt: float, theta: float) -> None:
    """Put the end of the step as v and v1 lead there, and the contacts of the bodies that `moved`."""
    x, R, geometry, _frame, moved, _rows = poses
    q, v, v1, mean, q1 = state[0], state[1], state[6], state[7], state[9]
    for i in range(len(v)):
        for k in range(6):
            mean[i, k] = (1.0 - theta) * v[i, k] + theta * v1[i, k]
    move_bodies(q, mean, dt, q1)
    pose_bodies(q1, x[2], R[2])
    evaluate(n, features, moved, x[2], R[2], geometry[1], geometry[2])


@kernel(f"void({STATE}, {POSES})", borrows=True)
def note_moved(state: StateArrays, poses: Poses) -> None:
    """Put v1, the guess of v+ with spins in body axes, and mark the bodies that move."""
    v, guess, v1, moved = state[1], state[5], state[6], poses[4]
    turn_spins(poses[1][1], guess, 1.0, v1)
    for i in range(len(v)):
        moved[i] = 0
        for k in range(6):
            moved[i] += v[i, k] != 0.0 or v1[i, k] != 0.0


@kernel(
    f"UniTuple(int64, 2)(int64, {BODIES}, {FEATURES}, {STATE}, {POSES}, {INDEX}, {PROBLEM}, {ORDERING}, {WORK}, "
    f"{ITERATE}, {A1})",
    borrows=True,
)
def project_held(
    n: int, bodies: Bodies, features: Features, state: StateArrays, poses: Poses, aside: Index, beside: Problem,
    ordering: Ordering, work: Work, iterate: Iterate, span: Array,
) -> tuple[int, int]:  # fmt: skip
    """Project the end of the step with the gaps that are held, and without where these contradict one another.

    Returns the passes, negative if it fails, and the factorisations.
    """
    shifts, factors = project_end(n, bodies, features, state, poses, aside, beside, ordering, work, iterate)
    if shifts == CONTRARY:
        move_to_end(n, features, state, poses, span[1], span[3])
        for f in range(n):
            aside[0][HELD, f] = 0
        shifts, used = project_end(n, bodies, features, state, poses, aside, beside, ordering, work, iterate)
        factors += used
    return shifts, factors


@kernel(
    f"UniTuple(int64, 2)(int64, {BODIES}, {FEATURES}, {STATE}, {POSES}, {INDEX}, {INDEX}, {PROBLEM}, {PROBLEM}, "
    f"{ORDERING}, {WORK}, {ITERATE}, {A1}, int64)",
    borrows=True,
)
def refresh(
    n: int, bodies: Bodies, features: Features, state: StateArrays, poses: Poses, index: Index, aside: Index,
    problem: Problem, beside: Problem, ordering: Ordering, work: Work, iterate: Iterate, span: Array, first: int,
) -> tuple[int, int]:  # fmt: skip
    """Put h, M and w of the contact problem for the guess of v+: the laws hold for the rates at the end it leads to.

    Where the laws hold at the middle w does not depend on the guess. Returns how many contacts close late (negative if
    the projection failed) and the factorisations of the projection. `beside` is the problem of the projection.
    """
    x, R, geometry, frame, moved, rows = poses
    _q, v, _impulse, force, v0, guess, v1, _mean, _free, _q1 = state
    numbers, bounce, pair = index[0], index[1], features[1]
    dt, theta, w, u, rate = span[1], span[3], problem[4], iterate[1], rows[2]
    rest, factors = (1.0 - theta) * dt, 0
    if not first:  # else it has just been done
        momentum(bodies, R[1], force, v0, guess, dt, theta, problem[1], problem[2], problem[3])
    note_moved(state, poses)
    move_to_end(n, features, state, poses, dt, theta)
    if span[6] > 0.0:
        hold_pushing(n, features, state, poses, index, aside, problem, iterate[0], u, rest, first, span)
        shifts, factors = project_held(
            n, bodies, features, state, poses, aside, beside, ordering, work, iterate, span
        )  # fmt: skip
        if shifts < 0:
            return -1, factors
    late = find_late(n, features, poses, index, v, rest)
    turn_spins(R[2], v1, 0.0, v1)
    relative_motion(problem[0], guess, u)
    for c in range(problem[0][1][-1]):
        f = numbers[WHICH, c]
        for k in range(3):
            w[c, k] = span[8] * bounce[f, k]
        if span[7] == 0.0 and (moved[pair[f, 0]] or moved[pair[f, 1]]):
            rates_at(geometry[2, f], pair[f], x[2], v1, frame, rate)
            for k in range(3):
                w[c, k] += rate[k] - u[c, k]
    return late, factors


@kernel(f"void(int64, {INDEX}, {PROBLEM}, {ITERATE})", borrows=True)
def lay_aside(n: int, index: Index, problem: Problem, iterate: Iterate) -> None:
    """Keep impulses and normal speeds by feature, for `take_again`."""
    p, u, _best, impulse, _v = iterate
    for f in range(n):
        impulse[f, 0] = impulse[f, 1] = impulse[f, 2] = 0.0
        index[2][f] = np.inf
    for c in range(problem[0][1][-1]):
        f = index[0][WHICH, c]
        for k in range(3):
            impulse[f, k] = p[c, k]
        index[2][f] = u[c, 0]


@kernel(f"void(int64, {FEATURES}, {POSES}, {INDEX}, {PROBLEM}, {ITERATE})", borrows=True)
def take_again(n: int, features: Features, poses: Poses, index: Index, problem: Problem, iterate: Iterate) -> None:
    """Put the contacts that act now, with the impulses and normal speeds laid aside."""
    place_acting(n, features, poses, index, problem, iterate[3], iterate[0])
    for c in range(problem[0][1][-1]):
        iterate[1][c, 0] = index[2][index[0][WHICH, c]]


@kernel(f"void(int64, {FEATURES}, {STATE}, {POSES}, {INDEX}, {PROBLEM}, {ITERATE}, {A1})", borrows=True)
def join_late(
    n: int, features: Features, state: StateArrays, poses: Poses, index: Index, problem: Problem, iterate: Iterate,
    span: Array,
) -> None:  # fmt: skip
    """Let the contacts that close late act, with their restitution terms."""
    numbers, rate, turned = index[0], poses[5][2], state[7]
    lay_aside(n, index, problem, iterate)
    turn_spins(poses[1][0], state[1], 0.0, turned)
    for f in range(n):
        if numbers[LATE, f]:
            numbers[ACTS, f] = numbers[JOINED, f] = 1
            if features[4][f, 1] != 0.0 or features[4][f, 2] != 0.0:
                restitution(f, features, poses, turned, index, span[5], rate)
    take_again(n, features, poses, index, problem, iterate)


@kernel(f"boolean({INDEX}, {PROBLEM}, {A2}, int64)", borrows=True)
def idle(index: Index, problem: Problem, p: Array, c: int) -> bool:
    """Return whether contact c joined and does not push."""
    return bool(index[0][JOINED, index[0][WHICH, c]] and p[c, 0] == 0.0 and p[c, 1] == 0.0 and p[c, 2] == 0.0)


@kernel(f"boolean(int64, {FEATURES}, {POSES}, {INDEX}, {PROBLEM}, {ITERATE})", borrows=True)
def leave_idle(n: int, features: Features, poses: Poses, index: Index, problem: Problem, iterate: Iterate) -> bool:
    """Let the contacts that joined and do not push act no longer; return whether there were any.

    Others may have stopped what they joined for. Where they stay they would be closed, which pulls the bodies.
    """
    numbers, some = index[0], False
    for c in range(problem[0][1][-1]):
        some = some or idle(index, problem, iterate[0], c)
    if not some:
        return False
    lay_aside(n, index, problem, iterate)
    for c in range(problem[0][1][-1]):
        if idle(index, problem, iterate[0], c):
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
    f"Tuple((float64, float64, int64, int64, float64, boolean))({PROBLEM}, {ORDERING}, {WORK}, {ITERATE}, float64, "
    "float64, float64, boolean)",
    inline=True,
    borrows=True,
)
def solve_contacts(
    problem: Problem, ordering: Ordering, work: Work, iterate: Iterate, alpha: float, near: float, ready: float,
    held: bool,
) -> tuple[float, float, int, int, float, bool]:  # fmt: skip
    """Solve the contact problem to E <= near; return E, its floor, factorisations, proximal solves, alpha, held."""
    p, u, best, _p2, v = iterate
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
    f"Tuple((float64, float64, int64))({PROBLEM}, {ORDERING}, {WORK}, {ITERATE}, float64, float64, float64)",
    inline=True,
    borrows=True,
)
def rest_bodies(
    problem: Problem, ordering: Ordering, work: Work, iterate: Iterate, near: float, E: float, floor: float
) -> tuple[float, float, int]:  # fmt: skip
    """Remove what rounding leaves of the speed of bodies at rest; return E, its floor and factorisations."""
    p, u, best, _p2, v = iterate
    factors = 0
    if settle(problem, p, v, work[5], work[6], 1) > 0:
        take_up(problem, ordering, work, p, u, work[6])
        E, _used, floor, _alpha, _held = modes_newton(
            problem, ordering, work, p, v, u, best, FINE, near, np.inf, 0, True
        )
        factors = 1
        settle(problem, p, v, work[5], work[6], 0)
    return E, floor, factors


@kernel(f"boolean({PROBLEM}, {A2}, {I1})", borrows=True)
def looped(problem: Problem, p: Array, touched: IntArray) -> bool:
    """Return whether bodies hold one another in a loop: more pairs push than there are bodies in them.

    touched (bodies + 1,) is work space.
    """
    pair, first, pairs, bodies = problem[0][0], problem[0][1], 0, 0
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


@kernel(f"float64({PROBLEM}, {WORK}, {ITERATE})", borrows=True)
def residual_at_end(problem: Problem, work: Work, iterate: Iterate) -> float:
    """Return E of the impulses in the contact problem renewed for the end that they lead to, less its rounding."""
    p, u, best, _p2, v = iterate
    scale, floor = without_impulses(problem, work, p, v, u, best)
    motion(problem, p, work[6], v, u)
    return residual(problem, scale, p, u) - floor


@kernel(
    f"UniTuple(float64, 7)(int64, {BODIES}, {FEATURES}, {STATE}, {POSES}, {INDEX}, {INDEX}, {PROBLEM}, {PROBLEM}, "
    f"{ORDERING}, {WORK}, {WORK}, {ITERATE}, {A1}, float64, int64, boolean)",
    borrows=True,
)
def solve_step(
    n: int, bodies: Bodies, features: Features, state: StateArrays, poses: Poses, index: Index, aside: Index,
    problem: Problem, beside: Problem, ordering: Ordering, work: Work, bench: Work, iterate: Iterate, span: Array,
    tol: float, given: int, held: bool,
) -> tuple[float, float, float, float, float, float, float]:  # fmt: skip
    """Solve the contact problem, renewed until v+ no longer changes; the answer is in `guess` and p, the end in q1.

    held: whether the factors at hand are those of the contacts that act. `bench` is where the projection works, so
    that they are kept from pass to pass. Returns E, what counted as solved, the numbers of factorisations, passes and
    proximal solves, DONE, HARD or OVERLAP, and whether the next step may hold the factors if nothing moves till then.
    """
    guess, v = state[5], iterate[4]
    last, earlier, E, goal, alpha, factors, passes, slow = np.inf, np.inf, 0.0, tol, FINE, 0, 0, 0
    begun, settled, code = 0, False, OVERLAP  # begun: the passes that there were before those with the contacts now
    fine = False  # whether the last answer was a full one: a rough one may not have moved at all
    joined = given > 0  # whether contacts may have joined
    left = False  # whether idle ones have left again: where they close once more they stay
    if not given:
        for f in range(n):
            index[0][JOINED, f] = 0
    while passes < begun + MAX_PASSES:
        late, used = refresh(
            n, bodies, features, state, poses, index, aside, problem, beside, ordering, bench, iterate, span,
            int(passes == 0 and not given),
        )  # fmt: skip
        factors += used
        if late < 0:
            break
        settled = settled and residual_at_end(problem, work, iterate) <= max(CLAIMED, goal)
        if settled and late > 0:
            join_late(n, features, state, poses, index, problem, iterate, span)
            last, earlier, begun, settled, joined, held = np.inf, np.inf, passes, False, True, False
            continue
        if settled and (left or not leave_idle(n, features, poses, index, problem, iterate)):
            code = DONE
            break
        if settled:
            last, earlier, begun, settled, left, held = np.inf, np.inf, passes, False, True, False
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
        change = largest_change(problem[1], problem[3], v, guess)
        if change == np.inf:
            break
        for i in range(len(v)):
            for k in range(6):
                guess[i, k] = v[i, k]
        settled = goal >= E and (change <= SETTLED or (fine and stalled(change, last, earlier)))
        if goal >= E and change == 0.0 and late == 0 and not joined and held_push(index, aside, problem, iterate[0]):
            code = DONE
            break
        if not settled and span[7] == 0.0 and hopeless(change, last, earlier, begun + MAX_PASSES - passes):
            break
        slowly = not settled and span[7] == 0.0 and passes > begun + 2 and change > max(GAINED * earlier, NEARLY)
        if slowly and looped(problem, iterate[0], poses[4]):
            break
        last, earlier, fine = change, last if last > SETTLED else np.inf, bool(goal >= E)
    keeps = held and passes == 1 and not joined and alpha == FINE and not slips(problem[0][1][-1], work[8])
    return E, goal, float(factors), float(passes), float(slow), float(code), float(int(keeps))


@kernel(f"boolean(int64, {STATE}, {POSES}, {INDEX}, {PROBLEM}, {A2})", borrows=True)
def end_step(n: int, state: StateArrays, poses: Poses, index: Index, problem: Problem, p: Array) -> bool:
    """Put the state at the end of the step, and the impulses that the next one must know (not of rebounds).

    Returns whether nothing has moved, bit by bit, and nothing moves.
    """
    q, v, impulse, guess, q1 = state[0], state[1], state[2], state[5], state[9]
    bounce, numbers = index[1], index[0]
    for f in range(n):
        for k in range(3):
            impulse[f, k] = 0.0
    for c in range(problem[0][1][-1]):
        f = numbers[WHICH, c]
        if bounce[f, 0] == 0.0 and bounce[f, 1] == 0.0 and bounce[f, 2] == 0.0:
            for k in range(3):
                impulse[f, k] = p[c, k]
    turn_spins(poses[1][1], guess, 1.0, v)
    still = True
    for i in range(len(q)):
        for k in range(7):
            still = still and q[i, k] == q1[i, k]
            q[i, k] = q1[i, k]
        for k in range(6):
            still = still and v[i, k] == 0.0
    return still
