"""The search for contacts of free bodies within a step, compiled; the rules are those of `Contacts.near`."""

from __future__ import annotations

import numpy as np

from ...._jit import kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.structure import A1, A2, A3, I1, I2
from ....mechanics.collision.broad_phase import find_features
from ..feature_lists import LISTS, Lists, join_lists
from .active_contacts import POSES, Poses
from .body_kinematics import move_bodies, pose_bodies
from .position_projection import STATE, StateArrays

SHAPES = f"Tuple(({I2}, {A2}, {I1}, {A2}))"
Shapes = tuple[IntArray, Array, IntArray, Array]
WORKROOM = f"Tuple(({A2}, {A1}, {I1}, {A2}, {A2}))"
Workroom = tuple[Array, Array, IntArray, Array, Array]
SEARCH = f"Tuple(({SHAPES}, {WORKROOM}, {LISTS}, {LISTS}))"
Search = tuple[Shapes, Workroom, Lists, Lists]
"""Shapes and work space as `find_features` takes them; contacts, and those where the bodies come to without forces."""
LOADS = f"Tuple(({A2}, {A2}, {A1}, {A1}, {A2}))"
Loads = tuple[Array, Array, Array, Array, Array]
"""Constant force (n, 6), moments in body axes; shaking (k, 5) as (a (3), 2 pi f, phase); radius (n,); travel (n,);
weight (n, 6), the part of the constant force that has a potential."""
SLACK = 1e-6  # of a body's size, as in `mechanics.spatial_contacts`
CLOSED = 1e-9  # m; as there
ALLOWED = 1e-10  # m; depth with which a step may end, as in `projection`
ROUNDING = 7.2e-15  # the same as a share of the largest coordinate


@kernel(f"int64({SEARCH}, {LISTS}, {A2}, {A3}, float64, {A1})", borrows=True)
def search_at(search: Search, lists: Lists, x: Array, R: Array, reach: float, travel: Array) -> int:
    """Find the features at the poses x, R; return how many there are."""
    (table, forms, off, solids), (world, value, order, room, found), _now, _ahead = search
    return int(
        find_features(
            table, forms, off, solids, x, R, reach, travel, world, value, order, room, found,
            lists[0], lists[1], lists[2], lists[3],
        )
    )  # fmt: skip


@kernel(f"int64({SEARCH}, {LOADS}, {STATE}, {POSES}, float64, float64)", borrows=True, entry=True)
def search(search: Search, loads: Loads, state: StateArrays, poses: Poses, dt: float, gravity: float) -> int:
    """Find the features that may act within dt, by the rules of `Contacts.near`; return how many there are."""
    q, v, radius, travel, fastest = state[0], state[1], loads[2], loads[3], 0.0
    x, R, n = poses[0][0], poses[1][0], len(state[1])
    pose_bodies(q, x, R)
    for i in range(n):
        speed = np.sqrt(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
        spin = np.sqrt(v[i, 3] * v[i, 3] + v[i, 4] * v[i, 4] + v[i, 5] * v[i, 5])
        fastest = max(fastest, speed + radius[i] * spin)
        travel[i] = max(SLACK * radius[i], CLOSED)
    reach = gravity * dt * dt + 2.0 * dt * fastest
    found = search_at(search, search[2], x, R, reach, travel)
    if not dt * fastest > 0.0 or found > len(search[2][0]):
        return int(found)
    move_bodies(q, v, dt, state[9])
    pose_bodies(state[9], poses[0][1], poses[1][1])
    ahead = search_at(search, search[3], poses[0][1], poses[1][1], reach, travel)
    if ahead > len(search[3][0]):
        return int(found + ahead)
    return int(join_lists(search[0][0], search[2], found, search[3], ahead, x, R, (-CLOSED, np.inf)))


@kernel(f"int64({SEARCH}, {LOADS}, {STATE}, {POSES}, int64)", borrows=True)
def join_overlaps(search: Search, loads: Loads, state: StateArrays, poses: Poses, n: int) -> int:
    """Add to the n listed contacts those others in which bodies overlap at the end of the step.

    A reaction may send a body against another one that was too far away, or turn it on to another feature. Returns how
    many there are then, which may be more than fit.
    """
    ahead, q, q1, size, still = search[3], state[0], state[9], 0.0, True
    for i in range(len(q)):
        for k in range(7):
            still = still and q[i, k] == q1[i, k]
            size = max(size, abs(q1[i, k]))
    if still:
        return n
    x, R, limit = poses[0][2], poses[1][2], max(ALLOWED, ROUNDING * size)
    found = search_at(search, ahead, x, R, 0.0, loads[3])
    if found > len(ahead[0]):
        return int(n + found)
    return int(join_lists(search[0][0], search[2], n, ahead, found, x, R, (-np.inf, -limit)))
