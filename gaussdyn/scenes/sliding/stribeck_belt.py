"""A slider on a belt whose friction falls with the slip speed: it sways by itself, slips and sticks, is shaken.

x'' = -x + T(w) + eps cos(om t), w = u - x', T = mu (sign w - alpha w + beta w^3), |T| <= max(mu, mu_s) at rest.
It rests at x = T(u); below w0 = sqrt(alpha / (3 beta)) it does not stay there. alpha = beta = 0 is Coulomb's law.
Source: Ivanov (2009), (4.4)-(4.6). Run: a short slip, against a quadrature of another library.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...mechanics.lagrangian.system import Friction, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, last, rate

PARAMETERS = {
    "u": Parameter(default=0.5, unit="m/s", min=0.05, max=2.0, meaning="speed of the belt"),
    "mu": Parameter(default=0.3, unit="N", min=0.05, max=1.0, meaning="friction of slow slip"),
    "mu_s": Parameter(default=0.0, unit="N", min=0.0, max=1.5, meaning="friction at rest; mu, where that is more"),
    "alpha": Parameter(default=1.0, unit="s/m", min=0.0, max=2.0, meaning="how friction falls with the slip speed"),
    "beta": Parameter(default=1.0 / 3.0, unit="s^3/m^3", min=0.0, max=1.0, meaning="how it rises again"),
    "eps": Parameter(default=0.0, unit="N", min=0.0, max=3.0, meaning="force that shakes it"),
    "om": Parameter(default=0.6, unit="rad/s", min=0.1, max=5.0, meaning="angular frequency of that force"),
}
T_END, STEPS = 0.2, 200
FRICTION = "belt"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, t = dynamicsymbols("x"), sp.Symbol("t")
    u, mu, mu_s, alpha, beta, eps, om = sp.symbols("u mu mu_s alpha beta eps om")
    w = u - x.diff()
    return LagrangianSystem(
        {x: "m"},
        kinetic=x.diff() ** 2 / 2,
        potential=x**2 / 2,
        forces=[mu * (beta * w**3 - alpha * w) + eps * sp.cos(om * t)],
        constraints=[Friction(x.diff() - u, cap=mu, cap_s=sp.Max(mu, mu_s), name=FRICTION)],
        parameters={name: (p.default, p.unit) for name, p in PARAMETERS.items()},
        drawing={
            "slider": [(x - 0.1, 0), (x + 0.1, 0), (x + 0.1, 0.15), (x - 0.1, 0.15), (x - 0.1, 0)],
            "belt": [(-1, 0), (1, 0)],
            "spring": [(-1, 0.1), (x - 0.1, 0.1)],
        },
        compile=False,
        name="slider on a belt, Stribeck friction",
    )


def build(u: float, mu: float, mu_s: float, alpha: float, beta: float, eps: float, om: float) -> Scene:
    """Return the scene: it starts in the middle, against the belt."""
    from scipy.integrate import solve_ivp

    def slide(t: float, y: list[float]) -> list[float]:
        """Return the rates while it slips against the belt."""
        w = u - y[1]
        return [y[1], -y[0] + mu * (1.0 - alpha * w + beta * w**3) + eps * math.cos(om * t)]

    end = solve_ivp(slide, (0.0, T_END), [0.0, -1.0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    dt = T_END / STEPS
    size = (2.0 + eps * (1.0 + om) ** 2 + mu * (1.0 + alpha + beta * (1.0 + u) ** 3)) * (1.0 + mu * 3.0 * beta * 9.0)
    columns: Columns = {"slider.x": ("m", coordinate(0)), "slider.vx": ("m/s", rate(0)),
                        "slip": ("m/s", lambda state: float(state.v[0]) - u)}  # fmt: skip
    exact = (
        check("x at the end", float(end[0]), "m", last("slider.x"), moreau_jean=size * dt**2 * T_END),
        check("speed at the end", float(end[1]), "m/s", last("slider.vx"), moreau_jean=size * dt**2),
    )
    return Scene(
        name="stribeck_belt",
        title="Slider on a belt with Stribeck friction",
        source="Ivanov (2009), (4.4); end of the slip by quadrature",
        system=_system().with_params(u=u, mu=mu, mu_s=mu_s, alpha=alpha, beta=beta, eps=eps, om=om),
        state=State(q=np.zeros(1), v=np.array([-1.0])),
        t_end=T_END,
        dt=dt,
        params={"u": u, "mu": mu, "mu_s": mu_s, "alpha": alpha, "beta": beta, "eps": eps, "om": om},
        exact=exact,
        tests=("friction that falls with the slip speed", "self-excited and forced oscillations"),
        columns=columns,
    )
