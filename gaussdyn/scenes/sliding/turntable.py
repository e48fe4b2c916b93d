"""Two coins on a turntable: one turns with it, the other is put down at rest and is taken along.

A coin at radius R stays if omega^2 R <= mu g. One that slips is pulled by mu g against its slip v - omega x r; this is
integrated by an independent method of order 8, up to where it sticks (from there it goes round) or to the end.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Friction, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate

PARAMETERS = {
    "omega": Parameter(default=3.0, unit="rad/s", min=0.5, max=6.0, meaning="rate of the table"),
    "mu": Parameter(default=0.3, unit="1", min=0.1, max=0.8, meaning="friction"),
    "hold": Parameter(default=0.99, unit="1", min=0.1, max=0.99, meaning="omega^2 R / (mu g) of the coin that stays"),
    "radius": Parameter(default=0.15, unit="m", min=0.05, max=0.5, meaning="where the other is put down"),
    "mass": Parameter(default=0.01, unit="kg", min=1e-3, max=1.0, meaning="of each coin"),
}
DT, STEPS = 1e-3, 500  # s
STUCK = 1e-7  # m/s of slip: there the reference sticks, if it can


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    from sympy import symbols
    from sympy.physics.mechanics import dynamicsymbols

    x, y, X, Y = dynamicsymbols("x y X Y")
    m, omega, load = symbols("mass omega load")
    slips = {"stays": (X, Y), "slips": (x, y)}
    return LagrangianSystem(
        {x: "m", y: "m", X: "m", Y: "m"},
        kinetic=m * sum(c.diff() ** 2 for c in (x, y, X, Y)) / 2,
        constraints=[
            Friction((a.diff() + omega * b, b.diff() - omega * a), cap=load, name=name)
            for name, (a, b) in slips.items()
        ],
        parameters={m: (0.01, "kg"), omega: (3.0, "rad/s"), load: (0.03, "N")},
        drawing={"slips": [(x, y)], "stays": [(X, Y)], "axis": [(0 * x, 0 * y)]},
        compile=False,
        name="turntable",
    )


def build(omega: float, mu: float, hold: float, radius: float, mass: float) -> Scene:
    """Return the scene, seen from above: (x, y) is the coin put down at rest, (X, Y) goes round from the start."""
    system = _system().with_params(mass=mass, omega=omega, load=mu * mass * G)
    R, t = hold * mu * G / omega**2, STEPS * DT
    start = State(q=np.array([radius, 0.0, R, 0.0]), v=np.array([0.0, 0.0, 0.0, omega * R]))
    end = slide(omega, mu, radius, t)
    round_error = 1e-9 + 0.25 * R * (omega * DT) ** 2 * omega * t
    slip_error = 1e-9 + 0.25 * mu * G * DT * (t + DT) * (1.0 + omega * t)  # order 1: the slip turns, and stops
    columns: Columns = {name: ("m", coordinate(k)) for k, name in enumerate(("x", "y", "X", "Y"))}
    columns["slip"] = ("m/s", lambda state: float(math.hypot(*slip(state.q[:2], state.v[:2], omega))))
    return Scene(
        name="turntable",
        title="Two coins on a turntable",
        source="Coulomb's law with the slip relative to the table; reference: DOP853",
        system=system,
        state=start,
        t_end=t,
        dt=DT,
        params={"omega": omega, "mu": mu, "hold": hold, "radius": radius, "mass": mass},
        exact=(
            check("slip of the coin that stays", 0.0, "m/s", _creep(omega), moreau_jean=1e-10, located=True),
            check("X at the end", R * math.cos(omega * t), "m", _last(2), moreau_jean=round_error, located=True),
            check("Y at the end", R * math.sin(omega * t), "m", _last(3), moreau_jean=round_error, located=True),
            check("x at the end", float(end[0]), "m", _last(0), moreau_jean=slip_error, located=True),
            check("y at the end", float(end[1]), "m", _last(1), moreau_jean=slip_error, located=True),
        ),
        tests=("friction under a given load", "stick on something that accelerates", "slip that turns its direction"),
        columns=columns,
    )


def slip(q: Array, v: Array, omega: float) -> tuple[float, float]:
    """Return the velocity of a coin relative to the table, m/s."""
    return float(v[0] + omega * q[1]), float(v[1] - omega * q[0])


def slide(omega: float, mu: float, radius: float, t_end: float) -> Array:
    """Return where a coin is that was put down at rest at (radius, 0), m."""
    from scipy.integrate import solve_ivp

    def slope(t: float, y: Array) -> list[float]:
        """Return d(x, y, vx, vy)/dt while it slips."""
        ux, uy = slip(y[:2], y[2:], omega)
        pull = -mu * G / math.hypot(ux, uy)
        return [float(y[2]), float(y[3]), pull * ux, pull * uy]

    def sticks(t: float, y: Array) -> float:
        """Return what is zero where it sticks."""
        return math.hypot(*slip(y[:2], y[2:], omega)) - STUCK

    sticks.terminal = True  # type: ignore[attr-defined]
    found = solve_ivp(
        slope, (0.0, t_end), [radius, 0.0, 0.0, 0.0], "DOP853", rtol=1e-10, atol=1e-12, events=sticks
    )  # fmt: skip
    x, y = found.y[:2, -1]
    turn = omega * (t_end - float(found.t[-1]))
    c, s = math.cos(turn), math.sin(turn)
    return np.array([c * x - s * y, s * x + c * y])


def _creep(omega: float) -> Any:
    return lambda run: max(math.hypot(*slip(q[2:], v[2:], omega)) for q, v in zip(run.q, run.v, strict=True))


def _last(k: int) -> Any:
    return lambda run: float(run.q[-1, k])
