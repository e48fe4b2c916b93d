"""Contacts of many steps at once: which they are, where they are at the ends, and in which directions they push."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array
from .rows import Row


class Legs(NamedTuple):
    """n steps in a row, whose contacts are those that their starts look for.

    Attributes
    ----------
    q0, v0 : Array, shapes (n, nq) and (n, nv)
        At their starts.
    dt : Array, shape (n,)
        s.
    q : Array, shape (n, nq)
        At their ends.
    tries : tuple of (int, Array (nq,))
        Other places where contacts were found, with the numbers of the steps.
    middle : float
        The share of their lengths after which impulses act, along the tangents of the chart that normals have there.
    """

    q0: Array
    v0: Array
    dt: Array
    q: Array
    tries: tuple[tuple[int, Array], ...] = ()
    middle: float = 0.5


class Placed(NamedTuple):
    """f contacts at the ends of n steps.

    Attributes
    ----------
    rows : tuple of Row
        What does not depend on the state; J has no columns that mean anything.
    point, frame : Array, shapes (n, f, d) and (n, f, d, d)
        See `Row`; NaN where a contact is not found any more.
    """

    rows: tuple[Row, ...]
    point: Array
    frame: Array
