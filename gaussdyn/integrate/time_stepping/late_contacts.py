"""Contacts that only the reactions of a step bring about: looked for where it ends, and listed late.

The contacts of a step are found where the bodies are and where they come to without reactions. A reaction may send a
body against another one that was far enough to be left out, or turn it on to another feature. What is found at the end
of the solved step, and has not been listed, is listed then; it joins like a contact that closes late, and the step is
solved again. Features beside each other have a gap below zero that means nothing: a contact that is listed late closes
where it is found at the end only, and restores nothing if its gap was below zero at the start.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import near_of
from .active_contacts import one_sided
from .position_projection import allowed
from .step_problem import Guess, ThetaProblem


def unlisted(guess: Guess) -> tuple[Row, ...]:
    """Return the contacts at the end of a step that overlap, though the step does not list them."""
    problem, q = guess.problem, guess.end.q
    if np.array_equal(q, problem.start.q):
        return ()
    here = _found(guess)
    if here is problem.whole:  # its contacts are always the same
        return ()
    known, limit = {row.id for row in guess.end.rows}, allowed(q)
    rows = rows_of(here, problem.t_end, q, guess.v_plus)
    return tuple(row for row in rows if row.id not in known and one_sided(row) and row.gap < -limit)


def late(guess: Guess) -> tuple[str, ...]:
    """Return the rows that do not act and should: of those that were listed late the ones found at the end."""
    if not guess.problem.added.intersection(guess.late):
        return guess.late
    here = {row.id for row in rows_of(_found(guess), guess.problem.t_end, guess.end.q, guess.v_plus)}
    return tuple(key for key in guess.late if key in here or key not in guess.problem.added)


def listed(problem: ThetaProblem, ids: Collection[str], q: Array, v: Array) -> ThetaProblem:
    """Return the problem with contacts that are found at a place; they do not act yet.

    Parameters
    ----------
    problem : ThetaProblem
        Of a system with `taking`.
    ids : collection of str
        What is not found there is left out.
    q, v : Array, shapes (nq,) and (nv,)
    """
    there = near_of(problem.whole, State(t=problem.t_end, q=q, v=v), 0.0)
    known = {row.id for row in problem.middle.rows}
    system: System = problem.system.taking(known.union(ids), there)  # type: ignore[attr-defined]
    middle = problem.middle
    middle = replace(middle, system=system, rows=rows_of(system, middle.t, middle.q, middle.v))
    new = {row.id for row in middle.rows} - known
    return replace(problem, system=system, middle=middle, added=problem.added | new)


def can_list(problem: ThetaProblem) -> bool:
    """Return whether the system can take contacts of another place."""
    return hasattr(problem.system, "taking")


def _found(guess: Guess) -> System:
    """Return the system with the contacts at the end of the step."""
    return near_of(guess.problem.whole, State(t=guess.problem.t_end, q=guess.end.q, v=guess.v_plus), 0.0)
