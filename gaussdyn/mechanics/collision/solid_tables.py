"""Polyhedra as rows of one table, for the kernels: a block for each, see `solids`.

A block has two rows of counts and `SEEDED`, then corners, links, edges, faces and loops:

* V, E, F, and the numbers of the first rows of corners, links and edges;
* the first rows of faces and loops, half sides (3) of the box about the origin that holds it, and its size;
* `SEEDED`: the corner farthest in each of 27 directions, see `solids.seed_of`, and how far the farthest one of all is;
* corner: x, y, z, its first link, and how many it has;
* link of a corner: an edge there, the corner at its other end, the face on the left on the way there, and where that
  corner is (3);
* edge: its two corners, the faces on its left and right, half its length;
* face: outward normal (3), offset, its first row in the loops, and how many corners it has;
* loop: a corner, the edge to the next one, and the border there: inward normal (3) within the face, and offset.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .shapes import Box
from .solid_hull import Polyhedron

COLUMNS = 6
SEEDED = 5  # rows of a block
ROOMY = 1.0 + 1e-12  # times how far the farthest corner is: rounding
HEAD = 2 + SEEDED  # rows before its corners


class SolidTable:
    """Blocks of polyhedra as they are entered; equal ones share one, so that many fit where the processor is fast.

    Attributes
    ----------
    rows : list of arrays
    longest : int
        Corners of the face that has most.
    """

    def __init__(self) -> None:
        self.rows: list[Array] = []
        self.length = self.longest = 0
        self._known: dict[object, int] = {}

    def box(self, box: Box) -> int:
        """Enter a box; return the first row of its block."""
        if box.half not in self._known:
            self._known[box.half] = self.enter(box_polyhedron(box))
        return self._known[box.half]

    def enter(self, solid: Polyhedron) -> int:
        """Enter a polyhedron whose origin is inside; return the first row of its block."""
        same = (solid.corners.tobytes(), solid.faces)
        if same not in self._known:
            self.longest = max(self.longest, *map(len, solid.faces))
            self._known[same] = self.add(block_of(solid, self.length))
        return self._known[same]

    def add(self, block: Array) -> int:
        """Add a block that begins with row `length`, and return that."""
        start = self.length
        self.rows.append(block)
        self.length += len(block)
        return start

    def array(self) -> Array:
        """Return all blocks, shape (k, 6)."""
        return np.concatenate(self.rows) if self.rows else np.zeros((0, COLUMNS))


def box_polyhedron(box: Box) -> Polyhedron:
    """Return a box in its own axes, its corners, edges and faces numbered as those of `Box`."""
    half = np.array(box.half)
    corners = np.array([[half[a] if c >> a & 1 else -half[a] for a in range(3)] for c in range(8)])
    faces: list[tuple[int, ...]] = []
    for k in range(3):
        u, v = 1 << (k + 1) % 3, 1 << (k + 2) % 3
        faces += [(0, v, u + v, u), tuple((1 << k) + c for c in (0, u, u + v, v))]
    edges = []
    for e in range(12):
        k, bits = divmod(e, 4)
        u, v = (k + 1) % 3, (k + 2) % 3
        first = (1 << u if bits & 1 else 0) + (1 << v if bits & 2 else 0)
        sides = (2 * u + (bits & 1), 2 * v + (bits >> 1))
        ends = (first, first + (1 << k))
        left, right = sides if _runs(faces[sides[0]], *ends) else sides[::-1]
        edges.append((*ends, left, right))
    normals = np.array([np.eye(3)[k] * s for k in range(3) for s in (-1.0, 1.0)])
    return Polyhedron(corners, tuple(faces), np.array(edges, dtype=np.int64), normals, np.repeat(half, 2))


def _runs(loop: tuple[int, ...], a: int, b: int) -> bool:
    """Return whether a loop goes from corner a to corner b."""
    return loop[(loop.index(a) + 1) % len(loop)] == b


def block_of(solid: Polyhedron, start: int) -> Array:
    """Return the block of a polyhedron that begins with row `start`."""
    V, E, F = len(solid.corners), len(solid.edges), len(solid.faces)
    at = start + HEAD + np.cumsum([0, V, 2 * E, E, F])  # first rows of corners, links, edges, faces, loops
    half = np.abs(solid.corners).max(axis=0)
    head = np.array([[V, E, F, *at[:3]], [*at[3:], *half, half.max()]], dtype=np.float64)
    corners, links = _corners_and_links(solid, int(at[1]))
    edges = np.zeros((E, COLUMNS))
    edges[:, :4] = solid.edges
    edges[:, 4] = 0.5 * np.linalg.norm(solid.corners[solid.edges[:, 0]] - solid.corners[solid.edges[:, 1]], axis=1)
    counts = [len(loop) for loop in solid.faces]
    faces = np.column_stack([solid.normals, solid.offsets, at[4] + np.cumsum([0, *counts[:-1]]), counts])
    return np.concatenate([head, _seeds(solid.corners), corners, links, edges, faces, _loops(solid)])


def _seeds(corners: Array) -> Array:
    """Return the rows `SEEDED` for corners."""
    rows = np.zeros(SEEDED * COLUMNS)
    ways = np.stack(np.meshgrid(*[(-1.0, 0.0, 1.0)] * 3, indexing="ij"), axis=-1).reshape(27, 3)
    rows[:27] = (ways @ corners.T).argmax(axis=1)
    rows[27] = ROOMY * np.linalg.norm(corners, axis=1).max()
    return rows.reshape(SEEDED, COLUMNS)


def _corners_and_links(solid: Polyhedron, start: int) -> tuple[Array, Array]:
    V, E = len(solid.corners), len(solid.edges)
    corners, links, row = np.zeros((V, COLUMNS)), np.zeros((2 * E, COLUMNS)), 0
    meeting: list[list[tuple[int, int, int]]] = [[] for _ in range(V)]
    for e, (a, b, left, right) in enumerate(solid.edges.tolist()):
        meeting[a].append((e, b, left))
        meeting[b].append((e, a, right))
    for k, found in enumerate(meeting):
        corners[k] = *solid.corners[k], start + row, len(found), 0.0
        links[row : row + len(found), :3] = found
        links[row : row + len(found), 3:] = solid.corners[[other for _, other, _ in found]]
        row += len(found)
    return corners, links


def _loops(solid: Polyhedron) -> Array:
    number = {tuple(ends): e for e, (a, b) in enumerate(solid.edges[:, :2].tolist()) for ends in ((a, b), (b, a))}
    ways = [way for loop in solid.faces for way in zip(loop, (*loop[1:], loop[0]), strict=True)]
    a, b = np.array(ways, dtype=np.int64).T
    along = solid.corners[b] - solid.corners[a]
    normals = np.repeat(solid.normals, [len(loop) for loop in solid.faces], axis=0)
    inward = np.cross(normals, along / np.sqrt(np.vecdot(along, along))[:, None])
    return np.column_stack([a, [number[way] for way in ways], inward, np.vecdot(inward, solid.corners[a])])
