"""The motions that a joint leaves free, in the plane and in space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Freedom:
    """A motion that a joint leaves free, at one state: where it is, and how fast, rate = J v.

    Attributes
    ----------
    value, rate : float
        rad and rad/s, m and m/s. The rate is that of the value, but for a ball: its value is a rotation vector, its
        rate the angular velocity.
    J : Array, shape (nv,)
    """

    value: float
    rate: float
    J: Array


class LeavesFree:
    """What joints say about the motions that they leave free; one with a `coordinate` has that one."""

    __slots__ = ()
    name: str
    coordinate: ClassVar[str] = ""  # "turn" or "angle", or "travel", where one motion is left free
    freedoms: ClassVar[tuple[str, ...]] = ()  # what these motions are called

    def free(self, motion: Any) -> Any:
        """Return the one motion that it leaves free as an `Equation`."""
        raise NotImplementedError

    def free_motions(self, motion: Any) -> tuple[Freedom, ...]:
        """Return where the motions are that it leaves free, in the order of `freedoms`."""
        if not self.freedoms:
            return ()
        x = self.free(motion)
        return (Freedom(x.value, x.rate, x.J),)

    def readings(self, motion: Any) -> tuple[list[float], list[float]]:
        """Return values and rates of these motions: what a run keeps of every state."""
        found = self.free_motions(motion)
        return [x.value for x in found], [x.rate for x in found]

    def off(self, motion: Any, values: Sequence[float]) -> tuple[Freedom, ...]:
        """Return how far the motions that it leaves free are from given values, angles by at most half a turn."""
        wraps = self.coordinate != "travel"
        return tuple(
            Freedom(math.remainder(x.value - y, math.tau) if wraps else x.value - y, x.rate, x.J)
            for x, y in zip(self.free_motions(motion), values, strict=True)
        )

    def pose(self, values: Sequence[float]) -> Array:
        """Return the pose of marker a, seen from marker b, at these values: see `poses`."""
        raise NotImplementedError

    def moved(self, values: Sequence[float], step: Sequence[float]) -> tuple[float, ...]:
        """Return the values after a small step at rates that add up to `step`."""
        return tuple(x + dx for x, dx in zip(values, step, strict=True))
