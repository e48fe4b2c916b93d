"""Spinning top: its tip sticks to a rough floor, its axis precesses and nods.

With the tip at rest this is Lagrange's top. The angular momentum L about the tip and the axis a obey
L' = l a x (-m g k), a' = L x a / J, J the moment across the axis at the tip; they are integrated by another method.
Source: J. L. Lagrange, Mecanique analytique (1788).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from ...mechanics.collision.shapes import HalfSpace, Sphere
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import SpatialBody
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "spin": Parameter(default=150.0, unit="rad/s", min=120.0, max=180.0, meaning="about its axis at the start"),
    "tilt": Parameter(default=0.4, unit="rad", min=0.1, max=0.7, meaning="of its axis at the start"),
    "mu": Parameter(default=1.0, unit="1", min=0.9, max=2.0, meaning="friction at the tip, enough to hold it"),
    "mass": Parameter(default=0.1, unit="kg", min=1e-3, max=10.0, meaning="of the top"),
}
LENGTH = 0.03  # m, from the tip to the mass centre
LONG, ACROSS = 3e-4, 2e-4  # m^2, moments of inertia over the mass, about and across the axis at the mass centre
DT, T_END = 5e-4, 0.2  # s


def build(spin: float, tilt: float, mu: float, mass: float) -> Scene:
    """Return the scene: it starts with its axis at rest."""
    tip = Sphere(radius=0.0, at=(0.0, 0.0, -LENGTH), name="tip")
    body = SpatialBody(name="top", mass=mass, inertia=(ACROSS * mass, ACROSS * mass, LONG * mass), shapes=(tip,))
    floor, law = HalfSpace(name="floor"), ContactLaw(mu=mu)
    system = SpatialSystem(bodies=[body], obstacles=[floor], contact=law, gravity=(0.0, 0.0, -G))
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    start = (*(LENGTH * axis), math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0)
    end = precess(spin, tilt)
    late = 0.3 * (spin * DT) ** 2  # second order in the angle per step
    return Scene(
        name="spinning_top",
        title="Spinning top on its tip",
        source="Lagrange (1788): the heavy symmetric top with a fixed point",
        system=system,
        state=system.state({"top": start}, {"top": (0.0, 0.0, 0.0, 0.0, 0.0, spin)}),
        t_end=T_END,
        dt=DT,
        params={"spin": spin, "tilt": tilt, "mu": mu, "mass": mass},
        exact=(
            *(check(f"axis along {name} at the end", float(end[k]), "1", _axis(k), moreau_jean=late)
              for k, name in enumerate("xyz")),
            check("spin about the axis at the end", spin, "rad/s", last("top.wz"), moreau_jean=1e-9 * spin),
            check("way of the tip", 0.0, "m", _tip, moreau_jean=late * LENGTH),
        ),
        tests=("one contact in space at rest", "gyroscopic terms", "stick"),
        columns=body_columns(system),
        dim=3,
    )  # fmt: skip


def precess(spin: float, tilt: float) -> Array:
    """Return the axis at the end, a unit vector."""
    from scipy.integrate import solve_ivp

    J, down = ACROSS + LENGTH**2, np.array([0.0, 0.0, -G])
    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])

    def rates(_t: float, y: Array) -> Array:
        """Return the rates of (angular momentum about the tip, axis)."""
        return np.concatenate([LENGTH * np.cross(y[3:], down), np.cross(y[:3], y[3:]) / J])

    start = np.concatenate([LONG * spin * axis, axis])
    return np.asarray(solve_ivp(rates, (0.0, T_END), start, "DOP853", rtol=1e-12, atol=1e-14).y[3:, -1])


def _axis(k: int) -> Any:
    return lambda run: float(matrix_of(run.q[-1][3:7])[k, 2])


def _tip(run: Any) -> float:
    """Return how far the tip is from its place at the end, m."""
    q = run.q[-1]
    return float(np.linalg.norm(q[:3] - LENGTH * matrix_of(q[3:7])[:, 2]))
