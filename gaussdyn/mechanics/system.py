"""What a mechanical system must say about itself; everything else is built on these few functions."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..arrays import Array, scalar, vector
from ..errors import InputError
from .rows import Row


@runtime_checkable
class System(Protocol):
    """M(q) dv/dt = h(t, q, v) + reactions, dq/dt = qdot(q, v), and the constraints as rows.

    Attributes
    ----------
    nq, nv : int
        Number of coordinates and of velocities.
    """

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def nv(self) -> int:
        """Number of velocities."""
        ...

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv), symmetric positive definite (kg, kg m^2)."""
        ...

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return h, shape (nv,): applied and gyroscopic forces, without reactions (N, N m)."""
        ...

    def qdot(self, q: Array, v: Array) -> Array:
        """Return dq/dt, shape (nq,)."""
        ...

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return the coordinates after dt (s) at constant velocity v, to second order; unit quaternions stay so."""
        ...

    def near(self, t: float, q: Array, v: Array, dt: float) -> System:
        """Return the system with the contacts that may act within dt (s) of a state, and no others.

        Its rows are the same for all (t, q, v) then. A system whose constraints never change returns itself; one of
        many bodies looks for the pairs that are close.
        """
        ...

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every constraint evaluated at (t, q, v), open contacts included, in a fixed order by id."""
        ...

    def potential(self, t: float, q: Array) -> float:
        """Return the potential energy of the conservative part of the force, J (0 where there is none)."""
        ...

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of the applied forces that `potential` does not cover, W."""
        ...

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return shapes to draw as plain dictionaries: see `drawables` and `drawables`."""
        ...

    def spec(self) -> dict[str, Any]:
        """Return the name and the parameters from which the system can be built again."""
        ...


MEMBERS = ("nq", "nv", "mass", "force", "qdot", "move", "near", "rows", "potential", "power", "drawables", "spec")


def coriolis_of(system: System, q: Array, v: Array) -> Array:
    """Return Coriolis forces alone, of a system whose `coriolis` tells them apart: trees, from symbols; else 0."""
    found: Any = getattr(system, "coriolis", None)
    return np.zeros(system.nv) if found is None else np.asarray(found(q, v))


def place_and_reach(q: Array, reach: float, nq: int) -> tuple[Array, float]:
    """Return coordinates (nq,) and how far shapes that are asked about may be apart, m.

    Raises
    ------
    InputError
        Coordinates of a wrong shape or not finite, a reach that is negative or not finite.
    """
    return vector("q", q, nq), scalar("reach", reach, low=0.0)


def check_is_system(name: str, value: object) -> None:
    """Raise InputError unless an object has all members of a `System`; names those that are missing."""
    missing = [member for member in MEMBERS if not hasattr(value, member)]
    if missing:
        mend = f"It lacks {', '.join(missing)}. E.g. UserSystem(nq, mass, force, constraints) has them all."
        raise InputError(name, type(value).__name__, "a System", mend)
