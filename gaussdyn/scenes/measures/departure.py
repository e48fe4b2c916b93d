"""When a contact that is pressed less and less lets go, read off a run to second order of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def departure_time(contact: str) -> Callable[[Any], float]:
    """Return the measure: the time at which the normal force of a contact would vanish, s.

    A reaction in a column is the mean over the step that ends there, so it belongs to the middle of the step. The line
    through the last two steps that were pressed from begin to end is followed to zero.
    """

    def measure(run: Any) -> float:
        """Read it off the columns."""
        force = run[f"{contact}.r_N"]
        pushes = np.flatnonzero(force > 0.0)
        if len(pushes) < 4:
            return float(run.t[0])
        k = int(pushes[-1])
        before, after = 0.5 * (run.t[k - 3 : k - 1] + run.t[k - 2 : k])
        early, late = force[k - 2], force[k - 1]
        return float(after + (after - before) * late / (early - late))

    return measure


def at_departure(contact: str, column: str) -> Callable[[Any], float]:
    """Return the measure: a column at that time, by a parabola through the nearest three states."""
    time = departure_time(contact)

    def measure(run: Any) -> float:
        """Read it off the columns."""
        t = time(run)
        k = int(np.clip(np.abs(run.t - t).argmin(), 1, len(run.t) - 2))
        near = slice(k - 1, k + 2)
        return float(np.polyval(np.polyfit(run.t[near] - t, run[column][near], 2), 0.0))

    return measure
