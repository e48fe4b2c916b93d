"""The rod of Ivanov's paper: one contact under given loads, free to lift off or held from both sides.

Unit mass and radius of gyration; the mass centre is at (a, h) from the contact. With P1 = a F3 - F2 - h omega^2 and
P2 = F1 + h F3 + a omega^2: a_N = W_NN N + W_NT T - P1, a_T = W_NT N + W_TT T + P2, W_NN = 1 + a^2, W_NT = -a h,
W_TT = 1 + h^2. Fold at mu* = (1 + a^2) / (a h); cusp from rest. Source: Ivanov (2009), section 5.2.
"""

from __future__ import annotations

import math

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check, free_acceleration
from ..measures.measures import Columns, check, coordinate, rate
from ..references.first_step import first_step
from ..references.planar_contact import Body, OneContact

PARAMETERS = {
    "a": Parameter(default=1.2, unit="m", min=0.2, max=3.0, meaning="mass centre ahead of the contact"),
    "h": Parameter(default=1.6, unit="m", min=0.2, max=3.0, meaning="mass centre above the contact"),
    "mu": Parameter(default=2.0, unit="1", min=0.01, max=4.0, meaning="friction (critical at (1 + a^2) / (a h))"),
    "slip": Parameter(default=-1.0, unit="m/s", min=-2.0, max=2.0, meaning="of the contact; 0 is rest"),
    "omega": Parameter(default=0.0, unit="rad/s", min=-1.0, max=1.0, meaning="angular velocity"),
    "force_x": Parameter(default=0.0, unit="N", min=-10.0, max=10.0, meaning="F1 of P2 = F1 + h F3 + a omega^2"),
    "force_y": Parameter(default=-1.0, unit="N", min=-10.0, max=10.0, meaning="F2 of P1 = a F3 - F2 - h omega^2"),
    "torque": Parameter(default=0.0, unit="N m", min=-10.0, max=10.0, meaning="F3 of P1 and P2"),
    "bilateral": Parameter(default=0.0, unit="1", min=0.0, max=1.0, meaning="0 free to lift off; from 0.5 on: held"),
}
DT, STEPS = 5e-4, 100  # s


def build(**params: float) -> Scene:
    """Return the scene; by default sliding without solution."""
    a, h, mu, slip, omega = (params[key] for key in ("a", "h", "mu", "slip", "omega"))
    held, load = params["bilateral"] >= 0.5, (params["force_x"], params["force_y"], params["torque"])
    body = Body(centre=(a, h), load=load, omega=omega)
    contact = body.contact(mu, held)
    tip = Marker("rod", (-a, -h), "tip")
    system = PlanarSystem(
        bodies=[PlanarBody(name="rod", mass=1.0, inertia=1.0, outline=((-a, -h), (a, h)))],
        contacts=[PlanarContact(point=tip, plane=HalfPlane(name="floor"), mu=mu, bilateral=held)],
        forces=[Load(point=Marker("rod"), force_xy=load[:2], torque=load[2])],
        gravity=(0.0, 0.0),
    )
    columns: Columns = {
        "rod.x": ("m", coordinate(0)),
        "rod.y": ("m", coordinate(1)),
        "rod.angle": ("rad", coordinate(2)),
        "rod.omega": ("rad/s", rate(2)),
        "tip.u": ("m/s", lambda state: float(state.v[0] + _lever(state.q[2], a, h) * state.v[2])),
    }
    return Scene(
        name="ivanov_rod",
        title="Rod under given loads: fold while sliding, cusp from rest",
        source="Ivanov (2009), Bifurcations in systems with friction, section 5.2, equations (5.2)-(5.7), corrected",
        system=system,
        state=system.state({"rod": (a, h, 0.0)}, {"rod": (slip - h * omega, a * omega, omega)}),
        t_end=STEPS * DT,
        dt=DT,
        params=params,
        exact=_exact(body, contact, system, slip),
        tests=("fold of the number of motions", "three motions from rest", "bilateral contact with friction"),
        columns=columns,
    )


def _lever(angle: float, a: float, h: float) -> float:
    """Return the height of the mass centre above the tip, m."""
    return a * math.sin(angle) + h * math.cos(angle)


def _exact(body: Body, contact: OneContact, system: PlanarSystem, slip: float) -> tuple[Exact, ...]:
    s = math.copysign(1.0, slip) if slip else 0.0
    tol = 1e-9 * (1.0 + abs(contact.free_n) + abs(contact.free_t))
    return (
        count_check(system, contact.count(s), contact.margin(s)),
        check("P1 at the start", -contact.free_n, "m/s^2", free_acceleration(system, 0, -1.0), moreau_jean=tol),
        check("P2 at the start", contact.free_t, "m/s^2", free_acceleration(system, 1), moreau_jean=tol),
        *first_step(body, contact, slip, DT, "rod.tip/floor"),
    )
