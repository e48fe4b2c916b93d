"""One contact in the plane in closed form: all accelerations at rest and in slip, and the jam.

a_N = W_NN N + W_NT T + free_n and a_T = W_NT N + W_TT T + free_t. While it slides with sign s, T = -mu s |N|.
Source: Ivanov (2009), section 5.2; Genot and Brogliato (1999).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class OneContact:
    """A contact of one body.

    Attributes
    ----------
    W_NN, W_NT, W_TT : float
        1/kg.
    free_n, free_t : float
        Acceleration without reaction, m/s^2.
    mu : float
    bilateral : bool
    """

    W_NN: float
    W_NT: float
    W_TT: float
    free_n: float
    free_t: float
    mu: float
    bilateral: bool = False

    def A(self, s: float, side: float = 1.0) -> float:
        """Return a_N per N while sliding with sign s; `side` is the sign of N."""
        return self.W_NN - self.mu * s * side * self.W_NT

    def a_T(self, N: float, T: float) -> float:
        """Return the tangential acceleration, m/s^2."""
        return self.W_NT * N + self.W_TT * T + self.free_t

    def sliding(self, s: float) -> list[float]:
        """Return the normal force of every acceleration that obeys the laws while sliding with sign s."""
        held = [(side, self._held(s, side)) for side in self._sides]
        return ([0.0] if self.free_n > 0.0 and not self.bilateral else []) + [N for side, N in held if side * N > 0.0]

    def resting(self) -> list[tuple[float, float]]:
        """Return (N, T) of every acceleration that obeys the laws from rest."""
        found = [(0.0, 0.0)] if self.free_n > 0.0 and not self.bilateral else []
        N, T = self.stick(self.free_n, self.free_t)
        if abs(T) <= self.mu * abs(N) and (self.bilateral or N >= 0.0):
            found.append((N, T))
        for s in (1.0, -1.0):
            for side in self._sides:
                N = self._held(s, side)
                T = -self.mu * s * abs(N)
                if side * N > 0.0 and s * self.a_T(N, T) > 0.0:
                    found.append((N, T))
        return found

    def stick(self, free_n: float, free_t: float) -> tuple[float, float]:
        """Return the reaction that cancels (free_n, free_t)."""
        det = self.W_NN * self.W_TT - self.W_NT * self.W_NT
        return (self.W_NT * free_t - self.W_TT * free_n) / det, (self.W_NT * free_n - self.W_NN * free_t) / det

    def count(self, s: float) -> int:
        """Return the number of accelerations; s = 0 is rest."""
        return len(self.sliding(s)) if s else len(self.resting())

    def margin(self, s: float) -> float:
        """Return how far (relative) the signs that decide the number of accelerations are from changing."""
        load = max(abs(self.free_n), abs(self.free_t)) or math.inf
        margins = [abs(self.free_n) / load] + [
            abs(self.A(d, e)) / self.W_NN for d in self._slips(s) for e in self._sides
        ]
        if s or min(margins) == 0.0:
            return min(margins)
        N, T = self.stick(self.free_n, self.free_t)
        margins += [abs(abs(T) - self.mu * abs(N)) * self.W_NN / load, abs(N) * self.W_NN / load]
        for d in self._slips(s):
            for side in self._sides:
                N = self._held(d, side)
                margins.append(abs(self.a_T(N, -self.mu * d * abs(N))) / load)
        return min(margins)

    def _held(self, s: float, side: float) -> float:
        """Return the normal force that keeps the contact closed in slip; 0 where no force does (A = 0)."""
        A = self.A(s, side)
        return -self.free_n / A if A != 0.0 else 0.0

    @property
    def _sides(self) -> tuple[float, ...]:
        return (1.0, -1.0) if self.bilateral else (1.0,)

    @staticmethod
    def _slips(s: float) -> tuple[float, ...]:
        return (s,) if s else (1.0, -1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body on one contact.

    Attributes
    ----------
    centre : (a, h)
        Mass centre from the contact, m.
    load : (F1, F2, torque)
        On the mass centre, N and N m.
    omega : float
        rad/s.
    mass, inertia : float
    """

    centre: tuple[float, float]
    load: tuple[float, float, float]
    omega: float
    mass: float = 1.0
    inertia: float = 1.0

    def contact(self, mu: float, bilateral: bool = False) -> OneContact:
        """Return its contact problem."""
        (a, h), (F1, F2, F3), m, J = self.centre, self.load, self.mass, self.inertia
        return OneContact(
            W_NN=1.0 / m + a * a / J,
            W_NT=-a * h / J,
            W_TT=1.0 / m + h * h / J,
            free_n=F2 / m - a * F3 / J + h * self.omega**2,
            free_t=F1 / m + h * F3 / J + a * self.omega**2,
            mu=mu,
            bilateral=bilateral,
        )

    def turn(self, N: float, T: float) -> float:
        """Return the angular acceleration under the reaction alone, rad/s^2."""
        return (self.centre[1] * T - self.centre[0] * N) / self.inertia

    def after(self, dt: float, N: float, T: float) -> Body:
        """Return the body a short time later under the reaction (N, T)."""
        angle = self.omega * dt
        c, s, (a, h) = math.cos(angle), math.sin(angle), self.centre
        omega = self.omega + dt * (self.turn(N, T) + self.load[2] / self.inertia)
        return replace(self, centre=(c * a - s * h, s * a + c * h), omega=omega)
