"""The search for contacts of free bodies within a step, compiled; the rules are those of `Contacts.near`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, A3, I1, I2, kernel, record
from ....arrays import Array, IntArray
from ....mechanics.collision.broad_phase import find_features
from ..feature_lists import LISTS, Lists, join_lists
from .body_kinematics import move_bodies, pose_bodies
from .records import BodyState, Loads, Poses


@record(I2, A2, I1, A2, by_value=True)
class SearchShapes(NamedTuple):
    """Shapes as `broad_phase.find_features` takes them."""

    table: IntArray
    forms: Array
    off: IntArray
    solids: Array


@record(A2, A1, I1, A2, A2, by_value=True)
class SearchRoom(NamedTuple):
    """Work space of `broad_phase.find_features`."""

    world: Array
    value: Array
    order: IntArray
    room: Array
    answer: Array


@record("SearchShapes", "SearchRoom", LISTS, LISTS, by_value=True)
class Search(NamedTuple):
    """What a search takes and what it finds.

    Attributes
    ----------
    shapes : SearchShapes
    room : SearchRoom
    found, ahead : Lists
        Contacts, and those where the bodies come to without forces.
    """

    shapes: SearchShapes
    room: SearchRoom
    found: Lists
    ahead: Lists


SLACK = 1e-6  # of a body's size, as in `mechanics.spatial_contacts`
CLOSED = 1e-9  # m; as there
ALLOWED = 1e-10  # m; depth with which a step may end, as in `projection`
ROUNDING = 7.2e-15  # the same as a share of the largest coordinate


@kernel(f"int64(Search, {LISTS}, {A2}, {A3}, float64, {A1})", borrows=True)
def search_at(search: Search, lists: Lists, x: Array, R: Array, reach: float, travel: Array) -> int:
    """Find the features at the poses x, R; return how many there are."""
    table, forms, off, solids = search.shapes
    world, value, order, room, answer = search.room
    return int(
        find_features(
            table, forms, off, solids, x, R, reach, travel, world, value, order, room, answer,
            lists[0], lists[1], lists[2], lists[3],
        )
    )  # fmt: skip


@kernel("int64(Search, Loads, BodyState, Poses, float64, float64)", borrows=True, entry=True)
def search(search: Search, loads: Loads, state: BodyState, poses: Poses, dt: float, gravity: float) -> int:
    """Find the features that may act within dt, by the rules of `Contacts.near`; return how many there are."""
    q, v, radius, travel, fastest = state.q, state.v, loads.radius, loads.travel, 0.0
    x, R, n = poses.x[0], poses.R[0], len(state.v)
    pose_bodies(q, x, R)
    for i in range(n):
        speed = np.sqrt(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
        spin = np.sqrt(v[i, 3] * v[i, 3] + v[i, 4] * v[i, 4] + v[i, 5] * v[i, 5])
        fastest = max(fastest, speed + radius[i] * spin)
        travel[i] = max(SLACK * radius[i], CLOSED)
    reach = gravity * dt * dt + 2.0 * dt * fastest
    found = search_at(search, search.found, x, R, reach, travel)
    if not dt * fastest > 0.0 or found > len(search.found[0]):
        return int(found)
    move_bodies(q, v, dt, state.q1)
    pose_bodies(state.q1, poses.x[1], poses.R[1])
    ahead = search_at(search, search.ahead, poses.x[1], poses.R[1], reach, travel)
    if ahead > len(search.ahead[0]):
        return int(found + ahead)
    return int(join_lists(search.shapes.table, search.found, found, search.ahead, ahead, x, R, (-CLOSED, np.inf)))


@kernel("int64(Search, Loads, BodyState, Poses, int64)", borrows=True)
def join_overlaps(search: Search, loads: Loads, state: BodyState, poses: Poses, n: int) -> int:
    """Add to the n listed contacts those others in which bodies overlap at the end of the step.

    A reaction may send a body against another one that was too far away, or turn it on to another feature. Returns how
    many there are then, which may be more than fit.
    """
    ahead, q, q1, size, still = search.ahead, state.q, state.q1, 0.0, True
    for i in range(len(q)):
        for k in range(7):
            still = still and q[i, k] == q1[i, k]
            size = max(size, abs(q1[i, k]))
    if still:
        return n
    x, R, limit = poses.x[2], poses.R[2], max(ALLOWED, ROUNDING * size)
    found = search_at(search, ahead, x, R, 0.0, loads.travel)
    if found > len(ahead[0]):
        return int(n + found)
    return int(join_lists(search.shapes.table, search.found, n, ahead, found, x, R, (-np.inf, -limit)))
