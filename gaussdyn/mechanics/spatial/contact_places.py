"""Where contacts of shapes are at the ends of many steps at once, compiled: their points and directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, I2, kernel, record
from ...arrays import Array, IntArray
from ..collision.bounds.search_records import ContactList, SearchShapes, SearchSpace
from ..collision.broad_phase import find_features
from ..collision.feature_kinematics import chart_at, contact_frame, feature_geometry

A4, A5 = "float64[:,:,:,::1]", "float64[:,:,:,:,::1]"
PLACES = (
    3  # of the poses of a step, where contacts are looked for: its start, where it comes to without forces, its end
)
END, MIDDLE = 2, 3


@record("SearchShapes", "SearchSpace", "ContactList", A1, A1, A2)
class Looking(NamedTuple):
    """Shapes, work space, and the contacts found: what `find_features` takes beside poses.

    Attributes
    ----------
    out, still, axes : Array, shapes (7,), (3,) and (6, 3)
        Work space for one contact; `still` is zero.
    """

    shapes: SearchShapes
    space: SearchSpace
    found: ContactList
    out: Array
    still: Array
    axes: Array


@record(A4, A5, A1, A2)
class Ways(NamedTuple):
    """Poses of b bodies (the ground last) around n steps, how open contacts may be, and how far each body travels.

    Attributes
    ----------
    x, R : Array, shapes (n, 4, b, 3) and (n, 4, b, 3, 3)
    reach : Array, shape (n,)
    travel : Array, shape (n, b - 1)
    """

    x: Array
    R: Array
    reach: Array
    travel: Array


@kernel(f"int64(Looking, {I2}, int64, int64)", borrows=True)
def wanted_as(looking: Looking, wanted: IntArray, c: int, f: int) -> int:
    """Return which of the contacts wanted the c-th found is, f or one behind it; -1: none."""
    for k in range(len(wanted)):
        g, same = (f + k) % len(wanted), True
        for a in range(4):
            same = same and looking.found.label[c, a] == wanted[g, a]
        if same:
            return g
    return -1


@kernel("void(Looking, Ways, int64, int64, int64)", borrows=True)
def geometry_there(looking: Looking, ways: Ways, k: int, place: int, c: int) -> None:
    """Put where the c-th contact found is in one of the poses of step k."""
    found, x, R = looking.found, ways.x[k, place], ways.R[k, place]
    a, b = found.bodies[c, 0] % len(x), found.bodies[c, 1] % len(x)
    feature_geometry(found.kind[c], found.data[c], x[a], R[a], x[b], R[b], looking.out)


@kernel(f"int64(Looking, Ways, int64, int64, {I2}, {A2}, {A3})", borrows=True)
def put_places(
    looking: Looking, ways: Ways, k: int, count: int, wanted: IntArray, point: Array, frame: Array
) -> int:  # fmt: skip
    """Fill in points and directions of those wanted that are among `count` found; return how many are still missing.

    Tangents are those of the chart at the middle, which reactions are along.
    """
    f, out = 0, looking.out
    for c in range(count):
        g = wanted_as(looking, wanted, c, f)
        if g < 0:
            continue
        f = g + 1
        if not np.isnan(point[g, 0]):
            continue
        geometry_there(looking, ways, k, MIDDLE, c)
        chart = chart_at(out[1:4])
        geometry_there(looking, ways, k, END, c)
        contact_frame(chart, out[1:4], looking.still, looking.axes)
        for i in range(3):
            point[g, i] = out[4 + i]
            for j in range(3):
                frame[g, i, j] = looking.axes[i, j]
    missing = 0
    for g in range(len(wanted)):
        missing += int(np.isnan(point[g, 0]))
    return missing


@kernel(f"int64(Looking, Ways, {I2}, {A3}, {A4}, int64)", borrows=True, entry=True)
def contact_places(
    looking: Looking, ways: Ways, wanted: IntArray, point: Array, frame: Array, first: int
) -> int:  # fmt: skip
    """Fill in points (n, f, 3) and directions (n, f, 3, 3) of the contacts with f labels, from step `first` on.

    Every contact has the features that it is found with: at the start of a step, else ahead, else at its end. Entries
    are NaN before, and stay so where a contact is found nowhere.
    Returns the number of the step for which there was no room, or how many steps there are.
    """
    s = looking
    for k in range(first, len(ways.reach)):
        for place in range(PLACES):
            x, R = ways.x[k, place], ways.R[k, place]
            count = find_features(s.shapes, x, R, ways.reach[k], ways.travel[k], s.space, s.found)
            if count > len(s.found.kind):
                return k
            if put_places(looking, ways, k, count, wanted, point[k], frame[k]) == 0:
                break
    return len(ways.reach)
