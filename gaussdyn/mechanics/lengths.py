"""Lengths and points of shapes, checked: what no volume or inertia can be told of in doubles is refused in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, matrix, scalar
from ..errors import InputError

SMALLEST, LARGEST = 1e-50, 1e50  # m: the inertia of a smaller or larger body is no number
FAR = 1e12  # times the size: points as far from the origin are known to a thousandth of the size, or less
FEW = "[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"


def length(name: str, value: Any, *, zero: bool = False) -> float:
    """Return a length as a float, m.

    Raises
    ------
    InputError
        NaN, no number, below zero (or zero, unless allowed), one out of `SMALLEST` to `LARGEST`.
    """
    found = scalar(name, value, low=0.0, open_low=not zero)
    check_size(name, found)
    return found


def check_size(name: str, *sizes: float) -> None:
    """Raise InputError where a size that is not zero is none of a body, m."""
    for size in sizes:
        if size != 0.0 and not SMALLEST <= size <= LARGEST:
            key = name.split(" ", 1)[0]
            mend = f"Lengths are in m: {key}=1e-3 * {key}, if they were in mm."
            raise InputError(name, f"{size:.3g} m", f"{SMALLEST:g} to {LARGEST:g} m", mend)


def points_of(name: str, value: Any) -> Array:
    """Return points as an array, shape (k, 3), m.

    Raises
    ------
    InputError
        Another shape, NaN, sizes out of range, points so far from the origin that doubles hardly tell them apart.
    """
    key = name.split(" ", 1)[0]
    if hasattr(value, key) and not isinstance(value, np.ndarray):
        mend = f"Take the points alone: {key}=mesh.{key}."
        raise InputError(name, f"a {type(value).__name__}", "points, an array of shape (k, 3)", mend)
    shape = np.shape(value) if isinstance(value, np.ndarray) else _shape_of(value)
    if shape is not None and (len(shape) != 2 or shape[1] != 3) and shape != (0,):
        turned = len(shape) == 2 and shape[0] == 3
        mend = f"One point a row: {key}={key}.T." if turned else f"One point a row: {key}={FEW}, or more."
        raise InputError(name, f"shape {shape}", "points, an array of shape (k, 3)", mend)
    points = matrix(name, value, cols=3)
    if len(points):
        with np.errstate(over="ignore"):
            size, far = float(np.ptp(points, axis=0).max()), float(np.abs(points).max())
        check_size(name, size)
        if size > 0.0 and far > FAR * size:
            mend = f"Move them: {key}={key} - {key}.mean(axis=0), with at={key}.mean(axis=0)."
            raise InputError(name, f"points {size:.3g} m apart, {far:.3g} m from the origin", "points near it", mend)
    return points


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """Return the shape of what numpy takes for an array of numbers; None where it takes it for none."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return found.shape
