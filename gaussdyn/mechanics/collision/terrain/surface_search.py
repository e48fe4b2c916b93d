"""Triangles of a surface near a box, and what its edges and corners bear, compiled; blocks as in `surface_tables`."""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array
from ..primitives import BORDER, KIND, axis_of, to_shape
from ..rim_kinematics import ZERO
from ..solids import corner_of, edge_row, extent_of, links_of, normal_of
from ..vectors import A2, V3, Vector, along, cross3, dot3

LOW, HIGH = 15, 18  # columns of `world`
BOX3 = f"UniTuple({V3}, 2)"
Bounds = tuple[Vector, Vector]
TOUCH = "Tuple((int64, int64, float64, float64))"
Touch = tuple[int, int, float, float]
"""The shape, the surface, the largest gap, and how deep something may be in the surface, m."""
ARC = 1e-9  # cosine: directions this far beyond the arc of an edge still belong to it


@kernel(f"UniTuple(int64, 2)({A2}, int64)", borrows=True)
def triangles_of(solids: Array, block: int) -> tuple[int, int]:
    """Return how many triangles there are, and the first row of those in the order of the tree."""
    count = int(solids[block, 2])
    return count, int(solids[block + 1, 1]) + 3 * count


@kernel(f"boolean({A2}, int64, {BOX3})", borrows=True)
def box_meets(solids: Array, row: int, box: Bounds) -> bool:
    """Return whether the box in a row meets another one."""
    apart = False
    for a in range(3):
        apart = apart or solids[row, a] > box[1][a] or solids[row, 3 + a] < box[0][a]
    return not apart


@kernel("int64(int64, int64)", borrows=True)
def boxes_below(count: int, level: int) -> int:
    """Return how many boxes the levels below one have."""
    total, size = 0, count
    for _ in range(level):
        total += size
        size = (size + 7) // 8
    return total


@kernel(f"int64({A2}, int64, {BOX3}, int64)", borrows=True)
def next_triangle(solids: Array, block: int, box: Bounds, place: int) -> int:
    """Return the first triangle, in the order of the tree from `place` on, whose box meets a box; their number at last.

    From the largest box that begins there the way leads down; from one that is missed, past all that is in it.
    """
    count, first = triangles_of(solids, block)
    first += count
    while place < count:
        level, size = 0, count
        while size > 1 and place % (1 << 3 * (level + 1)) == 0:
            level += 1
            size = (size + 7) // 8
        while level >= 0 and box_meets(solids, first + boxes_below(count, level) + (place >> 3 * level), box):
            level -= 1
        if level < 0:
            return place
        place += 1 << 3 * level
    return count


@kernel(f"{BOX3}({A2}, int64, int64, float64)", borrows=True)
def bounds_of(world: Array, i: int, j: int, more: float) -> Bounds:
    """Return the box about shape i in the axes of shape j, from its bounds in space, larger by `more`."""
    middle, half = ZERO, ZERO
    for a in range(3):
        low, high = world[i, LOW + a], world[i, HIGH + a]
        e = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
        middle, half = along(middle, 0.5 * (low + high), e), along(half, 0.5 * (high - low), e)
    c = to_shape(world, j, middle)
    x, y, z = axis_of(world, j, 0), axis_of(world, j, 1), axis_of(world, j, 2)
    h = (
        abs(x[0]) * half[0] + abs(x[1]) * half[1] + abs(x[2]) * half[2] + more,
        abs(y[0]) * half[0] + abs(y[1]) * half[1] + abs(y[2]) * half[2] + more,
        abs(z[0]) * half[0] + abs(z[1]) * half[1] + abs(z[2]) * half[2] + more,
    )
    return along(c, -1.0, h), along(c, 1.0, h)


@kernel(f"boolean({A2}, int64, int64, int64)", borrows=True)
def owns_edge(solids: Array, block: int, f: int, e: int) -> bool:
    """Return whether edge e is looked at with triangle f, and is convex."""
    m = edge_row(solids, block, e)
    return bool(solids[m, 5] > 0.0 and int(solids[m, 2]) == f)


@kernel(f"boolean({A2}, int64, int64, int64)", borrows=True)
def owns_corner(solids: Array, block: int, f: int, k: int) -> bool:
    """Return whether corner k is looked at with triangle f, and an edge there is convex."""
    m = int(solids[block, 3]) + k
    first, last = links_of(solids, block, k)
    owner = 1 << 62
    for row in range(first, last):
        owner = min(owner, int(solids[edge_row(solids, block, int(solids[row, 0])), 2]))
    return bool(solids[m, 5] > 0.0 and owner == f)


@kernel(f"{V3}({A2}, int64, int64)", borrows=True)
def row_of(solids: Array, row: int, first: int) -> Vector:
    """Return three numbers of a row, from a column on."""
    return (solids[row, first], solids[row, first + 1], solids[row, first + 2])


@kernel(f"boolean({V3}, {V3}, {V3}, {V3})", borrows=True)
def between(u: Vector, left: Vector, right: Vector, d: Vector) -> bool:
    """Return whether a direction is between the normals on the left and on the right of an edge along u."""
    beside = dot3(d, cross3(left, u)) > ARC or dot3(d, cross3(u, right)) > ARC
    return not beside and dot3(d, along(left, 1.0, right)) > 0.0


@kernel(f"boolean({A2}, int64, int64, {V3}, {V3})", borrows=True)
def out_of_ridge(solids: Array, block: int, e: int, u: Vector, d: Vector) -> bool:
    """Return whether a direction, across convex edge e along u, is between the normals beside it.

    They are those of its triangles, or of a seam, see `seams`; a border is open to its other side.
    """
    m = edge_row(solids, block, e)
    seam = -2 - int(solids[m, 3])
    if seam >= 0:
        return between(u, row_of(solids, seam, 0), row_of(solids, seam, 3), d)
    left = normal_of(solids, block, int(solids[m, 2]))
    if int(solids[m, 3]) < 0:
        return dot3(d, cross3(left, u)) <= ARC and dot3(d, left) > -ARC
    return between(u, left, normal_of(solids, block, int(solids[m, 3])), d)


@kernel(f"boolean({A2}, int64, int64, {V3})", borrows=True)
def out_of_peak(solids: Array, block: int, k: int, d: Vector) -> bool:
    """Return whether a direction leads out of corner k: against all edges there, and over its triangles."""
    q, size = corner_of(solids, block, k), BORDER * extent_of(solids, block)
    first, last = links_of(solids, block, k)
    above = False
    for row in range(first, last):
        if dot3(d, along(corner_of(solids, block, int(solids[row, 1])), -1.0, q)) > size:
            return False
        f = int(solids[edge_row(solids, block, int(solids[row, 0])), 2])
        above = above or dot3(d, normal_of(solids, block, f)) > 0.0
    seam = int(solids[int(solids[block, 3]) + k, 5])  # 1: no other surface is there
    if seam > 1:
        for row in range(seam + 1, seam + 1 + int(solids[seam, 0])):
            if dot3(d, row_of(solids, row, 0)) > size:
                return False
    return above


@kernel(f"boolean({A2}, int64, int64, int64, int64, int64)", borrows=True)
def known(found: Array, start: int, a: int, feature: int, b: int, other: int) -> bool:
    """Return whether a contact is among those found since `start`."""
    for c in range(start + 1, min(int(found[0, 0]), len(found) - 1) + 1):
        same = int(found[c, KIND + 1]) == a and int(found[c, KIND + 2]) == feature
        if same and int(found[c, KIND + 3]) == b and int(found[c, KIND + 4]) == other:
            return True
    return False
