"""The same problem in dimensionless numbers: mean diagonal of W = 1, |q| = 1.

Scaling is not a detail: on recorded problems the same code needs 10 iterations scaled and 399 unscaled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import Array, IntArray
from ..laws.law_table import LawTable
from ..laws.laws import CAP, MU_S, BilateralSliding, Dry
from ..problems.complementarity import ComplementarityProblem, GlobalForm

DENSE_ROWS = 150  # up to here one compiled call does the whole Newton iteration
NONE = np.zeros((0, 0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scaled:
    """A block problem with W / w0 and q / q0, as arrays for the kernels."""

    W: Any
    W_abs: Array  # (0, 0) if the problem has none
    q: Array
    rows: tuple[Array, IntArray, IntArray]  # W as CSR: data, indices, indptr
    D: Array  # diagonal blocks (n, 6, 6); of a BilateralSliding block [0, 1] acts with |r|
    code: IntArray
    start: IntArray
    P: Array
    rho: Array
    weight: float  # |rho q|: what residuals are relative to
    unit: float  # q0 / w0: one unit of reaction
    form: GlobalForm | None = None  # the global problem, in its own units
    mass: float = 1.0  # w0: W / w0 = J (w0 M)^-1 B
    kept: dict[str, Any] = field(default_factory=dict)  # what methods derive from W and the laws' sizes alone

    @property
    def table(self) -> tuple[IntArray, IntArray, Array]:
        """The laws as the kernels take them."""
        return self.code, self.start, self.P

    @property
    def small(self) -> bool:
        """Whether dense compiled kernels serve it."""
        return len(self.q) <= DENSE_ROWS

    def dense(self) -> Array:
        """Return W as a dense array."""
        return np.asarray(self.W.toarray() if sp.issparse(self.W) else self.W)

    def residual(self, r: Array) -> float:
        """Return E of the scaled reaction r."""
        size: float = _kernel()(self.rows, self.W_abs, self.q, r, self.table, self.rho)
        return size / self.weight

    def motion(self, r: Array) -> Array:
        """Return u = W r + W_abs |r| + q in scaled numbers."""
        u: Array = self.W @ r + self.q
        return u + self.W_abs @ np.abs(r) if len(self.W_abs) else u


@cache
def _kernel() -> Any:
    from ..laws.natural_map import residual

    return residual


def scaled(problem: ComplementarityProblem) -> Scaled:
    """Return the problem in dimensionless numbers; q must not be zero."""
    rows, table = problem.rows, problem.table
    w0 = mean_diagonal(rows.D, table.start)
    top = float(np.abs(problem.q).max())
    q0 = top * float(np.linalg.norm(problem.q / top))  # squares of 1e-200 would underflow
    P = scaled_parameters(table, w0 / q0) if table.dry else table.P
    q, rho = problem.q / q0, problem.rho * w0
    weighted = np.repeat(rho, table.start[1:] - table.start[:-1]) * q
    W_abs = NONE
    if problem.W_abs is not None:
        W_abs = np.ascontiguousarray(problem.W_abs.toarray() if sp.issparse(problem.W_abs) else problem.W_abs) / w0
    D = rows.D / w0
    if len(W_abs):
        guided = table.start[:-1][table.code == BilateralSliding.code]
        D[table.code == BilateralSliding.code, 0, 1] = W_abs[guided, guided]
    return Scaled(
        W=problem.W / w0, W_abs=W_abs, q=q, rows=(rows.data / w0, rows.indices, rows.indptr), D=D,
        code=table.code, start=table.start, P=P, rho=rho,
        weight=float(np.sqrt(weighted @ weighted)), unit=q0 / w0, form=problem.form, mass=w0,
    )  # fmt: skip


def scaled_parameters(table: LawTable, factor: float) -> Array:
    """Return the laws' parameters with forces times `factor`."""
    P, dry = table.P.copy(), table.code == Dry.code
    P[dry, CAP] *= factor
    P[dry, MU_S] *= factor
    return P


def mean_diagonal(D: Array, start: IntArray) -> float:
    """Return the mean |diagonal entry| of W, or its mean block norm, or 1."""
    mean = float(np.abs(D.diagonal(axis1=1, axis2=2)).sum()) / max(int(start[-1]), 1)
    if mean > 0.0:
        return mean
    mean = float(np.abs(D).max(initial=0.0))
    return mean if mean > 0.0 else 1.0
