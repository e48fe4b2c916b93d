"""A body wedged between two walls: a continuum of accelerations.

The walls may squeeze it with any force, so friction may be anything. From rest every vertical acceleration in
[-g, 0] obeys the laws; sliding down every one from -g upwards; sliding up every one from -g downwards.
"""

from __future__ import annotations

import math
from typing import Any

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check, directions, extreme
from ..measures.measures import Columns, check, coordinate, largest, rate

PARAMETERS = {
    "pairs": Parameter(default=1.0, unit="1", min=1.0, max=2.0, meaning="contacts with each wall (rounded)"),
    "mu": Parameter(default=0.5, unit="1", min=0.05, max=2.0, meaning="friction of the walls"),
    "v0": Parameter(default=-1.0, unit="m/s", min=-2.0, max=2.0, meaning="velocity upwards; 0 is rest"),
    "width": Parameter(default=1.0, unit="m", min=0.2, max=2.0, meaning="half distance of the walls"),
    "inertia": Parameter(default=1.0, unit="kg m^2", min=0.1, max=5.0, meaning="about the mass centre"),
    "gravity": Parameter(default=1.0, unit="m/s^2", min=0.1, max=10.0, meaning="downwards"),
}
MASS, DT, STEPS, DEPTH = 1.0, 1e-3, 100, 0.5  # kg, s, m


def build(pairs: float, mu: float, v0: float, width: float, inertia: float, gravity: float) -> Scene:
    """Return the scene; by default sliding down."""
    levels = (0.0,) if round(pairs) == 1 else (-DEPTH * width, DEPTH * width)
    walls = {-1.0: HalfPlane(name="left_wall", point=(-width, 0.0), normal=(1.0, 0.0)),
             1.0: HalfPlane(name="right_wall", point=(width, 0.0), normal=(-1.0, 0.0))}  # fmt: skip
    contacts = [
        PlanarContact(point=Marker("body", (side * width, y), f"{word}{k}"), plane=walls[side], mu=mu)
        for side, word in ((-1.0, "left"), (1.0, "right")) for k, y in enumerate(levels)
    ]  # fmt: skip
    tall = max(levels[-1], 0.2 * width)
    outline = ((-width, -tall), (width, -tall), (width, tall), (-width, tall))
    system = PlanarSystem(
        bodies=[PlanarBody(name="body", mass=MASS, inertia=inertia, outline=outline)],
        contacts=contacts,
        gravity=(0.0, -gravity),
    )
    columns: Columns = {
        "body.y": ("m", coordinate(1)),
        "body.vy": ("m/s", rate(1)),
        "body.angle": ("rad", coordinate(2)),
    }
    params = {"pairs": pairs, "mu": mu, "v0": v0, "width": width, "inertia": inertia, "gravity": gravity}
    return Scene(
        name="wedge",
        title="Body wedged between two walls: a continuum of motions",
        source="T = 2 mu N with N >= 0 not determined by anything",
        system=system,
        state=system.state({}, {"body": (0.0, v0, 0.0)}),
        t_end=STEPS * DT,
        dt=DT,
        params=params,
        exact=_exact(system, v0, gravity),
        tests=("continuum of accelerations", "a run that must choose"),
        columns=columns,
    )


def _exact(system: PlanarSystem, v0: float, gravity: float) -> tuple[Exact, ...]:
    """The last unknown is the acceleration of a contact with the right wall along t = (0, 1): upwards."""
    low, high = (-math.inf, -gravity) if v0 > 0.0 else (-gravity, 0.0 if v0 == 0.0 else math.inf)

    def outside(run: Any) -> float:
        """Return how far the first step is outside the continuum, m/s^2."""
        w = (float(run["body.vy"][1]) - v0) / DT
        return max(low - w, w - high, 0.0)

    found = [
        count_check(system, 1, 1.0),
        check("acceleration of the first step outside of it", 0.0, "m/s^2", outside, moreau_jean=1e-8),
        check("largest angle", 0.0, "rad", largest("body.angle"), moreau_jean=1e-10),
    ]
    if math.isfinite(low):
        found.append(check("least acceleration", low, "m/s^2", extreme(system, -1, -1), moreau_jean=1e-8))
    if math.isfinite(high):
        found.append(check("largest acceleration", high, "m/s^2", extreme(system, -1, 1), moreau_jean=1e-8))
    if v0:
        sign = -math.copysign(1.0, v0)
        found.append(check("direction without bound", sign, "1", directions(system, -1), moreau_jean=0.5))
    return tuple(found)
