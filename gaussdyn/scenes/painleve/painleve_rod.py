"""The Painleve rod: a uniform rod whose tip slides on the floor, in all four regions.

With a = l cos(angle), h = l sin(angle) from the tip to the mass centre, a_N = A N + b while the tip slides with sign s:
m A = 1 + 3 cos^2 + 3 mu s cos sin, b = l omega^2 sin - g. A > 0: one motion (b < 0 held, b > 0 lift-off).
A < 0: none (b < 0), two (b > 0). Sources: Painleve (1895); Genot and Brogliato (1999).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import contact_row, count_check
from ..measures.measures import Columns, check, coordinate, last, rate
from ..references.first_step import first_step
from ..references.planar_contact import Body, OneContact

PARAMETERS = {
    "angle": Parameter(default=math.pi / 3, unit="rad", min=0.1, max=3.0, meaning="of the rod to the floor"),
    "mu": Parameter(default=1.4, unit="1", min=0.0, max=4.0, meaning="friction (critical from 4/3 on)"),
    "omega": Parameter(default=0.0, unit="rad/s", min=-5.0, max=5.0, meaning="angular velocity"),
    "slip": Parameter(default=-1.0, unit="m/s", min=-5.0, max=5.0, meaning="of the tip; < 0 digs in, 0 is rest"),
    "half_length": Parameter(default=1.0, unit="m", min=0.2, max=2.0, meaning="of the rod"),
    "gravity": Parameter(default=9.81, unit="m/s^2", min=0.5, max=20.0, meaning="downwards"),
    "mass": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="of the rod"),
}
STEPS, TIP = 150, "rod.tip/floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rod:
    """The rod at its start."""

    angle: float
    mu: float
    omega: float
    slip: float
    half_length: float
    gravity: float
    mass: float

    @property
    def centre(self) -> tuple[float, float]:
        """Mass centre from the tip, m."""
        return self.half_length * math.cos(self.angle), self.half_length * math.sin(self.angle)

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Of the mass centre, and angular velocity."""
        a, h = self.centre
        return self.slip - h * self.omega, a * self.omega, self.omega

    @property
    def inertia(self) -> float:
        """Of a uniform rod, kg m^2."""
        return self.mass * self.half_length**2 / 3.0

    @property
    def sign(self) -> float:
        """Direction of slip, 0 at rest."""
        return math.copysign(1.0, self.slip) if self.slip else 0.0

    @property
    def body(self) -> Body:
        """The rod on its tip."""
        load = (0.0, -self.mass * self.gravity, 0.0)
        return Body(centre=self.centre, load=load, omega=self.omega, mass=self.mass, inertia=self.inertia)

    @property
    def contact(self) -> OneContact:
        """The contact problem in closed form."""
        return self.body.contact(self.mu)

    @property
    def dt(self) -> float:
        """A step short against falling, turning and sliding, s."""
        l = self.half_length
        rates = (math.sqrt(self.gravity / l), abs(self.omega), abs(self.slip) / l)
        return 1e-3 / max(rates)

    def flight(self, t: float) -> tuple[float, float, float]:
        """Return (x, y, angle) without reaction after t, m and rad."""
        (x, y), (vx, vy, omega) = self.centre, self.velocity
        return x + vx * t, y + vy * t - 0.5 * self.gravity * t * t, self.angle + omega * t

    def flies(self) -> bool:
        """Whether lift-off is the only motion, and the tip stays off the floor over the whole run."""
        if self.contact.count(self.sign) != 1 or self.contact.free_n <= 0.0:
            return False
        poses = (self.flight(t) for t in np.linspace(0.0, STEPS * self.dt, 200)[1:])
        return all(y > self.half_length * abs(math.sin(angle)) for _, y, angle in poses)


def build(**params: float) -> Scene:
    """Return the scene; by default in the region without solution."""
    rod = Rod(**params)
    a, h = rod.centre
    arm = rod.half_length
    tip = PlanarContact(point=Marker("rod", (-arm, 0.0), "tip"), plane=HalfPlane(name="floor"), mu=rod.mu)
    body = PlanarBody(name="rod", mass=rod.mass, inertia=rod.inertia, outline=((-arm, 0.0), (arm, 0.0)))
    system = PlanarSystem(bodies=[body], contacts=[tip], gravity=(0.0, -rod.gravity))
    columns: Columns = {
        "rod.x": ("m", coordinate(0)),
        "rod.y": ("m", coordinate(1)),
        "rod.angle": ("rad", coordinate(2)),
        "rod.omega": ("rad/s", rate(2)),
        "tip.u": ("m/s", lambda state: float(state.v[0] + arm * math.sin(state.q[2]) * state.v[2])),
    }
    return Scene(
        name="painleve_rod",
        title="Painlevé rod: none, one or two motions",
        source="a_N = A N + b (Painlevé 1895; Génot and Brogliato 1999); impact without collision where there is none",
        system=system,
        state=system.state({"rod": (a, h, rod.angle)}, {"rod": rod.velocity}),
        t_end=STEPS * rod.dt,
        dt=rod.dt,
        params=params,
        exact=_exact(rod, system),
        tests=("no solution and two solutions of the acceleration problem", "impact without collision", "lift-off"),
        columns=columns,
    )


def _exact(rod: Rod, system: PlanarSystem) -> tuple[Exact, ...]:
    contact, s = rod.contact, rod.sign
    found = [count_check(system, contact.count(s), contact.margin(s))]
    if s:
        A, b = contact.A(s), contact.free_n
        found.append(check("A at the start", A, "1/kg", contact_row(system, "A"), moreau_jean=1e-9 * contact.W_NN))
        found.append(check("b at the start", b, "m/s^2", contact_row(system, "b"), moreau_jean=1e-9 * (abs(b) + 10.0)))
    found += first_step(rod.body, contact, rod.slip, rod.dt, TIP)
    if rod.flies():
        ends = zip(("x", "y", "angle"), ("m", "m", "rad"), rod.flight(STEPS * rod.dt), strict=True)
        found += [check(f"{name} at the end", value, unit, last(f"rod.{name}"), moreau_jean=1e-9)
                  for name, unit, value in ends]  # fmt: skip
    return tuple(found)
