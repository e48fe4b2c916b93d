"""The one door to all methods: `solve(problem)` picks a method, and returns nothing unverified."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ..arrays import Array, scalar
from ..errors import InputError, keeps_interrupts
from .method import Method
from .problems.complementarity import ComplementarityProblem, LinearComplementarity
from .problems.mixed import MixedComplementarity
from .problems.quadratic import QuadraticProgram
from .solution.residuals import TOL
from .solution.solution import Solution


@keeps_interrupts
def solve(
    problem: Any, *, method: Method | None = None, start: Array | None = None, tol: float = TOL,
    seconds: float | None = None, thorough: bool = True, effort: float = 1.0,
) -> Solution:  # fmt: skip
    """Solve a quadratic program, an LCP, a block complementarity problem or a mixed one.

    What is tried follows from the problem and from counts of work, never from the clock: the answer is the same on a
    slow machine and on a busy one.

    Parameters
    ----------
    problem : QuadraticProgram, LinearComplementarity, ComplementarityProblem or MixedComplementarity
    method : Method, optional
        None picks one, and falls back on others until the verified residual is small.
    start : Array, optional
        Reactions to begin with (those of the last step): of several solutions of a block problem, one near them is
        found first. A method that is given, and a quadratic program (whose answer is unique), do without.
    tol : float
        Residual E up to which a block problem counts as solved; a method that is given has its own.
    seconds : float, optional
        Wall time after which a call for a block problem is stopped: its status is TIME_LIMIT then, whatever point it
        has. None: it goes on until the counts of work, or those of the method given, end it. Methods that pivot or
        enumerate, and those for quadratic programs, do not look at it.
    thorough : bool
        Whether slow methods shall have a try at a block problem that quick ones leave unsolved.
    effort : float
        Factor on the work after which a block problem is left unsolved: 1 is about half a minute, nearly all problems
        take milliseconds. The hardest are solved by central paths (`CentralPath`; not with `start`), one after
        another: the more work, the likelier.

    Returns
    -------
    Solution
        SOLVED only if the residual recomputed from the problem is at most max(tol, 10 eps |r| / |rho q|).

    Raises
    ------
    InputError
        If `problem` is none of the above, `method` does not apply to it, or `tol`, `seconds` or `effort` is not a
        number >= 0.
    """
    if not (type(tol) is type(effort) is float and 0.0 <= tol < math.inf and 0.0 <= effort < math.inf):
        scalar("tol", tol, low=0.0)  # called only where need be: a contact from Python takes few microseconds
        scalar("effort", effort, low=0.0)
    if seconds is not None:
        scalar("seconds", seconds, low=0.0)
    if method is not None:
        if isinstance(method, type) or not hasattr(method, "solve"):
            raise InputError(
                "method",
                repr(method),
                "a method, e.g. ActiveSet() or GaussSeidel(), or None",
                "Write method=ActiveSet().",
            )
        if seconds is None:
            return method.solve(problem)
        from .blocks.block_method import BlockMethod

        return method.solve(problem, seconds=seconds) if isinstance(method, BlockMethod) else method.solve(problem)
    if isinstance(problem, (ComplementarityProblem, LinearComplementarity)):
        return _drivers()[0](problem, start=start, tol=tol, seconds=seconds, thorough=thorough, effort=effort)
    if isinstance(problem, QuadraticProgram):
        return _drivers()[1](problem)
    if isinstance(problem, MixedComplementarity):
        from .mixed.solve_mixed import solve_mixed

        return solve_mixed(problem, tol=tol)
    allowed = "a QuadraticProgram, LinearComplementarity, ComplementarityProblem or MixedComplementarity"
    raise InputError("problem", type(problem).__name__, allowed, "Build one with assemble() or gauss_program().")


@cache
def _drivers() -> tuple[Callable[..., Solution], Callable[..., Solution]]:
    from .blocks.solve_blocks import solve_blocks
    from .quadratic.solve_quadratic import solve_quadratic

    return solve_blocks, solve_quadratic
