"""Pairs of numbers, directions and names: what bodies, markers and shapes in the plane are checked with."""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Array, vector
from ...errors import InputError
from ...mends import numbers

Pair = tuple[float, float]


def rotated(arm: Pair, angle: float) -> Pair:
    """Return R(angle) arm."""
    if angle == 0.0:
        return arm
    c, s = math.cos(angle), math.sin(angle)
    return c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]


def turned(arm: Pair, angles: Array) -> tuple[Array, Array]:
    """Return R(angle) arm for many angles, to the last bit as `rotated` does."""
    c, s = (np.array([f(angle) for angle in angles.tolist()]) for f in (math.cos, math.sin))
    return c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]


def perp(d: Array) -> Array:
    """Return d turned by a right angle counter-clockwise."""
    return np.array([-d[1], d[0]])


def pair(name: str, value: object) -> Pair:
    """Return `value` as two finite floats."""
    x = vector(name, value, 2)  # type: ignore[arg-type]
    return float(x[0]), float(x[1])


def unit(name: str, value: object) -> Pair:
    """Return `value` scaled to length one.

    Raises
    ------
    InputError
        If it is zero or not two finite numbers.
    """
    x, y = pair(name, value)
    length = math.hypot(x, y)
    if length == 0.0:
        raise InputError(name, (x, y), "a direction: two numbers that are not both zero", numbers(name, 2))
    return (x, y) if abs(length - 1.0) < 1e-15 else (x / length, y / length)
