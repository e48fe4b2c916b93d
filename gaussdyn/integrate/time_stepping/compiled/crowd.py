"""A step in which contacts close on bodies that others hold, compiled: solved once, open gaps anticipated.

    M (v+ - v) = dt h + J^T p,    u = J v+, and gap / (theta dt) along N where the contact was open,    laws on (u, p)

all at the midpoint. Whether a contact closes, and where the step then ends, hangs on what others send there, so that
passes towards the laws at that end do not settle in a pile; none are made. A contact that was open at the start ends
closed if it pushes; one that restores leaves as if it had been closed. One that was closed is so for the law, whatever
rounding and projections left of its gap: were that asked back, dependent contacts would contradict one another.
Sources: Stewart, Trinkle (1996), An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and
Coulomb friction; Anitescu, Potra (1997).
"""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.islands import solve_islands
from ....contact.free_bodies.newton import PROBLEM, READY, WORK, Problem, Work
from ....contact.free_bodies.structure import A1, A2, I1
from ....linalg.block_lu import ORDERING, Ordering
from ....mechanics.collision.feature_kinematics import feature_geometry
from ..scheme import MAX_PASSES, SETTLED
from ..settling import stalled
from .active_contacts import ACTS, HELD, INDEX, JOINED, POSES, WHICH, Index, Poses, restitution
from .body_kinematics import BODIES, FEATURES, Bodies, Features, momentum, turn_spins
from .impact_dissipation import begin_again
from .position_projection import ITERATE, LOOSELY, STATE, Iterate, StateArrays, hold_pushing
from .step import (
    DONE,
    HARD,
    OVERLAP,
    largest_change,
    looped,
    move_to_end,
    note_moved,
    place_acting,
    project_held,
    rest_bodies,
)

ROUNDS = 5  # of contacts that begin to push as others restore
AHEAD = 2  # mark of contacts that act and were open at the start
NOTHING = 1e-9  # of the largest impulse: one that may be rounding, as in `MoreauJean`


@kernel(f"boolean(int64, {INDEX}, {PROBLEM}, {I1})", borrows=True)
def may_crowd(n: int, index: Index, problem: Problem, touched: IntArray) -> bool:
    """Return whether contacts are open, and bodies in loops: more pairs of them are near than bodies.

    A stack has none, and its passes settle. touched (bodies + 1,) is work space.
    """
    pair, some, bodies = problem[0][0], False, 0
    for f in range(n):
        some = some or index[0][ACTS, f] == 0
    for i in range(len(touched)):
        touched[i] = 0
    for k in range(len(pair)):
        for side in range(2):
            if pair[k, side] >= 0:
                bodies += touched[pair[k, side]] == 0
                touched[pair[k, side]] = 1
    return some and len(pair) > bodies


@kernel(f"int64(int64, {FEATURES}, {POSES}, {INDEX}, {A1})", borrows=True)
def list_ahead(n: int, features: Features, poses: Poses, index: Index, span: Array) -> int:
    """Let all contacts act, those that are open at the start marked AHEAD; return how many of these there are.

    What acted by itself stays among them as it is in `index`; `forget_ahead` puts that back.
    """
    x, R, begin = poses[0][0], poses[1][0], poses[2][0]
    numbers, bounce, found = index[0], index[1], 0
    for f in range(n):
        a, b = features[1][f, 0], features[1][f, 1]
        feature_geometry(features[0][f], features[2][f], x[a], R[a], x[b], R[b], begin[f])
        numbers[JOINED, f] = not numbers[ACTS, f]
        numbers[ACTS, f] = 1
        if begin[f, 0] > span[4]:
            numbers[ACTS, f] = AHEAD
            bounce[f, 0] = bounce[f, 1] = bounce[f, 2] = 0.0
            found += 1
    return found


@kernel(f"void(int64, {FEATURES}, {STATE}, {POSES}, {INDEX}, {A1})", borrows=True)
def forget_ahead(
    n: int, features: Features, state: StateArrays, poses: Poses, index: Index, span: Array
) -> None:  # fmt: skip
    """Let those contacts act that did before `list_ahead`, with their restitution terms."""
    numbers, bounce, law = index[0], index[1], features[4]
    turn_spins(poses[1][0], state[1], 0.0, state[7])
    for f in range(n):
        numbers[ACTS, f] = not numbers[JOINED, f]
        numbers[JOINED, f] = 0
        bounce[f, 0] = bounce[f, 1] = bounce[f, 2] = 0.0
        if numbers[ACTS, f] and (law[f, 1] != 0.0 or law[f, 2] != 0.0):
            restitution(f, features, poses, state[7], index, span[5], poses[5][2])


@kernel(f"void({POSES}, {INDEX}, {PROBLEM}, {A1})", borrows=True)
def put_gaps(poses: Poses, index: Index, problem: Problem, span: Array) -> None:
    """Put w: restitution, and the rates at which contacts that were open close by the end of the step."""
    numbers, bounce, middle, w = index[0], index[1], poses[2][1], problem[4]
    for c in range(problem[0][1][-1]):
        f = numbers[WHICH, c]
        for k in range(3):
            w[c, k] = span[8] * bounce[f, k]
        if numbers[ACTS, f] == AHEAD and bounce[f, 0] == 0.0:
            w[c, 0] += max(middle[f, 0], 0.0) / (span[3] * span[1])


@kernel(f"int64({INDEX}, {PROBLEM}, {A2}, {I1}, int64)", borrows=True)
def crowded(index: Index, problem: Problem, p: Array, pairs: IntArray, force: int) -> int:
    """Return the feature with the largest impulse of those that close on a body that another pair holds; -1 without.

    With `force` that with the largest impulse of all. pairs (bodies + 1,) is work space.
    """
    pair, first = problem[0][0], problem[0][1]
    for i in range(len(pairs)):
        pairs[i] = 0
    for k in range(len(first) - 1):
        pushes = False
        for c in range(first[k], first[k + 1]):
            pushes = pushes or p[c, 0] > 0.0
        for side in range(2):
            if pair[k, side] >= 0:
                pairs[pair[k, side]] += pushes
    found, most = -1, 0.0
    for k in range(len(first) - 1):
        held = max(pairs[pair[k, 0]] if pair[k, 0] >= 0 else 0, pairs[pair[k, 1]]) > 1
        for c in range(first[k], first[k + 1]):
            closes = held and index[0][ACTS, index[0][WHICH, c]] == AHEAD
            if (closes or force) and p[c, 0] > most:
                found, most = index[0][WHICH, c], p[c, 0]
    return found


@kernel(f"int64({FEATURES}, {STATE}, {POSES}, {INDEX}, {PROBLEM}, {A2}, {A1})", borrows=True)
def rebound(
    features: Features, state: StateArrays, poses: Poses, index: Index, problem: Problem, p: Array, span: Array
) -> int:
    """Put the restitution terms of contacts that close in the step and push; return how many restore."""
    law, found = features[4], 0
    turn_spins(poses[1][0], state[1], 0.0, state[7])
    for c in range(problem[0][1][-1]):
        f = index[0][WHICH, c]
        if index[0][ACTS, f] == AHEAD and p[c, 0] > 0.0 and (law[f, 1] != 0.0 or law[f, 2] != 0.0):
            restitution(f, features, poses, state[7], index, span[5], poses[5][2])
            found += index[1][f, 0] != 0.0 or index[1][f, 1] != 0.0 or index[1][f, 2] != 0.0
    return found


@kernel(f"void(int64, {FEATURES}, {STATE}, {POSES}, {INDEX}, {INDEX}, {PROBLEM}, {ITERATE}, {A1})", borrows=True)
def hold_crowd(
    n: int, features: Features, state: StateArrays, poses: Poses, index: Index, aside: Index, problem: Problem,
    iterate: Iterate, span: Array,
) -> None:  # fmt: skip
    """Mark the contacts that end closed, or at the height of their rebound: those without speed, and all that push."""
    p, u, bounce, held, most = iterate[0], iterate[1], index[1], aside[0][HELD], 0.0
    rest, span[7] = (1.0 - span[3]) * span[1], 1.0
    hold_pushing(n, features, state, poses, index, aside, problem, p, u, rest, 0, span)
    span[7] = 0.0
    for c in range(problem[0][1][-1]):
        most = max(most, abs(p[c, 0]), abs(p[c, 1]), abs(p[c, 2]))
    for c in range(problem[0][1][-1]):
        f = index[0][WHICH, c]
        if held[f] == 0 and p[c, 0] > NOTHING * most:
            rebounds = bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0
            held[f] = 1 if rebounds else LOOSELY


@kernel(f"void({BODIES}, {STATE}, {POSES}, {PROBLEM}, {A1})", borrows=True)
def renew(bodies: Bodies, state: StateArrays, poses: Poses, problem: Problem, span: Array) -> None:
    """Put M and h for the guess of v+."""
    M, inverse, h = problem[1], problem[2], problem[3]
    momentum(bodies, poses[1][1], state[3], state[4], state[5], span[1], span[3], M, inverse, h)


@kernel(
    f"Tuple((float64, float64, int64, int64, int64, boolean))({BODIES}, {STATE}, {POSES}, {PROBLEM}, {ORDERING}, "
    f"{WORK}, {ITERATE}, {A1}, float64, float64, float64)"
)
def settle_crowd(
    bodies: Bodies, state: StateArrays, poses: Poses, problem: Problem, ordering: Ordering, work: Work,
    iterate: Iterate, span: Array, tol: float, E: float, floor: float,
) -> tuple[float, float, int, int, int, bool]:  # fmt: skip
    """Solve again until v+ is the one for which the gyroscopic moments were taken; it is in `guess`.

    Returns E, its floor, factorisations, passes and slow solves, and whether it succeeded.
    """
    guess, v, last, earlier = state[5], iterate[4], 1.0, 1.0
    factors = slow = 0
    for passes in range(MAX_PASSES):
        if not max(tol, floor) >= E:
            break
        E, floor, used = rest_bodies(problem, ordering, work, iterate, tol, E, floor)
        change = largest_change(problem[1], problem[3], v, guess)
        for i in range(len(v)):
            for k in range(6):
                guess[i, k] = v[i, k]
        factors += used
        if change <= SETTLED or stalled(change, last, earlier):
            return E, floor, factors, passes, slow, bool(max(tol, floor) >= E)
        last, earlier = change, last
        renew(bodies, state, poses, problem, span)
        E, floor, used, more = solve_islands(problem, iterate, tol, tol)
        factors, slow = factors + used, slow + more
    return E, floor, factors, MAX_PASSES, slow, False


@kernel(
    f"UniTuple(float64, 7)(int64, {BODIES}, {FEATURES}, {STATE}, {POSES}, {INDEX}, {INDEX}, {PROBLEM}, {PROBLEM}, "
    f"{ORDERING}, {WORK}, {WORK}, {ITERATE}, {A1}, float64, int64)",
    borrows=True,
)
def crowded_step(
    n: int, bodies: Bodies, features: Features, state: StateArrays, poses: Poses, index: Index, aside: Index,
    problem: Problem, beside: Problem, ordering: Ordering, work: Work, bench: Work, iterate: Iterate, span: Array,
    tol: float, force: int,
) -> tuple[float, float, float, float, float, float, float]:  # fmt: skip
    """Take the step once, if it is one of a pile or by `force`; else put everything back.

    In a pile contacts close on bodies that others hold, or bodies hold one another in loops.

    Returns E, what counted as solved, the numbers of factorisations, passes and slow solves, DONE or why not (then
    the step is another's), and the feature that closes with the largest impulse.
    """
    p, ready, solved = iterate[0], READY * tol, False
    if list_ahead(n, features, poses, index, span) == 0 and not force:
        forget_ahead(n, features, state, poses, index, span)
        return 0.0, tol, 0.0, 0.0, 0.0, float(OVERLAP), -1.0
    place_acting(n, features, poses, index, problem, state[2], p)
    put_gaps(poses, index, problem, span)
    E, floor, factors, slow = solve_islands(problem, iterate, tol, ready)
    which, passes = crowded(index, problem, p, poses[4], force or looped(problem, p, poses[4])), 1
    restores = 0
    for _ in range(ROUNDS if max(tol, floor) >= E and which >= 0 else 0):  # of contacts that push, restored, others
        found = rebound(features, state, poses, index, problem, p, span)
        if found <= restores and solved:
            break
        if found > restores:
            put_gaps(poses, index, problem, span)
            E, floor, used, more = solve_islands(problem, iterate, tol, ready)
            factors, slow, passes, restores = factors + used, slow + more, passes + 1, found
        E, floor, used, again, more, solved = settle_crowd(
            bodies, state, poses, problem, ordering, work, iterate, span, tol, E, floor
        )
        factors, slow, passes = factors + used, slow + more, passes + again
        if not solved:
            break
    if solved:
        note_moved(state, poses)
        move_to_end(n, features, state, poses, span[1], span[3])
        hold_crowd(n, features, state, poses, index, aside, problem, iterate, span)
        shifts, used = project_held(n, bodies, features, state, poses, aside, beside, ordering, bench, iterate, span)
        factors, solved = factors + used, shifts >= 0
    if not solved:
        forget_ahead(n, features, state, poses, index, span)
        begin_again(n, bodies, features, state, poses, index, aside, problem, iterate, span, 0)
    code = float(DONE if solved else HARD)
    return E, max(tol, floor), float(factors), float(passes), float(slow), code, float(which)
