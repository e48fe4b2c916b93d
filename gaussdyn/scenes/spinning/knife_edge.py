"""A knife edge under the centre of mass on an inclined plane: it does not slide down, on the average.

phi = phi0 + omega t, v' = p cos(phi), with p the pull of gravity along x: a cycloid along y. The knife pushes across
itself with m (v omega + p sin phi). Source: Neimark, Fufaev (1972); closed form.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.lagrangian.system import LagrangianSystem, Nonholonomic
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, largest, last
from ..references.turning_motion import Turning

PARAMETERS = {
    "mass": Parameter(default=1.0, unit="kg", min=0.2, max=5.0, meaning="of the body"),
    "inertia": Parameter(default=0.5, unit="kg m^2", min=0.1, max=5.0, meaning="about its centre, above the knife"),
    "v0": Parameter(default=0.0, unit="m/s", min=-2.0, max=2.0, meaning="initial speed along the knife"),
    "omega": Parameter(default=2.0, unit="rad/s", min=0.5, max=4.0, meaning="angular velocity"),
    "phi0": Parameter(default=0.0, unit="rad", min=-3.0, max=3.0, meaning="initial direction; gravity pulls along x"),
    "pull": Parameter(default=1.5, unit="m/s^2", min=0.0, max=3.0, meaning="of gravity down the plane"),
}
T_END, DT = 3.0, 2e-3
KNIFE = "knife"


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y, phi = dynamicsymbols("x y phi")
    m, J, pull = sp.symbols("mass inertia pull")
    across = -sp.sin(phi) * x.diff() + sp.cos(phi) * y.diff()
    reach = sp.Rational(3, 10)
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad"},
        kinetic=m * (x.diff() ** 2 + y.diff() ** 2) / 2 + J * phi.diff() ** 2 / 2,
        potential=-m * pull * x,
        constraints=[Nonholonomic(across, name=KNIFE)],
        parameters={m: (1.0, "kg"), J: (0.5, "kg m^2"), pull: (1.5, "m/s^2")},
        drawing={
            "knife": [
                (x - reach * sp.cos(phi), y - reach * sp.sin(phi)),
                (x + reach * sp.cos(phi), y + reach * sp.sin(phi)),
            ]
        },
        compile=False,
        name="knife edge",
    )


def build(mass: float, inertia: float, v0: float, omega: float, phi0: float, pull: float) -> Scene:
    """Return the scene; (x, y) is the knife."""
    motion = Turning(v0=v0, omega=omega, phi0=phi0, pull=pull)
    x, y = motion.place(T_END)
    phi, fastest = motion.angle(T_END), abs(v0) + 2.0 * pull / omega
    rate = fastest * omega + pull
    error = 0.5 * (DT * omega) ** 2 * rate / omega * T_END  # of order 2
    force = mass * (motion.speed(T_END) * omega + pull * math.sin(phi))
    columns: Columns = {
        "knife.x": ("m", coordinate(0)),
        "knife.y": ("m", coordinate(1)),
        "knife.angle": ("rad", coordinate(2)),
        "knife.across": ("m/s", _across),
    }
    exact = (
        check("x at the end", x, "m", last("knife.x"), moreau_jean=error),
        check("y at the end", y, "m", last("knife.y"), moreau_jean=error),
        check("angle at the end", phi, "rad", last("knife.angle"), moreau_jean=1e-10),
        check("force of the knife at the end", force, "N", _force, moreau_jean=20.0 * error * mass * omega),
        check("speed across the knife", 0.0, "m/s", largest("knife.across"), moreau_jean=1e-10 * (1.0 + fastest)),
    )
    return Scene(
        name="knife_edge",
        title="Knife edge on an inclined plane",
        source="closed form: a cycloid; Neimark, Fufaev (1972)",
        system=_system().with_params(mass=mass, inertia=inertia, pull=pull),
        state=State(q=np.array([0.0, 0.0, phi0]), v=np.array([v0 * math.cos(phi0), v0 * math.sin(phi0), omega])),
        t_end=T_END,
        dt=DT,
        params={"mass": mass, "inertia": inertia, "v0": v0, "omega": omega, "phi0": phi0, "pull": pull},
        exact=exact,
        tests=("a nonholonomic constraint", "viscous realization"),
        columns=columns,
    )


def _across(state: State) -> float:
    phi = float(state.q[2])
    return math.cos(phi) * float(state.v[1]) - math.sin(phi) * float(state.v[0])


def _force(run: Any) -> float:
    """Return the force at the end, from the mean forces over the last two steps."""
    r = run[f"{KNIFE}.r"]
    return float(1.5 * r[-1] - 0.5 * r[-2])
