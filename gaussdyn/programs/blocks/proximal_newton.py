"""Proximal semismooth Newton: the method that finishes what the others begin, and solves most problems alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...arrays import Array
from ..work import Work
from .block_method import BlockMethod
from .newton import costs
from .newton.block_form import BlockForm, block_form
from .newton.newton_steps import inner_newton
from .scaled import Scaled

CHUNK = 25  # Newton steps after which the work is added up, at the end of a proximal step


@dataclass(frozen=True, slots=True, kw_only=True)
class ProximalNewton(BlockMethod):
    """Newton's method on the Alart-Curnier equations with line search, inside a proximal point iteration.

    Each outer step solves the problem with u + alpha (r - last r) in place of u, so that a rank deficient W does no
    harm; alpha falls tenfold after every success. After Alart and Curnier (CMAME 92, 1991) and, for the proximal
    outer loop, Acary, Bremond and Huber (2018).

    Attributes
    ----------
    alpha : float
        First proximal term, in units of 1 / rho; > 0.
    floor : float
        Smallest proximal term.
    newton_steps : int
        Most Newton steps in all.
    tol : float
        Residual E to reach.
    bold : bool
        Whether to begin with a fixed rho and an alpha that falls a hundredfold, as long as that is quick (from points
        whose modes are nearly right; problems by 3x3 blocks only).
    """

    alpha: float = 1.0
    floor: float = 1e-9
    newton_steps: int = 400
    tol: float = 1e-12
    bold: bool = False
    name: ClassVar[str] = "proximal_newton"

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Improve a scaled reaction; return the best one found and the Newton steps taken."""
        work, form = Work() if work is None else work, block_form(data)
        if form is not None:
            return self._by_blocks(data, form, r, work)
        cost = costs.newton_step(data)
        best, best_r, steps, fails = data.residual(r), r.copy(), 0, 0
        x, centre, alpha = r.copy(), r.copy(), self.alpha
        while best > 0.1 * self.tol and steps < self.newton_steps and fails < 8:
            if work.over():
                break
            goal = max(0.03 * self.tol, min(1e-2 * best, 1e-2))
            limit = min(15, self.newton_steps - steps)
            inner, taken = inner_newton(data, alpha, centre, x, goal * data.weight, limit)
            steps += taken + 1
            work.spend((taken + 1) * cost + costs.CALL)
            E = data.residual(x) if np.isfinite(inner) else np.inf
            if inner / data.weight > max(self.tol, 0.1 * min(best, 1.0)) or not np.isfinite(E):
                alpha, fails, x = min(alpha * 7.0, 1e3), fails + 1, centre.copy()
                continue
            centre = x.copy()
            alpha = max(0.1 * alpha, self.floor)
            fails = 0 if best > E else fails + 1
            if best > E:
                best, best_r = E, x.copy()
        return best_r, steps

    def _by_blocks(self, data: Scaled, form: BlockForm, r: Array, work: Work) -> tuple[Array, int]:
        """The same iteration in compiled calls of a few Newton steps each."""
        from ..._jit import entry_of
        from .newton.sparse_newton import SparseProblem, proximal_steps

        cost, steps, laws = costs.newton_by_blocks(form), 0, (data.code, form.sizes, data.P)
        problem = SparseProblem(form.blocks, form.ordering, form.pairs, form.pad(data.q), laws, data.rho)
        points = np.array([form.pad(r)] * 3)
        best = data.residual(r)
        state = np.array([self.alpha, self.floor, 0.0, best if np.isfinite(best) else 1e300, float(self.bold)])
        while steps < self.newton_steps and not work.over():
            limit = min(CHUNK, self.newton_steps - steps)
            _, taken = entry_of(proximal_steps)(problem, data.weight, state, self.tol, limit, points)
            steps += taken
            work.spend(taken * cost)
            if taken < limit:
                break
        return form.rows(points[0]), steps
