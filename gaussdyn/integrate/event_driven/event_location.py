"""Where in a step of the integrator a condition of the phase first falls below zero.

Conditions are looked at along the dense output. A stretch is cut in half until every condition is seen to be far from
zero or to be as simple as a cubic (with its rate) or a straight line (without), also where it ends below zero: the root
that is found has to be the first one. A gap that comes down and goes up again is looked at where its rate vanishes.
What is found is then polished on the motion itself, integrated again from the beginning of the step to the root.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ...arrays import EPS, Array
from .dop853 import STAGES, Piece
from .guards import Guard
from .smooth_phase import Phase

GRAZE = 1e-12  # m: a lowest gap within this of zero is neither a touch nor a miss
DEPTH = 12  # halvings of a stretch
FAR = 4.0  # times the deviation from a simple curve: beyond it a condition is far from zero
NUDGE = 1e-6  # of the step: a root that is moved by more is polished again
POLISHES = 6
BEND = 0.05  # deviation up to which a curve is simple, of its size
DIP = 4.0 / 27.0  # of a cubic below its ends, times h |rate| at each
ENVELOPE = 32.0  # of (x (1 - x))^2, how a curve is off its cubic: twice what is off in the middle
SAMPLES = np.array([1.0 / 64.0, 1.0 / 16.0, 0.25, 0.5, 0.75])
QUINTIC = 1.0 / 7.0  # deviation of a curve of degree 5 from its cubic, over h times that of the rates in the middle

Look = Callable[[float], "Seen"]
Mask = NDArray[np.bool_]


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


@dataclass(slots=True, eq=False)
class Search:
    """The conditions of one phase along one step of the integrator.

    Attributes
    ----------
    phase : Phase
    look : callable
        look(t) -> Seen on the dense output.
    offset : Array
        Added to every condition: positive where it starts at zero.
    noise : Array
        What a condition may be wrong by.
    grazes : list of Graze
    """

    phase: Phase
    look: Look
    offset: Array
    noise: Array
    grazes: list[Graze]

    def first(self, before: Seen, after: Seen) -> Crossing | None:
        """Return the first crossing between two instants, None if no condition falls below zero."""
        if not self.phase.guards:
            return None
        return self._between(self._lifted(before), self._lifted(after), DEPTH)

    def _lifted(self, now: Seen) -> Seen:
        """Return conditions with their offsets; where reactions are redundant only the least of them says something."""
        found = now.g + self.offset
        if self.phase.redundant:
            force = np.array([guard.unit == "force" for guard in self.phase.guards])
            found[force] = found[force].min(initial=np.inf)
        return Seen(now.t, found, now.rate)

    def _between(self, a: Seen, b: Seen, depth: int) -> Crossing | None:
        """Look at a stretch, cut where it has to be."""
        middle = self._lifted(self.look(0.5 * (a.t + b.t)))
        if depth and not _simple(a, middle, b, self.noise).all():
            return self._between(a, middle, depth - 1) or self._between(middle, b, depth - 1)
        for low, high in ((a, middle), (middle, b)):
            found = [one for k in self._told if (one := self._root(low, high, k)) is not None]
            if found:
                return min(found, key=lambda one: one.t)
        return None

    @property
    def _told(self) -> list[int]:
        """Return the conditions to look at: of redundant reactions one, as all of them are the least of them."""
        forces = [k for k, guard in enumerate(self.phase.guards) if guard.unit == "force"]
        others = forces[1:] if self.phase.redundant else []
        return [k for k in range(len(self.phase.guards)) if k not in others]

    def _root(self, a: Seen, b: Seen, k: int) -> Crossing | None:
        """Return where condition k falls below zero between two points that are close."""
        guard = self.phase.guards[k]
        if a.g[k] <= 0.0:
            return self._crossing(a.t, k)
        if b.g[k] > 0.0:
            lowest = self._lowest(a, b, k)
            if lowest is None:
                return None
            t, g = lowest
            if g > GRAZE if guard.unit == "place" else g > 0.0:
                return None
            if guard.unit == "place" and g >= -GRAZE:
                if not (self.offset[k] > 0.0 and a.g[k] <= self.noise[k]):  # it begins at zero: no graze
                    self.grazes.append(Graze(t=t, id=guard.id, gap=g))
                return None
            return self._cut(a.t, t, k)
        return self._cut(a.t, b.t, k)

    def _lowest(self, a: Seen, b: Seen, k: int) -> tuple[float, float] | None:
        """Return when a condition is lowest between two points and how low, None if it is at one of them."""
        if not (a.rate[k] < 0.0 < b.rate[k]):
            return None

        def rate(t: float) -> float:
            """Return the rate of the condition at `t`."""
            return float(self.look(t).rate[k])

        if not (rate(a.t) < 0.0 < rate(b.t)):  # noise: looked at again an end has another sign
            return None
        t = float(brentq(rate, a.t, b.t, xtol=1e-15, rtol=4.0 * EPS))
        return t, self._value(t, k)

    def _value(self, t: float, k: int) -> float:
        return float(self._lifted(self.look(t)).g[k])

    def _cut(self, low: float, high: float, k: int) -> Crossing:
        for t, beyond in ((low, self._value(low, k) <= 0.0), (high, self._value(high, k) >= 0.0)):
            if beyond:  # noise: looked at again an end has another sign
                return self._crossing(t, k)
        t = brentq(lambda t: self._value(t, k), low, high, xtol=1e-13 * max(1.0, abs(high)), rtol=4.0 * EPS)
        return self._crossing(float(t), k)

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


def _simple(a: Seen, m: Seen, b: Seen, noise: Array) -> Mask:
    """Whether every condition is far from zero, or so simple between a and b that its ends tell."""
    h = b.t - a.t
    known = ~np.isnan(a.rate)
    hermite = 0.5 * (a.g + b.g) + np.where(known, h * (a.rate - b.rate) / 8.0, 0.0)
    bent = np.where(known, np.abs(m.rate - 1.5 * (b.g - a.g) / h + 0.25 * (a.rate + b.rate)), 0.0)
    off = np.abs(m.g - hermite) + QUINTIC * h * bent
    reach = np.where(known, np.abs(h * a.rate) + np.abs(h * b.rate), 0.0) * DIP
    least = np.minimum(np.minimum(a.g, m.g), b.g) - reach
    span = np.maximum(np.maximum(a.g, m.g), b.g) - np.minimum(np.minimum(a.g, m.g), b.g)
    rough = (off > BEND * np.maximum(span, reach)) | (known & _murky(a, b, off))
    simple: Mask = (least > FAR * off) | (off <= noise) | ~rough
    return simple


def _murky(a: Seen, b: Seen, off: Array) -> Mask:
    """Whether a cubic that rises may still have been below zero, by what it may be off."""
    h, x = b.t - a.t, SAMPLES[:, None]
    c1, up, turn = h * a.rate, b.g - a.g, h * (a.rate + b.rate)
    c2, c3 = 3.0 * up - turn - c1, turn - 2.0 * up
    least = a.g + x * (c1 + x * (c2 + x * c3)) - off * (ENVELOPE * (x * (1.0 - x)) ** 2)
    return np.asarray(np.any((least <= 0.0) & (c1 + x * (2.0 * c2 + 3.0 * x * c3) > 0.0), axis=0))


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
    t, y = _newton(piece, redo, look, found, 0.0)
    if offset > 0.0 and look(t, y).rate[found.k] > 0.0:
        return _newton(piece, redo, look, found, offset)
    return t, y


def _newton(
    piece: Piece, redo: Callable[[float], Piece], look: Callable[[float, Array], Seen], found: Crossing, offset: float
) -> tuple[float, Array]:  # fmt: skip
    t, least = found.t, EPS * max(abs(piece.t), 1e-3)
    for _ in range(POLISHES):
        h = t - piece.t
        if h <= least:
            return piece.t, piece.y
        again = redo(h)
        more = _correction(again, look, found.k, offset)
        if abs(more) <= NUDGE * h:
            return t + more, again.end + more * again.K[STAGES]
        t = min(t + max(more, -0.5 * h), piece.t_end + 0.1 * piece.h)  # it was seen within the step
    return t, (redo(t - piece.t).end if t - piece.t > least else piece.y)  # rounding moves it


def _correction(piece: Piece, look: Callable[[float, Array], Seen], k: int, offset: float) -> float:
    """Return the time from the end of a step to the root of condition k, by its rate there."""
    now = look(piece.t_end, piece.end)
    g, rate = float(now.g[k]), float(now.rate[k])
    if not np.isfinite(rate):
        earlier = piece.t + 0.99 * piece.h
        rate = (g - float(look(earlier, piece.at(earlier)).g[k])) / (0.01 * piece.h)
    return -(g + offset) / rate if rate < 0.0 else 0.0
