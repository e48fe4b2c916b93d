"""What a compiled step says: impulses, solution and step, whose costly parts are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....arrays import Array, IntArray
from ....contact.assemble import assemble, blocks, start_of_blocks
from ....contact.snapshot import Activation
from ....mechanics.state import State
from ....programs.solution.residuals import MODES, Residuals
from ....programs.solution.solution import Solution
from ....programs.solution.status import Status
from ....programs.solution.uniqueness import uniqueness
from ...contact_modes import FREE, acting_mode
from ...stepper import Shift, Step, Work
from ..step_dynamics import dynamics_of, rows_at_end
from .energy_balance import Books, books

if TYPE_CHECKING:
    from ..moreau_jean import MoreauJean
    from .free_bodies import CompiledBodies

WORDS = (*MODES, "active", "inactive")  # in the order of `contact_modes`


class Impulses(Mapping[str, Array]):
    """Impulses by id, made into arrays when they are asked for; what else a state remembers comes first.

    With `which` impulse k belongs to the contact label[which[k]], and all of them are kept; else to label[k], and only
    those of contacts that push are.
    """

    __slots__ = ("_compiled", "_found", "_p", "_which", "label", "others")

    def __init__(
        self, compiled: CompiledBodies, label: IntArray, p: Array, others: Mapping[str, Array],
        which: IntArray | None = None,
    ) -> None:  # fmt: skip
        self._compiled, self.label, self._p, self.others, self._which = compiled, label, p, others, which
        self._found: dict[str, Array] | None = None

    def by_id(self) -> dict[str, Array]:
        """Return them all, in the order of ids."""
        if self._found is None:
            label, p, everything = self.label, self._p, self._which is not None
            if self._which is not None:
                order = np.argsort(self._which)
                label, p = label[self._which[order]], p[order]
            entries = zip(self._compiled.ids(label), p, self._compiled.sizes(label), strict=True)
            self._found = {**self.others, **{id: x[:k].copy() for id, x, k in entries if everything or x[:k].any()}}
        return self._found

    def of_each(self, numbers: IntArray) -> dict[str, int]:
        """Return what belongs to each of them, in the order of ids, of numbers that belong to the labels."""
        which = np.arange(len(self._p)) if self._which is None else np.sort(self._which)
        return dict(zip(self._compiled.ids(self.label[which]), numbers[which].tolist(), strict=True))

    def __getitem__(self, key: str) -> Array:
        return self.by_id()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_id())

    def __len__(self) -> int:
        return len(self.by_id())

    def __reduce__(self) -> Any:
        return dict, (self.by_id(),)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ManySteps:
    """What `CompiledBodies.advance_many` did.

    Attributes
    ----------
    state : State
        At the end; of the last good step where one was not solved.
    spans : Array, shape (n, 3)
        Start, length and end of the steps that were solved, s.
    E, goal, cone : Array, shape (n,)
        Residual of every step, recomputed from its impulses, what counted as solved, and how far the impulses leave
        their friction cones (relative).
    path : tuple of str
        How every step was solved, the slowest of `PATHS` that it needed.
    factorisations, passes : Array, shape (n,)
    gap : Array, shape (n,)
        Lowest gap at the end of every step, m (0 if none is negative).
    speed : Array, shape (n,)
        Largest |velocity| of a coordinate at the end of every step, SI.
    q, v : Array, shape (n, nq) and (n, nv)
        At the end of every step.
    books : Books
        Energies and work of every step.
    last : Step or None
        The last of them; None without any.
    failed : Step or None
        The step that was not solved.
    """

    state: State
    spans: Array
    E: Array
    goal: Array
    cone: Array
    path: tuple[str, ...]
    factorisations: Array
    passes: Array
    gap: Array
    speed: Array
    q: Array
    v: Array
    books: Books
    last: Step | None
    failed: Step | None = None

    @property
    def taken(self) -> int:
        """How many steps were solved."""
        return len(self.spans)


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
        modes = tuple(WORDS[said[id]] if id in said else FREE for id in ids)
        put(self, {"problem": problem, "r": r, "u": problem.motion(r), "modes": modes})
        return object.__getattribute__(self, name)


class CompiledStep(Step):
    """A step that kernels have taken; what else there is to say about it is made when it is asked for."""

    __slots__ = ("_figures", "_kernels", "_mode", "_stepper")

    @staticmethod
    def of(
        stepper: MoreauJean, kernels: CompiledBodies, ends: tuple[State, State], dt: float, control: Array | None,
        reactions: Impulses, mode: IntArray, figures: tuple[float, float, float], middle: tuple[str, str],
        shifts: tuple[Shift, ...],
    ) -> CompiledStep:  # fmt: skip
        """Return the step between two states.

        figures: E, how far impulses leave their cones, the fraction of all restitution that was kept; mode: of every
        contact in reactions.label; middle: `Step.unsettled` and `Step.crowded`; shifts: as there.
        """
        step = object.__new__(CompiledStep)
        parts = {"start": ends[0], "state": ends[1], "dt": dt, "control": control, "reactions": reactions}
        said = {"unsettled": middle[0], "crowded": middle[1], "restitution": figures[2]}
        said |= {"place": None, "shifts": shifts, "changes": None, "impacts": (), "arcs": (), "forces": {}}
        said |= {"ends": "", "sizing": None}
        hidden = {"_figures": figures, "_mode": mode, "_stepper": stepper, "_kernels": kernels}
        put(step, {**parts, **said, **hidden})
        return step

    def __getattr__(self, name: str) -> Any:
        """Make what has not been made yet."""
        if name == "solution":
            figures = Residuals(E=self._figures[0], cone=self._figures[1])
            value: Any = CompiledSolution.of(self, Status.SOLVED, self.state.v, figures)
        elif name == "modes":
            value = {id: acting_mode(WORDS[m]) for id, m in self.numbers().items()}
        elif name == "dynamics":
            value = dynamics_of(self._kernels.system, self, self._stepper.theta, self._stepper.activation)
        elif name == "rows":
            value = rows_at_end(self._kernels.system, self, self.reactions)
        elif name in ("work", "energy"):
            book = self._books()
            put(self, {"energy": (book[0], book[1])})
            put(self, {"work": Work(reactions=book[2], forces=book[3], projection=book[4])})
            return object.__getattribute__(self, name)
        else:
            raise AttributeError(name)
        put(self, {name: value})
        return value

    @property
    def activation(self) -> Activation:
        """What counted as closed and as at rest; asked without the dynamics, which are large for many bodies."""
        stepper: MoreauJean = self._stepper
        return stepper.activation

    def ending(self, state: State) -> Step:
        """Return the same step with another state at its end; what has not been made yet is not made for it."""
        step = object.__new__(type(self))
        every = (name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ()))
        put(step, {name: object.__getattribute__(self, name) for name in every if _has(self, name)} | {"state": state})
        return step

    def numbers(self) -> dict[str, int]:
        """Return which of `WORDS` every contact that acts has, by id."""
        reactions: Impulses = self.reactions  # type: ignore[assignment]
        return reactions.of_each(self._mode)

    def _books(self) -> list[float]:
        """Return energies and work, J."""
        spans = np.array([[self.start.t, self.dt, self.state.t]])
        q, v = np.stack([self.start.q, self.state.q]), np.stack([self.start.v, self.state.v])
        found = books(self._kernels.space, spans, self._stepper.theta, self.control, q, v)
        return [float(x[0]) for x in found]


def _has(target: object, name: str) -> bool:
    """Return whether an attribute has been set."""
    try:
        object.__getattribute__(target, name)
    except AttributeError:
        return False
    return True


def put(target: object, values: Mapping[str, Any]) -> None:
    """Set attributes of a frozen object."""
    for name, value in values.items():
        object.__setattr__(target, name, value)
