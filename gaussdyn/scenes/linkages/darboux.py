"""Darboux's mechanism: a point H drawn along a line by five rods, and a position from which a second motion starts.

A = (-l, 0), D = (l, 0) are fixed; rods KB and CM of length 2 l turn about their centres A and D, BC = 2 sqrt(2) l,
KH = MH = sqrt(2) l. On the branch ``line`` H moves along x = 0; on ``bow`` H is its mirror image in KM. Both meet at
the square h = 0, where nine equations for ten coordinates have rank 8. |h| <= l sqrt(2 + 2 sqrt(2)), where the
mechanism turns.
Source: Burian (2018), Vestnik SPbSU 5(63) 658-669, corrected.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Holonomic, LagrangianSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, check, energy_change, largest, last

PARAMETERS = {
    "l": Parameter(default=1.0, unit="m", min=0.5, max=2.0, meaning="half the distance of the fixed points"),
    "mH": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="mass of H"),
    "mK": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="mass of K, and of M"),
    "mB": Parameter(default=1.0, unit="kg", min=0.1, max=10.0, meaning="mass of B, and of C"),
    "Fx": Parameter(default=0.0, unit="N", min=-1.0, max=1.0, meaning="force on H across its line"),
    "rate": Parameter(default=1.0, unit="m/s", min=0.5, max=2.0, meaning="speed of H at the start"),
    "start": Parameter(default=-0.53, unit="1", min=-1.0, max=0.1, meaning="h over l at the start; 0: the square"),
    "end": Parameter(default=0.9, unit="1", min=0.2, max=1.5, meaning="h over l at the end"),
}
POINTS = ("K", "B", "C", "M", "H")
STEPS = 120  # per length l of H's line
PAST = 0.6  # of the step across the crossing lies before it
CLOSE = 1e-11  # m, to which a step settles its joints


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    names = [f"{c}{p}" for p in POINTS for c in "xy"]
    r = dynamicsymbols(" ".join(names))
    xK, yK, xB, yB, xC, yC, xM, yM, xH, yH = r
    l, mH, mK, mB, Fx = sp.symbols("l mH mK mB Fx")
    masses = dict(zip(POINTS, (mK, mB, mB, mK, mH), strict=True))
    speeds = {p: r[2 * j].diff() ** 2 + r[2 * j + 1].diff() ** 2 for j, p in enumerate(POINTS)}

    def rod(a: Any, b: Any, square: Any) -> Any:
        """Return |a - b|^2 - square."""
        return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - square

    K, B, C, M, H = (xK, yK), (xB, yB), (xC, yC), (xM, yM), (xH, yH)
    equations = {
        "KB": rod(K, B, 4 * l**2), "A.x": (xK + xB + 2 * l) / 2, "A.y": (yK + yB) / 2, "BC": rod(B, C, 8 * l**2),
        "CM": rod(C, M, 4 * l**2), "D.x": (xC + xM - 2 * l) / 2, "D.y": (yC + yM) / 2,
        "MH": rod(M, H, 2 * l**2), "KH": rod(K, H, 2 * l**2),
    }  # fmt: skip
    ones = dict.fromkeys((mH, mK, mB), (1.0, "kg"))
    return LagrangianSystem(
        dict.fromkeys(r, "m"),
        kinetic=sum(masses[p] * speeds[p] for p in POINTS) / 2,
        potential=-Fx * xH,
        constraints=[Holonomic(equation, name=name) for name, equation in equations.items()],
        parameters={l: (1.0, "m"), **ones, Fx: (0.0, "N")},
        drawing={"KB": [K, B], "BC": [B, C], "CM": [C, M], "KH": [K, H], "MH": [M, H]},
        compile=False,
        name="darboux",
    )


def system_of(**params: float) -> LagrangianSystem:
    """Return the mechanism in ten coordinates xK, yK, .., xH, yH with values of l, mH, mK, mB and Fx."""
    return _system().with_params(**params)


def place(h: float, l: float = 1.0, *, bow: bool = False, past: bool = False) -> Array:
    """Return the ten coordinates at height h of H on its line, or at the mirror image of that position.

    Parameters
    ----------
    bow : bool
        H mirrored in KM: the other branch through h = 0.
    past : bool
        The other position of the rods for the same h, beyond the turn at the largest h.
    """
    alpha, size = math.atan2(h, l), math.hypot(l, h)
    beta = math.acos(h * h / (2.0 * l * size)) * (-1.0 if past else 1.0)
    A, D, H = np.array([-l, 0.0]), np.array([l, 0.0]), np.array([0.0, h])
    K = A + l * np.array([math.cos(alpha + beta), math.sin(alpha + beta)])
    M = D + l * np.array([math.cos(math.pi - alpha + beta), math.sin(math.pi - alpha + beta)])
    return np.concatenate([K, 2.0 * A - K, 2.0 * D - M, M, K + M - H if bow else H])


def slopes(h: float, l: float = 1.0) -> tuple[float, float]:
    """Return d alpha / dh and d beta / dh, 1/m."""
    size = math.hypot(l, h)
    c = h * h / (2.0 * l * size)
    return l / size**2, -h * (h * h + 2.0 * l * l) / (2.0 * l * size**3) / math.sqrt(1.0 - c * c)


def motion_of(h: float, rate: float, l: float = 1.0) -> Array:
    """Return the velocities of the ten coordinates on the line branch while H moves at a rate, m/s."""
    da, db = slopes(h, l)
    K, _, _, M, _ = place(h, l).reshape(5, 2)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    vK, vM = (da + db) * turn @ (K + np.array([l, 0.0])), (db - da) * turn @ (M - np.array([l, 0.0]))
    return rate * np.concatenate([vK, -vK, -vM, vM, [0.0, 1.0]])


def inertia(h: float, l: float = 1.0, mH: float = 1.0, mK: float = 1.0, mB: float = 1.0) -> float:
    """Return a(h), kg: the kinetic energy on the line branch is a h'^2."""
    da, db = slopes(h, l)
    return 0.5 * mH + (mK + mB) * l * l * (da * da + db * db)


def time_between(h0: float, h1: float, rate: float, l: float, masses: tuple[float, float, float]) -> float:
    """Return the time from h0, passed at a rate, to h1 (s), by quadrature: a h'^2 is constant, for F_x does no work."""
    from scipy.integrate import quad

    a0 = inertia(h0, l, *masses)
    return float(quad(lambda h: math.sqrt(inertia(h, l, *masses) / a0), h0, h1, epsabs=1e-13, epsrel=1e-13)[0]) / rate


def step(h0: float, rate: float, l: float, masses: tuple[float, float, float]) -> float:
    """Return the step, s, with ends and midpoints away from the crossing, h = 0, of a run from h0 at a rate.

    At h = s l the constraint across H's line has length s. A load across the line gives a reaction like 1 / s at a
    midpoint, and an end knows x to 1e-11 m / s and x' to 2e-7 h' / s, to which a step settles positions and passes.
    With d = h' dt / l, ends lie at -0.6 d and 0.4 d, midpoints at -1.1 d, -0.1 d and 0.9 d. Passes change by a factor
    1 - end / midpoint, less than 1/2 before the crossing. Across it they part by 5 each, so that the laws are taken at
    the midpoint, which turns an error of x' into minus 9 times that. By 18 (2e-7 / 0.6 d) of the energy this errs,
    which is less than the 20 d^2 of second order for d > 0.0067. A run from the square, from within d / 4
    before it or from beyond it has its first midpoint at d / 4 and more beyond.
    """
    if h0 >= -0.25 * l / STEPS:
        return l / (STEPS * rate)
    before = time_between(h0, 0.0, rate, l, masses)
    return before / (math.ceil(-h0 / l * STEPS - PAST) + PAST)


def build(l: float, mH: float, mK: float, mB: float, Fx: float, rate: float, start: float, end: float) -> Scene:
    """Return the scene: H runs along its line through the square h = 0, where a second branch begins."""
    h0, h1, masses = start * l, end * l, (mH, mK, mB)
    t_end = time_between(h0, h1, rate, l, masses)
    dt = step(h0, rate, l, masses)
    speed = rate * math.sqrt(inertia(h0, l, *masses) / inertia(h1, l, *masses))
    energy = inertia(h0, l, *masses) * rate**2
    fine, near = 20.0 * (dt * rate / l) ** 2, 1e-9
    nearest = (1.0 - PAST) * dt * math.sqrt(energy / inertia(0.0, l, *masses)) / l  # end to the crossing, over l
    across = CLOSE * (1.0 + 0.4375 / l) / nearest  # what x can be where the joints hold to `CLOSE`, in all directions
    columns: Columns = {name: (unit, function) for name, (unit, function) in _system().columns().items()}
    return Scene(
        name="darboux",
        title="Darboux's mechanism: through the point where its motions meet",
        source="Burian (2018), corrected; closed form of the line branch, time by quadrature",
        system=system_of(l=l, mH=mH, mK=mK, mB=mB, Fx=Fx),
        state=State(q=place(h0, l), v=motion_of(h0, rate, l)),
        t_end=t_end,
        dt=dt,
        params={"l": l, "mH": mH, "mK": mK, "mB": mB, "Fx": Fx, "rate": rate, "start": start, "end": end},
        exact=(
            check("height of H at the end", h1, "m", last("yH"), moreau_jean=fine * l, on_branch=near * l),
            check("speed of H at the end", speed, "m/s", last("yH'"), moreau_jean=fine * rate, on_branch=near * rate),
            check("H leaves its line by", 0.0, "m", largest("xH"), moreau_jean=across, on_branch=near * l),
            check(
                "largest change of energy", 0.0, "J", energy_change, moreau_jean=fine * energy, on_branch=near * energy
            ),
        ),
        tests=("redundant joints at one configuration", "branches cross", "a force across the motion"),
        columns=columns,
    )
