"""A heavy point on a massless rod, released at rest: its period grows with the amplitude.

Source: T = 4 sqrt(l / g) K(sin^2(amplitude / 2)).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point, fixed
from ...mechanics.planar.contacts import Rod
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, last

PARAMETERS = {
    "amplitude": Parameter(default=math.pi / 2, unit="rad", min=0.1, max=3.0, meaning="angle of release, from below"),
    "length": Parameter(default=1.0, unit="m", min=0.1, max=10.0, meaning="of the rod"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the point"),
}
QUARTERS, STEPS = 5, 2500  # seen until it passes the lowest point for the third time


def build(amplitude: float, length: float, mass: float) -> Scene:
    """Return the scene: Cartesian coordinates, the rod a bilateral row."""
    from scipy.special import ellipk

    quarter = math.sqrt(length / G) * float(ellipk(math.sin(amplitude / 2) ** 2))
    system = PlanarSystem(
        bodies=[Point(name="bob", mass=mass)],
        contacts=[Rod(a=Marker("bob"), b=fixed(0.0, 0.0), length=length)],
        gravity=(0.0, -G),
    )
    t_end = QUARTERS * quarter
    dt = t_end / STEPS
    swing = 2.0 * math.sin(amplitude / 2)  # of the speed at the lowest point, over sqrt(g l)
    late = 2.0 * (1.0 + swing**2) * (dt * math.sqrt(G / length)) ** 2 * QUARTERS * quarter * math.sqrt(G / length)
    speed, tension = swing * math.sqrt(G * length), mass * G * (1.0 + swing**2)
    columns: Columns = {"bob.x": ("m", coordinate(0)), "bob.y": ("m", coordinate(1))}
    exact = (
        check("time of the third passage below", t_end, "s", _passage, moreau_jean=late * math.sqrt(length / G)),
        check("speed below", speed, "m/s", _speed, moreau_jean=late * speed),
        check("height below", -length, "m", last("bob.y"), moreau_jean=late * length, located=True),
        check(
            "largest tension", tension, "N", lambda run: -float(run["bob~ground.r"].min()), moreau_jean=late * tension
        ),
        check("largest error of the length", 0.0, "m", _stretch(length), moreau_jean=1e-10, located=True),
    )
    return Scene(
        name="pendulum",
        title="Pendulum: the period of large swings",
        source="T = 4 sqrt(l / g) K(sin^2(amplitude / 2))",
        system=system,
        state=system.state({"bob": (length * math.sin(amplitude), -length * math.cos(amplitude))}),
        t_end=t_end,
        dt=dt,
        params={"amplitude": amplitude, "length": length, "mass": mass},
        exact=exact,
        tests=("a joint", "energy", "position of joints"),
        columns=columns,
    )


def _passage(run: Any) -> float:
    """Return when x is zero next to the end, from the last state at its own velocity."""
    return float(run.t[-1] - run.q[-1, 0] / run.v[-1, 0])


def _speed(run: Any) -> float:
    return float(np.hypot(*run.v[-1]))


def _stretch(length: float) -> Any:
    return lambda run: float(np.abs(np.hypot(run["bob.x"], run["bob.y"]) - length).max())
