"""Playing a world in an engine: steps on one thread, CPU time counted, states kept, an end where time is up."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ..arrays import Array
from .engines.protocol import Simulation
from .world import World

Start = Callable[[World, float], Simulation]
LATE = 4.0  # times of the time of a game, by the clock on the wall, after which steps to the next state are given up
WARM = 1.0  # s of CPU time that a world is run before it is timed, beyond its first steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number that a scene is judged by.

    Attributes
    ----------
    name, unit : str
    value : float
    error : bool
        Whether it is the distance from an exact answer, so that 0 is right; else it only says what happened.
    """

    name: str
    unit: str
    value: float
    error: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """What came of a world.

    Attributes
    ----------
    t : Array, shape (k,)
        s.
    states : Array, shape (k, bodies, 13)
        See `Simulation.states`; the first is the start.
    complete : bool
        False where the time was up, or numbers overflowed.
    """

    t: Array
    states: Array
    complete: bool

    def at(self, t: float) -> Array:
        """Return the state kept next to a time, shape (bodies, 13)."""
        return np.asarray(self.states[int(np.argmin(np.abs(self.t - t)))])

    @property
    def last(self) -> Array:
        """The last state, shape (bodies, 13)."""
        return np.asarray(self.states[-1])


class Field:
    """An engine with a setting, where scenes play their worlds; it adds up steps and CPU time of all of them.

    Parameters
    ----------
    start : callable
        ``start(world, dt)`` returns a `Simulation`.
    seconds : float
        CPU time for all steps; then a record ends early.
    who : (str, str), optional
        Names of the engine and of its setting, for matches with numbers of each.

    Attributes
    ----------
    steps : int
    cpu : float
        s, of steps alone: neither building nor reading back.
    said : list of str
        What the engine reported.
    t : float
        Simulated, s.
    cut : str
        Why a record ended early; empty if none did.
    """

    def __init__(self, start: Start, seconds: float, who: tuple[str, str] = ("", "")) -> None:
        self._start, self._seconds, self.who = start, seconds, who
        self.steps, self.cpu = 0, 0.0
        self.said: list[str] = []
        self.t, self.cut = 0.0, ""

    def play(self, world: World, dt: float, t_end: float, every: int = 1) -> Record:
        """Take a world from its start to t_end in steps of dt, s; keep every so-manieth state."""
        count = round(t_end / dt)
        if not self.steps and not self.cut:
            self._warm(world, dt, count, every)
        running = self._start(world, dt)
        times, states, taken = [0.0], [running.states()], 0
        while taken < count and not self.cut:
            n = min(every, count - taken)
            if not self._stepped(running, n):
                self.cut = f"{LATE:g} times the time was not enough for what comes after t = {times[-1]:.4g} s"
                break
            taken += n
            times.append(taken * dt)
            states.append(running.states())
            if not np.isfinite(states[-1]).all():
                self.cut = f"numbers overflow at t = {times[-1]:.4g} s"
            elif stop := getattr(running, "stopped", ""):
                self.cut = stop
            elif self.cpu > self._seconds and taken < count:
                self.cut = f"time was up at t = {times[-1]:.4g} s of {t_end:g} s"
        self.steps, self.t = self.steps + taken, self.t + times[-1]
        if words := running.said():
            self.said.append(words)
        return Record(t=np.array(times), states=np.array(states), complete=taken == count and not self.cut)

    def _stepped(self, running: Simulation, n: int) -> bool:
        """Take n steps and count their time; False if they took far too long."""
        try:
            with at_most(LATE * self._seconds):
                begin = time.process_time()
                running.step(n)
                self.cpu += time.process_time() - begin
        except TimeUp:
            self.cpu += time.process_time() - begin
            return False
        return True

    def _warm(self, world: World, dt: float, count: int, every: int) -> None:
        """Run a world once, not timed, so that libraries have loaded what they need."""
        running, taken = self._start(world, dt), 0
        begin = time.process_time()
        if not self._stepped(running, min(every, count)):
            self.cut = f"{LATE:g} times the time was not enough for the first state"
        while not self.cut and (taken := taken + every) < count and time.process_time() - begin < WARM:
            running.step(min(every, count - taken))
        self.cpu = 0.0


class TimeUp(BaseException):
    """Steps take far too long; no error, so that nobody who handles errors handles it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` within the block after so many seconds, where the system has such an alarm and Python runs.

    It is no alarm of CPU time: while one is set some systems count the time of processes in coarse ticks only.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: object) -> NoReturn:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
