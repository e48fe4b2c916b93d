"""Which events are clear, and what comes after one at which no velocity jumps, compiled.

The rules are those of `jump`, `mode_selection` and `event_stepper`: what is not well beyond the border of a rule is
UNCLEAR, and left to them. Sticking and sliding are served for contacts of points in the plane: one row each, or two.
"""

from __future__ import annotations

import math

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import EPS, Array
from ....programs.laws.laws import BORDER
from ....programs.laws.projections import block_spectra
from ....programs.solution.residual_kernels import audit
from ...dop853 import WIDTH
from ..guards import TOGETHER
from ..phase_state import FADED, HARDLY, HOLDS, SETTLED
from .phase_loop import EVENT, cruise, out_of_place
from .phase_rhs import look_at, over_mass
from .phase_rows import kinetic_of_phase, potential_of_phase
from .records import (
    ACCELERATION,
    BEGINS,
    CONE,
    FORCE,
    FOUND,
    FREE,
    GAP,
    KINETIC,
    LEAST,
    LOAD,
    LOADED,
    LOADS,
    OFF,
    POTENTIAL,
    REACTION,
    REFUSED,
    SPATIAL,
    STILL,
    STOP,
    TOUCHDOWN,
    UNCLEAR,
    UNIT,
    WEAK,
    WHAT,
    WHICH,
    WHOSE,
    PhaseTables,
    T,
    Voyage,
)
from .row_places import put_moved

APART = 1e-3  # of the square of a row: what is left of it beside others that it does not depend on
CLEAR = 10.0  # times the border of a rule, or one over it: what lies between is unclear
AT_ONE_TIME = max(TOGETHER.values())
UNILATERAL, COULOMB, SLIDING = 0, 1, 3  # codes of laws
NONE = -1  # no contact is struck


@kernel(f"boolean(PhaseTables, {A1}, int64)", borrows=True)
def flies(phase: PhaseTables, counts: Array, struck: int) -> bool:
    """Whether all that is not held closed is clearly open, but for what is struck."""
    for k in range(len(phase.start)):
        if not phase.held.closed[k] and k != struck and phase.room.gap[k] <= CLEAR * counts[GAP]:
            return False
    return True


@kernel("int64(Voyage)", borrows=True)
def struck_by(voyage: Voyage) -> int:
    """Return the contact that touches down where the motion has been followed to, NONE if another condition ends."""
    guards, w = voyage.phase.held.guards, int(voyage.step.control[WHICH])
    return int(guards[w, WHOSE]) if guards[w, WHAT] == TOUCHDOWN else NONE


@kernel(f"boolean(Voyage, {A1})", borrows=True)
def ends_alone(voyage: Voyage, counts: Array) -> bool:
    """Whether only one condition of a phase ends where the motion has been followed to: others are clearly above zero.

    Nor have forces faded there, by which they are measured.
    """
    phase, step, again = voyage.phase, voyage.step, voyage.again
    guards, info, g, first = phase.held.guards, phase.room.info, again.seen[6], phase.nq + phase.nv
    if look_at(phase, again.control[T], again.y, again.K[WIDTH], g, again.seen[7]):
        return False
    if not flies(phase, counts, struck_by(voyage)):
        return False
    size, before = max(info[LOAD], info[REACTION]), 0.0
    for j in range(first, len(step.y) - 2):
        before = max(before, abs(step.K[0, j]))
    if size < CLEAR * FADED * before:
        return False
    for w in range(len(guards)):
        scale = max(size, counts[WEAK]) if guards[w, UNIT] == FORCE else 1.0
        if w != int(step.control[WHICH]) and not g[w] > CLEAR * AT_ONE_TIME * scale:
            return False
    return True


@kernel(f"boolean(Voyage, {A2}, {A1})", borrows=True, entry=True)
def arrives(voyage: Voyage, trail: Array, counts: Array) -> bool:
    """Follow the motion up to a condition that ends alone, see `cruise`; whether there is one that is clear.

    Quaternions have length one there.
    """
    begun, nq, nv, again = voyage.step.control[T], voyage.phase.nq, voyage.phase.nv, voyage.again
    if cruise(voyage, trail) != EVENT or voyage.step.control[FOUND] == 0.0 or not ends_alone(voyage, counts):
        return False
    t, y, rest = again.control[T], again.y, again.place[:nv]
    if voyage.phase.who == SPATIAL:
        for j in range(nv):
            rest[j] = 0.0
        put_moved(y[:nq], rest, 0.0, again.end[:nq])
        for j in range(nq):
            y[j] = again.end[j]
    return bool(t - begun > HARDLY * max(1.0, abs(t)))


@kernel("boolean(PhaseTables)", borrows=True)
def independent(phase: PhaseTables) -> bool:
    """Whether the rows held clearly do not depend on one another: none is nearly in the span of those before it."""
    at, J, Q, nv = phase.held.at, phase.room.J, phase.room.X, phase.nv
    for i in range(len(at)):
        k = at[i]
        if k < 0:
            continue
        size = left = 0.0
        for j in range(nv):
            Q[k, j] = J[i, j]
            size += Q[k, j] ** 2
        for m in range(k):
            along = 0.0
            for j in range(nv):
                along += Q[m, j] * Q[k, j]
            for j in range(nv):
                Q[k, j] -= along * Q[m, j]
        for j in range(nv):
            left += Q[k, j] ** 2
        if not left > APART * size:
            return False
        for j in range(nv):
            Q[k, j] /= math.sqrt(left)
    return True


@kernel(f"int64(PhaseTables, {A1}, {A1}, {A1}, float64, int64)", borrows=True)
def verdict_on(phase: PhaseTables, g: Array, rate: Array, counts: Array, acceleration: float, struck: int) -> int:
    """Return whether the modes of a phase hold where it begins with these conditions, see `mode_selection.holds`.

    The contact that was struck opens where it has no gap.
    """
    guards, info, verdict = phase.held.guards, phase.room.info, BEGINS
    force, still = HOLDS * max(counts[WEAK], info[LOAD], info[REACTION]), counts[STILL]
    for w in range(len(guards)):
        value, border = g[w], force
        if guards[w, WHAT] == TOUCHDOWN and guards[w, WHOSE] == struck:
            if abs(value) <= counts[GAP] / CLEAR:
                value, border = rate[w], still
            else:
                verdict = UNCLEAR
        elif guards[w, WHAT] == TOUCHDOWN:
            border = counts[GAP]
        elif guards[w, WHAT] == STOP:
            border = still
            if abs(value) <= still / CLEAR:  # a slip that begins has to get faster
                value, border = rate[w], HOLDS * acceleration
        if value < -CLEAR * border:
            return REFUSED
        if not value > CLEAR * border:
            verdict = UNCLEAR
    return verdict


@kernel(f"UniTuple(int64, 2)(PhaseTables, {A2}, {A1}, {A2}, {A2}, {A2})", borrows=True)
def act(phase: PhaseTables, friction: Array, counts: Array, J: Array, B: Array, of: Array) -> tuple[int, int]:
    """Fill in the rows of what touches and the directions of its reactions, and return how many blocks and rows.

    `of` (rows, 5) has the row of the phase, then of first rows of blocks: code, mu and mu_s, and how many rows. This is
    what `contact.assemble` does, from places and velocities alone.
    """
    room, blocks, m = phase.room, 0, 0
    for k in range(len(phase.start)):
        first, mu = phase.start[k], friction[k, 0]
        if room.gap[k] > counts[GAP] or room.rate[first] > counts[STILL]:
            continue
        rough = phase.size[k] == 2 and friction[k, 1] > 0.0
        slides = rough and abs(room.rate[first + 1]) > counts[STILL]
        n = 2 if rough and not slides else 1
        way = math.copysign(mu, room.rate[first + 1]) if slides else 0.0
        of[m, 1] = SLIDING if slides else COULOMB if rough else UNILATERAL
        of[m, 2], of[m, 3], of[m, 4] = mu, mu if slides else friction[k, 1], n
        for i in range(n):
            of[m + i, 0] = first + i
            for j in range(phase.nv):
                J[m + i, j] = room.J[first + i, j]
                B[m + i, j] = J[m + i, j] - (way * room.J[first + 1, j] if slides else 0.0)
        blocks, m = blocks + 1, m + n
    return blocks, m


@kernel(f"int64(PhaseTables, {A1}, {A1}, {A2}, {A1})")
def off_laws(phase: PhaseTables, free: Array, counts: Array, friction: Array, out: Array) -> int:
    """Put how far reactions are off the laws at a state, see `event_stepper._verified`; 1 where numbers overflow."""
    room, nv, most = phase.room, phase.nv, len(phase.room.r)
    J, B, of, X = np.zeros((most, nv)), np.zeros((most, nv)), np.zeros((most, 5)), np.zeros(nv)
    blocks, m = act(phase, friction, counts, J, B, of)
    out[OFF] = out[CONE] = 0.0
    if m == 0:
        return 0
    W, q, u, r, terms = np.zeros(m * m), np.zeros(m), np.zeros(m), np.zeros(m), 0.0
    code, start, P = np.zeros(blocks, np.int64), np.zeros(blocks + 1, np.int64), np.zeros((blocks, 4))
    size, k = 0.0, 0
    for j in range(nv):
        size = max(size, abs(free[j]))
    for i in range(m):
        row = int(of[i, 0])
        r[i], q[i], term = room.r[row], room.drift[row], abs(room.drift[row])
        for j in range(nv):
            q[i] += J[i, j] * free[j]
            term += abs(J[i, j]) * (max(abs(free[j]), counts[LEAST]) if size < counts[LEAST] else abs(free[j]))
        terms += term * term
        if of[i, 4] > 0.0:
            code[k], P[k, 0], P[k, 1], start[k + 1] = int(of[i, 1]), of[i, 2], of[i, 3], i + int(of[i, 4])
            k += 1
        over_mass(phase, B[i], X)
        for a in range(m):
            for j in range(nv):
                W[a * m + i] += J[a, j] * X[j]
    indices, rows = np.arange(m * m) % m, np.arange(0, m * m + 1, m)
    D, spectra, rho, figures = np.zeros((blocks, 6, 6)), np.zeros((blocks, 3)), np.zeros(blocks), np.zeros(12)
    if not block_spectra((W, indices, rows), start, q, False, D, spectra, rho)[0]:
        return 1
    for i in range(m):
        u[i] = q[i]
        for a in range(m):
            u[i] += W[i * m + a] * r[a]
    audit((code, start, P), q, u, r, rho, BORDER, figures, np.zeros(blocks, np.int64))
    E, scale, nq, nr = math.sqrt(figures[0]), figures[8], figures[9], figures[10]
    E = E / scale if scale > EPS else E
    out[OFF] = E * nq / math.sqrt(terms) if nq * nq < terms else E
    out[CONE] = figures[4] / nr if nr > 0.0 else 0.0
    return 0 if math.isfinite(out[OFF]) else 1


@kernel(f"int64(Voyage, float64, {A1}, {A1})", borrows=True, entry=True)
def asked(voyage: Voyage, t: float, y: Array, out: Array) -> int:
    """Put the largest force at a state, and the largest acceleration without reactions; 1 where there is no motion.

    The conditions and their rates come in step.seen (6, 7), the rates of y in step.K (WIDTH), that acceleration in
    step.place.
    """
    phase, step, room = voyage.phase, voyage.step, voyage.phase.room
    if look_at(phase, t, y, step.K[WIDTH], step.seen[6], step.seen[7]):
        return 1
    free, out[FREE], out[LOADED] = step.place[: phase.nv], 0.0, max(room.info[LOAD], room.info[REACTION])
    over_mass(phase, room.V[LOADS], free)
    for j in range(phase.nv):
        out[FREE] = max(out[FREE], abs(free[j]))
    return 0


@kernel(f"int64(Voyage, {A1}, {A2}, {A1})")
def judge(voyage: Voyage, counts: Array, friction: Array, out: Array) -> int:
    """Put by how much reactions are off the laws where a phase has been `asked` last; 1 where numbers overflow.

    `friction` (n, ..) has mu and mu_s of all contacts.
    """
    return off_laws(voyage.phase, voyage.step.place[: voyage.phase.nv], counts, friction, out)


@kernel(f"int64(Voyage, float64, {A1}, {A1}, {A1}, int64)", borrows=True)
def holds_clearly(voyage: Voyage, t: float, y: Array, counts: Array, out: Array, struck: int) -> int:
    """Return whether the modes of a phase hold at a state where another one has ended: BEGINS, REFUSED or UNCLEAR.

    `out` has what `asked` says, and then kinetic and potential energy.
    """
    phase, step, nq, nv = voyage.phase, voyage.step, voyage.phase.nq, voyage.phase.nv
    if asked(voyage, t, y, out) or not flies(phase, counts, struck) or out_of_place(phase, y):
        return UNCLEAR
    if not independent(phase):
        return UNCLEAR
    fastest = max(counts[LEAST], out[FREE], phase.room.info[ACCELERATION])
    out[KINETIC] = kinetic_of_phase(phase, y[nq : nq + nv])
    out[POTENTIAL] = potential_of_phase(phase, y, voyage.again.place)
    return verdict_on(phase, step.seen[6], step.seen[7], counts, fastest, struck)


@kernel(f"int64(Voyage, float64, {A1}, {A1}, {A2}, {A1})", entry=True)
def begins(voyage: Voyage, t: float, y: Array, counts: Array, friction: Array, out: Array) -> int:
    """Return whether a phase begins at a state where another one has ended: BEGINS, REFUSED or UNCLEAR.

    `out` has what `holds_clearly` says, and by how much its reactions are off the laws; `friction` see `judge`.
    """
    verdict = holds_clearly(voyage, t, y, counts, out, NONE)
    if verdict == BEGINS and (judge(voyage, counts, friction, out) or not out[OFF] <= SETTLED):
        return UNCLEAR
    return verdict
