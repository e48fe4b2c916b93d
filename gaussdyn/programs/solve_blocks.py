"""The driver for block problems: a list of attempts, each verified; then a proof that there is no solution, or not."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ..arrays import Array, vector
from .backends.faceted import facets_are_exact
from .backends.gauss_seidel import GaussSeidel
from .backends.interior_point import InteriorPoint, has_cones
from .backends.lemke import LARGEST, Lemke
from .backends.newton import ProximalNewton
from .backends.scaled import Scaled, scaled
from .complementarity import ComplementarityProblem
from .laws import Sliding, Unilateral
from .residuals import TOL
from .solution import Solution, Status
from .verify import Approach, Problem, as_blocks, contradiction, finished, nothing_to_solve, verified

SMALL = 60  # rows up to which Lemke's dense tableau is cheap


def solve_blocks(problem: Problem, *, start: Array | None = None, tol: float = TOL, seconds: float = 30.0) -> Solution:
    """Solve a block problem or an LCP.

    Parameters
    ----------
    problem : ComplementarityProblem or LinearComplementarity
    start : Array, optional
        A reaction to begin with (the last step's); where there are several solutions, one near it is found first.
    tol : float
        Residual E that counts as solved.
    seconds : float
        Wall time after which no further attempt is begun.

    Returns
    -------
    Solution
        SOLVED if the residuals recomputed from the problem are small; INFEASIBLE or NO_SOLUTION with a certificate;
        else MAX_ITERATIONS or UNDECIDED with the best point found.
    """
    blocks = as_blocks(problem)
    if nothing_to_solve(blocks):
        found = verified(problem, blocks, np.zeros(len(blocks.q)), "none", tol=tol)
        return found if found.solved else diagnosed(found, blocks)
    data, stop = scaled(blocks), time.perf_counter() + seconds
    best, x, total, examined = None, np.zeros(len(blocks.q)), 0, False
    for method, x0 in _attempts(blocks, data, start, tol, stop):
        y, iterations = method.improve(data, x if x0 is None else x0)
        total += iterations
        found = verified(problem, blocks, finished(data, y, tol), method.name, total, tol)
        if found.solved:
            return found
        if best is None or _error(found) < _error(best):
            best, x = found, found.r / data.unit
        if not examined and method.name == ProximalNewton.name:
            examined, verdict = True, diagnosed(best, blocks)
            if verdict.status is Status.INFEASIBLE:
                return verdict
        if time.perf_counter() > stop:
            break
    assert best is not None
    return undecided(best, blocks)


def _error(solution: Solution) -> float:
    return np.inf if solution.residuals is None else solution.residuals.E


def _attempts(
    blocks: ComplementarityProblem, data: Scaled, start: Array | None, tol: float, stop: float
) -> Iterator[tuple[Approach, Array | None]]:
    """Yield (method, where it starts; None: from the best point so far), the cheap ones first."""
    zero, rows = np.zeros(len(blocks.q)), len(blocks.q)
    plain = bool(np.isin(blocks.table.code, (Unilateral.code, Sliding.code)).all())

    def left() -> float:
        return max(0.5 * (stop - time.perf_counter()), 0.1)

    if start is not None:
        yield ProximalNewton(alpha=1e-6, newton_steps=10, tol=tol), vector("start", start, rows) / data.unit
    yield GaussSeidel(sweeps=5 if data.small else 25, seconds=left(), tol=tol), zero
    if plain and rows <= SMALL:
        yield Lemke(tol=tol), None
    yield ProximalNewton(seconds=left(), tol=tol), zero
    if facets_are_exact(blocks.table) and not plain and rows <= SMALL:
        yield Lemke(tol=tol), None
    if has_cones(blocks.table):
        yield InteriorPoint(seconds=left(), tol=tol), None
    yield GaussSeidel(sweeps=10_000, seconds=left(), tol=tol), None
    yield ProximalNewton(alpha=1e-3, seconds=left(), tol=tol), None
    if facets_are_exact(blocks.table) and SMALL < rows <= LARGEST:
        yield Lemke(tol=tol), None


def diagnosed(best: Solution, blocks: ComplementarityProblem) -> Solution:
    """Return the solution as INFEASIBLE, with the proof, if no admissible motion exists; else unchanged."""
    from .infeasible import refutation

    certificate = refutation(blocks)
    if certificate is None:
        return best
    message = str(certificate.document["provenance"].get("about", "")) or "the rows of the motion contradict"
    return best.but(status=Status.INFEASIBLE, certificate=certificate, message=message)


def undecided(best: Solution, blocks: ComplementarityProblem) -> Solution:
    """Return the best point with an honest status: bilateral rows that contradict without proof are UNDECIDED."""
    if best.x is not None and contradiction(blocks, best.x):
        return best.but(status=Status.UNDECIDED, message="the bilateral rows contradict each other by more than 1e-9")
    return best
