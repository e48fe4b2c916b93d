"""Accurate derivatives of functions of which only values are known.

Central differences at steps h, h/2, h/4, ... are extrapolated to h = 0 (Romberg's tableau with Ridders' choice of
the entry of least estimated error), so that smooth functions of ordinary scale come out to about 1e-12, and a kink or
the border of the domain within the first steps does no harm. The first step is widened where rounding would spoil
the result (coordinates in mm, say), and the result is held against a difference over a very short step, because a
function that repeats itself with the steps (a table that shakes at 40 Hz) looks constant to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import EPS, Array
from ...errors import InputError
from ...mends import numbers

STEP = 0.125  # first step, in the unit of the argument; a power of two, so that t + h is exact
LEVELS = 14  # the last step is STEP / 2**13
GOAL = 1e-14  # relative rounding error above which the first step is widened
WIDEST = 10  # by at most 2**WIDEST
SHORT = {1: 2.0**-9, 2: 2.0**-6}  # by order of the derivative, the step of the comparison, in the first step
ANEW = (2.0**-4, 2.0**-7)  # where to begin anew if it disagrees, in the first step


def derivative(
    name: str, f: Callable[[float], ArrayLike], *, order: int = 1, speed: float = 1.0, noise: float = 0.0
) -> Array:
    """Return the first or second derivative of f at 0.

    Parameters
    ----------
    name : str
        What is differentiated, for the error message.
    f : callable
        Number -> number or vector. Outside of its domain it may return NaN or raise ValueError.
    order : int
        1 or 2.
    speed : float
        How fast the arguments of interest move with the number; steps are taken accordingly shorter.
    noise : float
        Rounding error of the values of f where it is above eps |f|, as in the difference of two large numbers.

    Raises
    ------
    InputError
        If f has no finite values on both sides of 0, however near, complex ones, or another number of them elsewhere.
    """
    with np.errstate(all="ignore"):
        samples = Samples(name, f)
        h = STEP / 2.0 ** math.ceil(math.log2(max(speed, 1.0)))
        found = [Component(samples, k, order, noise).derivative(h) for k in range(len(samples.middle))]
    if not all(map(math.isfinite, found)):
        raise InputError(
            name,
            "NaN or infinity",
            "finite numbers near the state",
            "Look for a division by zero: numpy.seterr(all='raise') shows where.",
        )
    return np.array(found)


def gradient(name: str, f: Callable[[Array], ArrayLike], x: Array) -> Array:
    """Return the derivative of f (vector -> number or k-vector) at x, shape (k, len(x))."""
    noise = EPS * float(np.abs(x).max(initial=0.0))
    columns = [derivative(f"derivative of {name}", _along_axis(f, x, i), noise=noise) for i in range(len(x))]
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((1, 0))


def _along_axis(f: Callable[[Array], ArrayLike], x: Array, i: int) -> Callable[[float], ArrayLike]:
    """Return s -> f(x + s e_i)."""

    def of(s: float) -> ArrayLike:
        """Return f with coordinate i moved by s."""
        y = x.copy()
        y[i] += s
        return f(y)

    return of


class Samples:
    """Values of f at 0 and on both sides of it, each computed once.

    Attributes
    ----------
    middle : list of float
        f(0).
    """

    def __init__(self, name: str, f: Callable[[float], ArrayLike]) -> None:
        self.name, self.f, self.middle = name, f, _floats(name, f(0.0))
        self._known: dict[float, tuple[list[float], list[float]]] = {}

    def at(self, h: float) -> tuple[list[float], list[float]]:
        """Return f(h) and f(-h); NaN where f is not defined."""
        if h not in self._known:
            self._known[h] = self._side(h), self._side(-h)
        return self._known[h]

    def _side(self, s: float) -> list[float]:
        n = len(self.middle)
        try:
            found = _floats(self.name, self.f(s))
        except InputError:
            raise
        except (ArithmeticError, ValueError):  # math.sqrt of a negative number, say
            return [math.nan] * n
        if len(found) != n:
            given = f"{n} at the state and {len(found)} beside it"
            raise InputError(f"numbers of {self.name}", given, "as many everywhere", numbers(self.name, n))
        return found


def _floats(name: str, value: Any) -> list[float]:
    if isinstance(value, float):
        return [float(value)]
    x = np.asarray(value)
    if x.dtype.kind == "c":
        raise InputError(name, "complex numbers", "real numbers", "Write numpy.real(...) of it, if that is meant.")
    found: list[float] = np.ravel(x.astype(np.float64, copy=False)).tolist()
    return found


class Component:
    """One component of f, and how its difference quotients behave."""

    def __init__(self, samples: Samples, k: int, order: int, noise: float) -> None:
        self.samples, self.k, self.order = samples, k, order
        self.middle = samples.middle[k]
        self.size = abs(self.middle) + noise / EPS

    def derivative(self, h: float) -> float:
        """Return the derivative, its first step about h; NaN if there is none."""
        shortest = h * 2.0 ** (1 - LEVELS)
        best, _, bend = self._romberg(h * 2.0 ** self._widening(h), shortest)
        for part in ANEW:
            if self._plausible(best, bend, h * SHORT[self.order]):
                break
            other, error, bend = self._romberg(h * part, shortest)
            best = other if not abs(other - best) <= 10.0 * error else best
        return best

    def _plausible(self, best: float, bend: float, h: float) -> bool:
        """Return whether the quotient of a very short step h is as near to `best` as it ought to be."""
        miss = abs(self._quotient(h) - best)
        return not miss > 10.0 * bend * h * h + 64.0 * self._rounding(h) + 1e-9 * abs(best)

    def _quotient(self, h: float) -> float:
        """Return the difference quotient of step h."""
        right, left = (side[self.k] for side in self.samples.at(h))
        if not math.isfinite(right) or not math.isfinite(left):
            return math.nan
        self.size = max(self.size, abs(right))
        if self.order == 1:
            return (right - left) / (2.0 * h)
        return ((right - self.middle) + (left - self.middle)) / (h * h)

    def _rounding(self, h: float) -> float:
        """Return the rounding error of a quotient of step h."""
        return EPS * self.size / h if self.order == 1 else 4.0 * EPS * self.size / (h * h)

    def _widening(self, h: float) -> int:
        """Return how often to double the first step, so that rounding does not prevail in it."""
        quotient = self._quotient(h)
        excess = self._rounding(h) / (GOAL * max(1.0, abs(quotient))) if quotient == quotient else 0.0
        return min(WIDEST, math.ceil(math.log2(excess) / self.order)) if 1.0 < excess < math.inf else 0

    def _romberg(self, h: float, shortest: float) -> tuple[float, float, float]:
        """Return the extrapolated quotient, its error, and the miss of the plain one of that step over its h^2."""
        best, error, bend = math.nan, math.inf, 0.0
        above: list[float] = []
        while h >= shortest:
            quotient = self._quotient(h)
            if quotient != quotient:
                above = []
            else:
                rounding = self._rounding(h)
                row = _extrapolate(quotient, above)
                found = _better(best, error, row, above, rounding)
                if found != (best, error):
                    best, error = found
                    bend = abs(quotient - best) / (h * h)
                above = row
                if error <= 2.0 * rounding:
                    break
            h *= 0.5
        return best, error, bend


def _extrapolate(quotient: float, above: list[float]) -> list[float]:
    """Return the next row of the tableau: entry j is free of the errors h^2 .. h^2j."""
    row, factor = [quotient], 1.0
    for previous in above:
        factor *= 4.0
        row.append(row[-1] + (row[-1] - previous) / (factor - 1.0))
    return row


def _better(best: float, error: float, row: list[float], above: list[float], rounding: float) -> tuple[float, float]:
    """Return the entry that differs least from its two neighbours, if it does less than the best so far.

    Entries that agree by chance where rounding prevails are not taken for good: no error counts as smaller than that.
    """
    if best != best:
        best = row[0]
    for j, previous in enumerate(above):
        distance = max(abs(row[j + 1] - row[j]), abs(row[j + 1] - previous), rounding)
        if distance < error:
            best, error = row[j + 1], distance
    return best, error
