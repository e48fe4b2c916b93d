"""Actuators with a state of their own: what they are told changes it, and it is what their forces see.

integrator: da/dt = u; filter: da/dt = (u - a) / tau, a step of Euler's method; filterexact: the same, solved exactly
for a u that is held. Source: MuJoCo's documentation, "Computation": activation dynamics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array, vector
from .parts import Actuator

MEMORY = "actuators:states"  # where a state remembers them
SHORTEST = 1e-15  # s, of a filter


@dataclass(frozen=True, slots=True, eq=False)
class Activations:
    """The states of the actuators of a system; those without any have 0 there.

    Attributes
    ----------
    actuators : sequence of Actuator
    """

    actuators: Sequence[Actuator]
    stateful: NDArray[np.bool_] = field(init=False, repr=False)
    early: NDArray[np.bool_] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stateful", np.array([one.dynamics != "none" for one in self.actuators]))
        object.__setattr__(self, "early", np.array([one.early for one in self.actuators]))

    def states(self, memory: object) -> Array:
        """Return the states that a state remembers, zero if it remembers none.

        Raises
        ------
        InputError
            Another number of them, NaN.
        """
        given = memory.get(MEMORY) if hasattr(memory, "get") else None
        n = len(self.actuators)
        return np.zeros(n) if given is None else vector(f"memory[{MEMORY}]", given, n)

    def after(self, states: Array, told: Array, dt: float) -> Array:
        """Return the states after a step of length dt (s) through which the actuators are told the same."""
        found = states.copy()
        for k, one in enumerate(self.actuators):
            u, a = min(max(told[k], one.control_low), one.control_high), states[k]
            if one.dynamics == "integrator":
                a += dt * u
            elif one.dynamics == "filter":
                a += dt * (u - a) / max(one.time, SHORTEST)
            elif one.dynamics == "filterexact":
                a -= (u - a) * math.expm1(-dt / max(one.time, SHORTEST))
            found[k] = min(max(a, one.state_low), one.state_high) if one.dynamics != "none" else 0.0
        return found

    def inputs(self, states: Array, later: Array, told: Array) -> Array:
        """Return what the forces of a step see: what is told, or the states before it (of early ones: after it)."""
        return np.where(self.stateful, np.where(self.early, later, states), told)


def activations_of(actuators: Sequence[Actuator]) -> Activations | None:
    """Return the states of actuators; None if none has one."""
    return Activations(actuators) if any(one.dynamics != "none" for one in actuators) else None
