"""Kapitza's pendulum: upside down on a pivot that shakes fast enough, it stands.

In the frame of the pivot, with y = -a sin(omega t) of the pivot and theta from above,
    l theta'' = (g + a omega^2 sin(omega t)) sin(theta);
averaged over the shaking it stands if (a omega)^2 > 2 g l. Source: Landau, Lifshitz, Mechanics, section 30; the
reference is the equation itself, integrated by an independent method of order 8.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...mechanics.planar.bodies import Marker, Point, fixed
from ...mechanics.planar.contacts import Rod
from ...mechanics.planar.forces import Shaking
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate, largest, last

PARAMETERS = {
    "omega": Parameter(default=250.0, unit="rad/s", min=80.0, max=400.0, meaning="rate of the shaking"),
    "a": Parameter(default=0.0125, unit="m", min=0.005, max=0.02, meaning="amplitude of the shaking"),
    "length": Parameter(default=0.25, unit="m", min=0.2, max=0.5, meaning="of the pendulum"),
    "lean": Parameter(default=0.1, unit="rad", min=0.02, max=0.3, meaning="from above at the start"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the bob"),
}
PERIODS, PER_PERIOD = 25, 60  # of the shaking, and steps in each
FALLEN, UP = math.pi / 2, 1.4  # rad: where the run ends, and up to where it counts as standing


def build(omega: float, a: float, length: float, lean: float, mass: float) -> Scene:
    """Return the scene: it starts at rest in the frame of the pivot, and ends when it has fallen."""
    t_end, theta, rate, top = motion(omega, a, length, lean)
    system = PlanarSystem(
        bodies=[Point(name="bob", mass=mass)],
        contacts=[Rod(a=Marker("bob"), b=fixed(0.0, 0.0), length=length)],
        forces=[Shaking(direction=(0.0, 1.0), amplitude=a * omega**2, frequency=omega / (2.0 * math.pi))],
        gravity=(0.0, -G),
    )
    dt = 2.0 * math.pi / omega / PER_PERIOD
    columns: Columns = {
        "bob.x": ("m", coordinate(0)),
        "bob.y": ("m", coordinate(1)),
        "bob.lean": ("rad", _lean),
    }
    angle_error, rate_error = _errors(omega, a, length, (t_end, top), dt)
    standing = 9.0 if abs(top - UP) < angle_error else 0.5
    return Scene(
        name="kapitza",
        title="Kapitza's pendulum: it stands on a pivot that shakes",
        source="L. D. Landau, E. M. Lifshitz, Mechanics, section 30; it stands if (a omega)^2 > 2 g l",
        system=system,
        state=system.state({"bob": (length * math.sin(lean), length * math.cos(lean))}),
        t_end=t_end,
        dt=dt,
        params={"omega": omega, "a": a, "length": length, "lean": lean, "mass": mass},
        exact=(
            check("angle at the end", theta, "rad", last("bob.lean"), moreau_jean=angle_error, located=True),
            check("rate at the end", rate, "rad/s", _rate, moreau_jean=rate_error, located=True),
            check("largest angle", top, "rad", largest("bob.lean"), moreau_jean=angle_error + abs(rate) * dt),
            check("stands to the end", float(top < UP), "1", _stands, moreau_jean=standing),
            check("largest error of the length", 0.0, "m", _stretch(length), moreau_jean=1e-10),
        ),
        tests=("a force that depends on time", "stability by vibration", "a joint"),
        columns=columns,
    )


@lru_cache(maxsize=64)
def motion(omega: float, a: float, length: float, lean: float) -> tuple[float, float, float, float]:
    """Return the end (s), the angle (rad) and rate (rad/s) there, and the largest angle up to it.

    The end is after `PERIODS` of the shaking, or where it has fallen.
    """
    from scipy.integrate import solve_ivp

    def slope(t: float, y: Any) -> list[float]:
        """Return d(theta, theta')/dt."""
        return [y[1], (G + a * omega**2 * math.sin(omega * t)) / length * math.sin(y[0])]

    def falls(t: float, y: Any) -> float:
        """Return what is zero when it has fallen."""
        return float(FALLEN - abs(y[0]))

    falls.terminal = True  # type: ignore[attr-defined]
    span = (0.0, PERIODS * 2.0 * math.pi / omega)
    found = solve_ivp(
        slope, span, [lean, 0.0], "DOP853", rtol=1e-12, atol=1e-12, events=falls, dense_output=True
    )  # fmt: skip
    t_end = float(found.t[-1])
    path = found.sol(np.linspace(0.0, t_end, PERIODS * PER_PERIOD))[0]
    return t_end, float(found.y[0, -1]), float(found.y[1, -1]), float(np.abs(path).max())


def _errors(omega: float, a: float, length: float, reach: tuple[float, float], dt: float) -> tuple[float, float]:
    """Bound the errors of angle (rad) and rate (rad/s) at the end, `reach` being (duration, largest angle).

    The midpoint rule is of order 2: its force is wrong by (omega dt)^2 / 24 of itself. It drives motions of the rate
    of the averaged equation, over the duration; the rate at the end also follows the force of the moment.
    """
    t_end, top = reach
    slow = math.sqrt(G / length) + a * omega / length
    error = 0.25 * (omega * dt) ** 2 * top * (1.0 + slow * t_end)
    return 1e-9 + error, 1e-9 + error * slow


def _lean(state: State) -> float:
    return math.atan2(float(state.q[0]), float(state.q[1]))


def _rate(run: Any) -> float:
    (x, y), (vx, vy) = run.q[-1], run.v[-1]
    return float((y * vx - x * vy) / (x * x + y * y))


def _stands(run: Any) -> float:
    return float(np.abs(run["bob.lean"]).max() < UP)


def _stretch(length: float) -> Any:
    return lambda run: float(np.abs(np.hypot(run["bob.x"], run["bob.y"]) - length).max())
