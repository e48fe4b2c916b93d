"""The motion of a phase of a planar system, compiled: accelerations, reactions, conditions, steps without events.

The formulas are those of `phases`, `dop853` and `event_roots`; whatever is not plain sailing (an event, a condition
that is not simple, a gap to be put back, a pole) is left to them. `compiled_phase` fills in the arrays:

* columns of ``numbers`` from `HELD` on: which unknown reaction the two rows of a constraint have (-1: none), whether it
  slips (1: contact, 2: dry), whether its gap is held; of ``data`` `FRICTION`: mu times signs, or cap.
* ``watches`` (w, 4): kind, constraint, component, unit; ``limits`` (w, 2): sign or direction, friction of rest.
* ``control`` (13,): t, h, end, rtol, atol, steps that stability bounds, side of the poles, and what comes back: error,
  bend, steps taken, the next h, which condition crosses zero (-1: that is not clear), and when.
* ``y`` = (q, v, impulses, work of reactions, work of forces); only q and v are fed back.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from ..arrays import EPS, Array, IntArray
from ..mechanics.planar_kernels import A1, A2, DRIFT, GAP, HELD, I2, RATE, REACTION, SIZE, planar_forces, planar_rows

SLIPS, CLOSED = HELD + 2, HELD + 3
FRICTION = 9
TOUCHDOWN, LIFT_OFF, TURN, SLIP, STOP, DRY_SLIP = 0, 1, 2, 3, 4, 5
PLACE, SPEED, FORCE = 0, 1, 2
STAGES, EXTRA = 12, 3
TA, TB, TD, TE5, TE3, TC = 0, 16, 17, 21, 22, 23  # rows of the table of the method
DONE, EVENT, HOLD, FAIL, STIFF = 0, 1, 2, 3, 4
QUIET, CROSSING, UNCLEAR = 0, 1, 2
T, H, END, RTOL, ATOL, STIFFNESS, SIDE, ERROR, BEND, TAKEN, NEXT, WHICH, CROSS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
)
WILD, LOG_FLAT = 1e60, math.log(1e-14)
LEAST, NEARLY = 16.0 * EPS, 4.0 * EPS
FAR, SIMPLE, DIP, QUINTIC, ENVELOPE = 4.0, 0.05, 4.0 / 27.0, 1.0 / 7.0, 32.0  # as in `event_roots`
MOST_BENT, STIFF_STEPS, HOPELESS = 1.0, 50.0, 3e3
HELD_TO = 1e-13  # m and m/s, times max(1, |q|) and max(1, |v|)
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


@kernel(f"int64(float64, {A1}, int64, {SYSTEM}, {WORK}, {A1}, {A1})", borrows=True)
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
    watches: IntArray, limits: Array, J: Array, found: Array, a: Array, g: Array, rate: Array
) -> None:  # fmt: skip
    """Fill in how far every watch is from the end of the phase, and its rate (NaN where it is not known)."""
    for w in range(len(watches)):
        kind, k, i = watches[w, 0], watches[w, 1], watches[w, 2]
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


@kernel(f"int64({A1}, {A1}, {A2}, {A2}, {A1}, int64, {SYSTEM}, {WORK}, {A1})", borrows=True)
def take_step(
    control: Array, y: Array, K: Array, table: Array, end: Array, n: int, numbers: IntArray, data: Array,
    forces: IntArray, strength: Array, bodies: Array, J: Array, found: Array, W: Array, info: Array,
) -> int:  # fmt: skip
    """Take one step of length control[H] from y with the slope K[0]: fill in K up to 12, the end, error and bend."""
    t, h, size, whole = control[T], control[H], 2 * bodies.shape[1], len(y)
    for s in range(1, STAGES):
        for j in range(size):
            total = 0.0
            for m in range(s):
                total += table[s, m] * K[m, j]
            end[j] = y[j] + h * total
        if slope(
            t + table[TC, s] * h, end, n, numbers, data, forces, strength, bodies, J, found, W, info, K[s]
        ) or info[0] * control[SIDE] < 0.0:  # fmt: skip
            return 1
    last = K[STAGES]  # holds the last place before it is overwritten
    for j in range(size):
        last[j] = end[j]
    for j in range(whole):
        total = 0.0
        for m in range(STAGES):
            total += table[TB, m] * K[m, j]
        end[j] = y[j] + h * total
    apart, moved = 0.0, 0.0
    for j in range(size):
        w = 1.0 / (control[ATOL] + control[RTOL] * max(abs(y[j]), abs(end[j])))
        apart = max(apart, abs(end[j] - last[j]) * w)
    if slope(t + h, end, n, numbers, data, forces, strength, bodies, J, found, W, info, last) or (
        info[0] * control[SIDE] < 0.0
    ):  # fmt: skip
        return 1
    e5 = e3 = 0.0
    for j in range(size):
        w = 1.0 / (control[ATOL] + control[RTOL] * max(abs(y[j]), abs(end[j])))
        five = three = 0.0
        for m in range(STAGES + 1):
            five += table[TE5, m] * K[m, j]
            three += table[TE3, m] * K[m, j]
        e5, e3 = e5 + (five * w) ** 2, e3 + (three * w) ** 2
        moved = max(moved, abs(K[STAGES, j] - K[STAGES - 1, j]) * w)
    total = e5 + 0.01 * e3
    control[ERROR] = abs(h) * e5 / math.sqrt(total * size) if total > 0.0 else 0.0
    control[BEND] = h * moved / apart if apart > 0.0 else 0.0
    return 0


@kernel(f"int64({A1}, {A1}, {A2}, {A2}, {A1}, {A2}, int64, {SYSTEM}, {WORK}, {A1})", borrows=True)
def dense_output(
    control: Array, y: Array, K: Array, table: Array, end: Array, F: Array, n: int, numbers: IntArray, data: Array,
    forces: IntArray, strength: Array, bodies: Array, J: Array, found: Array, W: Array, info: Array,
) -> int:  # fmt: skip
    """Fill in the coefficients F (7, len(y)) of a step; row 6 serves for the places in between before that."""
    t, h, size, whole = control[T], control[H], 2 * bodies.shape[1], len(y)
    for s in range(STAGES + 1, STAGES + 1 + EXTRA):
        for j in range(size):
            total = 0.0
            for m in range(s):
                total += table[s, m] * K[m, j]
            F[6, j] = y[j] + h * total
        if slope(t + table[TC, s] * h, F[6], n, numbers, data, forces, strength, bodies, J, found, W, info, K[s]):
            return 1
    for j in range(whole):
        dy = end[j] - y[j]
        F[0, j], F[1, j], F[2, j] = dy, h * K[0, j] - dy, 2.0 * dy - h * (K[STAGES, j] + K[0, j])
        for i in range(4):
            total = 0.0
            for m in range(STAGES + 1 + EXTRA):
                total += table[TD + i, m] * K[m, j]
            F[3 + i, j] = h * total
    return 0


@kernel(f"void({A1}, {A2}, float64, float64, float64, {A1})", borrows=True)
def between(y: Array, F: Array, start: float, h: float, t: float, out: Array) -> None:
    """Fill in y(t) within a step."""
    x = (t - start) / h
    for j in range(len(y)):
        total = 0.0
        for k in range(7):
            total = (total + F[6 - k, j]) * (x if k % 2 == 0 else 1.0 - x)
        out[j] = total + y[j]


@kernel(f"int64(float64, {A1}, {I2}, {A2}, int64, {SYSTEM}, {WORK}, {A1}, {A1}, {A1}, {A1})", borrows=True)
def look_at(
    t: float, y: Array, watches: IntArray, limits: Array, n: int, numbers: IntArray, data: Array, forces: IntArray,
    strength: Array, bodies: Array, J: Array, found: Array, W: Array, info: Array, rates: Array, g: Array, rate: Array,
) -> int:  # fmt: skip
    """Fill in the conditions at a state; `rates` takes the rates of y."""
    if slope(t, y, n, numbers, data, forces, strength, bodies, J, found, W, info, rates):
        return 1
    conditions(watches, limits, J, found, J[2 * len(numbers) + n + 2], g, rate)
    return 0


@kernel("boolean(float64, float64, float64, float64, float64)", inline=True)
def murky(a: float, b: float, start: float, end: float, off: float) -> bool:
    """Whether a cubic that rises may still have been below zero, by what it may be off; False for unknown rates."""
    c2, c3 = 3.0 * (b - a) - 2.0 * start - end, start + end - 2.0 * (b - a)
    for x in (1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 0.75):
        least = a + x * (start + x * (c2 + x * c3)) - ENVELOPE * off * (x * (1.0 - x)) ** 2
        if least <= 0.0 < start + x * (2.0 * c2 + 3.0 * x * c3):
            return True
    return False


@kernel(f"int64({A2}, {A1}, {A1}, float64)", borrows=True)
def judged(seen: Array, noise: Array, offset: Array, h: float) -> int:
    """Return QUIET if no condition falls below zero in a step, CROSSING if one does and all are simple, else UNCLEAR.

    `seen` (6, w) has the conditions and their rates at its beginning, middle and end; `offset` is added to conditions.
    """
    verdict = QUIET
    for w in range(len(noise)):
        a, m, b = seen[0, w] + offset[w], seen[2, w] + offset[w], seen[4, w] + offset[w]
        u0, u1, u2 = seen[1, w], seen[3, w], seen[5, w]
        if not a > 0.0:
            return UNCLEAR
        off, reach = abs(m - 0.5 * (a + b)), 0.0
        if not math.isnan(u0):
            off = abs(m - 0.5 * (a + b) - h * (u0 - u2) / 8.0)
            off += QUINTIC * abs(h * u1 - 1.5 * (b - a) + 0.25 * h * (u0 + u2))
            reach = DIP * (abs(h * u0) + abs(h * u2))
        low, high = min(a, m, b), max(a, m, b)
        if low - reach > FAR * off:
            continue
        if off > noise[w] and (off > SIMPLE * max(high - low, reach) or murky(a, b, h * u0, h * u2, off)):
            return UNCLEAR
        if m > 0.0 and (u0 < 0.0 < u1 or (b > 0.0 and u1 < 0.0 < u2)):
            return UNCLEAR
        if not (m > 0.0 and b > 0.0):
            verdict = CROSSING
    return verdict


@kernel(
    f"float64(float64, float64, float64, float64, int64, {A1}, {A2}, {A1}, {A1}, {A1}, {I2}, {A2}, int64, {SYSTEM},"
    f" {WORK}, {A1}, {A1}, {A2})",
    borrows=True,
)
def root(
    low: float, high: float, f1: float, f2: float, k: int, y: Array, F: Array, control: Array, place: Array,
    offset: Array, watches: IntArray, limits: Array, n: int, numbers: IntArray, data: Array, forces: IntArray,
    strength: Array, bodies: Array, J: Array, found: Array, W: Array, info: Array, rates: Array, seen: Array,
) -> float:  # fmt: skip
    """Return where condition k falls below zero between two times within a step, NaN where it cannot be computed.

    Inverse quadratic interpolation, else bisection: Chandrupatla (1997), Advances in Engineering Software 28.
    """
    x1, x2, share = low, high, f1 / (f1 - f2)
    for _ in range(100):
        x = x1 + share * (x2 - x1)
        between(y, F, control[T], control[H], x, place)
        if look_at(
            x, place, watches, limits, n, numbers, data, forces, strength, bodies, J, found, W, info, rates, seen[6],
            seen[7],
        ):  # fmt: skip
            return np.nan
        f = seen[6, k] + offset[k]
        if (f > 0.0) == (f1 > 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, f
        best, value = (x1, f1) if abs(f1) < abs(f2) else (x2, f2)
        least = (2.0 * EPS * abs(best) + 0.5e-13 * max(1.0, abs(high))) / abs(x2 - x1)
        if least > 0.5 or value == 0.0:
            return best
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        share = 0.5
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        share = min(1.0 - least, max(least, share))
    return np.nan


@kernel(f"int64({A1}, {A2}, {A1}, {A1}, {A1}, {I2}, {A2}, int64, {SYSTEM}, {WORK}, {A1}, {A1}, {A2})", borrows=True)
def first_crossing(
    y: Array, F: Array, control: Array, place: Array, offset: Array, watches: IntArray, limits: Array, n: int,
    numbers: IntArray, data: Array, forces: IntArray, strength: Array, bodies: Array, J: Array, found: Array, W: Array,
    info: Array, rates: Array, seen: Array,
) -> int:  # fmt: skip
    """Return the condition that falls below zero first in a step, -1 if that is not clear; control[CROSS] is when."""
    first, t, h = -1, control[T], control[H]
    for half in range(2):
        low, high = t + 0.5 * half * h, t + 0.5 * (half + 1) * h
        for w in range(len(watches)):
            f1, f2 = seen[2 * half, w] + offset[w], seen[2 * half + 2, w] + offset[w]
            if not f1 > 0.0 or f2 > 0.0:
                continue
            x = root(
                low, high, f1, f2, w, y, F, control, place, offset, watches, limits, n, numbers, data, forces,
                strength, bodies, J, found, W, info, rates, seen,
            )  # fmt: skip
            if math.isnan(x):
                return -1
            if first < 0 or x < control[CROSS]:
                first, control[CROSS] = w, x
        if first >= 0:
            return first
    return -1


@kernel(f"int64({A1}, int64, {I2}, {A2})", borrows=True)
def out_of_place(y: Array, nv: int, numbers: IntArray, found: Array) -> int:
    """Whether the gap of something closed, or a rate that is held, is not zero to rounding."""
    q = v = 1.0
    for j in range(nv):
        q, v = max(q, abs(y[j])), max(v, abs(y[nv + j]))
    for k in range(len(numbers)):
        if numbers[k, CLOSED] and abs(found[k, GAP]) > HELD_TO * q:
            return 1
        for i in range(2):
            if numbers[k, HELD + i] >= 0 and abs(found[k, RATE + i]) > HELD_TO * v:
                return 1
    return 0


@kernel(f"float64({I2}, int64, {A1})", inline=True, borrows=True)
def armed(watches: IntArray, w: int, info: Array) -> float:
    """Return below what a condition starts at zero, or is noise."""
    return 1e-9 * max(info[1], info[2]) if watches[w, 3] == FORCE else 1e-11


@kernel("float64(float64)", borrows=True)
def growth(error: float) -> float:
    """Return by how much the next step may be longer, see `dop853.factor`."""
    if not error < np.inf:
        return 0.2
    return 10.0 if error == 0.0 else min(10.0, max(0.2, 0.9 * error ** (-1.0 / 8.0)))


@kernel(
    f"int64({A1}, {A1}, {A2}, {A2}, {A1}, {A2}, {A1}, {A1}, {A1}, {A2}, {I2}, {A2}, int64, {SYSTEM}, {WORK}, {A1})",
    borrows=True,
)
def cruise(
    control: Array, y: Array, K: Array, table: Array, end: Array, F: Array, place: Array, offset: Array, noise: Array,
    seen: Array, watches: IntArray, limits: Array, n: int, numbers: IntArray, data: Array, forces: IntArray,
    strength: Array, bodies: Array, J: Array, found: Array, W: Array, info: Array,
) -> int:  # fmt: skip
    """Take steps as long as nothing happens, and return why they end.

    DONE: at control[END]. HOLD: something that is held is off. EVENT: a condition may fall below zero in the step that
    K, `end` and F describe, which is not taken; `seen` (8, w) has the conditions and rates at its beginning, middle and
    end. STIFF, FAIL: the step is not taken.
    """
    nv, rows = bodies.shape[1], len(numbers)
    a = J[2 * rows + n + 2]
    stop, control[TAKEN] = control[END], 0.0
    if slope(control[T], y, n, numbers, data, forces, strength, bodies, J, found, W, info, K[0]):
        return FAIL
    conditions(watches, limits, J, found, a, seen[0], seen[1])
    while True:
        t, want, left, control[SIDE] = control[T], control[NEXT], stop - control[T], info[0]
        for w in range(len(watches)):
            noise[w] = armed(watches, w, info)
        h = left if want >= left / 1.1 else min(want, 0.5 * left)
        while True:
            control[H] = h
            code = take_step(
                control, y, K, table, end, n, numbers, data, forces, strength, bodies, J, found, W, info
            )  # fmt: skip
            if code == 0 and control[ERROR] <= 1.0:
                break
            h *= 0.2 if code else growth(control[ERROR])
            if h < LEAST * max(abs(t), 1e-3):
                return FAIL
        stiff = control[STIFFNESS] + 1.0 if control[BEND] > MOST_BENT else max(0.0, control[STIFFNESS] - 1.0)
        if stiff >= STIFF_STEPS and (stop - (t + h)) / h > HOPELESS:
            return STIFF
        conditions(watches, limits, J, found, a, seen[4], seen[5])
        off, side, largest_h, largest_r = out_of_place(end, nv, numbers, found), info[0], info[1], info[2]
        if dense_output(
            control, y, K, table, end, F, n, numbers, data, forces, strength, bodies, J, found, W, info
        ):  # fmt: skip
            return FAIL
        between(y, F, t, h, t + 0.5 * h, place)
        if look_at(
            t + 0.5 * h, place, watches, limits, n, numbers, data, forces, strength, bodies, J, found, W, info,
            K[STAGES + 1 + EXTRA], seen[2], seen[3],
        ):  # fmt: skip
            return FAIL
        grown = h * growth(control[ERROR])
        control[STIFFNESS], control[NEXT] = stiff, grown if h >= want or grown < want else want
        verdict = judged(seen, noise, offset, h)
        if verdict != QUIET:
            control[WHICH] = -1.0
            if verdict == CROSSING:
                control[WHICH] = first_crossing(
                    y, F, control, place, offset, watches, limits, n, numbers, data, forces, strength, bodies, J,
                    found, W, info, K[STAGES + 1 + EXTRA], seen,
                )  # fmt: skip
            return EVENT
        info[0], info[1], info[2] = side, largest_h, largest_r
        for w in range(len(watches)):
            if seen[4, w] > armed(watches, w, info):
                offset[w] = 0.0
            seen[0, w], seen[1, w] = seen[4, w], seen[5, w]
        for j in range(len(y)):
            y[j], K[0, j] = end[j], K[STAGES, j]
        control[T] = stop if abs(t + h - stop) <= NEARLY * max(1.0, abs(stop)) else t + h
        control[TAKEN] += 1.0
        if off:
            return HOLD
        if control[T] >= stop:
            return DONE
