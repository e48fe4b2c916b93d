"""Quadratic programs: pick a method, verify, fall back on others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .quadratic import QuadraticProgram
from .solution import Solution, Status

if TYPE_CHECKING:
    from .solve import Method

DENSE = 400  # unknowns plus rows up to which our own dense method goes first
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
    tried = []
    for method in _methods(program):
        answer = method.solve(program)
        if answer.status in ENDS:
            return answer
        tried.append(answer)
    undecided = [answer for answer in tried if answer.status is Status.UNDECIDED]
    if undecided:
        return undecided[0]
    return min(tried, key=lambda answer: answer.residuals.E if answer.residuals is not None else np.inf)


def _methods(program: QuadraticProgram) -> Iterator[Method]:
    """Yield the methods in the order in which they are worth trying; libraries are imported only when reached."""
    from .backends.active_set import ActiveSet

    small = program.n + len(program.b) + len(program.d) <= DENSE
    if small:
        yield ActiveSet()
    from .backends.clarabel_ import Clarabel

    yield Clarabel()
    from .backends.osqp_ import Osqp

    yield Osqp()
    if not small:
        yield ActiveSet()
