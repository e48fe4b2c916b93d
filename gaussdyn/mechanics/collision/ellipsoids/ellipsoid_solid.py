"""Contacts of ellipsoids with convex polyhedra, compiled: the face, edge or corner that is nearest.

From the corner that is about nearest, its faces, edges and itself are tried: on the right one the normal is between
those of its faces, and the nearest point within it. All stands in the axes of the polyhedron.
"""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array
from ..box_box import relative
from ..nearest_direction import row3, way_between
from ..primitives import BORDER, ELLIPSOID_HERE, ball, line, plane, put, put_with_guess, size_of
from ..rim_kinematics import ZERO
from ..round_solid import out_of_edge
from ..smooth_kinematics import (
    ELLIPSOID_BALL,
    ELLIPSOID_LINE,
    ELLIPSOID_PLANE,
    M6,
    Matrix,
    farthest_along,
    round_matrix,
    smooth_normal,
    with_square,
)
from ..solids import (
    BLOCK,
    corner_of,
    count_of,
    edge_label,
    edge_of,
    extent_of,
    face_label,
    farthest_corner,
    links_of,
    normal_of,
    offset_of,
    over_face,
)
from ..vectors import A2, V3, Vector, along, dot3
from .ellipsoid_round import over_line

FACE, EDGE, CORNER = 0, 1, 2
NEAR = f"Tuple((int64, int64, float64, {V3}))"
Near = tuple[int, int, float, Vector]
"""What is nearest (-1: nothing), its number, the gap, and the normal, out of the polyhedron."""
NOTHING = (-1, -1, -1e300, ZERO)
ROUNDED = 1e-9  # sine: normals this far beyond those of the faces still belong to an edge


@kernel(f"{M6}({A2}, int64, {A2})", borrows=True)
def matrix_from(world: Array, j: int, room: Array) -> Matrix:
    """Return the matrix of ellipsoid j in the axes of the shape that `room` is relative to."""
    M, h = round_matrix(0.0), size_of(world, j)
    for k in range(3):
        M = with_square(M, h[k] * h[k], (room[0, k], room[1, k], room[2, k]))
    return M


@kernel(f"{NEAR}({A2}, int64, int64, {M6}, {V3})", borrows=True)
def to_face(solids: Array, block: int, f: int, A: Matrix, d: Vector) -> Near:
    """Return face f with its gap from an ellipsoid about d, or nothing where its lowest point is beside the face."""
    n = normal_of(solids, block, f)
    p, h = farthest_along(A, n)
    if not over_face(solids, block, f, along(d, -1.0, p), BORDER * extent_of(solids, block)):
        return NOTHING
    return FACE, f, dot3(n, d) - offset_of(solids, block, f) - h, n


@kernel(f"{NEAR}({A2}, int64, int64, {M6}, {V3}, {V3})", borrows=True)
def to_edge(solids: Array, block: int, e: int, A: Matrix, d: Vector, guess: Vector) -> Near:
    """Return edge e with its gap from an ellipsoid, or nothing where another part is nearer."""
    middle, u, half = edge_of(solids, block, e)
    n, gap, t = over_line(A, along(d, -1.0, middle), u, guess)
    between = out_of_edge(solids, block, e, u, n, ROUNDED)
    return (EDGE, e, gap, n) if between and abs(t) <= (1.0 + BORDER) * half else NOTHING


@kernel(f"{NEAR}({A2}, int64, int64, {M6}, {V3}, {V3})", borrows=True)
def to_corner(solids: Array, block: int, k: int, A: Matrix, d: Vector, guess: Vector) -> Near:
    """Return corner k with its gap from an ellipsoid, or nothing where another part is nearer."""
    q = corner_of(solids, block, k)
    way = along(d, -1.0, q)
    n = smooth_normal(ELLIPSOID_BALL, way, ZERO, A, round_matrix(0.0), guess)
    first, last = links_of(solids, block, k)
    for row in range(first, last):
        if dot3(n, along(corner_of(solids, block, int(solids[row, 1])), -1.0, q)) > BORDER * extent_of(solids, block):
            return NOTHING
    _, h = farthest_along(A, n)
    return CORNER, k, dot3(n, way) - h, n


@kernel(f"{NEAR}({A2}, int64, int64, {M6}, {V3}, {V3})", borrows=True)
def nearest_about(solids: Array, block: int, k: int, A: Matrix, d: Vector, guess: Vector) -> Near:
    """Return what is nearest of the parts of a polyhedron that meet in corner k."""
    best = to_corner(solids, block, k, A, d, guess)
    first, last = links_of(solids, block, k)
    for row in range(first, last):
        face = to_face(solids, block, int(solids[row, 2]), A, d)
        edge = to_edge(solids, block, int(solids[row, 0]), A, d, guess)
        best = face if face[2] > best[2] else best
        best = edge if edge[2] > best[2] else best
    return best


@kernel(f"void({A2}, {A2}, int64, int64, {NEAR}, {A2})", borrows=True)
def put_nearest(world: Array, solids: Array, i: int, j: int, near: Near, found: Array) -> None:
    """Add the contact of ellipsoid j with a part of solid i."""
    block, (what, k, _, n) = int(world[i, BLOCK]), near
    if what == FACE:
        foot, label = along(ZERO, offset_of(solids, block, k), n), face_label(solids, block, k)
        put(found, ELLIPSOID_PLANE, (j, 0, i, label), ELLIPSOID_HERE, plane(foot, n))
    elif what == EDGE:
        middle, u, _ = edge_of(solids, block, k)
        edge = (j, 0, i, edge_label(solids, block, k))
        put_with_guess(found, ELLIPSOID_LINE, edge, ELLIPSOID_HERE, line(middle, u, 0.0), n)
    else:
        corner = corner_of(solids, block, k)
        put_with_guess(found, ELLIPSOID_BALL, (j, 0, i, k), ELLIPSOID_HERE, ball(corner, 0.0), n)


@kernel(f"void({A2}, {A2}, int64, int64, float64, {A2}, {A2})", borrows=True)
def ellipsoid_solid(world: Array, solids: Array, i: int, j: int, limit: float, room: Array, found: Array) -> None:
    """Add the contact of solid i with ellipsoid j."""
    relative(world, i, j, room)
    near, out = way_between(world, solids, i, j, limit, room)
    if not near:
        return
    block, d = int(world[i, BLOCK]), row3(room, 3)
    A = matrix_from(world, j, room)
    best = nearest_about(solids, block, farthest_corner(solids, block, out), A, d, out)
    if best[0] < 0:
        for k in range(count_of(solids, block, 0)):
            one = nearest_about(solids, block, k, A, d, out)
            best = one if one[2] > best[2] else best
    if best[0] >= 0 and best[2] <= limit:
        put_nearest(world, solids, i, j, best, found)
