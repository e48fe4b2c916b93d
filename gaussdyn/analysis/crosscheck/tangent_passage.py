"""Springs in the place of a rod through a tangency: what vibration is left in the limit of infinite stiffness.

Near the point k delta^2 / 2 with delta = Ct theta^2 - Cu u^4 and u = v t leaves one equation without parameters,

    phi'' = phi (s^4 - phi^2),     phi ~ s^2 before,     t = T s,  theta = X phi,
    T = (m / (2 k Ct Cu v^4))^(1/6),     X = sqrt(m / (2 k)) / (Ct T),

whose solution goes on around + s^2 with the adiabatic invariant E / omega = 0.988: in units of the mechanism
J = 0.988 v^2 m^(3/2) sqrt(Cu / (2 Ct^3)), whatever the stiffness. The energy J w(u) stays in vibration, w sqrt(k) its
frequency: springs do not tend to the rigid motion through a tangency. Corrections fall like k^(-1/6) only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...arrays import scalar

FAR = 8.0  # s where the passage begins and ends


@dataclass(frozen=True, slots=True, kw_only=True)
class TangentPassage:
    """The passage of a spring through a tangency.

    Attributes
    ----------
    m : float
        Inertia across the branches, kg m^2: mB mC d0^2 l1^2 / (mB l1^2 + mC d0^2) for the singular pendulum.
    Ct, Cu : float
        delta = Ct theta^2 - Cu u^4: l1 d0 / (2 l2) and d''''(0) / 24.
    v : float
        du/dt at the passage, rad/s.
    """

    m: float
    Ct: float
    Cu: float
    v: float

    def __post_init__(self) -> None:
        for name in ("m", "Ct", "Cu"):
            object.__setattr__(self, name, scalar(name, getattr(self, name), low=0.0, open_low=True))
        object.__setattr__(self, "v", scalar("v", self.v))

    def time(self, k: float) -> float:
        """Return T, how long the passage takes, s; it falls like k^(-1/6)."""
        return float((self.m / (2.0 * k * self.Ct * self.Cu * self.v**4)) ** (1.0 / 6.0))

    def width(self, k: float) -> float:
        """Return X, how far apart the branches are when they part, rad; it falls like k^(-1/3)."""
        return math.sqrt(self.m / (2.0 * k)) / (self.Ct * self.time(k))

    @property
    def invariant(self) -> float:
        """J, energy over frequency per square root of the stiffness, that is left: independent of the stiffness."""
        units = self.v**2 * self.m**1.5 * math.sqrt(self.Cu / (2.0 * self.Ct**3))
        return float(universal_invariant() * units)

    def extension(self, k: float, w: float) -> float:
        """Return the largest extension after the passage, m, where the frequency is w sqrt(k): like k^(-1/2)."""
        return math.sqrt(2.0 * self.invariant * w / k)


def universal_invariant(far: float = FAR) -> float:
    """Return E / omega after the passage phi'' = phi (s^4 - phi^2): 0.988, the mean over its last turns.

    E = y'^2 / 2 + omega^2 y^2 / 2 with y = phi - s^2 + 1 / s^4 beside the branch that it follows, omega = sqrt(2) s^2.
    """
    import numpy as np
    from scipy.integrate import solve_ivp

    far = scalar("far", far, low=4.0, high=12.0)

    def slope(s: float, y: list[float]) -> list[float]:
        """Return (phi', phi'')."""
        return [y[1], y[0] * (s**4 - y[0] ** 2)]

    start = [
        far**2 - 1.0 / far**4,
        -2.0 * far - 4.0 / far**5,
    ]  # phi = s^2 - 1/s^4 + ..: the solution that does not swing
    ends = np.linspace(0.8 * far, far, 4001)
    found = solve_ivp(slope, (-far, far), start, "DOP853", rtol=1e-11, atol=1e-12, t_eval=ends)
    side = math.copysign(1.0, float(found.y[0].mean()))
    rest = side * (ends**2 - 1.0 / ends**4)
    y, dy = found.y[0] - rest, found.y[1] - side * (2.0 * ends + 4.0 / ends**5)
    omega = math.sqrt(2.0) * ends**2
    return float(np.mean((0.5 * dy**2 + 0.5 * omega**2 * y**2) / omega))
