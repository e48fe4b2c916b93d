"""A slider-crank: a crank that turns over, a rod, and a piston on a line; heavy, without friction.

With phi the angle of the crank, psi that of the rod, r sin(phi) = l sin(psi), everything follows phi:
I(phi) phi'' + 1/2 I' phi'^2 + V' = 0, integrated by an independent method of order 8. The rod may not be shorter than
the crank, so that no dead point is singular.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate, largest

PARAMETERS = {
    "crank": Parameter(default=0.3, unit="m", min=0.1, max=0.4, meaning="length of the crank"),
    "ratio": Parameter(default=2.5, unit="1", min=1.5, max=5.0, meaning="length of the rod over that of the crank"),
    "rod_mass": Parameter(default=0.5, unit="kg", min=0.1, max=2.0, meaning="of the uniform rod"),
    "piston": Parameter(default=1.0, unit="kg", min=0.1, max=2.0, meaning="mass of the piston"),
    "omega0": Parameter(default=12.0, unit="rad/s", min=10.0, max=20.0, meaning="of the crank; enough to turn over"),
}
WHEEL = 1.0  # inertia of the crank over (rod_mass + piston) crank^2
T_END, DT = 1.0, 5e-4
LOOP = "loop"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    phi, psi = dynamicsymbols("phi psi")
    r, l, m, M, g = sp.symbols("crank rod rod_mass piston g", positive=True)
    joint = (r * sp.cos(phi), r * sp.sin(phi))
    middle = (joint[0] + l / 2 * sp.cos(psi), joint[1] - l / 2 * sp.sin(psi))
    end = joint[0] + l * sp.cos(psi)
    t = sp.Symbol("t")
    speed = sum(x.diff(t) ** 2 for x in middle)
    kinetic = (
        WHEEL * (m + M) * r**2 * phi.diff() ** 2 / 2
        + m * speed / 2
        + m * l**2 * psi.diff() ** 2 / 24
        + M * end.diff(t) ** 2 / 2
    )
    values = {r: (0.3, "m"), l: (0.75, "m"), m: (0.5, "kg"), M: (1.0, "kg"), g: (G, "m/s^2")}
    return LagrangianSystem(
        {phi: "rad", psi: "rad"},
        kinetic=kinetic,
        potential=m * g * middle[1],
        constraints=[Holonomic(r * sp.sin(phi) - l * sp.sin(psi), name=LOOP)],
        parameters=values,
        drawing={"crank": [(0, 0), joint], "rod": [joint, (end, 0)]},
        compile=False,
        name="slider-crank",
    )


def build(crank: float, ratio: float, rod_mass: float, piston: float, omega0: float) -> Scene:
    """Return the scene, from the outer dead point."""
    angle, rate = reference(crank, ratio, rod_mass, piston, omega0)
    rod = ratio * crank
    fast = 1.5 * omega0  # no faster: the wheel carries most of the energy
    error = 0.5 * (DT * fast) ** 2 * fast * T_END  # of order 2
    place = crank * (math.cos(angle) + math.sqrt(ratio**2 - math.sin(angle) ** 2))
    columns: Columns = {
        "crank.angle": ("rad", coordinate(0)),
        "rod.angle": ("rad", coordinate(1)),
        "piston.x": (
            "m",
            lambda state: crank * math.cos(state.q[0]) + rod * math.cos(state.q[1]),
        ),
    }
    exact = (
        check("angle of the crank at the end", angle, "rad", lambda run: float(run.q[-1, 0]), moreau_jean=error,
              located=True),
        check("its rate at the end", rate, "rad/s", lambda run: float(run.v[-1, 0]),
              moreau_jean=3.0 * error * fast, located=True),
        check("place of the piston at the end", place, "m", lambda run: float(run["piston.x"][-1]),
              moreau_jean=2.0 * crank * error, located=True),
        check("largest error of the loop", 0.0, "m", largest(f"{LOOP}.gap"), moreau_jean=1e-10, located=True),
    )  # fmt: skip
    return Scene(
        name="slider_crank",
        title="Slider-crank",
        source="one equation in the angle of the crank, integrated independently",
        system=_system().with_params(crank=crank, rod=rod, rod_mass=rod_mass, piston=piston),
        state=State(q=np.zeros(2), v=np.array([omega0, omega0 / ratio])),
        t_end=T_END,
        dt=DT,
        params={"crank": crank, "ratio": ratio, "rod_mass": rod_mass, "piston": piston, "omega0": omega0},
        exact=exact,
        tests=("a closed loop", "realization by a spring", "energy"),
        columns=columns,
    )


def reference(crank: float, ratio: float, m: float, M: float, omega0: float) -> tuple[float, float]:
    """Return angle and rate of the crank at the end: phi' from the energy, one quadrature of phi' = f(phi)."""
    from scipy.integrate import solve_ivp

    rod = ratio * crank

    def inertia(phi: float) -> float:
        """Return dE_kin / d(phi'^2 / 2), kg m^2."""
        s, c = math.sin(phi), math.cos(phi)
        k = math.sqrt(1.0 - (s / ratio) ** 2)  # cos(psi)
        turn = c / (ratio * k)  # dpsi/dphi
        x = -crank * s - rod * turn * s / ratio  # d(end)/dphi
        middle = (-crank * s - 0.5 * rod * turn * s / ratio, 0.5 * crank * c)
        return WHEEL * (m + M) * crank**2 + m * (middle[0] ** 2 + middle[1] ** 2 + (rod * turn) ** 2 / 12.0) + M * x * x

    energy = 0.5 * inertia(0.0) * omega0**2

    def slope(t: float, y: Array) -> list[float]:
        """Return phi'."""
        phi = float(y[0])
        return [math.sqrt(2.0 * (energy - 0.5 * m * G * crank * math.sin(phi)) / inertia(phi))]

    angle = float(solve_ivp(slope, (0.0, T_END), [0.0], method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1])
    return angle, slope(0.0, np.array([angle]))[0]
