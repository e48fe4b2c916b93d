"""Enclosures of functions of a few angles and of their gradients over many boxes at once.

A field holds intervals of shape (1 + p, m): the value and its p partial derivatives in m boxes.
Source: Moore, Kearfott, Cloud, Introduction to Interval Analysis (2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..arrays import Array
from .intervals import Interval, cos, sin


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Bounds of a function and its gradient."""

    bounds: Interval

    @property
    def value(self) -> Interval:
        """Bounds of the function, shape (m,)."""
        return self.bounds[0]

    @property
    def slope(self) -> Interval:
        """Bounds of the gradient, shape (p, m)."""
        return self.bounds[1:]

    def __getitem__(self, boxes: Any) -> Field:
        return Field(self.bounds[:, boxes])

    def __add__(self, other: Field) -> Field:
        return Field(self.bounds + other.bounds)

    def __neg__(self) -> Field:
        return Field(-self.bounds)

    def __sub__(self, other: Field) -> Field:
        return Field(self.bounds - other.bounds)

    def __mul__(self, other: Field) -> Field:
        found = self.value * other.bounds  # all products with the value in one go
        return _field(found[0], found[1:] + self.slope * other.value)

    def sign(self) -> Array:
        """Return 1 or -1 where the value has that sign in the whole box, else 0."""
        return np.where(self.bounds.lo[0] > 0, 1, 0) - np.where(self.bounds.hi[0] < 0, 1, 0)


def _field(value: Interval, slope: Interval) -> Field:
    """Return the field with these bounds, shapes (m,) and (p, m)."""
    return Field(Interval(np.concatenate([value.lo[None], slope.lo]), np.concatenate([value.hi[None], slope.hi])))


def constant(x: Fraction, p: int, m: int) -> Field:
    """Return a number in m boxes."""
    near = float(x)
    exact = Fraction(near) == x
    lo, hi = np.zeros((1 + p, m)), np.zeros((1 + p, m))
    lo[0], hi[0] = (near, near) if exact else (np.nextafter(near, -np.inf), np.nextafter(near, np.inf))
    return Field(Interval(lo, hi))


def cosine_and_sine(lo: Array, hi: Array, k: int, p: int) -> tuple[Field, Field]:
    """Return cos and sin of angle k, which lies between lo and hi, shape (m,)."""
    angle = Interval(lo, hi)
    c, s = cos(angle), sin(angle)
    found = []
    for value, slope in ((c, -s), (s, c)):
        low, high = np.zeros((1 + p, len(lo))), np.zeros((1 + p, len(lo)))
        low[0], high[0], low[1 + k], high[1 + k] = value.lo, value.hi, slope.lo, slope.hi
        found.append(Field(Interval(low, high)))
    return found[0], found[1]
