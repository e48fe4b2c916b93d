"""Our own dense method: dual active set, compiled, for up to a few hundred rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..solution.solution import Solution
from .polish import finish, likely_active, quadratic

if TYPE_CHECKING:
    from ..problems.quadratic import QuadraticProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSet:
    """Dual active-set method of Goldfarb and Idnani (1983) in orthonormal factors; exact up to rounding.

    It starts from the unconstrained minimum and brings in violated rows, so it needs no feasible start and ends
    either at the minimum or at rows that contradict each other. `dual_method.solve_arrays` is the bare loop.
    """

    name: ClassVar[str] = "active_set"

    def solve(self, problem: QuadraticProgram, *, start: Solution | None = None) -> Solution:
        """Solve, verify, and return the answer.

        Parameters
        ----------
        problem : QuadraticProgram
        start : Solution, optional
            Answer to a similar program with the same inequalities: its active rows are tried first.

        Raises
        ------
        InputError
            If `problem` is not a quadratic program.
        """
        quadratic(problem, self.name)
        guess = np.zeros(0, dtype=np.int64)
        if start is not None and start.x is not None and len(start.r) == len(problem.d):
            guess = likely_active(problem, start.x, start.r)
        return finish(problem, guess, self.name)
