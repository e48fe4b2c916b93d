"""Solutions by E whose other measures, rel_q or viol_u, are not small yet: what brings all of them down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ....arrays import EPS, Array
from ...problems.complementarity import ComplementarityProblem
from ...solution.solution import Solution
from ...work import Work
from ..polish import polish
from ..proximal_newton import ProximalNewton
from ..scaled import Scaled, scaled
from ..verify import Approach, excess, finer, trimmed, verified
from .last_bits import settled
from .patient import PatientNewton

PASSES = 4  # of a method that begins anew at its own answer, as long as that helps
HELPS = 0.7  # factor on the excess up to which a pass has helped
PASS = 1e9  # units of work for one pass: about a second
ROUNDING = 0.35  # of eps |W| |r|: what sums of W r are wrong by (0.2 on average of stacks with mass ratios)


def sharpened(
    found: Solution, blocks: ComplementarityProblem, data: Scaled, tol: float, work: Work, *, quickly: bool = False
) -> Solution:
    """Return the solution with the least excess (`verify.excess`) found; at best with none.

    The measures weigh the blocks differently: where rho differs by 1e4 from block to block, Newton's method with one
    rho for all of them sees what E does not. Where mu is very large the last bits of reactions are changed.

    Parameters
    ----------
    found : Solution
        Solved, but `verify.loose`.
    blocks, data
        The same problem by blocks, and scaled.
    tol : float
        What the measures are to reach, but for the rounding of the reactions.
    work : Work
        What may still be done.
    quickly : bool
        Whether to try the first method alone: a step of a run is not held up for long.
    """
    best = _better(found, settled(blocks, found.r), 0, blocks, tol)
    best = _better(best, polish(data, best.r / data.unit, finer(best, tol)) * data.unit, 0, blocks, tol)
    for method, view, unit in _methods(blocks, data, finer(best, tol), quickly):
        patient = isinstance(method, PatientNewton)
        for _ in range(PASSES):
            before = excess(best, tol)
            if before <= 1.0 or work.over() or (patient and _is_rounding(best, blocks)):
                return best
            with work.within(PASS):
                x, steps = method.improve(view, best.r / unit, work)
            best = trimmed(_better(best, x * unit, steps, blocks, tol), tol)
            if not excess(best, tol) <= HELPS * before:
                break
    return best


def _better(best: Solution, r: Array, steps: int, blocks: ComplementarityProblem, tol: float) -> Solution:
    """Return the solution with reactions r, if it is one and has less excess, else the best."""
    other = verified(best.problem, blocks, r, best.method, best.iterations + steps, tol)
    return other if other.solved and excess(other, tol) < excess(best, tol) else best


def _is_rounding(best: Solution, blocks: ComplementarityProblem) -> bool:
    """Whether rel_q and viol_u are no more than what the sums of W r lose by rounding."""
    figures, size = best.residuals, float(np.linalg.norm(blocks.q))
    if figures is None or blocks.W_abs is not None:
        return False
    sums = float(np.linalg.norm(abs(blocks.W) @ np.abs(best.r)))
    return max(figures.rel_q or 0.0, figures.viol_u or 0.0) * size <= ROUNDING * EPS * sums


def _methods(
    blocks: ComplementarityProblem, data: Scaled, tol: float, quickly: bool
) -> Iterator[tuple[Approach, Scaled, Array | float]]:
    """Yield methods, the data they work on and their unit of reactions: one rho for all blocks or their own ones.

    Or even blocks, whose rows are multiplied so that all rho are about 1. The quick ones come first.
    """
    yield ProximalNewton(alpha=1e-3, newton_steps=60, tol=tol), data, data.unit
    if quickly:
        return
    views = [_view(data, rho) for rho in (data.mass, 1.0, float(data.rho.max()))]  # the first: rel_q is its E
    for view in views:
        for alpha in (1e-3, 1e-6):
            yield ProximalNewton(alpha=alpha, newton_steps=60, tol=1e-13), view, data.unit
    places: list[tuple[Scaled, Array | float]] = [(view, data.unit) for view in views]
    if not blocks.table.dry and blocks.W_abs is None:
        even, factors = even_blocks(blocks)
        view = scaled(even)
        places.insert(0, (view, view.unit * factors))
        yield ProximalNewton(alpha=1e-3, newton_steps=60, tol=1e-14), *places[0]
    for place in places:
        yield PatientNewton(draws=0, tol=1e-13), *place
    yield PatientNewton(draws=0, tol=tol), data, data.unit


def even_blocks(blocks: ComplementarityProblem) -> tuple[ComplementarityProblem, Array]:
    """Return the problem with the rows of every block in units of their own, so that its rho lies in [1/2, 2].

    And the factors, powers of two for every row, by which its reactions are those of the problem given.
    """
    factors = np.repeat(np.exp2(np.round(0.5 * np.log2(blocks.rho))), np.diff(blocks.table.start))
    W = sp.diags_array(factors) @ blocks.W @ sp.diags_array(factors)
    return ComplementarityProblem(W=W, q=factors * blocks.q, laws=blocks.laws), factors


def _view(data: Scaled, rho: float) -> Scaled:
    return replace(data, rho=np.full(len(data.rho), rho), weight=rho * float(np.linalg.norm(data.q)))
