"""The first look at many blocks: sweeps in the problem's own units, as long as their rate promises the answer soon."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ....arrays import Array
from ...problems.complementarity import ComplementarityProblem

if TYPE_CHECKING:
    from .sweeps import Patience

AHEAD = 10.0  # sweeps still to come beyond which Newton's method is quicker: it takes as long as about fifteen
PLANE = 25.0  # the same where all blocks have one or two rows, with cheaper sweeps
NEAR = 3.0  # the same from the last step's reactions, where Newton's method needs a few steps only
LEAST = 3, 2  # sweeps before the rate is judged: from zero, and from the last step's reactions
MOST = 50


def first_sweeps(blocks: ComplementarityProblem, start: Array | None, tol: float) -> tuple[Array, float, int] | None:
    """Return the swept reaction, its E (nearly) and the sweeps made; None if the problem is small, or acts with |r|."""
    q, rows, table = blocks.q, blocks.rows, blocks.table
    if len(q) <= FEW_ROWS or blocks.W_abs is not None:
        return None
    r = np.zeros(len(q)) if start is None else start.copy()
    sweep, patience = _kernel()
    ahead = (PLANE if table.widest <= 2 else AHEAD) if start is None else NEAR
    E, done = sweep(
        rows.arrays, q, table.arrays, rows.D, blocks.rho,
        patience(tol, ahead, LEAST[start is not None], MOST), r,
    )  # fmt: skip
    return (r, E, done) if math.isfinite(E) else None


@cache
def _kernel() -> tuple[Any, type[Patience]]:
    from .sweeps import Patience, quick_sweeps

    return quick_sweeps, Patience


FEW_ROWS = 36  # more is left to sparse methods
