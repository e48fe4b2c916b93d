"""The search for contacts of free bodies within a step, compiled; the rules are those of `Contacts.near`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...._jit import A2, A3, kernel, record
from ....arrays import Array
from ....mechanics.collision.bounds.search_records import ContactList, SearchShapes, SearchSpace
from ....mechanics.collision.broad_phase import fill_in, find_features
from ....mechanics.spatial.contacts import CLOSED, SLACK
from ..feature_lists import join_lists
from ..scheme import ALLOWED, ROUNDING
from .body_kinematics import move_bodies, pose_bodies, turn_spins
from .records import FEATURES, SEEN, BodyStep


@record("SearchShapes", "SearchSpace", "ContactList", "ContactList")
class Search(NamedTuple):
    """What a search takes and what it finds.

    Attributes
    ----------
    shapes : SearchShapes
    space : SearchSpace
    found, ahead : ContactList
        Contacts, and those where the bodies come to without forces.
    """

    shapes: SearchShapes
    space: SearchSpace
    found: ContactList
    ahead: ContactList


@kernel(f"int64(Search, BodyStep, {A2}, {A3}, float64)", borrows=True)
def look_ahead(find: Search, step: BodyStep, x: Array, R: Array, reach: float) -> int:
    """Find the features at the poses x, R; return how many there are."""
    return int(find_features(find.shapes, x, R, reach, step.loads.travel, find.space, find.ahead))


@kernel(f"float64(BodyStep, {A2}, float64)", borrows=True)
def put_travel(step: BodyStep, v: Array, dt: float) -> float:
    """Put how far every body comes within dt, with what rounding moves it by; return how far the fastest comes."""
    travel, radius, most = step.loads.travel, step.loads.radius, 0.0
    for i in range(len(v)):
        speed = np.sqrt(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
        spin = np.sqrt(v[i, 3] * v[i, 3] + v[i, 4] * v[i, 4] + v[i, 5] * v[i, 5])
        way = dt * (speed + radius[i] * spin)
        travel[i] = max(SLACK * radius[i], CLOSED) + way
        most = max(most, way)
    return float(most)


@kernel("int64(Search, BodyStep, float64, float64)", borrows=True, entry=True)
def search(find: Search, step: BodyStep, dt: float, gravity: float) -> int:
    """Find the features that may act within dt, by the rules of `Contacts.near`; return how many there are.

    Those at the start have just been looked for where `join_overlaps` says so.
    """
    state, poses, seen = step.state, step.poses, step.laws[SEEN] == dt
    q, v, x, R = state.q, state.v, poses.x[0], poses.R[0]
    pose_bodies(q, x, R)
    reach, most, step.laws[SEEN] = gravity * dt * dt, put_travel(step, v, dt), 0.0
    if seen:
        found = fill_in(find.shapes, find.space, find.found)
    else:
        found = find_features(find.shapes, x, R, reach, step.loads.travel, find.space, find.found)
    if not most > 0.0 or found > len(find.found.kind):
        return int(found)
    move_bodies(q, v, dt, state.q1)
    pose_bodies(state.q1, poses.x[1], poses.R[1])
    ahead = look_ahead(find, step, poses.x[1], poses.R[1], reach)
    if ahead > len(find.ahead.kind):
        return int(found + ahead)
    return int(join_lists(find.shapes.table, find.found, found, find.ahead, ahead, x, R, (-CLOSED, np.inf)))


@kernel("int64(Search, BodyStep, float64, float64)", borrows=True)
def join_overlaps(find: Search, step: BodyStep, dt: float, gravity: float) -> int:
    """Add to the contacts listed those others in which bodies overlap at the end of the step.

    A reaction may send a body against another one that was too far away, or turn it on to another feature. Returns how
    many there are then, which may be more than fit. What is looked for is what a next step of length dt begins with.
    """
    n, q, q1, size, still = step.counts[FEATURES], step.state.q, step.state.q1, 0.0, True
    step.laws[SEEN] = 0.0
    for i in range(len(q)):
        for k in range(7):
            still = still and q[i, k] == q1[i, k]
            size = max(size, abs(q1[i, k]))
    if still:
        return int(n)
    x, R, limit = step.poses.x[2], step.poses.R[2], max(ALLOWED, ROUNDING * size)
    turn_spins(step.poses.R[1], step.state.guess, 1.0, step.state.v1)
    put_travel(step, step.state.v1, dt)
    found = look_ahead(find, step, x, R, gravity * dt * dt)
    if found > len(find.ahead.kind):
        return int(n + found)
    step.laws[SEEN] = dt
    return int(join_lists(find.shapes.table, find.found, n, find.ahead, found, x, R, (-np.inf, -limit)))
