"""Columns and measures of bodies in space, for scenes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...mechanics.spatial.system import PLACES, RATES, SpatialSystem
from .measures import Columns, coordinate, rate


def body_columns(system: SpatialSystem, *names: str) -> Columns:
    """Return all coordinates and velocities of the named bodies (all bodies by default) as columns ``<name>.x`` .."""
    columns: Columns = {}
    for name in names or tuple(body.name for body in system.bodies):
        for place in PLACES:
            columns[f"{name}.{place}"] = ("m" if len(place) == 1 else "1", coordinate(system.index(name, place)))
        for speed in RATES:
            columns[f"{name}.{speed}"] = ("m/s" if speed[0] == "v" else "rad/s", rate(system.index(name, speed)))
    return columns


def at(column: str, t: float) -> Callable[[Any], float]:
    """Return the measure: a column at the saved state nearest to a time, s."""
    return lambda run: float(run[column][np.abs(run.t - t).argmin()])


def travelled(*columns: str) -> Callable[[Any], float]:
    """Return the measure: how far the last values of some columns are from the first ones."""
    return lambda run: float(np.sqrt(sum((run[name][-1] - run[name][0]) ** 2 for name in columns)))
