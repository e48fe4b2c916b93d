"""Affine slices of products of cones, {s : A s = f, s in K}, and linear functions on them with both bounds proved.

The largest c.s is c.s at a point of the slice from below, and f.y from above for every y with A^T y - c in K*: then
c.s <= (A^T y).s = f.y. Both are handed over and can be recomputed from the data by `Support.verify`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

import numpy as np

from ..._show import brief
from ...arrays import EPS, Array, IntArray, matrix, scalar, vector
from ...errors import InputError
from ...mends import one_of

KINDS = ("free", "ray", "cone")
TOL = 1e-9  # of bounds, relative to the size of the values


class Verdict(StrEnum):
    """What is known of the largest value of a linear function."""

    BOUNDED = "BOUNDED"
    UNBOUNDED = "UNBOUNDED"
    EMPTY = "EMPTY"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, slots=True)
class Cone:
    """One factor of K.

    Parameters
    ----------
    kind : str
        free: a number; ray: a number >= 0; cone: {(s_0, s_1 ..) : |s_1 ..| <= mu s_0}.
    size : int
        Entries, >= 1; 1 unless it is a cone.
    mu : float
        Slope of a cone, > 0.

    Raises
    ------
    InputError
        Another kind, size or slope.
    """

    kind: Literal["free", "ray", "cone"]
    size: int = 1
    mu: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError("kind of a cone", repr(self.kind), ", ".join(KINDS), one_of("kind", self.kind, KINDS))
        if self.size < 1 or (self.size > 1 and self.kind != "cone"):
            raise InputError("size of a cone", self.size, "1, or 2 and more of kind cone", "Write size=2.")
        scalar("mu of a cone", self.mu, low=0.0, open_low=True)


FREE, RAY = Cone("free"), Cone("ray")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConeSlice:
    """The set {s : A s = f, s in K}.

    Parameters
    ----------
    A : array_like, shape (m, n)
    f : array_like, shape (m,)
    cones : tuple of Cone
        Their sizes add up to n.

    Raises
    ------
    InputError
        NaN, or shapes that do not agree.
    """

    A: Array
    f: Array
    cones: tuple[Cone, ...]
    start: IntArray = field(init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "f", vector("f", self.f))
        object.__setattr__(self, "A", matrix("A", self.A, len(self.f)))
        start = np.cumsum([0, *(cone.size for cone in self.cones)])
        object.__setattr__(self, "start", start.astype(np.int64))
        if start[-1] != self.n:
            raise InputError(
                "cones",
                f"{start[-1]} entries",
                f"{self.n}, as many as A has columns",
                f"Write cones of {self.n} entries in all: sum(cone.size for cone in cones).",
            )

    @property
    def n(self) -> int:
        """Number of entries of s."""
        return int(self.A.shape[1])

    @property
    def polyhedral(self) -> bool:
        """Whether every factor is a line or a half line."""
        return all(cone.kind != "cone" or cone.size == 1 for cone in self.cones)

    def outside(self, s: Array, *, dual: bool = False) -> Array:
        """Return how far the rows of s, shape (k, n), are outside K (or K*); <= 0 where they are inside."""
        worst = np.full(len(s), -np.inf if self.cones else 0.0)
        for cone, a, b in zip(self.cones, self.start, self.start[1:], strict=False):
            head, tail = s[:, a], np.linalg.norm(s[:, a + 1 : b], axis=1)
            if cone.kind == "free":
                miss = np.abs(head) if dual else np.full(len(s), -np.inf)
            else:
                miss = cone.mu * tail - head if dual else tail - cone.mu * head
            worst = np.maximum(worst, miss)
        return worst

    def nearest(self, s: Array) -> Array:
        """Return the rows of s, shape (k, n), moved into K: the head of a cone is raised where it is too low."""
        moved = s.copy()
        for cone, a, b in zip(self.cones, self.start, self.start[1:], strict=False):
            if cone.kind != "free":
                moved[:, a] = np.maximum(moved[:, a], np.linalg.norm(s[:, a + 1 : b], axis=1) / cone.mu)
        return moved


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Support:
    """The largest values of linear functions on a slice, each with its proof.

    Attributes
    ----------
    slice : ConeSlice
    C : Array, shape (k, n)
        The functions.
    verdicts : tuple of Verdict
    value : Array, shape (k,)
        inf where it grows for ever, -inf where the slice is empty, NaN where it is undecided.
    points : Array, shape (k, n)
        Where it is reached; a direction A d = 0, d in K, c.d = 1 where it grows for ever.
    multipliers : Array, shape (k, m)
        y of the bound f.y; A^T y in K*, f.y = -1 where the slice is empty.
    """

    slice: ConeSlice
    C: Array
    verdicts: tuple[Verdict, ...]
    value: Array
    points: Array
    multipliers: Array

    __repr__ = brief

    @property
    def reached(self) -> Array:
        """Lower bounds: values at the points, shape (k,)."""
        return np.asarray((self.C * self.points).sum(axis=1))

    @property
    def bound(self) -> Array:
        """Upper bounds f.y, shape (k,)."""
        return np.asarray(self.multipliers @ self.slice.f)

    def gaps(self) -> Array:
        """Return how much each proof leaves open, recomputed from the data and relative to the sizes in play.

        0 where nothing is left open beyond rounding; shape (k,).
        """
        A, f = self.slice.A, self.slice.f
        rays, empty = self._where(Verdict.UNBOUNDED), self._where(Verdict.EMPTY)
        lengths = (np.abs(rows).max(axis=1, initial=0.0) for rows in (self.points, self.C, self.multipliers))
        p, c, y = (np.where(length > 0.0, length, 1.0) for length in lengths)
        rows = np.abs(A).max(initial=0.0) or 1.0
        load = np.where(rays[:, None], 0.0, f)
        primal = np.abs(self.points @ A.T - load).max(axis=1, initial=0.0) / (rows * p)
        primal = np.maximum(primal, self.slice.outside(self.points) / p)
        goals = np.where(empty[:, None], 0.0, self.C)
        dual = self.slice.outside(self.multipliers @ A - goals, dual=True) / np.where(empty, rows * y, c)
        value = np.where(rays, self.reached - 1.0, self.bound - self.reached) / (c * p)
        worst = np.maximum(primal, np.abs(value))
        worst = np.where(rays, worst, np.maximum(worst, dual))
        worst = np.where(empty, np.maximum(dual, np.abs(self.bound + 1.0)), worst)
        return np.where(self._where(Verdict.UNDECIDED), np.inf, np.maximum(worst - 16.0 * EPS, 0.0))

    def verify(self, tol: float = TOL) -> bool:
        """Whether every proof holds to a relative tolerance, recomputed from the data alone."""
        return bool((self.gaps() <= tol).all())

    def _where(self, verdict: Verdict) -> Array:
        return np.array([one is verdict for one in self.verdicts], dtype=bool)
