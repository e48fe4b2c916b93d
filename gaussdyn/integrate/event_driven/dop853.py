"""Dormand and Prince's method of order 8, one step at a time, with its dense output of order 7.

Lean for small systems: no checks, no object per right-hand side. Coefficients are scipy's.

Source: Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.5, II.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import DOP853 as TABLEAU

from ...arrays import Array
from ..recorded_arcs import Trail

Slope = Callable[[float, Array], Array]
STAGES = 12
A = [np.ascontiguousarray(TABLEAU.A[s, :s]) for s in range(STAGES)]
A_EXTRA = [np.ascontiguousarray(TABLEAU.A_EXTRA[k, : STAGES + 1 + k]) for k in range(3)]
B, C, D = TABLEAU.B, [float(c) for c in TABLEAU.C], TABLEAU.D
C_EXTRA = [float(c) for c in TABLEAU.C_EXTRA]
ERRORS = np.array([TABLEAU.E5, TABLEAU.E3])
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
ROUNDING = 16.0 * np.finfo(np.float64).eps


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
    local : Array or None
        Local error of every component, whatever its tolerance; None where it is not known.
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
    local: Array | None = field(default=None, repr=False)
    samples: Callable[[float, Array], Trail] | None = field(default=None, repr=False)

    @property
    def t_end(self) -> float:
        """End of the step, s."""
        return self.t + self.h

    def at(self, t: float) -> Array:
        """Return y(t) within the step, by a polynomial of degree 7."""
        F = self.dense()
        x = (t - self.t) / self.h
        y = np.zeros(len(self.y))
        for k, f in enumerate(F[::-1]):
            y += f
            y *= x if k % 2 == 0 else 1.0 - x
        found: Array = y + self.y
        return found

    def dense(self) -> Array:
        """Return the coefficients of that polynomial, shape (7, n)."""
        if self._dense is None:
            self._dense = self._coefficients()
        return self._dense

    def _coefficients(self) -> Array:
        K, h = self.K, self.h
        for k, (a, c) in enumerate(zip(A_EXTRA, C_EXTRA, strict=True)):
            n = STAGES + 1 + k
            K[n] = self.slope(self.t + c * h, self.y + h * (a @ K[:n]))
        dy = self.end - self.y
        F = np.empty((7, len(dy)))
        F[0], F[1], F[2] = dy, h * K[0] - dy, 2.0 * dy - h * (K[STAGES] + K[0])
        F[3:] = h * (D @ K)
        return F


def take(slope: Slope, t: float, y: Array, first: Array, h: float, weight: Callable[[Array, Array], Array]) -> Piece:
    """Return one step of length h (s), whatever its error.

    Parameters
    ----------
    first : Array, shape (n,)
        slope(t, y).
    weight : callable
        weight(y, end) -> 1 / tolerance of every component; zero for those that have none.
    """
    K = np.empty((STAGES + 4, len(y)))
    K[0] = first
    x = y
    for s in range(1, STAGES):
        x = y + h * (A[s] @ K[:s])
        K[s] = slope(t + C[s] * h, x)
    end = y + h * (B @ K[:STAGES])
    K[STAGES] = slope(t + h, end)
    w = weight(y, end)
    errors = (ERRORS @ K[: STAGES + 1]) ** 2
    e5, e3 = (errors * w**2) @ np.ones(len(y))
    total = e5 + 0.01 * e3
    counted = max(int(np.count_nonzero(w)), 1)
    error = abs(h) * e5 / np.sqrt(total * counted) if total > 0.0 else 0.0
    apart = float(np.abs((end - x) * w).max(initial=0.0))
    bend = h * float(np.abs((K[STAGES] - K[STAGES - 1]) * w).max(initial=0.0)) / apart if apart > 0.0 else 0.0
    return Piece(slope, t, h, y, end, K, float(error), bend, local=local_error(h, K))


def local_error(h: float, K: Array) -> Array:
    """Return the local error of every component of a step with slopes K."""
    e5, e3 = (ERRORS @ K[: STAGES + 1]) ** 2
    total = np.sqrt(e5 + 0.01 * e3)
    found: Array = abs(h) * e5 / np.where(total > 0.0, total, 1.0)
    return found


def factor(error: float) -> float:
    """Return by how much the next step may be longer."""
    if not error < np.inf:
        return SHRINK
    return GROW if error == 0.0 else min(GROW, max(SHRINK, SAFETY * error ** (-1.0 / 8.0)))


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
