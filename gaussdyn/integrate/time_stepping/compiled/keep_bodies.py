"""Keep what a step of free bodies leaves behind: contacts, impulses, energies and work."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I2, kernel
from ....arrays import Array, IntArray
from ....programs.solution.residual_kernels import ACTIVE, INACTIVE
from ..core.records import FORCES, KINETIC, LIFTED, POTENTIAL, REACTIONS
from ..feature_lists import place_of
from ..kept import PLACED, ROWS, SHIFTED, TRIED, Kept
from .contact_modes import any_friction
from .records import (
    FEATURES,
    MODE,
    PLACE,
    REST_POTENTIAL,
    RETAKEN,
    WHICH,
    BodySolver,
    BodySpan,
    BodyStep,
    LeftOut,
    Loads,
    Projection,
)

ROUNDING = 1e-15  # of the largest coordinate: what two ways of adding the same numbers may differ by


@kernel(f"int64({A1})", inline=True, borrows=True)
def entries(law: Array) -> int:
    """Return how many entries of the impulse of a contact are kept."""
    return 3 if law[0] > 0.0 or law[2] != 0.0 else 1


@kernel(f"int64(BodyStep, {I2})", borrows=True)
def place_features(step: BodyStep, table: IntArray) -> int:
    """Put the PLACE of every feature among all, by their ids, and return how many all are."""
    n, key, place, mark, r = step.counts[FEATURES], step.left.key, step.acting.marks[PLACE], step.memory.mark, 0
    for f in range(n):
        if len(key) > 0:
            own = place_of(table, mark, f)
            while r < len(key) and key[r] < own:
                r += 1
        place[f] = f + r
    return int(n + len(key))


@kernel("int64(BodyStep, Kept, int64, int64, int64)", borrows=True)
def keep_own(step: BodyStep, kept: Kept, s: int, f: int, at: int) -> int:
    """Keep in row s what feature f begins with, its impulse from a place on; return where the next one stands."""
    g, label = step.acting.marks[PLACE, f], step.memory.mark
    kept.start[s, g], kept.gap[s, g], kept.acts[s, g], kept.mode[s, g] = at, step.poses.geometry[2, f, 0], 0, -1
    n = entries(step.memory.law[f])
    for k in range(n):
        kept.p[s, at + k], kept.last[s, at + k] = 0.0, step.state.impulse[f, k]
    for k in range(4):
        kept.label[s, 4 * g + k] = label[f, k]
    return int(at + n)


@kernel("int64(LeftOut, Kept, int64, int64, int64, int64, boolean)", borrows=True)
def keep_left(left: LeftOut, kept: Kept, s: int, r: int, g: int, at: int, rough: bool) -> int:
    """Keep feature r of those that are left out as the g-th of row s; returns as `keep_own` does.

    rough: whether a contact that acts has friction.
    """
    kept.start[s, g], kept.gap[s, g] = at, left.gap[r]
    kept.mode[s, g], kept.acts[s, g], n = left.marks[r, 0], left.marks[r, 1], left.marks[r, 2]
    if left.marks[r, 1] != 0 and not rough:
        kept.mode[s, g] = ACTIVE if left.impulse[r, 0] > 0.0 else INACTIVE
    for k in range(n):
        kept.p[s, at + k] = kept.last[s, at + k] = left.impulse[r, k]
    for k in range(4):
        kept.label[s, 4 * g + k] = left.label[r, k]
    return int(at + n)


@kernel("void(BodyStep, Kept, int64)", borrows=True)
def keep_state(step: BodyStep, kept: Kept, s: int) -> None:
    """Keep the state in row s, in the order of the system."""
    q, v, left = step.state.q, step.state.v, step.left
    for i in range(len(q)):
        b = left.bodies[i]
        for k in range(7):
            left.q[b, k] = q[i, k]
        for k in range(6):
            left.v[b, k] = v[i, k]
    for b in range(len(left.q)):
        for k in range(7):
            kept.q[s, 7 * b + k] = left.q[b, k]
        for k in range(6):
            kept.v[s, 6 * b + k] = left.v[b, k]


@kernel(f"void(BodyStep, BodySolver, Projection, Kept, int64, {I2})", borrows=True)
def keep_contacts(
    step: BodyStep, solver: BodySolver, projection: Projection, kept: Kept, s: int, table: IntArray
) -> None:
    """Keep what the contacts did in row s; table as in `search.ShapeArrays`."""
    n, marks, shifts, p = step.counts[FEATURES], step.acting.marks, projection.aside.shifts, solver.iterate.p
    all_of, at, passes, rough = place_features(step, table), 0, 0, any_friction(step, solver)
    while n > 0 and passes < kept.shifts.shape[1] and not np.isnan(shifts[0, passes]):
        passes += 1
    r = f = 0
    for g in range(all_of):
        if f < n and marks[PLACE, f] == g:
            at = keep_own(step, kept, s, f, at)
            for a in range(passes):
                kept.shifts[s, a, g] = shifts[f, a]
            f += 1
        else:
            at = keep_left(step.left, kept, s, r, g, at, rough)
            for a in range(passes):
                kept.shifts[s, a, g] = 0.0
            r += 1
    for g in range(all_of, kept.start.shape[1]):
        kept.start[s, g] = at
    for c in range(solver.problem.contacts.first[-1]):
        f = marks[WHICH, c]
        g = marks[PLACE, f]
        kept.acts[s, g], kept.mode[s, g] = 1, marks[MODE, f]
        for k in range(kept.start[s, g + 1] - kept.start[s, g]):
            kept.p[s, kept.start[s, g] + k] = p[c, k]
    kept.found[s, ROWS], kept.found[s, SHIFTED], kept.found[s, PLACED] = all_of, passes, 0
    kept.found[s, TRIED] = step.counts[RETAKEN]


@kernel("void(BodyStep, Kept, int64)", borrows=True)
def keep_try(step: BodyStep, kept: Kept, s: int) -> None:
    """Keep where the step at hand ends, which overlooked a contact there."""
    q1, k, left = step.state.q1, step.counts[RETAKEN], step.left
    for b in range(len(left.q) if len(q1) < len(left.q) else 0):
        for a in range(7):
            kept.tries[s, k, 7 * b + a] = left.q[b, a]
    for i in range(len(q1)):
        for a in range(7):
            kept.tries[s, k, 7 * left.bodies[i] + a] = q1[i, a]


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
    log[KINETIC] = log[REACTIONS] = log[FORCES] = log[LIFTED] = 0.0
    log[POTENTIAL] = step.left.figures[REST_POTENTIAL]
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
