"""Signed distances of the pairs of shapes in space: negative where they overlap, by the shortest way out.

Spheres, capsules, boxes and convex meshes are polyhedra, segments or points with a skin (`core_distance`), and
half-spaces see the lowest point of a shape: these distances are exact at any depth. Spheres and capsules among
themselves, ellipsoids, cylinders and surfaces are as far from other shapes as the nearest of their features. Where a
cylinder is deep in a polyhedron these may be others than those that count; then the distance is that of a prism of 64
sides within it, at most 1.3e-3 of its radius above its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from .body_motions import BodyMotions
from .search import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, MESH, SPHERE, SURFACE, Shapes
from .shapes import Box
from .solid_hull import Polyhedron, hull_of
from .solid_tables import box_polyhedron

SIDES = 64  # of the prism that takes the place of a cylinder
WITHIN = 1.3e-3  # of its radius: how far its sides are from the cylinder at most
POLYHEDRA = {BOX, MESH}
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A shape in the frame of its body, or a half-space or a surface, of which corners are none.

    Attributes
    ----------
    kind, body : int
        As in `ShapeArrays`.
    place : Array, shape (3,)
    frame : Array, shape (3, 3)
    size : Array, shape (3,)
    corners : Array, shape (c, 3)
        Of its core, in the frame of the body, m.
    edges : IntArray, shape (e, 4)
        See `Core`.
    normals, offsets : Array, shape (f, 3) and (f,)
    skin : float
        m.
    radius : float
        Of the ball about `place` that holds it, m.
    """

    kind: int
    body: int
    place: Array
    frame: Array
    size: Array
    corners: Array
    edges: IntArray
    normals: Array
    offsets: Array
    skin: float
    radius: float

    __repr__ = brief

    def core(self, x: Array, R: Array) -> Any:
        """Return the core at a pose of its body, for kernels."""
        from ..._jit import Held
        from .core_distance import Core

        normals = self.normals @ R.T
        faces = np.column_stack([normals, self.offsets + normals @ x])
        return Held(Core(np.ascontiguousarray(self.corners @ R.T + x), self.edges, faces))

    def highest(self, n: Array) -> float:
        """Return the largest n . x of the shape, n of length one, both in the frame of its body, m."""
        if self.kind not in (CYLINDER, ELLIPSOID):
            return float((self.corners @ n).max()) + self.skin
        own = self.frame.T @ n
        if self.kind == ELLIPSOID:
            return float(self.place @ n + np.linalg.norm(self.size * own))
        return float(self.place @ n + self.size[0] * np.hypot(own[0], own[1]) + self.size[1] * abs(own[2]))


@dataclass(frozen=True, slots=True, eq=False)
class PairDistances:
    """The shapes of a system, ready to be asked how far they are apart.

    Attributes
    ----------
    body : IntArray, shape (s,)
        Numbers of the bodies of the shapes, -1 for the ground.
    place, radius : Array, shape (s, 3) and (s,)
        Of the balls about the shapes, in the frames of their bodies, m.
    """

    shapes: Shapes
    outlines: tuple[Outline, ...]
    body: IntArray
    place: Array
    radius: Array

    __repr__ = brief

    @classmethod
    def of(cls, shapes: Shapes) -> PairDistances:
        """Gather all shapes."""
        outlines, table = tuple(_outline(shapes, k) for k in range(len(shapes.labels))), shapes.arrays
        return cls(shapes, outlines, table.table[:, 1], table.forms[:, :3], np.array([one.radius for one in outlines]))

    def at(self, bodies: BodyMotions, reach: float) -> dict[Pair, float]:
        """Return the signed distances up to `reach` (m), by the labels of the two shapes, sorted."""
        near = self._near(bodies, reach)
        by_features = [pair for pair in near if self._by_features(pair)]
        gaps = self._gaps(bodies, reach) if by_features else {}
        found = {}
        for i, j in near:
            apart = self._distance(*self._in_order(i, j), bodies, gaps.get((i, j), np.inf))
            if apart <= reach:
                found[self.shapes.labels[i], self.shapes.labels[j]] = apart
        return found

    def _near(self, bodies: BodyMotions, reach: float) -> list[tuple[int, int]]:
        """Return the pairs that may touch, and of which the balls are no farther apart than `reach`, in order."""
        from scipy.spatial import cKDTree

        n, kind = len(self.body), self.shapes.arrays.table[:, 0]
        centre = bodies.x[self.body] + np.einsum("kij,kj->ki", bodies.R[self.body], self.place)
        sized, wide = np.flatnonzero(np.isfinite(self.radius)), np.flatnonzero(np.isinf(self.radius))
        far = reach + 2.0 * self.radius[sized].max(initial=0.0)
        close = (
            sized[cKDTree(centre[sized]).query_pairs(far, output_type="ndarray")] if len(sized) else np.zeros((0, 2))
        )
        pairs = np.array([*np.sort(close, axis=1).tolist(), *_with_all(wide.tolist(), n)], dtype=np.int64).reshape(
            -1, 2
        )
        i, j = pairs.T
        met = np.linalg.norm(centre[i] - centre[j], axis=1) - self.radius[i] - self.radius[j] <= reach
        met &= (self.body[i] != self.body[j]) & ~np.isin(i * n + j, self.shapes.arrays.off)
        met &= (kind[i] != HALF_SPACE) | (kind[j] != HALF_SPACE)
        return sorted(map(tuple, pairs[met].tolist()))

    def _in_order(self, i: int, j: int) -> tuple[int, int]:
        """Return two shapes in the order of their kinds."""
        return (i, j) if self.outlines[i].kind <= self.outlines[j].kind else (j, i)

    def _by_features(self, pair: tuple[int, int]) -> bool:
        """Whether the least gap of features is the distance, or helps to find it."""
        kinds = {self.outlines[k].kind for k in pair}
        return HALF_SPACE not in kinds and (not kinds & POLYHEDRA or bool(kinds & {CYLINDER, ELLIPSOID, SURFACE}))

    def _gaps(self, bodies: BodyMotions, reach: float) -> dict[tuple[int, int], float]:
        """Return the least gap of the features of every pair of shapes, m."""
        found = self.shapes.look(bodies.x, bodies.R, reach, np.zeros(len(bodies.x) - 1))
        least: dict[tuple[int, int], float] = {}
        for (i, j), gap in zip(
            np.sort(found.label[:, [0, 2]], axis=1).tolist(), found.gaps(bodies).tolist(), strict=True
        ):
            least[i, j] = min(gap, least.get((i, j), np.inf))
        return least

    def _distance(self, i: int, j: int, bodies: BodyMotions, gap: float) -> float:
        """Return the signed distance of two shapes, the first one not of a later kind; `gap`: of their features."""
        from .core_distance import core_distance

        a, b = self.outlines[i], self.outlines[j]
        (x, R), (y, S) = ((bodies.x[one.body], bodies.R[one.body]) for one in (a, b))
        if b.kind == HALF_SPACE:
            n = S @ b.frame[:, 2]
            return float(n @ (x - y - S @ b.place)) - a.highest(-R.T @ n)
        prism = CYLINDER in (a.kind, b.kind) and bool({a.kind, b.kind} & POLYHEDRA)
        if self._by_features((i, j)) and (0.0 < gap < np.inf or not prism):
            return gap
        apart = float(core_distance(a.core(x, R), b.core(y, S))) - a.skin - b.skin
        off = WITHIN * max(one.size[0] for one in (a, b) if one.kind == CYLINDER) if prism else 0.0
        return gap if prism and apart - off <= gap <= apart else apart


def _with_all(wide: Sequence[int], n: int) -> list[tuple[int, int]]:
    """Return the pairs of some of n shapes with all others, each once."""
    return [(min(i, k), max(i, k)) for i in wide for k in range(n) if k != i and not (k in wide and k < i)]


def _outline(shapes: Shapes, k: int) -> Outline:
    """Return shape k."""
    (kind, body, *_), form = shapes.arrays.table[k].tolist(), shapes.arrays.forms[k]
    place, frame, size = form[:3], form[3:12].reshape(3, 3), form[12:]
    solid, skin = _core(shapes, k, kind, size)
    corners, normals = solid.corners @ frame.T + place, solid.normals @ frame.T
    radius = float(np.linalg.norm(solid.corners, axis=1).max(initial=0.0)) + skin
    radius = np.inf if kind in (HALF_SPACE, SURFACE) else max(radius, size.max() if kind == ELLIPSOID else 0.0)
    if kind == CYLINDER:
        radius = float(np.hypot(size[0], size[1]))
    offsets = solid.offsets + normals @ place
    return Outline(kind, body, place, frame, size, corners, solid.edges, normals, offsets, skin, float(radius))


def _core(shapes: Shapes, k: int, kind: int, size: Array) -> tuple[Polyhedron, float]:
    """Return the core of shape k in its own axes, and the thickness of its skin, m."""
    if kind == BOX:
        return box_polyhedron(Box(half=tuple(size.tolist()))), 0.0
    if kind == CYLINDER:
        angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
        ring = np.column_stack([size[0] * np.cos(angle), size[0] * np.sin(angle)])
        return hull_of("cylinder", np.array([(*p, z) for p in ring.tolist() for z in (-size[1], size[1])])), 0.0
    if kind == MESH:
        return _mesh(shapes.arrays.solids, int(shapes.arrays.table[k, 4])), 0.0
    half = size[1] if kind == CAPSULE else 0.0
    corners = np.array([[0.0, 0.0, -half], [0.0, 0.0, half]])[: 2 if kind == CAPSULE else 1]
    edges = np.array([[0, 1, -1, -1]], dtype=np.int64)[: len(corners) - 1]
    return Polyhedron(corners, (), edges, np.zeros((0, 3)), np.zeros(0)), size[0] if kind in (CAPSULE, SPHERE) else 0.0


def _mesh(solids: Array, block: int) -> Polyhedron:
    """Return the polyhedron of a block of `solid_tables`, without the loops of its faces."""
    V, E, F, corner, _, edge = solids[block].astype(np.int64).tolist()
    face = int(solids[block + 1, 0])
    corners, edges = solids[corner : corner + V, :3].copy(), solids[edge : edge + E, :4].astype(np.int64)
    return Polyhedron(corners, (), edges, solids[face : face + F, :3].copy(), solids[face : face + F, 3].copy())
