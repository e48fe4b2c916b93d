"""Infinitely many impacts in finite time: where the sequence ends, from members of it.

Where a contact rebounds again and again under a force that hardly changes, times between impacts and speeds shrink by
one factor per cycle, so that with a member of the sequence at t0

    t_inf = t + rho (t - t0) / (1 - rho),       rho = u / u0,

u0 and u the speeds at which the contact opens. A cycle may hold impacts of other contacts too (a rocking block). The
member at t0 is the last one that was at least twice as fast: at eps_n = 0.99 two in a row are too near to each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import EPS, Array

SHORT = 1e-5  # s: a sequence is passed when what is left of it is shorter, and predicted the same twice
LOW = 1e-12  # m: or when it bounces no higher than this (rounding of places) and predicted the same
SHORTEST = 1e-7  # s: or when it is shorter than this
AGREES = 1e-12  # s, times max(1, t)
NOISE = 4.0  # times the rounding of a gap over the speed, and of the time, at least: so much every cycle moves the end
STEADY = 0.1  # of a cycle: a sequence whose end moves by less per cycle comes to it
FASTER = 2.0  # times as fast was, at least, the member that the last one is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebound:
    """The last time that a contact opened by an impact: when (s), how fast (m/s), and the end it was on the way to.

    Attributes
    ----------
    t, speed, end : float
        Time (s), speed (m/s), predicted end (s).
    past : tuple of (time, speed)
        Two members before: the one it is compared with, and the one that later ones will be. Itself at the first.
    """

    t: float
    speed: float
    end: float = np.inf
    past: tuple[tuple[float, float], tuple[float, float]] | None = None

    def then(self, t: float, speed: float, rounding: float) -> Rebound:
        """Return the next one, with the time at which the sequence will end (inf if it does not shrink).

        Gaps are rounded by `rounding`, m.
        """
        past = self.past or ((self.t, self.speed), (self.t, self.speed))
        if FASTER * speed <= past[1][1]:
            past = (past[1], (t, speed))
        if speed >= self.speed:  # a new sequence
            return Rebound(t=t, speed=speed)
        t0, speed0 = past[0]
        rho = speed / speed0
        end = t + rho * (t - t0) / (1.0 - rho)
        cycles = 1.0 + (end - t) / (t - self.t)  # as many count before, too: they may all be rounded alike
        noise = cycles * max(NOISE, cycles) * (rounding / speed + EPS * max(1.0, abs(t)))
        stands = self.end > t and abs(end - self.end) <= noise
        return Rebound(t=t, speed=speed, end=self.end if stands else end, past=past)

    def passes(self, now: Rebound) -> bool:
        """Whether the sequence may be passed at the next rebound `now`."""
        left, height = now.end - now.t, 0.25 * now.speed * (now.t - self.t)
        same = abs(now.end - self.end) <= AGREES * max(1.0, abs(now.t))
        return left <= SHORTEST or (same and (left <= SHORT or height <= LOW))

    def converges(self, now: Rebound) -> bool:
        """Whether the sequence shrinks towards one end from here to the next rebound `now`."""
        return bool(abs(now.end - self.end) < STEADY * (now.t - self.t))

    def as_memory(self) -> Array:
        """Return the numbers that a state keeps."""
        return np.array([self.t, self.speed, min(self.end, 1e300), *(x for one in self.past or () for x in one)])

    @classmethod
    def of(cls, memory: Array | None) -> Rebound | None:
        """Return what a state keeps."""
        if memory is None or len(memory) not in (3, 7):
            return None
        t, speed, end, *rest = (float(x) for x in memory)
        past = ((rest[0], rest[1]), (rest[2], rest[3])) if rest else None
        return cls(t=t, speed=speed, end=end, past=past)
