"""Checked arrays: the one door through which numbers enter.

Every array inside the package is float64, C-contiguous, finite, and the package's own copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .mends import WHERE, numbers, one_number

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FLOAT = np.dtype(np.float64)  # the one object of its kind: quicker to compare with than equality
SMALL = 16
ONLY_FLOATS = {float}
EPS = float(np.finfo(np.float64).eps)


def vector(name: str, value: ArrayLike, size: int | None = None, *, finite: bool = True) -> Array:
    """Return `value` as a finite float64 vector of shape (size,); with `finite` False the caller sees to that.

    Raises
    ------
    InputError
        If `value` is not numeric, has another shape, or holds NaN or infinity.
    """
    if type(value) is np.ndarray and value.dtype is FLOAT and value.ndim == 1 and size in (None, len(value)):
        return finite_only(name, value.copy()) if finite else value.copy()
    if isinstance(value, list) and len(value) == size and size <= SMALL and _finite_floats(value):
        return np.array(value)
    x = _numbers(name, value)
    given = x.shape
    if not given:
        x = x.reshape(1)
        given = (1,)
    if len(given) != 1 or (size is not None and given[0] != size):
        shape = "n" if size is None else size
        raise InputError(name, f"shape {x.shape}", f"a vector of shape ({shape},)", numbers(name, size))
    return finite_only(name, x) if finite else x


def matrix(
    name: str, value: ArrayLike, rows: int | None = None, cols: int | None = None, *, finite: bool = True
) -> Array:
    """Return `value` as a finite float64 matrix of shape (rows, cols); an empty one may be given as ``[]``.

    With `finite` False the caller sees to that.

    Raises
    ------
    InputError
        If `value` is not numeric, has another shape, or holds NaN or infinity.
    """
    x = _numbers(name, value)
    if x.shape == (rows, cols) and rows:
        return finite_only(name, x) if finite else x
    if x.size == 0:
        x = _empty_matrix(x, rows, cols)
    if x.ndim != 2 or rows not in (None, x.shape[0]) or cols not in (None, x.shape[1]):
        wanted = f"a matrix of shape ({'m' if rows is None else rows}, {'n' if cols is None else cols})"
        raise InputError(name, f"shape {x.shape}", wanted, numbers(name, rows or 3, cols or 3))
    return finite_only(name, x) if finite else x


def _empty_matrix(x: Array, rows: int | None, cols: int | None) -> Array:
    """Return an empty matrix of the shape that is wanted, where that is empty; what is not wanted stays as given."""
    given = x.shape if x.ndim == 2 else (0, 0)
    shape = (given[0] if rows is None else rows, given[1] if cols is None else cols)
    return x.reshape(shape) if shape[0] * shape[1] == 0 else x


def scalar(name: str, value: Any, *, low: float = -np.inf, high: float = np.inf, open_low: bool = False) -> float:
    """Return `value` as a finite float within [low, high] (or (low, high] with `open_low`).

    Raises
    ------
    InputError
        If it is not a number, not finite, or out of range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(name, repr(value), _bounds(low, high, open_low), one_number(name, low, high, open_low))
    x = float(value)
    if not math.isfinite(x) or x < low or x > high or (open_low and x == low):
        allowed = _bounds(low, high, open_low)
        if not math.isfinite(x):
            allowed = allowed.replace("a number", "a finite number")
        raise InputError(name, x, allowed, one_number(name, low, high, open_low))
    return x


def _bounds(low: float, high: float, open_low: bool) -> str:
    """Return what `scalar` allows, in words."""
    if not math.isfinite(low):
        return "a finite number"
    return f"a number {'>' if open_low else '>='} {low:g}" + (f" and <= {high:g}" if math.isfinite(high) else "")


def stacked(parts: Sequence[Any], names: Iterable[str]) -> dict[str, Any]:
    """Return arrays that several values have by the same names, one after another."""
    return {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}


def all_finite(x: Array) -> bool:
    """Return whether all numbers of an array are finite: their sum of squares is, or (it may overflow) each of them."""
    flat = x.ravel()
    return math.isfinite(square(flat)) or bool(np.isfinite(flat).all())


def square(x: Array) -> float:
    """Return x . x of a vector, without a warning where it overflows."""
    return float(np.vdot(x, x))  # unlike dot it looks at no flags: a third of the time for a few numbers


def _finite_floats(value: list[Any]) -> bool:
    """Return whether a list, as functions return it, is of Python's own floats, all finite, and not empty."""
    return set(map(type, value)) == ONLY_FLOATS and all(map(math.isfinite, value))


def _numbers(name: str, value: ArrayLike) -> Array:
    if type(value) is np.ndarray and value.dtype is FLOAT:
        return value.copy()
    try:
        given = np.asarray(value)
        if isinstance(value, list) and given.dtype == np.float64:
            return given
        if given.dtype.kind not in "fiub" and not _all_real(given):
            forgotten = given.dtype.kind == "O" and any(x is None for x in given.flat)
            mend = "A function may lack its last line: return x(...)." if forgotten else numbers(name)
            raise InputError(name, repr(value), "an array of real numbers", mend)
        return np.array(given, dtype=np.float64, order="C")
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(name, repr(value), "an array of numbers", f"({error}) {numbers(name)}") from None


def _all_real(given: np.ndarray[Any, Any]) -> bool:
    """Return whether an array of Python objects holds only real numbers (fractions, say)."""
    return given.dtype.kind == "O" and all(hasattr(x, "__float__") and not isinstance(x, str) for x in given.flat)


def finite_only(name: str, x: Array) -> Array:
    """Return the array.

    Raises
    ------
    InputError
        If it holds NaN or infinity.
    """
    small = x.size <= SMALL  # numpy takes five times as long for a few numbers, and these are checked at every step
    if not (all(map(math.isfinite, x.ravel().tolist())) if small else all_finite(x)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(x))[0])
        raise InputError(name, f"{x[where]} at index {where}", "finite numbers", WHERE)
    return x
