"""What a system in space says at one state, for Python: rows with places of contacts, and the generalised force."""

from __future__ import annotations

import math

from ...._jit import A1, A2, kernel
from ....arrays import EPS, Array
from ....mechanics.spatial.drifts import row_drift
from ....mechanics.spatial.row_kernels import joint_row, move_bodies3, put_bodies, spatial_forces
from .phase_rows import contact_row
from .records import LOADS, PhaseTables


@kernel(f"void(PhaseTables, float64, {A1}, {A2})", borrows=True, entry=True)
def put_place(phase: PhaseTables, t: float, y: Array, point: Array) -> None:
    """Fill in the rows and the force at y = (q, v), and where contacts are, point (c, 3), m."""
    tables, room, nq, nv = phase.mechanism, phase.room, phase.nq, phase.nv
    put_bodies(tables, y[:nq], y[nq : nq + nv])
    for i in range(len(room.rate)):
        for j in range(nv):
            room.J[i, j] = 0.0
    for k in range(len(phase.start)):
        first, r = phase.start[k], phase.touches.joint[k]
        if r >= 0:
            room.gap[k], room.rate[first] = joint_row(tables, r, room.J[first])
            room.drift[first] = row_drift(tables, r)
            continue
        contact_row(phase, k, -1 - r)
        for i in range(3):
            point[-1 - r, i] = phase.touches.moved[4 + i]
    spatial_forces(tables, t, y[:nq], y[nq : nq + nv], room.V[LOADS])


@kernel(f"void({A1}, {A1}, float64, {A1})", borrows=True, entry=True)
def put_moved(q: Array, v: Array, dt: float, moved: Array) -> None:
    """Put the coordinates after dt at constant v, as `SpatialSystem.move` does, with quaternions of length one."""
    move_bodies3(q, v, dt, moved)
    for k in range(len(q) // 7):
        i, w = 7 * k + 3, 6 * k + 3
        if 0.5 * dt * v[w] != 0.0 or 0.5 * dt * v[w + 1] != 0.0 or 0.5 * dt * v[w + 2] != 0.0:
            continue
        a, b, c, d = q[i], q[i + 1], q[i + 2], q[i + 3]
        size = math.sqrt(a * a + b * b + c * c + d * d)
        if abs(size - 1.0) >= 8.0 * EPS:
            moved[i], moved[i + 1], moved[i + 2], moved[i + 3] = a / size, b / size, c / size, d / size
