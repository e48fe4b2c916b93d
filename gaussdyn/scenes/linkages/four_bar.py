"""N four-bar linkages in a row: one degree of freedom, and a flattened state in which their equations lose rank.

Source: IFToMM library of computational benchmark problems, A02. All upright rods turn by the same angle phi from the
vertical, ((N + 1) / 3 + N) m l^2 phi'' = ((N + 1) / 2 + N) m g l sin phi; they lie flat at phi = pi / 2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.scene import Parameter, Scene
from ..measures.measures import Columns, G, check, coordinate, energy_change, joint_error
from .builders import four_bars

PARAMETERS = {
    "loops": Parameter(default=3.0, unit="1", min=1.0, max=20.0, meaning="N (rounded)"),
    "v0": Parameter(default=1.0, unit="m/s", min=0.5, max=3.0, meaning="speed of the tops at the start"),
    "length": Parameter(default=1.0, unit="m", min=0.5, max=2.0, meaning="of every rod"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-2, max=1e2, meaning="of every rod"),
}
STEPS, FEWEST = 200, 60  # with up to six loops, and with twenty
HELD = 1e-11  # m; to which time steps hold joints
BEYOND = 1.2  # the end, in times from the start to the flattened state


def build(loops: float, v0: float, length: float, mass: float) -> Scene:
    """Return the scene: it falls over from the upright position, and passes through the flattened state."""
    n = round(loops)
    system, state = four_bars(n, length=length, mass=mass, speed=v0, gravity=G)
    t_end = BEYOND * flat_after(n, v0 / length, G / length)
    dt = t_end / max(FEWEST, min(STEPS, round(6 * STEPS / n)))
    angle, rate = reference(n, v0 / length, G / length, t_end)
    near = dt**2 * G / length * (1.0 + v0**2 / (G * length))  # second order; measured: 0.2, 1.0 and 0.8 of it
    pace = math.sqrt(G / length)
    fall = 2.0 * G * length * mass * (0.5 * (n + 1) + n)  # potential energy of the way down
    flat = math.sqrt(2.0 * HELD / length)  # by what angles may differ there: half its square is a length
    columns: Columns = {f"v{k}.angle": ("rad", coordinate(system.index(f"v{k}", "angle"))) for k in range(n + 1)}
    return Scene(
        name="four_bar",
        title="N four-bar linkages: through the flattened state",
        source="IFToMM benchmark A02; one pendulum in the angle of the upright rods",
        system=system,
        state=state,
        t_end=t_end,
        dt=dt,
        params={"loops": loops, "v0": v0, "length": length, "mass": mass},
        exact=(
            check("angle at the end", math.pi / 2 - angle, "rad", _angle, moreau_jean=near, on_branch=1e-10),
            check("rate at the end", -rate, "rad/s", _rate, moreau_jean=3.0 * near * pace, on_branch=1e-10 * pace),
            check("largest difference of angles", 0.0, "rad", _spread, moreau_jean=flat, on_branch=1e-10),
            check(
                "largest change of energy",
                0.0,
                "J",
                energy_change,
                moreau_jean=2.0 * near * fall,
                on_branch=1e-10 * fall,
            ),
            check("largest error of a joint", 0.0, "m", joint_error, moreau_jean=1e-10, on_branch=1e-12),
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


@lru_cache(maxsize=64)
def flat_after(n: int, rate: float, gravity: float) -> float:
    """Return the time after which phi = pi / 2, s; gravity is g / l, 1/s^2."""
    from scipy.integrate import quad

    k = gravity * (0.5 * (n + 1) + n) / ((n + 1) / 3.0 + n)

    def slowness(phi: float) -> float:
        """Return dt / dphi, s, from the energy."""
        return 1.0 / math.sqrt(rate**2 + 2.0 * k * (1.0 - math.cos(phi)))

    found = quad(slowness, 0.0, 0.5 * math.pi, epsabs=1e-13)
    return float(found[0])


def _rate(run: Any) -> float:
    return float(run.v[-1, 2])


def _angle(run: Any) -> float:
    return float(run["v0.angle"][-1])


def _spread(run: Any) -> float:
    angles = np.array([run[name] for name in run.names if name.startswith("v") and name.endswith(".angle")])
    return float(np.ptp(angles, axis=0).max())
