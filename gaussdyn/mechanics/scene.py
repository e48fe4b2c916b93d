"""A scene: a system, where it starts, how long it runs, and what the exact answer is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from .._show import brief
from ..arrays import Array, vector
from ..errors import InputError
from .state import State
from .system import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A number of a scene that a user may set.

    Attributes
    ----------
    default, min, max : float
        In SI units; the exact answers hold within [min, max].
    unit : str
        "1" for dimensionless.
    meaning : str
    """

    default: float
    unit: str
    min: float
    max: float
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """One exact number of a scene, how to read it off a trajectory, and the tolerance of every stepper.

    Attributes
    ----------
    name, unit : str
    value : float
        From a closed form or an independent method, never from this package.
    measure : callable
        Takes the trajectory, returns the number found.
    tol : mapping
        Absolute tolerance by stepper name, at the default step of the scene.
    """

    name: str
    value: float
    unit: str
    measure: Callable[[Any], float]
    tol: Mapping[str, float]


class WhenAsked(Sequence[Exact]):
    """Exact numbers that take long to find: they are found when they are first looked at, and a run does not ask."""

    def __init__(self, find: Callable[[], tuple[Exact, ...]]) -> None:
        self._find = find

    @cached_property
    def found(self) -> tuple[Exact, ...]:
        """The numbers."""
        return self._find()

    def __repr__(self) -> str:
        """Print them only if they were found."""
        return repr(self.__dict__.get("found", "found when asked"))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.found)

    @overload
    def __getitem__(self, k: int) -> Exact: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Exact, ...]: ...
    def __getitem__(self, k: int | slice) -> Exact | tuple[Exact, ...]:
        """Return one of them, or some."""
        return self.found[k]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scene:
    """A system with an initial state, a duration and exact answers.

    Attributes
    ----------
    name, title, source : str
    system : System
    state : State
    t_end, dt : float
        Duration and default step, s.
    params : mapping of str to float
        The parameters it was built with.
    exact : sequence of Exact
    tests : tuple of str
        What it tests, in words.
    columns : mapping
        Extra named outputs: name -> (unit, function of a state).
    control : callable or None
        control(t, state) -> array, passed on to `System.force`.
    expected_stop : str or None
        Reason with which the run is expected to stop, if it is.
    dim : int
        2 in the plane, 3 in space.
    """

    name: str
    title: str
    source: str
    system: System
    state: State
    t_end: float
    dt: float
    params: Mapping[str, float] = field(default_factory=dict)
    exact: Sequence[Exact] = ()
    tests: tuple[str, ...] = ()
    columns: Mapping[str, tuple[str, Callable[[State], float]]] = field(default_factory=dict)
    control: Callable[[float, State], Array] | None = None
    expected_stop: str | None = None
    dim: int = 2

    __repr__ = brief


def state_of(system: object, state: object) -> State:
    """Return the state; raise InputError unless it is a state of this system, which is no scene."""
    if isinstance(system, Scene):
        raise InputError(
            "system", "a Scene", "a system", "Write scene.system, as in overlaps(scene.system, scene.state)."
        )
    if not (hasattr(system, "nq") and hasattr(system, "nv")):
        raise InputError(
            "system", type(system).__name__, "a system", "The system comes first: overlaps(system, system.state())."
        )
    if not isinstance(state, State):
        given = "nothing" if state is None else type(state).__name__
        mend = "Write system.state({...}) of bodies, or State(q=q, v=v)."
        raise InputError("state", given, "a State", mend)
    vector("q of the state", state.q, system.nq)
    vector("v of the state", state.v, system.nv)
    return state
