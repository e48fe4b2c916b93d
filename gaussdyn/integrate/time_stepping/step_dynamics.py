"""The contact problem that a step solved, evaluated again by the system's own functions.

M v+ = h + J^T p, u+ = J v+ + w. Nothing is solved here: a step says where it was evaluated, what
acted and where it ended.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, LocalDynamics, rows_of, snapshot
from ...mechanics.collision.tangent_frames import along_chart_of, may_turn_over
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System, coriolis_of
from ..stepper import Step, check_same_rows, near_of


def dynamics_of(system: System, step: Step, theta: float, activation: Activation) -> LocalDynamics:
    """Return M, h and the rows that act, on the velocity level, each with w of u+ = J v+ + w folded into its rate."""
    start, end = step.start, step.state
    near = with_contacts(system, step, step.reactions)
    t = start.t + (1.0 - theta) * step.dt
    q = near.move(start.q, start.v, (1.0 - theta) * step.dt) if step.place is None else step.place
    state = State(t=t, q=q, v=start.v)
    middle = snapshot(
        near, state, level="velocity", dt=step.dt, ahead=0.0, activation=activation, control=step.control
    )  # fmt: skip
    mean = (1.0 - theta) * start.v + theta * end.v
    force, led = _led(near, step, t, q, mean, theta)
    h = middle.M @ start.v + step.dt * force
    seen = middle.rows
    if any(row.level != "position" for row in seen):  # their J depends on v
        seen = rows_of(near, t, q, (1.0 - theta) * start.v + theta * led.v)
    there = rows_of(near, led.t, led.q, led.v)
    check_same_rows(there, seen)
    last, begin = _along(seen, there), _along(seen, rows_of(near, start.t, start.q, start.v))
    rows = tuple(
        _seen(step, one, row, last[row.id], begin[row.id], theta, activation, led.v)
        for one, row in zip(middle.rows, seen, strict=True) if row.id in step.reactions
    )  # fmt: skip
    return replace(middle, h=h, rows=rows)


def _along(seen: tuple[Row, ...], rows: tuple[Row, ...]) -> dict[str, Row]:
    """Return rows elsewhere in a step by their ids, contacts with the tangents that impulses are along."""
    here = {row.id: row for row in seen}
    return {row.id: along_chart_of(here.get(row.id, row), row) for row in rows}


def _led(system: System, step: Step, t: float, q: Array, mean: Array, theta: float) -> tuple[Array, State]:
    """Return the force of a step, and the state at whose end its laws hold: that which was foreseen, see `Step`."""
    start, end = step.start, step.state
    if step.foreseen is None:
        return system.force(t, q, mean, step.control) + coriolis_of(system, q, mean - start.v), end
    there = State(t=end.t, q=step.foreseen[: system.nq], v=step.foreseen[system.nq :])
    v = (1.0 - theta) * start.v + theta * there.v
    force = np.asarray(system.force_foreseen(t, q, v, mean, step.control))  # type: ignore[attr-defined]
    return force + coriolis_of(system, q, v - start.v), there


def with_contacts(system: System, step: Step, ids: Collection[str]) -> System:
    """Return the system with the contacts that may act within a step, and those of `ids` found where it was tried."""
    start, end = step.start, step.state
    near = near_of(system, start, step.dt)
    if not ids or not hasattr(near, "taking"):
        return near
    known = {row.id for row in rows_of(near, start.t, start.q, start.v)}
    if known.issuperset(ids):
        return near
    listed: Any = near
    for q in (*step.tries, end.q):
        listed = listed.taking(known.union(ids), near_of(system, replace(end, q=q), 0.0))
    return listed  # type: ignore[no-any-return]


def rows_at_end(system: System, step: Step, ids: Collection[str], theta: float) -> tuple[Row, ...]:
    """Return the rows at the end of a step, of the contacts that `with_contacts` lists.

    Those in space that react have the tangents of the chart at the middle, which their impulses are along.
    """
    near, start, end = near_of(system, step.start, step.dt), step.start, step.state
    rows = rows_of(near, end.t, end.q, end.v)
    if not {row.id for row in rows}.issuperset(ids):
        near = with_contacts(system, step, ids)
        rows = rows_of(near, end.t, end.q, end.v)
    if not any(row.id in ids and may_turn_over(row) for row in rows):
        return rows
    t = start.t + (1.0 - theta) * step.dt
    q = near.move(start.q, start.v, (1.0 - theta) * step.dt) if step.place is None else step.place
    return tuple(_along(rows_of(near, t, q, start.v), rows).values())


def _seen(
    step: Step, middle: Row, row: Row, end: Row, begin: Row, theta: float, activation: Activation, v_plus: Array
) -> Row:  # fmt: skip
    """Return a row at the middle as the contact problem saw it; v_plus: the velocity that `end` was evaluated for."""
    if row.level == "acceleration":
        return row
    v = step.start.v
    if step.unsettled or step.crowded:  # a joint does no work: the mean of its rates with v and with v+ vanishes
        rate = (2.0 if row.kind == "bilateral" and row.level == "position" else 1.0) * row.rate
    else:
        rate = end.rate - row.J @ (v_plus - v)
    bounce = restitution(begin, activation)
    ahead = step.crowded and row.kind in ("contact", "unilateral") and begin.gap > activation.gap
    if ahead and not step.reactions[row.id][0] > 0.0:  # what was open restores only if it pushes
        bounce = np.zeros_like(bounce)
    rate = rate + step.restitution * bounce
    if ahead and bounce[0] == 0.0:
        rate[0] += max(middle.gap, 0.0) / (theta * step.dt)
    return row.but(level="position", gap=0.0, rate=rate, eps_n=0.0, eps_t=0.0)


def restitution(row: Row, activation: Activation) -> Array:
    """Return eps times the approaching rate at the start: nothing where the contact does not approach."""
    term = np.zeros(row.size)
    sided = row.level == "position" and row.kind in ("contact", "unilateral")
    if sided and row.rate[0] < -activation.speed:
        term[0] = row.eps_n * row.rate[0]
        term[1:3] = row.eps_t * row.rate[1:3]
    return term
