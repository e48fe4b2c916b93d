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

from itertools import chain

import numpy as np

from ...arrays import Array, IntArray
from .shapes import Box
from .solid_hull import Polyhedron

COLUMNS = 6
SEEDED = 5  # rows of a block
ROOMY = 1.0 + 1e-12  # times how far the farthest corner is: rounding
HEAD = 2 + SEEDED  # rows before its corners
Loops = tuple[IntArray, IntArray]  # the corners of all faces, one face after the other, and how many each has


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
    counts = np.array([len(loop) for loop in solid.faces], dtype=np.int64)
    loops = np.fromiter(chain.from_iterable(solid.faces), dtype=np.int64, count=int(counts.sum()))
    return block_of_loops(
        solid.corners, solid.edges, np.column_stack([solid.normals, solid.offsets]), (loops, counts), start
    )


def block_of_loops(corners: Array, edges: IntArray, planes: Array, faces: Loops, start: int) -> Array:
    """Return the block of corners, edges and faces, see `Polyhedron`; planes hold normals and offsets."""
    V, E, F = len(corners), len(edges), len(planes)
    at = start + HEAD + np.cumsum([0, V, 2 * E, E, F])  # first rows of corners, links, edges, faces, loops
    half = np.abs(corners).max(axis=0)
    head = np.array([[V, E, F, *at[:3]], [*at[3:], *half, half.max()]], dtype=np.float64)
    edge_rows = np.zeros((E, COLUMNS))
    edge_rows[:, :4] = edges
    edge_rows[:, 4] = 0.5 * np.linalg.norm(corners[edges[:, 0]] - corners[edges[:, 1]], axis=1)
    loops, counts = faces
    face_rows = np.column_stack([planes, at[4] + np.cumsum(counts) - counts, counts])
    borders = _borders(corners, edges, np.repeat(planes[:, :3], counts, axis=0), loops, counts)
    return np.concatenate(
        [head, _seeds(corners), *_corners_and_links(corners, edges, int(at[1])), edge_rows, face_rows, borders]
    )


def _seeds(corners: Array) -> Array:
    """Return the rows `SEEDED` for corners."""
    rows = np.zeros(SEEDED * COLUMNS)
    ways = np.stack(np.meshgrid(*[(-1.0, 0.0, 1.0)] * 3, indexing="ij"), axis=-1).reshape(27, 3)
    rows[:27] = (ways @ corners.T).argmax(axis=1)
    rows[27] = ROOMY * np.linalg.norm(corners, axis=1).max()
    return rows.reshape(SEEDED, COLUMNS)


def _corners_and_links(corners: Array, edges: IntArray, start: int) -> tuple[Array, Array]:
    """Return the rows of corners, and those of links, which begin with row `start`."""
    V, E = len(corners), len(edges)
    ends, others = edges[:, :2].T.ravel(), edges[:, 1::-1].T.ravel()
    number = np.tile(np.arange(E), 2)
    order = np.lexsort((number, ends))
    links = np.column_stack([number, others, edges[:, 2:].T.ravel(), corners[others]])[order]
    counts = np.bincount(ends, minlength=V)
    return np.column_stack([corners, start + np.cumsum(counts) - counts, counts, np.zeros(V)]), links


def _borders(corners: Array, edges: IntArray, normals: Array, loops: IntArray, counts: IntArray) -> Array:
    """Return the rows of loops; normals are those of the faces of each."""
    a, b = loops, np.roll(loops, -1)
    last = np.cumsum(counts)
    b[last - 1] = loops[last - counts]
    low, high = edges[:, :2].min(axis=1) * len(corners), edges[:, :2].max(axis=1)
    order = np.argsort(low + high)
    found = order[np.searchsorted((low + high)[order], np.minimum(a, b) * len(corners) + np.maximum(a, b))]
    along = corners[b] - corners[a]
    inward = np.cross(normals, along / np.sqrt(np.vecdot(along, along))[:, None])
    return np.column_stack([a, found, inward, np.vecdot(inward, corners[a])])
