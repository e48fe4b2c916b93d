"""Free bodies with contacts, advanced by compiled kernels: the scheme of `MoreauJean`, many times faster."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....arrays import Array, IntArray, vector
from ....mechanics.spatial.forces import Shaking
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.state import Print, State
from ...impact.restitution_scaling import GAIN, largest_share
from ...stepper import CUT, Step
from ...stretch import Stretch
from ..core.outside.cut_steps import SHORT, SHORTEST, halved, next_span, plan_of, plan_of_one
from ..core.outside.lazy_step import CompiledStep, KeptSteps, edges, others_of, stretch_of
from ..core.outside.many_steps import ManySteps
from ..core.records import E_, GAINED, GAP, GOAL, LOGGED, PASSES
from ..kept import Kept, Room, kept_room
from ..scheme import CLAIMED, SEARCHES
from .left_out import leave_out, take_back
from .records import (
    ACTS,
    ANSWERED,
    BEYOND,
    CHECKED,
    CLAIMS,
    DONE,
    FACTORS,
    FEATURES,
    GAINS,
    GRAPH,
    HARD,
    IMPACT,
    JOINED,
    LISTED,
    MIDDLE,
    OTHERS,
    PAIRS,
    PATH,
    PROXIMAL,
    RESTS,
    RETAKEN,
    ROOM,
    SEEN,
    SHARE,
    STAGE,
    STANDS,
    TAKEN,
    UNLISTED,
    WAKES,
    Rules,
)
from .workspace import Workspace

if TYPE_CHECKING:
    from ...._jit import Held
    from ..moreau_jean import MoreauJean

PATHS = ("verified", "newton", "proximal", "interior", "dense")
DENSE = 4
MOST_SLOW = 20  # proximal or interior solves in one step


class CompiledBodies:
    """A system of free bodies that the kernels can advance; build it with `CompiledBodies.of`.

    It keeps the arrays of one run; a state that it did not make itself is loaded first, which changes no result.
    """

    def __init__(self, system: SpatialSystem, *, trusts: bool = True) -> None:
        from ...._jit import entry_of
        from .step_loop import advance_bodies

        self.system, self.space = system, Workspace(system)
        self._advance = entry_of(advance_bodies)
        self._labels: dict[tuple[int, ...], str] = {}
        self._named: tuple[IntArray, tuple[str, ...]] = np.zeros((0, 4), dtype=np.int64), ()
        self._gravity, self._trusts = math.hypot(*system.gravity), trusts  # see `Rules`
        self._last: Print | None = None
        self._one: _Run | None = None
        self._narrow = False  # whether there is never room for more than one step
        self._rules: Rules | None = None
        self._ruled: MoreauJean | None = None  # whose rules these are
        self._pushed = True  # whether loads are more than the weights

    @staticmethod
    def of(system: SpatialSystem) -> CompiledBodies | None:
        """Return the system compiled, the same one again in the same thread; None if the kernels cannot serve it."""
        return _compiled(system, get_ident())

    def span(self, stepper: MoreauJean, state: State, t_max: float) -> tuple[float, float]:
        """Return the length and the end of the next step; of a piece where a step was cut."""
        return next_span(stepper, state, t_max)

    def advance(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step, by the kernels or, where they fail, by dense ones; a piece of it where it is cut."""
        run = self._run(stepper, plan_of_one(stepper, state, dt, t_end), state, control)
        if run.beaten:
            return self._by_hand(stepper, state, run.plan[0], control)
        of = self._kept(stepper, state, run.plan, run.room.copied(), control)
        end = of.state(0, run.room.kept.q[0].copy(), run.room.kept.v[0].copy())
        self._last = Print.of(end)
        return CompiledStep.made(of, 0, (state, end))

    def advance_many(
        self, stepper: MoreauJean, state: State, n: int, control: Array | None = None, *, t_max: float = math.inf,
        whole: bool = True,
    ) -> ManySteps:  # fmt: skip
        """Take up to n steps, none beyond `t_max`; the result is that of calls of `advance`, bit by bit.

        Without `whole` it ends before a step that the kernels cannot solve, and where there is no room for more.
        """
        parts, failed = list[_Part](), None
        while n > 0 and len(plan := plan_of(stepper, state, n, t_max)):
            run = self._run(stepper, plan, state, control)
            n -= run.taken
            if run.taken:
                parts.append(self._part(stepper, state, run, control))
                state = parts[-1].end
            self._last = None if run.beaten else Print.of(state)
            if not whole:
                break
            if run.beaten:
                step = self._by_hand(stepper, state, run.plan[run.taken], control)
                if not step.solution.solved:
                    failed = step
                    break
                parts.append(_Part.of_step(step, self.system, stepper.tol))
                state, n = step.state, n - 1
        log, spans, q, v = self._joined(parts)
        return ManySteps(
            state=state, spans=spans, E=log[:, E_], goal=log[:, GOAL], path=_paths(log), factorisations=log[:, FACTORS],
            passes=log[:, PASSES], gap=log[:, GAP], q=q, v=v,
            make=lambda: tuple(one for part in parts for one in part.make()), failed=failed,
        )  # fmt: skip

    def _joined(self, parts: list[_Part]) -> tuple[Array, Array, Array, Array]:
        """Return log, spans, and q and v at the ends of steps in a row."""
        if len(parts) == 1:
            return parts[0][:4]
        none = (np.zeros((0, k)) for k in (LOGGED, 3, self.system.nq, self.system.nv))
        log, spans, q, v = (np.concatenate(x) for x in zip(none, *(part[:4] for part in parts), strict=True))
        return log, spans, q, v

    def _by_hand(self, stepper: MoreauJean, state: State, row: Array, control: Array | None) -> Step:
        """Return a step of dense kernels, a row of a plan."""
        dt, t_end = row[1:3].tolist()
        start = State.trusted(state.t, state.q, state.v, {key: p for key, p in state.memory.items() if key != CUT})
        step = stepper.dense_step(self.system, start, dt, t_end, control)
        if row[3] == 0.0:
            return step
        end = step.state
        return step.ending(State.trusted(end.t, end.q, end.v, {**end.memory, CUT: row[3:].copy()}))

    def _part(self, stepper: MoreauJean, state: State, run: _Run, control: Array | None) -> _Part:
        """Return the steps that kernels have just taken."""
        n, kept, plan = run.taken, run.room.kept.chosen(slice(run.taken)), run.plan[: run.taken]
        starts = [np.concatenate([x[None], y[:-1]]) for x, y in ((state.q, kept.q), (state.v, kept.v))]
        found = []
        for a, b in pairwise(edges(kept, n)):
            make = partial(kept.chosen, slice(a, b)) if b - a < n else lambda: kept
            of = self._kept(stepper, state, plan[a:b], make, control)
            of.before = starts[0][a:b], starts[1][a:b]
            found.append((of, of.state(b - a - 1, kept.q[b - 1].copy(), kept.v[b - 1].copy())))
        return _Part(
            kept.log, plan[:, :3].copy(), kept.q, kept.v, found[-1][1], lambda: [stretch_of(*one) for one in found]
        )

    def _kept(
        self, stepper: MoreauJean, state: State, plan: Array, make: Callable[[], Kept], control: Array | None
    ) -> KeptSteps:  # fmt: skip
        """Return steps with the same contacts, the first one from a state."""
        told = None if control is None else np.repeat(control[None], len(plan), axis=0)
        within = plan.item(3) if len(plan) == 1 else plan[:, 3].any()
        return KeptSteps(
            kernels=self, stepper=stepper, make=make, spans=plan[:, :3], before=(state.q[None], state.v[None]),
            control=told, others=others_of(state.memory, ()), ahead=plan[:, 3:] if within else None,
        )  # fmt: skip

    fixed: tuple[str, ...] = ()

    def named(self, labels: IntArray) -> tuple[str, ...]:
        """Return the ids of contacts by their labels; at once where they are those asked for last."""
        if not np.array_equal(labels, self._named[0]):
            self._named = labels.copy(), tuple(self.ids(labels))
        return self._named[1]

    @property
    def kinds(self) -> tuple[IntArray, IntArray]:
        """Kind and level of the constraints that are no contacts of shapes: there are none."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    finds = True

    def ids(self, label: IntArray) -> list[str]:
        """Return the ids of contacts by their labels."""
        known, found = self._labels, []
        for row in label.tolist():
            key = tuple(row)
            if key not in known:
                known[key] = self.space.shapes.id(key)
            found.append(known[key])
        return found

    def _room(self, n: int, state: State) -> _Run:
        """Return room for n steps from a state, or for as many as fit; that for one is always the same."""
        found = self._one if n == 1 or self._narrow else None
        if found is None or found.room.kept.gap.shape[1] != self.space.buffers.room:
            found = self._new_room(n)
            alone = len(found.room.kept.log) == 1
            self._one, self._narrow = found if alone else self._one, self._narrow or (alone and n > 1)
        found.room.kept.log.fill(0.0)
        found.taken, found.beaten = 0, False
        return found

    def _new_room(self, n: int) -> _Run:
        """Return room of its own for n steps, or for as many as fit."""
        from ...._jit import Held

        room, nq, nv = self.space.buffers.room, self.system.nq, self.system.nv
        kept = kept_room(n, LOGGED, (nq, nv, 0, 0, 0), room, 3 * room, SEARCHES)
        return _Run(room=kept, held=Held(kept.kept))

    def _load(self, state: State, stepper: MoreauJean, dt: float, control: Array | None) -> None:
        """Put a state into the arrays of the kernels, unless it stands there already, and the rules."""
        if self.space.torn:
            self.space, self._last, self._pushed = Workspace(self.system), None, True
        space, active = self.space, stepper.activation
        if stepper is not self._ruled:
            take_back(space)
            self._rules, self._ruled = Rules(
                theta=stepper.theta, gap=active.gap, speed=active.speed, tol=stepper.tol, gravity=self._gravity,
                project=stepper.project, trusts=self._trusts, short=SHORT * stepper.dt,
            ), stepper  # fmt: skip
        if control is not None or self._pushed:
            take_back(space)
            space.loads.constant[:] = space.weight
            self._pushed = control is not None
        if control is not None:
            space.loads.constant[:] += vector("control", control, self.system.nv).reshape(-1, 6)
        if self._last is not None and self._last.fits(state):
            return
        take_back(space)
        self._last, space.laws[[STANDS, SEEN]], space.count[OTHERS] = None, 0.0, 1
        space.q[:], space.v[:] = state.q.reshape(-1, 7), state.v.reshape(-1, 6)
        space.count[FEATURES] = 0
        if state.memory:
            self._recall(state.memory, dt)

    def _recall(self, memory: Mapping[str, Array], dt: float) -> None:
        """Find the contacts at the state, and give them their impulses."""
        from .contact_search import search

        space = self.space
        n = int(search(space.search, space.step, dt, self._gravity))
        if n > space.buffers.room:
            space.reserve(2 * n)
            return self._recall(memory, dt)
        space.memory.mark[:n], space.count[FEATURES] = space.buffers.answer.label[:n], n
        self._give(memory)

    def _give(self, memory: Mapping[str, Array]) -> None:
        """Give the contacts known their impulses."""
        space, n = self.space, int(self.space.count[FEATURES])
        space.impulse[:n] = 0.0
        for f, id in enumerate(self.ids(space.memory.mark[:n])):
            if id in memory:
                p = memory[id][:3]
                space.impulse[f, : len(p)] = p

    def _run(self, stepper: MoreauJean, plan: Array, state: State, control: Array | None) -> _Run:
        """Take the steps of a plan from a state, up to one that kernels cannot take, or that has no room.

        Where steps are cut the plan becomes another one, that of the run.
        """
        self._load(state, stepper, float(plan[0, 1]), control)
        self._last = None  # what ends this early, as Ctrl-C, leaves the arrays elsewhere
        space, run = self.space, self._room(len(plan), state)
        count, run.plan = space.count, plan[: len(run.room.kept.log)]
        count[TAKEN] = count[CLAIMS] = 0
        self._begin_anew()
        while True:
            code = self._call(run)
            run.taken = count.item(TAKEN)
            if code == DONE:
                return run
            if code == GRAPH:
                space.join(space.memory.pairs[: space.count[PAIRS], :2].copy())
            elif code == RESTS:
                leave_out(space)
            elif code == WAKES:
                take_back(space)
            elif code == ROOM:
                take_back(space)
                self._more_room(int(space.count[PAIRS]))
                if run.taken:
                    return run
                again = self._room(len(run.plan), state)
                again.plan = run.plan[: len(again.room.kept.log)]
                run = again
            elif not self._helped(run, code):
                space.laws[[MIDDLE, SHARE, STANDS]] = 0.0, 1.0, 0.0
                if self._claims(code):
                    self._again(run)
                elif self._cuts(run):
                    self._again(run)
                    run.plan = halved(run.plan, run.taken)
                else:
                    run.beaten = True
                    return run

    def _again(self, run: _Run) -> None:
        """Let the step at hand be taken anew; its factorisations stay in the log."""
        row = run.row(self.space.count)
        self._begin_anew()
        used = row[FACTORS]
        row[:] = 0.0
        row[FACTORS] = used

    def _begin_anew(self) -> None:
        """Let the next step begin with nothing known of it."""
        count = self.space.count
        count[STAGE] = count[ANSWERED] = count[LISTED] = count[RETAKEN] = count[CHECKED] = 0  # a list takes a us more

    def _claims(self, code: int) -> bool:
        """Return whether the step at hand is taken anew with a residual of CLAIMED as its goal, which is tried once.

        Where bodies are about to give way E keeps a small least value, and the next answer is far away.
        """
        count = self.space.count
        count[CLAIMS] = int(
            code == HARD and not count[CLAIMS] and self._rules is not None and self._rules.tol < CLAIMED
        )
        return bool(count[CLAIMS])

    def _cuts(self, run: _Run) -> bool:
        """Return whether the step at hand is cut if it is not solved: it is long, and in a pile, see `may_crowd`."""
        pair = self.space.pair
        long = self._ruled is not None and run.plan[run.taken, 1] > SHORTEST * self._ruled.dt
        return bool(long and len(pair) > len(np.unique(pair[pair >= 0])))

    def _helped(self, run: _Run, code: int) -> bool:
        """Return whether kernels can go on with the step at hand after all."""
        if code in (BEYOND, UNLISTED) or (code == HARD and self._cuts(run)):
            return False
        solved = code == HARD and self._solve(run.row(self.space.count))
        return solved or self._at_middle(run, code)

    def _call(self, run: _Run) -> int:
        """Let the kernels take steps, and return why they come back."""
        space = self.space
        return int(
            self._advance(run.plan, self._rules, space.search, space.step, space.solver, space.projection, run.held)
        )

    def _at_middle(self, run: _Run, code: int) -> bool:
        """Solve the step at hand with the laws at its midpoint: an impact in it gains energy, or passes do not settle.

        With the restitution that gains no energy, see `scheme`. Returns whether it succeeded.
        """
        from .step_loop import AGAIN

        space, log, n = self.space, run.row(self.space.count), int(self.space.count[FEATURES])
        (marks, bounce, _value), known, tried = space.index, False, 1.0
        acts = marks[ACTS]
        if code != GAINS:
            first_of_all = (acts[:n] != 0) & (marks[JOINED, :n] == 0)
            if not first_of_all.any():
                return False
            space.count[IMPACT] = int(np.argmax(first_of_all))

        def gain(share: float) -> float:
            """Return what is gained with a fraction of the restitution, NaN without a solution."""
            nonlocal tried
            space.laws[MIDDLE], space.laws[SHARE] = 2.0 if known else 1.0, share
            space.count[STAGE], space.count[ANSWERED], tried = AGAIN, 0, share
            code = self._call(run)
            while code == HARD and not self._cuts(run) and self._solve(log):
                code = self._call(run)
            return float(log[GAINED]) if code == GAINS else math.nan

        first, known = gain(1.0), True
        restores = bounce[:n][acts[:n] != 0].any()
        share = largest_share(gain, first) if first > GAIN and restores else 1.0
        return not math.isnan(first if share == tried else gain(share))

    def _more_room(self, features: int) -> None:
        """Make room, keeping the impulses."""
        space = self.space
        known, impulse, mark = int(space.count[FEATURES]), space.impulse.copy(), space.memory.mark.copy()
        space.reserve(2 * features)
        space.impulse[:known], space.memory.mark[:known], space.count[FEATURES] = impulse[:known], mark[:known], known
        space.count[OTHERS] = 1

    def _solve(self, log: Array) -> bool:
        """Solve the contact problem at hand by what costs more than a pass may; whether it succeeded."""
        from ....contact.free_bodies.islands import solve_islands
        from ....contact.free_bodies.newton import READY

        space, tol = self.space, float(log[GOAL])
        if log[PROXIMAL] > MOST_SLOW:
            return False
        E, floor, used, _slow = solve_islands(space.problem, space.iterate, tol, READY * tol, math.inf)
        log[FACTORS], log[PROXIMAL], log[PATH] = log[FACTORS] + used, log[PROXIMAL] + 1, PATHS.index("interior")
        space.count[ANSWERED] = int(max(tol, floor) >= E)
        return bool(space.count[ANSWERED])


@dataclass(slots=True, kw_only=True)
class _Run:
    """What steps of a plan leave behind, and whether one was more than the kernels can take."""

    room: Room
    held: Held
    plan: Array = field(default_factory=lambda: np.zeros((0, 5)))
    taken: int = 0
    beaten: bool = False

    def row(self, count: IntArray) -> Array:
        """Return the log of the step at hand."""
        found: Array = self.room.kept.log[int(count[TAKEN])]
        return found


class _Part(NamedTuple):
    """Steps in a row: their log, spans and ends, and what gives that which runs record, made when it is asked for."""

    log: Array
    spans: Array
    q: Array
    v: Array
    end: State
    make: Callable[[], list[Stretch]]

    @staticmethod
    def of_step(step: Step, system: SpatialSystem, tol: float) -> _Part:
        """Return that of a step of dense kernels."""
        found, log = Stretch.of_step(step, system), np.zeros((1, LOGGED))
        figures = step.solution.residuals
        floor = 0.0 if figures is None else figures.floor
        log[0, [E_, GOAL, GAP, PATH]] = found.E[0], max(tol, min(10.0 * floor, 1e-8)), found.depth[0], DENSE
        return _Part(log, found.spans, found.q, found.v, step.state, lambda: [found])


def _paths(log: Array) -> tuple[str, ...]:
    """Return how steps were solved, from their log."""
    path = np.maximum(log[:, PATH], np.where(log[:, PROXIMAL] > 0, 2, np.minimum(log[:, FACTORS], 1)))
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
