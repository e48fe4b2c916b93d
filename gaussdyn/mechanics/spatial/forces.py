"""Applied forces in space: springs with dampers, drag, constant loads, drives of joints, a frame that shakes.

Each adds itself to the generalised force h; what is conservative has a `potential`, the rest a `power`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, scalar
from ..collision.shapes import Triple, direction, triple
from ..joints.drives import Drive, Free, check_sizes
from .kinematics import Motions, SpatialMarker


@dataclass(frozen=True, slots=True, kw_only=True)
class Spring:
    """A linear spring, with a damper along its line.

    Parameters
    ----------
    a, b : SpatialMarker
    stiffness : float
        N/m, >= 0.
    length : float
        Unstretched, m, >= 0 (0: the force is -k d, linear in d).
    damping : float
        N s/m, >= 0; no damping where the ends coincide, since there is no line.

    Raises
    ------
    InputError
        A negative value or NaN.
    """

    a: SpatialMarker
    b: SpatialMarker
    stiffness: float
    length: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        check_sizes(self, f"spring {self.a.label}~{self.b.label}", "stiffness", "length", "damping")

    @property
    def markers(self) -> tuple[SpatialMarker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    def force(self, motion: Motions, free: Free) -> Array:
        """Return its generalised force, shape (nv,)."""
        a, b = motion(self.a), motion(self.b)
        d = a.x - b.x
        distance = math.sqrt(d @ d)
        pull = -self.stiffness * d
        if distance > 0.0:
            e = d / distance
            pull += (self.stiffness * self.length - self.damping * float(e @ (a.v - b.v))) * e
        return np.asarray(pull @ (a.J - b.J))

    def gradient(self, motion: Motions, free: Free) -> Array:
        """Return its derivative with respect to v, shape (nv, nv)."""
        a, b = motion(self.a), motion(self.b)
        d = a.x - b.x
        distance2 = float(d @ d)
        along = d @ (a.J - b.J)
        return np.outer(-self.damping / distance2 * along, along) if distance2 > 0.0 else np.outer(0.0 * along, along)

    def potential(self, motion: Motions, free: Free) -> float:
        """Return k (|d| - length)^2 / 2, J."""
        d = motion(self.a).x - motion(self.b).x
        return 0.5 * self.stiffness * (math.sqrt(d @ d) - self.length) ** 2

    def power(self, motion: Motions, free: Free) -> float:
        """Return the power of the damper, W, <= 0."""
        a, b = motion(self.a), motion(self.b)
        d = a.x - b.x
        distance2 = float(d @ d)
        return -self.damping * float(d @ (a.v - b.v)) ** 2 / distance2 if distance2 > 0.0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drag:
    """Viscous friction of a body against the surroundings: force -c v on a marker, moment -c_spin omega.

    Parameters
    ----------
    point : SpatialMarker
    damping : float
        c, N s/m, >= 0.
    spin_damping : float
        c_spin, N m s, >= 0.

    Raises
    ------
    InputError
        A negative value or NaN.
    """

    point: SpatialMarker
    damping: float = 0.0
    spin_damping: float = 0.0

    def __post_init__(self) -> None:
        check_sizes(self, self.point.label, "damping", "spin_damping")

    @property
    def markers(self) -> tuple[SpatialMarker, ...]:
        """The markers it uses."""
        return (self.point,)

    def force(self, motion: Motions, free: Free) -> Array:
        """Return its generalised force, shape (nv,)."""
        m = motion(self.point)
        return np.asarray(-self.damping * (m.v @ m.J) - self.spin_damping * (m.omega @ m.turn))

    def gradient(self, motion: Motions, free: Free) -> Array:
        """Return its derivative with respect to v, shape (nv, nv)."""
        m = motion(self.point)
        return np.asarray(-self.damping * (m.J.T @ m.J) - self.spin_damping * (m.turn.T @ m.turn))

    def potential(self, motion: Motions, free: Free) -> float:
        """Return 0: nothing is stored."""
        return 0.0

    def power(self, motion: Motions, free: Free) -> float:
        """Return -c |v|^2 - c_spin |omega|^2, W."""
        m = motion(self.point)
        return -self.damping * float(m.v @ m.v) - self.spin_damping * float(m.omega @ m.omega)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A constant force on a marker and a constant moment on its body, both fixed in space.

    Parameters
    ----------
    point : SpatialMarker
    force_xyz : (x, y, z)
        N.
    moment : (x, y, z)
        N m.

    Raises
    ------
    InputError
        NaN.
    """

    point: SpatialMarker
    force_xyz: Triple = (0.0, 0.0, 0.0)
    moment: Triple = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("force_xyz", "moment"):
            object.__setattr__(self, name, triple(f"{name} on {self.point.label}", getattr(self, name)))

    @property
    def markers(self) -> tuple[SpatialMarker, ...]:
        """The markers it uses."""
        return (self.point,)

    def force(self, motion: Motions, free: Free) -> Array:
        """Return its generalised force, shape (nv,)."""
        m = motion(self.point)
        return np.asarray(np.array(self.force_xyz) @ m.J + np.array(self.moment) @ m.turn)

    def gradient(self, motion: Motions, free: Free) -> Array:
        """Return its derivative with respect to v, shape (nv, nv)."""
        return np.zeros((motion.layout.nv, motion.layout.nv))

    def potential(self, motion: Motions, free: Free) -> float:
        """Return 0: its work is counted as `power`."""
        return 0.0

    def power(self, motion: Motions, free: Free) -> float:
        """Return F . v + moment . omega, W."""
        m = motion(self.point)
        return float(np.array(self.force_xyz) @ m.v + np.array(self.moment) @ m.omega)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaking:
    """The frame of reference shakes: inertial force -m a sin(2 pi f t + phase) on every body.

    Parameters
    ----------
    direction : (x, y, z)
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

    direction: Triple = (1.0, 0.0, 0.0)
    amplitude: float
    frequency: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        check_sizes(self, "the shaking", "amplitude", "frequency")
        object.__setattr__(self, "direction", direction("direction of the shaking", self.direction))
        object.__setattr__(self, "phase", scalar("phase of the shaking", self.phase))

    def acceleration(self, t: float) -> Array:
        """Return the acceleration of the frame, shape (3,), m/s^2."""
        size = self.amplitude * math.sin(2.0 * math.pi * self.frequency * t + self.phase)
        return size * np.array(self.direction)

    def force(self, motion: Motions, free: Free) -> Array:
        """Return its generalised force, shape (nv,)."""
        h, a = np.zeros(motion.layout.nv), self.acceleration(motion.t)
        for k, body in enumerate(motion.layout.bodies):
            h[6 * k : 6 * k + 3] = -body.mass * a
        return h

    def gradient(self, motion: Motions, free: Free) -> Array:
        """Return its derivative with respect to v, shape (nv, nv)."""
        return np.zeros((motion.layout.nv, motion.layout.nv))

    def potential(self, motion: Motions, free: Free) -> float:
        """Return 0: its work is counted as `power`."""
        return 0.0

    def power(self, motion: Motions, free: Free) -> float:
        """Return its power, W."""
        return float(self.force(motion, free) @ motion.v)


Force = Spring | Drag | Load | Drive | Shaking
