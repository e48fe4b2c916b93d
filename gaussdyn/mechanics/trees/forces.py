"""What acts on trees beside their own motion, compiled: springs, dampers, lift, fluid, loads, tendons, actuators.

Formulas of MuJoCo's documentation, "Computation": passive forces, the inertia-based fluid model, actuators.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import A1, A2, kernel
from ...arrays import Array
from ..collision.vectors import V3, Vector, along, dot3, three, triple3, turned, turned_back
from .dynamics import add_push, point_velocity
from .forest import (
    BALL,
    BIAS,
    CENTRE,
    CONTROL_HIGH,
    CONTROL_LOW,
    DAMPING,
    DRAG,
    FORCE_HIGH,
    FORCE_LOW,
    FREE,
    FREE_SIDE,
    GAIN,
    KIND,
    LIFT,
    LOSS,
    MASS,
    PULL,
    PUSH,
    PUSHED,
    REST,
    SCALAR,
    SLACK_HIGH,
    SLACK_LOW,
    SPIN_DRAG,
    STIFFNESS,
    TURNED,
    WINDS,
    WITH,
    Drives,
    Moving,
    Q,
    Trees,
    V,
)

ZERO3 = (0.0, 0.0, 0.0)
TURN = 2.0 * math.pi


@kernel(f"{V3}({A1}, int64, {A1}, int64)", borrows=True)
def turn_between(q: Array, i: int, rest: Array, k: int) -> Vector:
    """Return the rotation vector that leads from the quaternion at rest[k] to that at q[i], in their own axes."""
    a, x, b, y = rest[k], three(rest, k + 1), q[i], three(q, i + 1)
    w = a * b + dot3(x, y)
    u = along(along(ZERO3, a, y), -b, x)
    u = (u[0] - (x[1] * y[2] - x[2] * y[1]), u[1] - (x[2] * y[0] - x[0] * y[2]), u[2] - (x[0] * y[1] - x[1] * y[0]))
    sine = math.sqrt(dot3(u, u))
    angle = 2.0 * math.atan2(sine, abs(w))
    scale = angle / sine if sine > 1e-150 else 2.0
    return along(ZERO3, scale if w >= 0.0 else -scale, u)


@kernel(f"float64(Trees, {A1}, {A1})", borrows=True)
def joint_springs(trees: Trees, q: Array, h: Array) -> float:
    """Add the springs of joints; return their energy, J."""
    energy = 0.0
    for j in range(len(trees.joints)):
        kind, i, d, own = trees.joints[j, KIND], trees.joints[j, Q], trees.joints[j, V], trees.springs[j]
        c, at = own[STIFFNESS], REST
        if c == 0.0:
            continue
        if kind == FREE or kind < BALL:
            for k in range(3 if kind == FREE else 1):
                x = q[i + k] - own[REST + k]
                h[d + k] -= c * x
                energy += 0.5 * c * x * x
        if kind == FREE:
            i, d, at = i + 3, d + 3, REST + 3
        if kind >= BALL:
            turn = turn_between(q, i, own, at)
            energy += 0.5 * c * dot3(turn, turn)
            for k in range(3):
                h[d + k] -= c * turn[k]
    return energy


@kernel(f"UniTuple(float64, 2)(Trees, Drives, {A1}, {A1}, int64)", borrows=True, entry=True)
def length_and_rate(trees: Trees, drives: Drives, q: Array, v: Array, line: int) -> tuple[float, float]:
    """Return the length of a line and its rate; of lines through space where `put_paths` has put them."""
    length = rate = 0.0
    for i in range(drives.start[line], drives.start[line + 1]):
        d, factor = drives.dof[i], drives.factor[i]
        at = trees.dofs[d, SCALAR]
        length, rate = length + (factor * q[at] if at >= 0 else 0.0), rate + factor * v[d]
    through_space = drives.paths.start[line + 1] > drives.paths.start[line]
    return drives.paths.length[line] if through_space else length, rate


@kernel(f"void(Drives, int64, float64, {A1})", borrows=True)
def pull_line(drives: Drives, line: int, force: float, h: Array) -> None:
    """Add a force along a line."""
    for i in range(drives.start[line], drives.start[line + 1]):
        h[drives.dof[i]] += force * drives.factor[i]


@kernel(f"UniTuple(float64, 2)(Trees, Drives, {A1}, {A1}, {A1})", borrows=True)
def tendon_forces(trees: Trees, drives: Drives, q: Array, v: Array, h: Array) -> tuple[float, float]:
    """Add what tendons pull with; return the energy of the springs, and the power of all else."""
    energy = power = 0.0
    for k in range(len(drives.tendons)):
        own = drives.tendons[k]
        length, rate = length_and_rate(trees, drives, q, v, k)
        stretch = length - min(max(length, own[SLACK_LOW]), own[SLACK_HIGH])
        if own[WINDS] != 0.0:
            stretch -= TURN * math.floor(stretch / TURN + 0.5)
        supplied = own[PUSH] - own[LOSS] * rate
        pull_line(drives, k, supplied - own[PULL] * stretch, h)
        energy += 0.5 * own[PULL] * stretch * stretch
        power += supplied * rate
    return energy, power


@kernel(f"void(Trees, Moving, {A1})", borrows=True)
def lift_weights(trees: Trees, moving: Moving, h: Array) -> None:
    """Add what lifts part of the weight of bodies."""
    for b in range(len(trees.inertia)):
        own = trees.inertia[b]
        if own[LIFT] != 0.0:
            centre = along(triple3(moving.x[b]), 1.0, turned(moving.R[b], own, CENTRE))
            add_push(trees, moving, b, centre, triple3(trees.gravity), ZERO3, -own[LIFT] * own[MASS], h)


@kernel(f"float64(Trees, Moving, int64, {A1})", borrows=True)
def drag_body(trees: Trees, moving: Moving, b: int, h: Array) -> float:
    """Add the drag of the fluid on a body, taken as the box that has its inertia; return its power."""
    box, R, last = trees.fluid[b], moving.turn[0], trees.fluid[len(trees.inertia)]
    density, viscosity, side = last[0], last[1], three(box, 9)
    for i in range(3):
        for k in range(3):
            R[i, k] = moving.R[b, i, 0] * box[k] + moving.R[b, i, 1] * box[3 + k] + moving.R[b, i, 2] * box[6 + k]
    centre = along(triple3(moving.x[b]), 1.0, turned(moving.R[b], trees.inertia[b], CENTRE))
    u = turned_back(R, point_velocity(trees, moving, b, centre))
    w = turned_back(R, three(moving.speed[b], 0))
    size, out = (side[0] + side[1] + side[2]) / 3.0, moving.wrench[b]
    for i in range(3):
        a, c = side[(i + 1) % 3], side[(i + 2) % 3]
        out[i] = -math.pi * viscosity * size**3 * w[i]
        out[i] -= density * side[i] * (a**4 + c**4) / 64.0 * abs(w[i]) * w[i]
        out[3 + i] = -3.0 * math.pi * viscosity * size * u[i] - 0.5 * density * a * c * abs(u[i]) * u[i]
    force, moment = turned(R, out, 3), turned(R, out, 0)
    add_push(trees, moving, b, centre, force, moment, 1.0, h)
    return dot3(three(out, 3), u) + dot3(three(out, 0), w)


@kernel(f"float64(Trees, Moving, {A1})", borrows=True)
def fluid_forces(trees: Trees, moving: Moving, h: Array) -> float:
    """Add the drag of the fluid on all bodies; return its power."""
    power, last = 0.0, trees.fluid[len(trees.inertia)]
    for b in range(len(trees.inertia) if last[0] > 0.0 or last[1] > 0.0 else 0):
        if trees.fluid[b, 9] > 0.0:
            power += drag_body(trees, moving, b, h)
    return power


@kernel(f"float64(Trees, Moving, float64, {A1})", borrows=True)
def shake_frame(trees: Trees, moving: Moving, t: float, h: Array) -> float:
    """Add the inertial forces of a frame that shakes; return their power."""
    power = 0.0
    for s in range(len(trees.shaking)):
        own = trees.shaking[s]
        now = math.sin(own[3] * t + own[4])
        for b in range(len(trees.inertia)):
            centre = along(triple3(moving.x[b]), 1.0, turned(moving.R[b], trees.inertia[b], CENTRE))
            force = along(ZERO3, -trees.inertia[b, MASS] * now, three(own, 0))
            add_push(trees, moving, b, centre, force, ZERO3, 1.0, h)
            power += dot3(force, point_velocity(trees, moving, b, centre))
    return power


@kernel(f"float64(Trees, Moving, float64, {A1})", borrows=True)
def applied_forces(trees: Trees, moving: Moving, t: float, h: Array) -> float:
    """Add loads, drags and what a frame that shakes exerts; return their power."""
    power = shake_frame(trees, moving, t, h)
    for k in range(len(trees.pushed)):
        b, own = trees.pushed[k], trees.pushes[k]
        point = along(triple3(moving.x[b]), 1.0, turned(moving.R[b], own, PUSHED))
        u, w = point_velocity(trees, moving, b, point), three(moving.speed[b], 0)
        force, moment = along(three(own, WITH), -own[DRAG], u), along(three(own, TURNED), -own[SPIN_DRAG], w)
        add_push(trees, moving, b, point, force, moment, 1.0, h)
        power += dot3(force, u) + dot3(moment, w)
    return power


@kernel(f"UniTuple(float64, 2)(Trees, Drives, {A1}, {A1}, int64)", inline=True, borrows=True)
def actuator_law(trees: Trees, drives: Drives, q: Array, v: Array, k: int) -> tuple[float, float]:
    """Return the force of an actuator along its line without its limits, and by how much it falls with the rate."""
    own, length, rate = drives.actuators[k], 0.0, 0.0
    if own[GAIN + 1] != 0.0 or own[GAIN + 2] != 0.0 or own[BIAS + 1] != 0.0 or own[BIAS + 2] != 0.0:
        length, rate = length_and_rate(trees, drives, q, v, len(drives.tendons) + k)
    control = min(max(drives.control[k], own[CONTROL_LOW]), own[CONTROL_HIGH])
    force = (own[GAIN] + own[GAIN + 1] * length + own[GAIN + 2] * rate) * control
    force += own[BIAS] + own[BIAS + 1] * length + own[BIAS + 2] * rate
    return force, -own[GAIN + 2] * control - own[BIAS + 2]


@kernel(f"float64(Trees, Drives, {A1}, {A1}, int64)", inline=True, borrows=True, entry=True)
def actuator_force(trees: Trees, drives: Drives, q: Array, v: Array, k: int) -> float:
    """Return the force of an actuator along its line, on the side of its limits where a step has it."""
    low, high, side = drives.actuators[k, FORCE_LOW], drives.actuators[k, FORCE_HIGH], drives.side[k]
    if side in (-1, 1):
        return float(high if side == 1 else low)
    force = actuator_law(trees, drives, q, v, k)[0]
    return float(force if side == 0 else min(max(force, low), high))


@kernel(f"void(Trees, Drives, {A1}, {A1}, {A1})", borrows=True)
def sum_actuators(trees: Trees, drives: Drives, q: Array, v: Array, sum_: Array) -> None:
    """Put the sum of the forces of the actuators along each velocity, before its limits."""
    for d in range(len(sum_)):
        sum_[d] = 0.0
    for k in range(len(drives.actuators)):
        pull_line(drives, len(drives.tendons) + k, actuator_force(trees, drives, q, v, k), sum_)


@kernel(f"int64(Trees, Drives, {A1}, {A1}, int64)", borrows=True)
def side_of(trees: Trees, drives: Drives, q: Array, v: Array, k: int) -> int:
    """Return on which side of its limits the force of an actuator is; FREE_SIDE for those that a step leaves alone.

    Those are the ones whose force does not fall with the rate, that act on several velocities, or share an effort.
    """
    own, i = drives.actuators[k], drives.start[len(drives.tendons) + k]
    if own[GAIN + 2] == 0.0 and own[BIAS + 2] >= 0.0:
        return FREE_SIDE
    d = drives.dof[i]
    bounded = drives.effort[d, 0] > -np.inf or drives.effort[d, 1] < np.inf
    force, fall = actuator_law(trees, drives, q, v, k)
    line = len(drives.tendons) + k
    through_space = drives.paths.start[line + 1] > drives.paths.start[line]
    if bounded or through_space or drives.start[line + 1] != i + 1 or not fall > 0.0:
        return FREE_SIDE
    return 1 if force >= own[FORCE_HIGH] else -1 if force <= own[FORCE_LOW] else 0


@kernel("void(Drives)", borrows=True, rare=True)
def leave_drives(drives: Drives) -> None:
    """Put no drive beside the mass, and none on a side: what they were under another control says nothing."""
    for k in range(len(drives.beside)):
        drives.beside[k], drives.side[k] = 0.0, FREE_SIDE


@kernel(f"boolean(Trees, Drives, {A1}, {A1}, float64, boolean, {A2})", borrows=True, rare=True)
def drives_beside(trees: Trees, drives: Drives, q: Array, v: Array, way: float, one: bool, M: Array) -> bool:
    """Put on which side of their limits drives are at (q, v), and beside the mass what falls; return if that is new.

    M gains `way` times the fall of those in between, and loses what it had of it. `one`: only the first that changes,
    which ends for any mass (K. G. Murty, Linear Complementarity, 1988, 3.2), where all at once may go round in circles.
    """
    new = False
    for k in range(len(drives.actuators)):
        side = side_of(trees, drives, q, v, k)
        if side == -drives.side[k]:  # from one limit to the other it comes through what is in between
            side = 0
        if side == drives.side[k]:
            continue
        i = drives.start[len(drives.tendons) + k]
        fall = actuator_law(trees, drives, q, v, k)[1] if side == 0 else 0.0
        M[drives.dof[i], drives.dof[i]] += way * (fall - drives.beside[k]) * drives.factor[i] ** 2
        drives.beside[k], drives.side[k], new = fall, side, True
        if one:
            break
    return new


@kernel(f"float64(Trees, Drives, {A1}, {A1}, {A1}, {A1}, {A1})", borrows=True, entry=True)
def actuator_forces(
    trees: Trees, drives: Drives, q: Array, v: Array, damped: Array, sum_: Array, h: Array
) -> float:  # fmt: skip
    """Add the forces of the actuators, whose sum along each velocity is put into `sum_`; return their power.

    Of those that a step has beside the mass the force is what they have at `damped`, and M has the rest: with the fall
    c and the mean velocity v_m = (1 - theta) v + theta v+, M (v+ - v) = dt f(v_m) is, for v_m near w,
    (M + theta dt c) (v+ - v) = dt (f(w) + c (w - v)).
    """
    power, first = 0.0, len(drives.tendons)
    sum_actuators(trees, drives, q, v, sum_)
    for k in range(len(drives.actuators)):
        i = drives.start[first + k]
        if drives.beside[k] != 0.0:
            d = drives.dof[i]
            h[d] += drives.beside[k] * drives.factor[i] ** 2 * (v[d] - damped[d])
    for d in range(len(h)):
        sum_[d] = min(max(sum_[d], drives.effort[d, 0]), drives.effort[d, 1])
        force = sum_[d] + drives.push[d]
        h[d] += force
        power += force * v[d]
    return power


@kernel(f"float64(Trees, {A1}, {A1})", borrows=True)
def joint_dampers(trees: Trees, v: Array, h: Array) -> float:
    """Add the dampers of joints; return their power."""
    power = 0.0
    for d in range(len(v)):
        force = -trees.losses[d, DAMPING] * v[d]
        h[d] += force
        power += force * v[d]
    return power
