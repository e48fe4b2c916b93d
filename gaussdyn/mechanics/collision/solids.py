"""Parts of polyhedra and cylinders, compiled: read from the blocks of `solid_tables`, and farthest points.

A polyhedron is given by the first row of its block. Points and directions stand in the axes of the shape.
"""

from __future__ import annotations

import math

from ..._jit import kernel
from ...arrays import Array
from .feature_kinematics import BALL_PLANE
from .primitives import NONE, axis_of, ball, centre_of, plane, put, size_of
from .vectors import A2, V3, Vector, along, dot3

LIKE = 0.414  # of the largest component of a direction: smaller ones count as zero for `seed_of`
BLOCK = 21  # column of `world`: first row of the block; -1 for other shapes


@kernel(f"int64({A2}, int64, int64)", borrows=True)
def count_of(solids: Array, block: int, k: int) -> int:
    """Return the number of corners (0), edges (1) or faces (2)."""
    return int(solids[block, k])


@kernel(f"int64({A2}, int64, int64)", borrows=True)
def edge_label(solids: Array, block: int, e: int) -> int:
    """Return the number of edge e in labels: edges come after corners."""
    return int(solids[block, 0]) + e


@kernel(f"int64({A2}, int64, int64)", borrows=True)
def face_label(solids: Array, block: int, f: int) -> int:
    """Return the number of face f in labels: faces come after edges."""
    return int(solids[block, 0]) + int(solids[block, 1]) + f


@kernel(f"int64({A2}, int64, int64)", borrows=True)
def rim_label(solids: Array, block: int, e: int) -> int:
    """Return the number in labels of edge e where a point over it touches a face that ends there."""
    return face_label(solids, block, int(solids[block, 2])) + e


@kernel(f"{V3}({A2}, int64, int64)", borrows=True)
def corner_of(solids: Array, block: int, k: int) -> Vector:
    """Return corner k."""
    m = int(solids[block, 3]) + k
    return (solids[m, 0], solids[m, 1], solids[m, 2])


@kernel(f"UniTuple(int64, 2)({A2}, int64, int64)", borrows=True)
def links_of(solids: Array, block: int, k: int) -> tuple[int, int]:
    """Return the first row of the links of corner k, and the row after the last."""
    m = int(solids[block, 3]) + k
    first = int(solids[m, 3])
    return first, first + int(solids[m, 4])


@kernel(f"int64({A2}, int64, int64)", borrows=True)
def edge_row(solids: Array, block: int, e: int) -> int:
    """Return the row of edge e."""
    return int(solids[block, 5]) + e


@kernel(f"Tuple(({V3}, {V3}, float64))({A2}, int64, int64)", borrows=True)
def edge_of(solids: Array, block: int, e: int) -> tuple[Vector, Vector, float]:
    """Return middle, direction and half length of edge e."""
    m = int(solids[block, 5]) + e
    a, b = corner_of(solids, block, int(solids[m, 0])), corner_of(solids, block, int(solids[m, 1]))
    half, none = solids[m, 4], (0.0, 0.0, 0.0)
    return along(along(none, 0.5, a), 0.5, b), along(along(none, -0.5 / half, a), 0.5 / half, b), half


@kernel(f"{V3}({A2}, int64, int64)", borrows=True)
def normal_of(solids: Array, block: int, f: int) -> Vector:
    """Return the outward normal of face f."""
    m = int(solids[block + 1, 0]) + f
    return (solids[m, 0], solids[m, 1], solids[m, 2])


@kernel(f"float64({A2}, int64, int64)", borrows=True)
def offset_of(solids: Array, block: int, f: int) -> float:
    """Return how far the plane of face f is from the origin, along its normal."""
    return float(solids[int(solids[block + 1, 0]) + f, 3])


@kernel(f"UniTuple(int64, 2)({A2}, int64, int64)", borrows=True)
def loop_of(solids: Array, block: int, f: int) -> tuple[int, int]:
    """Return the first row of the loop of face f, and the row after the last."""
    m = int(solids[block + 1, 0]) + f
    first = int(solids[m, 4])
    return first, first + int(solids[m, 5])


@kernel(f"float64({A2}, int64, {V3})", borrows=True)
def within(solids: Array, row: int, p: Vector) -> float:
    """Return how far a point is inside the border in row `row` of the loops; negative beyond."""
    return float(solids[row, 2] * p[0] + solids[row, 3] * p[1] + solids[row, 4] * p[2] - solids[row, 5])


@kernel(f"boolean({A2}, int64, int64, {V3}, float64)", borrows=True)
def over_face(solids: Array, block: int, f: int, p: Vector, border: float) -> bool:
    """Return whether a point is over face f, or beyond its border by no more than `border`."""
    first, last = loop_of(solids, block, f)
    inside = True
    for row in range(first, last):
        inside = inside and within(solids, row, p) >= -border
    return inside


@kernel(f"float64({A2}, int64)", borrows=True)
def extent_of(solids: Array, block: int) -> float:
    """Return the largest half side of the box about the origin that holds a polyhedron."""
    return float(solids[block + 1, 5])


@kernel(f"float64({A2}, int64, {V3})", borrows=True)
def reach_of(solids: Array, block: int, n: Vector) -> float:
    """Return how far the box about the origin that holds a polyhedron reaches along n."""
    m = block + 1
    return float(abs(n[0]) * solids[m, 2] + abs(n[1]) * solids[m, 3] + abs(n[2]) * solids[m, 4])


@kernel(f"int64({A2}, int64, int64, {V3}, float64)", borrows=True)
def climb_below(solids: Array, block: int, start: int, n: Vector, most: float) -> int:
    """Return the corner farthest along n, or -1 if one is met on the way that is as far as `most`, or farther.

    From a corner to start with: on a convex solid the way up leads to the farthest one.
    """
    best, top, moved = start, dot3(n, corner_of(solids, block, start)), True
    while moved:
        moved = False
        first, last = links_of(solids, block, best)
        for row in range(first, last):
            value = dot3(n, (solids[row, 3], solids[row, 4], solids[row, 5]))
            if value > top:
                best, top, moved = int(solids[row, 1]), value, True
        if top >= most:
            return -1
    return best


@kernel(f"int64({A2}, int64, int64, {V3})", borrows=True)
def climb(solids: Array, block: int, start: int, n: Vector) -> int:
    """Return the corner farthest along n, from a corner to start with."""
    return int(climb_below(solids, block, start, n, math.inf))


@kernel(f"int64({A2}, int64, {V3})", borrows=True)
def seed_of(solids: Array, block: int, n: Vector) -> int:
    """Return a corner far along n: the farthest one along a way of length 0 or one along each axis that is like n."""
    m = LIKE * max(abs(n[0]), max(abs(n[1]), abs(n[2])))
    k = 9 * ((n[0] > m) - (n[0] < -m)) + 3 * ((n[1] > m) - (n[1] < -m)) + ((n[2] > m) - (n[2] < -m)) + 13
    return int(solids[block + 2 + k // 6, k % 6])


@kernel(f"int64({A2}, int64, {V3})", borrows=True)
def farthest_corner(solids: Array, block: int, n: Vector) -> int:
    """Return the corner farthest along n."""
    return int(climb(solids, block, seed_of(solids, block, n), n))


@kernel(f"float64({A2}, int64)", borrows=True)
def radius_of(solids: Array, block: int) -> float:
    """Return how far the farthest corner is from the origin, and a little more than rounding."""
    return float(solids[block + 6, 3])


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2})", borrows=True, rare=True)
def on_plane(world: Array, solids: Array, i: int, j: int, limit: float, found: Array) -> None:
    """Add the corners of solid i that are near half-space j."""
    block, n = int(world[i, BLOCK]), axis_of(world, j, 2)
    m = (dot3(n, axis_of(world, i, 0)), dot3(n, axis_of(world, i, 1)), dot3(n, axis_of(world, i, 2)))
    height = dot3(n, along(centre_of(world, i), -1.0, centre_of(world, j)))
    if height - reach_of(solids, block, m) > limit:
        return
    if height + dot3(m, corner_of(solids, block, farthest_corner(solids, block, along(NONE, -1.0, m)))) > limit:
        return
    for k in range(count_of(solids, block, 0)):
        p = corner_of(solids, block, k)
        if height + dot3(m, p) <= limit:
            put(found, BALL_PLANE, (i, k, j, 0), ball(p, 0.0), plane(NONE, (0.0, 0.0, 1.0)))


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def farthest_on_cylinder(world: Array, i: int, n: Vector) -> Vector:
    """Return the point of cylinder i farthest along n; straight along the axis: the middle of the cap."""
    radius, half_length, _ = size_of(world, i)
    across = math.sqrt(n[0] * n[0] + n[1] * n[1])
    k = radius / across if across > 0.0 else 0.0
    return (k * n[0], k * n[1], half_length if n[2] >= 0.0 else -half_length)


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def farthest_on_ellipsoid(world: Array, i: int, n: Vector) -> Vector:
    """Return the point of ellipsoid i farthest along n."""
    a, b, c = size_of(world, i)
    p = (a * n[0], b * n[1], c * n[2])
    size = math.sqrt(dot3(p, p))
    k = 1.0 / size if size > 0.0 else 0.0
    return (k * a * p[0], k * b * p[1], k * c * p[2])


@kernel(f"Tuple((int64, {V3}))({A2}, {A2}, int64, int64, {V3})", borrows=True)
def farthest(world: Array, solids: Array, i: int, start: int, n: Vector) -> tuple[int, Vector]:
    """Return the corner of solid i farthest along n (0 for a cylinder or an ellipsoid), and its place.

    start : corner to start with, negative without one.
    """
    block = int(world[i, BLOCK])
    if block < 0:  # only ellipsoids have a third size
        curved = size_of(world, i)[2] > 0.0
        return 0, farthest_on_ellipsoid(world, i, n) if curved else farthest_on_cylinder(world, i, n)
    k = climb(solids, block, start if start >= 0 else seed_of(solids, block, n), n)
    return k, corner_of(solids, block, k)
