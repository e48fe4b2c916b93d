"""Whether u and r are the only ones, where a sound reason exists; None otherwise."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgeqp3, dpotrf

from ..arrays import Array
from .complementarity import ComplementarityProblem
from .laws import MU, MU_R, Associated, Coulomb, Dry, Rolling, Sliding, Unilateral

LARGEST = 300  # rows; beyond it nothing is said
ROUNDING = 1e-10  # relative size at which an eigenvalue or a pivot counts as zero


def uniqueness(problem: ComplementarityProblem, r: Array, modes: tuple[str, ...]) -> tuple[bool | None, bool | None]:
    """Return (u_unique, r_unique) of a solution with reaction r.

    Two solutions obey dr.W dr <= sum mu |dr_N| |du_T|. So both are unique if the symmetric part of W is greater than
    |mu W_T| (Frobenius); u alone if the laws are monotone and W is symmetric and positive semidefinite; then r too if
    the columns of the blocks that are not open are independent. If columns of blocks that strictly stick are
    dependent, r is not unique whatever the laws.
    """
    m = len(problem.q)
    if not 0 < m <= LARGEST or problem.W_abs is not None:
        return None if m else True, None if m else True
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    scale = float(np.abs(W).max())
    if scale == 0.0:
        return True, None
    if not _ambiguous(problem) and _above(W, _friction_bound(problem, W) + ROUNDING * scale):
        return True, True
    stick = _rows_in(problem, modes, ("stick",))
    if len(stick) and not _independent(W[:, stick], scale):
        return (_monotone(problem, W, scale) or None), False
    if not _monotone(problem, W, scale):
        return None, None
    closed = _rows_in(problem, modes, ("stick", "slip", "degenerate"))
    return True, (True if not len(closed) or _independent(W[:, closed], scale) else None)


def _ambiguous(problem: ComplementarityProblem) -> bool:
    """Whether friction at rest is stronger than in slip: then a law is not monotone for any W."""
    return any(
        law.parameters()[1] > (law.c if isinstance(law, Dry) else law.parameters()[MU])
        for law in set(problem.table.laws)
    )


def _friction_bound(problem: ComplementarityProblem, W: Array) -> float:
    """Return the Frobenius norm of the tangential rows of W, each times its mu (or mu_r)."""
    table, weight = problem.table, np.zeros(len(problem.q))
    for law, blocks, rows in table.groups():
        if law in (Unilateral, Sliding, Dry, Associated):
            continue
        weight[rows[:, 1:3]] = table.P[blocks, MU][:, None]
        if law is Rolling:
            weight[rows[:, 3:]] = table.P[blocks, MU_R][:, None]
    return float(np.sqrt((weight[:, None] ** 2 * W * W).sum()))


def _above(W: Array, shift: float) -> bool:
    """Whether the symmetric part of W - shift is positive definite."""
    S = 0.5 * (W + W.T)
    S.flat[:: len(S) + 1] -= shift
    return bool(dpotrf(S, lower=1, clean=0)[1] == 0)


def _monotone(problem: ComplementarityProblem, W: Array, scale: float) -> bool:
    """Whether any two solutions have the same u: monotone laws, W symmetric and positive semidefinite."""
    laws = set(problem.table.laws)
    plain = all(isinstance(law, (Unilateral, Sliding, Dry, Associated)) or _frictionless(law) for law in laws)
    if not plain or _ambiguous(problem) or np.abs(W - W.T).max() > 1e-12 * scale:
        return False
    return _above(W, -ROUNDING * scale)


def _frictionless(law: object) -> bool:
    return type(law) is Coulomb and law.mu_s == 0.0  # type: ignore[attr-defined]


def _rows_in(problem: ComplementarityProblem, modes: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    """Return the rows of the blocks in one of the wanted modes; the normal row alone where mu = 0."""
    table = problem.table
    rows = [
        np.arange(table.start[k], table.start[k] + 1 if _frictionless(table.laws[k]) else table.start[k + 1])
        for k, mode in enumerate(modes)
        if mode in wanted or (mode == "slip" and _frictionless(table.laws[k]))
    ]
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)


def _independent(A: Array, scale: float) -> bool:
    """Whether the columns of A are linearly independent (pivoted QR)."""
    if A.shape[1] > A.shape[0]:
        return False
    R = dgeqp3(A)[0]
    return bool(np.abs(R.diagonal()[: A.shape[1]]).min() > ROUNDING * scale)
