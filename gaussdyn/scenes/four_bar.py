"""N four-bar linkages in a row: one degree of freedom, and a flattened state in which their equations lose rank.

Source: IFToMM library of computational benchmark problems, A02. All upright rods turn by the same angle phi from the
vertical, ((N + 1) / 3 + N) m l^2 phi'' = ((N + 1) / 2 + N) m g l sin phi; they lie flat at phi = pi / 2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..mechanics.linkages import four_bars
from ..mechanics.scene import Parameter, Scene
from .measures import Columns, G, check, coordinate

PARAMETERS = {
    "loops": Parameter(default=3.0, unit="1", min=1.0, max=6.0, meaning="N (rounded)"),
    "v0": Parameter(default=1.0, unit="m/s", min=0.5, max=3.0, meaning="speed of the tops at the start"),
    "length": Parameter(default=1.0, unit="m", min=0.5, max=2.0, meaning="of every rod"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-2, max=1e2, meaning="of every rod"),
}
DT, T_END = 1e-3, 2.0  # s; the linkage lies flat once or more within this time


def build(loops: float, v0: float, length: float, mass: float) -> Scene:
    """Return the scene: it falls over from the upright position, and passes through the flattened state."""
    n = round(loops)
    system, state = four_bars(n, length=length, mass=mass, speed=v0, gravity=G)
    angle, rate = reference(n, v0 / length, G / length, T_END)
    late = 2.0 * T_END * DT**2 * (G / length) ** 1.5
    fall = 2.0 * G * length * mass * (0.5 * (n + 1) + n)  # potential energy of the way down
    columns: Columns = {f"v{k}.angle": ("rad", coordinate(system.index(f"v{k}", "angle"))) for k in range(n + 1)}
    return Scene(
        name="four_bar",
        title="N four-bar linkages: through the flattened state",
        source="IFToMM benchmark A02; one pendulum in the angle of the upright rods",
        system=system,
        state=state,
        t_end=T_END,
        dt=DT,
        params={"loops": loops, "v0": v0, "length": length, "mass": mass},
        exact=(
            check("angle at the end", math.pi / 2 - angle, "rad", _angle, moreau_jean=late),
            check("rate at the end", -rate, "rad/s", lambda run: float(run.v[-1, 2]), moreau_jean=4.0 * late),
            check("largest difference of angles", 0.0, "rad", _spread, moreau_jean=1e-7),
            check("largest change of energy", 0.0, "J", _energy, moreau_jean=1e-5 * fall),
            check("largest error of a joint", 0.0, "m", _joints, moreau_jean=1e-10),
        ),
        tests=("redundant joints", "a singular configuration", "energy"),
        columns=columns,
    )


@lru_cache(maxsize=64)
def reference(n: int, rate: float, gravity: float, t: float) -> tuple[float, float]:
    """Return phi (rad) and phi' (rad/s) after t (s), from phi = 0; gravity is g / l, 1/s^2."""
    from scipy.integrate import solve_ivp

    k = gravity * (0.5 * (n + 1) + n) / ((n + 1) / 3.0 + n)
    found = solve_ivp(lambda _, y: [y[1], k * math.sin(y[0])], (0.0, t), [0.0, rate], "DOP853", rtol=1e-13, atol=1e-13)
    return float(found.y[0, -1]), float(found.y[1, -1])


def _angle(run: Any) -> float:
    return float(run["v0.angle"][-1])


def _spread(run: Any) -> float:
    angles = np.array([run[name] for name in run.names if name.startswith("v") and name.endswith(".angle")])
    return float(np.ptp(angles, axis=0).max())


def _energy(run: Any) -> float:
    return float(np.abs(run["energy"] - run["energy"][0]).max())


def _joints(run: Any) -> float:
    return float(run.statistics["max_joint_error_m"])
