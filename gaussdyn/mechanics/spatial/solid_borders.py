"""The borders of faces, edges and corners of meshes, as places and directions in the frame of their body."""

from __future__ import annotations

from ...arrays import Array
from ..collision.search import Shapes

Side = tuple[Array, Array]  # a point of a border, and the direction of length one in which one has to be of it


def on_solid(shapes: Shapes, shape: int, feature: int) -> list[Side]:
    """Return where a face, edge or corner of a mesh ends; a point over the rim of a face has no border of its own."""
    solids, row = shapes.arrays.solids, int(shapes.arrays.table[shape, 4])
    V, E, F = (int(x) for x in solids[row, :3])
    if feature < V:
        return beyond_corner(shapes, shape, feature)
    if feature < V + E:
        return _of_edge(shapes, shape, feature - V)
    if feature >= V + E + F:
        return []
    loop = _loop(shapes, shape, feature - V - E)
    return _in_body(shapes, shape, [(line[2:5] * line[5], line[2:5]) for line in loop])


def _of_edge(shapes: Shapes, shape: int, e: int) -> list[Side]:
    """Return the ends of an edge, and where its two faces begin: what touches it is beyond both."""
    a, b, *faces = _edges(shapes, shape)[e, :4].astype(int).tolist()
    ends = _corners(shapes, shape)[[a, b]]
    way = (ends[1] - ends[0]) / (2.0 * _edges(shapes, shape)[e, 4])
    inward = [line[2:5] for f in faces for line in _loop(shapes, shape, f) if int(line[1]) == e]
    return _in_body(shapes, shape, [(ends[0], way), (ends[1], -way), *((ends[0], -one) for one in inward)])


def out_of_faces(shapes: Shapes, shape: int, feature: int) -> list[Array]:
    """Return the direction out of each face beside an edge, in the plane of that face."""
    e = feature - int(shapes.arrays.solids[int(shapes.arrays.table[shape, 4]), 0])
    R, found = shapes.arrays.forms[shape][3:12].reshape(3, 3), []
    for f in _edges(shapes, shape)[e, 2:4].astype(int).tolist():
        inward = next(line[2:5] for line in _loop(shapes, shape, f) if int(line[1]) == e)
        found.append(-(R @ inward))
    return found


def beyond_corner(shapes: Shapes, shape: int, feature: int) -> list[Side]:
    """Return beyond which ends a corner of a mesh touches: of all edges that meet there; nothing for other features."""
    solids, row = shapes.arrays.solids, int(shapes.arrays.table[shape, 4])
    if feature >= int(solids[row, 0]):
        return []
    corners = _corners(shapes, shape)
    line = solids[int(solids[row, 3]) + feature]
    ends = solids[int(line[3]) : int(line[3] + line[4])]
    ways = []
    for e, other in ends[:, :2].astype(int):
        length = 2.0 * half_of_edge(shapes, shape, int(solids[row, 0]) + int(e))
        ways.append((corners[feature], (corners[feature] - corners[other]) / length))
    return _in_body(shapes, shape, ways)


def half_of_edge(shapes: Shapes, shape: int, feature: int) -> float:
    """Return half the length of an edge, m."""
    row = int(shapes.arrays.table[shape, 4])
    return float(_edges(shapes, shape)[feature - int(shapes.arrays.solids[row, 0]), 4])


def _corners(shapes: Shapes, shape: int) -> Array:
    solids, row = shapes.arrays.solids, int(shapes.arrays.table[shape, 4])
    first = int(solids[row, 3])
    return solids[first : first + int(solids[row, 0]), :3]


def _edges(shapes: Shapes, shape: int) -> Array:
    solids, row = shapes.arrays.solids, int(shapes.arrays.table[shape, 4])
    first = int(solids[row, 5])
    return solids[first : first + int(solids[row, 1])]


def _loop(shapes: Shapes, shape: int, f: int) -> Array:
    """Return the rows of the loop of a face."""
    solids, row = shapes.arrays.solids, int(shapes.arrays.table[shape, 4])
    face = solids[int(solids[row + 1, 0]) + f]
    return solids[int(face[4]) : int(face[4] + face[5])]


def _in_body(shapes: Shapes, shape: int, sides: list[Side]) -> list[Side]:
    form = shapes.arrays.forms[shape]
    R = form[3:12].reshape(3, 3)
    return [(form[:3] + R @ at, R @ way) for at, way in sides]
