"""A system advanced by the compiled step: the scheme of `MoreauJean`, many times faster."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np

from ....arrays import Array, vector
from ....contact.snapshot import rows_of
from ....mechanics.state import State
from ....mechanics.system import System
from ...compiled_control import CompiledControl
from ...stepper import Shift, Step, Work
from ..compiled.energy_balance import Books
from ..compiled.lazy_step import CompiledStep, ManySteps, put
from .endings import STIFF, Ending
from .late_contacts import Joins, advance_listing, restrict
from .outside import check_functions, overlap, problem_as_far_as_known, unsolved
from .records import (
    AT,
    CONE,
    DONE,
    E_,
    FAULT,
    FORCES,
    FOREST,
    GAP,
    GOAL,
    KEPT,
    KINETIC,
    LIFTED,
    LOGGED,
    MASS,
    OVERLAP,
    PASSES,
    PLANAR,
    POTENTIAL,
    PROGRAM,
    REACTIONS,
    ROOM,
    SOFT,
    SPATIAL,
    Span,
)
from .row_model import Built, built, by_answers, shape_contact, steady

if TYPE_CHECKING:
    from ..driven_steps import Driven
    from ..moreau_jean import MoreauJean

NONE: Joins = {}
NOTHING: dict[str, Any] = {"changes": None, "impacts": (), "arcs": (), "ends": "", "sizing": None}
BOOKS = (KINETIC, POTENTIAL, REACTIONS, FORCES, LIFTED)  # in the order of `Books`


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
        kinetic, potential, reactions, forces, lifted, E, cone, at, share = log[[*BOOKS, E_, CONE, AT, KEPT]].tolist()
        step = object.__new__(CoreStep)
        said: dict[str, Any] = {"start": ends[0], "state": ends[1], "dt": dt, "control": control, "reactions": p}
        said["unsettled"], said["crowded"] = kernels.ids[int(at) - 1] if at > 0.0 else "", ""
        said["restitution"], (said["place"], said["shifts"]) = share, projected
        said["energy"] = kinetic, potential
        said["work"] = Work(reactions=reactions, forces=forces, projection=lifted)
        said |= {"_figures": (E, cone, share), "_mode": modes, "_stepper": stepper, "_kernels": kernels}
        put(step, NOTHING | {"forces": {}})
        put(step, said)
        return step

    def numbers(self) -> dict[str, int]:
        """Return which of `WORDS` every contact that acts has, by id."""
        return dict(self._mode)


class CompiledSystem:
    """A system that the compiled step can advance; get one by `CompiledSystem.of`.

    It keeps the arrays of one run; a state that it did not make itself is loaded first, which changes no result.
    """

    def __init__(self, system: System, parts: Built) -> None:
        from ...._jit import entry_of
        from .contact_list import list_contacts
        from .dependent_joints import AMONG, COUNT, LOOKED
        from .step import open_step, resume_step, retake_step, take_steps

        self.system = system
        self._take, self._list, self._retake = map(entry_of, (take_steps, list_contacts, retake_step))
        self._open, self._resume = entry_of(open_step), entry_of(resume_step)
        self._labels: dict[tuple[int, ...], str] = {}
        self._named: tuple[bytes, tuple[str, ...]] = b"", ()  # the contacts whose ids were asked for last
        self._last: State | None = None
        self._known = LOOKED, AMONG, COUNT
        self._told = np.zeros((0, 0))  # what a compiled control said in every step
        self._use(parts)

    def _use(self, parts: Built) -> None:
        """Work on these arrays from now on."""
        from ...._jit import Held
        from .contact_problem import room as problem_room
        from .passes import room
        from .projection import room as push_room

        layout = parts.model.layout
        nq, nv = self._sizes = self.system.nq, self.system.nv
        n, m = len(layout.kind), len(layout.reach)
        self.parts, self.work = parts, room(n, m, nv)
        self._push = push_room(n, nq, nv)
        self.problem = problem_room(n, m, nv)
        of = parts.model, parts.data, self.work, self._push, self.problem
        self._records = tuple(Held(one) for one in of)

    @property
    def ids(self) -> tuple[str, ...]:
        """The constraints of the last step."""
        layout, model = self.parts.model.layout, self.parts.model
        contacts = int(layout.counts[0] - layout.counts[2])
        if not contacts:
            return self.parts.ids
        labels = (model.touches.found if layout.who == PLANAR else model.shapes.label)[:contacts]
        key = labels.tobytes()
        if key != self._named[0]:
            self._named = key, (*self.parts.ids, *map(self._id, labels.tolist()))
        return self._named[1]

    def _id(self, label: list[int]) -> str:
        """Return the id of a contact of shapes."""
        key = tuple(label)
        if key not in self._labels:
            self._labels[key] = shape_contact(self.system, key)
        return self._labels[key]

    @staticmethod
    def of(system: System, state: State) -> CompiledSystem | ListedSystem:
        """Return the system compiled, the same one again in the same thread.

        Parameters
        ----------
        system : System
        state : State
            Some state of it: it is asked for its rows there.
        """
        if not steady(system):
            return ListedSystem(system)
        made = _compiled(system if isinstance(system, Hashable) else _Same(system), get_ident())
        if not made:
            made.append(CompiledSystem(system, built(system, state)))
        return made[0]

    def advance(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step."""
        step = self.attempt(stepper, state, dt, t_end, control)
        return listing(self.system, stepper, state, dt, t_end, control) if step is None else step

    def attempt(
        self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None, joins: Joins = NONE
    ) -> Step | None:  # fmt: skip
        """Return one step; None if Python must list its contacts, or take stiff forces beside the mass."""
        span = _span(stepper, state.t, dt, t_end)
        if joins:
            code = self._restricted(stepper, state, span, control, joins)
        else:
            code = self._go(stepper, state, control, np.array([[state.t, dt, t_end]]), stop=False)[0]
        ending, data = Ending(self, span, control), self.parts.data
        code = ending.of(code)
        if self.parts.python is not None:
            self.parts.python.stiff = None
        if code == DONE:
            data.q[:], data.v[:] = data.q1, data.v1
            return self._step(stepper, state, self._state(t_end, state), dt, control, data.log)
        if self.parts.python is None and (code == STIFF or (code == OVERLAP and not overlap(self)[0])):
            return None
        return self._failed(ending, code, state, control)

    def call(self, code: int) -> int:
        """Return how a kernel ended; raise what a function in Python raised meanwhile."""
        error = None if self.parts.answers is None else self.parts.answers.error(code == FAULT)
        if error is not None:
            raise error
        return int(code)

    def opened(self, span: Span) -> int:
        """Begin the step at hand, see `step.open_step`."""
        return self.call(self._open(*self._records[:3], span))

    def again(self, span: Span, laws: Array) -> int:
        """Take the step at hand again, from what acts now, with other laws; see `step.retake_step`."""
        return self.call(self._retake(*self._records, span, laws))

    def resumed(self, span: Span, accepts: bool) -> int:
        """Go on with the step at hand, whose contact problem has been answered."""
        return self.call(self._resume(*self._records, span, accepts))

    def _restricted(
        self, stepper: MoreauJean, state: State, span: Span, control: Array | None, joins: Joins
    ) -> int:  # fmt: skip
        """Take a step in which contacts that were listed late act from the beginning, or not at all."""
        self._load(state, control, span.dt)
        self._last = None
        code = self.opened(span)
        if code != DONE:
            return code
        begin = {row.id: row for row in rows_of(self.system, state.t, state.q, state.v)}
        restrict(self.parts.model.layout, self.parts.data, self.ids, joins, begin, stepper.activation)
        return self.again(span, np.array([0.0, 1.0, 0.0]))

    def _failed(self, ending: Ending, code: int, state: State, control: Array | None) -> Step:
        """Return a step that could not be solved, with the best velocity there is."""
        self._last, data = None, self.parts.data
        span, found = ending.span, ending.unsolved
        if code in (FAULT, MASS):
            check_functions(self, state, span, control)
        solution = unsolved(self, code, span, control) if found is None else found
        end, p = state, dict[str, Array]()
        if solution.x is not None and np.isfinite(solution.x).all() and np.isfinite(data.q1).all():
            end = State.trusted(span.t_end, data.q1.copy(), np.array(solution.x), dict(state.memory))
            start = self.parts.model.layout.start
            p = {id: data.p[start[k] : start[k + 1]].copy() for k, id in enumerate(self.ids) if data.acts[k]}
        rows = rows_of(self.system, end.t, end.q, end.v)
        return Step(
            start=state, state=end, dt=span.dt, solution=solution, reactions=p, rows=rows, control=control,
            dynamics=problem_as_far_as_known(self, state, span, control),
        )  # fmt: skip

    def asks(self, law: CompiledControl) -> bool:
        """Return whether kernels ask this law themselves: trees do, whose every actuator it tells something."""
        model = self.parts.model
        return model.layout.who == FOREST and len(model.forest.drives.control) == law.size

    def advance_many(
        self, stepper: MoreauJean, state: State, n: int, control: Array | None = None, *, t_max: float = math.inf,
        whole: bool = True, driven: Driven | None = None,
    ) -> ManySteps:  # fmt: skip
        """Take up to n steps in one call, up to one in which a contact changes, or that the kernels cannot solve.

        driven: its law is asked for the control at every step, see `asks`; steps end before one without numbers.
        """
        from ..compiled.free_bodies import spans_of

        spans = spans_of(stepper, state.t, n, t_max)
        code, log, q, v = self._go(stepper, state, control, spans, not whole, driven)
        if code != DONE and len(q):  # the step that failed has touched what is said of the last one
            _code, log, q, v = self._go(stepper, state, control, spans[: len(q)], False, driven)
        k = len(q)
        spans = spans[:k]
        last = None
        if k:
            end = self._state(float(spans[-1, 2]), state)
            before = state
            if k > 1:
                before = State.trusted(float(spans[-1, 0]), q[-2].copy(), v[-2].copy(), end.memory)
            control = control if driven is None else self._told[k - 1].copy()
            last = self._step(stepper, before, end, float(spans[-1, 1]), control, log[-1])
        books = Books(*(log[:, c].copy() for c in BOOKS))
        return ManySteps(
            state=state if last is None else last.state, spans=spans, E=log[:, E_], goal=log[:, GOAL],
            cone=log[:, CONE], path=("newton",) * k, factorisations=log[:, PASSES], passes=log[:, PASSES],
            gap=log[:, GAP], speed=np.abs(v).max(axis=1, initial=0.0), q=q, v=v, last=last,
            books=books,
        )  # fmt: skip

    def _go(
        self, stepper: MoreauJean, state: State, control: Array | None, spans: Array, stop: bool,
        driven: Driven | None = None,
    ) -> tuple[int, Array, Array, Array]:  # fmt: skip
        """Take steps from a state, see `_run`; with more room where there is too little for its contacts."""
        while True:
            fits = self._load(state, control, float(spans[0, 1]) if len(spans) else stepper.dt)
            if fits:
                code, log, q, v = self._run(stepper, spans, stop, driven)
                if code != ROOM or len(q):
                    return code, log, q, v
            parts = built(self.system, state, 2 * len(self.parts.model.carried.place))
            self._use(parts)

    def _run(
        self, stepper: MoreauJean, spans: Array, stop: bool, driven: Driven | None
    ) -> tuple[int, Array, Array, Array]:  # fmt: skip
        """Take steps; return how that ended, and the logs of those that were taken, q and v at their ends.

        What a function of the system raised is raised where no step was taken; else the next call meets it again.
        """
        parts, self._last = self.parts, None
        n, (nq, nv) = len(spans), self._sizes
        log, q, v = np.zeros((n, LOGGED)), np.empty((n, nq)), np.empty((n, nv))
        count = np.array([0, int(stop)], dtype=np.int64)
        rules = _span(stepper, 0.0, 0.0, 0.0)
        if driven is None:
            code = self._take(*self._records, spans, rules, count, log, q, v)
        else:
            law = driven.law
            self._told, numbers = np.zeros((n, law.size)), np.array(law.numbers)
            code = driven.take(*self._records, spans, rules, count, log, q, v, law.address, numbers, self._told)
        taken = int(count[0])
        error = None if parts.answers is None else parts.answers.error(code == FAULT)
        if error is not None and (taken == 0 or not isinstance(error, Exception)):
            raise error
        return int(code), log[:taken], q[:taken], v[:taken]

    def _load(self, state: State, control: Array | None, dt: float) -> bool:
        """Put the control and, unless it stands there already, the state into the arrays of the kernels.

        Returns False if its contacts do not fit.
        """
        model, data = self.parts.model, self.parts.data
        nv = self._sizes[1]
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
        last, ids = self.parts.data.last, self.ids
        start = self.parts.model.layout.start[: len(ids) + 1]  # more are of other states
        index = _numbered(ids)
        kept = {key: value for key, value in before.memory.items() if key not in index and "/" not in key}
        some = last[: start[-1]].nonzero()[0]
        for k in dict.fromkeys((start.searchsorted(some, side="right") - 1).tolist()):
            kept[ids[k]] = last[start[k] : start[k + 1]].copy()
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
        data, ids, layout = self.parts.data, self.ids, self.parts.model.layout
        first = layout.start[: len(ids) + 1].tolist()
        acts = (data.acts[: len(ids)] != 0) & (layout.kind[: len(ids)] != SOFT)
        some, mode = acts.nonzero()[0].tolist(), self.work.mode[: len(ids)].tolist()
        p = {ids[k]: data.p[first[k] : first[k + 1]].copy() for k in some}
        modes = {ids[k]: mode[k] for k in some if mode[k] >= 0}
        projected = self._place(), self._shifts() if stepper.project else ()
        return CoreStep.made(stepper, self, (start, end), dt, control, p, modes, log.copy(), projected)

    def _place(self) -> Array | None:
        """Return the middle of the step where it may have been moved onto joints, see `Step.place`."""
        data = self.parts.data
        return data.middle.copy() if data.bound.known[self._known[0]] else None

    def _shifts(self) -> tuple[Shift, ...]:
        """Return the passes of the projection that has just been."""
        push, bound, found = self._push, self.parts.data.bound, list[Shift]()
        if not push.kept[1]:
            return ()
        _looked, among, count = bound.known[list(self._known)].tolist()
        first, ids = self.parts.model.layout.start[: len(self.ids)], self.ids
        for k in range(int(push.kept[1])):
            s = push.shifts[k, : len(ids)].copy()
            for c in range(count):  # rows that depend on one another were cleared
                rows, N = bound.rows[:among], bound.N[:among, c]
                at, lengths = np.searchsorted(first, rows), bound.lengths[: len(rows)]
                s[at] -= N @ (s[at] * lengths) * N / lengths
            found.append(Shift(dict(zip(ids, s.tolist(), strict=True)), push.places[k].copy()))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class ListedSystem:
    """A system whose rows are asked for in Python, and may be others in every step."""

    system: System

    def advance(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step."""
        return listing(self.system, stepper, state, dt, t_end, control)

    def advance_many(self, *_args: object, **_more: object) -> None:
        """Take no steps: contacts are listed step by step."""


def listing(
    system: System, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None
) -> Step:  # fmt: skip
    """Return a step whose contacts Python lists, see `late_contacts`."""

    def take(local: System, joins: Joins) -> tuple[Step, tuple[str, ...]]:
        """Take the step of a system whose rows are always the same."""
        kernels = CompiledSystem(local, by_answers(local, state))
        step = kernels.attempt(stepper, state, dt, t_end, control, joins)
        assert step is not None  # kernels look for no contacts there
        return step, kernels.ids

    return advance_listing(take, system, state, dt)


class _Same:
    """A system that has no hash, as a key: it equals itself."""

    def __init__(self, system: System) -> None:
        self.system = system

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.system is self.system

    def __hash__(self) -> int:
        return id(self.system)


def _span(stepper: MoreauJean, t: float, dt: float, t_end: float) -> Span:
    """Return a step under the rules of a stepper."""
    active = stepper.activation
    return Span(t, dt, t_end, stepper.theta, active.gap, active.speed, stepper.tol, stepper.project)


@lru_cache(maxsize=256)
def _numbered(ids: tuple[str, ...]) -> Mapping[str, int]:
    return {id: k for k, id in enumerate(ids)}


@lru_cache(maxsize=32)
def _compiled(system: Hashable, thread: int) -> list[CompiledSystem]:
    """Return where the one of a system and a thread is put once it is made."""
    return []
