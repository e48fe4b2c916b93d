"""The passes of a step: solve with the rows at the end that the last v+ led to, until nothing changes."""

from __future__ import annotations

import numpy as np

from ...._jit import I1, kernel
from ....arrays import IntArray
from ....mechanics.spatial.row_kernels import spatial_slope
from ....mechanics.trees.row_kernels import steady_gaps
from ..scheme import CLAIMED, CLOSE, FINER, MAX_PASSES, ROUGH, SETTLED
from ..settling import foretold, lost, stalled
from .evaluate import move, resist_anew
from .linear import factor_mass, row_dot
from .pass_end import (
    ENOUGH,
    NEXT,
    far_from_last,
    follow_force,
    force_along,
    guessed,
    in_reach,
    joints_hold,
    knows_rates,
    lead_to_end,
    look_ahead,
    measure,
    put_end,
    put_mean,
    put_on_joints,
    take_slope,
)
from .problem.contact_problem import BLOCK_ROWS, BLOCKS, JOINT_ROWS, Problem, assemble, gather
from .problem.contact_solver import claimed, hold, solve
from .problem.dependent_joints import contrary
from .problem.near_residual import DISAGREES
from .problem.pushes import Push
from .problem.standstill import bring_to_rest
from .projection import STALE, joints_alone, limit, violation
from .records import (
    ALL,
    BEFORE,
    CHANGE,
    DEPENDENT,
    DONE,
    DRY,
    E_,
    FAULT,
    FOREST,
    GOAL,
    HARD,
    OVERLAP,
    PASSES,
    PLUS,
    POSITION,
    PUSHED,
    SPATIAL,
    UNSETTLED,
    Data,
    Layout,
    Model,
    Span,
)
from .work_space import AT_ODDS, BLIND, FINE, FOLLOWS, GIVEN, LED, LOOSE, PASS, SLOPED, TURNS, Work

SLUGGISH = 0.05  # of the last change: passes that need dh/dv to contract
FIRST = 1e-6  # residual E of the first contact problem of a step, and change of speeds beyond which another follows
GUESS = 0.1  # of the last change: E of data that contradict themselves
TRUST = 1e-4  # no larger than this; the first change up to which passes lead nearly to the end of the step
PATIENCE = 8  # passes of trees within which modes may still change, and changes hover
BOLD, TURNS_AT_MOST = 4, 18  # times in a step that drives come to their limits or off them: all at once, in all
SLIGHT, MOST = 1e-12, 0.5  # of the momentum: up to which a change of the force is rounding; of a change: most of it
RUNAWAY = 1e3  # of the momentum: passes that change by more, and ever more, diverge; a piece of the step may not
NEAR = 1e-8  # of the speeds at hand: velocities this close are one


@kernel("boolean(Layout, Data, Problem, Span)", borrows=True)
def put_problem(layout: Layout, data: Data, problem: Problem, span: Span) -> bool:
    """Put the contact problem of what acts; False if its joints depend on each other."""
    gather(layout, data.seen, data, span, problem)
    return bool(assemble(layout, data.seen, data, problem))


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean, boolean)", borrows=True)
def begin_passes(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, first: bool, given: bool
) -> int:  # fmt: skip
    """Put the problem of the first pass, and how passes go; NEXT, or why there can be none; see `settle`."""
    layout, course, blind = model.layout, work.course, knows_rates(model, data)
    course[GIVEN], course[BLIND], course[FINE] = int(given), int(blind), int(given)
    course[TURNS] = course[AT_ODDS] = 0
    turns = layout.turning != 0  # else rows stand at the middle whatever the velocity, and tell at once
    if not turns and not put_problem(layout, data, problem, span) and not given:
        return DEPENDENT
    if lead_to_end(model, data, work, push, span, first, blind) == FAULT:
        return FAULT
    follows = layout.who == SPATIAL and layout.dampers == 0
    follows = follows and spatial_slope(model.mechanism, work.mean, span.theta * span.dt, work.small, work.inverse)
    course[FOLLOWS] = course[SLOPED] = int(follows)
    for j in range(len(data.v) if turns else 0):  # what binds speeds may ask for some that nothing had
        work.speed[j] = max(work.speed[j], abs(data.v1[j]))
    if turns and not put_problem(layout, data, problem, span) and not given:
        return DEPENDENT
    measure(layout, data, work, problem)
    far_from_last(layout, data, work, span.dt)
    if not given:
        data.log[CHANGE] = data.log[BEFORE] = np.inf
    return NEXT


@kernel("int64(Model, Data, Work, Problem, Span)", borrows=True)
def turn_drives(model: Model, data: Data, work: Work, problem: Problem, span: Span) -> int:
    """Put the problem anew where the mean velocity takes drives to their limits or off them: NEXT; DONE where not.

    All of them the first few times, then one by one; UNSETTLED where they go round in circles.
    """
    course = work.course
    if not resist_anew(model, data.middle, work.mean, span.theta * span.dt, course[TURNS] >= BOLD, data.M):
        return DONE
    if not factor_mass(model.layout, data) or not put_problem(model.layout, data, problem, span):
        return DEPENDENT
    put_mean(data, work, span)
    if not force_along(model, data, work, span, data.h):
        return FAULT
    measure(model.layout, data, work, problem)
    far_from_last(model.layout, data, work, span.dt)
    if course[TURNS] >= TURNS_AT_MOST:
        return UNSETTLED
    data.log[CHANGE], course[TURNS], course[FINE] = np.inf, course[TURNS] + 1, 0
    return NEXT


@kernel("boolean(Data, Work, float64)", borrows=True)
def close_to_solution(data: Data, work: Work, near: float) -> bool:
    """Return whether v1 is the velocity of the contact problem, to a share of the speeds at hand."""
    far = size = 0.0
    for j in range(len(data.v)):
        far, size = max(far, abs(data.V[PLUS, j] - data.v1[j])), max(size, work.speed[j])
    return bool(far <= near * size)


@kernel("void(Data)", borrows=True)
def take_solution(data: Data) -> None:
    """Put the velocity of the last contact problem into v1."""
    for j in range(len(data.v)):
        data.v1[j] = data.V[PLUS, j]


@kernel("UniTuple(float64, 3)(Model, Span, float64)", borrows=True)
def aims(model: Model, span: Span, last: float) -> tuple[float, float, float]:
    """Return the E to which a pass solves, that up to which it is a guess all the same, and the change that ends them.

    Contacts that depend on one another contradict each other by as much as the guess of v+ is off, which the last
    change tells. In joint coordinates no effort is spent on that; nothing large cancels there, and changes may be
    larger, but for drives beside the mass, which make it large.
    """
    rough = min(TRUST, GUESS * last)
    if model.layout.who != FOREST:
        return max(span.tol, min(ROUGH, FINER * last)), rough, SETTLED
    enough, beside = ENOUGH, model.forest.drives.beside
    for k in range(len(beside)):
        enough = SETTLED if beside[k] != 0.0 else enough
    return max(span.tol, min(FIRST, FINER * last)), rough, enough


@kernel("int64(Model, Data, Work, Problem, Span, float64, float64)")
def one_pass(model: Model, data: Data, work: Work, problem: Problem, span: Span, tol: float, rough: float) -> int:
    """Solve the contact problem to tol, and bring to rest what stands; HARD if it cannot be solved.

    Where there are joints alone, in coordinates of bodies, what rounding leaves of their rates is of no account while
    there is another pass to come.
    """
    layout = model.layout
    alone = layout.who != FOREST and problem.counts[BLOCK_ROWS] == 0
    agreed = max(rough, CLAIMED)
    goals = (tol, rough if layout.who == FOREST else 0.0, agreed)
    E, floor = solve(layout, data.seen, data, problem, span.dt, goals, alone)
    work.course[AT_ODDS] |= problem.near.size[DISAGREES] if layout.who != FOREST else 0
    work.course[LOOSE] = int(alone and not close_to_solution(data, work, FIRST))  # there surely is another pass
    if alone and work.course[LOOSE] == 0:
        hold(layout, data.seen, data, problem, data.V[PLUS])
    data.log[E_], data.log[GOAL], data.log[PASSES] = E, max(span.tol, floor), data.log[PASSES] + 1.0
    solved = max(tol, floor) >= E
    if not solved and not max(ROUGH, rough) >= E:
        return HARD
    if solved and (layout.who != FOREST or data.log[PASSES] == 1.0):  # then once more, by `rest_at_end`
        data.log[E_] = bring_to_rest(layout, data, problem, work.still, work.speed, E, max(tol, floor))
    take_solution(data)
    return DONE


@kernel("void(Model, Data)", borrows=True, rare=True)
def put_limits(model: Model, data: Data) -> None:
    """Put the gaps of limits at the end, whether these act or not."""
    steady_gaps(model.forest, data.q1, data.end.gap)


@kernel("boolean(Model, Data, Work, Push, Span)", borrows=True)
def take_along(model: Model, data: Data, work: Work, push: Push, span: Span) -> bool:
    """Take the velocity of the last contact problem, and move the end of the step along; False if that failed."""
    layout, way = model.layout, data.V[9]
    take_solution(data)
    for j in range(len(data.v)):
        mean = (1.0 - span.theta) * data.v[j] + span.theta * data.v1[j]
        way[j], work.mean[j], push.mean[j] = span.dt * (mean - work.mean[j]), mean, mean
    if not move(model, data.q, work.mean, span.dt, push.place):
        return False
    for k in range(layout.counts[ALL]):  # so short a way that gaps are linear in it
        known = layout.who != FOREST or data.acts[k] != 0 or data.end.gap[k] <= 0.0  # see `Rows.asked`
        if known and layout.level[k] == POSITION and layout.kind[k] != DRY:
            data.end.gap[k] += row_dot(layout, data.end.J, layout.start[k], way)
    for i in range(len(data.q)):
        data.q1[i] += push.place[i] - data.moved[i]
        data.moved[i] = push.place[i]
    if layout.who == FOREST:
        put_limits(model, data)
    return True


@kernel("int64(Model, Data, Work, Push, Problem, Span)", borrows=True)
def rest_at_end(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Bring trees to rest that stand, once passes have settled, and move the end of the step along."""
    if model.layout.who != FOREST:
        take_solution(data)
        return DONE
    if data.log[PASSES] > 1.0:
        E, goal = data.log[E_], data.log[GOAL]
        data.log[E_] = bring_to_rest(model.layout, data, problem, work.still, work.speed, E, goal)
    return DONE if take_along(model, data, work, push, span) else FAULT


@kernel("boolean(Layout, Data)", borrows=True)
def acts_all(layout: Layout, data: Data) -> bool:
    """Return whether all gaps that are listed act: of others the rows at the end are not known, see `Rows.asked`."""
    for k in range(layout.counts[ALL]):
        if data.acts[k] == 0 and layout.level[k] == POSITION and layout.kind[k] != DRY:
            return False
    return True


@kernel("int64(Model, Data, Work, Push, Problem, Span)", rare=True)
def take_last(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Solve the problem at hand once more, and put the end that it leads to; HARD if it stays unsolved.

    Where bodies have coordinates of their own the end moves along, unless contacts are near that do not act, or that
    opens joints by more than a trace.
    """
    code = one_pass(model, data, work, problem, span, span.tol, 0.0)
    if code != DONE:
        return code
    E, goal = data.log[E_], data.log[GOAL]
    if not goal >= E:
        return HARD
    if model.layout.who != FOREST:
        if not take_along(model, data, work, push, span):
            return FAULT
        if not (span.project and acts_all(model.layout, data)):
            return int(lead_to_end(model, data, work, push, span, False, False))
        if violation(model.layout, data, push, False) <= limit(STALE * CLOSE, data.q1):
            return DONE
        return int(put_on_joints(model, data, push, span, False, CLOSE, 0.0))
    data.log[E_] = bring_to_rest(model.layout, data, problem, work.still, work.speed, E, goal)
    take_solution(data)
    put_mean(data, work, span)
    return DONE if work.course[BLIND] else put_end(model, data, work, push, span, False, True, False)


@kernel("float64(Layout, Problem, boolean, float64)", borrows=True)
def next_to_last(layout: Layout, problem: Problem, follows: bool, enough: float) -> float:
    """Return the change by which a pass is settled that is not looked at, -1: it must be; see `foretold`.

    Where joints are all that acts no law has to hold at the end that they lead to. Without joints a look costs little,
    and bodies that turn freely keep their energy by it.
    """
    unseen = not follows if layout.who == FOREST else problem.counts[JOINT_ROWS] > 0
    if layout.turning != 0 or not unseen:
        return -1.0
    return max(enough, ENOUGH) if problem.counts[BLOCKS] == 0 else enough


@kernel("boolean(Layout, Data, Problem, Span, boolean)", borrows=True, rare=True)
def holds(layout: Layout, data: Data, problem: Problem, span: Span, asked: bool) -> bool:
    """Return whether the impulses of passes that hover obey the laws at the end that they lead to, as v1 does then.

    asked: the problem was solved elsewhere. In joint coordinates changes of that size are left as they are.
    """
    if layout.who == FOREST or asked:
        take_solution(data)
        return True
    E = claimed(layout, data.seen, data, problem, span.dt, data.V[14])
    if not max(CLAIMED, span.tol) >= E:
        return False
    data.log[E_], data.log[GOAL] = E, max(data.log[GOAL], E)
    return True


@kernel("Tuple((int64, boolean))(Model, Data, Work, Push, Problem, Span)", borrows=True)
def solve_pass(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span
) -> tuple[int, bool]:  # fmt: skip
    """Solve the problem at hand, follow the force, and put the data at the end that this leads to.

    Also returns whether that is the end that the first guess has led to already.
    """
    course, given, blind = work.course, work.course[GIVEN] != 0, work.course[BLIND] != 0
    if given:
        take_solution(data)
    else:
        tol, rough, _enough = aims(model, span, data.log[CHANGE])
        code = one_pass(model, data, work, problem, span, tol, rough)
        if code != DONE:
            return code, False
    if course[FOLLOWS] and not follow_force(model, data, work, span, course[SLOPED] != 0):
        return FAULT, False
    if course[PASS] == 0 and not given and guessed(model, data, work, push, span, blind):
        return DONE, True
    return lead_to_end(model, data, work, push, span, False, blind), False


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean)", borrows=True)
def tighten(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, still: bool) -> int:
    """Hold the joints to rounding where passes have left that to the last one; FAULT or OVERLAP where that failed."""
    if model.layout.who == FOREST:
        return DONE
    moved = False
    if work.course[LOOSE]:
        hold(model.layout, data.seen, data, problem, data.V[PLUS])
        moved = not (still or close_to_solution(data, work, SETTLED))  # where rows nearly depend on one another
        take_solution(data)
    if work.course[LED] == OVERLAP or work.course[BLIND]:
        return DONE
    mends = span.project and joints_alone(model.layout, data)
    if not moved and not (mends and violation(model.layout, data, push, False) > limit(CLOSE, data.q1)):
        return DONE
    put_mean(data, work, span)
    return int(put_end(model, data, work, push, span, False, True, False))


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean)", borrows=True)
def end_passes(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, still: bool) -> int:
    """Take the answer of passes that stand still, or hover and obey the laws all the same; NEXT if they do not."""
    layout, course = model.layout, work.course
    if course[FOLLOWS] and layout.who == FOREST and not close_to_solution(data, work, NEAR):
        return UNSETTLED
    code = tighten(model, data, work, push, problem, span, still)
    if code == FAULT:
        return FAULT
    if still:
        if rest_at_end(model, data, work, push, problem, span) == FAULT:
            return FAULT
    elif not holds(layout, data, problem, span, course[GIVEN] != 0):
        return NEXT
    return DEPENDENT if contrary(layout, data, work.speed, data.V[9]) else code


@kernel(f"boolean(Data, {I1}, float64)", borrows=True)
def pushes_on(data: Data, course: IntArray, change: float) -> bool:
    """Return whether passes seem to hover, or are lost, by a force that changes and whose slope is not followed.

    A damper of something light may show only once all else has settled.
    """
    k, pushed, last, earlier = course[PASS], data.log[PUSHED], data.log[CHANGE], data.log[BEFORE]
    if course[FOLLOWS] != 0 or k < 2 or not SLIGHT < pushed < np.inf:
        return False
    return bool(stalled(change, last, earlier) or (pushed >= MOST * change and lost(k, change, last, earlier, False)))


@kernel("int64(Model, Data, Work, Problem, Span, float64)", borrows=True)
def go_on(model: Model, data: Data, work: Work, problem: Problem, span: Span, change: float) -> int:
    """Make the next pass ready, with dh/dv where passes contract slowly; NEXT, or why there shall be none."""
    layout, course, log, k = model.layout, work.course, data.log, work.course[PASS]
    rough = course[FOLLOWS] != 0 and course[FINE] == 0
    if layout.who == FOREST and k > 0 and change > max(RUNAWAY, log[CHANGE]):
        return UNSETTLED
    if (k == 1 and change > SLUGGISH * log[CHANGE]) or pushes_on(data, course, change):
        code = take_slope(model, data, work, span)
        if code == DONE:
            course[FOLLOWS], course[SLOPED] = 1, 0
            change = log[CHANGE] = log[BEFORE] = np.inf
        elif code != NEXT:
            return code
    patient = layout.who == FOREST and k < PATIENCE
    if not change >= 0.0 or (not patient and lost(k, change, log[CHANGE], log[BEFORE], rough)):
        return UNSETTLED
    log[BEFORE], log[CHANGE] = log[CHANGE] if log[CHANGE] > SETTLED else np.inf, change
    if layout.turning != 0 and not put_problem(layout, data, problem, span):
        return DEPENDENT
    return NEXT


@kernel("int64(Model, Data, Work, Push, Problem, Span, float64, boolean)", borrows=True)
def judge_pass(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, change: float, before: bool
) -> int:  # fmt: skip
    """End the passes where the data has changed by no more than is enough, or than rounding leaves; NEXT where not.

    before: whether the pass before was solved to its goal.
    """
    layout, course, log, led = model.layout, work.course, data.log, work.course[LED]
    enough = aims(model, span, log[CHANGE])[2]
    still = change <= enough
    hovers = not still and before and stalled(change, log[CHANGE], log[BEFORE])
    hovers = hovers and (course[BLIND] != 0 or joints_hold(layout, data, work))
    ends = still or (hovers and not pushes_on(data, course, change))
    if ends and course[FINE] and (course[BLIND] or led == OVERLAP or in_reach(layout, data, push, span)):
        code = end_passes(model, data, work, push, problem, span, still)
        if code != NEXT:
            return led if code == DONE else code
    likely = next_to_last(layout, problem, course[FOLLOWS] != 0, enough)
    rated = course[PASS] == 0 or log[CHANGE] < np.inf  # after slow ones, and a slope, the rate is not known
    rated = rated and (layout.who == FOREST or log[PUSHED] <= 0.5 * CLAIMED)  # that of a force may be another
    if led == DONE and rated and foretold(change, log[CHANGE], likely, layout.who == FOREST):
        code = take_last(model, data, work, push, problem, span)
        if code != HARD:
            return code
    return NEXT


@kernel("int64(Model, Data, Work, Push, Problem, Span)")
def take_pass(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Take one pass; NEXT, DONE once the data no longer changes, OVERLAP if others must act, too, or why it failed."""
    layout, course, before = model.layout, work.course, work.course[FINE] != 0
    code, same = solve_pass(model, data, work, push, problem, span)
    if code not in (DONE, OVERLAP):
        return code
    course[LED] = code
    turned = turn_drives(model, data, work, problem, span)
    if turned != DONE:
        return turned
    change = 0.0 if same else far_from_last(layout, data, work, span.dt)
    course[FINE] = int(data.log[GOAL] >= data.log[E_])
    if course[PASS] == 0 and change <= (TRUST if layout.who == FOREST else 0.0):
        seen = look_ahead(model, data, work, push, span, course[BLIND] != 0)
        if seen != DONE:
            return FAULT if seen == FAULT else code
    said = judge_pass(model, data, work, push, problem, span, change, before)
    return said if said != NEXT else go_on(model, data, work, problem, span, change)


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean, boolean)")
def settle(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, first: bool, given: bool
) -> int:  # fmt: skip
    """Solve with the constraints that act, pass by pass, and put the end of the step.

    given: whether the caller has solved the problem of the first pass, because kernels could not: impulses p, V[PLUS].
    """
    code = begin_passes(model, data, work, push, problem, span, first, given)
    for k in range(MAX_PASSES):
        if code != NEXT:
            break
        work.course[PASS], work.course[GIVEN] = k, int(given and k == 0)
        code = take_pass(model, data, work, push, problem, span)
    if code == NEXT:
        return UNSETTLED
    if code != DONE or not work.course[BLIND]:
        return code
    put_mean(data, work, span)
    return int(put_end(model, data, work, push, span, False, True, False))
