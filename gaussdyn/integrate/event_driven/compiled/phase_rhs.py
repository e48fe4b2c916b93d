"""The motion of a phase of a planar system, compiled: accelerations, reactions and conditions at one state.

The formulas are those of `phases` and `guards`; `phase_arrays` fills in the arrays:

* columns of ``numbers`` from `HELD` on: which unknown reaction the two rows of a constraint have (-1: none), whether it
  slips (1: contact, 2: dry), whether its gap is held; of ``data`` `FRICTION`: mu times signs, or cap.
* ``guards`` (w, 4): kind, constraint, component, unit; ``limits`` (w, 2): sign or direction, friction of rest.
* ``y`` = (q, v, impulses, work of reactions, work of forces); only q and v are fed back.
"""

from __future__ import annotations

import math

import numpy as np

from ...._jit import kernel
from ....arrays import Array, IntArray
from ....mechanics.planar.row_kernels import (
    A1,
    A2,
    DRIFT,
    GAP,
    HELD,
    I2,
    RATE,
    REACTION,
    SIZE,
    planar_forces,
    planar_rows,
)

SLIPS, CLOSED = HELD + 2, HELD + 3
FRICTION = 9
TOUCHDOWN, LIFT_OFF, TURN, SLIP, STOP, DRY_SLIP = 0, 1, 2, 3, 4, 5
WILD, LOG_FLAT = 1e60, math.log(1e-14)
SYSTEM = f"{I2}, {A2}, {I2}, {A2}, {A2}"
WORK = f"{A2}, {A2}, {A2}"


@kernel(f"int64({A2}, int64, {A1})", borrows=True)
def solve_small(W: Array, n: int, info: Array) -> int:
    """Overwrite column n of W (n, n + 1) with the solution; info[0] is the sign of the determinant, 0 if unclear."""
    sign, size = 1.0, 0.0
    for i in range(n):
        length = 0.0
        for j in range(n):
            length += W[i, j] * W[i, j]
        length = math.sqrt(length)
        if length == 0.0:
            return 1
        for j in range(n + 1):
            W[i, j] /= length
    for i in range(n):
        p = i
        for k in range(i + 1, n):
            if abs(W[k, i]) > abs(W[p, i]):
                p = k
        if p != i:
            sign = -sign
            for j in range(i, n + 1):
                W[i, j], W[p, j] = W[p, j], W[i, j]
        pivot = W[i, i]
        if pivot == 0.0:
            return 1
        sign, size = (sign if pivot > 0.0 else -sign), size + math.log(abs(pivot))
        for k in range(i + 1, n):
            c = W[k, i] / pivot
            for j in range(i + 1, n + 1):
                W[k, j] -= c * W[i, j]
    for i in range(n - 1, -1, -1):
        total = W[i, n]
        for j in range(i + 1, n):
            total -= W[i, j] * W[j, n]
        W[i, n] = total / W[i, i]
    info[0] = sign if size > LOG_FLAT or n == 1 else 0.0
    return 0


@kernel(f"int64(float64, {A1}, int64, {SYSTEM}, {WORK}, {A1}, {A1})", borrows=True, entry=True)
def slope(
    t: float, y: Array, n: int, numbers: IntArray, data: Array, forces: IntArray, strength: Array, bodies: Array,
    J: Array, found: Array, W: Array, info: Array, out: Array,
) -> int:  # fmt: skip
    """Fill in the rates of y; 1 where there are none.

    `n` is the number of rows held. J has 2 rows for every constraint, then n for B, then three: h and friction, the
    push of reactions, a. `info` (4,): sign of the determinant, |h|, |r| and |a|, the largest.
    """
    nv, rows = bodies.shape[1], len(numbers)
    for j in range(2 * nv):
        if not abs(y[j]) < WILD:
            return 1
    base = 2 * rows
    h, push, a = J[base + n], J[base + n + 1], J[base + n + 2]
    planar_rows(y, nv, numbers, data, J, found)
    power = planar_forces(t, y, nv, forces, strength, bodies, h)
    info[0], info[1], info[2], info[3] = 0.0, 0.0, 0.0, 0.0
    for j in range(nv):
        info[1] = max(info[1], abs(h[j]))
        push[j] = 0.0
    for k in range(rows):  # B^T row by row, and the friction that is known
        slips, c = numbers[k, SLIPS], data[k, FRICTION]
        for i in range(2):
            at = numbers[k, HELD + i]
            if at >= 0:
                for j in range(nv):
                    J[base + at, j] = J[2 * k + i, j]
                if slips == 1:
                    for j in range(nv):
                        J[base + at, j] -= c * J[2 * k + 1, j]
        if slips == 2:
            for j in range(nv):
                push[j] -= c * J[2 * k, j]
    for j in range(nv):
        a[j] = bodies[0, j] * (h[j] + push[j])
    for k in range(rows):
        for i in range(2):
            at = numbers[k, HELD + i]
            if at < 0:
                continue
            total = found[k, DRIFT + i]
            for j in range(nv):
                total += J[2 * k + i, j] * a[j]
            W[at, n] = -total
            for m in range(n):
                total = 0.0
                for j in range(nv):
                    total += J[2 * k + i, j] * bodies[0, j] * J[base + m, j]
                W[at, m] = total
    if n and solve_small(W, n, info) != 0:
        return 1
    for m in range(n):
        for j in range(nv):
            push[j] += W[m, n] * J[base + m, j]
    work = 0.0
    for j in range(nv):
        a[j] = bodies[0, j] * (h[j] + push[j])
        work += y[nv + j] * push[j]
        out[j], out[nv + j] = y[nv + j], a[j]
        info[3] = max(info[3], abs(a[j]))
        if not math.isfinite(a[j]):
            return 1
    at = 2 * nv
    for k in range(rows):
        slips, c = numbers[k, SLIPS], data[k, FRICTION]
        for i in range(2):
            one = numbers[k, HELD + i]
            found[k, REACTION + i] = W[one, n] if one >= 0 else 0.0
        if slips == 1:
            found[k, REACTION + 1] = -c * found[k, REACTION]
        elif slips == 2:
            found[k, REACTION] = -c
        for i in range(numbers[k, SIZE]):
            out[at] = found[k, REACTION + i]
            info[2] = max(info[2], abs(out[at]))
            at += 1
    out[at], out[at + 1] = work, power
    return 0


@kernel(f"void({I2}, {A2}, {A2}, {A2}, {A1}, {A1}, {A1})", borrows=True)
def conditions(
    guards: IntArray, limits: Array, J: Array, found: Array, a: Array, g: Array, rate: Array
) -> None:  # fmt: skip
    """Fill in how far every guard is from the end of the phase, and its rate (NaN where it is not known)."""
    for w in range(len(guards)):
        kind, k, i = guards[w, 0], guards[w, 1], guards[w, 2]
        sign, limit = limits[w, 0], limits[w, 1]
        rate[w] = np.nan
        if kind == TOUCHDOWN:
            g[w], rate[w] = found[k, GAP], found[k, RATE]
        elif kind == LIFT_OFF:
            g[w] = found[k, REACTION]
        elif kind == TURN:
            g[w] = sign * found[k, REACTION]
        elif kind == SLIP:
            g[w] = limit * abs(found[k, REACTION]) - abs(found[k, REACTION + 1])
        elif kind == DRY_SLIP:
            g[w] = limit - abs(found[k, REACTION])
        else:
            total = found[k, DRIFT + i]
            for j in range(len(a)):
                total += J[2 * k + i, j] * a[j]
            g[w], rate[w] = sign * found[k, RATE + i], sign * total


@kernel(f"int64(float64, {A1}, {I2}, {A2}, int64, {SYSTEM}, {WORK}, {A1}, {A1}, {A1}, {A1})", borrows=True, entry=True)
def look_at(
    t: float, y: Array, guards: IntArray, limits: Array, n: int, numbers: IntArray, data: Array, forces: IntArray,
    strength: Array, bodies: Array, J: Array, found: Array, W: Array, info: Array, rates: Array, g: Array, rate: Array,
) -> int:  # fmt: skip
    """Fill in the conditions at a state; `rates` takes the rates of y."""
    if slope(t, y, n, numbers, data, forces, strength, bodies, J, found, W, info, rates):
        return 1
    conditions(guards, limits, J, found, J[2 * len(numbers) + n + 2], g, rate)
    return 0
