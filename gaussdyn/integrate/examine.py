"""What a run asks of the acceleration problem on the way, and what it does when the answer is not unique."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ..contact.snapshot import LocalDynamics, snapshot
from ..errors import InputError
from ..mechanics.state import State
from ..mechanics.system import System
from .stepper import Control, held_control
from .trajectory import Stop

Effort = Literal["off", "cheap", "full"]
OnMultiple = Literal["continue", "first", "raise"]
EFFORTS = ("off", "cheap", "full")
ON_MULTIPLE = ("continue", "first", "raise")
NOT_EXAMINED = "NOT_EXAMINED"
NOT_UNIQUE = ("MULTIPLE", "CONTINUUM")


class Examiner(Protocol):
    """Says how many accelerations a state has."""

    def __call__(self, dynamics: LocalDynamics, *, effort: str) -> Any:
        """Return UNIQUE, MULTIPLE, CONTINUUM, NONE, UNDECIDED or NOT_EXAMINED (or an object with that `verdict`)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Settings: how hard to look, and what a non-unique acceleration does to the run.

    Parameters
    ----------
    effort : str
        off; cheap (exact up to 8 contacts, a sufficient bound above); full.
    on_multiple : str
        continue: the solution nearest the last reactions (they are part of the state); first: the solution that the
        solver finds without them; raise: the run stops there.

    Raises
    ------
    InputError
        An unknown word.
    """

    effort: Effort = "off"
    on_multiple: OnMultiple = "continue"

    def __post_init__(self) -> None:
        for name, value, allowed in (("examine", self.effort, EFFORTS), ("on_multiple", self.on_multiple, ON_MULTIPLE)):
            if value not in allowed:
                raise InputError(name, repr(value), ", ".join(allowed))

    def outcome(self, system: System, state: State, control: Control | None) -> str:
        """Return the outcome of the acceleration problem at a state."""
        examiner = None if self.effort == "off" else find_examiner()
        if examiner is None:
            return NOT_EXAMINED
        verdict = examiner(snapshot(system, state, control=held_control(control, state)), effort=self.effort)
        return str(getattr(verdict, "verdict", verdict))

    def start_of_step(self, state: State, outcome: str) -> State:
        """Return the state from which the step is taken: without its reactions where `first` asks for that."""
        if self.on_multiple == "first" and outcome in NOT_UNIQUE:
            return State(t=state.t, q=state.q, v=state.v)
        return state

    def refuses(self, t: float, outcome: str) -> Stop | None:
        """Return why the run must not go on from this state, if it must not."""
        if self.on_multiple != "raise" or outcome not in NOT_UNIQUE:
            return None
        reason = f"{outcome}: the acceleration is not unique; on_multiple='continue' keeps to the last reactions."
        return Stop(t=t, reason=reason)


def find_examiner() -> Examiner | None:
    """Return ``contact.outcome.examine``, or None where that is not installed."""
    name = f"{__package__.rsplit('.', 1)[0]}.contact.outcome"
    if importlib.util.find_spec(name) is None:
        return None
    examiner: Examiner | None = getattr(importlib.import_module(name), "examine", None)
    return examiner
