"""What the methods for block problems share: `solve` begins at r = 0, improves, and verifies what comes out."""

from __future__ import annotations

from typing import ClassVar

from ...arrays import Array
from ..problems.complementarity import Problem
from ..solution.solution import Solution
from ..work import Work
from .scaled import Scaled
from .verify import run


class BlockMethod:
    """A frozen value that improves the reaction of a scaled block problem; only that is its own.

    Attributes
    ----------
    name : str
        In files and messages.
    tol : float
        Residual E to reach.
    """

    __slots__ = ()
    name: ClassVar[str]
    tol: float

    def solve(self, problem: Problem, *, seconds: float | None = None) -> Solution:
        """Solve from r = 0 and verify; TIME_LIMIT if it takes longer than so many seconds.

        Raises
        ------
        InputError
            If the method does not apply to the laws of the problem.
        """
        self.check(problem)
        return run(self, problem, Work(seconds=seconds))

    def check(self, problem: Problem) -> None:
        """Raise InputError if the method does not apply; most do to all problems."""

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Return a better scaled reaction and the number of iterations; do no more than `work` allows."""
        raise NotImplementedError
