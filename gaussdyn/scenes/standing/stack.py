"""Boxes on top of each other: they stand, and the floor carries their weight, however heavy the topmost is.

Source: statics; scenes with heavy tops are where softened or unconverged contacts give way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...mechanics.collision.shapes import HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import brick
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest_shift
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "boxes": Parameter(default=5.0, unit="1", min=1.0, max=50.0, meaning="number of boxes (rounded)"),
    "top": Parameter(default=1.0, unit="1", min=1e-3, max=1e6, meaning="mass of the topmost over that of the others"),
    "mu": Parameter(default=0.5, unit="1", min=0.0, max=1.5, meaning="friction"),
    "half": Parameter(default=0.1, unit="m", min=0.01, max=1.0, meaning="half side of the cubes"),
}
DT, T_END = 2e-3, 0.5  # s


def build(boxes: float, top: float, mu: float, half: float) -> Scene:
    """Return the scene: at rest from the start."""
    system, places = tower(round(boxes), top, mu, half)
    weight = G * sum(body.mass for body in system.bodies)
    last = system.bodies[-1].name
    exact = (
        check("largest error of the weight", 0.0, "N", _carried(weight), moreau_jean=1e-10 * weight),
        check("largest way of a box", 0.0, "m", largest_shift, moreau_jean=1e-11),
        check(
            "height of the topmost",
            float(places[last][2]),
            "m",
            lambda run: float(run[f"{last}.z"][-1]),
            moreau_jean=1e-11,
        ),
    )
    return Scene(
        name="stack",
        title="Stack of boxes: mass ratios up to a million",
        source="statics",
        system=system,
        state=system.state(places),
        t_end=T_END,
        dt=DT,
        params={"boxes": boxes, "top": top, "mu": mu, "half": half},
        exact=exact,
        tests=("redundant contacts in space", "mass ratios", "no sinking"),
        columns=body_columns(system, last),
        dim=3,
    )


def tower(n: int, top: float, mu: float, half: float) -> tuple[SpatialSystem, dict[str, tuple[float, float, float]]]:
    """Return n cubes of 1 kg, the topmost of `top` kg, on a floor, and where they stand."""
    names = [f"box{k:02d}" for k in range(n)]
    masses = [1.0] * (n - 1) + [top]
    system = SpatialSystem(
        bodies=[brick(name, mass=mass, half=[half] * 3) for name, mass in zip(names, masses, strict=True)],
        obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, 0.0, -G),
    )
    return system, {name: (0.0, 0.0, half * (2 * k + 1)) for k, name in enumerate(names)}


def _carried(weight: float) -> Any:
    def error(run: Any) -> float:
        """Return how far the floor is from carrying the weight, N."""
        return float(np.abs(run.between("box00", "floor").force[1:, 2] - weight).max())

    return error
