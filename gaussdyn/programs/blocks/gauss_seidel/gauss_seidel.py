"""Block Gauss-Seidel: solve each block exactly, the others fixed, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....arrays import Array
from ...work import Work
from ..block_method import BlockMethod
from ..newton import costs
from ..scaled import Scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussSeidel(BlockMethod):
    """Nonsmooth Gauss-Seidel (Jean, Moreau: contact dynamics) with each law's exact one-block solution.

    Attributes
    ----------
    sweeps : int
        Most passes over the blocks.
    fall : float
        The sweeps end where five of them do not bring E below this share of what it was.
    tol : float
        Residual E to reach.
    """

    sweeps: int = 10_000
    fall: float = np.inf
    tol: float = 1e-12
    name: ClassVar[str] = "gauss_seidel"

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Improve a scaled reaction; return the best one found and the sweeps made."""
        from .sweeps import gauss_seidel

        work, cost = Work() if work is None else work, costs.sweep(data)
        x, done, chunk = r.copy(), 0, 1 if len(data.code) == 1 else 5
        best, best_r, last = np.inf, r, np.inf
        while done < self.sweeps and not work.over():
            chunk = min(chunk, self.sweeps - done)
            gauss_seidel(data.rows, data.W_abs, data.q, data.table, data.D, x, chunk)
            work.spend(chunk * cost)
            done += chunk
            E = data.residual(x)
            slow = not self.fall * last > E
            last = E
            if best > E:
                best, best_r = E, x.copy()
            if not np.isfinite(E) or 0.3 * self.tol >= E or slow or len(data.code) == 1:
                break
        return best_r, done
