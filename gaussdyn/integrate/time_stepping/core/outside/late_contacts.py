"""Steps whose contacts Python lists: of systems that find their own, and where a contact comes about within the step.

The contacts of a step are found where the bodies are and where they come to without reactions. A reaction may send a
body against another one that was far enough to be left out, or turn it on to another feature. What is found at the end
of the solved step, and has not been listed, is listed then, and the step is taken again: it joins like a contact that
closes late, and restores by how fast it approached at the start, as in kernels. Features beside each other have a gap
below zero that means nothing: a contact that is listed late closes where it is found at the end only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .....arrays import Array
from .....contact.snapshot import Activation, rows_of
from .....mechanics.rows import Row
from .....mechanics.state import State
from .....mechanics.system import System
from .....programs.solution.status import Status
from ....stepper import Step, near_of
from ...scheme import ALLOWED, ROUNDING, SEARCHES
from ...step_dynamics import restitution
from ..records import Data, Layout
from .lazy_step import CompiledStep, put

Joins = Mapping[str, bool]  # of contacts that were listed late: whether they join
Take = Callable[[System, Joins], tuple[Step, tuple[str, ...]]]


def advance_listing(take: Take, system: System, state: State, dt: float) -> Step:
    """Return one step of a system, with the contacts that it lists, and those that are found where it ends.

    Parameters
    ----------
    take : callable
        Takes the step of a system whose rows are always the same; returns it and the ids of all rows.
    system, state, dt : System, State, float
    """
    local, joins, own, tries = near_of(system, state, dt), dict[str, bool](), set[str](), list[Array]()
    for _ in range(SEARCHES):
        step, ids = take(local, joins)
        own = own or set(ids)
        known = {id for id in ids if joins.get(id, True)}
        deep = _unlisted(system, local, step, known) if step.solution.solved else ()
        if isinstance(step, CompiledStep):  # else it has failed
            step.of.tried = tuple(tries)
        if not deep:
            return step
        if not hasattr(local, "taking"):  # so that it is seen at least
            put(step, {"rows": (*step.rows, *deep)})
            return step
        tries.append(step.state.q)
        local = local.taking({*ids, *(row.id for row in deep)}, near_of(system, step.state, 0.0))
        listed, late = {row.id for row in rows_of(local, state.t, state.q, state.v)}, {row.id for row in deep}
        joins = {id: id in late or joins.get(id, False) for id in listed - own}
    words = f"{deep[0].id} overlapped by {-deep[0].gap:.3g} m at the end of the step, the {SEARCHES}th time that others"
    message = f"{words} were put right; take a smaller step"
    put(step, {"solution": step.solution.but(status=Status.MAX_ITERATIONS, message=message)})
    return step


def _unlisted(system: System, local: System, step: Step, known: set[str]) -> tuple[Row, ...]:
    """Return the contacts at the end of a step that overlap, though the step does not list them."""
    end = step.state
    if np.array_equal(end.q, step.start.q):
        return ()
    here = near_of(system, end, 0.0)
    if here is system and local is system:  # its contacts are always the same
        return ()
    limit = max(ALLOWED, ROUNDING * float(np.abs(end.q).max(initial=0.0)))
    rows = rows_of(here, end.t, end.q, end.v)
    sided = [row for row in rows if row.level == "position" and row.kind in ("unilateral", "contact")]
    return tuple(row for row in sided if row.id not in known and row.gap < -limit)


def restrict(
    layout: Layout, data: Data, ids: tuple[str, ...], joins: Joins, begin: Mapping[str, Row], activation: Activation
) -> None:
    """Let contacts that were listed late act from the beginning, or not at all; `begin` are the rows at the start."""
    for k, id in enumerate(ids):
        if id in joins:
            data.acts[k], data.joined[k] = int(joins[id]), 1 if joins[id] else -1
            data.bounce[layout.start[k] : layout.start[k + 1]] = restitution(begin[id], activation)
