"""Motion of a phase with its derivative with respect to where it began, up to the condition that ends the phase.

    y' = f(t, y),   Y' = (df/dy) Y,   Y = 1 where it begins,

are integrated together, by the steps and the location of events of all motions (`dop853`,
`event_driven.event_location`). How Y changes at an event says `saltation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol

import numpy as np

from ..arrays import Array
from .dop853 import Piece, Slope, Tolerance, steps, take
from .event_driven.event_location import Crossing, Guarded, Search, Seen, polished
from .event_driven.guards import Guard

Dip = tuple[float, float, Guard | None]  # how low, when (s), of which condition
NO_DIP: Dip = (math.inf, 0.0, None)
LEFT = 1e-9  # SI: a condition that begins below this is raised until it is above
NOISE = 1e-11  # SI: what a condition may be wrong by
COARSER = 1e2  # times the tolerance of y: that of Y


class Differentiated(Guarded, Protocol):
    """A phase with derivatives; z = (y, Y row by row)."""

    def slope(self, t: float, z: Array) -> Array:
        """Return z'."""
        ...

    def look(self, t: float, z: Array) -> Seen:
        """Return the conditions and their rates."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Varied:
    """What a motion came to.

    Attributes
    ----------
    t : float
        Its end, s.
    y : Array, shape (n,)
    Y : Array, shape (n, n) or (n, m)
        dy / dy(begin) there, or what has become of the `Y` that was given.
    found : Crossing or None
        The condition that ended it.
    times, states : Array, shape (m,) and (m, n)
        Ends of its steps.
    low : (float, float, Guard or None)
        The lowest minimum of a condition inside, where it has one that is no end: value, time, which; inf if none has.
    """

    t: float
    y: Array
    Y: Array
    found: Crossing | None
    times: Array
    states: Array
    low: Dip


def varied(
    phase: Differentiated, t: float, y: Array, t_end: float, rtol: float, Y: Array | None = None,
    length: float | None = None,
) -> Varied:  # fmt: skip
    """Follow a phase from (t, y) to a time, or to where it ends before.

    Parameters
    ----------
    rtol : float
        Local error per step, relative and absolute; a hundred times of that for Y.
    Y : Array, shape (n, m), optional
        Directions in which it is displaced at the beginning; by default all, Y = 1.
    length : float, optional
        Of the first step that is tried, s.

    Raises
    ------
    NoStep
        No step is short enough.
    """
    n, low, found = len(y), NO_DIP, None
    begin = np.eye(n) if Y is None else Y
    z, seen = np.concatenate([y, begin.ravel()]), phase.look(t, y)
    tolerance = Tolerance(max(rtol, 3e-14), rtol * np.concatenate([np.full(n, 1.0), np.full(begin.size, COARSER)]))
    offset = np.where(seen.g > LEFT, 0.0, LEFT - np.minimum(seen.g, 0.0))
    times, states = [t], [y]
    for piece in steps(phase.slope, t, z, t_end, tolerance, length):
        search = Search(phase, _along(phase, piece), offset, np.full(len(offset), NOISE))
        before, seen = seen, phase.look(piece.t_end, piece.end)
        found, _ = search.first(before, seen)
        low = min(low, _dip(search, before, seen if found is None else search.look(found.t)), key=itemgetter(0))
        t, z = piece.t_end, piece.end
        if found is not None:
            redo = _shorter(phase.slope, piece, tolerance)
            t, z = polished(piece, redo, phase.look, found, float(offset[found.k]))
        times.append(t)
        states.append(z[:n].copy())
        if found is not None:
            break
        offset = np.where(seen.g > LEFT, 0.0, offset)
    t = t if found is not None else t_end
    return Varied(t, z[:n].copy(), z[n:].reshape(begin.shape), found, np.array(times), np.array(states), low)


def _along(phase: Differentiated, piece: Piece) -> Callable[[float], Seen]:
    return lambda t: phase.look(t, piece.at(t))


def _shorter(slope: Slope, piece: Piece, tolerance: Tolerance) -> Callable[[float], Piece]:
    return lambda h: take(slope, piece.t, piece.y, piece.K[0], h, tolerance)


def _dip(search: Search, before: Seen, after: Seen) -> Dip:
    """Return the lowest minimum of a condition between two points, when, and of which."""
    middle, found = search.look(0.5 * (before.t + after.t)), NO_DIP
    for k, guard in enumerate(search.phase.guards):
        for a, b in ((before, middle), (middle, after)):
            if search.offset[k] == 0.0 and (dip := search.lowest(a, b, k)) is not None and dip[1] < found[0]:
                found = (dip[1], dip[0], guard)
    return found
