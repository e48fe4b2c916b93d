"""The motion of the woodpecker toy by itself: exact within every mode, modes and impulses by enumeration.

The model is linear in each mode, so that its motion is a matrix exponential; events are found by bisection. Nothing of
the package's solvers takes part.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ..measures.measures import G

R_O, R_M, H_M = 0.0025, 0.0031, 0.0058  # pole, sleeve, half height of the sleeve, m
L_M, L_G, H_S, L_S = 0.010, 0.015, 0.02, 0.0201  # to the spring, to the bird's centre, of the beak, m
M_M, M_S, J_M, J_S = 3e-4, 4.5e-3, 5e-9, 7e-7  # kg, kg m^2
NAMES = ("beak", "lower", "upper")
NORMAL = np.array([[0.0, 0.0, -H_S], [0.0, H_M, 0.0], [0.0, -H_M, 0.0]])
TANGENT = np.array([[1.0, L_M, L_G - L_S], [1.0, R_M, 0.0], [1.0, R_M, 0.0]])
OFFSET = np.array([L_M + L_G - L_S - R_O, R_M - R_O, R_M - R_O])
MASS = np.array(
    [[M_S + M_M, M_S * L_M, M_S * L_G], [M_S * L_M, J_M + M_S * L_M**2, M_S * L_M * L_G],
     [M_S * L_G, M_S * L_M * L_G, J_S + M_S * L_G**2]]
)  # fmt: skip
WEIGHT = -G * np.array([M_S + M_M, M_S * L_M, M_S * L_G])
BEND = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, -1.0, 1.0]])
HINGED = R_O - R_M  # H_M phi_M where the lower edge touches
GRID, LOOK, NEAR, STILL, CHANGES = 1e-4, 1e-7, 1e-11, 1e-9, 60
Mode = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """The reference: one instant.

    Attributes
    ----------
    t : float
        s.
    q, v : Array, shape (3,)
    """

    t: float
    q: Array
    v: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Woodpecker:
    """Modes, impulses and exact motion of the model, apart from any of the package's solvers.

    Attributes
    ----------
    mu, beak, spring : float
    """

    mu: float
    beak: float
    spring: float

    def force(self, q: Array) -> Array:
        """Return weight and spring."""
        return np.asarray(WEIGHT - self.spring * BEND @ q)

    def solved(self, mode: Mode, right: Array, normal: Array, tangent: Array) -> tuple[Array, Array] | None:
        """Return x, and reactions (N, T) of the contacts, of M x = right + W r in a mode; None if singular.

        A closed contact has w_N x = normal; one that sticks w_T x = tangent too; one that slips r_T = -+mu r_N.
        """
        A, b = np.zeros((9, 9)), np.zeros(9)
        A[:3, :3], b[:3] = MASS, right
        for k, how in enumerate(mode):
            N, T = 3 + 2 * k, 4 + 2 * k
            A[:3, N], A[:3, T] = -NORMAL[k], -TANGENT[k]
            if how == "open":
                A[N, N] = A[T, T] = 1.0
                continue
            A[N, :3], b[N] = NORMAL[k], normal[k]
            if how == "stick":
                A[T, :3], b[T] = TANGENT[k], tangent[k]
            else:
                A[T, T], A[T, N] = 1.0, self.mu if how == "+" else -self.mu
        if abs(np.linalg.det(A)) < 1e-300:
            return None
        x = np.linalg.solve(A, b)
        return np.asarray(x[:3]), np.asarray(x[3:].reshape(3, 2))

    def struck(self, q: Array, v: Array) -> Array:
        """Return the velocity after an impact: Newton's normal restitution, Coulomb's law for the impulses."""
        touch = NORMAL @ q + OFFSET < 1e-9
        back = -np.array([self.beak, 0.0, 0.0]) * np.minimum(NORMAL @ v, 0.0)
        size = 1e-9 * float(np.abs(MASS @ v).max())
        for mode in itertools.product(*(("open", "stick", "+", "-") if closed else ("open",) for closed in touch)):
            found = self.solved(mode, MASS @ v, back, np.zeros(3))
            if found is None:
                continue
            u, p = found
            after, slip = NORMAL @ u - back, TANGENT @ u
            right = all(not touch[k] or after[k] > -STILL for k in range(3))
            if right and self._allowed(mode, p, slip, size, 0.0):
                return u
        raise ArithmeticError("no impulse")

    def chosen(self, q: Array, v: Array) -> Mode:
        """Return the mode that follows a state."""
        closed = (NORMAL @ q + OFFSET < NEAR) & (NORMAL @ v < STILL)
        slip = TANGENT @ v
        ways = [
            ("open",) if not closed[k] else ("open", "stick", "+", "-") if abs(slip[k]) < STILL else
            ("open", "+" if slip[k] > 0.0 else "-") for k in range(3)
        ]  # fmt: skip
        h = self.force(q)
        size = 1e-10 * float(np.abs(h).max()) / H_M
        for mode in itertools.product(*ways):
            found = self.solved(mode, h, np.zeros(3), np.zeros(3))
            if found is None:
                continue
            a, r = found
            still = np.where(np.abs(slip) < STILL, TANGENT @ a, 0.0)
            if self._allowed(mode, r, still, size, STILL) and self._lasts(mode, q, v):
                return mode
        raise ArithmeticError("no acceleration")

    def _lasts(self, mode: Mode, q: Array, v: Array) -> bool:
        """Return whether a mode holds a moment later too: what begins at zero has to grow."""
        from scipy.linalg import expm

        later = expm(self.flow(mode) * LOOK) @ np.concatenate((q, v, [1.0]))
        said = self.conditions(mode, later)
        for k in np.flatnonzero(NORMAL @ q + OFFSET < NEAR):
            if mode[k] == "open":  # a gap grows more slowly than its rate
                said[2 * k] = NORMAL[k] @ later[3:6]
        return bool((said > 0.0).all())

    def _allowed(self, mode: Mode, r: Array, slip: Array, size: float, least: float) -> bool:
        for k, how in enumerate(mode):
            if how == "open":
                continue
            if r[k, 0] < -size or (how == "stick" and abs(r[k, 1]) > self.mu * r[k, 0] + size):
                return False
            if (how == "+" and slip[k] < -least) or (how == "-" and slip[k] > least):
                return False
        return True

    def flow(self, mode: Mode) -> Array:
        """Return A of d(q, v, 1)/dt = A (q, v, 1) in a mode."""
        A = np.zeros((7, 7))
        A[:3, 3:6] = np.eye(3)
        constant = self._accelerations(mode, WEIGHT)
        A[3:6, 6] = constant
        for j in range(3):
            A[3:6, j] = self._accelerations(mode, WEIGHT - self.spring * BEND[:, j]) - constant
        return A

    def _accelerations(self, mode: Mode, h: Array) -> Array:
        found = self.solved(mode, h, np.zeros(3), np.zeros(3))
        assert found is not None  # the mode has been chosen
        return found[0]

    def conditions(self, mode: Mode, x: Array) -> Array:
        """Return what is positive as long as the mode lasts: gaps, reactions, friction left, slips."""
        q, v = x[:3], x[3:6]
        found = self.solved(mode, self.force(q), np.zeros(3), np.zeros(3))
        assert found is not None
        r, gap, slip, said = found[1], NORMAL @ q + OFFSET, TANGENT @ v, []
        for k, how in enumerate(mode):
            if how == "open":
                said += [gap[k], 1.0]
            elif how == "stick":
                said += [r[k, 0], self.mu * r[k, 0] - abs(r[k, 1])]
            else:
                said += [r[k, 0], slip[k] if how == "+" else -slip[k]]
        return np.array(said)

    def motion(self, q: Array, v: Array, t_end: float) -> tuple[Motion, list[tuple[str, float]]]:
        """Return the end of the motion, and its impacts (contact, time)."""
        from scipy.linalg import expm

        t, hits, x = 0.0, list[tuple[str, float]](), np.concatenate((q, v, [1.0]))
        for _ in range(CHANGES):
            mode = self.chosen(x[:3], x[3:6])
            A = self.flow(mode)
            t, x, ended = self._until(A, expm(A * GRID), mode, t, x, t_end)
            if not ended:
                return Motion(t=t, q=x[:3], v=x[3:6]), hits
            gap, speed = NORMAL @ x[:3] + OFFSET, NORMAL @ x[3:6]
            if any(gap[k] < NEAR and speed[k] < -STILL for k in range(3)):
                hits += [(NAMES[k], t) for k in range(3) if gap[k] < NEAR and speed[k] < -STILL]
                x[3:6] = self.struck(x[:3], x[3:6])
        raise ArithmeticError("too many changes")

    def _until(
        self, A: Array, leap: Array, mode: Mode, t: float, x: Array, t_end: float
    ) -> tuple[float, Array, bool]:  # fmt: skip
        """Go on in a mode to its end or to t_end; return whether it ended."""
        from scipy.linalg import expm

        while t < t_end:
            h = min(GRID, t_end - t)
            y = (leap if h == GRID else expm(A * h)) @ x
            new = self.conditions(mode, y)
            crossed = np.flatnonzero(new < 0.0)
            if len(crossed):
                s = min(self._root(A, mode, x, int(k), h) for k in crossed)
                return t + s, expm(A * s) @ x, True
            t, x = (t + h if h == GRID else t_end), y
        return t_end, x, False

    def _root(self, A: Array, mode: Mode, x: Array, k: int, h: float) -> float:
        """Return the time (s) at which condition k vanishes within h."""
        from scipy.linalg import expm
        from scipy.optimize import brentq

        def value(s: float) -> float:
            """Return the condition after s."""
            return float(self.conditions(mode, expm(A * s) @ x)[k])

        low = 0.0 if value(0.0) > 0.0 else LOOK
        return float(brentq(value, low, h, xtol=1e-16, rtol=1e-15))
