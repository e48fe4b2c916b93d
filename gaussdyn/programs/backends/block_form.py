"""A scaled problem by 3x3 blocks of contacts, with the elimination order of its block LU: for sparse Newton steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering
from ...linalg.block_lu3 import Blocks, by_blocks, order_blocks
from .body_form import has_body_form
from .scaled import Scaled

LEAST_ROWS = 37  # below, one dense elimination with pivots is as quick


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockForm:
    """The arrays that `sparse_kernels` take; vectors (n, 3) are padded with zeros where a block has fewer rows."""

    blocks: Blocks
    ordering: Ordering
    sizes: IntArray
    places: IntArray  # of every row of the problem in the padded vector

    def pad(self, x: Array) -> Array:
        """Return a vector of the problem by blocks, shape (n, 3)."""
        out = np.zeros(3 * len(self.sizes))
        out[self.places] = x
        return out.reshape(-1, 3)

    def rows(self, x: Array) -> Array:
        """Return the vector of the problem that x (n, 3) holds."""
        return np.asarray(x.ravel()[self.places])


def block_form(data: Scaled) -> BlockForm | None:
    """Return the problem by blocks, or None where it is small, has blocks of more than 3 rows, or acts with |r|.

    The order is found once and kept with `data`.
    """
    if not has_block_form(data):
        return None
    if "blocks" not in data.kept:
        data.kept["blocks"] = _made(data)
    found: BlockForm = data.kept["blocks"]
    return found


def has_block_form(data: Scaled) -> bool:
    """Whether `block_form` has something to return; costs next to nothing."""
    if len(data.q) < LEAST_ROWS or len(data.W_abs) or has_body_form(data):
        return False
    return bool(1 < np.diff(data.start).max() <= 3)


def _made(data: Scaled) -> BlockForm:
    sizes = np.diff(data.start)
    values, indices, indptr = by_blocks(*data.rows, data.start)
    ordering, slot = order_blocks(indices, indptr)
    places = np.arange(data.start[-1]) + np.repeat(3 * np.arange(len(sizes)) - data.start[:-1], sizes)
    return BlockForm(blocks=(values, indices, indptr, slot), ordering=ordering, sizes=sizes, places=places)
