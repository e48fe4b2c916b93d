"""What all searches for contacts share, compiled: primitives of shapes in their own frames, and the list of contacts.

Few arrays go from kernel to kernel, for their many fields make calls slow, and no tuples of arrays, whose references
are counted at every step:

* ``world`` (s, 29): place (3) and frame (9, row by row) of every shape in space, its size (3), see
  `collision.ShapeArrays`, its lower (3) and upper (3) bounds, the first row of its block in the table of solids, and
  what `near_pairs` keeps there (7).
* ``found`` (c + 1, 24): row 0 counts the contacts found in column 0 (also those that no longer fit). Row k + 1 is
  contact k: its data (19) in the frames of the two shapes, kind, shape A, feature, shape B, feature.
"""

from __future__ import annotations

from typing import NamedTuple

from ..._jit import kernel, record
from ...arrays import Array
from .feature_kinematics import EDGE_RIM, LINE_LINE
from .vectors import A2, V3, Vector, dot3

A3, I1, I2 = "float64[:,:,::1]", "int64[::1]", "int64[:,::1]"
LABEL = "UniTuple(int64, 4)"
Label = tuple[int, int, int, int]
SPHERE, CAPSULE, BOX, MESH, CYLINDER, ELLIPSOID, HALF_SPACE, SURFACE = 0, 1, 2, 3, 4, 5, 6, 7
EDGE, FACE, END = 8, 20, 1  # first numbers of the edges and faces of a box and of the ends of a capsule in labels
RIM = 26  # the same of its edges where a point over one touches the face: another geometry than the edge, another label
FRAME, SIZE = 3, 12  # columns of `SearchShapes.forms` and of `SearchSpace.world`, before the bounds
RADIUS, HALF_LENGTH = SIZE, SIZE + 1  # the same of balls, capsules and cylinders
KIND = 19  # column of `found`
NONE, UP = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
BORDER = 2e-8  # of the size: points this far beyond the border of a face still stand on it
SAME = 1e-6  # of the size: points this close are one contact, axes this close to the best are as good
LEVEL = 1e-6  # of the size: what is level with a face to this cannot run into its side


@record(V3, V3, "float64", by_value=True)
class Primitive(NamedTuple):
    """What a contact is made of, in the frame of its shape: a ball, a line, a plane or a disc.

    Attributes
    ----------
    point, axis : Vector
        Where it is; along it, or its normal.
    radius : float
    """

    point: Vector
    axis: Vector
    radius: float


@record("int64", V3, V3, "float64", "float64", by_value=True)
class ShapeAxis(NamedTuple):
    """The axis of a capsule or cylinder in the frame of another shape.

    Attributes
    ----------
    shape : int
        Whose it is.
    middle, way : Vector
        Its points are middle + t way, |t| <= reach.
    reach, radius : float
    """

    shape: int
    middle: Vector
    way: Vector
    reach: float
    radius: float


ELLIPSOID_HERE = Primitive(NONE, NONE, 0.0)  # `broad_phase` puts its matrix


@kernel(f"Primitive({V3}, float64)", borrows=True)
def ball(centre: Vector, radius: float) -> Primitive:
    """Return a ball, or a point."""
    return Primitive(centre, NONE, radius)


@kernel(f"Primitive({V3}, {V3}, float64)", borrows=True)
def line(point: Vector, axis: Vector, radius: float) -> Primitive:
    """Return a line along an axis, or all that is within a radius of it."""
    return Primitive(point, axis, radius)


@kernel(f"Primitive({V3}, {V3})", borrows=True)
def plane(point: Vector, normal: Vector) -> Primitive:
    """Return a plane with its outward normal."""
    return Primitive(point, normal, 0.0)


@kernel(f"Primitive({V3}, float64)", borrows=True)
def disc(centre: Vector, radius: float) -> Primitive:
    """Return a cap of a cylinder, or its rim."""
    return Primitive(centre, UP, radius)


@kernel(f"void({A2}, int64, {LABEL}, Primitive, Primitive)", borrows=True)
def put(found: Array, kind: int, label: Label, one: Primitive, other: Primitive) -> None:
    """Add a contact of two primitives."""
    found[0, 0] += 1.0
    c = int(found[0, 0])
    if c >= len(found):
        return
    for k in range(3):
        found[c, k], found[c, 3 + k] = one.point[k], one.axis[k]
        found[c, 7 + k], found[c, 10 + k] = other.point[k], other.axis[k]
    found[c, 6], found[c, 13], found[c, KIND] = one.radius, other.radius, kind
    for k in range(14, KIND):
        found[c, k] = 0.0
    for k in range(4):
        found[c, KIND + 1 + k] = label[k]


@kernel(f"void({A2}, {LABEL}, Primitive, Primitive, float64, float64)", borrows=True)
def put_lines(found: Array, label: Label, one: Primitive, other: Primitive, reach: float, half: float) -> None:
    """Add the contact of an axis with an edge, both through the middle of what ends `reach` and `half` from there."""
    put(found, LINE_LINE, label, one, other)
    c = int(found[0, 0])
    if c < len(found):
        found[c, 17], found[c, 18] = reach, half


@kernel(f"void({A2}, {LABEL}, Primitive, Primitive)", borrows=True)
def put_edges(found: Array, label: Label, one: Primitive, other: Primitive) -> None:
    """Add the contact of two edges: the one of the first shape first, so that it has one id whichever face finds it."""
    i, e, j, g = label
    if i < j:
        put(found, LINE_LINE, label, one, other)
    else:
        put(found, LINE_LINE, (j, g, i, e), other, one)


@kernel(f"void({A2}, int64, int64, int64)", borrows=True, rare=True)
def without_rim(found: Array, row: int, one: int, other: int) -> None:
    """Drop the point over a rim where the edges of contact `row` cross, listed behind it; by labels of their rims."""
    last = int(found[0, 0])
    if last >= len(found):
        return
    i, e, j, g = found[row, KIND + 1], found[row, KIND + 2], found[row, KIND + 3], found[row, KIND + 4]
    for c in range(row + 1, last + 1):
        a, f, b, r = found[c, KIND + 1], found[c, KIND + 2], found[c, KIND + 3], found[c, KIND + 4]
        if (a == i and b == j and f == e and r == other) or (a == j and b == i and f == g and r == one):
            for k in range(found.shape[1]):
                found[c, k] = found[last, k]
            found[0, 0] = last - 1
            return


@kernel(f"void({A2}, {LABEL}, Primitive, Primitive, {V3}, {V3})", borrows=True)
def put_over_rim(found: Array, label: Label, edge: Primitive, face: Primitive, e: Vector, sizes: Vector) -> None:
    """Add a contact of an edge with the rim of a face, see `feature_kinematics`; sizes: reach, rb, s0."""
    put(found, EDGE_RIM, label, edge, Primitive(face.point, face.axis, sizes[1]))
    c = int(found[0, 0])
    if c < len(found):
        found[c, 14], found[c, 15], found[c, 16], found[c, 17], found[c, 18] = e[0], e[1], e[2], sizes[0], sizes[2]


@kernel(f"void({A2}, int64, {LABEL}, Primitive, Primitive, {V3})", borrows=True)
def put_with_guess(found: Array, kind: int, label: Label, one: Primitive, other: Primitive, normal: Vector) -> None:
    """Add a contact whose normal is searched for, and about where it is; see `rim_kinematics`, `smooth_kinematics`."""
    put(found, kind, label, one, other)
    c = int(found[0, 0])
    if c < len(found):
        found[c, 14], found[c, 15], found[c, 16] = normal[0], normal[1], normal[2]


@kernel(f"{V3}({A2}, int64)", borrows=True)
def size_of(world: Array, i: int) -> Vector:
    """Return the size of shape i."""
    return (world[i, SIZE], world[i, SIZE + 1], world[i, SIZE + 2])


@kernel(f"float64({A2}, int64, int64)", borrows=True)
def largest_half(world: Array, i: int, j: int) -> float:
    """Return the largest half side of two boxes."""
    a, b = size_of(world, i), size_of(world, j)
    return max(max(a[0], a[1], a[2]), max(b[0], b[1], b[2]))


@kernel(f"float64({A2}, int64, int64)", borrows=True)
def level_of(world: Array, i: int, j: int) -> float:
    """Return how far two boxes have to overlap to run into each other: a share of the smaller one's size."""
    a, b = size_of(world, i), size_of(world, j)
    return LEVEL * min(max(a[0], a[1], a[2]), max(b[0], b[1], b[2]))


@kernel(f"{V3}({A2}, int64)", borrows=True)
def centre_of(world: Array, i: int) -> Vector:
    """Return the place of shape i in space."""
    return (world[i, 0], world[i, 1], world[i, 2])


@kernel(f"{V3}({A2}, int64, int64)", borrows=True)
def axis_of(world: Array, i: int, k: int) -> Vector:
    """Return axis k of shape i in space."""
    return (world[i, 3 + k], world[i, 6 + k], world[i, 9 + k])


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def to_space(world: Array, i: int, p: Vector) -> Vector:
    """Return a point of shape i's frame in space."""
    return (
        world[i, 0] + (world[i, 3] * p[0] + world[i, 4] * p[1] + world[i, 5] * p[2]),
        world[i, 1] + (world[i, 6] * p[0] + world[i, 7] * p[1] + world[i, 8] * p[2]),
        world[i, 2] + (world[i, 9] * p[0] + world[i, 10] * p[1] + world[i, 11] * p[2]),
    )


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def to_shape(world: Array, i: int, p: Vector) -> Vector:
    """Return a point in space in shape i's frame."""
    d = (p[0] - world[i, 0], p[1] - world[i, 1], p[2] - world[i, 2])
    return (dot3(axis_of(world, i, 0), d), dot3(axis_of(world, i, 1), d), dot3(axis_of(world, i, 2), d))


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def seen_from(world: Array, i: int, n: Vector) -> Vector:
    """Return a direction in space in the axes of shape i."""
    return (dot3(n, axis_of(world, i, 0)), dot3(n, axis_of(world, i, 1)), dot3(n, axis_of(world, i, 2)))


@kernel(f"{V3}({A2}, int64, {V3})", borrows=True)
def to_axes(world: Array, i: int, e: Vector) -> Vector:
    """Return a direction of shape i's frame in space."""
    return (
        world[i, 3] * e[0] + world[i, 4] * e[1] + world[i, 5] * e[2],
        world[i, 6] * e[0] + world[i, 7] * e[1] + world[i, 8] * e[2],
        world[i, 9] * e[0] + world[i, 10] * e[1] + world[i, 11] * e[2],
    )


@kernel(f"ShapeAxis({A2}, int64, int64)", borrows=True)
def axis_seen_from(world: Array, j: int, i: int) -> ShapeAxis:
    """Return the axis of shape i in the frame of shape j."""
    middle, way = to_shape(world, j, centre_of(world, i)), seen_from(world, j, axis_of(world, i, 2))
    return ShapeAxis(i, middle, way, world[i, HALF_LENGTH], world[i, RADIUS])


@kernel(f"{V3}(int64, float64)", borrows=True)
def unit(k: int, s: float) -> Vector:
    """Return s times the unit vector k."""
    return (s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)


@kernel(f"{V3}({V3}, int64)", borrows=True)
def corner(half: Vector, c: int) -> Vector:
    """Return corner c of a box in its frame."""
    return (
        half[0] if c & 1 else -half[0],
        half[1] if c & 2 else -half[1],
        half[2] if c & 4 else -half[2],
    )


@kernel(f"{V3}({V3}, int64)", borrows=True)
def edge_middle(half: Vector, e: int) -> Vector:
    """Return the middle of edge e of a box in its frame; it runs along axis e // 4."""
    k = e // 4
    u, v = half[(k + 1) % 3], half[(k + 2) % 3]
    u, v = (u if e & 1 else -u), (v if e & 2 else -v)
    return (v, 0.0, u) if k == 1 else ((u, v, 0.0) if k == 2 else (0.0, u, v))


@kernel("int64(int64, boolean, boolean)", borrows=True)
def edge_number(k: int, first: bool, second: bool) -> int:
    """Return the number of the edge along axis k, on the positive side of axes k + 1 and k + 2 where said."""
    return 4 * k + (1 if first else 0) + (2 if second else 0)


@kernel(f"float64({V3})", borrows=True)
def square(a: Vector) -> float:
    """Return |a|^2."""
    return dot3(a, a)
