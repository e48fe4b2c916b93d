"""The range of one force, with the reactions at both ends and the proof that it goes no further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...programs.conic.cone_slice import Verdict

SAME = 1e-8  # of the size of all forces: ends that are closer are one value
WEDGE = "for reactions that balance each other may be added (a wedge, or redundant joints)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForceRange:
    """Smallest and largest value of a quantity over all reactions that the laws allow.

    Attributes
    ----------
    of : str
    low, high : float
        -inf and inf where nothing bounds it.
    low_at, high_at : Array, shape (R,)
        Reactions there; where it is unbounded a direction that may be added as often as one likes.
    verdicts : pair of Verdict
        Of both ends.
    gap : float
        What the proofs of both ends leave open, relative to the forces.
    unit : str
    size : float
        Of the forces at both ends.
    """

    of: str
    low: float
    high: float
    low_at: Array
    high_at: Array
    verdicts: tuple[Verdict, Verdict]
    gap: float
    unit: str
    size: float

    __repr__ = brief

    @property
    def unique(self) -> bool:
        """Whether there is one value only."""
        return bool(np.isfinite(self.high - self.low) and self.high - self.low <= SAME * self.size)

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def known(self) -> bool:
        """Whether both ends are decided."""
        return Verdict.UNDECIDED not in self.verdicts

    def explain(self) -> str:
        """Return the range in words."""
        if not self.known:
            return f"{self.of}: undecided"
        if Verdict.EMPTY in self.verdicts:
            return f"{self.of}: no reactions give this motion"
        if self.unique:
            return f"{self.of} is {_number(0.5 * (self.low + self.high), self.size)} {self.unit}"
        if self.bounded:
            ends = f"between {_number(self.low, self.size)} and {_number(self.high, self.size)} {self.unit}"
            return f"{self.of} is {ends}"
        if np.isfinite(self.low):
            ends = f"{_number(self.low, self.size)} {self.unit} or more"
        elif np.isfinite(self.high):
            ends = f"{_number(self.high, self.size)} {self.unit} or less"
        else:
            ends = "anything"
        return f"{self.of} is {ends}: unbounded, {WEDGE}"

    def to_json(self) -> dict[str, Any]:
        """Return it as the file formats describe it."""
        return {"of": self.of, "low": self.low, "high": self.high, "unit": self.unit, "unique": self.unique,
                "verdicts": [str(one) for one in self.verdicts], "gap": self.gap}  # fmt: skip


def _number(value: float, size: float) -> str:
    return f"{0.0 if abs(value) <= SAME * size else value:.6g}"
