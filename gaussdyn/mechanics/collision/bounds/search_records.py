"""What searches through shapes take and give, as kernels see it."""

from __future__ import annotations

from typing import NamedTuple

from ...._jit import A1, A2, I1, I2, record
from ....arrays import Array, IntArray

LABELS = 1 << 26  # more features than all shapes have; its square is below 2^53
SHAPE_KIND, SHAPE_BODY, SHAPE_BLOCK, SHAPE_GROUP = 0, 1, 4, 5  # columns of `SearchShapes.table`


@record(I2, A2, I1, A2, I2)
class SearchShapes(NamedTuple):
    """The s shapes, made by `search`.

    Attributes
    ----------
    table : IntArray, shape (s, 6)
        SHAPE_KIND: SPHERE, CAPSULE, ... (`primitives`). SHAPE_BODY: number of the body, -1 for the ground. Place of
        its first feature among the first halves of ids, and among the second halves. SHAPE_BLOCK: first row of
        its block in `solids`, -1 without. SHAPE_GROUP: the same number for shapes of one body that have the same
        laws, -1 for one alone.
    forms : Array, shape (s, 15)
        Place (3), FRAME (9, row by row) and SIZE (3) in the frame of the body.
    off : IntArray, shape (k,)
        Sorted keys i s + j, i < j, of pairs that never touch.
    solids : Array, shape (k, 6)
        Blocks of polyhedra and surfaces, see `solid_tables`, `surface_tables`.
    inner : IntArray, shape (k, 2)
        Keys i LABELS + c of corners within what shapes of one body make together, sorted, and a shape that goes on
        there, see `inner_corners`.
    """

    table: IntArray
    forms: Array
    off: IntArray
    solids: Array
    inner: IntArray


@record(A2, A1, I1, I1, A2, A2, I1)
class SearchSpace(NamedTuple):
    """Work space of a search, with room for c contacts; m = max(s, c).

    Attributes
    ----------
    world : Array, shape (s + b, 29)
        Shapes in space, with their bounds, and the tree of boxes about them. It and `near` keep what saves the next
        search work, which changes no contact.
    rank, order : shapes (m,)
        To sort by.
    near : IntArray
        Pairs of shapes that may meet for a while, see `near_pairs`.
    room : Array, shape (k, 3)
        For the corners of faces.
    found : Array, shape (c + 1, 24)
        How many contacts are found, and behind that each in the frames of its shapes.
    awake : IntArray, shape (1,)
        Bodies from this number on stay where the last search found them: contacts among them and with the ground are
        not looked for.
    """

    world: Array
    rank: Array
    order: IntArray
    near: IntArray
    room: Array
    found: Array
    awake: IntArray


@record(I1, I2, I2, A2, by_value=True)
class ContactList(NamedTuple):
    """Contacts in the order of their ids, see `features.Found`.

    Attributes
    ----------
    kind, bodies, label, data : shapes (c,), (c, 2), (c, 4) and (c, 25)
    """

    kind: IntArray
    bodies: IntArray
    label: IntArray
    data: Array
