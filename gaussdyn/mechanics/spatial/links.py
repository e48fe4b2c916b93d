"""Rods and strings in space: a distance between two markers that is kept, or not exceeded."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ..joints.equation import Equation
from ..names import check_name
from ..rows import Row
from .kinematics import Motion, SpatialMarker


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What `String` and `Rod` share: two markers and the distance between them.

    Parameters
    ----------
    a, b : SpatialMarker
    length : float
        m, > 0.
    eps_n : float
        Newton restitution when a string becomes taut, in [0, 1].
    name : str
        That of its row; "" for one made of its ends, such as ``ball~ground``.

    Raises
    ------
    InputError
        Length not positive, both ends on one body, a wrong name, NaN.
    """

    a: SpatialMarker
    b: SpatialMarker
    length: float
    eps_n: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        if self.name:
            check_name("name of a rod or string", self.name)
        if self.a.body == self.b.body:
            raise InputError(
                f"ends of {self.id}",
                f"both on {self.a.body!r}",
                "markers on two different bodies",
                'Write b=SpatialMarker("ground", (0.0, 0.0, 0.0)).',
            )
        object.__setattr__(self, "length", scalar(f"length of {self.id}", self.length, low=0.0, open_low=True))
        object.__setattr__(self, "eps_n", scalar(f"eps_n of {self.id}", self.eps_n, low=0.0, high=1.0))

    @property
    def id(self) -> str:
        """Its name, or one made of its ends, e.g. ``ball~ground``."""
        return self.name or f"{self.a.label}~{self.b.label}"

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return (self.id,)

    @property
    def markers(self) -> tuple[SpatialMarker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    def distance(self, motion: Motion) -> Equation:
        """Return the distance between the markers, m."""
        a, b = motion(self.a), motion(self.b)
        d, w = a.x - b.x, a.v - b.v
        length = math.sqrt(d @ d)
        # Where the two ends coincide any direction will do: a string hangs loose there.
        e: Array = d / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
        rate = float(e @ w)
        bend = (float(w @ w) - rate * rate) / length if length > 0.0 else 0.0
        return Equation(length, e @ (a.J - b.J), rate, float(e @ (a.drift - b.drift)) + bend)


class String(Link):
    """Distance <= length: a string that may go slack. The reaction is its tension."""

    __slots__ = ()

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return the constraint length - |d| >= 0 at one state."""
        e = self.distance(motion)
        J, rate, drift = -e.J[None], np.array([-e.rate]), np.array([-e.drift])
        gap = self.length - e.value
        return (Row(id=self.id, kind="unilateral", gap=gap, J=J, rate=rate, drift=drift, eps_n=self.eps_n),)


class Rod(Link):
    """Distance = length: a massless rod. The reaction is positive when it pushes."""

    __slots__ = ()

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return the constraint |d| - length = 0 at one state."""
        e = self.distance(motion)
        rate, drift = np.array([e.rate]), np.array([e.drift])
        return (Row(id=self.id, kind="bilateral", gap=e.value - self.length, J=e.J[None], rate=rate, drift=drift),)
