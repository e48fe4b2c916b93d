"""Where the bodies of trees are and how they move, compiled."""

from __future__ import annotations

import math

import numpy as np

from ..._jit import A1, kernel
from ...arrays import Array
from ..collision.vectors import V3, Vector, along, cross3, three, triple3, turned
from .forest import (
    ALIGNED,
    ANCHOR,
    ASKED,
    AXIS,
    BALL,
    BODY,
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
from .joint_turns import (
    FRAME,
    Frame,
    axis_along,
    frame_at,
    in_space,
    sines_cosines,
    turn_about,
    turn_along,
    turn_axes,
    turn_of,
)

NONE = (0.0, 0.0, 0.0)


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


@kernel(f"{FRAME}(Trees, Moving, {A1}, int64, {FRAME})", inline=True, borrows=True)
def joint_moves(trees: Trees, moving: Moving, q: Array, j: int, frame: Frame) -> Frame:
    """Return the frame of a body beyond joint j, from that before it; put the motion that the joint leaves free.

    That of balls, free joints and those of the first body of a tree is for `put_motions` to put: it depends on where
    the joints that follow lead.
    """
    kind, at, own, b = trees.joints[j, KIND], trees.joints[j, Q], trees.axes[j], trees.joints[j, BODY]
    if kind == FREE:
        turn_of(q, at + 3, moving.turn[0])
        return frame_at(three(q, at), moving.turn[0])
    first, way, out = trees.bodies[b, ROOT], trees.joints[j, ALIGNED], moving.S[trees.joints[j, V]]
    axis = axis_along(frame, way) if way != 0 else in_space(frame, three(own, AXIS))
    anchor, arm = frame[0], three(own, ANCHOR)
    centred = arm[0] == 0.0 and arm[1] == 0.0 and arm[2] == 0.0  # at the origin of the frame
    if not centred:
        anchor = along(anchor, 1.0, in_space(frame, arm))
    if kind == BALL or first == b:
        put3(moving.axis[j], axis)
        put3(moving.anchor[j], anchor)
    elif kind == SLIDE:
        put_three(out, 0, NONE)
        put_three(out, 3, axis)
    else:
        put_turning(out, axis, along(triple3(moving.x[first]), -1.0, anchor))
    if kind == SLIDE:
        return along(frame[0], q[at] - own[ZERO], axis), frame[1], frame[2], frame[3]
    if kind == HINGE and way != 0:
        frame = turn_along(frame, way, moving.sine[j], moving.cosine[j])
    else:
        if kind == HINGE:
            turn_about(three(own, AXIS), moving.sine[j], moving.cosine[j], moving.turn[0])
        else:
            turn_of(q, at, moving.turn[0])
        frame = turn_axes(frame, moving.turn[0])
    return frame if centred else (along(anchor, -1.0, in_space(frame, arm)), frame[1], frame[2], frame[3])


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


@kernel(f"{FRAME}(Trees, Moving, int64)", inline=True, borrows=True)
def frame_before(trees: Trees, moving: Moving, b: int) -> Frame:
    """Return where body b stands before its joints move it; many frames are not turned against their parents."""
    p, own = trees.bodies[b, PARENT], trees.frames[b]
    on = frame_at(triple3(moving.x[p]), moving.R[p])
    x = along(on[0], 1.0, in_space(on, three(own, 0)))
    if own[3] == 1.0 and own[7] == 1.0 and own[11] == 1.0:
        return x, on[1], on[2], on[3]
    return x, in_space(on, three(own, 3)), in_space(on, three(own, 6)), in_space(on, three(own, 9))


@kernel(f"boolean({A1}, {A1})", borrows=True)
def keep_same(x: Array, kept: Array) -> bool:
    """Return whether two arrays are the same; the second becomes the first."""
    n, i = len(kept), 0
    while i < n and x[i] == kept[i]:
        i += 1
    for k in range(i, n):
        kept[k] = x[k]
    return i == n


@kernel(f"void(Trees, Moving, {A1})", borrows=True)
def put_turns(trees: Trees, moving: Moving, q: Array) -> None:
    """Put by what angles hinges turn, all at once; half of the angle where the axis is none of the frame."""
    joints, angle = trees.joints, moving.angle
    for j in range(len(joints)):
        if joints[j, KIND] == HINGE:
            way = q[joints[j, Q]] - trees.axes[j, ZERO]
            angle[j] = way if joints[j, ALIGNED] != 0 else 0.5 * way
    sines_cosines(angle, moving.sine, moving.cosine)


@kernel(f"void(Trees, Moving, {A1}, int64)", borrows=True)
def place_body(trees: Trees, moving: Moving, q: Array, b: int) -> None:
    """Put the frame and the free motions of a body, whose parent stands there, once `put_turns` has been called."""
    frame, late, R = frame_before(trees, moving, b), trees.bodies[b, ROOT] == b, moving.R[b]
    for j in range(trees.bodies[b, FIRST], trees.bodies[b, FIRST] + trees.bodies[b, JOINTS]):
        frame = joint_moves(trees, moving, q, j, frame)
        late = late or trees.joints[j, KIND] >= BALL
    put3(moving.x[b], frame[0])
    for i in range(3):
        R[i, 0], R[i, 1], R[i, 2] = frame[1][i], frame[2][i], frame[3][i]
    if late:
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


@kernel(f"void({A1}, int64, {A1}, int64, float64, {A1})", borrows=True)
def turn_quaternion(q: Array, i: int, v: Array, d: int, dt: float, moved: Array) -> None:
    """Put a quaternion after dt at a constant angular velocity, by Cayley's map; what rests keeps its bits."""
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
    """Put the coordinates after dt at constant v, quaternions as `SpatialSystem.move` does."""
    joints = trees.joints
    for j in range(len(joints)):
        kind, i, d = joints[j, KIND], joints[j, Q], joints[j, V]
        if kind in (HINGE, SLIDE):
            moved[i] = q[i] + dt * v[d]
            continue
        if kind == FREE:
            for k in range(3):
                moved[i + k] = q[i + k] + dt * v[d + k]
            i, d = i + 3, d + 3
        turn_quaternion(q, i, v, d, dt, moved)
