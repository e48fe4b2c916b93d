"""Event-driven integration: smooth phases of high order between events, which are located to rounding.

Between events the modes of all constraints are fixed and the Gauss accelerations are integrated by Dormand and Prince's
method of order 8; an event is the root of a gap, a reaction, the friction left or a slip. A step is a segment, up to
the next event (`segment`, `event_loop`), or one of many in a row that end at events which kernels decide
(`clear_events`); here steps are begun, ended, and collected for the record.

Sources: Pfeiffer, Glocker (1996), Multibody dynamics with unilateral contacts; Acary, Brogliato (2008), Numerical
methods for nonsmooth dynamical systems, 8.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ...arrays import EPS, Array, scalar
from ...contact.active_set import OmegaStatus, active_set
from ...contact.assemble import assemble, start_of_blocks
from ...contact.manifolds import check_borders
from ...contact.resolve import NO_MOTION, resolve
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...errors import InputError, interrupts
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.problems.complementarity import ComplementarityProblem
from ...programs.solution.residuals import Residuals, block_residuals
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..contact_modes import CLOSED
from ..impact.impact_laws import ImpactLaw, Moreau, law_document
from ..mode_memory import BROKEN, CROWD, rebounds
from ..recorded_arcs import Course
from ..stepper import Control, Step, Work, check_span, held_control, near_of
from ..stretch import Stretch, one_by_one
from .clear_events import PassedSteps, clear_steps, more_clear_steps, rows_beside
from .event_loop import BEYOND, begin, onward
from .phase_integrator import Accuracy, Crowded, Slow, Stiff, Stuck, Unbounded
from .phase_state import HARDLY, SETTLED
from .rank_watch import jam_of, nearly_dependent
from .run_memory import RunMemory, Task
from .segment import Segment, number_in
from .simultaneous_contacts import rounding
from .user_events import NamedEvent, UserEvent, events_of

AWAY = 1e-4  # m/s, times max(1, |v|): so far at most velocities go beyond a pole until no motion obeys the laws
KEPT = 16  # states of a motion on its way: where it fails its record ends at the last of them at which laws hold


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStepper:
    """From event to event, for any `System`; it stops where no acceleration exists.

    Parameters and errors are those of `EventDriven`, which also goes on where none exists.
    """

    rtol: float = 1e-12
    atol: float = 1e-13
    step: float | None = None
    dt: float | None = None
    activation: Activation = field(default_factory=Activation)
    impact: ImpactLaw = field(default_factory=Moreau)
    crowd: int = 100
    events: Mapping[str, UserEvent | Callable[[float, State], float]] = field(default_factory=dict, hash=False)
    accuracy: Accuracy = field(init=False, repr=False, compare=False)
    known: RunMemory | None = field(default=None, init=False, repr=False, compare=False)
    name: ClassVar[str] = "event_driven"
    project: ClassVar[bool] = True
    located: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", scalar("rtol", self.rtol, low=3e-14, high=1e-3))
        object.__setattr__(self, "atol", scalar("atol", self.atol, low=0.0, high=1.0, open_low=True))
        for name in ("step", "dt"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, scalar(name, getattr(self, name), low=0.0, open_low=True))
        if not isinstance(self.activation, Activation):
            raise InputError(
                "activation", repr(self.activation), "an Activation", "Write activation=Activation(gap=1e-9)."
            )
        if isinstance(self.impact, type) or not hasattr(self.impact, "strike"):
            raise InputError("impact", repr(self.impact), "an impact law", "Write e.g. Newton(eps_n=0.5) or Poisson().")
        if isinstance(self.crowd, bool) or not isinstance(self.crowd, int) or self.crowd < 1:
            raise InputError("crowd", repr(self.crowd), "an integer >= 1", "Write crowd=1000.")
        object.__setattr__(self, "events", events_of(self.events))
        accuracy = Accuracy(
            rtol=self.rtol, atol=self.atol, activation=self.activation, law=self.impact, step=self.step
        )  # fmt: skip
        object.__setattr__(self, "accuracy", accuracy)

    def for_run(self) -> Self:
        """Return a stepper for the segments of one run, which hand on what they find: with the same results, faster."""
        own = replace(self)
        object.__setattr__(own, "known", RunMemory())
        return own

    def check(self, system: System, state: State) -> None:
        """Raise InputError where a function of an event says no number at the first state, or borders are unknown."""
        check_borders(system)
        for one in self._named():
            one.value(state)

    def _named(self) -> tuple[NamedEvent, ...]:
        return tuple(NamedEvent(name, one) for name, one in self.events.items() if isinstance(one, UserEvent))

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON."""
        closed = {"gap": self.activation.gap, "speed": self.activation.speed}
        plain = {name: getattr(self, name) for name in ("name", "rtol", "atol", "step", "dt", "crowd")}
        document = {**plain, "activation": closed, "impact": law_document(self.impact), **self._own_settings()}
        asked = {one.name: {"stop": one.event.stop, "direction": one.event.direction} for one in self._named()}
        return {**document, "events": asked} if asked else document

    def _own_settings(self) -> dict[str, Any]:
        """Return what a stepper built on this one adds to its settings."""
        return {}

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return the motion to the next event, or to `t_max` or the next multiple of dt.

        Raises
        ------
        InputError
            `t_max` is not after the state; a control that is a function, without dt; what the system returns.
        """
        found = self._onward(self._segment_at(system, state, t_max, control), self._end(state.t, t_max), 1)
        return found(0) if isinstance(found, PassedSteps) else found

    def advance_many(
        self, system: System, state: State, n: int, t_max: float, *, control: Control | None = None
    ) -> tuple[Stretch, ...]:  # fmt: skip
        """Return up to n steps, see `one_by_one`."""
        unclear: State | None = None

        def take(at: State, left: int, due: float) -> Stretch | None:
            """Return the next steps."""
            nonlocal unclear
            segment, most = self._segment_at(system, at, t_max, control), 0 if at is unclear else left
            found = self._onward(segment, self._end(at.t, t_max), most, due)
            if isinstance(found, PassedSteps):
                unclear = found.all[-1].end if found.last else None
                return found.stretch()
            return None if found.ends or not found.solution.solved else Stretch.of_step(found, system)

        return one_by_one(take, state, n, t_max)

    def _segment_at(self, system: System, state: State, t_max: float, control: Control | None) -> Segment:
        """Return the segment that begins at a state, or raise what `advance` does."""
        check_span(state, t_max)
        if callable(control) and self.dt is None:
            raise InputError("control", "a function", "a dt for which it is held", "Write EventDriven(dt=1e-3).")
        return self.segment(system, state, t_max, held_control(control, state))

    def _onward(self, segment: Segment, end: float, n: int, due: float = math.inf) -> PassedSteps | Step:
        """Return up to n steps from where a segment begins if they end at clear events, else the step that it is."""
        state, passed, said = segment.task.start, deque[Segment](maxlen=KEPT), None
        try:
            if n > 0 and (clear := more_clear_steps(segment, end, n, due)) is not None:
                return clear
            segment = self._begun(segment, state, end)
            if segment.phase is None:
                return _failed(segment, state, segment.failure)
            if BROKEN in state.memory:
                said = _verified(_at_end(segment), segment)
            if n > 0 and (clear := clear_steps(segment, end, n, due)) is not None:
                return clear
            for segment in onward(segment, end):  # noqa: B020 - the last one is how far it has come
                passed.extend([segment] if _lasts(segment) else [])
        except Exception as error:
            if interrupts(error):
                raise
            return _ended_by(error, segment, passed, state)
        step = _step(segment, state, crowd := _crowd(state, segment, end))
        if said is not None and not said.solved:  # the modes that were found at an event when asked once more
            return replace(step, solution=said)
        if not step.solution.solved:
            return _reached(passed, segment, state, crowd) or step
        return replace(step, ends=_storm(segment, crowd).explain()) if crowd >= self.crowd else step

    def segment(self, system: System, state: State, goal: float, control: Array | None = None) -> Segment:
        """Return the segment that begins at a state: `begin` finds its phase, `onward` goes on to the next event."""
        known = self.known or RunMemory()
        task = Task(
            given=system, whole=known.whole(system, state.q), control=control, accuracy=self.accuracy,
            start=state, goal=goal, events=self._named(), known=known,
        )  # fmt: skip
        return Segment.of(task)

    def _begun(self, segment: Segment, start: State, end: float) -> Segment:
        """Return the segment with its phase; without an acceleration it has none."""
        return begin(segment, end)

    def _end(self, t: float, t_max: float) -> float:
        """Return the end of a segment without events: the next multiple of dt, not a sliver away."""
        if self.dt is None:
            return t_max
        k = int(np.floor(t / self.dt + 1e-9)) + 1
        end = k * self.dt
        return t_max if end >= t_max - 1e-9 * self.dt else end


def _step(segment: Segment, start: State, crowd: float) -> Step:
    """Collect what happened."""
    now, phase, account = segment.now, segment.phase, segment.account
    reactions, applied, projection = account.work
    modes = {} if phase is None else phase.modes
    forces = (
        {row.id: r for row, r in zip(now.rows, now.r, strict=True)} if now is not None and phase is not None else {}
    )
    dynamics = _at_end(segment)
    rows = dynamics.rows if segment.system is segment.task.given else _rows_at_end(segment, dynamics.rows)
    state = segment.end_state(crowd)
    segment.hand_on(state)
    return Step(
        start=start,
        state=state,
        dt=segment.t - start.t,
        solution=_verified(dynamics if segment.entered else _in_flight(dynamics, segment), segment),
        dynamics=dynamics,
        reactions=account.impulses,
        modes={row.id: modes[row.id].name(row) for row in rows if row.id in modes and row.kind != "bilateral"},
        rows=rows,
        work=Work(reactions=reactions, forces=applied, projection=projection),
        control=segment.task.control,
        restitution=account.kept,
        changes=account.changes,
        impacts=account.impacts,
        arcs=Course(account.trails),
        forces=forces,
        ends=segment.ends,
    )


def _at_end(segment: Segment) -> LocalDynamics:
    """Return the dynamics where a segment is."""
    now, control = segment.now, segment.task.control
    here = now is not None and now.t == segment.t and now.q is segment.q and now.v is segment.v
    known = (now.rows, now.h) if now is not None and here else None
    closed = segment.closed if segment.entered else segment.task.accuracy.activation
    return snapshot(segment.system, segment.state(), activation=closed, control=control, known=known)


def _rows_at_end(segment: Segment, known: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the rows of shapes that may touch at the end of a segment, and of those that have pushed on the way."""
    if segment.system is segment.task.whole:  # all contacts that there can be are listed
        return rows_beside(segment.system, known, segment.account.acted)
    near = near_of(segment.task.given, segment.state(), 0.0)
    rows = {row.id: row for row in rows_of(near, segment.t, segment.q, segment.v)}
    systems: list[System] = []
    for key, system in segment.account.acted.items():
        if key not in rows and not any(system is one for one in systems):
            systems.append(system)
    for system in systems:
        acted = [row for row in rows_of(system, segment.t, segment.q, segment.v) if row.id in segment.account.acted]
        rows = {row.id: row.but(gap=max(row.gap, 0.0)) for row in acted} | rows
    return tuple(rows[key] for key in sorted(rows))


def _in_flight(dynamics: LocalDynamics, segment: Segment) -> LocalDynamics:
    """Return the dynamics with gaps that are open in the middle of a phase as open, however small they are."""
    modes, closed = {} if segment.phase is None else segment.phase.modes, segment.task.accuracy.activation.gap
    least = -rounding(segment.q)
    small = [
        row.level == "position" and least < row.gap <= closed and not modes.get(row.id, CLOSED).closed
        for row in dynamics.rows
    ]
    if not any(small):
        return dynamics
    rows = tuple(row.but(gap=2.0 * closed) if one else row for row, one in zip(dynamics.rows, small, strict=True))
    return replace(dynamics, rows=rows)


def _verified(dynamics: LocalDynamics, segment: Segment) -> Solution:
    """Return the accelerations at the end, with their residual in the complementarity problem of that state."""
    now = segment.now
    if segment.phase is None or now is None:  # no phase follows: the next segment will say why
        return Solution(problem=None, status=Status.SOLVED, method="event_driven")
    if active_set(dynamics).status is not OmegaStatus.READY:
        return Solution(problem=None, status=Status(str(active_set(dynamics).status)), method="event_driven")
    problem = assemble(dynamics)
    forces = {row.id: r for row, r in zip(now.rows, now.r, strict=True)}
    r = start_of_blocks(dynamics, forces)
    found = _relative(block_residuals(problem, r), dynamics, problem, segment) if len(r) else Residuals(E=0.0)
    solved = found.E <= SETTLED
    words = "" if solved else f"the modes found at t = {segment.t:.17g} s leave E = {found.E:.1e} in the laws there."
    return Solution(
        problem=problem, status=Status.SOLVED if solved else Status.UNDECIDED, x=now.a, r=r, residuals=found,
        method="event_driven", message=words,
    )  # fmt: skip


def _relative(
    found: Residuals, dynamics: LocalDynamics, problem: ComplementarityProblem, segment: Segment
) -> Residuals:
    """Return residuals relative to the terms of q, not to q itself: at an event they may cancel, as forces may."""
    form = problem.form
    assert form is not None
    x, least = np.abs(dynamics.x_free), segment.floor("acceleration")
    x = np.maximum(x, least) if x.max(initial=0.0) < least else x  # all of them vanish together
    terms = np.abs(form.J) @ x + np.abs(form.w)
    q, size = math.sqrt(problem.q @ problem.q), math.sqrt(terms @ terms)
    return replace(found, E=found.E * q / size) if q < size else found


def _failed(segment: Segment, start: State, failure: Solution | None) -> Step:
    """Return a step that did not get anywhere."""
    solution = failure or Solution(problem=None, status=Status.UNDECIDED)
    dynamics = snapshot(
        segment.system, start, activation=segment.task.accuracy.activation, control=segment.task.control
    )
    return Step(
        start=start, state=start, dt=0.0, solution=solution, dynamics=dynamics, reactions={}, rows=dynamics.rows
    )


def _crowd(start: State, segment: Segment, end: float) -> float:
    """Return how many segments in a row have hardly gone on, though nothing asked them to end.

    Impacts that come to an end in finite time are no storm, however many they are: at eps_n = 0.99 a thousand of them
    are hardly apart before they can be passed.
    """
    changed, now = bool(segment.account.changes) or segment.t < end, segment.bounced
    if not changed or segment.t - start.t > HARDLY * max(1.0, abs(segment.t)):
        return 0.0
    if any(key in now and last.converges(now[key]) for key, last in rebounds(start.memory).items()):
        return 0.0
    return number_in(start.memory, CROWD) + 1.0


def _up_to(segment: Segment, start: State) -> Step | None:
    """Return the motion up to where it is stuck, so that it is saved: the next step begins there and says why."""
    if segment.phase is None or segment.t <= start.t:
        return None
    now = segment.phase.instant(segment.t, segment.q, segment.v)
    step = _step(replace(segment, now=now), start, 0.0)
    return step if step.solution.solved else None


def _lasts(segment: Segment) -> bool:
    """Whether what led here holds whatever follows: no jump has just been taken, and no sequence of impacts passed."""
    return not segment.entered and all(one.kind != "rest" for one in segment.account.impacts)


def _reached(passed: Iterable[Segment], last: Segment, start: State, crowd: float) -> Step | None:
    """Return the motion as far as laws hold, where they do not at its end: to the event, before its jump, or less far.

    Nothing is said of what follows, as where an event has no phase: the next step begins there, and says why.
    """
    for segment in reversed(tuple(passed)):
        doubted = segment.t >= last.t and not last.entered
        if doubted or segment.t <= start.t or segment.phase is None:
            continue
        step = _step(replace(segment, phase=None, broken=segment.phase.modes), start, crowd)
        if active_set(step.dynamics).status is not OmegaStatus.PENETRATING:
            return step
    return None


def _ended_by(error: Exception, segment: Segment, passed: Iterable[Segment], start: State) -> Step:
    """Return the motion up to where something was raised, by the integrator or a function of the system.

    Raises
    ------
    Exception
        That very error, where nothing was passed before, and it says itself why.
    """
    reached = _up_to(segment, start) or _reached(passed, segment, start, 0.0)
    if not isinstance(error, (Stuck, np.linalg.LinAlgError)):
        if reached is None:
            raise error
        return reached
    if reached is not None and isinstance(error, (Slow, Stiff)):
        return replace(reached, ends=_stuck(segment, error).message)
    if reached is None and isinstance(error.__cause__, Exception):
        raise error.__cause__ from None
    return reached or _failed(segment, start, _stuck(segment, error))


def _stuck(segment: Segment, error: Exception) -> Solution:
    jam = "" if segment.phase is None or isinstance(error, Unbounded) else jam_of(segment.phase, segment.place())
    if jam and isinstance(error, Stiff):
        error, jam = Unbounded(jam), ""  # reactions with hardly a matrix follow any slip: no forces are stiff
    guess = "" if isinstance(error, Stiff) else nearly_dependent(segment)
    if not guess and not isinstance(error, (Stiff, Unbounded)):
        bound = "" if isinstance(error, Crowded) else "a reaction may grow without bound"
        guess = "; ".join(filter(None, (jam, bound)))
    words = f"the integrator cannot go on at t = {segment.t:.17g} s: {'; '.join(filter(None, (str(error), guess)))}"
    if not isinstance(error, (Crowded, Slow, Stiff)) and (proof := _refuted_beyond(segment)) is not None:
        ahead, said = proof
        return said.but(message=f"{words}. Beyond it, {ahead:.1e} s along its accelerations: {said.message}")
    return Solution(problem=None, status=Status.UNDECIDED, message=f"{words}.")


def _refuted_beyond(segment: Segment) -> tuple[float, Solution] | None:
    """Return the proof that no motion obeys the laws shortly beyond where one is stuck, and how long beyond that is, s.

    At a pole accelerations still lead across it; on its other side its modes are refuted. Once is not enough: by
    rounding it may be so on one digit and not on the next.
    """
    phase, task = segment.phase, segment.task
    if phase is None:
        return None
    try:
        a = phase.instant(segment.t, segment.q, segment.v).a
    except np.linalg.LinAlgError:
        return None
    most = AWAY * max(1.0, float(np.abs(segment.v).max(initial=0.0)))
    ahead, found = EPS * max(1.0, abs(segment.t)), None
    while ahead <= BEYOND * max(1.0, abs(segment.t)) and ahead * float(np.abs(a).max(initial=0.0)) <= most:
        q = segment.system.move(segment.q, segment.v, ahead)
        there = State(t=segment.t + ahead, q=q, v=segment.v + ahead * a)
        dynamics = snapshot(segment.system, there, activation=task.accuracy.activation, control=task.control)
        said = resolve(dynamics, thorough=False)
        refuted = said.status in NO_MOTION
        if refuted and found is not None:
            return found
        found = (ahead, said) if refuted else None
        ahead *= 4.0
    return None


def _storm(segment: Segment, crowd: float) -> Solution:
    ids = sorted({change.id for change in segment.account.changes})
    rows = ", ".join(ids) or "features that part before they touch"
    words = f"{crowd:.0f} events in a row at t = {segment.t:.17g} s, the last ones at {rows}: an event storm."
    return Solution(problem=None, status=Status.UNDECIDED, message=words)
