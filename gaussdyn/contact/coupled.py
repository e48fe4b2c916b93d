"""Which velocities of a system have to do with one another at one state: by the mass, or by rows that act on both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..arrays import Array, IntArray
from ..mechanics.rows import Row


def coupled(rows: Sequence[Row], M: Array) -> IntArray:
    """Return a number for every velocity, shape (nv,): impulses of the rows do not get from one number to another."""
    found = [np.nonzero(M), *(_pairs(np.flatnonzero(row.J.any(axis=0))) for row in rows)]
    i, j = (np.concatenate([pair[k] for pair in found]) for k in (0, 1))
    label: IntArray = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=M.shape), directed=False)[1]
    return label


def _pairs(support: IntArray) -> tuple[IntArray, IntArray]:
    """Return one coordinate of a support with each of them."""
    return np.repeat(support[:1], len(support)), support
