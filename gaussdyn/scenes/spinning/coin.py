"""A coin rolls round on its rim, as Euler's disc does: without slip nothing stops it.

A thin one whose middle stands still goes round at 2 sqrt(g / (r sin(tilt))), the steady motion of Euler's disc; with
another pace, or some thickness, it nods. `rolling_on_plane` has the equations; real ones end by what these laws
do not have. Source: H. K. Moffatt, Euler's disk and its finite-time singularity, Nature 404 (2000), for the pace.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...arrays import Array
from ...mechanics.collision.shapes import Cylinder, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import solid
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check
from ..measures.spatial_measures import body_columns
from ..references.rolling_on_plane import Roller, spin_about_vertical, tilted, upward

PARAMETERS = {
    "tilt": Parameter(default=0.5, unit="rad", min=0.3, max=1.0, meaning="of the coin at the start"),
    "pace": Parameter(default=1.1, unit="1", min=1.0, max=1.2, meaning="over that of a steady thin disc"),
    "radius": Parameter(default=0.04, unit="m", min=0.01, max=0.1, meaning="of the coin"),
    "thin": Parameter(default=0.05, unit="1", min=0.01, max=0.1, meaning="half of its thickness over its radius"),
}
DENSITY, MU = 8000.0, 2.0  # kg/m^3; of what does not slip
ROUNDS, STEPS = 1.5, 1000  # of the steady motion


def build(tilt: float, pace: float, radius: float, thin: float) -> Scene:
    """Return the scene: it rolls from the start."""
    coin = solid("coin", Cylinder(radius=radius, half_length=thin * radius), density=DENSITY)
    system = SpatialSystem(
        bodies=[coin], obstacles=[HalfSpace(name="table")], contact=ContactLaw(mu=MU), gravity=(0.0, 0.0, -G)
    )
    round_ = 2.0 * math.sqrt(G / (radius * math.sin(tilt)))  # rad/s
    t_end = 2.0 * math.pi * ROUNDS / round_
    roller, (g, turned) = roller_of(radius, thin), tilted(tilt)
    start = np.concatenate([g, [pace * round_ * math.sin(tilt), 0.0, 0.0]])
    place, velocity = roller.start(start, turned)
    end = _end(tilt, pace, radius, thin)
    late = (round_ * t_end / STEPS) ** 2  # second order in the angle per step
    return Scene(
        name="coin",
        title="Coin that rolls round on its rim: Euler's disc",
        source="equations of rolling without slip, by another integrator",
        system=system,
        state=system.state({"coin": place}, {"coin": velocity}),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"tilt": tilt, "pace": pace, "radius": radius, "thin": thin},
        exact=(
            check("spin about the vertical at the end", float(end[:3] @ end[3:]), "rad/s", spin_about_vertical,
                  moreau_jean=0.05 * round_ * late),
            *(check(f"upward direction at the end, along the body's {name}", float(end[k]), "1", upward(k),
                    moreau_jean=1.0 * late) for k, name in enumerate("xyz")),
            check("change of energy, of that at the start", 0.0, "1", roller.gain(start, thin * radius),
                  moreau_jean=0.2 * late),
        ),
        tests=("the rim of a disc on a plane", "rolling", "one contact in space at rest"),
        columns=body_columns(system),
        dim=3,
    )  # fmt: skip


def roller_of(radius: float, thin: float) -> Roller:
    """Return how it rolls, on the lower rim of the side that g points away from."""
    across = radius**2 * (0.25 + thin**2 / 3.0)

    def lever(g: Array) -> Array:
        n = g[:2] / math.hypot(g[0], g[1])
        return np.array([-radius * n[0], -radius * n[1], -math.copysign(thin * radius, g[2])])

    def lever_rate(g: Array, dg: Array) -> Array:
        size = math.hypot(g[0], g[1])
        n = g[:2] / size
        turning = -radius / size * (dg[:2] - (n @ dg[:2]) * n)
        return np.array([*turning, 0.0])

    return Roller(lever=lever, lever_rate=lever_rate, inertia=np.diag([across, across, 0.5 * radius**2]))


@lru_cache(maxsize=8)
def _end(tilt: float, pace: float, radius: float, thin: float) -> Array:
    """Return (g, w) at the end."""
    round_, (g, _) = 2.0 * math.sqrt(G / (radius * math.sin(tilt))), tilted(tilt)
    start = np.concatenate([g, [pace * round_ * math.sin(tilt), 0.0, 0.0]])
    return np.asarray(roller_of(radius, thin).roll(start, 2.0 * math.pi * ROUNDS / round_).y[:, -1])
