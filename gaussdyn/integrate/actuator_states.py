"""Actuators with states, through the steps of a run: their memory travels with the states of the system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, vector
from ..errors import InputError
from ..mechanics.state import State
from ..mechanics.system import System
from ..mechanics.trees.activations import MEMORY, Activations
from .stepper import Control, Step, Stepper, held_control


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What actuators are told in a step.

    Attributes
    ----------
    control : Control or None
        What the forces see.
    activations : Activations or None
        None where no actuator has a state.
    states, told : Array
        The states before the step, and what was told.
    """

    control: Control | None
    activations: Activations | None = None
    states: Array | None = None
    told: Array | None = None

    def after(self, step: Step) -> Step:
        """Return a step whose state remembers the states of the actuators after it."""
        ended = self.at(step.state, step.dt)
        return step if ended is step.state or step.state is step.start else step.ending(ended)

    def at(self, end: State, dt: float) -> State:
        """Return the state at the end of a step of length dt, s, that remembers the states of the actuators there."""
        later = self.later(dt)
        return end if later is None else State.trusted(end.t, end.q, end.v, {**end.memory, MEMORY: later})

    def later(self, dt: float) -> Array | None:
        """Return the states of the actuators after a step of length dt, s; None where none has one."""
        if self.activations is None or self.states is None or self.told is None:
            return None
        return self.activations.after(self.states, self.told, dt)


def check_states(system: System, stepper: Stepper) -> None:
    """Raise InputError if actuators have states, which are held through a step, and the stepper has no fixed step."""
    fixed = getattr(stepper, "dt", None) is not None and getattr(stepper, "step", None) is None
    if getattr(system, "activations", None) is not None and not fixed:
        text = "a stepper with a fixed step: states of actuators are held through it"
        raise InputError("stepper", stepper.name, text, "Take MoreauJean(dt=1e-3), or EventDriven(dt=1e-3).")


def told_at(system: System, control: Control | None, state: State, stepper: Stepper) -> Told:
    """Return what the actuators of a system are told at a state; early ones look ahead by the step of the stepper.

    Raises
    ------
    InputError
        A control that is no finite vector, or has another length than there are actuators.
    """
    activations: Activations | None = getattr(system, "activations", None)
    if activations is None:
        return Told(control)
    n, given = len(activations.actuators), held_control(control, state)
    told = np.zeros(n) if given is None else vector("control", given, n)
    states = activations.states(state.memory)
    later = activations.after(states, told, float(getattr(stepper, "dt", None) or 0.0))
    return Told(activations.inputs(states, later, told), activations, states, told)
