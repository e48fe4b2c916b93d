"""Joints in space: what two markers keep from moving against each other.

A joint keeps marker `a` to marker `b`; its reactions act on the body of `a`, and their opposites on that of `b`.
Hinges turn about the z axes of the markers, sliders move along them. Every equation is a row of its own, ``name:part``,
so that each has its gap and its reaction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...linalg.rotations import IDENTITY, conjugate, exponential, logarithm, matrix_of, product, quaternion_of
from ..joints.equation import Equation, bilateral_rows
from ..joints.freedoms import Freedom, LeavesFree
from ..names import check_name
from ..rows import Row
from .joint_equations import angle, angle_and_rate, cosine, offsets, travel, twist
from .kinematics import Motion, Motions, SpatialMarker, SpatialMotion

AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint(LeavesFree):
    """What all joints share: a name and two markers on different bodies.

    Parameters
    ----------
    name : str
    a, b : SpatialMarker

    Raises
    ------
    InputError
        Both markers on one body; an unusable name.
    """

    name: str
    a: SpatialMarker
    b: SpatialMarker
    parts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_name("name of a joint", self.name)
        for marker in (self.a, self.b):
            if not isinstance(marker, SpatialMarker):
                raise InputError(
                    f"markers of {self.name}",
                    repr(marker),
                    "a SpatialMarker",
                    f"Write SpatialMarker({marker if isinstance(marker, str) else 'ball'!r}, (0.0, 0.0, 0.0)).",
                )
        if self.a.body == self.b.body:
            raise InputError(
                f"markers of {self.name}",
                f"both on {self.a.body!r}",
                "markers on two different bodies",
                "Write b=fixed(0.0, 0.0, 0.0), or a SpatialMarker on another body.",
            )

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return tuple(f"{self.name}:{part}" for part in self.parts)

    @property
    def markers(self) -> tuple[SpatialMarker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    @property
    def bodies(self) -> tuple[str, str]:
        """The bodies it joins: they do not touch each other unless the system's `pairs` say so."""
        return (self.a.body, self.b.body)

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return what it keeps at zero, in the order of `parts`."""
        raise NotImplementedError

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return its rows at one state."""
        return bilateral_rows(self.name, tuple(zip(self.parts, self.equations(motion), strict=True)))

    def free(self, motion: Motion, middle: float = 0.0) -> Equation:
        """Return the coordinate that a hinge (angle, rad, within pi of `middle`) or a slider (travel, m) leaves free.

        Raises
        ------
        InputError
            The joint has none, or more than one.
        """
        raise InputError(
            f"joint {self.name}",
            type(self).__name__,
            "a Hinge or a Slider, which have one coordinate",
            f'Write Hinge(name={self.name!r}, a=SpatialMarker("arm", (0.0, 0.0, 0.0)), b=fixed(0.0, 0.0, 0.0)).',
        )

    def pose(self, values: Sequence[float]) -> Array:
        """Return place (m) and unit quaternion of marker a seen from marker b, shape (7,)."""
        return np.array([0.0, 0.0, 0.0, *IDENTITY])


class BallJoint(Joint):
    """The two points coincide: three rows, forces in space."""

    __slots__ = ()
    parts = AXES
    freedoms = ("turn_x", "turn_y", "turn_z")

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the three components of x_a - x_b."""
        return offsets(motion(self.a), motion(self.b))

    def free_motions(self, motion: Motion) -> tuple[Freedom, ...]:
        """Return the rotation vector of a's axes in those of b, rad, and the angular velocity there."""
        a, b = motion(self.a), motion(self.b)
        return _turning(a, b, quaternion_of(b.R.T @ a.R), b.R.T)

    def readings(self, motion: Motion) -> tuple[list[float], list[float]]:
        """Return the rotation vector and the angular velocity of `free_motions`."""
        if not isinstance(motion, Motions):
            return super().readings(motion)
        (R, omega), (axes, own) = motion.turns(self.a), motion.turns(self.b)
        return logarithm(quaternion_of(axes.T @ R)).tolist(), (axes.T @ (omega - own)).tolist()

    def off(self, motion: Motion, values: Sequence[float]) -> tuple[Freedom, ...]:
        """Return the rotation vector from the turn by `values` to the one there is, in the axes of that turn."""
        a, b = motion(self.a), motion(self.b)
        turn = exponential(values)
        left = product(conjugate(turn), quaternion_of(b.R.T @ a.R))
        return _turning(a, b, left, (b.R @ matrix_of(turn)).T)

    def moved(self, values: Sequence[float], step: Sequence[float]) -> tuple[float, ...]:
        """Return the rotation vector after a further turn by `step`."""
        return tuple(logarithm(product(exponential(step), exponential(values))).tolist())

    def pose(self, values: Sequence[float]) -> Array:
        """Return the turn by a rotation vector in the axes of b."""
        return np.array([0.0, 0.0, 0.0, *exponential(values)])


class Hinge(Joint):
    """The points coincide and the z axes are parallel: five rows; the coordinate is the angle about z."""

    __slots__ = ()
    parts = (*AXES, "tilt_x", "tilt_y")
    coordinate = "angle"
    freedoms = ("angle",)

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the cosines of z of a with x and y of b."""
        a, b = motion(self.a), motion(self.b)
        return (*offsets(a, b), cosine(a, 2, b, 0), cosine(a, 2, b, 1))

    def free(self, motion: Motion, middle: float = 0.0) -> Equation:
        """Return the angle from x of b to x of a about z, rad."""
        return angle(motion(self.a), motion(self.b), middle)

    def readings(self, motion: Motion) -> tuple[list[float], list[float]]:
        """Return the angle and its rate."""
        if not isinstance(motion, Motions):
            return super().readings(motion)
        value, rate = angle_and_rate(motion.turns(self.a), motion.turns(self.b))
        return [value], [rate]

    def pose(self, values: Sequence[float]) -> Array:
        """Return the turn about z."""
        return np.array([0.0, 0.0, 0.0, *exponential((0.0, 0.0, values[0]))])


class Universal(Joint):
    """The points coincide and x of a stays at right angles to y of b (the cross of a cardan joint): four rows."""

    __slots__ = ()
    parts = (*AXES, "cross")
    freedoms = ("angle_1", "angle_2")

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the cosine of x of a with y of b."""
        a, b = motion(self.a), motion(self.b)
        return (*offsets(a, b), cosine(a, 0, b, 1))

    def free_motions(self, motion: Motion) -> tuple[Freedom, ...]:
        """Return the turns about y of b and about x of a, rad: a's axes in those of b are R_y(first) R_x(second)."""
        a, b = motion(self.a), motion(self.b)
        R, Omega, J = b.R.T @ a.R, a.omega - b.omega, a.turn - b.turn
        turns = math.atan2(-R[2, 0], R[0, 0]), math.atan2(-R[1, 2], R[1, 1])
        axes = b.R[:, 1], a.R[:, 0]
        return tuple(Freedom(x, float(n @ Omega), n @ J) for x, n in zip(turns, axes, strict=True))

    def pose(self, values: Sequence[float]) -> Array:
        """Return the turn about y of b, then about x of a."""
        return np.array([0.0, 0.0, 0.0, *product(exponential((0, values[0], 0)), exponential((values[1], 0, 0)))])


class Slider(Joint):
    """The axes stay parallel and a moves along z of b: five rows; the coordinate is the travel along z."""

    __slots__ = ()
    parts = ("x", "y", "turn_x", "turn_y", "turn_z")
    coordinate = "travel"
    freedoms = ("position",)

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b along x and y of b, and the turn of a against b."""
        a, b = motion(self.a), motion(self.b)
        return (travel(a, b, 0), travel(a, b, 1), *twist(a, b))

    def free(self, motion: Motion, middle: float = 0.0) -> Equation:
        """Return the travel along z of b, m."""
        return travel(motion(self.a), motion(self.b), 2)

    def pose(self, values: Sequence[float]) -> Array:
        """Return the travel along z."""
        return np.array([0.0, 0.0, values[0], *IDENTITY])


class Weld(Joint):
    """Points and axes coincide: six rows."""

    __slots__ = ()
    parts = (*AXES, "turn_x", "turn_y", "turn_z")

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the turn of a against b."""
        a, b = motion(self.a), motion(self.b)
        return (*offsets(a, b), *twist(a, b))


def _turning(a: SpatialMotion, b: SpatialMotion, turn: Array, axes: Array) -> tuple[Freedom, ...]:
    """Return the rotation vector of a turn (a quaternion), with the angular velocity of a against b along axes."""
    x, rate, J = logarithm(turn), axes @ (a.omega - b.omega), axes @ (a.turn - b.turn)
    return tuple(Freedom(float(x[k]), float(rate[k]), J[k]) for k in range(3))
