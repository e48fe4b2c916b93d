"""What rests apart from all that moves, compiled: islands whose last impulses hold them where they are.

Bodies with contacts between them that are listed are an island; what does not move joins nothing. An island rests if
all its bodies do and the step would leave them and their impulses as they are: no gap is left to be closed, the law
holds for the impulses at hand, and no body gets more speed than rounding does. Nothing of this depends on what there is
besides the island. So it may be left out of the step, and as long as nothing comes near it, of those that follow.
"""

from __future__ import annotations

import numpy as np

from ...._jit import I2, kernel
from ....arrays import IntArray
from ....contact.free_bodies.body_problem import BodyProblem, Contacts
from ....contact.free_bodies.coulomb import natural_length, step_sizes, weighted_length
from ....contact.free_bodies.islands import root
from ....contact.free_bodies.newton import EPS, READY, motion
from ....contact.free_bodies.structure import block_multiply
from ....mechanics.collision.feature_kinematics import feature_geometry
from ....programs.laws.laws import BORDER
from ....programs.solution.residual_kernels import DEGENERATE, OPEN
from ..scheme import CLOSE, ROUNDING
from .active_contacts import approach_size
from .body_kinematics import momentum, place_contacts, sort_by_pair, turn_spins
from .contact_modes import mode_of
from .records import (
    ACTS,
    DONE,
    FEATURES,
    MODE,
    NOW,
    OF,
    OTHERS,
    PAIRS,
    REST_CONE,
    REST_DT,
    REST_E,
    REST_GAP,
    REST_GOAL,
    REST_ROUGH,
    RESTS,
    WHICH,
    BodySolver,
    BodySpan,
    BodyStep,
)
from .rest_correction import ERRORS, single_pushes

ALL_REST = -1  # of bodies that take part
LAWS, SCALE, SIZE, PUSH, MOMENT, FAR = range(6)  # sums over an island: |p - P(p - rho u)|^2, |rho q|^2, |p|^2; maxima


@kernel("boolean(BodyStep)", borrows=True)
def spread_rest(step: BodyStep) -> bool:
    """Let no body rest whose island's lowest one does not; return whether any does."""
    island, rests, some = step.touched, step.left.rests, False
    for i in range(len(step.state.v)):
        rests[i] = rests[island[i]]
        some = some or rests[i] != 0
    return some


@kernel("boolean(BodyStep)", borrows=True)
def all_rest(step: BodyStep) -> bool:
    """Return whether all bodies are marked."""
    rests, every = step.left.rests, True
    for i in range(len(step.state.v)):
        every = every and rests[i] != 0
    return every


@kernel("boolean(BodyStep)", borrows=True)
def join_bodies(step: BodyStep) -> bool:
    """Put the island of every body, its lowest one, in `touched`, and mark islands that do not move; return if any."""
    island, rests, v, pair = step.touched, step.left.rests, step.state.v, step.memory.pairs
    some = False
    for i in range(len(v)):
        rests[i] = v[i, 0] == 0.0 and v[i, 1] == 0.0 and v[i, 2] == 0.0
        rests[i] = rests[i] and v[i, 3] == 0.0 and v[i, 4] == 0.0 and v[i, 5] == 0.0
        some = some or rests[i] != 0
    if not some:
        return False
    for i in range(len(v)):
        island[i] = i
    for k in range(step.counts[PAIRS]):
        if pair[k, 0] >= 0:
            x, y = root(island, pair[k, 0]), root(island, pair[k, 1])
            island[max(x, y)] = min(x, y)
    for i in range(len(v)):
        island[i] = island[island[i]]
        if rests[i] == 0:
            rests[island[i]] = 0
    return spread_rest(step)


@kernel(f"int64({I2}, int64)", inline=True, borrows=True)
def one_body(bodies: IntArray, f: int) -> int:
    """Return a body of a feature."""
    return int(bodies[f, 0] if bodies[f, 0] >= 0 else bodies[f, 1])


@kernel("void(BodyStep, BodySolver, BodySpan)", borrows=True)
def find_closed(step: BodyStep, solver: BodySolver, span: BodySpan) -> None:
    """Mark which features of bodies at rest act, by the rules of `find_acting`; those that do not must not push."""
    x, R, geometry, _frame, _moved, rows = step.poses
    free, sizes, v, guess = step.state.free, step.state.mean, step.state.v, step.state.guess
    numbers, features, impulse, rests = step.acting.marks, step.features, step.state.impulse, step.left.rests
    for i in range(len(v)):
        for k in range(6):
            guess[i, k] = 0.0
    momentum(step.bodies, R[0], step.state.force, guess, guess, span.dt, span.theta, solver.problem)
    block_multiply(solver.problem.inverse, solver.problem.h, free)
    turn_spins(R[0], free, 1.0, sizes)
    for i in range(len(v)):
        for k in range(6):
            sizes[i, k] = abs(sizes[i, k])
    for f in range(step.counts[FEATURES]):
        i, pair, at = one_body(features.bodies, f), features.bodies[f], geometry[0, f]
        numbers[ACTS, f] = 0
        if rests[i] == 0:
            continue
        a, b = pair[0], pair[1]
        feature_geometry(features.kind[f], features.data[f], x[0, a], R[0, a], x[0, b], R[0, b], at)
        closed = at[0] <= span.gap
        if not closed and impulse[f, 0] > 0.0:
            closed = at[0] <= span.gap + span.dt * approach_size(at, pair, x[0], R[0], sizes, rows[0])
        pushes = impulse[f, 0] != 0.0 or impulse[f, 1] != 0.0 or impulse[f, 2] != 0.0
        numbers[ACTS, f] = closed
        if pushes and not closed:
            rests[step.touched[i]] = 0


@kernel("BodyProblem(BodyStep, BodySolver)", rare=True)
def problem_at_rest(step: BodyStep, solver: BodySolver) -> BodyProblem:
    """Return the contact problem of the features that act, with room of that of the step, and put their impulses."""
    count, numbers, features, poses, known = (
        step.counts[PAIRS], step.acting.marks, step.features, step.poses, solver.problem
    )  # fmt: skip
    pair, first, which = np.empty((count, 2), np.int64), np.zeros(count + 1, np.int64), numbers[WHICH]
    for k in range(count):
        pair[k, 0], pair[k, 1] = step.memory.pairs[k, 0], step.memory.pairs[k, 1]
    frames = known.contacts
    contacts = Contacts(pair, first, frames.slot, frames.R, frames.ra, frames.rb)
    problem = BodyProblem(contacts, known.M, known.inverse, known.h, known.w, known.mu, known.rho)
    sort_by_pair(step.counts[FEATURES], numbers[ACTS], numbers[OF], first, which)
    place_contacts(contacts, which, features.bodies, poses.geometry[0], poses.x[0], poses.frame, problem.w)
    for c in range(first[-1]):
        problem.mu[c] = features.law[which[c], 0]
    step_sizes(contacts, problem.mu, problem.inverse, problem.rho)
    for c in range(first[-1]):
        for k in range(3):
            solver.iterate.p[c, k] = step.state.impulse[which[c], k]
            solver.iterate.best[c, k] = 0.0
    return problem


@kernel("void(BodyStep, BodySolver, BodyProblem)", borrows=True)
def put_sums(step: BodyStep, solver: BodySolver, problem: BodyProblem) -> None:
    """Put the sums and maxima of every island, in `mean`, at its lowest body; v and u are those of the impulses."""
    p, u, q, _other, v = solver.iterate
    pair, first, sums, pushes, island = (
        problem.contacts.pair, problem.contacts.first, step.state.mean, solver.work.dv, step.touched
    )  # fmt: skip
    mu, rho = problem.mu, problem.rho
    motion(problem, q, solver.work.F, v, u)
    for i in range(len(v)):
        for k in range(6):
            sums[i, k] = 0.0
    for k in range(len(first) - 1):
        a, b, r = first[k], first[k + 1], island[pair[k, 1]]
        if b > a:
            sums[r, SCALE] += weighted_length(b - a, mu[a:b], rho[a:b], u[a:b]) ** 2
    motion(problem, p, solver.work.F, v, u)
    for k in range(len(first) - 1):
        a, b, r = first[k], first[k + 1], island[pair[k, 1]]
        if b > a:
            sums[r, LAWS] += natural_length(b - a, mu[a:b], rho[a:b], p[a:b], u[a:b]) ** 2
        for c in range(a, b):
            sums[r, SIZE] += p[c, 0] * p[c, 0] + p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]
    single_pushes(problem, p, pushes)
    for i in range(len(v)):
        r = island[i]
        sums[r, PUSH], sums[r, MOMENT] = max(sums[r, PUSH], pushes[i, 0]), max(sums[r, MOMENT], pushes[i, 1])
        for k in range(7):
            sums[r, FAR] = max(sums[r, FAR], abs(step.state.q[i, k]))


@kernel("UniTuple(float64, 2)(BodyStep, int64, float64)", borrows=True)
def residual_of(step: BodyStep, r: int, tol: float) -> tuple[float, float]:
    """Return E of an island, and what counts as solved."""
    sums = step.state.mean[r]
    scale, far = np.sqrt(sums[SCALE]), np.sqrt(sums[LAWS])
    floor = min(10.0 * EPS * np.sqrt(sums[SIZE]) / scale, 1e-8) if scale > EPS else 0.0
    return far / scale if scale > 0.0 else far, max(tol, floor)


@kernel("void(BodyStep, BodySolver, BodyProblem, BodySpan)", borrows=True)
def judge_rest(step: BodyStep, solver: BodySolver, problem: BodyProblem, span: BodySpan) -> None:
    """Take the mark from the lowest body of islands that the step would not leave as they are."""
    sums, rests, island, v = step.state.mean, step.left.rests, step.touched, solver.iterate.v
    first, pair, which, gap = (
        problem.contacts.first, problem.contacts.pair, step.acting.marks[WHICH], step.poses.geometry[0]
    )  # fmt: skip
    for i in range(len(v)):
        r, A = island[i], problem.inverse[i]
        if rests[r] == 0:
            continue
        speed, spin = ERRORS * A[3, 0] * sums[r, PUSH], ERRORS * max(A[0, 0], max(A[1, 1], A[2, 2])) * sums[r, MOMENT]
        for k in range(6):
            if not abs(v[i, k]) <= (speed if k < 3 else spin):
                rests[r] = 0
        E, goal = residual_of(step, r, READY * span.tol)
        if not goal >= E:
            rests[r] = 0
    for k in range(len(first) - 1):
        r = island[pair[k, 1]]
        limit = max(CLOSE, ROUNDING * sums[r, FAR])
        for c in range(first[k], first[k + 1]):
            at = gap[which[c], 0]
            if -at > limit or (solver.iterate.p[c, 0] > 0.0 and at > limit):
                rests[r] = 0


@kernel("void(BodyStep, BodySolver, BodyProblem, BodySpan)", borrows=True)
def note_rest(step: BodyStep, solver: BodySolver, problem: BodyProblem, span: BodySpan) -> None:
    """Let the figures of what is left out be those of what rests, too."""
    figures, rests, island, p = step.left.figures, step.left.rests, step.touched, solver.iterate.p
    first, pair, mu = problem.contacts.first, problem.contacts.pair, problem.mu
    figures[REST_DT] = span.dt
    for i in range(len(step.state.v)):
        if rests[i] == 0:
            continue
        E, goal = residual_of(step, island[i], span.tol)
        figures[REST_E], figures[REST_GOAL] = max(figures[REST_E], E), max(figures[REST_GOAL], goal)
    for k in range(len(first) - 1):
        size = np.sqrt(step.state.mean[island[pair[k, 1]], SIZE])
        for c in range(first[k], first[k + 1] if rests[pair[k, 1]] else 0):
            if mu[c] > 0.0:
                figures[REST_ROUGH] = 1.0
                beyond = np.sqrt(p[c, 1] * p[c, 1] + p[c, 2] * p[c, 2]) - mu[c] * p[c, 0]
                figures[REST_CONE] = max(figures[REST_CONE], beyond / size if size > 0.0 else 0.0)


@kernel("void(BodyStep, BodySolver, BodyProblem)", borrows=True)
def note_rest_modes(step: BodyStep, solver: BodySolver, problem: BodyProblem) -> None:
    """Put the modes of what rests, by the rules of `note_modes` where there is friction; `keep_left` has the others."""
    figures, rests, marks, p = step.left.figures, step.left.rests, step.acting.marks, solver.iterate.p
    first, pair, mu, rho = problem.contacts.first, problem.contacts.pair, problem.mu, problem.rho
    still = step.poses.rows[2]
    still[0] = still[1] = still[2] = 0.0
    for f in range(step.counts[FEATURES]):
        if rests[one_body(step.features.bodies, f)]:
            figures[REST_GAP] = min(figures[REST_GAP], step.poses.geometry[0, f, 0])
            marks[MODE, f] = OPEN
    for k in range(len(first) - 1):
        scale = np.sqrt(step.state.mean[step.touched[pair[k, 1]], SCALE])
        tol = BORDER * (scale if scale > 0.0 else 1.0)
        for c in range(first[k], first[k + 1] if rests[pair[k, 1]] else 0):
            marks[MODE, marks[WHICH, c]] = mode_of(mu[c], rho[c], p[c], still, tol)
    for f in range(step.counts[FEATURES]):
        if rests[one_body(step.features.bodies, f)]:
            mode = marks[NOW, f] if marks[MODE, f] == DEGENERATE else marks[MODE, f]
            if mode != marks[NOW, f]:
                step.counts[OTHERS] = 1
            marks[NOW, f] = mode


@kernel("int64(BodyStep, BodySolver, BodySpan)", borrows=True)
def find_resting(step: BodyStep, solver: BodySolver, span: BodySpan) -> int:
    """Mark the bodies that rest apart from all others, and return RESTS; ALL_REST if there are no others, else DONE.

    Their features have their places, modes and whether they act.
    """
    if len(step.loads.shaking) > 0 or not join_bodies(step):
        return DONE
    find_closed(step, solver, span)
    if not spread_rest(step):
        return DONE
    problem = problem_at_rest(step, solver)
    put_sums(step, solver, problem)
    judge_rest(step, solver, problem, span)
    if not spread_rest(step):
        return DONE
    if all_rest(step):
        return ALL_REST
    note_rest(step, solver, problem, span)
    note_rest_modes(step, solver, problem)
    return RESTS
