"""A crank and a connecting rod of one length: where the crank stands upright the piston may stay while both turn.

Without gravity the kinetic energy I(a) a'^2 / 2 in the angle a of the crank is constant, which gives a(t) by one
quadrature; both rods turn on smoothly and the piston goes through to the other side. Upright, the equations of the
joints lose rank.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ...mechanics.planar.bodies import Marker, PlanarBody, fixed
from ...mechanics.planar.joints import Hinge, Slider
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, coordinate, energy_change, joint_error, last

PARAMETERS = {
    "angle": Parameter(default=0.5, unit="rad", min=0.2, max=1.2, meaning="of the crank at the start"),
    "rate": Parameter(default=1.0, unit="rad/s", min=0.2, max=5.0, meaning="of the crank at the start"),
    "length": Parameter(default=1.0, unit="m", min=0.5, max=2.0, meaning="of crank and rod"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-2, max=1e2, meaning="of crank, rod and piston"),
}
STEPS, BEYOND = 100, 1.3  # the end, in times from the start to the upright crank


def build(angle: float, rate: float, length: float, mass: float) -> Scene:
    """Return the scene: through the upright crank."""
    system, state = linkage(angle, rate, length, mass)
    t_end = BEYOND * upright_after(angle) / rate
    end, speed = motion(angle, BEYOND * upright_after(angle))
    near = 3.0 * (rate * t_end / STEPS) ** 2  # second order
    energy = 0.5 * mass * (length * rate) ** 2 * inertia(angle)
    columns: Columns = {
        "crank.angle": ("rad", coordinate(system.index("crank", "angle"))),
        "rod.angle": ("rad", coordinate(system.index("rod", "angle"))),
        "piston.x": ("m", coordinate(system.index("piston", "x"))),
    }
    return Scene(
        name="equal_crank",
        title="Crank and rod of one length: through the upright position",
        source="Quadrature of the kinetic energy in the angle of the crank",
        system=system,
        state=state,
        t_end=t_end,
        dt=t_end / STEPS,
        params={"angle": angle, "rate": rate, "length": length, "mass": mass},
        exact=(
            check("angle of the crank at the end", end, "rad", last("crank.angle"), moreau_jean=near, on_branch=1e-10),
            check("angle of the rod at the end", -end, "rad", last("rod.angle"), moreau_jean=near, on_branch=1e-10),
            check("rate at the end", rate * speed, "rad/s", _rate, moreau_jean=4.0 * near * rate,
                  on_branch=1e-9 * rate),
            check("place of the piston at the end", 2.0 * length * math.cos(end), "m", last("piston.x"),
                  moreau_jean=2.0 * near * length, on_branch=1e-10),
            check("largest change of energy", 0.0, "J", energy_change, moreau_jean=4.0 * near * energy,
                  on_branch=1e-10 * energy),
            check("largest error of a joint", 0.0, "m", joint_error, moreau_jean=1e-10, on_branch=1e-10),
        ),
        tests=("a singular configuration", "which branch is taken", "energy"),
        columns=columns,
    )  # fmt: skip


def linkage(angle: float, rate: float, length: float, mass: float) -> tuple[PlanarSystem, State]:
    """Return crank, rod and piston, and the state at an angle and a rate of the crank."""
    half = 0.5 * length
    turning = mass * length**2 / 12.0
    outline = ((-half, 0.0), (half, 0.0))
    bodies = [PlanarBody(name=name, mass=mass, inertia=turning, outline=outline) for name in ("crank", "rod")]
    system = PlanarSystem(
        bodies=[*bodies, PlanarBody(name="piston", mass=mass, inertia=turning)],
        joints=[
            Hinge(name="shaft", a=Marker("crank", (-half, 0.0)), b=fixed(0.0, 0.0)),
            Hinge(name="pin", a=Marker("rod", (-half, 0.0)), b=Marker("crank", (half, 0.0))),
            Hinge(name="wrist", a=Marker("piston", (0.0, 0.0)), b=Marker("rod", (half, 0.0))),
            Slider(name="guide", a=Marker("piston", (0.0, 0.0)), b=fixed(0.0, 0.0)),
        ],
        gravity=(0.0, 0.0),
    )
    c, s = length * math.cos(angle), length * math.sin(angle)
    place = {"crank": (c / 2, s / 2, angle), "rod": (1.5 * c, s / 2, -angle), "piston": (2.0 * c, 0.0, 0.0)}
    velocity = {
        "crank": (-rate * s / 2, rate * c / 2, rate),
        "rod": (-1.5 * rate * s, rate * c / 2, -rate),
        "piston": (-2.0 * rate * s, 0.0, 0.0),
    }
    return system, system.state(place, velocity)


def inertia(a: float) -> float:
    """Return I(a) over mass and length squared: crank about the shaft, rod about its centre, what centres move."""
    s2 = math.sin(a) ** 2
    return 1.0 / 3.0 + 1.0 / 12.0 + 2.25 * s2 + 0.25 * (1.0 - s2) + 4.0 * s2


@lru_cache(maxsize=64)
def upright_after(angle: float) -> float:
    """Return the time from an angle to pi / 2, times the rate at the angle."""
    from scipy.integrate import quad

    found = quad(lambda a: math.sqrt(inertia(a) / inertia(angle)), angle, math.pi / 2, epsabs=1e-13)
    return float(found[0])


@lru_cache(maxsize=64)
def motion(angle: float, t: float) -> tuple[float, float]:
    """Return the angle after t, and its rate over that at the start; t times the rate at the start."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        lambda _, y: [math.sqrt(inertia(angle) / inertia(y[0]))], (0.0, t), [angle], "DOP853", rtol=1e-13, atol=1e-13
    )
    end = float(found.y[0, -1])
    return end, math.sqrt(inertia(angle) / inertia(end))


def _rate(run: Any) -> float:
    return float(run.v[-1, 2])
