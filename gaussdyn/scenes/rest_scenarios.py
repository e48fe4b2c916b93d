"""What can happen to a region of equilibria: one slider in the plane, a force with a critical point on the border.

F = (lam + (k1 q1^2 + k2 q2^2) / 2, s rho^2), rho = q1^2 + q2^2, |T| <= C at rest. As lam passes C at q = 0 the family
dies (k1, k2 > 0), a hole opens in it (k1, k2 < 0), or a bridge breaks (k1 k2 < 0); at lam = -C the reverse. Source:
theorem 2 of Ivanov (2009) by an example of its own. Run: it is put down at q = 0, and stays where |lam| <= C.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..mechanics.lagrangian import Friction, LagrangianSystem
from ..mechanics.scene import Parameter, Scene
from ..mechanics.state import State
from .measures import Columns, check, coordinate, largest_shift, last

PARAMETERS = {
    "lam": Parameter(default=0.5, unit="N", min=-0.95, max=0.95, meaning="force at q = 0"),
    "k1": Parameter(default=1.0, unit="N/m^2", min=-3.0, max=3.0, meaning="how the force bends along q1"),
    "k2": Parameter(default=-1.5, unit="N/m^2", min=-3.0, max=3.0, meaning="how the force bends along q2"),
    "C": Parameter(default=1.0, unit="N", min=0.96, max=2.0, meaning="what friction can hold"),
    "s": Parameter(default=0.2, unit="N/m^4", min=0.1, max=1.0, meaning="force that keeps the region bounded"),
}
T_END, STEPS = 2.0, 100
FRICTION = "floor"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y = dynamicsymbols("q1 q2")
    lam, k1, k2, C, s = sp.symbols("lam k1 k2 C s")
    values = {"lam": (0.5, "N"), "k1": (1.0, "N/m^2"), "k2": (-1.5, "N/m^2"), "C": (1.0, "N"), "s": (0.2, "N/m^4")}
    return LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=(x.diff() ** 2 + y.diff() ** 2) / 2,
        forces=[lam + (k1 * x**2 + k2 * y**2) / 2, s * (x**2 + y**2) ** 2],
        constraints=[Friction([x.diff(), y.diff()], cap=C, name=FRICTION)],
        parameters=values,
        drawing={"slider": [(x, y)]},
        compile=False,
        name="a force with a critical point",
    )


def build(lam: float, k1: float, k2: float, C: float, s: float) -> Scene:
    """Return the scene: at rest at q = 0."""
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.y": ("m", coordinate(1))}
    exact = (
        check("it stays", 0.0, "m", largest_shift, moreau_jean=1e-10),
        check("friction", -lam, "N", last(f"{FRICTION}.r_T1"), moreau_jean=1e-9 * (1.0 + C)),
    )
    return Scene(
        name="rest_scenarios",
        title="What can happen to a region of equilibria",
        source="Ivanov (2009), theorem 2",
        system=_system().with_params(lam=lam, k1=k1, k2=k2, C=C, s=s),
        state=State(q=np.zeros(2), v=np.zeros(2)),
        t_end=T_END,
        dt=T_END / STEPS,
        params={"lam": lam, "k1": k1, "k2": k2, "C": C, "s": s},
        exact=exact,
        tests=("families of equilibria", "friction in a plane at rest"),
        columns=columns,
    )
