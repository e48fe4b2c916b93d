"""The beginning of a step: its middle, what acts there, a first guess of v+, joints that depend on one another."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import Array
from ..scheme import CLOSE, EXACT, NEAR, ON
from .acting import find_acting, find_sliding, let_stick
from .contact_list import list_contacts
from .evaluate import force_at, forget_program, mass_at, move, resist, rows_at, run_program
from .linear import add_row, dot, factor_mass, multiply_abs, multiply_mass, row_dot, solve_nodes
from .problem.dependent_joints import AMONG, CLOSE_TO, LOOKED, bind, clear_rows, find_null, list_joints, release
from .problem.pushes import FACTORED, TAKEN, Push
from .projection import FAILED, project
from .projection import FAULT as UNANSWERED
from .records import (
    ALL,
    CALLBACK,
    DEPENDENT,
    DONE,
    FAULT,
    FIXED,
    FOREST,
    MASS,
    MU,
    NONE,
    PLUS,
    PROGRAM,
    ROOM,
    SOFT,
    Data,
    Layout,
    Model,
    Span,
)
from .work_space import Work

STIFF = 0.3  # of the mass, along what forces bring about: dampers that a guess must not leave out
ROUNDS, NEARLY = 12, 1e-6  # of conjugate gradients, and share of their first residual, squared


@kernel(f"float64(Layout, Data, float64, {A1}, {A1})", borrows=True)
def add_dampers(layout: Layout, data: Data, way: float, x: Array, y: Array) -> float:
    """Add S x to y, where S = way J^T d J of the dampers that have rows; return x . S x."""
    total = 0.0
    for k in range(layout.counts[FIXED]):
        if layout.kind[k] == SOFT:
            i = layout.start[k]
            rate = row_dot(layout, data.mid.J, i, x)
            push = way * data.mid.law[k, MU] * rate
            add_row(layout, i, push, data.mid.J[i], y)
            total += push * rate
    return total


@kernel(f"void(Layout, Data, Span, {A1})", borrows=True, rare=True)
def damp(layout: Layout, data: Data, span: Span, x: Array) -> None:
    """Put (M + S)^-1 M x in place of x where dampers are stiff against it, see `add_dampers`: nearly, it is a guess.

    What they would do by themselves is many times the speeds at hand, and an end that such a guess leads to is
    anywhere. Conjugate gradients, in the metric of the mass: never larger than the solution.
    """
    if layout.dampers == 0:
        return
    way, r, z, p, y = span.theta * span.dt, data.V[3], data.V[4], data.V[5], data.V[7]
    multiply_mass(data.M, layout.nodes, x, r)
    left = first = dot(r, x)
    for j in range(len(x)):
        p[j] = x[j]
    for k in range(ROUNDS):
        multiply_mass(data.M, layout.nodes, p, y)
        inert = dot(p, y)
        held = add_dampers(layout, data, way, p, y)
        if k == 0:
            if not held > STIFF * inert:
                return
            x[:] = 0.0
        share = left / (inert + held)
        for j in range(len(x)):
            x[j] += share * p[j]
            r[j] -= share * y[j]
        solve_nodes(data.L, data.inverse, layout, r, z)
        last, left = left, dot(r, z)
        if not left > NEARLY * first:
            return
        for j in range(len(x)):
            p[j] = z[j] + left / last * p[j]


@kernel("void(Layout, Data, Work, Span)", borrows=True)
def first_guess(layout: Layout, data: Data, work: Work, span: Span) -> None:
    """Put v1 = free motion + what the last impulses of the constraints that act do, unless that is too fast."""
    nv, push, Mv, some = len(data.v), data.V[1], data.V[2], False
    for j in range(nv):
        push[j], data.v1[j] = 0.0, data.V[PLUS, j]
    for k in range(layout.counts[ALL]):
        for i in range(layout.start[k], layout.start[k + 1]):
            data.p[i] = data.last[i] if data.acts[k] else 0.0
            if data.p[i] != 0.0:
                add_row(layout, i, data.p[i], data.mid.J[i], push)
                some = True
    if not some:
        return
    solve_nodes(data.L, data.inverse, layout, push, push)
    damp(layout, data, span, push)
    fast = False
    for j in range(nv):
        data.v1[j] = data.V[PLUS, j] + push[j]
        fast = fast or not abs(data.v1[j]) <= 2.0 * work.speed[j]
    if not fast:  # then its energy is no larger than that of twice these speeds
        return
    multiply_mass(data.M, layout.nodes, data.v1, Mv)
    energy = dot(data.v1, Mv)
    multiply_abs(data.M, layout.nodes, work.speed, Mv)
    if not energy <= 4.0 * dot(work.speed, Mv):
        for j in range(nv):
            data.v1[j] = data.V[PLUS, j]


@kernel("void(Model, Data, Span)", borrows=True)
def slide_freely(model: Model, data: Data, span: Span) -> None:
    """Take the impulses of dry joints that surely slide into the free motion."""
    push = data.V[1]
    if find_sliding(model, data, span, push):
        solve_nodes(data.L, data.inverse, model.layout, push, push)
        for j in range(len(data.v)):
            data.V[PLUS, j] += push[j]


@kernel("int64(Model, Data, Work, Span)", borrows=True)
def begin_at_middle(model: Model, data: Data, work: Work, span: Span) -> int:
    """Evaluate the middle, find what acts, and guess v+: with the impulses of the last step where that is plausible."""
    layout, nv, none, place = model.layout, len(data.v), data.V[NONE], data.middle
    t = span.t + (1.0 - span.theta) * span.dt
    for j in range(nv):
        none[j] = 0.0
    if layout.who == PROGRAM and not run_program(model, t, place, data.v):  # one call for all
        return FAULT
    if not mass_at(model, place, none, data.M):
        return FAULT
    if layout.who in (FOREST, CALLBACK):
        data.K[0, 0] = np.nan
    if layout.who == FOREST:
        for j in range(nv):
            data.bare[j] = data.M[j, j]
    resist(model, place, data.v, span.theta * span.dt, data.M)
    if not (rows_at(model, t, place, data.v, data.mid) and force_at(model, t, place, data.v, data.h)):
        return FAULT
    if not factor_mass(layout, data):
        return MASS
    solve_nodes(data.L, data.inverse, layout, data.h, data.V[PLUS])
    damp(layout, data, span, data.V[PLUS])
    for j in range(nv):
        data.V[PLUS, j] = data.v[j] + span.dt * data.V[PLUS, j]
        work.speed[j] = abs(data.v[j]) + abs(data.V[PLUS, j])
    if not find_acting(model, data, span, work.speed, work.late):
        return FAULT
    first_guess(layout, data, work, span)
    slide_freely(model, data, span)
    return DONE


@kernel("boolean(Model, Data, Work, Span)", borrows=True, rare=True)
def begin_anew(model: Model, data: Data, work: Work, span: Span) -> bool:
    """Put the first guess of v+ again, for what acts now; False where a function failed."""
    t = span.t + (1.0 - span.theta) * span.dt
    forget_program(model.program)
    if not mass_at(model, data.middle, data.V[NONE], data.M):
        return False
    resist(model, data.middle, data.v, span.theta * span.dt, data.M)
    if not factor_mass(model.layout, data):
        return False
    if not force_at(model, t, data.middle, data.v, data.h):
        return False
    solve_nodes(data.L, data.inverse, model.layout, data.h, data.V[PLUS])
    damp(model.layout, data, span, data.V[PLUS])
    for j in range(len(data.v)):
        data.V[PLUS, j] = data.v[j] + span.dt * data.V[PLUS, j]
    let_stick(model.layout, data)
    first_guess(model.layout, data, work, span)
    return True


@kernel("int64(Model, Data, Work, Span)", borrows=True)
def begin(model: Model, data: Data, work: Work, span: Span) -> int:
    """List the contacts that may act, go to the middle, and begin there."""
    release(model.layout, data)
    forget_program(model.program)
    if not list_contacts(model, data, work.now, span.dt):
        return ROOM
    if not move(model, data.q, data.v, (1.0 - span.theta) * span.dt, data.middle):
        return FAULT
    return int(begin_at_middle(model, data, work, span))


@kernel("int64(Model, Data, Work, Push, Span)", borrows=True)
def middle_onto_joints(model: Model, data: Data, work: Work, push: Push, span: Span) -> int:
    """Begin at the configuration that joints allow next to the middle; DEPENDENT if none is near."""
    layout, t = model.layout, span.t + (1.0 - span.theta) * span.dt
    for k in range(layout.counts[ALL]):
        row = layout.start[k]
        data.acts[k] = int(k < layout.counts[FIXED] and data.bound.of_row[row] >= 0)
        push.target[k] = np.nan
    for i in range(len(data.q)):
        data.q1[i] = data.moved[i] = data.middle[i]
    for j in range(len(data.v)):
        data.v1[j] = data.v[j]
    there = Span(span.t, span.dt, t, span.theta, span.gap, span.speed, span.tol, span.project, True)
    if not rows_at(model, t, data.q1, data.v1, data.end):
        return FAULT
    push.kept[FACTORED] = push.kept[TAKEN] = 0
    said = project(model, data, push, there, False, CLOSE, 0.0)
    push.kept[FACTORED] = push.kept[TAKEN] = 0
    off = way = 0.0
    for i in range(len(data.q)):
        off, way = off + (data.middle[i] - data.q1[i]) ** 2, way + (data.middle[i] - data.q[i]) ** 2
        data.middle[i] = data.q1[i]
    if said == UNANSWERED:
        return FAULT
    if said == FAILED or off > NEAR * NEAR * way:
        return DEPENDENT
    return int(begin_at_middle(model, data, work, span))


@kernel("int64(Model, Data, Work, Push, Span)", rare=True)
def examine(model: Model, data: Data, work: Work, push: Push, span: Span) -> int:
    """Look whether joints depend on one another, always or where they hold, and go there; DONE if a step can go on."""
    layout, bound = model.layout, data.bound
    bound.known[LOOKED] = 1
    list_joints(layout, data)
    if bound.known[AMONG] < 2:
        return DONE
    count = find_null(layout, data, data.mid, EXACT)
    if count == 0 or bound.known[CLOSE_TO] > count:  # those at the start may be more: the middle is off the joints
        lengths, null = bound.lengths.copy(), bound.N.copy()
        if not rows_at(model, span.t, data.q, data.v, data.begin):
            return FAULT
        there = find_null(layout, data, data.begin, ON)
        if there > count:
            bind(layout, bound, there)
            code = middle_onto_joints(model, data, work, push, span)
            if code != DONE:
                return code
            count = find_null(layout, data, data.mid, ON)
            if count < there:
                return DEPENDENT
        elif count == 0:
            return DONE
        else:
            bound.lengths[:], bound.N[:] = lengths, null
    bind(layout, bound, count)
    clear_rows(data, data.mid.J)
    return DONE
