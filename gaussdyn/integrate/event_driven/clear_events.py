"""Events that are clear, many in a row: kernels decide them, and what a run records is written from arrays.

An event is clear where sticking or slipping ends at one contact alone, no velocity jumps, and the modes that follow
hold beyond doubt (`compiled.phase_jump`). Whether it is follows from the state that the segment begins with, so that a
run is the same however many are passed in a row; `event_loop` takes all others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arrays import Array, IntArray
from ...contact.assemble import assemble, start_of_blocks
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...programs.solution.residuals import Residuals
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..energy import Books
from ..impact.zeno import Rebound
from ..mode_changes import Change, kind_of
from ..mode_memory import LARGEST, memory_of
from ..recorded_arcs import Course
from ..stepper import Step, Work
from ..stretch import NUMBER, Late, Stretch, constraints_of, limits_of
from .compiled.phase_arrays import DECIDED, Begun, CompiledPhase, Leg
from .compiled.records import CONE, FREE, KINETIC, LOADED, OFF, POTENTIAL
from .flow import faded
from .jump import offsets_of
from .mode_selection import next_mode
from .phase_state import FADED
from .smooth_phase import Phase

if TYPE_CHECKING:
    from .run_memory import Task
    from .segment import Segment

PLAIN = {one.name: one.default for one in fields(Step) if one.default is not MISSING}
SETTLED = 1e-8  # residual E at the end of a segment above which its modes are not those of the laws
HARDLY = 1e-7  # s, times max(1, t): events nearer to each other than this are a crowd


class Passed(NamedTuple):
    """One event: the motion up to it in one phase, what changes, and how the next phase begins."""

    start: State
    end: State
    ship: CompiledPhase
    leg: Leg
    change: Change
    then: Phase
    begun: Begun


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
        one, rows, step = self.all[k], self.all[k].then.rows, object.__new__(PassedStep)
        p, (reactions, forces) = one.leg.y[one.ship.states :], one.leg.y[-2:].tolist()
        values = {
            "start": one.start, "state": one.end, "dt": one.end.t - one.start.t, "control": self.task.control,
            "reactions": {key: p[at].copy() for key, at in one.ship.phase.pushes.items()},
            "forces": _forces(one.then, one.begun),
            "modes": {row.id: one.then.modes[row.id].name(row) for row in rows}, "changes": (one.change,),
            "work": Work(reactions=reactions, forces=forces), "arcs": Course((one.ship.trail(one.leg.lines),)),
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

    def placed(self, more: Sequence[Any] = ()) -> None:
        """Return None: each has rows."""

    def traces(self) -> None:
        """Return None: each says all by itself."""

    def rows(self, step: PassedStep) -> tuple[Row, ...]:
        """Return all rows at the end of a step."""
        return rows_of(self.task.given, step.state.t, step.state.q, step.state.v)

    def dynamics(self, step: PassedStep) -> LocalDynamics:
        """Return the system at the end of a step."""
        return snapshot(self.task.given, step.state, activation=step.activation, control=self.task.control)

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
        every, states, rows = self.all, self.all[0].ship.states, self.all[0].then.rows
        y, figures = np.array([one.leg.y for one in every]), np.array([one.begun.figures for one in every])
        gap = np.array([one.begun.gap for one in every])
        q, v = y[:, : len(every[0].end.q)], y[:, len(every[0].end.q) : states]
        spans = np.array([(one.start.t, one.end.t - one.start.t, one.end.t) for one in every])
        n, none = len(every), np.zeros(len(every))
        told = np.zeros(0) if self.task.control is None else self.task.control
        modes = {id(one.then): one.then for one in every}
        numbers = {key: [NUMBER[phase.modes[row.id].name(row)] for row in rows] for key, phase in modes.items()}
        return Stretch(
            step=self, end=every[-1].end, spans=spans, q=q, v=v, before_q=np.array([one.start.q for one in every]),
            before_v=np.array([one.start.v for one in every]), control=np.broadcast_to(told, (n, len(told))),
            E=figures[:, OFF], cone=figures[:, CONE], restitution=np.ones(n),
            books=Books(figures[:, KINETIC], figures[:, POTENTIAL], y[:, -2], y[:, -1], none),
            depth=gap.min(axis=1, initial=0.0), joint=none, of=constraints_of(rows), gap=gap, impulses=y[:, states:-2],
            mode=np.array([numbers[id(one.then)] for one in every], dtype=np.int64),
            limits=limits_of(rows),
            changes=tuple([(k, one.change) for k, one in enumerate(every)]),
        )  # fmt: skip


def clear_steps(segment: Segment, end: float, n: int, due: float = math.inf) -> PassedSteps | None:
    """Return up to n > 0 steps that end at clear events, from where a segment begins; None if the next one is not.

    They end at `end` (s) at the latest, and there are no more of them once the clock shows `due`.
    """
    task, phase = segment.task, segment.phase
    ship = None if phase is None or not _served(segment) else CompiledPhase.of_contacts(phase, task.accuracy)
    found: list[Passed] = []
    state, offsets, h, still = task.start, segment.offsets, segment.pace.h, task.accuracy.activation
    now = segment.now
    largest = dict(segment.largest) if now is None else faded(segment.largest, now.sizes[0], now.sizes[2])
    while ship is not None and len(found) < n and (not found or time.monotonic() < due):
        ship.put_offsets(offsets)
        leg = ship.leg(state.t, state.q, state.v, h, end, _counts(still, largest))
        if leg is None or leg.t - state.t <= HARDLY * max(1.0, abs(leg.t)):
            ship = None
            break
        largest["force"], h = max(largest["force"], leg.size), leg.next_h
        other, begun = _chosen(segment, ship, leg, _counts(still, largest))
        if begun is not None and other is not None:
            scales, then = _measured(largest, begun.figures), other.phase
            memory = _remembering(then, begun, segment.bounced, h, tuple(largest.values()))
            found.append(_passed(state, ship, leg, then, begun, memory))
            state = found[-1].end
            offsets = offsets_of(then, begun.seen, scales, state.q, still.speed)
            largest = faded(largest, begun.figures.item(LOADED), begun.figures.item(FREE))
        ship = other
    return PassedSteps(task, tuple(found), ship is None) if found else None


def _served(segment: Segment) -> bool:
    """Whether a segment begins as its state says, in a system whose events may be clear."""
    task, pace, start = segment.task, segment.pace, segment.task.start
    plain = segment.system is task.whole is task.given and not task.events and task.accuracy.step is None
    fresh = segment.q is start.q and segment.v is start.v and not segment.account.changes
    return plain and fresh and pace.h > 0.0 and pace.longest == 0.0


def _counts(still: Activation, largest: Mapping[str, float]) -> Array:
    return np.array([still.gap, still.speed, FADED * largest["force"], FADED * largest["acceleration"]])


def _measured(largest: dict[str, float], figures: Array) -> dict[str, float]:
    """Enter how large forces are where a phase begins, and accelerations; return what conditions are measured by."""
    size = figures.item(LOADED)
    largest["force"] = max(largest["force"], size)
    largest["acceleration"] = max(largest["acceleration"], figures.item(FREE))
    return {"place": 1.0, "speed": 1.0, "force": max(size, FADED * largest["force"])}


def _chosen(
    segment: Segment, ship: CompiledPhase, leg: Leg, counts: Array
) -> tuple[CompiledPhase, Begun] | tuple[None, None]:  # fmt: skip
    """Return the phase that begins at an event, compiled, and how; None if that is not clear."""
    from .compiled.phase_jump import REFUSED, UNCLEAR

    for phase in _followers(segment, ship, leg):
        other = CompiledPhase.of_contacts(phase, segment.task.accuracy)
        begun = UNCLEAR if other is None else other.begins(leg, counts)
        if isinstance(begun, Begun):
            return (other, begun) if other is not None and begun.figures.item(OFF) <= SETTLED else (None, None)
        if begun != REFUSED:
            break
    return None, None


def _followers(segment: Segment, ship: CompiledPhase, leg: Leg) -> tuple[Phase, ...]:
    """Return the phases that may begin where a condition ends, in the order in which they are tried."""
    guard = ship.phase.guards[leg.guard]
    if guard.kind not in DECIDED:
        return ()
    r = leg.r[ship.phase.pushes[guard.id]]
    key = leg.guard, bool(r[-1] < 0.0)
    if (known := ship.followers.get(key)) is not None:
        return known
    setting, modes, old = segment.setting(), ship.phase.modes, ship.phase.modes[guard.id]
    rows = rows_of(setting.system, leg.t, *(x.copy() for x in segment.parts(leg.y)))
    row = rows[guard.k]
    new = dict.fromkeys(next_mode(guard.kind, row, r, old, back=back) for back in (False, True))
    ship.followers[key] = tuple(setting.phase({**modes, guard.id: mode}, rows) for mode in new)
    return ship.followers[key]


def _passed(
    start: State, ship: CompiledPhase, leg: Leg, then: Phase, begun: Begun, memory: Callable[[], dict[str, Array]]
) -> Passed:  # fmt: skip
    """Return an event, whose state remembers something."""
    key, was, now, n = ship.phase.guards[leg.guard].id, ship.phase.modes, then.modes, then.system.nq
    end = State.trusted(leg.t, leg.y[:n].copy(), leg.y[n : ship.states].copy(), Late(memory))
    here = State.trusted(leg.t, end.q, end.v, start.memory)
    kind = kind_of(was[key], now[key])
    assert kind is not None
    change = Change(t=leg.t, kind=kind, id=key, before=here, after=here, modes_before=was, modes_after=now)
    return Passed(start, end, ship, leg, change, then, begun)


def _remembering(
    then: Phase, begun: Begun, bounced: Mapping[str, Rebound], h: float, sizes: Sequence[float]
) -> Callable[[], dict[str, Array]]:  # fmt: skip
    """Return what gives the memory of a state at which a phase begins."""
    return lambda: memory_of(then.modes, _forces(then, begun), bounced, h, 0.0) | {LARGEST: np.array(sizes)}


def _forces(then: Phase, begun: Begun) -> dict[str, Array]:
    """Return the reactions with which a phase begins, N."""
    r = begun.rates[then.system.nq + then.system.nv : -2]
    return {row.id: r[end - row.size : end] for row, end in zip(then.rows, accumulate(then.sizes), strict=True)}
