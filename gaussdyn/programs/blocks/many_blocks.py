"""The quick way for many blocks: Newton's method by 3x3 blocks from swept reactions, before any data is scaled."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...arrays import Array
from ..problems.complementarity import ComplementarityProblem, Problem
from ..solution.solution import Solution
from ..work import Work
from .newton import costs
from .newton.block_form import Prepared, prepared
from .proximal_newton import CHUNK, ProximalNewton
from .scaled import scaled_parameters
from .verify import finer, loose, trimmed, verified

COLD, WARM = 1e-2, 1e-4  # first proximal term; the last step's reactions have nearly the right modes
FLOOR = 1e-9  # smallest proximal term
STEPS = 300  # most Newton steps
QUICK = 14  # steps within which the quickest way must get there, from the last step's reactions
FEW = 8  # more of them where another measure than E is not small yet


def many_blocks(
    problem: Problem, blocks: ComplementarityProblem, swept: Array, warm: bool, tol: float, work: Work
) -> tuple[Solution | None, Prepared]:
    """Return the verified answer of bold proximal Newton steps from `swept`, and the prepared form.

    Parameters
    ----------
    problem, blocks
        The problem that the answer belongs to, and the same by blocks, for which `comes_by_blocks` holds.
    swept : Array
        Where to begin; not changed.
    warm : bool
        Whether it comes from the last step's reactions.
    tol : float
        Residual E to reach.
    work : Work
        What may still be done.

    Returns
    -------
    Solution or None
        None if the elimination would take too much memory.
    """
    form = prepared(blocks, warm)
    if form.form is None:
        return None, form
    steps = _Steps(blocks, form, swept, WARM if warm else COLD, work)
    if not (warm and steps.fall(tol, True)):
        steps.go(tol, STEPS)
    found = verified(problem, blocks, steps.r, ProximalNewton.name, steps.taken, tol)
    if found.solved and loose(found, tol):
        found = trimmed(found, tol)
    if found.solved and loose(found, tol):
        goal = 10.0 * finer(found, tol)
        if not steps.fall(goal, False):
            steps.go(goal, steps.taken + FEW)
        other = verified(problem, blocks, steps.r, ProximalNewton.name, steps.taken, tol)
        found = other if other.solved else found
    return found, form


class _Steps:
    """Proximal Newton steps that can go on to a smaller residual; r is the best point."""

    def __init__(self, blocks: ComplementarityProblem, made: Prepared, swept: Array, alpha: float, work: Work) -> None:
        assert made.form is not None
        form, mass = made.form, made.mass
        self.work, self.cost = work, costs.newton_by_blocks(form)
        table, self.r, self.taken = blocks.table, swept.copy(), 0
        P = table.P
        if table.dry:
            P = scaled_parameters(table, mass / float(np.linalg.norm(blocks.q)))
        self.state = np.array([alpha, FLOOR, 0.0, np.inf, 1.0])  # see `proximal_steps`
        laws = table.code, form.sizes, P
        self.problem = _kernels()[2](
            form.blocks, form.ordering, form.pairs, blocks.q, laws, blocks.rho, table.start, mass
        )  # fmt: skip
        self.points = np.empty((3, len(form.sizes), 3))

    def fall(self, tol: float, bold: bool) -> bool:
        """Try a few steps with a proximal term that falls at once; return whether E <= 0.1 tol was reached.

        If not, `go` begins at the best point, boldly or not.
        """
        E, done = _kernels()[0](self.problem, tol, QUICK, self.r)
        self._took(done)
        self.state[2:] = 0.0, np.inf, float(bold)
        return bool(0.1 * tol >= E)

    def go(self, tol: float, most: int) -> None:
        """Go on to E <= 0.1 tol, or `most` steps in all."""
        while self.taken < most:
            limit = min(CHUNK, most - self.taken)
            _, done = _kernels()[1](self.problem, self.state, tol, limit, self.points, self.r)
            self._took(done)
            if done < limit or self.work.over():
                break

    def _took(self, steps: int) -> None:
        self.taken += steps
        self.work.spend(steps * self.cost)


@cache
def _kernels() -> tuple[Any, Any, Any]:
    from ..._jit import entry_of
    from .newton.sparse_falling import UnscaledProblem, falling_from, proximal_from

    return entry_of(falling_from), entry_of(proximal_from), UnscaledProblem
