"""A Duffing oscillator in the plane with dry friction: regions of equilibria, a trident, holes, sausages.

q1'' = A q1 - q1 rho + T1, q2'' = -q2 rho + T2, rho = q1^2 + q2^2, |T| <= C at rest. One piece for A < A0 =
3 (C / 2)^(2/3), one with two holes up to A = 2 C^(2/3), then three. Source: Ivanov (2009), example 2; the second
bifurcation is not in the source. Run: it is put down on the axis q1 = 0, and must not move.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...mechanics.lagrangian.system import Friction, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, largest_shift, last

PARAMETERS = {
    "A": Parameter(default=3.0, unit="1/s^2", min=-2.0, max=8.0, meaning="linear force over mass and way, along q1"),
    "C": Parameter(default=1.0, unit="N", min=0.1, max=5.0, meaning="what friction can hold"),
    "share": Parameter(default=0.8, unit="1", min=-0.99, max=0.99, meaning="q2 over C^(1/3), where it is put down"),
}
T_END, STEPS = 2.0, 100
FRICTION = "floor"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y = dynamicsymbols("q1 q2")
    A, C = sp.symbols("A C")
    return LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=(x**2 + y**2) ** 2 / 4 - A * x**2 / 2,
        constraints=[Friction([x.diff(), y.diff()], cap=C, name=FRICTION)],
        parameters={A: (3.0, "1/s^2"), C: (1.0, "N")},
        drawing={"slider": [(x, y)]},
        compile=False,
        name="Duffing oscillator in the plane with friction",
    )


def build(A: float, C: float, share: float) -> Scene:
    """Return the scene: at rest at (0, share C^(1/3)), where F = (0, -share^3 C)."""
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.y": ("m", coordinate(1))}
    exact = (
        check("it stays", 0.0, "m", largest_shift, moreau_jean=1e-10),
        check("friction along q1", 0.0, "N", last(f"{FRICTION}.r_T1"), moreau_jean=1e-9 * (1.0 + C)),
        check("friction along q2", share**3 * C, "N", last(f"{FRICTION}.r_T2"), moreau_jean=1e-9 * (1.0 + C)),
    )
    return Scene(
        name="duffing_plane",
        title="Duffing oscillator in the plane with friction: regions of equilibria",
        source="Ivanov (2009), example 2",
        system=_system().with_params(A=A, C=C),
        state=State(q=np.array([0.0, share * np.cbrt(C)]), v=np.zeros(2)),
        t_end=T_END,
        dt=T_END / STEPS,
        params={"A": A, "C": C, "share": share},
        exact=exact,
        tests=("families of equilibria", "friction in a plane at rest"),
        columns=columns,
    )
