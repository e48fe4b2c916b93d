"""One check of an audit: a value per time, and the largest that is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AuditCheck:
    """A named check.

    Attributes
    ----------
    name : str
    t, values : Array, shape (n,)
        Times, s, and what was found (inf where it could not be computed).
    tol : float
        Largest value allowed; the unit is that of the values.
    unit : str
    """

    name: str
    t: Array
    values: Array
    tol: float
    unit: str = "1"

    __repr__ = brief

    @property
    def passed(self) -> bool:
        """Whether every value is at most `tol`."""
        return not (~(self.values <= self.tol)).any()

    @property
    def max(self) -> float:
        """Largest value, 0 if there is none."""
        return float(np.max(np.where(np.isnan(self.values), np.inf, self.values), initial=0.0))

    @property
    def first_bad(self) -> int:
        """Index of the first value above `tol`."""
        return int(np.flatnonzero(~(self.values <= self.tol))[0])

    def to_json(self) -> dict[str, Any]:
        """Return name, largest value, tolerance, unit, verdict and number of values."""
        worst = self.max
        return {
            "name": self.name,
            "max": worst if np.isfinite(worst) else None,
            "tol": self.tol,
            "unit": self.unit,
            "pass": self.passed,
            "checked": len(self.values),
        }
