"""The borders of contacts in space: of faces, edges and corners of boxes, and of the axes and ends of capsules.

Those of meshes are in `solid_borders`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...arrays import Array
from ..borders import Along, Border, Crossing, Extent, Line, Pose, Rim, Tip
from ..collision.features import BALL_BALL, BALL_LINE, DISC_PLANE, LINE_LINE, RIM_LINE, Feature
from ..collision.search import BOX, CAPSULE, CYLINDER, ELLIPSOID, MESH, SURFACE, Shapes
from ..names import GROUND
from .solid_borders import beyond_corner, half_of_edge, on_solid, out_of_faces

EDGE, FACE, RIM = 8, 20, 26  # first numbers of the edges, faces and rims of a box in labels, as in `primitives`
Side = tuple[int, int]  # an axis of a shape, and on which side of its middle


def extent_in_space(
    shapes: Shapes, kind: int, bodies: Sequence[int], label: Sequence[int], data: Array,
    pose: Callable[[Array, str], Pose],
) -> Extent | Crossing | None:  # fmt: skip
    """Return where the features of a contact end, from its row of `Found`; None where nothing ends.

    A point over the rim of a face, where it touches the face in place of the edge there, has no border of its own.
    """
    names = [GROUND if k < 0 else shapes.bodies[k] for k in bodies]
    a, f, b, g = label
    if kind in (DISC_PLANE, RIM_LINE):
        return _of_rim(shapes, kind, names, label, data, pose)
    if kind > DISC_PLANE:
        return None
    if kind == LINE_LINE:
        return Crossing(_line(shapes, names[0], a, f, data[:3], data[3:6]),
                        _line(shapes, names[1], b, g, data[7:10], data[10:13]), pose)  # fmt: skip
    found = _on_second(shapes, names, label, data)
    ends = _beyond_first(shapes, a, f)
    if kind == BALL_LINE:
        line = Line(names[1], data[7:10], data[10:13], math.inf)
        return Extent(found, pose, tuple(Tip(names[0], at, way, line) for at, way in ends))
    if kind == BALL_BALL:
        found += tuple(Border(names[1], data[7:10], names[0], at, way) for at, way in ends)
    return Extent(found, pose) if found else None


def _of_rim(
    shapes: Shapes, kind: int, names: list[str], label: Sequence[int], data: Array, pose: Callable[[Array, str], Pose]
) -> Extent | None:  # fmt: skip
    """Return where a rim ends to touch: its lowest point over a face, or over an edge.

    Over an edge that point is beyond both faces there, and the one that touches is between the ends.
    """
    b, g = label[2], label[3]
    if int(shapes.arrays.table[b, 0]) not in (BOX, MESH):
        return None
    if kind == DISC_PLANE:
        rim = Rim(data[3:6], float(data[6]), data[10:13])
        found = tuple(one._replace(rim=rim) for one in _on_second(shapes, names, label, data))
        return Extent(found, pose) if found else None
    touching = Feature(id="", kind=kind, bodies=(names[0], names[1]), data=data)
    line = _line(shapes, names[1], b, g, data[7:10], data[10:13])
    outs = tuple(_out_of_faces(shapes, b, g))

    def touch(one: Pose, other: Pose) -> tuple[Array, Array]:
        """Return the normal and the point."""
        return touching.geometry(*one, *other)[1:]

    where = Along(names[0], line, touch, outs, float(data[6]), _crossing(data) if data[17] else None)
    return Extent((), pose, along=(where,))


def _crossing(data: Array) -> Callable[[Pose, Pose, Array], tuple[float, float]]:
    """Return what says how a rim crosses an edge at a point: `Along.crossing`.

    It does while the direction across both is nearly the axis of the rim, and the rim does not run along the edge.
    """
    from ..collision.primitives import LEVEL  # imports numba, which listing scenes does without
    from ..collision.rim_kinematics import CROSSING

    def crossing(one: Pose, other: Pose, p: Array) -> tuple[float, float]:
        axis, u = one[1] @ data[3:6], other[1] @ data[10:13]
        ahead = np.cross(axis, p - one[0] - one[1] @ data[:3]) / float(data[6])
        m = np.cross(u, ahead)
        sine = math.sqrt(float(m @ m))
        return sine, min(abs(float(m @ axis)) - CROSSING * sine, 1.0 - abs(float(ahead @ u)) - LEVEL)

    return crossing


def _out_of_faces(shapes: Shapes, shape: int, feature: int) -> list[Array]:
    """Return the direction out of each face beside an edge, in the plane of that face."""
    if int(shapes.arrays.table[shape, 0]) == MESH:
        return out_of_faces(shapes, shape, feature)
    axes = shapes.arrays.forms[shape][3:12].reshape(3, 3).T
    return [s * axes[k] for k, s in _of_box(feature)[1]]


def without_borders(shapes: Shapes) -> tuple[str, ...]:
    """Return shapes that touch with features whose ends are not known: surfaces, and ellipsoids that meet any."""
    kinds, bodies = shapes.arrays.table[:, 0], shapes.arrays.table[:, 1]
    ends = np.isin(kinds, (CAPSULE, BOX, MESH, CYLINDER))
    found = [
        kind == SURFACE or (kind == ELLIPSOID and bool((ends & (bodies != body)).any()))
        for kind, body in zip(kinds.tolist(), bodies.tolist(), strict=True)
    ]
    return tuple(label for label, lost in zip(shapes.labels, found, strict=True) if lost)


def _on_second(shapes: Shapes, names: list[str], label: Sequence[int], data: Array) -> tuple[Border, ...]:
    """Return where the feature of the second shape ends."""
    b, g = label[2], label[3]
    form, shape = shapes.arrays.forms[b], int(shapes.arrays.table[b, 0])
    if shape == MESH:
        return tuple(Border(names[0], data[:3], names[1], at, way) for at, way in on_solid(shapes, b, g))
    within, beyond = _axes_of_borders(shape, g)
    axes, half = form[3:12].reshape(3, 3).T, _half(form, shape)
    sides = [(k, s, -s) for k in within for s in (-1, 1)] + [(k, s, s) for k, s in beyond]
    return tuple(
        Border(names[0], data[:3], names[1], form[:3] + s * half[k] * axes[k], way * axes[k]) for k, s, way in sides
    )


def _axes_of_borders(shape: int, feature: int) -> tuple[list[int], list[Side]]:
    """Return the axes along which a feature of a solid ends on both sides, and those on one with that side."""
    if shape == BOX and feature < RIM:
        return _of_box(feature)
    if shape == CAPSULE or (shape == CYLINDER and feature == 0):
        return ([2], []) if feature == 0 else ([], [(2, 2 * feature - 3)])
    return [], []


def _beyond_first(shapes: Shapes, a: int, f: int) -> list[tuple[Array, Array]]:
    """Return the end or corner of the first shape that touches, with the directions beyond which it is."""
    form, kind = shapes.arrays.forms[a], int(shapes.arrays.table[a, 0])
    if kind == MESH:
        return beyond_corner(shapes, a, f)
    if kind == CAPSULE and f > 0:
        sides: list[Side] = [(2, 2 * f - 3)]
    elif kind == BOX and f < EDGE:
        sides = _of_box(f)[1]
    else:
        return []
    axes, half = form[3:12].reshape(3, 3).T, _half(form, kind)
    tip = form[:3] + sum(s * half[k] * axes[k] for k, s in sides)
    return [(tip, s * axes[k]) for k, s in sides]


def _of_box(feature: int) -> tuple[list[int], list[Side]]:
    """Return along which axes of a box a feature has an end, and beyond which of its sides it is."""
    if feature >= FACE:
        k = (feature - FACE) // 2
        return [(k + 1) % 3, (k + 2) % 3], []
    if feature < EDGE:
        return [], [(k, 1 if feature & (1 << k) else -1) for k in range(3)]
    k, bits = divmod(feature - EDGE, 4)
    return [k], [((k + 1) % 3, 1 if bits & 1 else -1), ((k + 2) % 3, 1 if bits & 2 else -1)]


def _half(form: Array, kind: int) -> Array:
    return form[12:15] if kind == BOX else np.array([0.0, 0.0, form[13]])


def _line(shapes: Shapes, body: str, shape: int, feature: int, middle: Array, along: Array) -> Line:
    kind = int(shapes.arrays.table[shape, 0])
    if kind == MESH:
        return Line(body, middle, along, half_of_edge(shapes, shape, feature))
    k = (feature - EDGE) // 4 if kind == BOX else 2
    return Line(body, middle, along, float(_half(shapes.arrays.forms[shape], kind)[k]))
