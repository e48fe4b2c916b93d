"""Elimination of M and G from a global problem: the constrained free motion, factored once.

M x = load + G^T lam, G x = b. Bodies make M block diagonal: then its inverse is sparse and exact, and so is
W = J S B; a mesh gets a sparse factorization, a small problem a dense one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ...arrays import Array
from ...errors import InputError

Matrix = Any  # Array or scipy.sparse.csr_array
# dgetrs of OpenBLAS wakes its threads for any size: 2 ms for a 3 x 3 system.
SMALL_MASS = 60
LARGEST_BODY = 64
FEW_ROWS = 30  # bilateral rows up to which their elimination is dense


class Elimination:
    """Solves M x = load + G^T lam, G x = b for any load; redundant rows of G get multipliers of minimum norm.

    Raises
    ------
    InputError
        If the symmetric part of M is not positive definite; names the coordinate.
    """

    __slots__ = ("G", "S", "b", "inverse_M", "inverse_W")

    def __init__(self, M: Matrix, G: Matrix, b: Array) -> None:
        self.inverse_M = _inverse(M)
        self.G, self.b, self.S, self.inverse_W = G, b, None, None
        if len(b):
            self.S = self.inverse_M(sp.csr_array(G.T) if len(b) > FEW_ROWS else _dense(G.T))
            if sp.issparse(self.S):
                self.inverse_W = _by_groups(sp.csr_array(G @ self.S))
            else:
                self.S = _dense(self.S)
                self.inverse_W = np.linalg.pinv(np.asarray(G @ self.S), rcond=1e-12)

    def motion(self, load: Array) -> tuple[Array, Array]:
        """Return (x, lam) for a load of shape (n,)."""
        free = self.inverse_M(load)
        if self.S is None:
            return free, np.zeros(0)
        lam = self.inverse_W @ (self.b - self.G @ free)
        return free + self.S @ lam, lam

    def spread(self, B: Matrix) -> Matrix:
        """Return S B: the change of x per unit of the reactions whose directions are the columns of B (n, m)."""
        free = self.inverse_M(B)
        if self.S is None:
            return free
        if sp.issparse(self.S) and sp.issparse(free):
            return free - self.S @ (self.inverse_W @ (self.G @ free))
        free = _dense(free)
        return free - np.asarray(self.S @ (self.inverse_W @ np.asarray(self.G @ free)))

    def gap(self, x: Array, load: Array) -> float:
        """Return |G x - b| relative to |b| + |G| max(|x| + |M^-1 load|): more than rounding means a contradiction.

        The largest motion, not that of the row: a row at rest beside others that move has rounding of their size.
        """
        if self.S is None:
            return 0.0
        rows = self.G @ x - self.b
        reach = (np.abs(x) + np.abs(self.inverse_M(load))).max(initial=0.0)
        size = np.abs(self.b) + abs(self.G) @ np.full(len(x), reach)
        return float(np.max(np.abs(rows) / np.where(size > 0, size, 1.0)))


def _by_groups(A: Any) -> Any:
    """Return the pseudoinverse of a sparse symmetric matrix, group by group of connected rows."""
    count, label = connected_components(A, directed=False)
    parts = []
    for group in np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=count))[:-1]):
        inverse = np.linalg.pinv(A[group][:, group].toarray(), rcond=1e-12)
        parts.append((inverse.ravel(), np.repeat(group, len(group)), np.tile(group, len(group))))
    data, rows, cols = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.csr_array((data, (rows, cols)), shape=A.shape)


def _dense(A: Matrix) -> Array:
    return np.ascontiguousarray(A if type(A) is np.ndarray or not sp.issparse(A) else A.toarray())


def _inverse(M: Matrix) -> Any:
    """Return the map load -> M^-1 load (a vector, a dense or a sparse matrix)."""
    if not sp.issparse(M):
        return _dense_inverse(M)
    blocks = _body_inverse(sp.csr_array(M))
    if blocks is not None:
        return lambda load: blocks @ load
    _check_pivots(M)
    lu = splu(sp.csc_array(M))
    return lambda load: lu.solve(_dense(load))


def _check_pivots(M: Any) -> None:
    """Raise InputError if elimination in the order of the coordinates' graph meets a pivot that is not positive."""
    S = sp.csc_array(0.5 * (M + M.T))
    try:
        factor = splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular
        raise _not_positive(int(np.argmin(S.diagonal()))) from None
    pivots = factor.U.diagonal()
    if not pivots.min() > 0.0:
        raise _not_positive(int(np.flatnonzero(factor.perm_c == np.argmin(pivots))[0]))


def _not_positive(coordinate: int) -> InputError:
    given, mend = (
        f"a matrix not positive definite at coordinate {coordinate}",
        "Give that coordinate a mass (M[k, k] = 1.0), or remove it.",
    )
    return InputError("M", given, "a mass matrix with positive definite symmetric part", mend)


def _dense_inverse(M: Array) -> Any:
    """Return what multiplies with M^-1: by the diagonal, by LAPACK for each load, or by one factor of a large M."""
    if not len(M):
        return _dense
    diagonal = M.diagonal()
    if np.count_nonzero(M) == np.count_nonzero(diagonal) and diagonal.min() > 0.0:
        return lambda load: (_dense(load).T / diagonal).T
    info = dpotrf(0.5 * (M + M.T), lower=1, clean=0)[1]
    if info != 0:
        raise _not_positive(info - 1)
    if len(M) <= SMALL_MASS:
        return lambda load: np.linalg.solve(M, _dense(load))
    lu, pivots, _ = dgetrf(M)
    return lambda load: dgetrs(lu, pivots, _dense(load))[0]


def _body_inverse(M: Any) -> Any:
    """Return the sparse inverse of a block diagonal M, or None if a block is larger than LARGEST_BODY."""
    count, label = connected_components(M, directed=False)
    sizes = np.bincount(label, minlength=count)
    if len(sizes) and sizes.max() > LARGEST_BODY:
        return None
    order = np.argsort(label, kind="stable")
    first = np.concatenate([[0], np.cumsum(sizes)])
    parts: list[tuple[Array, Array, Array]] = []
    for d in np.unique(sizes):
        index = order[first[:-1][sizes == d][:, None] + np.arange(d)]
        i, j = np.repeat(index, d, axis=1).ravel(), np.tile(index, (1, d)).ravel()
        blocks = np.asarray(M[i, j]).reshape(-1, d, d)
        _check_bodies(blocks, index)
        inverse = np.linalg.inv(blocks)
        parts.append((inverse.ravel(), i, j))
    if not parts:
        return sp.csr_array(M.shape)
    data, rows, cols = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.csr_array((data, (rows, cols)), shape=M.shape)


def _check_bodies(blocks: Array, index: Array) -> None:
    """Raise InputError, naming the coordinate, if the symmetric part of a block is not positive definite."""
    symmetric = 0.5 * (blocks + blocks.transpose(0, 2, 1))
    try:
        np.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError:
        for block, coordinates in zip(symmetric, index, strict=True):
            info = dpotrf(block, lower=1, clean=0)[1]
            if info != 0:
                raise _not_positive(int(coordinates[info - 1])) from None
