"""Many steps under a control in Python: it is asked before each, and the steps are recorded together."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..mechanics.state import State
from .stepper import Control, held_control
from .stretch import MOMENT


@dataclass(slots=True)
class Asked:
    """A control in Python through the steps of one call, which ends once it took a moment.

    Attributes
    ----------
    control : callable
        ``control(t, state)``.
    check : callable
        Raises KeyboardInterrupt if there was one, asked after each step: a control may have swallowed it.
    told : list of Array
        What it said in the steps that were taken.
    ahead : Array or None
        What it said for a step that was not taken: it is not asked for that a second time.
    error : BaseException or None
        What was raised after the first step, Ctrl-C as well: to be raised again once the steps before are recorded.
    due : float
        When the call ends, by the monotonic clock, s.
    """

    control: Control
    check: Callable[[], None]
    told: list[Array] = field(default_factory=list)
    ahead: Array | None = None
    error: BaseException | None = None
    due: float = field(default_factory=lambda: time.monotonic() + MOMENT)

    def take(self, n: int, state: Callable[[int], State], take: Callable[[int, Array], bool]) -> None:
        """Take up to n steps: ``take(k, control)`` takes the k-th from ``state(k)``, and says whether it did."""
        try:
            for k in range(n):
                if not self._goes_on(k, state, take):
                    return
        except (Exception, KeyboardInterrupt) as error:
            if not self.told:
                raise
            self.error = error

    def _goes_on(self, k: int, state: Callable[[int], State], take: Callable[[int, Array], bool]) -> bool:
        """Take the k-th step, and return whether there is to be another."""
        if self.ahead is None:
            self.ahead = held_control(self.control, state(k))
        assert self.ahead is not None
        if self.told and len(self.told[0]) != len(self.ahead):  # refused by the step that gets it alone
            return False
        if not take(k, self.ahead):
            return False
        self.check()
        self.told.append(self.ahead)
        self.ahead = None
        return time.monotonic() <= self.due

    def controls(self) -> Array:
        """Return what it said, a row per step that was taken."""
        return np.array(self.told)
