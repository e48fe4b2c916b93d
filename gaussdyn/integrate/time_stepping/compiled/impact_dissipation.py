"""Whether the impacts of a step gain energy, compiled; the rule itself stands in `scheme`."""

from __future__ import annotations

from ...._jit import A1, A2, kernel
from ....arrays import Array
from ...impact.restitution_scaling import GAIN
from ..scheme import LOADED, SMALL, STRUCK
from .active_contacts import approach, place_acting
from .body_kinematics import renew
from .records import ACTS, FEATURES, JOINED, WHICH, Bodies, BodySolver, BodySpan, BodyStep, Projection


@kernel("boolean(BodyStep, BodySolver, int64)", borrows=True)
def loaded(step: BodyStep, solver: BodySolver, c: int) -> bool:
    """Return whether the impulse of a contact is one of loads: it and the approach are what these bring in a step."""
    x, R, v, free, row = step.poses.x[1], step.poses.R[1], step.state.v, step.state.free, step.poses.rows[0]
    f = step.acting.marks[WHICH, c]
    at, pair = step.poses.geometry[1, f], step.features.bodies[f]
    before = approach(at, pair, x, R, v, row)
    brought = before - approach(at, pair, x, R, free, row)
    return bool(-before <= STRUCK * brought and solver.iterate.p[c, 0] <= LOADED * brought * solver.problem.rho[c])


@kernel("int64(BodyStep, BodySolver)", borrows=True)
def find_impact(step: BodyStep, solver: BodySolver) -> int:
    """Return the feature with the largest impulse of those that have just closed or rebound; -1 without any.

    Those that only bear loads do not count, see `loaded`.
    """
    numbers, bounce, found, most = step.acting.marks, step.acting.bounce, -1, 0.0
    impulse, p = step.state.impulse, solver.iterate.p
    for c in range(solver.problem.contacts.first[-1]):
        f = numbers[WHICH, c]
        rebounds = bounce[f, 0] != 0.0 or bounce[f, 1] != 0.0 or bounce[f, 2] != 0.0
        better = p[c, 0] > most or (p[c, 0] == most and f < found)
        if p[c, 0] > 0.0 and better and (rebounds or not impulse[f, 0] > 0.0) and not loaded(step, solver, c):
            found, most = f, p[c, 0]
    return found


@kernel(f"float64(Bodies, {A2}, {A2})", borrows=True)
def kinetic_scale(bodies: Bodies, v: Array, free: Array) -> float:
    """Return 1/2 s^T |M| s with s = |v| + |free|, spins in body axes."""
    mass, inertia, _ball = bodies
    total = 0.0
    for i in range(len(mass)):
        for k in range(3):
            s = abs(v[i, k]) + abs(free[i, k])
            total += 0.5 * mass[i] * s * s
            for j in range(3):
                one, other = abs(v[i, 3 + k]) + abs(free[i, 3 + k]), abs(v[i, 3 + j]) + abs(free[i, 3 + j])
                total += 0.5 * one * abs(inertia[i, k, j]) * other
    return total


@kernel(f"float64({A2}, {A2}, int64, {A1}, {A1}, {A2}, {A1})", borrows=True)
def spread(R: Array, frame: Array, i: int, arm: Array, p: Array, v: Array, mean: Array) -> float:
    """Return |p| . |J| |v| of one body at one contact, spins in body axes; mean (6,) is work space."""
    total = 0.0
    for k in range(3):
        mean[k] = abs(v[i, k])
        mean[3 + k] = abs(R[0, k] * v[i, 3] + R[1, k] * v[i, 4] + R[2, k] * v[i, 5])
    for k in range(3):
        n0, n1, n2 = frame[k, 0], frame[k, 1], frame[k, 2]
        m0, m1, m2 = arm[1] * n2 - arm[2] * n1, arm[2] * n0 - arm[0] * n2, arm[0] * n1 - arm[1] * n0
        size = abs(n0) * mean[0] + abs(n1) * mean[1] + abs(n2) * mean[2]
        for j in range(3):
            size += abs(R[0, j] * m0 + R[1, j] * m1 + R[2, j] * m2) * mean[3 + j]
        total += abs(p[k]) * size
    return total


@kernel("float64(BodyStep, BodySolver, BodySpan)", borrows=True)
def work_gain(step: BodyStep, solver: BodySolver, span: BodySpan) -> float:
    """Return the work of all impulses and of the projection, relative to the sum of its terms without their signs.

    Work that is small against the kinetic energy counts less.
    """
    q, v, _impulse, _force, v0, guess, _v1, _mean, free, q1 = step.state
    pair, first, _slot, frame, ra, rb = solver.problem.contacts
    p, mean, weight, R, row = solver.iterate.p, solver.iterate.v, step.loads.weight, step.poses.R[1], step.poses.rows[0]
    dt, theta = span.dt, span.theta
    work = size = 0.0
    for i in range(len(v)):
        for k in range(6):
            mean[i, k] = 0.5 * (v0[i, k] + guess[i, k])
        for k in range(3):
            work -= weight[i, k] * (q1[i, k] - (q[i, k] + dt * ((1.0 - theta) * v[i, k] + theta * guess[i, k])))
    for m in range(len(first) - 1):
        for side in range(2):
            i, s = pair[m, side], 2.0 * side - 1.0
            if i < 0:
                continue
            arms = rb if side == 1 else ra
            for c in range(first[m], first[m + 1]):
                size += spread(R[i], frame[c], i, arms[c], p[c], mean, row)
                r0, r1, r2 = arms[c, 0], arms[c, 1], arms[c, 2]
                x = mean[i, 0] + mean[i, 4] * r2 - mean[i, 5] * r1
                y = mean[i, 1] + mean[i, 5] * r0 - mean[i, 3] * r2
                z = mean[i, 2] + mean[i, 3] * r1 - mean[i, 4] * r0
                for k in range(3):
                    work += s * p[c, k] * (frame[c, k, 0] * x + frame[c, k, 1] * y + frame[c, k, 2] * z)
    size = max(size, SMALL / GAIN * kinetic_scale(step.bodies, v, free))
    return work / size if size > 0.0 else 0.0


@kernel("void(BodyStep, BodySolver, Projection, BodySpan, int64)", borrows=True)
def begin_again(step: BodyStep, solver: BodySolver, projection: Projection, span: BodySpan, known: int) -> None:
    """Put back the first guess of a step that is to be solved under other laws, without the contacts that joined.

    With `known` the contacts are those that acted when `note_acting` was called.
    """
    marks, noted, guess, v0 = step.acting.marks, projection.aside.marks, step.state.guess, step.state.v0
    for f in range(step.counts[FEATURES]):
        if known:
            marks[ACTS, f] = noted[ACTS, f]
        elif marks[JOINED, f]:
            marks[ACTS, f] = 0
    for i in range(len(guess)):
        for k in range(6):
            guess[i, k] = v0[i, k]
    renew(step, solver, span)
    place_acting(step, solver, step.state.impulse)


@kernel("void(BodyStep, Projection)", borrows=True)
def note_acting(step: BodyStep, projection: Projection) -> None:
    """Remember which features act."""
    marks, noted = step.acting.marks, projection.aside.marks
    for f in range(step.counts[FEATURES]):
        noted[ACTS, f] = marks[ACTS, f]
