"""How the bodies of trees stand and move at many states at once, compiled, as systems of bodies in space have it."""

from __future__ import annotations

import math

from ..._jit import A1, A2, A3, I1, kernel
from ...arrays import Array, IntArray
from ..collision.vectors import three, triple3, turned_back
from .dynamics import point_velocity
from .forest import Forest
from .frames import frame_speeds
from .kinematics import move_trees, place_bodies, put_speeds, put_three

A4, A5 = "float64[:,:,:,::1]", "float64[:,:,:,:,::1]"


@kernel(f"void({A2}, {A1}, int64)", borrows=True)
def put_quaternion(R: Array, out: Array, i: int) -> None:
    """Put the unit quaternion of a rotation, w >= 0, at out[i:i+4]; see `linalg.rotations.quaternion_of`."""
    a, e, o = R[0, 0], R[1, 1], R[2, 2]
    w, x, y, z = a + e + o, a - e - o, e - a - o, o - a - e
    most = max(w, x, y, z)
    if w == most:
        w, x, y, z = 1.0 + w, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    elif x == most:
        w, x, y, z = R[2, 1] - R[1, 2], 1.0 + x, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]
    elif y == most:
        w, x, y, z = R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1.0 + y, R[1, 2] + R[2, 1]
    else:
        w, x, y, z = R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], 1.0 + z
    s = math.copysign(math.sqrt(w * w + x * x + y * y + z * z), w)
    out[i], out[i + 1], out[i + 2], out[i + 3] = w / s, x / s, y / s, z / s


@kernel(f"void(Forest, {I1}, {A2}, {A2}, {A2}, {A2})", borrows=True, entry=True)
def bodies_along(forest: Forest, number: IntArray, q: Array, v: Array, Q: Array, V: Array) -> None:
    """Put places (n, 7 m) and velocities (n, 6 m), as `SpatialLayout` has them, of m bodies at n states.

    number : IntArray, shape (m,)
        Of each in the forest.
    """
    trees, moving = forest.trees, forest.moving
    for k in range(len(q)):
        place_bodies(trees, moving, q[k])
        put_speeds(trees, moving, v[k])
        for j in range(len(number)):
            b = number[j]
            x = triple3(moving.x[b])
            put_three(Q[k], 7 * j, x)
            put_quaternion(moving.R[b], Q[k], 7 * j + 3)
            put_three(V[k], 6 * j, point_velocity(trees, moving, b, x))
            put_three(V[k], 6 * j + 3, turned_back(moving.R[b], three(moving.speed[b], 0)))


@kernel(f"void(Forest, {A2}, {A2}, {A1}, {A2})", borrows=True, entry=True)
def moved_along(forest: Forest, q: Array, v: Array, dt: Array, moved: Array) -> None:
    """Put the coordinates that `move_trees` leads to, each after its own time, shape (n, nq)."""
    for k in range(len(q)):
        move_trees(forest.trees, q[k], v[k], dt[k], moved[k])


@kernel(f"void(Forest, {A3}, {A2}, {A4}, {A5}, {A3}, {A3})", borrows=True, entry=True)
def frames_along(forest: Forest, q: Array, v: Array, x: Array, R: Array, velocity: Array, omega: Array) -> None:
    """Put what `ForestSeries.frames` returns."""
    moving = forest.moving
    for k in range(len(q)):
        for p in range(q.shape[1]):
            place_bodies(forest.trees, moving, q[k, p])
            for b in range(x.shape[2]):
                for i in range(3):
                    x[k, p, b, i] = moving.x[b, i]
                    for j in range(3):
                        R[k, p, b, i, j] = moving.R[b, i, j]
            if p == 0:
                put_speeds(forest.trees, moving, v[k])
                frame_speeds(forest, velocity[k], omega[k])
