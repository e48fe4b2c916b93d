"""Coulomb friction by convex Gauss programs: freeze the slip speed s = |u_T|, minimise, repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...arrays import Array, IntArray
from ...errors import InputError
from ..laws.law_table import LawTable
from ..laws.laws import MU, Associated, Coulomb, Dry, Sliding, Unilateral
from ..problems.complementarity import Problem, as_blocks
from ..work import Work
from .block_method import BlockMethod
from .proximal_newton import ProximalNewton
from .scaled import Scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussFixedPoint(BlockMethod):
    """Each pass is one convex program: the associated law with q_N + mu s in place of q_N, s = |u_T| of the last pass.

    With W symmetric a pass is the minimum of the Gauss functional 1/2 r.W r + (q + mu s n).r over the cones; where s
    repeats itself the law is Coulomb's (Cadoux 2009; Acary, Cadoux, Lemaréchal and Malick 2011). Converges linearly,
    the faster the smaller mu; for large mu it may not converge, and then says so.

    Attributes
    ----------
    passes : int
        Most convex programs.
    tol : float
        Residual E to reach.
    """

    passes: int = 200
    tol: float = 1e-12
    name: ClassVar[str] = "gauss_fixed_point"

    def check(self, problem: Problem) -> None:
        """Raise InputError if a law is not convex with s frozen (bilateral friction, Rolling, mu_s > mu)."""
        if not convex_when_frozen(as_blocks(problem).table):
            raise InputError(
                "laws",
                "a law that is not convex with s frozen",
                "Unilateral, Coulomb (mu_s = mu), Dry",
                "Leave method out: solve(problem).",
            )

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Return the best scaled reaction and the number of convex programs."""
        work = Work() if work is None else work
        friction = np.flatnonzero(data.code == Coulomb.code).astype(np.int64)
        code = data.code.copy()
        code[friction] = Associated.code
        inner = ProximalNewton(alpha=1e-2, newton_steps=100, tol=0.1 * self.tol)
        best, best_r, x, done = data.residual(r), r, r.copy(), 0
        while done < self.passes:
            done += 1
            q = data.q.copy()
            q[data.start[friction]] += data.P[friction, MU] * slip_speeds(data, friction, data.motion(x))
            x, _ = inner.improve(replace(data, q=q, code=code), x, work)
            E = data.residual(x)
            if best > E:
                best, best_r = E, x
            if best <= 0.3 * self.tol or work.over() or not np.isfinite(E):
                break
        return best_r, done


def convex_when_frozen(table: LawTable) -> bool:
    """Whether every law is convex once the slip speed is given."""
    kinds = (Unilateral, Sliding, Associated, Coulomb, Dry)
    return all(type(law) in kinds and law.parameters()[1] <= max(law.parameters()[::2]) for law in set(table.laws))


def slip_speeds(data: Scaled, blocks: IntArray, u: Array) -> Array:
    """Return |u_T| of the given blocks."""
    total = np.zeros(len(data.code))
    for a in (1, 2):
        wide = blocks[data.start[blocks + 1] - data.start[blocks] > a]
        total[wide] += u[data.start[wide] + a] ** 2
    return np.asarray(np.sqrt(total[blocks]))
