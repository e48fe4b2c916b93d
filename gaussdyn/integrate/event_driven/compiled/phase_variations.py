"""A phase with its derivative with respect to where it began, compiled, whatever kind of system it is of."""

from __future__ import annotations

import math

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import Array
from ...dop853 import STAGES, TIMES, WEIGHTS, WIDTH, combine, measure
from .phase_rhs import slope
from .records import ROW, SIZE, PhaseTables, Voyage

SHIFT = 1e-3  # of the largest coordinate or velocity, at least 1, or of a slip in space: how far displaced states are
STILL = 1e-9  # m/s: slower slips have just begun, or are about to stop, and are displaced as if they kept their way

AT, OF_BOTH = (-2.0, -1.0, 1.0, 2.0), (1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0)  # of a derivative of order 4
ASIDE, OF_SIDE, OF_BASE = (1.0, 2.0, 3.0, 4.0), (4.0, -3.0, 4.0 / 3.0, -0.25), -25.0 / 12.0  # from one side, of order 4
FAILED = 2


@kernel("int64(PhaseTables)", borrows=True)
def rubbing(phase: PhaseTables) -> int:
    """Return how many slips have friction where the phase was asked last."""
    found = 0
    for p in range(len(phase.held.slips)):
        found += phase.held.pull[p, 0] != 0.0
    return found


@kernel("float64(PhaseTables, float64)", borrows=True)
def turns_within(phase: PhaseTables, size: float) -> float:
    """Return a size, or that of the slowest slip in space (m/s) where the phase was asked last: so near it turns."""
    slips, rate = phase.held.slips, phase.room.rate
    for p in range(len(slips)):
        if slips[p, SIZE] == 2:
            speed = math.hypot(rate[slips[p, ROW]], rate[slips[p, ROW] + 1])
            if speed > STILL:
                size = min(size, speed)
    return size


@kernel(f"int64(Voyage, float64, {A2}, {A2}, int64, float64, int64, int64)", borrows=True)
def differ(voyage: Voyage, t: float, z: Array, out: Array, k: int, h: float, side: int, many: int) -> int:
    """Put the derivative along column k into `out`, of states on one side (1, -1) or on both (0).

    0: that is it. 1, -1: that is the side on which as `many` slips have friction as here: where friction sets in, or
    ends, the equations have a bend, and states beyond it have nothing to say of what is here. FAILED: there is none.
    """
    phase, step = voyage.phase, voyage.step
    y, rates, n = step.place, step.K[WIDTH], z.shape[1]
    for j in range(n):
        out[k, j] = side * OF_BASE / h * out[0, j]
    for s in range(4):
        far, weight = (side * ASIDE[s] * h, side * OF_SIDE[s] / h) if side else (AT[s] * h, OF_BOTH[s] / h)
        for j in range(n):
            y[j] = z[0, j] + far * z[k, j]
        if slope(phase, t, y, rates):
            return FAILED
        if side == 0 and rubbing(phase) != many:
            return 1 if far < 0.0 else -1
        for j in range(n):
            out[k, j] += weight * rates[j]
    return 0


@kernel(f"int64(Voyage, float64, {A2}, {A2})", borrows=True, entry=True)
def vary(voyage: Voyage, t: float, z: Array, out: Array) -> int:
    """Fill in (y', Y') of z = (y, Y column by column), a line for each; 1 where there are none.

    The derivative along a column is that of four states displaced along it, see `differ`.
    """
    phase, step = voyage.phase, voyage.step
    y, rates, n, size = step.place, step.K[WIDTH], z.shape[1], 1.0
    for j in range(len(y)):
        y[j] = z[0, j] if j < n else 0.0
        size = max(size, abs(y[j]))
    if slope(phase, t, y, rates):
        return 1
    many, size = rubbing(phase), turns_within(phase, size)
    for j in range(n):
        out[0, j] = rates[j]
    for k in range(1, len(z)):
        most = 0.0
        for j in range(n):
            most, out[k, j] = max(most, abs(z[k, j])), 0.0
        if most == 0.0:
            continue
        h = SHIFT * size / most
        side = differ(voyage, t, z, out, k, h, 0, many)
        if side == FAILED or (side and differ(voyage, t, z, out, k, h, side, many)):
            return 1
    return 0


@kernel(f"float64(Voyage, float64, float64, {A1}, {A2}, {A1}, float64, {A1})", borrows=True, entry=True)
def take_varied(voyage: Voyage, t: float, h: float, z: Array, K: Array, end: Array, rtol: float, atol: Array) -> float:
    """Take one step of z = (y, Y column by column) with the slope K[0]: fill in K up to 12, and the end.

    Return its error over the tolerance, inf beyond a pole. The last line of K is work space.
    """
    table, size, n = voyage.step.table, len(z), voyage.phase.nq + voyage.phase.nv
    lines = size // n
    for s in range(1, STAGES + 1):
        line, many = (s, s) if s < STAGES else (WEIGHTS, STAGES)
        combine(table, line, many, h, z, K, size, end)
        if vary(voyage, t + table[TIMES, s] * h, end.reshape((lines, n)), K[s].reshape((lines, n))):
            return np.inf
        if s == STAGES - 1:
            for j in range(size):
                K[WIDTH, j] = end[j]
    error: float = measure(table, h, z, K, K[WIDTH], end, rtol, atol)[0]
    return error
