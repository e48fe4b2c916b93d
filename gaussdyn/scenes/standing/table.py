"""A table on n feet: its acceleration is unique, the forces on its feet are not.

With friction too small to tip it (mu h < a), all feet stick for |F| <= mu P, else all slide with m w = F - s mu P.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check
from ..measures.measures import Columns, check, coordinate, largest, rate
from ..references.straight_motion import Line, end_checks

PARAMETERS = {
    "feet": Parameter(default=4.0, unit="1", min=2.0, max=8.0, meaning="number of feet (rounded)"),
    "a": Parameter(default=1.0, unit="m", min=1.0, max=2.0, meaning="half distance of the outer feet"),
    "h": Parameter(default=0.8, unit="m", min=0.2, max=1.0, meaning="height of the mass centre"),
    "mu": Parameter(default=0.5, unit="1", min=0.05, max=0.8, meaning="friction of every foot"),
    "weight": Parameter(default=10.0, unit="N", min=1.0, max=100.0, meaning="P"),
    "force": Parameter(default=2.0, unit="N", min=-50.0, max=50.0, meaning="F, to the right, on the mass centre"),
    "v0": Parameter(default=1.0, unit="m/s", min=-2.0, max=2.0, meaning="velocity at the start; 0 is rest"),
}
MASS, DT, STEPS = 1.0, 2e-3, 150  # kg, s


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The acceleration in closed form."""

    mu: float
    weight: float
    force: float

    def slides(self, s: float) -> list[float]:
        """Return the acceleration while it slides with sign s, m/s^2."""
        return [(self.force - s * self.mu * self.weight) / MASS]

    def rests(self) -> list[float]:
        """Return the acceleration from rest."""
        excess = abs(self.force) - self.mu * self.weight
        return [math.copysign(max(excess, 0.0), self.force) / MASS]

    def margin(self, v0: float) -> float:
        """Return how far from the border between rest and slip it is (relative)."""
        return 1.0 if v0 else abs(abs(self.force) / self.weight - self.mu)


def build(**params: float) -> Scene:
    """Return the scene; by default sliding on four feet, then held by them."""
    a, h, mu, weight, force, v0 = (params[key] for key in ("a", "h", "mu", "weight", "force", "v0"))
    feet, table = round(params["feet"]), Table(mu=mu, weight=weight, force=force)
    floor, places = HalfPlane(name="floor"), [float(x) for x in np.linspace(-a, a, feet)]
    markers = [Marker("table", (x, -h), f"foot{k}") for k, x in enumerate(places)]
    outline = [corner for x in places for corner in ((x, 0.0), (x, -h), (x, 0.0))]
    top = ((a, 0.1 * h), (-a, 0.1 * h))
    system = PlanarSystem(
        bodies=[PlanarBody(name="table", mass=MASS, inertia=MASS * (a * a + h * h) / 3.0, outline=(*outline, *top))],
        contacts=[PlanarContact(point=marker, plane=floor, mu=mu) for marker in markers],
        forces=[Load(point=Marker("table"), force_xy=(force, 0.0))],
        gravity=(0.0, -weight / MASS),
    )
    columns: Columns = {
        "table.x": ("m", coordinate(0)),
        "table.vx": ("m/s", rate(0)),
        "table.angle": ("rad", coordinate(2)),
    }
    return Scene(
        name="table",
        title="Table on n feet: one acceleration, many forces",
        source="Newton and Coulomb; the forces form a polytope of dimension 2 n - 3 at rest, n - 2 in slip",
        system=system,
        state=system.state({"table": (0.0, h, 0.0)}, {"table": (v0, 0.0, 0.0)}),
        t_end=STEPS * DT,
        dt=DT,
        params=params,
        exact=_exact(table, system, v0, feet),
        tests=("redundant contacts", "unique acceleration under forces that are not", "slip to stick"),
        columns=columns,
    )


def _exact(table: Table, system: PlanarSystem, v0: float, feet: int) -> tuple[Exact, ...]:
    line, margin, weight = Line(slides=table.slides, rests=table.rests), table.margin(v0), table.weight
    fastest = abs(v0) + abs(table.force) / MASS * STEPS * DT
    known = 1e-9 * weight + 1e-12 * math.sqrt(feet) * MASS * fastest / DT  # a step is solved to 1e-12 of its velocities

    def carried(run: object) -> float:
        """Return how far the feet are from carrying the weight, N."""
        forces = [run[f"table.foot{k}/floor.r_N"][1:] for k in range(feet)]  # type: ignore[index]
        return float(np.abs(np.sum(forces, axis=0) - weight).max())

    return (
        count_check(system, 1, margin),
        check("largest error of the sum of all feet", 0.0, "N", carried, moreau_jean=known),
        check("largest angle", 0.0, "rad", largest("table.angle"), moreau_jean=1e-10),
        *end_checks(line, v0, margin, (STEPS, DT), ("table.x", "table.vx")),
    )
