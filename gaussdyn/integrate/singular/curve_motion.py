"""The motion of one degree of freedom along a chart of its curve of configurations.

    m(p) p'' = T . (h(t, q, T p') - M kappa p'^2),    m = T . M T,    v = T p',    kappa = dT/dp

No multiplier is needed: reactions do no work along the tangent T, and T is smooth where the multipliers are not unique
or grow without bound. Gauss collocation at six points, order 12; its polynomials are checked by their last coefficient.
Source: Hairer, Lubich, Wanner (2006), Geometric Numerical Integration, II.1 and VIII.6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...mechanics.branching.chart import COEFFICIENTS, NODES, Chart, X, interpolation
from ...mechanics.system import System

STAGES = 6
ITERATIONS = 60
SMOOTH = 1e-8  # last Legendre coefficient of p'' within a step, relative
SETTLED = 4e-16
EXACT = 1e-11  # how well a law quadratic in p' must fit the force, relative
DEPENDENT = 1e-9
GROWTH = (3, 2, 1)  # powers of p by which multipliers may grow towards a singular point, the highest first
SURE = 10.0  # times the last coefficients a limit must be: one that is zero comes out at up to three times them
ROUNDED = 1e-14
SHARP = 1e-12  # relative: last coefficients on regular charts, where points can be solved one by one


def _collocation() -> tuple[Array, Array, Array, Array]:
    """Return the points in [0, 1], the weights, the matrix of integrals, and the last Legendre coefficient."""
    x, w = np.polynomial.legendre.leggauss(STAGES)
    c, b = 0.5 * (x + 1.0), 0.5 * w
    powers = np.arange(1, STAGES + 1)
    A = (c[:, None] ** powers / powers) @ np.linalg.inv(c[:, None] ** (powers - 1))
    last = np.polynomial.legendre.legvander(x, STAGES - 1)[:, -1] * w * (2 * STAGES - 1) / 2.0
    return c, b, A, last


C, B, A, LAST = _collocation()


class Leaves(Exception):
    """A step would end beyond its chart."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SmoothFlow:
    """One internal step: where it ends, and its collocation points.

    Attributes
    ----------
    p, u : float
        At the end.
    times, points, speeds, rates : Array, shape (STAGES,)
        t (s), p, p' and p'' at the collocation points.
    weights : Array, shape (STAGES,)
        Of an integral over the step, s.
    """

    p: float
    u: float
    times: Array
    points: Array
    speeds: Array
    rates: Array
    weights: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChartMotion:
    """Equations of motion on one chart: tabled at its nodes where they do not depend on the time.

    Attributes
    ----------
    system : System
    chart : Chart
    control : Array or None
    table : Array or None, shape (NODES, 4)
        m and the coefficients of 1, p', p'^2 of the force along T; None where that is not how it depends on p'.
    lam : Array or None, shape (NODES, 3, rows)
        Coefficients of 1, p', p'^2 of the multipliers, times x^growth, x = p over the half width.
    growth : int
        Power by which multipliers grow towards the centre of a singular chart.
    """

    system: System
    chart: Chart
    control: Array | None
    table: Array | None
    lam: Array | None
    growth: int

    @classmethod
    def on(cls, system: System, chart: Chart, control: Array | None) -> ChartMotion:
        """Table the motion on a chart."""
        table, parts = _tabled(system, chart, control) if control is None else (None, None)
        lam, growth = (None, 0) if table is None or parts is None else _multipliers(system, chart, parts)
        return cls(system=system, chart=chart, control=control, table=table, lam=lam, growth=growth)

    def accelerations(self, t: Array, p: Array, u: Array) -> Array:
        """Return p'' at several points."""
        x = p / self.chart.half
        if np.abs(x).max() > 1.0:
            raise Leaves
        if self.table is not None:
            m, f0, f1, f2 = (interpolation(x) @ self.table).T
            return np.asarray((f0 + u * (f1 + u * f2)) / m)
        return np.array([self._acceleration(*one) for one in zip(t, p, u, strict=True)])

    def _acceleration(self, t: float, p: float, u: float) -> float:
        q, T, kappa = self.chart.at(p)
        M = np.asarray(self.system.mass(q))
        h = self.system.force(t, q, T * u, self.control)
        return float(T @ (h - u * u * (M @ kappa))) / float(T @ M @ T)

    def step(self, t: float, p: float, u: float, dt: float) -> SmoothFlow | None:
        """Return a step of collocation; None if it is too long to be exact, or does not settle.

        Raises
        ------
        Leaves
            It would leave the chart.
        """
        times, weights = t + C * dt, B * dt
        speeds = np.full(STAGES, u)
        points = p + C * dt * u
        rates = self.accelerations(times, points, speeds)
        for _ in range(ITERATIONS):
            speeds = u + dt * (A @ rates)
            further = p + dt * (A @ speeds)
            moved = float(np.abs(further - points).max())
            points = further
            before, rates = rates, self.accelerations(times, points, speeds)
            change = dt * float(np.abs(rates - before).max())
            size = float(np.abs(speeds).max()) + dt * float(np.abs(rates).max())
            if moved <= SETTLED * (abs(p) + self.chart.half) and change <= 4.0 * SETTLED * size + 1e-300:
                break
        else:
            if moved > 1e-14 * self.chart.half:
                return None
        if dt * abs(float(LAST @ rates)) > SMOOTH * size:
            return None
        speeds = u + dt * (A @ rates)
        return SmoothFlow(
            p=p + float(weights @ speeds), u=u + float(weights @ rates), times=times, points=points, speeds=speeds,
            rates=rates, weights=weights,
        )  # fmt: skip

    def reactions(self, flow: SmoothFlow) -> Array:
        """Return the multipliers at the collocation points, shape (STAGES, rows), N: the shortest if not unique.

        Near a singular point a table of what grows there loses digits: what it leaves of the balance is solved for.
        """
        if self.lam is None:
            return self._balancing(flow, np.zeros((STAGES, len(self.chart.space.ids))))
        x = flow.points / self.chart.half
        u = flow.speeds
        powers = np.stack([np.ones_like(u), u, u * u], axis=1)
        values = np.einsum("sn,nkr,sk->sr", interpolation(x), self.lam, powers)
        away = np.where(np.abs(x) < 1e-9, 1e-9, x)
        found = np.asarray(values / (away**self.growth)[:, None])
        return self._balancing(flow, found) if self.growth else found

    def _balancing(self, flow: SmoothFlow, guess: Array) -> Array:
        """Return multipliers that balance the motion at the collocation points, by the least change of a guess."""
        found = []
        for t, p, u, rate, r in zip(flow.times, flow.points, flow.speeds, flow.rates, guess, strict=True):
            q, T, kappa = self.chart.at(p)
            G = self.chart.space.jacobian(q).T
            short = np.asarray(self.system.mass(q)) @ (T * rate + kappa * u * u)
            short = short - self.system.force(t, q, T * u, self.control) - G @ r
            found.append(r + np.linalg.lstsq(G, short, rcond=DEPENDENT)[0])
        return np.array(found)


def _tabled(system: System, chart: Chart, control: Array | None) -> tuple[Array | None, Array | None]:
    """Return m and the force along T at the nodes, and what multipliers must balance there, (NODES, 3, nv)."""
    table, parts = np.empty((NODES, 4)), np.empty((NODES, 3, chart.space.size))
    t = chart.space.t
    for j, (q, T, kappa) in enumerate(zip(chart.Q, chart.T, chart.kappa, strict=True)):
        M = np.asarray(system.mass(q))
        rest, ahead, back = (np.asarray(system.force(t, q, s * T, control)) for s in (0.0, 1.0, -1.0))
        h = np.stack([rest, 0.5 * (ahead - back), 0.5 * (ahead + back) - rest])
        for when, speed in ((t, 2.0), (t + 0.7312, 1.0)):
            there = np.asarray(system.force(when, q, speed * T, control))
            off = np.abs(there - h[0] - speed * h[1] - speed**2 * h[2]).max()
            if off > EXACT * (1.0 + np.abs(there).max()):
                return None, None
        m = float(T @ M @ T)
        h[2] -= M @ kappa
        force = h @ T
        table[j] = m, *force
        parts[j] = (force / m)[:, None] * (M @ T)[None] - h
    return table, parts


def _multipliers(system: System, chart: Chart, parts: Array) -> tuple[Array | None, int]:
    """Return the multipliers at the nodes times the power of x by which they grow, and the power.

    None on regular charts where they are not smooth, since a singular point is not far: points are solved one by one.
    """
    lam = np.array([
        np.linalg.lstsq(chart.space.jacobian(q).T, part.T, rcond=DEPENDENT)[0].T
        for q, part in zip(chart.Q, parts, strict=True)
    ])  # fmt: skip
    if not chart.centre:
        tail = np.abs(np.tensordot(COEFFICIENTS, lam, axes=1)[-3:]).max()
        return (lam if tail <= SHARP * np.abs(lam).max() else None), 0
    growth = next((power for power in GROWTH if _grows(lam, power)), 0)
    return lam * (X**growth)[:, None, None], growth


def _grows(lam: Array, power: int) -> bool:
    """Whether x^power lam has a limit at the centre that is not zero: larger than what its last coefficients leave."""
    scaled = lam * (X**power)[:, None, None]
    limit = np.abs(np.tensordot(interpolation(np.zeros(1)), scaled, axes=1)).max()
    tail = np.abs(np.tensordot(COEFFICIENTS, scaled, axes=1)[-3:]).max()
    return bool(limit > SURE * (tail + ROUNDED * np.abs(scaled).max()))
