"""Bodies that rest apart are left out of the steps of the others, and taken back, in the arrays of a `Workspace`.

Arrays by body are put into another order, so that those left out stand last, and records get the first part of them.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Array, IntArray
from ....mechanics.collision.broad_phase import LABELS
from ....mechanics.collision.search import ALL
from .records import ACTS, CHECKED, FEATURES, LISTED, MODE, NOW, STANDS
from .workspace import Workspace, nothing_left


def leave_out(space: Workspace) -> None:
    """Leave out the bodies that the kernels found at rest apart, with the features between them that are listed."""
    rests, n, found = space.left.rests != 0, int(space.count[LISTED]), space.buffers.answer
    sleeps = np.append(rests, True)[found.bodies[:n]].all(axis=1)  # the ground is the last one
    own, apart = np.flatnonzero(~sleeps), np.flatnonzero(sleeps)
    marks, law, left = space.index.marks, space.memory.law[apart], space.left
    acts = marks[ACTS, apart]
    entries = np.where((law[:, 0] > 0.0) | (law[:, 2] != 0.0), 3, 1)
    space.features = [part[apart] for part in found]
    space.left = left._replace(
        bodies=np.flatnonzero(~rests), key=_keys(space, found.label[apart]), label=found.label[apart],
        impulse=space.impulse[apart], gap=space.poses.geometry[0, apart, 0],
        marks=np.stack([np.where(acts != 0, marks[MODE, apart], -1), acts, entries], axis=1),
    )  # fmt: skip
    space.modes = marks[NOW, apart]
    space.left.q[space.order], space.left.v[space.order] = space.q, space.v
    _keep(space, own)
    order = np.concatenate([space.left.bodies, np.flatnonzero(rests)])
    found.bodies[: len(own)] = _places(order)[found.bodies[: len(own)]]
    _put_in_order(space, order, len(space.left.bodies))
    space.count[FEATURES] = space.count[LISTED] = len(own)


def take_back(space: Workspace) -> None:
    """Let all bodies take part again: the step at hand begins with what is listed and what was left out."""
    if space.awake == len(space.v):
        return
    found, listed, known = space.buffers.answer, int(space.count[LISTED]), int(space.count[FEATURES])
    now, before = _merged(space, found.label[:listed]), _merged(space, space.memory.mark[:known])
    order = _places(space.order)[:-1]
    found.bodies[:listed] = np.append(space.order, -1)[found.bodies[:listed]]
    if listed > 0:
        for part, more in zip(found, space.features, strict=True):
            part[: len(now)] = np.concatenate([part[:listed], more])[now]
        space.count[LISTED] = len(now)
    _know(space, known, before)
    _put_in_order(space, order, len(order))


def _know(space: Workspace, known: int, place: IntArray) -> None:
    """Put the labels, impulses and modes of what was left out among those of the features known."""
    left, total = space.left, len(place)
    marks = space.index.marks
    space.memory.mark[:total] = np.concatenate([space.memory.mark[:known], left.label])[place]
    space.impulse[:total] = np.concatenate([space.impulse[:known], left.impulse])[place]
    marks[NOW, :total] = np.concatenate([marks[NOW, :known], space.modes])[place]
    space.count[FEATURES] = total


def _keep(space: Workspace, own: IntArray) -> None:
    """Keep some of the features that are listed, and of what is known."""
    n = len(own)
    for part in (*space.buffers.answer, space.memory.mark, space.impulse, space.memory.law):
        part[:n] = part[own]
    for row in (NOW, MODE):
        space.index.marks[row, :n] = space.index.marks[row, own]


def _keys(space: Workspace, label: IntArray) -> IntArray:
    """Return numbers that grow with the ids of features, see `feature_lists.place_of`."""
    table = space.shapes.arrays.table
    keys: IntArray = (table[label[:, 0], 2] + label[:, 1]) * LABELS + table[label[:, 2], 3] + label[:, 3]
    return keys


def _merged(space: Workspace, label: IntArray) -> IntArray:
    """Return in which order features, and behind them those left out, are in the order of their ids."""
    return np.argsort(np.concatenate([_keys(space, label), space.left.key]), kind="stable")


def _places(order: IntArray) -> IntArray:
    """Return where bodies come to stand that are put in an order, the ground last."""
    place = np.append(np.empty_like(order), -1)
    place[order] = np.arange(len(order))
    return place


def _put_in_order(space: Workspace, order: IntArray, awake: int) -> None:
    """Put the bodies, by where they stand now, in another order, of which the first ones take part."""
    loads, n, table = space.loads, len(order), space.buffers.shapes.value.table
    parts: list[Array | IntArray] = [*space.bodies, loads.constant, loads.radius, loads.travel, loads.weight]
    for part in (*parts, space.q, space.v, space.order):
        part[:] = part[order]
    for x in (space.places, space.turns):
        x[:, :n] = x[0, order]
    table[:, 1] = _places(order)[table[:, 1]]
    space.awake = awake
    space.buffers.space.value.awake[0] = awake if awake < n else ALL
    if awake == n:
        space.left = nothing_left(n)
    space.count[CHECKED], space.laws[STANDS] = int(awake < n), 0.0
    space.put_records()
