"""Which contacts of free bodies act within a step, and where, compiled; the rules are those of `scheme`."""

from __future__ import annotations

from ...._jit import A1, A2, A3, I1, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.coulomb import step_sizes
from ....mechanics.collision.feature_kinematics import chart_at, contact_frame, feature_geometry
from ..scheme import CLOSE, TOGETHER
from .body_kinematics import place_contacts, sort_by_pair
from .records import ACTS, FEATURES, LATE, OF, WHICH, BodySolver, BodySpan, BodyStep


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


@kernel(f"float64({A1}, {I1}, {A2}, {A3}, {A2}, {A1})", borrows=True)
def approach_size(geometry: Array, bodies: IntArray, x: Array, R: Array, sizes: Array, row: Array) -> float:
    """Return how large the rate of a gap is as if no parts cancelled, of velocities of these sizes (n, 6)."""
    rate = 0.0
    for side in range(2):
        if bodies[side] >= 0:
            normal_row(geometry, bodies, side, x, R, row)
            for k in range(6):
                rate += abs(row[k]) * sizes[bodies[side], k]
    return rate


@kernel(f"void(int64, {A1}, {I1}, {A2}, {A2}, {A2}, {A1})", borrows=True)
def rates_at(
    chart: int, geometry: Array, bodies: IntArray, x: Array, v: Array, frame: Array, rate: Array
) -> None:  # fmt: skip
    """Put the relative velocity along N, T1, T2 of a chart; v (n, 6) with spins in space; frame is work space."""
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
    contact_frame(chart, geometry[1:4], rate, frame)
    for k in range(3):
        rate[k] = frame[k, 0] * y0 + frame[k, 1] * y1 + frame[k, 2] * y2


@kernel(f"void(BodyStep, int64, {A2}, float64)", borrows=True)
def restitution(step: BodyStep, f: int, v: Array, speed: float) -> None:
    """Put gap and rates at the start, and the restitution term, of one feature; v with spins in space at the start.

    Rates are along the tangents of the chart that the contact has at the middle, where impulses are.
    """
    x, R, geometry, frame, _moved, rows = step.poses
    features, bounce = step.features, step.acting.bounce
    pair, begin, law, rate = features.bodies[f], geometry[0, f], features.law, rows[2]
    a, b = pair[0], pair[1]
    feature_geometry(features.kind[f], features.data[f], x[0, a], R[0, a], x[0, b], R[0, b], begin)
    rates_at(chart_at(geometry[1, f, 1:4]), begin, pair, x[0], v, frame, rate)
    if rate[0] < -speed:
        bounce[f, 0] = law[f, 1] * rate[0]
        bounce[f, 1], bounce[f, 2] = law[f, 2] * rate[1], law[f, 2] * rate[2]


@kernel("void(BodyStep)", borrows=True)
def put_sizes_of_speeds(step: BodyStep) -> None:
    """Put in `mean` how large the speeds at the start are as if v and v without reactions could not cancel."""
    v, free, sizes = step.state.v, step.state.free, step.state.mean
    for i in range(len(v)):
        for k in range(6):
            sizes[i, k] = abs(v[i, k]) + abs(free[i, k])


@kernel("void(BodyStep)", borrows=True)
def forget_restitution(step: BodyStep) -> None:
    """Put restitution terms of zero."""
    bounce = step.acting.bounce
    for f in range(step.counts[FEATURES]):
        for k in range(3):
            bounce[f, k] = 0.0


@kernel(f"boolean({A2}, int64)", inline=True, borrows=True)
def rebounds(law: Array, f: int) -> bool:
    """Return whether a feature has restitution of either kind."""
    return bool(law[f, 1] != 0.0 or law[f, 2] != 0.0)


@kernel("int64(BodyStep, BodySpan)", borrows=True)
def find_acting(step: BodyStep, span: BodySpan) -> int:
    """Mark the features that act from the beginning of the step, and their restitution terms; return how many changed.

    Known are the velocity at the start, with spins in body axes (v) and in space (v1), and that without reactions.
    """
    x, R, geometry, _frame, _moved, rows = step.poses
    law, numbers, v, sizes = step.features.law, step.acting.marks, step.state.v, step.state.mean
    rest, row, rate, zero, changed = (1.0 - span.theta) * span.dt, rows[0], rows[2], span.gap, 0
    put_sizes_of_speeds(step)
    forget_restitution(step)
    for f in range(step.counts[FEATURES]):
        at = geometry[1, f]
        before = at[0] - rest * approach(at, step.features.bodies[f], x[1], R[1], v, row)
        closed = before <= zero and at[0] <= zero
        if not closed and step.state.impulse[f, 0] > 0.0:  # what little has opened since is no reason to let go
            way = span.dt * approach_size(at, step.features.bodies[f], x[1], R[1], sizes, row)
            closed = before <= zero + way
        doubt = not closed and min(before, at[0]) <= zero
        if doubt or (closed and rebounds(law, f)):
            restitution(step, f, step.state.v1, span.speed)
            if doubt:
                closed = geometry[0, f, 0] <= zero and (at[0] <= zero or abs(rate[0]) <= span.speed)
        changed += numbers[ACTS, f] != closed
        numbers[ACTS, f] = closed
    return changed


@kernel(f"void(BodyStep, BodySolver, {A2})", borrows=True)
def recall(step: BodyStep, solver: BodySolver, impulse: Array) -> None:
    """Put impulses by feature as those of the contacts that act."""
    which, p = step.acting.marks[WHICH], solver.iterate.p
    for c in range(solver.problem.contacts.first[-1]):
        for k in range(3):
            p[c, k] = impulse[which[c], k]


@kernel(f"void(BodyStep, BodySolver, {A2})", borrows=True)
def place_acting(step: BodyStep, solver: BodySolver, impulse: Array) -> None:
    """Put the contacts that act at the middle of the step, their laws, scales and first impulses."""
    numbers, features, poses, problem = step.acting.marks, step.features, step.poses, solver.problem
    contacts, which = problem.contacts, numbers[WHICH]
    sort_by_pair(step.counts[FEATURES], numbers[ACTS], numbers[OF], contacts.first, which)
    place_contacts(contacts, which, features.bodies, poses.geometry[1], poses.x[1], poses.frame, problem.w)
    for c in range(contacts.first[-1]):
        problem.mu[c] = features.law[which[c], 0]
    step_sizes(contacts, problem.mu, problem.inverse, problem.rho)
    recall(step, solver, impulse)


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


@kernel("int64(BodyStep, BodySpan)", borrows=True)
def list_below(step: BodyStep, span: BodySpan) -> int:
    """Mark (-1) the features that do not act and end below zero, and put when they close; return how many."""
    x, R, geometry, _frame, _moved, rows = step.poses
    numbers, when, pair, v, below = step.acting.marks, step.acting.value, step.features.bodies, step.state.v, 0
    rest = (1.0 - span.theta) * span.dt
    for f in range(step.counts[FEATURES]):
        numbers[LATE, f] = 0
        if not numbers[ACTS, f] and geometry[2, f, 0] < -CLOSE:
            at = geometry[1, f]
            before = max(at[0] - rest * approach(at, pair[f], x[1], R[1], v, rows[0]), 0.0)
            when[f] = before / (before - geometry[2, f, 0])
            numbers[LATE, f] = -1
            below += 1
    return below


@kernel("int64(BodyStep, BodySpan)", borrows=True)
def find_late(step: BodyStep, span: BodySpan) -> int:
    """Mark the features that do not act and end below zero, of each body those that close first; return how many."""
    x, R, geometry, _frame, _moved, rows = step.poses
    n, numbers, when, pair, found = step.counts[FEATURES], step.acting.marks, step.acting.value, step.features.bodies, 0
    for _ in range(list_below(step, span)):
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
