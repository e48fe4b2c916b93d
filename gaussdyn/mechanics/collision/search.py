"""Which contacts may act: the shapes of all bodies as flat arrays, and the search through them.

The arrays are what a compiled stepper needs to call `broad_phase.find_features` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import Array, IntArray, matrix, scalar, vector
from ...errors import InputError
from ...linalg.rotations import matrix_of, pointing
from ..names import GROUND, nearest
from .bounds.inner_corners import inner_corners
from .features import WIDTH, Feature, Found
from .shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, HalfSpace, Shape, Sphere
from .solid_hull import Polyhedron
from .solid_tables import SolidTable, box_polyhedron
from .terrain.seams import Ground, ground_of, with_seams
from .terrain.surface_tables import surface_block
from .terrain.surfaces import HeightField, Mesh, Surface, centre_of_box

SPHERE, CAPSULE, BOX, MESH, CYLINDER, ELLIPSOID, HALF_SPACE, SURFACE = range(8)
ALL = 1 << 60  # number of a body that no body has
PAIRS = 16  # that are near, for each shape: room to keep them from search to search, see `near_pairs`
MOST_LABELS = 1 << 26  # features of all shapes, see `bounds.search_records.LABELS`
SUFFIXES: dict[int, tuple[str, ...]] = {
    SPHERE: ("",),
    ELLIPSOID: ("",),
    HALF_SPACE: ("",),
    CAPSULE: (":axis", ":end0", ":end1"),
    CYLINDER: (
        ":axis",
        ":cap0",
        ":cap1",
        *(f":p{i:02d}" for i in range(16)),
        ":rim0",
        ":rim1",
        *(f":x{i}" for i in range(4)),
    ),
    BOX: (
        *(f":c{i}" for i in range(8)),
        *(f":e{i:02d}" for i in range(12)),
        *(f":f{i}" for i in range(6)),
        *(f":r{i:02d}" for i in range(12)),
    ),
}


class ShapeArrays(NamedTuple):
    """The s shapes, sorted by their labels, as arrays; rows belong to shapes.

    Attributes
    ----------
    table : IntArray, shape (s, 6)
        Kind: SPHERE, CAPSULE, BOX, MESH, CYLINDER, ELLIPSOID, HALF_SPACE or SURFACE. Number of the body in the order of
        the system, -1 for the ground.
        Place of its first feature among the first and among the second halves of ids: contacts come in the order of
        their ids.
        First row of its block in `solids`, -1 without.
        A number for those of one body and the same laws, -1 of one alone: what they share is one contact.
    forms : Array, shape (s, 15)
        Place (3) and frame (9, row by row; its third column is the normal of a half-space) in the frame of the body.
        Size: (radius, 0, 0), (radius, half_length, 0), half of a box or of an ellipsoid, zeros. The frame of a mesh is
        in its centre, that of a surface in the middle of its box.
    off : IntArray, shape (k,)
        Sorted keys i s + j, i < j, of pairs that never touch.
    solids : Array, shape (k, 6)
        Blocks of polyhedra, see `solid_tables`: of meshes, and of boxes that may meet them; of surfaces, see
        `surface_tables`.
    inner : IntArray, shape (k, 2)
        Sorted keys i MOST_LABELS + c of corners within what shapes of one body make together, and a shape that goes on
        there, see `bounds.inner_corners`.
    """

    table: IntArray
    forms: Array
    off: IntArray
    solids: Array
    inner: IntArray


@lru_cache(maxsize=1)
def _search() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the kernel of a search, and what the list of contacts is that it fills."""
    from ..._jit import entry_of
    from .bounds.search_records import ContactList
    from .broad_phase import find_features

    return entry_of(find_features), ContactList


Part = Shape | HalfSpace | Surface
Entry = tuple[str, int, Part]  # label, number of the body, shape


Simple = (Sphere, Capsule, Box, HalfSpace)  # boxes among these alone need no table of corners, edges and faces


class Buffers:
    """Work space and answer of `broad_phase.find_features`; grows with the number of contacts.

    Attributes
    ----------
    room : int
        Number of contacts that fit.
    answer : Found
        Its first entries are the contacts found.
    shapes, space : Held of SearchShapes and of SearchSpace
    """

    __slots__ = ("answer", "longest", "room", "shapes", "space")

    def __init__(self, shapes: ShapeArrays, room: int, longest: int = 4) -> None:
        from ..._jit import Held
        from .bounds.search_records import SearchShapes

        self.shapes: Any = Held(SearchShapes(*shapes))
        self.longest = longest
        self.reserve(room)

    def reserve(self, room: int) -> None:
        """Make room for so many contacts."""
        from ..._jit import Held
        from .bounds.search_records import SearchSpace

        shapes = len(self.shapes.table)
        self.room, most = room, max(room, shapes)
        self.answer = Found(_counts(room), _counts(room, 2), _counts(room, 4), np.zeros((room, WIDTH)))
        bench = np.zeros((12 + 5 * self.longest, 3))  # for the corners of a face and of its overlap with another
        world, near = np.zeros((shapes + _boxes(shapes), 29)), _counts(1 + shapes + 2 * PAIRS * shapes)
        work = SearchSpace(world, np.zeros(most), _counts(most), near, bench, np.zeros((room + 1, 24)), np.array([ALL]))
        self.space: Any = Held(work)


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """The shapes of a system's bodies and its obstacles, ready to be searched; build it with `Shapes.of`.

    Attributes
    ----------
    bodies : tuple of str
        Names of the bodies in the order of the system.
    labels : tuple of str
        Of the shapes, sorted: ``body``, ``body.shape``, or the name of an obstacle of the ground.
    arrays : ShapeArrays
    longest : int
        Corners of the face that has most.
    """

    bodies: tuple[str, ...]
    labels: tuple[str, ...]
    arrays: ShapeArrays
    longest: int = 4

    __repr__ = brief

    @staticmethod
    def of(
        bodies: Mapping[str, Sequence[Shape]],
        obstacles: Sequence[Part] = (),
        off: Iterable[tuple[str, str]] = (),
        lawful: Iterable[str] = (),
    ) -> Shapes:
        """Gather shapes.

        Parameters
        ----------
        bodies : mapping of str to sequence of Shape
            The shapes of every body by name, in the order of the system; a body with several must name them.
        obstacles : sequence of HalfSpace, Mesh, HeightField or shapes
            Fixed to the ground (named, in space), half-spaces also to a body.
        off : iterable of pairs of str
            Names of bodies, shapes or obstacles that never touch one another.
        lawful : iterable of str
            Names that laws are given for. Other shapes of one body have the same ones.

        Raises
        ------
        InputError
            Shapes without a name of their own, two of one name, an unknown body or name, a half-space on a body that
            may meet a surface, too many features.
        """
        names = tuple(bodies)
        entries = [_entry(names, obstacle) for obstacle in obstacles]
        for k, (name, shapes) in enumerate(bodies.items()):
            entries += [(f"{name}.{shape.name}" if shape.name else name, k, shape) for shape in shapes]
        entries.sort(key=lambda entry: entry[0])
        for (left, _, _), (right, _, _) in pairwise(entries):
            if left == right:
                raise InputError(
                    "shapes", f"two called {left!r}", "different names", 'Give each shape a name: name="left".'
                )
        keys = _keys(names, entries, off)
        _refuse_planes_on_surfaces(entries, set(keys.tolist()))
        arrays, longest = _arrays(entries, keys)
        arrays.table[:, 5] = _groups(entries, set(lawful))
        arrays = arrays._replace(inner=_inner(entries, arrays.table[:, 5]))
        return Shapes(names, tuple(label for label, _, _ in entries), arrays, longest)

    def buffers(self, room: int = 0) -> Buffers:
        """Return work space for `find_features` with room for some contacts (8 per shape by default)."""
        return Buffers(self.arrays, room or 8 * len(self.labels) + 16, self.longest)

    def find(
        self,
        x: ArrayLike,
        R: ArrayLike,
        reach: float,
        travel: ArrayLike | None = None,
        *,
        buffers: Buffers | None = None,
    ) -> tuple[Feature, ...]:
        """Return every contact whose gap is at most `reach` plus what its two bodies travel, sorted by id.

        Parameters
        ----------
        x, R : array_like, shape (n, 3) and (n, 3, 3)
            Poses of the bodies: origin of the frame, m, and rotation from body axes to space.
        reach : float
            m, >= 0.
        travel : array_like, shape (n,), optional
            How far the surface of every body may come during the step, m.
        buffers : Buffers, optional
            Work space to use again.

        Raises
        ------
        InputError
            Wrong shapes, NaN, a negative reach.
        """
        n = len(self.bodies)
        places, turns = matrix("x", x, n, 3), matrix("R", np.reshape(R, (n, -1)), n, 9).reshape(n, 3, 3)
        paths = np.zeros(n) if travel is None else vector("travel", travel, n)
        space = self.buffers() if buffers is None else buffers
        count = self.search(places, turns, scalar("reach", reach, low=0.0), paths, space)
        return tuple(self.feature(*row) for row in zip(*(part[:count] for part in space.answer), strict=True))

    def look(self, x: Array, R: Array, reach: float, travel: Array) -> Found:
        """Return the contacts as arrays, without those that have no direction; checks nothing."""
        space = self.buffers()
        count = self.search(x, R, reach, travel, space)
        return space.answer.taken(slice(count)).directed()

    def search(self, x: Array, R: Array, reach: float, travel: Array, buffers: Buffers) -> int:
        """Fill `buffers` with the contacts and return their number; checks nothing."""
        find, listed = _search()
        while True:
            count = int(find(buffers.shapes, x, R, reach, travel, buffers.space, listed(*buffers.answer)))
            if count <= buffers.room:
                return count
            buffers.reserve(2 * count)

    def may_pass(self, a: int, b: int) -> bool:
        """Return whether two bodies, by their numbers, have shapes that may touch and also pass by each other.

        A half-space sees every corner: nothing passes it.
        """
        kinds, bodies = self.arrays.table[:, 0], self.arrays.table[:, 1]
        first, second = (np.flatnonzero((bodies == k) & (kinds != HALF_SPACE)).tolist() for k in (a, b))
        off, s = set(self.arrays.off.tolist()), len(self.labels)
        return any(min(i, j) * s + max(i, j) not in off for i in first for j in second)

    def id(self, label: Sequence[int]) -> str:
        """Return the id of the contact with the label (shape A, feature, shape B, feature)."""
        a, f, b, g = label
        return f"{self.labels[a]}{self.suffix(a, f)}/{self.labels[b]}{self.suffix(b, g)}"

    def suffix(self, shape: int, feature: int) -> str:
        """Return what names a feature of a shape, by their numbers."""
        kind, row = int(self.arrays.table[shape, 0]), int(self.arrays.table[shape, 4])
        if kind not in (MESH, SURFACE):
            return SUFFIXES[kind][feature]
        V, E, F = (int(x) for x in self.arrays.solids[row, :3])
        for letter, count in zip("cefr", (V, E, F, E), strict=True):
            if feature < count:
                return f":{letter}{feature:0{len(str(count - 1))}d}"
            feature -= count
        raise AssertionError(f"no feature {feature} of {self.labels[shape]}")

    def feature(self, kind: int, bodies: Sequence[int], label: Sequence[int], data: Array) -> Feature:
        """Return a contact, from its row of `Found`."""
        a, b = (GROUND if k < 0 else self.bodies[k] for k in bodies)
        shapes = (self.labels[label[0]], self.labels[label[2]])
        return Feature(id=self.id(label), kind=int(kind), bodies=(a, b), data=data, shapes=shapes)


def _entry(names: tuple[str, ...], obstacle: Part) -> Entry:
    """Return label, body and shape of an obstacle."""
    if not obstacle.name:
        raise InputError("obstacles", repr(obstacle), "shapes with a name", 'Give it a name: name="floor".')
    if not isinstance(obstacle, HalfSpace) or obstacle.body == GROUND:
        return obstacle.name, -1, obstacle
    if obstacle.body not in names:
        raise InputError(f"body of {obstacle.name}", repr(obstacle.body), *nearest(obstacle.body, [*names, GROUND]))
    return f"{obstacle.body}.{obstacle.name}", names.index(obstacle.body), obstacle


def _arrays(entries: Sequence[Entry], off: IntArray) -> tuple[ShapeArrays, int]:
    """Return the arrays of the shapes of sorted entries, and the corners of the face that has most."""
    table, forms = np.zeros((len(entries), 6), dtype=np.int64), np.zeros((len(entries), 15))
    marks = []
    solids, meet = SolidTable(), any(not isinstance(shape, Simple) for _, _, shape in entries)
    for i, (label, body, shape) in enumerate(entries):
        kind, place, frame, size = _numbers(shape)
        table[i, :2] = kind, body
        forms[i] = *place, *np.ravel(frame), *size
        table[i, 4] = _block(solids, shape) if meet else -1
        marks.append(label + ("" if kind in (SPHERE, ELLIPSOID, HALF_SPACE) else ":"))
    counts = np.array([_features(shape) for _, _, shape in entries], dtype=np.int64)
    if counts.sum() >= MOST_LABELS:
        raise InputError(
            "shapes",
            f"{counts.sum()} corners, edges and faces",
            f"fewer than {MOST_LABELS} in all",
            "Simplify it: trimesh's mesh.simplify_quadric_decimation(face_count=1000).",
        )
    # In an id a shape's name is followed by ":feature", or else by "/" (first half) or nothing (second half).
    for column, end in ((2, "/"), (3, "")):
        names = [mark if mark.endswith(":") else mark + end for mark in marks]
        order = sorted(range(len(names)), key=names.__getitem__)
        table[order, column] = np.cumsum(counts[order]) - counts[order]
    grounds = _with_seams(solids.array(), entries, table, off)
    return ShapeArrays(table, forms, off, grounds, _counts(0, 2)), max(4, solids.longest)


def _with_seams(solids: Array, entries: Sequence[Entry], table: IntArray, off: IntArray) -> Array:
    """Return the table of solids where surfaces that the same shapes may touch are one ground."""
    known, alike = set(off.tolist()), dict[tuple[bool, ...], list[Ground]]()
    for i, (_, _, shape) in enumerate(entries):
        if isinstance(shape, (Mesh, HeightField)):
            met = tuple(min(i, j) * len(entries) + max(i, j) in known for j in range(len(entries)) if table[j, 1] >= 0)
            alike.setdefault(met, []).append(ground_of(shape, int(table[i, 4])))
    for grounds in alike.values():
        solids = with_seams(solids, grounds) if len(grounds) > 1 else solids
    return solids


def _groups(entries: Sequence[Entry], lawful: set[str]) -> IntArray:
    """Return the body of every shape that shares it and its laws with others, else -1."""
    bodies = np.array([-1 if label in lawful else body for label, body, _ in entries], dtype=np.int64)
    counts = np.bincount(bodies + 1)
    return np.where(counts[bodies + 1] > 1, bodies, -1)


def _inner(entries: Sequence[Entry], groups: IntArray) -> IntArray:
    """Return the keys of the corners within what shapes of one body make together, and what goes on there."""
    rows = []
    for group in set(groups.tolist()) - {-1}:
        solids = {k: entries[k][2] for k in np.flatnonzero(groups == group).tolist()}
        placed = {k: _placed(shape) for k, shape in solids.items() if isinstance(shape, (Box, ConvexMesh))}
        found, ids = inner_corners(tuple(placed.values())), tuple(placed)
        rows += [(ids[k] * MOST_LABELS + c, ids[other]) for k, c, other in found]
    return np.array(sorted(rows), dtype=np.int64).reshape(-1, 2)


def _placed(shape: Box | ConvexMesh) -> Polyhedron:
    """Return a box or a convex mesh in the frame of its body."""
    own, R = shape.hull if isinstance(shape, ConvexMesh) else box_polyhedron(shape), matrix_of(shape.turn)
    normals, at = own.normals @ R.T, np.array(shape.at)
    return replace(own, corners=own.corners @ R.T + at, normals=normals, offsets=own.offsets + normals @ at)


def _features(shape: Part) -> int:
    """Return how many features of a shape have names."""
    if isinstance(shape, ConvexMesh):
        return len(shape.hull.corners) + 2 * len(shape.hull.edges) + len(shape.hull.faces)
    if isinstance(shape, (Mesh, HeightField)):
        return len(shape.corners) + 7 * len(shape.triangles)  # edges twice: three for every triangle at most
    return len(SUFFIXES[_numbers(shape)[0]])


def _block(solids: SolidTable, shape: Part) -> int:
    """Enter a shape among the polyhedra if it is one; return the first row of its block, -1 if it is not."""
    if isinstance(shape, Box):
        return solids.box(shape)
    if isinstance(shape, (Mesh, HeightField)):
        return solids.add(surface_block(shape.corners - centre_of_box(shape), shape.triangles, solids.length))
    return solids.enter(shape.hull.moved(-shape.centre)) if isinstance(shape, ConvexMesh) else -1


def _boxes(shapes: int) -> int:
    """Return how many boxes a tree about so many shapes has at most, see `shape_tree`."""
    total = 0
    while shapes > 1:
        shapes = (shapes + 7) // 8
        total += shapes
    return total


def _counts(*shape: int) -> IntArray:
    return np.zeros(shape, dtype=np.int64)


def _numbers(shape: Part) -> tuple[int, Sequence[float], Array, Sequence[float]]:
    """Return kind, place, frame and size of a shape."""
    if isinstance(shape, HalfSpace):
        return HALF_SPACE, shape.point, matrix_of(pointing(shape.normal)), (0.0, 0.0, 0.0)
    if isinstance(shape, Sphere):
        return SPHERE, shape.at, np.eye(3), (shape.radius, 0.0, 0.0)
    R = matrix_of(shape.turn)
    if isinstance(shape, Ellipsoid):
        return ELLIPSOID, shape.at, R, shape.half
    if isinstance(shape, ConvexMesh):
        return MESH, (np.array(shape.at) + R @ shape.centre).tolist(), R, (0.0, 0.0, 0.0)
    if isinstance(shape, (Mesh, HeightField)):
        return SURFACE, (np.array(shape.at) + R @ centre_of_box(shape)).tolist(), R, (0.0, 0.0, 0.0)
    if isinstance(shape, (Capsule, Cylinder)):
        kind = CAPSULE if isinstance(shape, Capsule) else CYLINDER
        return kind, shape.at, R, (shape.radius, shape.half_length, 0.0)
    return BOX, shape.at, R, shape.half


def _refuse_planes_on_surfaces(entries: Sequence[Entry], off: set[int]) -> None:
    """Raise InputError where a half-space on a body may meet a surface."""
    surfaces = [k for k, (_, _, shape) in enumerate(entries) if isinstance(shape, (Mesh, HeightField))]
    for k, (_, body, shape) in enumerate(entries):
        for m in surfaces if isinstance(shape, HalfSpace) and body >= 0 else ():
            i, j = min(k, m), max(k, m)
            if i * len(entries) + j not in off:
                first, second = entries[i][0], entries[j][0]
                fix = f'Take the pair out: pairs={{("{first}", "{second}"): None}}.'
                raise InputError("shapes", f"{first!r} may meet {second!r}", "surfaces that meet no half-space", fix)


def _keys(bodies: Sequence[str], entries: Sequence[Entry], off: Iterable[tuple[str, str]]) -> IntArray:
    """Return the sorted keys i s + j of the pairs of shapes that names in `off` stand for."""
    members: dict[str, set[int]] = {}
    for i, (label, body, _) in enumerate(entries):
        members.setdefault(label, set()).add(i)
        if body >= 0:
            members.setdefault(bodies[body], set()).add(i)
    keys = set()
    for pair in off:
        for name in pair:
            if name not in members and name not in bodies:
                raise InputError("off", repr(name), *nearest(name, members))
        first, second = (members.get(name, set()) for name in pair)
        keys |= {min(i, j) * len(entries) + max(i, j) for i in first for j in second}
    return np.array(sorted(keys), dtype=np.int64)
