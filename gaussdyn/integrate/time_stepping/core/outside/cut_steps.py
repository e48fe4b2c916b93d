"""Steps that are cut: what a contact problem costs is chance, and that of a shorter step is another one.

Where the problem of a pile is not solved in few factorisations, half the step is taken instead, as a step like any
other, then as much again, for what was too long before it mostly is after it; from there on twice as much is tried
each time, up to the end of the step that was cut. The state in between remembers that end
and how much is tried next, so that runs go on to the bit. Short pieces are tried by all means the kernels have, and cut
further only where these fail. What decides are counts. A step of the core, of bodies with joints say, is cut where no
means solve it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .....arrays import Array
from .....mechanics.state import State
from .....programs.solution.status import Status
from ....stepper import CUT, Step
from ....stretch import Late
from .lazy_step import CompiledStep
from .spans import spans_of

if TYPE_CHECKING:
    from ...moreau_jean import MoreauJean

SHORT, SHORTEST = 0.3, 0.0015  # of dt: pieces from a quarter on get all means, and down to 1 / 1024 are cut
SLIVER = 1e-6  # of a piece: what would be left is taken with it
NONE = np.zeros((0, 5))
Row = tuple[float, float, float, float, float]


def _pieces(t: float, length: float, end: float, t_max: float = math.inf, grows: float = 2.0) -> Iterator[Row]:
    """Yield the pieces from t to the end, rows of a plan: the second `grows` times as long, the others twice each."""
    last = min(end, t_max)
    while t < last:
        stop = last if t + (1.0 + SLIVER) * length >= last else t + length
        length, grows = grows * (stop - t), 2.0
        yield (t, stop - t, stop, end, length) if stop < end else (t, stop - t, stop, 0.0, 0.0)
        t = stop


def end_of_cut(stepper: MoreauJean, state: State) -> tuple[float, float]:
    """Return the end of the step within which a state stands, and how much is tried next; its time and 0 elsewhere.

    What it remembers of another step, of another stepper or before its time was set, does not count.
    """
    memory = state.memory
    known = memory.others if isinstance(memory, Late) and memory.others is not None else memory  # impulses stay unmade
    if CUT not in known:
        return state.t, 0.0
    end, length = known[CUT].tolist()
    ahead = state.t < end <= state.t + (1.0 + SLIVER) * stepper.dt
    return (end, length) if ahead and length > 0.0 else (state.t, 0.0)


def pieces_ahead(stepper: MoreauJean, state: State, t_max: float) -> Array:
    """Return the plan up to the end of the step within which a state stands, none beyond `t_max`; none elsewhere."""
    end, length = end_of_cut(stepper, state)
    if length == 0.0:
        return NONE
    return np.array([*_pieces(state.t, length, end, t_max)]).reshape(-1, 5)


def next_span(stepper: MoreauJean, state: State, t_max: float) -> tuple[float, float]:
    """Return the length and the end of the next step; of a piece where a step was cut."""
    pieces = pieces_ahead(stepper, state, t_max)
    return tuple(pieces[0, 1:3].tolist()) if len(pieces) else stepper.span(state.t, t_max)


def plan_of(stepper: MoreauJean, state: State, n: int, t_max: float) -> Array:
    """Return up to n steps: rows (t, dt, t_end, end, length), the last two what the state at t_end remembers, or 0."""
    pieces = pieces_ahead(stepper, state, t_max)[:n]
    spans = spans_of(stepper, pieces[-1, 2] if len(pieces) else state.t, n - len(pieces), t_max)
    plan = np.zeros((len(pieces) + len(spans), 5))
    plan[: len(pieces)], plan[len(pieces) :, :3] = pieces, spans
    return plan


def plan_of_one(stepper: MoreauJean, state: State, dt: float, t_end: float) -> Array:
    """Return a plan of one step, which may be a piece."""
    (end, _length), plan = end_of_cut(stepper, state), np.zeros((1, 5))
    plan[0, 0], plan[0, 1], plan[0, 2] = state.t, dt, t_end
    if t_end < end:
        plan[0, 3], plan[0, 4] = end, 2.0 * dt
    return plan


def halved(plan: Array, k: int) -> Array:
    """Return a plan with half of its k-th step in place of it, and what comes after, in as many rows at most."""
    t, dt, t_end, end, _length = plan[k].tolist()
    rows = np.array([*_pieces(t, 0.5 * dt, end or t_end, grows=1.0)])
    later = plan[k + 1 :]
    return np.concatenate([plan[:k], rows, later[later[:, 0] >= rows[-1, 2]]])[: len(plan)]


class InPieces(ABC):
    """Kernels whose steps are cut where they are not solved."""

    __slots__ = ()

    @abstractmethod
    def whole(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step, solved or not."""

    def span(self, stepper: MoreauJean, state: State, t_max: float) -> tuple[float, float]:
        """Return the length and the end of the next step; of a piece where a step was cut."""
        return next_span(stepper, state, t_max)

    def advance(self, stepper: MoreauJean, state: State, dt: float, t_end: float, control: Array | None = None) -> Step:
        """Return one step; where that is not solved, the longest piece of it that is, if any is."""
        first = step = self.whole(stepper, state, dt, t_end, control)
        plan = plan_of_one(stepper, state, dt, t_end)
        while step.solution.status is Status.MAX_ITERATIONS and plan.item(0, 1) > SHORTEST * stepper.dt:
            plan = halved(plan, 0)
            step = self.whole(stepper, state, plan.item(0, 1), plan.item(0, 2), control)
        if not step.solution.solved:
            return first
        if plan.item(0, 3) == 0.0:
            return step
        end = step.state
        if isinstance(step, CompiledStep):
            step.of.ahead = plan[:, 3:]
        return step.ending(State.trusted(end.t, end.q, end.v, {**end.memory, CUT: plan[0, 3:].copy()}))
