"""A mass on a belt, held by a spring: it rides along, breaks loose, slides back, and is caught again: stick-slip.

With x_s = mu_s m g / k and x_k = mu m g / k it breaks loose at x_s with the speed V of the belt, slides about x_k with
amplitude A = sqrt((x_s - x_k)^2 + (V / w)^2), and is caught at 2 x_k - x_s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point, fixed
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Spring
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate, rate

PARAMETERS = {
    "belt": Parameter(default=0.5, unit="m/s", min=0.1, max=2.0, meaning="V, speed of the belt"),
    "mu": Parameter(default=0.2, unit="1", min=0.05, max=0.3, meaning="friction of slip"),
    "mu_s": Parameter(default=0.4, unit="1", min=0.4, max=0.8, meaning="friction at rest"),
    "stiffness": Parameter(default=10.0, unit="N/m", min=2.0, max=50.0, meaning="k, of the spring"),
    "mass": Parameter(default=1.0, unit="kg", min=0.5, max=2.0, meaning="m, of the sliding point"),
}
STEPS = 1000  # over the first ride and two cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Stick and slip in closed form.

    Attributes
    ----------
    x_s, x_k : float
        Where it breaks loose, and about where it slides, m.
    w : float
        sqrt(k / m), rad/s.
    belt : float
        m/s.
    """

    x_s: float
    x_k: float
    w: float
    belt: float

    @property
    def amplitude(self) -> float:
        """Of the slip, m."""
        return math.hypot(self.x_s - self.x_k, self.belt / self.w)

    @property
    def slip(self) -> float:
        """Duration of the slip, s: it is caught where it has the speed of the belt again."""
        return 2.0 * (math.pi - math.atan(self.w * (self.x_s - self.x_k) / self.belt)) / self.w

    @property
    def ride(self) -> float:
        """Duration of the stick, s, from 2 x_k - x_s to x_s."""
        return 2.0 * (self.x_s - self.x_k) / self.belt

    @property
    def first(self) -> float:
        """When it breaks loose for the first time, s, from rest on the belt at x = 0."""
        return self.x_s / self.belt


def build(belt: float, mu: float, mu_s: float, stiffness: float, mass: float) -> Scene:
    """Return the scene: it rides from x = 0, where the spring is slack, and goes through two cycles."""
    slider = Marker("slider")
    system = PlanarSystem(
        bodies=[Point(name="slider", mass=mass)],
        contacts=[PlanarContact(point=slider, plane=HalfPlane(name="belt", belt=belt), mu=mu, mu_s=mu_s)],
        forces=[Spring(a=slider, b=fixed(0.0, 0.0, "wall"), stiffness=stiffness)],
        gravity=(0.0, -G),
    )
    weight = mass * G / stiffness
    cycle = Cycle(x_s=mu_s * weight, x_k=mu * weight, w=math.sqrt(stiffness / mass), belt=belt)
    t_end = cycle.first + 2.0 * (cycle.slip + cycle.ride) + 0.5 * cycle.slip
    columns: Columns = {
        "slider.x": ("m", coordinate(0)),
        "slider.vx": ("m/s", rate(0)),
        "slider.slip": ("m/s", lambda state: float(state.v[0]) - belt),
    }
    return Scene(
        name="belt_oscillator",
        title="Oscillator on a belt: stick and slip",
        source="piecewise: riding with the belt, harmonic about mu m g / k",
        system=system,
        state=system.state({}, {"slider": (belt, 0.0)}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"belt": belt, "mu": mu, "mu_s": mu_s, "stiffness": stiffness, "mass": mass},
        exact=_exact(cycle, t_end / STEPS),
        tests=("stick to slip and back", "more friction at rest", "a limit cycle"),
        columns=columns,
    )


def _exact(cycle: Cycle, dt: float) -> tuple[Exact, ...]:
    """Return the checks.

    It breaks loose, and is caught, up to a step late or early: V dt of way each time, which the slip hands on to the
    place where it is caught, and the ride to the next time. Beside that, the slip is of order 2.
    """
    way = cycle.belt * dt + 0.5 * (cycle.w * dt) ** 2 * cycle.amplitude
    early = dt + 2.0 * way / cycle.belt
    return (
        check("when it breaks loose", cycle.first, "s", lambda run: _time(run, 0), moreau_jean=1.5 * dt, located=True),
        check("duration of a slip", cycle.slip, "s", lambda run: _between(run, 0), moreau_jean=early, located=True),
        check(
            "duration of a ride", cycle.ride, "s", lambda run: _between(run, 1), moreau_jean=2.0 * early, located=True
        ),
        check("farthest place", cycle.x_k + cycle.amplitude, "m", _farthest, moreau_jean=2.0 * way),
        check("nearest place", cycle.x_k - cycle.amplitude, "m", _nearest, moreau_jean=2.0 * way),
    )


def _changes(run: Any) -> list[int]:
    """Return the last step before each change between riding and sliding; at the end, where there are too few."""
    sliding = np.abs(run["slider.slip"]) > 1e-9
    return [*np.flatnonzero(sliding[1:] != sliding[:-1]).tolist(), *[len(run) - 1] * 3]


def _time(run: Any, change: int) -> float:
    """Return the time of a change, s."""
    located = at_event(lambda run: float(run.t[_changes(run)[change]]), ("slip", "stick")[change % 2], n=change // 2)
    return located(run)


def _between(run: Any, change: int) -> float:
    """Return the time from one change to the next, s."""
    return _time(run, change + 1) - _time(run, change)


def _farthest(run: Any) -> float:
    return float(run["slider.x"].max())


def _nearest(run: Any) -> float:
    """Return where it is caught: the start, at x = 0, may lie nearer."""
    return float(run["slider.x"][_changes(run)[0] :].min())
