"""The motion of one step under the forces and given impulses, when forces depend on the velocity.

    M (x - v) = dt h(t_m, q_m, (1 - theta) v + theta x) + P

Newton's method with the whole of dh/dv, so that fast spinning bodies converge in a few evaluations of h: the
gyroscopic part of dh/dv is skew and cannot stand beside M in the contact problem, whose matrix is symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import EPS, Array, matrix, vector
from ...contact.snapshot import LocalDynamics
from ...linalg.factor import solve_spd

PASSES = 12
SEARCHES = 30  # Newton steps where these do not converge
SHORTEST = 1e-3  # part of one
ROUNDED = 1e-10  # relative step that may be rounding
LARGEST = 60  # velocities up to which dh/dv is taken by differences where the system does not give it


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FreeMotion:
    """The force along one step.

    Attributes
    ----------
    middle : LocalDynamics
        At the midpoint; its h holds M v + dt times the force at v.
    theta : float
    moves : bool
        Whether the force has been seen to depend on the velocity.
    inverse : Array or None
        Of M - theta dt dh/dv, shape (nv, nv); None stands for M alone.
    """

    middle: LocalDynamics
    theta: float
    moves: bool = False
    inverse: Array | None = None

    def force(self, v: Array) -> Array:
        """Return h(t_m, q_m, v), N."""
        middle = self.middle
        return vector("force(t, q, v)", middle.system.force(middle.t, middle.q, v, middle.control), middle.nv)

    def started(self, push: Array) -> FreeMotion:
        """Return the motion with dh/dv where the force at the end differs from the one at the start."""
        middle = self.middle
        x = middle.x_free + solve_spd(middle.factor, push)
        v_theta = self._along(x)
        if np.array_equal(middle.M @ middle.v + middle.dt * self.force(v_theta), middle.h):
            return self
        if middle.nv > LARGEST and not hasattr(middle.system, "force_gradient"):
            return replace(self, moves=True)
        try:
            K = middle.M - self.theta * middle.dt * self.slope_at(v_theta)
            inverse: Array = np.linalg.inv(K).astype(np.float64)
        except np.linalg.LinAlgError:
            return replace(self, moves=True)
        return replace(self, moves=True, inverse=inverse)

    def velocity(self, push: Array, x: Array | None = None) -> Array:
        """Return x for the impulse P = push, from a first guess; that guess itself where the force is constant."""
        middle = self.middle
        if x is None:
            x = middle.x_free + solve_spd(middle.factor, push)
        if not self.moves:
            return x
        last, given = np.inf, middle.M @ middle.v + push
        for _ in range(PASSES):
            short = self._short(given, x)
            step = solve_spd(middle.factor, short) if self.inverse is None else self.inverse @ short
            size = float(np.abs(step).max(initial=0.0))
            if not size < 0.5 * last:  # rounding, or no convergence
                return x if size <= ROUNDED * float(np.abs(x).max(initial=0.0)) else self._searched(given, x)
            x, last = x + step, size
            if size <= 0.25 * EPS * float(np.abs(x).max(initial=0.0)):
                break
        return x

    def _searched(self, given: Array, x: Array) -> Array:
        """Return x by Newton's method with the slope where it is, and steps that go no farther than the force does.

        Drives at their limits have no slope: one taken elsewhere leads to and fro. What is short falls along a step
        where forces do not grow with the velocity, and changes its sign where the step should end.
        """
        middle = self.middle
        for _ in range(SEARCHES if middle.nv <= LARGEST else 0):
            short = self._short(given, x)
            K = middle.M - self.theta * middle.dt * self.slope_at(self._along(x))
            try:
                step = np.linalg.solve(K, short)
            except np.linalg.LinAlgError:
                break
            if float(np.abs(step).max()) <= 4.0 * EPS * float(np.abs(x).max()):
                break
            t, first = 1.0, float(short @ step)
            while float(self._short(given, x + t * step) @ step) < -0.5 * first and t > SHORTEST:
                t *= 0.5
            x = x + t * step
        return x

    def _short(self, given: Array, x: Array) -> Array:
        """Return what M (x - v) is short of, N s."""
        short: Array = given + self.middle.dt * self.force(self._along(x)) - self.middle.M @ x
        return short

    def slope_at(self, v: Array) -> Array:
        """Return dh/dv at (t_m, q_m, v), shape (nv, nv): the system's `force_gradient`, or by differences."""
        middle, n = self.middle, self.middle.nv
        given = getattr(middle.system, "force_gradient", None)
        if given is not None:
            return matrix("force_gradient(t, q, v)", given(middle.t, middle.q, v), n, n)
        force, D = self.force(v), np.zeros((n, n))
        for k in range(n):
            step = np.sqrt(EPS) * max(1.0, abs(v[k]))
            moved = v.copy()
            moved[k] += step
            D[:, k] = (self.force(moved) - force) / step
        return D

    def _along(self, x: Array) -> Array:
        v_theta: Array = (1.0 - self.theta) * self.middle.v + self.theta * x
        return v_theta
