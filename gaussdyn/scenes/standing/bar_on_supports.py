"""A heavy bar on three smooth supports in a row: their forces are not unique, and it tips when loaded beyond the last.

With the mass centre at a distance e from the middle support, supports at -d, 0, d: for |e| < d it rests, and only the
sum m g and the moment of the forces are determined; for |e| > d it turns about the outer support, which it slides
over: J th'' = N (e - d) cos th, N = m (g - (e - d) (th'' cos th - th'^2 sin th)), by an independent integration.
Source: Grzesikiewicz, Jarzebowska, Wakulicz (1993).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate

PARAMETERS = {
    "e": Parameter(default=0.45, unit="m", min=-1.6, max=1.6, meaning="of the mass centre; it tips for |e| > 1"),
    "mass": Parameter(default=6.0, unit="kg", min=0.5, max=20.0, meaning="of the bar"),
    "inertia": Parameter(default=2.0, unit="kg m^2", min=0.5, max=20.0, meaning="about its mass centre"),
}
HALF = 1.0  # from the middle support to the outer ones, m
T_END, DT = 0.3, 5e-4
SUPPORTS = {"left": -HALF, "middle": 0.0, "right": HALF}


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    y, turn = dynamicsymbols("y turn")  # height of the mass centre, angle clockwise
    m, J, e, g = sp.symbols("mass inertia e g")
    rests = [
        Holonomic(y + (e - sp.Float(at)) * sp.sin(turn), kind="unilateral", name=name) for name, at in SUPPORTS.items()
    ]
    ends = [((at - e) * sp.cos(turn), y + (e - at) * sp.sin(turn)) for at in (-2, 2)]
    return LagrangianSystem(
        {y: "m", turn: "rad"},
        kinetic=m * y.diff() ** 2 / 2 + J * turn.diff() ** 2 / 2,
        potential=m * g * y,
        constraints=rests,
        parameters={m: (6.0, "kg"), J: (2.0, "kg m^2"), e: (0.0, "m"), g: (G, "m/s^2")},
        drawing={"bar": ends},
        compile=False,
        name="bar on supports",
    )


def build(e: float, mass: float, inertia: float) -> Scene:
    """Return the scene, at rest on all three."""
    angle, rate, force = tipping(e, mass, inertia)
    columns: Columns = {"bar.y": ("m", coordinate(0)), "bar.angle": ("rad", coordinate(1))}
    arm = max(abs(e) - HALF, 0.0)
    fast = 1e-10 + 0.05 * (DT / T_END) ** 2  # of order 2
    exact = [
        check("angle at the end", angle, "rad", lambda run: float(run.q[-1, 1]), moreau_jean=fast),
        check("its rate at the end", rate, "rad/s", lambda run: float(run.v[-1, 1]), moreau_jean=10.0 * fast),
        check("sum of the forces at the end", force, "N", _sum, moreau_jean=1e-8 + 100.0 * fast * mass * G * (arm > 0)),
    ]
    if arm == 0.0:
        moment = mass * G * e
        exact.append(check("moment about the middle", moment, "N m", _moment, moreau_jean=1e-8))
    return Scene(
        name="bar_on_supports",
        title="Bar on three supports",
        source="statics; Grzesikiewicz, Jarzebowska, Wakulicz (1993)",
        system=_system().with_params(e=e, mass=mass, inertia=inertia),
        state=State(q=np.zeros(2), v=np.zeros(2)),
        t_end=T_END,
        dt=DT,
        params={"e": e, "mass": mass, "inertia": inertia},
        exact=tuple(exact),
        tests=("redundant supports", "tipping"),
        columns=columns,
    )


def tipping(e: float, mass: float, inertia: float) -> tuple[float, float, float]:
    """Return the angle (rad, clockwise), its rate and the force of the supports at the end."""
    arm = math.copysign(max(abs(e) - HALF, 0.0), e)
    if arm == 0.0:
        return 0.0, 0.0, mass * G

    def bend(angle: float, rate: float) -> tuple[float, float]:
        """Return the angular acceleration and the force, from the two equations with y = -arm sin(angle)."""
        c, s = math.cos(angle), math.sin(angle)
        force = mass * (G + arm * s * rate**2) / (1.0 + mass * (arm * c) ** 2 / inertia)
        return force * arm * c / inertia, force

    from scipy.integrate import solve_ivp

    def slope(t: float, y: Array) -> list[float]:
        """Return d(angle, rate)/dt."""
        return [float(y[1]), bend(float(y[0]), float(y[1]))[0]]

    y = solve_ivp(slope, (0.0, T_END), [0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return float(y[0]), float(y[1]), bend(float(y[0]), float(y[1]))[1]


def _sum(run: Any) -> float:
    """Return the sum of the forces at the end: through the means over the last three steps, at their midpoints."""
    r = sum(run[f"{name}.r_N"] for name in SUPPORTS)
    return float(15.0 * r[-1] - 10.0 * r[-2] + 3.0 * r[-3]) / 8.0


def _moment(run: Any) -> float:
    return float(sum(at * run[f"{name}.r_N"][-1] for name, at in SUPPORTS.items()))
