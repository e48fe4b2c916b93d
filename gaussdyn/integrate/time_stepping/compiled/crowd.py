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

from typing import NamedTuple

from ...._jit import A2, I1, kernel, record
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem
from ....contact.free_bodies.islands import solve_islands
from ....contact.free_bodies.newton import READY
from ....mechanics.collision.feature_kinematics import feature_geometry
from ..scheme import MAX_PASSES, SETTLED
from ..settling import stalled
from .active_contacts import place_acting, restitution
from .body_kinematics import renew, turn_spins
from .impact_dissipation import begin_again
from .position_projection import LOOSELY, hold_pushing
from .records import (
    ACTS,
    DONE,
    FEATURES,
    HARD,
    HELD,
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
from .step import largest_change, looped, move_to_end, note_moved, project_held, rest_bodies, take_guess

ROUNDS = 5  # of contacts that begin to push as others restore
WAS_OPEN = 2  # mark of contacts that act and were open at the start
NOTHING = 1e-9  # of the largest impulse: one that may be rounding, as in `MoreauJean`


@kernel("boolean(BodyStep, BodyProblem)", borrows=True)
def may_crowd(step: BodyStep, problem: BodyProblem) -> bool:
    """Return whether contacts are open, and bodies in loops: more pairs of them are near than bodies.

    A stack has none, and its passes settle.
    """
    pair, marks, touched, some, bodies = problem.contacts.pair, step.acting.marks, step.touched, False, 0
    for f in range(step.counts[FEATURES]):
        some = some or marks[ACTS, f] == 0
    for i in range(len(touched)):
        touched[i] = 0
    for k in range(len(pair)):
        for side in range(2):
            if pair[k, side] >= 0:
                bodies += touched[pair[k, side]] == 0
                touched[pair[k, side]] = 1
    return some and len(pair) > bodies


@kernel("int64(BodyStep, BodySpan)", borrows=True)
def list_ahead(step: BodyStep, span: BodySpan) -> int:
    """Let all contacts act, those that are open at the start marked WAS_OPEN; return how many of these there are.

    What acted by itself stays among them as it is in `index`; `forget_ahead` puts that back.
    """
    x, R, begin, features = step.poses.x[0], step.poses.R[0], step.poses.geometry[0], step.features
    numbers, bounce, found = step.acting.marks, step.acting.bounce, 0
    for f in range(step.counts[FEATURES]):
        a, b = features.bodies[f, 0], features.bodies[f, 1]
        feature_geometry(features.kind[f], features.data[f], x[a], R[a], x[b], R[b], begin[f])
        numbers[JOINED, f] = not numbers[ACTS, f]
        numbers[ACTS, f] = 1
        if begin[f, 0] > span.gap:
            numbers[ACTS, f] = WAS_OPEN
            bounce[f, 0] = bounce[f, 1] = bounce[f, 2] = 0.0
            found += 1
    return found


@kernel("void(BodyStep, BodySpan)", borrows=True)
def forget_ahead(step: BodyStep, span: BodySpan) -> None:
    """Let those contacts act that did before `list_ahead`, with their restitution terms."""
    numbers, bounce, law, turned = step.acting.marks, step.acting.bounce, step.features.law, step.state.mean
    turn_spins(step.poses.R[0], step.state.v, 0.0, turned)
    for f in range(step.counts[FEATURES]):
        numbers[ACTS, f] = not numbers[JOINED, f]
        numbers[JOINED, f] = 0
        bounce[f, 0] = bounce[f, 1] = bounce[f, 2] = 0.0
        if numbers[ACTS, f] and (law[f, 1] != 0.0 or law[f, 2] != 0.0):
            restitution(step, f, turned, span.speed)


@kernel("void(BodyStep, BodyProblem, BodySpan)", borrows=True)
def put_gaps(step: BodyStep, problem: BodyProblem, span: BodySpan) -> None:
    """Put w: restitution, and the rates at which contacts that were open close by the end of the step."""
    numbers, bounce, middle, w, kept = (
        step.acting.marks, step.acting.bounce, step.poses.geometry[1], problem.w, step.laws[SHARE]
    )  # fmt: skip
    for c in range(problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        for k in range(3):
            w[c, k] = kept * bounce[f, k]
        if numbers[ACTS, f] == WAS_OPEN and bounce[f, 0] == 0.0:
            w[c, 0] += max(middle[f, 0], 0.0) / (span.theta * span.dt)


@kernel(f"void(BodyProblem, {A2}, {I1})", borrows=True)
def count_pushing(problem: BodyProblem, p: Array, pairs: IntArray) -> None:
    """Put in how many pairs that push each body is."""
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


@kernel("int64(BodyStep, BodySolver, boolean)", borrows=True)
def crowded(step: BodyStep, solver: BodySolver, force: bool) -> int:
    """Return the feature with the largest impulse of those that close on a body that another pair holds; -1 without.

    With `force` that with the largest impulse of all.
    """
    marks, pairs, p, found, most = step.acting.marks, step.touched, solver.iterate.p, -1, 0.0
    pair, first = solver.problem.contacts.pair, solver.problem.contacts.first
    count_pushing(solver.problem, p, pairs)
    for k in range(len(first) - 1):
        held = max(pairs[pair[k, 0]] if pair[k, 0] >= 0 else 0, pairs[pair[k, 1]]) > 1
        for c in range(first[k], first[k + 1]):
            closes = held and marks[ACTS, marks[WHICH, c]] == WAS_OPEN
            if (closes or force) and p[c, 0] > most:
                found, most = marks[WHICH, c], p[c, 0]
    return found


@kernel("int64(BodyStep, BodySolver, BodySpan)", borrows=True)
def rebound(step: BodyStep, solver: BodySolver, span: BodySpan) -> int:
    """Put the restitution terms of contacts that close in the step and push; return how many restore."""
    marks, bounce, law, p, turned = (
        step.acting.marks, step.acting.bounce, step.features.law, solver.iterate.p, step.state.mean
    )  # fmt: skip
    turn_spins(step.poses.R[0], step.state.v, 0.0, turned)
    found = 0
    for c in range(solver.problem.contacts.first[-1]):
        f = marks[WHICH, c]
        if marks[ACTS, f] == WAS_OPEN and p[c, 0] > 0.0 and (law[f, 1] != 0.0 or law[f, 2] != 0.0):
            restitution(step, f, turned, span.speed)
            found += bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0
    return found


@kernel("void(BodyStep, BodySolver, Projection, BodySpan)", borrows=True)
def hold_crowd(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan) -> None:
    """Mark the contacts that end closed, or at the height of their rebound: those without speed, and all that push."""
    p, marks, bounce, held, most = (
        solver.iterate.p, step.acting.marks, step.acting.bounce, projection.aside.marks[HELD], 0.0
    )  # fmt: skip
    count, step.laws[MIDDLE] = solver.problem.contacts.first[-1], 1.0
    hold_pushing(step, solver, projection, span, False)
    step.laws[MIDDLE] = 0.0
    for c in range(count):
        most = max(most, abs(p[c, 0]), abs(p[c, 1]), abs(p[c, 2]))
    for c in range(count):
        f = marks[WHICH, c]
        if held[f] == 0 and p[c, 0] > NOTHING * most:
            rebounds = bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0
            held[f] = 1 if rebounds else LOOSELY


@record("float64", "float64", *["int64"] * 3, "boolean", by_value=True)
class Settled(NamedTuple):
    """What `settle_crowd` came to.

    Attributes
    ----------
    E, floor : float
        Residual, and what rounding leaves of it.
    factors, passes, slow : int
        As in `BodyAnswer`.
    solved : bool
    """

    E: float
    floor: float
    factors: int
    passes: int
    slow: int
    solved: bool


@kernel("Settled(BodyStep, BodySolver, BodySpan, float64, float64)", borrows=True)
def settle_crowd(step: BodyStep, solver: BodySolver, span: BodySpan, E: float, floor: float) -> Settled:
    """Solve again until v+ is the one for which the gyroscopic moments were taken; it is in `guess`."""
    guess, v, tol, last, earlier = step.state.guess, solver.iterate.v, span.tol, 1.0, 1.0
    factors = slow = 0
    for passes in range(MAX_PASSES):
        if not max(tol, floor) >= E:
            break
        E, floor, used = rest_bodies(solver, tol, E, floor)
        change = largest_change(solver.problem.M, solver.problem.h, v, guess)
        take_guess(v, guess)
        factors += used
        if change <= SETTLED or stalled(change, last, earlier):
            return Settled(E, floor, factors, passes, slow, max(tol, floor) >= E)
        last, earlier = change, last
        renew(step, solver, span)
        E, floor, used, more = solve_islands(solver.problem, solver.iterate, tol, tol, span.most)
        factors, slow = factors + used, slow + more
    return Settled(E, floor, factors, MAX_PASSES, slow, False)


@kernel("Tuple((boolean, int64))(BodyStep, BodySolver, Projection, BodySpan)", borrows=True)
def end_crowd(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan) -> tuple[bool, int]:
    """Put the end of the step; return whether its projection succeeded, and the factorisations."""
    note_moved(step)
    move_to_end(step, span)
    hold_crowd(step, solver, projection, span)
    shifts, factors = project_held(step, projection, span)
    return shifts >= 0, factors


@kernel("BodyAnswer(BodyStep, BodySolver, Projection, BodySpan, boolean)", borrows=True, rare=True)
def crowded_step(
    step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, force: bool
) -> BodyAnswer:  # fmt: skip
    """Take the step once, if it is one of a pile or by `force`; else put everything back, for another to take it.

    In a pile contacts close on bodies that others hold, or bodies hold one another in loops.
    """
    problem, iterate, p, tol, solved = solver.problem, solver.iterate, solver.iterate.p, span.tol, False
    if list_ahead(step, span) == 0 and not force:
        forget_ahead(step, span)
        return BodyAnswer(0.0, tol, 0, 0, 0, OVERLAP, -1, False)
    place_acting(step, solver, step.state.impulse)
    put_gaps(step, problem, span)
    E, floor, factors, slow = solve_islands(problem, iterate, tol, READY * tol, span.most)
    which, passes = crowded(step, solver, force or looped(problem, p, step.touched)), 1
    restores = 0
    for _ in range(ROUNDS if max(tol, floor) >= E and which >= 0 else 0):  # of contacts that push, restored, others
        found = rebound(step, solver, span)
        if found <= restores and solved:
            break
        if found > restores:
            put_gaps(step, problem, span)
            E, floor, used, more = solve_islands(problem, iterate, tol, READY * tol, span.most)
            factors, slow, passes, restores = factors + used, slow + more, passes + 1, found
        E, floor, used, again, more, solved = settle_crowd(step, solver, span, E, floor)
        factors, slow, passes = factors + used, slow + more, passes + again
        if not solved:
            break
    if solved:
        solved, used = end_crowd(step, solver, projection, span)
        factors += used
    if not solved:
        forget_ahead(step, span)
        begin_again(step, solver, projection, span, 0)
    return BodyAnswer(E, max(tol, floor), factors, passes, slow, DONE if solved else HARD, which, False)
