"""Applied forces in the plane: springs with dampers, viscous drag, constant loads, a frame that shakes.

Each adds itself to the generalised force h; what is conservative has a `potential`, the rest a `power`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, scalar
from .bodies import Marker
from .kinematics import Motion
from .vectors import Pair, pair, unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Spring:
    """A linear spring, with a damper along its line.

    Parameters
    ----------
    a, b : Marker
    stiffness : float
        N/m, >= 0.
    length : float
        Unstretched, m, >= 0 (0: the force is -k d, linear in the plane).
    damping : float
        N s/m, >= 0; no damping where the ends coincide, since there is no line.

    Raises
    ------
    InputError
        A negative value or NaN.
    """

    a: Marker
    b: Marker
    stiffness: float
    length: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("stiffness", "length", "damping"):
            value = scalar(f"{name} of spring {self.a.label}~{self.b.label}", getattr(self, name), low=0.0)
            object.__setattr__(self, name, value)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    def force(self, motion: Motion) -> Array:
        """Return its generalised force, shape (nv,)."""
        a, b = motion(self.a), motion(self.b)
        d = a.x - b.x
        pull = -self.stiffness * d
        if self.length > 0.0 or self.damping > 0.0:
            distance = math.hypot(d[0], d[1])
            if distance > 0.0:
                e = d / distance
                pull += (self.stiffness * self.length - self.damping * float(e @ (a.v - b.v))) * e
        return np.asarray(pull @ (a.J - b.J))

    def potential(self, motion: Motion) -> float:
        """Return k (|d| - length)^2 / 2, J."""
        d = motion(self.a).x - motion(self.b).x
        return 0.5 * self.stiffness * (math.hypot(d[0], d[1]) - self.length) ** 2

    def power(self, motion: Motion) -> float:
        """Return the power of the damper, W, <= 0."""
        if self.damping == 0.0:
            return 0.0
        a, b = motion(self.a), motion(self.b)
        d = a.x - b.x
        distance2 = float(d @ d)
        return -self.damping * float(d @ (a.v - b.v)) ** 2 / distance2 if distance2 > 0.0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drag:
    """Viscous friction of a marker against the surroundings: force -c v.

    Parameters
    ----------
    point : Marker
    damping : float
        c, N s/m, >= 0.

    Raises
    ------
    InputError
        A negative value or NaN.
    """

    point: Marker
    damping: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "damping", scalar(f"damping of {self.point.label}", self.damping, low=0.0))

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.point,)

    def force(self, motion: Motion) -> Array:
        """Return its generalised force, shape (nv,)."""
        m = motion(self.point)
        return np.asarray(-self.damping * (m.v @ m.J))

    def potential(self, motion: Motion) -> float:
        """Return 0: nothing is stored."""
        return 0.0

    def power(self, motion: Motion) -> float:
        """Return -c |v|^2, W."""
        v = motion(self.point).v
        return -self.damping * float(v @ v)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A constant force on a marker, fixed in space, and a constant torque on its body.

    Parameters
    ----------
    point : Marker
    force_xy : (x, y)
        N.
    torque : float
        N m, counter-clockwise.

    Raises
    ------
    InputError
        NaN.
    """

    point: Marker
    force_xy: Pair = (0.0, 0.0)
    torque: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "force_xy", pair(f"force on {self.point.label}", self.force_xy))
        object.__setattr__(self, "torque", scalar(f"torque on {self.point.label}", self.torque))

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.point,)

    def force(self, motion: Motion) -> Array:
        """Return its generalised force, shape (nv,)."""
        m = motion(self.point)
        return np.asarray(np.array(self.force_xy) @ m.J + self.torque * m.turn)

    def potential(self, motion: Motion) -> float:
        """Return 0: its work is counted as `power`."""
        return 0.0

    def power(self, motion: Motion) -> float:
        """Return F . v + torque omega, W."""
        m = motion(self.point)
        return float(np.array(self.force_xy) @ m.v) + self.torque * m.omega


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaking:
    """The frame of reference shakes: inertial force -m a sin(2 pi f t + phase) on every mass.

    Parameters
    ----------
    direction : (x, y)
        Of the acceleration of the frame; scaled to length one.
    amplitude : float
        a, the largest acceleration, m/s^2, >= 0.
    frequency : float
        f, Hz, >= 0.
    phase : float
        rad.

    Raises
    ------
    InputError
        A zero direction, a negative value, NaN.
    """

    direction: Pair = (1.0, 0.0)
    amplitude: float
    frequency: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit("direction of the shaking", self.direction))
        object.__setattr__(self, "amplitude", scalar("amplitude of the shaking", self.amplitude, low=0.0))
        object.__setattr__(self, "frequency", scalar("frequency of the shaking", self.frequency, low=0.0))
        object.__setattr__(self, "phase", scalar("phase of the shaking", self.phase))

    @property
    def markers(self) -> tuple[Marker, ...]:
        """None: it acts on every body."""
        return ()

    def force(self, motion: Motion) -> Array:
        """Return its generalised force, shape (nv,)."""
        a = -self.amplitude * math.sin(2.0 * math.pi * self.frequency * motion.t + self.phase)
        return a * motion.layout.momentum(self.direction)

    def potential(self, motion: Motion) -> float:
        """Return 0: its work is counted as `power`."""
        return 0.0

    def power(self, motion: Motion) -> float:
        """Return -a(t) . (momentum of all bodies), W."""
        return float(self.force(motion) @ motion.v)
