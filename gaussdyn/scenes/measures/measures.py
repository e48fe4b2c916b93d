"""How exact numbers are read off a trajectory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...mechanics.scene import Exact
from ...mechanics.state import State

G = 9.81  # m/s^2

Columns = dict[str, tuple[str, Callable[[State], float]]]


LOCATED = 1e-10  # of max(1, |value|): what an event-driven run gives at its default tolerances


def check(
    name: str, value: float, unit: str, measure: Callable[[Any], float], *, moreau_jean: float, located: bool = False,
    on_branch: float | None = None,
) -> Exact:  # fmt: skip
    """Return an exact number with its absolute tolerance per stepper, at the default step of its scene.

    `located`: the measure reads what the end or an event of a run says, which an event-driven one knows to 1e-10.
    `on_branch`: what motion along the curve of configurations itself keeps to.
    """
    tol = {"moreau_jean": moreau_jean}
    if on_branch is not None:
        tol["on_branch"] = on_branch
    if located:
        tol["event_driven"] = LOCATED * max(1.0, abs(value))
    return Exact(name=name, value=value, unit=unit, measure=measure, tol=tol)


def at_event(
    measure: Callable[[Any], float], kind: str, row: str = "", *, column: str = "t", n: int = 0
) -> Callable[[Any], float]:  # fmt: skip
    """Return the measure: a column at the n-th event of a kind in event-driven runs, `measure` in all others.

    Where there is no such event `measure` is asked too.
    """

    def found(run: Any) -> float:
        """Read it off the events."""
        if run.settings["stepper"]["name"] != "event_driven":
            return measure(run)
        times = [event.t for event in run.events if event.kind == kind and row in ("", event.id)]
        at = np.flatnonzero(run.t == times[n]) if n < len(times) else np.zeros(0, dtype=np.int64)
        return float(run[column][at[0]]) if len(at) else measure(run)

    return found


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


def energy_change(run: Any) -> float:
    """Return the largest change of the energy since the start, J."""
    return float(np.abs(run["energy"] - run["energy"][0]).max())


def joint_error(run: Any) -> float:
    """Return the largest error of a joint in the run, m."""
    return float(run.statistics["max_joint_error_m"])


def first_time(run: Any, holds: Any) -> float:
    """Return the time of the first saved state where `holds` (shape (n,)) is true, or of the last one."""
    found = np.flatnonzero(holds)
    return float(run.t[found[0]] if len(found) else run.t[-1])


def settled_time(run: Any, holds: Any) -> float:
    """Return the time of the first saved state from which on `holds` (shape (n,)) is true to the end."""
    broken = np.flatnonzero(~np.asarray(holds))
    k = int(broken[-1]) + 1 if len(broken) else 0
    return float(run.t[min(k, len(run.t) - 1)])
