"""A brick pressed against a wall: friction holds it up, or it slides down as Coulomb says.

Source: it holds iff mu F >= m g; else it falls with g - mu F / m.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanics.collision.shapes import HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import brick
from ...mechanics.spatial.forces import Load
from ...mechanics.spatial.kinematics import SpatialMarker
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "force": Parameter(default=20.0, unit="N", min=10.0, max=100.0, meaning="that presses it against the wall"),
    "mu": Parameter(default=1.0, unit="1", min=0.0, max=1.5, meaning="friction; it holds if mu F >= m g"),
    "mass": Parameter(default=1.0, unit="kg", min=0.1, max=2.0, meaning="of the brick"),
    "v0": Parameter(default=0.0, unit="m/s", min=0.0, max=2.0, meaning="speed downwards at the start"),
}
HALF = (0.05, 0.1, 0.15)  # m; so flat that no corner leaves the wall in the stated range
DT, T_END = 1e-3, 0.5  # s


def build(force: float, mu: float, mass: float, v0: float) -> Scene:
    """Return the scene; the wall is the plane x = 0, gravity along -z."""
    system = SpatialSystem(
        bodies=[brick("brick", mass=mass, half=HALF)],
        obstacles=[HalfSpace(name="wall", normal=(-1.0, 0.0, 0.0))],
        forces=[Load(point=SpatialMarker("brick"), force_xyz=(force, 0.0, 0.0))],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, 0.0, -G),
    )
    drop, speed, late = fall(G - mu * force / mass, v0)
    carried = mass * G if mu * force >= mass * G else mu * force
    exact = (
        check("drop at the end", -drop, "m", last("brick.z"), moreau_jean=1e-13 + 1e-11 * drop + late * DT),
        check("velocity at the end", -speed, "m/s", last("brick.vz"), moreau_jean=1e-14 + 1e-11 * speed),
        check("largest gap", 0.0, "m", lambda run: float(np.abs(run["brick.x"] + HALF[0]).max()), moreau_jean=1e-10),
        check("largest turn", 0.0, "rad/s", largest("brick.wy"), moreau_jean=1e-10),
        check("force that presses", force, "N", _presses, moreau_jean=1e-9 * force),
        check("friction at the end", carried, "N", _carries, moreau_jean=1e-9 * (force + mass * G)),
    )
    return Scene(
        name="wall_press",
        title="Brick pressed against a wall",
        source="Coulomb's law; it holds iff mu F >= m g, else it falls with g - mu F / m",
        system=system,
        state=system.state({"brick": (-HALF[0], 0.0, 0.0)}, {"brick": (0.0, 0.0, -v0)}),
        t_end=T_END,
        dt=DT,
        params={"force": force, "mu": mu, "mass": mass, "v0": v0},
        exact=exact,
        tests=("no creep under a load", "redundant contacts in space", "slip to stick"),
        columns=body_columns(system),
        dim=3,
    )


def fall(a: float, v0: float) -> tuple[float, float, float]:
    """Return drop (m) and speed (m/s) at the end, and by what the step in which it stops may miss the speed.

    While it slides it has the acceleration a; it stops for good, or does not begin to slide, if a <= 0.
    """
    if a >= 0.0 or v0 + a * T_END > 0.0:
        return v0 * T_END + 0.5 * a * T_END**2, v0 + a * T_END, 0.0
    return -0.5 * v0 * v0 / a, 0.0, -a * DT if v0 else 0.0


def _presses(run: Any) -> float:
    return float(run.between("brick", "wall").normal_force[-1])


def _carries(run: Any) -> float:
    return float(run.between("brick", "wall").force[-1, 2])
