"""Measures by name: numbers read off the columns of a run, and its statistics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from ..integrate.run.trajectory import Trajectory

LONG = 10**9  # steps between two saved states: the first and the last one only
END = "end"
WAYS: dict[str, Callable[[Any], Any]] = {
    END: lambda x: x[-1],
    "first": lambda x: x[0],
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "all": lambda x: x,
}
ENDS = (END, "first")
WHOLE = ("steps", "unsolved_steps", "max_residual", "max_penetration_m", "energy_drift_rel", "t_reached")


@dataclass(frozen=True, slots=True)
class Columns:
    """A measure that reads columns of a run, each in a way of its own.

    Parameters
    ----------
    names : tuple of str
        ``NAME`` is the value of that column at the end; ``max:NAME``, ``min:NAME``, ``mean:NAME`` (over the saved
        states), ``first:NAME`` and ``all:NAME`` (the whole column) say otherwise. ``steps``, ``unsolved_steps``,
        ``max_residual``, ``max_penetration_m``, ``energy_drift_rel`` and ``t_reached`` are numbers of the run.
        ``event:KIND`` counts the events of a kind.

    Raises
    ------
    InputError
        No name, or something that is none.
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        wrong = [name for name in self.names if not isinstance(name, str) or not name]
        if wrong or not self.names:
            raise InputError(
                "measure", repr(self.names), "names of columns", 'E.g. "block.speed" or "max:block.speed".'
            )

    @property
    def save(self) -> int:
        """Every how many steps a state must be saved for it."""
        return LONG if all(way in (*ENDS, "event") for way, _ in map(_way, self.names)) else 1

    def __call__(self, run: Trajectory) -> dict[str, Any]:
        """Return the numbers, by the names as they were given (/ in a name is written as |)."""
        return {name.replace("/", "|"): _read(run, *_way(name)) for name in self.names}


def _way(name: str) -> tuple[str, str]:
    """Return how a column is read, and its name."""
    way, sign, rest = name.partition(":")
    return (way, rest) if sign and (way in WAYS or way == "event") else (END, name)


def _read(run: Trajectory, way: str, name: str) -> Any:
    """Return one number of a run; a statistic that is not known is None."""
    if way == "event":
        return run.event_counts.get(name, 0)
    if name in WHOLE and name not in run:
        return run.t_reached if name == "t_reached" else run.statistics.get(name)
    return WAYS[way](run[name])
