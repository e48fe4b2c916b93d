"""Shapes in space and the bounds of each along the axes, compiled."""

from __future__ import annotations

import numpy as np

from ...._jit import kernel
from ....arrays import Array
from ..primitives import A3, BOX, CAPSULE, CYLINDER, ELLIPSOID, FRAME, HALF_LENGTH, MESH, RADIUS, SIZE, SURFACE
from ..solids import BLOCK, radius_of
from ..terrain.surface_search import HIGH, LOW
from ..vectors import A1, A2
from .search_records import SHAPE_BLOCK, SHAPE_BODY, SHAPE_KIND, SearchShapes


@kernel(f"float64(SearchShapes, {A2}, int64, int64)", borrows=True)
def half_width(shapes: SearchShapes, world: Array, i: int, a: int) -> float:
    """Return how far shape i, no ball or capsule, goes from its place along axis a of space, at most."""
    kind, size, m = shapes.table[i, SHAPE_KIND], shapes.forms[i], FRAME + 3 * a
    x, y, z = abs(world[i, m]), abs(world[i, m + 1]), abs(world[i, m + 2])
    if kind == BOX:
        return float(x * size[SIZE] + y * size[SIZE + 1] + z * size[SIZE + 2])
    if kind == ELLIPSOID:
        x, y, z = x * size[SIZE], y * size[SIZE + 1], z * size[SIZE + 2]
        return float(np.sqrt(x * x + y * y + z * z))
    if kind in (MESH, SURFACE):
        solids, k = shapes.solids, shapes.table[i, SHAPE_BLOCK] + 1
        return min(
            float(x * solids[k, 2] + y * solids[k, 3] + z * solids[k, 4]),
            radius_of(solids, shapes.table[i, SHAPE_BLOCK]),
        )
    if kind == CYLINDER:
        return float(np.sqrt(x * x + y * y) * size[SIZE] + z * size[SIZE + 1])
    return float(size[SIZE])


@kernel(f"void(SearchShapes, {A2}, {A3}, {A2}, int64)", borrows=True)
def place(shapes: SearchShapes, x: Array, R: Array, world: Array, i: int) -> None:
    """Put shape i into space."""
    b, own, out = shapes.table[i, SHAPE_BODY], shapes.forms[i], world[i]
    for k in range(SIZE + 3):
        out[k] = own[k]
    for a in range(3 if b >= 0 else 0):
        r, s, t = R[b, a, 0], R[b, a, 1], R[b, a, 2]
        out[a] = (r * own[0] + s * own[1] + t * own[2]) + x[b, a]
        for c in range(FRAME, FRAME + 3):
            out[3 * a + c] = r * own[c] + s * own[c + 3] + t * own[c + 6]
    out[BLOCK] = shapes.table[i, SHAPE_BLOCK]


@kernel(f"void(SearchShapes, float64, {A1}, {A2}, int64)", borrows=True)
def put_bounds(shapes: SearchShapes, reach: float, travel: Array, world: Array, i: int) -> None:
    """Put the bounds of shape i along the axes of space, which allow for reach and travel."""
    b, kind, own, out = shapes.table[i, SHAPE_BODY], shapes.table[i, SHAPE_KIND], shapes.forms[i], world[i]
    margin, length = 0.5 * reach + (travel[b] if b >= 0 else 0.0), own[HALF_LENGTH] if kind == CAPSULE else 0.0
    for a in range(3):
        extent = own[RADIUS] + abs(out[FRAME + 3 * a + 2]) * length
        if kind > CAPSULE:
            extent = half_width(shapes, world, i, a)
        out[LOW + a], out[HIGH + a] = out[a] - extent - margin, out[a] + extent + margin
