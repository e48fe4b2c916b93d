"""Integration of the motion of a phase, step by step, with its impulses and its work.

`flow` asks for one step at a time (`PhaseMotion.step`) where kernels do not take many; within it Dormand and Prince's
method (`dop853`) or collocation (`stiff_slip`) is tried with shorter and shorter steps until the error is small enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn, Protocol

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, snapshot
from ...errors import interrupts
from ...mechanics.state import State
from ..dop853 import SHRINK, STAGES, Piece, Slope, Tolerance, first_length, growth, least_length
from ..impact.impact_laws import ImpactLaw
from .phase_state import Instant
from .smooth_phase import Phase
from .stiff_slip import SlipTurn, movable, slowest, turnings

STIFF, STIFF_STEPS, HOPELESS = 1.0, 50, 3e3  # Hairer, Wanner (1996), IV.2; oscillations stay near 0.5
SUSPECT = 10  # stiff steps after which a slip that turns is taken for the reason, if it is
SUSPECTED = STIFF_STEPS - 1  # and before the steps end for it
UNSTABLE = 2.0  # h times the rate at which a slip turns: up to this explicit steps serve
UNSOLVED = 1e-4  # of `SPLIT`: where shorter steps are not solved with directions as unknowns, explicit ones are tried
SHORTEST = 1e-9  # of a step: shorter pieces of it are not judged
NEARLY = 4.0 * np.finfo(np.float64).eps
OneStep = Callable[[float, Array, Array, float], Piece]  # (t, y, slope there, h)
PUSHES = 1e-11  # local error of impulses, of the momentum and the largest impulse of a step
SPLIT = 1e-2  # of the first trial of a step: shorter ones are not asked for by impulses, which may be noisy
CRAWL, CRAWLS, ENDLESS = 1e-5, 300, 1e6  # of the longest step; steps so short in a row, and how many more are too many
SHORT = 1e-3  # of the longest step: with steps so short a segment hands on to the next how long steps have been
OUTGROWN = 1e4  # times the largest force: reactions beyond that where no step is short enough come from a pole


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """Local error per step of the integrator, relative and absolute (SI); when rows are closed; the impact law.

    With a `step` (s) all steps are so long, whatever their error, but those that end at an event or at a pole.
    """

    rtol: float
    atol: float
    activation: Activation
    law: ImpactLaw
    step: float | None = None


class Kernels(Protocol):
    """A phase that is compiled, see `compiled.phase_arrays`."""

    def slope(self, t: float, y: Array, side: float = 0.0) -> Array:
        """Return the rates of y on one side of the poles of reactions, see `Instant`; 0: not known."""
        ...

    def take(self, t: float, y: Array, first: Array, h: float, side: float) -> Piece:
        """Return one step on one side of the poles of reactions."""
        ...


class Stuck(Exception):
    """The integrator cannot go on."""


class Stiff(Stuck):
    """Stability, not accuracy, makes the steps of the integrator short."""


class Slow(Stuck):
    """Steps are very short, and very many are left."""


class Crowded(Stuck):
    """Events follow one another without end."""


class Unbounded(Stuck):
    """A reaction grows without bound: the matrix that gives it becomes singular (dynamic jam)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long steps are.

    Attributes
    ----------
    h : float
        Next step of the integrator, s.
    longest : float
        Longest step so far, s.
    stiff : int
        Steps, of the last ones, that stability bounds.
    crawled : tuple of int and float
        Steps in a row that are very short without getting shorter, and the first of them, s.
    turns : bool
        Whether friction turned a slip faster than it moves in the last step.
    """

    h: float = 0.0
    longest: float = 0.0
    stiff: int = 0
    crawled: tuple[int, float] = (0, 0.0)
    turns: bool = False

    @property
    def short(self) -> bool:
        """Whether steps are so short that the next segment shall know how long they have been."""
        return self.h < SHORT * self.longest

    def bounded(self, bend: float, turning: bool) -> Pace:
        """Return the pace with whether stability, not accuracy, makes steps short, also where slips are `turning`."""
        if turning:
            turns = bend > UNSTABLE
            return replace(self, turns=turns, stiff=0 if self.turns or bend > STIFF else self.stiff + 1)
        return replace(self, stiff=self.stiff + 1 if bend > STIFF else max(0, self.stiff - 1))

    def check_stiffness(self, h: float, left: float) -> None:
        """Raise Stiff where stability has made steps short for long, and very many are left in a time (s)."""
        if self.stiff >= STIFF_STEPS and left / h > HOPELESS:
            said = f"forces are stiff, {left / h:.2g} steps of {h:.2g} s are left"
            raise Stiff(f"{said}; take MoreauJean(theta=1), or Smooth where no contact closes")

    def passed(self, wanted: float, h: float, left: float, now: Instant | None, taken: int = 1) -> Pace:
        """Return the pace after steps; raise Slow where they stay very short: towards a pole they get ever shorter.

        Parameters
        ----------
        wanted, h, left : float
            The length that was tried, the (mean) one of the last steps, and the time that is left, s.
        now : Instant or None
            Where they end, as far as that is known.
        taken : int
            How many steps that were.
        """
        longest, (steps, first) = max(self.longest, wanted, h), self.crawled
        if h > CRAWL * longest:
            return replace(self, longest=longest, crawled=(0, 0.0))
        if steps >= CRAWLS and left / h > ENDLESS:
            if now is not None and _outgrown(now):
                raise Unbounded(_jam(now))
            raise Slow(f"{steps} steps in a row are as short as {h:.2g} s, {left / h:.2g} of them are left")
        crawled = (steps + taken, first) if steps and h > 0.5 * first else (taken, h)
        return replace(self, longest=longest, crawled=crawled)

    def grown(self, h: float, off: float, most: float) -> Pace:
        """Return the pace after a step of length h; one that was cut short says nothing about longer ones."""
        grown = min(h * growth(off), most)
        return replace(self, h=grown if h >= self.h or grown < self.h else self.h)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stepped:
    """A step whose error is small enough, the instant at its end, the pace then, and how others are taken from there.

    `one_step` takes a step of any length on the same side of the poles, with the same method.
    """

    piece: Piece
    after: Instant
    pace: Pace
    one_step: OneStep


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PhaseMotion:
    """The motion of a phase as y = (q, v, impulses, work of reactions and of forces), integrated step by step.

    Attributes
    ----------
    phase : Phase
    control : Array or None
    accuracy : Accuracy
    kernels : Kernels
        The phase, compiled.
    """

    phase: Phase
    control: Array | None
    accuracy: Accuracy
    kernels: Kernels

    @property
    def tolerance(self) -> Tolerance:
        """Of places and velocities; of nothing where the lengths of steps are given."""
        n = self.phase.system.nq + self.phase.system.nv if self.accuracy.step is None else 0
        return Tolerance(self.accuracy.rtol, np.full(n, self.accuracy.atol))

    def instant(self, t: float, y: Array) -> Instant:
        """Return the phase at a point of the integrator."""
        nq = self.phase.system.nq
        return self.phase.instant(t, y[:nq], y[nq : nq + self.phase.system.nv])

    def rates(self, now: Instant) -> Array:
        """Return the rates of y at an instant."""
        system, q, v = self.phase.system, now.q, now.v
        power = system.power(now.t, q, v, self.control)
        return np.concatenate((system.qdot(q, v), now.a, *now.r, np.array((v @ now.push, power))))

    def step(self, before: Instant, pace: Pace, end: float, goal: float) -> Stepped:
        """Return one step from an instant.

        Parameters
        ----------
        end, goal : float
            When steps end at the latest, and when the run does, s.

        Raises
        ------
        Stuck
            No step is short enough, or very many are left.
        """
        t, left = before.t, end - before.t
        y = np.concatenate((before.q, before.v, np.zeros(sum(row.size for row in self.phase.rows) + 2)))
        kernels = self.kernels
        first, asked = kernels.slope(t, y), partial(kernels.slope, side=before.side)
        explicit: OneStep = partial(kernels.take, side=before.side)
        if pace.h <= 0.0:
            pace = replace(pace, h=self.accuracy.step or _first_length(asked, t, y, first, self.tolerance, left))
        turning = self._turning(before, pace, asked)
        h = left if pace.h >= left / 1.1 else min(pace.h, 0.5 * left)
        methods = (explicit,) if turning is None else (turning.take, explicit)
        piece, off, one_step = self._solved(before, (y, first), h, methods)
        collocated = one_step is not explicit
        most, left = self.accuracy.step or np.inf, max(end, goal) - piece.t_end
        after = self.instant(piece.t_end, piece.end)
        new = pace.bounded(piece.bend, collocated)
        if not collocated:
            new.check_stiffness(piece.h, left)
        new = new.passed(max(pace.h, piece.h), piece.h, left, after).grown(piece.h, off, most)
        return Stepped(piece=piece, after=after, pace=new, one_step=one_step)

    def _solved(
        self, before: Instant, start: tuple[Array, Array], h: float, methods: Sequence[OneStep]
    ) -> tuple[Piece, float, OneStep]:
        """Return a step of length h (s), or shorter, whose error is small enough, its error, and how it was taken.

        Parameters
        ----------
        start : (Array, Array)
            y and its rates.
        methods : sequence of OneStep
            Collocation, if it is tried first, and explicit steps.
        """
        (one_step, *others), split = methods, SPLIT * h
        while True:
            piece, fault = _trial(one_step, before.t, *start, h)
            collocated, off = bool(others), 0.0
            if piece is not None:
                off = piece.error if collocated or h <= split else max(piece.error, self._off(piece, before))
                if off <= 1.0:
                    return piece, off, one_step
            tried, h = h, h * (SHRINK if piece is None else growth(off))
            if off == np.inf and h < UNSOLVED * split and others:
                (one_step,), others = others, []
            if h < least_length(before.t):
                self._give_up(before, tried, piece is None, fault)

    def _off(self, piece: Piece, now: Instant) -> float:
        """Return the local error of the impulses over what is allowed; where bodies hardly turn only they show it."""
        return error_of_impulses(self.phase, piece, now.M) if self.accuracy.step is None else 0.0

    def _turning(self, now: Instant, pace: Pace, slope: Slope) -> SlipTurn | None:
        """Return what takes the step where a slip begins, or may be the reason why stability bounds the steps."""
        ones, still = turnings(self.phase), self.accuracy.activation.speed
        if self.accuracy.step is not None or not ones:
            return None
        if slowest(ones, now) <= still:
            ones = movable(self.phase, now, ones)
        due = pace.turns or slowest(ones, now) <= still or pace.stiff % SUSPECT == SUSPECT - 1
        if not due or not ones:
            return None
        return SlipTurn(
            phase=self.phase, slope=slope, slope_of=self.rates, weight=self.tolerance.weights, nq=len(now.q),
            nv=len(now.v), turning=ones,
        )  # fmt: skip

    def _give_up(self, before: Instant, tried: float, broken: bool, fault: Exception | None) -> NoReturn:
        """Raise Stuck with the reason why no step is short enough: what a function of the system does, or a pole."""
        try:  # functions are not checked at every instant
            state = State(t=before.t + tried, q=before.q, v=before.v)
            snapshot(self.phase.system, state, control=self.control)
        except Exception as error:
            if interrupts(error):
                raise
            fault = error
        if fault is not None:
            raise Stuck(str(fault)) from fault
        if before.r and (broken or _outgrown(before)):
            raise Unbounded(_jam(before))
        raise Stuck(f"steps of {tried:.2g} s are still too long")


def error_of_impulses(phase: Phase, piece: Piece, M: Array) -> float:
    """Return the local error of the impulses of a step over what is allowed; `M`: the mass where it begins."""
    nq, n = phase.system.nq, phase.system.nq + phase.system.nv
    if len(piece.y) == n + 2:
        return 0.0
    speeds = np.maximum(np.abs(piece.y[nq:n]), np.abs(piece.end[nq:n]))
    size = max(float((np.abs(M) @ speeds).max(initial=0.0)), float(np.abs(piece.end[n:-2]).max()))
    return float(piece.local[n:-2].max()) / (PUSHES * size) if size > 0.0 else 0.0


def again_to(piece: Piece, end: float, one_step: OneStep) -> Piece:
    """Integrate again from the beginning of a step to a time within it, and return the last step.

    A direction of slip is steep where the slip vanishes: there the error asks for shorter steps.
    """
    t, y, first, h = piece.t, piece.y, piece.K[0], end - piece.t
    while True:
        last = one_step(t, y, first, min(h, end - t))
        if last.error > 1.0 and last.h > SHORTEST * piece.h:
            h = last.h * growth(last.error)
            continue
        if end - last.t_end <= NEARLY * max(1.0, abs(end)):
            return last
        t, y, first, h = last.t_end, last.end, last.K[STAGES], last.h * growth(last.error)


def _first_length(slope: Slope, t: float, y: Array, first: Array, tolerance: Tolerance, left: float) -> float:
    try:
        return first_length(slope, t, y, first, tolerance.weights(y, y), left)
    except np.linalg.LinAlgError:
        return SHORTEST * left


def _trial(one_step: OneStep, t: float, y: Array, first: Array, h: float) -> tuple[Piece | None, Exception | None]:
    """Return a step; none where it meets a pole, or what a function of the system raises: a shorter one may not."""
    try:
        return one_step(t, y, first, h), None
    except np.linalg.LinAlgError:
        return None, None
    except Stuck:
        raise
    except Exception as error:
        if interrupts(error):
            raise
        return None, error


def _jam(now: Instant) -> str:
    """Return which reaction has a pole."""
    sizes = [float(np.abs(r).max(initial=0.0)) for r in now.r]
    k = int(np.argmax(sizes))
    return f"the reaction of {now.rows[k].id}, {sizes[k]:.3g} N there, grows without bound (a dynamic jam)"


def _outgrown(now: Instant) -> bool:
    """Whether a reaction is larger than forces make it."""
    return max((float(np.abs(r).max(initial=0.0)) for r in now.r), default=0.0) > OUTGROWN * float(np.abs(now.h).max())
