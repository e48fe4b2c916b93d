"""Keep what a step of free bodies leaves behind: contacts, impulses, energies and work."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I2, kernel
from ....arrays import Array, IntArray
from ..core.records import FORCES, KINETIC, LIFTED, POTENTIAL, REACTIONS
from ..kept import PLACED, ROWS, SHIFTED, TRIED, Kept
from .records import FEATURES, MODE, RETAKEN, WHICH, BodySolver, BodySpan, BodyStep, Loads, Projection

ROUNDING = 1e-15  # of the largest coordinate: what two ways of adding the same numbers may differ by


@kernel("void(BodyStep, BodySolver, Projection, Kept, int64)", borrows=True)
def keep_contacts(step: BodyStep, solver: BodySolver, projection: Projection, kept: Kept, s: int) -> None:
    """Keep what the contacts did in row s."""
    n, law, impulse, marks = step.counts[FEATURES], step.memory.law, step.state.impulse, step.acting.marks
    gap, shifts, mark, p = step.poses.geometry[2], projection.aside.shifts, step.memory.mark, solver.iterate.p
    at = passes = 0
    while n > 0 and passes < kept.shifts.shape[1] and not np.isnan(shifts[0, passes]):
        passes += 1
    for f in range(n):
        kept.start[s, f], kept.gap[s, f], kept.acts[s, f], kept.mode[s, f] = at, gap[f, 0], 0, -1
        for k in range(3 if law[f, 0] > 0.0 or law[f, 2] != 0.0 else 1):
            kept.p[s, at], kept.last[s, at] = 0.0, impulse[f, k]
            at += 1
        for a in range(passes):
            kept.shifts[s, a, f] = shifts[f, a]
        for k in range(4):
            kept.label[s, 4 * f + k] = mark[f, k]
    for f in range(n, kept.start.shape[1]):
        kept.start[s, f] = at
    for c in range(solver.problem.contacts.first[-1]):
        f = marks[WHICH, c]
        kept.acts[s, f], kept.mode[s, f] = 1, marks[MODE, f]
        for k in range(kept.start[s, f + 1] - kept.start[s, f]):
            kept.p[s, kept.start[s, f] + k] = p[c, k]
    kept.found[s, ROWS], kept.found[s, SHIFTED], kept.found[s, PLACED] = n, passes, 0
    kept.found[s, TRIED] = step.counts[RETAKEN]


@kernel("void(BodyStep, Kept, int64)", borrows=True)
def keep_try(step: BodyStep, kept: Kept, s: int) -> None:
    """Keep where the step at hand ends, which overlooked a contact there."""
    q1, k = step.state.q1, step.counts[RETAKEN]
    for i in range(len(q1)):
        for a in range(7):
            kept.tries[s, k, 7 * i + a] = q1[i, a]


@kernel(f"void({A2}, int64, int64)", borrows=True)
def again(x: Array, s: int, n: int) -> None:
    """Put the first n numbers of row s - 1 in row s."""
    for k in range(n):
        x[s, k] = x[s - 1, k]


@kernel(f"void({I2}, int64, int64)", borrows=True)
def number_again(x: IntArray, s: int, n: int) -> None:
    """Do the same as `again`."""
    for k in range(n):
        x[s, k] = x[s - 1, k]


@kernel("void(Kept, int64)", borrows=True)
def keep_again(kept: Kept, s: int) -> None:
    """Keep in row s what row s - 1 says: a step that ends as it began."""
    n, room = kept.found[s - 1, ROWS], kept.start.shape[1]
    m = kept.start[s - 1, n]
    again(kept.log, s, kept.log.shape[1])
    again(kept.q, s, kept.q.shape[1])
    again(kept.v, s, kept.v.shape[1])
    again(kept.gap, s, n)
    again(kept.p, s, m)
    again(kept.last, s, m)
    number_again(kept.mode, s, n)
    number_again(kept.acts, s, n)
    number_again(kept.start, s, room)
    number_again(kept.label, s, 4 * n)
    number_again(kept.found, s, kept.found.shape[1])
    for a in range(kept.found[s, SHIFTED]):
        for f in range(n):
            kept.shifts[s, a, f] = kept.shifts[s - 1, a, f]


@kernel(f"float64({A2}, int64, {A1})", borrows=True)
def spin_along(J: Array, k: int, v: Array) -> float:
    """Return the k-th component of J w, w = v[3:]."""
    return float(J[k, 0] * v[3] + J[k, 1] * v[4] + J[k, 2] * v[5])


@kernel("float64(Loads, float64, int64)", borrows=True)
def shaken(loads: Loads, t: float, k: int) -> float:
    """Return the k-th component of the acceleration of the ground at time t."""
    total = 0.0
    for s in range(len(loads.shaking)):
        total += loads.shaking[s, k] * np.sin(loads.shaking[s, 3] * t + loads.shaking[s, 4])
    return total


@kernel(f"void({A2}, {A1}, {A1}, {A1}, BodySpan, {A1})", borrows=True)
def add_turning(J: Array, moment: Array, v0: Array, v1: Array, span: BodySpan, log: Array) -> None:
    """Add kinetic energy and works of the rotation of one body, whose spins are v0[3:] and v1[3:], to a row."""
    theta, dt = span.theta, span.dt
    for k in range(3):
        a, b, given = (k + 1) % 3, (k + 2) % 3, moment[3 + k]
        mean = 0.5 * (v0[3 + k] + v1[3 + k])
        gyroscopic = ((1.0 - theta) * spin_along(J, a, v0) + theta * spin_along(J, a, v1)) * (
            (1.0 - theta) * v0[3 + b] + theta * v1[3 + b]
        ) - ((1.0 - theta) * spin_along(J, b, v0) + theta * spin_along(J, b, v1)) * (
            (1.0 - theta) * v0[3 + a] + theta * v1[3 + a]
        )
        change = spin_along(J, k, v1) - spin_along(J, k, v0)
        log[REACTIONS] += mean * (change - dt * (given + gyroscopic))
        log[FORCES] += dt * mean * given
        log[KINETIC] += 0.5 * v1[3 + k] * spin_along(J, k, v1)


@kernel(f"void(BodyStep, BodySpan, {A1})", borrows=True)
def keep_works(step: BodyStep, span: BodySpan, log: Array) -> None:
    """Put energies and work of a step into its row of `Kept.log`: it began at q, v and ends at q1, v1 of its state."""
    bodies, loads, theta, dt = step.bodies, step.loads, span.theta, span.dt
    q0, v0, q1, v1 = step.state.q, step.state.v, step.state.q1, step.state.v1
    far = top = 0.0
    log[KINETIC] = log[POTENTIAL] = log[REACTIONS] = log[FORCES] = log[LIFTED] = 0.0
    for i in range(len(bodies.mass)):
        m = bodies.mass[i]
        for k in range(3):
            weight, mean = loads.weight[i, k], 0.5 * (v0[i, k] + v1[i, k])
            given = loads.constant[i, k] - weight - m * shaken(loads, span.t + (1.0 - theta) * dt, k)
            log[REACTIONS] += mean * (m * (v1[i, k] - v0[i, k]) - dt * (weight + given))
            log[FORCES] += dt * mean * given
            log[KINETIC] += 0.5 * m * v1[i, k] * v1[i, k]
            log[POTENTIAL] -= weight * q1[i, k]
            lift = q1[i, k] - (q0[i, k] + dt * ((1.0 - theta) * v0[i, k] + theta * v1[i, k]))
            far, top = max(far, abs(lift)), max(top, abs(q1[i, k]))
            log[LIFTED] -= weight * lift
        add_turning(bodies.inertia[i], loads.constant[i], v0[i], v1[i], span, log)
    if far <= ROUNDING * top:
        log[LIFTED] = 0.0
