"""What an integrator must do: advance a state, and say what happened on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from .._show import brief
from ..arrays import Array, vector
from ..errors import InputError
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System

if TYPE_CHECKING:
    from ..contact.snapshot import Activation, LocalDynamics
    from ..programs.solution.solution import Solution
    from .impact.history import ImpactRecord
    from .mode_changes import Change
    from .recorded_arcs import Arc

SIZE = "moreau_jean:size"  # in the memory of a state: how long its next steps are, see `time_stepping.pace`
CUT = "moreau_jean:cut"  # in the memory of a state: the end of the step that was cut, and what is tried next, s
Control = Callable[[float, State], Array] | Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """Work over one step, J.

    Attributes
    ----------
    reactions : float
        Of all reactions: constraints, contacts, friction, impacts.
    forces : float
        Of the applied forces that the potential does not cover.
    projection : float
        Energy added by moving bodies out of one another and back onto their joints.
    """

    reactions: float = 0.0
    forces: float = 0.0
    projection: float = 0.0


class Shift(NamedTuple):
    """One pass of the position projection: it shifts by M^-1 J^T s, M at `Step.place`.

    Attributes
    ----------
    pushes : mapping of str to float
        s by row id, kg m.
    place : Array or None, shape (nq,)
        Where J stands; None: where the pass begins.
    """

    pushes: Mapping[str, float]
    place: Array | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sizing:
    """How the length of a step came about, where a tolerance decides it.

    Attributes
    ----------
    rejected : int
        Longer ones that were tried before.
    forced : bool
        Whether it is as short as can be and off by more than the tolerance nevertheless.
    order : float or None
        At which the error falls with the length, where that was observed.
    then : Step or None
        The step after it, where that is known already: `advance` would return the same.
    """

    rejected: int = 0
    forced: bool = False
    order: float | None = None
    then: Step | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One step of an integrator.

    Attributes
    ----------
    start, state : State
        Before and after.
    dt : float
        Its length, s.
    solution : Solution
        The last contact problem solved; the step is good if its status is SOLVED.
    dynamics : LocalDynamics
        What that problem was built from.
    reactions : mapping of str to Array
        Impulse of every active row over the step, N s, by row id.
    modes : mapping of str to str
        stick, slip, degenerate or active, by row id; open or inactive where a row does not push. Steps of time steppers
        have those that took part in them: inactive ones were kept from closing.
    rows : tuple of Row
        All rows at the end of the step.
    work : Work
    control : Array or None
        The control value held during the step.
    unsettled : str
        The row because of which the laws of this step hold at its midpoint; empty where they hold at its end.
    crowded : str
        The row that closed in this step with the largest impulse, on a body that others hold, or the row with the
        largest impulse of bodies that hold one another in a pile: the laws hold at the midpoint, for gaps that were
        open as they close at a constant rate; else empty.
    cut : str
        The row that pushed most where this step is a piece of one that was cut, but not its last; else empty.
    restitution : float
        The fraction of all restitution that was kept; below 1 where an impact would have gained energy otherwise.
    place : Array or None, shape (nq,)
        The configuration at which masses, forces and the rows of `reactions` were evaluated, where that is not
        ``move(q, v, (1 - theta) dt)``.
    foreseen : Array or None, shape (nq + nv,)
        The end, q_f and v_f, that was foreseen: there the laws hold in a step without corrections, and forces
        are those of the mean of v and v_f (`TreeSystem.force_foreseen`).
    shifts : tuple of Shift
        The passes of the position projection, from where the velocities lead.
    tries : tuple of Array, shapes (nq,)
        Where the step ended before it was taken again: contacts were found there that it had not listed.
    energy : (float, float) or None
        Kinetic and potential energy at the end, J, where the stepper knows them.
    changes : tuple of Change or None
        What was passed on the way, where the stepper locates events; None: what `modes` say at the end.
    impacts : tuple of ImpactRecord
        The impacts on the way, where the stepper locates them.
    arcs : sequence of Arc
        The smooth motion, where the stepper follows differential equations.
    forces : mapping of str to Array
        Reactions right after the end, N, where the stepper knows them.
    ends : str
        Why the run shall end after this step, if it shall.
    sizing : Sizing or None
        Where a tolerance decides how long steps are, with the first one of a pair.
    """

    start: State
    state: State
    dt: float
    solution: Solution
    dynamics: LocalDynamics
    reactions: Mapping[str, Array]
    modes: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Row, ...]
    work: Work = Work()
    control: Array | None = None
    unsettled: str = ""
    crowded: str = ""
    cut: str = ""
    restitution: float = 1.0
    place: Array | None = None
    foreseen: Array | None = None
    shifts: tuple[Shift, ...] = ()
    tries: tuple[Array, ...] = ()
    energy: tuple[float, float] | None = None
    changes: tuple[Change, ...] | None = None
    impacts: tuple[ImpactRecord, ...] = ()
    arcs: Sequence[Arc] = ()
    forces: Mapping[str, Array] = field(default_factory=dict)
    ends: str = ""
    sizing: Sizing | None = None

    __repr__ = brief

    @property
    def activation(self) -> Activation:
        """What counted as closed and as at rest."""
        return self.dynamics.activation

    def ending(self, state: State) -> Step:
        """Return the same step with another state at its end, one that remembers more."""
        return replace(self, state=state)

    def contact_force(self, one: str, other: str) -> Array:
        """Return the mean force (N) of body `other` on body `one` over the step, shape (d,); zero without contact.

        Contacts whose rows do not tell their bodies and directions are left out.
        """
        from .contact_forces import force_between

        return force_between(self.rows, self.reactions, self.dt, one, other)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rebuilt:
    """A step that was integrated again from the state before it, for audits.

    Attributes
    ----------
    dynamics : LocalDynamics
        M v+ = h + J^T p with the rows that act, and u+ = J v+ + w.
    q : Array, shape (nq,)
        Coordinates to which the velocities before and after lead.
    laws : float or None
        Residual E of the laws, where they do not hold for the impulses of the step but for the forces at its end.
    """

    dynamics: LocalDynamics
    q: Array
    laws: float | None = None


class Stepper(Protocol):
    """A frozen value that advances any `System`.

    One that can take many steps in one call has ``advance_many(system, state, n, t_max, *, control)``, too: up to n
    steps as arrays, a tuple of `stretch.Stretch`; empty where the next step must be taken by itself. One whose steps
    hand on what they have found has ``for_run()``, too: the same stepper for the steps of one run.
    """

    name: ClassVar[str]

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return one step from `state` that ends at or before `t_max` (s).

        Parameters
        ----------
        control : callable or Array, optional
            ``control(t, state)`` or its value, held during the step and given to `System.force`.
        """
        ...

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON.

        With ``theta`` among them its steps are judged by what they recorded (`run.step_evidence`); those of a stepper
        that is ``located`` by their arcs, impacts and events.
        """
        ...


class Repeats(Stepper, Protocol):
    """A stepper without a rule for one step: audits have its steps integrated again."""

    def rebuild(
        self, system: System, start: State, state: State, dt: float, control: Array | None, **past: Any
    ) -> Rebuilt:  # fmt: skip
        """Return the step from `start` to `state` again; rows in start.memory count as closed.

        past: what else is known of it.
        """
        ...


def held_control(control: Control | None, state: State) -> Array | None:
    """Return the value of the control at the beginning of a step; a function gets a copy of the state.

    Raises
    ------
    InputError
        If it is not a finite vector.
    """
    if control is None:
        return None
    if callable(control):
        own = State.trusted(state.t, state.q.copy(), state.v.copy(), state.memory)
        return vector("control", control(state.t, own))
    return vector("control", control)


def check_span(state: State, t_max: float) -> None:
    """Raise InputError if `t_max` does not lie after the state."""
    if not t_max > state.t:
        raise InputError(
            "t_max", t_max, f"a time after t = {state.t:g} s", f"The state is already there: t_max={state.t + 1.0:g}."
        )


def check_same_rows(found: tuple[Row, ...], expected: tuple[Row, ...]) -> None:
    """Raise InputError unless the rows have the ids, and the order, that they had before."""
    if [row.id for row in found] != [row.id for row in expected]:
        given = ", ".join(row.id for row in found) or "none"
        allowed = f"the same ids in the same order in every state: {', '.join(row.id for row in expected) or 'none'}"
        raise InputError(
            "rows(t, q, v)", given, allowed, "Open contacts are rows, too: return all of them, [Row(...), ...]."
        )


def near_of(system: System, start: State, dt: float) -> System:
    """Return the system with the contacts that may act within a step.

    Raises
    ------
    InputError
        `system.near` returns something else, or a system of another size.
    """
    local = system.near(start.t, start.q, start.v, dt)
    if local is not system and (getattr(local, "nq", None), getattr(local, "nv", None)) != (system.nq, system.nv):
        raise InputError(
            "near(t, q, v, dt)",
            repr(local),
            f"a System with nq = {system.nq}, nv = {system.nv}",
            "Write def near(t, q, v, dt): return system.",
        )
    return local


def for_run(stepper: Stepper) -> Stepper:
    """Return a stepper for one run, whose results are the same: what a step has found is there for the next one."""
    own: Callable[[], Stepper] | None = getattr(stepper, "for_run", None)
    return stepper if own is None else own()
