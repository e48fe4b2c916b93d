"""Limits, dry friction, motors, gears and closed loops of trees as rows, compiled.

Every row comes as (gap, rate, drift), its second rate being J a + drift.
"""

from __future__ import annotations

import math

from ..._jit import A1, A2, I1, kernel
from ...arrays import Array, IntArray
from ..collision.vectors import V3, Vector, along, cross3, dot3, three, triple3, turned, turned_by
from .dynamics import add_push, point_drift, point_velocity
from .forces import ZERO3, length_and_rate, pull_line, turn_between
from .forest import (
    ABOVE,
    EQUAL,
    FACE,
    LAST,
    LEAN,
    MEET,
    ONE,
    OTHER,
    PACE,
    PART,
    PLANE,
    ROOT,
    RUB,
    SCALAR,
    SHARED,
    SPACE,
    SWING,
    TAUT,
    WHAT,
    Couplings,
    Drives,
    Forest,
    Moving,
    Q,
    Trees,
    V,
)
from .joint_turns import turn_of
from .paths import path_drift

STRAIGHT = 1e-12  # rad; below, the direction of the turn of a ball means nothing


@kernel(f"{V3}({A1}, float64)", borrows=True)
def polynomial(c: Array, x: float) -> Vector:
    """Return c0 + c1 x + .. + c4 x^4 and its two derivatives."""
    value = slope = bend = 0.0
    for k in range(4, -1, -1):
        value, slope, bend = value * x + c[k], slope * x + value, bend * x + 2.0 * slope
    return value, slope, bend


@kernel(f"UniTuple(float64, 2)(Trees, Drives, Couplings, {A1}, {A1}, int64)", borrows=True)
def steady_row(
    trees: Trees, drives: Drives, couplings: Couplings, q: Array, v: Array, k: int
) -> tuple[float, float]:  # fmt: skip
    """Return gap and rate of a limit of a line, or of dry friction along one."""
    one = couplings.kinds[k, ONE]
    if one < 0:
        return 0.0, v[couplings.kinds[k, OTHER]] - couplings.numbers[k, 0]
    length, rate = length_and_rate(trees, drives, q, v, one)
    if couplings.kinds[k, WHAT] == RUB:
        return 0.0, rate - couplings.numbers[k, 0]
    sign = couplings.numbers[k, 0]
    return sign * length - couplings.numbers[k, 1], sign * rate


@kernel(f"void(Forest, {A1}, {A1}, {I1}, {A1}, {A1})", borrows=True)
def steady_rows(forest: Forest, q: Array, v: Array, row: IntArray, gap: Array, rate: Array) -> None:
    """Put gaps, and rates at `row`, of all rows for which `steady_row` does it one by one."""
    kinds, numbers, dofs = forest.couplings.kinds, forest.couplings.numbers, forest.trees.dofs
    start, dof, factor = forest.drives.start, forest.drives.dof, forest.drives.factor
    last, length, pace = -1, 0.0, 0.0
    for k in range(len(kinds)):
        if kinds[k, WHAT] > RUB:
            continue
        one = kinds[k, ONE]
        if one < 0:
            gap[k], rate[row[k]] = 0.0, v[kinds[k, OTHER]] - numbers[k, 0]
            continue
        if one != last:  # the two limits of a joint come one after the other
            last, length, pace, i = one, 0.0, 0.0, start[one]
            while i < start[one + 1]:
                d, at = dof[i], dofs[dof[i], SCALAR]
                length, pace = length + (factor[i] * q[at] if at >= 0 else 0.0), pace + factor[i] * v[d]
                i += 1
        if kinds[k, WHAT] == RUB:
            gap[k], rate[row[k]] = 0.0, pace - numbers[k, 0]
        else:
            gap[k], rate[row[k]] = numbers[k, 0] * length - numbers[k, 1], numbers[k, 0] * pace


@kernel(f"void(Forest, {A1}, {A1})", borrows=True)
def steady_gaps(forest: Forest, q: Array, gap: Array) -> None:
    """Put the gaps of `steady_rows` that change: those of limits."""
    kinds, numbers, dofs = forest.couplings.kinds, forest.couplings.numbers, forest.trees.dofs
    start, dof, factor = forest.drives.start, forest.drives.dof, forest.drives.factor
    last, length = -1, 0.0
    for k in range(len(kinds)):
        if kinds[k, WHAT] >= RUB:
            continue
        if kinds[k, ONE] != last:
            last, length = kinds[k, ONE], 0.0
            for i in range(start[last], start[last + 1]):
                at = dofs[dof[i], SCALAR]
                length += factor[i] * q[at] if at >= 0 else 0.0
        gap[k] = numbers[k, 0] * length - numbers[k, 1]


@kernel(f"{V3}(Forest, {A1}, {A1}, int64, {A1})", borrows=True)
def line_row(forest: Forest, q: Array, v: Array, k: int, J: Array) -> Vector:
    """Add J of a row along lines; return gap, rate and drift."""
    trees, moving, drives, couplings = forest.trees, forest.moving, forest.drives, forest.couplings
    what, one, other = couplings.kinds[k, WHAT], couplings.kinds[k, ONE], couplings.kinds[k, OTHER]
    numbers = couplings.numbers[k]
    if what == EQUAL:
        length, rate = length_and_rate(trees, drives, q, v, one)
        pull_line(drives, one, 1.0, J)
        y, speed = numbers[1], 0.0
        if other >= 0:
            y, speed = length_and_rate(trees, drives, q, v, other)
        value, slope, bend = polynomial(numbers[2:7], y - numbers[1])
        if other >= 0:
            pull_line(drives, other, -slope, J)
        drift = path_drift(trees, moving, drives, one) - bend * speed * speed
        if other >= 0:
            drift -= slope * path_drift(trees, moving, drives, other)
        return length - numbers[0] - value, rate - slope * speed, drift
    if one < 0:
        J[other] += 1.0
    else:
        pull_line(drives, one, 1.0 if what == RUB else numbers[0], J)
    gap, rate = steady_row(trees, drives, couplings, q, v, k)
    return gap, rate, numbers[0] * path_drift(trees, moving, drives, one) if what == TAUT else 0.0


@kernel(f"{V3}(Couplings, {A1}, int64, {A1})", borrows=True)
def pace_row(couplings: Couplings, v: Array, k: int, J: Array) -> Vector:
    """Add J of a velocity that is kept, or bound to another; return gap, rate (the same) and drift."""
    one, other, numbers = couplings.kinds[k, ONE], couplings.kinds[k, OTHER], couplings.numbers[k]
    J[one] += 1.0
    rate = v[one] - numbers[0]
    if other >= 0:
        J[other] -= numbers[1]
        rate -= numbers[1] * v[other]
    return rate, rate, 0.0


@kernel(f"{V3}(Trees, Couplings, {A1}, {A1}, int64, {A1})", borrows=True)
def swing_row(trees: Trees, couplings: Couplings, q: Array, v: Array, k: int, J: Array) -> Vector:
    """Add J of the limit of a ball's angle; return gap, rate and drift."""
    j = couplings.kinds[k, ONE]
    d, most = trees.joints[j, V], couplings.numbers[k, 0]
    turn = turn_between(q, trees.joints[j, Q], couplings.numbers[k], 1)
    angle = math.sqrt(dot3(turn, turn))
    if angle < STRAIGHT:
        return most - angle, 0.0, 0.0
    omega, rate = three(v, d), dot3(turn, three(v, d)) / angle
    for i in range(3):
        J[d + i] -= turn[i] / angle
    return most - angle, -rate, -0.5 / math.tan(0.5 * angle) * (dot3(omega, omega) - rate * rate)


@kernel(f"void(Trees, Moving, int64, int64, {V3}, {V3}, float64, {A1})", borrows=True)
def add_branch(
    trees: Trees, moving: Moving, b: int, c: int, point: Vector, axis: Vector, sign: float, J: Array
) -> None:  # fmt: skip
    """Add, sign times, how fast a point of body b goes along an axis as body c sees it, on the way to b."""
    arm = along(point, -1.0, triple3(moving.x[trees.bodies[b, ROOT]]))
    k, end = trees.bodies[b, LAST], trees.bodies[c, LAST]
    while k != end:
        S = moving.S[k]
        J[k] += sign * dot3(axis, along(three(S, 3), 1.0, cross3(three(S, 0), arm)))
        k = trees.dofs[k, ABOVE]


@kernel(f"UniTuple({V3}, 3)(Moving, Couplings, int64)", inline=True, borrows=True)
def meeting(moving: Moving, couplings: Couplings, k: int) -> tuple[Vector, Vector, Vector]:
    """Return the axis along which the distance of two points is a row, and these points."""
    a, b, i, c = (
        couplings.kinds[k, ONE], couplings.kinds[k, OTHER], couplings.kinds[k, PART], couplings.kinds[k, SHARED],
    )  # fmt: skip
    at_a = along(triple3(moving.x[a]), 1.0, turned(moving.R[a], couplings.numbers[k], 0))
    at_b = along(triple3(moving.x[b]), 1.0, turned(moving.R[b], couplings.numbers[k], 3))
    if i >= SPACE:
        i -= SPACE
        return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0), at_a, at_b
    return (moving.R[c, 0, i], moving.R[c, 1, i], moving.R[c, 2, i]), at_a, at_b


@kernel(f"float64(Trees, Moving, Couplings, int64, boolean, {A1})", borrows=True)
def meet_gap(trees: Trees, moving: Moving, couplings: Couplings, k: int, normal: bool, J: Array) -> float:
    """Return the gap of `meet_row`; with `normal` put its J, whose other entries are zero, too."""
    a, b, c = couplings.kinds[k, ONE], couplings.kinds[k, OTHER], couplings.kinds[k, SHARED]
    axis, at_a, at_b = meeting(moving, couplings, k)
    if normal:
        for j in range(len(J)):
            J[j] = 0.0
        add_branch(trees, moving, a, c, at_a, axis, 1.0, J)
        add_branch(trees, moving, b, c, at_b, axis, -1.0, J)
    return float(dot3(axis, along(at_a, -1.0, at_b)))


@kernel(f"{V3}(Trees, Moving, Couplings, int64, {A1})", borrows=True)
def meet_row(trees: Trees, moving: Moving, couplings: Couplings, k: int, J: Array) -> Vector:
    """Add J of a component of the distance of two points; return gap, rate and drift.

    As the body sees it that both branches begin at: what moves that body does not appear, wherever the points are, and
    rows of one loop depend on one another off the closed loop as they do on it.
    """
    a, b, c = couplings.kinds[k, ONE], couplings.kinds[k, OTHER], couplings.kinds[k, SHARED]
    axis, at_a, at_b = meeting(moving, couplings, k)
    add_branch(trees, moving, a, c, at_a, axis, 1.0, J)
    add_branch(trees, moving, b, c, at_b, axis, -1.0, J)
    w, d = three(moving.speed[c], 0), along(at_a, -1.0, at_b)
    u = along(point_velocity(trees, moving, a, at_a), -1.0, point_velocity(trees, moving, b, at_b))
    gain = along(point_drift(trees, moving, a, at_a), -1.0, point_drift(trees, moving, b, at_b))
    gain = along(gain, -1.0, cross3(three(moving.bias[c], 0), d))
    seen = along(u, -1.0, cross3(w, d))
    gain = along(gain, -1.0, cross3(w, along(u, 1.0, seen)))
    return dot3(axis, d), dot3(axis, seen), dot3(axis, gain)


@kernel(f"{V3}({A2}, {A2}, {A2}, {A2})", borrows=True)
def half_turn(RA: Array, RB: Array, T: Array, D: Array) -> Vector:
    """Put D = RB^T RA T^T; return the vector part of its quaternion."""
    for i in range(3):
        for k in range(3):
            D[i, k] = 0.0
            for j in range(3):
                for l in range(3):
                    D[i, k] += RB[j, i] * RA[j, l] * T[k, l]
    w = 0.5 * math.sqrt(max(1.0 + D[0, 0] + D[1, 1] + D[2, 2], 1e-300))
    c = 0.25 / w
    return c * (D[2, 1] - D[1, 2]), c * (D[0, 2] - D[2, 0]), c * (D[1, 0] - D[0, 1])


@kernel(f"{V3}(Trees, Moving, Couplings, int64, {A1})", borrows=True)
def face_row(trees: Trees, moving: Moving, couplings: Couplings, k: int, J: Array) -> Vector:
    """Add J of twice a component of the quaternion by which a turn is off; return gap, rate and drift."""
    a, b, axis = couplings.kinds[k, ONE], couplings.kinds[k, OTHER], three(couplings.numbers[k], 4)
    turn_of(couplings.numbers[k], 0, moving.turn[0])
    u = half_turn(moving.R[a], moving.R[b], moving.turn[0], moving.turn[1])
    w = math.sqrt(max(1.0 - dot3(u, u), 0.0))
    off = dot3(axis, u)
    g = along(cross3(u, axis), w, axis)
    n = turned_by(moving.R[b], g)
    add_push(trees, moving, a, triple3(moving.x[a]), ZERO3, n, 1.0, J)
    add_push(trees, moving, b, triple3(moving.x[b]), ZERO3, n, -1.0, J)
    wa, wb = three(moving.speed[a], 0), three(moving.speed[b], 0)
    spin = along(wa, -1.0, wb)
    gain = along(along(three(moving.bias[a], 0), -1.0, three(moving.bias[b], 0)), -1.0, cross3(wb, spin))
    return 2.0 * off, dot3(n, spin), dot3(n, gain) - 0.5 * dot3(spin, spin) * off


@kernel(f"{V3}(Trees, Moving, Couplings, int64, {A1})", borrows=True)
def lean_row(trees: Trees, moving: Moving, couplings: Couplings, k: int, J: Array) -> Vector:
    """Add J of the cosine between a direction of one body and one of another; return gap, rate and drift."""
    a, b = couplings.kinds[k, ONE], couplings.kinds[k, OTHER]
    n, m = turned(moving.R[a], couplings.numbers[k], 0), turned(moving.R[b], couplings.numbers[k], 3)
    wa, wb, across = three(moving.speed[a], 0), three(moving.speed[b], 0), cross3(n, m)
    add_push(trees, moving, a, triple3(moving.x[a]), ZERO3, across, 1.0, J)
    add_push(trees, moving, b, triple3(moving.x[b]), ZERO3, across, -1.0, J)
    turn_n, turn_m = cross3(wa, n), cross3(wb, m)
    drift = dot3(across, along(three(moving.bias[a], 0), -1.0, three(moving.bias[b], 0)))
    drift += dot3(cross3(wa, turn_n), m) + dot3(n, cross3(wb, turn_m)) + 2.0 * dot3(turn_n, turn_m)
    return dot3(n, m), dot3(across, along(wa, -1.0, wb)), drift


@kernel(f"{V3}(Trees, Moving, Couplings, int64, {A1})", borrows=True)
def plane_row(trees: Trees, moving: Moving, couplings: Couplings, k: int, J: Array) -> Vector:
    """Add J of the distance of a point of one body from a plane of another; return gap, rate and drift."""
    a, b, numbers = couplings.kinds[k, ONE], couplings.kinds[k, OTHER], couplings.numbers[k]
    n, at_b = turned(moving.R[b], numbers, 3), triple3(moving.x[b])
    at_a = along(triple3(moving.x[a]), 1.0, turned(moving.R[a], numbers, 0))
    add_push(trees, moving, a, at_a, n, ZERO3, 1.0, J)
    add_push(trees, moving, b, at_a, n, ZERO3, -1.0, J)  # as b carries the point along
    spin, d = three(moving.speed[b], 0), along(at_a, -1.0, at_b)
    swing = cross3(spin, n)
    u = along(point_velocity(trees, moving, a, at_a), -1.0, point_velocity(trees, moving, b, at_b))
    gain = along(point_drift(trees, moving, a, at_a), -1.0, point_drift(trees, moving, b, at_b))
    turn = along(cross3(spin, swing), 1.0, cross3(three(moving.bias[b], 0), n))
    drift = dot3(n, gain) + 2.0 * dot3(swing, u) + dot3(d, turn)
    return dot3(n, d) - numbers[6], dot3(n, u) + dot3(swing, d), drift


@kernel(f"{V3}(Forest, {A1}, {A1}, int64, {A1})", borrows=True)
def coupling_row(forest: Forest, q: Array, v: Array, k: int, J: Array) -> Vector:
    """Put J of row k at (q, v), where the bodies have been put; return gap, rate and drift."""
    trees, moving, couplings = forest.trees, forest.moving, forest.couplings
    for j in range(len(J)):
        J[j] = 0.0
    what = couplings.kinds[k, WHAT]
    if what == SWING:
        return swing_row(trees, couplings, q, v, k, J)
    if what == MEET:
        return meet_row(trees, moving, couplings, k, J)
    if what == FACE:
        return face_row(trees, moving, couplings, k, J)
    if what == LEAN:
        return lean_row(trees, moving, couplings, k, J)
    if what == PACE:
        return pace_row(couplings, v, k, J)
    if what == PLANE:
        return plane_row(trees, moving, couplings, k, J)
    return line_row(forest, q, v, k, J)
