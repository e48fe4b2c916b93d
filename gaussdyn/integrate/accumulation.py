"""Infinitely many impacts in finite time: where the sequence ends, from two members of it.

Where a contact rebounds again and again under a force that hardly changes, times between impacts and speeds shrink by
one factor rho per cycle, so that with the last cycle from t0 to t

    t_inf = t + rho (t - t0) / (1 - rho),       rho = u / u0,

u0 and u the speeds at which the contact opens. A cycle may hold impacts of other contacts too (a rocking block).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array

SHORT = 1e-5  # s: a sequence is passed when what is left of it is shorter, and predicted the same twice
SHORTEST = 1e-7  # s: or when it is shorter than this
AGREES = 1e-12  # s, times max(1, t)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebound:
    """The last time that a contact opened by an impact: when (s), how fast (m/s), and the end it was on the way to."""

    t: float
    speed: float
    end: float = np.inf

    def then(self, t: float, speed: float) -> Rebound:
        """Return the next one, with the time at which the sequence will end (inf if it does not shrink)."""
        rho = speed / self.speed if self.speed > 0.0 else 1.0
        end = t + rho * (t - self.t) / (1.0 - rho) if 0.0 < rho < 1.0 else np.inf
        return Rebound(t=t, speed=speed, end=end)

    def passes(self, now: Rebound) -> bool:
        """Whether the sequence may be passed at the next rebound `now`."""
        left = now.end - now.t
        return left <= SHORTEST or (left <= SHORT and abs(now.end - self.end) <= AGREES * max(1.0, abs(now.t)))

    def as_memory(self) -> Array:
        """Return the numbers that a state keeps."""
        return np.array([self.t, self.speed, min(self.end, 1e300)])

    @classmethod
    def of(cls, memory: Array | None) -> Rebound | None:
        """Return what a state keeps."""
        if memory is None or len(memory) != 3:
            return None
        t, speed, end = (float(x) for x in memory)
        return cls(t=t, speed=speed, end=end)
