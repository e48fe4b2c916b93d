"""The end of a step: energies, work, modes, and whether an impact gained any energy."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, kernel
from ....arrays import Array
from ....programs.solution.residual_kernels import DEGENERATE, INACTIVE, SLIP
from ...impact.restitution_scaling import GAIN
from ..scheme import GONE, SMALL
from .acting import one_sided
from .evaluate import kinetic_at, mass_at, potential_at, power_at
from .linear import (
    dot,
    factor_bare_mass,
    metric_of_shifts,
    multiply_abs,
    multiply_mass,
    row_dot,
    row_dot_abs,
    solve_nodes,
)
from .pass_end import coriolis_at
from .problem.contact_problem import Problem, note_modes
from .records import (
    ACCELERATION,
    ALL,
    ALL_ROWS,
    BEYOND,
    CHANGED,
    CONE,
    DONE,
    FAULT,
    FIXED,
    FORCES,
    FOREST,
    GAINED,
    GAINS,
    GAP,
    KINETIC,
    LIFTED,
    MOVED,
    NONE,
    PLANAR,
    POTENTIAL,
    REACTIONS,
    SOFT,
    SPATIAL,
    Data,
    Layout,
    Model,
    Span,
)
from .work_space import STANDS, UNSEEN, Work


@kernel("int64(Layout, Data)", borrows=True)
def impact(layout: Layout, data: Data) -> int:
    """Return 1 + the contact with the largest impulse of those that have just closed, or rebound; 0 without any."""
    found, most = 0, 0.0
    for k in range(layout.counts[ALL]):
        row = layout.start[k]
        if data.acts[k] and one_sided(layout, k) and data.p[row] > most:
            counts = not data.last[row] > 0.0
            for i in range(row, layout.start[k + 1]):
                counts = counts or data.bounce[i] != 0.0
            if counts:
                found, most = k + 1, data.p[row]
    return found


@kernel("float64(Layout, Data, int64)", borrows=True)
def own_rate(layout: Layout, data: Data, i: int) -> float:
    """Return the part of the rate of row i that is not J v: its support moves by itself."""
    k = np.searchsorted(layout.start, i, side="right") - 1
    if layout.level[k] == ACCELERATION:
        return 0.0
    return float(data.mid.rate[i] - row_dot(layout, data.mid.J, i, data.v))


@kernel(f"float64(Layout, Data, Work, {A1})", borrows=True)
def work_gain(layout: Layout, data: Data, work: Work, v_mid: Array) -> float:
    """Return the work of all impulses and of the projection, relative to the sum of its terms without their signs.

    Their work on the relative motion: what a support that moves by itself adds is no gain of the impact. Work that is
    small against the kinetic energy counts less.
    """
    total, size, momentum = data.log[LIFTED], 0.0, data.V[5]
    multiply_abs(data.M, layout.nodes, work.speed, momentum)
    for i in range(layout.counts[ALL_ROWS]):
        if data.p[i] != 0.0:
            own = own_rate(layout, data, i)
            total += data.p[i] * (row_dot(layout, data.seen.J, i, v_mid) + own)
            size += abs(data.p[i]) * (row_dot_abs(layout, data.seen.J, i, v_mid) + abs(own))
    size = max(size, SMALL / GAIN * 0.5 * dot(work.speed, momentum))
    return total / size if size > 0.0 else 0.0


@kernel("float64(Layout, Data, Work, Problem)", borrows=True)
def note(layout: Layout, data: Data, work: Work, problem: Problem) -> float:
    """Put the modes, count those that changed in the log, and drop impulses that have died away; return the cone."""
    changed, same = 0, layout.who == FOREST
    for k in range(layout.counts[ALL]):
        work.mode[k] = -1
    sliding = False
    for k in range(layout.counts[FIXED]):
        if data.slides[k] != 0.0:
            work.mode[k], sliding = SLIP, True
    cone = note_modes(problem, work.mode, sliding)
    for k in range(layout.counts[ALL]):
        if data.acts[k] == 0:  # impulses of what does not act are zero
            changed, work.now[k] = changed + (work.now[k] != 0), 0
            for i in range(layout.start[k], layout.start[k + 1]):
                same, data.last[i] = same and data.last[i] == 0.0, 0.0
            continue
        mode, rebounds, most = work.mode[k], False, 0.0
        keeps = layout.kind[k] != SOFT
        now = work.now[k] if mode == DEGENERATE else (mode if mode > 0 and mode != INACTIVE else 0)
        changed += now != work.now[k]
        work.now[k] = now
        for i in range(layout.start[k], layout.start[k + 1]):
            rebounds, most = rebounds or data.bounce[i] != 0.0, max(most, abs(data.p[i]))
        for i in range(layout.start[k], layout.start[k + 1]):
            last, data.last[i] = data.last[i], data.p[i] if keeps and not rebounds and most >= GONE else 0.0
            same = same and data.last[i] == last
    data.log[CHANGED], work.course[STANDS] = changed, int(same and changed == 0)
    return cone


@kernel(f"float64(Model, Data, Span, {A1})", borrows=True, rare=True)
def work_at_once(model: Model, data: Data, span: Span, impulse: Array) -> float:
    """Return what impulses do more on the mean of the velocities just before and after than on that of the ends.

    They act at once, in the middle of the step. Coriolis forces lead in half of it from v to the velocity
    before, and from that after to v+.
    """
    if not data.p[: model.layout.counts[ALL_ROWS]].any() or not factor_bare_mass(model.layout, data):
        return 0.0
    before, after = data.V[4], data.V[5]
    for j in range(len(before)):
        before[j] = after[j] = 0.0
    if not (coriolis_at(model, data.middle, data.v, before) and coriolis_at(model, data.middle, data.v1, after)):
        return np.nan
    for j in range(len(before)):
        after[j] -= before[j]
    L, inverse = metric_of_shifts(model.layout, data)
    solve_nodes(L, inverse, model.layout, after, after)
    return -0.25 * span.dt * float(dot(after, impulse))


@kernel(f"boolean(Model, Data, Span, {A1}, boolean)", borrows=True)
def take_books(model: Model, data: Data, span: Span, v_mid: Array, whole: bool) -> bool:
    """Note energies, and the work of all forces and of the projection; False where a function failed.

    whole: all of these; else no more than what the projection lifts.
    """
    layout, nv, log, fine = model.layout, len(data.v), data.log, True
    impulse, none, t = data.V[2], data.V[NONE], span.t + (1.0 - span.theta) * span.dt
    if whole:
        for j in range(nv):
            data.V[3, j] = data.v1[j] - data.v[j]
        multiply_mass(data.M, layout.nodes, data.V[3], impulse)
        for j in range(nv):
            impulse[j] -= span.dt * data.h[j]
        more = work_at_once(model, data, span, impulse) if layout.who not in (PLANAR, SPATIAL) else 0.0
        fine, log[REACTIONS] = more == more, dot(v_mid, impulse) + more
        said, power = power_at(model, t, data.middle, v_mid, data.V[4])
        fine, log[FORCES] = fine and said, span.dt * power
    before = kinetic_before = 0.0
    lifts = False
    for i in range(len(data.q)):
        lifts = lifts or data.q1[i] != data.moved[i]
    if lifts:
        said, before = potential_at(model, span.t_end, data.moved, none)
        kept, kinetic_before = kinetic_at(model, data.moved, data.v1, none, data.M, impulse)
        fine = fine and said and kept
    if lifts or whole:
        said, log[POTENTIAL] = potential_at(model, span.t_end, data.q1, none)
        kept, log[KINETIC] = kinetic_at(model, data.q1, data.v1, none, data.M, impulse)
        fine = fine and said and kept
    log[LIFTED] = log[POTENTIAL] + log[KINETIC] - before - kinetic_before if lifts else 0.0
    return bool(fine)


@kernel("int64(Model, Data, Work, Problem, Span, boolean)", borrows=True)
def finish(model: Model, data: Data, work: Work, problem: Problem, span: Span, accepts: bool) -> int:
    """Note modes, energies and work where they are asked for; GAINS if an impact gained energy, unless accepted.

    BEYOND where the end is no state: numbers that have no squares.
    """
    layout, log, v_mid, none = model.layout, data.log, data.V[1], data.V[NONE]
    if not np.isfinite(dot(data.q1, data.q1) + dot(data.v1, data.v1)):
        return BEYOND
    for j in range(len(data.v)):
        data.v1[j] = data.v1[j] if abs(data.v1[j]) >= GONE else 0.0
        v_mid[j] = 0.5 * (data.v[j] + data.v1[j])
    hit, seen = impact(layout, data), work.course[UNSEEN] == 0
    if (hit > 0 or seen) and not take_books(model, data, span, v_mid, seen):
        return FAULT
    for k in range(layout.counts[ALL]):
        if one_sided(layout, k):
            log[GAP] = min(log[GAP], data.end.gap[k])
    if hit > 0:
        if layout.who != FOREST and not mass_at(model, data.middle, none, data.M):  # `kinetic_at` has taken its place
            return FAULT
        log[GAINED] = work_gain(layout, data, work, v_mid)
        if log[GAINED] > GAIN and not accepts:
            log[MOVED] = hit
            return GAINS
    log[CONE] = note(layout, data, work, problem)
    work.course[STANDS] &= int(len(model.forest.trees.shaking) == 0)  # what shakes is another step at another time
    for i in range(len(data.q)):
        work.course[STANDS] &= int(data.q1[i] == data.q[i])
    for j in range(len(data.v)):
        work.course[STANDS] &= int(data.v1[j] == data.v[j])
    return DONE
