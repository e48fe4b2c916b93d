"""A ladder slides down a smooth wall and a smooth floor, and leaves the wall while it falls.

Source: omega^2 = 3 g (sin theta0 - sin theta) / l; the wall is left where sin theta = 2/3 sin theta0, and from then on
the ladder moves away from it with a constant speed of sqrt(g l sin^3 theta0) / 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.departure import at_departure, departure_time
from ..measures.measures import Columns, G, at_event, check, coordinate, last, rate

PARAMETERS = {
    "theta0": Parameter(default=math.pi / 3, unit="rad", min=0.3, max=1.5, meaning="angle to the floor at the start"),
    "length": Parameter(default=2.0, unit="m", min=0.2, max=20.0, meaning="of the ladder"),
    "mass": Parameter(default=5.0, unit="kg", min=0.1, max=100.0, meaning="of the ladder"),
}
STEPS = 500
WALL, FLOOR = "ladder.top/wall", "ladder.foot/floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """The motion, in units of length l and time sqrt(l / g).

    Attributes
    ----------
    leaves, ends : float
        Times at which it leaves the wall, and at which it is half as high as then.
    theta, omega : float
        Angle (rad) and its rate at the end.
    """

    leaves: float
    ends: float
    theta: float
    omega: float

    @classmethod
    def of(cls, theta0: float) -> Fall:
        """Return the fall from rest: quadratures of the energy, before and after it leaves the wall."""
        from scipy.integrate import quad

        top = math.sin(theta0)
        left = 2.0 / 3.0 * top

        def slow(z: float) -> float:
            """Return dt/dz with sin theta = top - z^2, which takes the root out of the integrand."""
            s = top - z * z
            return 2.0 / math.sqrt(3.0 * (1.0 - s * s))

        def late(s: float) -> float:
            """Return dt/d(sin theta) after the wall: energy without that of the motion along the floor."""
            inertia = 1.0 / 12.0 + 0.25 * (1.0 - s * s)
            return math.sqrt(inertia / ((top - s - top**3 / 9.0) * (1.0 - s * s)))

        begin = quad(slow, 0.0, math.sqrt(top - left), epsabs=1e-13, epsrel=1e-13)[0]
        rest = quad(late, 0.5 * left, left, epsabs=1e-13, epsrel=1e-13)[0]
        s = 0.5 * left
        omega = -1.0 / (late(s) * math.sqrt(1.0 - s * s))
        return cls(leaves=float(begin), ends=float(begin + rest), theta=math.asin(s), omega=omega)


def build(theta0: float, length: float, mass: float) -> Scene:
    """Return the scene; it ends when the ladder is half as high as where it left the wall."""
    fall, arm = Fall.of(theta0), length / 2
    unit = math.sqrt(length / G)
    t_end = fall.ends * unit
    rod = PlanarBody(name="ladder", mass=mass, inertia=mass * length**2 / 12.0, outline=((-arm, 0.0), (arm, 0.0)))
    system = PlanarSystem(
        bodies=[rod],
        contacts=[
            PlanarContact(point=Marker("ladder", (-arm, 0.0), "top"), plane=HalfPlane(name="wall", normal=(1.0, 0.0))),
            PlanarContact(point=Marker("ladder", (arm, 0.0), "foot"), plane=HalfPlane(name="floor")),
        ],
        gravity=(0.0, -G),
    )
    columns: Columns = {
        "ladder.x": ("m", coordinate(0)),
        "ladder.y": ("m", coordinate(1)),
        "ladder.theta": ("rad", lambda state: -float(state.q[2])),
        "ladder.omega": ("rad/s", lambda state: -float(state.v[2])),
        "ladder.vx": ("m/s", rate(0)),
    }
    return Scene(
        name="ladder",
        title="Ladder off a smooth wall",
        source="energy and the force of the wall: it is left at sin theta = 2/3 sin theta0",
        system=system,
        state=system.state({"ladder": (arm * math.cos(theta0), arm * math.sin(theta0), -theta0)}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"theta0": theta0, "length": length, "mass": mass},
        exact=_exact(fall, theta0, length),
        tests=("a contact that opens smoothly", "two contacts", "energy"),
        columns=columns,
    )


def _exact(fall: Fall, theta0: float, length: float) -> tuple[Exact, ...]:
    """Return the checks; errors are of order 2, a contact that opens smoothly included."""
    unit = math.sqrt(length / G)
    late = 2.0 * (fall.ends / STEPS) ** 2
    opens = 6.0 * late  # the force is extrapolated over one step and a half
    left, when = math.asin(2.0 / 3.0 * math.sin(theta0)), fall.leaves * unit
    away = math.sqrt(G * length * math.sin(theta0) ** 3) / 3.0
    return (
        check(
            "angle at which it leaves the wall",
            left,
            "rad",
            at_event(at_departure(WALL, "ladder.theta"), "lift_off", WALL, column="ladder.theta"),
            moreau_jean=opens,
            located=True,
        ),
        check(
            "time at which it leaves the wall",
            when,
            "s",
            at_event(departure_time(WALL), "lift_off", WALL),
            moreau_jean=opens * unit,
            located=True,
        ),
        check(
            "speed away from the wall at the end",
            away,
            "m/s",
            last("ladder.vx"),
            moreau_jean=late * length / unit,
            located=True,
        ),
        check("angle at the end", fall.theta, "rad", last("ladder.theta"), moreau_jean=late, located=True),
        check(
            "rate at the end", fall.omega / unit, "rad/s", last("ladder.omega"), moreau_jean=late / unit, located=True
        ),
    )
