"""A mass on a spring with Coulomb friction: the amplitude falls by the same amount every half cycle, then it sticks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point, fixed
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Spring
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate, last, rate, settled_time

PARAMETERS = {
    "mass": Parameter(default=1.0, unit="kg", min=0.5, max=2.0, meaning="of the sliding point"),
    "stiffness": Parameter(default=1.0, unit="N/m", min=0.5, max=2.0, meaning="of the spring"),
    "mu": Parameter(default=0.1 / G, unit="1", min=0.01, max=0.5, meaning="friction on the floor"),
    "x0": Parameter(default=1.05, unit="m", min=-1.5, max=1.5, meaning="where it is released from rest"),
}


@dataclass(frozen=True, slots=True)
class Decay:
    """The motion in closed form.

    With d = mu m g / k, the turning points are (-1)^j (|x0| - 2 j d) sign(x0), half a period pi sqrt(m / k) apart; it
    stays at the first one with |x| <= d.

    Attributes
    ----------
    x0, d, half : float
        Release (m), half width of the band where it can stick (m), half period (s).
    """

    x0: float
    d: float
    half: float

    @property
    def swings(self) -> int:
        """Number of half cycles before it stops."""
        return max(0, math.ceil((abs(self.x0) - self.d) / (2.0 * self.d)))

    def turning_point(self, j: int) -> float:
        """Return where it turns after j half cycles, m."""
        return math.copysign(1.0, self.x0) * (abs(self.x0) - 2.0 * j * self.d) * (-1.0) ** j

    @property
    def margin(self) -> float:
        """Distance of the last turning points from the border of the band where it sticks, m."""
        stays = self.d - abs(self.turning_point(self.swings))
        leaves = abs(self.turning_point(self.swings - 1)) - self.d if self.swings else math.inf
        return min(stays, leaves)


def build(mass: float, stiffness: float, mu: float, x0: float) -> Scene:
    """Return the scene: a point on the floor, a spring of length zero beside it."""
    slider = Marker("slider")
    system = PlanarSystem(
        bodies=[Point(name="slider", mass=mass)],
        contacts=[PlanarContact(point=slider, plane=HalfPlane(name="floor"), mu=mu)],
        forces=[Spring(a=slider, b=fixed(0.0, 0.0, "wall"), stiffness=stiffness)],
        gravity=(0.0, -G),
    )
    decay = Decay(x0, mu * mass * G / stiffness, math.pi * math.sqrt(mass / stiffness))
    dt = 1e-2 * math.sqrt(mass / stiffness)
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.vx": ("m/s", rate(0))}
    turn, stop = decay.turning_point(min(1, decay.swings)), decay.turning_point(decay.swings)
    turn_error, x_error, t_error = _errors(decay, dt)
    exact = (
        check("first turning point", turn, "m", _first_turn, moreau_jean=turn_error),
        check("where it stops", stop, "m", last("slider.x"), moreau_jean=x_error, located=True),
        check(
            "when it stops",
            decay.swings * decay.half,
            "s",
            at_event(_stop_time, "stick"),
            moreau_jean=t_error,
            located=True,
        ),
    )
    return Scene(
        name="coulomb_oscillator",
        title="Oscillator with Coulomb friction",
        source="piecewise harmonic motion about +-mu m g / k",
        system=system,
        state=system.state({"slider": (x0, 0.0)}),
        t_end=(decay.swings + 1.5) * decay.half,
        dt=dt,
        params={"mass": mass, "stiffness": stiffness, "mu": mu, "x0": x0},
        exact=exact,
        tests=("slip to stick", "reversal of friction", "rest away from the centre"),
        columns=columns,
    )


def _first_turn(run: Any) -> float:
    """Where the slider comes to rest or turns back for the first time after it was released."""
    x, side = run["slider.x"], math.copysign(1.0, run["slider.x"][0])
    forward = run["slider.vx"] * side > 0.0
    moves = np.flatnonzero(run["slider.vx"] * side < -1e-12)
    if not len(moves):
        return float(x[0])
    back = np.flatnonzero(forward[moves[0] :])
    stop = moves[0] + int(back[0]) + 1 if len(back) else len(x)
    return float(side * (x[:stop] * side).min())


def _stop_time(run: Any) -> float:
    return settled_time(run, np.abs(run["slider.vx"]) <= 1e-9)


def _errors(decay: Decay, dt: float) -> tuple[float, float, float]:
    """Bound the errors of time stepping: of the first turn (m), of the last place (m), of its time (s).

    Between the turns the scheme is of order 2; a turn is seen only at the end of a step, where the place has changed
    by at most x'' dt^2 / 8. Near the border of the sticking band that may decide whether there is one more half cycle,
    which changes the time but hardly the place.
    """
    step = (math.pi * dt / decay.half) ** 2
    turn_error = 1e-10 + step * (decay.d + abs(decay.x0)) / 8.0
    x_error = turn_error * (decay.swings + 1)
    tie = decay.margin <= 2.0 * x_error
    return turn_error, x_error, (decay.swings + 1) * dt + (decay.half if tie else 0.0)
