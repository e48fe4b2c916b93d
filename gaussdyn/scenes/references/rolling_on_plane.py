"""A body that rolls without slip on a horizontal plane: equations without friction and gap, by another integrator.

With the contact point at r from the mass centre, in body axes, rolling is v = r x w, and with g the upward direction
I w' - m r x (r x w') = -w x I w + m r x (r' x w + w x (r x w) + G g), g' = g x w. The shape of the body is in r(g)
alone. Source: H. Bondi, The rigid body dynamics of unidirectional spin, Proc. R. Soc. A 405 (1986).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import cross, matrix_of
from ..measures.measures import G

Lever = Callable[[Array], Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roller:
    """A rolling body of mass one.

    Attributes
    ----------
    lever : callable
        r(g): the contact point from the mass centre, m, where g points upwards.
    lever_rate : callable
        Its rate, from g and the rate of g.
    inertia : Array, shape (3, 3)
        About the mass centre over the mass, m^2.
    """

    lever: Lever
    lever_rate: Callable[[Array, Array], Array]
    inertia: Array

    def rates(self, _t: float, y: Array) -> Array:
        """Return the rates of y = (g, w)."""
        g, w = y[:3], y[3:]
        dg, r = cross(g, w), self.lever(g)
        dr = self.lever_rate(g, dg)
        load = cross(r, cross(dr, w) + cross(w, cross(r, w)) + G * g) - cross(w, self.inertia @ w)
        across = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        return np.concatenate([dg, np.linalg.solve(self.inertia - across @ across, load)])

    def roll(self, start: Array, t_end: float, **options: Any) -> Any:
        """Return what scipy finds for (g, w) up to t_end."""
        from scipy.integrate import solve_ivp

        options = {"rtol": 1e-12, "atol": 1e-13, **options}
        return solve_ivp(self.rates, (0.0, t_end), start, "DOP853", **options)

    def start(self, start: Array, turned: tuple[float, ...]) -> tuple[list[float], list[float]]:
        """Return place, with the mass centre above the origin, and velocity, as `SpatialSystem.state` takes them."""
        g, w = start[:3], start[3:]
        v = matrix_of(np.array(turned)) @ cross(self.lever(g), w)
        return [0.0, 0.0, -float(g @ self.lever(g)), *turned], [*v, *w]

    def gain(self, start: Array, low: float) -> Callable[[Any], float]:
        """Return the measure: the largest change of energy over its first value above that of height `low`, m."""

        def energy(g: Array, w: Array, v: Array, height: float) -> float:
            """Return the energy, J; `g` is the upward direction in body axes."""
            return float(0.5 * (v @ v + w @ self.inertia @ w) + G * (height - low))

        g, w = start[:3], start[3:]
        first = energy(g, w, cross(self.lever(g), w), -float(g @ self.lever(g)))

        def gain(run: Any) -> float:
            """Read it off the run."""
            found = [
                energy(matrix_of(q[3:7])[2], v[3:6], v[:3], float(q[2])) for q, v in zip(run.q, run.v, strict=True)
            ]
            return float(np.abs(np.array(found) / first - 1.0).max())

        return gain


def tilted(angle: float) -> tuple[Array, tuple[float, ...]]:
    """Return the upward direction in body axes, and the quaternion, of a body turned about -y by an angle."""
    return np.array([math.sin(angle), 0.0, math.cos(angle)]), (math.cos(angle / 2), 0.0, -math.sin(angle / 2), 0.0)


def upward(k: int) -> Callable[[Any], float]:
    """Return the measure: component k of the upward direction at the end, in body axes."""
    return lambda run: float(matrix_of(run.q[-1][3:7])[2, k])


def spin_about_vertical(run: Any) -> float:
    """Return the spin about the vertical at the end, rad/s."""
    return float(matrix_of(run.q[-1][3:7])[2] @ run.v[-1][3:6])
