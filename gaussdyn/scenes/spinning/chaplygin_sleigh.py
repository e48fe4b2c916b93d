"""Chaplygin's sleigh: a body on ice with a knife edge behind its centre of mass; free, or on a slope.

With v the speed of the knife along itself, k^2 = (J + m c^2) / m and R^2 = v0^2 + k^2 omega0^2 the free sleigh has
    v = R tanh(c R (t - t0) / k^2),   omega = (R / k) sech(c R (t - t0) / k^2),   lam = m v omega J / (J + m c^2).
On a slope it is integrated in the reduced form by an independent method of order 8. Source: Kozlov (2008), section 2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import LagrangianSystem, Nonholonomic
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, largest, last

PARAMETERS = {
    "mass": Parameter(default=1.0, unit="kg", min=0.2, max=5.0, meaning="of the sleigh"),
    "inertia": Parameter(default=0.5, unit="kg m^2", min=0.1, max=5.0, meaning="about the centre of mass"),
    "c": Parameter(default=0.4, unit="m", min=0.1, max=1.0, meaning="from the knife to the centre of mass"),
    "v0": Parameter(default=1.0, unit="m/s", min=-2.0, max=2.0, meaning="initial speed along the knife"),
    "omega0": Parameter(default=2.0, unit="rad/s", min=0.5, max=4.0, meaning="initial angular velocity"),
    "phi0": Parameter(default=0.3, unit="rad", min=-3.0, max=3.0, meaning="initial direction"),
    "slope_g": Parameter(default=0.0, unit="m/s^2", min=0.0, max=3.0, meaning="pull of gravity down the slope (-y)"),
}
T_END, DT = 2.0, 2e-3
KNIFE = "knife"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y, phi = dynamicsymbols("x y phi")
    m, J, c, g = sp.symbols("mass inertia c slope_g")
    across = -sp.sin(phi) * x.diff() + sp.cos(phi) * y.diff() - c * phi.diff()
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad"},
        kinetic=m * (x.diff() ** 2 + y.diff() ** 2) / 2 + J * phi.diff() ** 2 / 2,
        potential=m * g * y,
        constraints=[Nonholonomic(across, name=KNIFE)],
        parameters={m: (1.0, "kg"), J: (0.5, "kg m^2"), c: (0.4, "m"), g: (0.0, "m/s^2")},
        drawing={"knife": [(x - c * sp.cos(phi), y - c * sp.sin(phi)), (x + c * sp.cos(phi), y + c * sp.sin(phi))]},
        compile=False,
        name="chaplygin sleigh",
    )


def build(mass: float, inertia: float, c: float, v0: float, omega0: float, phi0: float, slope_g: float) -> Scene:
    """Return the scene; (x, y) is the centre of mass."""
    system = _system().with_params(mass=mass, inertia=inertia, c=c, slope_g=slope_g)
    along, across = np.array([math.cos(phi0), math.sin(phi0)]), np.array([-math.sin(phi0), math.cos(phi0)])
    velocity = v0 * along + c * omega0 * across
    end, force = reduced(mass, inertia, c, (v0, omega0, phi0), slope_g)
    rate = (abs(v0) + omega0 * math.sqrt(inertia / mass + c * c) + slope_g * T_END) * (1.0 + 1.0 / c) + omega0
    error = 0.05 * (DT * rate) ** 2  # of order 2; the factor is what runs over the whole range leave, times ten
    columns: Columns = {
        "sleigh.x": ("m", coordinate(0)),
        "sleigh.y": ("m", coordinate(1)),
        "sleigh.angle": ("rad", coordinate(2)),
        "sleigh.across": ("m/s", lambda state: float(_across(state, c))),
    }
    exact = (
        check("x at the end", float(end[0]), "m", last("sleigh.x"), moreau_jean=error),
        check("y at the end", float(end[1]), "m", last("sleigh.y"), moreau_jean=error),
        check("angle at the end", float(end[2]), "rad", last("sleigh.angle"), moreau_jean=error),
        check("force of the knife at the end", force, "N", _force, moreau_jean=error * mass * rate),
        check("speed across the knife", 0.0, "m/s", largest("sleigh.across"), moreau_jean=1e-10 * (1.0 + rate)),
    )
    return Scene(
        name="chaplygin_sleigh",
        title="Chaplygin's sleigh",
        source="Kozlov (2008); v = R tanh(c R (t - t0) / k^2), omega = (R / k) sech(...)",
        system=system,
        state=State(q=np.array([0.0, 0.0, phi0]), v=np.array([*velocity, omega0])),
        t_end=T_END,
        dt=DT,
        params={"mass": mass, "inertia": inertia, "c": c, "v0": v0, "omega0": omega0, "phi0": phi0, "slope_g": slope_g},
        exact=exact,
        tests=("a nonholonomic constraint", "viscous realization", "energy"),
        columns=columns,
    )


def reduced(
    m: float, J: float, c: float, start: tuple[float, float, float], slope_g: float
) -> tuple[Array, float]:  # fmt: skip
    """Return (x, y, phi) at the end and the force of the knife there, from the equations without multiplier.

    With v along the knife: m (v' - c w^2) = -m g sin(phi), (J + m c^2) w' = -m c (v w + g cos(phi)).
    """
    from scipy.integrate import solve_ivp

    def slope(t: float, y: Array) -> list[float]:
        """Return d(x, y, phi, v, w)/dt."""
        s, k = math.sin(y[2]), math.cos(y[2])
        v, w = float(y[3]), float(y[4])
        dv = c * w * w - slope_g * s
        dw = -m * c * (v * w + slope_g * k) / (J + m * c * c)
        return [v * k - c * w * s, v * s + c * w * k, w, dv, dw]

    v0, w0, phi0 = start
    y = solve_ivp(slope, (0.0, T_END), [0.0, 0.0, phi0, v0, w0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    force = J * m * (float(y[3] * y[4]) + slope_g * math.cos(y[2])) / (J + m * c * c)
    return y[:3], force


def _across(state: State, c: float) -> float:
    phi = float(state.q[2])
    return -math.sin(phi) * float(state.v[0]) + math.cos(phi) * float(state.v[1]) - c * float(state.v[2])


def _force(run: Any) -> float:
    """Return the force at the end, from the mean forces over the last two steps."""
    r = run[f"{KNIFE}.r"]
    return float(1.5 * r[-1] - 0.5 * r[-2])
