"""What springs, dashpots and viscous friction do at one row: the laws that stand for a constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ...mechanics.rows import Row

Role = Literal["soft", "rigid", "watched"]
ONE_SIDED = ("unilateral", "contact")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpringLaw:
    """Normal springs k gap (with a dashpot), and friction by a spring that slips or by viscous friction up to a cap.

    The potential of the springs is N W, W = 1/2 sum weight gap^2 over bilateral rows and over violated one-sided rows.
    One-sided rows only push. Friction is F_T = -k_T s or -c_T u_T, cut off at mu r_N (at the cap of a dry row).

    Attributes
    ----------
    stiffness : float
        N of N W, N/m (N m for angles).
    damping : float
        Of every spring, as a share of the critical damping of the bodies it acts on.
    weights : mapping of str to float
        Factor of the stiffness, by row id; 1 for the others.
    slip_stiffness : float
        k_T of slipping springs, N/m; 0 without.
    viscosity : float
        c_T, N s/m: of friction and of constraints on the velocity; 0 without.
    soft_joints : bool
        Whether bilateral position rows are springs; else they hold rigidly.
    """

    stiffness: float
    damping: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)
    slip_stiffness: float = 0.0
    viscosity: float = 0.0
    soft_joints: bool = True

    def role(self, row: Row) -> Role:
        """Return whether a row is replaced by a law (soft) or holds exactly (rigid).

        Raises
        ------
        InputError
            The realization does not know such a row.
        """
        _check_known(row)
        if row.kind == "bilateral":
            if row.level == "position":
                return "soft" if self.soft_joints else "rigid"
            return "soft" if row.level == "velocity" and self.viscosity > 0.0 else "rigid"
        if row.level != "position" and row.kind != "dry" and not (row.level == "velocity" and self.viscosity > 0.0):
            raise InputError(
                f"level of {row.id}",
                f"a unilateral constraint on the {row.level}",
                "one on the position",
                "Write Position(...).",
            )
        return "soft"

    def springs(self, row: Row) -> int:
        """Return the number of slipping springs of a row."""
        return 0 if self.slip_stiffness == 0.0 else tangential(row)

    def k(self, row: Row) -> float:
        """Return the stiffness of the normal spring, N/m."""
        return self.stiffness * self.weights.get(row.id, 1.0)

    def reaction(self, row: Row, s: Array, inertia: float) -> Array:
        """Return the reaction of a soft row, N, shape (row.size,).

        Parameters
        ----------
        row : Row
        s : Array, shape (springs(row),)
            Extensions of its slipping springs, m.
        inertia : float
            1 / (J_N M^-1 J_N^T), kg, for the damping.
        """
        r = np.zeros(row.size)
        if row.kind == "dry":
            return self._friction(row.rate, s, row.cap, 0.0)
        if row.level == "velocity":
            r[:] = -self.viscosity * row.rate
            return np.maximum(r, 0.0) if row.kind == "unilateral" else r
        c = self.dashpot(row, inertia)
        r[0] = -self.k(row) * row.gap - c * row.rate[0]
        if not row.bilateral:
            r[0] = max(r[0], 0.0) if row.gap < 0.0 else 0.0
        n = tangential(row)
        if n and r[0] != 0.0:
            r[1 : 1 + n] = self._friction(row.rate[1 : 1 + n], s, row.mu * abs(r[0]), c)
        return r

    def energy(self, row: Row, s: Array) -> float:
        """Return the energy that the springs of a row hold, J: 1/2 k gap^2, and 1/2 k_T |s|^2 of those that slip."""
        if self.role(row) != "soft":
            return 0.0
        pressed = row.level == "position" and row.kind != "dry" and (row.bilateral or row.gap < 0.0)
        normal = 0.5 * self.k(row) * row.gap**2 if pressed else 0.0
        return normal + 0.5 * self.slip_stiffness * float(s @ s)

    def dashpot(self, row: Row, inertia: float) -> float:
        """Return the constant of the normal dashpot, N s/m."""
        return 2.0 * self.damping * float(np.sqrt(self.k(row) * inertia)) if self.damping > 0.0 else 0.0

    def creep(self, row: Row, s: Array, r: Array, inertia: float) -> Array:
        """Return how fast the slipping springs stretch, m/s: with the slip, and back to the cap where they exceed it.

        They go back at twice the frequency of the spring itself: so they lag behind by as much as it gives way, O(1/N),
        and the law stays continuous.
        """
        cap, k = self._cap(row, r), self.slip_stiffness
        back = 2.0 * float(np.sqrt(k / inertia)) if inertia > 0.0 else 0.0
        if cap == 0.0:
            return -back * s
        length = k * float(np.sqrt(s @ s))
        slip = _slip(row)
        return slip if length <= cap else slip - back * (1.0 - cap / length) * s

    def mode(self, row: Row, s: Array, r: Array) -> str | None:
        """Return open, stick, slip or active; None for a bilateral row without friction."""
        if row.kind == "bilateral":
            return None
        n = tangential(row)
        if row.kind != "dry" and r[0] == 0.0:
            return "open"
        if not n:
            return "active"
        r_T = r if row.kind == "dry" else r[1 : 1 + n]
        return "slip" if float(np.sqrt(r_T @ r_T)) >= (1.0 - 1e-9) * self._cap(row, r) else "stick"

    def slopes(self, row: Row, r: Array | None, inertia: float) -> tuple[Array, Array]:
        """Return K, C with dr = -K dx - C du, diagonals of shape (row.size,); with r None as if closed and sticking."""
        K, C = np.zeros(row.size), np.zeros(row.size)
        if row.kind == "dry":
            return K + self.slip_stiffness, C + self.viscosity
        if row.level == "velocity":
            return K, C + self.viscosity
        if r is not None and r[0] == 0.0 and not row.bilateral:
            return K, C
        n, c = tangential(row), self.dashpot(row, inertia)
        K[0], C[0] = self.k(row), c
        if n and (r is None or self.mode(row, np.zeros(0), r) == "stick"):
            K[1 : 1 + n], C[1 : 1 + n] = self.slip_stiffness, self.viscosity + c
        return K, C

    def _friction(self, slip: Array, s: Array, cap: float, c: float) -> Array:
        r = -self.viscosity * slip
        if self.slip_stiffness > 0.0:
            r = -self.slip_stiffness * s - c * slip
        size = float(np.sqrt(r @ r))
        return r if size <= cap else r * (cap / size)

    def _cap(self, row: Row, r: Array) -> float:
        return row.cap if row.kind == "dry" else row.mu * abs(float(r[0]))


def tangential(row: Row) -> int:
    """Return the number of tangential rows with friction."""
    if row.kind == "dry":
        return row.size
    return min(row.size - 1, 2) if row.kind in ("contact", "bilateral_contact") and row.mu > 0.0 else 0


def _slip(row: Row) -> Array:
    return row.rate if row.kind == "dry" else row.rate[1 : 1 + tangential(row)]


def _check_known(row: Row) -> None:
    """Raise InputError for rows that no realization by forces knows."""
    if row.level == "acceleration" and row.kind != "bilateral":
        raise InputError(
            f"level of {row.id}",
            "a unilateral constraint on the acceleration",
            "one on the position",
            "Write Position(...).",
        )
    for name in ("mu_r", "mu_t"):
        if getattr(row, name) > 0.0:
            given, allowed = getattr(row, name), "0: springs know no moments of friction"
            raise InputError(f"{name} of {row.id}", given, allowed, "Write MoreauJean(dt=1e-3).")
    if row.mu_s > row.mu or row.cap_s > row.cap:
        mend = "A larger friction at rest is not continuous, so that no force law stands for it: stepper=MoreauJean()."
        raise InputError(f"mu_s of {row.id}", (row.mu_s, row.cap_s), f"mu = {row.mu:g}, cap = {row.cap:g}", mend)


def checked_weights(weights: object) -> dict[str, float]:
    """Return weights by row id.

    Raises
    ------
    InputError
        Not a mapping of names to positive numbers.
    """
    if not isinstance(weights, Mapping):
        raise InputError(
            "weights", repr(weights), "a mapping of row ids to positive numbers", 'Write weights={"ball/floor": 1.0}.'
        )
    given: Mapping[Any, Any] = weights
    return {str(key): scalar(f"weight of {key}", x, low=0.0, open_low=True) for key, x in given.items()}
