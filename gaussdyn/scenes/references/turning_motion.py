"""A body that turns evenly and runs along its own direction under a constant pull: knife edges and rolling discs.

v' = pull cos(phi), phi = phi0 + omega t, (x', y') = v (cos phi, sin phi), in closed form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """The motion from the origin.

    Attributes
    ----------
    v0, omega : float
        Speed along its direction at the start, m/s; angular velocity, rad/s, not 0.
    phi0 : float
        Direction at the start, rad.
    pull : float
        Acceleration along x of a body that looks there, m/s^2.
    """

    v0: float
    omega: float
    phi0: float
    pull: float

    def angle(self, t: float) -> float:
        """Return phi, rad."""
        return self.phi0 + self.omega * t

    def speed(self, t: float) -> float:
        """Return v, m/s."""
        return self.v0 + self.pull / self.omega * (math.sin(self.angle(t)) - math.sin(self.phi0))

    def way(self, t: float) -> float:
        """Return the integral of v, m."""
        w, rise = self.omega, math.cos(self.phi0) - math.cos(self.angle(t))
        return self.v0 * t + self.pull / w * (rise / w - t * math.sin(self.phi0))

    def place(self, t: float) -> tuple[float, float]:
        """Return (x, y), m."""
        w, p0, p = self.omega, self.phi0, self.angle(t)
        even, half = self.v0 - self.pull / w * math.sin(p0), self.pull / (2.0 * w)
        x = even * (math.sin(p) - math.sin(p0)) + half * (math.sin(p) ** 2 - math.sin(p0) ** 2)
        y = even * (math.cos(p0) - math.cos(p)) + half * (p - p0 - 0.5 * (math.sin(2.0 * p) - math.sin(2.0 * p0)))
        return x / w, y / w
