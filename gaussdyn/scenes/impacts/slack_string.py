"""A mass on a string, too slow at the bottom to go round: the string goes slack, and becomes taut again.

With theta from the bottom, v^2 = v0^2 - 2 g L (1 - cos theta) and the tension m v^2 / L + m g cos theta vanishes where
cos theta = (2 - v0^2 / (g L)) / 3. From there a parabola touches the circle to third order and meets it again after
4 v_y / g; then the radial velocity is lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point, fixed
from ...mechanics.planar.contacts import String
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate, first_time, largest, rate

PARAMETERS = {
    "ratio": Parameter(default=3.5, unit="1", min=2.3, max=4.7, meaning="v0^2 / (g L) at the bottom, within (2, 5)"),
    "length": Parameter(default=1.0, unit="m", min=0.1, max=10.0, meaning="of the string"),
    "mass": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="of the ball"),
}
STRING = "ball~ground.pivot"


@dataclass(frozen=True, slots=True)
class Flight:
    """The motion in closed form, for L = 1 and g = 1: times in sqrt(L / g), speeds in sqrt(g L), energies in m g L.

    Attributes
    ----------
    ratio : float
        v0^2 / (g L).
    """

    ratio: float

    @property
    def cos(self) -> float:
        """Cosine of the angle where the string goes slack."""
        return (2.0 - self.ratio) / 3.0

    @property
    def sin(self) -> float:
        """Sine of that angle."""
        return math.sqrt(1.0 - self.cos**2)

    @property
    def speed(self) -> float:
        """Speed there: v^2 = -g L cos theta."""
        return math.sqrt(-self.cos)

    @property
    def release(self) -> float:
        """When the string goes slack: an elliptic integral."""
        from scipy.integrate import quad

        def slowness(angle: float) -> float:
            """Return the time per angle on the circle, in units of sqrt(L / g)."""
            return 1.0 / math.sqrt(self.ratio - 2.0 + 2.0 * math.cos(angle))

        return float(quad(slowness, 0.0, math.acos(self.cos), epsabs=1e-13, epsrel=1e-13)[0])

    @property
    def apex(self) -> float:
        """Greatest height above the bottom."""
        return 1.0 - self.cos + (self.speed * self.sin) ** 2 / 2.0

    @property
    def taut(self) -> float:
        """When the string becomes taut again: release + 4 v_y / g."""
        return self.release + 4.0 * self.speed * self.sin

    def energy(self, late: float = 0.0) -> float:
        """Return the energy once the radial velocity is lost at time taut + late, with the bottom as zero."""
        t = self.taut - self.release + late
        x, y = self.sin + self.speed * self.cos * t, -self.cos + self.speed * self.sin * t - t * t / 2.0
        across = (x * (self.speed * self.sin - t) - y * self.speed * self.cos) / math.hypot(x, y)
        return across**2 / 2.0 + y + 1.0


def build(ratio: float, length: float, mass: float) -> Scene:
    """Return the scene; it ends a little after the string has become taut again."""
    string = String(a=Marker("ball"), b=fixed(0.0, 0.0, "pivot"), length=length)
    system = PlanarSystem(bodies=[Point(name="ball", mass=mass)], contacts=[string], gravity=(0.0, -G))
    flight, second = Flight(ratio), math.sqrt(length / G)
    dt = 1e-3 * math.sqrt(length)
    columns: Columns = {
        "ball.x": ("m", coordinate(0)),
        "ball.y": ("m", coordinate(1)),
        "ball.vx": ("m/s", rate(0)),
        "ball.vy": ("m/s", rate(1)),
        "ball.height": ("m", lambda state: float(state.q[1]) + length),
    }
    return Scene(
        name="slack_string",
        title="String that goes slack and becomes taut again",
        source="cos theta = (2 - v0^2 / (g L)) / 3; Grzesikiewicz, Jarzębowska, Wakulicz (1993) for the string",
        system=system,
        state=system.state({"ball": (0.0, -length)}, {"ball": (math.sqrt(ratio * G * length), 0.0)}),
        t_end=(flight.taut + 0.2) * second,
        dt=dt,
        params={"ratio": ratio, "length": length, "mass": mass},
        exact=_exact(flight, length, mass, dt),
        tests=("release of a unilateral constraint", "impact without restitution", "curved constraint"),
        columns=columns,
    )


def _exact(flight: Flight, length: float, mass: float, dt: float) -> tuple[Exact, ...]:
    second, joule = math.sqrt(length / G), mass * G * length
    step = dt / second
    small = 20.0 * step**2  # order 2 before the jerk; its own time is known to within a step
    jerk = 2.0 * abs(flight.energy(step) - flight.energy()) + small

    def energy_at_end(run: Any) -> float:
        """Return the energy at the end, counted from the lowest point, J."""
        return joule * flight.ratio / 2.0 + float(run["energy"][-1] - run["energy"][0])

    slack_at, slack_height = flight.release * second, (1.0 - flight.cos) * length
    return (
        check(
            "time when it goes slack",
            slack_at,
            "s",
            at_event(_slack_time, "lift_off"),
            moreau_jean=small * second,
            located=True,
        ),
        check(
            "height where it goes slack",
            slack_height,
            "m",
            at_event(_slack_height, "lift_off", column="ball.height"),
            moreau_jean=small * length,
            located=True,
        ),
        check("greatest height", flight.apex * length, "m", largest("ball.height"), moreau_jean=small * length),
        check(
            "time when it is taut again",
            flight.taut * second,
            "s",
            at_event(_taut_time, "impact"),
            moreau_jean=2.0 * dt,
            located=True,
        ),
        check("energy at the end", flight.energy() * joule, "J", energy_at_end, moreau_jean=jerk * joule, located=True),
    )


def _slack(run: Any) -> int:
    """Return the first saved state that ends a step without tension."""
    loose = np.flatnonzero(run[f"{STRING}.r_N"][1:] <= 0.0) + 1
    return int(loose[0]) if len(loose) else len(run) - 1


def _slack_time(run: Any) -> float:
    """Where the tension, extrapolated from two steps before the last taut one, vanishes.

    The tension of a step is its mean, so it belongs to the middle of the step.
    """
    k = _slack(run)
    if k < 4:
        return float(run.t[k])
    middle = 0.5 * (run.before_t + run.t)
    (t0, t1), (T0, T1) = middle[k - 3 : k - 1], run[f"{STRING}.r_N"][k - 3 : k - 1]
    return float(t1 + T1 * (t1 - t0) / (T0 - T1)) if T0 > T1 else float(t1)


def _slack_height(run: Any) -> float:
    return float(np.interp(_slack_time(run), run.t, run["ball.height"]))


def _taut_time(run: Any) -> float:
    """End of the first step with tension after the string was slack."""
    k = _slack(run)
    return first_time(run, (run[f"{STRING}.r_N"] > 0.0) & (np.arange(len(run)) > k))
