"""A point pressed into a corner of three walls: the motion and the total reaction are unique, its parts are not.

Walls x >= 0, y >= 0 and x + y >= 0, constant force. The third wall adds nothing: a = (max(Fx, 0), max(Fy, 0)) / m, and
the walls push with (max(-Fx, 0), max(-Fy, 0)) together. Source: Grzesikiewicz, Jarzebowska, Wakulicz (1993).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, last

PARAMETERS = {
    "Fx": Parameter(default=-3.0, unit="N", min=-10.0, max=10.0, meaning="force along x"),
    "Fy": Parameter(default=-5.0, unit="N", min=-10.0, max=10.0, meaning="force along y"),
    "mass": Parameter(default=2.0, unit="kg", min=0.5, max=10.0, meaning="of the point"),
}
T_END, DT = 0.5, 1e-3


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y = dynamicsymbols("x y")
    m, Fx, Fy = sp.symbols("mass Fx Fy")
    walls = (("wall x", x), ("wall y", y), ("wall x + y", x + y))
    return LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=-Fx * x - Fy * y,
        constraints=[Holonomic(phi, kind="unilateral", name=name) for name, phi in walls],
        parameters={m: (2.0, "kg"), Fx: (-3.0, "N"), Fy: (-5.0, "N")},
        drawing={"point": [(x, y)], "floor": [(0, 0), (2, 0)], "wall": [(0, 0), (0, 2)]},
        compile=False,
        name="redundant corner",
    )


def build(Fx: float, Fy: float, mass: float) -> Scene:
    """Return the scene, at rest in the corner."""
    columns: Columns = {"point.x": ("m", coordinate(0)), "point.y": ("m", coordinate(1))}
    x, y = (0.5 * max(F, 0.0) / mass * T_END**2 for F in (Fx, Fy))
    exact = (
        check("x at the end", x, "m", last("point.x"), moreau_jean=1e-10),
        check("y at the end", y, "m", last("point.y"), moreau_jean=1e-10),
        check("push along x", max(-Fx, 0.0), "N", _push("wall x"), moreau_jean=1e-8),
        check("push along y", max(-Fy, 0.0), "N", _push("wall y"), moreau_jean=1e-8),
    )
    return Scene(
        name="redundant_corner",
        title="Corner with a redundant wall",
        source="Grzesikiewicz, Jarzebowska, Wakulicz (1993), section 4",
        system=_system().with_params(Fx=Fx, Fy=Fy, mass=mass),
        state=State(q=np.zeros(2), v=np.zeros(2)),
        t_end=T_END,
        dt=DT,
        params={"Fx": Fx, "Fy": Fy, "mass": mass},
        exact=exact,
        tests=("redundant unilateral constraints",),
        columns=columns,
    )


def _push(wall: str) -> Callable[[Any], float]:
    """Return the measure: what a wall and the third one push together, N."""
    return lambda run: float(run[f"{wall}.r_N"][-1] + run["wall x + y.r_N"][-1])
