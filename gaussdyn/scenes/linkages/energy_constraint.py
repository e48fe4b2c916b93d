"""The law of energy taken for a constraint: it keeps the energy, and nothing else is right about the motion.

The released motion has no force, and 1/2 v.v + V(x) = const is imposed as a constraint on the velocity. The force it
needs is along v, so that the direction never changes: x'' = -(V'.v / v.v) v. With V = (x^2 + n^2 y^2) / 2 from (x0, 0)
at (0, v0) that is x = x0, y = v0 / n sin(n t), where the true motion has x = x0 cos t. Source: Kozlov (2008), 2.2.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...mechanics.lagrangian.system import LagrangianSystem, Nonholonomic
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, largest, last

PARAMETERS = {
    "n": Parameter(default=2.0, unit="1", min=0.5, max=4.0, meaning="frequency along y over that along x"),
    "x0": Parameter(default=1.0, unit="m", min=-2.0, max=2.0, meaning="where it starts, with y = 0"),
    "v0": Parameter(default=1.0, unit="m/s", min=0.5, max=2.0, meaning="initial speed along y"),
}
SHARE = 0.6  # of the quarter period after which it stands still, where the law is singular
STEPS = 500


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y = dynamicsymbols("x y")
    n, E = sp.symbols("n E")
    speed = x.diff() ** 2 + y.diff() ** 2
    energy = speed / 2 + (x**2 + n**2 * y**2) / 2 - E
    return LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=speed / 2,
        constraints=[Nonholonomic(energy, name="energy")],
        parameters={n: (2.0, "1"), E: (1.0, "J")},
        drawing={"point": [(x, y)]},
        compile=False,
        name="energy as a constraint",
    )


def build(n: float, x0: float, v0: float) -> Scene:
    """Return the scene; it ends well before the point stands still."""
    t_end = SHARE * math.pi / (2.0 * n)
    dt = t_end / STEPS
    error = 10.0 * (n * dt) ** 2 * (1.0 + v0 / n)
    columns: Columns = {
        "point.x": ("m", coordinate(0)),
        "point.y": ("m", coordinate(1)),
        "off the line": ("m", lambda state: float(state.q[0]) - x0),
    }
    exact = (
        check("x does not change", 0.0, "m", largest("off the line"), moreau_jean=1e-10),
        check("y at the end", v0 / n * math.sin(n * t_end), "m", last("point.y"), moreau_jean=error),
    )
    return Scene(
        name="energy_constraint",
        title="The law of energy taken for a constraint goes wrong",
        source="Kozlov (2008), example 2.2",
        system=_system().with_params(n=n, E=0.5 * (v0 * v0 + x0 * x0)),
        state=State(q=np.array([x0, 0.0]), v=np.array([0.0, v0])),
        t_end=t_end,
        dt=dt,
        params={"n": n, "x0": x0, "v0": v0},
        exact=exact,
        tests=("a nonlinear constraint on the velocity", "conceivable motions"),
        columns=columns,
    )
