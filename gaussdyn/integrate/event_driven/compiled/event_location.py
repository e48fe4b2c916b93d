"""Where in a step a condition of the phase falls below zero, compiled: the plain cases of `event_location`."""

from __future__ import annotations

import math

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import EPS, Array
from .dop853 import CROSS, H, T, between
from .phase_rhs import look_at
from .records import PhaseTables

QUIET, CROSSING, UNCLEAR = 0, 1, 2
FAR, SIMPLE, DIP, QUINTIC, ENVELOPE = 4.0, 0.05, 4.0 / 27.0, 1.0 / 7.0, 32.0  # as in `event_location`


@kernel("boolean(float64, float64, float64, float64, float64)", inline=True)
def murky(a: float, b: float, start: float, end: float, off: float) -> bool:
    """Whether a cubic that rises may still have been below zero, by what it may be off; False for unknown rates."""
    c2, c3 = 3.0 * (b - a) - 2.0 * start - end, start + end - 2.0 * (b - a)
    for x in (1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 0.75):
        least = a + x * (start + x * (c2 + x * c3)) - ENVELOPE * off * (x * (1.0 - x)) ** 2
        if least <= 0.0 < start + x * (2.0 * c2 + 3.0 * x * c3):
            return True
    return False


@kernel(f"int64({A2}, {A1}, {A1}, float64)", borrows=True)
def judged(seen: Array, noise: Array, offset: Array, h: float) -> int:
    """Return QUIET if no condition falls below zero in a step, CROSSING if one does and all are simple, else UNCLEAR.

    `seen` (6, w) has the conditions and their rates at its beginning, middle and end; `offset` is added to conditions.
    """
    verdict = QUIET
    for w in range(len(noise)):
        a, m, b = seen[0, w] + offset[w], seen[2, w] + offset[w], seen[4, w] + offset[w]
        u0, u1, u2 = seen[1, w], seen[3, w], seen[5, w]
        if not a > 0.0:
            return UNCLEAR
        off, reach = abs(m - 0.5 * (a + b)), 0.0
        if not math.isnan(u0):
            off = abs(m - 0.5 * (a + b) - h * (u0 - u2) / 8.0)
            off += QUINTIC * abs(h * u1 - 1.5 * (b - a) + 0.25 * h * (u0 + u2))
            reach = DIP * (abs(h * u0) + abs(h * u2))
        low, high = min(a, m, b), max(a, m, b)
        if low - reach > FAR * off:
            continue
        if off > noise[w] and (off > SIMPLE * max(high - low, reach) or murky(a, b, h * u0, h * u2, off)):
            return UNCLEAR
        if m > 0.0 and (u0 < 0.0 < u1 or (b > 0.0 and u1 < 0.0 < u2)):
            return UNCLEAR
        if not (m > 0.0 and b > 0.0):
            verdict = CROSSING
    return verdict


@kernel(
    f"float64(PhaseTables, float64, float64, float64, float64, int64, {A1}, {A2}, {A1}, {A1}, {A1}, {A1}, {A2})",
    borrows=True,
)
def root(
    phase: PhaseTables, low: float, high: float, f1: float, f2: float, k: int, y: Array, F: Array, control: Array,
    place: Array, offset: Array, rates: Array, seen: Array,
) -> float:  # fmt: skip
    """Return where condition k falls below zero between two times within a step, NaN where it cannot be computed.

    Inverse quadratic interpolation, else bisection: Chandrupatla (1997), Advances in Engineering Software 28.
    """
    x1, x2, share = low, high, f1 / (f1 - f2)
    for _ in range(100):
        x = x1 + share * (x2 - x1)
        between(y, F, control[T], control[H], x, place)
        if look_at(phase, x, place, rates, seen[6], seen[7]):
            return np.nan
        f = seen[6, k] + offset[k]
        if (f > 0.0) == (f1 > 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f
        best, value = (x1, f1) if abs(f1) < abs(f2) else (x2, f2)
        least = (2.0 * EPS * abs(best) + 0.5e-13 * max(1.0, abs(high))) / abs(x2 - x1)
        if least > 0.5 or value == 0.0:
            return best
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        share = 0.5
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        share = min(1.0 - least, max(least, share))
    return np.nan


@kernel(f"int64(PhaseTables, {A1}, {A2}, {A1}, {A1}, {A1}, {A1}, {A2})", borrows=True)
def first_crossing(
    phase: PhaseTables, y: Array, F: Array, control: Array, place: Array, offset: Array, rates: Array, seen: Array
) -> int:
    """Return the condition that falls below zero first in a step, -1 if that is not clear; control[CROSS] is when."""
    first, t, h = -1, control[T], control[H]
    for half in range(2):
        low, high = t + 0.5 * half * h, t + 0.5 * (half + 1) * h
        for w in range(len(offset)):
            f1, f2 = seen[2 * half, w] + offset[w], seen[2 * half + 2, w] + offset[w]
            if not f1 > 0.0 or f2 > 0.0:
                continue
            x = root(phase, low, high, f1, f2, w, y, F, control, place, offset, rates, seen)
            if math.isnan(x):
                return -1
            if first < 0 or x < control[CROSS]:
                first, control[CROSS] = w, x
        if first >= 0:
            return first
    return -1
