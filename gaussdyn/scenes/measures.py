"""How exact numbers are read off a trajectory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mechanics.scene import Exact
from ..mechanics.state import State

G = 9.81  # m/s^2

Columns = dict[str, tuple[str, Callable[[State], float]]]


def check(name: str, value: float, unit: str, measure: Callable[[Any], float], *, moreau_jean: float) -> Exact:
    """Return an exact number with its absolute tolerance per stepper, at the default step of its scene."""
    return Exact(name=name, value=value, unit=unit, measure=measure, tol={"moreau_jean": moreau_jean})


def coordinate(index: int) -> Callable[[State], float]:
    """Return the function state -> q[index]."""
    return lambda state: float(state.q[index])


def rate(index: int) -> Callable[[State], float]:
    """Return the function state -> v[index]."""
    return lambda state: float(state.v[index])


def last(column: str) -> Callable[[Any], float]:
    """Return the measure: the value of a column at the end of the run."""
    return lambda run: float(run[column][-1])


def largest(column: str) -> Callable[[Any], float]:
    """Return the measure: the largest absolute value of a column."""
    return lambda run: float(np.abs(run[column]).max())


def largest_shift(run: Any) -> float:
    """Return the largest change of any coordinate since the start."""
    return float(np.abs(run.q - run.q[0]).max())


def first_time(run: Any, holds: Any) -> float:
    """Return the time of the first saved state where `holds` (shape (n,)) is true, or of the last one."""
    found = np.flatnonzero(holds)
    return float(run.t[found[0]] if len(found) else run.t[-1])


def settled_time(run: Any, holds: Any) -> float:
    """Return the time of the first saved state from which on `holds` (shape (n,)) is true to the end."""
    broken = np.flatnonzero(~np.asarray(holds))
    k = int(broken[-1]) + 1 if len(broken) else 0
    return float(run.t[min(k, len(run.t) - 1)])
