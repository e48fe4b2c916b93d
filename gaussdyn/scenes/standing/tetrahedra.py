"""Three tetrahedra stand on the ground, and a fourth one on their tips: each bears a third of it.

A tip is a point, so that the forces there follow from the balance of moments: three of one size. What the ground
bears of each is its own weight and that third.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.collision.shapes import ConvexMesh, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import solid
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest_shift
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "edge": Parameter(default=0.1, unit="m", min=0.02, max=0.5, meaning="of the three below"),
    "apart": Parameter(default=1.1, unit="1", min=1.02, max=1.5, meaning="distance of their middles over the edge"),
    "cover": Parameter(default=1.3, unit="1", min=1.05, max=2.0, meaning="edge of the one on top over that distance"),
    "mu": Parameter(default=0.4, unit="1", min=0.0, max=1.0, meaning="friction of all faces"),
}
DENSITY, DT, STEPS = 1000.0, 1e-3, 50  # kg/m^3, s
CORNERS = np.array([(math.cos(a), math.sin(a), 0.0) for a in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)]) / math.sqrt(3.0)
TIP = math.sqrt(2.0 / 3.0)  # height over the edge


def build(edge: float, apart: float, cover: float, mu: float) -> Scene:
    """Return the scene: at rest."""
    below, top = _tetrahedron(edge), _tetrahedron(cover * apart * edge)
    bodies = [solid(f"base{k}", ConvexMesh(vertices=below), density=DENSITY) for k in range(3)]
    bodies.append(solid("top", ConvexMesh(vertices=top), density=DENSITY))
    system = SpatialSystem(
        bodies=bodies, obstacles=[HalfSpace(name="floor")], contact=ContactLaw(mu=mu), gravity=(0.0, 0.0, -G)
    )
    place = {f"base{k}": corner * apart * edge + (0.0, 0.0, TIP * edge / 4.0) for k, corner in enumerate(CORNERS)}
    place["top"] = np.array([0.0, 0.0, TIP * edge * (1.0 + cover * apart / 4.0)])
    share = bodies[3].mass * G / 3.0
    own = bodies[0].mass * G
    forces = [(f"force of the top on base {k}", share, _force(f"base{k}", "top"), own + share) for k in range(3)]
    forces += [(f"force of the ground on base {k}", own + share, _force(f"base{k}", "floor"), own) for k in range(3)]
    return Scene(
        name="tetrahedra",
        title="Tetrahedron on the tips of three others",
        source="balance of moments about the tips",
        system=system,
        state=system.state(place),
        t_end=STEPS * DT,
        dt=DT,
        params={"edge": edge, "apart": apart, "cover": cover, "mu": mu},
        exact=(
            check("largest shift", 0.0, "m", largest_shift, moreau_jean=1e-11),
            *(check(name, value, "N", measure, moreau_jean=1e-9 * size) for name, value, measure, size in forces),
        ),
        tests=("corners of polyhedra on a face", "faces of polyhedra on a plane"),
        columns=body_columns(system, "top"),
        dim=3,
    )


def _tetrahedron(edge: float) -> Array:
    """Return the corners of a regular tetrahedron on the ground, the middle of its base at the origin."""
    return edge * np.vstack([CORNERS, [(0.0, 0.0, TIP)]])


def _force(one: str, other: str) -> Any:
    """Return the measure: the normal force between two bodies at the end."""
    pair = {one, other}
    return lambda run: float(sum(c.reaction[0] for c in run.contacts(-1) if set(c.between) == pair))
