"""Pairs of steps as long as a tolerance allows, many in one call; the rule is that of `pace`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...._jit import A1, A2, I1, I2, kernel, record
from ....arrays import Array, IntArray
from ..kept import Kept
from ..pace import (
    AHEAD,
    ERROR,
    KIND,
    Aim,
    Three,
    accept,
    end_of,
    go_behind,
    halve,
    judge,
    kept_pair,
    kind_of,
    observed,
    observes,
    off,
    refuse,
)
from .contact_list import list_contacts, recall, searches
from .keep import keep_memory, keep_rows, keep_step
from .records import ALL, ALL_ROWS, DONE, FIXED, FIXED_ROWS, ROOM, Data, Model, Span
from .step import Simulation, take_step
from .work_space import UNSEEN, Work

BEGIN, WHOLE, LAST = range(3)  # spots
REJECTED, FORCED, ORDER = range(3)  # columns of `Pairs.sizing`


@record(*[A2] * 3, *[I2] * 4)
class Spots(NamedTuple):
    """States from which steps are taken again: where a pair begins, where its whole step ends, where the pair ends.

    Attributes
    ----------
    q, v, last : Array, shapes (3, nq), (3, nv) and (3, m)
    now, start, place, counts : IntArray, shapes (3, n), (3, n + 1), (3, c) and (3, 2)
        See `Work.now`, `Layout.start`, `Carried.place` and `Layout.counts`.
    """

    q: Array
    v: Array
    last: Array
    now: IntArray
    start: IntArray
    place: IntArray
    counts: IntArray


@record("Spots", "Kept", I1, A1, A1, A1, A2, A2, A2)
class Pairs(NamedTuple):
    """What pairs of steps leave behind, and work space.

    Attributes
    ----------
    spots : Spots
    whole : Kept
        Steps over a whole pair, of which the last one counts.
    tags : IntArray
        See `pace.kind_of`.
    pace, trial, kinds : Array, shapes (10,), (4,) and (3,)
        See `pace.Aim` and `pace.judge`.
    spans : Array, shape (n, 3)
        Start, length and end of the steps, s.
    paces : Array, shape (n, 10)
        What states remember after them.
    sizing : Array, shape (n, 3)
        In rows of first steps: how many pairs were rejected before, whether it is too far off nevertheless, the order
        where it was observed, else NaN.
    """

    spots: Spots
    whole: Kept
    tags: IntArray
    pace: Array
    trial: Array
    kinds: Array
    spans: Array
    paces: Array
    sizing: Array


@kernel("void(Model, Data, Work, Spots, int64)", borrows=True)
def leave(model: Model, data: Data, work: Work, spots: Spots, a: int) -> None:
    """Keep where the next step begins."""
    layout = model.layout
    for i in range(len(data.q)):
        spots.q[a, i] = data.q[i]
    for j in range(len(data.v)):
        spots.v[a, j] = data.v[j]
    spots.counts[a, ALL], spots.counts[a, ALL_ROWS] = layout.counts[ALL], layout.counts[ALL_ROWS]
    for k in range(layout.counts[ALL]):
        spots.now[a, k], spots.start[a, k] = work.now[k], layout.start[k]
    spots.start[a, layout.counts[ALL]] = layout.counts[ALL_ROWS]
    for i in range(layout.counts[ALL_ROWS]):
        spots.last[a, i] = data.last[i]
    for f in range(layout.counts[ALL] - layout.counts[FIXED]):
        spots.place[a, f] = model.carried.place[f]


@kernel("boolean(Model, Data, Work, Spots, int64, float64)", borrows=True)
def enter(model: Model, data: Data, work: Work, spots: Spots, a: int, dt: float) -> bool:
    """Have the next step begin where another one did, as if its state had been loaded; False if contacts do not fit."""
    layout, carried = model.layout, model.carried
    fixed, rows = layout.counts[FIXED], layout.counts[FIXED_ROWS]
    layout.counts[ALL], layout.counts[ALL_ROWS] = fixed, rows
    for i in range(len(data.q)):
        data.q[i] = spots.q[a, i]
    for j in range(len(data.v)):
        data.v[j] = spots.v[a, j]
    for i in range(len(data.last)):
        data.last[i] = spots.last[a, i] if i < rows else 0.0
    for k in range(len(work.now)):
        work.now[k] = spots.now[a, k] if k < fixed else -1
    if not searches(model):
        return True
    if not list_contacts(model, data, work.now, dt):
        return False
    carried.known[0] = spots.counts[a, ALL] - fixed
    for f in range(carried.known[0]):
        carried.place_then[f], carried.start_then[f] = spots.place[a, f], spots.start[a, fixed + f]
        carried.now_then[f] = spots.now[a, fixed + f]
    for i in range(rows, spots.counts[a, ALL_ROWS]):
        carried.last_then[i] = spots.last[a, i]
    recall(layout, carried, data.last, work.now)
    return True


@kernel("int64(Simulation, Span, float64, float64)")
def take_to(sim: Simulation, rules: Span, t: float, t_end: float) -> int:
    """Take the step from t to t_end, and have the next one begin there; DONE, or why not."""
    span = Span(
        t, t_end - t, t_end, rules.theta, rules.gap, rules.speed, rules.tol, rules.project, rules.corrects
    )  # fmt: skip
    return int(take_step(sim.model, sim.data, sim.work, sim.push, sim.problem, span))


@kernel("void(Data)", borrows=True)
def go_to_end(data: Data) -> None:
    """Have the next step begin where this one ends."""
    for i in range(len(data.q)):
        data.q[i] = data.q1[i]
    for j in range(len(data.v)):
        data.v[j] = data.v1[j]


@kernel("int64(Simulation, Span, Pairs, float64, float64)")
def take_whole(sim: Simulation, rules: Span, pairs: Pairs, t: float, t_end: float) -> int:
    """Take one step from t to t_end, which is not recorded."""
    model, data, work = sim.model, sim.data, sim.work
    work.course[UNSEEN] = 1
    code = take_to(sim, rules, t, t_end)
    work.course[UNSEEN] = 0
    if code == DONE:
        keep_memory(model, data, pairs.whole, 0)
        keep_rows(model, data, work, pairs.whole, 0)
        go_to_end(data)
    return code


@kernel("int64(Simulation, Span, Pairs, Kept, int64, float64, float64)")
def take_half(sim: Simulation, rules: Span, pairs: Pairs, kept: Kept, s: int, t: float, t_end: float) -> int:
    """Take step s from t to t_end."""
    code = take_to(sim, rules, t, t_end)
    if code == DONE:
        for k in range(kept.label.shape[1]):  # of a longer one that was rejected
            kept.label[s, k] = 0
        keep_step(sim.model, sim.data, sim.work, sim.push, kept, s)
        pairs.spans[s, 0], pairs.spans[s, 1], pairs.spans[s, 2] = t, t_end - t, t_end
        go_to_end(sim.data)
    return code


@kernel("int64(Simulation, Span, Aim, Pairs, Kept, int64, float64, float64)")
def try_pair(sim: Simulation, rules: Span, aim: Aim, pairs: Pairs, kept: Kept, s: int, t: float, t_end: float) -> int:
    """Take one step from t to t_end, and two, s and s + 1, from the same spot; judge them. DONE, or why not."""
    (model, data, work, _push, _problem), spots = sim, pairs.spots
    fixed, half = model.layout.counts[FIXED], t + 0.5 * (t_end - t)
    code = take_whole(sim, rules, pairs, t, t_end)
    if code != DONE:
        return code
    pairs.kinds[0] = kind_of(pairs.whole, 0, fixed, pairs.tags)
    leave(model, data, work, spots, WHOLE)
    if not enter(model, data, work, spots, BEGIN, half - t):
        return ROOM
    code = take_half(sim, rules, pairs, kept, s, t, half)
    if code == DONE:
        code = take_half(sim, rules, pairs, kept, s + 1, half, t_end)
    if code != DONE:
        return code
    pairs.kinds[1], pairs.kinds[2] = kind_of(kept, s, fixed, pairs.tags), kind_of(kept, s + 1, fixed, pairs.tags)
    steps = Three(spots.v[BEGIN], spots.q[WHOLE], spots.v[WHOLE], kept.v[s], kept.q[s + 1], kept.v[s + 1])
    judge(steps, pairs.kinds, aim, t_end - t, pairs.pace[KIND], pairs.trial)
    return DONE


@kernel("int64(Simulation, Span, Aim, Pairs, int64, float64, float64)")
def observe(sim: Simulation, rules: Span, aim: Aim, pairs: Pairs, s: int, t: float, t_end: float) -> int:
    """Note the order, from steps of twice the length, beside a pair from t to t_end; DONE, or why they failed."""
    (model, data, work, _push, _problem), spots = sim, pairs.spots
    fixed, end = model.layout.counts[FIXED], t + 2.0 * (t_end - t)
    leave(model, data, work, spots, LAST)
    if not enter(model, data, work, spots, BEGIN, end - t):
        return ROOM
    code = take_whole(sim, rules, pairs, t, end)
    if code != DONE:
        return code
    alike, q, v = kind_of(pairs.whole, 0, fixed, pairs.tags) == pairs.kinds[2], data.q.copy(), data.v.copy()
    if not enter(model, data, work, spots, WHOLE, end - t_end):
        return ROOM
    code = take_whole(sim, rules, pairs, t_end, end)
    if code != DONE:
        return code
    if alike and kind_of(pairs.whole, 0, fixed, pairs.tags) == pairs.kinds[2]:
        fine = off(spots.q[WHOLE], spots.v[WHOLE], spots.q[LAST], spots.v[LAST], aim)
        pairs.sizing[s, ORDER] = observed(off(q, v, data.q, data.v, aim), fine)
    return DONE if enter(model, data, work, spots, LAST, t_end - t) else ROOM


@kernel("int64(Simulation, Span, Aim, Pairs, Kept, int64, float64)")
def take_pair(sim: Simulation, rules: Span, aim: Aim, pairs: Pairs, kept: Kept, s: int, t: float) -> int:
    """Take steps s and s + 1 from t on, as long as the tolerance allows; DONE, or why not."""
    (model, data, work, _push, _problem), pace, trial = sim, pairs.pace, pairs.trial
    length, rejected, asked, t_end = min(pace[AHEAD], aim.longest), 0, t, t
    leave(model, data, work, pairs.spots, BEGIN)
    while True:
        asked = max(length, aim.shortest)
        t_end = end_of(t, asked, aim.t_max)
        code = try_pair(sim, rules, aim, pairs, kept, s, t, t_end)
        if code != DONE:
            return code
        if kept_pair(trial, asked, aim):
            break
        rejected += 1
        length = refuse(pace, t, t_end - t, trial, aim.order)
        if not enter(model, data, work, pairs.spots, BEGIN, length):
            return ROOM
    accept(pace, t_end - t, asked, trial, aim.order)
    pairs.sizing[s, REJECTED], pairs.sizing[s, FORCED], pairs.sizing[s, ORDER] = rejected, trial[ERROR] > 1.0, math.nan
    if observes(pace, trial, t, t_end - t, aim):
        code = observe(sim, rules, aim, pairs, s, t, t_end)
        if code != DONE:
            return code
    halve(pace, pairs.spans[s, 2], t_end, aim)
    for k in range(len(pace)):
        pairs.paces[s, k] = pace[k]
    go_behind(pace, t_end)
    for k in range(len(pace)):
        pairs.paces[s + 1, k] = pace[k]
    return DONE


@kernel(f"int64(Simulation, Span, Aim, Pairs, {I1}, Kept, float64)", entry=True)
def take_pairs(sim: Simulation, rules: Span, aim: Aim, pairs: Pairs, count: IntArray, kept: Kept, t: float) -> int:
    """Take pairs of steps from t on, up to the end of the run or as many as there is room for; DONE, or why not.

    count[0]: how many steps have been taken.
    """
    while count[0] + 2 <= len(kept.log) and t < aim.t_max:
        code = take_pair(sim, rules, aim, pairs, kept, count[0], t)
        if code != DONE:
            return code
        count[0] += 2
        t = pairs.spans[count[0] - 1, 2]
    return DONE


def room_of(n: int, shapes: tuple[int, int, int, int], whole: Kept, ids: IntArray) -> Pairs:
    """Return room for n steps of a system with so many coordinates, velocities, constraints and rows; ids: tags."""
    nq, nv, R, m = shapes
    numbers = [np.zeros((3, k), dtype=np.int64) for k in (R, R + 1, R, 2)]
    spots = Spots(np.zeros((3, nq)), np.zeros((3, nv)), np.zeros((3, m)), *numbers)
    return Pairs(
        spots, whole, ids, np.zeros(10), np.zeros(4), np.zeros(3), np.zeros((n, 3)), np.zeros((n, 10)), np.zeros((n, 3))
    )  # fmt: skip
