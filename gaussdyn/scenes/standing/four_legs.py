"""A table on four legs: its acceleration is unique, the force on a leg is not, the smallest forces are.

With feet at (+-a, +-b) and the mass centre at (x, y) all upward forces r + s (1, -1, 1, -1) around the table carry it.
The smallest upward ones are P / 4 (1 +- x / a +- y / b), the nearer leg the larger. Pushed by a level force it stays or
slides as a whole.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.collision.shapes import Box, HalfSpace, Sphere
from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import SpatialBody
from ...mechanics.spatial.forces import Load
from ...mechanics.spatial.kinematics import SpatialMarker
from ...mechanics.spatial.system import SpatialSystem
from ..measures.first_state import first
from ..measures.measures import G, check, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "x": Parameter(default=0.1, unit="m", min=-0.25, max=0.25, meaning="of the mass centre, from the middle"),
    "y": Parameter(default=-0.05, unit="m", min=-0.15, max=0.15, meaning="of the mass centre, from the middle"),
    "mu": Parameter(default=0.4, unit="1", min=0.05, max=0.5, meaning="friction of the feet"),
    "push": Parameter(default=0.5, unit="1", min=0.0, max=2.0, meaning="level force over mu P; above 1 it slides"),
    "mass": Parameter(default=20.0, unit="kg", min=0.1, max=1e3, meaning="of the table"),
}
A, B, HEIGHT, TOP = 0.8, 0.5, 0.3, 0.05  # half distances of the feet, height of the mass centre, half thickness, m
DT, STEPS = 1e-3, 100  # s
LEGS = {"leg0": (1.0, 1.0), "leg1": (-1.0, 1.0), "leg2": (-1.0, -1.0), "leg3": (1.0, -1.0)}
TIE = 1e-9


def build(x: float, y: float, mu: float, push: float, mass: float) -> Scene:
    """Return the scene: the force acts at the height of the feet, so that it does not tip the table."""
    P = mass * G
    feet = [Sphere(radius=0.0, at=(s * A - x, t * B - y, -HEIGHT), name=name) for name, (s, t) in LEGS.items()]
    top = Box(half=(A, B, TOP), at=(-x, -y, 0.0), name="top")
    system = SpatialSystem(
        bodies=[SpatialBody(name="table", mass=mass, inertia=_inertia(mass), shapes=(*feet, top))],
        obstacles=[HalfSpace(name="floor")],
        contact=ContactLaw(mu=mu),
        forces=[Load(point=SpatialMarker("table", (0.0, 0.0, -HEIGHT)), force_xyz=(push * mu * P, 0.0, 0.0))],
        gravity=(0.0, 0.0, -G),
    )
    a = mu * G * max(push - 1.0, 0.0)
    t = STEPS * DT
    tie = G * t if abs(push - 1.0) < TIE else 0.0
    exact = [
        check("distance at the end", 0.5 * a * t * t, "m", last("table.x"), moreau_jean=1e-10 + tie),
        check("speed at the end", a * t, "m/s", last("table.vx"), moreau_jean=1e-10 + tie),
        check("largest turn", 0.0, "rad/s", _turn, moreau_jean=1e-9),
        check("largest error of the weight", 0.0, "N", _carried(P), moreau_jean=1e-9 * P),
    ]
    r = smallest(x, y, push * mu * P, P)
    if bool((np.hypot(r[:, 1], r[:, 2]) < (1.0 - TIE) * mu * r[:, 0]).all()):
        exact += [
            check(f"smallest upward force on {name}", float(one[0]), "N", _upward(system, name), moreau_jean=1e-9 * P)
            for name, one in zip(LEGS, r, strict=True)
        ]
    return Scene(
        name="four_legs",
        title="Table on four legs: one acceleration, many forces",
        source="statics: three equations for four forces; the smallest by least squares",
        system=system,
        state=system.state({"table": (0.0, 0.0, HEIGHT)}),
        t_end=t,
        dt=DT,
        params={"x": x, "y": y, "mu": mu, "push": push, "mass": mass},
        exact=tuple(exact),
        tests=("redundant contacts in space", "unique acceleration under forces that are not", "canonical reactions"),
        columns=body_columns(system),
        dim=3,
    )


def _inertia(mass: float) -> list[float]:
    return [mass / 3.0 * (B * B + TOP * TOP), mass / 3.0 * (A * A + TOP * TOP), mass / 3.0 * (A * A + B * B)]


def smallest(x: float, y: float, push: float, weight: float) -> Array:
    """Return the smallest forces that keep the table at rest, shape (4, 3): upwards, along x, along y.

    By least squares, friction cones left out: it is the smallest where it lies in them.
    """
    A_eq = np.zeros((6, 12))
    for k, (s, t) in enumerate(LEGS.values()):
        dx, dy = s * A - x, t * B - y  # from the mass centre; all feet are as deep below it
        up, ahead, aside = np.eye(3)[[2, 0, 1]]
        for j, force in enumerate((up, ahead, aside)):
            A_eq[:3, 3 * k + j] = force
            A_eq[3:, 3 * k + j] = np.cross([dx, dy, -HEIGHT], force)
    load = np.array([push, 0.0, -weight])
    b = -np.concatenate([load, np.cross([0.0, 0.0, -HEIGHT], [push, 0.0, 0.0])])
    return np.asarray(np.linalg.lstsq(A_eq, b, rcond=None)[0].reshape(4, 3))


def _upward(system: SpatialSystem, leg: str) -> Any:
    def force(run: Any) -> float:
        """Return the upward force on one leg at the first state, the smallest reactions taken."""
        from ...contact.resolve import reactions, resolve
        from ...programs.blocks.smallest_reactions import canonical_reaction

        dynamics = first(system, run)
        found = reactions(dynamics, canonical_reaction(resolve(dynamics)))
        return next(float(r[0]) for id, r in found.items() if leg in id)

    return force


def _carried(weight: float) -> Any:
    def error(run: Any) -> float:
        """Return how far the floor is from carrying the weight, N."""
        return float(np.abs(run.between("table", "floor").force[1:, 2] - weight).max())

    return error


def _turn(run: Any) -> float:
    return math.sqrt(float((run.v[:, 3:6] ** 2).sum(axis=1).max()))
