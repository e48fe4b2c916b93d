"""What acts on the coordinate that a hinge or a slider leaves free: limits, dry friction, motors and gears.

Each names its joint; units are rad and N m for a hinge, m and N for a slider.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ..names import check_name
from ..rows import Row
from .equation import Equation

Free = Callable[..., Equation]  # (name of a joint, middle) -> the coordinate it leaves free


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The coordinate of a joint stays within [low, high].

    An angle is taken within half a turn of the middle of the range, so that it may wind as it likes outside.

    Parameters
    ----------
    joint : str
    low, high : float
        rad (less than a turn apart) or m; -inf and inf leave a side of a slider open.
    eps_n : float
        Newton restitution at the stops, in [0, 1].

    Raises
    ------
    InputError
        NaN, low >= high, no finite limit.
    """

    joint: str
    low: float = -math.inf
    high: float = math.inf
    eps_n: float = 0.0

    def __post_init__(self) -> None:
        check_name("joint of a limit", self.joint)
        for name in ("low", "high"):
            if not (isinstance(getattr(self, name), (int, float)) and math.isinf(getattr(self, name))):
                object.__setattr__(self, name, scalar(f"{name} of the limit of {self.joint}", getattr(self, name)))
        if not self.low < self.high or not (math.isfinite(self.low) or math.isfinite(self.high)):
            given = (self.low, self.high)
            raise InputError(
                f"limit of {self.joint}",
                given,
                "low < high, at least one of them finite",
                f"Write Limit(joint={self.joint!r}, low=-1.0, high=1.0).",
            )
        object.__setattr__(self, "eps_n", scalar(f"eps_n of {self.joint}", self.eps_n, low=0.0, high=1.0))

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it acts on."""
        return (self.joint,)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return tuple(f"{self.joint}:{name}" for name in ("high", "low") if math.isfinite(getattr(self, name)))

    def check(self, coordinate: str) -> None:
        """Raise InputError unless the range suits an angle or a travel."""
        if coordinate == "angle" and not self.high - self.low < 2.0 * math.pi:
            text = "two finite limits less than a turn (2 pi) apart, because an angle winds"
            raise InputError(
                f"limit of {self.joint}", (self.low, self.high), text, "Write Limit(joint=..., low=-1.0, high=1.0)."
            )

    def rows(self, free: Free) -> tuple[Row, ...]:
        """Return high - x >= 0 and x - low >= 0 at one state."""
        middle = 0.5 * (self.low + self.high)
        x = free(self.joint, middle if math.isfinite(middle) else 0.0)
        stops = (("high", self.high, -1.0), ("low", self.low, 1.0))
        return tuple(
            Row(
                id=f"{self.joint}:{name}",
                kind="unilateral",
                gap=sign * (x.value - stop),
                J=sign * x.J[None],
                rate=np.array([sign * x.rate]),
                drift=np.array([sign * x.drift]),
                eps_n=self.eps_n,
            )
            for name, stop, sign in stops
            if math.isfinite(stop)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFriction:
    """Dry friction in a joint under a given load: a moment or force of at most `cap` against its motion.

    Parameters
    ----------
    joint : str
    cap, cap_s : float
        Largest moment (N m) or force (N) of slip and of rest, cap_s >= cap >= 0 (cap_s = cap by default).

    Raises
    ------
    InputError
        A negative cap, NaN.
    """

    joint: str
    cap: float
    cap_s: float = -1.0

    def __post_init__(self) -> None:
        check_name("joint of a friction", self.joint)
        cap = scalar(f"cap of {self.joint}", self.cap, low=0.0)
        object.__setattr__(self, "cap", cap)
        cap_s = cap if self.cap_s == -1.0 else scalar(f"cap_s of {self.joint}", self.cap_s, low=cap)
        object.__setattr__(self, "cap_s", cap_s)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it acts on."""
        return (self.joint,)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return (f"{self.joint}:dry",)

    def check(self, coordinate: str) -> None:
        """Accept every coordinate."""

    def rows(self, free: Free) -> tuple[Row, ...]:
        """Return one row: the rate of the coordinate."""
        return (_dry(self.ids[0], free(self.joint), self.cap, self.cap_s),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Motor:
    """A motor that keeps the rate of a joint at a given value, with all the moment it needs or at most `cap`.

    Parameters
    ----------
    joint : str
    rate : float
        rad/s or m/s.
    cap : float
        Largest moment (N m) or force (N); inf by default: then it is a constraint on the velocity level.

    Raises
    ------
    InputError
        A negative cap, NaN.
    """

    joint: str
    rate: float
    cap: float = math.inf

    def __post_init__(self) -> None:
        check_name("joint of a motor", self.joint)
        object.__setattr__(self, "rate", scalar(f"rate of the motor of {self.joint}", self.rate))
        if self.cap != math.inf:
            object.__setattr__(self, "cap", scalar(f"cap of the motor of {self.joint}", self.cap, low=0.0))

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it acts on."""
        return (self.joint,)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return (f"{self.joint}:motor",)

    def check(self, coordinate: str) -> None:
        """Accept every coordinate."""

    def rows(self, free: Free) -> tuple[Row, ...]:
        """Return one row: the rate of the coordinate less the rate of the motor."""
        x = free(self.joint)
        x = replace(x, rate=x.rate - self.rate)
        return (_kept_rate(self.ids[0], x) if self.cap == math.inf else _dry(self.ids[0], x, self.cap, self.cap),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gear:
    """Two joints turn in a fixed ratio: rate of `joint` = ratio times rate of `other`.

    It binds rates and not angles, because an angle winds: the ratio may be any number.

    Parameters
    ----------
    joint, other : str
        Two different joints; a hinge with a slider makes a rack and pinion or a screw.
    ratio : float
        -teeth of the other / teeth of the joint, for two outer gears on parallel axes; 1 per m with a slider.

    Raises
    ------
    InputError
        Twice the same joint, NaN.
    """

    joint: str
    other: str
    ratio: float

    def __post_init__(self) -> None:
        check_name("joint of a gear", self.joint)
        check_name("other of a gear", self.other)
        if self.joint == self.other:
            raise InputError("other of a gear", repr(self.other), "another joint", 'Write other="another_joint".')
        object.__setattr__(self, "ratio", scalar(f"ratio of {self.joint}~{self.other}", self.ratio))

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it acts on."""
        return (self.joint, self.other)

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of its rows."""
        return (f"{self.joint}~{self.other}:gear",)

    def check(self, coordinate: str) -> None:
        """Accept every coordinate."""

    def rows(self, free: Free) -> tuple[Row, ...]:
        """Return one row on the velocity level."""
        x, y, k = free(self.joint), free(self.other), self.ratio
        both = Equation(x.value - k * y.value, x.J - k * y.J, x.rate - k * y.rate, x.drift - k * y.drift)
        return (_kept_rate(self.ids[0], both),)


Part = Limit | JointFriction | Motor | Gear


def _dry(id: str, x: Equation, cap: float, cap_s: float) -> Row:
    rate, drift = np.array([x.rate]), np.array([x.drift])
    return Row(id=id, kind="dry", J=x.J[None], rate=rate, drift=drift, cap=cap, cap_s=cap_s)


def _kept_rate(id: str, x: Equation) -> Row:
    J: Array = x.J[None]
    rate, drift = np.array([x.rate]), np.array([x.drift])
    return Row(id=id, kind="bilateral", level="velocity", gap=x.rate, J=J, rate=rate, drift=drift)
