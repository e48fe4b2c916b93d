"""The end that all methods for block problems share: polish, recompute the residuals, set the status."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from ...arrays import EPS, Array
from ..frozen import maker
from ..laws.laws import MU, MU_S
from ..problems.complementarity import NOTHING, ComplementarityProblem, Problem, as_blocks
from ..solution.residuals import TOL, Residuals, examine
from ..solution.solution import Solution
from ..solution.status import Status
from ..solution.uniqueness import Uniqueness
from ..work import Work
from .newton.block_form import has_block_form
from .polish import polish
from .scaled import Scaled, scaled

POLISHABLE = 1e-6  # residual E of a large problem above which Newton's method from the start is quicker than a polish


_solution = maker(Solution)


class Approach(Protocol):
    """A method that improves the reaction of a scaled block problem."""

    @property
    def name(self) -> str:
        """Name of the method in files and messages."""
        ...

    @property
    def tol(self) -> float:
        """Residual E to reach."""
        ...

    def improve(self, data: Scaled, r: Array, work: Work | None = None) -> tuple[Array, int]:
        """Return a better scaled reaction and the number of iterations; do no more than `work` allows."""
        ...


def run(method: Approach, problem: Problem, work: Work) -> Solution:
    """Run one method from r = 0, as far as `work` allows, and verify its answer."""
    blocks = as_blocks(problem)
    if blocks.idle:
        return verified(problem, blocks, np.zeros(len(blocks.q)), method=method.name, tol=method.tol)
    data = scaled(blocks)
    x, iterations = method.improve(data, np.zeros(len(blocks.q)), work)
    found = verified(problem, blocks, finished(data, x, method.tol), method.name, iterations, method.tol)
    return timely(found, work)


def timely(found: Solution, work: Work) -> Solution:
    """Return the solution, as TIME_LIMIT if the clock has cut any of its methods short: whatever it is by then."""
    if not work.stopped:
        return found
    words = f"the time limit, seconds={work.seconds:g}, stopped the call; the best point so far is returned"
    words += ", with a small residual, but it might not have been the answer." if found.solved else "."
    return found.but(status=Status.TIME_LIMIT, unique=(None, None), message=words)


def finished(data: Scaled, x: Array, tol: float) -> Array:
    """Return the polished reaction in the problem's own units; not where nothing is missing, nor far too much is."""
    E = data.residual(x)
    far = POLISHABLE if has_block_form(data) else np.inf
    return (polish(data, x, tol) if far >= E > 0.1 * tol else x) * data.unit


def verified(
    problem: Problem, blocks: ComplementarityProblem, r: Array, method: str, iterations: int = 0, tol: float = TOL
) -> Solution:
    """Return the solution that belongs to the reaction r; SOLVED only if the recomputed residual is small."""
    figures, modes, u = examine(blocks, r)
    if not math.isfinite(figures.E):
        r = np.zeros(len(r))
        figures, modes, u = examine(blocks, r)
    if blocks.form is None:
        x, lam, solved = NOTHING, NOTHING, figures.small(tol)
    else:
        x, lam = blocks.recover(r)
        solved = figures.small(tol) and not contradiction(blocks, x)
    unique = Uniqueness(blocks, r, modes) if solved else (None, None)
    return _solution(
        problem=problem, status=Status.SOLVED if solved else Status.MAX_ITERATIONS,
        x=x if problem is blocks else r, lam=lam, r=r, u=u, modes=modes,
        residuals=figures, unique=unique, null_space=None, method=method, iterations=iterations,
        certificate=None, message="",
    )  # fmt: skip


def contradiction(blocks: ComplementarityProblem, x: Array) -> bool:
    """Whether the bilateral rows contradict each other: the recovered motion does not satisfy them."""
    form = blocks.form
    return form is not None and blocks.elimination is not None and blocks.elimination.gap(x, form.h) > 1e-9


def loose(found: Solution, tol: float) -> bool:
    """Whether rel_q or viol_u is above tol although no rounding of the reactions accounts for it."""
    figures = found.residuals
    if figures is not None and figures.floor > 0.0 and tol >= max(figures.rel_q or 0.0, figures.viol_u or 0.0):
        return False  # as `excess` has it, without a look at the problem
    return excess(found, tol) > 1.0


def excess(found: Solution, tol: float) -> float:
    """Return the largest ratio of rel_q and viol_u to their bars; 0 where all are below tol.

    The bars: max(tol, 10 eps c) with c = |r| / |q| and |r / rho| / |q|. Where data are at rounding level, so that E is
    absolute, E relative to them counts as well.
    """
    figures, blocks = found.residuals, as_blocks(found.problem)
    if figures is None:
        return 0.0
    tiny, rel_q, viol_u = _beside_tiny_data(figures, blocks), figures.rel_q or 0.0, figures.viol_u or 0.0
    if not max(rel_q, viol_u, tiny) > tol:
        return 0.0
    rho, size = np.repeat(blocks.rho, np.diff(blocks.table.start)), float(np.linalg.norm(blocks.q))
    floors = [10.0 * EPS * float(np.linalg.norm(found.r * scale)) / size for scale in (1.0, 1.0 / rho)]
    exact = 10.0 * EPS * float(np.linalg.norm(found.r)) / float(np.linalg.norm(rho * blocks.q)) if tiny > 0.0 else 0.0
    return max(rel_q / max(tol, floors[0]), viol_u / max(tol, floors[1]), tiny / max(tol, exact))


def _beside_tiny_data(figures: Residuals, blocks: ComplementarityProblem) -> float:
    """Return E relative to |rho q| where that is at rounding level, so that E itself is absolute; else 0."""
    if figures.floor > 0.0:  # zero where E is absolute, and for r = 0
        return 0.0
    size = float(np.linalg.norm(np.repeat(blocks.rho, np.diff(blocks.table.start)) * blocks.q))
    return figures.E / size if 0.0 < size <= EPS else 0.0


def trimmed(found: Solution, tol: float) -> Solution:
    """Return a loose solution with its reactions on their cones, if that is not loose; else the solution unchanged.

    A reaction outside its cone by its own rounding is outside by much where reactions are large against the data.
    """
    blocks = as_blocks(found.problem)
    P, r = blocks.table.P.copy(), found.r.copy()
    P[:, MU] = np.maximum(P[:, MU], P[:, MU_S])
    for law, members, rows in blocks.table.groups():
        r[rows] = law.project_many(r[rows], P[members])
    other = verified(found.problem, blocks, r, found.method, found.iterations, tol)
    return other if other.solved and not loose(other, tol) else found


def finer(found: Solution, tol: float) -> float:
    """Return the E at which a loose solution should no longer be loose: its other residuals fall with E."""
    figures, blocks = found.residuals, as_blocks(found.problem)
    assert figures is not None
    tiny = _beside_tiny_data(figures, blocks)
    worst = max(figures.rel_q or 0.0, figures.viol_u or 0.0, tiny)
    return max(EPS, min(0.3, tol / max(worst, tol)) * (tiny or figures.E))
