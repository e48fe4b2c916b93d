"""A capsule pinched between two jaws: it does not creep, however long it is held and pulled at.

Source: Coulomb's law; both sides together hold any force along the jaws up to 2 mu N. Engines with softened friction
let it creep by 50 um/s and more at many times that margin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import pointing
from ...mechanics.collision.shapes import Box
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.spatial.bodies import brick, pill
from ...mechanics.spatial.forces import Load
from ...mechanics.spatial.joints import Slider
from ...mechanics.spatial.kinematics import SpatialMarker
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, largest_shift
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "force": Parameter(default=12.0, unit="N", min=5.0, max=60.0, meaning="N, that presses the jaws together"),
    "mu": Parameter(default=0.7, unit="1", min=0.3, max=1.5, meaning="friction on both jaws"),
    "mass": Parameter(default=0.045, unit="kg", min=0.02, max=0.1, meaning="of the capsule"),
    "pull": Parameter(default=0.0, unit="N", min=0.0, max=1.5, meaning="a further force on the capsule"),
    "heading": Parameter(default=0.0, unit="rad", min=-3.2, max=3.2, meaning="of the pull, along the jaws, from y up"),
}
RADIUS, HALF_LENGTH, JAW = 0.01, 0.03, (0.01, 0.05, 0.05)  # m; the capsule lies along y
DT, T_END = 2e-3, 0.5  # s


def build(force: float, mu: float, mass: float, pull: float, heading: float) -> Scene:
    """Return the scene; within the stated range the jaws can hold more than weight and pull."""
    along = (0.0, pull * math.cos(heading), pull * math.sin(heading))
    system = _system(force, mu, mass, along)
    lying = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
    places = {"capsule": (RADIUS, 0.0, 0.0, *lying), "jaw": (2.0 * RADIUS + JAW[0], 0.0, 0.0)}
    return Scene(
        name="pinched_capsule",
        title="Pinched capsule: held without creep",
        source="Coulomb's law; it holds as long as weight and pull together are at most 2 mu N",
        system=system,
        state=system.state(places),
        t_end=T_END,
        dt=DT,
        params={"force": force, "mu": mu, "mass": mass, "pull": pull, "heading": heading},
        exact=_exact(force, np.array([0.0, along[1], along[2] - mass * G]), mass),
        tests=("no creep at rest", "redundant contacts in space", "a grasp"),
        columns=body_columns(system, "capsule"),
        dim=3,
    )


def _system(force: float, mu: float, mass: float, along: tuple[float, float, float]) -> SpatialSystem:
    """Return a fixed jaw with its face at x = 0, the capsule, and a jaw on a rail along x."""
    rail = pointing((1.0, 0.0, 0.0))
    return SpatialSystem(
        bodies=[
            pill("capsule", mass=mass, radius=RADIUS, half_length=HALF_LENGTH),
            brick("jaw", mass=0.1, half=JAW),
        ],
        obstacles=[Box(name="anvil", half=JAW, at=(-JAW[0], 0.0, 0.0))],
        joints=[
            Slider(name="rail", a=SpatialMarker("jaw", turn=rail), b=SpatialMarker("ground", turn=rail)),
        ],
        forces=[
            Load(point=SpatialMarker("jaw"), force_xyz=(-force, 0.0, 0.0)),
            Load(point=SpatialMarker("capsule"), force_xyz=along),
        ],
        contact=ContactLaw(mu=mu),
        gravity=(0.0, 0.0, -G),
    )


def _exact(force: float, load: Array, mass: float) -> tuple[Exact, ...]:
    """Return the checks; speeds are zero to the residual of a step, 1e-12 of the speed that its load would give."""
    scale = force + float(np.linalg.norm(load))

    def pressed(run: Any) -> float:
        """Return how far both sides are from pressing with the given force, N."""
        sides = [run.between("capsule", name).normal_force[1:] for name in ("anvil", "jaw")]
        return float(np.abs(np.array(sides) - force).max())

    def carried(run: Any) -> float:
        """Return how far both sides together are from carrying weight and pull, N."""
        held = sum(run.between("capsule", name).force[1:] for name in ("anvil", "jaw"))
        return float(np.abs(held + load).max())

    return (
        check("largest creep of anything", 0.0, "m", largest_shift, moreau_jean=1e-14),
        check("largest speed", 0.0, "m/s", _fastest, moreau_jean=1e-12 * scale * DT / mass),
        check("largest error of the force of a jaw", 0.0, "N", pressed, moreau_jean=1e-9 * scale),
        check("largest error of what the jaws carry", 0.0, "N", carried, moreau_jean=1e-9 * scale),
    )


def _fastest(run: Any) -> float:
    return float(np.abs(run.v).max())
