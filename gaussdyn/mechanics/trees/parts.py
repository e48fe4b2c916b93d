"""What couples and drives the joints of trees: tendons, gears, closures of loops, actuators, a fluid around."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ...arrays import scalar, vector
from ...errors import InputError
from ...linalg.rotations import unit_quaternion
from ...mends import one_of
from ..collision.shapes import Triple, direction, triple
from ..joints.drives import Drive
from ..joints.limits_motors import Gear, JointFriction, Limit, Motor
from ..names import GROUND, check_name
from ..spatial.forces import Drag, Load, Shaking, Spring
from ..spatial.joints import BallJoint, Hinge, Slider, Universal, Weld
from ..spatial.links import Rod, String
from .bodies import Turn, check_interval

Dynamics = Literal["none", "integrator", "filter", "filterexact"]
Factors = Mapping[str, float] | tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tendon:
    """A length that is a linear combination of the coordinates of hinges and sliders.

    Parameters
    ----------
    name : str
    factors : mapping of str to float
        By name of the joint; kept as pairs.
    low, high : float
        Limits of the length.
    friction, damping, stiffness : float
        Along the tendon.
    slack : (float, float)
        The lengths between which the spring does not pull.

    Raises
    ------
    InputError
        NaN, a negative coefficient, low > high.
    """

    name: str
    factors: Factors
    low: float = -math.inf
    high: float = math.inf
    friction: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0
    slack: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        check_name("name of a tendon", self.name)
        object.__setattr__(self, "factors", _factors(self.name, self.factors))
        for name in ("friction", "damping", "stiffness"):
            object.__setattr__(self, name, scalar(f"{name} of {self.name}", getattr(self, name), low=0.0))
        check_interval(self, "low", "high")
        object.__setattr__(self, "slack", _slack(self.name, self.slack))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A sphere or cylinder that a leg of a tendon may wind around; it is no shape that bodies touch.

    Parameters
    ----------
    body : str
        Or ``ground``.
    radius : float
        m, > 0.
    shape : "sphere" or "cylinder"
        A cylinder has no ends.
    at, turn : (x, y, z), (w, x, y, z)
        Its centre and axes in the frame of the body; z is the axis of a cylinder.
    mark : (x, y)
        In the axes of a cylinder: the side on which the leg passes; zeros where it takes the shorter way.

    Raises
    ------
    InputError
        NaN, another shape, no radius, a mark within the cylinder or of a sphere.
    """

    body: str
    radius: float
    shape: Literal["sphere", "cylinder"] = "cylinder"
    at: Triple = (0.0, 0.0, 0.0)
    turn: Turn = (1.0, 0.0, 0.0, 0.0)
    mark: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if self.shape not in ("sphere", "cylinder"):
            raise InputError(
                "shape that a tendon winds around", repr(self.shape), "sphere, cylinder", 'Write shape="sphere".'
            )
        object.__setattr__(self, "radius", scalar("radius of a Round", self.radius, low=0.0, open_low=True))
        object.__setattr__(self, "at", triple("at of a Round", self.at))
        object.__setattr__(self, "turn", unit_quaternion("turn of a Round", self.turn))
        x, y = vector("mark of a Round", self.mark, 2).tolist()
        far = math.hypot(x, y)
        if far and (self.shape == "sphere" or far < self.radius):
            raise InputError(
                "mark of a Round",
                (x, y),
                "of a cylinder, and outside of it",
                'Write shape="cylinder", mark=(2 * radius, 0.0).',
            )
        object.__setattr__(self, "mark", (x, y))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """A part of a tendon from a point of one body to a point of another.

    Parameters
    ----------
    a, b : str
        Bodies, or ``ground``.
    at_a, at_b : (x, y, z)
        In their frames, m.
    around : Round or None
        What it winds around where that is in its way.
    share : float
        How often it counts: 1/2 behind a pulley that halves.
    """

    a: str
    b: str
    at_a: Triple = (0.0, 0.0, 0.0)
    at_b: Triple = (0.0, 0.0, 0.0)
    around: Round | None = None
    share: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_a", triple("at_a of a leg", self.at_a))
        object.__setattr__(self, "at_b", triple("at_b of a leg", self.at_b))
        object.__setattr__(self, "share", scalar("share of a leg", self.share))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialTendon:
    """A length through space, leg by leg: a string, a cable over pulleys, a muscle's path.

    Parameters
    ----------
    name : str
    legs : sequence of Leg
    low, high : float
        Limits of the length, m: a string has `high` alone.
    damping, stiffness : float
        Along the tendon, N s/m and N/m.
    slack : (float, float)
        The lengths between which the spring does not pull.

    Raises
    ------
    InputError
        No legs, NaN, a negative coefficient, low > high.
    """

    name: str
    legs: tuple[Leg, ...]
    low: float = -math.inf
    high: float = math.inf
    damping: float = 0.0
    stiffness: float = 0.0
    slack: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        check_name("name of a tendon", self.name)
        object.__setattr__(self, "legs", tuple(self.legs))
        if not self.legs:
            raise InputError(
                f"legs of {self.name}", "none", "at least one Leg", 'Write legs=[Leg(a="ground", b="ball")].'
            )
        for name in ("damping", "stiffness"):
            object.__setattr__(self, name, scalar(f"{name} of {self.name}", getattr(self, name), low=0.0))
        check_interval(self, "low", "high")
        object.__setattr__(self, "slack", _slack(self.name, self.slack))

    @property
    def friction(self) -> float:
        """None along a path."""
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JointEquality:
    """The coordinate of a hinge or slider (or the length of a tendon) is a polynomial of another one.

    x - x0 = c0 + c1 (y - y0) + c2 (y - y0)^2 + ..: a gear or a mimic joint; without `other`, x - x0 = c0.

    Parameters
    ----------
    name, one, other : str
        Joints or tendons.
    coefficients : sequence of float
        At most five.
    zeros : (float, float)
        x0 and y0.

    Raises
    ------
    InputError
        NaN, more than five coefficients.
    """

    name: str
    one: str
    other: str = ""
    coefficients: tuple[float, ...] = (0.0, 1.0)
    zeros: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        check_name("name of an equality", self.name)
        c = vector(f"coefficients of {self.name}", self.coefficients)
        if not 1 <= len(c) <= 5:
            raise InputError(
                f"coefficients of {self.name}", self.coefficients, "one to five numbers", "Write coefficients=(1.0,)."
            )
        object.__setattr__(self, "coefficients", (*c.tolist(), *(0.0,) * (5 - len(c))))
        object.__setattr__(self, "zeros", tuple(vector(f"zeros of {self.name}", self.zeros, 2).tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """A point of body `a` stays at a point of body `b`; with turns held too it is a weld. It closes a loop.

    Parameters
    ----------
    name, a, b : str
        Bodies, or ``ground``.
    at_a, at_b : (x, y, z)
        In the frames of a and b, m.
    turn : (w, x, y, z) or None
        The quaternion of a's frame in b's that is held; None: turns are free.
    axis_a, axis_b : (x, y, z) or None
        Directions in a and b that stay along one another: with both it is a hinge, five equations.

    Raises
    ------
    InputError
        NaN, a body connected to itself, one axis alone, axes and a turn.
    """

    name: str
    a: str
    b: str = GROUND
    at_a: Triple = (0.0, 0.0, 0.0)
    at_b: Triple = (0.0, 0.0, 0.0)
    turn: Turn | None = None
    axis_a: Triple | None = None
    axis_b: Triple | None = None

    def __post_init__(self) -> None:
        check_name("name of a closure", self.name)
        if self.a == self.b:
            raise InputError(f"bodies of {self.name}", self.a, "two bodies", 'Write a="torso", b="foot".')
        object.__setattr__(self, "at_a", triple(f"at_a of {self.name}", self.at_a))
        object.__setattr__(self, "at_b", triple(f"at_b of {self.name}", self.at_b))
        if self.turn is not None:
            object.__setattr__(self, "turn", unit_quaternion(f"turn of {self.name}", self.turn))
        if (self.axis_a is None) != (self.axis_b is None) or (self.axis_a is not None and self.turn is not None):
            given = f"axis_a {self.axis_a}, axis_b {self.axis_b}, turn {self.turn}"
            mend = "Write axis_a=(0, 0, 1), axis_b=(0, 0, 1)."
            raise InputError(f"turns of {self.name}", given, "a turn, both axes, or none of them", mend)
        for name in ("axis_a", "axis_b") if self.axis_a is not None else ():
            object.__setattr__(self, name, direction(f"{name} of {self.name}", getattr(self, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Actuator:
    """A force along a linear combination x of the coordinates of hinges and sliders, told by one number u.

    force = (g0 + g1 x + g2 dx/dt) u + b0 + b1 x + b2 dx/dt, u and the force each kept within its limits. A motor has
    gain (1, 0, 0) and no bias; a position servo of stiffness k gain (k, 0, 0) and bias (0, -k, -d).

    Parameters
    ----------
    name : str
    factors : mapping of str to float
        The gear, dx/dt over the rate, by name of the joint; kept as pairs. None where it pulls on a tendon.
    tendon, gear : str, float
        A `SpatialTendon` on which it pulls, x being its length times the gear.
    gain, bias : sequence of three floats
    control_low, control_high, force_low, force_high : float
        Limits.
    dynamics : "none", "integrator", "filter" or "filterexact"
        Whether it has a state, which follows u and takes the place of u in the force; see `activations`.
    time : float
        Time constant of a filter, s.
    state_low, state_high : float
        Limits of the state.
    early : bool
        Whether the force sees the state at the end of a step.

    Raises
    ------
    InputError
        NaN, limits in the wrong order, unknown dynamics.
    """

    name: str
    factors: Factors = ()
    tendon: str = ""
    gear: float = 1.0
    gain: Triple = (1.0, 0.0, 0.0)
    bias: Triple = (0.0, 0.0, 0.0)
    control_low: float = -math.inf
    control_high: float = math.inf
    force_low: float = -math.inf
    force_high: float = math.inf
    dynamics: Dynamics = "none"
    time: float = 1.0
    state_low: float = -math.inf
    state_high: float = math.inf
    early: bool = False

    def __post_init__(self) -> None:
        check_name("name of an actuator", self.name)
        if self.dynamics not in get_args(Dynamics):
            raise InputError(
                f"dynamics of {self.name}",
                repr(self.dynamics),
                ", ".join(get_args(Dynamics)),
                one_of("dynamics", self.dynamics, get_args(Dynamics)),
            )
        object.__setattr__(self, "time", scalar(f"time of {self.name}", self.time, low=0.0))
        check_interval(self, "state_low", "state_high")
        object.__setattr__(self, "gear", scalar(f"gear of {self.name}", self.gear))
        if self.tendon and self.factors:
            allowed = f"none, as it pulls on {self.tendon}"
            raise InputError(f"factors of {self.name}", repr(self.factors), allowed, "Write factors={}, and gear=1.0.")
        object.__setattr__(self, "factors", () if self.tendon else _factors(self.name, self.factors))
        object.__setattr__(self, "gain", triple(f"gain of {self.name}", self.gain))
        object.__setattr__(self, "bias", triple(f"bias of {self.name}", self.bias))
        check_interval(self, "control_low", "control_high")
        check_interval(self, "force_low", "force_high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fluid:
    """A fluid at rest around the bodies: each is dragged as the box that has its inertia.

    Parameters
    ----------
    density, viscosity : float
        kg/m^3 and Pa s.
    """

    density: float = 0.0
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        for name in ("density", "viscosity"):
            object.__setattr__(self, name, scalar(f"{name} of the fluid", getattr(self, name), low=0.0))


Straight = Spring | Rod | String  # lines from point to point, without a name
Lined = Tendon | SpatialTendon | Straight
Closing = BallJoint | Hinge | Slider | Universal | Weld  # joints that close a loop
Unlined = JointEquality | Connect | Closing | Limit | JointFriction | Motor | Gear | Drive | Load | Drag | Shaking
Part = Lined | Unlined


def _slack(name: str, given: tuple[float, float]) -> tuple[float, float]:
    """Return the lengths between which a spring does not pull, in their order."""
    low, high = vector(f"slack of {name}", given, 2).tolist()
    if low > high:
        raise InputError(
            f"slack of {name}", (low, high), "(shortest, longest) in this order", f"Write slack={(high, low)}."
        )
    return low, high


def _factors(name: str, given: Factors) -> tuple[tuple[str, float], ...]:
    """Return (joint, factor) pairs."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else tuple((joint, x) for joint, x in given)
    if not pairs:
        raise InputError(f"factors of {name}", repr(given), "a mapping of joints to numbers", 'E.g. {"knee": 1.0}.')
    return tuple((joint, scalar(f"factor of {joint} in {name}", x)) for joint, x in pairs)
