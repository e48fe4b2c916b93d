"""The end of the step that a pass leads to: the velocity that force follows to, where it is, what data it gives.

And how far these data are from those of the last pass.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import EPS, Array
from ....mechanics.trees.forest import RUB, WHAT
from ....mechanics.trees.motion import add_coriolis
from ..scheme import ALLOWED, CANCELS, CLAIMED, CLOSE, LOOSER, SLOW
from .acting import one_sided, pace, stopped, surely_late
from .evaluate import ASK_CORIOLIS, ask, force_at, gaps_at, move, rows_at, run
from .linear import add_row, multiply_abs, multiply_mass, multiply_nodes, row_dot
from .problem.contact_problem import BLOCKS, JOINT_ROWS, Problem
from .problem.dependent_joints import clear, clear_rows
from .problem.pushes import TAKEN, Push
from .projection import FAILED, STALE, keep_shifts_if_near, left, limit, project, shift_ahead, violation
from .projection import FAULT as UNANSWERED
from .records import (
    ACCELERATION,
    ALL,
    ALL_ROWS,
    ALONE,
    AT,
    BILATERAL,
    DONE,
    EPS_N,
    FAULT,
    FIXED,
    FOREST,
    HIGH,
    KEPT,
    LOW,
    MOVED,
    OVERLAP,
    PLANAR,
    POSITION,
    PUSHED,
    SOFT,
    SPATIAL,
    UNBENT,
    UNSETTLED,
    Data,
    Layout,
    Model,
    Span,
)
from .work_space import AT_ODDS, Work

NEXT = -1  # another pass shall follow
ENOUGH = 1e-12  # relative change of the data at which an answer in joint coordinates is taken


@kernel(f"void(Layout, Data, {A1}, {A1})", borrows=True)
def rounded_speeds(layout: Layout, data: Data, speed: Array, tol: Array) -> None:
    """Put what rounding may leave of the speeds: of those at hand, `speed`, and of impulses that cancel."""
    nv, reach = len(data.v), data.V[8]
    for j in range(nv):
        reach[j] = 0.0
    for i in range(layout.counts[ALL_ROWS]):
        if data.p[i] != 0.0:
            alone = layout.reach[i, ALONE] - 1
            low, high = (layout.reach[i, LOW], layout.reach[i, HIGH]) if alone < 0 else (alone, alone + 1)
            for j in range(low, high):
                reach[j] += abs(data.seen.J[i, j] * data.p[i])
    for j in range(nv):
        tol[j] = SLOW * speed[j] + CANCELS * reach[j] / data.M[j, j]


@kernel("void(Layout, Data, Work, Push, float64, boolean)", borrows=True)
def aim(layout: Layout, data: Data, work: Work, push: Push, rest: float, first: bool) -> None:
    """Put the gaps with which contacts shall end: those that the law leaves no speed, NaN for others.

    In the first pass the contacts that pushed in the last step count.
    """
    tol, size, known = data.V[7], work.size, first
    for k in range(layout.counts[ALL]):
        push.target[k] = np.nan
        row = layout.start[k]
        if not (data.acts[k] and one_sided(layout, k)):
            continue
        if not known:
            rounded_speeds(layout, data, work.speed, tol)
            known = True
        still = data.p[row] > 0.0 if first else stopped(layout, data, row, tol, size[k])
        if still:
            rebounds = False
            for i in range(row, layout.start[k + 1]):
                rebounds = rebounds or data.bounce[i] != 0.0
            before = max(data.mid.gap[k] - rest * data.mid.rate[row], 0.0)
            push.target[k] = (data.log[KEPT] * data.mid.law[k, EPS_N]) ** 2 * before if rebounds else 0.0


@kernel("void(Data, Work, Span)", borrows=True)
def put_mean(data: Data, work: Work, span: Span) -> None:
    """Put the mean velocity of v and v1."""
    for j in range(len(data.v)):
        work.mean[j] = (1.0 - span.theta) * data.v[j] + span.theta * data.v1[j]


@kernel(f"boolean(Model, {A1}, {A1}, {A1})", borrows=True, rare=True)
def coriolis_at(model: Model, q: Array, v: Array, h: Array) -> bool:
    """Add Coriolis forces of v by itself to h, where the system tells them apart: trees, from symbols, or in Python."""
    if model.layout.who == FOREST:
        add_coriolis(model.forest, q, v, h)
        return True
    if model.callback.known[UNBENT]:
        return True
    program, found = model.program, True
    answer = model.callback.answer if program.bending == 0 else program.bent
    if program.bending == 0:
        found = ask(model.callback, ASK_CORIOLIS, 0.0, q, v)
    else:
        run(program.bending, 0.0, q, v, program.control, program.params, answer)
    for i in range(len(v)):
        h[i] += answer[i]
    return bool(found)


@kernel(f"boolean(Model, Data, Work, Span, {A1})", borrows=True)
def force_along(model: Model, data: Data, work: Work, span: Span, h: Array) -> bool:
    """Put the force for the mean velocity at hand into h.

    Coriolis forces are the mean of those at v and at v+. With those of their mean alone the kinetic energy would be off
    to first order where bodies hit each other.
    """
    change = data.V[5]
    if not force_at(model, span.t + (1.0 - span.theta) * span.dt, data.middle, work.mean, h):
        return False
    if model.layout.who in (PLANAR, SPATIAL):  # whose mass is the same everywhere
        return True
    for j in range(len(change)):
        change[j] = work.mean[j] - data.v[j]
    return bool(coriolis_at(model, data.middle, change, h))


@kernel("int64(Model, Data, Work, Span)", rare=True)
def take_slope(model: Model, data: Data, work: Work, span: Span) -> int:
    """Put the inverse of M - theta dt dh/dv at the mean velocity, by differences; UNSETTLED if there is none.

    NEXT where h does not depend on the velocity: it is not the force that passes contract slowly by.
    """
    nv, h, v = len(data.v), data.V[10], work.mean
    depends = False
    for k in range(nv):
        step = np.sqrt(EPS) * max(1.0, abs(v[k]))
        kept = v[k]
        v[k] = kept + step
        if not force_along(model, data, work, span, h):
            return FAULT
        v[k] = kept
        for i in range(nv):
            work.inverse[i, k] = data.M[i, k] - span.theta * span.dt * (h[i] - data.h[i]) / step
            depends = depends or h[i] != data.h[i]
    if not depends:
        return NEXT
    try:
        work.inverse[:] = np.linalg.inv(work.inverse)
    except Exception:  # singular
        return UNSETTLED
    return DONE


@kernel("boolean(Model, Data, Work, Span, boolean)", borrows=True, rare=True)
def follow_force(model: Model, data: Data, work: Work, span: Span, by_nodes: bool) -> bool:
    """Put v1 with M (v1 - v) = dt h(mean velocity of v and v1) + J^T p, by Newton's method; False if it failed.

    What dampers with rows have pushed is left out: by that the last solution went along with h, which now does so
    itself. by_nodes: whether the inverse has blocks only.
    """
    layout, nv, push, short, last = model.layout, len(data.v), data.V[11], data.V[12], np.inf
    for j in range(nv):
        short[j] = data.v1[j] - data.v[j]
    multiply_mass(data.M, layout.nodes, short, push)
    for j in range(nv):
        push[j] -= span.dt * data.h[j]
    for k in range(layout.counts[FIXED] if layout.dampers > 0 else 0):
        if layout.kind[k] == SOFT:
            add_row(layout, layout.start[k], -data.p[layout.start[k]], data.seen.J[layout.start[k]], push)
    for _ in range(12):
        put_mean(data, work, span)
        if not force_along(model, data, work, span, data.h):
            return False
        for j in range(nv):
            short[j] = data.v1[j] - data.v[j]
        multiply_mass(data.M, layout.nodes, short, data.V[13])
        for j in range(nv):
            short[j] = push[j] + span.dt * data.h[j] - data.V[13, j]
        size = top = 0.0
        multiply_nodes(work.inverse, work.threes if by_nodes else work.whole, short, data.V[14])
        for i in range(nv):
            size = max(size, abs(data.V[14, i]))
        if not size < 0.5 * last:
            break
        for j in range(nv):
            data.v1[j] += data.V[14, j]
            top = max(top, abs(data.v1[j]))
        last = size
        if size <= 0.25 * EPS * top:
            break
    return True


@kernel("float64(Layout, Data, int64, int64)", borrows=True)
def rate_at_middle(layout: Layout, data: Data, k: int, i: int) -> float:
    """Return the rate of row i there with v; of a joint twice that, so that it does no work: the mean with v+ is 0."""
    joint = layout.kind[k] == BILATERAL and layout.level[k] == POSITION
    return float((2.0 if joint else 1.0) * data.seen.rate[i])


@kernel("boolean(Model, int64)", borrows=True)
def steady(model: Model, k: int) -> bool:
    """Return whether the rows of a constraint are the same everywhere."""
    return bool(
        model.layout.who == FOREST and k < model.layout.counts[FIXED] and model.forest.couplings.kinds[k, WHAT] <= RUB
    )


@kernel("boolean(Model, Data)", borrows=True)
def knows_rates(model: Model, data: Data) -> bool:
    """Return whether the rows of all that acts are the same everywhere: passes need no look at the end of the step."""
    same = model.layout.turning == 0
    for k in range(model.layout.counts[ALL]):
        same = same and (data.acts[k] == 0 or steady(model, k))
    return bool(same)


@kernel("int64(Model, Data, Push, Span, boolean, float64, float64)", borrows=True)
def put_on_joints(
    model: Model, data: Data, push: Push, span: Span, places: bool, enough: float, rough: float
) -> int:  # fmt: skip
    """Move the end of the step onto what it violates by more than is allowed, see `project`; OVERLAP if that failed."""
    said = project(model, data, push, span, places, enough, rough)
    if said == UNANSWERED:
        return FAULT
    return OVERLAP if said == FAILED else DONE


@kernel("int64(Model, Data, Work, Push, Span, boolean, boolean, boolean)", borrows=True)
def put_end(
    model: Model, data: Data, work: Work, push: Push, span: Span, first: bool, last: bool, places: bool
) -> int:  # fmt: skip
    """Put the end of the step that the mean velocity leads to, with its rows.

    last: it is no guess any longer. places: of trees gaps are all that is asked for, as no law holds there.
    """
    layout, rest = model.layout, (1.0 - span.theta) * span.dt
    if span.project:
        aim(layout, data, work, push, rest, first)
    if not move(model, data.q, work.mean, span.dt, push.place):
        return FAULT
    far = 0.0
    if not first:
        keep_shifts_if_near(layout, data, push)
    for i in range(len(data.q)):
        far = max(far, abs(push.place[i] - (data.q[i] if first else data.moved[i]))) if not last else 0.0
        data.q1[i] = data.moved[i] = push.place[i]
    if first:
        push.kept[TAKEN] = 0
    elif span.project and not shift_ahead(model, data, push, work.mean, span.dt):
        return FAULT
    for j in range(len(data.v)):
        push.mean[j] = work.mean[j]
    if places:
        fine = gaps_at(model, span.t_end, data.q1, data.v1, True, data.end)
    else:
        fine = rows_at(model, span.t_end, data.q1, data.v1, data.end)
    if not fine:
        return FAULT
    enough, rough = left(layout, data, push, far, first)
    if work.course[AT_ODDS]:  # by as much as joints are open
        enough, rough = min(enough, STALE * CLOSE), 0.0
    return int(put_on_joints(model, data, push, span, places, enough, rough)) if span.project else DONE


@kernel("boolean(Model, Data, Work, Span, boolean)", borrows=True)
def put_rates_there(model: Model, data: Data, work: Work, span: Span, blind: bool) -> bool:
    """Put w of u+ = J v+ + w for the end at hand, which v1 leads to, unless `blind`; False where a function failed."""
    layout = model.layout
    if layout.turning != 0:
        if not rows_at(model, span.t + (1.0 - span.theta) * span.dt, data.middle, work.mean, data.seen):
            return False
        clear_rows(data, data.seen.J)
    for k in range(layout.counts[ALL]):
        for i in range(layout.start[k], layout.start[k + 1] if data.acts[k] else layout.start[k]):
            data.w[i] = data.log[KEPT] * data.bounce[i]
            if blind or steady(model, k):  # rates are J v everywhere, but for what motors keep
                data.w[i] -= pace(model, k)
                continue
            if layout.level[k] == ACCELERATION:  # J (v+ - v) + dt drift
                data.w[i] += span.dt * data.seen.rate[i] - row_dot(layout, data.seen.J, i, data.v)
            elif layout.kind[k] == SOFT:
                data.w[i] -= row_dot(layout, data.seen.J, i, data.v1)
            elif data.log[AT] > 0.0:
                data.w[i] += rate_at_middle(layout, data, k, i) - row_dot(layout, data.seen.J, i, data.v)
            else:
                data.w[i] += data.end.rate[i] - row_dot(layout, data.seen.J, i, data.v1)
    clear(data.bound, data.w)
    return True


@kernel("int64(Model, Data, Work, Push, Span, boolean, boolean)", borrows=True)
def lead_to_end(model: Model, data: Data, work: Work, push: Push, span: Span, first: bool, blind: bool) -> int:
    """Put the data of the contact problem for the end of the step that v1 leads to, unless `blind` with that end."""
    put_mean(data, work, span)
    if not force_along(model, data, work, span, data.h):
        return FAULT
    code = DONE if blind else put_end(model, data, work, push, span, first, False, False)
    if code == FAULT or not put_rates_there(model, data, work, span, blind):
        return FAULT
    return code


@kernel("boolean(Model, Data, Work, Push, Span, boolean)", borrows=True)
def guessed(model: Model, data: Data, work: Work, push: Push, span: Span, blind: bool) -> bool:
    """Return whether v1 is the guess that the end of the step was evaluated for: it need not be looked at again."""
    far = size = 0.0
    for j in range(len(data.v)):
        far = max(far, abs((1.0 - span.theta) * data.v[j] + span.theta * data.v1[j] - work.mean[j]))
        size = max(size, work.speed[j])
    same = model.layout.who == FOREST and model.layout.turning == 0 and far <= ENOUGH * size
    return bool(same and (blind or violation(model.layout, data, push, False) <= limit(ALLOWED, data.q1)))


@kernel("boolean(Layout, Data, Push, Span)", borrows=True)
def in_reach(layout: Layout, data: Data, push: Push, span: Span) -> bool:
    """Return whether the end of the step stays where it is in the last pass: it was shifted, or needs no shift."""
    stays = layout.who != FOREST or not span.project or push.kept[TAKEN] > 0
    return bool(stays or violation(layout, data, push, True) <= limit(0.5 * ALLOWED, data.q1))


@kernel("boolean(Layout, Data, Work)", borrows=True, rare=True)
def joints_hold(layout: Layout, data: Data, work: Work) -> bool:
    """Return whether the rates of joints vanish at the end to E: passes that hover are at an end only then.

    Where rows nearly depend on one another passes contract so slowly that they seem to hover. In joint coordinates, and
    with laws at the middle, no rate of the end has to vanish.
    """
    fastest = 0.0
    for j in range(len(data.v)):
        fastest = max(fastest, work.speed[j])
    for k in range(layout.counts[FIXED] if layout.who != FOREST and data.log[AT] == 0.0 else 0):
        joint = data.acts[k] != 0 and layout.kind[k] == BILATERAL and layout.level[k] == POSITION
        for i in range(layout.start[k], layout.start[k + 1] if joint else layout.start[k]):
            reach = 0.0
            for j in range(len(data.v)):
                reach += abs(data.end.J[i, j])
            if not abs(data.end.rate[i]) <= CLAIMED * fastest * reach:
                return False
    return True


@kernel("int64(Model, Data, Work, Push, Span, boolean)", borrows=True)
def look_ahead(model: Model, data: Data, work: Work, push: Push, span: Span, blind: bool) -> int:
    """Look at the end that the first pass led to; OVERLAP where a contact surely closes late, else DONE.

    Where passes need no end it is put only if gaps that go on as they do at the middle close by then.
    """
    layout, rest = model.layout, (1.0 - span.theta) * span.dt
    if blind:
        closes = False
        for k in range(layout.counts[ALL]):
            if not data.acts[k] and one_sided(layout, k):
                row = layout.start[k]
                closes = closes or data.mid.gap[k] + rest * row_dot(layout, data.mid.J, row, data.v1) < 0.0
        if not closes:
            return DONE
        if put_end(model, data, work, push, span, False, True, False) == FAULT:
            return FAULT
    return OVERLAP if surely_late(layout, data, rest) else DONE


@kernel("float64(Layout, Data, Work, float64)", borrows=True)
def far_from_last(layout: Layout, data: Data, work: Work, dt: float) -> float:
    """Return the largest change of the data since the last pass, relative to its own size, and keep the data.

    Infinite where data is no number: such passes do not settle.
    """
    nv, size, most, far = len(data.v), work.momentum, 0.0, 0.0
    fastest = known = 0.0
    for i in range(nv):
        known += data.h[i]
        most = max(most, size[i])
        far = max(far, dt * abs(data.h[i] - work.hu[i]))
        fastest += size[i] * work.speed[i]
        work.hu[i] = data.h[i]
    far, fastest = far / most if most > 0.0 else far, np.sqrt(fastest)
    data.log[PUSHED], data.log[MOVED], longest = far, 0.0, -1.0
    for k in range(layout.counts[ALL]):
        if data.acts[k] == 0:
            continue
        change, scale = 0.0, work.size[k] * fastest
        for i in range(layout.start[k], layout.start[k + 1]):
            known += data.w[i]
            change = max(change, abs(data.w[i] - work.wu[i]))
            work.wu[i] = data.w[i]
        part = change / (work.size[k] if work.size[k] > 0.0 else 1.0)
        if layout.kind[k] != SOFT and part > longest:
            data.log[MOVED], longest = k + 1.0, part
        far = max(far, LOOSER * (change / scale if scale > 0.0 else change))
    return far if np.isfinite(known + fastest) else np.inf


@kernel("void(Layout, Work, Problem)", borrows=True)
def measure_rows(layout: Layout, work: Work, problem: Problem) -> None:
    """Put the longest row of every constraint that acts, in the metric of the inverse mass."""
    for k in range(layout.counts[ALL]):
        work.size[k] = 0.0
    held, first = problem.counts[JOINT_ROWS], problem.start
    for i in range(held):
        k = np.searchsorted(layout.start, problem.at[i], side="right") - 1
        work.size[k] = max(work.size[k], np.sqrt(max(problem.A[i, i], 0.0)))
    for b in range(problem.counts[BLOCKS]):
        k = problem.block[b]
        for i in range(held + first[b], held + first[b + 1]):
            work.size[k] = max(work.size[k], np.sqrt(max(problem.A[i, i], 0.0)))


@kernel("void(Layout, Data, Work, Problem)", borrows=True)
def measure(layout: Layout, data: Data, work: Work, problem: Problem) -> None:
    """Put what changes of the data are measured by: lengths of rows, and |M| |v|."""
    multiply_abs(data.M, layout.nodes, work.speed, work.momentum)
    measure_rows(layout, work, problem)
