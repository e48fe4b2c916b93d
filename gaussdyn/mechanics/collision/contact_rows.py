"""All contacts of a system in space at once, compiled: how its bodies move, and the rows of the contacts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import kernel, record
from ...arrays import Array, IntArray
from .body_motions import BodyMotions
from .bounds.search_records import ContactList
from .feature_kinematics import RigidMotion, add_body, contact_frame, feature_geometry, feature_motion, rates_and_drifts
from .primitives import A3, I1, I2
from .vectors import A1, A2


@kernel(f"void({A1}, {A2}, {A3})", borrows=True)
def body_poses(q: Array, x: Array, R: Array) -> None:
    """Put the mass centres (n + 1, 3) and axes (n + 1, 3, 3) of n bodies; the last entries are left alone."""
    for k in range(len(q) // 7):
        w, a, b, c = q[7 * k + 3], q[7 * k + 4], q[7 * k + 5], q[7 * k + 6]
        s = 2.0 / (w * w + a * a + b * b + c * c)  # as linalg.rotations.matrix_of, to the last bit
        R[k, 0, 0], R[k, 0, 1], R[k, 0, 2] = 1.0 - s * (b * b + c * c), s * (a * b - w * c), s * (a * c + w * b)
        R[k, 1, 0], R[k, 1, 1], R[k, 1, 2] = s * (a * b + w * c), 1.0 - s * (a * a + c * c), s * (b * c - w * a)
        R[k, 2, 0], R[k, 2, 1], R[k, 2, 2] = s * (a * c - w * b), s * (b * c + w * a), 1.0 - s * (a * a + b * b)
        for i in range(3):
            x[k, i] = q[7 * k + i]


@kernel(f"void({A1}, {A1}, {A2}, {A3}, {A2}, {A2}, {A3})", borrows=True, entry=True)
def body_motions(q: Array, v: Array, x: Array, R: Array, velocity: Array, omega: Array, turn: Array) -> None:
    """Fill in how n bodies move, from q (7 n,) and v (6 n,); further entries, of the ground, are left alone.

    Parameters
    ----------
    x, velocity, omega : Array, shape (n + 1, 3)
        Mass centres, their velocities and the angular velocities, in space.
    R, turn : Array, shape (n + 1, 3, 3) and (n + 1, 3, 6)
        Body axes in space; omega = turn times the six velocities of the body.
    """
    body_poses(q, x, R)
    for k in range(len(q) // 7):
        for i in range(3):
            velocity[k, i], omega[k, i] = v[6 * k + i], 0.0
            for j in range(3):
                turn[k, i, 3 + j] = R[k, i, j]
                omega[k, i] += R[k, i, j] * v[6 * k + 3 + j]


@kernel(f"void({I1}, {A2}, {I2}, {A2}, {A3}, {A1})", entry=True)
def feature_gaps(kind: IntArray, data: Array, bodies: IntArray, x: Array, R: Array, gap: Array) -> None:
    """Fill in the gaps (m) of contacts between the bodies numbered in `bodies`, shape (c, 2); -1 is the last entry."""
    out = np.empty(7)
    for c in range(len(kind)):
        a, b = bodies[c, 0] % len(x), bodies[c, 1] % len(x)
        feature_geometry(kind[c], data[c], x[a], R[a], x[b], R[b], out)
        gap[c] = out[0]


@kernel(f"void({I1}, {A1}, {A2}, {A2}, {A3}, {A3}, {I1}, {A2})", borrows=True, entry=True)
def contact_jacobian(
    bodies: IntArray, point: Array, frame: Array, x: Array, JX: Array, turn: Array, first: IntArray, J: Array
) -> None:  # fmt: skip
    """Add the derivatives of the rates of one contact to its rows, shape (k, nv); see `feature_rows`."""
    a, b = bodies[0] % len(x), bodies[1] % len(x)
    add_body(1.0, x[a], point, JX[a], turn[a], frame, first[a], J)
    add_body(-1.0, x[b], point, JX[b], turn[b], frame, first[b], J)


record(A2, A3, A2, A2, A2, A3, A3, I1, by_value=True)(BodyMotions)


@record(A2, A3, A2, A1, A1, by_value=True)
class ContactRows(NamedTuple):
    """The rows of c contacts at one state.

    Attributes
    ----------
    moved, frame : arrays, shape (c, 13) and (c, 6, 3)
        Gap, normal, contact point and their rates; N, T1, T2 and their rates.
    J : Array, shape (rows, nv)
        Zeros on entry; without columns it is left out.
    rate, drift : Array, shape (rows,)
        Rates, and what the second rates are without acceleration.
    """

    moved: Array
    frame: Array
    J: Array
    rate: Array
    drift: Array


@kernel(f"void(ContactList, BodyMotions, {I1}, ContactRows)", entry=True)
def feature_rows(found: ContactList, bodies: BodyMotions, start: IntArray, out: ContactRows) -> None:
    """Fill in the rows of contacts between bodies (-1: the last); contact i has the rows start[i]:start[i + 1]."""
    x, R, v, omega, drift, JX, turn, first = bodies
    for i in range(len(found.kind)):
        a, b = found.bodies[i, 0] % len(x), found.bodies[i, 1] % len(x)
        A, B = RigidMotion(x[a], R[a], v[a], omega[a], drift[a]), RigidMotion(x[b], R[b], v[b], omega[b], drift[b])
        m, f, rows = out.moved[i], out.frame[i], slice(start[i], start[i + 1])
        feature_motion(found.kind[i], found.data[i], A, B, m)
        contact_frame(0, m[1:4], m[7:10], f)
        if out.J.shape[1] > 0:
            contact_jacobian(found.bodies[i], m[4:7], f, x, JX, turn, first, out.J[rows])
        rates_and_drifts(A, B, m, f, out.rate[rows], out.drift[rows])
