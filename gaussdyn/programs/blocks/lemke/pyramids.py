"""Friction cones replaced by pyramids: an LCP, for comparison with the cones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ....arrays import Array, scalar
from ....errors import InputError
from ...problems.complementarity import Problem, as_blocks
from ...solution.solution import Solution
from ...solution.status import Status
from ..scaled import Scaled, scaled
from ..verify import verified
from .facets import faceted_lcp, has_pyramid


@dataclass(frozen=True, slots=True, kw_only=True)
class Faceted:
    """Solve with pyramids in place of cones. In the plane that is exact; in space the answer is the pyramid's.

    The strength of friction is right to O(1 / k^2); its direction only to O(1 / k), because a slipping block's
    reaction snaps to an edge of the pyramid.

    Attributes
    ----------
    facets : int
        Directions of friction in a tangent plane, even, >= 4.
    pivots : int
        Most pivots of Lemke's method.
    tol : float
        Residual E, against the cone, that counts as solved.
    """

    facets: int = 16
    pivots: int = 20_000
    tol: float = 1e-12
    name: ClassVar[str] = "faceted"

    def __post_init__(self) -> None:
        scalar("facets", self.facets, low=4)
        if self.facets % 2:
            raise InputError(
                "facets", self.facets, "an even number", f"Directions come in pairs: facets={int(self.facets) + 1}."
            )

    def solve(self, problem: Problem) -> Solution:
        """Solve the pyramids' problem and report its residual against the cones; SOLVED only if that is small.

        Raises
        ------
        InputError
            If a law has no pyramid (Rolling, Associated, bilateral friction, mu_s > mu).
        """
        blocks = as_blocks(problem)
        if not has_pyramid(blocks.table):
            raise InputError(
                "laws",
                "a law without a pyramid",
                "Unilateral, Sliding, Coulomb (mu_s = mu), Dry",
                "Leave method out: solve(problem).",
            )
        if blocks.idle:
            return verified(problem, blocks, np.zeros(len(blocks.q)), self.name, 0, self.tol)
        data = scaled(blocks)
        r, pivots = self.improve(data, np.zeros(len(blocks.q)))
        found = verified(problem, blocks, r * data.unit, self.name, pivots, self.tol)
        if found.solved:
            return found
        text = f"the answer of pyramids of {self.facets} facets; the residuals are those against the cones."
        return found.but(status=Status.UNDECIDED, message=text)

    def improve(self, data: Scaled, r: Array) -> tuple[Array, int]:
        """Return the scaled reaction of the pyramids' problem and the pivots."""
        from .lemke import Lemke

        lcp = faceted_lcp(data, self.facets)
        path = Lemke(pivots=self.pivots).path(lcp.M, lcp.q)
        return lcp.T @ path.z, path.pivots
