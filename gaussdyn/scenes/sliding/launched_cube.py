"""A cube thrown flat on a floor slides to rest: it must not lift, not tip, and stop where Coulomb says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.collision.shapes import HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import brick
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, at_event, check, largest, last, settled_time
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "mu": Parameter(default=0.5, unit="1", min=0.05, max=0.95, meaning="friction; a cube would tip for mu > 1"),
    "v0": Parameter(default=6.0, unit="m/s", min=0.1, max=10.0, meaning="speed at the start"),
    "heading": Parameter(default=0.0, unit="rad", min=-3.2, max=3.2, meaning="direction, from x towards y"),
    "side": Parameter(default=0.1, unit="m", min=0.01, max=1.0, meaning="of the cube"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the cube"),
}
DT, AFTER = 1e-3, 0.1  # s


def build(mu: float, v0: float, heading: float, side: float, mass: float) -> Scene:
    """Return the scene: it stops after v0 / (mu g), v0^2 / (2 mu g) from its start."""
    system = SpatialSystem(
        bodies=[brick("cube", mass=mass, half=[side / 2] * 3)],
        obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, 0.0, -G),
    )
    stop, way = v0 / (mu * G), v0 * v0 / (2.0 * mu * G)
    e = (math.cos(heading), math.sin(heading))
    late = mu * G * DT * DT + 1e-10
    exact = (
        check(
            "time of the stop",
            stop,
            "s",
            at_event(lambda run: settled_time(run, _speed(run) <= 1e-9), "stick"),
            moreau_jean=1.5 * DT,
            located=True,
        ),
        check("x at the end", way * e[0], "m", last("cube.x"), moreau_jean=late, located=True),
        check("y at the end", way * e[1], "m", last("cube.y"), moreau_jean=late, located=True),
        check("speed at the end", 0.0, "m/s", lambda run: float(_speed(run)[-1]), moreau_jean=1e-15, located=True),
        check(
            "largest lift",
            0.0,
            "m",
            lambda run: float(abs(run["cube.z"] - side / 2).max()),
            moreau_jean=1e-10,
            located=True,
        ),
        check("largest tilt", 0.0, "rad/s", largest("cube.wy"), moreau_jean=1e-9, located=True),
    )
    return Scene(
        name="launched_cube",
        title="Launched cube: it slides to rest without lift or tilt",
        source="Coulomb's law: a = -mu g; engines with a softened cone lift it",
        system=system,
        state=system.state({"cube": (0.0, 0.0, side / 2)}, {"cube": (v0 * e[0], v0 * e[1], 0.0)}),
        t_end=math.ceil((stop + AFTER) / DT) * DT,
        dt=DT,
        params={"mu": mu, "v0": v0, "heading": heading, "side": side, "mass": mass},
        exact=exact,
        tests=("redundant contacts in space", "slip to stick", "friction that is not associated"),
        columns=body_columns(system),
        dim=3,
    )


def _speed(run: Any) -> Array:
    return np.asarray(np.hypot(run["cube.vx"], run["cube.vy"]))
