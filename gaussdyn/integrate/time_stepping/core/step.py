"""One step of the theta scheme, compiled; see `scheme`. Who calls whom, with the file in brackets:

    take_steps                  take many steps in one call
      take_step                 take one; once more where it ends in a contact that was not listed
        begin                   [step_begin] put the middle: mass, force, rows, what acts, a first guess of v+
        settle_all              solve with what acts, until no contact joins or leaves
          solve_once            [solve_once] without corrections: solve one contact problem, at a foreseen end
          settle                [passes] with corrections: take passes until nothing changes
            begin_passes        put the problem of the first pass
            take_pass           take one pass
              solve_pass        solve the problem at hand, and put the end that it leads to
                one_pass        find v+ and impulses: solve [problem.contact_solver], bring_to_rest [problem.standstill]
                lead_to_end     [pass_end] move and project the end, evaluate rows and force there
              judge_pass        end the passes if the data no longer changes
              go_on             make the next pass ready
          examine               [step_begin] look for joints that depend on one another
          find_late, join       [acting] let contacts join that end below zero
          leave_idle            [acting] let those leave that joined and do not push
        finish                  [step_end] sum energies and work, see whether an impact gained energy
      retake_at_middle          take a step again whose impact would gain energy, with the laws at its middle
      keep_step                 [keep] write down what a run keeps

What the kernels cannot do themselves they hand to their caller by a code (`endings`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, I1, kernel, record
from ....arrays import Array, IntArray
from ..kept import Kept
from ..scheme import MAX_PASSES
from .acting import find_late, join, leave_idle, let_stick
from .contact_list import forget_missed, misses, overlooked
from .evaluate import gaps_at
from .keep import keep_step
from .passes import settle
from .problem.contact_problem import Problem
from .problem.dependent_joints import LOOKED
from .problem.pushes import FACTORED, TAKEN, Push
from .records import (
    AT,
    DEPENDENT,
    DONE,
    FAULT,
    GAINS,
    HARD,
    KEPT,
    MOVED,
    OVERLAP,
    PASSES,
    UNSETTLED,
    Data,
    Model,
    Span,
)
from .solve_once import solve_once
from .step_begin import begin, begin_anew, examine
from .step_end import finish
from .work_space import STANDS, Work


@record("Model", "Data", "Work", "Push", "Problem", by_value=True)
class Simulation(NamedTuple):
    """A system, and all that steps of it work on."""

    model: Model
    data: Data
    work: Work
    push: Push
    problem: Problem


@kernel("int64(Model, Data, Work, Span, boolean)", borrows=True)
def closing_late(model: Model, data: Data, work: Work, span: Span, overlap: bool) -> int:
    """Put the constraints that do not act and end below zero, see `find_late`; return how many.

    overlap: the projection has failed. Then those that do so where v1 leads to: a gap alone that is removed may open
    others as it closes, and close them as it opens, as the crossing of two lines that are nearly parallel does with
    the ends of what they share.
    """
    layout, rest = model.layout, (1.0 - span.theta) * span.dt
    found = find_late(layout, data, rest, work.late, work.when)
    if found > 0 or not (overlap and span.project):
        return int(found)
    if not gaps_at(model, span.t_end, data.moved, data.v1, False, data.end):
        return 0
    found = find_late(layout, data, rest, work.late, work.when)
    return int(found) if gaps_at(model, span.t_end, data.q1, data.v1, False, data.end) else 0


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean)")
def settle_all(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, given: bool) -> int:
    """Solve the step with what acts, with those that close within it, and without those of them that do not push.

    given: whether the problem at hand has been solved already, see `settle`.
    """
    left, first = False, not given
    once = not (span.corrects or given or data.log[AT] > 0.0)
    while True:
        if once:
            code = solve_once(model, data, work, push, problem, span)
            unseen = data.bound.known[LOOKED] == 0  # joints that depend on one another are looked at first
            once = code not in (HARD, UNSETTLED, DEPENDENT) or (code == DEPENDENT and unseen)
        if not once:
            let_stick(model.layout, data)
            data.foreseen[0] = np.nan
            code = settle(model, data, work, push, problem, span, first, given)
        first = given = False
        if code == DEPENDENT and data.bound.known[LOOKED] == 0:
            code, first = examine(model, data, work, push, span), True
        if code not in (DONE, OVERLAP):
            return code
        if first:
            continue
        if closing_late(model, data, work, span, code == OVERLAP) > 0:
            if data.log[PASSES] > 4.0 * MAX_PASSES:
                return UNSETTLED
            if not join(model, data, span, work.late):
                return FAULT
            let_stick(model.layout, data)  # what strikes may turn any joint
        elif code == OVERLAP or overlooked(model, data, span.dt):
            return OVERLAP
        elif left or not leave_idle(model.layout, data):
            return DONE
        else:
            left = True


@kernel("int64(Model, Data, Work, Push, Problem, Span)", entry=True)
def take_step(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Take the step from (q, v): v1, q1, the impulses p and the rows at the end; return DONE, or why not.

    Once more where it ends in a contact that is not listed, with those that bodies come to at the speeds of the end. In
    the plane Python lists them where that fails, and asks which of them act from the beginning.
    """
    plane, code = len(model.touches.missed) > 0, OVERLAP
    forget_missed(model)
    data.tried[:] = np.nan
    for turn in range(3):
        for i in range(len(data.log)):
            data.log[i] = 0.0
        data.log[KEPT], push.kept[FACTORED], push.kept[TAKEN] = 1.0, 0, 0
        code = begin(model, data, work, span)
        if code == DONE:
            code = settle_all(model, data, work, push, problem, span, False)
        if turn == 0 and code == OVERLAP and misses(model):
            data.tried[:] = data.q1
        elif turn == 1 and plane and code != DONE:
            forget_missed(model)
            data.tried[:] = np.nan
        else:
            break
    return finish(model, data, work, problem, span, False) if code == DONE else code


@kernel(f"int64(Model, Data, Work, Push, Problem, Span, {A1})", entry=True)
def retake_step(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, laws: Array
) -> int:  # fmt: skip
    """Take the step that `take_step` has begun once more, from what acts now, with other laws.

    laws: log[AT] and [KEPT], and whether an impact may gain energy.
    """
    for i in range(len(data.log)):
        data.log[i] = 0.0
    data.log[AT], data.log[KEPT], push.kept[FACTORED], push.kept[TAKEN] = laws[0], laws[1], 0, 0
    if not begin_anew(model, data, work, span):
        return FAULT
    code = settle_all(model, data, work, push, problem, span, False)
    return finish(model, data, work, problem, span, laws[2] != 0.0) if code == DONE else code


@kernel("boolean(Data)", borrows=True)
def rebounds(data: Data) -> bool:
    """Return whether any constraint leaves with restitution."""
    some = False
    for i in range(len(data.bounce)):
        some = some or data.bounce[i] != 0.0
    return some


@kernel(f"void(Data, {I1}, {I1})", borrows=True)
def act_again(data: Data, acts: IntArray, joined: IntArray) -> None:
    """Put what acts as a step begins that is taken again."""
    for k in range(len(acts)):
        data.acts[k], data.joined[k] = acts[k], min(joined[k], 0)


@kernel("int64(Model, Data, Work, Push, Problem, Span)", rare=True)
def retake_at_middle(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Take a step again whose impact would gain energy, with the laws at its middle; see `scheme`.

    GAINS where that is not all: something rebounds, or there is no solution; what acts is as it was.
    """
    acts, joined, hit = data.acts.copy(), data.joined.copy(), data.log[MOVED]
    act_again(data, acts, joined)
    code = retake_step(model, data, work, push, problem, span, np.array([hit, 1.0, 0.0]))
    if code == GAINS and not rebounds(data):
        act_again(data, data.acts, joined)
        code = retake_step(model, data, work, push, problem, span, np.array([hit, 1.0, 1.0]))
    if code == DONE:
        return DONE
    act_again(data, acts, joined)
    data.log[AT], data.log[MOVED] = 0.0, hit
    return GAINS


@kernel("int64(Model, Data, Work, Push, Problem, Span, boolean)", entry=True)
def resume_step(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span, accepts: bool
) -> int:  # fmt: skip
    """Go on with a step that stopped at a contact problem, whose answer is in p and V[PLUS] now.

    accepts: whether an impact may gain energy.
    """
    code = settle_all(model, data, work, push, problem, span, True)
    return finish(model, data, work, problem, span, accepts) if code == DONE else code


@kernel("int64(Model, Data, Work, Span)", entry=True)
def open_step(model: Model, data: Data, work: Work, span: Span) -> int:
    """Begin a step whose caller says what acts, and `retake_step` takes then."""
    for i in range(len(data.log)):
        data.log[i] = 0.0
    data.log[KEPT] = 1.0
    return int(begin(model, data, work, span))


@kernel(f"int64(Simulation, {A2}, Span, {I1}, Kept)", entry=True)
def take_steps(sim: Simulation, spans: Array, rules: Span, count: IntArray, kept: Kept) -> int:
    """Take the steps spans[count[0]:], rows (t, dt, t_end), under the rules of a span; return DONE, or why not.

    What STANDS need not be stepped again: the caller has cleared that unless the first step is like the last one.
    """
    model, data, work, push, problem = sim
    while count[0] < len(spans):
        s = count[0]
        if work.course[STANDS] and (s == 0 or spans[s, 1] == spans[s - 1, 1]):
            keep_step(model, data, work, push, kept, s)
            count[0] = s + 1
            continue
        span = Span(
            spans[s, 0], spans[s, 1], spans[s, 2], rules.theta, rules.gap, rules.speed, rules.tol, rules.project,
            rules.corrects,
        )  # fmt: skip
        code = take_step(model, data, work, push, problem, span)
        if code == GAINS:
            code = retake_at_middle(model, data, work, push, problem, span)
        if code != DONE:
            return code
        keep_step(model, data, work, push, kept, s)
        for i in range(len(data.q)):
            data.q[i] = data.q1[i]
        for j in range(len(data.v)):
            data.v[j] = data.v1[j]
        count[0] = s + 1
    return DONE
