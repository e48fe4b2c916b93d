"""The quick way for a few blocks: the first attempts of the driver in one compiled call, then the verification."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ....arrays import Array
from ...problems.complementarity import ComplementarityProblem, Problem
from ...solution.solution import Solution
from ..gauss_seidel.first_sweeps import FEW_ROWS
from ..verify import finer, loose, trimmed, verified

STEPS = 60  # proximal Newton steps; what needs more is hard, and left to the whole list of attempts


def few_blocks(
    problem: Problem, blocks: ComplementarityProblem, tol: float, start: Array | None = None
) -> tuple[Solution | None, bool]:
    """Return the verified answer of the first attempts, and whether it is one by all measures, as `loose` has them.

    None if the problem is not of the kind for it. They begin at `start`, if it is given, and where that does not solve
    the problem at zero.
    """
    if len(blocks.q) > FEW_ROWS or blocks.W_abs is not None or blocks.table.dry:
        return None, False
    E, steps, r = _attempted(blocks, tol, start)
    if not math.isfinite(E):
        return None, False
    found = verified(problem, blocks, r, "proximal_newton" if steps else "gauss_seidel", steps or 5, tol)
    if not (solved := found.solved) or not loose(found, tol):
        return found, solved
    trim = trimmed(found, tol)
    if trim is not found:
        return trim, True
    r = _begun(blocks, start)
    E, more = _kernel()(*_data(blocks), finer(found, tol), 0, r)
    if math.isfinite(E):
        found = verified(problem, blocks, r, "proximal_newton", steps + more, tol)
    return found, found.solved and not loose(found, tol)


def _attempted(blocks: ComplementarityProblem, tol: float, start: Array | None) -> tuple[float, int, Array]:
    """Return residual, steps and reactions of the first attempts, from `start` if that solves it, else from zero."""
    attempts, data, most = _kernel(), _data(blocks), 0 if blocks.table.plain else STEPS
    r = _begun(blocks, start)
    E, steps = attempts(*data, tol, most if start is None else 0, r)
    if start is not None and not tol >= E:
        r[:] = 0.0
        E, steps = attempts(*data, tol, most, r)
    return E, steps, r


def _begun(blocks: ComplementarityProblem, start: Array | None) -> Array:
    return np.zeros(len(blocks.q)) if start is None else start.copy()


def near_few(problem: Problem, blocks: ComplementarityProblem, tol: float, start: Array) -> Solution | None:
    """Return the verified answer of Newton's method from `start` alone; None where it finds none."""
    r = start.copy()
    E, steps = _kernel()(*_data(blocks), tol, -1, r)
    found = verified(problem, blocks, r, "proximal_newton", steps, tol) if tol >= E else None
    return found if found is not None and found.solved and not loose(found, tol) else None


def _data(blocks: ComplementarityProblem) -> tuple[Any, ...]:
    rows = blocks.rows
    return rows.arrays, blocks.q, rows.D, blocks.table.arrays, blocks.rho


@cache
def _kernel() -> Any:
    from ...._jit import entry_of
    from .attempts import first_attempts

    return entry_of(first_attempts)
