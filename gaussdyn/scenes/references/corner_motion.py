"""A rigid body in the plane on one of its corners, sticking or sliding on a floor: a reference without contact solver.

With the corner at rho from the mass centre and the acceleration (a, 0) of the corner, the centre has
(a, 0) - alpha z x rho + omega^2 rho; Newton's and Euler's laws with the force (T, N) of the floor then are linear in
(a, alpha, T, N).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ..measures.measures import G

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """A body on one corner.

    Attributes
    ----------
    mass, inertia : float
        kg, kg m^2.
    at : (x, y)
        The corner in the body's frame, from the mass centre, m.
    mu : float
    push, handle : (x, y)
        A force fixed in space (N), on a point fixed to the body (m, from the mass centre).
    """

    mass: float
    inertia: float
    at: Pair
    mu: float
    push: Pair = (0.0, 0.0)
    handle: Pair = (0.0, 0.0)

    def forces(self, theta: float, omega: float, slip: float) -> Array:
        """Return (a, alpha, T, N) with the direction of slip: 0 sticks, else T = -slip mu N."""
        x, y = _turned(self.at, theta)
        hx, hy = _turned(self.handle, theta)
        m, (fx, fy) = self.mass, self.push
        moment = hx * fy - hy * fx
        rows = [
            [m, m * y, -1.0, 0.0],
            [0.0, -m * x, 0.0, -1.0],
            [0.0, self.inertia, y, -x],
            [1.0, 0.0, 0.0, 0.0] if slip == 0.0 else [0.0, 0.0, 1.0, slip * self.mu],
        ]
        right = [fx - m * omega * omega * x, fy - m * G - m * omega * omega * y, moment, 0.0]
        return np.asarray(np.linalg.solve(np.array(rows), np.array(right)))

    def slope(self, y: Array, slip: float) -> list[float]:
        """Return d(x, u, theta, omega)/dt of the place and velocity of the corner and the angle of the body."""
        a, alpha, _, _ = (float(value) for value in self.forces(y[2], y[3], slip))
        return [float(y[1]), a, float(y[3]), alpha]

    def reserve(self, y: Array, slip: float) -> float:
        """Return what falls to zero where the regime ends, dimensionless: pressure, and friction left or speed."""
        _, _, T, N = (float(value) for value in self.forces(y[2], y[3], slip))
        weight = self.mass * G
        if slip == 0.0:
            return min(N, self.mu * N - abs(T)) / weight
        return min(N / weight, slip * float(y[1]))

    def follow(self, y: Array, slip: float, stop: Callable[[Array], float], longest: float) -> Motion:
        """Return the motion (DOP853) until its regime ends, `stop` falls to zero, or `longest` (s) has gone by."""
        from scipy.integrate import solve_ivp

        def ends(t: float, y: Array) -> float:
            """Return what falls to zero at the end."""
            return min(self.reserve(y, slip), stop(y))

        ends.terminal, ends.direction = True, -1.0  # type: ignore[attr-defined]
        found = solve_ivp(
            lambda t, y: self.slope(y, slip), (0.0, longest), y, "DOP853", events=ends, rtol=1e-12, atol=1e-13,
            max_step=longest / 50.0, dense_output=True,
        )  # fmt: skip
        return Motion(slip=slip, duration=float(found.t[-1]), at=found.sol)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motion:
    """A motion in one regime.

    Attributes
    ----------
    slip : float
        0 sticks; else the sign of the velocity of the corner.
    duration : float
        s.
    at : callable
        Time (s) from its begin -> (x, u, theta, omega).
    """

    slip: float
    duration: float
    at: Callable[[float], Array] = field(repr=False)


def _turned(p: Pair, theta: float) -> Pair:
    s, c = math.sin(theta), math.cos(theta)
    return (c * p[0] - s * p[1], s * p[0] + c * p[1])
