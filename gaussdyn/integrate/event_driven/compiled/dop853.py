"""Steps of the motion of a phase, compiled: the formulas of `dop853`.

``control`` (13,): t, h, end, rtol, atol, steps that stability bounds, side of the poles, and what comes back: error,
bend, steps taken, the next h, which condition crosses zero (-1: that is not clear), and when.
"""

from __future__ import annotations

import math

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import Array
from .phase_rhs import slope
from .records import SIDE as DETERMINANT
from .records import PhaseTables

STAGES, EXTRA = 12, 3
TB, TD, TE5, TE3, TC = 16, 17, 21, 22, 23  # rows of the table of the method, after those of its stages
T, H, END, RTOL, ATOL, STIFFNESS, SIDE, ERROR, BEND, TAKEN, NEXT, WHICH, CROSS = range(13)


@kernel(f"int64(PhaseTables, {A1}, {A1}, {A2}, {A2}, {A1})", borrows=True, entry=True)
def take_step(phase: PhaseTables, control: Array, y: Array, K: Array, table: Array, end: Array) -> int:
    """Take one step of length control[H] from y with the slope K[0]: fill in K up to 12, the end, error and bend."""
    t, h, size, whole = control[T], control[H], phase.nq + phase.nv, len(y)
    for s in range(1, STAGES):
        for j in range(size):
            total = 0.0
            for m in range(s):
                total += table[s, m] * K[m, j]
            end[j] = y[j] + h * total
        if slope(phase, t + table[TC, s] * h, end, K[s]) or phase.room.info[DETERMINANT] * control[SIDE] < 0.0:
            return 1
    last = K[STAGES]  # holds the last place before it is overwritten
    for j in range(size):
        last[j] = end[j]
    for j in range(whole):
        total = 0.0
        for m in range(STAGES):
            total += table[TB, m] * K[m, j]
        end[j] = y[j] + h * total
    apart, moved = 0.0, 0.0
    for j in range(size):
        w = 1.0 / (control[ATOL] + control[RTOL] * max(abs(y[j]), abs(end[j])))
        apart = max(apart, abs(end[j] - last[j]) * w)
    if slope(phase, t + h, end, last) or phase.room.info[DETERMINANT] * control[SIDE] < 0.0:
        return 1
    e5 = e3 = 0.0
    for j in range(size):
        w = 1.0 / (control[ATOL] + control[RTOL] * max(abs(y[j]), abs(end[j])))
        five = three = 0.0
        for m in range(STAGES + 1):
            five += table[TE5, m] * K[m, j]
            three += table[TE3, m] * K[m, j]
        e5, e3 = e5 + (five * w) ** 2, e3 + (three * w) ** 2
        moved = max(moved, abs(K[STAGES, j] - K[STAGES - 1, j]) * w)
    total = e5 + 0.01 * e3
    control[ERROR] = abs(h) * e5 / math.sqrt(total * size) if total > 0.0 else 0.0
    control[BEND] = h * moved / apart if apart > 0.0 else 0.0
    return 0


@kernel(f"int64(PhaseTables, {A1}, {A1}, {A2}, {A2}, {A1}, {A2})", borrows=True)
def dense_output(phase: PhaseTables, control: Array, y: Array, K: Array, table: Array, end: Array, F: Array) -> int:
    """Fill in the coefficients F (7, len(y)) of a step; row 6 serves for the places in between before that."""
    t, h, size, whole = control[T], control[H], phase.nq + phase.nv, len(y)
    for s in range(STAGES + 1, STAGES + 1 + EXTRA):
        for j in range(size):
            total = 0.0
            for m in range(s):
                total += table[s, m] * K[m, j]
            F[6, j] = y[j] + h * total
        if slope(phase, t + table[TC, s] * h, F[6], K[s]):
            return 1
    for j in range(whole):
        dy = end[j] - y[j]
        F[0, j], F[1, j], F[2, j] = dy, h * K[0, j] - dy, 2.0 * dy - h * (K[STAGES, j] + K[0, j])
        for i in range(4):
            total = 0.0
            for m in range(STAGES + 1 + EXTRA):
                total += table[TD + i, m] * K[m, j]
            F[3 + i, j] = h * total
    return 0


@kernel(f"void({A1}, {A2}, float64, float64, float64, {A1})", borrows=True, entry=True)
def between(y: Array, F: Array, start: float, h: float, t: float, out: Array) -> None:
    """Fill in y(t) within a step."""
    x = (t - start) / h
    for j in range(len(y)):
        total = 0.0
        for k in range(7):
            total = (total + F[6 - k, j]) * (x if k % 2 == 0 else 1.0 - x)
        out[j] = total + y[j]


@kernel("float64(float64)", borrows=True)
def growth(error: float) -> float:
    """Return by how much the next step may be longer, see `dop853.factor`."""
    if not error < np.inf:
        return 0.2
    return 10.0 if error == 0.0 else min(10.0, max(0.2, 0.9 * error ** (-1.0 / 8.0)))
