"""A Duffing oscillator with dry friction: where friction can hold it there are whole intervals of equilibria.

q'' = A q - q^3 + T, |T| <= C at rest: it is held where |A q - q^3| <= C. One interval for A < A0 = 3 (C / 2)^(2/3),
three beyond. Source: Ivanov (2009), example 1. Run: it is put down on the outermost family, and must not move.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...mechanics.lagrangian.system import Friction, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, largest_shift, last, rate

PARAMETERS = {
    "A": Parameter(default=4.0, unit="1/s^2", min=-2.0, max=8.0, meaning="linear force over mass and way"),
    "C": Parameter(default=2.0, unit="N", min=0.1, max=5.0, meaning="what friction can hold"),
    "pull": Parameter(default=0.7, unit="1", min=-0.99, max=0.99, meaning="A q - q^3 over C, where it is put down"),
}
T_END, STEPS = 2.0, 100
FRICTION = "floor"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    q = dynamicsymbols("q")
    A, C = sp.symbols("A C")
    return LagrangianSystem(
        {q: "m"},
        kinetic=q.diff() ** 2 / 2,
        potential=q**4 / 4 - A * q**2 / 2,
        constraints=[Friction(q.diff(), cap=C, name=FRICTION)],
        parameters={A: (4.0, "1/s^2"), C: (2.0, "N")},
        drawing={
            "slider": [(q - 0.1, 0), (q + 0.1, 0), (q + 0.1, 0.15), (q - 0.1, 0.15), (q - 0.1, 0)],
            "floor": [(-3, 0), (3, 0)],
        },
        compile=False,
        name="Duffing oscillator with friction",
    )


def build(A: float, C: float, pull: float) -> Scene:
    """Return the scene: at rest on the outermost family."""
    q = max(root.real for root in np.roots([1.0, 0.0, -A, pull * C]) if abs(root.imag) < 1e-9)
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.vx": ("m/s", rate(0))}
    exact = (
        check("it stays", 0.0, "m", largest_shift, moreau_jean=1e-10),
        check("friction", -(A * q - q**3), "N", last(f"{FRICTION}.r_T"), moreau_jean=1e-9 * (1.0 + C)),
    )
    return Scene(
        name="duffing_friction",
        title="Duffing oscillator with friction: intervals of equilibria",
        source="Ivanov (2009), example 1",
        system=_system().with_params(A=A, C=C),
        state=State(q=np.array([q]), v=np.zeros(1)),
        t_end=T_END,
        dt=T_END / STEPS,
        params={"A": A, "C": C, "pull": pull},
        exact=exact,
        tests=("families of equilibria", "friction under a given load at rest"),
        columns=columns,
    )
