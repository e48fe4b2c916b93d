"""A drawer pulled beside its middle: it jams iff mu >= l / (2 d), however strong the pull.

Its play lets it stand askew, in touch with its guide at two corners across from each other. They push with N = P d / l
each, and resist with 2 mu N. It is narrow (a bracket on a pole): mu < l / w, so that the guide cannot squeeze it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, box
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.forces import Load
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ..measures.first_state import count_check
from ..measures.measures import Columns, check, coordinate, last, rate

PARAMETERS = {
    "mu": Parameter(default=0.5, unit="1", min=0.05, max=1.2, meaning="friction; it jams if mu >= l / (2 d)"),
    "length": Parameter(default=0.4, unit="m", min=0.3, max=0.8, meaning="l, of the drawer within its guide"),
    "arm": Parameter(default=0.3, unit="m", min=0.02, max=0.8, meaning="d, of the pull beside the middle"),
    "pull": Parameter(default=5.0, unit="N", min=0.5, max=50.0, meaning="P, along the guide"),
    "mass": Parameter(default=2.0, unit="kg", min=0.1, max=10.0, meaning="of the drawer"),
}
WIDTH, ASKEW = 0.2, 0.02  # m, rad
DT, STEPS = 1e-3, 300  # s
CONTACTS = ("drawer.back_left/left_wall", "drawer.front_right/right_wall")


def build(mu: float, length: float, arm: float, pull: float, mass: float) -> Scene:
    """Return the scene, from rest: the pull turns the drawer so that its far left and near right corner press."""
    reach, rise = _corner(length)
    force = pull * arm * math.cos(ASKEW) / (2.0 * rise)
    system = _system(reach, length, mu, mass, Load(point=Marker("drawer", (arm, 0.0), "handle"), force_xy=(0.0, pull)))
    columns: Columns = {
        "drawer.y": ("m", coordinate(1)),
        "drawer.vy": ("m/s", rate(1)),
        "drawer.angle": ("rad", coordinate(2)),
    }
    return Scene(
        name="drawer",
        title="Drawer pulled beside its middle: it slides or jams",
        source="statics: it jams iff mu >= l / (2 d)",
        system=system,
        state=system.state({"drawer": (0.0, 0.0, ASKEW)}),
        t_end=STEPS * DT,
        dt=DT,
        params={"mu": mu, "length": length, "arm": arm, "pull": pull, "mass": mass},
        exact=_exact(system, pull, (pull - 2.0 * mu * force) / mass, force),
        tests=("jamming", "two contacts on opposite sides"),
        columns=columns,
    )


def _corner(length: float) -> tuple[float, float]:
    """Return how far the touching corners are to the side of the middle, and along the guide, m."""
    s, c = math.sin(ASKEW), math.cos(ASKEW)
    return c * WIDTH / 2 + s * length / 2, c * length / 2 - s * WIDTH / 2


def _system(reach: float, length: float, mu: float, mass: float, load: Load) -> PlanarSystem:
    walls = {
        "left": HalfPlane(name="left_wall", point=(-reach, 0.0), normal=(1.0, 0.0)),
        "right": HalfPlane(name="right_wall", point=(reach, 0.0), normal=(-1.0, 0.0)),
    }
    corners = {
        f"{end}_{side}": (x, y)
        for end, y in (("front", -length / 2), ("back", length / 2))
        for side, x in (("left", -WIDTH / 2), ("right", WIDTH / 2))
    }
    return PlanarSystem(
        bodies=[box("drawer", mass=mass, width=WIDTH, height=length)],
        contacts=[
            PlanarContact(point=Marker("drawer", at, name), plane=walls[name.split("_")[1]], mu=mu)
            for name, at in corners.items()
        ],
        forces=[load],
        gravity=(0.0, 0.0),
    )


def _exact(system: PlanarSystem, pull: float, a: float, force: float) -> tuple[Exact, ...]:
    """Return the checks: `a` the acceleration if it slides (negative: it jams), m/s^2, `force` of each corner, N.

    Where it jams, friction alone may take up part of the couple, and the normal forces are not determined.
    """
    t, slides = STEPS * DT, max(a, 0.0)

    def pressed(run: Any) -> float:
        """Return how far the two corners are from pressing with the force of statics, N."""
        return float(max(np.abs(run[f"{name}.r_N"][1:] - force).max() for name in CONTACTS))

    def resisted(run: Any) -> float:
        """Return how far friction is from holding the pull, N; it pulls down the left wall, up the right one."""
        left, right = (run[f"{name}.r_T"][1:] for name in CONTACTS)
        return float(np.abs(left - right - pull).max())

    def turned(run: Any) -> float:
        """Return the largest change of the angle, rad."""
        return float(np.abs(run["drawer.angle"] - ASKEW).max())

    near = 1e-14 if a < 0.0 else 1e-11
    return (
        count_check(system, 1.0, abs(a) / (abs(a) + 1.0)),
        check("way at the end", 0.5 * slides * t * t, "m", last("drawer.y"), moreau_jean=near * (1.0 + slides)),
        check("speed at the end", slides * t, "m/s", last("drawer.vy"), moreau_jean=near * (1.0 + slides)),
        check("largest error of the friction of both corners", 0.0, "N", resisted, moreau_jean=1e-9 * pull)
        if a < 0.0
        else check("largest error of the force of a corner", 0.0, "N", pressed, moreau_jean=1e-9 * (pull + force)),
        check("largest turn", 0.0, "rad", turned, moreau_jean=1e-12),
    )
