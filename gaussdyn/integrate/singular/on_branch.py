"""Motion of one degree of freedom through configurations at which constraints lose rank."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np

from ...arrays import Array, scalar
from ...contact.snapshot import snapshot
from ...errors import GaussdynError, InputError
from ...mechanics.branching.configuration_space import ConfigurationSpace
from ...mechanics.branching.curve import Curve
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.solution.solution import Solution
from ...programs.solution.status import Status
from ..mode_changes import Change
from ..realizations.stepping import span
from ..stepper import Control, Rebuilt, Step, Work, check_span, held_control
from .curve_motion import ChartMotion, Leaves, SmoothFlow

CHART = "branch:chart"  # memory: number of the chart, and 1 where a choice of branch is due
START = "branch:start"  # memory: where the curve was begun
MADE = "branch:made"  # memory: what was made of it since
WORDS = ("smooth", "penalty", "raise")
PASSED: Final = "branch_point"
LEAST = 1e-9  # of dt: the shortest internal step
MOST = 8  # tracks that a run keeps


class BranchReached(GaussdynError):
    """A motion has come to a point where branches meet, and was told not to choose."""


@dataclass(slots=True, kw_only=True, eq=False)
class Track:
    """The curve of a system and the equations of motion on its charts, made when they are needed."""

    curve: Curve
    start: Array
    origin: tuple[int, float]
    motions: dict[int, ChartMotion] = field(default_factory=dict)

    @classmethod
    def of(cls, system: System, state: State, branch: int | None = None, known: Tracks | None = None) -> Track:
        """Return the track of a motion: one that is known, or what its memory says that had been made.

        Pieces of the curve depend on where it was begun and in which order they were made. Both are in the memory, so
        that a run that goes on elsewhere goes on with the same pieces. `known` are tracks of the same system; a new one
        is added to them.
        """
        known = deque(maxlen=1) if known is None else known
        number = -1.0 if branch is None else float(branch)
        start = state.memory.get(START, np.concatenate([[number], state.q, state.v]))
        made = [(int(a), int(b), int(c)) for a, b, c in state.memory.get(MADE, np.zeros(0)).reshape(-1, 3)]
        for track in known:
            if np.array_equal(track.start, start) and track.curve.made[: len(made)] == made:
                return track
        q, v = start[1 : 1 + system.nq], start[1 + system.nq :]
        curve = Curve(space=ConfigurationSpace.of(system, q))
        origin = curve.start(q, v, None if start[0] < 0.0 else int(start[0]))
        curve.again(made)
        track = cls(curve=curve, start=start, origin=origin)
        known.append(track)
        return track

    def memory(self) -> dict[str, Array]:
        """Return what makes the same track once more."""
        return {START: self.start, MADE: np.array(self.curve.made, dtype=np.float64).ravel()}

    def motion(self, system: System, index: int, control: Array | None) -> ChartMotion:
        """Return the motion on a chart; without a control it is tabled once."""
        if control is not None:
            return ChartMotion.on(system, self.curve.charts[index], control)
        if index not in self.motions:
            self.motions[index] = ChartMotion.on(system, self.curve.charts[index], None)
        return self.motions[index]


Tracks = deque[Track]


@dataclass(slots=True, kw_only=True)
class _Along:
    """Where a motion is: chart, p and p', and what has been seen on the way."""

    t: float
    index: int
    p: float
    u: float
    impulses: Array
    work: float = 0.0
    steps: int = 0
    due: bool = False
    passed: list[Change] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnBranch:
    """Bilateral constraints that leave one degree of freedom: motion along the curve of configurations itself.

    The curve is solved for piece by piece as polynomials and the motion integrated in its parameter by collocation of
    order 12: constraints hold to rounding at every step, multipliers are not needed to go on, and neither points where
    constraints lose rank nor turning points of a coordinate are special. Where branches meet an event
    ``branch_point`` is recorded with the numbers of the point and of the branch taken.

    Parameters
    ----------
    dt : float
        Step, s: at its ends states are seen; it is divided as accuracy demands.
    on_branch : str or int
        Where branches meet: "smooth" goes on along the smooth continuation, which needs no impulse; a number takes
        that branch, ahead, with the kinetic energy there is (a guide without friction); "penalty" takes the branch
        that springs of `stiffness` in the place of the constraints lead to; "raise" stops there.
    stiffness : float
        Of the springs that decide, N/m.

    Raises
    ------
    InputError
        Numbers out of range, an unknown word.
    """

    dt: float = 1e-2
    on_branch: str | int = "smooth"
    stiffness: float = 1e6
    known: Tracks | None = field(default=None, init=False, repr=False, compare=False)
    name: ClassVar[str] = "on_branch"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", scalar("dt", self.dt, low=0.0, open_low=True))
        object.__setattr__(self, "stiffness", scalar("stiffness", self.stiffness, low=0.0, open_low=True))
        choice: Any = self.on_branch
        if isinstance(choice, float) and choice.is_integer():
            object.__setattr__(self, "on_branch", int(choice))  # numbers of the command line
        elif not (choice in WORDS or (isinstance(choice, int) and not isinstance(choice, bool) and choice >= 0)):
            raise InputError(
                "on_branch",
                repr(choice),
                f"{', '.join(WORDS)}, or the number of a branch",
                f'Write on_branch="{WORDS[0]}".',
            )

    def for_run(self) -> OnBranch:
        """Return a stepper for the steps of one run, which hand on their curves: with the same results, faster."""
        return self.choosing(self.on_branch, deque(maxlen=MOST) if self.known is None else self.known)

    def choosing(self, on_branch: str | int, known: Tracks | None) -> OnBranch:
        """Return a stepper that takes another branch where they meet, and knows tracks of its system."""
        other = replace(self, on_branch=on_branch)
        object.__setattr__(other, "known", known)
        return other

    def check(self, system: System, state: State) -> None:
        """Raise InputError unless there is one degree of freedom, and the velocity lies along a branch."""
        self._begin(system, state)

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return one step of length dt; shorter if it would pass `t_max`, or a point where a branch is to be chosen.

        Raises
        ------
        BranchReached
            The state is at such a point, and `on_branch` is "raise".
        """
        check_span(state, t_max)
        dt, t_end = span(self.dt, state.t, t_max)
        value = held_control(control, state)
        track, at = self._begin(system, state)
        if at.due:
            self._choose(track, system, at)
        while at.t < t_end and not at.due:
            self._further(track, system, at, t_end, dt, value)
        return self._step(track, system, state, at, value)

    def rebuild(self, system: System, start: State, state: State, dt: float, control: Array | None) -> Rebuilt:
        """Return the step as it comes out again, with the same impulses on rows that hold."""
        step = self.advance(system, self._remembered(start), state.t, control=control)
        v, h, shown = step.state.v, step.dynamics.M @ step.state.v, []
        for row in step.rows:
            p = step.reactions[row.id]
            h = h - row.J.T @ p
            shown.append(replace(row, rate=-row.J @ (v - start.v)))
        return Rebuilt(dynamics=replace(step.dynamics, h=h, rows=tuple(shown)), q=step.state.q)

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON."""
        return {"name": self.name, "dt": self.dt, "on_branch": self.on_branch, "stiffness": self.stiffness}

    def _remembered(self, state: State) -> State:
        """Return a saved state with the memory of the last track, if there is one: its pieces serve again."""
        if not self.known or CHART in state.memory:
            return state
        memory = {**state.memory, **self.known[-1].memory(), CHART: np.array([-1.0])}
        return State(t=state.t, q=state.q, v=state.v, memory=memory)

    def _begin(self, system: System, state: State) -> tuple[Track, _Along]:
        """Return the track of a state, and where on it the state is."""
        branch = self.on_branch if isinstance(self.on_branch, int) else None
        memory = state.memory.get(CHART)
        track = Track.of(system, state, branch, self.known)
        found = track.origin if memory is None else track.curve.where(state.q, int(memory[0]))
        if found is None:  # somebody has moved it
            state = State(t=state.t, q=state.q, v=state.v)
            track, memory = Track.of(system, state, branch, self.known), None
            found = track.origin
        index, p = found
        _, T, _ = track.curve.charts[index].at(p)
        due = memory is not None and len(memory) > 1 and memory[1] > 0.0
        u = float(T @ state.v) / float(T @ T)
        off = float(np.linalg.norm(state.v - u * T))
        if off > 1e-7 * (1.0 + float(np.linalg.norm(state.v))):
            raise InputError(
                "velocity",
                f"{off:.3g} of it lies off the branch",
                "a velocity along the branch",
                "Write v = speed * branch.tangent.",
            )
        return track, _Along(t=state.t, index=index, p=p, u=u, due=due, impulses=np.zeros(len(track.curve.space.ids)))

    def _further(
        self, track: Track, system: System, at: _Along, t_end: float, dt: float, control: Array | None
    ) -> None:  # fmt: skip
        """Advance by one internal step, as long as can be within the chart."""
        motion = track.motion(system, at.index, control)
        h, flow = t_end - at.t, None
        while flow is None:
            try:
                flow = motion.step(at.t, at.p, at.u, h)
            except Leaves:
                flow = None
            if flow is None:
                h *= 0.5
                if h < LEAST * dt:
                    raise InputError("dt", dt, "a motion that is smooth along its curve", f"It is not at t = {at.t:g}.")
        meeting = track.curve.meeting_at(at.index)
        crosses = meeting is not None and at.p != 0.0 and at.p * flow.p <= 0.0
        if crosses and meeting is not None:
            when, until = _until_middle(motion, at, h, flow)
            q, T, _ = motion.chart.at(0.0)
            there = State(t=at.t + when, q=q, v=until.u * T)
            id = f"{meeting[0]}.{meeting[1]}"
            at.passed.append(Change(t=there.t, kind=PASSED, id=id, before=there, after=there))
            if self.on_branch != "smooth":
                h, flow, at.due = when, until, True
        at.impulses = at.impulses + flow.weights @ motion.reactions(flow)
        at.work += _work(system, motion, flow, control)
        at.t, at.p, at.u, at.steps = (t_end if h == t_end - at.t else at.t + h), flow.p, flow.u, at.steps + 1
        if at.due:
            at.p = 0.0
        self._hand_over(track, at)

    def _hand_over(self, track: Track, at: _Along) -> None:
        """Go on in the next chart where this one ends."""
        chart = track.curve.charts[at.index]
        if chart.low <= at.p <= chart.high:
            return
        q, T, _ = chart.at(at.p)
        at.index = track.curve.beyond(at.index, 1 if at.p > 0 else -1)
        following = track.curve.charts[at.index]
        at.p, _ = following.parameter(q)
        _, onward, _ = following.at(at.p)
        at.u *= float(T @ onward) / float(onward @ onward)

    def _choose(self, track: Track, system: System, at: _Along) -> None:
        """Take the branch that is asked for, from the middle of a singular chart on."""
        found = track.curve.meeting_at(at.index)
        at.due = False
        if found is None or self.on_branch == "smooth":
            return
        meeting = track.curve.meetings[found[0]]
        if self.on_branch == "raise":
            count = "many" if meeting.point.kind == "many" else len(meeting.point.branches)
            raise BranchReached(f"{count} branches meet at t = {at.t:.12g} s; on_branch says which to take: 0, 1, ..")
        if meeting.point.kind == "many":
            given, allowed = repr(self.on_branch), '"smooth" or "raise" where so many branches meet'
            raise InputError(
                "on_branch", given, allowed, 'Only the one along which it comes is known: write on_branch="smooth".'
            )
        if self.on_branch == "penalty":
            from .choice_by_springs import branch_of_springs

            chosen = branch_of_springs(system, track.curve, at.index, (at.t, at.u), self.stiffness)
        else:
            chosen = int(self.on_branch)
        onward = track.curve.branch_chart(found[0], chosen)
        at.index, at.u = turned(track.curve, system, (at.index, at.u), onward)

    def _step(self, track: Track, system: System, start: State, at: _Along, control: Array | None) -> Step:
        chart = track.curve.charts[at.index]
        q, T, _ = chart.at(at.p)
        v = at.u * T
        memory = {key: x for key, x in start.memory.items() if ":" not in key and key not in chart.space.ids}
        memory |= {CHART: np.array([float(at.index), float(at.due)]), **track.memory()}
        rows = tuple(system.near(at.t, q, v, 0.0).rows(at.t, q, v))
        _check_open(rows)
        impulses = {row.id: np.zeros(row.size) for row in rows}
        impulses |= {key: np.array([p]) for key, p in zip(chart.space.ids, at.impulses, strict=True)}
        solution = Solution(problem=None, status=Status.SOLVED, x=v, method=self.name, iterations=at.steps)
        return Step(
            start=start,
            state=State(t=at.t, q=q, v=v, memory=memory),
            dt=at.t - start.t,
            solution=solution,
            dynamics=snapshot(system, start, level="velocity", dt=at.t - start.t, control=control),
            reactions=impulses,
            modes={row.id: "open" for row in rows if not row.bilateral},
            rows=rows,
            work=Work(forces=at.work),
            control=control,
            changes=tuple(at.passed),
        )


def turned(curve: Curve, system: System, was: tuple[int, float], index: int) -> tuple[int, float]:
    """Return a chart and p' there: from the middle of one singular chart into another, ahead, at the same energy."""
    q, T, _ = curve.charts[was[0]].at(0.0)
    _, onward, _ = curve.charts[index].at(0.0)
    M = np.asarray(system.mass(q))
    ahead = -1.0 if float(T @ M @ onward) * was[1] < 0.0 else 1.0
    return index, ahead * abs(was[1]) * float(np.sqrt((T @ M @ T) / (onward @ M @ onward)))


def _until_middle(motion: ChartMotion, at: _Along, h: float, flow: SmoothFlow) -> tuple[float, SmoothFlow]:
    """Return the step that ends at the middle of the chart, by the secant rule."""
    a, pa, b, pb = 0.0, at.p, h, flow.p
    for _ in range(60):
        if abs(pb) <= 1e-15 * motion.chart.half or a == b or pa == pb:
            break
        middle = b - pb * (b - a) / (pb - pa)
        middle = middle if 0.0 < middle <= h else 0.5 * (a + b)
        found = motion.step(at.t, at.p, at.u, middle)
        if found is None:
            break
        a, pa, b, pb, flow = b, pb, middle, found.p, found
    return b, flow


def _work(system: System, motion: ChartMotion, flow: SmoothFlow, control: Array | None) -> float:
    """Return the work of the applied forces that the potential does not cover, J."""
    powers = []
    for t, p, u in zip(flow.times, flow.points, flow.speeds, strict=True):
        q, T, _ = motion.chart.at(p)
        powers.append(system.power(t, q, u * T, control))
    return float(flow.weights @ np.array(powers))


def _check_open(rows: tuple[Row, ...]) -> None:
    for row in rows:
        if not row.bilateral and (row.level != "position" or row.kind == "dry" or row.gap < -1e-9):
            raise InputError(
                row.id,
                f"{row.kind}, gap {row.gap:.3g}",
                "bilateral rows, and contacts that stay open",
                "Take MoreauJean(dt=1e-3) instead.",
            )
