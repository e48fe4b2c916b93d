"""Joints in the plane: what two markers keep from moving against each other.

A joint keeps marker `a` to marker `b`; its reactions act on the body of `a`, and their opposites on that of `b`. Every
equation is a row of its own, ``name:part``, so that each has its gap and its reaction: forces along x and y of space,
or across the guide of a slider, and moments (``turn``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ..joints.equation import Equation, bilateral_rows
from ..joints.freedoms import LeavesFree
from ..names import check_name
from ..rows import Row
from .bodies import Marker
from .kinematics import Motion
from .vectors import Pair, perp, rotated, unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint(LeavesFree):
    """What all joints share: a name and two markers on different bodies.

    Parameters
    ----------
    name : str
    a, b : Marker

    Raises
    ------
    InputError
        Both markers on one body; an unusable name.
    """

    name: str
    a: Marker
    b: Marker
    parts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_name("name of a joint", self.name)
        for marker in (self.a, self.b):
            if not isinstance(marker, Marker):
                raise InputError(
                    f"markers of {self.name}",
                    repr(marker),
                    "a Marker",
                    f"Write Marker({marker if isinstance(marker, str) else 'ball'!r}, (0.0, 0.0)).",
                )
        if self.a.body == self.b.body:
            raise InputError(
                f"markers of {self.name}",
                f"both on {self.a.body!r}",
                "markers on two different bodies",
                "Write b=fixed(0.0, 0.0), or a Marker on another body.",
            )

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return tuple(f"{self.name}:{part}" for part in self.parts)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return what it keeps at zero, in the order of `parts`."""
        raise NotImplementedError

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return its rows at one state."""
        return bilateral_rows(self.name, tuple(zip(self.parts, self.equations(motion), strict=True)))

    def free(self, motion: Motion) -> Equation:
        """Return the coordinate that a hinge (angle, rad) or a slider (travel, m) leaves free.

        Raises
        ------
        InputError
            The joint has none.
        """
        raise InputError(
            f"joint {self.name}",
            type(self).__name__,
            "a Hinge or a Slider, which have one coordinate",
            f'Write Hinge(name={self.name!r}, a=Marker("arm", (0.0, 0.0)), b=fixed(0.0, 0.0)).',
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hinge(Joint):
    """The two points coincide: two rows, forces in space. The coordinate is the angle of a's body less that of b's."""

    parts: ClassVar[tuple[str, ...]] = ("x", "y")
    coordinate: ClassVar[str] = "turn"
    freedoms: ClassVar[tuple[str, ...]] = ("angle",)

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b."""
        return _offsets(self, motion)

    def free(self, motion: Motion) -> Equation:
        """Return the angle of a's body less that of b's, rad, full turns counted."""
        return _turn(self, motion, 0.0)

    def pose(self, values: Sequence[float]) -> Array:
        """Return the turn by the angle; a point mass has none."""
        return np.array([0.0, 0.0, *(values or (0.0,))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Slider(Joint):
    """Point a moves on a line of b's body, and the angle between the bodies is fixed: two rows.

    The coordinate is the travel along the line, from marker b to marker a.

    Parameters
    ----------
    name : str
    a, b : Marker
    direction : (x, y)
        Of the line, in the frame of b's body; scaled to length one.
    angle : float
        Of a's body less that of b's, rad.

    Raises
    ------
    InputError
        A zero direction, NaN, both markers on one body, an unusable name.
    """

    direction: Pair = (1.0, 0.0)
    angle: float = 0.0
    parts: ClassVar[tuple[str, ...]] = ("across", "turn")
    coordinate: ClassVar[str] = "travel"
    freedoms: ClassVar[tuple[str, ...]] = ("position",)

    def __post_init__(self) -> None:
        Joint.__post_init__(self)
        object.__setattr__(self, "direction", unit(f"direction of {self.name}", self.direction))
        object.__setattr__(self, "angle", scalar(f"angle of {self.name}", self.angle))

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the distance of a from the line (positive on its left), and the error of the angle."""
        x, y = self.direction
        return _along(self, motion, (-y, x)), _turn(self, motion, self.angle)

    def free(self, motion: Motion) -> Equation:
        """Return the travel along the line, m."""
        return _along(self, motion, self.direction)

    def pose(self, values: Sequence[float]) -> Array:
        """Return the travel along the line, and its angle."""
        return np.array([values[0] * self.direction[0], values[0] * self.direction[1], self.angle])


@dataclass(frozen=True, slots=True, kw_only=True)
class Weld(Joint):
    """The points coincide and the angle between the bodies is fixed: three rows.

    Parameters
    ----------
    name : str
    a, b : Marker
    angle : float
        Of a's body less that of b's, rad.

    Raises
    ------
    InputError
        NaN, both markers on one body, an unusable name.
    """

    angle: float = 0.0
    parts: ClassVar[tuple[str, ...]] = ("x", "y", "turn")

    def __post_init__(self) -> None:
        Joint.__post_init__(self)
        object.__setattr__(self, "angle", scalar(f"angle of {self.name}", self.angle))

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the error of the angle."""
        return (*_offsets(self, motion), _turn(self, motion, self.angle))

    def pose(self, values: Sequence[float]) -> Array:
        """Return its angle."""
        return np.array([0.0, 0.0, self.angle])


def _offsets(joint: Joint, motion: Motion) -> tuple[Equation, ...]:
    """Return the components of x_a - x_b in space, m."""
    a, b = motion(joint.a), motion(joint.b)
    d, w, J, drift = a.x - b.x, a.v - b.v, a.J - b.J, a.drift - b.drift
    return tuple(Equation(float(d[k]), J[k], float(w[k]), float(drift[k])) for k in (0, 1))


def _turn(joint: Joint, motion: Motion, angle: float) -> Equation:
    """Return the angle of a's body less that of b's and `angle`, rad."""
    a, b = motion(joint.a), motion(joint.b)
    return Equation(a.angle - b.angle - angle, a.turn - b.turn, a.omega - b.omega, 0.0)


def _along(joint: Joint, motion: Motion, direction: Pair) -> Equation:
    """Return the component of d = x_a - x_b along a direction e fixed to b's body, m.

    With w = v_a - v_b - omega_b perp(d) the velocity seen from there: rate = e.w, and e itself turns at omega_b.
    """
    a, b = motion(joint.a), motion(joint.b)
    e, d = np.array(rotated(direction, b.angle)), a.x - b.x
    seen = a.v - b.v - b.omega * perp(d)
    J = e @ (a.J - b.J) - float(e @ perp(d)) * b.turn
    drift = e @ (a.drift - b.drift - b.omega * perp(a.v - b.v)) + b.omega * float(perp(e) @ seen)
    return Equation(float(e @ d), J, float(e @ seen), float(drift))
