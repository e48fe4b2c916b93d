"""Single steps of the motion of a phase, compiled, and where in one of them a condition falls below zero."""

from __future__ import annotations

import math

import numpy as np

from ...._jit import kernel
from ...dop853 import STAGES, TIMES, WEIGHTS, WIDTH, between, combine, interpolate, measure
from ..event_location import LOCATED, narrowed
from .phase_rhs import look_at, slope
from .records import BEND, CROSS, ERROR, RTOL, SIDE, WAY, H, PhaseStep, PhaseTables, T

TRIALS = 100  # of a root


@kernel("int64(PhaseTables, PhaseStep)", borrows=True, entry=True)
def take_step(phase: PhaseTables, step: PhaseStep) -> int:
    """Take one step from y with the slope K[0]: fill in K up to 12, the end, error and bend."""
    control, y, K, end, table = step.control, step.y, step.K, step.end, step.table
    t, h, size, last = control[T], control[H], phase.nq + phase.nv, K[WIDTH]
    for s in range(1, STAGES):
        combine(table, s, s, h, y, K, size, end)
        if slope(phase, t + table[TIMES, s] * h, end, K[s]) or phase.room.info[SIDE] * control[WAY] < 0.0:
            return 1
    for j in range(size):
        last[j] = end[j]
    combine(table, WEIGHTS, STAGES, h, y, K, len(y), end)
    if slope(phase, t + h, end, K[STAGES]) or phase.room.info[SIDE] * control[WAY] < 0.0:
        return 1
    control[ERROR], control[BEND] = measure(table, h, y, K, last, end, control[RTOL], step.atol)
    return 0


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
