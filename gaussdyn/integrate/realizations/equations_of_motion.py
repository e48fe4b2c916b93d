"""The equations of motion with forces in the place of constraints, and what holds rigidly kept by multipliers.

    M a = h + J^T r(row, spring) + G^T lam,     G a = -drift - 2 alpha rate - alpha^2 gap     (rigid rows)

y = (q, v, springs). The rigid rows are index-reduced (acceleration level) with Baumgarte's alpha, 0 for none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...arrays import Array, vector
from ...contact.snapshot import rows_of
from ...linalg.factor import cholesky, solve_spd
from ...mechanics.rows import Row
from ...mechanics.system import System
from .force_laws import Role

RANK = 1e-11  # relative singular value below which a rigid row repeats others


class ForceLaw(Protocol):
    """What stands for the rows of a system."""

    def role(self, row: Row) -> Role:
        """Return soft, rigid, or watched (must stay open)."""
        ...

    def springs(self, row: Row) -> int:
        """Return the number of slipping springs."""
        ...

    def reaction(self, row: Row, s: Array, inertia: float) -> Array:
        """Return the reaction, N."""
        ...

    def energy(self, row: Row, s: Array) -> float:
        """Return what the springs hold, J."""
        ...

    def creep(self, row: Row, s: Array, r: Array, inertia: float) -> Array:
        """Return how fast the springs stretch, m/s."""
        ...

    def mode(self, row: Row, s: Array, r: Array) -> str | None:
        """Return open, stick, slip or active."""
        ...

    def slopes(self, row: Row, r: Array | None, inertia: float) -> tuple[Array, Array]:
        """Return stiffness and viscosity of every component."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forces:
    """Everything that acts at one instant.

    Attributes
    ----------
    rows : tuple of Row
    M : Array, shape (nv, nv)
    r : tuple of Array
        Reaction of every row, N.
    a : Array, shape (nv,)
    creep : Array, shape (ns,)
    push : Array, shape (nv,)
        J^T r of all rows.
    inertia : tuple of float
        1 / (J_N M^-1 J_N^T) of every soft row, kg.
    """

    rows: tuple[Row, ...]
    M: Array
    r: tuple[Array, ...]
    a: Array
    creep: Array
    push: Array
    inertia: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForcedMotion:
    """y' = slope(t, y) of a system whose rows are replaced by a law.

    Attributes
    ----------
    system : System
    law : ForceLaw
    alpha : float
        Baumgarte's constant of the rigid rows, 1/s.
    control : Array or None
    """

    system: System
    law: ForceLaw
    alpha: float
    control: Array | None

    def split(self, y: Array) -> tuple[Array, Array, Array]:
        """Return q, v and the springs."""
        nq, nv = self.system.nq, self.system.nv
        return y[:nq], y[nq : nq + nv], y[nq + nv :]

    def forces(self, t: float, y: Array) -> Forces:
        """Evaluate the system and its laws."""
        q, v, s = self.split(y)
        rows = self.system.rows(t, q, v)
        M = self.system.mass(q)
        L = cholesky("mass(q)", np.asarray(M))
        r, inertia, creep, at = [], [], np.zeros(len(s)), 0
        for row in rows:
            soft, n = self.law.role(row) == "soft", self.law.springs(row)
            own = s[at : at + n]
            mass = _inertia(L, row) if soft else 1.0
            one = self.law.reaction(row, own, mass) if soft else np.zeros(row.size)
            if n:
                creep[at : at + n] = self.law.creep(row, own, one, mass)
            at += n
            r.append(one)
            inertia.append(mass)
        push = _sum([row.J.T @ one for row, one in zip(rows, r, strict=True) if one.any()], len(v))
        h = vector("force(t, q, v)", self.system.force(t, q, v, self.control), len(v))
        a = solve_spd(L, h + push)
        rigid = [k for k, row in enumerate(rows) if self.law.role(row) == "rigid"]
        if rigid:
            held = self._held(L, [rows[k] for k in rigid], a)
            for k, lam in zip(rigid, held, strict=True):
                r[k] = lam
                back = rows[k].J.T @ lam
                push, a = push + back, a + solve_spd(L, back)
        return Forces(
            rows=rows, M=np.asarray(M), r=tuple(r), a=a, creep=creep, push=push, inertia=tuple(inertia)
        )  # fmt: skip

    def slope(self, t: float, y: Array) -> Array:
        """Return y'."""
        q, v, _ = self.split(y)
        f = self.forces(t, y)
        return np.concatenate([self.system.qdot(q, v), f.a, f.creep])

    def collect(self, t: float, y: Array) -> Array:
        """Return the reactions of all rows one after another, their power, and the power of the applied forces."""
        q, v, _ = self.split(y)
        f = self.forces(t, y)
        power = self.system.power(t, q, v, self.control)
        return np.concatenate([*f.r, [float(v @ f.push), power]])

    def jacobian(self, t: float, y: Array) -> Array:
        """Return dy'/dy of the stiff parts: springs, dashpots and dq/dt."""
        q, v, s = self.split(y)
        f, (nq, nv) = self.forces(t, y), (len(q), len(v))
        N = np.array([self.system.qdot(q, column) for column in np.eye(nv)]).T
        back = np.eye(nv) if nq == nv and np.array_equal(N, np.eye(nv)) else np.linalg.pinv(N)
        A, at = np.zeros((len(y), len(y))), nq + nv
        A[:nq, nq : nq + nv] = N
        L = cholesky("mass(q)", f.M)
        for row, r, mass in zip(f.rows, f.r, f.inertia, strict=True):
            n = self.law.springs(row)
            if self.law.role(row) == "soft":
                K, C = self.law.slopes(row, r, mass)
                normal = K.copy()
                if n:
                    T = row.J if row.kind == "dry" else row.J[1 : 1 + n]
                    free = self.law.mode(row, s[at - nq - nv : at - nq - nv + n], r) == "stick"
                    if free:
                        A[at : at + n, nq : nq + nv] = T
                        A[nq : nq + nv, at : at + n] = -solve_spd(L, np.ascontiguousarray(T.T)) * K[-1]
                    normal[0 if row.kind == "dry" else 1 :] = 0.0
                weighted = solve_spd(L, np.ascontiguousarray(row.J.T))
                A[nq : nq + nv, :nq] -= weighted @ (normal[:, None] * row.J) @ back
                A[nq : nq + nv, nq : nq + nv] -= weighted @ (C[:, None] * row.J)
            at += n
        return A

    def fastest(self, t: float, y: Array) -> float:
        """Return the largest rate of the laws (rad/s of a vibration, 1/s of a decay), all contacts taken as closed."""
        q, v, _ = self.split(y)
        L = cholesky("mass(q)", np.asarray(self.system.mass(q)))
        nv, K, C = len(v), np.zeros((len(v), len(v))), np.zeros((len(v), len(v)))
        for row in rows_of(self.system, t, q, v):
            if self.law.role(row) == "soft":
                stiff, viscous = self.law.slopes(row, None, _inertia(L, row))
                K += row.J.T @ (stiff[:, None] * row.J)
                C += row.J.T @ (viscous[:, None] * row.J)
        half = np.linalg.inv(L) if nv else L
        found = [float(np.linalg.eigvalsh(half @ X @ half.T)[-1]) if nv else 0.0 for X in (K, C)]
        return max(float(np.sqrt(max(found[0], 0.0))), found[1])

    def _held(self, L: Array, rows: list[Row], a: Array) -> list[Array]:
        """Return the multipliers of the rigid rows, the smallest where they are redundant."""
        G = np.vstack([row.J for row in rows])
        wanted = np.concatenate([-row.drift - self._stabilised(row) for row in rows]) - G @ a
        S = G @ solve_spd(L, np.ascontiguousarray(G.T))
        lam = np.linalg.lstsq(S, wanted, rcond=RANK)[0]
        return list(np.split(lam, np.cumsum([row.size for row in rows])[:-1]))

    def _stabilised(self, row: Row) -> Array:
        if row.level == "acceleration" or self.alpha == 0.0:
            return np.zeros(row.size)
        if row.level == "velocity":
            return self.alpha * row.rate
        return 2.0 * self.alpha * row.rate + self.alpha**2 * row.gap


def _inertia(L: Array, row: Row) -> float:
    n = row.J[0]
    mobility = float(n @ solve_spd(L, n))
    return 1.0 / mobility if mobility > 0.0 else 0.0


def _sum(parts: list[Array], size: int) -> Array:
    total = np.zeros(size)
    for part in parts:
        total = total + part
    return total
