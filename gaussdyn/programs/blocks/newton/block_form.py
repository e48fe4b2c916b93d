"""A scaled problem by 3x3 blocks of contacts, with the elimination order of its block LU: for sparse Newton steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....arrays import Array, IntArray
from ....linalg.block_lu import Ordering
from ....linalg.block_lu3 import Blocks, by_blocks, order_blocks
from ...problems.complementarity import ComplementarityProblem, GlobalForm
from ..scaled import Scaled, mean_diagonal
from .body_form import comes_by_bodies

Pairs = tuple[Array, Array, IntArray, Array, IntArray, IntArray, IntArray]  # see `rank_six_pairs`
LEAST_ROWS = 37  # below, one dense elimination with pivots is as quick
MOST_BLOCKS = 12_000  # the graph of more takes too much memory (144 MB for this many)
MOST_KEPT = 1_000_000  # block products of an elimination order that is kept for the next problem (24 MB)
GROUPED = 2.5  # contacts per group that make groups worth their while
TRUE = 1e-10  # misfit of W made from groups up to which Newton's steps with it are as good


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockForm:
    """The arrays that `sparse_newton` take; vectors (n, 3) are padded with zeros where a block has fewer rows."""

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """What Newton's steps need of W and the laws' sizes alone, with W as it was; kept for the next step of a run."""

    start: IntArray
    rows: tuple[Array, IntArray, IntArray]  # W, as CSR
    mass: float  # w0, the unit of W in `form`
    form: BlockForm | None  # None: the elimination would take too much memory


_recent: list[Prepared] = []  # the last problem's


def prepared(problem: ComplementarityProblem, again: bool) -> Prepared:
    """Return the problem's block form; with `again` the last problem's, if W and the sizes of the blocks are the same.

    The same to the last bit: only q and the laws may differ.
    """
    rows, start = problem.rows.arrays, problem.table.start
    if again and _recent and _same(start, _recent[0].start):
        last = _recent[0]
        if all(_same(rows[k], last.rows[k]) for k in range(3)):
            return last
    mass = mean_diagonal(problem.rows.D, start)
    form = _made((rows[0] / mass, *rows[1:]), start)
    made = Prepared(start=start, rows=(rows[0].copy(), *rows[1:]), mass=mass, form=form)
    _recent[:] = [] if form is None or len(form.ordering.update) > MOST_KEPT else [made]
    return made


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a is b or (len(a) == len(b) and a.tobytes() == b.tobytes())


def block_form(data: Scaled) -> BlockForm | None:
    """Return the problem by blocks, or None where it is small, has blocks of more than 3 rows, or acts with |r|.

    None as well where the elimination would take too much memory. The order is found once and kept with `data`.
    """
    if not has_block_form(data):
        return None
    if "blocks" not in data.kept:
        data.kept["blocks"] = _made(data.rows, data.start)
    found: BlockForm | None = data.kept["blocks"]
    return found


def has_block_form(data: Scaled) -> bool:
    """Whether `block_form` has something to return; costs next to nothing."""
    if "blocks" in data.kept:
        return data.kept["blocks"] is not None
    return not len(data.W_abs) and _fits(data.start, int(np.diff(data.start).max()), data.form)


def comes_by_blocks(problem: ComplementarityProblem) -> bool:
    """Whether `prepared` serves the problem: the same as `has_block_form` before anything is scaled."""
    return problem.W_abs is None and _fits(problem.table.start, problem.table.widest, problem.form)


def _fits(start: IntArray, widest: int, form: GlobalForm | None) -> bool:
    rows = LEAST_ROWS <= start[-1] <= 3 * MOST_BLOCKS
    return bool(rows and 1 < widest <= 3 and not comes_by_bodies(form, len(start) - 1, widest))


def _made(rows: tuple[Array, IntArray, IntArray], start: IntArray) -> BlockForm | None:
    """Return W by 3x3 blocks with an elimination order; None where the factors would be too long."""
    sizes = np.diff(start)
    values, indices, indptr = by_blocks(*rows, start)
    places = np.arange(start[-1]) + np.repeat(3 * np.arange(len(sizes)) - start[:-1], sizes)
    blocks = (values, indices, indptr, np.zeros(0, dtype=np.int64))
    found = _pairs(blocks)
    if found is None:
        ordering, slot = order_blocks(indices, indptr)
        blocks, pairs = (values, indices, indptr, slot), no_pairs()
        if not len(ordering.update) and ordering.first[-1] > 0:
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
    from .rank_six_pairs import between_groups, group_by_pattern, misfit_of_pairs, span_groups

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
    exact = misfit_of_pairs(blocks, pairs) <= TRUE and (len(ordering.update) or ordering.first[-1] == 0)
    return (pairs, ordering) if exact else None
