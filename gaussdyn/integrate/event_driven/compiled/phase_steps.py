"""Single steps of the motion of a phase, compiled, and where in one of them a condition falls below zero."""

from __future__ import annotations

import math

import numpy as np

from ...._jit import kernel
from ....arrays import EPS
from ...dop853 import FIVE, STAGES, THREE, TIMES, WEIGHTS, WIDTH, between, combine, interpolate, measure
from ..event_location import BACK, LOCATED, NUDGE, POLISHES, narrowed
from ..phase_integrator import PUSHES
from .phase_rhs import conditions, look_at, slope
from .records import BEND, CROSS, ERROR, RTOL, SIDE, WAY, H, PhaseStep, PhaseTables, T

TRIALS = 100  # of a root
LOOKED = 9  # the stage at which conditions are seen within a step: its place is of order 5


@kernel("int64(PhaseTables, PhaseStep)", borrows=True)
def take_step(phase: PhaseTables, step: PhaseStep) -> int:
    """Take one step from y with the slope K[0]: fill in K up to 12, the end, error and bend.

    Lines 2 and 3 of `seen` are the conditions at stage `LOOKED`.
    """
    control, y, K, end, table = step.control, step.y, step.K, step.end, step.table
    t, h, size, last = control[T], control[H], phase.nq + phase.nv, K[WIDTH]
    for s in range(1, STAGES):
        combine(table, s, s, h, y, K, size, end)
        if slope(phase, t + table[TIMES, s] * h, end, K[s]) or phase.room.info[SIDE] * control[WAY] < 0.0:
            return 1
        if s == LOOKED:
            conditions(phase, step.seen[2], step.seen[3])
    for j in range(size):
        last[j] = end[j]
    combine(table, WEIGHTS, STAGES, h, y, K, len(y), end)
    if slope(phase, t + h, end, K[STAGES]) or phase.room.info[SIDE] * control[WAY] < 0.0:
        return 1
    control[ERROR], control[BEND] = measure(table, h, y, K, last, end, control[RTOL], step.atol)
    return 0


@kernel("float64(PhaseTables, PhaseStep)", borrows=True)
def error_of_impulses(phase: PhaseTables, step: PhaseStep) -> float:
    """Return the local error of the impulses of a step over what is allowed, see `PhaseMotion._off`."""
    y, K, end, table, nq, n = step.y, step.K, step.end, step.table, phase.nq, phase.nq + phase.nv
    worst = size = 0.0
    for j in range(n, len(y) - 2):
        five = three = 0.0
        for m in range(STAGES + 1):
            five += table[FIVE, m] * K[m, j]
            three += table[THREE, m] * K[m, j]
        total = math.sqrt(five * five + 0.01 * three * three)
        if total > 0.0:
            worst = max(worst, abs(step.control[H]) * five * five / total)
        size = max(size, abs(end[j] - y[j]))
    if worst == 0.0:
        return 0.0
    b = phase.mass.shape[1]
    for j in range(phase.nv):
        first, momentum = nq + (j // b) * b, 0.0
        for i in range(b):
            momentum += abs(phase.mass[j, i]) * max(abs(y[first + i]), abs(end[first + i]))
        size = max(size, momentum)
    return worst / (PUSHES * size) if size > 0.0 else 0.0


@kernel("int64(PhaseTables, PhaseStep)", borrows=True)
def dense_output(phase: PhaseTables, step: PhaseStep) -> int:
    """Fill in the coefficients F; its row 6 serves for the places in between before that."""
    t, h, y, K, F, table = step.control[T], step.control[H], step.y, step.K, step.F, step.table
    for s in range(STAGES + 1, WIDTH):
        combine(table, s, s, h, y, K, phase.nq + phase.nv, F[6])
        if slope(phase, t + table[TIMES, s] * h, F[6], K[s]):
            return 1
    interpolate(table, h, y, K, step.end, F)
    return 0


@kernel("int64(PhaseTables, PhaseStep, float64, int64)", borrows=True)
def look_within(phase: PhaseTables, step: PhaseStep, t: float, line: int) -> int:
    """Put the conditions within a step, and their rates, into two lines of `seen`."""
    between(step.y, step.F, step.control[T], step.control[H], t, step.place)
    return look_at(phase, t, step.place, step.K[WIDTH], step.seen[line], step.seen[line + 1])


@kernel("float64(PhaseTables, PhaseStep, int64, int64)", borrows=True)
def root(phase: PhaseTables, step: PhaseStep, half: int, w: int) -> float:
    """Return where condition w falls below zero in a half of a step, NaN where it cannot be computed."""
    bracket, h, offset = step.bracket, step.control[H], step.offset[w]
    for i in range(2):
        bracket[2 * i] = step.control[T] + 0.5 * (half + i) * h
        bracket[2 * i + 1] = step.seen[2 * (half + i), w] + offset
    near = LOCATED * max(1.0, abs(bracket[2]))
    x = bracket[0] + bracket[1] / (bracket[1] - bracket[3]) * (bracket[2] - bracket[0])
    for _ in range(TRIALS):
        if look_within(phase, step, x, 6):
            return np.nan
        x = narrowed(bracket, x, step.seen[6, w] + offset, near)
        if math.isnan(x):
            return float(bracket[0])
    return np.nan


@kernel("int64(PhaseTables, PhaseStep)", borrows=True)
def first_crossing(phase: PhaseTables, step: PhaseStep) -> int:
    """Return the condition that falls below zero first in a step, -1 if that is not clear; control[CROSS] is when."""
    first, seen = -1, step.seen
    for half in range(2):
        for w in range(len(step.offset)):
            f1, f2 = seen[2 * half, w] + step.offset[w], seen[2 * half + 2, w] + step.offset[w]
            if not f1 > 0.0 or f2 > 0.0:
                continue
            x = root(phase, step, half, w)
            if math.isnan(x):
                return -1
            if first < 0 or x < step.control[CROSS]:
                first, step.control[CROSS] = w, x
        if first >= 0:
            return first
    return -1


@kernel("float64(PhaseTables, PhaseStep, int64)", borrows=True)
def correction(phase: PhaseTables, step: PhaseStep, w: int) -> float:
    """Return the time from the end of a step to the root of condition w; NaN where it cannot be computed."""
    t, h, seen = step.control[T], step.control[H], step.seen
    if look_at(phase, t + h, step.end, step.K[WIDTH], seen[6], seen[7]):
        return np.nan
    g, rate = seen[6, w], seen[7, w]
    if not math.isfinite(rate):
        if dense_output(phase, step) or look_within(phase, step, t + (1.0 - BACK) * h, 6):
            return np.nan
        rate = (g - seen[6, w]) / (BACK * h)
    return -g / rate if rate < 0.0 else 0.0


@kernel("int64(PhaseTables, PhaseStep, float64, int64)", borrows=True)
def begins_below(phase: PhaseTables, again: PhaseStep, offset: float, w: int) -> int:
    """Whether condition w, which is raised by an offset, rises at y: it began below zero, and is zero nowhere."""
    if offset == 0.0:
        return 0
    seen = again.seen
    return 1 if look_at(phase, again.control[T], again.y, again.K[WIDTH], seen[6], seen[7]) or seen[7, w] > 0.0 else 0


@kernel("int64(PhaseTables, PhaseStep, PhaseStep, int64)", borrows=True)
def polish(phase: PhaseTables, step: PhaseStep, again: PhaseStep, w: int) -> int:
    """Follow the motion up to the root of condition w in a step, see `event_location.polished`: again.y, control[T].

    1: where one step does not lead to it.
    """
    start, h, t, control = step.control[T], step.control[H], step.control[CROSS], again.control
    control[RTOL], control[WAY], control[T] = step.control[RTOL], step.control[WAY], start
    for j in range(len(step.y)):
        again.y[j], again.K[0, j] = step.y[j], step.K[0, j]
    for _ in range(POLISHES):
        span = t - start
        control[H] = (start + span) - start
        if span <= EPS * max(abs(start), 1e-3) or take_step(phase, again) or control[ERROR] > 1.0:
            return 1
        more = correction(phase, again, w)
        if abs(more) <= NUDGE * span:
            for j in range(len(step.y)):
                again.y[j] = again.end[j] + more * again.K[STAGES, j]
            control[T] = t + more
            return 0 if t + more > start and not begins_below(phase, again, step.offset[w], w) else 1
        if math.isnan(more):
            return 1
        t = min(t + max(more, -0.5 * span), start + h + 0.1 * h)
    return 1
