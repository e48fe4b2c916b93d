"""The blocks that remain when the equalities of a mixed problem are taken out, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from ...arrays import Array, IntArray
from ..laws.laws import Unilateral
from ..problems.complementarity import ComplementarityProblem
from .pivots import Pivots, pivots
from .standard_form import StandardForm

ROUNDS = 3  # of iterative refinement


@dataclass(frozen=True, slots=True, eq=False)
class Condensed:
    """u = W r + q over the rows of the laws; r and u are exchanged on some of them.

    Attributes
    ----------
    form : StandardForm
    pivots : Pivots
    W, q : Array, shapes (m, m), (m,)
    kept : IntArray
        Rows of the laws that are not exchanged.
    places, taken : IntArray
        Their positions, and those of the exchanged rows, among the rows of the laws.
    factor : tuple
        LU factors of the pivot block, balanced by `scale` (rows, columns).
    """

    form: StandardForm
    pivots: Pivots
    W: Array
    q: Array
    kept: IntArray
    places: IntArray
    taken: IntArray
    factor: Any
    scale: tuple[Array, Array]

    def problem(self, q: Array) -> ComplementarityProblem:
        """Return the problem of blocks with another free motion.

        Raises
        ------
        InputError
            The diagonal block of a cone is not positive semidefinite.
        """
        return ComplementarityProblem(W=self.W, q=q, laws=self.form.laws)

    def recover(self, r: Array) -> tuple[Array, Array]:
        """Return z' of the standard form for the reaction r of the blocks, and the motion u that belongs to it."""
        form, pivot, wide = self.form, self.pivots, np.longdouble
        M, z = form.M.astype(wide), np.zeros(len(form.q))
        z[self.kept] = r[self.places]
        w = np.zeros(len(form.q), dtype=wide)
        w[pivot.exchanged] = r[self.taken]
        for _ in range(ROUNDS):
            gap = (w - M @ z.astype(wide) - form.q)[pivot.rows]
            z[pivot.columns] += solved(self.factor, self.scale, np.asarray(gap, dtype=np.float64))
        motion = np.asarray(M @ z.astype(wide) + form.q, dtype=np.float64)
        u = np.empty(len(r))
        u[self.places], u[self.taken] = motion[self.kept], z[pivot.exchanged]
        return z, u


def condensed(form: StandardForm) -> Condensed | None:
    """Take the equalities out; None if no choice of pivots does that."""
    unilateral = np.array([isinstance(law, Unilateral) for law in form.laws for _ in range(law.size)], dtype=bool)
    pivot = pivots(form.M, form.equal, form.rest[unilateral], form.rest)
    if pivot is None:
        return None
    swapped = np.isin(form.rest, pivot.exchanged)
    places, kept = np.flatnonzero(~swapped), form.rest[~swapped]
    order = {int(row): k for k, row in enumerate(form.rest)}
    taken = np.array([order[int(s)] for s in pivot.exchanged], dtype=np.int64)
    A = form.M[np.ix_(pivot.rows, pivot.columns)]
    scale = _balance(A)
    factor = lu_factor(scale[0][:, None] * A * scale[1]) if len(A) else None
    if factor is not None and not np.abs(np.diag(factor[0])).min() > 0.0:
        return None
    made = Condensed(form, pivot, np.zeros((0, 0)), np.zeros(0), kept, places, taken, factor, scale)
    W, q = _blocks(made)
    return Condensed(form, pivot, W, q, kept, places, taken, factor, scale)


def _blocks(made: Condensed) -> tuple[Array, Array]:
    """Return W and q: what u is for every unit reaction, and for none."""
    form, pivot, m = made.form, made.pivots, len(made.form.rest)
    given = np.zeros((len(form.q), m + 1))  # of every reaction, and of none: known w' - M z' - q on the pivot rows
    given[:, made.places] = -form.M[:, made.kept]
    given[pivot.exchanged, made.taken] += 1.0
    given[:, m] = -form.q
    z = np.zeros((len(form.q), m + 1))
    z[made.kept, made.places] = 1.0
    z[pivot.columns] = solved(made.factor, made.scale, given[pivot.rows])
    motion = form.M @ z
    motion[:, m] += form.q
    u = np.empty((m, m + 1))
    u[made.places], u[made.taken] = motion[made.kept], z[pivot.exchanged]
    return np.ascontiguousarray(u[:, :m]), u[:, m].copy()


def solved(factor: Any, scale: tuple[Array, Array], right: Array) -> Array:
    """Solve with the pivot block."""
    if factor is None:
        return np.zeros_like(right)
    tall = (slice(None), *[None] * (right.ndim - 1))
    return np.asarray(scale[1][tall] * lu_solve(factor, scale[0][tall] * right))


def _balance(A: Array) -> tuple[Array, Array]:
    """Return powers of two that bring the rows and columns of a matrix to a largest entry near 1."""
    row, column = np.ones(len(A)), np.ones(len(A))
    for _ in range(2):
        row /= _size((row[:, None] * A * column), 1)
        column /= _size((row[:, None] * A * column), 0)
    return row, column


def _size(A: Array, axis: int) -> Array:
    top = np.abs(A).max(axis=axis, initial=0.0)
    return np.asarray(np.exp2(np.round(np.log2(np.where(top > 0.0, top, 1.0)))))
