"""How far a study is: told after every run to who wants to know."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .study_store import Store
from .template import DIED, FAILED
from .worker_processes import Take, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a study is.

    Attributes
    ----------
    total : int
        Runs in all; a reduction may need fewer.
    running : int
        Handed out and not ended.
    counts : mapping of str to int
        How many of those that have ended have which status.
    left_s : float
        Estimate of the time left, s, by the pace up to here.
    """

    total: int
    running: int
    counts: Mapping[str, int]
    left_s: float

    @property
    def done(self) -> int:
        """Runs that have ended."""
        return sum(self.counts.values())

    @property
    def failed(self) -> int:
        """Runs that ended with an exception, or with their process."""
        return self.counts[FAILED] + self.counts[DIED]


Progress = Callable[[Standing], None]


@dataclass(slots=True)
class Pulse:
    """Counts the runs that are handed out and end.

    Parameters
    ----------
    following : callable
        Hands out the next run.
    store : Store
    progress : callable or None
        Is told.
    """

    following: Take
    store: Store
    progress: Progress | None
    running: int = 0
    ended: int = 0
    start: float = field(default_factory=time.monotonic)

    def take(self) -> Task | None:
        """Hand out the next run, None if there is none now."""
        task = self.following()
        self.running += task is not None
        return task

    def beat(self) -> None:
        """Count one run that has ended, and tell."""
        self.running -= 1
        self.ended += 1
        if self.progress is not None:
            total, counts = len(self.store.parameters), dict(self.store.counts)
            left = (total - sum(counts.values())) * (time.monotonic() - self.start) / self.ended
            self.progress(Standing(total=total, running=self.running, counts=counts, left_s=left))
