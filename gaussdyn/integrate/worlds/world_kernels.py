"""Many worlds taken through the compiled step one after the other, in one call that needs no Python."""

from __future__ import annotations

from typing import NamedTuple

from ..._jit import A2, A3, I1, I2, caller, kernel, record
from ...arrays import Array, IntArray
from ..time_stepping.core.contact_list import forget_rows
from ..time_stepping.core.evaluate import put_motion, put_poses
from ..time_stepping.core.problem.contact_problem import Problem
from ..time_stepping.core.problem.pushes import Push
from ..time_stepping.core.records import (
    AHEAD,
    ALL,
    ALL_ROWS,
    DONE,
    FASTEST,
    FIXED,
    FOREST,
    PLACED,
    PLANAR,
    REACH,
    SPATIAL,
    Data,
    Model,
    Span,
)
from ..time_stepping.core.work_space import STANDS, Work

take_step = caller("int64(Model, Data, Work, Push, Problem, Span)")


@record(A2, A2, A2, A2, I2, I2, I2, I2, I2, I2)
class Stock(NamedTuple):
    """What tells N worlds of one system apart: all that is carried from step to step.

    Attributes
    ----------
    q, v : Array, shapes (N, nq) and (N, nv)
    last : Array, shape (N, m)
        Impulses of the last step.
    placed : Array, shape (N, 1 + 13 b) or (N, 0)
        Of trees the largest speed of a point of any body, m/s, negative where this is not known, and where their
        bodies are, each with its largest speed of a point; (N, 0) where that takes no time.
    now : IntArray, shape (N, n)
        Modes of the last step.
    counts : IntArray, shape (N, 2)
        Constraints and rows of the last step.
    start : IntArray, shape (N, n + 1)
        Their first rows.
    label : IntArray, shape (N, 4 c)
        Labels of the contacts of shapes.
    place : IntArray, shape (N, c)
        Their numbers, see `Carried`.
    taken : IntArray, shape (N, 1)
        How many steps of the call were taken.
    """

    q: Array
    v: Array
    last: Array
    placed: Array
    now: IntArray
    counts: IntArray
    start: IntArray
    label: IntArray
    place: IntArray
    taken: IntArray


@record(A2, A3, I1, "Span", by_value=True)
class Call(NamedTuple):
    """What is asked for.

    Attributes
    ----------
    spans : Array, shape (steps, 3)
        Rows (t, dt, t_end).
    control : Array, shape (1 or steps, N, nu)
    which : IntArray
        The worlds.
    rules : Span
        What all steps share; its times are not of any.
    """

    spans: Array
    control: Array
    which: IntArray
    rules: Span


@record(*["int64"] * 3, by_value=True)
class Leg(NamedTuple):
    """A world, and the steps of a call that it is taken through: from `first` on, before `last`."""

    world: int
    first: int
    last: int


@kernel(f"void(Model, {A3}, int64, int64)", borrows=True)
def put_control(model: Model, control: Array, s: int, k: int) -> None:
    """Put what world k is told in step s to where the system reads it."""
    for j in range(control.shape[2]):
        if model.layout.who == PLANAR:
            model.planar.bodies[4, j] = control[s, k, j]
        elif model.layout.who == SPATIAL:
            model.mechanism.load[1, j] = control[s, k, j]
        elif model.layout.who == FOREST:
            model.forest.drives.control[j] = control[s, k, j]
        elif len(model.program.control) > 0:
            model.program.control[j] = control[s, k, j]
        else:
            model.program.push[j] = control[s, k, j]


@kernel("void(Model, Stock, int64)", borrows=True)
def fetch_places(model: Model, stock: Stock, k: int) -> None:
    """Put where the bodies of world k are, if that is known: what a run has from the end of the step before."""
    shapes, own, at = model.shapes, stock.placed[k], 1
    if len(own) == 0:
        return
    shapes.numbers[PLACED], shapes.numbers[FASTEST] = 1.0 if own[0] >= 0.0 else 0.0, own[0]
    shapes.numbers[REACH] = shapes.numbers[AHEAD] = -1.0  # lists are of other places
    if own[0] < 0.0:
        return
    for b in range(len(shapes.radius)):
        for i in range(3):
            shapes.x[b, i] = own[at + i]
            for j in range(3):
                shapes.R[b, i, j] = own[at + 3 + 3 * i + j]
        shapes.speed[b] = own[at + 12]
        at += 13


@kernel("void(Model, Data, Stock, int64)", borrows=True)
def keep_places(model: Model, data: Data, stock: Stock, k: int) -> None:
    """Put where the bodies of trees are at the end of the step into world k."""
    shapes, own, at = model.shapes, stock.placed[k], 1
    if len(own) == 0:
        return
    own[0] = put_motion(model, data.q1, data.v1)
    put_poses(model, data.q1, model.ahead)
    shapes.numbers[REACH] = -1.0
    for b in range(len(shapes.radius)):
        for i in range(3):
            own[at + i] = shapes.x[b, i]
            for j in range(3):
                own[at + 3 + 3 * i + j] = shapes.R[b, i, j]
        own[at + 12] = shapes.speed[b]
        at += 13


@kernel("boolean(Model, Stock, int64)", borrows=True)
def lists_others(model: Model, stock: Stock, k: int) -> bool:
    """Whether world k lists other contacts of shapes than the step does: those that are the same lie alike."""
    counts, place = model.layout.counts, model.carried.place
    others = counts[ALL] != stock.counts[k, ALL]
    for f in range(0 if others else counts[ALL] - counts[FIXED]):
        others = others or place[f] != stock.place[k, f]
    return bool(others)


@kernel("void(Model, Data, Work, Stock, int64)", borrows=True)
def fetch(model: Model, data: Data, work: Work, stock: Stock, k: int) -> None:
    """Put world k into the arrays of the step."""
    layout, place = model.layout, model.carried.place
    for i in range(len(data.q)):
        data.q[i] = stock.q[k, i]
    for i in range(len(data.v)):
        data.v[i] = stock.v[k, i]
    if lists_others(model, stock, k):
        layout.counts[ALL], layout.counts[ALL_ROWS] = stock.counts[k, ALL], stock.counts[k, ALL_ROWS]
        for i in range(layout.counts[ALL] + 1):
            layout.start[i] = stock.start[k, i]
        for f in range(layout.counts[ALL] - layout.counts[FIXED]):
            place[f] = stock.place[k, f]
        forget_rows(layout, data)
    for i in range(layout.counts[ALL_ROWS]):
        data.last[i] = stock.last[k, i]
    for i in range(layout.counts[ALL]):
        work.now[i] = stock.now[k, i]
    fetch_places(model, stock, k)


@kernel("void(Model, Data, Work, Stock, int64)", borrows=True)
def keep(model: Model, data: Data, work: Work, stock: Stock, k: int) -> None:
    """Put the end of the step into world k."""
    layout, plane = model.layout, model.layout.who == PLANAR
    for i in range(len(data.q)):
        stock.q[k, i] = data.q1[i]
    for i in range(len(data.v)):
        stock.v[k, i] = data.v1[i]
    if lists_others(model, stock, k):
        stock.counts[k, ALL], stock.counts[k, ALL_ROWS] = layout.counts[ALL], layout.counts[ALL_ROWS]
        for i in range(layout.counts[ALL] + 1):
            stock.start[k, i] = layout.start[i]
        for f in range(layout.counts[ALL] - layout.counts[FIXED]):
            stock.place[k, f] = model.carried.place[f]
            for c in range(4):
                stock.label[k, 4 * f + c] = model.touches.found[f, c] if plane else model.shapes.label[f, c]
    for i in range(layout.counts[ALL_ROWS]):
        stock.last[k, i] = data.last[i]
    for i in range(layout.counts[ALL]):
        stock.now[k, i] = work.now[i]
    keep_places(model, data, stock, k)


@kernel("int64(int64, Model, Data, Work, Push, Problem, Call, Leg)", borrows=True)
def take_steps(
    step: int, model: Model, data: Data, work: Work, push: Push, problem: Problem, call: Call, leg: Leg
) -> int:
    """Take a world, which was fetched, through steps of a call; return the first one not taken."""
    told, rules, s, last = len(call.control) - 1, call.rules, leg.first, leg.last
    while s < last:
        for i in range(len(data.q) if s > leg.first else 0):
            data.q[i] = data.q1[i]
        for j in range(len(data.v) if s > leg.first else 0):
            data.v[j] = data.v1[j]
        if s == leg.first or s <= told:
            put_control(model, call.control, min(s, told), leg.world)
        span = Span(
            call.spans[s, 0], call.spans[s, 1], call.spans[s, 2], rules.theta, rules.gap, rules.speed, rules.tol,
            rules.project, rules.corrects,
        )  # fmt: skip
        if take_step(step, model, data, work, push, problem, span) != DONE:
            return s
        s += 1
        while work.course[STANDS] and told < s < last and call.spans[s, 1] == span.dt:
            s += 1
    return last


@kernel("int64(int64, Model, Data, Work, Push, Problem, Stock, Call)", entry=True)
def advance_worlds(
    step: int, model: Model, data: Data, work: Work, push: Push, problem: Problem, stock: Stock, call: Call
) -> int:
    """Take some worlds through the steps of a call that they have not taken; one that cannot stands before its step.

    Returns how many could not. `step` is the address of `take_step` of the core.
    """
    left, last = 0, len(call.spans)
    for k in call.which:
        first = stock.taken[k, 0]
        fetch(model, data, work, stock, k)
        at = take_steps(step, model, data, work, push, problem, call, Leg(k, first, last))
        if at < last:
            left += 1
            model.carried.place[:] = -1  # no world's: it ended in between
        if first < at < last:  # the steps before that one, once more
            fetch(model, data, work, stock, k)
            take_steps(step, model, data, work, push, problem, call, Leg(k, first, at))
        if at > first:
            keep(model, data, work, stock, k)
        stock.taken[k, 0] = at
    return left
