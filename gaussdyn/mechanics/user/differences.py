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
from functools import partial
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
        parts = [partial(samples.part, k) for k in range(len(samples.middle))]
        of: list[Callable[[float], float]] = [samples.number] if len(parts) == 1 else [*parts]
        pairs = zip(of, samples.middle, strict=True)
        found = [Component(part, middle, order, noise).derivative(h) for part, middle in pairs]
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
    """Values of f at 0 and beside it; those of a vector are computed once.

    Attributes
    ----------
    middle : list of float
        f(0).
    """

    def __init__(self, name: str, f: Callable[[float], ArrayLike]) -> None:
        self.name, self.f, self.middle = name, f, _floats(name, f(0.0))
        self._known: dict[float, list[float]] = {}

    def number(self, s: float) -> float:
        """Return f(s) of a function with one component; NaN where it is not defined."""
        try:
            value = self.f(s)
            return value if type(value) is float else self._same(value)[0]
        except InputError:
            raise
        except (ArithmeticError, ValueError):  # math.sqrt of a negative number, say
            return math.nan

    def part(self, k: int, s: float) -> float:
        """Return component k of f(s); NaN where it is not defined."""
        if s not in self._known:
            try:
                self._known[s] = self._same(self.f(s))
            except InputError:
                raise
            except (ArithmeticError, ValueError):
                self._known[s] = [math.nan] * len(self.middle)
        return self._known[s][k]

    def _same(self, value: Any) -> list[float]:
        """Return the components of a value, as many as at 0."""
        n, found = len(self.middle), _floats(self.name, value)
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
    """One component of f, a function of a number, and how its difference quotients behave."""

    def __init__(self, f: Callable[[float], float], middle: float, order: int, noise: float) -> None:
        self.f, self.middle, self.order = f, middle, order
        self.size = abs(middle) + noise / EPS
        self._known: dict[float, float] = {}

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
        """Return the difference quotient of step h, which is computed once."""
        known = self._known.get(h)
        if known is not None:
            return known
        right, left = self.f(h), self.f(-h)
        if not (math.isfinite(right) and math.isfinite(left)):
            found = math.nan
        else:
            self.size = max(self.size, abs(right))
            first = self.order == 1
            found = (right - left) / (2.0 * h) if first else ((right - self.middle) + (left - self.middle)) / (h * h)
        self._known[h] = found
        return found

    def _rounding(self, h: float) -> float:
        """Return the rounding error of a quotient of step h."""
        return EPS * self.size / h if self.order == 1 else 4.0 * EPS * self.size / (h * h)

    def _widening(self, h: float) -> int:
        """Return how often to double the first step, so that rounding does not prevail in it."""
        quotient = self._quotient(h)
        excess = self._rounding(h) / (GOAL * max(1.0, abs(quotient))) if quotient == quotient else 0.0
        return min(WIDEST, math.ceil(math.log2(excess) / self.order)) if 1.0 < excess < math.inf else 0

    def _romberg(self, h: float, shortest: float) -> tuple[float, float, float]:
        """Return the extrapolated quotient, its error, and the miss of the plain one of that step over its h^2.

        Entry j of a row of the tableau is free of the errors h^2 .. h^2j. The best one differs least from its two
        neighbours; entries that agree by chance where rounding prevails are not taken for good: no error counts as
        smaller than that.
        """
        best, error, bend = math.nan, math.inf, 0.0
        above: list[float] = []
        while h >= shortest:
            entry = quotient = self._quotient(h)
            row, factor = [quotient], 1.0
            if quotient != quotient:
                row = []
            else:
                rounding, least = self._rounding(h), error
                best = quotient if best != best else best
                for previous in above:
                    factor *= 4.0
                    last, entry = entry, entry + (entry - previous) / (factor - 1.0)
                    row.append(entry)
                    distance = max(abs(entry - last), abs(entry - previous), rounding)
                    if distance < least:
                        best, least = entry, distance
                if least < error:
                    error, bend = least, abs(quotient - best) / (h * h)
                if error <= 2.0 * rounding:
                    break
            above = row
            h *= 0.5
        return best, error, bend
