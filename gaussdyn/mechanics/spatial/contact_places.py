"""Where contacts of shapes are at the ends of many steps at once, compiled: their points and directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import A1, A2, A3, I1, I2, kernel, record
from ...arrays import Array, IntArray
from ..collision.bounds.search_records import ContactList, SearchShapes, SearchSpace
from ..collision.broad_phase import find_features
from ..collision.feature_kinematics import chart_at, contact_frame, feature_geometry
from ..collision.features import DIRECTED

A4, A5 = "float64[:,:,:,::1]", "float64[:,:,:,:,::1]"
PLACES = (
    3  # of the poses of a step, where contacts are looked for: its start, where it comes to without forces, its end
)
START, AHEAD, END, MIDDLE = range(4)
NEEDED, DIRECTIONS = DIRECTED, (3, 10, 14)  # which kinds of contacts have which directions, and where these stand


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


@record(I2, A1, A2, A3, A3, I1, A1)
class Lines(NamedTuple):
    """Contacts at the ends of n steps: those of step k are ends[k] up to ends[k + 1], as they were found.

    Attributes
    ----------
    label : IntArray, shape (m, 4)
    gap, point, frame : Array, shapes (m,), (m, 3) and (m, 3, 3)
        With the tangents that normals have there by themselves.
    along : Array, shape (m, 3, 3)
        With those of the chart at the middle.
    ends : IntArray, shape (n + 1,)
    closed : Array, shape (1,)
        The gap below which what is found ahead only is closed at the start, m.
    """

    label: IntArray
    gap: Array
    point: Array
    frame: Array
    along: Array
    ends: IntArray
    closed: Array


@kernel("boolean(Looking, int64)", borrows=True)
def is_directed(looking: Looking, c: int) -> bool:
    """Return whether the c-th contact found has all its directions, see `Found.directed`."""
    kind, data = looking.found.kind[c], looking.found.data[c]
    for which in range(3):
        i = DIRECTIONS[which]
        if NEEDED[which, kind] and data[i] == 0.0 and data[i + 1] == 0.0 and data[i + 2] == 0.0:
            return False
    return True


@kernel("boolean(Looking, Lines, int64, int64, int64)", borrows=True)
def is_entered(looking: Looking, lines: Lines, c: int, begin: int, end: int) -> bool:
    """Return whether the c-th contact found is among some lines."""
    for m in range(begin, end):
        same = True
        for a in range(4):
            same = same and lines.label[m, a] == looking.found.label[c, a]
        if same:
            return True
    return False


@kernel("void(Looking, Ways, int64, int64, Lines, int64)", borrows=True)
def put_line(looking: Looking, ways: Ways, k: int, c: int, lines: Lines, m: int) -> None:
    """Put the c-th contact found where step k ends."""
    out = looking.out
    geometry_there(looking, ways, k, MIDDLE, c)
    chart = chart_at(out[1:4])
    geometry_there(looking, ways, k, END, c)
    lines.gap[m] = out[0]
    for a in range(4):
        lines.label[m, a] = looking.found.label[c, a]
    for side in range(2):
        contact_frame(chart if side else 0, out[1:4], looking.still, looking.axes)
        axes = lines.along[m] if side else lines.frame[m]
        for i in range(3):
            lines.point[m, i] = out[4 + i]
            for j in range(3):
                axes[i, j] = looking.axes[i, j]


@kernel(f"int64(Looking, Ways, Lines, {A1}, int64)", borrows=True, entry=True)
def contact_lines(looking: Looking, ways: Ways, lines: Lines, moving: Array, first: int) -> int:
    """Put the contacts that `Contacts.near` lists at the starts of steps where these end, from step `first` on.

    moving: how far bodies come in each; those at rest look nowhere else.
    Returns the number of the step for which there was no room, or how many steps there are.
    """
    s, room = looking, len(lines.gap)
    for k in range(first, len(ways.reach)):
        begin, m = lines.ends[k], lines.ends[k]
        for place in range(START, END if moving[k] > 0.0 else AHEAD):
            before = m
            x, R = ways.x[k, place], ways.R[k, place]
            count = find_features(s.shapes, x, R, ways.reach[k], ways.travel[k], s.space, s.found)
            if count > len(s.found.kind) or m + count > room:
                return k
            for c in range(count):
                if not is_directed(looking, c) or (place == AHEAD and is_entered(looking, lines, c, begin, before)):
                    continue
                geometry_there(looking, ways, k, START, c)
                if place == START or looking.out[0] >= -lines.closed[0]:
                    put_line(looking, ways, k, c, lines, m)
                    m += 1
        lines.ends[k + 1] = m
    return len(ways.reach)
