"""Free bodies with contacts, advanced by compiled kernels: the scheme of `MoreauJean`, many times faster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from ....arrays import Array, IntArray, vector
from ....mechanics.spatial.forces import Shaking
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.state import State
from ...impact.restitution_scaling import GAIN, largest_share
from ...stepper import Shift, Step
from .energy_balance import books
from .lazy_step import CompiledStep, Impulses, ManySteps
from .workspace import Workspace

if TYPE_CHECKING:
    from ..moreau_jean import MoreauJean

PATHS = ("verified", "newton", "proximal", "interior", "dense")
DENSE = 4
MOST_SLOW = 20  # proximal or interior solves in one step


class CompiledBodies:
    """A system of free bodies that the kernels can advance; build it with `CompiledBodies.of`.

    It keeps the arrays of one run; a state that it did not make itself is loaded first, which changes no result.
    """

    def __init__(self, system: SpatialSystem) -> None:
        self.system, self.space = system, Workspace(system)
        self._labels: dict[tuple[int, ...], str] = {}
        self._settings = np.zeros(11)
        self._settings[4], self._settings[6], self._settings[10] = math.hypot(*system.gravity), 1.0, 1.0
        self._last: State | None = None

    @staticmethod
    def of(system: SpatialSystem) -> CompiledBodies | None:
        """Return the system compiled, the same one again in the same thread; None if the kernels cannot serve it."""
        return _compiled(system, get_ident())

    def advance(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step, by the kernels or, where they fail, by the interpreted scheme."""
        self._load(state, stepper, dt, control)
        run = self._run(stepper, np.array([[state.t, dt, t_end]]), state, control)
        if run.other is not None:
            return run.other
        return self._step(stepper, state, self._state(t_end, state), dt, control, run.log[0])

    def advance_many(
        self, stepper: MoreauJean, state: State, n: int, control: Array | None = None, *, t_max: float = math.inf,
        whole: bool = True,
    ) -> ManySteps:  # fmt: skip
        """Take up to n steps in one call, none beyond `t_max`; the result is that of calls of `advance`, bit by bit.

        Without `whole` it ends after a step in which a contact opens, closes, sticks or slips, and before one that
        the kernels cannot solve.
        """
        spans = spans_of(stepper, state.t, n, t_max)
        self._load(state, stepper, stepper.dt, control)
        run = self._run(stepper, spans, state, control, whole=whole)
        k = int(self.space.count[0])
        if not whole and run.beaten:
            self._last = None  # the step that failed has touched what the last state remembers, and the settings
            self._settings[9:11] = 0.0, 1.0
            if k:
                return self.advance_many(stepper, state, k, control, t_max=t_max, whole=False)
        spans, log, q, v = spans[:k], run.log[:k], run.q[: k + 1], run.v[: k + 1]
        failed = run.other if run.other is not None and not run.other.solution.solved else None
        last = None if run.other is failed else run.other
        end = last.state if last is not None else self._state(float(spans[-1, 2]), state) if k else state
        if last is None and k:
            start = state if k == 1 else self._before(float(spans[-1, 0]), q[-2], v[-2], state)
            last = self._step(stepper, start, end, float(spans[-1, 1]), control, log[-1])
        return ManySteps(
            state=end, spans=spans, E=log[:, 0], goal=log[:, 1], cone=log[:, 7], path=_paths(log),
            factorisations=log[:, 2], passes=log[:, 3], gap=log[:, 5], speed=np.abs(v[1:]).max(axis=1), q=q[1:],
            v=v[1:], last=last, books=books(self.space, spans, stepper.theta, control, q, v), failed=failed,
        )  # fmt: skip

    def _step(
        self, stepper: MoreauJean, start: State, end: State, dt: float, control: Array | None, log: Array
    ) -> CompiledStep:
        """Return the step that the kernels have just taken."""
        space, c = self.space, int(self.space.problems[0][0][1][-1])
        numbers, label = space.indices[0][0], end.memory.label  # type: ignore[attr-defined]  # it is `Impulses`
        reactions = Impulses(self, label, space.iterate[0][:c].copy(), {}, numbers[1, :c].copy())
        one = self.ids(label[int(abs(log[11])) - 1 :][:1])[0] if log[11] != 0.0 else ""
        middle = (one, "") if log[11] > 0.0 else ("", one)
        figures = float(log[0]), float(log[7]), float(log[10])
        mode = numbers[6, : len(label)].copy()
        shifts = self._shifts(label) if stepper.project else ()
        return CompiledStep.of(stepper, self, (start, end), dt, control, reactions, mode, figures, middle, shifts)

    def _shifts(self, label: IntArray) -> tuple[Shift, ...]:
        """Return the passes of the projection that has just been."""
        pushes, n = self.space.indices[1][1], len(label)
        if not n or math.isnan(pushes[0, 0]):
            return ()
        taken = int(np.argmax(np.isnan(pushes[0])))
        return tuple(Shift(dict(zip(self.ids(label), pushes[:n, k].tolist(), strict=True))) for k in range(taken))

    def _state(self, t: float, before: State) -> State:
        """Return the state in which the arrays stand."""
        self._last = self._before(t, self.space.q, self.space.v, before)
        return self._last

    def _before(self, t: float, q: Array, v: Array, first: State) -> State:
        """Return a state with the impulses in the arrays: before a step they are those of the step itself."""
        space, n = self.space, int(self.space.count[2])
        return _state(t, q, v, Impulses(self, space.memory[0][:n].copy(), space.impulse[:n].copy(), _others(first)))

    def sizes(self, label: IntArray) -> list[int]:
        """Return how many rows contacts have: 3 with friction or tangential restitution, else 1."""
        kind = self.space.kind
        law = self.space.table[kind[label[:, 0]], kind[label[:, 2]]]
        return np.where((law[:, 0] > 0.0) | (law[:, 2] != 0.0), 3, 1).tolist()  # type: ignore[no-any-return]

    def ids(self, label: IntArray) -> list[str]:
        """Return the ids of contacts by their labels."""
        known, found = self._labels, []
        for row in label.tolist():
            key = tuple(row)
            if key not in known:
                known[key] = self.space.shapes.id(key)
            found.append(known[key])
        return found

    def _load(self, state: State, stepper: MoreauJean, dt: float, control: Array | None) -> None:
        """Put a state into the arrays of the kernels, unless it stands there already, and the settings."""
        space, active = self.space, stepper.activation
        self._settings[:3] = stepper.theta, active.gap, active.speed
        self._settings[5] = float(stepper.project)
        space.loads[0][:] = space.weight
        if control is not None:
            space.loads[0][:] += vector("control", control, self.system.nv).reshape(-1, 6)
        if state is self._last:
            return
        self._last, self._settings[7], space.count[5] = None, 0.0, 1
        space.q[:], space.v[:] = state.q.reshape(-1, 7), state.v.reshape(-1, 6)
        space.count[2] = 0
        if state.memory:
            self._recall(state.memory, dt)

    def _recall(self, memory: Mapping[str, Array], dt: float) -> None:
        """Find the contacts at the state, and give them their impulses."""
        from .contact_search import search

        space = self.space
        n = int(search(space.find, space.loads, space.state, space.poses, dt, self._settings[4]))
        if n > space.buffers.room:
            space.reserve(2 * n)
            return self._recall(memory, dt)
        space.memory[0][:n], space.count[2] = space.buffers.answer.label[:n], n
        self._give(memory)

    def _give(self, memory: Mapping[str, Array]) -> None:
        """Give the contacts known their impulses."""
        space, n = self.space, int(self.space.count[2])
        space.impulse[:n] = 0.0
        for f, id in enumerate(self.ids(space.memory[0][:n])):
            if id in memory:
                p = memory[id][:3]
                space.impulse[f, : len(p)] = p

    def _run(self, stepper: MoreauJean, spans: Array, state: State, control: Array | None, whole: bool = True) -> _Run:
        """Take steps with rows (t, dt, t_end), see `advance_many`."""
        from .step import DONE, EVENT, GRAPH, ROOM

        space, run = self.space, _Run.of(len(spans), state)
        log, tol = run.log, stepper.tol
        self._settings[3], self._settings[8] = tol, 0.0 if whole else 1.0
        space.count[0], space.count[1], space.count[4] = 0, 0, 0
        while True:
            code = self._call(spans, run)
            s = int(space.count[0])
            run.other = run.other if s == 0 or log[s - 1, 6] == DENSE else None
            if code in (DONE, EVENT):
                return run
            if code == GRAPH:
                space.join(space.memory[1][: space.count[3]].copy())
            elif code == ROOM:
                self._more_room(int(space.count[3]))
            elif not self._helped(spans, run, code):
                if not whole:
                    run.beaten = True
                    return run
                run.other = self._by_dense(stepper, spans[s], state, control, first=s == 0)
                self._note(run, s, tol)
                if not run.other.solution.solved:
                    space.count[0] = s
                    return run

    def _helped(self, spans: Array, run: _Run, code: int) -> bool:
        """Return whether kernels can go on with the step at hand after all."""
        from .step import HARD, UNLISTED

        if code == UNLISTED:
            return False
        return (code == HARD and self._solve(run.log[int(self.space.count[0])])) or self._at_middle(spans, run, code)

    def _call(self, spans: Array, run: _Run) -> int:
        """Let the kernels take steps, and return why they come back."""
        from .step_loop import advance_bodies

        space = self.space
        return int(advance_bodies(
            spans, self._settings, space.span, space.bodies, space.loads, space.find, space.memory, space.state,
            space.poses, space.indices[0], space.indices[1], space.problems[0], space.problems[1], space.ordering,
            space.work, space.bench, space.iterate, space.count, run.log, run.q[1:], run.v[1:],
        ))  # fmt: skip

    def _at_middle(self, spans: Array, run: _Run, code: int) -> bool:
        """Solve the step at hand with the laws at its midpoint: an impact in it gains energy, or passes do not settle.

        With the restitution that gains no energy, see `scheme`. Returns whether it succeeded.
        """
        from .active_contacts import ACTS, JOINED
        from .step import GAINS, HARD
        from .step_loop import AGAIN

        space, log, n = self.space, run.log[int(self.space.count[0])], int(self.space.count[2])
        acts, bounce, known, tried = space.indices[0][0][ACTS], space.indices[0][1], False, 1.0
        if code != GAINS:
            first_of_all = (acts[:n] != 0) & (space.indices[0][0][JOINED, :n] == 0)
            if not first_of_all.any():
                return False
            space.count[6] = int(np.argmax(first_of_all))

        def gain(share: float) -> float:
            """Return what is gained with a fraction of the restitution, NaN without a solution."""
            nonlocal tried
            self._settings[9], self._settings[10] = 2.0 if known else 1.0, share
            space.count[1], space.count[4], tried = AGAIN, 0, share
            code = self._call(spans, run)
            while code == HARD and self._solve(log):
                code = self._call(spans, run)
            return float(log[9]) if code == GAINS else math.nan

        first, known = gain(1.0), True
        restores = bounce[:n][acts[:n] != 0].any()
        share = largest_share(gain, first) if first > GAIN and restores else 1.0
        return not math.isnan(first if share == tried else gain(share))

    def _note(self, run: _Run, s: int, tol: float) -> None:
        """Enter step s, which was one of dense kernels."""
        space, step = self.space, run.other
        figures = None if step is None else step.solution.residuals
        run.log[s, 6], run.log[s, 8], space.count[0], space.count[1], space.count[4] = DENSE, 1.0, s + 1, 0, 0
        run.log[s, 0] = np.inf if figures is None else figures.E
        run.log[s, 1] = tol if figures is None else max(tol, min(10.0 * figures.floor, 1e-8))
        run.q[s + 1], run.v[s + 1] = space.q.ravel(), space.v.ravel()

    def _by_dense(
        self, stepper: MoreauJean, span: Array, state: State, control: Array | None, first: bool
    ) -> Step:  # fmt: skip
        """Take the step at hand by dense kernels; the first one starts from `state`."""
        space = self.space
        start = state if first else self._before(float(span[0]), space.q, space.v, state)
        step = stepper.dense_step(self.system, start, float(span[1]), float(span[2]), control)
        if step.solution.solved:
            space.q[:], space.v[:] = step.state.q.reshape(-1, 7), step.state.v.reshape(-1, 6)
            self._give(step.state.memory)
        self._last, self._settings[7], space.count[5] = None, 0.0, 1
        self._settings[9:11] = 0.0, 1.0
        return step

    def _more_room(self, features: int) -> None:
        """Make room, keeping the impulses."""
        space = self.space
        known, impulse, mark = int(space.count[2]), space.impulse.copy(), space.memory[0].copy()
        space.reserve(2 * features)
        space.impulse[:known], space.memory[0][:known], space.count[2] = impulse[:known], mark[:known], known
        space.count[5] = 1

    def _solve(self, log: Array) -> bool:
        """Solve the contact problem at hand by what costs more than a pass may; whether it succeeded."""
        from ....contact.free_bodies.islands import solve_islands
        from ....contact.free_bodies.newton import READY

        space, tol = self.space, float(log[1])
        if log[4] > MOST_SLOW:
            return False
        E, floor, used, _slow = solve_islands(space.problems[0], space.iterate, tol, READY * tol)
        log[2], log[4], log[6] = log[2] + used, log[4] + 1, PATHS.index("interior")
        space.count[4] = int(max(tol, floor) >= E)
        return bool(space.count[4])


@dataclass(slots=True, kw_only=True)
class _Run:
    """What steps leave behind: their log, and q and v at the beginning and at the end of each."""

    log: Array
    q: Array
    v: Array
    other: Step | None = None  # the last step, if it was one of dense kernels
    beaten: bool = False  # by a step that the kernels cannot solve

    @staticmethod
    def of(n: int, state: State) -> _Run:
        """Return room for n steps."""
        run = _Run(log=np.zeros((n, 12)), q=np.empty((n + 1, len(state.q))), v=np.empty((n + 1, len(state.v))))
        run.q[0], run.v[0] = state.q, state.v
        return run


def spans_of(stepper: MoreauJean, t: float, n: int, t_max: float) -> Array:
    """Return start, length and end of up to n steps, none beyond `t_max`."""
    spans: list[tuple[float, float, float]] = []
    horizon, k = min(t_max, t + (n + 2) * stepper.dt), round(t / stepper.dt)
    if t == k * stepper.dt and horizon < t_max:
        ends, whole = np.arange(k, k + n + 1) * stepper.dt, np.empty((n, 3))
        whole[:, 0], whole[:, 1], whole[:, 2] = ends[:-1], stepper.dt, ends[1:]
        return whole
    while len(spans) < n and t < horizon:
        dt, end = stepper.span(t, horizon)
        spans.append((t, dt, end))
        t = end
    return np.array(spans).reshape(-1, 3)


def _paths(log: Array) -> tuple[str, ...]:
    """Return how steps were solved, from their log."""
    path = np.maximum(log[:, 6], np.where(log[:, 4] > 0, 2, np.minimum(log[:, 2], 1)))
    return tuple(PATHS[k] for k in path.astype(int).tolist())


@lru_cache(maxsize=8)
def _compiled(system: SpatialSystem, thread: int) -> CompiledBodies | None:
    """Return the system for one thread; see `serves`."""
    return CompiledBodies(system) if serves(system) else None


def serves(system: Any) -> bool:
    """Return whether kernels can advance a system: free bodies with contacts, under gravity and shaking.

    Joints, other forces, static friction above mu and moments of friction are left to dense kernels.
    """
    if type(system) is not SpatialSystem or system.joints or system.contacts.found is not None:
        return False
    laws = (system.contacts.default, *system.contacts.laws.values())
    if any(law.mu_s != law.mu or max(law.mu_r, law.mu_t) > 0.0 for law in laws):
        return False
    return all(type(force) is Shaking for force in system.forces)


def _others(state: State) -> Mapping[str, Array]:
    """Return what a state remembers of other things than contacts, whose ids hold a slash."""
    memory = state.memory
    if isinstance(memory, Impulses):
        return memory.others
    return {key: value for key, value in memory.items() if "/" not in key}


def _state(t: float, q: Array, v: Array, memory: Mapping[str, Array]) -> State:
    return State.trusted(t, q.ravel().copy(), v.ravel().copy(), memory)
