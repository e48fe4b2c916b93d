"""A wedge slides down a V-groove of triangles as down a plane that is rougher: mu is divided by sin of the half angle.

Across the groove 2 N sin(half) = m g cos(slope), along it m a = m g sin(slope) - 2 mu N. The groove is made of many
triangles: nothing catches where they meet.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...mechanics.collision.shapes import ConvexMesh
from ...mechanics.collision.terrain.surfaces import Mesh
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import solid
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "half_angle": Parameter(default=0.7, unit="rad", min=0.4, max=1.3, meaning="between the walls and the middle"),
    "slope": Parameter(default=0.5, unit="rad", min=0.0, max=0.6, meaning="of the groove"),
    "mu": Parameter(default=0.2, unit="1", min=0.0, max=0.5, meaning="friction of the walls"),
}
LOW, HIGH, LENGTH = 0.02, 0.06, 0.15  # m: where the wedge begins and ends above the bottom of the groove; its length
WAY, TRIANGLES = 1.2, 40  # m, on each wall
DENSITY, T_END, DT = 1000.0, 0.4, 2e-3  # kg/m^3, s


def build(half_angle: float, slope: float, mu: float) -> Scene:
    """Return the scene; the groove is along y, and gravity is tilted."""
    body = solid("wedge", ConvexMesh(vertices=_wedge(half_angle)), density=DENSITY)
    system = SpatialSystem(
        bodies=[body],
        obstacles=[groove(half_angle)],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, G * math.sin(slope), -G * math.cos(slope)),
    )
    height = -float(body.shapes[0].at[2])  # of the mass centre: the wedge is given where it stands
    across = body.mass * G * math.cos(slope)
    slides = [
        check("force across both walls", across / math.sin(half_angle), "N", _pressing, moreau_jean=1e-8 * across)
    ]
    pull = max(0.0, G * (math.sin(slope) - mu * math.cos(slope) / math.sin(half_angle)))
    return Scene(
        name="wedge_in_groove",
        title="Wedge in a V-groove of triangles",
        source="2 N sin(half_angle) = m g cos(slope): closed form",
        system=system,
        state=system.state({"wedge": (0.0, 0.0, height)}),
        t_end=T_END,
        dt=DT,
        params={"half_angle": half_angle, "slope": slope, "mu": mu},
        exact=(
            check("way along the groove", 0.5 * pull * T_END**2, "m", last("wedge.y"), moreau_jean=1e-9),
            check("way across", 0.0, "m", lambda run: float(np.abs(run.q[:, [0, 2]] - run.q[0, [0, 2]]).max()),
                  moreau_jean=1e-9),
            *(slides if pull > 0.0 else ()),  # at rest friction may bear some of the weight
        ),
        tests=("a polyhedron in a hollow of triangles", "sliding over edges that do not catch"),
        columns=body_columns(system),
        dim=3,
    )  # fmt: skip


def groove(half_angle: float) -> Mesh:
    """Return the groove: two walls of triangles that meet in the line x = z = 0."""
    rows, across = TRIANGLES // 2 + 1, 2.0 * HIGH * math.tan(half_angle)
    y = np.linspace(-0.3, WAY, rows)
    points = np.concatenate([np.column_stack([np.full(rows, s * across), y, np.full(rows, abs(s) * 2.0 * HIGH)])
                             for s in (-1.0, 0.0, 1.0)])  # fmt: skip
    faces = []
    for wall in range(2):
        for k in range(rows - 1):
            a, b = wall * rows + k, (wall + 1) * rows + k
            faces += [(a, b, b + 1), (a, b + 1, a + 1)]
    return Mesh(name="groove", vertices=points, faces=faces)


def _wedge(half_angle: float) -> Any:
    """Return the corners of a wedge without its edge, over the bottom of the groove."""
    t = math.tan(half_angle)
    return [(s * z * t, y, z) for z in (LOW, HIGH) for s in (-1.0, 1.0) for y in (-0.5 * LENGTH, 0.5 * LENGTH)]


def _pressing(run: Any) -> float:
    """Return the sum of the forces across the walls at the end."""
    return float(sum(contact.reaction[0] for contact in run.contacts(-1)))
