"""Events of the user: where a function g(t, state) passes through zero during an event-driven run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ...mechanics.state import State
from ..dop853 import Piece
from .event_location import LOCATED, Crossing, Seen, zero_of
from .guards import Guard

LOOKS = 8  # looks at a function per step of the integrator
ROUNDED = 1e-14  # of the largest value in a step: what is below this is zero
FIRED = 1e-9  # the same where a segment begins with this event: what is left there is rounding of either sign
KNOWN = 1e-12  # s, or what times resolve: what passes through zero so near to the start of a segment does so there

Read = Callable[[float, Array], State]  # the state that belongs to a time and a point of the integrator


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEvent:
    """A function of time and state whose zeros are events.

    Parameters
    ----------
    g : callable
        ``g(t, state)`` -> float, smooth between the events of the motion.
    stop : bool
        Whether the run ends there.
    direction : int
        -1: only where g falls; 1: only where it rises; 0: both.

    Raises
    ------
    InputError
        Not a function, a direction that is none.
    """

    g: Callable[[float, State], float]
    stop: bool = False
    direction: int = 0

    def __post_init__(self) -> None:
        if not callable(self.g):
            raise InputError(
                "g of an event", repr(self.g), "a function g(t, state) -> float", "Write g=lambda t, state: state.v[1]."
            )
        if self.direction not in (-1, 0, 1):
            raise InputError(
                "direction of an event", repr(self.direction), "-1 (falls), 1 (rises) or 0 (both)", "Write direction=0."
            )
        if not isinstance(self.stop, bool):
            raise InputError("stop of an event", repr(self.stop), "True or False", "Write stop=True.")


@dataclass(frozen=True, slots=True, eq=False)
class NamedEvent:
    """An event of the user and its name."""

    name: str
    event: UserEvent

    def value(self, state: State) -> float:
        """Return g at a state.

        Raises
        ------
        InputError
            NaN, or not a number.
        """
        given: Any = self.event.g(state.t, state)
        if isinstance(given, np.ndarray) and given.shape == ():
            given = given.item()
        return scalar(f"event {self.name}", given)


def events_of(given: object) -> dict[str, UserEvent]:
    """Return events by name; functions stand for events that do not stop the run.

    Raises
    ------
    InputError
        Not a mapping of names to functions or events.
    """
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given):
        raise InputError(
            "events",
            repr(given),
            'a mapping of names to functions, e.g. {"apex": g} with g(t, state)',
            'Write events={"apex": lambda t, state: state.v[1]}.',
        )
    return {name: one if isinstance(one, UserEvent) else UserEvent(g=one) for name, one in given.items()}


def first_of(
    events: Sequence[NamedEvent], piece: Piece, until: float, read: Read, since: float, fired: Collection[str] | None
) -> tuple[NamedEvent, Crossing, Callable[[float, Array], Seen]] | None:
    """Return the first event in a step of the integrator before a time, and how to look at it: a value that falls.

    A function is looked at nine times per step: two zeros between two looks are not seen. Nor are those at `since` (s),
    where the segment begins: that may be this very event. fired: those that the last segment ended with, if that is
    known.
    """
    if not events or not until > piece.t:
        return None
    times = np.linspace(piece.t, until, LOOKS + 1)
    states = [read(float(t), piece.at(float(t))) for t in times]
    best = None
    for one in events:
        values = np.array([one.value(state) for state in states])
        zero = FIRED if piece.t == since and (fired is None or one.name in fired) else ROUNDED
        found = _first_zero(one, times, values, piece, read, since, zero)
        if found is not None and (best is None or found[0] < best[0]):
            best = (*found, one)
    if best is None:
        return None
    t, sign, one = best

    def look(t: float, y: Array) -> Seen:
        """Return the value, with the sign with which it falls."""
        return Seen(t, np.array([-sign * one.value(read(t, y))]), np.array([np.nan]))

    return one, Crossing(t=t, guard=Guard("user", one.name, -1, "user"), k=0), look


def _first_zero(
    one: NamedEvent, times: Array, values: Array, piece: Piece, read: Read, since: float, zero: float
) -> tuple[float, float] | None:  # fmt: skip
    """Return when a function first passes through zero, and whether it rises (1) or falls (-1) there.

    zero: the share of the largest value up to which the first one is nothing.
    """
    size = np.abs(values)
    seen = size > ROUNDED * size.max()
    seen[0] = size[0] > zero * size.max()
    for a, b in itertools.pairwise(np.flatnonzero(seen)):
        sign = float(np.sign(values[b]))
        if sign == np.sign(values[a]) or one.event.direction == -sign:
            continue
        low, high = float(times[a]), float(times[b])
        near = LOCATED * max(1.0, abs(high))
        t = zero_of(
            lambda t: one.value(read(t, piece.at(t))), (low, float(values[a])), (high, float(values[b])), near
        )  # fmt: skip
        if t - since > max(KNOWN, 4.0 * math.ulp(t)):
            return t, sign
    return None
