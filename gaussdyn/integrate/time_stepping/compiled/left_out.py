"""Bodies that rest apart are left out of the steps of the others, and taken back, in the arrays of a `Workspace`.

Arrays by body are put into another order, so that those left out stand last, and records get the first part of them.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Array, IntArray
from ....mechanics.collision.bounds.search_records import LABELS
from ....mechanics.collision.search import ALL
from .records import ACTS, CHECKED, FEATURES, LISTED, MODE, NOW, REST_POTENTIAL, SEEN, STANDS
from .workspace import Workspace, nothing_left


def leave_out(space: Workspace) -> None:
    """Leave out the bodies that the kernels found at rest apart, with the features between them that are listed."""
    rests = np.ones(len(space.v), dtype=np.bool_)
    rests[space.order[: space.awake]] = space.left.rests[: space.awake] != 0
    figures, space.torn = space.left.figures, True
    _gather(space, True)
    n, found, marks = int(space.count[LISTED]), space.buffers.answer, space.index.marks
    sleeps = np.append(rests, True)[found.bodies[:n]].all(axis=1)  # the ground is the last one
    own, apart = np.flatnonzero(~sleeps), np.flatnonzero(sleeps)
    label, acts = found.label[apart], marks[ACTS, apart]
    law = space.table[space.kind[label[:, 0]], space.kind[label[:, 2]]]
    entries = np.where((law[:, 0] > 0.0) | (law[:, 2] != 0.0), 3, 1)
    figures[REST_POTENTIAL] = -float(np.sum((space.weight[:, :3] * space.q[:, :3])[rests]))
    space.left = space.left._replace(
        bodies=np.flatnonzero(~rests), figures=figures, key=_keys(space, label), label=label,
        impulse=space.impulse[apart], gap=space.poses.geometry[0, apart, 0],
        marks=np.stack([np.where(acts != 0, marks[MODE, apart], -1), acts, entries], axis=1),
    )  # fmt: skip
    space.features, space.modes = [part[apart] for part in found], marks[NOW, apart]
    space.left.q[:], space.left.v[:] = space.q, space.v
    _keep(space, own)
    order = np.concatenate([space.left.bodies, np.flatnonzero(rests)])
    found.bodies[: len(own)] = _places(order)[found.bodies[: len(own)]]
    _put_in_order(space, order, len(space.left.bodies))
    space.count[FEATURES] = space.count[LISTED] = len(own)
    space.put_records()
    space.torn = False


def take_back(space: Workspace) -> None:
    """Let all bodies take part again: the step at hand begins with what is listed and what was left out."""
    if space.awake < len(space.v):
        space.torn = True
        _gather(space, space.count[LISTED] > 0)
        space.put_records()
        space.torn = False


def _gather(space: Workspace, listed: bool) -> None:
    """Put bodies and features in the order of the system, with what was left out; listed: whether features are."""
    if space.awake == len(space.v):
        return
    found, n, known = space.buffers.answer, int(space.count[LISTED]), int(space.count[FEATURES])
    if listed:
        place = _merged(space, found.label[:n])
        found.bodies[:n] = np.append(space.order, -1)[found.bodies[:n]]
        for part, more in zip(found, space.features, strict=True):
            part[: len(place)] = np.concatenate([part[:n], more])[place]
        space.count[LISTED] = len(place)
    _know(space, known, _merged(space, space.memory.mark[:known]))
    _put_in_order(space, _places(space.order)[:-1], len(space.v))


def _know(space: Workspace, known: int, place: IntArray) -> None:
    """Put what is known of features that were left out among what is known of the others."""
    left, marks = space.left, space.index.marks
    parts = (
        (space.memory.mark, left.label), (space.impulse, left.impulse), (marks[NOW], space.modes),
        (marks[MODE], left.marks[:, 0]), (marks[ACTS], left.marks[:, 1]), (space.poses.geometry[0, :, 0], left.gap),
    )  # fmt: skip
    for part, more in parts:
        part[: len(place)] = np.concatenate([part[:known], more])[place]
    space.count[FEATURES] = len(place)


def _keep(space: Workspace, own: IntArray) -> None:
    """Keep some of the features that are listed, and of what is known."""
    n = len(own)
    for part in (*space.buffers.answer, space.memory.mark, space.impulse):
        part[:n] = part[own]
    space.index.marks[NOW, :n] = space.index.marks[NOW, own]


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
    space.count[CHECKED], space.laws[[STANDS, SEEN]] = int(awake < n), 0.0
