"""A range of a parameter, cut into cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """A parameter and the middles of its cells.

    Attributes
    ----------
    name, unit : str
    low, high : float
        Edges of the picture.
    size : int
    """

    name: str
    unit: str
    low: float
    high: float
    size: int

    def __post_init__(self) -> None:
        low, high = scalar(f"low of {self.name}", self.low), scalar(f"high of {self.name}", self.high)
        if not high > low:
            raise InputError(
                f"range of {self.name}",
                f"{low:g} to {high:g}",
                "low < high",
                f"Write low={min(low, high):g}, high={max(low, high) + (low == high):g}.",
            )
        if not 2 <= self.size <= 10_000:
            raise InputError(f"cells along {self.name}", self.size, "2 to 10000", "Write size=100.")

    @property
    def values(self) -> Array:
        """Middles of the cells, shape (size,)."""
        middles: Array = self.at((np.arange(self.size) + 0.5) / self.size)
        return middles

    def at(self, share: Any) -> Any:
        """Return the value at a share of the range, 0 to 1."""
        return self.low + (self.high - self.low) * share
