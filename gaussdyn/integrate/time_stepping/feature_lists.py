"""Lists of the contacts that a search found, compiled: their order, and how one goes from list to list."""

from __future__ import annotations

from ..._jit import A2, I1, I2, kernel
from ...arrays import Array, IntArray
from ...mechanics.collision.broad_phase import LABELS

LISTS = f"Tuple(({I1}, {I2}, {I2}, {A2}))"
Lists = tuple[IntArray, IntArray, IntArray, Array]
"""kind (f,), bodies (f, 2), label (f, 4), data (f, 25) of contacts, as `mechanics.features.Found`."""


@kernel(f"int64({I2}, {I2}, int64)", borrows=True)
def place_of(table: IntArray, label: IntArray, f: int) -> int:
    """Return a number that grows with the id of a feature."""
    return int((table[label[f, 0], 2] + label[f, 1]) * LABELS + table[label[f, 2], 3] + label[f, 3])


@kernel(f"void({LISTS}, int64, {LISTS}, int64)", borrows=True)
def copy_feature(source: Lists, k: int, target: Lists, f: int) -> None:
    """Put feature k of one list into place f of another."""
    target[0][f] = source[0][k]
    for a in range(2):
        target[1][f, a] = source[1][k, a]
    for a in range(4):
        target[2][f, a] = source[2][k, a]
    for a in range(len(target[3][f])):
        target[3][f, a] = source[3][k, a]
