"""One step of the theta scheme, compiled; see `step_problem` for the scheme.

    middle: rows, mass and force at move(q, v, (1 - theta) dt); which contacts act
    passes: solve for v+ and the impulses with the rows at the end that the last v+ led to, until nothing changes
    contacts that end below zero join, those that joined and do not push leave; the step is solved again
    end: energies, work, and whether an impact gained any

What the kernel cannot do itself it hands to its caller by a code.
"""

from __future__ import annotations

from ...._jit import A2, I1, kernel
from ....arrays import Array, IntArray
from ..fixed_point import MAX_PASSES
from .acting import find_late, join, leave_idle
from .contact_list import overlooked
from .contact_problem import Problem
from .dependent_joints import LOOKED
from .passes import Work, settle
from .projection import Push
from .records import CHANGED, DEPENDENT, DONE, FAULT, OVERLAP, PASSES, UNSETTLED, Data, Model, Span
from .step_begin import begin, examine
from .step_end import finish


@kernel("int64(Model, Data, Work, Push, Problem, Span)")
def take_step(model: Model, data: Data, work: Work, push: Push, problem: Problem, span: Span) -> int:
    """Take the step from (q, v): v1, q1, the impulses p and the rows at the end; return DONE, or why not."""
    rest, left, first = (1.0 - span.theta) * span.dt, False, True
    for i in range(len(data.log)):
        data.log[i] = 0.0
    push.kept[0] = 0
    code = begin(model, data, work, span)
    if code != DONE:
        return code
    while True:
        code = settle(model, data, work, push, problem, span, first)
        if code == DEPENDENT and data.bound.known[LOOKED] == 0:
            code, first = examine(model, data, work, push, span), True
            if code != DONE:
                return code
            continue
        first = False
        if code not in (DONE, OVERLAP):
            return code
        if find_late(model.layout, data, rest, work.late, work.when) > 0:
            if data.log[PASSES] > 4.0 * MAX_PASSES:
                return UNSETTLED
            if not join(model, data, span, work.late):
                return FAULT
        elif code == OVERLAP or overlooked(model, data):
            return OVERLAP
        elif left or not leave_idle(model.layout, data):
            return finish(model, data, work, problem, span)
        else:
            left = True


@kernel(f"int64(Model, Data, Work, Push, Problem, {A2}, Span, {I1}, {A2}, {A2}, {A2})")
def take_steps(
    model: Model, data: Data, work: Work, push: Push, problem: Problem, spans: Array, rules: Span, count: IntArray,
    log: Array, places: Array, speeds: Array,
) -> int:  # fmt: skip
    """Take the steps spans[count[0]:], rows (t, dt, t_end), under the rules of a span; return DONE, or why not.

    With count[1] it ends after a step in which a contact changes. log, places, speeds: rows of `Data.log`, q and v.
    """
    while count[0] < len(spans):
        s = count[0]
        span = Span(
            spans[s, 0], spans[s, 1], spans[s, 2], rules.theta, rules.gap, rules.speed, rules.tol, rules.project
        )
        code = take_step(model, data, work, push, problem, span)
        if code != DONE:
            return code
        for i in range(len(data.q)):
            data.q[i] = places[s, i] = data.q1[i]
        for j in range(len(data.v)):
            data.v[j] = speeds[s, j] = data.v1[j]
        for i in range(len(data.log)):
            log[s, i] = data.log[i]
        count[0] = s + 1
        if count[1] and data.log[CHANGED] > 0.0:
            return DONE
    return DONE
