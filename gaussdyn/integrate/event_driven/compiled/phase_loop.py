"""Many steps of a phase without events in one call; an event, a gap to be put back, a pole are left to the caller."""

from __future__ import annotations

import math

from ...._jit import A1, A2, kernel
from ....arrays import EPS, Array
from ....linalg.redundant_rows import as_many_depend
from ...dop853 import STAGES, TIMES, WIDTH, between, growth
from ...recorded_arcs import LOBATTO
from ..event_location import CROSSING, QUIET, far, judged
from ..phase_integrator import SPLIT
from .phase_rhs import conditions, look_at, put_rows_held, slope
from .phase_steps import LOOKED, dense_output, error_of_impulses, first_crossing, look_within, polish, take_step
from .records import (
    ACCELERATED,
    ACCELERATION,
    BEND,
    END,
    ERROR,
    FORCE,
    FOUND,
    LENGTH,
    LOAD,
    MANY,
    NEXT,
    OUTSIDE,
    REACTION,
    REST,
    ROW,
    SIDE,
    SIZE,
    STIFFNESS,
    STOP,
    TAKEN,
    UNIT,
    WAY,
    WHAT,
    WHICH,
    H,
    PhaseStep,
    PhaseTables,
    T,
    Voyage,
)

DONE, EVENT, HOLD, FAIL, STIFF, TURNED = range(6)
UNSEEN = QUIET - 1
LEAST, NEARLY = 16.0 * EPS, 4.0 * EPS
MOST_BENT, STIFF_STEPS, HOPELESS = 1.0, 50.0, 3e3
NODES = tuple(LOBATTO.tolist())
LAST_NODE = len(NODES) - 1
ALONG = 0.5  # cosine of the angle by which a slip may turn: at a right angle `direction` takes its other way
COARSE = 1e3  # times what counts as noise: among redundant rows
HELD_TO = 1e-13  # m and m/s, times max(1, |q|) and max(1, |v|)


@kernel(f"int64(PhaseTables, {A1})", borrows=True)
def out_of_place(phase: PhaseTables, y: Array) -> int:
    """Whether the gap of something closed, or a rate that is held, is not zero to rounding."""
    held, room, q, v = phase.held, phase.room, 1.0, 1.0
    for j in range(phase.nq):
        q = max(q, abs(y[j]))
    for j in range(phase.nq, phase.nq + phase.nv):
        v = max(v, abs(y[j]))
    for k in range(len(held.closed)):
        if held.closed[k] > 0 and abs(room.gap[k]) > HELD_TO * q:
            return 1
        for i in range(phase.start[k], phase.start[k] + phase.size[k]):
            if held.closed[k] >= 0 and held.at[i] >= 0 and abs(room.rate[i]) > HELD_TO * v:
                return 1
    return 0


@kernel("int64(PhaseTables)", borrows=True)
def turned_away(phase: PhaseTables) -> int:
    """Whether a slip in space that moves has turned far away from the direction that its mode has.

    So it is where other rows depend on one another than where the phase began.
    """
    if len(phase.redundant.chosen) > 0:
        put_rows_held(phase)
        if not as_many_depend(phase.redundant):
            return 1
    slips, pull, rate = phase.held.slips, phase.held.pull, phase.room.rate
    for p in range(len(slips)):
        if slips[p, SIZE] == 2:
            u, v = rate[slips[p, ROW]], rate[slips[p, ROW] + 1]
            speed = math.hypot(u, v)
            if speed > phase.room.info[REST] and u * pull[p, 1] + v * pull[p, 2] < ALONG * speed:
                return 1
    return 0


@kernel("float64(PhaseTables, int64)", borrows=True)
def armed(phase: PhaseTables, w: int) -> float:
    """Return below what a condition starts at zero, or is noise."""
    info, coarse = phase.room.info, COARSE if len(phase.redundant.chosen) > 0 else 1.0
    unit = phase.held.guards[w, UNIT]
    if unit == FORCE:
        return float(coarse * 1e-9 * max(info[LOAD], info[REACTION]))
    return float(coarse * (1e-9 * info[ACCELERATION] if unit == ACCELERATED else 1e-11))


@kernel("boolean(PhaseTables, PhaseStep)", borrows=True)
def outside(phase: PhaseTables, step: PhaseStep) -> bool:
    """Whether redundant reactions, as shared here, are outside their cones: others may be inside."""
    if len(phase.redundant.chosen) == 0:
        return False
    conditions(phase, step.seen[6], step.seen[7])
    below = False
    for w in range(len(step.offset)):
        below = below or (phase.held.guards[w, UNIT] == FORCE and step.seen[6, w] < 0.0)
    return below


@kernel(f"int64(PhaseTables, PhaseStep, {A1}, {A1}, float64)", borrows=True)
def keep_samples(phase: PhaseTables, step: PhaseStep, end: Array, line: Array, span: float) -> int:
    """Write what an `Arc` keeps of the first `span` (s) of a step, which ends at `end`; OUTSIDE: see there.

    That is t, span, and at its samples the state and the reactions of all rows; nothing if `line` is empty.
    """
    if len(line) == 0:
        return 0
    t, h, states, size, K = step.control[T], step.control[H], phase.nq + phase.nv, len(step.y) - 2, step.K
    line[0], line[1] = t, span
    for s in range(LAST_NODE + 1):
        known = (s == 0 or (s == LAST_NODE and span == h)) and len(phase.redundant.chosen) == 0
        rates = K[WIDTH] if not known else K[0] if s == 0 else K[STAGES]
        at = step.y if s == 0 else end if s == LAST_NODE else step.place
        if not known:
            when = t + span * NODES[s]
            if 0 < s < LAST_NODE:
                between(step.y, step.F, t, h, when, step.place)
            if slope(phase, when, at, rates):
                return 1
            if outside(phase, step):
                return OUTSIDE
        for j in range(size):
            line[2 + s * size + j] = at[j] if j < states else rates[j]
    return 0


@kernel("int64(PhaseTables, PhaseStep)", borrows=True)
def accepted(phase: PhaseTables, step: PhaseStep) -> int:
    """Take a step whose error, and that of its impulses, is small enough; DONE, FAIL or STIFF: it is not taken."""
    control, t, want = step.control, step.control[T], step.control[NEXT]
    left = control[END] - t
    h = left if want >= left / 1.1 else min(want, 0.5 * left)
    split = SPLIT * h
    while True:
        control[H] = h
        code = take_step(phase, step)
        if code == 0 and h > split and control[LENGTH] == 0.0:  # NaN stays NaN
            control[ERROR] = max(control[ERROR], error_of_impulses(phase, step))
        if code == 0 and control[ERROR] <= 1.0:
            break
        h *= 0.2 if code else growth(control[ERROR])
        if h < LEAST * max(abs(t), 1e-3):
            return FAIL
    stiff = control[STIFFNESS] + 1.0 if control[BEND] > MOST_BENT else max(0.0, control[STIFFNESS] - 1.0)
    if stiff >= STIFF_STEPS and (control[END] - (t + h)) / h > HOPELESS:
        return STIFF
    grown = h * growth(control[ERROR])
    grown = min(grown, control[LENGTH]) if control[LENGTH] > 0.0 else grown
    control[STIFFNESS], control[NEXT] = stiff, grown if h >= want or grown < want else want
    return DONE


@kernel("int64(PhaseTables, PhaseStep, boolean)", borrows=True)
def watched(phase: PhaseTables, step: PhaseStep, kept: bool) -> int:
    """Return what conditions do in a step, see `judged`; UNSEEN: that cannot be computed.

    There is dense output where conditions are near zero, and where samples are `kept`.
    """
    seen, t, h = step.seen, step.control[T], step.control[H]
    quiet = far(seen, step.offset, h, step.table[TIMES, LOOKED])
    if (kept or not quiet) and dense_output(phase, step):
        return UNSEEN
    if quiet:
        return QUIET
    return UNSEEN if look_within(phase, step, t + 0.5 * h, 2) else judged(seen, step.noise, step.offset, h)


@kernel(f"void(PhaseTables, PhaseStep, PhaseStep, int64, {A2})", borrows=True)
def arrive(phase: PhaseTables, step: PhaseStep, again: PhaseStep, verdict: int, trail: Array) -> None:
    """Find the condition that falls below zero in a step, and go up to there, if both are clear: then again.y is it.

    Where a slip in space stops it has no direction: what is recorded there is left to others.
    """
    control, guards = step.control, phase.held.guards
    told = verdict == CROSSING and len(phase.redundant.chosen) == 0  # else only the least condition says something
    control[FOUND], control[WHICH] = 0.0, first_crossing(phase, step) if told else -1.0
    w = int(control[WHICH])
    if w >= 0 and not (guards[w, WHAT] == STOP and guards[w, MANY] == 2) and polish(phase, step, again, w) == 0:
        span = again.control[T] - control[T]
        control[FOUND] = 1.0 - keep_samples(phase, step, again.y, trail[int(control[TAKEN])], span)


@kernel(f"int64(Voyage, {A2})", borrows=True, entry=True)
def cruise(voyage: Voyage, trail: Array) -> int:
    """Take steps as long as nothing happens, and return why they end.

    DONE: at control[END], or `trail` is full, which takes the samples of every step, or none if its lines have no room.
    HOLD: something that is held is off. TURNED: a slip in space has turned far away from the direction of its mode.
    EVENT: a condition may fall below zero in the step that K, `end` and F describe, which is not taken, see `arrive`.
    STIFF, FAIL: the step is not taken.
    """
    phase, step = voyage.phase, voyage.step
    info, control, seen, y = phase.room.info, step.control, step.seen, step.y
    control[TAKEN] = 0.0
    if look_at(phase, control[T], y, step.K[0], seen[0], seen[1]):
        return FAIL
    while True:
        t, stop, control[WAY] = control[T], control[END], info[SIDE]
        for w in range(len(step.noise)):
            step.noise[w] = armed(phase, w)
        code = accepted(phase, step)
        if code:
            return code
        h = control[H]
        conditions(phase, seen[4], seen[5])
        turned = turned_away(phase)
        off, side, sizes = out_of_place(phase, step.end), info[SIDE], (info[LOAD], info[REACTION], info[ACCELERATION])
        line = trail[int(control[TAKEN])]
        verdict = watched(phase, step, len(line) > 0)
        if verdict > QUIET:
            arrive(phase, step, voyage.again, verdict, trail)
            return EVENT
        kept = keep_samples(phase, step, step.end, line, h) if verdict == QUIET else 1
        if kept == OUTSIDE:
            control[FOUND], control[WHICH] = 0.0, -1.0
            return EVENT
        if kept:
            return FAIL
        info[SIDE], (info[LOAD], info[REACTION], info[ACCELERATION]) = side, sizes
        for w in range(len(step.noise)):
            if seen[4, w] > armed(phase, w):
                step.offset[w] = 0.0
            seen[0, w], seen[1, w] = seen[4, w], seen[5, w]
        for j in range(len(y)):
            y[j], step.K[0, j] = step.end[j], step.K[STAGES, j]
        control[T] = stop if abs(t + h - stop) <= NEARLY * max(1.0, abs(stop)) else t + h
        control[TAKEN] += 1.0
        if off or turned:
            return TURNED if turned else HOLD
        if control[T] >= stop or control[TAKEN] >= len(trail):
            return DONE


@kernel("int64(Voyage)", borrows=True, entry=True)
def take(voyage: Voyage) -> int:
    """Take a step, see `take_step`."""
    return take_step(voyage.phase, voyage.step)


@kernel(f"int64(Voyage, {A1}, {A1}, float64)", borrows=True, entry=True)
def sample(voyage: Voyage, end: Array, line: Array, span: float) -> int:
    """Write what an `Arc` keeps, see `keep_samples`."""
    return keep_samples(voyage.phase, voyage.step, end, line, span)


@kernel(f"int64(Voyage, float64, {A1}, {A1})", borrows=True, entry=True)
def rates_at(voyage: Voyage, t: float, y: Array, out: Array) -> int:
    """Fill in the rates of y, see `slope`."""
    return slope(voyage.phase, t, y, out)


@kernel(f"int64(Voyage, float64, {A1}, {A1}, {A1})", borrows=True, entry=True)
def look(voyage: Voyage, t: float, y: Array, g: Array, rate: Array) -> int:
    """Fill in the conditions at a state, see `look_at`."""
    return look_at(voyage.phase, t, y, voyage.step.place, g, rate)
