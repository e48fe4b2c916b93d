"""A scaled problem by 3x3 blocks of contacts, with the elimination order of its block LU: for sparse Newton steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...linalg.block_lu import Ordering
from ...linalg.block_lu3 import Blocks, by_blocks, order_blocks
from .body_form import has_body_form
from .scaled import Scaled

Pairs = tuple[Array, Array, IntArray, Array, IntArray, IntArray, IntArray]  # see `pair_kernels`
LEAST_ROWS = 37  # below, one dense elimination with pivots is as quick
MOST_BLOCKS = 12_000  # the graph of more takes too much memory (144 MB for this many)
MOST_KEPT = 1_000_000  # block products of an elimination order that is kept for the next problem (24 MB)
GROUPED = 2.5  # contacts per group that make groups worth their while
TRUE = 1e-10  # misfit of W made from groups up to which Newton's steps with it are as good


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockForm:
    """The arrays that `sparse_kernels` take; vectors (n, 3) are padded with zeros where a block has fewer rows."""

    blocks: Blocks
    ordering: Ordering  # of the pairs of bodies, if there are any
    pairs: Pairs  # empty unless contacts come in groups
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


_recent: list[tuple[Scaled, BlockForm]] = []  # the last problem's, for the next step of a run


def recall(data: Scaled) -> None:
    """Take over the form of the last problem if W and the laws' sizes are the same to the last bit (only q differs)."""
    if not _recent or "blocks" in data.kept or not has_block_form(data):
        return
    last, form = _recent[0]
    same = (np.array_equal(a, b) for a, b in zip((data.start, *data.rows), (last.start, *last.rows), strict=True))
    if len(last.rows[0]) == len(data.rows[0]) and all(same):
        data.kept["blocks"] = form


def block_form(data: Scaled) -> BlockForm | None:
    """Return the problem by blocks, or None where it is small, has blocks of more than 3 rows, or acts with |r|.

    None as well where the elimination would take too much memory. The order is found once and kept with `data`.
    """
    if not has_block_form(data):
        return None
    if "blocks" not in data.kept:
        made = data.kept["blocks"] = _made(data)
        _recent[:] = [] if made is None or len(made.ordering[5]) > MOST_KEPT else [(data, made)]
    found: BlockForm | None = data.kept["blocks"]
    return found


def has_block_form(data: Scaled) -> bool:
    """Whether `block_form` has something to return; costs next to nothing."""
    if not LEAST_ROWS <= len(data.q) <= 3 * MOST_BLOCKS or len(data.W_abs) or has_body_form(data):
        return False
    if "blocks" in data.kept:
        return data.kept["blocks"] is not None
    return bool(1 < np.diff(data.start).max() <= 3)


def _made(data: Scaled) -> BlockForm | None:
    sizes = np.diff(data.start)
    values, indices, indptr = by_blocks(*data.rows, data.start)
    places = np.arange(data.start[-1]) + np.repeat(3 * np.arange(len(sizes)) - data.start[:-1], sizes)
    blocks = (values, indices, indptr, np.zeros(0, dtype=np.int64))
    found = _pairs(blocks)
    if found is None:
        ordering, slot = order_blocks(indices, indptr)
        blocks, pairs = (values, indices, indptr, slot), no_pairs()
        if not len(ordering[5]) and ordering[4][-1] > 0:
            return None
    else:
        pairs, ordering = found
    return BlockForm(blocks=blocks, ordering=ordering, pairs=pairs, sizes=sizes, places=places)


def no_pairs() -> Pairs:
    """Return what says that there are no groups of contacts."""
    none = np.zeros(0, dtype=np.int64)
    return np.zeros((0, 3, 6)), np.zeros((0, 3, 6)), none, np.zeros((0, 6, 6)), none, np.zeros(1, dtype=np.int64), none


def _pairs(blocks: Blocks) -> tuple[Pairs, Ordering] | None:
    """Return the contacts by groups that join the same bodies, with their order; None if that saves little."""
    from ..pair_kernels import between_groups, group_by_pattern, misfit_of_pairs, span_groups

    n = len(blocks[2]) - 1
    count, group = group_by_pattern(blocks[1], blocks[2])
    if GROUPED * count > n:
        return None
    R, S = np.zeros((n, 3, 6)), np.zeros((n, 3, 6))
    row_of, column_of = np.zeros((n, 3), dtype=np.int64), np.zeros((n, 3), dtype=np.int64)
    if not span_groups(blocks, group, R, S, row_of, column_of):
        return None
    values, indices, indptr = between_groups(blocks, count, group, row_of, column_of)
    ordering, slot = order_blocks(indices, indptr)
    pairs = (R, S, group, values, indices, indptr, slot)
    exact = misfit_of_pairs(blocks, pairs) <= TRUE and (len(ordering[5]) or ordering[4][-1] == 0)
    return (pairs, ordering) if exact else None
