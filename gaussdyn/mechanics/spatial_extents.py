"""The borders of contacts in space: of faces, edges and corners of boxes, and of the axes and ends of capsules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Array
from .collision import BOX, CAPSULE, Shapes
from .extents import Border, Crossing, Extent, Line, Pose
from .features import BALL_PLANE, LINE_LINE
from .planar_vectors import GROUND

EDGE, FACE = 8, 20  # first numbers of the edges and faces of a box in labels, as in `shape_kernels`
Side = tuple[int, int]  # an axis of a shape, and on which side of its middle


def extent_in_space(
    shapes: Shapes, kind: int, bodies: Sequence[int], label: Sequence[int], data: Array,
    pose: Callable[[Array, str], Pose],
) -> Extent | Crossing | None:  # fmt: skip
    """Return where the features of a contact end, from its row of `Found`; None where nothing ends.

    Where edges pass over the border of a face the contact is a point of one of them, which has no border of its own.
    """
    names = [GROUND if k < 0 else shapes.bodies[k] for k in bodies]
    a, f, b, g = label
    table = shapes.arrays.table
    if kind == LINE_LINE:
        return Crossing(_line(shapes, names[0], a, f, data[:3], data[3:6]),
                        _line(shapes, names[1], b, g, data[7:10], data[10:13]), pose)  # fmt: skip
    if int(table[b, 0]) == BOX and not (kind == BALL_PLANE and g < FACE):
        within, beyond = _of_box(g)
    elif int(table[b, 0]) == CAPSULE:
        within, beyond = ([2], []) if g == 0 else ([], [(2, 2 * g - 3)])
    else:
        return None
    form = shapes.arrays.forms[b]
    axes, half = form[3:12].reshape(3, 3).T, _half(form, int(table[b, 0]))
    sides = [(k, s, -s) for k in within for s in (-1, 1)] + [(k, s, s) for k, s in beyond]
    found = [
        Border(names[0], data[:3], names[1], form[:3] + s * half[k] * axes[k], way * axes[k]) for k, s, way in sides
    ]
    return Extent(tuple(found), pose)


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
    k = (feature - EDGE) // 4 if kind == BOX else 2
    return Line(body, middle, along, float(_half(shapes.arrays.forms[shape], kind)[k]))
