"""OSQP: operator splitting (Stellato et al. 2020), sparse and warm-started, then our own polish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse as sp

from ....arrays import scalar
from ...solution.solution import Solution
from ..polish import as_found, finish, likely_active, quadratic, unit_rows

if TYPE_CHECKING:
    from ...problems.quadratic import QuadraticProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class Osqp:
    """Operator splitting with settings that never look at the clock, so that a run repeats bit by bit.

    Parameters
    ----------
    tol : float
        Absolute and relative residual asked of the library, in (0, 1e-2].
    max_iter : int
        Splitting iterations, >= 1.
    rho_interval : int
        The penalty is adapted every so many iterations, >= 1 (the library's own default may time itself).
    polish : bool
        Finish on the exact active set; without it the library's own digits are returned.

    Raises
    ------
    InputError
        A setting is out of range.
    """

    name: ClassVar[str] = "osqp"
    tol: float = 1e-7
    max_iter: int = 20000
    rho_interval: int = 50
    polish: bool = True

    def __post_init__(self) -> None:
        scalar("tol", self.tol, low=0.0, high=1e-2, open_low=True)
        scalar("max_iter", self.max_iter, low=1)
        scalar("rho_interval", self.rho_interval, low=1)

    def solve(self, problem: QuadraticProgram, *, start: Solution | None = None) -> Solution:
        """Solve, verify, and return the answer.

        Parameters
        ----------
        problem : QuadraticProgram
        start : Solution, optional
            Answer to a similar program of the same shape: the iteration starts there.

        Raises
        ------
        InputError
            If `problem` is not a quadratic program.
        """
        import osqp

        quadratic(problem, self.name)
        if not problem.n:
            return finish(problem, np.zeros(0, dtype=np.int64), self.name)
        N, rhs, length = unit_rows(problem)
        m, load = len(problem.b), float(np.abs(problem.H).max())
        upper = np.where(np.arange(len(rhs)) < m, rhs, np.inf)
        solver = osqp.OSQP()
        try:
            solver.setup(
                sp.triu(sp.csc_matrix(problem.H / load), format="csc"), problem.g / load, sp.csc_matrix(N), rhs, upper,
                eps_abs=self.tol, eps_rel=self.tol, max_iter=self.max_iter, adaptive_rho=1,
                adaptive_rho_interval=self.rho_interval, polishing=False, verbose=False,
                warm_starting=start is not None,
            )  # fmt: skip
            if start is not None and start.x is not None and len(start.r) == len(problem.d) and len(start.lam) == m:
                solver.warm_start(x=start.x, y=-np.r_[start.lam, start.r] * length / load)
            found = solver.solve(raise_error=False)
        except osqp.OSQPException:  # numbers that the library does not take: the polish begins without a guess
            return finish(problem, np.zeros(0, dtype=np.int64), self.name)
        x, w = np.nan_to_num(np.asarray(found.x)), -load * np.nan_to_num(np.asarray(found.y)) / length
        z = np.maximum(w[m:], 0.0)
        if self.polish:
            return finish(problem, likely_active(problem, x, z), self.name, int(found.info.iter))
        return as_found(problem, x, w[:m], z, self.name, int(found.info.iter))
