"""Bodies of trees and the joints that move each against its parent, as plain checked values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...arrays import Array, matrix, scalar, vector
from ...errors import InputError
from ...linalg.rotations import IDENTITY, unit_quaternion
from ...mends import one_of
from ..collision.shapes import Shape, Triple, direction, triple
from ..names import GROUND, check_name

Motion = Literal["hinge", "slide", "ball", "free"]
MOTIONS = ("hinge", "slide", "ball", "free")  # in the order of `forest.HINGE` ..
COORDINATES, VELOCITIES = (1, 1, 4, 7), (1, 1, 3, 6)  # how many each kind has
Turn = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeJoint:
    """A joint between a body and its parent.

    A hinge and a slider have one coordinate, rad and m; a ball has a unit quaternion (qw, qx, qy, qz), a free body
    (x, y, z) before it. Velocities are their rates; turns of balls and free bodies have angular velocities in the axes
    of the body.

    Parameters
    ----------
    name : str
    motion : "hinge", "slide", "ball" or "free"
        Ball and free joints are the last (only) joint of their body; free bodies have the ground as parent.
    axis : (x, y, z)
        Of a hinge or slider, in the frame of the body; scaled to length one.
    at : (x, y, z)
        A point of the axis, or the centre of a ball, in the frame of the body, m.
    zero : float
        The coordinate of a hinge or slider at which the body stands as its `at` and `turn` say.
    low, high : float
        Limits of the coordinate; of a ball `high` alone, of the angle to its parent, rad.
    armature : float
        Inertia (kg m^2, or kg) that the rates of the joint carry besides.
    damping, stiffness : float
        N m s and N m per rad, or per m for sliders.
    rest : sequence of float
        The coordinates at which the spring is slack; `zero` and no turn by default.
    friction : float
        Dry friction along every velocity, N m or N.
    effort_low, effort_high : float
        Least and largest sum of the forces of actuators.

    Raises
    ------
    InputError
        NaN, a zero axis, a negative coefficient, low > high.
    """

    name: str
    motion: Motion = "hinge"
    axis: Triple = (0.0, 0.0, 1.0)
    at: Triple = (0.0, 0.0, 0.0)
    zero: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    armature: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0
    rest: tuple[float, ...] = ()
    friction: float = 0.0
    effort_low: float = -math.inf
    effort_high: float = math.inf

    def __post_init__(self) -> None:
        check_name("name of a joint", self.name)
        if self.motion not in MOTIONS:
            raise InputError(
                f"motion of {self.name}", repr(self.motion), ", ".join(MOTIONS), one_of("motion", self.motion, MOTIONS)
            )
        object.__setattr__(self, "axis", direction(f"axis of {self.name}", self.axis))
        object.__setattr__(self, "at", triple(f"at of {self.name}", self.at))
        for name in ("armature", "damping", "stiffness", "friction"):
            object.__setattr__(self, name, scalar(f"{name} of {self.name}", getattr(self, name), low=0.0))
        object.__setattr__(self, "zero", scalar(f"zero of {self.name}", self.zero))
        check_interval(self, "low", "high")
        check_interval(self, "effort_low", "effort_high")
        if self.motion == "free" and self.limited:
            raise InputError(
                f"limits of {self.name}", (self.low, self.high), "none for a free body", "Leave low=, high= out."
            )
        if self.motion == "ball" and not (math.isinf(self.low) and self.high > 0.0):
            raise InputError(
                f"limits of {self.name}",
                (self.low, self.high),
                "high > 0 alone, the largest angle",
                "Write low=0.0, high=1.0.",
            )
        rest = self.rest or self.start
        object.__setattr__(self, "rest", tuple(vector(f"rest of {self.name}", rest, self.coordinates).tolist()))

    @property
    def coordinates(self) -> int:
        """How many coordinates it has."""
        return COORDINATES[MOTIONS.index(self.motion)]

    @property
    def velocities(self) -> int:
        """How many velocities it has."""
        return VELOCITIES[MOTIONS.index(self.motion)]

    @property
    def start(self) -> tuple[float, ...]:
        """The coordinates at which it moves nothing."""
        turn: tuple[float, ...] = IDENTITY
        return {"ball": turn, "free": (0.0, 0.0, 0.0, *turn)}.get(self.motion, (self.zero,))

    @property
    def limited(self) -> bool:
        """Whether it has a limit."""
        return math.isfinite(self.low) or math.isfinite(self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeBody:
    """A rigid body, and how it hangs on its parent.

    Parameters
    ----------
    name : str
    parent : str
        A body named before, or ``ground``.
    at : (x, y, z)
        Its frame in that of the parent, m; with a free joint its coordinates say where it is.
    turn : (w, x, y, z)
        Unit quaternion from its axes to those of the parent.
    joints : sequence of TreeJoint
        One after the other, from the parent outwards; none: it is part of its parent.
    mass : float
        kg.
    centre : (x, y, z)
        Mass centre in its frame, m.
    inertia : array_like, shape (3, 3)
        About the mass centre, in its axes, kg m^2.
    lift : float
        The part of its weight that something lifts (1: as if there were no gravity).
    shapes : sequence of shapes, see `collision.shapes`
        In its frame.

    Raises
    ------
    InputError
        NaN, a negative mass, an inertia that no body has, joints that cannot follow one another.
    """

    name: str
    parent: str = GROUND
    at: Triple = (0.0, 0.0, 0.0)
    turn: Turn = IDENTITY
    joints: tuple[TreeJoint, ...] = ()
    mass: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    inertia: tuple[tuple[float, ...], ...] = ((0.0,) * 3,) * 3
    lift: float = 0.0
    shapes: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        check_name("name of a body", self.name)
        object.__setattr__(self, "at", triple(f"at of {self.name}", self.at))
        object.__setattr__(self, "turn", unit_quaternion(f"turn of {self.name}", self.turn))
        object.__setattr__(self, "mass", scalar(f"mass of {self.name}", self.mass, low=0.0))
        object.__setattr__(self, "centre", triple(f"centre of {self.name}", self.centre))
        object.__setattr__(self, "lift", scalar(f"lift of {self.name}", self.lift))
        J = matrix(f"inertia of {self.name}", self.inertia, 3, 3)
        size = float(np.abs(J).max())
        moments = np.linalg.eigvalsh(J)
        if np.abs(J - J.T).max() > 1e-12 * size or moments[0] < -1e-12 * size:
            mend = (
                "It is about the mass centre, symmetric, with moments of inertia >= 0: "
                "inertia=numpy.diag([1e-3, 1e-3, 1e-3])."
            )
            raise InputError(f"inertia of {self.name}", J.tolist(), "an inertia of a body", mend)
        object.__setattr__(self, "inertia", tuple(tuple(row) for row in (0.5 * (J + J.T)).tolist()))
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "shapes", tuple(self.shapes))
        for k, joint in enumerate(self.joints):
            alone = joint.motion == "free" and (len(self.joints) > 1 or self.parent != GROUND)
            if alone or (joint.motion == "ball" and k + 1 < len(self.joints)):
                text = "a ball as the last joint of a body, a free joint as the only one, on the ground"
                raise InputError(
                    f"joints of {self.name}",
                    f"{joint.motion} joint {joint.name}",
                    text,
                    'Write TreeJoint(name=..., motion="hinge").',
                )


def check_interval(part: Any, low: str, high: str) -> None:
    """Make two fields of a part numbers, which may be infinite, in this order.

    Raises
    ------
    InputError
        NaN, low > high.
    """
    for name in (low, high):
        value = getattr(part, name)
        infinite = isinstance(value, (int, float)) and math.isinf(value)
        object.__setattr__(part, name, float(value) if infinite else scalar(f"{name} of {part.name}", value))
    if getattr(part, low) > getattr(part, high):
        given = (getattr(part, low), getattr(part, high))
        raise InputError(
            f"{low}, {high} of {part.name}",
            given,
            f"{low} <= {high}",
            f"Write {low}, {high} = sorted(({low}, {high})).",
        )


def box_of(mass: float, J: Array) -> Array:
    """Return axes and sides of the box that has an inertia; zeros for a body without mass."""
    if not mass > 0.0:
        return np.zeros(12)
    moments, R = np.linalg.eigh(J)
    if np.array_equal(J, np.diag(np.diag(J))):
        moments, R = np.diag(J), np.eye(3)
    sides = np.sqrt(np.maximum(moments.sum() - 2.0 * moments, 1e-15) / mass * 6.0)
    return np.concatenate([R.ravel(), sides])
