"""Steps as long as a tolerance allows: one step beside two of half its length, of which the two are kept.

Every step that is kept is one of Moreau and Jean, with its laws at its end, and is checked and rebuilt as any other.
Where all three have the same contacts that push in the same way the motion is smooth and the scheme of order p (2 for
theta = 1/2): Richardson's extrapolation says that the two are off by 1 / (2^p - 1) of what they differ from the one.
Elsewhere an event lies within, whose time is known to within a step only; the three may agree on a wrong one, so that
what the second half adds to a uniform change of the velocity counts, too, or all that the first half changes if the
event is in it, unless a half is shorter than the tolerance (an impact). An event is closed in by halves, as a root is
by bisection: what lies before it is stepped over, and the smooth steps go on behind it as long as they were. (One in
the last quarter may be seen by the next pair only.)

All that a next step must know stands in the memory of the state, so that runs go on to the bit.

Sources: Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.4; Kurtz, Castro (2025), CENIC:
convex error-controlled numerical integration for contact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from ...arrays import EPS, Array
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Control, Sizing, Step
from .core.outside.lazy_step import put
from .tolerance import Tolerance

if TYPE_CHECKING:
    from .moreau_jean import MoreauJean

SIZE = "moreau_jean:size"  # in the memory of a state
SAFETY, SHRINK, GROW = 0.9, 0.1, 5.0  # of the step that the estimate allows; the most that it changes at once
SHORTEST = 1e-4  # of the absolute tolerance, s: 10 km/s pass it in such a step
LONGEST = 20.0  # times dt
NEVER = -1e300  # a time: what states remember is finite
PROBED = 32  # of so many pairs the order is observed in one
SEEN = 1e-4  # of the tolerance: a difference that is the scheme's, and not rounding
Take = Callable[[State, float], Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What a state remembers.

    Attributes
    ----------
    ahead : float
        The length of the pair of steps that is tried next, s.
    smooth : float
        That of smooth motion, to be taken up behind an event, s.
    event : float
        A time before which there is an event that is being closed in, s; NEVER without.
    end : float
        Where the second step of a pair ends that begins here, s; NEVER where a new pair does.
    pairs : float
        Taken so far.
    kind : float
        How the contacts push at the end of a pair, see `_kind`; -1 where that is not known.
    """

    ahead: float
    smooth: float
    event: float = NEVER
    end: float = NEVER
    pairs: float = 0.0
    kind: float = -1.0

    @classmethod
    def of(cls, memory: Mapping[str, Array], first: float) -> Pace:
        """Return what a state remembers, or what a run begins with."""
        if SIZE not in memory:
            return cls(ahead=first, smooth=first)
        return cls(**dict(zip(cls.__slots__, memory[SIZE].tolist(), strict=True)))

    def as_memory(self) -> Array:
        """Return it as an array."""
        return np.array([getattr(self, name) for name in self.__slots__])

    def behind(self, t: float) -> Pace:
        """Return the pace from a time on to which a pair led: halfway to a known event, as before behind it."""
        if self.event > t:
            return replace(self, ahead=0.5 * (self.event - t), pairs=self.pairs + 1.0)
        return replace(self, ahead=self.smooth, event=NEVER, pairs=self.pairs + 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One step, and two of half its length.

    Attributes
    ----------
    length : float
        s.
    full, first, second : Step
    error : float
        Of the two, as an estimate; 1 is the tolerance.
    smooth : bool
        Whether all three have the same contacts that push in the same way, that of the start.
    early : bool
        Whether something happens in the first half.
    kind : float
        How they push at the end.
    """

    length: float
    full: Step
    first: Step
    second: Step
    error: float
    smooth: bool
    early: bool
    kind: float

    def allowed(self, order: int) -> float:
        """Return the length that the estimate allows, s."""
        factor = SAFETY * max(self.error, 1e-30) ** (-1.0 / (order + 1)) if self.error < math.inf else SHRINK
        return self.length * min(max(factor, SHRINK), GROW)


def advance_within(
    stepper: MoreauJean, tolerance: Tolerance, system: System, state: State, t_max: float, control: Control | None
) -> Step:  # fmt: skip
    """Return the next step: the first one of a pair that keeps the tolerance, or the second one of such a pair.

    Raises
    ------
    InputError
        A function of the system or the control returns NaN or a wrong shape.
    """
    fixed, pace = replace(stepper, step=None), Pace.of(state.memory, stepper.dt)

    def take(start: State, t_end: float) -> Step:
        return replace(fixed, dt=t_end - start.t).advance(system, start, t_end, control=control)

    if state.t < pace.end <= t_max:
        return _remembering(take(state, pace.end), replace(pace, end=NEVER).behind(pace.end))
    order = 2 if stepper.theta == 0.5 else 1
    longest = LONGEST * stepper.dt if tolerance.longest is None else tolerance.longest
    trial, pace, rejected = _accepted(take, tolerance, state, replace(pace, end=NEVER), (t_max, longest), order)
    if not trial.first.solution.solved:
        return trial.first
    observed = _observed(take, tolerance, state, trial, t_max) if pace.pairs % PROBED == 0 else None
    second = _remembering(trial.second, pace.behind(trial.second.state.t)) if trial.second.solution.solved else None
    found = Sizing(rejected=rejected, forced=trial.error > 1.0, order=observed, then=second)
    return _remembering(trial.first, replace(pace, end=trial.second.state.t), found)


def _accepted(
    take: Take, tolerance: Tolerance, state: State, pace: Pace, limits: tuple[float, float], order: int
) -> tuple[Trial, Pace, int]:  # fmt: skip
    """Return the first pair that keeps the tolerance, or is as short as can be, and how many did not keep it."""
    t_max, longest = limits
    shortest = max(SHORTEST * tolerance.absolute, 64.0 * EPS * abs(t_max))
    length, rejected = min(pace.ahead, longest), 0
    while True:
        trial = _tried(take, tolerance, state, max(length, shortest), t_max, order, pace.kind)
        if trial.error <= 1.0 or trial.length <= shortest:
            return trial, _passed(pace, trial, order), rejected
        rejected += 1
        if trial.smooth:
            length = min(trial.allowed(order), 0.5 * trial.length)
        else:
            half = 0.5 * trial.length
            pace = replace(pace, event=state.t + (half if trial.early else trial.length))
            length = 0.5 * half if trial.early else half


def _passed(pace: Pace, trial: Trial, order: int) -> Pace:
    """Return the pace after a pair that is kept: smooth steps are as long as the estimate allows."""
    pace = replace(pace, kind=trial.kind)
    if not trial.smooth:
        return replace(pace, event=NEVER)
    if pace.event > NEVER:
        return pace
    shortened = trial.length < 0.5 * pace.ahead  # by the end of the run
    return pace if shortened else replace(pace, smooth=trial.allowed(order))


def _tried(
    take: Take, tolerance: Tolerance, state: State, length: float, t_max: float, order: int, known: float
) -> Trial:  # fmt: skip
    """Take the three steps; known: how contacts pushed at the end of the last pair."""
    t_end = t_max if state.t + length * (1.0 + 1e-6) >= t_max else state.t + length
    length = t_end - state.t
    full, first = take(state, t_end), take(state, state.t + 0.5 * length)
    second = take(first.state, t_end) if first.solution.solved else first
    whole = Trial(
        length=length, full=full, first=first, second=second, error=math.inf, smooth=True, early=True, kind=known
    )
    if not (full.solution.solved and second.solution.solved and full.state.t == second.state.t == t_end):
        return whole  # or one was cut
    kinds = _kind(full), _kind(first), _kind(second)
    early = kinds[1] != known and known >= 0.0
    smooth = not early and len(set(kinds)) == 1
    error = tolerance.error(full.state, second.state) / (2.0**order - 1.0 if smooth else 1.0)
    if not smooth:
        uniform = state.v if early else 2.0 * first.state.v - state.v
        change = tolerance.off(uniform, first.state.v if early else second.state.v)
        error = max(error, min(change, 0.5 * length / tolerance.absolute))
    return replace(whole, error=error, smooth=smooth, early=early, kind=kinds[2])


def _kind(step: Step) -> float:
    """Return a number that says which contacts push, which of them stick or slip, and which way in the plane."""
    found = []
    for id, p in step.reactions.items():
        if np.any(p):
            mode = step.modes.get(id, "")
            found.append((id, mode, math.copysign(1.0, p[-1]) if mode == "slip" and len(p) < 3 else 0.0))
    return float(crc32(repr(sorted(found)).encode()))


def _observed(take: Take, tolerance: Tolerance, state: State, trial: Trial, t_max: float) -> float | None:
    """Return the order at which the error falls with the length, from steps of twice the length; None where unseen."""
    t_end = state.t + 2.0 * trial.length
    if not trial.smooth or t_end > t_max or trial.error < SEEN:
        return None
    double, again = take(state, t_end), take(trial.full.state, t_end)
    solved = double.solution.solved and again.solution.solved and double.state.t == again.state.t == t_end
    if not (solved and _kind(double) == _kind(again) == trial.kind):
        return None
    fine = tolerance.error(trial.full.state, trial.second.state)
    coarse = tolerance.error(double.state, again.state)
    return math.log2(coarse / fine) - 1.0 if coarse > 0.0 else None


def _remembering(step: Step, pace: Pace, sizing: Sizing | None = None) -> Step:
    """Return a step that has just been made, with what the next one must know."""
    end = step.state
    state = State.trusted(end.t, end.q, end.v, {**end.memory, SIZE: pace.as_memory()})
    put(step, {"state": state, "sizing": sizing})
    return step
