"""Factorizations that say what is wrong with the matrix they are given."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..arrays import EPS, Array
from ..errors import InputError


def cholesky(name: str, H: Array) -> Array:
    """Return the lower Cholesky factor of a symmetric positive definite matrix.

    Parameters
    ----------
    name : str
        Used in the error message.
    H : Array, shape (n, n)

    Raises
    ------
    InputError
        If a leading minor is not positive; names the coordinate.
    """
    if H.shape[0] == 0:
        return H
    factor, info = dpotrf(H, lower=1, clean=1)
    if info != 0:
        mend = "Give that coordinate a mass (mass=1.0), or remove it."
        raise InputError(name, f"a matrix not positive definite at coordinate {info - 1}", "positive definite", mend)
    return np.ascontiguousarray(factor)


def solve_spd(L: Array, rhs: Array) -> Array:
    """Solve H x = rhs with the lower factor of H from `cholesky`; rhs of shape (n,) or (n, k)."""
    if L.shape[0] == 0:
        return rhs.copy()
    return np.ascontiguousarray(dpotrs(L, rhs, lower=1)[0])


def rank_and_null(A: Array, rtol: float = 1e-10) -> tuple[int, Array]:
    """Return the numerical rank of A (m, n) and an orthonormal basis (n, n - rank) of its null space.

    Singular values below ``rtol`` times the largest count as zero; rows should be scaled alike.
    """
    m, n = A.shape
    if m == 0 or n == 0:
        return 0, np.eye(n)
    _, s, Vt = np.linalg.svd(A, full_matrices=True)
    rank = int((s > max(rtol, EPS * max(m, n)) * s[0]).sum()) if s.size and s[0] > 0 else 0
    return rank, np.ascontiguousarray(Vt[rank:].T)


def min_norm(A: Array, b: Array, rtol: float = 1e-10) -> Array:
    """Return the least-squares solution of A x = b that has the smallest norm (A of any rank)."""
    if A.size == 0:
        return np.zeros(A.shape[1])
    return np.asarray(np.linalg.lstsq(A, b, rcond=rtol)[0], dtype=np.float64)
