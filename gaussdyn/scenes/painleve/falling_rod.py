"""A rod on a rough floor falls over: its foot slips backwards if mu is small, forwards later if it is not.

Held by friction and released at rest at the angle phi0 from the vertical, c0 = cos phi0: N = m g (1 + 9 c^2 - 6 c0 c)
/ 4 and F = 3/4 m g s (3 c - 2 c0). With phi0 -> 0 the largest F / N before it changes its sign is 0.3706, at 35.10
degrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.measures import Columns, G, at_event, check, coordinate, largest, last, rate
from ..references.corner_motion import Corner

PARAMETERS = {
    "mu": Parameter(default=0.5, unit="1", min=0.2, max=1.2, meaning="friction; the foot slips backwards below 0.37"),
    "phi0": Parameter(default=0.1, unit="rad", min=0.05, max=0.2, meaning="angle from the vertical at the start"),
    "length": Parameter(default=1.0, unit="m", min=0.2, max=5.0, meaning="of the rod"),
    "mass": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="of the rod"),
}
STEPS = 500
FOOT = "rod.foot/floor"
LOW = 0.1  # rad above the floor: the reference goes no further
TIE = 0.01  # of mu to the largest ratio of the forces: nearer than this, which way it slips hangs on a hair


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """The reference.

    Attributes
    ----------
    peak : float
        Largest F / N before F changes its sign, if it does not slip.
    slips, ends : float
        Times at which the foot begins to slip, and of the end of the run, s.
    at_slip, at_end : Array, shape (4,)
        (x, u) of the foot, angle to the floor and its rate at these times, SI.
    """

    peak: float
    slips: float
    ends: float
    at_slip: Array
    at_end: Array

    @classmethod
    def of(cls, rod: Corner, phi0: float, unit: float) -> Fall:
        """Return the fall up to nine tenths of the slip that follows; `unit` is sqrt(length / g), s."""
        start = np.array([0.0, 0.0, math.pi / 2 - phi0, 0.0])

        def low(y: Array) -> float:
            """Return what falls to zero near the floor."""
            return float(y[2]) - LOW

        held = rod.follow(start, 0.0, low, 30.0 * unit)
        y = held.at(held.duration)
        y[1] = 0.0
        direction = -math.copysign(1.0, float(rod.forces(y[2], y[3], 0.0)[2]))
        slipping = rod.follow(y, direction, low, 10.0 * unit)
        span = 0.9 * slipping.duration
        return cls(
            peak=largest_ratio(phi0),
            slips=held.duration,
            ends=held.duration + span,
            at_slip=y,
            at_end=slipping.at(span),
        )


def largest_ratio(phi0: float) -> float:
    """Return the largest F / N before F changes its sign, in closed form up to a search along the angle."""
    from scipy.optimize import minimize_scalar

    c0 = math.cos(phi0)

    def ratio(phi: float) -> float:
        """Return -F / N."""
        c = math.cos(phi)
        return -3.0 * math.sin(phi) * (3.0 * c - 2.0 * c0) / (1.0 + 9.0 * c * c - 6.0 * c0 * c)

    found = minimize_scalar(ratio, bounds=(phi0, math.acos(2.0 / 3.0 * c0)), method="bounded", options={"xatol": 1e-10})
    return -float(found.fun)


def build(mu: float, phi0: float, length: float, mass: float) -> Scene:
    """Return the scene; it falls to the right."""
    arm, theta0 = length / 2, math.pi / 2 - phi0
    corner = Corner(mass=mass, inertia=mass * length**2 / 12.0, at=(-arm, 0.0), mu=mu)
    unit = math.sqrt(length / G)
    fall = Fall.of(corner, phi0, unit)
    contact = PlanarContact(point=Marker("rod", (-arm, 0.0), "foot"), plane=HalfPlane(name="floor"), mu=mu)
    system = PlanarSystem(
        bodies=[PlanarBody(name="rod", mass=mass, inertia=corner.inertia, outline=((-arm, 0.0), (arm, 0.0)))],
        contacts=[contact],
        gravity=(0.0, -G),
    )
    columns: Columns = {
        "rod.x": ("m", coordinate(0)),
        "rod.y": ("m", coordinate(1)),
        "rod.theta": ("rad", coordinate(2)),
        "rod.omega": ("rad/s", rate(2)),
        "foot.x": ("m", lambda state: float(state.q[0] - arm * math.cos(state.q[2]))),
        "foot.u": ("m/s", lambda state: float(state.v[0] + arm * math.sin(state.q[2]) * state.v[2])),
    }
    return Scene(
        name="falling_rod",
        title="Rod falling over on a rough floor",
        source="F / N of the rod that is held, then DOP853 on the rod that slips",
        system=system,
        state=system.state({"rod": (arm * math.cos(theta0), arm * math.sin(theta0), theta0)}),
        t_end=fall.ends,
        dt=fall.ends / STEPS,
        params={"mu": mu, "phi0": phi0, "length": length, "mass": mass},
        exact=_exact(fall, mu, length, unit),
        tests=("stick to slip", "which way friction gives way"),
        columns=columns,
    )


def _exact(fall: Fall, mu: float, length: float, unit: float) -> tuple[Exact, ...]:
    """Return the checks; errors are of order 2, but for the step in which the slip is seen to begin."""
    dt = fall.ends / STEPS
    late = 2.0 * (dt / unit) ** 2
    (x, u, theta, omega), v = (float(value) for value in fall.at_end), length / unit
    friction = check("largest F / N", min(mu, fall.peak), "1", _ratio, moreau_jean=1e-9 + late)
    gap = check("largest gap under the foot", 0.0, "m", largest(f"{FOOT}.gap"), moreau_jean=1e-10, located=True)
    if abs(mu - fall.peak) < TIE:
        return (gap, friction)
    slips = math.pi / 2 - float(fall.at_slip[2])
    seen = 2.0 * abs(float(fall.at_slip[3])) * dt
    return (
        gap,
        friction,
        check(
            "angle at which the foot begins to slip",
            slips,
            "rad",
            _first_angle,
            moreau_jean=seen,
            located=True,
        ),
        check("direction of the slip", math.copysign(1.0, u), "1", _direction, moreau_jean=0.5, located=True),
        check("angle at the end", theta, "rad", last("rod.theta"), moreau_jean=late, located=True),
        check("rate at the end", omega, "rad/s", last("rod.omega"), moreau_jean=4.0 * late / unit, located=True),
        check("place of the foot at the end", x, "m", last("foot.x"), moreau_jean=late * length, located=True),
        check("velocity of the foot at the end", u, "m/s", last("foot.u"), moreau_jean=4.0 * late * v, located=True),
    )


def _ratio(run: Any) -> float:
    """Return the largest T / N of the floor on the rod."""
    return float((run[f"{FOOT}.r_T"][1:] / run[f"{FOOT}.r_N"][1:]).max())


def _first_slip(column: str) -> Callable[[Any], float]:
    """Return the measure: the angle from the vertical at the first state at which the foot moves, rad."""

    def measure(run: Any) -> float:
        """Read it off the columns."""
        found = np.flatnonzero(np.abs(run["foot.u"]) > 1e-9)
        return math.pi / 2 - float(run[column][found[0] if len(found) else -1])

    return measure


def _direction(run: Any) -> float:
    return math.copysign(1.0, float(run["foot.u"][-1]))


def _first_angle(run: Any) -> float:
    """Return the angle from the vertical at which the foot begins to slip, rad."""
    upright = math.pi / 2
    return upright - at_event(lambda run: upright - _first_slip("rod.theta")(run), "slip", FOOT, column="rod.theta")(
        run
    )
