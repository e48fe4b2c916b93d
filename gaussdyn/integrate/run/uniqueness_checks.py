"""What a run asks of the acceleration problem on the way, and what it does when the answer is not unique."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...contact.snapshot import Activation, LocalDynamics, snapshot
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...mends import one_of
from ..stepper import Control, held_control
from .values import NOT_UNIQUE, Stop

Effort = Literal["off", "start", "cheap", "full"]
OnMultiple = Literal["continue", "first", "raise"]
EFFORTS = ("off", "start", "cheap", "full")
ON_MULTIPLE = ("continue", "first", "raise")
NOT_EXAMINED = "NOT_EXAMINED"
OUTCOMES = ("UNIQUE", *NOT_UNIQUE, "NONE", "UNDECIDED", NOT_EXAMINED)
CHOSEN = "chosen"  # kind of the event where a run took one of several motions
FEW = 8  # contacts at the start up to which they are examined there
LARGEST = 6000  # velocities up to which anything is examined: their mass matrix is a full one, 0.3 GB
RIGID = ("moreau_jean", "event_driven")  # steppers that take one of the accelerations of the laws


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found about the acceleration at the beginning of a step.

    Attributes
    ----------
    outcome : str
        UNIQUE, MULTIPLE, CONTINUUM, NONE, UNDECIDED or NOT_EXAMINED.
    margin : float
        Friction margin, see `contact.sliding_margin`; NaN where nothing is known.
    chosen : tuple of str
        Contacts for whose motion the step takes one of several, where that was asked for at the start only.
    """

    outcome: str = NOT_EXAMINED
    margin: float = math.nan
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """Settings: how hard to look, and what a non-unique acceleration does to the run.

    Parameters
    ----------
    effort : str
        off; start (as cheap, before the first step only, up to 8 closed contacts with friction and 6000 velocities);
        cheap (exact up to 8 contacts, a sufficient bound above); full.
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
                raise InputError(name, repr(value), ", ".join(allowed), one_of(name, value, allowed))

    @classmethod
    def of(cls, effort: Effort | None, on_multiple: OnMultiple) -> Examination:
        """Return the examination that was asked for; without an effort as much as `on_multiple` needs.

        Raises
        ------
        InputError
            An unknown word; off together with something that only an examination can know.
        """
        found = cls(effort=effort or ("start" if on_multiple == "continue" else "cheap"), on_multiple=on_multiple)
        if not found.every_step and on_multiple != "continue":
            mend = "Without an examination nobody knows whether an acceleration is unique; leave examine=... out."
            raise InputError("examine", f"{found.effort!r} with on_multiple={on_multiple!r}", "'cheap' or 'full'", mend)
        return found

    def check_size(self, system: System) -> None:
        """Refuse to examine every step of a system that is too large for that.

        Raises
        ------
        InputError
            More than 6000 velocities.
        """
        if self.every_step and system.nv > LARGEST:
            mend = "Write examine='start', without on_multiple=...: steps are solved and judged all the same."
            raise InputError("examine", f"{self.effort!r} of {system.nv} velocities", f"up to {LARGEST} of them", mend)

    def look(self, system: System, state: State, control: Control | None) -> Finding:
        """Return what the acceleration problem at a state says."""
        return examine_state(system, state, control, self.effort) if self.every_step else Finding()

    @property
    def every_step(self) -> bool:
        """Whether every step is examined."""
        return self.effort not in ("off", "start")

    @property
    def decides(self) -> bool:
        """Whether what is found before a step decides whether, and how, it is taken."""
        return self.on_multiple != "continue"

    def at_start(
        self, system: System, state: State, control: Control | None, rows: Sequence[Row], stepper: str
    ) -> Finding:
        """Return what is found before the first step, where that is cheap: with few contacts, of rigid laws.

        Parameters
        ----------
        rows : sequence of Row
            At the state.
        stepper : str
            Its name.
        """
        if system.nv > LARGEST:
            return Finding()
        closed = [row for row in rows if _rubs(row)]
        if self.effort != "start" or stepper not in RIGID or not 0 < len(closed) <= FEW:
            return Finding()
        from ...contact.outcome.examine import examine

        try:
            outcome = str(examine(accelerating(system, state, control), effort="cheap").verdict)
        except Exception:  # a function of the system fails: the first step will meet it and say so
            return Finding()
        return Finding(outcome=outcome, chosen=tuple(row.id for row in closed) if outcome in NOT_UNIQUE else ())

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


def examine_state(system: System, state: State, control: Control | None, effort: str) -> Finding:
    """Return outcome and friction margin of the acceleration at a state."""
    from ...contact.classification.sliding_margin import sliding_margin
    from ...contact.outcome.examine import examine

    dynamics = accelerating(system, state, control)
    outcome, margin = str(examine(dynamics, effort=effort).verdict), sliding_margin(dynamics)
    return Finding(outcome=outcome, margin=math.nan if margin is None else margin)


def _rubs(row: Row) -> bool:
    """Whether friction may act at a row of a first state."""
    closed = row.kind in ("dry", "bilateral_contact") or (row.kind == "contact" and row.gap <= Activation().gap)
    return closed and max(row.mu, row.mu_s, row.cap, row.cap_s) > 0.0


def accelerating(system: System, state: State, control: Control | None) -> LocalDynamics:
    """Return the acceleration problem at a state of a run.

    Rows that pushed in the last step are closed, joints hold, and depths count as closed gaps: what the gaps show
    there is the error of the time stepping, which the acceleration problem would take for a penetration.
    """
    near = system.near(state.t, state.q, state.v, 0.0)
    dynamics = snapshot(near, state, control=held_control(control, state))
    return replace(dynamics, rows=tuple(_closed(row, state) for row in dynamics.rows))


def _closed(row: Row, state: State) -> Row:
    last = state.memory.get(row.id)
    pushed = last is not None and last.size > 0 and last[0] > 0.0
    if row.level != "position" or row.kind == "dry" or not (row.bilateral or pushed or row.gap < 0.0):
        return row
    return replace(row, gap=0.0)
