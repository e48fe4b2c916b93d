"""The observed order of a stepper on a scene: its errors at step sizes dt, dt/2, dt/4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..integrate.run.interrupts import interruptible
from ..integrate.simulate import simulate
from ..integrate.time_stepping.moreau_jean import MoreauJean
from .catalogue import build

ROUNDING = 1e-10  # errors below this, relative to max(1, |value|), say nothing about the order


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """How the error of one exact number falls with the step.

    Attributes
    ----------
    name, unit : str
    value : float
        The exact number.
    dt : tuple of float
        Step sizes, s, each half of the one before.
    error : tuple of float
        |measured - exact|.
    order : float or None
        Slope of log error over log dt (least squares); None where the errors are rounding.
    """

    name: str
    unit: str
    value: float
    dt: tuple[float, ...]
    error: tuple[float, ...]
    order: float | None

    def __str__(self) -> str:
        """Return one line: name, errors, order."""
        errors = ", ".join(f"{error:.2e}" for error in self.error)
        order = "exact to rounding" if self.order is None else f"order {self.order:.2f}"
        return f"{self.name}: errors {errors} {self.unit}; {order}"


@interruptible
def observed_order(
    name: str, *, stepper: Any = None, levels: int = 3, dt: float | None = None, **params: float
) -> tuple[Convergence, ...]:
    """Run a scene at `levels` step sizes, each half of the one before, and return the order of every exact number.

    Parameters
    ----------
    name : str
        Of the scene.
    stepper : Stepper with a field `dt`, optional
        Default ``MoreauJean()``.
    levels : int
        At least 2.
    dt : float, optional
        The first step, s; default: that of the scene.
    **params : float
        Parameters of the scene.

    Raises
    ------
    InputError
        An unknown scene or parameter, or fewer than two levels.
    """
    if levels < 2:
        raise InputError("levels", levels, "at least 2 step sizes", "Write levels=4.")
    scene = build(name, **params)
    first = MoreauJean() if stepper is None else stepper
    steps = tuple((scene.dt if dt is None else dt) / 2**k for k in range(levels))
    runs = [simulate(scene, stepper=replace(first, dt=step)) for step in steps]
    found = []
    for exact in scene.exact:
        error = tuple(abs(exact.measure(run) - exact.value) for run in runs)
        order = _slope(steps, error, ROUNDING * max(1.0, abs(exact.value)))
        found.append(
            Convergence(name=exact.name, unit=exact.unit, value=exact.value, dt=steps, error=error, order=order)
        )
    return tuple(found)


def _slope(dt: tuple[float, ...], error: tuple[float, ...], floor: float) -> float | None:
    if min(error) <= floor:
        return None
    return float(np.polyfit(np.log(dt), np.log(error), 1)[0])
