"""A wheel without rim walks down a slope on its spokes, and falls into a limit cycle.

Source: T. McGeer, Int. J. Robotics Research 9 (1990) 62. With n spokes of length l, alpha = pi / n, the slope gamma and
the inertia kappa m l^2: the rate after an impact is k = (kappa + cos 2 alpha) / (kappa + 1) times that before, and
omega_j+1^2 = k^2 (omega_j^2 + 4 g sin(alpha) sin(gamma) / ((1 + kappa) l)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate

PARAMETERS = {
    "spokes": Parameter(default=8.0, unit="1", min=8.0, max=12.0, meaning="n (rounded)"),
    "slope": Parameter(default=0.1, unit="rad", min=0.1, max=0.15, meaning="gamma"),
    "kappa": Parameter(default=1e-3, unit="1", min=1e-3, max=0.5, meaning="inertia over m l^2; 0: all mass at the hub"),
    "start": Parameter(default=1.0, unit="1", min=0.8, max=1.1, meaning="rate at the start over that of the cycle"),
    "length": Parameter(default=1.0, unit="m", min=0.2, max=5.0, meaning="l, of a spoke"),
}
IMPACTS, STEPS, MU, MASS = 3, 500, 5.0, 1.0  # friction so high that no foot slips; kg


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Walking in closed form, in units of length l and time sqrt(l / g).

    Attributes
    ----------
    alpha, slope, kappa : float
    """

    alpha: float
    slope: float
    kappa: float

    @property
    def keeps(self) -> float:
        """Rate after an impact over that before."""
        return (self.kappa + math.cos(2.0 * self.alpha)) / (self.kappa + 1.0)

    @property
    def gain(self) -> float:
        """What a step down the slope adds to the square of the rate."""
        return 4.0 * math.sin(self.alpha) * math.sin(self.slope) / (1.0 + self.kappa)

    @property
    def cycle(self) -> float:
        """Rate after an impact in the limit cycle."""
        return math.sqrt(self.gain * self.keeps**2 / (1.0 - self.keeps**2))

    def after(self, omega: float) -> float:
        """Return the rate after the next impact, from that at the begin of a step."""
        return self.keeps * math.sqrt(omega**2 + self.gain)

    def rate(self, omega: float, phi: float) -> float:
        """Return the rate where the spoke stands at phi from the normal of the slope, begun at -alpha."""
        fall = math.cos(self.slope - self.alpha) - math.cos(phi + self.slope)
        return math.sqrt(omega**2 + 2.0 * fall / (1.0 + self.kappa))

    def duration(self, omega: float, phi: float) -> float:
        """Return the time from the begin of a step to phi."""
        from scipy.integrate import quad

        return float(quad(lambda a: 1.0 / self.rate(omega, a), -self.alpha, phi, epsabs=1e-13, epsrel=1e-13)[0])

    def errors(self, rates: list[float], dt: float) -> tuple[list[float], list[float]]:
        """Bound the errors of time stepping: of the times of impacts, and of the rates after them (first: the start).

        An impact acts up to a step early or late, and turns the motion round in the middle of that step: gravity works
        over a step too many or too few. The wheel is then turned by up to omega dt / 2 more or less, which the ratio of
        the rates feels cot(alpha) times. The rate is read up to a step late.
        """
        late, off, t = [], [0.0], 0.0
        for before, after in pairwise(rates):
            down = self.rate(before, self.alpha)
            t += dt + self.duration(max(before - off[-1], 0.9 * before), self.alpha) - self.duration(before, self.alpha)
            gravity = 2.0 * math.sin(self.alpha + self.slope) / (1.0 + self.kappa) * dt
            turned = 0.5 * down**2 * dt / math.tan(self.alpha)
            off.append(gravity + self.keeps * turned + self.keeps**2 * before / after * off[-1])
            late.append(t + 0.5 * dt)
        return late, off


def build(spokes: float, slope: float, kappa: float, start: float, length: float) -> Scene:
    """Return the scene: it begins right after an impact, and ends in the middle of a step after some more."""
    n = round(spokes)
    walk = Walk(alpha=math.pi / n, slope=slope, kappa=kappa)
    rates = [start * walk.cycle]
    for _ in range(IMPACTS):
        rates.append(walk.after(rates[-1]))
    times = np.cumsum([walk.duration(omega, walk.alpha) for omega in rates[:-1]]).tolist()
    unit = math.sqrt(length / G)
    t_end = (times[-1] + walk.duration(rates[-1], 0.0)) * unit
    stand = length * math.cos(walk.alpha)
    columns: Columns = {
        "wheel.x": ("m", coordinate(0)),
        "wheel.y": ("m", coordinate(1)),
        "wheel.turned": ("rad", lambda state: -float(state.q[2])),
        "wheel.rate": ("rad/s", lambda state: -float(state.v[2])),
    }
    system = _system(n, slope, kappa, length)
    omega = rates[0] / unit
    velocity = (omega * stand, omega * length * math.sin(walk.alpha), -omega)
    return Scene(
        name="rimless_wheel",
        title="Rimless wheel: walking down a slope",
        source="McGeer (1990): energy within a step, angular momentum about the new foot at an impact",
        system=system,
        state=system.state({"wheel": (0.0, stand, 0.0)}, {"wheel": velocity}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"spokes": spokes, "slope": slope, "kappa": kappa, "start": start, "length": length},
        exact=_exact(walk, rates, times, unit, t_end / STEPS),
        tests=("impacts while another contact lets go", "a limit cycle", "many contacts"),
        columns=columns,
    )


def _system(n: int, slope: float, kappa: float, length: float) -> PlanarSystem:
    """Return the wheel on the slope y = 0 under tilted gravity; at angle 0 it stands on two feet."""
    ground = HalfPlane(name="slope")
    angles = [-math.pi / 2 + (2 * k - 1) * math.pi / n for k in range(n)]
    feet = {f"foot{k:02d}": (length * math.cos(a), length * math.sin(a)) for k, a in enumerate(angles)}
    outline = tuple(point for foot in feet.values() for point in ((0.0, 0.0), foot))
    return PlanarSystem(
        bodies=[PlanarBody(name="wheel", mass=MASS, inertia=kappa * MASS * length**2, outline=outline)],
        contacts=[PlanarContact(point=Marker("wheel", at, name), plane=ground, mu=MU) for name, at in feet.items()],
        gravity=(G * math.sin(slope), -G * math.cos(slope)),
    )


def _exact(walk: Walk, rates: list[float], times: list[float], unit: float, dt: float) -> tuple[Exact, ...]:
    """Return the checks, with tolerances of order 1: see `errors`."""
    late, off = walk.errors(rates, dt / unit)
    found = []
    for k, t in enumerate(times):
        when = check(
            f"time of impact {k + 1}",
            t * unit,
            "s",
            at_event(_impact(walk.alpha, k, "t"), "impact", n=k),
            moreau_jean=late[k] * unit,
            located=True,
        )
        name, rate = f"rate after impact {k + 1}", rates[k + 1] / unit
        found += [when, check(name, rate, "rad/s", _impact(walk.alpha, k, "rate"), moreau_jean=off[k + 1] / unit)]
    return tuple(found)


def _impact(alpha: float, k: int, what: str) -> Callable[[Any], float]:
    """Return the measure: when the wheel has turned by k + 1 spokes (s), or its rate one state later (rad/s)."""

    def measure(run: Any) -> float:
        """Read it off the angle, a straight line between two states."""
        turned, goal = run["wheel.turned"], 2.0 * alpha * (k + 1)
        j = min(int(np.searchsorted(turned, goal - 1e-9)), len(turned) - 2)
        if what == "rate":
            return float(run["wheel.rate"][j + 1])
        share = (goal - turned[j - 1]) / (turned[j] - turned[j - 1])
        return float(run.t[j - 1] + share * (run.t[j] - run.t[j - 1]))

    return measure
