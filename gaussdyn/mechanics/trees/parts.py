"""What couples and drives the joints of trees: tendons, gears, closures of loops, actuators, a fluid around."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ...arrays import scalar, vector
from ...errors import InputError
from ...linalg.rotations import unit_quaternion
from ..collision.shapes import Triple, triple
from ..names import GROUND, check_name
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
        low, high = vector(f"slack of {self.name}", self.slack, 2).tolist()
        if low > high:
            raise InputError(
                f"slack of {self.name}", (low, high), "(shortest, longest) in this order", f"Write slack={(high, low)}."
            )
        object.__setattr__(self, "slack", (low, high))


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

    Raises
    ------
    InputError
        NaN, a body connected to itself.
    """

    name: str
    a: str
    b: str = GROUND
    at_a: Triple = (0.0, 0.0, 0.0)
    at_b: Triple = (0.0, 0.0, 0.0)
    turn: Turn | None = None

    def __post_init__(self) -> None:
        check_name("name of a closure", self.name)
        if self.a == self.b:
            raise InputError(f"bodies of {self.name}", self.a, "two bodies", 'Write a="torso", b="foot".')
        object.__setattr__(self, "at_a", triple(f"at_a of {self.name}", self.at_a))
        object.__setattr__(self, "at_b", triple(f"at_b of {self.name}", self.at_b))
        if self.turn is not None:
            object.__setattr__(self, "turn", unit_quaternion(f"turn of {self.name}", self.turn))


@dataclass(frozen=True, slots=True, kw_only=True)
class Actuator:
    """A force along a linear combination x of the coordinates of hinges and sliders, told by one number u.

    force = (g0 + g1 x + g2 dx/dt) u + b0 + b1 x + b2 dx/dt, u and the force each kept within its limits. A motor has
    gain (1, 0, 0) and no bias; a position servo of stiffness k gain (k, 0, 0) and bias (0, -k, -d).

    Parameters
    ----------
    name : str
    factors : mapping of str to float
        The gear, dx/dt over the rate, by name of the joint; kept as pairs.
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
    factors: Factors
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
            raise InputError(f"dynamics of {self.name}", repr(self.dynamics), ", ".join(get_args(Dynamics)))
        object.__setattr__(self, "time", scalar(f"time of {self.name}", self.time, low=0.0))
        check_interval(self, "state_low", "state_high")
        object.__setattr__(self, "factors", _factors(self.name, self.factors))
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


Part = Tendon | JointEquality | Connect


def _factors(name: str, given: Factors) -> tuple[tuple[str, float], ...]:
    """Return (joint, factor) pairs."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else tuple((joint, x) for joint, x in given)
    if not pairs:
        raise InputError(f"factors of {name}", repr(given), "a mapping of joints to numbers", 'E.g. {"knee": 1.0}.')
    return tuple((joint, scalar(f"factor of {joint} in {name}", x)) for joint, x in pairs)
