"""Numbers of a compiled MuJoCo model as plain tuples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NO_LIMIT = (-math.inf, math.inf)


def triple(x: Any) -> tuple[float, float, float]:
    """Return three numbers."""
    a, b, c = (float(y) for y in x)
    return a, b, c


def bounds_of(x: Any, limited: Any) -> tuple[float, float]:
    """Return a range (low, high) as it acts: without bounds where it is not `limited`."""
    return (float(x[0]), float(x[1])) if limited else NO_LIMIT


def unit_quaternion(x: Any) -> tuple[float, float, float, float]:
    """Return a quaternion (w, x, y, z) with its length made one."""
    a, b, c, d = (np.asarray(x, dtype=np.float64) / np.linalg.norm(x)).tolist()
    return a, b, c, d
