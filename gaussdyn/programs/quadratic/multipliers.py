"""Which multipliers of a quadratic program are valid: the smallest of them, and how far they may move.

At the minimiser x the force A^T y + C^T z = H x + g is unique. With dependent active rows the multipliers are not:
they form the polyhedron {(y, z) : A^T y + C^T z fixed, z >= 0, z = 0 on inactive rows}.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...linalg.cones import norms
from ...linalg.factor import min_norm, rank_and_null
from ..problems.quadratic import QuadraticProgram

ACTIVE = 2e-13  # slack that counts as none, relative to |d_i| + |C_i| |x|
ZERO = 1e-9  # multiplier (times the length of its row) that counts as none, relative to the largest
DEPENDENT = 1e-10  # singular value of the unit rows that counts as none


@dataclass(frozen=True, slots=True, kw_only=True)
class Multipliers:
    """The smallest valid multipliers, and the directions in which valid ones may move.

    Attributes
    ----------
    y, z : Array, shapes (equalities,), (inequalities,)
        Of smallest |(y, z)| among all valid ones.
    null_space : Array, shape (equalities + inequalities, k)
        Basis of the directions in which the stacked (y, z) may move; k = 0 if they are unique.
    """

    y: Array
    z: Array
    null_space: Array

    @property
    def unique(self) -> bool:
        """Whether there are no other valid multipliers."""
        return int(self.null_space.shape[1]) == 0


def active_rows(program: QuadraticProgram, x: Array, tol: float = ACTIVE) -> NDArray[np.bool_]:
    """Return for every inequality whether its slack at x is zero up to rounding (`tol`, relative to its terms)."""
    size = np.abs(program.d) + norms(program.C) * float(np.linalg.norm(x))
    return np.asarray(np.abs(program.C @ x - program.d) <= tol * size, dtype=np.bool_)


def least_multipliers(program: QuadraticProgram, x: Array, y: Array, z: Array) -> Multipliers:
    """Return the minimum-norm multipliers at the minimiser x, from any valid (y, z)."""
    m = len(program.b)
    active = active_rows(program, x) | (z > 0.0)
    rows = np.r_[np.arange(m), m + np.flatnonzero(active)]
    w, N = np.r_[y, z], np.vstack([program.A, program.C])[rows]
    length = norms(N)
    length[length == 0.0] = 1.0
    free = rank_and_null((N / length[:, None]).T, DEPENDENT)[1]
    if free.shape[1] == 0:
        return Multipliers(y=y, z=z, null_space=np.zeros((len(w), 0)))
    Z = np.linalg.qr(free / length[:, None])[0]
    least = _balanced(N, program.H @ x + program.g, _nearest_to_zero(Z, w[rows], m), m)
    w = np.zeros(len(w))
    w[rows] = least
    null_space = np.zeros((len(w), Z.shape[1]))
    null_space[rows] = Z
    weight = least * length
    stopped = np.flatnonzero(weight[m:] <= ZERO * np.abs(weight).max(initial=0.0)) + m
    return Multipliers(y=w[:m], z=w[m:], null_space=null_space @ _movable(Z[stopped]))


def _nearest_to_zero(Z: Array, w: Array, m: int) -> Array:
    """Return the smallest w + Z t whose entries from m on are not negative."""
    from ..active_set.dual_method import solve_rows

    k = Z.shape[1]
    t = solve_rows(np.eye(k), Z.T @ w, np.ascontiguousarray(Z[m:]), -w[m:], np.zeros(1, np.int64))[0]
    least = w + Z @ t
    small = np.abs(least) <= 1e-14 * np.abs(w).max(initial=0.0)
    least[small] = 0.0
    return np.asarray(np.r_[least[:m], np.maximum(least[m:], 0.0)])


def _balanced(N: Array, force: Array, w: Array, m: int) -> Array:
    """Return w with the rounding error of N^T w = force removed, on the entries that are not zero."""
    carries = (np.arange(len(w)) < m) | (w > 0.0)
    better = w.copy()
    better[carries] += min_norm(N[carries].T, force - N.T @ w, DEPENDENT)
    return w if (better[m:] < 0.0).any() else better


def _movable(Z: Array) -> Array:
    """Return a basis (k, p) of the span of the cone {t : Z t >= 0}; the rows of Z belong to multipliers at zero.

    The largest sum of s with Z t >= s, 0 <= s <= 1 has s = 1 on every row that some direction leaves; the other rows
    hold every direction back.
    """
    from scipy.optimize import linprog

    k, length = Z.shape[1], norms(Z)
    Z = Z[length > 1e-10] / length[length > 1e-10][:, None]
    if not len(Z):
        return np.eye(k)
    count = len(Z)
    bounds = [(-1e5, 1e5)] * k + [(0.0, 1.0)] * count
    found = linprog(np.r_[np.zeros(k), -np.ones(count)], A_ub=np.hstack([-Z, np.eye(count)]), b_ub=np.zeros(count),
                    bounds=bounds, method="highs")  # fmt: skip
    leaves = found.x[k:] > 0.5 if found.status == 0 else np.ones(count, dtype=bool)
    return rank_and_null(Z[~leaves], DEPENDENT)[1]
