"""Where in a step of the integrator a condition of the phase first falls below zero.

Conditions are looked at along the dense output. A stretch is cut in half until every condition is seen to be far from
zero or to be as simple as a cubic (with its rate) or a straight line (without), also where it ends below zero: the root
that is found has to be the first one. A gap that comes down and goes up again is looked at where its rate vanishes.
What is found is then polished on the motion itself, integrated again from the beginning of the step to the root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._jit import A1, A2, kernel
from ...arrays import EPS, Array
from ..dop853 import STAGES, Piece
from .guards import Guard
from .simultaneous_contacts import LOCATED as KNOWN

GRAZE = 1e-12  # m: a lowest gap within this of zero is neither a touch nor a miss
DEPTH = 12  # halvings of a stretch
FAR = 4.0  # times the deviation from a simple curve: beyond it a condition is far from zero
VERY_FAR = 4.0 * FAR  # where that deviation is seen elsewhere than in the middle
NUDGE = 1e-6  # of the step: a root that is moved by more is polished again
FARTHEST_BACK = 1e-3  # of the step: a root is moved to from so far before it at most, where none is asked at it
POLISHES = 6
BACK = 0.01  # of a step: so much before its end conditions whose rates are not known are looked at once more
BENT_BY = 0.05  # deviation up to which a curve is simple, of its size
DIP = 4.0 / 27.0  # of a cubic below its ends, times h |rate| at each
ENVELOPE = 32.0  # of (x (1 - x))^2, how a curve is off its cubic: twice what is off in the middle
QUINTIC = 1.0 / 7.0  # deviation of a curve of degree 5 from its cubic, over h times that of the rates in the middle
LOCATED, TURNED = 1e-13, 1e-15  # s, of a root (times max(1, |t|)) and of a lowest value
QUIET, CROSSING, DIPPING, BENT = range(4)

Look = Callable[[float], "Seen"]


@kernel("boolean(float64, float64, float64, float64, float64)", inline=True)
def murky(a: float, b: float, start: float, end: float, off: float) -> bool:
    """Whether a cubic that rises may still have been below zero, by what it may be off; False for unknown rates."""
    c2, c3 = 3.0 * (b - a) - 2.0 * start - end, start + end - 2.0 * (b - a)
    for x in (1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 0.75):
        least = a + x * (start + x * (c2 + x * c3)) - ENVELOPE * off * (x * (1.0 - x)) ** 2
        if least <= 0.0 < start + x * (2.0 * c2 + 3.0 * x * c3):
            return True
    return False


@kernel(f"UniTuple(float64, 2)({A2}, int64, float64, float64)", borrows=True)
def bent(seen: Array, w: int, h: float, x: float) -> tuple[float, float]:
    """Return how far condition w is off a cubic (a straight line without its rates), and how low that may dip.

    It is seen at both ends of a stretch of length h, and at its part x.
    """
    a, m, b, y = seen[0, w], seen[2, w], seen[4, w], x * (1.0 - x)
    start, end = h * seen[1, w], h * seen[5, w]
    if math.isnan(start):
        return abs(m - a - x * (b - a)) / (4.0 * y), 0.0
    c2, c3 = 3.0 * (b - a) - 2.0 * start - end, start + end - 2.0 * (b - a)
    off = abs(m - a - x * (start + x * (c2 + x * c3))) / (16.0 * y * y)
    off += QUINTIC * abs(h * seen[3, w] - start - x * (2.0 * c2 + 3.0 * x * c3))
    return off, DIP * (abs(start) + abs(end))


@kernel(f"boolean({A2}, {A1}, float64, float64)", borrows=True)
def far(seen: Array, offset: Array, h: float, x: float) -> bool:
    """Whether all conditions are far from zero in a stretch, as seen at its part x in place of its middle."""
    for w in range(len(offset)):
        low = min(seen[0, w], seen[2, w], seen[4, w]) + offset[w]
        off, reach = bent(seen, w, h, x)
        if not (low - reach > VERY_FAR * off or low == np.inf):
            return False
    return True


@kernel(f"int64({A2}, {A1}, {A1}, float64)", borrows=True, entry=True)
def judged(seen: Array, noise: Array, offset: Array, h: float) -> int:
    """Return the worst of what conditions do in a stretch of length h.

    QUIET: none falls below zero. CROSSING: one does, and all are simple. DIPPING: one begins below zero, or comes down
    and goes up again. BENT: one is not simple. `seen` (6, w) has conditions and rates at its beginning, middle and end;
    `offset` is added to conditions.
    """
    verdict = QUIET
    for w in range(len(noise)):
        a, m, b = seen[0, w] + offset[w], seen[2, w] + offset[w], seen[4, w] + offset[w]
        u0, u1, u2 = seen[1, w], seen[3, w], seen[5, w]
        off, reach = bent(seen, w, h, 0.5)
        low, high = min(a, m, b), max(a, m, b)
        if low - reach > FAR * off:
            continue
        if off > noise[w] and (off > BENT_BY * max(high - low, reach) or murky(a, b, h * u0, h * u2, off)):
            return BENT
        if not a > 0.0 or (m > 0.0 and (u0 < 0.0 < u1 or (b > 0.0 and u1 < 0.0 < u2))):
            verdict = DIPPING
        elif not (m > 0.0 and b > 0.0):
            verdict = max(verdict, CROSSING)
    return verdict


@kernel(f"float64({A1}, float64, float64, float64)", borrows=True, entry=True)
def narrowed(bracket: Array, x: float, f: float, near: float) -> float:
    """Return where to look next for a zero after f was found at x; NaN where it is found, at bracket[0].

    `bracket` has (x1, f1, x2, f2) with values of different signs. Inverse quadratic interpolation, else bisection:
    Chandrupatla (1997), Advances in Engineering Software 28.
    """
    x1, f1, x2, f2 = bracket[0], bracket[1], bracket[2], bracket[3]
    if (f > 0.0) == (f1 > 0.0):
        x3, f3 = x1, f1
    else:
        x3, f3, x2, f2 = x2, f2, x1, f1
    x1, f1 = x, f
    best, value = (x1, f1) if abs(f1) < abs(f2) else (x2, f2)
    least = (2.0 * EPS * abs(best) + 0.5 * near) / abs(x2 - x1)
    if least > 0.5 or value == 0.0:
        bracket[0] = best
        return np.nan
    bracket[0], bracket[1], bracket[2], bracket[3] = x1, f1, x2, f2
    xi, phi, share = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2), 0.5
    if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
        share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    ahead: float = x1 + min(1.0 - least, max(least, share)) * (x2 - x1)
    return ahead


def zero_of(g: Callable[[float], float], low: tuple[float, float], high: tuple[float, float], near: float) -> float:
    """Return where a function vanishes between two points (t, g) at which its signs differ, to within `near` (s)."""
    bracket, (a, ga), (b, gb) = np.array([*low, *high]), low, high
    t = a + ga / (ga - gb) * (b - a)
    while not math.isnan(ahead := narrowed(bracket, t, g(t), near)):
        t = ahead
    return float(bracket[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graze:
    """A gap that came within 1e-12 m of zero and went up again: whether it touched is not decided."""

    t: float
    id: str
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Crossing:
    """The first condition that falls below zero: when (s), which, and what was too close to decide before."""

    t: float
    guard: Guard
    k: int


class Guarded(Protocol):
    """What ends where a condition falls below zero: a `smooth_phase.Phase`."""

    @property
    def guards(self) -> Sequence[Guard]:
        """Its conditions."""
        ...

    @property
    def redundant(self) -> bool:
        """Whether its reactions are not unique."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The conditions of one phase along one step of the integrator.

    Attributes
    ----------
    phase : Guarded
    look : callable
        look(t) -> Seen on the dense output.
    offset : Array
        Added to every condition: positive where it starts at zero.
    noise : Array
        What a condition may be wrong by.
    bare : callable, optional
        The same as `look` for what is no force, where that is found sooner.
    """

    phase: Guarded
    look: Look
    offset: Array
    noise: Array
    bare: Look | None = None

    def first(self, before: Seen, after: Seen) -> tuple[Crossing | None, tuple[Graze, ...]]:
        """Return the first crossing between two instants, None if no condition falls below zero, and grazes before."""
        if not self.phase.guards:
            return None, ()
        found, grazes = self._between(self._lifted(before), self._lifted(after), DEPTH)
        return (found if found is None else self._at_an_end(found, before.t, after.t)), grazes

    def _at_an_end(self, found: Crossing, begin: float, end: float) -> Crossing:
        """Return the end of a feature where a force falls below zero just there, else the crossing that was found.

        Beyond its end a contact curves in another way: forces jump there, and say nothing of what comes.
        """
        ends = [k for k, guard in enumerate(self.phase.guards) if guard.kind == "end"]
        if found.guard.unit != "force" or not ends:
            return found
        moment = KNOWN * max(1.0, abs(found.t))
        low, high = max(found.t - moment, begin), min(found.t + moment, end)
        g = self._lifted(self.look(high)).g
        passed = [self._cut(low, high, k) for k in ends if g[k] < 0.0]
        return min(passed, key=lambda one: one.t, default=found)

    def _lifted(self, now: Seen) -> Seen:
        """Return conditions with their offsets; where reactions are redundant only the least of them says something."""
        found = now.g + self.offset
        if self.phase.redundant:
            force = np.array([guard.unit == "force" for guard in self.phase.guards])
            found[force] = found[force].min(initial=np.inf)
        return Seen(now.t, found, now.rate)

    def _between(self, a: Seen, b: Seen, depth: int) -> tuple[Crossing | None, tuple[Graze, ...]]:
        """Look at a stretch, cut where it has to be."""
        middle = self._lifted(self.look(0.5 * (a.t + b.t)))
        seen = np.array([a.g, a.rate, middle.g, middle.rate, b.g, b.rate])
        verdict = judged(seen, self.noise, np.zeros(len(self.noise)), b.t - a.t)
        if verdict == QUIET:
            return None, ()
        grazes: tuple[Graze, ...] = ()
        for low, high in ((a, middle), (middle, b)):
            if verdict == BENT and depth:
                found, new = self._between(low, high, depth - 1)
            else:
                roots = [self._root(low, high, k) for k in self._told]
                crossings = [one for one in roots if isinstance(one, Crossing)]
                found = min(crossings, key=lambda one: one.t, default=None)
                new = tuple(one for one in roots if isinstance(one, Graze))
            grazes += new
            if found is not None:
                return found, grazes
        return None, grazes

    @property
    def _told(self) -> list[int]:
        """Return the conditions to look at: of redundant reactions one, as all of them are the least of them."""
        forces = [k for k, guard in enumerate(self.phase.guards) if guard.unit == "force"]
        others = forces[1:] if self.phase.redundant else []
        return [k for k in range(len(self.phase.guards)) if k not in others]

    def _root(self, a: Seen, b: Seen, k: int) -> Crossing | Graze | None:
        """Return where condition k falls below zero between two points that are close, or comes close to it."""
        guard = self.phase.guards[k]
        if a.g[k] <= 0.0:
            return self._crossing(a.t, k)
        if b.g[k] > 0.0:
            lowest = self.lowest(a, b, k)
            if lowest is None:
                return None
            t, g = lowest
            if g > GRAZE if guard.unit == "place" else g > 0.0:
                return None
            if guard.unit == "place" and g >= -GRAZE:
                starts = self.offset[k] > 0.0 and a.g[k] <= self.noise[k]  # it begins at zero: no graze
                return None if starts else Graze(t=t, id=guard.id, gap=g)
            return self._cut(a.t, t, k)
        return self._cut(a.t, b.t, k)

    def lowest(self, a: Seen, b: Seen, k: int) -> tuple[float, float] | None:
        """Return when a condition is lowest between two points and how low, None if it is at one of them."""
        if not (a.rate[k] < 0.0 < b.rate[k]):
            return None

        def rate(t: float) -> float:
            """Return the rate of the condition at `t`."""
            return float(self._asked(t, k).rate[k])

        ends = (a.t, rate(a.t)), (b.t, rate(b.t))
        if not (ends[0][1] < 0.0 < ends[1][1]):  # noise: looked at again an end has another sign
            return None
        t = zero_of(rate, *ends, TURNED)
        return t, self._value(t, k)

    def _value(self, t: float, k: int) -> float:
        return float(self._lifted(self._asked(t, k)).g[k])

    def _asked(self, t: float, k: int) -> Seen:
        """Return what is seen at t, of which only condition k is asked."""
        force = self.phase.guards[k].unit == "force"
        return (self.look if force or self.bare is None else self.bare)(t)

    def _cut(self, low: float, high: float, k: int) -> Crossing:
        g = self._value(low, k), self._value(high, k)
        for t, beyond in ((low, g[0] <= 0.0), (high, g[1] >= 0.0)):
            if beyond:  # noise: looked at again an end has another sign
                return self._crossing(t, k)
        near = LOCATED * max(1.0, abs(high))
        return self._crossing(zero_of(lambda t: self._value(t, k), (low, g[0]), (high, g[1]), near), k)

    def _crossing(self, t: float, k: int) -> Crossing:
        """Return the crossing of condition k; among the forces of redundant rows that of the one that is least."""
        guards = self.phase.guards
        if self.phase.redundant and guards[k].unit == "force":
            g = self.look(t).g + self.offset
            k = min((j for j, guard in enumerate(guards) if guard.unit == "force"), key=lambda j: float(g[j]))
        return Crossing(t=t, guard=guards[k], k=k)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """All conditions and their rates (NaN where they are not known) at one time, s."""

    t: float
    g: Array
    rate: Array


def polished(
    piece: Piece, redo: Callable[[float], Piece], look: Callable[[float, Array], Seen], found: Crossing,
    offset: float = 0.0,
) -> tuple[float, Array]:  # fmt: skip
    """Return the time of a crossing and the state there, integrated again up to it, by Newton's method.

    A condition that began below zero, and never rose above it, is zero nowhere: it crosses where it was seen to, with
    its offset.

    Parameters
    ----------
    redo : callable
        redo(h) -> the step of length h from the beginning of `piece`.
    look : callable
        look(t, y) -> Seen.
    offset : float
        Of the condition, see `Search`.
    """
    if offset > 0.0 and found.guard.kind == "end":  # beyond the end of its features: it was zero there
        return _newton(piece, redo, look, found, offset)
    t, y = _newton(piece, redo, look, found, 0.0)
    if offset > 0.0 and look(t, y).rate[found.k] > 0.0:
        return _newton(piece, redo, look, found, offset)
    return t, y


def _newton(
    piece: Piece, redo: Callable[[float], Piece], look: Callable[[float, Array], Seen], found: Crossing, offset: float
) -> tuple[float, Array]:  # fmt: skip
    t, least, back = found.t, EPS * max(abs(piece.t), 1e-3), 0.5 * NUDGE
    for _ in range(POLISHES):
        h = t - piece.t
        if h <= least:
            return piece.t, piece.y
        try:
            again = redo(h)
        except np.linalg.LinAlgError:  # beyond a stop friction turns over, and there may be no reactions
            if back > FARTHEST_BACK:
                raise
            t, back = t - back * h, 10.0 * back
            continue
        more = _correction(again, look, found.k, offset)
        if abs(more) <= max(NUDGE, 0.2 * back) * h:
            return t + more, again.end + more * again.K[STAGES]
        t = min(t + max(more, -0.5 * h), piece.t_end + 0.1 * piece.h)  # it was seen within the step
    return t, (redo(t - piece.t).end if t - piece.t > least else piece.y)  # rounding moves it


def _correction(piece: Piece, look: Callable[[float, Array], Seen], k: int, offset: float) -> float:
    """Return the time from the end of a step to the root of condition k, by its rate there."""
    now = look(piece.t_end, piece.end)
    g, rate = float(now.g[k]), float(now.rate[k])
    if not np.isfinite(rate):
        earlier = piece.t + (1.0 - BACK) * piece.h
        rate = (g - float(look(earlier, piece.at(earlier)).g[k])) / (BACK * piece.h)
    return -(g + offset) / rate if rate < 0.0 else 0.0
