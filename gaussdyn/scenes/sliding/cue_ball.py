"""A ball on a table, sliding and spinning: its slip keeps its direction until it rolls.

Source: Coriolis (1835); a homogeneous ball obeys v' = -mu g s, |slip|' = -7/2 mu g, s the direction of slip, constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.collision.shapes import HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.spatial.bodies import ball
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest, last
from ..measures.spatial_measures import at, body_columns

PARAMETERS = {
    "mu": Parameter(default=0.2, unit="1", min=0.05, max=1.0, meaning="friction"),
    "v0": Parameter(default=1.0, unit="m/s", min=0.0, max=5.0, meaning="speed at the start, along x"),
    "spin_x": Parameter(default=20.0, unit="rad/s", min=-60.0, max=60.0, meaning="spin about x: it curves"),
    "spin_y": Parameter(default=-30.0, unit="rad/s", min=-60.0, max=60.0, meaning="spin about y: draw or follow"),
    "spin_z": Parameter(default=10.0, unit="rad/s", min=-60.0, max=60.0, meaning="spin about z: stays as it is"),
    "radius": Parameter(default=0.03, unit="m", min=0.01, max=0.2, meaning="of the ball"),
    "mass": Parameter(default=0.2, unit="kg", min=1e-3, max=100.0, meaning="of the ball"),
}
DT, AFTER = 1e-3, 0.2  # s


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll:
    """The motion in closed form, in the plane of the table.

    Attributes
    ----------
    v0, slip : Array, shape (2,)
        Velocity of the centre and of the contact point at the start, m/s.
    mu : float
    """

    v0: Array
    slip: Array
    mu: float

    @property
    def t_roll(self) -> float:
        """Time at which it begins to roll, s."""
        return 2.0 * float(np.linalg.norm(self.slip)) / (7.0 * self.mu * G)

    @property
    def v_end(self) -> Array:
        """Velocity of the rolling ball, m/s."""
        return self.v0 - 2.0 / 7.0 * self.slip

    def place(self, t: float) -> Array:
        """Return the way of the centre after t, m."""
        slipping = min(t, self.t_roll)
        turned = 0.5 * (self.v0 + self.velocity(slipping)) * slipping
        way: Array = turned + (t - slipping) * self.v_end
        return way

    def velocity(self, t: float) -> Array:
        """Return the velocity of the centre after t, m/s."""
        speed = float(np.linalg.norm(self.slip))
        if t >= self.t_roll:
            return self.v_end
        slowed: Array = self.v0 - self.mu * G * t * self.slip / speed
        return slowed


def roll(v0: float, spin_x: float, spin_y: float, radius: float, mu: float) -> Roll:
    """Return the closed form for a start along x; the contact point moves with v + w x (-r e_z)."""
    return Roll(v0=np.array([v0, 0.0]), slip=np.array([v0 - radius * spin_y, radius * spin_x]), mu=mu)


def build(**params: float) -> Scene:
    """Return the scene: a curved path while it slides, a straight one afterwards."""
    mu, v0, radius, mass = (params[key] for key in ("mu", "v0", "radius", "mass"))
    spin = [params[f"spin_{axis}"] for axis in "xyz"]
    motion = roll(v0, spin[0], spin[1], radius, mu)
    system = table(radius, mass, mu)
    return Scene(
        name="cue_ball",
        title="Cue ball: from slip to roll on a curved path",
        source="Coriolis (1835); t = 2 |slip| / (7 mu g), v = v0 - 2/7 slip",
        system=system,
        state=system.state({"ball": (0.0, 0.0, radius)}, {"ball": (v0, 0.0, 0.0, *spin)}),
        t_end=math.ceil((motion.t_roll + AFTER) / DT) * DT,
        dt=DT,
        params=params,
        exact=exact(motion, mu, float(np.linalg.norm(spin)), math.ceil((motion.t_roll + AFTER) / DT) * DT),
        tests=("friction in space", "slip to stick", "a slip direction that does not turn"),
        columns=body_columns(system),
        dim=3,
    )


def table(radius: float, mass: float, mu: float) -> SpatialSystem:
    """Return a ball and a table, the plane z = 0."""
    return SpatialSystem(
        bodies=[ball("ball", mass=mass, radius=radius)],
        obstacles=[HalfSpace(name="table")],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, 0.0, -G),
    )


def exact(motion: Roll, mu: float, spin: float, t_end: float) -> tuple[Exact, ...]:
    """Return the exact numbers.

    In the step in which it begins to roll, friction lasts too long; and the moment of friction is taken in body axes
    as they are at the middle of a step, in which they turn by DT times the spin (where its axis turns: give 0 else).
    """
    turned = 1e-11 + 0.05 * (DT * spin) ** 2 * float(np.linalg.norm(motion.slip))
    late = 2.0 * mu * G * DT * DT + turned * t_end
    half = 0.5 * motion.t_roll
    half = round(half / DT) * DT
    checks = [
        check(
            f"v{axis} at the end",
            float(motion.v_end[k]),
            "m/s",
            last(f"ball.v{axis}"),
            moreau_jean=turned,
            located=True,
        )
        for k, axis in enumerate("xy")
    ]
    checks += [
        check(
            f"{axis} at the end",
            float(motion.place(t_end)[k]),
            "m",
            last(f"ball.{axis}"),
            moreau_jean=late,
            located=True,
        )
        for k, axis in enumerate("xy")
    ]
    if half + DT < motion.t_roll:
        speed = float(motion.velocity(half)[0])
        checks.append(check("vx half way to rolling", speed, "m/s", at("ball.vx", half), moreau_jean=turned))
    return (*checks, check("largest vertical speed", 0.0, "m/s", largest("ball.vz"), moreau_jean=1e-13, located=True))
