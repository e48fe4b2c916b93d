"""Interval arithmetic on arrays: every result holds all values that the exact expression takes.

Sums, products, quotients and roots are rounded outwards by one unit in the last place; elementary functions, whose
library error is below two units, by four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array

LIBRARY = 4  # units in the last place around what numpy returns for exp, log, sin, ..
SLACK = 1e-9  # of a turn: extremes of sine and cosine this close to an interval are taken to be in it


class Interval:
    """Arrays of closed intervals [lo, hi].

    Parameters
    ----------
    lo, hi : array_like
        Ends, lo <= hi; hi = lo by default.
    """

    __array_ufunc__ = None  # numpy arrays on the left leave the operation to us
    __slots__ = ("hi", "lo")

    def __init__(self, lo: Any, hi: Any = None) -> None:
        self.lo: Array = np.asarray(lo, dtype=np.float64)
        self.hi: Array = self.lo if hi is None else np.asarray(hi, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Interval({self.lo!r}, {self.hi!r})"

    @property
    def mid(self) -> Array:
        """Middle, rounded."""
        middle: Array = 0.5 * (self.lo + self.hi)
        return middle

    @property
    def width(self) -> Array:
        """hi - lo, rounded."""
        width: Array = self.hi - self.lo
        return width

    def holds(self, value: float = 0.0) -> Any:
        """Return where a number is in the interval."""
        return (self.lo <= value) & (value <= self.hi)

    def __getitem__(self, key: Any) -> Interval:
        return Interval(self.lo[key], self.hi[key])

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __pos__(self) -> Interval:
        return self

    def __add__(self, other: Any) -> Interval:
        y = interval(other)
        return _outwards(self.lo + y.lo, self.hi + y.hi)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Interval:
        return self + (-interval(other))

    def __rsub__(self, other: Any) -> Interval:
        return interval(other) + (-self)

    def __mul__(self, other: Any) -> Interval:
        y = interval(other)
        with np.errstate(invalid="ignore", over="ignore"):
            parts = [self.lo * y.lo, self.lo * y.hi, self.hi * y.lo, self.hi * y.hi]
            lo, hi = _least(np.minimum, parts), _least(np.maximum, parts)
        if np.isnan(lo).any():  # 0 times infinity is 0
            parts = [np.where(np.isnan(x), 0.0, x) for x in parts]
            lo, hi = _least(np.minimum, parts), _least(np.maximum, parts)
        return _outwards(lo, hi)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        return self * _inverse(interval(other))

    def __rtruediv__(self, other: Any) -> Interval:
        return interval(other) * _inverse(self)

    def __pow__(self, power: Any) -> Interval:
        if isinstance(power, (int, np.integer)):
            return _power(self, int(power))
        given = power if isinstance(power, Interval) else _outwards(interval(power).lo, interval(power).hi)
        return exp(given * log(self))


def interval(x: Any) -> Interval:
    """Return an interval; a number is one of width zero."""
    return x if isinstance(x, Interval) else Interval(x)


def hull(a: Interval, b: Interval) -> Interval:
    """Return the smallest interval around both."""
    return Interval(np.minimum(a.lo, b.lo), np.maximum(a.hi, b.hi))


def _least(of: Callable[[Array, Array], Array], parts: list[Array]) -> Array:
    return of(of(parts[0], parts[1]), of(parts[2], parts[3]))


def _outwards(lo: Array, hi: Array, units: int = 1) -> Interval:
    if units == 1:
        return Interval(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))
    with np.errstate(invalid="ignore"):
        down, up = lo - units * np.spacing(np.abs(lo)), hi + units * np.spacing(np.abs(hi))
    return Interval(np.where(np.isfinite(lo), down, lo), np.where(np.isfinite(hi), up, hi))


def _inverse(x: Interval) -> Interval:
    """Return 1 / x: everything where x holds zero."""
    with np.errstate(divide="ignore"):
        lo, hi = 1.0 / x.hi, 1.0 / x.lo
    zero = x.holds()
    return _outwards(np.where(zero, -np.inf, lo), np.where(zero, np.inf, hi))


def _power(x: Interval, n: int) -> Interval:
    """Return x^n, rounded outwards; of even powers not below zero."""
    if n < 0:
        return _inverse(_power(x, -n))
    if n == 0:
        return Interval(np.ones_like(x.lo))
    lo, hi = x.lo**n, x.hi**n
    if n % 2 == 0:
        lo, hi = np.where(x.holds(), 0.0, np.minimum(lo, hi)), np.maximum(lo, hi)
    grown = _outwards(lo, hi, LIBRARY if n > 2 else 1)
    return Interval(np.maximum(grown.lo, 0.0), grown.hi) if n % 2 == 0 else grown


def _rising(function: Callable[[Array], Array], least: float = -np.inf) -> Callable[[Any], Interval]:
    """Return the interval function of a function that rises; what lies below its domain is cut off."""

    def of(x: Any) -> Interval:
        """Return all values."""
        x = interval(x)
        with np.errstate(all="ignore"):
            return _outwards(function(np.maximum(x.lo, least)), function(x.hi), LIBRARY)

    return of


sqrt = _rising(np.sqrt, 0.0)
exp = _rising(np.exp)
log = _rising(np.log, 0.0)
sinh, tanh, asinh, atan = _rising(np.sinh), _rising(np.tanh), _rising(np.arcsinh), _rising(np.arctan)
asin = _rising(np.arcsin, -1.0)


def cosh(x: Any) -> Interval:
    """Return all values of cosh."""
    x = interval(x)
    far = np.maximum(np.abs(x.lo), np.abs(x.hi))
    near = np.where(x.holds(), 0.0, np.minimum(np.abs(x.lo), np.abs(x.hi)))
    return _outwards(np.cosh(near), np.cosh(far), LIBRARY)


def cos(x: Any) -> Interval:
    """Return all values of the cosine."""
    x = interval(x)
    a, b = np.cos(x.lo), np.cos(x.hi)
    turns = x.lo / (2.0 * np.pi) - SLACK, x.hi / (2.0 * np.pi) + SLACK
    top = np.floor(turns[1]) >= np.ceil(turns[0])
    bottom = np.floor(turns[1] - 0.5) >= np.ceil(turns[0] - 0.5)
    found = _outwards(np.minimum(a, b), np.maximum(a, b), LIBRARY)
    return Interval(np.where(bottom, -1.0, np.maximum(found.lo, -1.0)), np.where(top, 1.0, np.minimum(found.hi, 1.0)))


def sin(x: Any) -> Interval:
    """Return all values of the sine."""
    return cos(interval(x) - HALF_PI)


def acos(x: Any) -> Interval:
    """Return all values of the arc cosine."""
    return HALF_PI - asin(x)


def tan(x: Any) -> Interval:
    """Return all values of the tangent; everything across a pole."""
    return sin(x) / cos(x)


HALF_PI = Interval(np.nextafter(np.pi / 2, 0.0), np.nextafter(np.pi / 2, 4.0))
FUNCTIONS: dict[str, Callable[[Any], Interval]] = {
    "sqrt": sqrt, "exp": exp, "log": log, "sin": sin, "cos": cos, "tan": tan, "sinh": sinh, "cosh": cosh,
    "tanh": tanh, "asinh": asinh, "atan": atan, "asin": asin,
    "acos": acos,
}  # fmt: skip
