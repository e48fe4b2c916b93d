"""Tippe top: a spinning ball whose mass centre is not in its middle slides on a table.

The numbers come from the equations of an eccentric ball that slides, written for its angular momentum in space and
integrated by another method. Jellett's integral, the angular momentum along the line to the contact, stays as it is
whatever the friction. Source: St. Rauch-Wojciechowski, M. Skoldstam, T. Glad, Regular and Chaotic Dynamics 10 (2005).
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
    "mu": Parameter(default=0.3, unit="1", min=0.1, max=0.5, meaning="friction"),
    "spin": Parameter(default=150.0, unit="rad/s", min=100.0, max=200.0, meaning="about its axis at the start"),
    "tilt": Parameter(default=0.3, unit="rad", min=0.15, max=0.6, meaning="of its axis at the start"),
    "mass": Parameter(default=0.02, unit="kg", min=1e-3, max=1.0, meaning="of the top"),
}
RADIUS, OFFSET = 0.02, 0.004  # m; the mass centre lies OFFSET from the middle of the ball
LONG, ACROSS = 0.40, 0.43  # moments of inertia about and across the axis, over mass RADIUS^2
DT = 2e-4  # s
SHARE = 0.25  # of the time after which a homogeneous ball would cease to slide


def build(mu: float, spin: float, tilt: float, mass: float) -> Scene:
    """Return the scene: it starts spinning about its tilted axis, its mass centre at rest."""
    inertia = (ACROSS * mass * RADIUS**2,) * 2 + (LONG * mass * RADIUS**2,)
    body = SpatialBody(name="top", mass=mass, inertia=inertia, shapes=(Sphere(radius=RADIUS, at=(0.0, 0.0, OFFSET)),))
    table, law = HalfSpace(name="table"), ContactLaw(mu=mu)
    system = SpatialSystem(bodies=[body], obstacles=[table], contact=law, gravity=(0.0, 0.0, -G))
    quaternion = (math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0)
    start = (0.0, 0.0, RADIUS - OFFSET * math.cos(tilt), *quaternion)
    t_end = math.ceil(SHARE * RADIUS * spin * math.sin(tilt) / (3.5 * mu * G) / DT) * DT
    end = slide(mu, spin, tilt, t_end)
    turned = end[:9].reshape(3, 3)
    late = 0.02 * (spin * DT) ** 2  # second order in the angle per step
    return Scene(
        name="tippe_top",
        title="Tippe top: an eccentric ball slides",
        source="Rauch-Wojciechowski, Skoldstam, Glad (2005); equations of the sliding eccentric ball",
        system=system,
        state=system.state({"top": start}, {"top": (0.0, 0.0, 0.0, 0.0, 0.0, spin)}),
        t_end=t_end,
        dt=DT,
        params={"mu": mu, "spin": spin, "tilt": tilt, "mass": mass},
        exact=(
            check("height of the axis at the end", float(turned[2, 2]), "1", _axis_height, moreau_jean=late),
            check("spin about the axis at the end", float(turned[:, 2] @ end[9:12]), "rad/s", last("top.wz"),
                  moreau_jean=late * spin),
            check("change of Jellett's integral, of itself", 0.0, "1", _jellett(inertia), moreau_jean=late),
        ),
        tests=("friction in space", "gyroscopic terms", "Jellett's integral", "one contact in space"),
        columns=body_columns(system),
        dim=3,
    )  # fmt: skip


def slide(mu: float, spin: float, tilt: float, t_end: float) -> Array:
    """Return rotation matrix (9), angular velocity in space (3) and velocity of the mass centre (3) after t_end."""
    from scipy.integrate import solve_ivp

    axis = np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    c, s = math.cos(tilt), math.sin(tilt)
    start = np.r_[np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).ravel(), spin * axis, np.zeros(3)]
    return np.asarray(solve_ivp(_rates, (0.0, t_end), start, "DOP853", rtol=1e-11, atol=1e-12, args=(mu,)).y[:, -1])


def _rates(_t: float, y: Array, mu: float) -> Array:
    """Rates while it slides: N follows from the height of the middle, which stays (mass one)."""
    Q, w, v = y[:9].reshape(3, 3), y[9:12], y[12:15]
    axis = Q[:, 2]
    a = OFFSET * axis
    r = a - np.array([0.0, 0.0, RADIUS])
    J = RADIUS**2 * (ACROSS * np.eye(3) + (LONG - ACROSS) * np.outer(axis, axis))
    slip = (v + np.cross(w, r))[:2]
    push = np.array([*(-mu * slip / max(float(np.linalg.norm(slip)), 1e-300)), 1.0])
    turning, free = np.linalg.solve(J, np.cross(r, push)), np.linalg.solve(J, -np.cross(w, J @ w))
    rest = -G + (np.cross(free, a) + np.cross(w, np.cross(w, a)))[2]
    N = -rest / (1.0 + np.cross(turning, a)[2])
    across = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    return np.concatenate([(across @ Q).ravel(), free + N * turning, N * push - np.array([0.0, 0.0, G])])


def _axis_height(run: Any) -> float:
    return float(matrix_of(run.q[-1][3:7])[2, 2])


def _jellett(inertia: tuple[float, ...]) -> Any:
    def change(run: Any) -> float:
        """Return the largest change of L.(contact point from the mass centre) over its first value."""
        values = []
        for q, v in zip(run.q, run.v, strict=True):
            Q = matrix_of(q[3:7])
            values.append(float((Q @ (np.array(inertia) * v[3:6])) @ (OFFSET * Q[:, 2] - np.array([0.0, 0.0, RADIUS]))))
        return float(np.abs(np.array(values) / values[0] - 1.0).max())

    return change
