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
from .acting import find_acting, find_late, join, leave_idle
from .contact_list import list_contacts, overlooked
from .contact_problem import Problem
from .evaluate import force_at, mass_at, move, rows_at
from .linear import add_row, dot, factor_nodes, multiply_abs, multiply_nodes, solve_nodes
from .passes import Work, settle
from .projection import Push
from .records import CHANGED, DONE, FAULT, MASS, OVERLAP, PASSES, ROOM, UNSETTLED, Data, Layout, Model, Span
from .step_end import finish


@kernel("void(Layout, Data, Work)", borrows=True)
def first_guess(layout: Layout, data: Data, work: Work) -> None:
    """Put v1 = free motion + what the last impulses of the constraints that act do, unless that is too fast."""
    nv, push, Mv = len(data.v), data.V[1], data.V[2]
    for j in range(nv):
        push[j] = 0.0
    for k in range(layout.counts[0]):
        for i in range(layout.start[k], layout.start[k + 1]):
            data.p[i] = data.last[i] if data.acts[k] else 0.0
            if data.p[i] != 0.0:
                add_row(layout, i, data.p[i], data.mid.J[i], push)
    solve_nodes(data.L, layout.nodes, push, push)
    for j in range(nv):
        data.v1[j] = data.V[0, j] + push[j]
    multiply_nodes(data.M, layout.nodes, data.v1, Mv)
    energy = dot(data.v1, Mv)
    multiply_abs(data.M, layout.nodes, work.speed, Mv)
    if not energy <= 4.0 * dot(work.speed, Mv):
        for j in range(nv):
            data.v1[j] = data.V[0, j]


@kernel("int64(Model, Data, Work, Span)", borrows=True)
def begin(model: Model, data: Data, work: Work, span: Span) -> int:
    """Evaluate the middle, find what acts, and guess v+: with the impulses of the last step where that is plausible."""
    layout, rest, nv = model.layout, (1.0 - span.theta) * span.dt, len(data.v)
    none, place = data.V[6], data.middle
    for j in range(nv):
        none[j] = 0.0
    t = span.t + rest
    if not list_contacts(model, data, work.now, span.dt):
        return ROOM
    if not move(model, data.q, data.v, rest, place) or not mass_at(model, place, none, data.M):
        return FAULT
    if not (rows_at(model, t, place, data.v, data.mid) and force_at(model, t, place, data.v, data.h)):
        return FAULT
    if not factor_nodes(data.M, layout.nodes, data.L):
        return MASS
    solve_nodes(data.L, layout.nodes, data.h, data.V[0])
    for j in range(nv):
        data.V[0, j] = data.v[j] + span.dt * data.V[0, j]
        work.speed[j] = abs(data.v[j]) + abs(data.V[0, j])
    if not find_acting(model, data, span, work.speed):
        return FAULT
    first_guess(layout, data, work)
    return DONE


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
