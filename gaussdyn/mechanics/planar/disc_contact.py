"""Contact of two round things in the plane: discs, and the round ends or sharp corners of other shapes (radius 0)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ..rows import Row, pair_of
from .bodies import Marker
from .kinematics import Layout, Motion


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarDiscContact:
    """A disc around a marker against a disc around another one, with Coulomb friction.

    Parameters
    ----------
    a, b : Marker
        Centres; the normal points from b to a.
    radius_a, radius_b : float
        m, >= 0.
    mu, mu_s : float
        Friction of slip and of rest, mu_s >= mu >= 0 (mu_s = mu by default). With mu_s = 0: one row, no friction.
    eps_n, eps_t : float
        Newton restitution, normal in [0, 1] and tangential in [-1, 1].
    name : str
        Its id; by default the markers give it, e.g. ``ball/peg``.

    Raises
    ------
    InputError
        NaN, a value out of range, both discs on one body.
    """

    a: Marker
    b: Marker
    radius_a: float
    radius_b: float
    mu: float = 0.0
    mu_s: float = -1.0
    eps_n: float = 0.0
    eps_t: float = 0.0
    name: str = ""
    _row: Row = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.a.body == self.b.body:
            raise InputError(
                f"discs of {self.id}",
                f"both on {self.a.body!r}",
                "markers on two different bodies",
                'Write b=Marker("ground", (0.0, 0.0)).',
            )
        mu = scalar(f"mu of {self.id}", self.mu, low=0.0)
        values = {"mu": mu, "mu_s": mu if self.mu_s == -1.0 else scalar(f"mu_s of {self.id}", self.mu_s, low=mu)}
        for name in ("radius_a", "radius_b"):
            values[name] = scalar(f"{name} of {self.id}", getattr(self, name), low=0.0)
        values["eps_n"] = scalar(f"eps_n of {self.id}", self.eps_n, low=0.0, high=1.0)
        values["eps_t"] = scalar(f"eps_t of {self.id}", self.eps_t, low=-1.0, high=1.0)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_row", self._checked_row())

    @property
    def id(self) -> str:
        """Stable name, e.g. ``ball/peg``."""
        return self.name or f"{self.a.label}/{self.b.label}"

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return the constraint at one state: rows (N, T), or (N,) without friction.

        With d = x_a - x_b and w = v_a - v_b: gap = |d| - r_a - r_b, n = d/|d|, rates n.w and
        t.w + A omega_a + B omega_b. The arms A = r_a + gap/2 and B = r_b + gap/2 end in the middle of the gap, so that
        both bodies feel the reaction at one point. Drifts by differentiation: dn/dt = s t and dt/dt = -s n with
        s = t.w/|d|, and the arms grow at half the rate of the gap.
        """
        a, b = motion(self.a), motion(self.b)
        d, w = a.x - b.x, a.v - b.v
        distance = math.hypot(d[0], d[1])
        # The centres coincide: any direction will do.
        nx, ny = (d[0] / distance, d[1] / distance) if distance > 0.0 else (0.0, 1.0)
        frame = np.array([[nx, ny], [ny, -nx]])
        gap = distance - self.radius_a - self.radius_b
        arm_a, arm_b = self.radius_a + 0.5 * gap, self.radius_b + 0.5 * gap
        J, rate, drift = frame @ (a.J - b.J), frame @ w, frame @ (a.drift - b.drift)
        turn = rate[1] / distance if distance > 0.0 else 0.0
        drift += turn * np.array([rate[1], -rate[0]])
        drift[1] += 0.5 * rate[0] * (a.omega + b.omega)
        J[1] += arm_a * a.turn + arm_b * b.turn
        rate[1] += arm_a * a.omega + arm_b * b.omega
        n, point = self._row.size, b.x + arm_b * frame[0]
        return (self._row.but(gap=gap, J=J[:n], rate=rate[:n], drift=drift[:n], point=point, frame=frame),)

    def placed(self, layout: Layout, q: Array) -> tuple[Row, Array, Array]:
        """Return what does not change, and points (n, 2) and directions (n, 2, 2) at coordinates (n, nq)."""
        a, b = (layout.places(marker, q)[0] for marker in self.markers)
        distance = np.array([math.hypot(x, y) for x, y in (a - b).tolist()])
        apart = np.where(distance > 0.0, distance, 1.0)
        nx, ny = ((a - b) / apart[:, None]).T
        nx, ny = np.where(distance > 0.0, nx, 0.0), np.where(distance > 0.0, ny, 1.0)
        frame = np.stack([np.stack([nx, ny], axis=1), np.stack([ny, -nx], axis=1)], axis=1)
        arm_b = self.radius_b + 0.5 * (distance - self.radius_a - self.radius_b)
        return self._row, b + arm_b[:, None] * frame[:, 0], frame

    def _checked_row(self) -> Row:
        """Return the row with what does not change."""
        n = 2 if self.mu_s > 0.0 or self.eps_t != 0.0 else 1
        return Row(
            id=self.id, kind="contact" if n == 2 else "unilateral", J=np.zeros((n, 1)), rate=np.zeros(n),
            drift=np.zeros(n), mu=self.mu, mu_s=self.mu_s, eps_n=self.eps_n, eps_t=self.eps_t,
            between=pair_of(self.id, (self.a.body, self.b.body)),
        )  # fmt: skip
