"""The quick way for a few blocks: the first attempts of the driver in one compiled call, then the verification."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from .complementarity import ComplementarityProblem
from .solution import Solution
from .verify import Problem, verified

ROWS = 36  # more is left to sparse methods
STEPS = 60  # proximal Newton steps; what needs more is hard, and left to the whole list of attempts


def few_blocks(problem: Problem, blocks: ComplementarityProblem, tol: float) -> Solution | None:
    """Return the verified answer of the first attempts, or None if the problem is not of the kind for it."""
    rows, table = blocks.rows, blocks.table
    if len(blocks.q) > ROWS or blocks.W_abs is not None or sp.issparse(blocks.W) or table.dry:
        return None
    r = np.zeros(len(blocks.q))
    E, steps = _kernel()(
        (rows.data, rows.indices, rows.indptr), blocks.q, rows.D, (table.code, table.start, table.P), blocks.rho, tol,
        0 if table.plain else STEPS, r,
    )  # fmt: skip
    if not np.isfinite(E):
        return None
    return verified(problem, blocks, r, "proximal_newton" if steps else "gauss_seidel", steps or 5, tol)


@cache
def _kernel() -> Any:
    from .small_kernels import first_attempts

    return first_attempts
