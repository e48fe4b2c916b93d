"""A cylinder lies across a slope and rolls down: two points of its rims carry it, and it gains 2/3 g sin(slope)."""

from __future__ import annotations

import math

from ...mechanics.collision.shapes import Cylinder, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import solid
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest, last
from ..measures.spatial_measures import body_columns, travelled

PARAMETERS = {
    "slope": Parameter(default=0.2, unit="rad", min=0.0, max=0.6, meaning="of the plane"),
    "radius": Parameter(default=0.1, unit="m", min=0.01, max=1.0, meaning="of the cylinder"),
    "half_length": Parameter(default=0.2, unit="m", min=0.01, max=1.0, meaning="of the cylinder"),
    "mu": Parameter(default=0.5, unit="1", min=0.3, max=1.0, meaning="friction; it rolls up to tan(slope) = 3 mu"),
}
DENSITY = 1000.0  # kg/m^3
DT, T_END = 2e-3, 0.4  # s
LYING = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # its axis along x


def build(slope: float, radius: float, half_length: float, mu: float) -> Scene:
    """Return the scene; the slope is the plane z = 0, it falls along y, and gravity is tilted."""
    system = SpatialSystem(
        bodies=[solid("roller", Cylinder(radius=radius, half_length=half_length), density=DENSITY)],
        obstacles=[HalfSpace(name="slope")],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, G * math.sin(slope), -G * math.cos(slope)),
    )
    a = 2.0 / 3.0 * G * math.sin(slope)
    exact = (
        check("way at the end", 0.5 * a * T_END**2, "m", travelled("roller.x", "roller.y"), moreau_jean=1e-12),
        check("speed at the end", a * T_END, "m/s", last("roller.vy"), moreau_jean=1e-12),
        check("spin at the end", -a * T_END / radius, "rad/s", last("roller.wz"), moreau_jean=1e-10),
        check("largest vertical speed", 0.0, "m/s", largest("roller.vz"), moreau_jean=1e-12),
    )
    return Scene(
        name="rolling_cylinder",
        title="Cylinder rolls down a slope",
        source="a = g sin(slope) / (1 + 1/2), inertia m r^2 / 2 about its axis",
        system=system,
        state=system.state({"roller": (0.0, 0.0, radius, *LYING)}),
        t_end=T_END,
        dt=DT,
        params={"slope": slope, "radius": radius, "half_length": half_length, "mu": mu},
        exact=exact,
        tests=("rolling without slip", "the rim of a disc on a plane"),
        columns=body_columns(system),
        dim=3,
    )
