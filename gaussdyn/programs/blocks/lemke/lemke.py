"""Lemke's method for linear complementarity problems, and for block laws that are one in disguise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....arrays import Array
from ....errors import InputError
from ...problems.complementarity import LinearComplementarity, Problem, as_blocks
from ...solution.solution import Solution
from ...solution.status import Status
from ...work import Work
from ..block_method import BlockMethod
from ..newton import costs
from ..scaled import Scaled
from .facets import faceted_lcp, facets_are_exact

LARGEST = 600  # rows of the LCP; the tableau is dense


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Path:
    """Where Lemke's path ended: z, and the ray it left on (None if it ended in a solution)."""

    z: Array
    ray: Array | None
    pivots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lemke(BlockMethod):
    """Complementary pivoting (Lemke 1965; Cottle, Pang, Stone, The LCP, section 4.4), lexicographic: it cannot cycle.

    For LCPs; for unilateral, sliding, planar Coulomb and one-row dry blocks, which are LCPs exactly. Ends with a
    solution or on a ray; for copositive-plus M a ray proves that none exists, else it proves nothing.

    Attributes
    ----------
    pivots : int
        Most pivots.
    tol : float
        Residual E to reach.
    """

    pivots: int = 10_000
    tol: float = 1e-12
    name: ClassVar[str] = "lemke"

    def solve(self, problem: Problem, *, seconds: float | None = None) -> Solution:
        """Solve and verify; a path that ends on a ray gives UNDECIDED, with the ray in the message.

        Raises
        ------
        InputError
            If a law is not an LCP in disguise, or the problem is too large for a dense tableau.
        """
        solution = BlockMethod.solve(self, problem, seconds=seconds)
        if solution.status is not Status.MAX_ITERATIONS or not isinstance(problem, LinearComplementarity):
            return solution
        ray = self.path(problem.M, problem.q).ray
        if ray is None:
            return solution
        text = f"Lemke's path ended on a ray, z + t d with d = {np.array2string(ray, precision=6, threshold=20)}"
        return solution.but(status=Status.UNDECIDED, message=text + ": that alone proves nothing.")

    def check(self, problem: Problem) -> None:
        """Raise InputError if the method does not apply."""
        blocks = as_blocks(problem)
        if not facets_are_exact(blocks.table):
            allowed = "Unilateral, Sliding, planar Coulomb (mu_s = mu) and one-row Dry blocks"
            raise InputError(
                "laws", "a law that is no linear complementarity problem", allowed, "Write method=Faceted()."
            )
        if len(blocks.q) > LARGEST:
            raise InputError(
                "problem", f"{len(blocks.q)} rows", f"at most {LARGEST} rows", "Write method=GaussSeidel()."
            )

    def path(self, M: Array, q: Array, cover: Array | None = None) -> Path:
        """Follow the path for M (n, n), q (n,) with the covering vector `cover` > 0 (default ones)."""
        from .pivoting import RAY, lemke

        z, ray = np.zeros(len(q)), np.zeros(len(q))
        if not len(q):
            return Path(z=z, ray=None, pivots=0)
        cover = np.ones(len(q)) if cover is None else cover
        limit = min(self.pivots, 100 + 30 * len(q))  # a longer path means that rounding has led it astray
        basis, tableau = np.arange(len(q)), np.hstack([np.eye(len(q)), -M, -cover[:, None], q[:, None]])
        status, count = lemke(tableau, basis, cover, limit, z, ray)
        np.maximum(z, 0.0, out=z)
        return Path(z=z, ray=ray if status == RAY else None, pivots=int(count))

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Return the scaled reaction at the end of the path and the pivots; other covering vectors after a ray."""
        work, lcp = Work() if work is None else work, faceted_lcp(data, 2)
        best, best_r, total = data.residual(r), r, 0
        generator = np.random.default_rng(0)
        for trial in range(8):
            if work.over():
                break
            cover = np.ones(len(lcp.q)) if trial == 0 else generator.uniform(0.1, 1.0, len(lcp.q))
            path = self.path(lcp.M, lcp.q, cover)
            total += path.pivots
            work.spend(path.pivots * costs.pivot(len(lcp.q)))
            x = lcp.T @ path.z
            E = data.residual(x)
            if best > E:
                best, best_r = E, x
            if best < 1e-8 or len(lcp.q) > 200:
                break
        return best_r, total
