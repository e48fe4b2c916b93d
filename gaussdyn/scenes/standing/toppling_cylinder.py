"""A cylinder on a slope topples over the lowest point of its rim where tan(slope) exceeds radius / half length.

Below that it stands still. Beyond, it turns about that point, which sticks, and its spin is what its energy says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...mechanics.collision.shapes import Cylinder, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import SpatialBody, solid
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest_shift
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "ratio": Parameter(default=1.05, unit="1", min=0.0, max=1.2, meaning="tan(slope) half_length / radius; 1: stands"),
    "radius": Parameter(default=0.1, unit="m", min=0.01, max=0.2, meaning="of the cylinder"),
    "half_length": Parameter(default=0.3, unit="m", min=0.1, max=3.0, meaning="of the cylinder"),
}  # fmt: skip
DENSITY = 1000.0  # kg/m^3
STEPS, TURN = 1000, 2.23  # and the time of the run over sqrt(arm / g), in which it turns by less than a radian
MU = 4.0  # of what does not slide, whatever the slope


def build(ratio: float, radius: float, half_length: float) -> Scene:
    """Return the scene; the slope is the plane z = 0, it falls along x, and gravity is tilted."""
    slope = math.atan(ratio * radius / half_length)
    body = solid("column", Cylinder(radius=radius, half_length=half_length), density=DENSITY)
    system = SpatialSystem(
        bodies=[body],
        obstacles=[HalfSpace(name="slope")],
        contact=ContactLaw(mu=MU),
        gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)),
    )
    arm = math.hypot(radius, half_length)
    t_end = TURN * math.sqrt(arm / G)
    if ratio <= 1.0:
        exact = [check("largest shift", 0.0, "m", largest_shift, moreau_jean=1e-12)]
    else:
        spin = _excess(body, arm, slope)
        exact = [
            check("distance from the edge", arm, "m", _distance(radius), moreau_jean=1e-8, located=True),
            check("spin less that of its energy", 0.0, "rad/s", spin, moreau_jean=1e-5, located=True),
        ]
    return Scene(
        name="toppling_cylinder",
        title="Cylinder on a slope: it topples over its rim",
        source="tan(slope) = radius / half_length; beyond, the energy of a turn about the edge",
        system=system,
        state=system.state({"column": (0.0, 0.0, half_length)}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"ratio": ratio, "radius": radius, "half_length": half_length},
        exact=tuple(exact),
        tests=("the rim of a disc on a plane", "toppling at the known angle"),
        columns=body_columns(system),
        dim=3,
    )


def _distance(radius: float) -> Callable[[Any], float]:
    """Return the measure: how far the centre is from the lowest point of the rim at the start."""
    return lambda run: math.hypot(run["column.x"][-1] - radius, run["column.z"][-1])


def _excess(body: SpatialBody, arm: float, slope: float) -> Callable[[Any], float]:
    """Return the measure: the spin less the one that the way of the centre gives, by the energy of a turn."""
    moment = float(np.array(body.inertia)[1, 1]) + body.mass * arm * arm

    def found(run: Any) -> float:
        x, z = run["column.x"], run["column.z"]
        fallen = math.sin(slope) * (x[-1] - x[0]) - math.cos(slope) * (z[-1] - z[0])
        return float(run["column.wy"][-1]) - math.sqrt(max(0.0, 2.0 * body.mass * G * fallen / moment))

    return found
