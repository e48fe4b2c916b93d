"""A disc that stands upright and rolls on an inclined plane without slip: two nonholonomic constraints.

The heading turns evenly; along it u' = p cos(phi) / (1 + J / (m r^2)), u = r theta'. The plane pushes along the disc
with -J u' / r^2 and across it with m (u omega + p sin phi). Source: Neimark, Fufaev (1972); closed form.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.lagrangian.system import LagrangianSystem, Nonholonomic
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, last
from ..references.turning_motion import Turning

PARAMETERS = {
    "mass": Parameter(default=1.0, unit="kg", min=0.2, max=5.0, meaning="of the disc"),
    "radius": Parameter(default=0.4, unit="m", min=0.1, max=1.0, meaning="of the disc"),
    "share": Parameter(default=0.5, unit="1", min=0.1, max=1.0, meaning="inertia over m r^2: 1/2 solid, 1 a hoop"),
    "u0": Parameter(default=1.0, unit="m/s", min=-2.0, max=2.0, meaning="initial speed along the disc"),
    "omega": Parameter(default=1.5, unit="rad/s", min=0.5, max=4.0, meaning="rate at which its heading turns"),
    "phi0": Parameter(default=0.4, unit="rad", min=-3.0, max=3.0, meaning="initial heading; gravity pulls along x"),
    "pull": Parameter(default=1.5, unit="m/s^2", min=0.0, max=3.0, meaning="of gravity down the plane"),
}
T_END, DT = 3.0, 2e-3
ROWS = ("rolling:x", "rolling:y")


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y, phi, theta = dynamicsymbols("x y phi theta")
    m, r, share, pull = sp.symbols("mass radius share pull")
    J = share * m * r**2
    slip = (x.diff() - r * theta.diff() * sp.cos(phi), y.diff() - r * theta.diff() * sp.sin(phi))
    kinetic = m * (x.diff() ** 2 + y.diff() ** 2) / 2 + J * theta.diff() ** 2 / 2 + J * phi.diff() ** 2 / 4
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad", theta: "rad"},
        kinetic=kinetic,
        potential=-m * pull * x,
        constraints=[Nonholonomic(one, name=name) for one, name in zip(slip, ROWS, strict=True)],
        parameters={m: (1.0, "kg"), r: (0.4, "m"), share: (0.5, "1"), pull: (1.5, "m/s^2")},
        drawing={
            "disc": [(x - r * sp.cos(phi), y - r * sp.sin(phi)), (x + r * sp.cos(phi), y + r * sp.sin(phi))],
        },
        compile=False,
        name="rolling disc",
    )


def build(
    mass: float, radius: float, share: float, u0: float, omega: float, phi0: float, pull: float
) -> Scene:  # fmt: skip
    """Return the scene; (x, y) is where it touches the plane, theta how far it has rolled."""
    motion = Turning(v0=u0, omega=omega, phi0=phi0, pull=pull / (1.0 + share))
    (x, y), phi = motion.place(T_END), motion.angle(T_END)
    fastest = abs(u0) + 2.0 * pull / omega
    error = 0.5 * (DT * omega) ** 2 * (fastest + pull / omega) * T_END  # of order 2
    along = -share * mass * motion.pull * math.cos(phi)
    across = mass * (motion.speed(T_END) * omega + pull * math.sin(phi))
    columns: Columns = {
        "disc.x": ("m", coordinate(0)),
        "disc.y": ("m", coordinate(1)),
        "disc.heading": ("rad", coordinate(2)),
        "disc.turn": ("rad", coordinate(3)),
    }
    forces = 20.0 * error * mass * omega
    exact = (
        check("x at the end", x, "m", last("disc.x"), moreau_jean=error),
        check("y at the end", y, "m", last("disc.y"), moreau_jean=error),
        check("turn at the end", motion.way(T_END) / radius, "rad", last("disc.turn"), moreau_jean=error / radius),
        check("force along the disc at the end", along, "N", lambda run: _force(run, phi)[0], moreau_jean=forces),
        check("force across the disc at the end", across, "N", lambda run: _force(run, phi)[1], moreau_jean=forces),
    )
    return Scene(
        name="rolling_disc",
        title="Disc that rolls upright on an inclined plane",
        source="closed form; Neimark, Fufaev (1972)",
        system=_system().with_params(mass=mass, radius=radius, share=share, pull=pull),
        state=State(
            q=np.array([0.0, 0.0, phi0, 0.0]),
            v=np.array([u0 * math.cos(phi0), u0 * math.sin(phi0), omega, u0 / radius]),
        ),
        t_end=T_END,
        dt=DT,
        params={
            "mass": mass, "radius": radius, "share": share, "u0": u0, "omega": omega, "phi0": phi0, "pull": pull,
        },
        exact=exact,
        tests=("two nonholonomic constraints", "viscous realization"),
        columns=columns,
    )  # fmt: skip


def _force(run: Any, phi: float) -> tuple[float, float]:
    """Return the forces along and across the disc at the end, from the mean forces over the last two steps."""
    x, y = (float(1.5 * run[f"{row}.r"][-1] - 0.5 * run[f"{row}.r"][-2]) for row in ROWS)
    return math.cos(phi) * x + math.sin(phi) * y, -math.sin(phi) * x + math.cos(phi) * y
