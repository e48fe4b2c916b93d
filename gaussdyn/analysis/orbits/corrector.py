"""One direction of a continuation of periodic orbits: unknowns, what must vanish, corrections.

Unknowns X = (y, T, p) of autonomous, (y, p) of forced orbits; p is measured in the range of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...mechanics.lagrangian.system import LagrangianSystem
from .periodic_orbit import Orbit, close_orbit
from .variational_flow import Flow, end_of, flow, phase_at

DIFFERENCE = 1e-6  # relative step of the parameter for derivatives with respect to it
CORRECTIONS = 12
EXACT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Change:
    """A bifurcation of periodic orbits, or where their branch begins.

    Attributes
    ----------
    kind : str
        hopf, fold, period doubling, torus birth; grazing-sliding (slip touches zero and a stick begins), stick onset (a
        crossing becomes a stop), overshoot onset (a stop becomes a crossing, the stop follows later).
    value : float
        Of the parameter.
    orbit : Orbit or None
        There; None at a Hopf bifurcation.
    angle : float
        Of the multipliers e^(+-i phi) of a torus birth, of the eigenvalues +-i w of a Hopf bifurcation; else 0.
    size : float
        How far the test function is from zero there.
    before, after : tuple of str
        Events of the orbits on either side.
    """

    kind: str
    value: float
    orbit: Orbit | None
    angle: float = 0.0
    size: float = 0.0
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Corrector:
    """The state of a continuation in one direction.

    Attributes
    ----------
    system : LagrangianSystem
    parameter : str
    low, high : float
    autonomous : bool
    period : callable
        Parameter -> period, of forced orbits.
    scale : float
        Of the parameter in arclength.
    """

    system: LagrangianSystem
    parameter: str
    low: float
    high: float
    autonomous: bool
    period: Callable[[LagrangianSystem], float] | None
    t: float = 0.0
    scale: float = 1.0
    changes: list[Change] = field(default_factory=list)

    def at(self, p: float) -> LagrangianSystem:
        """Return the system for a value of the parameter."""
        return self.system.with_params(**{self.parameter: p})

    def unpack(self, X: Array) -> tuple[LagrangianSystem, Array, float]:
        """Return system, first point and period of unknowns."""
        n, system = 2 * self.system.nq, self.at(float(X[-1]) * self.scale)
        T = float(X[n]) if self.autonomous else self.period(system) if self.period else 1.0
        return system, X[:n], T

    def pack(self, orbit: Orbit, p: float) -> Array:
        """Return the unknowns of an orbit."""
        return np.array([*orbit.y, *([orbit.period] if self.autonomous else []), p / self.scale])

    def run(self, X: Array) -> Flow:
        """Return the motion over one period."""
        system, y, T = self.unpack(X)
        return flow(system, self.t, y, self.t + T)

    def end(self, X: Array) -> Array:
        """Return where that motion ends."""
        system, y, T = self.unpack(X)
        return end_of(system, self.t, y, self.t + T)

    def equations(self, X: Array, anchor: Array, normal: Array) -> tuple[Array, Array]:
        """Return what must vanish for an orbit, and its derivatives, shape (m - 1,) and (m - 1, m)."""
        n, found = 2 * self.system.nq, self.run(X)
        h = DIFFERENCE * max(1.0, abs(X[-1]))
        step = np.zeros(len(X))
        step[-1] = h
        by_p = (self.end(X + step) - self.end(X - step)) / (2.0 * h)
        rows = n + int(self.autonomous)
        F, J = np.zeros(rows), np.zeros((rows, len(X)))
        F[:n], J[:n, :n], J[:n, -1] = found.y - X[:n], found.Phi - np.eye(n), by_p
        if self.autonomous:
            J[:n, n] = found.phase.rate(found.t, found.y)
            F[n], J[n, :n] = normal @ (X[:n] - anchor), normal
        return F, J

    def normal(self, X: Array) -> Array:
        """Return the direction of the flow at the first point."""
        system, y, _ = self.unpack(X)
        f = phase_at(system, self.t, y).rate(self.t, y)
        return f / max(float(np.linalg.norm(f)), 1e-300)

    def tangent(self, X: Array, along: Array | None) -> Array:
        """Return the unit tangent of the branch, in the direction of `along`."""
        _, J = self.equations(X, X[: 2 * self.system.nq], self.normal(X))
        t = np.linalg.svd(J)[2][-1]
        sign = 1.0 if along is None else np.sign(t @ along) or 1.0
        return np.asarray(sign * t)

    def corrected(self, X: Array, base: Array, tangent: Array, ds: float) -> tuple[Array, int] | None:
        """Return the point of the branch at arclength ds from base, and how many corrections it took."""
        anchor, normal = base[: 2 * self.system.nq], self.normal(base)
        for k in range(CORRECTIONS):
            F, J = self.equations(X, anchor, normal)
            F = np.append(F, tangent @ (X - base) - ds)
            A = np.vstack([J, tangent])
            if np.abs(F).max() <= EXACT * max(1.0, float(np.abs(X).max())):
                return X, k
            step = np.linalg.lstsq(A, -F, rcond=1e-14)[0]
            if not np.isfinite(step).all() or np.abs(step).max() > 1.0 + 10.0 * abs(ds):
                return None
            X = X + step
            if self.autonomous and X[-2] <= 0.0:
                return None
        return None

    def orbit(self, X: Array) -> Orbit:
        """Return the orbit of unknowns that are solved, or nearly."""
        system, y, T = self.unpack(X)
        return close_orbit(system, y, T, t=self.t, autonomous=self.autonomous)


def closed_at(corrector: Corrector, p: float, *near: Orbit) -> Orbit | None:
    """Return the orbit for a value of the parameter, corrected from one of those near."""
    system = corrector.at(p)
    for orbit in near:
        T = orbit.period if corrector.autonomous else corrector.period(system) if corrector.period else orbit.period
        try:
            return close_orbit(system, orbit.y, T, t=corrector.t, autonomous=corrector.autonomous)
        except InputError:
            continue
    return None


def size_of(orbit: Orbit) -> float:
    """Return the largest extent of an orbit over its coordinates and velocities."""
    return float(np.max(orbit.high - orbit.low))
