"""What a compiled step says: impulses, solution and rows, whose costly parts are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .....arrays import Array, IntArray
from .....contact.assemble import assemble, blocks, start_of_blocks
from .....contact.snapshot import Activation
from .....mechanics.placed_contacts import Legs, Listed, Placed
from .....mechanics.state import State
from .....mechanics.trees.activations import MEMORY
from .....programs.solution.residuals import MODES, Residuals
from .....programs.solution.solution import Solution
from .....programs.solution.status import Status
from .....programs.solution.uniqueness import uniqueness
from ....contact_modes import FREE
from ....energy import Books
from ....stepper import CUT, SIZE, Shift, Step, Work
from ....stretch import CROWDED, NO_ROW, SHORTENED, UNSETTLED, WORDS, Constraints, Late, Note, Stretch, Traces
from ...kept import PLACED, ROWS, SHIFTED, TRIED, Kept
from ...step_dynamics import dynamics_of, rows_at_end
from ..records import (
    AT,
    BILATERAL,
    BILATERAL_CONTACT,
    CAP,
    CONE,
    DRY,
    E_,
    FORCES,
    GAP,
    KEPT,
    KINETIC,
    LIFTED,
    MU_R,
    MU_S,
    POSITION,
    POTENTIAL,
    REACTIONS,
    SOFT,
    UNILATERAL,
)

if TYPE_CHECKING:
    from .....mechanics.system import System
    from ...moreau_jean import MoreauJean

BOOKS = (KINETIC, POTENTIAL, REACTIONS, FORCES, LIFTED)  # in the order of `Books`
SOLVED = (*MODES, "active", "inactive")  # modes of contact problems, by their numbers


class CompiledSolution(Solution):
    """The solution of a compiled step: status, v+, E and cone at once, the rest is rebuilt when asked for."""

    __slots__ = ("_step",)

    @staticmethod
    def of(step: CompiledStep, status: Status, x: Array, figures: Residuals) -> CompiledSolution:
        """Return the solution of a step."""
        solution = object.__new__(CompiledSolution)
        plain = {"status": status, "x": x, "lam": np.zeros(0), "method": "compiled", "iterations": 0, "message": ""}
        nothing = dict.fromkeys(("null_space", "certificate"))
        put(solution, {"_step": step, "residuals": figures, **plain, **nothing})
        return solution

    def __getattr__(self, name: str) -> Any:
        """Make what has not been made yet."""
        if name == "unique":
            put(self, {"unique": uniqueness(self.problem, self.r, self.modes)})
            return self.unique
        if name not in ("problem", "r", "u", "modes"):
            raise AttributeError(name)
        dynamics = self._step.dynamics
        problem, r = assemble(dynamics), start_of_blocks(dynamics, self._step.reactions)
        ids = [part.active.row.id for part in blocks(dynamics) if part.law is not None]
        said = self._step.numbers()
        modes = tuple(SOLVED[said[id]] if id in said else FREE for id in ids)
        put(self, {"problem": problem, "r": r, "u": problem.motion(r), "modes": modes})
        return object.__getattribute__(self, name)


class CompiledStep(Step):
    """A step that kernels have taken; what there is to say about it is made when it is asked for."""

    __slots__ = ("_at", "_of")

    @staticmethod
    def made(of: KeptSteps, k: int, ends: tuple[State, State]) -> CompiledStep:
        """Return the k-th of steps, between two states."""
        step, put = object.__new__(CompiledStep), object.__setattr__
        put(step, "start", ends[0])
        put(step, "state", ends[1])
        put(step, "_of", of)
        put(step, "_at", k)
        return step

    def __getattr__(self, name: str) -> Any:
        """Make what has not been made yet."""
        if name in ("_of", "_at") or name not in {**SAID, **NOTHING, **MADE}:
            raise AttributeError(name)
        if name in NOTHING:
            value = NOTHING[name]
        else:
            value = SAID[name](self._of, self._at) if name in SAID else MADE[name](self)
        put(self, {name: value})
        return value

    @property
    def activation(self) -> Activation:
        """What counted as closed and as at rest; asked without the dynamics, which are large for many bodies."""
        stepper: MoreauJean = self._of.stepper
        return stepper.activation

    def ending(self, state: State) -> Step:
        """Return the same step with another state at its end; what has not been made yet is not made for it."""
        step = CompiledStep.made(self._of, self._at, (self.start, state))
        put(step, {"sizing": self.sizing})
        return step

    @property
    def of(self) -> KeptSteps:
        """The steps that it is one of."""
        return self._of  # type: ignore[no-any-return]

    def numbers(self) -> dict[str, int]:
        """Return which of `WORDS` every contact that acts has, by id."""
        return {id: m for id, m in zip(self._of.ids, self._of.kept.mode[self._at].tolist(), strict=False) if m >= 0}

    def kind(self) -> float:
        """Return a number that says how contacts push, see `pace.kind_of`."""
        from ....._jit import Held, entry_of
        from ...pace import kind_of, tags_of

        fixed = self._of.kernels.fixed
        return float(entry_of(kind_of)(Held(self._of.kept), self._at, len(fixed), tags_of(fixed)))

    def stretch(self) -> Stretch:
        """Return the step as a stretch of one."""
        start = self.start.q[None], self.start.v[None]
        found = stretch_of(replace(self._of.chosen(np.array([self._at])), before=start), self.state)
        return found if self.sizing is None else replace(found, sizing=((0, self.sizing),))


def _lists(cls: type) -> bool:
    """Return whether systems of a class list contacts of many steps at once, and no class of your own otherwise."""
    owners = [next((one for one in cls.__mro__ if name in vars(one)), None) for name in ("lines_at", "near", "rows")]
    return owners[0] is not None and len({*owners}) == 1


def _solution(step: CompiledStep) -> Solution:
    """Return the solution of a step."""
    E, cone, _share = step._of.figures(step._at)
    return CompiledSolution.of(step, Status.SOLVED, step.state.v, Residuals(E=E, cone=cone))


NOTHING: dict[str, Any] = {"changes": None, "impacts": (), "arcs": (), "ends": "", "sizing": None, "forces": {}}
MADE: dict[str, Callable[[CompiledStep], Any]] = {
    "solution": _solution,
    "modes": lambda step: {id: WORDS[m] for id, m in step.numbers().items()},
    "dynamics": lambda step: dynamics_of(step._of.kernels.system, step, step._of.stepper.theta, step.activation),
    "rows": lambda step: rows_at_end(step._of.kernels.system, step, step.reactions, step._of.stepper.theta),
}


class Kernels(Protocol):
    """What has taken steps: a compiled system."""

    @property
    def system(self) -> System:
        """What it advances."""
        ...

    @property
    def fixed(self) -> tuple[str, ...]:
        """Ids of the constraints that are no contacts of shapes."""
        ...

    def named(self, labels: IntArray) -> tuple[str, ...]:
        """Return the ids of all constraints, those of contacts of shapes by their labels."""
        ...

    @property
    def kinds(self) -> tuple[IntArray, IntArray]:
        """Kind and level of the fixed ones."""
        ...

    @property
    def finds(self) -> bool:
        """Whether it finds contacts by itself, and its system says where they are (`placed`)."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class KeptSteps:
    """Steps in a row that kernels have taken, with the same constraints.

    Attributes
    ----------
    kernels : Kernels
    stepper : MoreauJean
    make : callable
        Gives `kept`.
    spans : Array, shape (n, 3)
    before : pair of Array, shapes (n, nq) and (n, nv)
        At their beginnings.
    control : Array, shape (n, k), or None
    others : mapping
        What states remember beside impulses.
    ahead : Array, shape (n, 2), or None
        What they remember under `CUT`, zeros where they end no piece of a step that was cut, see `cut_steps`.
    paces : Array, shape (n, 10), or None
        What they remember under `SIZE` where a tolerance decides how long they are, see `pace`.
    actuators : Array, shape (n, 2, k), or None
        The states of actuators at their beginnings and ends, where these have any.
    tried : tuple of Array, shapes (nq,)
        `Step.tries` of a single one whose contacts Python lists.
    """

    kernels: Kernels
    stepper: MoreauJean
    make: Callable[[], Kept]
    spans: Array
    before: tuple[Array, Array]
    control: Array | None
    others: Mapping[str, Array]
    ahead: Array | None = None
    paces: Array | None = None
    actuators: Array | None = None
    tried: tuple[Array, ...] = ()
    _kept: Kept | None = field(default=None, init=False)
    _ids: tuple[str, ...] | None = field(default=None, init=False)

    @property
    def kept(self) -> Kept:
        """What the kernels have left."""
        if self._kept is None:
            self._kept = self.make()
        return self._kept

    @property
    def ids(self) -> tuple[str, ...]:
        """The constraints."""
        if self._ids is None:
            contacts = int(self.kept.found[0, ROWS]) - len(self.kernels.fixed)
            self._ids = self.kernels.named(self.kept.label[0, : 4 * contacts].reshape(-1, 4))
        return self._ids

    def __call__(self, k: int) -> CompiledStep:
        """Return the k-th step."""
        others = self.others if self.actuators is None else {**self.others, MEMORY: self.actuators[k, 0].copy()}
        start = State.trusted(float(self.spans[k, 0]), self.before[0][k], self.before[1][k], others)
        return CompiledStep.made(self, k, (start, self.end(k)))

    def end(self, k: int) -> State:
        """Return the state after the k-th step."""
        return self.state(k, self.kept.q[k].copy(), self.kept.v[k].copy())

    def state(self, k: int, q: Array, v: Array) -> State:
        """Return the state after the k-th step, which remembers its impulses."""
        return State.trusted(self.spans.item(k, 2), q, v, Late(lambda: self.memory(k), self.beside(k)))

    def chosen(self, steps: IntArray) -> KeptSteps:
        """Return some of them."""
        kept, before = self.kept.chosen(steps), (self.before[0][steps], self.before[1][steps])
        control = None if self.control is None else self.control[steps]
        each = (None if one is None else one[steps] for one in (self.ahead, self.paces, self.actuators))
        ahead, paces, actuators = each
        return replace(
            self, make=lambda: kept, spans=self.spans[steps], before=before, control=control, ahead=ahead, paces=paces,
            actuators=actuators,
        )  # fmt: skip

    @property
    def kind(self) -> Hashable:
        """What is equal for steps of the same kernels with the same constraints."""
        return id(self.kernels), self.ids

    def placed(self, more: Sequence[KeptSteps] = ()) -> Placed | None:
        """Return the contacts at their ends, then at those of `more`; None where Python has to be asked for rows."""
        kernels = self.kernels
        if not kernels.finds:
            return None
        contacts = int(self.kept.found[0, ROWS]) - len(kernels.fixed)
        labels = self.kept.label[0, : 4 * contacts].reshape(-1, 4)
        legs = [(*one.before, one.spans[:, 1], one.kept.q) for one in (self, *more)]
        first = np.cumsum([0, *(len(one.spans) for one in (self, *more))]).tolist()
        tries = [(n + k, place) for n, one in zip(first, (self, *more), strict=False) for k, place in one.tried_steps()]
        q0, v0, dt, q = map(np.concatenate, zip(*legs, strict=True))
        found: Placed = kernels.system.placed(  # type: ignore[attr-defined]
            kernels.fixed, labels, Legs(q0, v0, dt, q, tuple(tries), 1.0 - self.stepper.theta)
        )
        return found

    def listed(self, more: Sequence[KeptSteps] = ()) -> Listed | None:
        """Return the contacts that Python lists for them and for `more`, at their ends; None where it has to be asked.

        The same that rows of the system have, without asking for those.
        """
        system: Any = self.kernels.system
        if not _lists(type(system)) or system.contacts.frozen:
            return None
        parts = (self, *more)
        q0, v0, dt, q = map(
            np.concatenate, zip(*((*one.before, one.spans[:, 1], one.kept.q) for one in parts), strict=True)
        )
        places = np.concatenate([
            np.where(one.kept.found[:, PLACED, None] != 0, one.kept.middle, np.nan) for one in parts
        ])  # fmt: skip
        found: Listed = system.lines_at(Legs(q0, v0, dt, q, (), 1.0 - self.stepper.theta, places))
        return found

    def traces(self) -> Traces:
        """Return how they were taken."""
        kept, R = self.kept, len(self.ids)
        passes = kept.found[:, SHIFTED] if self.stepper.project else np.zeros(len(self.spans), dtype=np.int64)
        tried, tries = kept.found[:, TRIED], kept.tries
        if self.tried:
            tried, tries = np.array([len(self.tried)]), np.array([self.tried])
        return Traces(
            self.ids, kept.acts[:, :R] != 0, kept.middle, kept.found[:, PLACED] != 0, passes,
            kept.shifts[:, : int(passes.max(initial=0)), :R], kept.places, kept.foreseen, tried, tries,
        )  # fmt: skip

    def beside(self, k: int) -> Mapping[str, Array]:
        """Return what is remembered beside impulses after the k-th step."""
        if self.paces is not None:
            return {**self.others, SIZE: self.paces[k].copy()}
        if self.actuators is not None:
            return {**self.others, MEMORY: self.actuators[k, 1].copy()}
        within = self.ahead is not None and self.ahead[k, 0] > 0.0
        return {**self.others, CUT: self.ahead[k]} if within else self.others  # type: ignore[index]

    def memory(self, k: int) -> dict[str, Array]:
        """Return what is remembered after the k-th step: impulses, and what is not ours."""
        return {**self.beside(k), **remembered(self.ids, self.kept.start[k], self.kept.last[k])}

    def reactions(self, k: int) -> dict[str, Array]:
        """Return the impulses of what acted in the k-th step."""
        p, first = self.kept.p[k], self.kept.start[k].tolist()
        acts = self.kept.acts[k, : len(self.ids)].nonzero()[0].tolist()  # what comes after is of other steps
        return {self.ids[j]: p[first[j] : first[j + 1]].copy() for j in acts}

    def unsettled(self, k: int) -> str:
        """Return `Step.unsettled`."""
        at = int(self.kept.log[k, AT])
        return self.ids[at - 1] if at > 0 else ""

    def restitution(self, k: int) -> float:
        """Return `Step.restitution`."""
        return float(self.kept.log[k, KEPT])

    def figures(self, k: int) -> tuple[float, float, float]:
        """Return E, how far impulses leave their cones, and the fraction of all restitution that was kept."""
        log = self.kept.log[k]
        return float(log[E_]), float(log[CONE]), float(log[KEPT])

    def crowded(self, k: int) -> str:
        """Return `Step.crowded`."""
        at = -int(self.kept.log[k, AT])
        return self.ids[at - 1] if at > 0 else ""

    def cut(self, k: int) -> str:
        """Return `Step.cut`."""
        if self.ahead is None or self.ahead[k, 0] == 0.0:
            return ""
        start, kind = self.kept.start[k, : len(self.ids)], self.kernels.kinds[0]
        if len(self.ids) == np.count_nonzero(kind == SOFT):  # a damper has no row that a run could name
            return NO_ROW
        pushes = np.add.reduceat(np.abs(self.kept.p[k]), start)
        pushes[: len(kind)][kind == SOFT] = -1.0
        return self.ids[int(np.argmax(pushes))]

    def energy(self, k: int) -> tuple[float, float]:
        """Return `Step.energy`."""
        log = self.kept.log[k]
        return float(log[KINETIC]), float(log[POTENTIAL])

    def work(self, k: int) -> Work:
        """Return `Step.work`."""
        reactions, forces, lifted = self.kept.log[k, [REACTIONS, FORCES, LIFTED]].tolist()
        return Work(reactions=reactions, forces=forces, projection=lifted)

    def place(self, k: int) -> Array | None:
        """Return the middle of a step where it may have been moved onto joints, see `Step.place`."""
        return self.kept.middle[k].copy() if self.kept.found[k, PLACED] else None

    def foreseen(self, k: int) -> Array | None:
        """Return `Step.foreseen`."""
        found = self.kept.foreseen[k]
        return found.copy() if len(found) and not np.isnan(found[0]) else None

    def tries(self, k: int) -> tuple[Array, ...]:
        """Return `Step.tries`."""
        return self.tried or tuple(self.kept.tries[k, : self.kept.found[k, TRIED]].copy())

    def tried_steps(self) -> list[tuple[int, Array]]:
        """Return `Step.tries` of all steps, with their numbers."""
        return [(k, q) for k in np.flatnonzero(self.kept.found[:, TRIED]).tolist() for q in self.tries(k)]

    def shifts(self, k: int) -> tuple[Shift, ...]:
        """Return the passes of the projection."""
        kept, R = self.kept, len(self.ids)
        passes = range(int(kept.found[k, SHIFTED]) if self.stepper.project else 0)
        pushes = (dict(zip(self.ids, kept.shifts[k, a, :R].tolist(), strict=True)) for a in passes)
        known = kept.places.shape[2] > 0
        return tuple(Shift(push, kept.places[k, a].copy() if known else None) for a, push in enumerate(pushes))


SAID: dict[str, Callable[[KeptSteps, int], Any]] = {
    "dt": lambda of, k: float(of.spans[k, 1]), "control": lambda of, k: None if of.control is None else of.control[k],
    "reactions": KeptSteps.reactions, "unsettled": KeptSteps.unsettled, "restitution": KeptSteps.restitution,
    "_figures": KeptSteps.figures, "energy": KeptSteps.energy, "work": KeptSteps.work, "place": KeptSteps.place,
    "shifts": KeptSteps.shifts, "crowded": KeptSteps.crowded, "cut": KeptSteps.cut, "foreseen": KeptSteps.foreseen,
    "tries": KeptSteps.tries,
}  # fmt: skip


def stretch_of(of: KeptSteps, end: State) -> Stretch:
    """Return steps as a run records them."""
    kept, R, (kind, level) = of.kept, len(of.ids), of.kernels.kinds
    log, gap, start = kept.log, kept.gap[:, :R], kept.start[0, : R + 1]
    kind = np.append(kind, np.full(R - len(kind), UNILATERAL))  # contacts of shapes
    joint = np.isin(kind[: len(level)], (BILATERAL, BILATERAL_CONTACT)) & (level == POSITION)
    fixed, held = len(level), gap[:, : len(level)]
    law, dry = kept.limit[:, : 6 * fixed].reshape(len(log), fixed, 6).max(axis=0), kind[:fixed] == DRY
    told = np.zeros((len(log), 0)) if of.control is None else of.control
    rest, turns = law[:, MU_S], np.where(dry, 0.0, law[:, CAP])
    limits = np.column_stack([np.where(dry, 0.0, rest), law[:, MU_R], turns, np.where(dry, rest, 0.0)])
    return Stretch(
        step=of, end=end, spans=of.spans, before_q=of.before[0], before_v=of.before[1], q=kept.q, v=kept.v,
        control=told, E=log[:, E_], cone=log[:, CONE], restitution=log[:, KEPT],
        books=Books(*log[:, BOOKS].T), depth=log[:, GAP], joint=np.abs(held[:, joint]).max(axis=1, initial=0.0),
        of=Constraints(of.ids, start, (kind != BILATERAL) & (kind != SOFT)), gap=gap, impulses=kept.p[:, : start[-1]],
        mode=kept.mode[:, :R], limits=limits,
        notes=_notes(of),
    )  # fmt: skip


def _notes(of: KeptSteps) -> tuple[Note, ...]:
    """Return why the laws of steps hold at their middle, and which are pieces of steps that were cut."""
    at, ids = of.kept.log[:, AT].astype(int).tolist(), of.ids
    found: list[Note] = [(k, UNSETTLED if a > 0 else CROWDED, ids[abs(a) - 1]) for k, a in enumerate(at) if a]
    within = [] if of.ahead is None else np.flatnonzero(of.ahead[:, 0]).tolist()
    return tuple(sorted(found + [(k, SHORTENED, of.cut(k)) for k in within]))


def edges(kept: Kept, n: int) -> list[int]:
    """Return where those of n steps begin that have other contacts of shapes than before, and n."""
    if n == 1:
        return [0, 1]
    label, rows = kept.label[:n], kept.found[:n, ROWS]
    others = (label[1:] != label[:-1]).any(axis=1) | (rows[1:] != rows[:-1])
    return [0, *(np.flatnonzero(others) + 1).tolist(), n] if n else []


def remembered(ids: tuple[str, ...], start: IntArray, last: Array) -> dict[str, Array]:
    """Return the impulses that are not zero, by id."""
    start = start[: len(ids) + 1]  # more are of other states
    some = start.searchsorted(last[: start[-1]].nonzero()[0], side="right") - 1
    return {ids[j]: last[start[j] : start[j + 1]].copy() for j in dict.fromkeys(some.tolist())}


def others_of(memory: Mapping[str, Array], ids: Collection[str]) -> Mapping[str, Array]:
    """Return what is remembered beside the impulses of constraints, whose ids hold a slash where shapes touch.

    That a step was cut is of the step at hand alone.
    """
    found = memory.others if isinstance(memory, Late) and memory.others is not None else memory
    return found and {key: value for key, value in found.items() if key not in ids and "/" not in key and key != CUT}


def put(target: object, values: Mapping[str, Any]) -> None:
    """Set attributes of a frozen object."""
    for name, value in values.items():
        object.__setattr__(target, name, value)
