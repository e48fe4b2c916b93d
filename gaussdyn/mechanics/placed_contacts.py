"""Contacts of many steps at once: which they are, where they are at the ends, and in which directions they push."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array, IntArray
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
    places : Array, shape (n, nq), or None
        Where they act instead; NaN in steps for which `middle` says it.
    """

    q0: Array
    v0: Array
    dt: Array
    q: Array
    tries: tuple[tuple[int, Array], ...] = ()
    middle: float = 0.5
    places: Array | None = None


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


class Listed(NamedTuple):
    """The contacts that `near` lists at the starts of n steps, where these end: m lines, in the order of ids in each.

    Attributes
    ----------
    rows : tuple of Row
        What does not depend on the state, of all contacts that there are; J has no columns that mean anything.
    ends : IntArray, shape (n + 1,)
        Step k has the lines ends[k] up to ends[k + 1].
    which : IntArray, shape (m,)
        The row of each line.
    gap, point, frame : Array, shapes (m,), (m, d) and (m, d, d)
        See `Row`.
    along : Array, shape (m, d, d)
        The same with the tangents that normals have where impulses act.
    """

    rows: tuple[Row, ...]
    ends: IntArray
    which: IntArray
    gap: Array
    point: Array
    frame: Array
    along: Array
