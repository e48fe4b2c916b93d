"""Work counted in place of time: where a method gives up is the same on every machine, however busy it is."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Work:
    """What the methods of one call may still do, in units that follow from the problem alone, and when it is stopped.

    A unit takes about a nanosecond (see `blocks.costs`). Methods add what they have done and look whether it is too
    much. The clock decides nothing but whether the whole call is stopped, which `stopped` tells ever after: what was
    cut short is no answer, even if its residual is small.

    Attributes
    ----------
    done, limit : float
        Units.
    seconds : float or None
        Wall time from now on after which the call is stopped; None: the clock is never read.
    stopped : bool
        Whether the time was up when a method looked.
    """

    __slots__ = ("deadline", "done", "limit", "seconds", "stopped")

    def __init__(self, limit: float = math.inf, *, seconds: float | None = None) -> None:
        self.done, self.limit, self.seconds, self.stopped = 0.0, limit, seconds, False
        self.deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Units that may still be spent."""
        return max(self.limit - self.done, 0.0)

    def spend(self, units: float) -> None:
        """Add what has been done."""
        self.done += units

    def over(self) -> bool:
        """Whether to stop: the units are spent, or the call is out of time."""
        if self.deadline is not None and not self.stopped:
            self.stopped = time.monotonic() >= self.deadline
        return self.stopped or self.done >= self.limit

    @contextmanager
    def within(self, units: float) -> Iterator[None]:
        """Let what follows spend so much at most."""
        limit = self.limit
        self.limit = min(limit, self.done + units)
        try:
            yield
        finally:
            self.limit = limit
