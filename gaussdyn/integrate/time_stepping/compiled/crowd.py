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

from ...._jit import A2, I1, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, BodyWork, Iterate
from ....contact.free_bodies.islands import solve_islands
from ....contact.free_bodies.newton import READY
from ....linalg.block_lu import Ordering
from ....mechanics.collision.feature_kinematics import feature_geometry
from ..scheme import MAX_PASSES, SETTLED
from ..settling import stalled
from .active_contacts import restitution
from .body_kinematics import momentum, turn_spins
from .impact_dissipation import begin_again
from .position_projection import LOOSELY, hold_pushing
from .records import (
    ACTS,
    HELD,
    JOINED,
    MIDDLE,
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


@kernel(f"boolean(int64, Index, BodyProblem, {I1})", borrows=True)
def may_crowd(n: int, index: Index, problem: BodyProblem, touched: IntArray) -> bool:
    """Return whether contacts are open, and bodies in loops: more pairs of them are near than bodies.

    A stack has none, and its passes settle. touched (bodies + 1,) is work space.
    """
    pair, some, bodies = problem.contacts.pair, False, 0
    for f in range(n):
        some = some or index.marks[ACTS, f] == 0
    for i in range(len(touched)):
        touched[i] = 0
    for k in range(len(pair)):
        for side in range(2):
            if pair[k, side] >= 0:
                bodies += touched[pair[k, side]] == 0
                touched[pair[k, side]] = 1
    return some and len(pair) > bodies


@kernel("int64(int64, Features, Poses, Index, BodySpan)", borrows=True)
def list_ahead(n: int, features: Features, poses: Poses, index: Index, span: BodySpan) -> int:
    """Let all contacts act, those that are open at the start marked AHEAD; return how many of these there are.

    What acted by itself stays among them as it is in `index`; `forget_ahead` puts that back.
    """
    x, R, begin = poses.x[0], poses.R[0], poses.geometry[0]
    numbers, bounce, found = index.marks, index.bounce, 0
    for f in range(n):
        a, b = features.bodies[f, 0], features.bodies[f, 1]
        feature_geometry(features.kind[f], features.data[f], x[a], R[a], x[b], R[b], begin[f])
        numbers[JOINED, f] = not numbers[ACTS, f]
        numbers[ACTS, f] = 1
        if begin[f, 0] > span.gap:
            numbers[ACTS, f] = AHEAD
            bounce[f, 0] = bounce[f, 1] = bounce[f, 2] = 0.0
            found += 1
    return found


@kernel("void(int64, Features, BodyState, Poses, Index, BodySpan)", borrows=True)
def forget_ahead(
    n: int, features: Features, state: BodyState, poses: Poses, index: Index, span: BodySpan
) -> None:  # fmt: skip
    """Let those contacts act that did before `list_ahead`, with their restitution terms."""
    numbers, bounce, law = index.marks, index.bounce, features.law
    turn_spins(poses.R[0], state.v, 0.0, state.mean)
    for f in range(n):
        numbers[ACTS, f] = not numbers[JOINED, f]
        numbers[JOINED, f] = 0
        bounce[f, 0] = bounce[f, 1] = bounce[f, 2] = 0.0
        if numbers[ACTS, f] and (law[f, 1] != 0.0 or law[f, 2] != 0.0):
            restitution(f, features, poses, state.mean, index, span.speed, poses.rows[2])


@kernel("void(Poses, Index, BodyProblem, BodySpan)", borrows=True)
def put_gaps(poses: Poses, index: Index, problem: BodyProblem, span: BodySpan) -> None:
    """Put w: restitution, and the rates at which contacts that were open close by the end of the step."""
    numbers, bounce, middle, w = index.marks, index.bounce, poses.geometry[1], problem.w
    for c in range(problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        for k in range(3):
            w[c, k] = span.laws[SHARE] * bounce[f, k]
        if numbers[ACTS, f] == AHEAD and bounce[f, 0] == 0.0:
            w[c, 0] += max(middle[f, 0], 0.0) / (span.theta * span.dt)


@kernel(f"int64(Index, BodyProblem, {A2}, {I1}, int64)", borrows=True)
def crowded(index: Index, problem: BodyProblem, p: Array, pairs: IntArray, force: int) -> int:
    """Return the feature with the largest impulse of those that close on a body that another pair holds; -1 without.

    With `force` that with the largest impulse of all. pairs (bodies + 1,) is work space.
    """
    pair, first = problem.contacts.pair, problem.contacts.first
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
            closes = held and index.marks[ACTS, index.marks[WHICH, c]] == AHEAD
            if (closes or force) and p[c, 0] > most:
                found, most = index.marks[WHICH, c], p[c, 0]
    return found


@kernel(f"int64(Features, BodyState, Poses, Index, BodyProblem, {A2}, BodySpan)", borrows=True)
def rebound(
    features: Features, state: BodyState, poses: Poses, index: Index, problem: BodyProblem, p: Array, span: BodySpan
) -> int:
    """Put the restitution terms of contacts that close in the step and push; return how many restore."""
    law, found = features.law, 0
    turn_spins(poses.R[0], state.v, 0.0, state.mean)
    for c in range(problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        if index.marks[ACTS, f] == AHEAD and p[c, 0] > 0.0 and (law[f, 1] != 0.0 or law[f, 2] != 0.0):
            restitution(f, features, poses, state.mean, index, span.speed, poses.rows[2])
            found += index.bounce[f, 0] != 0.0 or index.bounce[f, 1] != 0.0 or index.bounce[f, 2] != 0.0
    return found


@kernel("void(int64, Features, BodyState, Poses, Index, Aside, BodyProblem, Iterate, BodySpan)", borrows=True)
def hold_crowd(
    n: int, features: Features, state: BodyState, poses: Poses, index: Index, aside: Aside, problem: BodyProblem,
    iterate: Iterate, span: BodySpan,
) -> None:  # fmt: skip
    """Mark the contacts that end closed, or at the height of their rebound: those without speed, and all that push."""
    p, u, bounce, held, most = iterate.p, iterate.u, index.bounce, aside.marks[HELD], 0.0
    rest, span.laws[MIDDLE] = (1.0 - span.theta) * span.dt, 1.0
    hold_pushing(n, features, state, poses, index, aside, problem, p, u, rest, 0, span)
    span.laws[MIDDLE] = 0.0
    for c in range(problem.contacts.first[-1]):
        most = max(most, abs(p[c, 0]), abs(p[c, 1]), abs(p[c, 2]))
    for c in range(problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        if held[f] == 0 and p[c, 0] > NOTHING * most:
            rebounds = bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0
            held[f] = 1 if rebounds else LOOSELY


@kernel("void(Bodies, BodyState, Poses, BodyProblem, BodySpan)", borrows=True)
def renew(bodies: Bodies, state: BodyState, poses: Poses, problem: BodyProblem, span: BodySpan) -> None:
    """Put M and h for the guess of v+."""
    M, inverse, h = problem.M, problem.inverse, problem.h
    momentum(bodies, poses.R[1], state.force, state.v0, state.guess, span.dt, span.theta, M, inverse, h)


@kernel(
    "Tuple((float64, float64, int64, int64, int64, boolean))(Bodies, BodyState, Poses, BodyProblem, Ordering, "
    "BodyWork, Iterate, BodySpan, float64, float64, float64)"
)
def settle_crowd(
    bodies: Bodies, state: BodyState, poses: Poses, problem: BodyProblem, ordering: Ordering, work: BodyWork,
    iterate: Iterate, span: BodySpan, tol: float, E: float, floor: float,
) -> tuple[float, float, int, int, int, bool]:  # fmt: skip
    """Solve again until v+ is the one for which the gyroscopic moments were taken; it is in `guess`.

    Returns E, its floor, factorisations, passes and slow solves, and whether it succeeded.
    """
    guess, v, last, earlier = state.guess, iterate.v, 1.0, 1.0
    factors = slow = 0
    for passes in range(MAX_PASSES):
        if not max(tol, floor) >= E:
            break
        E, floor, used = rest_bodies(problem, ordering, work, iterate, tol, E, floor)
        change = largest_change(problem.M, problem.h, v, guess)
        for i in range(len(v)):
            for k in range(6):
                guess[i, k] = v[i, k]
        factors += used
        if change <= SETTLED or stalled(change, last, earlier):
            return E, floor, factors, passes, slow, bool(max(tol, floor) >= E)
        last, earlier = change, last
        renew(bodies, state, poses, problem, span)
        E, floor, used, more = solve_islands(problem, iterate, tol, tol, span.most)
        factors, slow = factors + used, slow + more
    return E, floor, factors, MAX_PASSES, slow, False


@kernel(
    "UniTuple(float64, 7)(int64, Bodies, Features, BodyState, Poses, Index, Aside, BodyProblem, BodyProblem, "
    "Ordering, BodyWork, BodyWork, Iterate, BodySpan, float64, int64)",
    borrows=True,
)
def crowded_step(
    n: int, bodies: Bodies, features: Features, state: BodyState, poses: Poses, index: Index, aside: Aside,
    problem: BodyProblem, beside: BodyProblem, ordering: Ordering, work: BodyWork, bench: BodyWork, iterate: Iterate,
    span: BodySpan, tol: float, force: int,
) -> tuple[float, float, float, float, float, float, float]:  # fmt: skip
    """Take the step once, if it is one of a pile or by `force`; else put everything back.

    In a pile contacts close on bodies that others hold, or bodies hold one another in loops.

    Returns E, what counted as solved, the numbers of factorisations, passes and slow solves, DONE or why not (then
    the step is another's), and the feature that closes with the largest impulse.
    """
    p, ready, solved = iterate.p, READY * tol, False
    if list_ahead(n, features, poses, index, span) == 0 and not force:
        forget_ahead(n, features, state, poses, index, span)
        return 0.0, tol, 0.0, 0.0, 0.0, float(OVERLAP), -1.0
    place_acting(n, features, poses, index, problem, state.impulse, p)
    put_gaps(poses, index, problem, span)
    E, floor, factors, slow = solve_islands(problem, iterate, tol, ready, span.most)
    which, passes = crowded(index, problem, p, poses.moved, force or looped(problem, p, poses.moved)), 1
    restores = 0
    for _ in range(ROUNDS if max(tol, floor) >= E and which >= 0 else 0):  # of contacts that push, restored, others
        found = rebound(features, state, poses, index, problem, p, span)
        if found <= restores and solved:
            break
        if found > restores:
            put_gaps(poses, index, problem, span)
            E, floor, used, more = solve_islands(problem, iterate, tol, ready, span.most)
            factors, slow, passes, restores = factors + used, slow + more, passes + 1, found
        E, floor, used, again, more, solved = settle_crowd(
            bodies, state, poses, problem, ordering, work, iterate, span, tol, E, floor
        )
        factors, slow, passes = factors + used, slow + more, passes + again
        if not solved:
            break
    if solved:
        note_moved(state, poses)
        move_to_end(n, features, state, poses, span.dt, span.theta)
        hold_crowd(n, features, state, poses, index, aside, problem, iterate, span)
        shifts, used = project_held(n, bodies, features, state, poses, aside, beside, ordering, bench, iterate, span)
        factors, solved = factors + used, shifts >= 0
    if not solved:
        forget_ahead(n, features, state, poses, index, span)
        begin_again(n, bodies, features, state, poses, index, aside, problem, iterate, span, 0)
    code = float(DONE if solved else HARD)
    return E, max(tol, floor), float(factors), float(passes), float(slow), code, float(which)
