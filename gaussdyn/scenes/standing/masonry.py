"""An arch of polyhedra on the ground, tilted: it falls where limit analysis says so.

Every stone is a polyhedron with flat sides that touches its neighbours with whole faces. What it bears sideways, as a
share of its weight, is a linear program in the plane: the tangent of the tilt at which it falls.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import IDENTITY
from ...mechanics.collision.shapes import ConvexMesh, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import solid
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State
from ..measures.measures import G, check, largest_shift
from ..measures.spatial_measures import body_columns
from ..references.arch_statics import largest_push

PARAMETERS = {
    "stones": Parameter(default=7.0, unit="1", min=5.0, max=15.0, meaning="N (rounded)"),
    "thickness": Parameter(default=0.2, unit="1", min=0.15, max=0.3, meaning="over the mean radius"),
    "mu": Parameter(default=0.7, unit="1", min=0.5, max=1.0, meaning="friction of the joints"),
    "ratio": Parameter(default=0.99, unit="1", min=0.0, max=1.2, meaning="tan(tilt) over its largest value"),
}
DENSITY, RADIUS, DEPTH = 2000.0, 1.0, 0.3  # kg/m^3, m
DT, STEPS = 1e-3, 10
TIE = 1e-4  # closer to the limit nothing is promised of a run


def build(stones: float, thickness: float, mu: float, ratio: float) -> Scene:
    """Return the scene: at rest; gravity is tilted along x."""
    n = round(stones)
    tilt = math.atan(ratio * largest_push(n, thickness, mu))
    system, state = arch(n, thickness, mu, tilt)
    weight = G * sum(body.mass for body in system.bodies)
    exact = [check("stands", float(ratio < 1.0), "1", _still, moreau_jean=0.5 if abs(ratio - 1.0) > TIE else 9.0)]
    if ratio < 1.0 - TIE:
        exact += [
            check("largest shift", 0.0, "1", largest_shift, moreau_jean=1e-9),
            check("force of the ground", weight * math.cos(tilt), "N", _carried, moreau_jean=1e-7 * weight),
        ]
    return Scene(
        name="masonry",
        title="Arch of polyhedra on tilted ground",
        source="limit analysis as a linear program in the plane",
        system=system,
        state=state,
        t_end=STEPS * DT,
        dt=DT,
        params={"stones": stones, "thickness": thickness, "mu": mu, "ratio": ratio},
        exact=tuple(exact),
        tests=("faces of polyhedra on faces", "redundant contacts in space", "statics at the limit", "collapse"),
        columns=body_columns(system, f"stone{n // 2:02d}"),
        dim=3,
    )


def arch(n: int, thickness: float, mu: float, tilt: float) -> tuple[SpatialSystem, State]:
    """Return n stones ``stone00`` .. from x > 0 to x < 0, and their state at rest."""
    bodies = [solid(f"stone{k:02d}", ConvexMesh(vertices=_stone(n, thickness, k)), density=DENSITY) for k in range(n)]
    system = SpatialSystem(
        bodies=bodies,
        obstacles=[HalfSpace(name="soil")],
        contact=ContactLaw(mu=mu),
        gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)),
    )
    # `solid` has moved every stone by the place of its mass centre
    return system, system.state({body.name: (*(-x for x in body.shapes[0].at), *IDENTITY) for body in bodies})


def _stone(n: int, thickness: float, k: int) -> Array:
    """Return the corners of stone k where it stands."""
    radii = RADIUS * (1.0 - thickness / 2.0), RADIUS * (1.0 + thickness / 2.0)
    angles = [math.pi * m / n for m in (k, k + 1)]
    return np.array([
        (r * math.cos(a), y, r * math.sin(a) if 0 < m < n else 0.0)
        for m, a in zip((k, k + 1), angles, strict=True) for r in radii for y in (-DEPTH / 2.0, DEPTH / 2.0)
    ])  # fmt: skip


def _still(run: Any) -> float:
    """Whether no stone is quicker than rounding at the end, over what it would fall."""
    return float(np.abs(run.v[-1]).max() < 1e-8 * G * STEPS * DT)


def _carried(run: Any) -> float:
    """Return the sum of the normal forces of the ground."""
    return float(sum(c.reaction[0] for c in run.contacts(-1) if "soil" in c.between))
