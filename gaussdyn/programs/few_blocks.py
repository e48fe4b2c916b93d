"""The quick way for a few blocks: the first attempts of the driver in one compiled call, then the verification."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from .complementarity import ComplementarityProblem
from .solution import Solution
from .verify import Problem, finer, loose, trimmed, verified

ROWS = 36  # more is left to sparse methods
STEPS = 60  # proximal Newton steps; what needs more is hard, and left to the whole list of attempts


def few_blocks(problem: Problem, blocks: ComplementarityProblem, tol: float) -> Solution | None:
    """Return the verified answer of the first attempts, or None if the problem is not of the kind for it."""
    rows, table = blocks.rows, blocks.table
    if len(blocks.q) > ROWS or blocks.W_abs is not None or table.dry:
        return None
    full = (rows.data, rows.indices, rows.indptr)
    if sp.issparse(blocks.W):
        full = _kernels()[1](*full)
    laws, r = (table.code, table.start, table.P), np.zeros(len(blocks.q))
    E, steps = _kernels()[0](full, blocks.q, rows.D, laws, blocks.rho, tol, 0 if table.plain else STEPS, r)
    if not np.isfinite(E):
        return None
    found = verified(problem, blocks, r, "proximal_newton" if steps else "gauss_seidel", steps or 5, tol)
    if not (found.solved and loose(found, tol)):
        return found
    trim = trimmed(found, tol)
    if trim is not found:
        return trim
    E, more = _kernels()[0](full, blocks.q, rows.D, laws, blocks.rho, finer(found, tol), 0, r)
    return verified(problem, blocks, r, "proximal_newton", steps + more, tol) if np.isfinite(E) else found


@cache
def _kernels() -> tuple[Any, Any]:
    from .small_kernels import filled, first_attempts

    return first_attempts, filled
