"""Dormand and Prince's method of order 8, one step at a time, with its dense output of order 7.

What a step does with its slopes is compiled and asks for none. Who takes it asks for them in between: kernels of a
phase, or `take` for slopes that are Python.

Source: Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.5, II.6; coefficients are scipy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.integrate import DOP853 as TABLEAU

from .._jit import A1, A2, kernel
from ..arrays import EPS, Array
from .recorded_arcs import Trail

Slope = Callable[[float, Array], Array]
STAGES, EXTRA = 12, 3
WIDTH = STAGES + 1 + EXTRA  # slopes of a step, with those that only dense output needs
WEIGHTS, DENSE, FIVE, THREE, TIMES = 16, 17, 21, 22, 23  # lines of `TABLE` behind those of the stages
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
ROUNDING = 16.0 * EPS
FEW = 10  # components: fewer are combined one by one, more at once


def _table() -> Array:
    """Return the coefficients in one array: a line for every stage, then those named above.

    Weights b are rounded so that sum b c = 1/2 holds better than to the rounding of the largest of them: a fall would
    gain height by 1e-16 of itself in every step.
    """
    table = np.zeros((24, WIDTH))
    table[:STAGES, :STAGES], table[STAGES + 1 : WEIGHTS] = TABLEAU.A[:STAGES, :STAGES], TABLEAU.A_EXTRA
    table[WEIGHTS, :STAGES], table[DENSE:FIVE] = TABLEAU.B, TABLEAU.D
    first = sum(Fraction(b) * Fraction(c) for b, c in zip(TABLEAU.B.tolist(), TABLEAU.C.tolist(), strict=True))
    table[WEIGHTS, STAGES - 1] -= float(first - Fraction(1, 2))  # its c is 1, that of the first one 0
    table[FIVE, : STAGES + 1], table[THREE, : STAGES + 1] = TABLEAU.E5, TABLEAU.E3
    table[TIMES, :STAGES], table[TIMES, STAGES:] = TABLEAU.C, (1.0, *TABLEAU.C_EXTRA)
    return table


TABLE = _table()


@kernel(f"void({A2}, int64, int64, float64, {A1}, {A2}, int64, {A1})", borrows=True, entry=True)
def combine(table: Array, line: int, many: int, h: float, y: Array, K: Array, size: int, place: Array) -> None:
    """Put y + h times a line of the table over the first slopes, of the first components.

    That is the first slope for as long, and what others have more: the coefficients are up to 43, of both signs, and
    what rounding leaves of their sum is the same in every step.
    """
    whole = table[TIMES, line] if line < WEIGHTS else 1.0
    if size < FEW:
        for j in range(size):
            total, first = 0.0, K[0, j]
            for m in range(1, many):
                total += table[line, m] * (K[m, j] - first)
            place[j] = y[j] + h * (total + whole * first)
        return
    for j in range(size):
        place[j] = 0.0
    for m in range(1, many):
        c = table[line, m]
        if c != 0.0:
            for j in range(size):
                place[j] += c * (K[m, j] - K[0, j])
    for j in range(size):
        place[j] = y[j] + h * (place[j] + whole * K[0, j])


@kernel(f"UniTuple(float64, 2)({A2}, float64, {A1}, {A2}, {A1}, {A1}, float64, {A1})", borrows=True, entry=True)
def measure(
    table: Array, h: float, y: Array, K: Array, last: Array, end: Array, rtol: float, atol: Array
) -> tuple[float, float]:
    """Return error and bend of a step, see `Piece`, of what has a tolerance; `last`: the place of its last stage."""
    apart = moved = e5 = e3 = 0.0
    for j in range(len(atol)):
        w = 1.0 / (atol[j] + rtol * max(abs(y[j]), abs(end[j])))
        five = three = 0.0
        for m in range(STAGES + 1):
            five += table[FIVE, m] * K[m, j]
            three += table[THREE, m] * K[m, j]
        e5, e3 = e5 + (five * w) ** 2, e3 + (three * w) ** 2
        apart = max(apart, abs(end[j] - last[j]) * w)
        moved = max(moved, abs(K[STAGES, j] - K[STAGES - 1, j]) * w)
    total = e5 + 0.01 * e3
    error = abs(h) * e5 / math.sqrt(total * len(atol)) if total != 0.0 else 0.0  # NaN stays NaN
    return error, (h * moved / apart if apart > 0.0 else 0.0)


@kernel(f"void({A2}, float64, {A1}, {A2}, {A1}, {A2})", borrows=True, entry=True)
def interpolate(table: Array, h: float, y: Array, K: Array, end: Array, F: Array) -> None:
    """Fill in the coefficients F (7, n) of a step."""
    for j in range(len(y)):
        dy = end[j] - y[j]
        F[0, j], F[1, j], F[2, j] = dy, h * K[0, j] - dy, 2.0 * dy - h * (K[STAGES, j] + K[0, j])
        for i in range(4):
            total = 0.0
            for m in range(WIDTH):
                total += table[DENSE + i, m] * K[m, j]
            F[3 + i, j] = h * total


@kernel(f"void({A1}, {A2}, float64, float64, float64, {A1})", borrows=True, entry=True)
def between(y: Array, F: Array, start: float, h: float, t: float, out: Array) -> None:
    """Fill in y(t) within a step."""
    x = (t - start) / h
    for j in range(len(y)):
        total = 0.0
        for k in range(7):
            total = (total + F[6 - k, j]) * (x if k % 2 == 0 else 1.0 - x)
        out[j] = total + y[j]


@kernel("float64(float64)", borrows=True, entry=True)
def growth(error: float) -> float:
    """Return by how much the next step may be longer."""
    if not error < np.inf:
        return SHRINK
    return GROW if error == 0.0 else min(GROW, max(SHRINK, SAFETY * error ** (-1.0 / 8.0)))


class NoStep(Exception):
    """No step is short enough."""


class Tolerance(NamedTuple):
    """Local error that a step may have, relative and absolute; components beyond those of `atol` have none."""

    rtol: float
    atol: Array

    def weights(self, y: Array, end: Array) -> Array:
        """Return 1 / tolerance of every component, zero for those that have none."""
        n, w = len(self.atol), np.zeros(len(y))
        w[:n] = 1.0 / (self.atol + self.rtol * np.maximum(np.abs(y[:n]), np.abs(end[:n])))
        return w


@dataclass(slots=True, eq=False)
class Piece:
    """One step of the integrator from (t, y) to (t + h, end), and what is in between.

    Attributes
    ----------
    slope : callable
        y' = slope(t, y).
    t, h : float
        s.
    y, end : Array, shape (n,)
    K : Array, shape (16, n)
        Slopes at the stages; K[0] at the beginning, K[12] at the end.
    error : float
        Local error over the tolerance.
    samples : callable or None
        samples(t, y) -> the Trail from its beginning to a time and the state there, where kernels know it.
    bend : float
        h times the fastest rate of the slopes, as the last two stages show it: near 6 the step is bounded by stability.
    """

    slope: Slope
    t: float
    h: float
    y: Array
    end: Array
    K: Array
    error: float
    bend: float
    _dense: Array | None = field(default=None, repr=False)
    samples: Callable[[float, Array], Trail | None] | None = field(default=None, repr=False)

    @property
    def t_end(self) -> float:
        """End of the step, s."""
        return self.t + self.h

    @property
    def explicit(self) -> bool:
        """Whether its stages are those of this method, which know the local error: those of collocation do not."""
        return bool(self.K[1:STAGES].any())

    @property
    def local(self) -> Array:
        """Local error of every component, whatever its tolerance."""
        e5, e3 = (TABLE[FIVE : THREE + 1, : STAGES + 1] @ self.K[: STAGES + 1]) ** 2
        total = np.sqrt(e5 + 0.01 * e3)
        found: Array = abs(self.h) * e5 / np.where(total > 0.0, total, 1.0)
        return found

    def at(self, t: float) -> Array:
        """Return y(t) within the step, by a polynomial of degree 7."""
        y = np.empty(len(self.y))
        between(self.y, self.dense(), self.t, self.h, t, y)
        return y

    def dense(self) -> Array:
        """Return the coefficients of that polynomial, shape (7, n)."""
        if self._dense is None:
            n, F = len(self.y), np.empty((7, len(self.y)))
            for s in range(STAGES + 1, WIDTH):
                place = np.empty(n)
                combine(TABLE, s, s, self.h, self.y, self.K, n, place)
                self.K[s] = self.slope(self.t + float(TABLE[TIMES, s]) * self.h, place)
            interpolate(TABLE, self.h, self.y, self.K, self.end, F)
            self._dense = F
        return self._dense


def take(slope: Slope, t: float, y: Array, first: Array, h: float, tolerance: Tolerance) -> Piece:
    """Return one step of length h (s), whatever its error; `first`: slope(t, y)."""
    n = len(y)
    K, places = np.empty((WIDTH, n)), np.empty((STAGES, n))
    K[0] = first
    for s in range(1, STAGES):
        combine(TABLE, s, s, h, y, K, n, places[s])
        K[s] = slope(t + float(TABLE[TIMES, s]) * h, places[s])
    end = np.empty(n)
    combine(TABLE, WEIGHTS, STAGES, h, y, K, n, end)
    K[STAGES] = slope(t + h, end)
    error, bend = measure(TABLE, h, y, K, places[STAGES - 1], end, tolerance.rtol, tolerance.atol)
    return Piece(slope, t, h, y, end, K, error, bend)


def steps(
    slope: Slope, t: float, y: Array, t_end: float, tolerance: Tolerance, length: float | None = None,
    one_step: Callable[..., Piece] = take,
) -> Iterator[Piece]:  # fmt: skip
    """Yield the steps from (t, y) to a time whose errors are small enough; the last one ends there.

    `length` is that of the first one that is tried, s, where something is known of it; `one_step` takes one as `take`.

    Raises
    ------
    NoStep
        None is short enough.
    """
    if not t < t_end:
        return
    first = np.asarray(slope(t, y))
    h = length or first_length(slope, t, y, first, tolerance.weights(y, y), t_end - t)
    while t < t_end:
        left = t_end - t
        h, last = min(h, left), h >= left
        piece = one_step(slope, t, y, first, h, tolerance)
        grown = h * growth(piece.error)
        if not piece.error <= 1.0:
            h = grown
            if h < least_length(t):
                raise NoStep(f"steps of {h:.2g} s are still too long at t = {t:.17g} s")
            continue
        yield piece
        t, y, first, h = t_end if last else piece.t_end, piece.end, piece.K[STAGES], grown


def first_length(slope: Slope, t: float, y: Array, first: Array, w: Array, longest: float) -> float:
    """Return a guess of the first step, s (Hairer, Norsett, Wanner, II.4)."""
    size, speed = float(np.linalg.norm(y * w)), float(np.linalg.norm(first * w))
    h0 = 1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed
    h0 = min(h0, longest)
    bend = float(np.linalg.norm((slope(t + h0, y + h0 * first) - first) * w)) / h0
    worst = max(speed, bend)
    h1 = max(1e-6, 1e-3 * h0) if worst <= 1e-15 else (0.01 / worst) ** (1.0 / 8.0)
    return min(100.0 * h0, h1, longest)


def least_length(t: float) -> float:
    """Return the shortest step that still changes t, s."""
    return ROUNDING * max(abs(t), 1e-3)
