"""Enclosures of functions of a few angles and of their gradients over many boxes at once, rounded outwards.

A field holds lower and upper bounds of shape (1 + p, m): the value and its p partial derivatives in m boxes. Every
operation widens its result by one unit in the last place; sines and cosines of the library are trusted to 4e-16.
Source: Moore, Kearfott, Cloud, Introduction to Interval Analysis (2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..arrays import Array

TRIG = 4e-16


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Bounds of a function and its gradient."""

    lo: Array
    hi: Array

    def __add__(self, other: Field) -> Field:
        return outwards(self.lo + other.lo, self.hi + other.hi)

    def __neg__(self) -> Field:
        return Field(-self.hi, -self.lo)

    def __sub__(self, other: Field) -> Field:
        return self + -other

    def __mul__(self, other: Field) -> Field:
        value = _product(self.lo[:1], self.hi[:1], other.lo[:1], other.hi[:1])
        left = _product(self.lo[:1], self.hi[:1], other.lo[1:], other.hi[1:])
        right = _product(self.lo[1:], self.hi[1:], other.lo[:1], other.hi[:1])
        slope = left + right
        return Field(np.concatenate([value.lo, slope.lo]), np.concatenate([value.hi, slope.hi]))

    def sign(self) -> Array:
        """Return 1 or -1 where the value has that sign in the whole box, else 0."""
        return np.where(self.lo[0] > 0, 1, 0) - np.where(self.hi[0] < 0, 1, 0)


def outwards(lo: Array, hi: Array) -> Field:
    """Return the bounds widened by one unit in the last place."""
    return Field(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))


def _product(a: Array, b: Array, c: Array, d: Array) -> Field:
    """Return [a, b] [c, d]."""
    ac, ad, bc, bd = a * c, a * d, b * c, b * d
    lo = np.minimum(np.minimum(ac, ad), np.minimum(bc, bd))
    return outwards(lo, np.maximum(np.maximum(ac, ad), np.maximum(bc, bd)))


def constant(x: Fraction, p: int, m: int) -> Field:
    """Return a number in m boxes."""
    near = float(x)
    exact = Fraction(near) == x
    lo, hi = np.zeros((1 + p, m)), np.zeros((1 + p, m))
    lo[0], hi[0] = (near, near) if exact else (np.nextafter(near, -np.inf), np.nextafter(near, np.inf))
    return Field(lo, hi)


def cosine_and_sine(lo: Array, hi: Array, k: int, p: int) -> tuple[Field, Field]:
    """Return cos and sin of angle k, which lies between lo and hi (shape (m,), less than pi apart)."""
    c, s = _cosine(lo, hi), _cosine(lo - np.pi / 2, hi - np.pi / 2)
    found = []
    for value, slope in ((c, Field(-s.hi, -s.lo)), (s, c)):
        low, high = np.zeros((1 + p, len(lo))), np.zeros((1 + p, len(lo)))
        low[0], high[0], low[1 + k], high[1 + k] = value.lo, value.hi, slope.lo, slope.hi
        found.append(Field(low, high))
    return found[0], found[1]


def _cosine(lo: Array, hi: Array) -> Field:
    ends = np.cos(lo), np.cos(hi)
    first, last = np.ceil(lo / np.pi), np.floor(hi / np.pi)
    holds = first <= last  # a multiple of pi lies between
    even = holds & ((first % 2 == 0) | (last % 2 == 0))
    odd = holds & ((first % 2 == 1) | (last % 2 == 1))
    low = np.where(odd, -1.0, np.minimum(*ends)) - TRIG
    return Field(low, np.where(even, 1.0, np.maximum(*ends)) + TRIG)
