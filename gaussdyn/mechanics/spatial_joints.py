"""Joints in space: what two markers keep from moving against each other.

A joint keeps marker `a` to marker `b`; its reactions act on the body of `a`, and their opposites on that of `b`.
Hinges turn about the z axes of the markers, sliders move along them. Every equation is a row of its own, ``name:part``,
so that each has its gap and its reaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import InputError
from .equation import Equation, bilateral_rows
from .joint_equations import angle, cosine, offsets, travel, twist
from .planar_vectors import check_name
from .rows import Row
from .spatial_motion import Motion, SpatialMarker

AXES = ("x", "y", "z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
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
    coordinate: ClassVar[str] = ""  # "angle" or "travel", where one motion is left free

    def __post_init__(self) -> None:
        check_name("name of a joint", self.name)
        for marker in (self.a, self.b):
            if not isinstance(marker, SpatialMarker):
                raise InputError(f"markers of {self.name}", repr(marker), "a SpatialMarker")
        if self.a.body == self.b.body:
            raise InputError(f"markers of {self.name}", f"both on {self.a.body!r}", "markers on two different bodies")

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
        raise InputError(f"joint {self.name}", type(self).__name__, "a Hinge or a Slider, which have one coordinate")


class BallJoint(Joint):
    """The two points coincide: three rows, forces in space."""

    __slots__ = ()
    parts = AXES

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the three components of x_a - x_b."""
        return offsets(motion(self.a), motion(self.b))


class Hinge(Joint):
    """The points coincide and the z axes are parallel: five rows; the coordinate is the angle about z."""

    __slots__ = ()
    parts = (*AXES, "tilt_x", "tilt_y")
    coordinate = "angle"

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the cosines of z of a with x and y of b."""
        a, b = motion(self.a), motion(self.b)
        return (*offsets(a, b), cosine(a, 2, b, 0), cosine(a, 2, b, 1))

    def free(self, motion: Motion, middle: float = 0.0) -> Equation:
        """Return the angle from x of b to x of a about z, rad."""
        return angle(motion(self.a), motion(self.b), middle)


class Universal(Joint):
    """The points coincide and x of a stays at right angles to y of b (the cross of a cardan joint): four rows."""

    __slots__ = ()
    parts = (*AXES, "cross")

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the cosine of x of a with y of b."""
        a, b = motion(self.a), motion(self.b)
        return (*offsets(a, b), cosine(a, 0, b, 1))


class Slider(Joint):
    """The axes stay parallel and a moves along z of b: five rows; the coordinate is the travel along z."""

    __slots__ = ()
    parts = ("x", "y", "turn_x", "turn_y", "turn_z")
    coordinate = "travel"

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b along x and y of b, and the turn of a against b."""
        a, b = motion(self.a), motion(self.b)
        return (travel(a, b, 0), travel(a, b, 1), *twist(a, b))

    def free(self, motion: Motion, middle: float = 0.0) -> Equation:
        """Return the travel along z of b, m."""
        return travel(motion(self.a), motion(self.b), 2)


class Weld(Joint):
    """Points and axes coincide: six rows."""

    __slots__ = ()
    parts = (*AXES, "turn_x", "turn_y", "turn_z")

    def equations(self, motion: Motion) -> tuple[Equation, ...]:
        """Return the components of x_a - x_b, and the turn of a against b."""
        a, b = motion(self.a), motion(self.b)
        return (*offsets(a, b), *twist(a, b))


JOINTS: dict[str, Any] = {kind.__name__: kind for kind in (BallJoint, Hinge, Universal, Slider, Weld)}
