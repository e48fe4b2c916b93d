"""Steps as long as a tolerance allows, one by one: one step beside two of half its length, of which the two are kept.

The rule is that of `pace`. Kernels take most pairs by themselves (`core.pairs`); here are those of many free bodies,
those that kernels need help with, and those that are looked at in between. Every step that is
kept is one of Moreau and Jean, with its laws at its end, and is checked and rebuilt as any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import SIZE, Control, Sizing, Step, held_control
from .core.outside.lazy_step import CompiledStep, put
from .core.within import aim_of, pace_of
from .pace import (
    AHEAD,
    END,
    ENDS_AS,
    ERROR,
    KIND,
    Aim,
    Three,
    accept,
    end_of,
    go_behind,
    halfway,
    halve,
    judge,
    kept_pair,
    observed,
    observes,
    off,
    refuse,
)

if TYPE_CHECKING:
    from .moreau_jean import MoreauJean
    from .tolerance import Tolerance

Take = Callable[[State, float], Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One step, and two of half its length; what they are like as `pace.judge` puts it."""

    length: float
    full: Step
    first: Step
    second: Step
    like: Array


def advance_within(
    stepper: MoreauJean, tolerance: Tolerance, system: System, state: State, t_max: float, control: Control | None
) -> Step:  # fmt: skip
    """Return the next step: the first one of a pair that keeps the tolerance, or the second one of such a pair.

    Raises
    ------
    InputError
        A function of the system or the control returns NaN or a wrong shape.
    """
    pace, aim = pace_of(state.memory, stepper.dt), aim_of(stepper, tolerance, t_max)
    kernels = stepper.kernels(system, state)

    def take(start: State, t_end: float) -> Step:
        """Return the step from a state to a time."""
        held, fixed = held_control(control, start), replace(stepper, dt=t_end - start.t)
        return kernels.advance(fixed, start, *kernels.span(fixed, start, t_end), held)

    if halfway(pace, state.t, aim):
        end = float(pace[END])
        go_behind(pace, end)
        return _remembering(take(state, end), pace)
    trial, rejected = _accepted(take, state, pace, aim)
    if not trial.first.solution.solved:
        return trial.first
    order, error, end = _observed(take, state, trial, pace, aim), trial.like[ERROR], trial.second.state.t
    halve(pace, trial.first.state.t, end, aim)
    behind = pace.copy()
    go_behind(behind, end)
    second = _remembering(trial.second, behind) if trial.second.solution.solved else None
    return _remembering(trial.first, pace, Sizing(rejected=rejected, forced=error > 1.0, order=order, then=second))


def _accepted(take: Take, state: State, pace: Array, aim: Aim) -> tuple[Trial, int]:
    """Return the first pair that keeps the tolerance, or is as short as can be, and how many did not keep it."""
    length, rejected = min(float(pace[AHEAD]), aim.longest), 0
    while True:
        asked = max(length, aim.shortest)
        trial = _tried(take, state, asked, float(pace[KIND]), aim)
        if kept_pair(trial.like, asked, aim):
            accept(pace, trial.length, asked, trial.like, aim.order)
            return trial, rejected
        rejected += 1
        length = refuse(pace, state.t, trial.length, trial.like, aim.order)


def _tried(take: Take, state: State, length: float, known: float, aim: Aim) -> Trial:
    """Take the three steps; known: how contacts pushed at the end of the last pair."""
    t_end = end_of(state.t, length, aim.t_max)
    length, like = t_end - state.t, np.array([math.inf, 1.0, 1.0, known])
    full, first = take(state, t_end), take(state, state.t + 0.5 * length)
    second = take(first.state, t_end) if first.solution.solved else first
    if full.solution.solved and second.solution.solved and full.state.t == second.state.t == t_end:  # none was cut
        q, v = second.state.q, second.state.v
        steps = Three(state.v, full.state.q, full.state.v, first.state.v, q, v)
        judge(steps, np.array([_kind(full), _kind(first), _kind(second)]), aim, length, known, like)
    return Trial(length=length, full=full, first=first, second=second, like=like)


def _kind(step: Step) -> float:
    """Return how contacts push, see `pace.kind_of`."""
    assert isinstance(step, CompiledStep)  # all that are solved are
    return step.kind()


def _observed(take: Take, state: State, trial: Trial, pace: Array, aim: Aim) -> float | None:
    """Return the order at which the error falls with the length, from steps of twice the length; None where unseen."""
    if not observes(pace, trial.like, state.t, trial.length, aim):
        return None
    middle, t_end = trial.full.state, state.t + 2.0 * trial.length
    double, again = take(state, t_end), take(middle, t_end)
    solved = double.solution.solved and again.solution.solved and double.state.t == again.state.t == t_end
    if not (solved and _kind(double) == _kind(again) == trial.like[ENDS_AS]):
        return None
    order = observed(_apart(double.state, again.state, aim), _apart(middle, trial.second.state, aim))
    return None if math.isnan(order) else order


def _apart(one: State, other: State, aim: Aim) -> float:
    """Return how far two states are apart; 1 is the tolerance."""
    return off(one.q, one.v, other.q, other.v, aim)


def _remembering(step: Step, pace: Array, sizing: Sizing | None = None) -> Step:
    """Return a step that has just been made, with what the next one must know."""
    end = step.state
    state = State.trusted(end.t, end.q, end.v, {**end.memory, SIZE: pace})
    put(step, {"state": state, "sizing": sizing})
    return step
