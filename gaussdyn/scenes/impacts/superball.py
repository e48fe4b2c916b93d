"""A ball that gives back its tangential velocity too (Garwin's superball): spin and speed are exchanged at a bounce."""

from __future__ import annotations

import math

from ...mechanics.collision.shapes import HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import ball
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "h": Parameter(default=0.5, unit="m", min=0.05, max=5.0, meaning="height of the drop"),
    "vx": Parameter(default=0.5, unit="m/s", min=-2.0, max=2.0, meaning="speed along x before the bounce"),
    "spin": Parameter(default=10.0, unit="rad/s", min=-20.0, max=20.0, meaning="about y before the bounce"),
    "radius": Parameter(default=0.03, unit="m", min=0.01, max=0.1, meaning="of the ball"),
    "e_n": Parameter(default=1.0, unit="1", min=0.5, max=1.0, meaning="normal restitution"),
    "e_t": Parameter(default=1.0, unit="1", min=-1.0, max=1.0, meaning="tangential restitution"),
}
MU, STEPS = 50.0, 2000  # friction far above what the impulse needs: the tangential law decides


def build(h: float, vx: float, spin: float, radius: float, e_n: float, e_t: float) -> Scene:
    """Return the scene: the slip s = vx - r w turns to -e_t s; an impulse p changes vx by p / m, r w by -5/2 p / m.

    With e_n = e_t = 1: vx+ = (3 vx + 4 r w) / 7 and r w+ = (10 vx - 3 r w) / 7.
    """
    system = SpatialSystem(
        bodies=[ball("ball", mass=1.0, radius=radius)],
        obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=MU, eps_n=e_n, eps_t=e_t),
        gravity=(0.0, 0.0, -G),
    )
    p = -2.0 / 7.0 * (1.0 + e_t) * (vx - radius * spin)
    fall = math.sqrt(2.0 * h / G)
    t_end = fall * (1.0 + 0.5 * e_n)
    dt = t_end / STEPS
    up = e_n * fall - 0.5 * fall * e_n  # time since the bounce at which e_n^2 h is still to come
    height = radius + e_n * G * fall * up - 0.5 * G * up * up
    exact = (
        check("vx after the bounce", vx + p, "m/s", last("ball.vx"), moreau_jean=1e-11, located=True),
        check(
            "spin after the bounce",
            spin - 2.5 * p / radius,
            "rad/s",
            last("ball.wy"),
            moreau_jean=1e-11 / radius,
            located=True,
        ),
        check("height at the end", height, "m", last("ball.z"), moreau_jean=5.0 * G * fall * dt, located=True),
        check("vz at the end", e_n * G * fall - G * up, "m/s", last("ball.vz"), moreau_jean=3.0 * G * dt, located=True),
    )
    return Scene(
        name="superball",
        title="Superball: tangential restitution exchanges spin and speed",
        source="R. L. Garwin, Am. J. Phys. 37 (1969) 88",
        system=system,
        state=system.state({"ball": (0.0, 0.0, radius + h)}, {"ball": (vx, 0.0, 0.0, 0.0, spin, 0.0)}),
        t_end=t_end,
        dt=dt,
        params={"h": h, "vx": vx, "spin": spin, "radius": radius, "e_n": e_n, "e_t": e_t},
        exact=exact,
        tests=("impacts", "normal and tangential restitution"),
        columns=body_columns(system),
        dim=3,
    )
