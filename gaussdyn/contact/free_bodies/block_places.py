"""Where the 6x6 blocks of every pair of bodies stand in the matrix of `linalg.block_lu`."""

from __future__ import annotations

import numpy as np

from ..._jit import I2, kernel
from ...arrays import IntArray
from ...linalg.block_lu import Ordering, block_at


@kernel(f"{I2}(int64, {I2}, Ordering)", entry=True)
def block_places(n: int, pair: IntArray, ordering: Ordering) -> IntArray:
    """Return the places of the blocks (b, b), (a, a), (b, a), (a, b) of pairs (a, b), -1 where there is none."""
    rank, start, rows = ordering.rank, ordering.start, ordering.rows
    slot = np.full((len(pair), 4), -1)
    for k in range(len(pair)):
        a, b = pair[k, 0], pair[k, 1]
        slot[k, 0] = block_at(n, rank[b], rank[b], start, rows)
        if a >= 0:
            slot[k, 1] = block_at(n, rank[a], rank[a], start, rows)
            slot[k, 2] = block_at(n, rank[b], rank[a], start, rows)
            slot[k, 3] = block_at(n, rank[a], rank[b], start, rows)
    return slot
