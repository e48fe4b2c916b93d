"""What a system says at one state of a phase, compiled: the only place where kinds of system differ.

Rows with gap, rate, drift (second rates are J a + drift) and J, the generalised force, and the rates of coordinates.
"""

from __future__ import annotations

from ...._jit import A1, kernel
from ....arrays import Array
from ....mechanics.collision.feature_kinematics import (
    RigidMotion,
    axis_of_row,
    contact_frame,
    feature_motion,
    rates_and_drifts,
)
from ....mechanics.collision.vectors import along, cross3, triple3
from ....mechanics.planar.row_kernels import (
    DRIFT,
    GAP,
    RATE,
    combine_rows,
    planar_forces,
    planar_potential,
    planar_rows,
)
from ....mechanics.spatial.drifts import row_drift
from ....mechanics.spatial.row_kernels import (
    ZERO,
    add_wrench,
    joint_row,
    put_bodies,
    spatial_forces,
    spatial_potential,
)
from .records import PLANAR, PhaseTables


@kernel(f"void(PhaseTables, {A1})", borrows=True)
def planar_table(phase: PhaseTables, y: Array) -> None:
    """Fill in the rows of a planar system, whose J has two rows for every constraint."""
    planar, room = phase.planar, phase.room
    planar_rows(y, phase.nv, planar.numbers, planar.data, room.J, planar.found)
    combine_rows(planar.parts, planar.factors, room.J, planar.found)
    for k in range(len(phase.start)):
        room.gap[k] = planar.found[k, GAP]
        for i in range(2):
            room.rate[2 * k + i], room.drift[2 * k + i] = planar.found[k, RATE + i], planar.found[k, DRIFT + i]


@kernel("void(PhaseTables, int64, int64)", borrows=True)
def contact_row(phase: PhaseTables, k: int, c: int) -> None:
    """Fill in constraint k, which is contact c between bodies in space; its rows of J hold zeros."""
    tables, touches, room = phase.mechanism, phase.touches, phase.room
    a, b = touches.bodies[c, 0] % len(tables.x), touches.bodies[c, 1] % len(tables.x)
    moved, frame, first, n = touches.moved, touches.frame[c], phase.start[k], phase.size[k]
    A = RigidMotion(tables.x[a], tables.R[a], tables.velocity[a], tables.omega[a], touches.still)
    B = RigidMotion(tables.x[b], tables.R[b], tables.velocity[b], tables.omega[b], touches.still)
    feature_motion(phase.kind[c], touches.data[c], A, B, moved)
    contact_frame(touches.chart[c], moved[1:4], moved[7:10], frame)
    room.gap[k] = moved[0]
    rates_and_drifts(A, B, moved, frame, room.rate[first : first + n], room.drift[first : first + n])
    point = triple3(moved[4:7])
    arm_a, arm_b = along(point, -1.0, triple3(tables.x[a])), along(point, -1.0, triple3(tables.x[b]))
    for i in range(n):
        t, J = triple3(frame[axis_of_row(i, n)]), room.J[first + i]
        add_wrench(tables, a, 1.0, t if i < 3 else ZERO, cross3(arm_a, t) if i < 3 else t, J)
        add_wrench(tables, b, -1.0, t if i < 3 else ZERO, cross3(arm_b, t) if i < 3 else t, J)


@kernel(f"void(PhaseTables, {A1})", borrows=True)
def spatial_table(phase: PhaseTables, y: Array) -> None:
    """Fill in the rows of bodies in space."""
    tables, room, nq, nv = phase.mechanism, phase.room, phase.nq, phase.nv
    put_bodies(tables, y[:nq], y[nq : nq + nv])
    for k in range(len(phase.start)):
        first, r = phase.start[k], phase.touches.joint[k]
        for i in range(first, first + phase.size[k]):
            for j in range(nv):
                room.J[i, j] = 0.0
        if r < 0:
            contact_row(phase, k, -1 - r)
            continue
        room.gap[k], room.rate[first] = joint_row(tables, r, room.J[first])
        room.drift[first] = row_drift(tables, r)


@kernel(f"void(PhaseTables, {A1})", borrows=True)
def rows_of_phase(phase: PhaseTables, y: Array) -> None:
    """Fill in all rows at y = (q, v, ..)."""
    if phase.who == PLANAR:
        planar_table(phase, y)
    else:
        spatial_table(phase, y)


@kernel(f"float64(PhaseTables, float64, {A1}, {A1})", borrows=True)
def force_of_phase(phase: PhaseTables, t: float, y: Array, h: Array) -> float:
    """Fill in the generalised force; return the power of what has no potential, W."""
    nq, nv, planar = phase.nq, phase.nv, phase.planar
    if phase.who == PLANAR:
        return planar_forces(t, y, nv, planar.forces, planar.strength, planar.bodies, h)
    return spatial_forces(phase.mechanism, t, y[:nq], y[nq : nq + nv], h)


@kernel(f"void(PhaseTables, {A1}, {A1})", borrows=True)
def rates_of_places(phase: PhaseTables, y: Array, out: Array) -> None:
    """Fill in dq/dt: v, or for bodies in space (v, 1/2 q (0, w))."""
    nq = phase.nq
    if phase.who == PLANAR:
        for j in range(nq):
            out[j] = y[nq + j]
        return
    for body in range(nq // 7):
        q, v = 7 * body, nq + 6 * body
        for i in range(3):
            out[q + i] = y[v + i]
        a, b, c, d = y[q + 3], y[q + 4], y[q + 5], y[q + 6]
        x, z, w = 0.5 * y[v + 3], 0.5 * y[v + 4], 0.5 * y[v + 5]
        out[q + 3] = -b * x - c * z - d * w
        out[q + 4] = a * x + c * w - d * z
        out[q + 5] = a * z - b * w + d * x
        out[q + 6] = a * w + b * z - c * x


@kernel(f"float64(PhaseTables, {A1})", borrows=True)
def kinetic_of_phase(phase: PhaseTables, v: Array) -> float:
    """Return the kinetic energy, J."""
    energy = 0.0
    if phase.who == PLANAR:
        for j in range(phase.nv):
            energy += 0.5 * v[j] ** 2 / phase.inverse[j, 0]
        return energy
    mass, inertia = phase.mechanism.mass, phase.mechanism.inertia
    for k in range(len(mass)):
        for i in range(3):
            energy += 0.5 * mass[k, 0] * v[6 * k + i] ** 2
            for j in range(3):
                energy += 0.5 * v[6 * k + 3 + i] * inertia[k, i, j] * v[6 * k + 3 + j]
    return energy


@kernel(f"float64(PhaseTables, {A1}, {A1})", borrows=True)
def potential_of_phase(phase: PhaseTables, y: Array, rest: Array) -> float:
    """Return the potential energy, J; `rest` is room for velocities, and bodies in space rest afterwards."""
    planar, nv = phase.planar, phase.nv
    if phase.who == PLANAR:
        return planar_potential(y, nv, planar.forces, planar.strength, planar.bodies)
    for j in range(nv):
        rest[j] = 0.0
    return spatial_potential(phase.mechanism, y[: phase.nq], rest[:nv])
