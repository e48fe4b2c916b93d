"""Complete enumeration of the modes of a small problem, as a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import InputError
from ..enumeration.exhaustive import LARGEST, all_modes, linear_modes
from ..problems.complementarity import Problem, as_blocks
from ..proof.no_admissible_motion import refutation
from ..solution.residuals import TOL
from ..solution.solution import Solution
from ..solution.status import Status
from ..solution.wording import wording
from .verify import verified


@dataclass(frozen=True, slots=True, kw_only=True)
class Enumerate:
    """Examine all modes in exact arithmetic: ends in a solution, or in a proof that there is none.

    For LCPs and for blocks of one row or planar ones, up to 14 rows. `outcome` lists all solutions.

    Attributes
    ----------
    tol : float
        Residual E to reach.
    """

    tol: float = TOL
    name: ClassVar[str] = "enumerate"

    def solve(self, problem: Problem) -> Solution:
        """Return a verified solution, or INFEASIBLE or NO_SOLUTION with the certificate.

        Raises
        ------
        InputError
            If a law has modes that are not linear, or the problem is too large.
        """
        blocks = as_blocks(problem)
        if not linear_modes(blocks):
            raise InputError("laws", "contacts in space", "LCPs and planar blocks", "Write method=GaussSeidel().")
        if len(blocks.q) > LARGEST:
            raise InputError("problem", f"{len(blocks.q)} rows", f"at most {LARGEST} rows", "Write method=Lemke().")
        r, certificate = all_modes(problem, blocks)
        found = verified(problem, blocks, np.zeros(len(blocks.q)) if r is None else r, self.name, tol=self.tol)
        if r is not None:
            return found
        if certificate is None:
            return found.but(status=Status.UNDECIDED, message="more modes than the limit.")
        empty = refutation(blocks, wording(problem))
        status = Status.NO_SOLUTION if empty is None else Status.INFEASIBLE
        return found.but(status=status, certificate=empty or certificate, message=(empty or certificate).claim)
