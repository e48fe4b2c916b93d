"""Where the bodies of trees are and how they move, compiled."""

from __future__ import annotations

import math

import numpy as np

from ..._jit import A1, I1, kernel
from ...arrays import Array, IntArray
from ..collision.vectors import V3, Vector, along, cross3, three, triple3, turned
from .forest import (
    ALIGNED,
    ANCHOR,
    ASKED,
    AXIS,
    BALL,
    CENTRE,
    FIRST,
    FREE,
    HINGE,
    INERTIA,
    INERTIAS,
    JOINTS,
    KIND,
    MASS,
    PARENT,
    ROOT,
    SLIDE,
    SPEEDS,
    ZERO,
    Moving,
    Q,
    Trees,
    V,
)
from .joint_turns import sines_cosines, turn_about, turn_along, turn_axes, turn_of


@kernel(f"void({A1}, {V3})", borrows=True)
def put3(out: Array, value: Vector) -> None:
    """Put three numbers."""
    out[0], out[1], out[2] = value


@kernel(f"void({A1}, int64, {V3})", borrows=True)
def put_three(out: Array, i: int, value: Vector) -> None:
    """Put out[i:i+3]."""
    out[i], out[i + 1], out[i + 2] = value


@kernel(f"void({A1}, {V3}, {V3})", borrows=True)
def put_turning(out: Array, axis: Vector, arm: Vector) -> None:
    """Put the motion of turning about an axis; `arm` leads from it to the point of the tree."""
    put_three(out, 0, axis)
    put_three(out, 3, cross3(axis, arm))


@kernel(f"boolean(Trees, Moving, {A1}, int64, int64)", borrows=True)
def joint_moves(trees: Trees, moving: Moving, q: Array, b: int, j: int) -> bool:
    """Move body b, which stands where the joints before have put it, by joint j; put the motion that this leaves free.

    Returns False where that is for `put_motions` to put: it depends on where the joints that follow lead.
    """
    kind, at, own, R = trees.joints[j, KIND], trees.joints[j, Q], trees.axes[j], moving.R[b]
    if kind == FREE:
        put3(moving.x[b], three(q, at))
        turn_of(q, at + 3, R)
        return False
    x, first, axis = triple3(moving.x[b]), trees.bodies[b, ROOT], (0.0, 0.0, 0.0)
    along_own, out = trees.joints[j, ALIGNED], moving.S[trees.joints[j, V]]
    if along_own == 0:
        axis = turned(R, own, AXIS)
    else:  # a column of R
        k, sign = abs(along_own) - 1, 1.0 if along_own > 0 else -1.0
        axis = (sign * R[0, k], sign * R[1, k], sign * R[2, k])
    centred = own[ANCHOR] == 0.0 and own[ANCHOR + 1] == 0.0 and own[ANCHOR + 2] == 0.0  # at the origin of the frame
    anchor = x if centred else along(x, 1.0, turned(R, own, ANCHOR))
    if kind == BALL or first == b:
        put3(moving.axis[j], axis)
        put3(moving.anchor[j], anchor)
    elif kind == SLIDE:
        put_three(out, 0, (0.0, 0.0, 0.0))
        put_three(out, 3, axis)
    else:
        put_turning(out, axis, along(triple3(moving.x[first]), -1.0, anchor))
    if kind == SLIDE:
        put3(moving.x[b], along(x, q[at] - own[ZERO], axis))
        return bool(first != b)
    if kind == HINGE and along_own != 0:
        turn_along(R, along_own, moving.sine[j], moving.cosine[j])
    else:
        if kind == HINGE:
            axis = (own[AXIS], own[AXIS + 1], own[AXIS + 2])
            turn_about(axis, moving.sine[j], moving.cosine[j], moving.turn[0])
        else:
            turn_of(q, at, moving.turn[0])
        turn_axes(R, moving.turn[0])
    if not centred:
        put3(moving.x[b], along(anchor, -1.0, turned(R, own, ANCHOR)))
    return bool(kind == HINGE and first != b)


@kernel("void(Trees, Moving, int64)", borrows=True)
def place_inertia(trees: Trees, moving: Moving, b: int) -> None:
    """Put mass, mass times centre and inertia of a body about the point of its tree."""
    own, R, out = trees.inertia[b], moving.R[b], moving.inertia[b]
    c = along(triple3(moving.x[b]), -1.0, triple3(moving.x[trees.bodies[b, ROOT]]))
    c = along(c, 1.0, turned(R, own, CENTRE))
    m, k = own[MASS], INERTIA
    out[0], out[1], out[2], out[3] = m, m * c[0], m * c[1], m * c[2]
    for i in range(3):  # rows of R I R^T
        x, y, z = R[i, 0], R[i, 1], R[i, 2]
        a0, a1 = x * own[k] + y * own[k + 3] + z * own[k + 4], x * own[k + 3] + y * own[k + 1] + z * own[k + 5]
        a2 = x * own[k + 4] + y * own[k + 5] + z * own[k + 2]
        out[4 + i] = a0 * x + a1 * y + a2 * z + m * (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - c[i] * c[i])
        for l in range(i):
            out[6 + i + l] = a0 * R[l, 0] + a1 * R[l, 1] + a2 * R[l, 2] - m * c[i] * c[l]


@kernel("void(Trees, Moving, int64)", borrows=True)
def put_motions(trees: Trees, moving: Moving, b: int) -> None:
    """Put the motions that the joints of a body leave free, those that `joint_moves` has left."""
    origin, R = triple3(moving.x[trees.bodies[b, ROOT]]), moving.R[b]
    for j in range(trees.bodies[b, FIRST], trees.bodies[b, FIRST] + trees.bodies[b, JOINTS]):
        kind, d, S = trees.joints[j, KIND], trees.joints[j, V], moving.S
        if kind < BALL and trees.bodies[b, ROOT] != b:
            continue
        if kind == SLIDE:
            put_three(S[d], 0, (0.0, 0.0, 0.0))
            put_three(S[d], 3, triple3(moving.axis[j]))
        elif kind == HINGE:
            put_turning(S[d], triple3(moving.axis[j]), along(origin, -1.0, triple3(moving.anchor[j])))
        else:
            centre = triple3(moving.x[b]) if kind == FREE else triple3(moving.anchor[j])
            if kind == FREE:
                for k in range(3):
                    for i in range(6):
                        S[d + k, i] = 1.0 if i == 3 + k else 0.0
                d += 3
            for k in range(3):
                put_turning(S[d + k], (R[0, k], R[1, k], R[2, k]), along(origin, -1.0, centre))


@kernel("void(Trees, Moving, int64)", borrows=True)
def put_frame(trees: Trees, moving: Moving, b: int) -> None:
    """Put body b where it stands before its joints move it; many frames are not turned against their parents."""
    p, frame, R = trees.bodies[b, PARENT], trees.frames[b], moving.R[b]
    put3(moving.x[b], along(triple3(moving.x[p]), 1.0, turned(moving.R[p], frame, 0)))
    if frame[3] == 1.0 and frame[7] == 1.0 and frame[11] == 1.0:
        for i in range(3):
            R[i, 0], R[i, 1], R[i, 2] = moving.R[p, i, 0], moving.R[p, i, 1], moving.R[p, i, 2]
        return
    for k in range(3):
        R[0, k], R[1, k], R[2, k] = turned(moving.R[p], frame, 3 + 3 * k)


@kernel(f"boolean({A1}, {A1})", borrows=True)
def keep_same(x: Array, kept: Array) -> bool:
    """Return whether two arrays are the same; the second becomes the first."""
    same = True
    for i in range(len(kept)):
        same = same and x[i] == kept[i]
        kept[i] = x[i]
    return same


@kernel(f"void(Trees, Moving, {A1})", borrows=True)
def put_turns(trees: Trees, moving: Moving, q: Array) -> None:
    """Put by what angles hinges turn, all at once; half of the angle where the axis is none of the frame."""
    joints, angle = trees.joints, moving.angle
    for j in range(len(joints)):
        if joints[j, KIND] == HINGE:
            way = q[joints[j, Q]] - trees.axes[j, ZERO]
            angle[j] = way if joints[j, ALIGNED] != 0 else 0.5 * way
    sines_cosines(angle, moving.sine, moving.cosine)


@kernel(f"void(Trees, Moving, {A1}, int64)", inline=True, borrows=True)
def place_body(trees: Trees, moving: Moving, q: Array, b: int) -> None:
    """Put the frame and the free motions of a body, whose parent stands there, once `put_turns` has been called."""
    put_frame(trees, moving, b)
    known = True
    for j in range(trees.bodies[b, FIRST], trees.bodies[b, FIRST] + trees.bodies[b, JOINTS]):
        known = joint_moves(trees, moving, q, b, j) and known
    if not known:
        put_motions(trees, moving, b)


@kernel(f"void(Trees, Moving, {A1})", borrows=True)
def place_bodies(trees: Trees, moving: Moving, q: Array) -> None:
    """Put the frames and free motions of all bodies at q."""
    if keep_same(q, moving.at):
        return
    moving.known[INERTIAS] = moving.known[SPEEDS] = 0
    put_turns(trees, moving, q)
    for b in range(len(trees.inertia)):
        place_body(trees, moving, q, b)


@kernel("void(Trees, Moving, int64)", borrows=True)
def ask_for(trees: Trees, moving: Moving, b: int) -> None:
    """Have `place_asked` place a body, and those on the way to it."""
    while 0 <= b < len(trees.inertia) and moving.known[ASKED + b] == 0:
        moving.known[ASKED + b] = 1
        b = trees.bodies[b, PARENT]


@kernel(f"void(Trees, Moving, {A1})", borrows=True)
def place_asked(trees: Trees, moving: Moving, q: Array) -> None:
    """Put the frames and free motions at q of the bodies asked for, and of no others."""
    every = True
    keep_same(q, moving.at)
    moving.known[INERTIAS] = moving.known[SPEEDS] = 0
    put_turns(trees, moving, q)
    for b in range(len(trees.inertia)):
        if moving.known[ASKED + b]:
            moving.known[ASKED + b] = 0
            place_body(trees, moving, q, b)
        else:
            every = False
    if not every:
        moving.at[0] = np.nan  # whoever needs all of them places them


@kernel("void(Trees, Moving)", borrows=True)
def place_inertias(trees: Trees, moving: Moving) -> None:
    """Put the inertias of all bodies, which `place_bodies` has placed."""
    if moving.known[INERTIAS]:
        return
    moving.known[INERTIAS] = 1
    for b in range(len(trees.inertia)):
        place_inertia(trees, moving, b)


@kernel(f"UniTuple({V3}, 4)(Trees, Moving, {A1}, int64, UniTuple({V3}, 4))", inline=True, borrows=True)
def joint_speeds(
    trees: Trees, moving: Moving, v: Array, j: int, before: tuple[Vector, Vector, Vector, Vector]
) -> tuple[Vector, Vector, Vector, Vector]:
    """Return speed (w, u) and bias (a, b) of a body beyond a joint, from those before it.

    A motion s of the joint moves along with the body: its rate is (w, u) x s.
    """
    kind, d, S = trees.joints[j, KIND], trees.joints[j, V], moving.S
    w, u, a, b = before
    if kind == FREE:  # its places are coordinates in space: their motions do not change
        u = along(u, 1.0, three(v, d))
        d += 3
    size, fore, on = 3 if kind in (FREE, BALL) else 1, w, u
    for k in range(d, d + size):
        s, t = three(S[k], 0), three(S[k], 3)
        a, b = along(a, v[k], cross3(w, s)), along(b, v[k], along(cross3(w, t), 1.0, cross3(u, s)))
        fore, on = along(fore, v[k], s), along(on, v[k], t)
    return fore, on, a, b


@kernel(f"void(Trees, Moving, {A1})", borrows=True)
def put_speeds(trees: Trees, moving: Moving, v: Array) -> None:
    """Put speeds and biases of all bodies, which `place_bodies` has placed."""
    if keep_same(v, moving.going) and moving.known[SPEEDS]:
        return
    moving.known[SPEEDS] = 1
    for b in range(len(trees.inertia)):
        p, out, bias = trees.bodies[b, PARENT], moving.speed[b], moving.bias[b]
        speed, drift = moving.speed[p], moving.bias[p]
        now = (three(speed, 0), three(speed, 3), three(drift, 0), three(drift, 3))
        for j in range(trees.bodies[b, FIRST], trees.bodies[b, FIRST] + trees.bodies[b, JOINTS]):
            now = joint_speeds(trees, moving, v, j, now)
        put_three(out, 0, now[0])
        put_three(out, 3, now[1])
        put_three(bias, 0, now[2])
        put_three(bias, 3, now[3])


@kernel(f"void({I1}, {A1}, {A1}, float64, {A1})", borrows=True)
def move_joint(joint: IntArray, q: Array, v: Array, dt: float, moved: Array) -> None:
    """Put the coordinates of one joint after dt at constant v; what rests keeps its bits."""
    kind, i, d = joint[KIND], joint[Q], joint[V]
    if kind in (HINGE, SLIDE):
        moved[i] = q[i] + dt * v[d]
        return
    if kind == FREE:
        for k in range(3):
            moved[i + k] = q[i + k] + dt * v[d + k]
        i, d = i + 3, d + 3
    x, y, z = 0.5 * dt * v[d], 0.5 * dt * v[d + 1], 0.5 * dt * v[d + 2]
    w, a, b, c, s = q[i], q[i + 1], q[i + 2], q[i + 3], 1.0
    if x != 0.0 or y != 0.0 or z != 0.0:
        w, a, b, c = (
            w - a * x - b * y - c * z,
            a + w * x + b * z - c * y,
            b + w * y + c * x - a * z,
            c + w * z + a * y - b * x,
        )
        s = math.sqrt(w * w + a * a + b * b + c * c)
    moved[i], moved[i + 1], moved[i + 2], moved[i + 3] = w / s, a / s, b / s, c / s


@kernel(f"void(Trees, {A1}, {A1}, float64, {A1})", borrows=True, entry=True, rare=True)
def move_trees(trees: Trees, q: Array, v: Array, dt: float, moved: Array) -> None:
    """Put the coordinates after dt at constant v, quaternions by Cayley's map, as `SpatialSystem.move` does."""
    for j in range(len(trees.joints)):
        move_joint(trees.joints[j], q, v, dt, moved)
