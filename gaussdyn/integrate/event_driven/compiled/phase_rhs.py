"""The motion of a phase, compiled: accelerations, reactions and conditions at one state.

The formulas are those of `smooth_phase` and `guards`; `phase_tables` fills in the records. ``y`` = (q, v, impulses,
work of reactions, work of forces); only q and v are fed back.
"""

from __future__ import annotations

import math

import numpy as np

from ...._jit import A1, A2, kernel
from ....arrays import Array
from ....linalg.dense import solve_upper, solve_upper_transposed
from ....linalg.redundant_rows import solve_redundant, solve_small
from ...contact_modes import AT_REST, LEAST_SPEED
from .phase_rows import force_of_phase, mass_of_phase, rates_of_places, rows_of_phase
from .records import (
    ACCELERATED,
    ACCELERATION,
    BORDER,
    DRY,
    DRY_SLIP,
    FIRST,
    FOREST,
    LIFT_OFF,
    LIMIT,
    LOAD,
    LOADS,
    MANY,
    OF,
    PUSH,
    REACTION,
    REST,
    ROLL,
    ROW,
    SIDE,
    SIZE,
    SLIP,
    SPEED,
    TOUCHDOWN,
    TURN,
    UNIT,
    WHAT,
    WHOSE,
    A,
    PhaseTables,
)

WILD = 1e60  # numbers of a trial beyond this, SI, come from a pole


@kernel("UniTuple(float64, 2)(PhaseTables, int64)", borrows=True)
def direction(phase: PhaseTables, p: int) -> tuple[float, float]:
    """Return the direction of slip p on the line of its rate, see `contact_modes.direction`."""
    slips, pull, rate = phase.held.slips, phase.held.pull, phase.room.rate
    first, x, y = slips[p, ROW], pull[p, 1], pull[p, 2]
    if slips[p, SIZE] == 1:
        return x, 0.0
    u, v = rate[first], rate[first + 1]
    speed = math.hypot(u, v)
    if speed <= phase.room.info[REST]:
        return x, y
    if u * x + v * y < 0.0:
        speed = -speed
    return u / speed, v / speed


@kernel("void(PhaseTables)", borrows=True)
def directions_of_reactions(phase: PhaseTables) -> None:
    """Fill in B, with the friction of what slips, and the push of friction that is given."""
    held, room, nv = phase.held, phase.room, phase.nv
    push = room.V[PUSH]
    for j in range(nv):
        push[j] = 0.0
    for i in range(len(held.at)):
        if held.at[i] >= 0:
            for j in range(nv):
                room.B[held.at[i], j] = room.J[i, j]
    for p in range(len(held.slips)):
        first, d = held.slips[p, ROW], direction(phase, p)
        for i in range(held.slips[p, SIZE]):
            c = held.pull[p, 0] * d[i]
            if held.slips[p, DRY]:
                for j in range(nv):
                    push[j] -= c * room.J[first + i, j]
                continue
            normal = held.at[phase.start[held.slips[p, OF]]]
            for j in range(nv):
                room.B[normal, j] -= c * room.J[first + i, j]


@kernel(f"void(PhaseTables, {A1}, {A1})", borrows=True)
def over_mass(phase: PhaseTables, f: Array, out: Array) -> None:
    """Put M^-1 f."""
    inverse, first = phase.inverse, 0
    if phase.who >= FOREST:
        for j in range(len(f)):
            out[j] = f[j]
        solve_upper_transposed(inverse, out)
        solve_upper(inverse, out)
        return
    b = inverse.shape[1]
    while first < len(f):
        for j in range(first, first + b):
            total = 0.0
            for i in range(b):
                total += inverse[j, i] * f[first + i]
            out[j] = total
        first += b


@kernel("void(PhaseTables)", borrows=True)
def put_rows_held(phase: PhaseTables) -> None:
    """Put G where rows depend on one another."""
    at, G = phase.held.at, phase.redundant.G
    for i in range(len(at)):
        if at[i] >= 0:
            for j in range(phase.nv):
                G[at[i], j] = phase.room.J[i, j]


@kernel(f"int64(PhaseTables, {A2}, int64)", borrows=True)
def solved(phase: PhaseTables, W: Array, n: int) -> int:
    """Overwrite the last column of W with the reactions of what is held; 1 where there are none."""
    if len(phase.redundant.chosen) == 0:
        return solve_small(W, n, phase.room.info)
    put_rows_held(phase)
    return solve_redundant(phase.redundant, W, phase.room.info)


@kernel("int64(PhaseTables)", borrows=True)
def solve_reactions(phase: PhaseTables) -> int:
    """Fill in the push of all reactions and the acceleration; 1 where there are none."""
    held, room, nv, n = phase.held, phase.room, phase.nv, phase.held.unknowns
    h, push, a, W = room.V[LOADS], room.V[PUSH], room.V[A], room.W
    for j in range(nv):
        h[j] += push[j]
    over_mass(phase, h, a)
    for m in range(n):
        over_mass(phase, room.B[m], room.X[m])
    for i in range(len(held.at)):
        k = held.at[i]
        if k < 0:
            continue
        total = room.drift[i]
        for j in range(nv):
            total += room.J[i, j] * a[j]
        W[k, n] = -total
        for m in range(n):
            W[k, m] = 0.0
        for j in range(nv):
            along = room.J[i, j]
            if along != 0.0:  # of many bodies a row moves one or two
                for m in range(n):
                    W[k, m] += along * room.X[m, j]
    if n and solved(phase, W, n):
        return 1
    for m in range(n):
        for j in range(nv):
            push[j] += W[m, n] * room.B[m, j]
            a[j] += W[m, n] * room.X[m, j]
    return 0


@kernel("void(PhaseTables)", borrows=True)
def spread_reactions(phase: PhaseTables) -> None:
    """Fill in the reactions of all rows."""
    held, room, n = phase.held, phase.room, phase.held.unknowns
    for i in range(len(held.at)):
        room.r[i] = room.W[held.at[i], n] if held.at[i] >= 0 else 0.0
    for p in range(len(held.slips)):
        first, d = held.slips[p, ROW], direction(phase, p)
        push = 1.0 if held.slips[p, DRY] else room.r[phase.start[held.slips[p, OF]]]
        for i in range(held.slips[p, SIZE]):
            room.r[first + i] = -held.pull[p, 0] * push * d[i]


@kernel(f"int64(PhaseTables, float64, {A1}, {A1})", borrows=True)
def slope(phase: PhaseTables, t: float, y: Array, out: Array) -> int:
    """Fill in the rates of y; 1 where there are none."""
    nq, nv, room = phase.nq, phase.nv, phase.room
    h, push, a, info = room.V[LOADS], room.V[PUSH], room.V[A], room.info
    for j in range(nq + nv):
        if not abs(y[j]) < WILD:
            return 1
    if not rows_of_phase(phase, t, y):
        return 1
    power, work = force_of_phase(phase, t, y, h), 0.0
    if not mass_of_phase(phase, y):
        return 1
    info[SIDE], info[LOAD], info[REACTION], info[ACCELERATION] = 0.0, 0.0, 0.0, 0.0
    info[REST] = LEAST_SPEED
    for j in range(nv):
        info[LOAD], info[REST] = max(info[LOAD], abs(h[j])), max(info[REST], abs(y[nq + j]))
    info[REST] *= AT_REST
    directions_of_reactions(phase)
    if solve_reactions(phase):
        return 1
    spread_reactions(phase)
    rates_of_places(phase, y, out)
    for j in range(nv):
        work += y[nq + j] * push[j]
        out[nq + j] = a[j]
        info[ACCELERATION] = max(info[ACCELERATION], abs(a[j]))
        if not math.isfinite(a[j]):
            return 1
    at = nq + nv
    for k in range(len(phase.start)):
        for i in range(phase.start[k], phase.start[k] + phase.size[k]):
            out[at] = room.r[i]
            info[REACTION] = max(info[REACTION], abs(room.r[i]))
            at += 1
    out[at], out[at + 1] = work, power
    return 0


@kernel(f"float64({A1}, int64, int64)", borrows=True)
def length(x: Array, first: int, n: int) -> float:
    """Return the length of one or two components; 0 of none."""
    if n == 2:
        return math.hypot(x[first], x[first + 1])
    return abs(x[first]) if n == 1 else 0.0


@kernel("float64(PhaseTables, int64)", borrows=True)
def second_rate(phase: PhaseTables, i: int) -> float:
    """Return J a + drift of a row."""
    total = phase.room.drift[i]
    for j in range(phase.nv):
        total += phase.room.J[i, j] * phase.room.V[A, j]
    return float(total)


@kernel(f"void(PhaseTables, {A1}, {A1})", borrows=True)
def conditions(phase: PhaseTables, g: Array, rate: Array) -> None:
    """Fill in how far every guard is from the end of the phase, and its rate (NaN where it is not known).

    Where features end is not known here: that is as far away as it can be, see `CompiledPhase.look`.
    """
    guards, limits, room = phase.held.guards, phase.held.limits, phase.room
    for w in range(len(guards)):
        kind, k, first, n = guards[w, WHAT], guards[w, WHOSE], guards[w, FIRST], guards[w, MANY]
        top, limit = phase.start[k], limits[w, LIMIT]
        rate[w] = np.nan
        if kind == TOUCHDOWN and guards[w, UNIT] == ACCELERATED:
            g[w] = second_rate(phase, top)
        elif kind == TOUCHDOWN:
            g[w], rate[w] = room.gap[k], second_rate(phase, top) if guards[w, UNIT] == SPEED else room.rate[top]
        elif kind == LIFT_OFF:
            g[w] = room.r[top]
        elif kind == TURN:
            g[w] = limits[w, 0] * room.r[top]
        elif kind == SLIP:
            g[w] = limit * abs(room.r[top]) - length(room.r, first, n)
        elif kind == ROLL:
            g[w] = limit * room.r[top] - length(room.r, first, n)
        elif kind == DRY_SLIP:
            g[w] = limit - length(room.r, first, n)
        elif kind == BORDER:
            g[w] = np.inf
        else:
            g[w] = rate[w] = 0.0
            for i in range(n):
                g[w] += limits[w, i] * room.rate[first + i]
                rate[w] += limits[w, i] * second_rate(phase, first + i)


@kernel(f"int64(PhaseTables, float64, {A1}, {A1}, {A1}, {A1})", borrows=True)
def look_at(phase: PhaseTables, t: float, y: Array, rates: Array, g: Array, rate: Array) -> int:
    """Fill in the conditions at a state; `rates` takes the rates of y."""
    if slope(phase, t, y, rates):
        return 1
    conditions(phase, g, rate)
    return 0
