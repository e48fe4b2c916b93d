"""Rattleback: an ellipsoid that rolls without slip and whose inertia is turned against its shape reverses its spin.

It touches at r = -h^2 g / |h g|, h the half axes, g the upward direction; `rolling_on_plane` has the equations.
Source: H. Bondi, The rigid body dynamics of unidirectional spin, Proc. R. Soc. A 405 (1986); A. Garcia,
M. Hubbard, Spin reversal of the rattleback: theory and experiment, Proc. R. Soc. A 418 (1988).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.collision.shapes import Ellipsoid, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Exact, Parameter, Scene, WhenAsked
from ...mechanics.spatial.bodies import SpatialBody
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check
from ..measures.spatial_measures import body_columns
from ..references.rolling_on_plane import Roller, spin_about_vertical, tilted, upward

PARAMETERS = {
    "spin": Parameter(default=-5.0, unit="rad/s", min=-6.0, max=6.0, meaning="about the vertical at the start"),
    "pitch": Parameter(default=0.02, unit="rad", min=0.005, max=0.04, meaning="of its long axis at the start"),
    "turn": Parameter(default=0.2, unit="rad", min=0.1, max=0.3, meaning="from the long axis to that of inertia"),
    "mass": Parameter(default=0.1, unit="kg", min=1e-3, max=10.0, meaning="of the body"),
}
HALF = (0.05, 0.012, 0.01)  # m, half axes of the ellipsoid
MOMENTS = (0.3e-4, 2.0e-4, 2.2e-4)  # m^2, principal moments of inertia over the mass, about the vertical last
MU = 1.0  # 0.68 is the most that it needs
PITCHING = math.sqrt(G * (HALF[0] ** 2 / HALF[2] - HALF[2]) / (MOMENTS[1] + HALF[2] ** 2))  # rad/s, of small motions
DT, T_END = 1e-3, 0.5  # s


def build(spin: float, pitch: float, turn: float, mass: float) -> Scene:
    """Return the scene: it rolls from the start, spinning about the vertical with its long axis pitched."""
    roller, (g, turned) = roller_of(turn), tilted(pitch)
    body = SpatialBody(name="celt", mass=mass, inertia=mass * roller.inertia, shapes=(Ellipsoid(half=HALF),))
    table, law = HalfSpace(name="table"), ContactLaw(mu=MU)
    system = SpatialSystem(bodies=[body], obstacles=[table], contact=law, gravity=(0.0, 0.0, -G))
    start = np.concatenate([g, spin * g])
    place, velocity = roller.start(start, turned)
    return Scene(
        name="rattleback",
        title="Rattleback: reversal of spin",
        source="Bondi (1986); Garcia, Hubbard (1988): equations of rolling without slip",
        system=system,
        state=system.state({"celt": place}, {"celt": velocity}),
        t_end=T_END,
        dt=DT,
        params={"spin": spin, "pitch": pitch, "turn": turn, "mass": mass},
        exact=WhenAsked(lambda: _exact(_end(spin, pitch, turn), roller.gain(start, HALF[2]))),
        tests=("ellipsoid on a plane", "one contact in space at rest", "rolling", "inertia that is not diagonal"),
        columns=body_columns(system),
        dim=3,
    )  # fmt: skip


def _exact(end: Array, gain: Callable[[Any], float]) -> tuple[Exact, ...]:
    late = (PITCHING * DT) ** 2  # second order in the angle per step, of its fastest motion
    return (
        check("spin about the vertical at the end", float(end[:3] @ end[3:]), "rad/s", spin_about_vertical,
              moreau_jean=2.0 * late),
        *(check(f"upward direction at the end, along the body's {name}", float(end[k]), "1", upward(k),
                moreau_jean=0.15 * late) for k, name in enumerate("xyz")),
        check("change of energy, of that at the start", 0.0, "1", gain, moreau_jean=0.7 * late),
    )  # fmt: skip


def roller_of(turn: float) -> Roller:
    """Return how it rolls."""
    c, s = math.cos(turn), math.sin(turn)
    Q = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return Roller(lever=_lever, lever_rate=_lever_rate, inertia=np.asarray(Q @ np.diag(MOMENTS) @ Q.T))


def _lever(g: Array) -> Array:
    h2 = np.square(HALF)
    return np.asarray(-h2 * g / math.sqrt(g @ (h2 * g)))


def _lever_rate(g: Array, dg: Array) -> Array:
    h2 = np.square(HALF)
    k = math.sqrt(g @ (h2 * g))
    return np.asarray(-h2 * dg / k + h2 * g * (g @ (h2 * dg)) / k**3)


@lru_cache(maxsize=8)
def _end(spin: float, pitch: float, turn: float) -> Array:
    """Return (g, w) at the end; a second to find, and the same for every mass."""
    g, _ = tilted(pitch)
    return np.asarray(roller_of(turn).roll(np.concatenate([g, spin * g]), T_END).y[:, -1])
