"""Many steps under a control in Python: it is asked before each, and the steps are recorded together.

Actuators with states follow what they are told in the same way, whatever the control is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..mechanics.state import State
from ..mechanics.system import System
from ..mechanics.trees.activations import MEMORY
from .actuator_states import told_at
from .stepper import Control, Stepper, held_control
from .stretch import MOMENT


@dataclass(slots=True)
class Asked:
    """A control in Python through the steps of one call, which ends once it took a moment.

    Attributes
    ----------
    control : callable or Array
        ``control(t, state)``; of systems whose actuators have states it may be of any kind.
    system, stepper : System, Stepper
        What is told, and what takes its steps.
    check : callable
        Raises KeyboardInterrupt if there was one, asked after each step: a control may have swallowed it.
    told : list of Array
        What forces saw in the steps that were taken: what it said, or the states of actuators.
    before, after : list of Array
        The states of the actuators at the beginning and at the end of these steps, if they have any.
    ahead : Array or None
        What it said for a step that was not taken: it is not asked for that a second time.
    error : BaseException or None
        What was raised after the first step, Ctrl-C as well: to be raised again once the steps before are recorded.
    due : float
        When the call ends, by the monotonic clock, s.
    """

    control: Control
    system: System
    stepper: Stepper
    check: Callable[[], None]
    told: list[Array] = field(default_factory=list)
    before: list[Array] = field(default_factory=list)
    after: list[Array] = field(default_factory=list)
    ahead: Array | None = None
    error: BaseException | None = None
    due: float = field(default_factory=lambda: time.monotonic() + MOMENT)

    def take(self, spans: Array, state: Callable[[int], State], take: Callable[[int, Array], bool]) -> None:
        """Take steps (t, dt, t_end): ``take(k, control)`` takes the k-th from ``state(k)``, and says whether it did."""
        try:
            for k, dt in enumerate(spans[:, 1].tolist()):
                if not self._goes_on(k, dt, state(k), take):
                    return
        except (Exception, KeyboardInterrupt) as error:
            if not self.told:
                raise
            self.error = error

    def _goes_on(self, k: int, dt: float, state: State, take: Callable[[int, Array], bool]) -> bool:
        """Take the k-th step, and return whether there is to be another."""
        self.ahead = held_control(self.control, state)
        assert self.ahead is not None
        if self.told and len(self.told[0]) != len(self.ahead):  # refused by the step that gets it alone
            return False
        said = told_at(self.system, self.ahead, state, self.stepper)
        seen = held_control(said.control, state)
        assert seen is not None
        if not take(k, seen):
            return False
        self.check()
        self.told.append(seen)
        later = said.later(dt)
        if said.states is not None and later is not None:
            self.before.append(said.states)
            self.after.append(later)
        self.ahead = None
        return time.monotonic() <= self.due

    def controls(self) -> Array:
        """Return what forces saw, a row per step that was taken."""
        return np.array(self.told)

    def states(self) -> Array | None:
        """Return the states of actuators before and after every step that was taken, (n, 2, k); None without any."""
        return np.stack([self.before, self.after], axis=1) if self.after else None

    def memory(self) -> Mapping[str, Array]:
        """Return what a state remembers of actuators after the steps that were taken."""
        return {MEMORY: self.after[-1]} if self.after else {}
