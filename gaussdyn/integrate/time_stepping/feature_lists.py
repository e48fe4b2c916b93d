"""Lists of the contacts that a search found, compiled: their order, and how one goes from list to list."""

from __future__ import annotations

import numpy as np

from ..._jit import A2, A3, I1, I2, kernel
from ...arrays import Array, IntArray
from ...mechanics.collision.broad_phase import LABELS
from ...mechanics.collision.feature_kinematics import feature_geometry

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


@kernel(f"int64({I2}, {LISTS}, int64, {LISTS}, int64, {A2}, {A3}, UniTuple(float64, 2))")
def join_lists(
    table: IntArray, now: Lists, n: int, other: Lists, m: int, x: Array, R: Array, gaps: tuple[float, float]
) -> int:  # fmt: skip
    """Add to the n features of a list those of m others that are new and have a gap within `gaps` (m).

    Both lists are in the order of ids, and so is the joint one; the other one is used up. x, R: the bodies, the ground
    last. Returns how many there are then; where they have no room, n + m and nothing is added.
    """
    f, new, out = 0, 0, np.empty(7)
    for k in range(m):
        place = place_of(table, other[2], k)
        while f < n and place_of(table, now[2], f) < place:
            f += 1
        if f < n and place_of(table, now[2], f) == place:
            continue
        a, b = other[1][k, 0] % len(x), other[1][k, 1] % len(x)
        feature_geometry(other[0][k], other[3][k], x[a], R[a], x[b], R[b], out)
        if not (out[0] < gaps[0] or out[0] > gaps[1]):
            copy_feature(other, k, other, new)
            new += 1
    if n + new > len(now[0]):
        return n + m
    i, k = n - 1, new - 1
    while k >= 0:  # from behind, so that nothing is overwritten before it has moved
        if i >= 0 and place_of(table, now[2], i) > place_of(table, other[2], k):
            copy_feature(now, i, now, i + k + 1)
            i -= 1
        else:
            copy_feature(other, k, now, i + k + 1)
            k -= 1
    return n + new
