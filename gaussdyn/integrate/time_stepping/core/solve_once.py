"""A step with one contact problem, at the end that is foreseen: no pass looks at the end that it leads to again.

(Another is solved where v+ comes out far from what was foreseen, or the problem contradicts itself.)

    v_f = v + M^-1 (dt h(t_m, q_m, v) + J^T p_last),      foreseen with the impulses of the last step
    q_f = move(q, (1 - theta) v + theta v_f, dt),         where the laws hold for u+ = rate(t+, q_f, v_f) + J (v+ - v_f)
    M (v+ - v) = dt h(t_m, q_m, (1 - theta) v + theta v_f) + J^T p

In smooth motion v_f is off by O(dt^2) and q_f by O(dt^3), so that the order stays 2. Dampers of joints, and drives that
are not at a limit, see the mean of v and v+ (`evaluate.resist`), so that they may be as stiff as they are.
"""

from __future__ import annotations

import numpy as np

from ...._jit import kernel
from ....mechanics.trees.frames import turning
from ....mechanics.trees.motion import put_forest
from .acting import let_stick, slides_on
from .evaluate import forest_rates, move, resist_anew, rows_at
from .linear import factor_mass
from .pass_end import force_along, knows_rates, measure_rows, put_end, put_mean, put_rates_there
from .passes import BOLD, FIRST, TRUST, put_problem, take_solution
from .problem.contact_problem import Problem
from .problem.contact_solver import put_free_motion, solve, solve_roughly
from .problem.dependent_joints import COUNT, contrary
from .problem.pushes import Push
from .problem.standstill import bring_to_rest
from .records import (
    ALL,
    DEPENDENT,
    DONE,
    E_,
    FAULT,
    FIXED,
    FOREST,
    GOAL,
    HARD,
    MASS,
    PASSES,
    PLUS,
    UNSETTLED,
    Data,
    Layout,
    Model,
    Span,
)
from .work_space import BLIND, Work

AS_FORESEEN = 1e-2  # of the speeds at hand: how far v+ may be off v_f
AGREED = 1e-4  # E of the problem of the middle with rows that depend on one another: what is left of it counts squared
STEADY = 1e-2  # of the change of v_f that it leads to: how far its laws may be off
SETTLING = 1e-2  # of the speeds at hand: what may be left of them where what stands is brought to rest
AT_MOST = 6  # problems; corrections follow


@kernel("boolean(Model, Data, Span)", borrows=True)
def rates_at_end(model: Model, data: Data, span: Span) -> bool:
    """Put the rows of what acts at the end that is foreseen; False where a function failed."""
    if model.layout.who != FOREST:
        return bool(rows_at(model, span.t_end, data.q1, data.v1, data.end))
    forest_rates(model, data.q1, data.v1, data.acts, data.end)
    return True


@kernel("boolean(Model, Data, Work, Push, Span, boolean)", borrows=True)
def foresee(model: Model, data: Data, work: Work, push: Push, span: Span, first: bool) -> bool:
    """Put the force and the rates for the end that v1 leads to; False where a function failed."""
    blind, nq = work.course[BLIND] != 0, len(data.q)
    put_mean(data, work, span)
    if not force_along(model, data, work, span, data.h):
        return False
    if not blind and data.bound.known[COUNT] > 0:  # rates contradict one another where the place does not obey joints
        if put_end(model, data, work, push, span, first, True, False) == FAULT:
            return False
    elif not move(model, data.q, work.mean, span.dt, data.q1) or (not blind and not rates_at_end(model, data, span)):
        return False
    for i in range(nq):
        data.foreseen[i] = data.q1[i]
    for j in range(len(data.v)):
        data.foreseen[nq + j] = data.v1[j]
    return bool(put_rates_there(model, data, work, span, blind))


@kernel("float64(Model, Data, float64)", borrows=True)
def turned(model: Model, data: Data, dt: float) -> float:
    """Return how far speeds by the laws at the middle may be off, m/s, where rows of trees depend on one another.

    Two contacts of the same bodies have points that stay as far apart; inf: there are none. What turns by w dt / 2 on
    its way to the end has points there whose speeds are others by as much as that times its fastest point's.
    """
    joints, s, last, most, some = model.layout.counts[FIXED], model.shapes, -1, 0.0, False
    for f in range(model.layout.counts[ALL] - joints if model.layout.who == FOREST else 0):
        if data.acts[joints + f] == 0:
            continue
        if last >= 0 and s.bodies[f, 0] == s.bodies[last, 0] and s.bodies[f, 1] == s.bodies[last, 1]:
            if not some:
                put_forest(model.forest, data.middle, data.v)
            some = True
            for side in range(2):
                b = s.bodies[f, side]
                if b >= 0:
                    most = max(most, turning(model.forest.trees, model.forest.moving, b, s.radius[b]))
        last = f
    return 0.5 * dt * most if some else np.inf


@kernel("void(Model, Data, Work, Problem, Span)", borrows=True)
def foresee_impacts(model: Model, data: Data, work: Work, problem: Problem, span: Span) -> None:
    """Put v1 by the impulses of the middle where those of the last step lead elsewhere: contacts close, or let go.

    Or where rows depend on one another, for corners of a foot contradict one another at an end at which it still turns,
    by the square of how fast; as long as the laws at the middle are not what leads elsewhere.
    """
    layout, x, far, size, off = model.layout, data.V[11], 0.0, 0.0, turned(model, data, span.dt)
    if not put_rates_there(model, data, work, span, True):
        return
    if data.log[PASSES] > 0.0:  # contacts have joined since, and V[PLUS] is what the others led to
        put_free_motion(layout, data.seen, data, problem, span.dt, data.V[PLUS])
    for j in range(len(x)):
        x[j] = data.V[PLUS, j]
    if not solve_roughly(layout, data.seen, data, problem, x, AGREED if off < np.inf else AS_FORESEEN):
        return
    for j in range(len(x)):
        far, size = max(far, abs(x[j] - data.v1[j])), max(size, work.speed[j])
    for j in range(len(x) if far > AS_FORESEEN * size or off <= STEADY * far else 0):
        data.v1[j] = x[j]


@kernel("boolean(Layout, Data, Work)", borrows=True)
def near_rest(layout: Layout, data: Data, work: Work) -> bool:
    """Return whether v+ has little left of the speeds at hand: while a tree moves, rounding is no worse at its feet."""
    far = size = 0.0
    for k in range(layout.counts[FIXED]):
        if data.slides[k] != 0.0:
            return False
    for j in range(len(data.v)):
        far, size = max(far, abs(data.V[PLUS, j])), max(size, work.speed[j])
    return far <= SETTLING * size


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean, boolean)")
def solve_there(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, first: bool, anew: bool
) -> int:  # fmt: skip
    """Solve the contact problem of the end that v1 leads to, and bring to rest what stands.

    anew: mass or rows are others than in the last one of this step.
    """
    layout, log = model.layout, data.log
    turns = layout.turning != 0  # else rows stand at the middle whatever the velocity, and tell at once
    if anew and not turns and not put_problem(layout, data, problem, span):
        return DEPENDENT
    if first and not turns:
        foresee_impacts(model, data, work, problem, span)
    if not foresee(model, data, work, push, span, first):
        return FAULT
    for j in range(len(data.v) if turns else 0):  # what binds speeds may ask for some that nothing had
        work.speed[j] = max(work.speed[j], abs(data.v1[j]))
    if turns and not put_problem(layout, data, problem, span):
        return DEPENDENT
    if anew or turns:
        measure_rows(layout, work, problem)
    rough = TRUST if first else FIRST  # by as much as the first guess is off corners of a foot contradict one another
    E, floor = solve(layout, data.seen, data, problem, span.dt, (span.tol, rough, 0.0), False)
    log[E_], log[GOAL], log[PASSES] = E, max(span.tol, floor), log[PASSES] + 1.0
    if not max(log[GOAL], rough) >= E:
        return HARD
    if log[GOAL] >= E and near_rest(layout, data, work):
        log[E_] = bring_to_rest(layout, data, problem, work.still, work.speed, E, log[GOAL])
    return DONE


@kernel("boolean(Layout, Data, Work)", borrows=True)
def foretold(layout: Layout, data: Data, work: Work) -> bool:
    """Return whether a step came out nearly as foreseen: its problem was solved, and its joints agree."""
    far = size = 0.0
    for j in range(len(data.v)):
        far, size = max(far, abs(data.v1[j] - data.foreseen[len(data.q) + j])), max(size, work.speed[j])
    solved = data.log[GOAL] >= data.log[E_] and far <= AS_FORESEEN * size
    return bool(solved and not contrary(layout, data, work.speed, data.V[9]))


@kernel("int64(Model, Data, Work, Push, Problem, Span)", rare=True)
def solve_once(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Solve the step with what acts, and put its end; a few times where it was not foreseen, UNSETTLED after these."""
    work.course[BLIND] = int(knows_rates(model, data))
    anew = True
    for k in range(AT_MOST):
        code = solve_there(model, data, work, push, problem, span, k == 0, anew)
        if code != DONE:
            return code
        take_solution(data)
        put_mean(data, work, span)
        anew = resist_anew(model, data.middle, work.mean, span.theta * span.dt, k >= BOLD, data.M)
        stops = not slides_on(model, data, data.v1) and let_stick(model.layout, data)
        if anew and not factor_mass(model.layout, data):
            return MASS
        anew = anew or stops
        if anew:
            continue
        if foretold(model.layout, data, work):
            return int(put_end(model, data, work, push, span, False, True, True))
    return DEPENDENT if contrary(model.layout, data, work.speed, data.V[9]) else UNSETTLED
