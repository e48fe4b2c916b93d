"""A point at rest at the edge of a reentrant corner, x <= 0 or y <= 0, pulled into it: two motions are least deviating.

Omega = {a_x <= 0 or a_y <= 0} is not convex: along y with a_y = Fy / m, or along x with a_x = Fx / m, the Gauss measure
being Fx^2 / 2 m or Fy^2 / 2 m. Each motion is the one of a convex piece, chosen by `wall`. Source: a counterexample to
the convexity claimed by Grzesikiewicz, Jarzebowska, Wakulicz (1993).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, last

PARAMETERS = {
    "wall": Parameter(default=-1.0, unit="1", min=-1.0, max=1.0, meaning="< 0: x <= 0 holds, else y <= 0"),
    "Fx": Parameter(default=1.0, unit="N", min=0.1, max=10.0, meaning="force along x"),
    "Fy": Parameter(default=1.0, unit="N", min=0.1, max=10.0, meaning="force along y"),
    "mass": Parameter(default=1.0, unit="kg", min=0.5, max=10.0, meaning="of the point"),
}
T_END, DT = 0.5, 1e-3
WALL = "wall"


@lru_cache(maxsize=2)
def _system(along_y: bool) -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y = dynamicsymbols("x y")
    m, Fx, Fy = sp.symbols("mass Fx Fy")
    return LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=m * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=-Fx * x - Fy * y,
        constraints=[Holonomic(-x if along_y else -y, kind="unilateral", name=WALL)],
        parameters={m: (1.0, "kg"), Fx: (1.0, "N"), Fy: (1.0, "N")},
        drawing={"point": [(x, y)], "corner": [(0, 2), (0, 0), (2, 0)]},
        compile=False,
        name="reentrant corner",
    )


def build(wall: float, Fx: float, Fy: float, mass: float) -> Scene:
    """Return the scene: the same state has the other motion with the other sign of `wall`."""
    along_y = wall < 0.0
    way, held = 0.5 * (Fy if along_y else Fx) / mass * T_END**2, Fx if along_y else Fy
    columns: Columns = {"point.x": ("m", coordinate(0)), "point.y": ("m", coordinate(1))}
    exact = (
        check("x at the end", 0.0 if along_y else way, "m", last("point.x"), moreau_jean=1e-10),
        check("y at the end", way if along_y else 0.0, "m", last("point.y"), moreau_jean=1e-10),
        check("force of the wall", held, "N", _force, moreau_jean=1e-8),
        check("least deviation, Gauss's measure", held**2 / (2.0 * mass), "N^2/kg",
              lambda run: _force(run) ** 2 / (2.0 * mass), moreau_jean=1e-7 * held / mass),
    )  # fmt: skip
    return Scene(
        name="reentrant_corner",
        title="Reentrant corner: two motions of least deviation",
        source="counterexample to convexity; Grzesikiewicz, Jarzebowska, Wakulicz (1993)",
        system=_system(along_y).with_params(Fx=Fx, Fy=Fy, mass=mass),
        state=State(q=np.zeros(2), v=np.zeros(2)),
        t_end=T_END,
        dt=DT,
        params={"wall": wall, "Fx": Fx, "Fy": Fy, "mass": mass},
        exact=exact,
        tests=("a set of motions that is not convex",),
        columns=columns,
    )


def _force(run: Any) -> float:
    return float(run[f"{WALL}.r_N"][-1])
