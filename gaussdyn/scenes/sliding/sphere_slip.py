"""A ball thrown flat on a floor slides, slows, and rolls: the simplest change from slip to stick."""

from __future__ import annotations

import math

from ...mechanics.scene import Parameter, Scene
from ..measures.spatial_measures import body_columns
from .cue_ball import AFTER, DT, exact, roll, table

PARAMETERS = {
    "mu": Parameter(default=0.3, unit="1", min=0.05, max=1.0, meaning="friction"),
    "v0": Parameter(default=2.0, unit="m/s", min=0.1, max=5.0, meaning="speed at the start, without spin"),
    "radius": Parameter(default=0.1, unit="m", min=0.01, max=1.0, meaning="of the ball"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the ball"),
}


def build(mu: float, v0: float, radius: float, mass: float) -> Scene:
    """Return the scene: it rolls after t = 2 v0 / (7 mu g) with 5/7 v0, having lost 2/7 of its energy."""
    motion = roll(v0, 0.0, 0.0, radius, mu)
    t_end = math.ceil((motion.t_roll + AFTER) / DT) * DT
    system = table(radius, mass, mu)
    return Scene(
        name="sphere_slip",
        title="Ball from slip to roll",
        source="t = 2 v0 / (7 mu g), v = 5/7 v0",
        system=system,
        state=system.state({"ball": (0.0, 0.0, radius)}, {"ball": (v0, 0.0, 0.0)}),
        t_end=t_end,
        dt=DT,
        params={"mu": mu, "v0": v0, "radius": radius, "mass": mass},
        exact=exact(motion, mu, 0.0, t_end),
        tests=("friction in space", "slip to stick", "no hop of a thrown ball"),
        columns=body_columns(system),
        dim=3,
    )
