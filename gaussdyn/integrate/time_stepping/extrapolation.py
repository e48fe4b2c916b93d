"""Passes that contract slowly are extrapolated, compiled: the next guess is where the last few passes lead together.

A pass takes a guess x of v+ to F(x). Over the last passes F(x) - x is taken to be linear in the way between them; the
next guess is F where that is least. Where the end of a step depends on the guess through one quantity or two (where the
crossing of a side and an edge has run to) that is a secant method, and contracts however slowly the passes do.

Source: Anderson (1965), Iterative procedures for nonlinear integral equations; Walker, Ni (2011), Anderson acceleration
for fixed-point iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, I1, kernel, record
from ...arrays import Array, IntArray

DEPTH = 3  # differences between passes that count
ALIKE = 1e-12  # of a difference, squared: what is left of it beside the others that is rounding
KNOWN, USED = range(2)  # of `Trail.counts`


@record(A2, A2, A2, A1, I1, by_value=True)
class Trail(NamedTuple):
    """The last passes.

    Attributes
    ----------
    tried, found : Array, shape (DEPTH + 1, m)
        Guesses, and what passes have made of them, the last ones first.
    work : Array, shape (2 * DEPTH + 1, m)
        Work space.
    weight : Array, shape (m,)
        Of the squares of entries: masses.
    counts : IntArray, shape (2,)
        How many passes are KNOWN, and how many guesses were extrapolated (USED).
    """

    tried: Array
    found: Array
    work: Array
    weight: Array
    counts: IntArray


def trail_of(m: int) -> Trail:
    """Return room for passes over m entries."""
    rows = (DEPTH + 1, DEPTH + 1, 2 * DEPTH + 1)
    tried, found, work = (np.zeros((k, m)) for k in rows)
    return Trail(tried, found, work, np.ones(m), np.zeros(2, dtype=np.int64))


@kernel("void(Trail)", borrows=True)
def forget_passes(trail: Trail) -> None:
    """Begin anew: the passes to come are those of another problem."""
    trail.counts[KNOWN] = trail.counts[USED] = 0


@kernel(f"void(Trail, {A1}, {A1})", borrows=True)
def note_pass(trail: Trail, tried: Array, found: Array) -> None:
    """Remember a pass as the last one."""
    known = min(trail.counts[KNOWN], DEPTH)
    for k in range(known, 0, -1):
        for i in range(len(tried)):
            trail.tried[k, i], trail.found[k, i] = trail.tried[k - 1, i], trail.found[k - 1, i]
    for i in range(len(tried)):
        trail.tried[0, i], trail.found[0, i] = tried[i], found[i]
    trail.counts[KNOWN] = known + 1


@kernel(f"float64({A1}, {A1}, {A1})", borrows=True)
def weighted(weight: Array, a: Array, b: Array) -> float:
    """Return the scalar product."""
    s = 0.0
    for i in range(len(a)):
        s += weight[i] * a[i] * b[i]
    return s


@kernel(f"void(Trail, {A1})", rare=True)
def extrapolate(trail: Trail, guess: Array) -> None:
    """Put the next guess: F(x) of the last pass, less the part of the last passes that takes F(x) - x away."""
    tried, found, work, weight, counts = trail
    m, used, left = len(guess), 0, work[2 * DEPTH]
    for i in range(m):
        guess[i] = found[0, i]
        left[i] = found[0, i] - tried[0, i]
    for k in range(counts[KNOWN] - 1):
        a, b = work[2 * used], work[2 * used + 1]
        for i in range(m):
            b[i] = found[k, i] - found[k + 1, i]
            a[i] = b[i] - tried[k, i] + tried[k + 1, i]
        size = weighted(weight, a, a)
        for j in range(used):  # they are orthogonal
            other, along = work[2 * j], work[2 * j + 1]
            part = weighted(weight, a, other) / weighted(weight, other, other)
            for i in range(m):
                a[i] -= part * other[i]
                b[i] -= part * along[i]
        rest = weighted(weight, a, a)
        if not rest > ALIKE * size:
            continue
        share = weighted(weight, a, left) / rest
        for i in range(m):
            left[i] -= share * a[i]
            guess[i] -= share * b[i]
        used += 1
    counts[USED] += 1
