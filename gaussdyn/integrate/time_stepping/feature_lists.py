"""Lists of the contacts that a search found, compiled: their order, and how one goes from list to list."""

from __future__ import annotations

import numpy as np

from ..._jit import A2, A3, I2, kernel
from ...arrays import Array, IntArray
from ...mechanics.collision.bounds.search_records import LABELS, ContactList
from ...mechanics.collision.feature_kinematics import feature_geometry


@kernel(f"int64({I2}, {I2}, int64)", borrows=True)
def place_of(table: IntArray, label: IntArray, f: int) -> int:
    """Return a number that grows with the id of a feature."""
    return int((table[label[f, 0], 2] + label[f, 1]) * LABELS + table[label[f, 2], 3] + label[f, 3])


@kernel("void(ContactList, int64, ContactList, int64)", borrows=True)
def copy_feature(source: ContactList, k: int, target: ContactList, f: int) -> None:
    """Put feature k of one list into place f of another."""
    target.kind[f] = source.kind[k]
    for a in range(2):
        target.bodies[f, a] = source.bodies[k, a]
    for a in range(4):
        target.label[f, a] = source.label[k, a]
    for a in range(len(target.data[f])):
        target.data[f, a] = source.data[k, a]


@kernel(f"int64({I2}, ContactList, int64, ContactList, int64, {A2}, {A3}, UniTuple(float64, 2))")
def join_lists(
    table: IntArray, now: ContactList, n: int, other: ContactList, m: int, x: Array, R: Array,
    gaps: tuple[float, float],
) -> int:  # fmt: skip
    """Add to the n features of a list those of m others that are new and have a gap within `gaps` (m).

    Both lists are in the order of ids, and so is the joint one; the other one is used up. x, R: the bodies, the ground
    last. Returns how many there are then; where they have no room, n + m and nothing is added.
    """
    f, new, out = 0, 0, np.empty(7)
    for k in range(m):
        place = place_of(table, other.label, k)
        while f < n and place_of(table, now.label, f) < place:
            f += 1
        if f < n and place_of(table, now.label, f) == place:
            continue
        a, b = other.bodies[k, 0] % len(x), other.bodies[k, 1] % len(x)
        feature_geometry(other.kind[k], other.data[k], x[a], R[a], x[b], R[b], out)
        if not (out[0] < gaps[0] or out[0] > gaps[1]):
            copy_feature(other, k, other, new)
            new += 1
    if n + new > len(now.kind):
        return n + m
    i, k = n - 1, new - 1
    while k >= 0:  # from behind, so that nothing is overwritten before it has moved
        if i >= 0 and place_of(table, now.label, i) > place_of(table, other.label, k):
            copy_feature(now, i, now, i + k + 1)
            i -= 1
        else:
            copy_feature(other, k, now, i + k + 1)
            k -= 1
    return n + new
