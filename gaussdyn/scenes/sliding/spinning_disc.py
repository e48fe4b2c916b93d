"""A disc that slides and spins on a table: friction couples both, and both stop at the same moment.

Every part of its face carries the same share of its weight and rubs against its own slip, so that the friction of the
whole is a law under a prescribed load: many points with dry friction in place of the face. Whatever the start, v / (R
omega) tends to one number before it stops: 0.653 for a full disc, 1 for a ring. Source: Z. Farkas et al. (2003),
Physical Review Letters 90, 248302; P. Weidman, C. Malhotra (2005) for rings. The reference integrates the equations
of the full face over a time that stretches towards the stop.
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
from ..measures.measures import Columns, G, check, coordinate, last, rate

PARAMETERS = {
    "v0": Parameter(default=1.0, unit="m/s", min=0.2, max=3.0, meaning="speed at the start"),
    "spin": Parameter(default=1.5, unit="1", min=0.5, max=3.0, meaning="R omega / v at the start"),
    "mu": Parameter(default=0.2, unit="1", min=0.05, max=1.0, meaning="friction"),
    "radius": Parameter(default=0.1, unit="m", min=0.02, max=0.5, meaning="R"),
    "hole": Parameter(default=0.0, unit="1", min=0.0, max=0.8, meaning="radius of the hole over R; 0: full disc"),
    "mass": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="of the disc"),
}
RINGS, SPOKES = 5, 16  # points of the face
FINE = (20, 64)  # and of the reference
COARSE = 1e-3  # share by which the points miss time and way of the full face (measured; half of it for a full disc)
CLOSE = 0.02  # and the ratio (measured: 0.01 at the end)
STEPS, LATE = 100, 0.9  # in the time to the stop; where the ratio is looked at
STRETCH = 25.0  # in which the reference falls by exp(-16) and more


@lru_cache(maxsize=4)
def face(hole: float, rings: int, spokes: int) -> Array:
    """Return points of a face of radius 1 and their shares of the load, columns x, y, share: Gauss's points in r^2."""
    x, w = np.polynomial.legendre.leggauss(rings)
    r = np.sqrt(hole**2 + (1.0 - hole**2) * (x + 1.0) / 2.0)
    angle = (np.arange(spokes) + 0.5) * 2.0 * math.pi / spokes
    points = np.empty((rings, spokes, 3))
    points[:, :, 0], points[:, :, 1] = np.outer(r, np.cos(angle)), np.outer(r, np.sin(angle))
    points[:, :, 2] = 0.5 * w[:, None] / spokes
    return points.reshape(-1, 3)


def drag(ratio: float, points: Array) -> tuple[float, float]:
    """Return force over mu m g and moment over mu m g R against a motion with v / (R omega) = `ratio`."""
    x, y, share = points.T
    slip = np.array([ratio - y, x])
    slip /= np.hypot(*slip)
    return float(share @ slip[0]), float(share @ (x * slip[1] - y * slip[0]))


def final_ratio(hole: float) -> float:
    """Return the limit of v / (R omega): where force and moment keep it, ratio = F I / T."""
    from scipy.optimize import brentq

    points, inertia = face(hole, *FINE), 0.5 * (1.0 + hole**2)

    def miss(ratio: float) -> float:
        """Return how far a ratio is from keeping itself."""
        force, moment = drag(ratio, points)
        return force * inertia / moment - ratio

    return float(brentq(miss, 0.3, 1.2, xtol=1e-12))


@lru_cache(maxsize=64)
def course(spin: float, hole: float) -> tuple[float, float, float]:
    """Return time of the stop, way, and the ratio after `LATE` of the time, from v = 1: with mu g = R = 1.

    With dt = omega ds: v' = -omega F, omega' = -omega T / I; omega falls exponentially in s and never ends.
    """
    from scipy.integrate import solve_ivp

    points, inertia = face(hole, *FINE), 0.5 * (1.0 + hole**2)

    def slope(s: float, y: Array) -> list[float]:
        """Return d(v, omega, t, x)/ds."""
        v, omega = float(y[0]), float(y[1])
        force, moment = drag(v / omega, points)
        return [-omega * force, -omega * moment / inertia, omega, omega * v]

    found = solve_ivp(slope, (0.0, STRETCH), [1.0, spin, 0.0, 0.0], rtol=1e-9, atol=1e-15, dense_output=True)
    _, _, stop, way = found.y[:, -1]
    s = np.linspace(0.0, STRETCH, 20001)
    v, omega, t, _ = found.sol(s)
    return float(stop), float(way), float(np.interp(LATE * stop, t, v / omega))


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    x, y, phi = dynamicsymbols("x y phi")
    m, R, mu, hole, g = sp.symbols("mass radius mu hole g")
    rubs = []
    for k, (a, b, share) in enumerate(face(0.0, RINGS, SPOKES)):
        r = math.hypot(a, b)
        out = R * sp.sqrt(hole**2 + (1 - hole**2) * float(r * r)) / float(r) * phi.diff()
        slip = (x.diff() - float(b) * out, y.diff() + float(a) * out)
        rubs.append(Friction(slip, cap=float(share) * mu * m * g, name=f"face{k:02d}"))
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad"},
        kinetic=m * (x.diff() ** 2 + y.diff() ** 2) / 2 + m * R**2 * (1 + hole**2) * phi.diff() ** 2 / 4,
        constraints=rubs,
        parameters={m: (1.0, "kg"), R: (0.1, "m"), mu: (0.2, "1"), hole: (0.0, "1"), g: (G, "m/s^2")},
        drawing={
            "edge": [(x + R * sp.cos(phi + k * sp.pi / 8), y + R * sp.sin(phi + k * sp.pi / 8)) for k in range(17)],
            "mark": [(x, y), (x + R * sp.cos(phi), y + R * sp.sin(phi))],
        },
        compile=False,
        name="spinning disc",
    )


def build(v0: float, spin: float, mu: float, radius: float, hole: float, mass: float) -> Scene:
    """Return the scene: it slides along x and spins, and rests at the end."""
    system = _system().with_params(mass=mass, radius=radius, mu=mu, hole=hole)
    stop, way, late = course(spin, hole)
    time, length = v0 / (mu * G), v0 * v0 / (mu * G)
    dt = stop * time / STEPS
    t_end = 1.05 * stop * time
    columns: Columns = {
        "disc.x": ("m", coordinate(0)),
        "disc.y": ("m", coordinate(1)),
        "disc.angle": ("rad", coordinate(2)),
        "disc.v": ("m/s", rate(0)),
        "disc.edge": ("m/s", lambda state: radius * float(state.v[2])),
    }
    near, limit = COARSE + 1.0 / STEPS, final_ratio(hole)
    exact = (
        check("time of the stop of the slide", stop * time, "s", _stops("disc.v"), moreau_jean=near * stop * time),
        check("time of the stop of the spin", stop * time, "s", _stops("disc.edge"), moreau_jean=near * stop * time),
        check("way", way * length, "m", last("disc.x"), moreau_jean=near * way * length),
        check("sideways", 0.0, "m", last("disc.y"), moreau_jean=1e-9 * length),
        check("ratio at 90 % of the time", late, "1", _ratio(LATE * stop * time), moreau_jean=CLOSE),
        check("last ratio", limit, "1", _last_ratio, moreau_jean=CLOSE + abs(late - limit)),
    )
    return Scene(
        name="spinning_disc",
        title="Disc that slides and spins: both stop together",
        source="Z. Farkas et al., Physical Review Letters 90, 248302 (2003); P. Weidman, C. Malhotra (2005)",
        system=system,
        state=State(q=np.zeros(3), v=np.array([v0, 0.0, spin * v0 / radius])),
        t_end=t_end,
        dt=dt,
        params={"v0": v0, "spin": spin, "mu": mu, "radius": radius, "hole": hole, "mass": mass},
        exact=exact,
        tests=("friction under a prescribed load", "slide and spin together", "slip to stick"),
        columns=columns,
    )


def _stops(column: str) -> Any:
    """Return the measure: the first time at which a speed is rounding only."""
    return lambda run: float(run.t[np.flatnonzero(np.abs(run[column]) < 1e-9 * np.abs(run[column][0]))[0]])


def _ratio(t: float) -> Any:
    return lambda run: float(np.interp(t, run.t, run["disc.v"]) / np.interp(t, run.t, run["disc.edge"]))


def _last_ratio(run: Any) -> float:
    """Return v / (R omega) two steps before it stops."""
    moving = np.flatnonzero(np.abs(run["disc.edge"]) > 1e-9 * abs(run["disc.edge"][0]))
    k = int(moving[-3])
    return float(run["disc.v"][k] / run["disc.edge"][k])
