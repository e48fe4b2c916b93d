"""Contacts that come to rest after infinitely many impacts in finite time, judged by all that pushes until they do.

The jump that takes the last rebound away pulls, and its friction drives. With the impact before it, it is a plastic
impact, and with the reactions of the time in which the sequence goes on the sum of the impulses of the sequence: these
push, in their cones, and their works take energy. How much friction the jump has is determined, too: what goes on to
slip has that of its normal impulse, on the line of its slip before; all else sticks. That line turns while the sequence
goes on, and pushes at their limit, N along lines that turn by an angle a, less a pull n along the last one are outside
their cone by mu N n a^2 / 2 (N - n): what such a pull takes is taken along the line of the pushes.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...integrate.contact_modes import parts_of
from ...integrate.impact.history import ImpactRecord
from ...integrate.impact.problem import kinetic
from ...mechanics.rows import Row
from ...mechanics.state import State
from .from_file import off_cones
from .recorded_impacts import STOPPED, summed
from .recorded_motion import RecordedMotion
from .saved_rows import listing, one_sided

Push = tuple[Row, Array, float]  # a row, its impulse (N s) and the work of that (J)


def rests(motion: RecordedMotion) -> float:
    """Return what is wrong where contacts come to rest: the work that they gain, relative, or how far they pull."""
    return max((_wrong(motion, one.record) for one in motion.impacts if one.record.kind == "rest"), default=0.0)


def _wrong(motion: RecordedMotion, rest: ImpactRecord) -> float:
    """Return the work of contacts from a rest on over the kinetic energy, or how far their sums are off their cones."""
    pulls = summed(rest.problems)
    ids, rows, total, work = pulls.keys(), dict[str, Row](), dict[str, Array](), 0.0
    for row, p, done in (*_struck(motion, rest.t, ids), *_pushed(motion, rest.t, ids)):
        if one_sided(row):
            work += done
            total[row.id] = total[row.id] + p if row.id in total else p
            rows[row.id] = row
    for row, _before in _slipping_on(motion, rest):
        if row.id in total and pulls[row.id][0] < 0.0:
            total[row.id] = taken_along(total[row.id] - pulls[row.id], pulls[row.id], parts_of(row)[0])
    size = kinetic(np.asarray(motion.whole.mass(rest.q)), rest.before)
    return max(work / size if size > 0.0 else 0.0, off_cones(rows.values(), total), _friction(motion, rest))


def taken_along(pushes: Array, pull: Array, slip: slice) -> Array:
    """Return the sum of pushes and a pull with the friction of the pull on the line of theirs."""
    found: Array = pushes + pull
    friction, less = float(np.linalg.norm(pushes[slip])), float(np.linalg.norm(pull[slip]))
    if friction > less:
        found[slip] = pushes[slip] * (1.0 - less / friction)
    return found


def _slipping_on(motion: RecordedMotion, rest: ImpactRecord) -> Iterator[tuple[Row, Array]]:
    """Yield rows with friction that slip after the jump, and their slip before it, m/s: zero where it begins."""
    pushes, change = summed(rest.problems), rest.after - rest.before
    state = State(t=rest.t, q=rest.q, v=rest.before)
    still = STOPPED * max(1.0, float(np.abs(rest.before).max(initial=0.0)))
    for row in rows_of(listing(motion.whole, state, pushes.keys()), state.t, state.q, state.v):
        if row.id not in pushes or not (one_sided(row) and row.frictional):
            continue
        slip = parts_of(row)[0]
        before = row.rate[slip]
        if np.linalg.norm(before + row.J[slip] @ change) > still:
            yield row, before if np.linalg.norm(before) > still else np.zeros_like(before)


def _friction(motion: RecordedMotion, rest: ImpactRecord) -> float:
    """Return how far friction of what slips after the jump is from that of slip, relative to the largest impulse."""
    pushes, off = summed(rest.problems), 0.0
    size = max((float(np.abs(p).max()) for p in pushes.values()), default=0.0)
    for row, before in _slipping_on(motion, rest):
        slip, p, speed = parts_of(row)[0], pushes[row.id], float(np.linalg.norm(before))
        if speed > 0.0:
            off = max(off, float(np.linalg.norm(p[slip] + row.mu * p[0] * before / speed)))
        else:  # it begins to slip: any way
            off = max(off, abs(float(np.linalg.norm(p[slip])) - row.mu * abs(p[0])))
    return off / (size or 1.0)


def _struck(motion: RecordedMotion, since: float, ids: Set[str]) -> Iterator[Push]:
    """Yield what rows push in the jumps of a step from a time on."""
    for one in motion.impacts:
        strike = one.record
        pushes = summed(strike.problems) if strike.kind == "rest" else one.impulses
        if strike.t < since or not ids & pushes.keys():
            continue
        state, change = State(t=strike.t, q=strike.q, v=strike.before), strike.after - strike.before
        rows = rows_of(listing(motion.whole, state, ids), state.t, state.q, state.v)
        found = [(row, pushes[row.id]) for row in rows if row.id in ids and row.id in pushes]
        works = [float(p @ (row.rate + 0.5 * (row.J @ change))) for row, p in found]
        share = 1.0 if strike.kind == "rest" else _gained(motion, strike, sum(works))
        yield from ((row, p, share * work) for (row, p), work in zip(found, works, strict=True))


def _gained(motion: RecordedMotion, strike: ImpactRecord, work: float) -> float:
    """Return how much of the work (J) of some contacts an impact has gained: what others take is not driven by these.

    One body that is struck in several places at once gains at some of them what it loses at others.
    """
    if work <= 0.0:
        return 1.0
    M = np.asarray(motion.whole.mass(strike.q))
    return min(1.0, max(0.0, kinetic(M, strike.after) - kinetic(M, strike.before)) / work)


def _pushed(motion: RecordedMotion, since: float, ids: Set[str]) -> Iterator[Push]:
    """Yield what rows push along the arcs of a step from a time on."""
    for one in motion.arcs:
        if one.arc.t < since:
            continue
        for weight, sample in zip(one.arc.weights.tolist(), one.samples, strict=True):
            for row in sample.dynamics.rows:
                if row.id in ids and row.id in sample.r:
                    p = weight * sample.r[row.id]
                    yield row, p, float(p @ row.rate)
