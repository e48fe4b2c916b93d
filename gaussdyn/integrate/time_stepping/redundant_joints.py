"""Joints that depend on one another: in every configuration, or only in those that they allow.

A mechanism that moves although a count of its freedoms says that it should not (Bricard's six hinges) has a Jacobian
that loses rank on its constraints only. The midpoint of a step lies O(dt^2) beside them: there its rows are
independent, by singular values O(dt^2), and would forbid the motion. So the midpoint is moved onto the constraints
where the rank at the start of the step asks for it, and with N the left null vectors of J there, rows scaled,

    J <- J - N N^T J,        w <- w - N N^T w

leaves rows that are dependent to rounding with right-hand sides in their range. Nothing is lost: at the end of the
step J+ has the rank of J, so that J+ v+ vanishes with its part across N. N^T w at the last pass is what the constraints
contradict each other by; more than rounding is not accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf

from ...arrays import Array
from ...contact.snapshot import LocalDynamics, rows_of, snapshot
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from .position_projection import Place, projected

SUSPECT = 1e-3  # estimated 1 / cond of J M^-1 J^T, rows scaled, below which singular values are looked at
EXACT = 1e-12  # relative singular value: rounding of J
ON = 1e-8  # the same for coordinates that obey their constraints to 1e-10 m
NEAR = 0.1  # of the way from the start to the midpoint: how far that may be off the constraints
FORBIDDEN = "a motion that they do not allow, or too large a step"
CONTRARY = 1e-9  # of the speeds at hand: rates by which dependent rows may contradict one another


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dependence:
    """Joints whose rows depend on one another at the midpoint of a step.

    Attributes
    ----------
    ids : tuple of str
        The joints' rows, m of them.
    N : Array, shape (m, k)
        Orthonormal left null vectors of J with rows of length one in the metric of the inverse mass.
    lengths : Array, shape (m,)
        What the rows were divided by.
    always : bool
        Whether they depend on one another beside the constraints too.
    fault : str
        Why there is no such motion, empty where there is.
    """

    ids: tuple[str, ...]
    N: Array
    lengths: Array
    always: bool
    fault: str = ""

    def cleared(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return the rows with J, rates and gaps of dependent ones in the range of J."""
        known = {row.id: row for row in rows}
        data = np.array([[known[key].gap, known[key].rate[0], *known[key].J[0]] for key in self.ids])
        data /= self.lengths[:, None]
        data = (data - self.N @ (self.N.T @ data)) * self.lengths[:, None]
        for key, (gap, rate, *line) in zip(self.ids, data.tolist(), strict=True):
            known[key] = known[key].but(gap=gap, rate=np.array([rate]), J=np.array([line]))
        return tuple(known.values())

    def shared(self, pushes: Mapping[str, float]) -> dict[str, float]:
        """Return the pushes of the rows as they are that do what those of cleared rows do."""
        s = np.array([pushes[key] for key in self.ids]) * self.lengths
        return {**pushes, **dict(zip(self.ids, ((s - self.N @ (self.N.T @ s)) / self.lengths).tolist(), strict=True))}

    def contrary(self, dynamics: LocalDynamics, rows: Sequence[Row], speed: Array) -> bool:
        """Return whether the rates of dependent rows contradict one another by more than rounding of speeds (nv,)."""
        rate = {row.id: row.rate[0] for row in rows}
        fastest = float(np.sqrt(speed @ np.abs(dynamics.M) @ speed))
        off = self.N.T @ (np.array([rate[key] for key in self.ids]) / self.lengths)
        return bool(np.abs(off).max() > CONTRARY * fastest)


def dependence(system: System, start: State, middle: LocalDynamics) -> tuple[LocalDynamics, Dependence | None]:
    """Return the midpoint, on the constraints where it has to be, and how joints depend on one another there."""
    held = tuple(row.id for row in middle.rows if row.kind == "bilateral" and row.level == "position")
    if len(held) < 2 or not _suspect(_scaled(middle.rows, held, middle.factor)[0]):
        return middle, None
    found = _at(middle, held, EXACT)
    if found is not None:
        return middle, replace(found, always=True)
    before = replace(middle, q=start.q, rows=rows_of(system, start.t, start.q, start.v))
    first = _at(before, held, ON)
    if first is None:
        return middle, None
    place = Place(q=middle.q, rows=middle.rows)
    place = projected(system, middle.t, place, middle.v, middle.factor, held, cleared=first.cleared)
    off, way = (float(np.linalg.norm(middle.q - q)) for q in (place.q, start.q))
    if off > NEAR * way or place.fault:
        fault = f"the joints depend on one another, and none of their configurations is near the midpoint: {FORBIDDEN}"
        return middle, replace(first, fault=fault)
    near = snapshot(
        system, State(t=middle.t, q=place.q, v=middle.v), level="velocity", dt=middle.dt, ahead=middle.ahead,
        activation=middle.activation, control=middle.control,
    )  # fmt: skip
    found = _at(near, held, ON)
    return (middle, None) if found is None else (near, found)


def _scaled(rows: Sequence[Row], ids: Sequence[str], L: Array) -> tuple[Array, Array]:
    """Return the rows L^-1 J^T scaled to length one, shape (m, nv), and their lengths (one for rows of zeros)."""
    known = {row.id: row for row in rows}
    X = solve_triangular(L, np.array([known[key].J[0] for key in ids]).T, lower=True, check_finite=False).T
    length = np.sqrt((X * X).sum(axis=1))
    length = np.where(length > 0.0, length, 1.0)
    return X / length[:, None], length


def _suspect(X: Array) -> bool:
    """Return whether rows may depend on one another, by an estimate that costs little."""
    if len(X) > X.shape[1]:
        return True
    W = X @ X.T
    factor, info = dpotrf(W, lower=1)
    if info != 0:
        return True
    rcond, _ = dpocon(factor, float(np.abs(W).sum(axis=0).max()), uplo="L")
    return bool(rcond < SUSPECT)


def _at(dynamics: LocalDynamics, ids: tuple[str, ...], tol: float) -> Dependence | None:
    """Return how rows depend on one another at a configuration, None if they do not."""
    X, lengths = _scaled(dynamics.rows, ids, dynamics.factor)
    U, s, _ = np.linalg.svd(X)
    rank = int((s > tol * s[0]).sum())
    return None if rank == len(X) else Dependence(ids=ids, N=U[:, rank:], lengths=lengths, always=False)
