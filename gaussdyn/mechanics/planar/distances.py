"""Signed distances of the pairs of shapes in the plane, compiled: below zero they overlap, by the shortest way out.

That is the largest separation along any direction. Of shapes without their skins that overlap it is one along the
normal of an edge; of those that are apart it is their distance.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import A1, A2, kernel
from ...arrays import Array
from .clipping import NX, NY, X, Y, edges, in_line, lowest, nearest_points
from .search import CENTRE, END, FIRST, FLAT, SIZE, SKIN, Outlines, put_shapes, skin_of


@kernel(f"float64({A2}, {A2}, float64)", borrows=True)
def signed_distance(a: Array, b: Array, skin: float) -> float:
    """Return the signed distance of two placed shapes, m; `skin` is that of both."""
    best = -np.inf
    for j in range(edges(a)):
        best = max(best, lowest(a, j, b)[0])
    for j in range(edges(b)):
        best = max(best, lowest(b, j, a)[0])
    best = max(best, in_line(a, b), in_line(b, a))  # cores without an inside, on one line
    return float(best - skin if -np.inf < best <= 0.0 else nearest_points(a, b, skin, 0.0)[0])


@kernel(f"float64({A2}, {A2}, float64)", borrows=True)
def above_plane(plane: Array, solid: Array, skin: float) -> float:
    """Return how far a shape is above a half-plane, m."""
    least = np.inf
    for k in range(len(solid)):
        height = plane[0, NX] * (solid[k, X] - plane[0, X]) + plane[0, NY] * (solid[k, Y] - plane[0, Y])
        least = min(least, height)
    return float(least - skin)


@kernel(f"void(Outlines, {A1}, {A1}, float64, {A1})", borrows=True, entry=True)
def find_distances(o: Outlines, q: Array, v: Array, reach: float, found: Array) -> None:
    """Put the signed distances of all pairs, m; infinity where they are farther apart than `reach`."""
    put_shapes(o, q, v)
    for pair in range(len(o.pairs)):
        i, j = o.pairs[pair, 0], o.pairs[pair, 1]
        a, b = o.now[o.solids[i, FIRST] : o.solids[i, END]], o.now[o.solids[j, FIRST] : o.solids[j, END]]
        far = math.hypot(o.motion[i, CENTRE] - o.motion[j, CENTRE], o.motion[i, CENTRE + 1] - o.motion[j, CENTRE + 1])
        apart = np.inf
        if far > o.sizes[i, SIZE] + o.sizes[j, SIZE] + reach:
            pass
        elif o.solids[i, FLAT]:
            apart = above_plane(a, b, o.sizes[j, SKIN])
        elif o.solids[j, FLAT]:
            apart = above_plane(b, a, o.sizes[i, SKIN])
        else:
            apart = signed_distance(a, b, skin_of(o, pair))
        found[pair] = apart if apart <= reach else np.inf
