"""A brick on a slope in space: below the friction angle it does not creep, above it slides as Coulomb says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...mechanics.collision.shapes import HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import brick
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest
from ..measures.spatial_measures import body_columns, travelled

PARAMETERS = {
    "ratio": Parameter(default=0.99, unit="1", min=0.0, max=2.0, meaning="tan(slope) / mu; it holds up to 1"),
    "mu": Parameter(default=0.5, unit="1", min=0.05, max=0.9, meaning="friction"),
    "heading": Parameter(default=0.3, unit="rad", min=-3.2, max=3.2, meaning="of the fall line, from x towards y"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the brick"),
}
HALF = (0.1, 0.1, 0.05)  # m; flat enough not to tip anywhere in the stated range
DT, T_END = 1e-3, 1.0  # s


def build(ratio: float, mu: float, heading: float, mass: float) -> Scene:
    """Return the scene; the slope is the plane z = 0, and gravity is tilted."""
    system = tilted(ratio, mu, heading, mass)
    slope = math.atan(mu * ratio)
    a = max(G * (math.sin(slope) - mu * math.cos(slope)), 0.0) if ratio > 1.0 else 0.0
    near = 1e-10 if ratio > 1.0 else 1e-15
    exact = (
        check("way at the end", 0.5 * a * T_END**2, "m", travelled("brick.x", "brick.y"), moreau_jean=near),
        check("speed at the end", a * T_END, "m/s", _speed, moreau_jean=1e-11 if ratio > 1.0 else 1e-16),
        check("largest vertical speed", 0.0, "m/s", largest("brick.vz"), moreau_jean=1e-12),
    )
    return Scene(
        name="brick_on_slope",
        title="Brick on a slope: no creep below the friction angle",
        source="Coulomb's law; a = g (sin slope - mu cos slope) above it",
        system=system,
        state=system.state({"brick": (0.0, 0.0, HALF[2])}),
        t_end=T_END,
        dt=DT,
        params={"ratio": ratio, "mu": mu, "heading": heading, "mass": mass},
        exact=exact,
        tests=("no creep at rest", "redundant contacts in space", "slip"),
        columns=body_columns(system),
        dim=3,
    )


def tilted(ratio: float, mu: float, heading: float, mass: float) -> SpatialSystem:
    """Return a brick on the plane z = 0 under gravity tilted by the slope."""
    slope = math.atan(mu * ratio)
    along = (math.sin(slope) * math.cos(heading), math.sin(slope) * math.sin(heading))
    return SpatialSystem(
        bodies=[brick("brick", mass=mass, half=HALF)],
        obstacles=[HalfSpace(name="slope")],
        contact=ContactLaw(mu=mu),
        gravity=(G * along[0], G * along[1], -G * math.cos(slope)),
    )


def _speed(run: Any) -> float:
    return float(np.linalg.norm(run.v[-1, :3]))
