"""What can happen to a region of equilibria: one slider in the plane, a force with a critical point on the border.

F = (lam + (k1 q1^2 + k2 q2^2) / 2, s rho^2), rho = q1^2 + q2^2, |T| <= C at rest. As lam passes C at q = 0 the family
dies (k1, k2 > 0), a hole opens in it (k1, k2 < 0), or a bridge breaks (k1 k2 < 0); at lam = -C the reverse. Source:
theorem 2 of Ivanov (2009) by an example of its own. Run: it is put down at q = 0, stays where |lam| <= C, and slides
off beyond.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Friction, LagrangianSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, largest_shift, last

PARAMETERS = {
    "lam": Parameter(default=0.5, unit="N", min=-3.0, max=3.0, meaning="force at q = 0; C is the border"),
    "k1": Parameter(default=1.0, unit="N/m^2", min=-3.0, max=3.0, meaning="how the force bends along q1"),
    "k2": Parameter(default=-1.5, unit="N/m^2", min=-3.0, max=3.0, meaning="how the force bends along q2"),
    "C": Parameter(default=1.0, unit="N", min=0.96, max=2.0, meaning="what friction can hold"),
    "s": Parameter(default=0.2, unit="N/m^4", min=0.1, max=1.0, meaning="force that keeps the region bounded"),
}
T_END, STEPS = 2.0, 100
FAR = 0.5  # m, and of the way over which the force may change as much as slides it: so far it slides at most
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
    held = abs(lam) <= C
    t_end = T_END if held else _duration(abs(lam) - C, max(abs(k1), abs(k2)))
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.y": ("m", coordinate(1))}
    stays = (
        check("it stays", 0.0, "m", largest_shift, moreau_jean=1e-10),
        check("friction", -lam, "N", last(f"{FRICTION}.r_T1"), moreau_jean=1e-9 * (1.0 + C)),
    )
    exact = stays if held else _slides(lam, k1, k2, C, s)
    return Scene(
        name="rest_scenarios",
        title="What can happen to a region of equilibria",
        source="Ivanov (2009), theorem 2",
        system=_system().with_params(lam=lam, k1=k1, k2=k2, C=C, s=s),
        state=State(q=np.zeros(2), v=np.zeros(2)),
        t_end=t_end,
        dt=t_end / STEPS,
        params={"lam": lam, "k1": k1, "k2": k2, "C": C, "s": s},
        exact=exact,
        tests=("families of equilibria", "friction in a plane at rest"),
        columns=columns,
    )


def _duration(left: float, bend: float) -> float:
    """Return how long it slides, s: a way over which the force, less friction, does not change by much."""
    way = FAR * min(1.0, math.sqrt(2.0 * left / bend) if bend > 0.0 else 1.0)
    return min(T_END, math.sqrt(2.0 * way / left))


def _slides(lam: float, k1: float, k2: float, C: float, s: float) -> tuple[Exact, ...]:
    """Return where it slides to, by an independent method."""
    from scipy.integrate import solve_ivp

    left, ahead = abs(lam) - C, math.copysign(1.0, lam)
    t_end = _duration(left, max(abs(k1), abs(k2)))

    def slope(_: float, z: Array) -> list[float]:
        """Return the rates of (q1, q2, v1, v2)."""
        x, y, u, v = z
        speed = math.hypot(u, v)
        e = (u / speed, v / speed) if speed > 0.0 else (ahead, 0.0)
        return [u, v, lam + 0.5 * (k1 * x * x + k2 * y * y) - C * e[0], s * (x * x + y * y) ** 2 - C * e[1]]

    (x, y, u, _) = solve_ivp(slope, (0.0, t_end), np.zeros(4), "DOP853", rtol=1e-11, atol=1e-14).y[:, -1]
    fine = 0.2 / STEPS**2  # of the way, and of the speed
    return (
        check("where it slides to", float(x), "m", last("slider.x"), moreau_jean=fine * abs(x)),
        check("and aside", float(y), "m", last("slider.y"), moreau_jean=fine * abs(x)),
        check("speed", float(u), "m/s", rate_at_end, moreau_jean=fine * abs(u)),
    )


def rate_at_end(run: Any) -> float:
    """Return the velocity along q1 at the end, m/s."""
    return float(run.v[-1, 0])
