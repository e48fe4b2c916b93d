"""How deep shapes are in surfaces whose triangles pass through them: features see only what is not deep.

The depth is how far the shape would go out along the normal of a triangle to be in front of it, for the triangle where
that is least. What is wholly in a closed surface counts by all triangles that look away from its centre; what is behind
an open one, without crossing it, is not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....arrays import Array, IntArray

SURE = 1e-6  # of the radius of a shape: triangles that are deeper in it pass through it
SEEN = 0.02  # of the radius: features see what is no deeper, see `broad_phase.DEEP`
NO_FACE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """The triangles of a surface, in space.

    Attributes
    ----------
    corners : Array, shape (F, 3, 3)
        m.
    normals : Array, shape (F, 3)
    tops : Array, shape (F,)
        normal . x on them, m.
    low, high : Array, shape (F, 3)
        Of the boxes that hold them, m.
    closed : bool
        Whether it has an inside.
    """

    corners: Array
    normals: Array
    tops: Array
    low: Array
    high: Array
    closed: bool

    def holds(self, p: Array) -> bool:
        """Return whether a point is inside: the triangles are seen all around from there.

        Source: A. van Oosterom, J. Strackee, The solid angle of a plane triangle, IEEE Trans. Biomed. Eng. 30 (1983).
        """
        if not self.closed or (p < self.low.min(axis=0)).any() or (p > self.high.max(axis=0)).any():
            return False
        a, b, c = (self.corners - p).transpose(1, 0, 2)
        A, B, C = (np.linalg.norm(one, axis=1) for one in (a, b, c))
        across = np.vecdot(a, np.cross(b, c))
        along = A * B * C + np.vecdot(a, b) * C + np.vecdot(b, c) * A + np.vecdot(c, a) * B
        return bool(np.arctan2(across, along).sum() > np.pi)  # half of the angles


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A shape at a pose: the image of points with a skin around them.

    Attributes
    ----------
    points : Array, shape (k, 3)
        Corners of the core, in the axes of the image.
    edges : IntArray, shape (e, 4)
    faces : Array, shape (f, 4)
    skin : float
    image : Array, shape (3, 3)
        From the axes of the image to space: half axes of an ellipsoid, which is a ball of radius 1 there.
    centre : Array, shape (3,)
    radius : float
        Of the ball about its centre that holds it, m.
    """

    points: Array
    edges: IntArray
    faces: Array
    skin: float
    image: Array
    centre: Array
    radius: float

    def lowest(self, normals: Array) -> Array:
        """Return the least n . x for normals, shape (k, 3)."""
        inner = normals @ self.image
        low: Array = (inner @ self.points.T).min(axis=1) - self.skin * np.linalg.norm(inner, axis=1)
        return low + normals @ self.centre

    def core(self) -> Any:
        """Return what is below its skin, in the axes of the image."""
        from ...._jit import Held
        from .core_distance import Core

        return Held(Core(np.ascontiguousarray(self.points), self.edges, np.ascontiguousarray(self.faces)))


def triangles_in_space(solids: Array, block: int, place: Array, frame: Array) -> Triangles:
    """Return the triangles of a block of `surface_tables` where it is."""
    V, F, first = int(solids[block, 0]), int(solids[block, 2]), int(solids[block, 3])
    loops = solids[int(solids[block + 1, 1]) :][: 3 * F, 0].astype(np.int64).reshape(F, 3)
    corners = (solids[first : first + V, :3] @ frame.T + place)[loops]
    row = int(solids[block + 1, 0])
    normals = solids[row : row + F, :3] @ frame.T
    edge = int(solids[block, 5])
    closed = bool((solids[edge : edge + int(solids[block, 1]), 3] != NO_FACE).all())
    low, high = corners.min(axis=1), corners.max(axis=1)
    return Triangles(corners, normals, np.vecdot(normals, corners[:, 0]), low, high, closed)


def depth_in(surface: Triangles, body: Body) -> tuple[float, bool]:
    """Return how deep a body is in a surface, m, and whether that is too deep for features; (0, False) without.

    They see what goes but a little through a triangle, and not from within a closed surface.
    """
    sure = SURE * body.radius
    near = np.arange(len(surface.tops))
    for k in range(3):
        meet = surface.low[near, k] < body.centre[k] + body.radius
        near = near[meet & (surface.high[near, k] > body.centre[k] - body.radius)]
    low = body.lowest(surface.normals[near]) - surface.tops[near]
    high = -body.lowest(-surface.normals[near]) - surface.tops[near]
    crossed = (low < -sure) & (high > sure)
    near, depth = near[crossed], -low[crossed]
    for k in np.argsort(depth, kind="stable").tolist():
        through = _through(body, surface.corners[near[k]])
        if through > sure:
            return float(depth[k]), through > SEEN * body.radius or surface.holds(body.centre)
    if not surface.holds(body.centre):
        return 0.0, False
    ahead = surface.normals @ body.centre <= surface.tops
    return float((surface.tops - body.lowest(surface.normals))[ahead].min()), True


def _through(body: Body, corners: Array) -> float:
    """Return how far a triangle is in a body: the shortest way to part them, m; negative where it is beside."""
    from ...._jit import Held
    from .core_distance import Core, core_distance

    inner = (corners - body.centre) @ np.linalg.inv(body.image).T
    n = np.cross(inner[1] - inner[0], inner[2] - inner[0])
    ways = np.roll(inner, -1, axis=0) - inner
    normals = np.vstack([n, -n, np.cross(ways, n)])
    normals = normals / np.linalg.norm(normals, axis=1)[:, None]
    tops = (normals @ inner.T).max(axis=1)
    edges = np.array([[0, 1, NO_FACE, NO_FACE], [1, 2, NO_FACE, NO_FACE], [2, 0, NO_FACE, NO_FACE]], dtype=np.int64)
    triangle: Any = Held(Core(np.ascontiguousarray(inner), edges, np.column_stack([normals, tops])))
    scale = float(np.linalg.norm(body.image, axis=0).max())
    return scale * (body.skin - float(core_distance(body.core(), triangle)))
