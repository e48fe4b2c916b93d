"""Sticking contacts with very large mu: mu |u_T| holds the rounding of u_T mu times, so that it must vanish exactly."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ....arrays import EPS, Array, IntArray
from ...laws.laws import STEEP, Coulomb, Rolling, Torsional
from ...problems.complementarity import ComplementarityProblem
from ...solution.residuals import TOL

MARGIN = 0.3  # share of their bars that E and rel_q may have from the slip of these contacts
FIRM = 0.9  # share of its friction up to which a contact is taken to stick
DENSE = 500  # rows up to which the order of a full product counts as well
BATCH = 256  # reactions tried at a time
BEST, ALL = 6, 50  # those of them that are summed in the other order, too; and of those that are still in the first
MOST, EFFORT = 300, 100_000  # batches, and products W_ij r_j for each of the reactions tried


def settled(problem: ComplementarityProblem, r: Array, seed: int = 0) -> Array:
    """Return r with last bits changed at random until contacts with large mu that stick do not slip, as computed.

    In units of what E and rel_q allow the largest slip of them never grows, whether sums are taken row by row or by a
    product with the full matrix. r itself is returned if there is no such contact, or all are still.
    """
    if not problem.table.steep or problem.W_abs is not None:
        return r
    slips = _sticking(problem, r)
    if not slips.any():
        return r
    sums = _Sums(problem, r, slips)
    draw, best_r, u = np.random.default_rng(seed), r, sums.motion(r)
    best = max(float(sums.slips(r[sums.near][:, None])[0]), sums.slip(u))
    for _ in range(min(MOST, EFFORT // len(sums.values) + 1) if len(sums.near) else 0):
        if best <= 1.0:
            break
        X = _changed(best_r, sums, u, draw)
        found = sums.slips(X)
        for k in np.argsort(found, kind="stable")[: max(BEST, min(ALL, int((found <= 1.0).sum())))]:
            x = best_r.copy()
            x[sums.near] = X[:, k]
            moved = sums.motion(x)
            now = max(float(found[k]), sums.slip(moved))
            if now <= best:
                best, best_r, u = now, x, moved
            if best <= 1.0:
                break
    return best_r


def _sticking(problem: ComplementarityProblem, r: Array) -> NDArray[np.bool_]:
    """Return which rows must not slip: those of sliding or rolling friction that is large, and not nearly used up."""
    table, rows = problem.table, np.zeros(len(r), dtype=np.bool_)
    for k in np.flatnonzero(r[table.start[:-1]] > 0.0):
        first, end = table.start[k], table.start[k + 1]
        if table.code[k] not in (Coulomb.code, Rolling.code, Torsional.code):
            continue
        for low, high in _discs(first, end):
            if table.friction[low] > STEEP:
                used = float(np.linalg.norm(r[low:high]))
                rows[low:high] = used < FIRM * table.friction[low] * r[first]
    return rows


def _discs(first: int, end: int) -> list[tuple[int, int]]:
    """Return the rows of the friction of a block: slip, rolling, spin."""
    found, d = [(first + 1, min(first + 3, end))], end - first
    found += [(first + 3, first + 5)] if d >= 5 else []
    return found + ([(end - 1, end)] if d in (4, 6) else [])


class _Sums:
    """The motion of some rows in two orders of summation, and how much of it is allowed."""

    def __init__(self, problem: ComplementarityProblem, r: Array, slips: NDArray[np.bool_]) -> None:
        table, full = problem.table, problem.rows
        sizes = np.diff(table.start)
        self.rows: IntArray = np.flatnonzero(slips)
        W = sp.csr_array((full.data, full.indices, full.indptr), shape=(len(r),) * 2)
        few = W[self.rows]
        self.q, self.values, self.indptr = problem.q[self.rows], few.data, few.indptr
        self.near, self.places = np.unique(few.indices, return_inverse=True)
        self.W = (W.toarray() if len(r) <= DENSE else W) if sp.issparse(problem.W) else problem.W
        normals = np.unique(np.repeat(table.start[:-1], sizes)[self.rows])
        self.moved = np.union1d(self.rows, normals)
        self.q_all, self.back = problem.q, np.linalg.pinv(W[self.moved][:, self.moved].toarray(), rcond=1e-10)
        rho, mu = np.repeat(problem.rho, sizes), table.friction[self.rows]
        size, weighted, reaction = (float(np.linalg.norm(x)) for x in (problem.q, rho * problem.q, r))
        bars = (max(TOL * weighted, 10.0 * EPS * reaction) / rho[self.rows], max(TOL * size, 10.0 * EPS * reaction))
        self.allowed = MARGIN * np.minimum(*bars) / (mu * np.sqrt(len(self.rows)))

    def slips(self, X: Array) -> Array:
        """Return the largest slip, over what is allowed, row by row, for reactions X (near, k) near those rows."""
        most = np.zeros(X.shape[1])
        for i in range(len(self.rows)):
            total = np.zeros(X.shape[1])
            for c in range(self.indptr[i], self.indptr[i + 1]):
                total += self.values[c] * X[self.places[c]]
            np.maximum(most, np.abs(total + self.q[i]) / self.allowed[i], out=most)
        return most

    def motion(self, r: Array) -> Array:
        """Return u = W r + q by a product with the full matrix."""
        return np.asarray(self.W @ r + self.q_all)

    def slip(self, u: Array) -> float:
        """Return the largest slip of a motion, over what is allowed."""
        return float((np.abs(u[self.rows]) / self.allowed).max())


def _changed(r: Array, sums: _Sums, u: Array, draw: np.random.Generator) -> Array:
    """Return BATCH variants (near, BATCH) of reactions: some last bits changed, half of them corrected for u before."""
    near, moved = sums.near, sums.moved
    X = np.repeat(r[near][:, None], BATCH, axis=1)
    rest = sums.back @ u[moved]
    if np.abs(rest).max() <= 1e-8 * np.abs(r).max():
        kinds = draw.choice([0.0, 0.0, 0.0, 1.0, 0.5, 2.0], BATCH)
        at = np.searchsorted(near, moved)
        inside = (at < len(near)) & (near[np.minimum(at, len(near) - 1)] == moved)
        X[at[inside]] -= np.outer(rest[inside], kinds)
    few = draw.random((len(near), BATCH)) < draw.choice([1.5, 4.0, 0.5 * len(near)], BATCH) / len(near)
    few &= X != 0.0
    X += few * np.spacing(X) * draw.integers(-3, 4, X.shape)
    return X
