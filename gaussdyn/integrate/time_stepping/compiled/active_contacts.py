"""Which contacts of free bodies act within a step, compiled; the rules are those of `closing`."""

from __future__ import annotations

from ...._jit import A1, A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....mechanics.collision.feature_kinematics import contact_frame, feature_geometry
from .records import ACTS, LATE, BodySpan, Features, Index, Poses

CLOSE = 1e-11  # m; as in `projection`
TOGETHER = 1e-6  # of a step; as in `closing`


@kernel(f"void({A1}, {I1}, int64, {A2}, {A3}, {A1})", borrows=True)
def normal_row(geometry: Array, bodies: IntArray, side: int, x: Array, R: Array, row: Array) -> None:
    """Put the six entries of J_N that belong to one body, the moment in body axes."""
    i, s = bodies[side], 1.0 - 2.0 * side
    r0, r1, r2 = geometry[4] - x[i, 0], geometry[5] - x[i, 1], geometry[6] - x[i, 2]
    n0, n1, n2 = s * geometry[1], s * geometry[2], s * geometry[3]
    m0, m1, m2 = r1 * n2 - r2 * n1, r2 * n0 - r0 * n2, r0 * n1 - r1 * n0
    row[0], row[1], row[2] = n0, n1, n2
    for k in range(3):
        row[3 + k] = R[i, 0, k] * m0 + R[i, 1, k] * m1 + R[i, 2, k] * m2


@kernel(f"float64({A1}, {I1}, {A2}, {A3}, {A2}, {A1})", borrows=True)
def approach(geometry: Array, bodies: IntArray, x: Array, R: Array, v: Array, row: Array) -> float:
    """Return the rate of a gap; v (n, 6) with spins in body axes; row (6,) is work space."""
    rate = 0.0
    for side in range(2):
        if bodies[side] >= 0:
            normal_row(geometry, bodies, side, x, R, row)
            for k in range(6):
                rate += row[k] * v[bodies[side], k]
    return rate


@kernel(f"void({A1}, {I1}, {A2}, {A2}, {A2}, {A1})", borrows=True)
def rates_at(geometry: Array, bodies: IntArray, x: Array, v: Array, frame: Array, rate: Array) -> None:
    """Put the relative velocity along N, T1, T2; v (n, 6) with spins in space; frame is work space."""
    r0, r1, r2 = geometry[4], geometry[5], geometry[6]
    y0 = y1 = y2 = 0.0
    for side in range(2):
        i = bodies[side]
        if i >= 0:
            s, a0, a1, a2 = 1.0 - 2.0 * side, r0 - x[i, 0], r1 - x[i, 1], r2 - x[i, 2]
            y0 += s * (v[i, 0] + v[i, 4] * a2 - v[i, 5] * a1)
            y1 += s * (v[i, 1] + v[i, 5] * a0 - v[i, 3] * a2)
            y2 += s * (v[i, 2] + v[i, 3] * a1 - v[i, 4] * a0)
    for k in range(3):
        rate[k] = 0.0
    contact_frame(geometry[1:4], rate, frame)
    for k in range(3):
        rate[k] = frame[k, 0] * y0 + frame[k, 1] * y1 + frame[k, 2] * y2


@kernel(f"void(int64, Features, Poses, {A2}, Index, float64, {A1})", borrows=True)
def restitution(f: int, features: Features, poses: Poses, v: Array, index: Index, speed: float, rate: Array) -> None:
    """Put gap and rates at the start, and the restitution term, of one feature; v with spins in space at the start."""
    x, R, geometry, frame, _moved, _rows = poses
    pair, begin, law = features.bodies[f], geometry[0, f], features.law
    a, b = pair[0], pair[1]
    feature_geometry(features.kind[f], features.data[f], x[0, a], R[0, a], x[0, b], R[0, b], begin)
    rates_at(begin, pair, x[0], v, frame, rate)
    if rate[0] < -speed:
        index.bounce[f, 0] = law[f, 1] * rate[0]
        index.bounce[f, 1], index.bounce[f, 2] = law[f, 2] * rate[1], law[f, 2] * rate[2]


@kernel(f"int64(int64, Features, Poses, Index, {A2}, {A2}, {A2}, {A2}, float64, BodySpan)", borrows=True)
def find_acting(
    n: int, features: Features, poses: Poses, index: Index, impulse: Array, v: Array, free: Array, turned: Array,
    rest: float, span: BodySpan,
) -> int:  # fmt: skip
    """Mark the features that act from the beginning of the step, and their restitution terms; return how many changed.

    v, free: velocity at the start and without reactions, spins in body axes; turned: v with spins in space at the
    start. span = (t, dt, t_end, theta, gap, speed).
    """
    x, R, geometry, _frame, _moved, rows = poses
    law, numbers, bounce = features.law, index.marks, index.bounce
    row, rate, zero = rows[0], rows[2], span.gap
    changed = 0
    for f in range(n):
        pair, at = features.bodies[f], geometry[1, f]
        for k in range(3):
            bounce[f, k] = 0.0
        before = at[0] - rest * approach(at, pair, x[1], R[1], v, row)
        closed = before <= zero and at[0] <= zero
        if not closed and impulse[f, 0] > 0.0:
            reach = 0.0
            for side in range(2):
                i = pair[side]
                if i >= 0:
                    normal_row(at, pair, side, x[1], R[1], row)
                    for k in range(6):
                        reach += span.dt * abs(row[k]) * (abs(v[i, k]) + abs(free[i, k]))
            closed = before <= zero + reach
        doubt = not closed and min(before, at[0]) <= zero
        if doubt or (closed and (law[f, 1] != 0.0 or law[f, 2] != 0.0)):
            restitution(f, features, poses, turned, index, span.speed, rate)
            if doubt:
                closed = geometry[0, f, 0] <= zero and (at[0] <= zero or abs(rate[0]) <= span.speed)
        changed += numbers[ACTS, f] != closed
        numbers[ACTS, f] = closed
    return changed


@kernel(f"boolean({A1}, {I1}, {A1}, {I1}, {A2}, {A3}, {A2})", borrows=True)
def coupled(one: Array, pair: IntArray, other: Array, mate: IntArray, x: Array, R: Array, rows: Array) -> bool:
    """Return whether the normal rows of two contacts share an entry that is not zero."""
    for side in range(2):
        for opposite in range(2):
            if pair[side] >= 0 and pair[side] == mate[opposite]:
                normal_row(one, pair, side, x, R, rows[0])
                normal_row(other, mate, opposite, x, R, rows[1])
                for k in range(6):
                    if rows[0, k] != 0.0 and rows[1, k] != 0.0:
                        return True
    return False


@kernel(f"int64(int64, Features, Poses, Index, {A2}, float64)", borrows=True)
def find_late(n: int, features: Features, poses: Poses, index: Index, v: Array, rest: float) -> int:
    """Mark the features that do not act and end below zero, of each body those that close first; return how many."""
    x, R, geometry, _frame, _moved, rows = poses
    numbers, when, below, row, pair = index.marks, index.value, 0, rows[0], features.bodies
    for f in range(n):
        numbers[LATE, f] = 0
        if not numbers[ACTS, f] and geometry[2, f, 0] < -CLOSE:
            before = max(geometry[1, f, 0] - rest * approach(geometry[1, f], pair[f], x[1], R[1], v, row), 0.0)
            when[f] = before / (before - geometry[2, f, 0])
            numbers[LATE, f] = -1
            below += 1
    found = 0
    for _ in range(below):
        best = -1
        for f in range(n):
            if numbers[LATE, f] == -1 and (best < 0 or when[f] < when[best]):
                best = f
        numbers[LATE, best] = 1
        for f in range(n):
            if numbers[LATE, f] == 1 and f != best and when[best] > when[f] + TOGETHER:  # noqa: SIM102
                if coupled(geometry[1, f], pair[f], geometry[1, best], pair[best], x[1], R[1], rows):
                    numbers[LATE, best] = -2
        found += numbers[LATE, best] == 1
    for f in range(n):
        numbers[LATE, f] = numbers[LATE, f] == 1
    return found
