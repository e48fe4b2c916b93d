"""Poses, forces and contact geometry of free bodies over one step, compiled.

Arrays of poses have one row more than there are bodies: the ground, which the body number -1 means.
"""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, A3, I1, I2, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, Contacts
from ....mechanics.collision.feature_kinematics import contact_frame, feature_geometry
from .records import Bodies, BodySolver, BodySpan, BodyStep, Features


@kernel(f"void({A2}, {A2}, float64, {A2})", borrows=True)
def move_bodies(q: Array, v: Array, dt: float, out: Array) -> None:
    """Put the coordinates after dt at constant v (n, 6), angular velocities in body axes; what rests keeps its bits."""
    for i in range(len(q)):
        for k in range(3):
            out[i, k] = q[i, k] + dt * v[i, k]
        x, y, z = 0.5 * dt * v[i, 3], 0.5 * dt * v[i, 4], 0.5 * dt * v[i, 5]
        a, b, c, d = q[i, 3], q[i, 4], q[i, 5], q[i, 6]
        s = 1.0
        if x != 0.0 or y != 0.0 or z != 0.0:
            a, b, c, d = (
                a - b * x - c * y - d * z,
                b + a * x + c * z - d * y,
                c + a * y + d * x - b * z,
                d + a * z + b * y - c * x,
            )
            s = np.sqrt(a * a + b * b + c * c + d * d)
        out[i, 3], out[i, 4], out[i, 5], out[i, 6] = a / s, b / s, c / s, d / s


@kernel(f"void({A2}, {A2}, {A3})", borrows=True)
def pose_bodies(q: Array, x: Array, R: Array) -> None:
    """Put centres and rotation matrices."""
    for i in range(len(q)):
        x[i, 0], x[i, 1], x[i, 2] = q[i, 0], q[i, 1], q[i, 2]
        a, b, c, d = q[i, 3], q[i, 4], q[i, 5], q[i, 6]
        s = 2.0 / (a * a + b * b + c * c + d * d)
        R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = 1.0 - s * (c * c + d * d), s * (b * c - a * d), s * (b * d + a * c)
        R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = s * (b * c + a * d), 1.0 - s * (b * b + d * d), s * (c * d - a * b)
        R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = s * (b * d - a * c), s * (c * d + a * b), 1.0 - s * (b * b + c * c)


@kernel(f"void({A3}, {A2}, float64, {A2})", borrows=True)
def turn_spins(R: Array, v: Array, back: float, out: Array) -> None:
    """Put v with the angular velocities in space (back > 0: from space into body axes)."""
    for i in range(len(v)):
        for k in range(3):
            out[i, k] = v[i, k]
        x, y, z = v[i, 3], v[i, 4], v[i, 5]
        for k in range(3):
            if back > 0.0:
                out[i, 3 + k] = R[i, 0, k] * x + R[i, 1, k] * y + R[i, 2, k] * z
            else:
                out[i, 3 + k] = R[i, k, 0] * x + R[i, k, 1] * y + R[i, k, 2] * z


@kernel(f"void(int64, Features, {I1}, {A2}, {A3}, {A2}, {A2})", borrows=True)
def evaluate(n: int, features: Features, moved: IntArray, x: Array, R: Array, before: Array, out: Array) -> None:
    """Put gap, normal and point of every feature, shape (n, 7); taken from `before` where neither body has moved."""
    kind, bodies, data, _label, _law = features
    for f in range(n):
        a, b = bodies[f, 0], bodies[f, 1]
        if moved[a] or moved[b]:
            feature_geometry(kind[f], data[f], x[a], R[a], x[b], R[b], out[f])
        else:
            for k in range(7):
                out[f, k] = before[f, k]


@kernel(f"void(Contacts, {I1}, {I2}, {A2}, {A2}, {A2}, {A2})", borrows=True)
def place_contacts(
    contacts: Contacts, which: IntArray, bodies: IntArray, geometry: Array, x: Array, frame: Array, w: Array
) -> None:
    """Put frames and arms of the contacts that act, contact c being feature which[c]; w = 0; frame is work space.

    Where the normal points into the ground the pair is turned about, and so is the frame: u and p stay what they are.
    """
    first, R, ra, rb = contacts.first, contacts.R, contacts.ra, contacts.rb
    zero = frame[5]
    for c in range(first[-1]):
        f = which[c]
        for k in range(3):
            w[c, k] = zero[k] = 0.0
        contact_frame(0, geometry[f, 1:4], zero, frame)
        a, b, sign = bodies[f, 1], bodies[f, 0], 1.0
        if b < 0:
            a, b, sign = b, a, -1.0
        for k in range(3):
            rb[c, k] = geometry[f, 4 + k] - x[b, k]
            ra[c, k] = geometry[f, 4 + k] - x[a, k]
            for j in range(3):
                R[c, k, j] = sign * frame[k, j]


@kernel(f"void({A2}, {A2}, {A2})", borrows=True)
def turn_inertia(J: Array, Q: Array, K: Array) -> None:
    """Put the inertia Q J Q^T in space."""
    for k in range(3):
        a = Q[k, 0] * J[0, 0] + Q[k, 1] * J[1, 0] + Q[k, 2] * J[2, 0]
        b = Q[k, 0] * J[0, 1] + Q[k, 1] * J[1, 1] + Q[k, 2] * J[2, 1]
        c = Q[k, 0] * J[0, 2] + Q[k, 1] * J[1, 2] + Q[k, 2] * J[2, 2]
        for j in range(3):
            K[k, j] = a * Q[j, 0] + b * Q[j, 1] + c * Q[j, 2]


@kernel(f"void({A2}, {A2}, {A1}, {A1}, {A1}, float64, float64)", borrows=True)
def add_gyroscopic(K: Array, G: Array, w: Array, v: Array, h: Array, dt: float, theta: float) -> None:
    """Add -dt w x K w to the momentum h, and its derivative in v, which moves w by theta, to h and K; G: work space."""
    l0 = K[0, 0] * w[0] + K[0, 1] * w[1] + K[0, 2] * w[2]
    l1 = K[1, 0] * w[0] + K[1, 1] * w[1] + K[1, 2] * w[2]
    l2 = K[2, 0] * w[0] + K[2, 1] * w[1] + K[2, 2] * w[2]
    for j in range(3):  # d(w x K w) = [w]x K - [K w]x
        G[0, j] = w[1] * K[2, j] - w[2] * K[1, j]
        G[1, j] = w[2] * K[0, j] - w[0] * K[2, j]
        G[2, j] = w[0] * K[1, j] - w[1] * K[0, j]
    G[0, 1] += l2
    G[0, 2] -= l1
    G[1, 0] -= l2
    G[1, 2] += l0
    G[2, 0] += l1
    G[2, 1] -= l0
    h[3] -= dt * (w[1] * l2 - w[2] * l1)
    h[4] -= dt * (w[2] * l0 - w[0] * l2)
    h[5] -= dt * (w[0] * l1 - w[1] * l0)
    for k in range(3):
        for j in range(3):
            g = theta * dt * G[k, j]
            h[3 + k] += g * v[3 + j]
            K[k, j] += g


@kernel(f"void({A2}, {A2})", borrows=True)
def invert(K: Array, inverse: Array) -> None:
    """Put the inverse of the first three rows of K, which need not be symmetric."""
    a, b, c = (
        K[1, 1] * K[2, 2] - K[1, 2] * K[2, 1],
        K[1, 2] * K[2, 0] - K[1, 0] * K[2, 2],
        K[1, 0] * K[2, 1] - K[1, 1] * K[2, 0],
    )
    d = 1.0 / (K[0, 0] * a + K[0, 1] * b + K[0, 2] * c)
    inverse[0, 0], inverse[1, 0], inverse[2, 0] = a * d, b * d, c * d
    inverse[0, 1] = (K[0, 2] * K[2, 1] - K[0, 1] * K[2, 2]) * d
    inverse[1, 1] = (K[0, 0] * K[2, 2] - K[0, 2] * K[2, 0]) * d
    inverse[2, 1] = (K[0, 1] * K[2, 0] - K[0, 0] * K[2, 1]) * d
    inverse[0, 2] = (K[0, 1] * K[1, 2] - K[0, 2] * K[1, 1]) * d
    inverse[1, 2] = (K[0, 2] * K[1, 0] - K[0, 0] * K[1, 2]) * d
    inverse[2, 2] = (K[0, 0] * K[1, 1] - K[0, 1] * K[1, 0]) * d


@kernel(f"void(Bodies, {A3}, {A2}, {A2}, {A2}, float64, float64, BodyProblem)")
def momentum(
    bodies: Bodies, R: Array, force: Array, v0: Array, v: Array, dt: float, theta: float, problem: BodyProblem
) -> None:
    """Put M, its inverse and h of M v+ = h + J^T p, all in space, linearised at the guess v of v+.

    The gyroscopic moment w x J w is taken at (1 - theta) w0 + theta w; its derivative stands in M (unsymmetric).
    `force` (n, 6) has its moments in body axes, v0 and v their angular velocities in space.
    """
    mass, inertia, ball = bodies
    G, w = np.empty((3, 3)), np.empty(3)
    for i in range(len(mass)):
        m, Q, K, inverse, h = mass[i], R[i], problem.M[i], problem.inverse[i], problem.h[i]
        K[3, 0], inverse[3, 0] = m, 1.0 / m
        turn_inertia(inertia[i], Q, K)
        for k in range(3):
            h[k] = m * v0[i, k] + dt * force[i, k]
            h[3 + k] = K[k, 0] * v0[i, 3] + K[k, 1] * v0[i, 4] + K[k, 2] * v0[i, 5]
            h[3 + k] += dt * (Q[k, 0] * force[i, 3] + Q[k, 1] * force[i, 4] + Q[k, 2] * force[i, 5])
            w[k] = (1.0 - theta) * v0[i, 3 + k] + theta * v[i, 3 + k]
        if not ball[i] and (w[0] != 0.0 or w[1] != 0.0 or w[2] != 0.0):
            add_gyroscopic(K, G, w, v[i], h, dt, theta)
        invert(K, inverse)


@kernel("void(BodyStep, BodySolver, BodySpan)", borrows=True)
def renew(step: BodyStep, solver: BodySolver, span: BodySpan) -> None:
    """Put M and h at the middle of the step for the guess of v+."""
    state = step.state
    momentum(
        step.bodies, step.poses.R[1], state.force, state.v0, state.guess, span.dt, span.theta, solver.problem
    )  # fmt: skip


@kernel(f"int64({I2}, int64, {I2}, {I1}, {I1})", borrows=True)
def group_pairs(bodies: IntArray, n: int, pair: IntArray, of: IntArray, last: IntArray) -> int:
    """Number the pairs of bodies of n features in the order of their first features: of[f]; return how many.

    Rows of `pair` are (second body, first body), so that the normal points into the second entry; but the ground is
    always the first. A third column says which pair before has the same second entry, and `last`, work space by body,
    which one comes last.
    """
    pairs = 0
    for b in range(len(last)):
        last[b] = -1
    for f in range(n):
        a, b = bodies[f, 1], bodies[f, 0]
        if b < 0:
            a, b = b, a
        k = last[b]
        while k >= 0 and pair[k, 0] != a:
            k = pair[k, 2]
        if k < 0:
            k = pairs
            pair[k, 0], pair[k, 1], pair[k, 2] = a, b, last[b]
            last[b], pairs = k, pairs + 1
        of[f] = k
    return pairs


@kernel(f"void(int64, {I1}, {I1}, {I1}, {I1})", borrows=True)
def sort_by_pair(n: int, acts: IntArray, of: IntArray, first: IntArray, which: IntArray) -> None:
    """List the features that act pair by pair, in their own order: which[c], first as in `Contacts`."""
    for k in range(len(first)):
        first[k] = 0
    for f in range(n):
        if acts[f]:
            first[of[f] + 1] += 1
    for k in range(1, len(first)):
        first[k] += first[k - 1]
    for f in range(n):  # first[k] runs ahead to the end of pair k ...
        if acts[f]:
            which[first[of[f]]] = f
            first[of[f]] += 1
    for k in range(len(first) - 1, 0, -1):  # ... and is put back
        first[k] = first[k - 1]
    first[0] = 0
