"""An impact of one contact, compiled, as far as it is clear: nothing else touches, and it opens again.

The law is `Moreau`'s, the velocity problem the one of `impact.problem`: what is held keeps its rates at zero, and the
laws of the contact hold for u+ + e u-. It is solved by what solves a few blocks everywhere (`programs.blocks.small`).
What is not well beyond the border of a rule of `impact`, `mode_selection` or `event_stepper` is UNCLEAR, and left to
them.
"""

from __future__ import annotations

import math

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import Array
from ....linalg.redundant_rows import solve_small
from ....programs.blocks.small.attempts import first_attempts
from ....programs.blocks.small.few_blocks import STEPS
from ....programs.laws.projections import block_spectra
from ....programs.solution.residuals import TOL
from ...dop853 import WIDTH
from ...impact.restitution_scaling import GAIN
from .phase_jump import APART, CLEAR, COULOMB, UNILATERAL, holds_clearly, struck_by
from .phase_rhs import look_at, over_mass
from .phase_rows import kinetic_of_phase
from .records import (
    CONE,
    EPS_N,
    EPS_T,
    FRICTION,
    GAINED,
    OFF,
    STATIC,
    STILL,
    TOUCHDOWN,
    UNCLEAR,
    WHAT,
    PhaseTables,
    T,
    Voyage,
)


@kernel(f"int64(PhaseTables, {A1}, {A1}, {A1})", borrows=True)
def hold(phase: PhaseTables, rate: Array, x: Array, push: Array) -> int:
    """Let what is held push x (nv) until J x + rate is zero for it; `push`: how much. 1 where it cannot.

    Directions of its reactions over the mass are in `Room.X`.
    """
    held, room, n = phase.held, phase.room, phase.held.unknowns
    for i in range(len(held.at)):
        k = held.at[i]
        if k < 0:
            continue
        room.W[k, n] = -rate[i]
        for j in range(phase.nv):
            room.W[k, n] -= room.J[i, j] * x[j]
        for m in range(n):
            room.W[k, m] = 0.0
            for j in range(phase.nv):
                room.W[k, m] += room.J[i, j] * room.X[m, j]
    if n and solve_small(room.W, n, room.info):
        return 1
    for m in range(n):
        push[m] = room.W[m, n]
        for j in range(phase.nv):
            x[j] += push[m] * room.X[m, j]
    return 0


@kernel(f"boolean({A1}, int64, float64)", borrows=True)
def rises(W: Array, n: int, mu: float) -> bool:
    """Whether u_N of a contact with W (n, n) clearly rises with p_N, so that its laws have one solution.

    For a given p_N friction is unique: a convex program on a disc. Let it stick, then du_N / dp_N is the Schur
    complement S of W_TT. Let it slide along s, with n across: p_T = mu p_N s turns with p_N, and the rate is
    W_NN + mu W_NT s - W_Nn (W_nN + mu W_ns) / (W_nn + c), c >= 0, which is at least
    S - mu |W_NT| (1 + (h - l) / (2 l)), with h and l the eigenvalues of W_TT.
    """
    if n == 1:
        return bool(W[0] > 0.0)
    if n == 2:
        plain = W[0] * W[3] - W[1] * W[2] > APART * W[0] * W[3]
        return bool(plain and W[3] > 0.0 and (1.0 - 1.0 / CLEAR) * W[0] > mu * abs(W[1]))
    mean = 0.5 * (W[4] + W[8])
    low = mean - math.hypot(0.5 * (W[4] - W[8]), W[5])
    if not low > APART * mean:
        return False
    across = (W[8] * W[1] ** 2 - 2.0 * W[5] * W[1] * W[2] + W[4] * W[2] ** 2) / (W[4] * W[8] - W[5] ** 2)
    left = W[0] - across
    return bool(left > APART * W[0] and (1.0 - 1.0 / CLEAR) * left > mu * math.hypot(W[1], W[2]) * mean / low)


@kernel(f"float64({A1}, {A1}, {A1}, {A1})")
def answer(W: Array, q: Array, law: Array, r: Array) -> float:
    """Fill in the impulse r (n,) of one contact, u = W r + q, and return the residual E of its laws."""
    n = len(q)
    indices, rows = np.arange(n * n) % n, np.arange(0, n * n + 1, n)
    code, start, P = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros((1, 4))
    code[0], start[1], P[0, 0], P[0, 1] = COULOMB if n > 1 else UNILATERAL, n, law[FRICTION], law[STATIC]
    D, spectra, rho = np.zeros((1, 6, 6)), np.zeros((1, 3)), np.zeros(1)
    if not block_spectra((W, indices, rows), start, q, False, D, spectra, rho)[0]:
        return np.inf
    E, _ = first_attempts((W, indices, rows), q, D, (code, start, P), rho, TOL, STEPS if n > 1 else 0, r)
    return E


@kernel(f"{A1}(PhaseTables, {A1})")
def of_supports(phase: PhaseTables, v: Array) -> Array:
    """Return the rates of rows that are not J v: of supports that move by themselves."""
    room = phase.room
    explicit = room.rate.copy()
    for i in range(len(explicit)):
        for j in range(phase.nv):
            explicit[i] -= room.J[i, j] * v[j]
    return explicit


@kernel(f"boolean(PhaseTables, {A1}, int64, int64, {A1}, {A1})")
def after_impact(phase: PhaseTables, v: Array, first: int, n: int, law: Array, p: Array) -> bool:
    """Put the velocity after the impact of a contact, and the impulses p of its n rows and of what is held (h more).

    Returns whether that is clear.
    """
    room, nv, h = phase.room, phase.nv, phase.held.unknowns
    Y, own, W, q, r = np.zeros((n, nv)), np.zeros((n, h)), np.zeros(n * n), np.zeros(n), np.zeros(n)
    none, free, explicit = np.zeros(len(room.rate)), v.copy(), of_supports(phase, v)
    if hold(phase, explicit, free, p[n:]):
        return False
    for a in range(n):
        over_mass(phase, room.J[first + a], Y[a])
        if hold(phase, none, Y[a], own[a]):
            return False
    for a in range(n):
        u = room.rate[first + a]
        q[a] = explicit[first + a] + (law[EPS_T] * u if a else law[EPS_N] * min(u, 0.0))
        for j in range(nv):
            q[a] += room.J[first + a, j] * free[j]
            for b in range(n):
                W[a * n + b] += room.J[first + a, j] * Y[b, j]
    if not rises(W, n, law[FRICTION]) or not answer(W, q, law, r) <= TOL:
        return False
    for a in range(n):
        p[a] = r[a]
        for m in range(h):
            p[n + m] += r[a] * own[a, m]
        for j in range(nv):
            free[j] += r[a] * Y[a, j]
    v[:] = free
    return True


@kernel(f"float64(PhaseTables, {A1}, {A1}, {A1})", borrows=True)
def gain(phase: PhaseTables, before: Array, after: Array, p: Array) -> float:
    """Return the work of impulses p (m,) over the energy before and the works without signs, see `Phase.gain`."""
    room, work, size = phase.room, 0.0, kinetic_of_phase(phase, before)
    for i in range(len(room.rate)):
        mean = room.rate[i]
        for j in range(phase.nv):
            mean += 0.5 * room.J[i, j] * (after[j] - before[j])
        work, size = work + p[i] * mean, size + abs(p[i] * mean)
    return work / size if size > 0.0 else 0.0


@kernel("boolean(PhaseTables)", borrows=True)
def in_flight(phase: PhaseTables) -> bool:
    """Whether nothing touches."""
    guards, others = phase.held.guards, 0
    for w in range(len(guards)):
        others += guards[w, WHAT] != TOUCHDOWN
    return others == 0


@kernel(f"int64(Voyage, {A1}, {A2}, {A1}, {A1})", entry=True)
def rebounds(voyage: Voyage, counts: Array, laws: Array, out: Array, p: Array) -> int:
    """Return whether the contact that touches down where `arrives` has come to clearly bounces: BEGINS or UNCLEAR.

    Then again.y has the velocity after the impact, with which the phase goes on; p (m,) the impulses of all rows; `out`
    what `holds_clearly` says, and the kinetic energy that was gained. `laws` (n, 4) has mu, mu_s, eps_n and eps_t.
    """
    phase, again, nq, nv = voyage.phase, voyage.again, voyage.phase.nq, voyage.phase.nv
    y, k, room, at = again.y, struck_by(voyage), voyage.phase.room, voyage.phase.held.at
    if not in_flight(phase) or look_at(phase, again.control[T], y, again.K[WIDTH], again.seen[6], again.seen[7]):
        return UNCLEAR
    first, law, v = phase.start[k], laws[k], y[nq : nq + nv]
    if not room.rate[first] < -CLEAR * counts[STILL] or law[FRICTION] != law[STATIC]:
        return UNCLEAR
    n = min(phase.size[k], 3) if law[FRICTION] > 0.0 else 1
    found, before = np.zeros(n + phase.held.unknowns), v.copy()
    if not after_impact(phase, v, first, n, law, found):
        return UNCLEAR
    for i in range(len(p)):
        p[i] = found[n + at[i]] if at[i] >= 0 else 0.0
    for a in range(n):
        p[first + a] = found[a]
    if not gain(phase, before, v, p) <= GAIN / CLEAR:
        return UNCLEAR
    out[GAINED] = kinetic_of_phase(phase, v) - kinetic_of_phase(phase, before)
    out[OFF] = out[CONE] = 0.0  # nothing touches
    return holds_clearly(voyage, again.control[T], y, counts, out, k)
