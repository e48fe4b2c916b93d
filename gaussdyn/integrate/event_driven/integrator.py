"""The event-driven integrator: from event to event, and on where no acceleration exists, if that is wanted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from ...contact.resolve import NO_MOTION
from ...errors import InputError
from ...mechanics.state import State
from ...mends import one_of
from ..impact.impact_laws import Poisson
from ..mode_changes import Change, ChangeKind
from .event_loop import begin
from .event_stepper import EventStepper
from .jump import jump
from .painleve_passage import Compliance, passage
from .segment import Segment

OnNone = Literal["stop", "impact", "compliance"] | Compliance


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDriven(EventStepper):
    """From event to event, for any `System`.

    Parameters
    ----------
    rtol, atol : float
        Local error per step of the integrator, relative, and absolute in SI units.
    step : float, optional
        A fixed step of the integrator, s, whatever its local error: to see the order. None: the error decides. It does
        so, too, where a slip in space may stop within the step, or turn round.
    dt : float, optional
        A step also ends at every multiple of dt, s, so that states are saved there; a control that is a function is
        held so long. None: only events end a step.
    activation : Activation
        When a gap counts as closed and a rate as zero, where events meet.
    impact : ImpactLaw
        What happens where a contact closes: Moreau (default), Newton, Poisson or OneByOne.
    crowd : int
        Number of events in a row, hardly apart, after which a run stops: a storm.
    on_none : str or Compliance
        Where no acceleration exists: stop with the certificate; impact (without collision: the velocity problem at the
        same state); compliance (the limit of a stiff contact), see `passage`. A run notes it as an event.
    events : mapping of str to callable or UserEvent
        Zeros of functions g(t, state) are events too, of kind ``user``, located as all others; they may end the run.

    Raises
    ------
    InputError
        Tolerances out of range, dt <= 0, NaN, events that are no functions.
    """

    on_none: OnNone = "stop"
    name: ClassVar[str] = "event_driven"

    def __post_init__(self) -> None:
        EventStepper.__post_init__(self)
        if self.on_none not in ("stop", "impact", "compliance") and not isinstance(self.on_none, Compliance):
            raise InputError(
                "on_none",
                repr(self.on_none),
                "'stop', 'impact', 'compliance' or a Compliance()",
                one_of("on_none", self.on_none, ("stop", "impact", "compliance")),
            )

    def _own_settings(self) -> dict[str, Any]:
        return {"on_none": asdict(self.on_none) if isinstance(self.on_none, Compliance) else self.on_none}

    def _begun(self, segment: Segment, start: State, end: float) -> Segment:
        """Return the segment with its phase; without an acceleration the one after the passage, if wanted."""
        segment = EventStepper._begun(self, segment, start, end)
        failure = segment.failure
        if segment.phase is not None or failure is None or failure.status not in NO_MOTION or self.on_none == "stop":
            return segment
        try:
            law = self.impact if isinstance(self.impact, Poisson) else None
            found = passage(segment.system, segment.state(), by=self.on_none, law=law, activation=segment.closed)
        except InputError as error:
            return replace(segment, failure=failure.but(message=f"{failure.message} It cannot be passed: {error}"))
        if not found.solved:
            words = f"{failure.message} It cannot be passed: {found.reason}"
            return replace(segment, failure=failure.but(message=words))
        here, task = State(t=segment.t, q=segment.q, v=found.v), segment.task
        after = self.segment(task.given, here, task.goal, task.control)
        account = after.account.pushed(found.impulses, after.system)
        after = replace(after, v=segment.v, account=account)
        after = jump(after, f"passage by {found.kind}", found.v, (found.impulses,), found.energy)
        kind: ChangeKind = "none_passed_by_impact" if found.kind == "impact" else "none_passed_by_compliance"
        then, proof = after.state(), found.outcome.certificate
        changes = [
            Change(t=segment.t, kind=kind, id=key, before=start, after=then, certificate=proof)
            for key in sorted(found.impulses)
        ]
        return begin(after.noting(after.account.noted(*changes)), end)
