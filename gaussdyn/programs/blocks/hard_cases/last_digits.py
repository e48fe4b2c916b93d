"""The last digits where rows are dependent to all but ten of theirs: full proximal Newton steps with tiny terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....arrays import EPS, Array
from ...work import Work
from ..block_method import BlockMethod
from ..newton import costs
from ..newton.newton_steps import full_newton
from ..scaled import Scaled

NEAR = 1e-6  # E from which on only digits are missing
FIRST, LEAST, MOST = 1e-6, 1e-12, 1e-2  # the proximal term: where it begins, and its range
UP, DOWN = 4.0, 0.3  # its factors after a centre that is not found, and after one that is found quickly
STEPS, QUICK = 30, 8  # Newton steps for one centre: the most, and those that are quick
STALE = 60  # centres without a better point that end the search


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDigits(BlockMethod):
    """Proximal point iteration from a near solution with a term as small as Newton's method bears, without line search.

    Contacts whose rows depend on each other up to 1e-11, say the corners of two faces, may have to exchange much of
    their load until the right one opens; E stays the same all the while. A proximal term lets them do so in steps of
    E over the term, and it may be tiny, for near a solution full Newton steps converge: slip directions turn along
    such a step, so that |F| grows before it falls, and a line search on |F| would allow no step to speak of.

    Attributes
    ----------
    tol : float
        Residual E to reach.
    """

    tol: float = 1e-12
    name: ClassVar[str] = "proximal_newton"

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Improve a scaled reaction that is nearly a solution; return the best one found and the Newton steps."""
        best, best_r, steps = data.residual(r), r, 0
        if not best <= NEAR:
            return r, 0
        work, cost = Work() if work is None else work, costs.full_step(data)
        x, alpha, stale, lowest = r, FIRST, 0, best
        while best > 0.1 * self.tol and stale < STALE and not work.over():
            goal = max(1e-3 * self.tol * data.weight, 3.0 * EPS * float(np.linalg.norm(x)))
            y, size, taken = full_newton(data, alpha, x, goal, STEPS)
            work.spend((taken + 1) * cost)
            steps, stale, E = steps + taken, stale + 1, data.residual(y)
            if not (size <= 10.0 * goal and NEAR >= E):
                alpha = min(UP * alpha, MOST)
                continue
            x = y
            if taken <= QUICK:
                alpha = max(DOWN * alpha, LEAST)
            if 0.9 * lowest > E:
                lowest, stale = E, 0
            if best > E:
                best, best_r = E, y
        return best_r, steps
