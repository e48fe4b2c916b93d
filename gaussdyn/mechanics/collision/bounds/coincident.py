"""Contacts of one body that are needless, compiled: parts that touch or overlap list what they share twice.

Two contacts of a pair of bodies are one where the primitives that they are made of are the same ones in the frames of
the bodies, to rounding, so that they have one gap and one normal at every pose. The one whose id comes first stays.
Only shapes that share a body and its laws are looked at. Corners that are none of the body (`inner_corners`) are no
contacts on planes.
"""

from __future__ import annotations

from ...._jit import kernel
from ....arrays import Array, IntArray
from ..feature_kinematics import BALL_BALL, BALL_LINE, BALL_PLANE, EDGE_RIM, LINE_LINE
from ..primitives import HALF_SPACE, I2, KIND
from ..vectors import A1, A2, V3, Vector, along, cross3, dot3, three
from .search_records import LABELS, SHAPE_BODY, SHAPE_GROUP, SHAPE_KIND, ContactList, SearchShapes

ROUNDING = 1e-12  # of the coordinates: how far what is the same may lie apart
BALL, LINE, PLANE, SEGMENT = range(4)


@kernel(f"float64({V3})", borrows=True)
def largest(a: Vector) -> float:
    """Return the largest entry in magnitude."""
    return max(abs(a[0]), abs(a[1]), abs(a[2]))


@kernel(f"boolean(int64, {A1}, {A1}, int64)", borrows=True)
def same_primitive(what: int, one: Array, other: Array, first: int) -> bool:
    """Return whether two features have the same primitive in the columns from `first` on.

    A segment is a line with ends, a line may have its point anywhere along it.
    """
    p, q, d, e = three(one, first), three(other, first), three(one, first + 3), three(other, first + 3)
    apart, near = along(p, -1.0, q), ROUNDING * (largest(p) + largest(q) + abs(one[first + 6]))
    if abs(one[first + 6] - other[first + 6]) > near:
        return False
    if what == BALL:
        return bool(largest(apart) <= near)
    turned = largest(cross3(d, e)) <= ROUNDING
    if what == PLANE:
        return bool(turned and dot3(d, e) > 0.0 and abs(dot3(apart, d)) <= near)
    if what == LINE:
        apart = along(apart, -dot3(apart, d), d)
    return bool(turned and largest(apart) <= near)


@kernel(f"boolean(int64, {A1}, {A1})", borrows=True)
def same_contact(kind: int, one: Array, other: Array) -> bool:
    """Return whether two features of one kind are one contact; those with rims and ellipsoids are not looked at."""
    if kind == BALL_PLANE:
        return same_primitive(BALL, one, other, 0) and same_primitive(PLANE, one, other, 7)
    if kind == BALL_BALL:
        return same_primitive(BALL, one, other, 0) and same_primitive(BALL, one, other, 7)
    if kind == BALL_LINE:
        return same_primitive(BALL, one, other, 0) and same_primitive(LINE, one, other, 7)
    if kind == LINE_LINE:
        return same_primitive(SEGMENT, one, other, 0) and same_primitive(SEGMENT, one, other, 7)
    return False


@kernel(f"boolean({I2}, int64)", inline=True, borrows=True)
def has_siblings(table: IntArray, i: int) -> bool:
    """Return whether other shapes share body and laws with shape i."""
    return bool(table[i, SHAPE_GROUP] >= 0)


@kernel(f"boolean({I2}, int64, int64)", borrows=True)
def siblings(table: IntArray, i: int, j: int) -> bool:
    """Return whether two shapes are one, or share body and laws."""
    return bool(i == j or (table[i, SHAPE_GROUP] >= 0 and table[i, SHAPE_GROUP] == table[j, SHAPE_GROUP]))


@kernel(f"boolean({I2}, ContactList, int64)", borrows=True)
def stands_twice(table: IntArray, out: ContactList, m: int) -> bool:
    """Return whether contact m, of a shape that has siblings, is one of those before it."""
    label, a, b = out.label, out.label[m, 0], out.label[m, 2]
    for c in range(m - 1, -1, -1):
        if out.kind[c] != out.kind[m] or table[label[c, 0], SHAPE_BODY] != table[a, SHAPE_BODY]:
            continue
        akin = siblings(table, label[c, 0], a) and siblings(table, label[c, 2], b)
        if akin and same_contact(out.kind[m], out.data[c], out.data[m]):
            return True
    return False


@kernel(f"boolean(SearchShapes, {A2}, int64)", borrows=True)
def is_inner(shapes: SearchShapes, found: Array, k: int) -> bool:
    """Return whether the contact in row k is that of a corner that another shape continues, on a plane that it meets.

    On a half-space it does, or its ends are lower. Over a face it may lie beyond the border.
    """
    table, inner = shapes.table, shapes.inner
    key, b = int(found[k, KIND + 1]) * LABELS + int(found[k, KIND + 2]), int(found[k, KIND + 3])
    low, high = 0, len(inner) if int(found[k, KIND]) == BALL_PLANE else 0
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if inner[middle, 0] < key else (low, middle)
    while low < len(inner) and inner[low, 0] == key:
        if table[b, SHAPE_KIND] == HALF_SPACE:
            return True
        for m in range(1, int(found[0, 0]) + 1):
            same = int(found[m, KIND + 1]) == inner[low, 1] and int(found[m, KIND + 3]) == b
            if same and int(found[m, KIND]) in (BALL_PLANE, EDGE_RIM) and three(found[m], 10) == three(found[k], 10):
                return True
        low += 1
    return False


@kernel(f"boolean(SearchShapes, {A2}, int64, ContactList, int64)", borrows=True, rare=True)
def is_needless(shapes: SearchShapes, found: Array, k: int, out: ContactList, m: int) -> bool:
    """Return whether contact m, found in row k, of a shape that has siblings, is an inner corner or one before it."""
    return bool(is_inner(shapes, found, k) or stands_twice(shapes.table, out, m))
