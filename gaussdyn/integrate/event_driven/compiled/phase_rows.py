"""What a system says at one state of a phase, compiled: the only place where kinds of system differ.

Rows with gap, rate, drift (second rates are J a + drift) and J, the generalised force, and the rates of coordinates.
"""

from __future__ import annotations

from ...._jit import A1, kernel
from ....arrays import Array
from ....linalg.dense import cholesky_upper
from ....mechanics.collision.feature_kinematics import (
    RigidMotion,
    axis_of_row,
    contact_frame,
    feature_motion,
    rates_and_drifts,
)
from ....mechanics.collision.vectors import along, cross3, dot3, triple3
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
from ....mechanics.trees.dynamics import add_push, point_drift
from ....mechanics.trees.forest import FREE, KIND, SLIDE, Q, V
from ....mechanics.trees.frames import frame_speeds
from ....mechanics.trees.kinematics import put3
from ....mechanics.trees.motion import forest_forces, forest_mass, put_forest
from ....mechanics.trees.row_kernels import coupling_row
from ...time_stepping.core.evaluate import ask, run
from .records import FOREST, FUNCTION, LIMIT, PLANAR, SPATIAL, PhaseTables

POWER = 2  # of the energies of a function, see `lagrangian.Layout`


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


@kernel("void(PhaseTables, int64, int64, int64, float64)", borrows=True)
def push_apart(phase: PhaseTables, k: int, c: int, b: int, sign: float) -> None:
    """Add the part of body b to J of constraint k, which is contact c, and to its drift that of its turning."""
    tables, forest, room, n, first = phase.mechanism, phase.forest, phase.room, phase.size[k], phase.start[k]
    point = triple3(phase.touches.moved[4:7])
    arm = along(point, -1.0, triple3(tables.x[b]))
    for i in range(n):
        t, J = triple3(phase.touches.frame[c, axis_of_row(i, n)]), room.J[first + i]
        push, turn = (t, ZERO) if i < 3 else (ZERO, t)
        if phase.who == SPATIAL:
            add_wrench(tables, b, sign, push, along(cross3(arm, push), 1.0, turn), J)
        else:
            add_push(forest.trees, forest.moving, b, point, push, turn, sign, J)
            turning = triple3(forest.moving.bias[b])
            room.drift[first + i] += sign * (dot3(push, cross3(turning, arm)) + dot3(turn, turning))


@kernel("void(PhaseTables, int64, int64)", borrows=True)
def contact_row(phase: PhaseTables, k: int, c: int) -> None:
    """Fill in constraint k, which is contact c between bodies in space; its rows of J hold zeros."""
    tables, touches, room = phase.mechanism, phase.touches, phase.room
    a, b = touches.bodies[c, 0] % len(tables.x), touches.bodies[c, 1] % len(tables.x)
    moved, frame, first, n = touches.moved, touches.frame[c], phase.start[k], phase.size[k]
    A = RigidMotion(tables.x[a], tables.R[a], tables.velocity[a], tables.omega[a], touches.drift[a])
    B = RigidMotion(tables.x[b], tables.R[b], tables.velocity[b], tables.omega[b], touches.drift[b])
    feature_motion(phase.kind[c], touches.data[c], A, B, moved)
    contact_frame(touches.chart[c], moved[1:4], moved[7:10], frame)
    room.gap[k] = moved[0]
    rates_and_drifts(A, B, moved, frame, room.rate[first : first + n], room.drift[first : first + n])
    push_apart(phase, k, c, a, 1.0)
    push_apart(phase, k, c, b, -1.0)


@kernel(f"void(PhaseTables, {A1})", borrows=True)
def put_trees(phase: PhaseTables, y: Array) -> None:
    """Put the bodies of trees where they are."""
    forest, tables, nq, nv = phase.forest, phase.mechanism, phase.nq, phase.nv
    put_forest(forest, y[:nq], y[nq : nq + nv])
    frame_speeds(forest, tables.velocity, tables.omega)
    for b in range(len(tables.x)):
        put3(phase.touches.drift[b], point_drift(forest.trees, forest.moving, b, triple3(tables.x[b])))


@kernel(f"void(PhaseTables, {A1})", borrows=True)
def spatial_table(phase: PhaseTables, y: Array) -> None:
    """Fill in the rows of bodies in space, or of trees."""
    tables, room, nq, nv = phase.mechanism, phase.room, phase.nq, phase.nv
    q, v = y[:nq], y[nq : nq + nv]
    if phase.who == SPATIAL:
        put_bodies(tables, q, v)
    else:
        put_trees(phase, y)
    for k in range(len(phase.start)):
        first, r = phase.start[k], phase.touches.joint[k]
        for i in range(first, first + phase.size[k]):
            for j in range(nv):
                room.J[i, j] = 0.0
        if r < 0:
            contact_row(phase, k, -1 - r)
        elif phase.who == SPATIAL:
            room.gap[k], room.rate[first] = joint_row(tables, r, room.J[first])
            room.drift[first] = row_drift(tables, r)
        else:
            room.gap[k], room.rate[first], room.drift[first] = coupling_row(phase.forest, q, v, r, room.J[first])


@kernel(f"boolean(PhaseTables, float64, {A1})", borrows=True)
def evaluated(phase: PhaseTables, t: float, y: Array) -> bool:
    """Have the function of a system fill in `out`; False where Python fails, which `answer` tells, too."""
    function, nq, nv = phase.function, phase.nq, phase.nv
    q, v = y[:nq], y[nq : nq + nv]
    if function.address != 0:
        run(function.address, t, q, v, function.control, function.params, function.out)
        return True
    found = ask(phase.callback, 0, t, q, v)
    phase.callback.answer[0] = 0.0 if found else 1.0
    return found


@kernel(f"boolean(PhaseTables, float64, {A1})", borrows=True)
def function_table(phase: PhaseTables, t: float, y: Array) -> bool:
    """Fill in rows of a function, and coefficients of friction, which may depend on the state; False: one is bad."""
    if not evaluated(phase, t, y):
        return False
    room, held, nv, out, place = phase.room, phase.held, phase.nv, phase.function.out, phase.function.place
    for k in range(len(place)):
        room.gap[k], first = out[place[k, 0]], phase.start[k]
        for i in range(phase.size[k]):
            room.rate[first + i], room.drift[first + i] = out[place[k, 2] + i], out[place[k, 3] + i]
            for j in range(nv):
                room.J[first + i, j] = out[place[k, 1] + i * nv + j]
    good = True
    for p in range(len(held.slips)):
        good = good and out[phase.function.pull_at[p]] >= 0.0
        held.pull[p, 0] = phase.function.pull_sign[p] * out[phase.function.pull_at[p]]
    for w in range(len(held.guards)):
        if phase.function.limit_at[w] >= 0:
            held.limits[w, LIMIT] = out[phase.function.limit_at[w]]
            good = good and held.limits[w, LIMIT] >= 0.0
    return good


@kernel(f"boolean(PhaseTables, float64, {A1})", borrows=True)
def rows_of_phase(phase: PhaseTables, t: float, y: Array) -> bool:
    """Fill in all rows at y = (q, v, ..); False where a function in Python fails."""
    if phase.who == PLANAR:
        planar_table(phase, y)
    elif phase.who == FUNCTION:
        return function_table(phase, t, y)
    else:
        spatial_table(phase, y)
    return True


@kernel(f"boolean(PhaseTables, {A1})", borrows=True)
def mass_of_phase(phase: PhaseTables, y: Array) -> bool:
    """Put the mass and its factor where they depend on the place, after `rows_of_phase`; False: it has none."""
    if phase.who < FOREST:
        return True
    if phase.who == FOREST:
        forest_mass(phase.forest, y[: phase.nq], phase.mass)
    else:
        for i in range(phase.nv):
            for j in range(phase.nv):
                phase.mass[i, j] = phase.function.out[i * phase.nv + j]
    return bool(cholesky_upper(phase.mass, phase.inverse) < 0)


@kernel(f"float64(PhaseTables, {A1}, {A1})", borrows=True)
def pushed(phase: PhaseTables, v: Array, h: Array) -> float:
    """Add a control to the force; return its power, W."""
    power = 0.0
    for j in range(phase.nv):
        h[j] += phase.push[j]
        power += phase.push[j] * v[j]
    return power


@kernel(f"float64(PhaseTables, float64, {A1}, {A1})", borrows=True)
def force_of_phase(phase: PhaseTables, t: float, y: Array, h: Array) -> float:
    """Fill in the generalised force, after `rows_of_phase`; return the power of what has no potential, W."""
    nq, nv, planar, out = phase.nq, phase.nv, phase.planar, phase.function.out
    q, v = y[:nq], y[nq : nq + nv]
    if phase.who == PLANAR:
        return planar_forces(t, y, nv, planar.forces, planar.strength, planar.bodies, h)
    if phase.who == SPATIAL:
        return spatial_forces(phase.mechanism, t, q, v, h)
    if phase.who == FOREST:
        return forest_forces(phase.forest, t, q, v, v, h) + pushed(phase, v, h)
    for j in range(nv):
        h[j] = out[nv * nv + j]
    return float(out[nv * nv + nv + POWER]) + pushed(phase, v, h)


@kernel(f"void({A1}, int64, {A1}, int64, {A1})", borrows=True)
def rate_of_turn(q: Array, i: int, v: Array, j: int, out: Array) -> None:
    """Fill in the rate 1/2 q (0, w) of a quaternion q[i:i + 4], w = v[j:j + 3]."""
    a, b, c, d = q[i], q[i + 1], q[i + 2], q[i + 3]
    x, z, w = 0.5 * v[j], 0.5 * v[j + 1], 0.5 * v[j + 2]
    out[i] = -b * x - c * z - d * w
    out[i + 1] = a * x + c * w - d * z
    out[i + 2] = a * z - b * w + d * x
    out[i + 3] = a * w + b * z - c * x


@kernel(f"void(PhaseTables, {A1}, {A1})", borrows=True)
def rates_of_joints(phase: PhaseTables, y: Array, out: Array) -> None:
    """Fill in dq/dt of trees."""
    joints, nq = phase.forest.trees.joints, phase.nq
    for k in range(len(joints)):
        kind, i, j = joints[k, KIND], joints[k, Q], nq + joints[k, V]
        if kind <= SLIDE:
            out[i] = y[j]
            continue
        for c in range(3 if kind == FREE else 0):
            out[i + c] = y[j + c]
        beside = 3 if kind == FREE else 0
        rate_of_turn(y, i + beside, y, j + beside, out)


@kernel(f"void(PhaseTables, {A1}, {A1})", borrows=True)
def rates_of_places(phase: PhaseTables, y: Array, out: Array) -> None:
    """Fill in dq/dt: v, or for bodies in space (v, 1/2 q (0, w))."""
    nq, at = phase.nq, phase.function.qdot
    if phase.who == FOREST:
        rates_of_joints(phase, y, out)
    elif phase.who == SPATIAL:
        for body in range(nq // 7):
            q, v = 7 * body, nq + 6 * body
            for i in range(3):
                out[q + i] = y[v + i]
            rate_of_turn(y, q + 3, y, v + 3, out)
    else:
        for j in range(nq):
            out[j] = phase.function.out[at + j] if phase.who == FUNCTION and at >= 0 else y[nq + j]


@kernel(f"float64(PhaseTables, {A1})", borrows=True)
def kinetic_of_phase(phase: PhaseTables, v: Array) -> float:
    """Return the kinetic energy with the last mass, J."""
    energy, b = 0.0, phase.mass.shape[1]
    for j in range(phase.nv):
        first = (j // b) * b
        for i in range(b):
            energy += 0.5 * v[j] * phase.mass[j, i] * v[first + i]
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
