"""Accurate derivatives of functions of which only values are known.

Central differences at steps h, h/2, h/4, ... are extrapolated to h = 0 (Romberg's tableau with Ridders' choice of
the entry of least estimated error), so that smooth functions of ordinary scale come out to about 1e-12, and a kink or
the border of the domain within the first steps does no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import EPS, Array
from ..errors import InputError

STEP = 0.125  # first step, in the unit of the argument; a power of two, so that t + h is exact
LEVELS = 14  # the last step is STEP / 2**13


def derivative(
    name: str, f: Callable[[float], ArrayLike], *, order: int = 1, speed: float = 1.0, noise: float = 0.0
) -> Array:
    """Return the first or second derivative of f at 0.

    Parameters
    ----------
    name : str
        What is differentiated, for the error message.
    f : callable
        Number -> number or vector.
    order : int
        1 or 2.
    speed : float
        How fast the arguments of interest move with the number; steps are taken accordingly shorter.
    noise : float
        Rounding error of the values of f where it is above eps |f|, as in the difference of two large numbers.

    Raises
    ------
    InputError
        If f has no finite values on both sides of 0, however near.
    """
    h = STEP / 2.0 ** math.ceil(math.log2(max(speed, 1.0)))
    best, error = np.zeros(0), np.zeros(0)
    above: list[Array] = []
    with np.errstate(all="ignore"):
        middle = _values(f, 0.0)
        size = np.abs(middle) + noise / EPS
        for _ in range(LEVELS):
            right, left = _values(f, h), _values(f, -h)
            quotient = (right - left) / (2.0 * h) if order == 1 else ((right - middle) + (left - middle)) / (h * h)
            h *= 0.5
            if not np.isfinite(quotient).all():
                above = []
                continue
            size = np.maximum(size, np.abs(right))
            rounding = (0.5 * EPS / h if order == 1 else EPS / (h * h)) * size
            row = _extrapolate(quotient, above)
            if not best.size:
                best, error = quotient.copy(), np.full_like(quotient, np.inf)
            _keep_best(best, error, row, above, rounding)
            above = row
            if (error <= 2.0 * rounding).all():
                break
    if not (best.size and np.isfinite(best).all()):
        raise InputError(name, "NaN or infinity", "finite numbers near the state", "Look for a division by zero.")
    return best


def gradient(name: str, f: Callable[[Array], ArrayLike], x: Array) -> Array:
    """Return the derivative of f (vector -> number or k-vector) at x, shape (k, len(x))."""
    columns = [derivative(f"derivative of {name}", _along_axis(f, x, i)) for i in range(len(x))]
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((1, 0))


def _along_axis(f: Callable[[Array], ArrayLike], x: Array, i: int) -> Callable[[float], ArrayLike]:
    """Return s -> f(x + s e_i)."""

    def of(s: float) -> ArrayLike:
        y = x.copy()
        y[i] += s
        return f(y)

    return of


def _values(f: Callable[[float], ArrayLike], s: float) -> Array:
    return np.atleast_1d(np.asarray(f(s), dtype=np.float64))


def _extrapolate(quotient: Array, above: list[Array]) -> list[Array]:
    """Return the next row of the tableau: entry j is free of the errors h^2 .. h^2j."""
    row, factor = [quotient], 1.0
    for previous in above:
        factor *= 4.0
        row.append(row[-1] + (row[-1] - previous) / (factor - 1.0))
    return row


def _keep_best(best: Array, error: Array, row: list[Array], above: list[Array], rounding: Array) -> None:
    """Take, component by component, the entry that differs least from its two neighbours.

    Entries that agree by chance where rounding prevails are not taken for good: no error counts as smaller than that.
    """
    for j, previous in enumerate(above):
        distance = np.maximum(np.abs(row[j + 1] - row[j]), np.abs(row[j + 1] - previous))
        better = np.maximum(distance, rounding) < error
        best[better], error[better] = row[j + 1][better], np.maximum(distance, rounding)[better]
