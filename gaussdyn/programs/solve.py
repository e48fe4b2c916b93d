"""The one door to all methods: `solve(problem)` picks a method, and returns nothing unverified."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Protocol

from ..arrays import Array, scalar
from ..errors import InputError
from .complementarity import ComplementarityProblem, LinearComplementarity
from .quadratic import QuadraticProgram
from .residuals import TOL
from .solution import Solution


class Method(Protocol):
    """A frozen value that knows how to solve one kind of problem, and prints its settings."""

    name: ClassVar[str]

    def solve(self, problem: Any) -> Solution:
        """Solve, verify, and return the answer.

        Raises
        ------
        InputError
            If the method does not apply to this kind of problem.
        """
        ...


def solve(
    problem: Any, *, method: Method | None = None, start: Array | None = None, tol: float = TOL, seconds: float = 30.0,
    thorough: bool = True,
) -> Solution:  # fmt: skip
    """Solve a quadratic program, an LCP or a block complementarity problem.

    Parameters
    ----------
    problem : QuadraticProgram, LinearComplementarity or ComplementarityProblem
    method : Method, optional
        None picks one, and falls back on others until the verified residual is small.
    start : Array, optional
        Reactions to begin with (those of the last step): of several solutions of a block problem, one near them is
        found first. A method that is given, and a quadratic program (whose answer is unique), do without.
    tol : float
        Residual E up to which a block problem counts as solved; a method that is given has its own.
    seconds : float
        Wall time after which no further attempt at a block problem is begun. Nearly all take milliseconds; the hardest
        are solved by central paths (`CentralPath`; not with `start`), one after another: the longer, the likelier.
    thorough : bool
        Whether slow methods shall have a try at a block problem that quick ones leave unsolved.

    Returns
    -------
    Solution
        SOLVED only if the residual recomputed from the problem is at most max(tol, 10 eps |r| / |rho q|).

    Raises
    ------
    InputError
        If `problem` is none of the above, `method` does not apply to it, or `tol` or `seconds` is not a number >= 0.
    """
    for name, limit in (("tol", tol), ("seconds", seconds)):
        if type(limit) is not float or not 0.0 <= limit < math.inf:  # quick, for this runs often
            scalar(name, limit, low=0.0)
    if method is not None:
        if isinstance(method, type) or not hasattr(method, "solve"):
            raise InputError("method", repr(method), "a method, e.g. ActiveSet() or GaussSeidel(), or None")
        return method.solve(problem)
    if isinstance(problem, (ComplementarityProblem, LinearComplementarity)):
        return _drivers()[0](problem, start=start, tol=tol, seconds=seconds, thorough=thorough)
    if isinstance(problem, QuadraticProgram):
        return _drivers()[1](problem)
    allowed = "a QuadraticProgram, LinearComplementarity or ComplementarityProblem"
    raise InputError("problem", type(problem).__name__, allowed, "Build one with assemble() or gauss_program().")


@cache
def _drivers() -> tuple[Callable[..., Solution], Callable[..., Solution]]:
    from .solve_blocks import solve_blocks
    from .solve_quadratic import solve_quadratic

    return solve_blocks, solve_quadratic
