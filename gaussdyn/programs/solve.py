"""The one door to all methods: `solve(problem)` picks a method, and returns nothing unverified."""

from __future__ import annotations

from typing import Any, Protocol

from .solution import Solution


class Method(Protocol):
    """A frozen value that knows how to solve one kind of problem, and prints its settings."""

    def solve(self, problem: Any) -> Solution:
        """Solve and verify."""
        ...


def solve(problem: Any, *, method: Method | None = None) -> Solution:
    """Solve a quadratic program, an LCP or a block complementarity problem.

    Parameters
    ----------
    problem : QuadraticProgram, LinearComplementarity or ComplementarityProblem
    method : Method, optional
        None picks one, and falls back on others until the verified residual is small.

    Returns
    -------
    Solution
        SOLVED only if the residual recomputed from the problem is at most max(1e-12, 10 eps |r| / |rho q|).

    Raises
    ------
    InputError
        If `problem` is none of the above, or `method` does not apply to it.
    """
    raise NotImplementedError
