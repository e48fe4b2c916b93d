"""Rattleback: an ellipsoid that rolls without slip and whose inertia is turned against its shape reverses its spin.

With the contact point at r from the mass centre, in body axes, rolling is v = r x w, and with g the upward direction
I w' - m r x (r x w') = -w x I w + m r x (r' x w + w x (r x w) + G g), g' = g x w; r = -h^2 g / |h g|, h the half
axes. These equations have neither friction nor a gap; they are integrated by another method.
Source: H. Bondi, The rigid body dynamics of unidirectional spin, Proc. R. Soc. A 405 (1986); A. Garcia,
M. Hubbard, Spin reversal of the rattleback: theory and experiment, Proc. R. Soc. A 418 (1988).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import cross, matrix_of
from ...mechanics.collision.shapes import Ellipsoid, HalfSpace
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import SpatialBody
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import G, check
from ..measures.spatial_measures import body_columns

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
    inertia, g = inertia_of(turn), np.array([math.sin(pitch), 0.0, math.cos(pitch)])
    body = SpatialBody(name="celt", mass=mass, inertia=mass * inertia, shapes=(Ellipsoid(half=HALF),))
    table, law = HalfSpace(name="table"), ContactLaw(mu=MU)
    system = SpatialSystem(bodies=[body], obstacles=[table], contact=law, gravity=(0.0, 0.0, -G))
    turned = (math.cos(pitch / 2), 0.0, -math.sin(pitch / 2), 0.0)
    v = matrix_of(turned) @ cross(lever(g), spin * g)
    start = np.concatenate([g, spin * g])
    end = _end(spin, pitch, turn)
    late = (PITCHING * DT) ** 2  # second order in the angle per step, of its fastest motion
    return Scene(
        name="rattleback",
        title="Rattleback: reversal of spin",
        source="Bondi (1986); Garcia, Hubbard (1988): equations of rolling without slip",
        system=system,
        state=system.state({"celt": (0.0, 0.0, -float(g @ lever(g)), *turned)}, {"celt": (*v, *(spin * g))}),
        t_end=T_END,
        dt=DT,
        params={"spin": spin, "pitch": pitch, "turn": turn, "mass": mass},
        exact=(
            check("spin about the vertical at the end", float(end[:3] @ end[3:]), "rad/s", _spin,
                  moreau_jean=2.0 * late),
            *(check(f"upward direction at the end, along the body's {name}", float(end[k]), "1", _upward(k),
                    moreau_jean=0.15 * late) for k, name in enumerate("xyz")),
            check("change of energy, of that at the start", 0.0, "1", _gain(mass, inertia, start),
                  moreau_jean=0.7 * late),
        ),
        tests=("ellipsoid on a plane", "one contact in space at rest", "rolling", "inertia that is not diagonal"),
        columns=body_columns(system),
        dim=3,
    )  # fmt: skip


def inertia_of(turn: float) -> Array:
    """Return the inertia over the mass in the axes of the ellipsoid, m^2."""
    c, s = math.cos(turn), math.sin(turn)
    Q = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(Q @ np.diag(MOMENTS) @ Q.T)


def lever(g: Array) -> Array:
    """Return the contact point from the mass centre in body axes, m, where g points upwards."""
    h2 = np.square(HALF)
    return np.asarray(-h2 * g / math.sqrt(g @ (h2 * g)))


def rates(_t: float, y: Array, inertia: Array) -> Array:
    """Return the rates of (g, w) while it rolls."""
    g, w = y[:3], y[3:]
    h2, dg = np.square(HALF), cross(g, w)
    r, k = lever(g), math.sqrt(g @ (h2 * g))
    dr = -h2 * dg / k + h2 * g * (g @ (h2 * dg)) / k**3
    load = cross(r, cross(dr, w) + cross(w, cross(r, w)) + G * g) - cross(w, inertia @ w)
    across = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    return np.concatenate([dg, np.linalg.solve(inertia - across @ across, load)])


def roll(spin: float, pitch: float, turn: float, t_end: float, **options: Any) -> Any:
    """Return what scipy finds for (g, w) up to t_end."""
    from scipy.integrate import solve_ivp

    g = np.array([math.sin(pitch), 0.0, math.cos(pitch)])
    options = {"rtol": 1e-12, "atol": 1e-13, **options}
    return solve_ivp(rates, (0.0, t_end), np.concatenate([g, spin * g]), "DOP853", args=(inertia_of(turn),), **options)


@lru_cache(maxsize=8)
def _end(spin: float, pitch: float, turn: float) -> Array:
    """Return (g, w) at the end; a second to find, and the same for every mass."""
    return np.asarray(roll(spin, pitch, turn, T_END).y[:, -1])


def _upward(k: int) -> Any:
    return lambda run: float(matrix_of(run.q[-1][3:7])[2, k])


def _spin(run: Any) -> float:
    return float(matrix_of(run.q[-1][3:7])[2] @ run.v[-1][3:6])


def _gain(mass: float, inertia: Array, start: Array) -> Any:
    """Return the measure: the largest change of energy over its first value above rest in equilibrium."""

    def energy(g: Array, w: Array, v: Array, height: float) -> float:
        """Return the energy above rest in equilibrium, J; `g` is the upward direction in body axes."""
        return float(0.5 * mass * (v @ v + w @ inertia @ w) + mass * G * (height - HALF[2]))

    g, w = start[:3], start[3:]
    first = energy(g, w, cross(lever(g), w), -float(g @ lever(g)))

    def gain(run: Any) -> float:
        """Read it off the run."""
        found = [energy(matrix_of(q[3:7])[2], v[3:6], v[:3], float(q[2])) for q, v in zip(run.q, run.v, strict=True)]
        return float(np.abs(np.array(found) / first - 1.0).max())

    return gain
