"""The last digits where rows are dependent to all but ten of theirs: proximal Newton steps with tiny fixed terms."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array
from ..complementarity import ComplementarityProblem, LinearComplementarity
from ..solution import Solution
from .newton import inner_newton
from .scaled import Scaled

NEAR = 1e-6  # E from which on only digits are missing
TRIES = ((1e-10, 1.0), (1e-9, 30.0), (1e-12, 1.0), (1e-10, 30.0), (1e-11, 30.0), (1e-11, 1.0))
STEPS, LEVEL = 15, 12  # Newton steps for one centre, and centres without a better point that end a try


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDigits:
    """Proximal point iteration with a fixed small term and step size, a few of both in turn, from a near solution.

    Contacts whose rows depend on each other up to 1e-11, say the corners of two faces, may have to exchange much of
    their load until the right one opens, and a proximal term far above that lets them do so in steps of a thousandth.
    Its fall, as in `ProximalNewton`, would end in rounding before.

    Attributes
    ----------
    seconds : float
        Wall time after which the best point is returned.
    tol : float
        Residual E to reach.
    """

    seconds: float = 5.0
    tol: float = 1e-12
    name: ClassVar[str] = "proximal_newton"

    def solve(self, problem: ComplementarityProblem | LinearComplementarity) -> Solution:
        """Solve from r = 0, verify and return."""
        from ..verify import run

        return run(self, problem)

    def improve(self, data: Scaled, r: Array) -> tuple[Array, int]:
        """Improve a scaled reaction that is nearly a solution; return the best one found and the Newton steps."""
        stop, best, best_r, steps = time.perf_counter() + self.seconds, data.residual(r), r, 0
        if not best <= NEAR:
            return r, 0
        for alpha, g in TRIES:
            x, stale = best_r, 0
            while stale < LEVEL and best > 0.1 * self.tol and time.perf_counter() < stop:
                centre, x = x, x.copy()
                _, taken = inner_newton(data, alpha, centre, x, 0.1 * self.tol * data.weight, STEPS, g)
                steps, E, stale = steps + taken, data.residual(x), stale + 1
                if not np.isfinite(E):
                    break
                if best > E:
                    best, best_r, stale = E, x, 0
            if best <= self.tol:
                break
        return best_r, steps
