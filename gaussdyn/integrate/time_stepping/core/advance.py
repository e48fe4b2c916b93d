"""A system advanced by the compiled step: the scheme of `MoreauJean`, many times faster."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from ....arrays import Array, IntArray, vector
from ....mechanics.state import State
from ....mechanics.system import System
from ....programs.solution.residuals import Residuals
from ....programs.solution.status import Status
from ...contact_modes import acting_mode
from ...impact.restitution_scaling import GAIN, largest_share
from ...stepper import Shift, Step, Work, near_of
from ..compiled.energy_balance import Books
from ..compiled.lazy_step import WORDS, CompiledSolution, CompiledStep, ManySteps, put
from .records import (
    AT,
    CONE,
    DONE,
    E_,
    FAULT,
    FORCES,
    FOREST,
    GAINED,
    GAINS,
    GAP,
    GOAL,
    KEPT,
    KINETIC,
    LIFTED,
    LOGGED,
    MOVED,
    PASSES,
    PLANAR,
    POTENTIAL,
    PROGRAM,
    REACTIONS,
    ROOM,
    SOFT,
    SPATIAL,
    Data,
    Span,
)
from .row_model import Built, built, shape_contact, steady

if TYPE_CHECKING:
    from ..moreau_jean import MoreauJean

BOOKS = (KINETIC, POTENTIAL, REACTIONS, FORCES, LIFTED)  # in the order of `Books`


class CompiledSystem:
    """A system that the compiled step can advance; get one by `CompiledSystem.of`.

    It keeps the arrays of one run; a state that it did not make itself is loaded first, which changes no result.
    """

    def __init__(self, system: System, parts: Built) -> None:
        from ...._jit import entry_of
        from .contact_list import list_contacts
        from .step import retake_step, take_steps

        self.system, self.steady = system, steady(system)
        self._take, self._list, self._retake = map(entry_of, (take_steps, list_contacts, retake_step))
        self._labels: dict[tuple[int, ...], str] = {}
        self._last: State | None = None
        self._use(parts)

    def _use(self, parts: Built) -> None:
        """Work on these arrays from now on."""
        from ...._jit import Held
        from .contact_problem import room as problem_room
        from .passes import room
        from .projection import room as push_room

        layout, nq, nv = parts.model.layout, self.system.nq, self.system.nv
        n, m = len(layout.kind), len(layout.reach)
        self.parts, self.work = parts, room(n, m, nv)
        self._push = push_room(n, nq, nv)
        of = parts.model, parts.data, self.work, self._push, problem_room(n, m, nv)
        self._records = tuple(Held(one) for one in of)

    @property
    def ids(self) -> tuple[str, ...]:
        """The constraints of the last step."""
        layout, model = self.parts.model.layout, self.parts.model
        contacts = int(layout.counts[0] - layout.counts[2])
        labels = model.touches.found if layout.who == PLANAR else model.shapes.label
        return (*self.parts.ids, *map(self._id, labels[:contacts].tolist())) if contacts else self.parts.ids

    def _id(self, label: list[int]) -> str:
        """Return the id of a contact of shapes."""
        key = tuple(label)
        if key not in self._labels:
            self._labels[key] = shape_contact(self.system, key)
        return self._labels[key]

    @staticmethod
    def of(system: System, state: State) -> CompiledSystem | None:
        """Return the system compiled, the same one again in the same thread; None if the kernels cannot serve it.

        Parameters
        ----------
        system : System
        state : State
            Some state of it: it is asked for its rows there.
        """
        if not isinstance(system, Hashable):
            return None
        made = _compiled(system, get_ident())
        if not made:
            parts = built(system, state)
            made.append(None if parts is None else CompiledSystem(system, parts))
        return made[0]

    def advance(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step, by the kernels or, where they fail, by the interpreted scheme."""
        log = np.zeros((0, LOGGED))
        if self.steady or near_of(self.system, state, dt) is self.system:
            code, log, *_ = self._go(stepper, state, control, np.array([[state.t, dt, t_end]]), stop=False)
            if code == GAINS:
                log = self._without_gain(_span(stepper, state.t, dt, t_end))
        if len(log):
            return self._step(stepper, state, self._state(t_end, state), dt, control, log[0])
        return replace(stepper, compiled=False).advance(self.system, state, t_end, control=control)

    def advance_many(
        self, stepper: MoreauJean, state: State, n: int, control: Array | None = None, *, t_max: float = math.inf,
        whole: bool = True,
    ) -> ManySteps:  # fmt: skip
        """Take up to n steps in one call, up to one in which a contact changes, or that the kernels cannot solve."""
        from ..compiled.free_bodies import spans_of

        spans = spans_of(stepper, state.t, n if self.steady else 0, t_max)
        code, log, q, v = self._go(stepper, state, control, spans, stop=not whole)
        if code != DONE and len(q):  # the step that failed has touched what is said of the last one
            _code, log, q, v = self._go(stepper, state, control, spans[: len(q)], stop=False)
        k = len(q)
        spans = spans[:k]
        last = None
        if k:
            end = self._state(float(spans[-1, 2]), state)
            before = state
            if k > 1:
                before = State.trusted(float(spans[-1, 0]), q[-2].copy(), v[-2].copy(), self._memory(state))
            last = self._step(stepper, before, end, float(spans[-1, 1]), control, log[-1])
        books = Books(*(log[:, c].copy() for c in BOOKS))
        return ManySteps(
            state=state if last is None else last.state, spans=spans, E=log[:, E_], goal=log[:, GOAL],
            cone=log[:, CONE], path=("newton",) * k, factorisations=log[:, PASSES], passes=log[:, PASSES],
            gap=log[:, GAP], speed=np.abs(v).max(axis=1, initial=0.0), q=q, v=v, last=last,
            books=books,
        )  # fmt: skip

    def _go(
        self, stepper: MoreauJean, state: State, control: Array | None, spans: Array, stop: bool
    ) -> tuple[int, Array, Array, Array]:  # fmt: skip
        """Take steps from a state, see `_run`; with more room where there is too little for its contacts."""
        while True:
            fits = self._load(state, control, float(spans[0, 1]) if len(spans) else stepper.dt)
            if fits:
                code, log, q, v = self._run(stepper, spans, stop)
                if code != ROOM or len(q):
                    return code, log, q, v
            parts = built(self.system, state, 2 * len(self.parts.model.carried.place))
            assert parts is not None
            self._use(parts)

    def _run(self, stepper: MoreauJean, spans: Array, stop: bool) -> tuple[int, Array, Array, Array]:
        """Take steps; return how that ended, and the logs of those that were taken, q and v at their ends.

        What a function of the system raised is raised where no step was taken; else the next call meets it again.
        """
        parts, self._last = self.parts, None
        n, (nq, nv) = len(spans), (self.system.nq, self.system.nv)
        log, q, v = np.zeros((n, LOGGED)), np.empty((n, nq)), np.empty((n, nv))
        count = np.array([0, int(stop)], dtype=np.int64)
        rules = _span(stepper, 0.0, 0.0, 0.0)
        code = self._take(*self._records, spans, rules, count, log, q, v)
        taken = int(count[0])
        error = None if parts.answers is None else parts.answers.error(code == FAULT)
        if error is not None and (taken == 0 or not isinstance(error, Exception)):
            raise error
        return int(code), log[:taken], q[:taken], v[:taken]

    def _without_gain(self, span: Span) -> Array:
        """Take the step that gains energy with laws by which it does not, see `impact_dissipation`; return its log."""
        data, log = self.parts.data, self.parts.data.log
        begun = _Begun.of(data, self.work.now)

        def gain_with(share: float, accepts: bool = False) -> float:
            """Take it with a fraction of all restitution; return the gain, NaN without a solution."""
            begun.put(data, self.work.now)
            laws = np.array([begun.at, share, float(accepts)])
            code = self._retake(*self._records, span, laws)
            return float(log[GAINED]) if code in (DONE, GAINS) else math.nan

        gain = gain_with(1.0)
        if math.isnan(gain):
            return np.zeros((0, LOGGED))
        begun.acts[:], share = data.acts, 1.0
        if gain > GAIN and self._restores():
            share = largest_share(gain_with, gain)
        if gain > GAIN:
            gain_with(share, True)
        data.q[:], data.v[:] = data.q1, data.v1
        return log[None].copy()

    def _restores(self) -> bool:
        """Return whether any constraint that acts leaves with restitution."""
        start, data = self.parts.model.layout.start, self.parts.data
        return any(data.bounce[start[k] : start[k + 1]].any() for k in np.flatnonzero(data.acts))

    def _load(self, state: State, control: Array | None, dt: float) -> bool:
        """Put the control and, unless it stands there already, the state into the arrays of the kernels.

        Returns False if its contacts do not fit.
        """
        model, data = self.parts.model, self.parts.data
        nv = self.system.nv
        if model.layout.who == PLANAR:
            model.planar.bodies[4] = 0.0 if control is None else vector("control", control, nv)
        elif model.layout.who == SPATIAL:
            model.mechanism.load[1] = 0.0 if control is None else vector("control", control, nv)
        elif model.layout.who == FOREST:
            told = model.forest.drives.control
            told[:] = 0.0 if control is None else vector("control", control, len(told))
        elif model.layout.who == PROGRAM:
            into = model.program.control if len(model.program.control) else model.program.push
            into[:] = 0.0 if control is None else vector("control", control, len(into))
        elif self.parts.python is not None:
            self.parts.python.control = control
        if state is self._last:
            return True
        self._last = None
        data.q[:], data.v[:] = state.q, state.v
        data.last[:], self.work.now[:] = 0.0, -1
        if not self._find(state, dt):
            return False
        index, start = _numbered(self.ids), model.layout.start.tolist()
        for id, p in state.memory.items():
            k = index.get(id)
            if k is not None and len(p) == start[k + 1] - start[k]:
                data.last[start[k] : start[k + 1]] = p
        return True

    def _find(self, state: State, dt: float) -> bool:
        """Find the contacts of shapes, where a state remembers some; return whether they fit."""
        layout = self.parts.model.layout
        layout.counts[:2] = layout.counts[2:]
        if not state.memory:
            return True
        return bool(self._list(self._records[0], self._records[1], self.work.now, dt))

    def _memory(self, before: State) -> dict[str, Array]:
        """Return what a state remembers: the impulses of the last step, and what is not ours."""
        last, start, ids = self.parts.data.last, self.parts.model.layout.start.tolist(), self.ids
        index = _numbered(ids)
        kept = {key: value for key, value in before.memory.items() if key not in index and "/" not in key}
        for k, id in enumerate(ids):
            p = last[start[k] : start[k + 1]]
            if p.any():
                kept[id] = p.copy()
        return kept

    def _state(self, t: float, before: State) -> State:
        """Return the state in which the arrays stand."""
        data = self.parts.data
        self._last = State.trusted(t, data.q.copy(), data.v.copy(), self._memory(before))
        return self._last

    def _step(
        self, stepper: MoreauJean, start: State, end: State, dt: float, control: Array | None, log: Array
    ) -> Step:  # fmt: skip
        """Return the step that the kernels have just taken."""
        data, first, ids = self.parts.data, self.parts.model.layout.start.tolist(), self.ids
        acts = (data.acts != 0) & (self.parts.model.layout.kind != SOFT)
        mode = self.work.mode.tolist()
        p = {id: data.p[first[k] : first[k + 1]].copy() for k, id in enumerate(ids) if acts[k]}
        modes = {id: mode[k] for k, id in enumerate(ids) if acts[k] and mode[k] >= 0}
        projected = self._place(), self._shifts() if stepper.project else ()
        return CoreStep.made(stepper, self, (start, end), dt, control, p, modes, log.copy(), projected)

    def _place(self) -> Array | None:
        """Return the middle of the step where it may have been moved onto joints, see `Step.place`."""
        from .dependent_joints import LOOKED

        data = self.parts.data
        return data.middle.copy() if data.bound.known[LOOKED] else None

    def _shifts(self) -> tuple[Shift, ...]:
        """Return the passes of the projection that has just been."""
        from .dependent_joints import AMONG, COUNT

        push, bound, found = self._push, self.parts.data.bound, []
        first, ids = self.parts.model.layout.start[: len(self.ids)], self.ids
        for k in range(int(push.kept[1])):
            s = push.shifts[k, : len(ids)].copy()
            for c in range(int(bound.known[COUNT])):  # rows that depend on one another were cleared
                rows, N = bound.rows[: bound.known[AMONG]], bound.N[: bound.known[AMONG], c]
                at, lengths = np.searchsorted(first, rows), bound.lengths[: len(rows)]
                s[at] -= N @ (s[at] * lengths) * N / lengths
            found.append(Shift(dict(zip(ids, s.tolist(), strict=True)), push.places[k].copy()))
        return tuple(found)


class CoreStep(CompiledStep):
    """A step that the compiled step has taken; what else there is to say about it is made when it is asked for."""

    __slots__ = ()

    @staticmethod
    def made(
        stepper: MoreauJean, kernels: CompiledSystem, ends: tuple[State, State], dt: float, control: Array | None,
        p: Mapping[str, Array], modes: Mapping[str, int], log: Array,
        projected: tuple[Array | None, tuple[Shift, ...]],
    ) -> CoreStep:  # fmt: skip
        """Return the step between two states; `log` as in `records`, projected: `Step.place` and `Step.shifts`."""
        kinetic, potential, reactions, forces, lifted = log[list(BOOKS)].tolist()
        done = Work(reactions=reactions, forces=forces, projection=lifted)
        figures = Residuals(E=float(log[E_]), cone=float(log[CONE]))
        step = object.__new__(CoreStep)
        said: dict[str, Any] = {"start": ends[0], "state": ends[1], "dt": dt, "control": control, "reactions": p}
        unsettled = kernels.ids[int(log[AT]) - 1] if log[AT] > 0.0 else ""
        said |= {"unsettled": unsettled, "crowded": "", "restitution": float(log[KEPT])}
        said |= {
            "place": projected[0],
            "shifts": projected[1],
            "changes": None,
            "impacts": (),
            "arcs": (),
            "forces": {},
            "ends": "",
            "sizing": None,
        }
        said |= {"energy": (kinetic, potential), "work": done}
        said |= {"modes": {id: acting_mode(WORDS[m]) for id, m in modes.items()}, "_mode": modes}
        said |= {"_stepper": stepper, "_kernels": kernels, "_rebuilt": None}
        put(step, said)
        put(step, {"solution": CompiledSolution.of(step, Status.SOLVED, ends[1].v, figures)})
        return step

    def numbers(self) -> dict[str, int]:
        """Return which of `WORDS` every contact that acts has, by id."""
        return dict(self._mode)


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a step that is taken again begins with: what acts, and what is known of the step before."""

    at: float
    acts: IntArray
    last: Array
    now: IntArray

    @staticmethod
    def of(data: Data, now: IntArray) -> _Begun:
        """Return that of a step which gains energy: laws are taken at its middle from now on."""
        at = data.log[AT] if data.log[AT] > 0.0 else data.log[MOVED]
        return _Begun(float(at), data.acts.copy(), data.last.copy(), now.copy())

    def put(self, data: Data, now: IntArray) -> None:
        """Put it back."""
        data.acts[:], data.last[:], now[:] = self.acts, self.last, self.now


def _span(stepper: MoreauJean, t: float, dt: float, t_end: float) -> Span:
    """Return a step under the rules of a stepper."""
    active = stepper.activation
    return Span(t, dt, t_end, stepper.theta, active.gap, active.speed, stepper.tol, stepper.project)


@lru_cache(maxsize=256)
def _numbered(ids: tuple[str, ...]) -> Mapping[str, int]:
    return {id: k for k, id in enumerate(ids)}


@lru_cache(maxsize=32)
def _compiled(system: Hashable, thread: int) -> list[CompiledSystem | None]:
    """Return where the one of a system and a thread is put once it is made."""
    return []
