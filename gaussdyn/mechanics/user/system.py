"""The twenty-line way to a system: mass, force and constraints as plain Python functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._show import cut, names
from ...arrays import Array, matrix, scalar, vector
from ...errors import InputError
from ...mends import write
from .constraints import Acceleration as Acceleration
from .constraints import Constraint, check_function
from .constraints import Position as Position
from .constraints import Velocity as Velocity
from .differences import derivative
from .rows import Motion, Values, rows_of, values_of

Function = Callable[..., ArrayLike]


class Simple(NamedTuple):
    """What is simple in a system of functions: no constraints, dq/dt = v, a constant mass, no potential."""

    unbound: bool
    straight: bool
    steady: bool
    level: bool


class UserSystem:
    """A mechanical system made of functions.

    Parameters
    ----------
    nq : int
        Number of coordinates.
    mass : array_like or callable
        M, shape (nv, nv), or mass(q) -> M, symmetric positive definite.
    force : array_like or callable
        Generalised force with gyroscopic terms, shape (nv,): a constant, force(t, q, v) or force(t, q, v, control).
    constraints : sequence of Position, Velocity, Acceleration
    nv : int, optional
        Number of velocities; default nq.
    qdot : callable, optional
        qdot(q, v) -> dq/dt, shape (nq,), affine in v; default v.
    potential : callable, optional
        potential(t, q) -> potential energy of the conservative part of `force`, J.
    power : callable, optional
        power(t, q, v) -> power of what `potential` does not cover, W. The default takes it from the energy balance
        of the free motion: v.h + 1/2 v.(dM/dt) v + dV/dt.
    drawables : callable, optional
        drawables(q) -> list of shapes.
    name : str

    Raises
    ------
    InputError
        Sizes, constants or names that cannot be used. Functions are checked when they are first called.

    Examples
    --------
    >>> ball = UserSystem(1, [[2.0]], [-9.81 * 2.0], [Position(lambda t, q: q[0], eps_n=0.5)])
    >>> ball.rows(0.0, [1.0], [0.0])[0].gap
    1.0
    """

    def __init__(
        self,
        nq: int,
        mass: ArrayLike | Function,
        force: ArrayLike | Function,
        constraints: Sequence[Constraint] = (),
        *,
        nv: int | None = None,
        qdot: Function | None = None,
        potential: Callable[..., float] | None = None,
        power: Callable[..., float] | None = None,
        drawables: Callable[..., list[dict[str, Any]]] | None = None,
        name: str = "user system",
    ) -> None:
        self._nq, self._nv = _count("nq", nq), _count("nv", nq if nv is None else nv)
        if qdot is None and self._nq != self._nv:
            raise InputError("qdot", None, "a function, because nq and nv differ", "Give qdot(q, v) -> dq/dt.")
        _check_functions(mass, force, qdot=qdot, potential=potential, power=power, drawables=drawables)
        self._mass = mass if callable(mass) else _constant(matrix("mass", mass, self._nv, self._nv))
        self._force = force if callable(force) else vector("force", force, self._nv)
        self._with_control = callable(force) and _takes_four(force)
        self._qdot, self._potential, self._power, self._drawables = qdot, potential, power, drawables
        self.name = name
        self.constraints = _named(constraints)

    def __repr__(self) -> str:
        ids = names(list(self.constraints), 8)
        return f"UserSystem({cut(self.name, 60)!r}, nq={self._nq}, nv={self._nv}, constraints=[{ids}])"

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self._nq

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self._nv

    @property
    def simple(self) -> Simple:
        """What need not be asked at every state."""
        return Simple(not self.constraints, self._qdot is None, not callable(self._mass), self._potential is None)

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv)."""
        if not callable(self._mass):
            return self._mass
        return matrix("mass(q)", self._mass(q), self._nv, self._nv)

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return h, shape (nv,).

        Raises
        ------
        InputError
            A control for a force that takes none; a value of another shape, NaN.
        """
        if control is not None and not self._with_control:
            raise InputError(
                "control", f"shape {np.shape(control)}", "none: the force takes none", "Write force(t, q, v, control)."
            )
        if not callable(self._force):
            return self._force
        value = self._force(t, q, v, control) if self._with_control else self._force(t, q, v)
        return vector("force(t, q, v)", value, self._nv)

    def qdot(self, q: Array, v: Array) -> Array:
        """Return dq/dt, shape (nq,)."""
        if self._qdot is None:
            return np.array(v, dtype=np.float64)
        return vector("qdot(q, v)", self._qdot(q, v), self._nq)

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return q after dt at constant v, by the midpoint rule where dq/dt depends on q."""
        if self._qdot is None:
            moved: Array = q + dt * v
            return moved
        return q + dt * self.qdot(q + 0.5 * dt * self.qdot(q, v), v)

    def near(self, t: float, q: Array, v: Array, dt: float) -> UserSystem:
        """Return the system itself: its constraints are always the same."""
        return self

    def rows(self, t: float, q: Array, v: Array) -> tuple[Any, ...]:
        """Return every constraint evaluated at (t, q, v), in the order in which they were given."""
        motion = self._motion(t, q, v, True)
        return tuple(row for name, one in self.constraints.items() for row in rows_of(name, one, motion))

    def rates(self, t: float, q: Array, v: Array, drifts: bool = False) -> list[Values]:
        """Return what changes in the rows from state to state; without `drifts` drift terms are zeros."""
        if not self.constraints:
            return []
        motion = self._motion(t, q, v, drifts)
        return [values for name, one in self.constraints.items() for values in values_of(name, one, motion)]

    def _motion(self, t: float, q: Array, v: Array, drifts: bool) -> Motion:
        q, v = vector("q", q, self._nq), vector("v", v, self._nv)
        return Motion(t=float(t), q=q, v=v, qdot=self.qdot, plain=self._qdot is None, drifts=drifts)

    def potential(self, t: float, q: Array) -> float:
        """Return the potential energy, J; 0 if none was given."""
        return 0.0 if self._potential is None else scalar("potential(t, q)", _number(self._potential(t, q)))

    def power(
        self, t: float, q: Array, v: Array, control: Array | None = None, force: Array | None = None
    ) -> float:  # fmt: skip
        """Return the power of the forces that `potential` does not cover, W; `force`: what it is there, where known."""
        if self._power is not None:
            return scalar("power(t, q, v)", _number(self._power(t, q, v)))
        q, v = vector("q", q, self._nq), vector("v", v, self._nv)
        supplied = float(v @ (self.force(t, q, v, control) if force is None else force))
        if own(self, "mass") and not callable(self._mass) and own(self, "potential") and self._potential is None:
            return supplied
        dq = v if self._qdot is None and own(self, "qdot") else self.qdot(q, v)
        change = derivative("energy", self._energy_along(t, q, v, dq), speed=max(map(abs, dq.tolist())))
        return supplied + float(change[0])

    def _energy_along(self, t: float, q: Array, v: Array, dq: Array) -> Callable[[float], float]:
        """Return the energy at the time s from now, at constant v, as a function of s."""
        mass: Any = self._mass if own(self, "mass") else self.mass
        potential = self._potential if own(self, "potential") else self.potential
        kinetic = 0.0 if callable(mass) else 0.5 * float(v @ mass @ v)

        def energy(s: float) -> float:
            """Return it; what the functions give is checked in full at s = 0 only."""
            there = q + s * dq
            if s == 0.0:
                moving = 0.5 * float(v @ self.mass(there) @ v) if callable(mass) else kinetic
                return moving + self.potential(t, there)
            moving = 0.5 * float(v @ np.asarray(mass(there)) @ v) if callable(mass) else kinetic
            return moving + (0.0 if potential is None else _number(potential(t + s, there)))

        return energy

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return what the user's function draws; nothing without one."""
        return [] if self._drawables is None else self._drawables(q)

    def spec(self) -> dict[str, Any]:
        """Return a description. Functions cannot be stored, so a system made of them cannot be built from it."""
        return {
            "name": self.name,
            "kind": "user_system",
            "nq": self._nq,
            "nv": self._nv,
            "constraints": list(self.constraints),
            "rebuildable": False,
            "reason": "made of Python functions: build it again with the program that made it",
        }


def own(system: object, name: str) -> bool:
    """Return whether a method of a system is that of `UserSystem`, neither overridden nor replaced."""
    return getattr(getattr(system, name, None), "__func__", None) is getattr(UserSystem, name)


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(name, repr(value), "an integer >= 1", write(name, 1))
    return int(value)


ARGUMENTS = {"qdot": "q, v", "potential": "t, q", "power": "t, q, v", "drawables": "q"}


def _check_functions(mass: Any, force: Any, **functions: Any) -> None:
    """Raise InputError for a function that cannot be called as it will be."""
    if callable(mass):
        check_function("mass", mass, "q")
    if callable(force):
        check_function("force", force, "t, q, v, control" if _takes_four(force) else "t, q, v")
    for name, function in functions.items():
        if function is not None:
            check_function(name, function, ARGUMENTS[name])


def _takes_four(force: Function) -> bool:
    """Return whether a force function takes the control as its fourth argument."""
    try:
        parameters = inspect.signature(force).parameters.values()
    except (TypeError, ValueError):  # some built-in callables have no signature
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds for p in parameters) >= 4


def _named(constraints: Sequence[Constraint]) -> dict[str, Constraint]:
    if not isinstance(constraints, Iterable):
        raise InputError("constraints", repr(constraints), "a list of constraints", "Write [Position(...), ...] or [].")
    named: dict[str, Constraint] = {}
    for k, constraint in enumerate(constraints):
        if not isinstance(constraint, (Position, Velocity, Acceleration)):
            raise InputError(
                f"constraints[{k}]",
                repr(constraint),
                "Position, Velocity or Acceleration",
                "Write constraints=[Position(gap)].",
            )
        name = constraint.name or f"{type(constraint).__name__.lower()}{k}"
        if name in named:
            raise InputError(
                f"name of constraints[{k}]", repr(name), "one name per constraint", f'Write name="{name}2".'
            )
        named[name] = constraint
    return named


def _constant(x: Array) -> Array:
    """Return an array that nobody can change: who has seen it knows it."""
    x.setflags(write=False)
    return x


def _number(value: Any) -> float:
    """Return a number or an array of one element as a float."""
    if type(value) is float:
        return value
    array = np.asarray(value, dtype=np.float64)
    if array.size != 1:
        raise InputError(
            "value of a user function", f"shape {array.shape}", "one number", "Return value[0], or float(value)."
        )
    return float(array.reshape(()))
