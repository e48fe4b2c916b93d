"""Corners of parts that are none of the body that they make: a piece of a line through them lies in it.

Where two boxes make a bar, the corners of their common face are in the midst of edges of the bar. A plane that touches
the bar there touches it along that piece, whose ends bear all that the corner could. So such a corner is no contact on
a plane that both parts meet, at any pose: none comes or goes.

Two polyhedra make such a piece at a corner of one if one of its edges goes on, backwards, in the other, or if the
corner is within a face or an edge of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from ....arrays import Array, BoolArray
from ..solid_hull import Polyhedron

ROUNDING = 1e-12  # of the coordinates, and of directions: how far what is the same may lie apart
FULL = 1e-9  # singular value above which normals count as independent


def inner_corners(parts: Sequence[Polyhedron]) -> list[tuple[int, int, int]]:
    """Return (part, corner, part that goes on there) of those that are no corners of all parts, in one frame."""
    found: list[tuple[int, int, int]] = []
    if len(parts) < 2:
        return found
    boxes = np.array([(one.corners.min(axis=0), one.corners.max(axis=0)) for one in parts])
    near = ROUNDING * np.abs(boxes).max()
    meet = (boxes[:, None, 0] <= boxes[None, :, 1] + near).all(axis=2)
    for a, b in permutations(range(len(parts)), 2):
        if meet[a, b] and meet[b, a]:
            found += [(a, c, b) for c in np.flatnonzero(_inner(parts[a], parts[b], near)).tolist()]
    return found


def _inner(one: Polyhedron, other: Polyhedron, near: float) -> BoolArray:
    """Return which corners of a polyhedron another one continues."""
    heights = one.corners @ other.normals.T - other.offsets
    found: BoolArray = np.asarray((heights <= near).all(axis=1))
    for c in np.flatnonzero(found):
        planes = other.normals[np.abs(heights[c]) <= near]
        pointed = len(planes) >= 3 and np.linalg.svd(planes, compute_uv=False)[2] > FULL
        found[c] = not pointed or bool((planes @ _ways(one, int(c)).T >= -ROUNDING).all(axis=0).any())
    return found


def _ways(solid: Polyhedron, c: int) -> Array:
    """Return the directions of the edges that leave a corner, shape (k, 3)."""
    ends = solid.edges[(solid.edges[:, :2] == c).any(axis=1), :2]
    ways = solid.corners[ends.sum(axis=1) - c] - solid.corners[c]
    return np.asarray(ways / np.linalg.norm(ways, axis=1)[:, None])
