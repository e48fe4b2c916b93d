"""What one iteration costs, in units of `Work`: about nanoseconds, from the sizes of the problem alone.

Fitted to recorded problems, walls of bricks and contacts on one body, of 4 to 20 000 contacts; right within a factor of
three. They decide only how soon slow methods give up, but do so in the same way everywhere.
"""

from __future__ import annotations

from ....linalg.block_lu import Ordering
from ..scaled import Scaled
from .block_form import BlockForm, block_form
from .body_form import has_body_form

FULL = 0.2  # a Newton matrix with more entries than this is treated as dense
CALL = 1e4  # the way from Python into compiled code and back
SPARSE = 3e5  # the same for a sparse factorization


def sweep(data: Scaled) -> float:
    """Return the cost of a sweep over all blocks."""
    return 1.5 * len(data.rows[0]) + 250.0 * len(data.code)


def newton_step(data: Scaled) -> float:
    """Return the cost of a Newton step, by whatever form of the problem it is taken."""
    form, rows = block_form(data), len(data.q)
    if form is not None:
        return newton_by_blocks(form)
    return 0.2 * rows**3 + 1000.0 * len(data.code) if data.small else full_step(data)


def newton_by_blocks(form: BlockForm) -> float:
    """Return the cost of a Newton step on W by blocks."""
    return elimination(form.ordering, len(form.blocks[0]), len(form.sizes), 16.0 if len(form.pairs[2]) else 1.0)


def elimination(ordering: Ordering, blocks: int, contacts: int, size: float = 1.0) -> float:
    """Return the cost of a block LU and what goes with it; `size` is the cost of a block product over that of 3x3."""
    return 6.0 * size * len(ordering.update) + 20.0 * blocks + 1000.0 * contacts


def full_step(data: Scaled) -> float:
    """Return the cost of a Newton step whose matrix is factored as a whole, with pivots."""
    rows, entries = len(data.q), len(data.rows[0])
    if has_body_form(data):
        return SPARSE + 80.0 * entries
    return SPARSE + (0.04 * rows**3 if entries > FULL * rows * rows else 150.0 * entries)


def pivot(rows: int) -> float:
    """Return the cost of a pivot of Lemke's method on so many rows."""
    return 2.0 * rows * rows


def interior_step(data: Scaled) -> float:
    """Return the cost of a step of an interior point method, on blocks padded to three rows."""
    rows, entries = 3.0 * len(data.code), len(data.rows[0])
    return 2.0 * SPARSE + (0.05 * rows**3 if entries > FULL * rows * rows else 400.0 * entries)
