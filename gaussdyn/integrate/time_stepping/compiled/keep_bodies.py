"""Keep what a step of free bodies leaves behind: contacts, impulses, energies and work."""

from __future__ import annotations

import numpy as np

from ...._jit import A1, A2, I2, kernel
from ....arrays import Array, IntArray
from ....contact.free_bodies.body_problem import BodyProblem, Iterate
from ..core.records import FORCES, KINETIC, LIFTED, POTENTIAL, REACTIONS
from ..kept import PLACED, ROWS, SHIFTED, Kept
from .records import MODE, WHICH, Aside, Bodies, BodySpan, BodyState, Index, Loads, Poses

ROUNDING = 1e-15  # of the largest coordinate: what two ways of adding the same numbers may differ by


@kernel(f"void(int64, {A2}, Index, Aside, BodyProblem, Iterate, Poses, BodyState, Kept, int64)", borrows=True)
def keep_contacts(
    n: int, law: Array, index: Index, aside: Aside, problem: BodyProblem, iterate: Iterate, poses: Poses,
    state: BodyState, kept: Kept, s: int,
) -> None:  # fmt: skip
    """Keep what the n contacts did in row s; law (f, 3): mu, eps_n and eps_t."""
    at = passes = 0
    while n > 0 and passes < kept.shifts.shape[1] and not np.isnan(aside.shifts[0, passes]):
        passes += 1
    for f in range(n):
        kept.start[s, f], kept.gap[s, f], kept.acts[s, f], kept.mode[s, f] = at, poses.geometry[2, f, 0], 0, -1
        for k in range(3 if law[f, 0] > 0.0 or law[f, 2] != 0.0 else 1):
            kept.p[s, at], kept.last[s, at] = 0.0, state.impulse[f, k]
            at += 1
        for a in range(passes):
            kept.shifts[s, a, f] = aside.shifts[f, a]
    for f in range(n, kept.start.shape[1]):
        kept.start[s, f] = at
    for c in range(problem.contacts.first[-1]):
        f = index.marks[WHICH, c]
        kept.acts[s, f], kept.mode[s, f] = 1, index.marks[MODE, f]
        for k in range(kept.start[s, f + 1] - kept.start[s, f]):
            kept.p[s, kept.start[s, f] + k] = iterate.p[c, k]
    kept.found[s, ROWS], kept.found[s, SHIFTED], kept.found[s, PLACED] = n, passes, 0


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


@kernel(f"float64({A2}, int64, {A1}, int64)", borrows=True)
def along(J: Array, k: int, v: Array, at: int) -> float:
    """Return the k-th component of J w, w = v[at : at + 3]."""
    return float(J[k, 0] * v[at] + J[k, 1] * v[at + 1] + J[k, 2] * v[at + 2])


@kernel("float64(Loads, float64, int64)", borrows=True)
def shaken(loads: Loads, t: float, k: int) -> float:
    """Return the k-th component of the acceleration of the ground at time t."""
    total = 0.0
    for s in range(len(loads.shaking)):
        total += loads.shaking[s, k] * np.sin(loads.shaking[s, 3] * t + loads.shaking[s, 4])
    return total


@kernel(f"void(Bodies, Loads, BodySpan, {A1}, {A1}, {A1}, {A1}, {A1})", borrows=True)
def keep_works(
    bodies: Bodies, loads: Loads, span: BodySpan, q0: Array, v0: Array, q1: Array, v1: Array, log: Array
) -> None:  # fmt: skip
    """Put energies and work of a step between two states into its row of `Kept.log`."""
    theta, dt = span.theta, span.dt
    far = top = 0.0
    log[KINETIC] = log[POTENTIAL] = log[REACTIONS] = log[FORCES] = log[LIFTED] = 0.0
    for i in range(len(bodies.mass)):
        m, J, w = bodies.mass[i], bodies.inertia[i], 6 * i + 3
        for k in range(3):
            at, weight = 6 * i + k, loads.weight[i, k]
            mean = 0.5 * (v0[at] + v1[at])
            given = loads.constant[i, k] - weight - m * shaken(loads, span.t + (1.0 - theta) * dt, k)
            log[REACTIONS] += mean * (m * (v1[at] - v0[at]) - dt * (weight + given))
            log[FORCES] += dt * mean * given
            log[KINETIC] += 0.5 * m * v1[at] * v1[at]
            log[POTENTIAL] -= weight * q1[7 * i + k]
            lift = q1[7 * i + k] - (q0[7 * i + k] + dt * ((1.0 - theta) * v0[at] + theta * v1[at]))
            far, top = max(far, abs(lift)), max(top, abs(q1[7 * i + k]))
            log[LIFTED] -= weight * lift
        for k in range(3):
            a, b, given = (k + 1) % 3, (k + 2) % 3, loads.constant[i, 3 + k]
            mean = 0.5 * (v0[w + k] + v1[w + k])
            gyroscopic = ((1.0 - theta) * along(J, a, v0, w) + theta * along(J, a, v1, w)) * (
                (1.0 - theta) * v0[w + b] + theta * v1[w + b]
            ) - ((1.0 - theta) * along(J, b, v0, w) + theta * along(J, b, v1, w)) * (
                (1.0 - theta) * v0[w + a] + theta * v1[w + a]
            )
            change = along(J, k, v1, w) - along(J, k, v0, w)
            log[REACTIONS] += mean * (change - dt * (given + gyroscopic))
            log[FORCES] += dt * mean * given
            log[KINETIC] += 0.5 * v1[w + k] * along(J, k, v1, w)
    if far <= ROUNDING * top:
        log[LIFTED] = 0.0
