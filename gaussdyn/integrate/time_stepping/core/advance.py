"""A system advanced by the compiled step: the scheme of `MoreauJean`, many times faster."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ....arrays import Array, IntArray
from ....contact.snapshot import rows_of
from ....mechanics.state import Print, State
from ....mechanics.system import System
from ...asked_control import Asked
from ...compiled_control import CompiledControl
from ...stepper import SIZE, Step
from ...stretch import Late
from ..kept import ROWS, Kept, Room, kept_room, numbered
from ..per_thread import place_of
from .endings import STIFF, Ending
from .outside.cut_steps import InPieces, end_of_cut
from .outside.late_contacts import Joins, advance_listing, restrict
from .outside.lazy_step import CompiledStep, KeptSteps, edges, others_of, remembered, stretch_of
from .outside.many_steps import ManySteps
from .outside.spans import spans_of
from .outside.unsolved import check_functions, overlap, problem_as_far_as_known, unsolved
from .planar_model import listed
from .python_system import raise_failed, vast
from .records import (
    BEYOND,
    DONE,
    E_,
    FAULT,
    FOREST,
    GAP,
    GOAL,
    LOGGED,
    MASS,
    OVERLAP,
    PASSES,
    PLANAR,
    ROOM,
    Span,
)
from .row_model import Built, built, by_answers, of_listed, shape_contact, steady
from .work_space import STANDS

if TYPE_CHECKING:
    from ...._jit import Held
    from ...stretch import Stretch
    from ..driven_steps import Driven
    from ..moreau_jean import MoreauJean
    from .within import Within

NONE: Joins = {}
NEVER: tuple[MoreauJean | None, int, float] = (None, 0, 0.0)  # under which no step was taken


class CompiledSystem(InPieces):
    """A system that the compiled step can advance; get one by `CompiledSystem.of`.

    It keeps the arrays of one run; a state that it did not make itself is loaded first, which changes no result.
    """

    def __init__(self, system: System, parts: Built) -> None:
        from ...._jit import entry_of
        from .contact_list import list_contacts
        from .keep import keep_step
        from .step import open_step, resume_step, retake_step, take_steps

        self.system = system
        self._take, self._list, self._retake = map(entry_of, (take_steps, list_contacts, retake_step))
        self._open, self._resume, self._keep = map(entry_of, (open_step, resume_step, keep_step))
        self._labels: dict[tuple[int, ...], str] = {}
        self._last: Print | None = None
        self._loads, self._under = 0, NEVER
        self._count = np.zeros(1, dtype=np.int64)
        self._use(parts)

    def _use(self, parts: Built) -> None:
        """Work on these arrays from now on."""
        from ...._jit import Held
        from .problem.contact_problem import room as solver_room
        from .problem.pushes import room as push_room
        from .step import Simulation
        from .work_space import UNSEEN, room

        layout, nq, nv = parts.model.layout, self.system.nq, self.system.nv
        n, m = len(layout.kind), len(layout.reach)
        self.parts, self.work = parts, room(n, m, nv)
        self._unseen = self.work.course[UNSEEN : UNSEEN + 1]
        self._push, self.problem, self._room = push_room(n, nq, nv), solver_room(layout, parts.data), self._kept_room(1)
        self._sim = Simulation._make(map(Held, (parts.model, parts.data, self.work, self._push, self.problem)))
        self._one, self._many = Held(self._room.kept), Held(self._room.kept)

    @property
    def ids(self) -> tuple[str, ...]:
        """The constraints of the last step."""
        layout, model = self.parts.model.layout, self.parts.model
        labels = model.touches.found if layout.who == PLANAR else model.shapes.label
        return self.named(labels[: int(layout.counts[0] - layout.counts[2])])

    @property
    def fixed(self) -> tuple[str, ...]:
        """Ids of the constraints that are no contacts of shapes."""
        return self.parts.ids

    def named(self, labels: IntArray) -> tuple[str, ...]:
        """Return the ids of all constraints, those of contacts of shapes by their labels."""
        return (*self.parts.ids, *map(self._id, labels.tolist())) if len(labels) else self.parts.ids

    @property
    def kinds(self) -> tuple[IntArray, IntArray]:
        """Kind and level of the constraints that are no contacts of shapes."""
        layout = self.parts.model.layout
        n = int(layout.counts[2])
        return layout.kind[:n], layout.level[:n]

    @property
    def foresees(self) -> bool:
        """Whether it can step without corrections, see `solve_once`."""
        return self.parts.model.layout.who == FOREST

    @property
    def finds(self) -> bool:
        """Whether kernels list the contacts that `near` does; those of joints leave out some that surely stay open."""
        return self.parts.model.layout.who == PLANAR and not listed(self.system)  # type: ignore[arg-type]

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
        made: list[CompiledSystem] = place_of(system)
        if not made:
            if not steady(system):
                return ListedSystem(system)
            made.append(CompiledSystem(system, built(system, state)))
        return made[0]

    def whole(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step."""
        step = self.attempt(stepper, state, dt, t_end, control)
        return listing(self.system, stepper, state, dt, t_end, control) if step is None else step

    def attempt(
        self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None, joins: Joins = NONE
    ) -> Step | None:  # fmt: skip
        """Return one step; None if Python must list its contacts, or take stiff forces beside the mass."""
        spans = np.array([[state.t, dt, t_end]])
        if not joins:
            code = self._go(stepper, state, control, spans, lambda _n: self._one)[0]
            if code == DONE:
                return self._made(stepper, state, spans, control)
        span = _span(stepper, state.t, dt, t_end)
        if joins:
            code = self._restricted(stepper, state, span, control, joins)
        ending, data = Ending(self, span, control), self.parts.data
        self._under, code = NEVER, ending.of(code)
        if self.parts.python is not None:
            self.parts.python.put_stiff(None)
        if code == DONE:
            self._keep(*self._sim[:4], self._one, 0)
            data.q[:], data.v[:] = data.q1, data.v1
            return self._made(stepper, state, spans, control)
        if self.parts.python is None and (code == STIFF or (code == OVERLAP and not overlap(self)[0])):
            return None
        return self._failed(ending, code, state, control)

    def call(self, code: int) -> int:
        """Return how a kernel ended; raise what a function in Python raised meanwhile."""
        error = None if self.parts.answers is None else self.parts.answers.error(code == FAULT)
        if error is not None:
            raise error
        return int(code)

    def _made(self, stepper: MoreauJean, state: State, spans: Array, control: Array | None) -> Step:
        """Return the step that is kept."""
        data, told = self.parts.data, None if control is None else control[None]
        of = self._kept(stepper, state, spans, self._room.copied(), told)
        end = of.state(0, data.q1.copy(), data.v1.copy())
        self._last = Print.of(end)
        return CompiledStep.made(of, 0, (state, end))

    def opened(self, span: Span) -> int:
        """Begin the step at hand, see `step.open_step`."""
        return self.call(self._open(*self._sim[:3], span))

    def again(self, span: Span, laws: Array) -> int:
        """Take the step at hand again, from what acts now, with other laws; see `step.retake_step`."""
        return self.call(self._retake(*self._sim, span, laws))

    def resumed(self, span: Span, accepts: bool) -> int:
        """Go on with the step at hand, whose contact problem has been answered."""
        return self.call(self._resume(*self._sim, span, accepts))

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
        fast = check_functions(self, state, span, control) if code in (BEYOND, FAULT, MASS) else ""
        solution = unsolved(self, code, span, control, fast) if found is None else found
        end, p = state, dict[str, Array]()
        if solution.x is not None and not vast(solution.x) and np.isfinite(data.q1).all():
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
        whole: bool = False, record: bool = True, driven: Driven | Asked | None = None,
    ) -> ManySteps:  # fmt: skip
        """Take up to n steps in one call, as many as the kernels can take and there is room for.

        whole: that others are taken in another way is left to the caller here. record: whether `stretches` will be
        asked for; else the same room serves the next call, and energies are not asked for. driven: its law is asked for
        the control at every step, by kernels where it `asks`; steps end before one without numbers.
        """
        assert not whole
        n = 0 if end_of_cut(stepper, state)[1] > 0.0 else n  # pieces are taken one by one
        spans = spans_of(stepper, state.t, n, t_max)
        room = self._new_room if record else self._same_room
        code, kept, spans, told = self._go(stepper, state, control, spans, room, driven)
        asked = driven if isinstance(driven, Asked) else None
        end = self._end(state, kept, spans, asked)
        log, q, v = kept.log, kept.q, kept.v
        if not record:
            log, q, v = log[: len(spans)].copy(), q[: len(spans)].copy(), v[: len(spans)].copy()
        if record and told is None and control is not None:
            told = np.repeat(control[None], len(spans), axis=0)
        self._last = Print.of(end) if code == DONE else None  # one that failed has touched what the next begins with
        return ManySteps(
            state=end, spans=spans, E=log[:, E_], goal=log[:, GOAL], path=("newton",) * len(spans),
            factorisations=log[:, PASSES], passes=log[:, PASSES], gap=log[:, GAP], q=q, v=v,
            make=partial(self._stretches, stepper, state, end, kept, spans, told, asked) if record else None,
        )  # fmt: skip

    def advance_within(
        self, stepper: MoreauJean, state: State, n: int, control: Array | None, t_max: float
    ) -> tuple[Stretch, ...]:  # fmt: skip
        """Take up to n steps whose length a tolerance decides, in pairs, in one call; none where a pair is half taken.

        Of what kernels cannot take by themselves, none.
        """
        from .within import Within

        if not self._load(state, control, stepper.dt):
            return ()
        within = Within.begin(stepper, state, t_max, (self._kept_room(n).kept, self._room.kept), self.fixed)
        if within is None:
            return ()
        self._last, self._under, self._unseen[0] = None, NEVER, 0
        code, taken = within.take(self._sim, _span(stepper, 0.0, 0.0, 0.0))
        raise_failed(self.parts.answers, code == FAULT, taken)
        if taken == 0:
            return ()
        kept, spans, paces = Kept._make(x[:taken] for x in within.kept), within.pairs.spans[:taken], within.paces(taken)
        told = None if control is None else np.repeat(control[None], taken, axis=0)
        end = self._end(State.trusted(state.t, state.q, state.v, {**state.memory, SIZE: paces[-1]}), kept, spans)
        self._last = Print.of(end) if code == DONE else None
        return self._stretches(stepper, state, end, kept, spans, told, None, within)

    def _end(self, before: State, kept: Kept, spans: Array, asked: Asked | None = None) -> State:
        """Return the state after the steps, which remembers its impulses, and states of actuators."""
        if len(spans) == 0:
            return before
        others, k = others_of(before.memory, self.fixed), len(spans) - 1
        others = others if asked is None else {**others, **asked.memory()}
        row, joints = min(k, len(kept.found) - 1), len(self.fixed)
        R = kept.found.item(row, ROWS)
        start, label, last = kept.start[row].copy(), kept.label[row].copy(), kept.last[row].copy()

        def impulses() -> dict[str, Array]:
            ids = self.named(label[: 4 * (R - joints)].reshape(-1, 4))
            return {**others, **remembered(ids, start[: R + 1], last)}

        return State.trusted(spans.item(k, 2), kept.q[k].copy(), kept.v[k].copy(), Late(impulses, others))

    def _stretches(
        self, stepper: MoreauJean, state: State, end: State, kept: Kept, spans: Array, told: Array | None,
        asked: Asked | None, within: Within | None = None,
    ) -> tuple[Stretch, ...]:  # fmt: skip
        """Return steps from a state to the last one as runs record them, those with the same constraints together."""
        actuators = None if asked is None else asked.states()
        starts, found = [np.concatenate([x[None], y[:-1]]) for x, y in ((state.q, kept.q), (state.v, kept.v))], []
        for a, b in pairwise(edges(kept, len(spans))):
            own = None if told is None else told[a:b]
            of = self._kept(stepper, state, spans[a:b], partial(kept.chosen, slice(a, b)), own)
            of.before = starts[0][a:b], starts[1][a:b]
            of.paces = None if within is None else within.paces(b)[a:]
            of.actuators = None if actuators is None else actuators[a:b]
            part = stretch_of(of, end if b == len(spans) else of.end(b - a - 1))
            found.append(part if within is None else replace(part, sizing=within.sizing(a, b)))
        return tuple(found)

    def _kept(
        self, stepper: MoreauJean, state: State, spans: Array, make: Callable[[], Kept], control: Array | None
    ) -> KeptSteps:  # fmt: skip
        """Return steps with the same constraints, the first one from a state."""
        return KeptSteps(
            kernels=self, stepper=stepper, make=make, spans=spans, before=(state.q[None], state.v[None]),
            control=control, others=others_of(state.memory, self.fixed),
        )  # fmt: skip

    def _go(
        self, stepper: MoreauJean, state: State, control: Array | None, spans: Array, room: Callable[[int], Held],
        driven: Driven | Asked | None = None,
    ) -> tuple[int, Kept, Array, Array | None]:  # fmt: skip
        """Take steps from a state; return how that ended, and of those taken what is kept, spans, a law's controls.

        Room that serves the next call may have more rows than steps were taken; it grows where contacts do not fit.
        """
        while True:
            if self._load(state, control, float(spans[0, 1]) if len(spans) else stepper.dt):
                held = room(len(spans))
                self._unseen[0] = held is self._many
                kept = held.value
                rows = len(kept.log)
                spans = spans if len(spans) <= rows else spans[:rows]
                code, taken, told = self._run(stepper, state, spans, held, driven)
                if code != ROOM or taken:
                    if taken < rows and held is not self._many:
                        kept = Kept(*(x[:taken] for x in kept))
                    spans = spans if len(spans) == taken else spans[:taken]
                    return code, kept, spans, None if told is None else told[:taken]
            parts = built(self.system, state, 2 * len(self.parts.model.carried.place))
            self._use(parts)

    def _kept_room(self, n: int, whole: bool = True) -> Room:
        """Return room for n steps, or for as many as fit; see `kept_room`."""
        layout, nq, nv = self.parts.model.layout, self.system.nq, self.system.nv
        R, m = len(layout.kind), len(layout.reach)
        return kept_room(n, LOGGED, (nq, nv, nq, nq + nv, 6 * R), R, m, 1, whole)

    def _new_room(self, n: int) -> Held:
        """Return room of its own for n steps."""
        from ...._jit import Held

        return Held(self._kept_room(n).kept)

    def _same_room(self, n: int) -> Held:
        """Return room for n steps that the next call writes over, of all but the last of which only states are kept."""
        if len(self._many.value.log) < n:
            from ...._jit import Held

            self._many = Held(self._kept_room(n, False).kept)
        return self._many

    def _run(
        self, stepper: MoreauJean, state: State, spans: Array, held: Held, driven: Driven | Asked | None
    ) -> tuple[int, int, Array | None]:  # fmt: skip
        """Take steps; return how that ended, how many were taken, and under what controls a law told them.

        What a function of the system raised is raised where no step was taken; else the next call meets it again.
        """
        parts, self._last = self.parts, None
        unseen, some = self._unseen.item(0), len(spans) > 0 and driven is None
        if not some or self._under != (stepper, unseen, spans.item(0, 1)):
            self.work.course[STANDS] = 0
        self._under = (stepper, unseen, spans.item(-1, 1)) if some else NEVER
        count, rules, told = self._count, _span(stepper, 0.0, 0.0, 0.0), None
        count[0] = 0
        if isinstance(driven, Asked):
            return self._ask(driven, state, spans, rules, count, held), len(driven.told), driven.controls()
        if driven is None:
            code = self._take(self._sim, spans, rules, count, held)
        else:
            law = driven.law
            told, numbers = np.zeros((len(spans), law.size)), np.array(law.numbers)
            code = driven.take(self._sim, spans, rules, count, held, law.address, numbers, told)
        raise_failed(parts.answers, code == FAULT, count.item(0))
        return int(code), count.item(0), told

    def _ask(self, asked: Asked, state: State, spans: Array, rules: Span, count: IntArray, held: Held) -> int:
        """Take steps one after another under what a control says; it ends where that used these very kernels itself."""
        code, loads = DONE, self._loads

        def take(k: int, control: Array) -> bool:
            nonlocal code
            if self._loads != loads:
                code = FAULT
                return False
            if not self.parts.tell(control, self.system.nv) or k == 0:
                self.work.course[STANDS] = 0
            code = self.call(self._take(self._sim, spans[: k + 1], rules, count, held))
            return code == DONE

        asked.take(spans, lambda k: self._end(state, held.value, spans[:k], asked), take)
        return code if asked.error is None else FAULT

    def _load(self, state: State, control: Array | None, dt: float) -> bool:
        """Put the control and, unless it stands there already, the state into the arrays of the kernels.

        Returns False if its contacts do not fit.
        """
        data, self._loads = self.parts.data, self._loads + 1
        same = self.parts.tell(control, self.system.nv)
        fits = self._last is not None and self._last.fits(state)
        self.work.course[STANDS] &= same and fits
        if fits:
            return True
        self._last = None
        data.q[:], data.v[:] = state.q, state.v
        data.last[:], self.work.now[:] = 0.0, -1
        if not self._find(state, dt):
            return False
        index, start = numbered(self.ids), self.parts.model.layout.start.tolist()
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
        return bool(self._list(self._sim.model, self._sim.data, self.work.now, dt))


@dataclass(frozen=True, slots=True)
class ListedSystem(InPieces):
    """A system whose rows are asked for in Python, and may be others in every step."""

    system: System
    foresees: ClassVar[bool] = False

    def whole(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
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
        for make in (of_listed, by_answers):  # the latter where forces are stiff
            kernels = CompiledSystem(local, make(local, state))
            step = kernels.attempt(stepper, state, dt, t_end, control, joins)
            if step is not None:
                return step, kernels.ids
        raise AssertionError("kernels look for no contacts there")

    return advance_listing(take, system, state, dt)


def _span(stepper: MoreauJean, t: float, dt: float, t_end: float) -> Span:
    """Return a step under the rules of a stepper."""
    active = stepper.activation
    return Span(
        t, dt, t_end, stepper.theta, active.gap, active.speed, stepper.tol, stepper.project, stepper.corrections
    )
