"""Block Gauss-Seidel: solve each block exactly, the others fixed, again and again."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array
from ..complementarity import ComplementarityProblem, LinearComplementarity
from ..solution import Solution
from .scaled import Scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussSeidel:
    """Nonsmooth Gauss-Seidel (Jean, Moreau: contact dynamics) with each law's exact one-block solution.

    Attributes
    ----------
    sweeps : int
        Most passes over the blocks.
    fall : float
        The sweeps end where five of them do not bring E below this share of what it was.
    seconds : float
        Wall time after which the best point is returned.
    tol : float
        Residual E to reach.
    """

    sweeps: int = 10_000
    fall: float = np.inf
    seconds: float = 10.0
    tol: float = 1e-12
    name: ClassVar[str] = "gauss_seidel"

    def solve(self, problem: ComplementarityProblem | LinearComplementarity) -> Solution:
        """Solve from r = 0, verify and return."""
        from ..verify import run

        return run(self, problem)

    def improve(self, data: Scaled, r: Array) -> tuple[Array, int]:
        """Improve a scaled reaction; return the best one found and the sweeps made."""
        from ..sweep_kernels import gauss_seidel

        stop = time.perf_counter() + self.seconds
        x, done, chunk = r.copy(), 0, 1 if len(data.code) == 1 else 5
        best, best_r, last = np.inf, r, np.inf
        while done < self.sweeps and time.perf_counter() < stop:
            chunk = min(chunk, self.sweeps - done)
            gauss_seidel(data.rows, data.W_abs, data.q, data.table, data.D, x, chunk)
            done += chunk
            E = data.residual(x)
            slow = not self.fall * last > E
            last = E
            if best > E:
                best, best_r = E, x.copy()
            if not np.isfinite(E) or 0.3 * self.tol >= E or slow or len(data.code) == 1:
                break
        return best_r, done
