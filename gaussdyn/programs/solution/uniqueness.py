"""Whether u and r are the only ones, where a sound reason exists; None otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgeqp3, dpotrf

from ...arrays import Array, IntArray
from ...linalg.factor import rank_and_null
from ..problems.complementarity import ComplementarityProblem

LARGEST = 300  # rows; beyond it nothing is said
ROUNDING = 1e-10  # relative size at which an eigenvalue or a pivot counts as zero


class Uniqueness(Sequence[bool | None]):
    """The pair that `uniqueness` returns, computed when first asked for: it can take longer than the solution."""

    __slots__ = ("_arguments", "_pair")

    def __init__(self, *arguments: Any) -> None:
        self._arguments = arguments
        self._pair: tuple[bool | None, ...] | None = None

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: Any) -> Any:
        if self._pair is None:
            self._pair = uniqueness(*self._arguments)
        return self._pair[k]


def uniqueness(problem: ComplementarityProblem, r: Array, modes: tuple[str, ...]) -> tuple[bool | None, bool | None]:
    """Return (u_unique, r_unique) of a solution with reaction r.

    Two solutions obey dr.W dr <= sum mu |dr_N| |du_T|. So both are unique if the symmetric part of W is greater than
    |mu W_T| (Frobenius); u alone if friction does not follow r_N and W is symmetric and positive semidefinite; then r
    too if the columns of the blocks that are not open are independent. If columns of blocks that strictly stick are
    dependent, r is not unique whatever the laws.
    """
    m = len(problem.q)
    if m == 0:
        return True, True
    if m > LARGEST or problem.W_abs is not None:
        return None, None
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    scale = max(float(np.abs(W).max()), 1e-300)
    monotone = not problem.table.ambiguous
    if monotone and _above(W, ROUNDING * scale) and _above(W, _friction_bound(problem, W) + ROUNDING * scale):
        return True, True
    u_unique = True if monotone and _symmetric(problem, W, scale) else None
    stick = _rows_in(problem, modes, ("stick",))
    if not _independent(W, stick, scale):
        return u_unique, False
    if u_unique is None:
        return None, None
    closed = _rows_in(problem, modes, ("stick", "slip", "degenerate"))
    if _independent(W, closed, scale):
        return True, True
    return True, _one_way(problem, W, closed, stick)


def _one_way(problem: ComplementarityProblem, W: Array, closed: IntArray, stick: IntArray) -> bool | None:
    """Return whether r is unique although one combination of closed LCP rows leaves the motion alone.

    Rows that carry nothing may only gain: r can move along the combination d if that has one sign on them.
    """
    if np.isin(closed, problem.table.start[:-1][problem.table.cone]).any() or problem.table.P.any():
        return None
    rank, null = rank_and_null(W[:, closed], ROUNDING)
    if len(closed) - rank != 1:
        return None
    idle = null[~np.isin(closed, stick), 0]
    return not (idle.min() >= -ROUNDING or idle.max() <= ROUNDING)


def _friction_bound(problem: ComplementarityProblem, W: Array) -> float:
    """Return the Frobenius norm of the tangential rows of W, each times its mu (or mu_r, mu_t)."""
    weighted = problem.table.friction[:, None] * W
    return float(np.sqrt((weighted * weighted).sum()))


def _above(W: Array, shift: float) -> bool:
    """Whether the symmetric part of W - shift is positive definite."""
    S = 0.5 * (W + W.T)
    S.flat[:: len(S) + 1] -= shift
    return bool(dpotrf(S, lower=1, clean=0)[1] == 0)


def _symmetric(problem: ComplementarityProblem, W: Array, scale: float) -> bool:
    """Whether no friction follows r_N and W is symmetric and positive semidefinite: then u is unique."""
    if problem.table.friction.any() or np.abs(W - W.T).max() > 1e-12 * scale:
        return False
    return _above(W, -ROUNDING * scale)


def _rows_in(problem: ComplementarityProblem, modes: tuple[str, ...], wanted: tuple[str, ...]) -> IntArray:
    """Return the rows of the blocks in one of the wanted modes, without those on which mu = 0 forbids reactions."""
    table = problem.table
    rows: list[int] = []
    for k, mode in enumerate(modes):
        bare = table.code[k] in (1, 2, 6, 7, 8) and table.P[k].max() == 0.0
        if mode in wanted:
            rows += range(int(table.start[k]), int(table.start[k] + 1 if bare else table.start[k + 1]))
    return np.array(rows, dtype=np.int64)


def _independent(W: Array, columns: IntArray, scale: float) -> bool:
    """Whether the given columns of W are linearly independent (pivoted QR)."""
    if not len(columns):
        return True
    if len(columns) > len(W):
        return False
    R = dgeqp3(W[:, columns])[0]
    return bool(np.abs(R.diagonal()[: len(columns)]).min() > ROUNDING * scale)
