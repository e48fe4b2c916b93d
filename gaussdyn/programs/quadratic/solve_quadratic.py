"""Quadratic programs: pick a method, verify, fall back on others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..problems.quadratic import QuadraticProgram
from ..solution.solution import Solution
from ..solution.status import Status

if TYPE_CHECKING:
    from ..method import Method

DENSE = 2000  # unknowns plus rows up to which our own dense method goes first
NEARLY = 1e-6  # residual below which a contradiction that could not be proved is doubted
ENDS = (Status.SOLVED, Status.INFEASIBLE)


def solve_quadratic(program: QuadraticProgram) -> Solution:
    """Solve with the method that suits the size, then with the others until the verified residual is small.

    Returns
    -------
    Solution
        SOLVED if the KKT residual recomputed from the program is at most 1e-12 or at the rounding floor; INFEASIBLE
        only with an exact Farkas certificate; UNDECIDED (no x) if the rows contradict each other but nothing exact
        could be shown; else MAX_ITERATIONS with the best point found.
    """
    from .polish import refuted

    tried: list[Solution] = []
    for method in _methods(program):
        answer = method.solve(program)
        if answer.status in ENDS or (answer.x is None and not _nearly_solved(program)):
            return answer
        tried.append(answer)
    proof = refuted(program, None, tried[0].method, tried[0].iterations)
    if proof.status is Status.INFEASIBLE:
        return proof
    points = [answer for answer in tried if answer.residuals is not None]
    return min(points, key=lambda answer: answer.residuals.E) if points else tried[0]  # type: ignore[union-attr]


def _nearly_solved(program: QuadraticProgram) -> bool:
    """Whether the interior-point library finds a point where another method found a contradiction without proof."""
    from .backends.clarabel_ import Clarabel

    residuals = Clarabel(polish=False).solve(program).residuals
    return residuals is not None and residuals.E <= NEARLY


def _methods(program: QuadraticProgram) -> Iterator[Method]:
    """Yield the methods in the order in which they are worth trying; libraries are imported only when reached."""
    from .dual_active_set import ActiveSet

    small = program.n + len(program.b) + len(program.d) <= DENSE
    if small:
        yield ActiveSet()
    from .backends.clarabel_ import Clarabel

    yield Clarabel()
    from .backends.osqp_ import Osqp

    yield Osqp()
    if not small:
        yield ActiveSet()
