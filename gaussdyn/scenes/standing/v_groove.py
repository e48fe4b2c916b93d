"""A body at rest in a V-groove: up to six accelerations from rest.

The motions are counted by one linear program per mode, not in closed form; see `all_modes`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, PlanarBody
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check
from ..measures.measures import Columns, check, coordinate
from ..references.all_modes import Motions, motions_from_rest

PARAMETERS = {
    "slope": Parameter(default=0.9, unit="rad", min=0.1, max=1.2, meaning="of both walls"),
    "mu": Parameter(default=2.0, unit="1", min=0.1, max=2.5, meaning="friction of both walls"),
    "left": Parameter(default=1.4, unit="m", min=0.2, max=1.5, meaning="left contact, to the left of the mass centre"),
    "right": Parameter(
        default=0.9, unit="m", min=0.2, max=1.5, meaning="right contact, to the right of the mass centre"
    ),
    "height": Parameter(default=1.0, unit="m", min=0.0, max=2.5, meaning="mass centre above the left contact"),
    "inertia": Parameter(default=0.14, unit="kg m^2", min=0.05, max=1.0, meaning="about the mass centre"),
    "force_x": Parameter(default=1.6, unit="N", min=-5.0, max=5.0, meaning="on the mass centre"),
    "force_y": Parameter(default=-3.7, unit="N", min=-5.0, max=5.0, meaning="on the mass centre"),
    "torque": Parameter(default=-2.1, unit="N m", min=-5.0, max=5.0, meaning="on the body"),
}
MASS, DT, STEPS = 1.0, 2e-4, 50  # kg, s


def build(**params: float) -> Scene:
    """Return the scene; by default with several motions from rest."""
    slope, left, right, height = (params[key] for key in ("slope", "left", "right", "height"))
    feet = {"left": (-left, -height), "right": (right, -height + (right - left) * math.tan(slope))}
    load = params["force_x"], params["force_y"], params["torque"]
    walls = {word: HalfPlane(name=f"{word}_wall", point=feet[word], normal=(side * math.sin(slope), math.cos(slope)))
             for word, side in (("left", 1.0), ("right", -1.0))}  # fmt: skip
    system = PlanarSystem(
        bodies=[PlanarBody(name="body", mass=MASS, inertia=params["inertia"], outline=(*feet.values(), (0.0, 0.2)))],
        contacts=[
            PlanarContact(point=Marker("body", at, word), plane=walls[word], mu=params["mu"])
            for word, at in feet.items()
        ],
        forces=[Load(point=Marker("body"), force_xy=load[:2], torque=load[2])],
        gravity=(0.0, 0.0),
    )
    columns: Columns = {
        "body.x": ("m", coordinate(0)), "body.y": ("m", coordinate(1)), "body.angle": ("rad", coordinate(2)),
    }  # fmt: skip
    directions = _directions(slope, feet)
    light = directions / np.array([MASS, MASS, params["inertia"]])
    free = light @ np.array(load)
    motions = motions_from_rest(light @ directions.T, free, params["mu"])
    return Scene(
        name="v_groove",
        title="Body at rest in a V-groove: more than three motions",
        source="linear programs (HiGHS), one per mode",
        system=system,
        state=system.state({}),
        t_end=STEPS * DT,
        dt=DT,
        params=params,
        exact=_exact(motions, directions, float(np.abs(free).max()), system),
        tests=("many motions from rest", "two contacts on different planes"),
        columns=columns,
    )


def _directions(slope: float, feet: dict[str, tuple[float, float]]) -> Array:
    """Return the rows (N, T) of both contacts over (x, y, angle), shape (4, 3)."""
    rows = []
    for (x, y), side in zip(feet.values(), (1.0, -1.0), strict=True):
        n = (side * math.sin(slope), math.cos(slope))
        rows += [(*e, x * e[1] - y * e[0]) for e in (n, (n[1], -n[0]))]
    return np.array(rows)


def _exact(motions: Motions, directions: Array, scale: float, system: PlanarSystem) -> tuple[Exact, ...]:
    def astray(run: Any) -> float:
        """Return how far the first step is from the nearest motion, m/s^2."""
        return motions.distance(directions @ run.v[1] / DT)

    return (
        count_check(system, len(motions.found), motions.margin),
        check("first step, distance from the nearest motion", 0.0, "m/s^2", astray,
              moreau_jean=1e-8 * scale + 30.0 * (DT * scale) ** 2),
    )  # fmt: skip
