"""The configuration space of a system: the set where its bilateral position constraints vanish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import EPS, Array, scalar, vector
from ...errors import InputError
from ...linalg.factor import cholesky
from ..rows import Row
from ..system import System

RANK = 1e-9  # singular values below this, relative to the largest, belong to dependent rows
PASSES = 40
CONTRARY = (
    "Branches are those of position constraints: rolling, skates and motors restrict velocities "
    "only. Write Holonomic(...)."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfigurationSpace:
    """phi(q) = 0: the bilateral position constraints of a system at a time, contacts and limits left out.

    Attributes
    ----------
    system : System
    t : float
        Time at which constraints that depend on it are taken, s.
    ids : tuple of str
        The constraints, m of them.
    """

    system: System
    t: float
    ids: tuple[str, ...]

    @classmethod
    def of(cls, system: System, q: Array, t: float = 0.0) -> ConfigurationSpace:
        """Return the configuration space around a configuration.

        Raises
        ------
        InputError
            No bilateral position constraint; a bilateral constraint on velocities.
        """
        q, t = vector("q", q, system.nq), scalar("t", t)
        still = np.zeros(system.nv)
        near = system.near(t, q, still, 0.0)
        rows = near.rows(t, q, still)
        contrary = [row.id for row in rows if row.bilateral and row.level != "position"]
        if contrary:
            raise InputError("constraints", ", ".join(contrary), "bilateral constraints on positions", CONTRARY)
        ids = tuple(row.id for row in rows if row.bilateral)
        if not ids:
            raise InputError(
                "constraints",
                "none that is bilateral",
                "at least one",
                'Write Position(gap, kind="bilateral"): contacts do not count.',
            )
        return cls(system=near, t=t, ids=ids)

    @property
    def size(self) -> int:
        """Number of velocities."""
        return self.system.nv

    def rows(self, q: Array, v: Array | None = None) -> list[Row]:
        """Return the constraints at (q, v)."""
        v = np.zeros(self.system.nv) if v is None else v
        return [row for row in self.system.rows(self.t, q, v) if row.bilateral]

    def gaps(self, q: Array) -> Array:
        """Return phi, shape (m,)."""
        return np.array([row.gap for row in self.rows(q)])

    def both(self, q: Array) -> tuple[Array, Array]:
        """Return phi, shape (m,), and J, shape (m, nv)."""
        rows = self.rows(q)
        return np.array([row.gap for row in rows]), np.array([row.J[0] for row in rows])

    def jacobian(self, q: Array) -> Array:
        """Return J, shape (m, nv)."""
        return self.both(q)[1]

    def bend(self, q: Array, v: Array) -> Array:
        """Return v^T phi'' v, shape (m,): the second rate at constant velocity, without what the time adds."""
        moving, still = self.rows(q, v), self.rows(q)
        return np.array([a.drift[0] - b.drift[0] for a, b in zip(moving, still, strict=True)])

    def at(self, q: Array, y: Array) -> Array:
        """Return the configuration a displacement y, shape (nv,), away from q: a chart around q."""
        return self.system.move(q, y, 1.0)

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv)."""
        return np.asarray(self.system.mass(q))

    def rounding(self, q: Array) -> float:
        """Return how far rounding of the coordinates may move the constraints."""
        return 64.0 * EPS * (1.0 + float(np.abs(q).max(initial=0.0)))

    def nearest(self, q: Array) -> Array:
        """Return a configuration on the constraints near q: Gauss-Newton steps, the least in the metric of the mass.

        The best one found is returned; `gaps` tells how good it is.
        """
        gaps, J = self.both(q)
        for _ in range(PASSES):
            if np.abs(gaps).max() <= self.rounding(q):
                break
            L = cholesky("mass(q)", self.mass(q))
            half = solve_triangular(L, J.T, lower=True).T
            w = np.linalg.lstsq(half, -gaps, rcond=RANK)[0]
            further = self.at(q, solve_triangular(L, w, lower=True, trans="T"))
            found = self.both(further)
            if not np.abs(found[0]).max() < np.abs(gaps).max():
                break
            q, (gaps, J) = further, found
        return q


def check_on(space: ConfigurationSpace, q: Array, *, project: bool, tol: float) -> Array:
    """Return a configuration that obeys the constraints: the given one, or the nearest if `project`.

    Raises
    ------
    InputError
        The largest violation, with its constraint.
    """
    place = space.nearest(q) if project else q
    gaps = space.gaps(place)
    worst = int(np.abs(gaps).argmax())
    if np.abs(gaps[worst]) <= tol:
        return place
    given = f"{space.ids[worst]}: gap {gaps[worst]:.3g}" + (" after projection" if project else "")
    mend = (
        "It is too far off: project=True from nearer."
        if project
        else "Correct it, or pass project=True to take the nearest one."
    )
    raise InputError("configuration", given, f"constraints that hold to {tol:.3g}", mend)
