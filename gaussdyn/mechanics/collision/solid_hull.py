"""A convex polyhedron: corners, edges and flat faces of the hull of points, and exact integrals over its volume."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array, IntArray
from ...errors import InputError

FLAT = 1e-9  # of the size: triangles whose corners are this near to one plane are one face
CONVEX = 1e-6  # of the volume: a solid that fills its hull to this is convex
MOST_CORNERS = 1800  # of a hull: those near a face all are contacts, and a step costs the more of them the more
MANY = 2000  # points from which corners are counted before the hull is made
BLOCK = 256  # points that are near one another, looked at together
MOST = 20_000  # points on a hull, the corners within its faces and edges included
MOST_FACES = 100_000  # that are checked against a hull
THIN = 1e-12  # of the cube of the size: a volume below is none


@dataclass(frozen=True, slots=True, eq=False)
class Polyhedron:
    """Corners, edges and faces; no face is in the plane of its neighbour.

    Attributes
    ----------
    corners : Array, shape (V, 3)
        m.
    faces : tuple of tuple of int
        Corners of every face, counterclockwise seen from outside.
    edges : IntArray, shape (E, 4)
        Its two corners, the face on its left, where it runs along the loop of the face, and the face on its right.
    normals : Array, shape (F, 3)
        Outward, of length one.
    offsets : Array, shape (F,)
        The plane of face f is normals[f] . x = offsets[f], m.
    """

    corners: Array
    faces: tuple[tuple[int, ...], ...]
    edges: IntArray
    normals: Array
    offsets: Array

    __repr__ = brief

    @property
    def size(self) -> float:
        """Half of the longest side of the box along the axes that holds it, m."""
        return float(np.ptp(self.corners, axis=0).max()) / 2.0

    def moved(self, shift: Array) -> Polyhedron:
        """Return it with `shift` (m) added to every corner."""
        offsets = self.offsets + self.normals @ shift
        return Polyhedron(self.corners + shift, self.faces, self.edges, self.normals, offsets)


def hull_of(name: str, points: Array) -> Polyhedron:
    """Return the convex hull of points, shape (k, 3).

    Raises
    ------
    InputError
        Fewer than four points, points in one plane, far too many corners.
    """
    from scipy.spatial import ConvexHull, QhullError

    if len(points) < 4:
        raise InputError(
            name,
            f"{len(points)} points",
            "at least 4, not in one plane",
            "Write vertices=[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], or more.",
        )
    size = float(np.ptp(points, axis=0).max())
    if len(points) > MANY:  # a hull of half a million points takes seconds, its faces more
        refuse_sure_corners(name, points)
    try:
        hull = ConvexHull(points)
    except QhullError:
        hull = None
    if hull is not None and len(hull.vertices) > MOST:  # all that follows goes face by face
        refuse_corners(name, len(points), len(hull.vertices))
    if hull is None or hull.volume <= THIN * size**3:
        _refuse_plane(name, "points in one plane (volume 0)")
    triangles = _outward(points, hull.simplices, hull.equations[:, :3])
    groups = _coplanar(points, triangles, hull.neighbors, hull.equations, FLAT * size)
    if not _bounded(groups, hull.neighbors):
        _refuse_plane(name, f"points in one plane, to {FLAT:g} of their size ({size:.3g} m)")
    loops = _without_straight_corners([_loop(triangles[groups == g]) for g in range(int(groups.max()) + 1)])
    return polyhedron_of(points, loops)


def _bounded(groups: IntArray, neighbours: IntArray) -> bool:
    """Return whether every face, numbered triangle by triangle, meets three others or more, as on any solid."""
    pairs = np.column_stack([np.repeat(groups, 3), groups[neighbours].ravel()])
    beside = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    return bool((np.bincount(beside[:, 0], minlength=int(groups.max()) + 1) > 2).all())


def _refuse_plane(name: str, given: str) -> None:
    """Raise InputError: points span no volume.

    Raises
    ------
    InputError
        Always.
    """
    mend = 'Give it some thickness; a plane that others rest on is HalfSpace(name="floor").'
    raise InputError(name, given, "points that span a volume", mend)


def refuse_corners(name: str, points: int, corners: int, more: str = "") -> None:
    """Raise InputError: of so many points the hull has so many corners, or more than these.

    Raises
    ------
    InputError
        Always.
    """
    step = points // MOST_CORNERS + 1
    mend = f"Take fewer points: vertices=points[::{step}], or a mesh made coarser where it came from."
    raise InputError(name, f"a hull with {more}{corners} corners", f"{MOST_CORNERS} corners at most", mend)


def refuse_sure_corners(name: str, points: Array) -> None:
    """Raise InputError if more points are farthest out in some direction than a hull may have corners.

    Raises
    ------
    InputError
        If so; where there are few such points of a few directions no more are looked for.
    """
    sides, rng = np.ptp(points, axis=0), np.random.default_rng(0)
    ways = rng.normal(size=(2 * MOST_CORNERS, 3)) / np.where(sides > 0.0, sides, 1.0)
    order = morton_order(points)
    few = farthest_points(points, order, ways[:64])
    if len(few) > 48:
        found = farthest_points(points, order, ways)
        if len(found) > MOST_CORNERS:
            refuse_corners(name, len(points), len(found), "more than ")


def farthest_points(points: Array, order: IntArray, ways: Array) -> IntArray:
    """Return the points that are farthest in some of the directions `ways`, each once.

    Points are looked at in blocks that follow one another in `order`: only those whose box comes far enough.
    """
    starts = np.arange(0, len(points), BLOCK)
    sorted_points = points[order]
    low, high = (np.minimum.reduceat(sorted_points, starts), np.maximum.reduceat(sorted_points, starts))
    most = 0.5 * ((low + high) @ ways.T + (high - low) @ np.abs(ways).T)  # of the boxes about the blocks
    sample, rounding = points[:: len(points) // 1000 + 1], 1e-12 * np.abs(points).max() * np.abs(ways).sum(axis=1)
    best = (sample @ ways.T).max(axis=0) - rounding
    found = set()
    for k, way in enumerate(ways):
        blocks = np.flatnonzero(most[:, k] >= best[k])
        near = (starts[blocks][:, None] + np.arange(BLOCK)).ravel()
        near = near[near < len(points)]
        found.add(int(order[near[(sorted_points[near] @ way).argmax()]]))
    return np.array(sorted(found), dtype=np.int64)


def morton_order(points: Array) -> IntArray:
    """Return the order of points along a curve that fills space: neighbours there are near one another."""
    low, span = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-300)
    cells = ((points - low) / span * 1023.0).astype(np.int64)
    key = np.zeros(len(points), dtype=np.int64)
    for bit in range(10):
        for a in range(3):
            key |= (cells[:, a] >> bit & 1) << (3 * bit + a)
    return np.argsort(key, kind="stable")


def polyhedron_of(points: Array, loops: Sequence[Sequence[int]]) -> Polyhedron:
    """Return the polyhedron whose faces are loops of numbers of points; points that no loop names are left out."""
    used = sorted({k for loop in loops for k in loop})
    number = {k: i for i, k in enumerate(used)}
    faces = tuple(sorted((_from_smallest([number[k] for k in loop]) for loop in loops), key=lambda loop: sorted(loop)))
    corners = np.ascontiguousarray(points[used])
    left = {(a, b): f for f, loop in enumerate(faces) for a, b in zip(loop, (*loop[1:], loop[0]), strict=True)}
    edges = np.array(sorted((a, b, f, left[b, a]) for (a, b), f in left.items() if a < b), dtype=np.int64)
    normals = np.array([_normal(corners[list(loop)]) for loop in faces])
    offsets = np.array([float((corners[list(loop)] @ n).max()) for loop, n in zip(faces, normals, strict=True)])
    return Polyhedron(corners, faces, edges, normals, offsets)


def _outward(points: Array, triangles: IntArray, normals: Array) -> IntArray:
    """Return triangles with their corners counterclockwise about the outward normals."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    turned = (np.cross(b - a, c - a) * normals).sum(axis=1) < 0.0
    found = triangles.astype(np.int64)
    found[turned] = found[turned][:, [0, 2, 1]]
    return found


def _coplanar(points: Array, triangles: IntArray, neighbours: IntArray, planes: Array, flat: float) -> IntArray:
    """Return the number of the face that every triangle belongs to: neighbours in one plane belong together."""
    group = np.full(len(triangles), -1, dtype=np.int64)
    count = 0
    for start in range(len(triangles)):
        if group[start] >= 0:
            continue
        normal, offset, ahead = planes[start, :3], planes[start, 3], [start]
        group[start] = count
        while ahead:
            for other in neighbours[ahead.pop()].tolist():
                near = np.abs(points[triangles[other]] @ normal + offset).max() <= flat
                if group[other] < 0 and near:
                    group[other] = count
                    ahead.append(other)
        count += 1
    return group


def _loop(triangles: IntArray) -> list[int]:
    """Return the border of triangles in one plane: the directed sides whose opposite is not among them."""
    sides = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    following = {a: b for a, b in sides if (b, a) not in sides}
    first = min(following)
    loop, k = [first], following[first]
    while k != first:
        loop.append(k)
        k = following[k]
    return loop


def _without_straight_corners(loops: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the loops without corners where only two faces meet: they are in the middle of an edge."""
    meeting: dict[int, int] = defaultdict(int)
    for loop in loops:
        for k in loop:
            meeting[k] += 1
    return [[k for k in loop if meeting[k] > 2] for loop in loops]


def _from_smallest(loop: list[int]) -> tuple[int, ...]:
    start = loop.index(min(loop))
    return tuple(loop[start:] + loop[:start])


def _normal(loop: Array) -> Array:
    """Return the unit normal of a plane polygon, by Newell's sum about its first corner."""
    arms = loop - loop[0]
    total: Array = np.cross(arms[:-1], arms[1:]).sum(axis=0)
    found: Array = total / np.linalg.norm(total)
    return found


def mass_integrals(corners: Array, triangles: IntArray) -> tuple[float, Array, Array]:
    """Return volume (m^3), centre (m) and the integral of x x^T about the centre (m^5) of a closed surface.

    The surface is made of triangles, counterclockwise seen from outside; each makes a tetrahedron with one point. Over
    a tetrahedron with the corners 0, a, b, c of volume V, the integral of x x^T is
    V/20 (a a^T + b b^T + c c^T + s s^T) with s = a + b + c. Source: J. Blow, A. Binstock, How to find the inertia
    tensor of a 3D solid body (2004); B. Mirtich (1996) has the same by integrals over the faces.
    """
    origin = corners.mean(axis=0)
    a, b, c = (corners[triangles[:, k]] - origin for k in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume, sums = float(volumes.sum()), a + b + c
    centre = (volumes @ sums) / (4.0 * volume)
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (a, b, c, sums)) / 20.0
    spread: Array = second - volume * np.outer(centre, centre)
    return volume, origin + centre, spread


def loops_of(name: str, faces: Any) -> tuple[tuple[int, ...], ...]:
    """Return faces as tuples of whole numbers.

    Raises
    ------
    InputError
        Something else, a face with fewer than three corners, far too many faces.
    """
    if hasattr(faces, "__len__") and len(faces) > MOST_FACES:
        mend = "Leave faces=... out: the hull of the points is what counts; a hollow body is cut by decomposed(...)."
        raise InputError(name, f"{len(faces)} faces", f"at most {MOST_FACES}, to be checked", mend)
    try:
        given = [[float(k) for k in loop] for loop in faces]
    except (TypeError, ValueError, OverflowError):
        given = [[math.nan]]
    if any(len(loop) < 3 or not all(k.is_integer() for k in loop) for loop in given):
        mend = "E.g. faces=((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)) for a tetrahedron."
        raise InputError(name, repr(faces)[:60], "for every face the numbers of three corners or more", mend)
    return tuple(tuple(int(k) for k in loop) for loop in given)


def check_convex(name: str, points: Array, faces: Sequence[Sequence[int]], hull: Polyhedron) -> None:
    """Raise InputError unless faces are the closed surface of a convex solid, seen from outside counterclockwise.

    Raises
    ------
    InputError
        Numbers of no point, a surface that is open or inside out, one that encloses less than the hull of its points.
    """
    triangles = triangles_of(faces)
    if triangles.min(initial=0) < 0 or triangles.max(initial=0) >= len(points):
        raise InputError(
            name,
            f"corner {int(triangles.min() if triangles.min() < 0 else triangles.max())}",
            f"numbers of the {len(points)} points, from 0",
            "Count from 0: faces = faces - faces.min().",
        )
    twice = next((loop for loop in faces if len(set(loop)) < len(loop)), None)
    if twice is not None:
        mend = "Leave it out: faces = [face for face in faces if len(set(face)) == len(face)]."
        raise InputError(name, f"face {tuple(twice)} with a corner twice", "three different corners or more", mend)
    sides = [(a, b) for loop in faces for a, b in zip(loop, (*loop[1:], loop[0]), strict=True)]
    known = set(sides)
    if len(known) < len(sides):
        raise InputError(
            name,
            "faces that are turned against each other",
            "all counterclockwise seen from outside",
            "Write trimesh.repair.fix_normals(mesh).",
        )
    lone = sum((b, a) not in known for a, b in known)
    if lone or not sides:
        mend = "Close the holes, or leave faces=... out: the hull of the points is closed."
        raise InputError(name, f"an open surface ({lone} sides without a neighbour)", "a closed one", mend)
    volume = mass_integrals(points, triangles)[0]
    if volume < 0.0:
        raise InputError(
            name,
            "a surface that is inside out",
            "corners counterclockwise seen from outside",
            "Reverse them: faces = faces[:, ::-1].",
        )
    whole = mass_integrals(hull.corners, triangles_of(hull.faces))[0]
    if volume < (1.0 - CONVEX) * whole:
        given = f"a solid that is not convex: {volume / whole:.3%} of the volume of its hull"
        mend = "Give convex parts as several shapes, or leave faces=... out to take the hull."
        raise InputError(name, given, "a convex one", mend)


def triangles_of(faces: Sequence[Sequence[int]]) -> IntArray:
    """Return faces as triangles about their first corners, shape (k, 3)."""
    found = [(loop[0], loop[k], loop[k + 1]) for loop in faces for k in range(1, len(loop) - 1)]
    return np.array(found, dtype=np.int64).reshape(-1, 3)
