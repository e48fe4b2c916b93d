"""Clarabel: interior point with a homogeneous embedding (Goulart and Chen 2024), then our own polish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ....arrays import Array, scalar
from ...solution.solution import Solution
from ..polish import as_found, finish, likely_active, quadratic, unit_rows

if TYPE_CHECKING:
    from ...problems.quadratic import QuadraticProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class Clarabel:
    """Interior-point method on rows scaled to length one.

    Parameters
    ----------
    tol : float
        Relative gap and feasibility asked of the library, in (0, 1e-4]; asking for less than 1e-12 makes it stall.
    max_iter : int
        Interior-point iterations, >= 1.
    polish : bool
        Finish on the exact active set; without it the library's own digits are returned.

    Raises
    ------
    InputError
        A setting is out of range.
    """

    name: ClassVar[str] = "clarabel"
    tol: float = 1e-11
    max_iter: int = 200
    polish: bool = True

    def __post_init__(self) -> None:
        scalar("tol", self.tol, low=0.0, high=1e-4, open_low=True)
        scalar("max_iter", self.max_iter, low=1)

    def solve(self, problem: QuadraticProgram) -> Solution:
        """Solve, verify, and return the answer.

        Raises
        ------
        InputError
            If `problem` is not a quadratic program.
        """
        quadratic(problem, self.name)
        N, rhs, length = unit_rows(problem)
        m = len(problem.b)
        found = cone_program(problem.H, problem.g, N, rhs, m, self)
        w = np.asarray(found.z) / length
        x, y, z = np.asarray(found.x), -w[:m], np.maximum(w[m:], 0.0)
        y = y if np.isfinite(y).all() else np.zeros_like(y)
        if not np.isfinite(x).all() or not np.isfinite(z).all():
            x, z = np.zeros(problem.n), np.zeros(len(problem.d))
        if self.polish:
            return finish(problem, likely_active(problem, x, z), self.name, int(found.iterations))
        return as_found(problem, x, y, z, self.name, int(found.iterations))


def cone_program(P: Array, q: Array, N: Array, rhs: Array, equalities: int, settings: Clarabel) -> Any:
    """Minimise 1/2 x^T P x + q^T x, N x = rhs on the first rows, N x >= rhs on the others; P may be semidefinite.

    Returns
    -------
    clarabel.DefaultSolution
        With x and z >= 0 on the inequalities; on the equalities z has the sign of -y.
    """
    import clarabel

    sign = np.where(np.arange(len(rhs)) < equalities, 1.0, -1.0)
    cones = [clarabel.ZeroConeT(equalities), clarabel.NonnegativeConeT(len(rhs) - equalities)]
    cones = [cone for cone, size in zip(cones, (equalities, len(rhs) - equalities), strict=True) if size]
    options = clarabel.DefaultSettings()
    options.verbose, options.max_iter = False, settings.max_iter
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = settings.tol
    A = sp.csc_matrix(N * sign[:, None])
    solver = clarabel.DefaultSolver(sp.triu(sp.csc_matrix(P), format="csc"), q, A, rhs * sign, cones, options)
    return solver.solve()
