"""Integration of the motion of a phase, step by step, with its impulses and its work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, Protocol

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, snapshot
from ...errors import interrupts
from ...mechanics.state import State
from ..dop853 import SHRINK, STAGES, Piece, Tolerance, first_length, growth, least_length, take
from ..impact.impact_laws import ImpactLaw
from .phase_state import Instant
from .smooth_phase import Phase
from .stiff_slip import SlipTurn, movable, slowest, turnings

STIFF, STIFF_STEPS, HOPELESS = 1.0, 50, 3e3  # Hairer, Wanner (1996), IV.2; oscillations stay near 0.5
SUSPECT = 10  # stiff steps after which a slip that turns is taken for the reason, if it is
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
WILD = 1e60  # numbers of a trial beyond this, SI, come from a pole


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

    @property
    def side(self) -> float:
        """Of the last state, see `Instant`."""
        ...

    def slope(self, t: float, y: Array) -> Array:
        """Return the rates of y."""
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


class Unbounded(Stuck):
    """A reaction grows without bound: the matrix that gives it becomes singular (dynamic jam)."""


@dataclass(slots=True, kw_only=True, eq=False)
class PhaseIntegrator:
    """What the integrator knows while it runs.

    Attributes
    ----------
    control : Array or None
    accuracy : Accuracy
    t, q, v : float, Array, Array
        Where it is.
    h : float
        Next step of the integrator, s.
    phase : Phase or None
    now : Instant or None
    stiff : int
        Steps, of the last ones, that stability bounds.
    longest : float
        Longest step so far, s.
    crawled : tuple of int and float
        Steps in a row that are very short without getting shorter, and the first of them, s.
    side : float
        Of the running step, see `Instant`: beyond a pole there is no motion to go on with.
    turning : SlipTurn or None
        What takes the running step where friction turns a slip faster than it moves.
    turns : bool
        Whether it did so in the last step.
    fault : Exception or None
        What a function of the system raised within the step that was tried last.
    goal : float
        When the run ends, s, where that is known: it may have many segments.
    kernels : Kernels or None
        Of the phase, where it is compiled.
    """

    control: Array | None
    accuracy: Accuracy
    t: float
    q: Array
    v: Array
    h: float = 0.0
    phase: Phase | None = None
    now: Instant | None = None
    stiff: int = 0
    longest: float = 0.0
    crawled: tuple[int, float] = (0, 0.0)
    side: float = 0.0
    turning: SlipTurn | None = None
    turns: bool = False
    fault: Exception | None = None
    goal: float = 0.0
    kernels: Kernels | None = None

    def _slope(self, t: float, y: Array) -> Array:
        """Return the rates of (q, v, impulses, work of reactions and of forces); LinAlgError at and beyond a pole."""
        if self.kernels is not None:
            rates = self.kernels.slope(t, y)
            if self.kernels.side * self.side < 0.0:
                raise np.linalg.LinAlgError("a trial is beyond a pole")
            return rates
        phase, nq, nv = self.phase, len(self.q), len(self.v)
        assert phase is not None
        if not float(np.abs(y).max()) < WILD:
            raise np.linalg.LinAlgError("a trial is out of bounds")
        q, v = y[:nq], y[nq : nq + nv]
        self.now = now = phase.instant(t, q, v)
        if now.side * self.side < 0.0:
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return self._rates(now)

    def _rates(self, now: Instant) -> Array:
        """Return the rates of (q, v, impulses, work of reactions and of forces) at an instant."""
        assert self.phase is not None
        system, q, v = self.phase.system, now.q, now.v
        power = system.power(now.t, q, v, self.control)
        return np.concatenate((system.qdot(q, v), now.a, *now.r, np.array((v @ now.push, power))))

    @property
    def tolerance(self) -> Tolerance:
        """Of places and velocities; of nothing where the lengths of steps are given."""
        n = len(self.q) + len(self.v) if self.accuracy.step is None else 0
        return Tolerance(self.accuracy.rtol, np.full(n, self.accuracy.atol))

    def _start(self, phase: Phase) -> Array:
        return np.concatenate((self.q, self.v, np.zeros(sum(row.size for row in phase.rows) + 2)))

    def _step(self, phase: Phase, end: float) -> tuple[Piece, Instant]:
        """Return one step of the integrator whose error is small enough, and the instant at its end."""
        y, left = self._start(phase), end - self.t
        self.side = 0.0
        before = self._here(phase)
        first = self._rates(before) if self.kernels is None else self._slope(self.t, y)
        self.side = before.side
        if self.h <= 0.0:
            self.h = self.accuracy.step or self._first_length(y, first, left)
        self.turning = self._turning(phase, before)
        h = left if self.h >= left / 1.1 else min(self.h, 0.5 * left)
        split, off = SPLIT * h, 0.0
        while True:
            piece = self._trial(y, first, h)
            off = 0.0 if piece is None else max(piece.error, self._off(piece, before) if h > split else 0.0)
            if piece is not None and off <= 1.0:
                break
            tried, h = h, h * (SHRINK if piece is None else growth(off))
            if off == np.inf and h < UNSOLVED * split:
                self.turning = None
            if h < least_length(self.t):
                self._give_up(before, tried, piece is None)
        if self.turning is not None:
            self._watch_turning(piece)
        else:
            self._watch_stiffness(piece, end)
        self._watch_pace(max(self.h, piece.h), piece.h, piece.t_end, end)
        grown = min(h * growth(off), self.accuracy.step or np.inf)
        self.h = grown if h >= self.h or grown < self.h else self.h  # a step cut short says nothing about longer ones
        if self.kernels is not None or self.now is None:
            self.now = self._instant(phase, piece.t_end, piece.end)
        return piece, self.now

    def _here(self, phase: Phase) -> Instant:
        """Return the phase where it is."""
        now = self.now
        here = now is not None and now.t == self.t and now.q is self.q and now.v is self.v
        if now is None or not here or now.shared:  # reactions that have been shared jump against those of a step
            self.now = now = phase.instant(self.t, self.q, self.v)
        return now

    def _off(self, piece: Piece, now: Instant) -> float:
        """Return the local error of the impulses over what is allowed; where bodies hardly turn only they show it."""
        n = len(self.q) + len(self.v)
        if self.turning is not None or self.accuracy.step is not None or len(piece.y) == n + 2:
            return 0.0
        speeds = np.maximum(np.abs(piece.y[len(self.q) : n]), np.abs(piece.end[len(self.q) : n]))
        size = max(float((np.abs(now.M) @ speeds).max(initial=0.0)), float(np.abs(piece.end[n:-2]).max()))
        return float(piece.local[n:-2].max()) / (PUSHES * size) if size > 0.0 else 0.0

    def _first_length(self, y: Array, first: Array, left: float) -> float:
        try:
            return first_length(self._slope, self.t, y, first, self.tolerance.weights(y, y), left)
        except np.linalg.LinAlgError:
            return SHORTEST * left

    def _trial(self, y: Array, first: Array, h: float) -> Piece | None:
        """Return one step of the integrator, None where it meets a pole, or what raises: a shorter one may not."""
        self.fault = None
        try:
            return self._take(self.t, y, first, h)
        except np.linalg.LinAlgError:
            return None
        except Stuck:
            raise
        except Exception as error:
            if interrupts(error):
                raise
            self.fault = error
            return None

    def _give_up(self, before: Instant, tried: float, broken: bool) -> NoReturn:
        """Raise Stuck with the reason why no step is short enough: what a function of the system does, or a pole."""
        assert self.phase is not None
        try:  # functions are not checked at every instant
            snapshot(self.phase.system, State(t=self.t + tried, q=self.q, v=self.v), control=self.control)
        except Exception as error:
            if interrupts(error):
                raise
            self.fault = error
        if self.fault is not None:
            raise Stuck(str(self.fault)) from self.fault
        if before.r and (broken or _outgrown(before)):
            raise Unbounded(self._jam(before))
        raise Stuck(f"steps of {tried:.2g} s are still too long")

    def _jam(self, now: Instant) -> str:
        """Return which reaction has a pole."""
        sizes = [float(np.abs(r).max(initial=0.0)) for r in now.r]
        k = int(np.argmax(sizes))
        return f"the reaction of {now.rows[k].id}, {sizes[k]:.3g} N there, grows without bound (a dynamic jam)"

    def _take(self, t: float, y: Array, first: Array, h: float) -> Piece:
        """Return one step of length h (s), whatever its error."""
        if self.turning is not None:
            return self.turning.take(t, y, h)
        if self.kernels is not None:
            return self.kernels.take(t, y, first, h, self.side)
        return take(self._slope, t, y, first, h, self.tolerance)

    def _again_to(self, piece: Piece, end: float, one_step: OneStep) -> Piece:
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

    def _turning(self, phase: Phase, now: Instant) -> SlipTurn | None:
        """Return what takes the step where a slip begins, or may be the reason why stability bounds the steps."""
        ones, still = turnings(phase), self.accuracy.activation.speed
        if self.accuracy.step is not None or not ones:
            return None
        if slowest(ones, now) <= still:
            ones = movable(phase, now, ones)
        due = self.turns or slowest(ones, now) <= still or self.stiff % SUSPECT == SUSPECT - 1
        if not due or not ones:
            return None
        return SlipTurn(
            phase=phase, slope=self._slope, slope_of=self._rates, weight=self.tolerance.weights,
            nq=len(self.q), nv=len(self.v), turning=ones,
        )  # fmt: skip

    def _watch_turning(self, piece: Piece) -> None:
        """Note whether explicit steps of this length would be bounded by what turns the slips."""
        self.turns = piece.bend > UNSTABLE
        self.stiff = 0 if self.turns else self.stiff + 1

    def _watch_stiffness(self, piece: Piece, end: float) -> None:
        """Note whether stability, not accuracy, makes the steps short."""
        self.stiff = self.stiff + 1 if piece.bend > STIFF else max(0, self.stiff - 1)
        self._check_stiffness(piece.h, piece.t_end, end)

    def _check_stiffness(self, h: float, t: float, end: float) -> None:
        """Raise Stiff where stability has made steps short for long, and very many are left."""
        left = (max(end, self.goal) - t) / h
        if self.stiff >= STIFF_STEPS and left > HOPELESS:
            said = f"forces are stiff, {left:.2g} steps of {h:.2g} s are left"
            raise Stiff(f"{said}; take MoreauJean(theta=1), or Smooth where no contact closes")

    def _watch_pace(self, wanted: float, h: float, t: float, end: float, taken: int = 1) -> None:
        """Raise Slow where steps stay very short, whatever the reason: towards a pole they get shorter and shorter.

        Parameters
        ----------
        wanted, h, t : float
            The length that was tried, the (mean) one of the last steps, and where these end, s.
        end : float
        taken : int
            How many steps that were.
        """
        self.longest = max(self.longest, wanted, h)
        steps, first = self.crawled
        if h > CRAWL * self.longest:
            self.crawled = (0, 0.0)
            return
        self.crawled = (steps + taken, first) if steps and h > 0.5 * first else (taken, h)
        left = (max(end, self.goal) - t) / h
        if steps >= CRAWLS and left > ENDLESS:
            if self.now is not None and _outgrown(self.now):
                raise Unbounded(self._jam(self.now))
            raise Slow(f"{steps} steps in a row are as short as {h:.2g} s, {left:.2g} of them are left")

    def _instant(self, phase: Phase, t: float, y: Array) -> Instant:
        nq, nv = len(self.q), len(self.v)
        return phase.instant(t, y[:nq], y[nq : nq + nv])


def _outgrown(now: Instant) -> bool:
    """Whether a reaction is larger than forces make it."""
    return max((float(np.abs(r).max(initial=0.0)) for r in now.r), default=0.0) > OUTGROWN * float(np.abs(now.h).max())
