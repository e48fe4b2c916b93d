"""Events that are clear, many in a row: kernels decide them, and what a run records is written from arrays.

An event is clear where at one contact alone sticking or slipping ends, or where one contact bounces while nothing else
touches, and the modes that follow hold beyond doubt (`compiled.phase_jump`, `compiled.phase_impact`). Whether it is
follows from the state that the segment begins with, so that a run is the same however many are passed in a row;
`event_loop` takes all others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...contact.assemble import assemble, start_of_blocks
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...errors import interrupts
from ...mechanics.rows import Row
from ...mechanics.state import Print, State
from ...mechanics.system import System
from ...programs.solution.residuals import Residuals
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..contact_modes import FREE
from ..energy import Books
from ..impact.history import ImpactRecord
from ..impact.impact_laws import Moreau
from ..impact.zeno import Rebound
from ..mode_changes import Change, kind_of
from ..mode_memory import LARGEST, memory_of
from ..recorded_arcs import Course
from ..stepper import Step, Work
from ..stretch import NUMBER, Late, Stretch, constraints_of, limits_of
from .compiled.phase_arrays import Begun, CompiledPhase, Leg
from .compiled.phase_tables import TURNING
from .compiled.records import CONE, GAINED, KINETIC, LOADED, OFF, POTENTIAL, REFUSED, UNCLEAR, WEAK
from .compiled.records import FREE as ACCELERATED
from .flow import faded
from .jump import offsets_of, passed_by, rebound_of
from .mode_selection import next_mode
from .phase_state import FADED
from .rank_watch import may_lose_rank, watching
from .smooth_phase import Phase

if TYPE_CHECKING:
    from .run_memory import Task
    from .segment import Segment

PLAIN = {one.name: one.default for one in fields(Step) if one.default is not MISSING}


class Start(NamedTuple):
    """Where the motion goes on after an event; see `Segment` for what it has learnt."""

    state: State
    ship: CompiledPhase
    offsets: Mapping[tuple[str, str], float]
    h: float
    largest: Mapping[str, float]
    bounced: Mapping[str, Rebound]


class Follows(NamedTuple):
    """What follows an event: the phase, how it begins, velocities and impulses of all rows there, last rebounds."""

    ship: CompiledPhase
    begun: Begun
    v: Array
    impulses: Array | None
    bounced: Mapping[str, Rebound]


class Passed(NamedTuple):
    """One event: the motion up to it in one phase, what changes, and how the next phase begins.

    `impulses` and `work` (J) are those of reactions, jumps included.
    """

    start: State
    end: State
    ship: CompiledPhase
    leg: Leg
    change: Change
    then: Phase
    begun: Begun
    impulses: Array
    work: float
    impact: ImpactRecord | None
    beside: bytes  # which rows are recorded

    @property
    def acted(self) -> dict[str, Array]:
        """The impulses of what has pushed, N s, by row id."""
        pushes, struck = self.ship.phase.pushes, self.change.id
        return {key: self.impulses[at].copy() for key, at in self.then.places.items() if key in pushes or key == struck}

    @property
    def listed(self) -> IntArray:
        """The numbers of the rows that are recorded."""
        return np.flatnonzero(np.frombuffer(self.beside, np.bool_))


class PassedStep(Step):
    """A step that ends at a clear event; what is seldom asked for is made then."""

    __slots__ = ("_at", "_of")

    def __getattr__(self, name: str) -> Any:
        """Make what has not been made yet."""
        if name not in ("dynamics", "rows", "solution"):
            raise AttributeError(name)
        value = getattr(self._of, name)(self)
        object.__setattr__(self, name, value)
        return value

    @property
    def activation(self) -> Activation:
        """What counted as closed and as at rest."""
        activation: Activation = self._of.task.accuracy.activation
        return activation

    def ending(self, state: State) -> Step:
        """Return the same step with another state at its end."""
        return Step(**{one.name: getattr(self, one.name) for one in fields(Step)} | {"state": state})

    def stretch(self) -> Stretch:
        """Return the step as a stretch of one."""
        found: Stretch = self._of.chosen(np.array([self._at])).stretch()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class PassedSteps:
    """Steps in a row that end at clear events.

    Attributes
    ----------
    task : Task
        Of the first.
    all : tuple of Passed
    last : bool
        Whether the event after them is not clear.
    """

    task: Task
    all: tuple[Passed, ...]
    last: bool = False

    def __call__(self, k: int) -> PassedStep:
        """Return the k-th."""
        one, step = self.all[k], object.__new__(PassedStep)
        rows = [one.then.rows[at] for at in one.listed.tolist()]
        values = {
            "start": one.start, "state": one.end, "dt": one.end.t - one.start.t, "control": self.task.control,
            "reactions": one.acted, "forces": _forces(one.then, one.begun),
            "modes": {row.id: one.then.modes[row.id].name(row) for row in rows if row.kind != "bilateral"},
            "changes": (one.change,), "impacts": () if one.impact is None else (one.impact,),
            "work": Work(reactions=one.work, forces=one.leg.y.item(-1)),
            "arcs": _followed(one, self.task),
            "energy": (one.begun.figures.item(KINETIC), one.begun.figures.item(POTENTIAL)), "_of": self, "_at": k,
        }  # fmt: skip
        for name, value in (PLAIN | values).items():
            object.__setattr__(step, name, value)
        return step

    def chosen(self, steps: IntArray) -> PassedSteps:
        """Return some of them."""
        return PassedSteps(self.task, tuple(self.all[k] for k in steps.tolist()))

    @property
    def kind(self) -> None:
        """Each is taken by itself."""

    def listed(self, more: Sequence[Any] = ()) -> None:
        """Return None: each has rows."""

    def placed(self, more: Sequence[Any] = ()) -> None:
        """Return None: each has rows."""

    def traces(self) -> None:
        """Return None: each says all by itself."""

    def rows(self, step: PassedStep) -> tuple[Row, ...]:
        """Return the rows at the end of a step that are recorded."""
        whole, state = self.task.whole, step.state
        rows = rows_of(whole, state.t, state.q, state.v)
        return rows if whole is self.task.given else rows_beside(whole, rows, step.reactions)

    def dynamics(self, step: PassedStep) -> LocalDynamics:
        """Return the system at the end of a step."""
        return snapshot(self.task.whole, step.state, activation=step.activation, control=self.task.control)

    def solution(self, step: PassedStep) -> Solution:
        """Return the accelerations there; the residual is the one that kernels have found."""
        one, nq = self.all[step._at], len(step.state.q)
        problem, r = assemble(step.dynamics), start_of_blocks(step.dynamics, step.forces)
        found = Residuals(E=one.begun.figures.item(OFF), cone=one.begun.figures.item(CONE))
        return Solution(
            problem=problem, status=Status.SOLVED, x=one.begun.rates[nq : one.ship.states], r=r, residuals=found,
            method="event_driven",
        )  # fmt: skip

    def stretch(self) -> Stretch:
        """Return them as a run records them."""
        every, first, n, listed = self.all, self.all[0], len(self.all), self.all[0].listed
        rows, none = [first.then.rows[k] for k in listed.tolist()], np.zeros(n)
        y, figures = np.array([one.leg.y for one in every]), np.array([one.begun.figures for one in every])
        gap = np.array([one.begun.gap for one in every])[:, listed]
        spans = np.array([(one.start.t, one.end.t - one.start.t, one.end.t) for one in every])
        told = np.zeros(0) if self.task.control is None else self.task.control
        held = np.array([row.kind == "bilateral" for row in rows], dtype=np.bool_)
        numbers = _numbers_along([one.then for one in every], rows)
        places = list(first.then.places.values())
        at = [i for k in listed.tolist() for i in range(places[k].start, places[k].stop)]
        return Stretch(
            step=self, end=every[-1].end, spans=spans, q=np.array([one.end.q for one in every]),
            v=np.array([one.end.v for one in every]), before_q=np.array([one.start.q for one in every]),
            before_v=np.array([one.start.v for one in every]), control=np.broadcast_to(told, (n, len(told))),
            E=figures[:, OFF], cone=figures[:, CONE], restitution=np.ones(n),
            books=Books(
                figures[:, KINETIC], figures[:, POTENTIAL], np.array([one.work for one in every]), y[:, -1], none
            ),
            depth=gap[:, ~held].min(axis=1, initial=0.0), joint=np.abs(gap[:, held]).max(axis=1, initial=0.0),
            of=constraints_of(rows), gap=gap, impulses=np.array([one.impulses for one in every])[:, at],
            mode=np.array(numbers, dtype=np.int64), limits=limits_of(rows),
            changes=tuple([(k, one.change) for k, one in enumerate(every)]),
            impacts=tuple([(k, one.impact) for k, one in enumerate(every) if one.impact is not None]),
        )  # fmt: skip


def clear_steps(segment: Segment, end: float, n: int, due: float = math.inf) -> PassedSteps | None:
    """Return up to n > 0 steps that end at clear events, from where a segment begins; None if the next one is not.

    They end at `end` (s) at the latest, list the same contacts, and there are no more of them once the clock shows
    `due`.
    """
    at = _start(segment)
    if at is not None and segment.task.known.searches:  # every segment looks anew when constraints lose rank
        n, end = 1, min(end, watching(segment).watch.barrier)
    return _in_a_row(segment, at, end, n, due)


def more_clear_steps(segment: Segment, end: float, n: int, due: float) -> PassedSteps | None:
    """Return what `clear_steps` does where the last ones have ended; None elsewhere, and if the next one is not clear.

    The phase there is known: that the segment begins is not asked.
    """
    at = ahead_of(segment)
    return None if segment.task.known.searches else _in_a_row(segment, at, end, n, due)


def ahead_of(segment: Segment) -> Start | None:
    """Return what is known of where a segment begins: something, if the last event was clear."""
    task = segment.task
    at, stands = task.known.ahead, task.known.stands
    fits = at is not None and at.state is task.start and at.ship.phase.control is task.control
    return at if fits and stands is not None and stands.fits(task.start) else None


def _in_a_row(segment: Segment, at: Start | None, end: float, n: int, due: float) -> PassedSteps | None:
    """Return the steps from where the motion goes on."""
    found, known = list[Passed](), segment.task.known
    while at is not None and at.state.t < end and len(found) < n and (not found or time.monotonic() < due):
        known.ahead = at
        try:
            more = _next(segment, at, end)
        except Exception as error:
            if not found or interrupts(error):
                raise
            more = None  # it is raised again where these have ended
        if more is not None and found and more[0].beside != found[0].beside:
            break
        if more is not None:
            found.append(more[0])
        at = None if more is None else more[1]
    known.ahead = known.ahead if at is None else at
    if found:
        known.stands = Print.of(found[-1].end)
    return PassedSteps(segment.task, tuple(found), at is None) if found else None


def _start(segment: Segment) -> Start | None:
    """Return where a segment begins, if that is as its state says, in a system whose events may be clear."""
    task, pace, start, now, phase = segment.task, segment.pace, segment.task.start, segment.now, segment.phase
    plain = phase is not None and phase.system is task.whole and not task.events and task.accuracy.step is None
    fresh = segment.q is start.q and segment.v is start.v and not segment.account.changes
    if phase is None or not (plain and fresh and pace.h > 0.0 and pace.longest == 0.0) or may_lose_rank(phase):
        return None  # nothing here looks at the rank of loops
    ship = CompiledPhase.of_clear(phase, task.accuracy, task.known.mechanism)
    largest = segment.largest if now is None else faded(segment.largest, now.sizes[0], now.sizes[2])
    return None if ship is None else Start(start, ship, segment.offsets, pace.h, largest, segment.bounced)


def _next(segment: Segment, at: Start, end: float) -> tuple[Passed, Start] | None:
    """Return the next event, and where what follows begins; None if it is not clear."""
    ship, state, largest, still = at.ship, at.state, dict(at.largest), segment.task.accuracy.activation
    ship.put_offsets(at.offsets)
    counts = np.array([still.gap, still.speed, FADED * largest["force"], FADED * largest["acceleration"]])
    leg = ship.leg(state.t, state.q, state.v, at.h, end, counts)
    if leg is None:
        return None
    if "force" in ship.phase.units:
        largest["force"] = max(largest["force"], leg.size)
        counts[WEAK] = FADED * largest["force"]
    bounces = ship.phase.guards[leg.guard].kind == "touchdown"
    then = _bounced(segment.task, at, leg, counts) if bounces else _turned(segment, at, leg, counts)
    if then is None:
        return None
    begun, phase = then.begun, then.ship.phase
    scales, sizes = _measured(largest, begun.figures), tuple(largest.values())
    memory = _remembering(phase, begun, then.bounced, leg.next_h, sizes)
    one = _passed(at, leg, then, memory)
    offsets = offsets_of(phase, begun.seen, scales, one.end.q, still.speed)
    largest = faded(largest, begun.figures.item(LOADED), begun.figures.item(ACCELERATED))
    return one, Start(one.end, then.ship, offsets, leg.next_h, largest, then.bounced)


def _measured(largest: dict[str, float], figures: Array) -> dict[str, float]:
    """Enter how large forces are where a phase begins, and accelerations; return what conditions are measured by."""
    size = figures.item(LOADED)
    largest["force"] = max(largest["force"], size)
    largest["acceleration"] = max(largest["acceleration"], figures.item(ACCELERATED))
    return {"place": 1.0, "speed": 1.0, "force": max(size, FADED * largest["force"])}


def _bounced(task: Task, at: Start, leg: Leg, counts: Array) -> Follows | None:
    """Return what follows a touchdown; None if the contact does not clearly bounce, or infinitely often."""
    law = task.accuracy.law
    bounce = at.ship.bounce(leg, counts, law.eps) if type(law) is Moreau else None
    if bounce is None:
        return None
    key, speed = at.ship.phase.rows[bounce.k].id, bounce.begun.seen.rate.item(leg.guard)
    last = at.bounced.get(key)
    new = rebound_of(last, leg.t, speed, leg.y[: at.ship.phase.system.nq])
    if passed_by(last, new, task.goal):
        return None
    return Follows(at.ship, bounce.begun, bounce.v, bounce.impulses, {**at.bounced, key: new})


def _turned(segment: Segment, at: Start, leg: Leg, counts: Array) -> Follows | None:
    """Return what follows the end of sticking or slipping; None if that is not clear."""
    for other in _followers(segment, at.ship, leg):
        begun = UNCLEAR if other is None else other.begins(leg, counts)
        if other is not None and isinstance(begun, Begun):
            return Follows(other, begun, leg.y[len(at.state.q) : other.states].copy(), None, at.bounced)
        if begun != REFUSED:
            break
    return None


def _followers(segment: Segment, ship: CompiledPhase, leg: Leg) -> tuple[CompiledPhase | None, ...]:
    """Return the phases that may begin where sticking or slipping ends, in the order in which they are tried."""
    guard = ship.phase.guards[leg.guard]
    if guard.kind not in TURNING:
        return ()
    r = leg.r[ship.phase.pushes[guard.id]]
    key = leg.guard, bool(r[-1] < 0.0)
    if (known := ship.followers.get(key)) is not None:
        return known
    setting, modes, old = segment.setting(), ship.phase.modes, ship.phase.modes[guard.id]
    rows = rows_of(setting.system, leg.t, *(x.copy() for x in segment.parts(leg.y)))
    row = rows[guard.k]
    new = dict.fromkeys(next_mode(guard.kind, row, r, old, back=back) for back in (False, True))
    phases, accuracy = [setting.phase({**modes, guard.id: mode}, rows) for mode in new], segment.task.accuracy
    ship.followers[key] = tuple(CompiledPhase.of_clear(phase, accuracy) for phase in phases)
    return ship.followers[key]


def _followed(one: Passed, task: Task) -> Course:
    """Return the arcs of a step that was passed; none where a sample of them is at a pole: audits miss them then."""
    try:
        return Course((one.ship.passed(one.leg, task.accuracy),))
    except np.linalg.LinAlgError:
        return Course(())


def _passed(at: Start, leg: Leg, then: Follows, memory: Callable[[], dict[str, Array]]) -> Passed:
    """Return an event, whose state remembers something."""
    start, guard, was, phase = at.state, at.ship.phase.guards[leg.guard], at.ship.phase.modes, then.ship.phase
    nq, states, now, beside = len(start.q), at.ship.states, phase.modes, then.begun.gap <= at.ship.listed
    q, impulses, work, impact = leg.y[:nq].copy(), leg.y[states:-2], leg.y.item(-2), None
    end = State.trusted(leg.t, q, then.v, Late(memory))
    before = after = State.trusted(leg.t, q, then.v, start.memory)
    kind = kind_of(was[guard.id], now[guard.id])
    if then.impulses is not None:
        kind, before = "impact", State.trusted(leg.t, q, leg.y[nq:states].copy(), start.memory)
        impulses, work = impulses + then.impulses, work + then.begun.figures.item(GAINED)
        own = {key: then.impulses[place] for key, place in phase.places.items() if then.impulses[place].any()}
        impact = ImpactRecord(t=leg.t, q=q, before=before.v, after=then.v, problems=(own,))
    assert kind is not None
    change = Change(
        t=leg.t, kind=kind, id=guard.id, before=before, after=after, modes_before=was, modes_after=now
    )  # fmt: skip
    return Passed(start, end, at.ship, leg, change, phase, then.begun, impulses, work, impact, beside.tobytes())


def _remembering(
    then: Phase, begun: Begun, bounced: Mapping[str, Rebound], h: float, sizes: Sequence[float]
) -> Callable[[], dict[str, Array]]:  # fmt: skip
    """Return what gives the memory of a state at which a phase begins."""
    return lambda: memory_of(then.modes, _forces(then, begun), bounced, h, 0.0) | {LARGEST: np.array(sizes)}


def _forces(then: Phase, begun: Begun) -> dict[str, Array]:
    """Return the reactions with which a phase begins, N."""
    r = begun.rates[then.system.nq + then.system.nv : -2]
    return {key: r[place] for key, place in then.places.items()}


def _number(phase: Phase, row: Row) -> int:
    """Return the number of what a row does in a phase, as a run records it."""
    return NUMBER[FREE if row.kind == "bilateral" else phase.modes[row.id].name(row)]


def _numbers_along(phases: Sequence[Phase], rows: Sequence[Row]) -> list[list[int]]:
    """Return the numbers of what rows do in phases that follow one another, most of which are the one before."""
    found, last = list[list[int]](), None
    for phase in phases:
        found.append(found[-1] if phase is last else [_number(phase, row) for row in rows])
        last = phase
    return found


def rows_beside(whole: System, rows: tuple[Row, ...], acted: Collection[str]) -> tuple[Row, ...]:
    """Return the rows of a system with all contacts that are recorded: of shapes that may touch, and that have pushed.

    Features that have parted since, as a corner beside an edge, may overlap where that is no gap: these are open.
    """
    ids: frozenset[str] = whole.beside(rows)  # type: ignore[attr-defined]
    apart = set(acted) - ids
    found = [row.but(gap=max(row.gap, 0.0)) if row.id in apart else row for row in rows]
    return tuple(row for row in found if row.frame is None or row.id in ids | apart)
