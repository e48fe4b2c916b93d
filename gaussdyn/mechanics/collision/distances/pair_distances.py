"""Signed distances of the pairs of shapes in space: negative where they overlap, by the shortest way out.

Spheres, capsules, boxes and convex meshes are polyhedra, segments or points with a skin (`core_distance`): where one of
two is a box or a mesh their distance is exact at any depth. All others are as far apart as the nearest of their
features, which is the distance, of ellipsoids and surfaces while they are not deep in each other. What is deep in a
surface, so that triangles pass through it, is so far behind their front, see `deep_in_surface`. Of a cylinder and an
ellipsoid, a surface or another cylinder, features may be others than those that count, or none, where they are deep in
each other or far apart; then the distance is that of a prism of 64 sides within the cylinder, at most 1.3e-3 of its
radius above its own, of two cylinders of both radii.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...._show import brief
from ....arrays import Array, IntArray
from ..body_motions import BodyMotions
from ..search import BOX, CAPSULE, CYLINDER, ELLIPSOID, HALF_SPACE, MESH, SPHERE, SURFACE, Shapes
from ..shapes import Box
from ..solid_hull import Polyhedron, polyhedron_of
from ..solid_tables import box_polyhedron
from .deep_in_surface import Body, Triangles, depth_in, triangles_in_space

SIDES = 64  # of the prism that takes the place of a cylinder
WITHIN = 1.3e-3  # of its radius: how far its sides are from the cylinder at most
SOLID, CORED = (BOX, MESH, CYLINDER), (SPHERE, CAPSULE, BOX, MESH, CYLINDER)
FEW = 256  # shapes of which all pairs are looked at
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A shape in the frame of its body: a polyhedron, a segment or a point, and a skin around it.

    Attributes
    ----------
    solid : Polyhedron
        m.
    skin : float
        m.
    off : float
        By how much a shape that it stands for may be larger, m.
    """

    solid: Polyhedron
    skin: float
    off: float

    __repr__ = brief

    def core(self, x: Array, R: Array) -> Any:
        """Return what is below the skin at a pose of the body, for kernels."""
        from ...._jit import Held
        from .core_distance import Core

        normals = self.solid.normals @ R.T
        faces = np.column_stack([normals, self.solid.offsets + normals @ x])
        return Held(Core(np.ascontiguousarray(self.solid.corners @ R.T + x), self.solid.edges, faces))


@dataclass(frozen=True, slots=True, eq=False)
class PairDistances:
    """The shapes of a system, ready to be asked how far they are apart.

    Attributes
    ----------
    outlines : dict of int to Outline
        Of shapes that have cores, by their numbers; empty where there are no polyhedra and cylinders.
    numbers : IntArray, shape (c,)
        These numbers.
    radius : Array, shape (c,)
        Of the balls about their places that hold them, m.
    surfaces : dict of int to Triangles
        By the numbers of shapes that are surfaces.
    """

    shapes: Shapes
    outlines: dict[int, Outline]
    numbers: IntArray
    radius: Array
    surfaces: dict[int, Triangles]

    __repr__ = brief

    @classmethod
    def of(cls, shapes: Shapes) -> PairDistances:
        """Gather all shapes."""
        kind = shapes.arrays.table[:, 0]
        numbers = np.flatnonzero(np.isin(kind, CORED)) if np.isin(kind, SOLID).any() else np.zeros(0, np.int64)
        outlines = {k: _outline(shapes, k) for k in numbers.tolist()}
        place = shapes.arrays.forms[:, :3]
        far = [np.linalg.norm(one.solid.corners - place[k], axis=1).max() + one.skin for k, one in outlines.items()]
        forms, table = shapes.arrays.forms, shapes.arrays.table
        surfaces = {
            k: triangles_in_space(shapes.arrays.solids, int(table[k, 4]), forms[k, :3], forms[k, 3:12].reshape(3, 3))
            for k in np.flatnonzero(kind == SURFACE).tolist()
        }
        return cls(shapes, outlines, numbers, np.array(far), surfaces)

    def at(self, bodies: BodyMotions, reach: float) -> dict[Pair, float]:
        """Return the signed distances up to `reach` (m), by the labels of the two shapes, sorted."""
        from .core_distance import core_distance

        gaps, near, kind = self._gaps(bodies, reach), self._near(bodies, reach), self.shapes.arrays.table[:, 0]

        @cache
        def core(k: int) -> Any:
            """Return the core of a shape where it is."""
            body = self.shapes.arrays.table[k, 1]
            return self.outlines[k].core(bodies.x[body], bodies.R[body])

        for i, j in near:
            a, b = (i, j) if kind[i] <= kind[j] else (j, i)
            one, other = self.outlines[i], self.outlines[j]
            apart, gap = core_distance(core(a), core(b)) - one.skin - other.skin, gaps.get((i, j), np.inf)
            off = one.off + other.off
            gaps[i, j] = gap if off > 0.0 and apart - off <= gap <= apart else apart
        self._deepen(gaps, bodies)
        return {
            (self.shapes.labels[i], self.shapes.labels[j]): gaps[i, j] for i, j in sorted(gaps) if gaps[i, j] <= reach
        }

    def _gaps(self, bodies: BodyMotions, reach: float) -> dict[tuple[int, int], float]:
        """Return the least gap of the features of every pair of shapes, m."""
        found, n = self.shapes.look(bodies.x, bodies.R, reach, np.zeros(len(bodies.x) - 1)), len(self.shapes.labels)
        keys, where = np.unique(np.sort(found.label[:, [0, 2]], axis=1) @ [n, 1], return_inverse=True)
        least = np.full(len(keys), np.inf)
        np.minimum.at(least, where, found.gaps(bodies))
        return {divmod(key, n): gap for key, gap in zip(keys.tolist(), least.tolist(), strict=True)}

    def _deepen(self, gaps: dict[tuple[int, int], float], bodies: BodyMotions) -> None:
        """Add the pairs of shapes and surfaces that are too deep in one another for features to see it."""
        table, n = self.shapes.arrays.table, len(self.shapes.labels)
        off = set(self.shapes.arrays.off.tolist()) if self.surfaces else set()
        for i in np.flatnonzero((table[:, 1] >= 0) & (table[:, 0] != HALF_SPACE)).tolist() if self.surfaces else ():
            body = _body(self.shapes, i, bodies)
            for j, surface in self.surfaces.items():
                pair = (min(i, j), max(i, j))
                depth, unseen = (0.0, False) if pair[0] * n + pair[1] in off else depth_in(surface, body)
                if depth > 0.0 and (unseen or gaps.get(pair, 0.0) >= 0.0):
                    gaps[pair] = -depth

    def _near(self, bodies: BodyMotions, reach: float) -> list[tuple[int, int]]:
        """Return the pairs of cores, one of them solid, that may touch and whose balls are no farther apart."""
        n, table, numbers = len(self.shapes.labels), self.shapes.arrays.table, self.numbers
        body = table[numbers, 1]
        centre = bodies.x[body] + np.einsum("kij,kj->ki", bodies.R[body], self.shapes.arrays.forms[numbers, :3])
        i, j = _close(centre, reach + 2.0 * self.radius.max(initial=0.0))
        near = np.sqrt(((centre[i] - centre[j]) ** 2).sum(axis=1)) - self.radius[i] - self.radius[j] <= reach
        a, b = numbers[i], numbers[j]
        near &= (body[i] != body[j]) & ~np.isin(a * n + b, self.shapes.arrays.off)
        near &= np.isin(table[a, 0], SOLID) | np.isin(table[b, 0], SOLID)
        return list(zip(a[near].tolist(), b[near].tolist(), strict=True))


def _body(shapes: Shapes, k: int, bodies: BodyMotions) -> Body:
    """Return shape k where it is, about its own centre."""
    kind, form, owner = int(shapes.arrays.table[k, 0]), shapes.arrays.forms[k], shapes.arrays.table[k, 1]
    turn = bodies.R[owner] @ form[3:12].reshape(3, 3)
    centre = bodies.x[owner] + bodies.R[owner] @ form[:3]
    if kind == ELLIPSOID:
        point = np.zeros((1, 3)), np.zeros((0, 4), np.int64), np.zeros((0, 4))
        return Body(*point, 1.0, turn * form[12:15], centre, float(form[12:15].max()))
    solid, skin = _solid(shapes, k, kind, form[12:].tolist()), float(form[12]) if kind in (SPHERE, CAPSULE) else 0.0
    radius = float(np.linalg.norm(solid.corners, axis=1).max()) + skin
    return Body(solid.corners, solid.edges, np.column_stack([solid.normals, solid.offsets]), skin, turn, centre, radius)


def _close(points: Array, far: float) -> tuple[IntArray, IntArray]:
    """Return the pairs of points, i < j, among which are all that are no farther apart than `far`."""
    if len(points) <= FEW:
        return np.triu_indices(len(points), 1)
    from scipy.spatial import cKDTree

    i, j = cKDTree(points).query_pairs(far, output_type="ndarray").T
    return i, j


def _outline(shapes: Shapes, k: int) -> Outline:
    """Return shape k."""
    kind, form = int(shapes.arrays.table[k, 0]), shapes.arrays.forms[k]
    place, frame, size = form[:3], form[3:12].reshape(3, 3), form[12:].tolist()
    solid = _solid(shapes, k, kind, size)
    normals = solid.normals @ frame.T
    solid = Polyhedron(solid.corners @ frame.T + place, (), solid.edges, normals, solid.offsets + normals @ place)
    return Outline(solid, size[0] if kind in (SPHERE, CAPSULE) else 0.0, WITHIN * size[0] if kind == CYLINDER else 0.0)


def _solid(shapes: Shapes, k: int, kind: int, size: list[float]) -> Polyhedron:
    """Return what shape k is below its skin, in its own axes."""
    if kind == BOX:
        return box_polyhedron(Box(half=(size[0], size[1], size[2])))
    if kind == CYLINDER:
        return _prism(*size[:2])
    if kind == MESH:
        return _mesh(shapes.arrays.solids, int(shapes.arrays.table[k, 4]))
    ends = [-size[1], size[1]] if kind == CAPSULE else [0.0]
    edges = np.array([[0, 1, -1, -1]], dtype=np.int64)[: len(ends) - 1]
    return Polyhedron(np.array([[0.0, 0.0, z] for z in ends]), (), edges, np.zeros((0, 3)), np.zeros(0))


def _prism(radius: float, half: float) -> Polyhedron:
    """Return a prism within a cylinder."""
    angle, n = 2.0 * np.pi * np.arange(SIDES) / SIDES, SIDES
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.array([(x, y, z) for z in (-half, half) for x, y in ring.tolist()])
    sides = [(k, (k + 1) % n, n + (k + 1) % n, n + k) for k in range(n)]
    return polyhedron_of(points, [tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n)), *sides])


def _mesh(solids: Array, block: int) -> Polyhedron:
    """Return the polyhedron of a block of `solid_tables`, without the loops of its faces."""
    V, E, F, corner, _, edge = solids[block].astype(np.int64).tolist()
    face = int(solids[block + 1, 0])
    corners, edges = solids[corner : corner + V, :3].copy(), solids[edge : edge + E, :4].astype(np.int64)
    return Polyhedron(corners, (), edges, solids[face : face + F, :3].copy(), solids[face : face + F, 3].copy())
