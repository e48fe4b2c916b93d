"""A slider-crank whose slider has clearance in its guide: it flies, and strikes the walls with its corners.

Coordinates: angles of crank, rod and slider (rad); the slider hangs on the end of the rod. Its four corners may touch
two walls at y = +-(b + c). Parameters of Flores, Leine and Glocker; Newton's restitution, Coulomb's friction, from the
outer dead point. The reference integrates the three equations by an independent method of order 8 with the events of
its own, and solves impacts by enumeration; it goes beyond the second impact, to before the third.

Source: P. Flores, R. I. Leine, C. Glocker (2010), Modeling and analysis of planar rigid multibody systems with
translational clearance joints, Multibody System Dynamics 23.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.lagrangian.system import Contact, LagrangianSystem
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, at_event, check, coordinate, last, rate

PARAMETERS = {
    "omega0": Parameter(default=150.0, unit="rad/s", min=100.0, max=200.0, meaning="of the crank at the start"),
    "clearance": Parameter(default=1e-3, unit="m", min=1e-3, max=2e-3, meaning="between slider and each wall"),
    "eps": Parameter(default=0.4, unit="1", min=0.2, max=0.6, meaning="restitution of the corners"),
    "mu": Parameter(default=0.01, unit="1", min=0.005, max=0.05, meaning="friction of the corners"),
}
L1, L2, HALF_LENGTH, HALF_HEIGHT = 0.153, 0.306, 0.05, 0.025  # crank, rod; slider, m
M1, M2, M3 = 0.038, 0.038, 0.076  # kg
J1, J2, J3 = 7.4e-5, 5.9e-4, 2.7e-6  # kg m^2
CORNERS = (("right_top", 1.0, 1.0), ("left_top", -1.0, 1.0), ("right_bottom", 1.0, -1.0), ("left_bottom", -1.0, -1.0))
DT, LATE = 5e-5, 3.0
JUMP = 0.1  # of a speed at an impact, of that of the crank
REST = 0.4  # of the flight that restitution lets expect: how long the run goes on after the second impact


def build(omega0: float, clearance: float, eps: float, mu: float) -> Scene:
    """Return the scene, to before the third impact."""
    start = np.array([omega0, -omega0 * L1 / L2, 0.0])
    hits, end, t_end = SliderCrank(clearance=clearance, eps=eps, mu=mu).motion(np.zeros(3), start)
    columns: Columns = {
        "crank.angle": ("rad", coordinate(0)), "rod.angle": ("rad", coordinate(1)),
        "slider.angle": ("rad", coordinate(2)), "crank.omega": ("rad/s", rate(0)), "rod.omega": ("rad/s", rate(1)),
        "slider.y": ("m", lambda state: L1 * math.sin(state.q[0]) + L2 * math.sin(state.q[1])),
    }  # fmt: skip
    return Scene(
        name="slider_clearance",
        title="Slider-crank with clearance",
        source="parameters of Flores, Leine and Glocker; integrated independently, impacts by enumeration",
        system=_system().with_params(clearance=clearance, eps=eps, mu=mu),
        state=State(q=np.zeros(3), v=start),
        t_end=t_end,
        dt=DT,
        params={"omega0": omega0, "clearance": clearance, "eps": eps, "mu": mu},
        exact=_exact(hits, end, omega0),
        tests=("impacts of two corners at once", "friction at impacts", "clearance in a joint"),
        columns=columns,
    )


@lru_cache(maxsize=1)
def _system() -> LagrangianSystem:
    """Return the mechanism in its three angles."""
    import sympy as sp
    from sympy.physics.mechanics import dynamicsymbols

    t = sp.Symbol("t")
    one, two, three = dynamicsymbols("crank rod slider")
    clearance, eps, mu = sp.symbols("clearance eps mu")
    joint = sp.Matrix([L1 * sp.cos(one), L1 * sp.sin(one)])
    end = joint + L2 * sp.Matrix([sp.cos(two), sp.sin(two)])
    middles = ((M1, joint / 2), (M2, (joint + end) / 2), (M3, end))
    spins = ((J1, one), (J2, two), (J3, three))
    walls = {
        name: (end + sp.Matrix([x * sp.cos(three) - y * sp.sin(three), x * sp.sin(three) + y * sp.cos(three)]), side)
        for name, along, side in CORNERS
        for x, y in [(along * HALF_LENGTH, side * HALF_HEIGHT)]
    }
    return LagrangianSystem(
        {one: "rad", two: "rad", three: "rad"},
        kinetic=sum(m * (x.diff(t).T * x.diff(t))[0, 0] / 2 for m, x in middles)
        + sum(J * x.diff(t) ** 2 / 2 for J, x in spins),
        potential=sum(m * G * x[1] for m, x in middles),
        constraints=[
            Contact(HALF_HEIGHT + clearance - side * at[1], slip=at[0].diff(t), mu=mu, eps_n=eps, name=name)
            for name, (at, side) in walls.items()
        ],
        parameters={name: (PARAMETERS[name].default, PARAMETERS[name].unit) for name in ("clearance", "eps", "mu")},
        drawing={
            "crank": [(0, 0), tuple(joint)], "rod": [tuple(joint), tuple(end)],
            "slider": [tuple(walls[name][0]) for name in
                       ("left_bottom", "right_bottom", "right_top", "left_top", "left_bottom")],
        },
        compile=False,
        name="slider-crank with clearance",
    )  # fmt: skip


def _exact(hits: list[tuple[float, Array]], end: Array, omega0: float) -> tuple[Exact, ...]:
    """Return the checks; time stepping knows impacts to a step, and what the speeds there make of it."""
    found = []
    for k, (t, _) in enumerate(hits):
        measure = at_event(_onset(k), "impact", n=2 * k)  # two corners at once
        found.append(check(f"time of impact {k + 1}", t, "s", measure, moreau_jean=LATE * (k + 1) * DT, located=True))
    names = (("crank.angle", "rad", end[0], 1.0), ("rod.angle", "rad", end[1], 1.0),
             ("crank.omega", "rad/s", end[3], omega0), ("rod.omega", "rad/s", end[4], omega0))  # fmt: skip
    for name, unit, value, size in names:
        error = LATE * JUMP * size * omega0 * DT
        found.append(check(f"{name} at the end", float(value), unit, last(name), moreau_jean=error, located=True))
    return tuple(found)


def _onset(k: int) -> Callable[[Any], float]:
    """Return the measure: when a wall begins to push for the k-th time, s."""

    def measure(run: Any) -> float:
        """Read it off the reactions."""
        pushes = sum(run[f"{name}.r_N"] for name, _, _ in CORNERS) > 0.0
        begins = np.flatnonzero(pushes[1:] & ~pushes[:-1])
        return float(run.t[1 + begins[k]]) if k < len(begins) else math.nan

    return measure


@dataclass(frozen=True, slots=True, kw_only=True)
class SliderCrank:
    """The motion by itself: equations by hand, DOP853 with events, impacts by enumeration; no solver of the package.

    Attributes
    ----------
    clearance, eps, mu : float
    """

    clearance: float
    eps: float
    mu: float

    def mass(self, q: Array) -> Array:
        """Return M."""
        both = (0.5 * M2 + M3) * L1 * L2 * math.cos(q[1] - q[0])
        return np.array([
            [J1 + (0.25 * M1 + M2 + M3) * L1**2, both, 0.0], [both, J2 + (0.25 * M2 + M3) * L2**2, 0.0],
            [0.0, 0.0, J3],
        ])  # fmt: skip

    def acceleration(self, q: Array, v: Array) -> Array:
        """Return a in free flight."""
        turn = (0.5 * M2 + M3) * L1 * L2 * math.sin(q[0] - q[1])
        return np.asarray(np.linalg.solve(self.mass(q), [
            -turn * v[1] ** 2 - (0.5 * M1 + M2 + M3) * G * L1 * math.cos(q[0]),
            turn * v[0] ** 2 - (0.5 * M2 + M3) * G * L2 * math.cos(q[1]), 0.0,
        ]))  # fmt: skip

    def gaps(self, q: Array) -> Array:
        """Return the gaps of the four corners."""
        y = L1 * math.sin(q[0]) + L2 * math.sin(q[1])
        s, c = math.sin(q[2]), math.cos(q[2])
        turned = np.array([side * along * HALF_LENGTH * s + HALF_HEIGHT * c for _, along, side in CORNERS])
        sides = np.array([side for _, _, side in CORNERS])
        return np.asarray(HALF_HEIGHT + self.clearance - sides * y - turned)

    def jacobians(self, q: Array, k: int) -> tuple[Array, Array]:
        """Return the rows of the gap and of the slip of corner k."""
        _, along, side = CORNERS[k]
        s, c, a, b = math.sin(q[2]), math.cos(q[2]), along * HALF_LENGTH, side * HALF_HEIGHT
        normal = -side * np.array([L1 * math.cos(q[0]), L2 * math.cos(q[1]), a * c - b * s])
        return normal, np.array([-L1 * math.sin(q[0]), -L2 * math.sin(q[1]), -a * s - b * c])

    def struck(self, q: Array, v: Array) -> Array:
        """Return the velocity after the impact of the corners that touch and approach."""
        rows = [self.jacobians(q, k) for k, gap in enumerate(self.gaps(q)) if gap < 1e-9]
        rows = [(n, t) for n, t in rows if n @ v < 0.0]
        M = self.mass(q)
        back = np.array([-self.eps * (n @ v) for n, _ in rows])
        for mode in itertools.product(("stick", "+", "-"), repeat=len(rows)):
            held, pushes = _directions(rows, mode, self.mu)
            wanted = np.concatenate([[b, 0.0] if how == "stick" else [b] for b, how in zip(back, mode, strict=True)])
            p = np.asarray(np.linalg.lstsq(held @ np.linalg.solve(M, pushes.T), wanted - held @ v, rcond=None)[0])
            u = v + np.linalg.solve(M, pushes.T @ p)
            if self._allowed(rows, mode, p, u):
                return np.asarray(u)
        raise ArithmeticError("no impulse")

    def _allowed(self, rows: list[tuple[Array, Array]], mode: tuple[str, ...], p: Array, u: Array) -> bool:
        parts = iter(p.tolist())
        for (_, tangent), how in zip(rows, mode, strict=True):
            push = next(parts)
            if push < 0.0 or (how == "stick" and abs(next(parts)) > self.mu * push):
                return False
            if how != "stick" and (tangent @ u) * (1.0 if how == "+" else -1.0) < 0.0:
                return False
        return True

    def motion(self, q: Array, v: Array) -> tuple[list[tuple[float, Array]], Array, float]:
        """Return times of two impacts and (q, v) after each, the end (q, v), and its time."""
        hits, t, y = list[tuple[float, Array]](), 0.0, np.concatenate((q, v))
        for _ in range(2):
            t, y = self.flight(t, y, 1.0)
            y[3:] = self.struck(y[:3], y[3:])
            hits.append((t, y.copy()))
        rest = t + REST * self.eps * (t - hits[0][0])
        end, y_end = self.flight(t, y, rest)
        if end < rest:  # a third impact, on the other wall
            end, y_end = self.flight(t, y, 0.5 * (t + end))
        return hits, y_end, end

    def flight(self, t: float, y: Array, t_end: float) -> tuple[float, Array]:
        """Return the end of a free flight from a state with corners that part."""
        from scipy.integrate import solve_ivp

        def slope(t: float, y: Array) -> Array:
            """Return the rates of (q, v)."""
            return np.concatenate((y[3:], self.acceleration(y[:3], y[3:])))

        def least(t: float, y: Array) -> float:
            """Return the least gap."""
            return float(self.gaps(y[:3]).min())

        least.terminal, least.direction = True, -1.0  # type: ignore[attr-defined]
        run = solve_ivp(slope, (t, t_end), y, method="DOP853", events=least, rtol=1e-13, atol=1e-14, max_step=1e-3)
        return float(run.t[-1]), np.array(run.y[:, -1])


def _directions(
    rows: list[tuple[Array, Array]], mode: tuple[str, ...], mu: float
) -> tuple[Array, Array]:  # fmt: skip
    """Return the rows that an impact holds, and the directions of its impulses."""

    def both() -> Iterator[tuple[Array, Array]]:
        """Yield pairs of them."""
        for (normal, tangent), how in zip(rows, mode, strict=True):
            if how == "stick":
                yield from ((normal, normal), (tangent, tangent))
            else:
                yield normal, normal - (mu if how == "+" else -mu) * tangent

    held, pushes = zip(*both(), strict=True)
    return np.array(held), np.array(pushes)
