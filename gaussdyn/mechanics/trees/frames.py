"""How the frames of all bodies of a forest move, compiled, as rows of contacts take it."""

from __future__ import annotations

import math

from ..._jit import A1, A2, A3, kernel
from ...arrays import Array
from ..collision.vectors import along, cross3, dot3, three, triple3
from .dynamics import point_drift, point_velocity
from .forest import ABOVE, LAST, ROOT, Forest, Moving, Trees
from .kinematics import put3


@kernel(f"void(Forest, {A2}, {A2})", borrows=True, entry=True)
def frame_speeds(forest: Forest, velocity: Array, omega: Array) -> None:
    """Put the velocities of the origins of all frames, and their angular velocities, shape (n + 1, 3)."""
    trees, moving = forest.trees, forest.moving
    for b in range(len(velocity)):
        put3(velocity[b], point_velocity(trees, moving, b, triple3(moving.x[b])))
        put3(omega[b], three(moving.speed[b], 0))


@kernel(f"void(Forest, {A2}, {A3}, {A3})", borrows=True, entry=True)
def frame_motions(forest: Forest, drift: Array, JX: Array, turn: Array) -> None:
    """Put how origins and frames move at unit velocities, and what they accelerate without acceleration.

    Parameters
    ----------
    drift : Array, shape (n + 1, 3)
        Of the origins.
    JX, turn : Array, shape (n + 1, 3, nv + 1)
        Zeros on entry; the last column takes the angular accelerations that come from velocities alone.
    """
    trees, moving = forest.trees, forest.moving
    nv = len(trees.dofs)
    for b in range(len(drift)):
        x = triple3(moving.x[b])
        put3(drift[b], point_drift(trees, moving, b, x))
        r, k = along(x, -1.0, triple3(moving.x[trees.bodies[b, ROOT]])), trees.bodies[b, LAST]
        for i in range(3):
            turn[b, i, nv] = moving.bias[b, i]
        while k >= 0:
            w = three(moving.S[k], 0)
            going = along(three(moving.S[k], 3), 1.0, cross3(w, r))
            for i in range(3):
                turn[b, i, k], JX[b, i, k] = w[i], going[i]
            k = trees.dofs[k, ABOVE]


@kernel("float64(Trees, Moving, int64, float64)", borrows=True)
def turning(trees: Trees, moving: Moving, b: int, radius: float) -> float:
    """Return the angular speed of body b times the largest speed of its points, in such a ball, m/s^2."""
    u, w = point_velocity(trees, moving, b, triple3(moving.x[b])), three(moving.speed[b], 0)
    spin = math.sqrt(dot3(w, w))
    return spin * (math.sqrt(dot3(u, u)) + radius * spin)


@kernel(f"float64(Trees, Moving, {A1}, {A1})", borrows=True)
def fastest_points(trees: Trees, moving: Moving, radius: Array, speed: Array) -> float:
    """Put the largest speeds of points of bodies, in balls about the origins of their frames that hold them.

    Returns the largest of all.
    """
    most = 0.0
    for b in range(len(radius)):
        u, w = point_velocity(trees, moving, b, triple3(moving.x[b])), three(moving.speed[b], 0)
        speed[b] = math.sqrt(dot3(u, u)) + radius[b] * math.sqrt(dot3(w, w))
        most = max(most, speed[b])
    return most
