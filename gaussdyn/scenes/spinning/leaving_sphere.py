"""A round body rolls down a fixed sphere, begins to slip when it is pressed too little, and leaves it.

From rest at the top it would leave at cos theta = 2 / (3 + beta) if it rolled to the end, with the inertia
beta m r^2: 10/17 for a ball (2/5), 4/7 for a cylinder (1/2); a particle, or any body without friction, leaves at 2/3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, PlanarBody, fixed
from ...mechanics.planar.disc_contact import PlanarDiscContact
from ...mechanics.planar.shapes import Disc
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.state import State
from ..measures.departure import at_departure, departure_time
from ..measures.measures import Columns, G, at_event, check, coordinate, last

PARAMETERS = {
    "beta": Parameter(
        default=0.4, unit="1", min=0.05, max=1.0, meaning="inertia over m r^2: 0.4 a ball, 0.5 a cylinder"
    ),
    "mu": Parameter(default=10.0, unit="1", min=0.0, max=10.0, meaning="friction; 0: as a particle"),
    "theta0": Parameter(default=0.1, unit="rad", min=0.05, max=0.6, meaning="angle from the top at the start"),
    "sphere": Parameter(default=1.0, unit="m", min=0.2, max=5.0, meaning="radius of the sphere"),
    "radius": Parameter(default=0.1, unit="m", min=0.02, max=0.2, meaning="of the body"),
}
STEPS, MASS, FLIGHT = 600, 1.0, 0.3  # kg; time of the flight over sqrt((R + r) / g)
CONTACT = "body/sphere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Descent:
    """The motion of the centre on its circle, in units of length l = R + r and time sqrt(l / g).

    Attributes
    ----------
    beta, mu, theta0 : float
    """

    beta: float
    mu: float
    theta0: float

    def pressure(self, theta: float, omega: float) -> float:
        """Return N / (m g)."""
        return math.cos(theta) - omega * omega

    def grip(self, theta: float, omega: float) -> float:
        """Return what friction still has to give while it rolls, over m g."""
        return self.mu * self.pressure(theta, omega) - self.beta / (1.0 + self.beta) * math.sin(theta)

    def slope(self, y: Array, rolls: bool) -> list[float]:
        """Return d(theta, omega, spin)/dt, the spin as the speed r w of the rim."""
        theta, omega, _ = (float(value) for value in y)
        if rolls:
            alpha = math.sin(theta) / (1.0 + self.beta)
            return [omega, alpha, alpha]
        drag = self.mu * self.pressure(theta, omega)
        return [omega, math.sin(theta) - drag, drag / self.beta]

    def motion(self) -> tuple[float, float, Array]:
        """Return the time of the first slip, that at which it leaves, and (theta, omega, spin) then."""
        from scipy.integrate import solve_ivp

        t, slips, y = 0.0, 0.0, np.array([self.theta0, 0.0, 0.0])
        options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
        for rolls in (True, False):
            if rolls and self.grip(self.theta0, 0.0) <= 0.0:
                continue

            def ends(t: float, y: Array, rolls: bool = rolls) -> float:
                """Return what falls to zero where it begins to slip, or leaves."""
                return self.grip(y[0], y[1]) if rolls else self.pressure(y[0], y[1])

            ends.terminal = True  # type: ignore[attr-defined]
            found = solve_ivp(lambda t, y, rolls=rolls: self.slope(y, rolls), (t, t + 50.0), y, events=ends, **options)
            t, y = float(found.t[-1]), found.y[:, -1]
            slips = t if rolls else slips
        return slips, t, y


def build(beta: float, mu: float, theta0: float, sphere: float, radius: float) -> Scene:
    """Return the scene; it ends a little after the body has left the sphere."""
    descent, l = Descent(beta=beta, mu=mu, theta0=theta0), sphere + radius
    unit = math.sqrt(l / G)
    _, leaves, y = descent.motion()
    t_end = (leaves + FLIGHT) * unit
    body = PlanarBody(name="body", mass=MASS, inertia=beta * MASS * radius**2, shapes=(Disc(radius=radius),))
    contact = PlanarDiscContact(
        a=Marker("body"), b=fixed(0.0, 0.0, "sphere"), radius_a=radius, radius_b=sphere, mu=mu, name=CONTACT
    )
    columns: Columns = {
        "body.x": ("m", coordinate(0)),
        "body.y": ("m", coordinate(1)),
        "body.theta": ("rad", lambda state: math.atan2(state.q[0], state.q[1])),
        "body.speed": ("m/s", lambda state: math.hypot(state.v[0], state.v[1])),
        "body.rim": ("m/s", lambda state: -radius * float(state.v[2])),
    }
    return Scene(
        name="leaving_sphere",
        title="Rolling down a sphere and leaving it",
        source="rolling, slipping, flying: DOP853 up to N = 0; cos theta = 2 / (3 + beta) in the limit of rolling",
        system=PlanarSystem(bodies=[body], contacts=[contact], gravity=(0.0, -G)),
        state=State(q=np.array([l * math.sin(theta0), l * math.cos(theta0), 0.0]), v=np.zeros(3)),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"beta": beta, "mu": mu, "theta0": theta0, "sphere": sphere, "radius": radius},
        exact=_exact(descent, leaves, y, l, t_end),
        tests=("a contact that opens smoothly", "roll to slip", "curved contact"),
        columns=columns,
    )


def _exact(descent: Descent, leaves: float, y: Array, l: float, t_end: float) -> tuple[Exact, ...]:
    """Return the checks; errors are of order 2 in the motion, and a fraction of a step in when the contact opens.

    N / (m g) then falls at the rate 3 omega sin(theta), and friction turns the rim mu / beta times as fast as N tells.
    """
    unit, (theta, omega, rim) = math.sqrt(l / G), (float(value) for value in y)
    v = l / unit
    late = 2.0 * (t_end / unit / STEPS) ** 2 * t_end / unit
    opens = 0.5 * t_end / unit / STEPS
    turned = descent.mu / descent.beta * 3.0 * omega * math.sin(theta) * opens**2
    x = math.sin(theta) + omega * math.cos(theta) * FLIGHT
    height = math.cos(theta) - omega * math.sin(theta) * FLIGHT - 0.5 * FLIGHT**2
    return (
        check(
            "angle at which it leaves",
            theta,
            "rad",
            at_event(at_departure(CONTACT, "body.theta"), "lift_off", CONTACT, column="body.theta"),
            moreau_jean=omega * opens,
            located=True,
        ),
        check(
            "when it leaves",
            leaves * unit,
            "s",
            at_event(departure_time(CONTACT), "lift_off", CONTACT),
            moreau_jean=opens * unit,
            located=True,
        ),
        check(
            "speed of its rim at the end",
            rim * v,
            "m/s",
            last("body.rim"),
            moreau_jean=(late + turned) * v,
            located=True,
        ),
        check("x at the end", x * l, "m", last("body.x"), moreau_jean=late * l, located=True),
        check("y at the end", height * l, "m", last("body.y"), moreau_jean=late * l, located=True),
    )
