"""A fit: the parameters, how well they are known, and which of them the measurements do not tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from ..._show import fitted
from ...arrays import Array

LEVEL = 0.95  # of the intervals
FLAT = 1e-5  # singular values of the Jacobian below this part of the largest are its rounding
WORTH_NAMING = 0.1  # components of a flat direction that are named


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Fit:
    """Parameters from measurements.

    Attributes
    ----------
    values : mapping of str to float
    intervals : mapping of str to (low, high) or None
        95 % confidence intervals (linearised, Student's t); None where the measurements do not determine a parameter.
    rms : mapping of str to float
        Root mean square of what is left of each column, in its unit.
    correlation : Array, shape (p, p)
        Of the parameters; NaN where one is not determined.
    singular_values : Array, shape (p,)
        Of the Jacobian, for parameters as parts of their ranges and residuals as parts of their scales.
    flat : tuple of mapping
        Directions in the parameters (parts of their ranges) along which what was measured does not change.
    words : tuple of str
        What to know about it, in sentences.
    runs : int
        Simulations that it took.
    cost : float
        Half the sum of the squared, scaled residuals.
    converged : bool
        Whether least squares ended by its tolerances.
    """

    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float] | None]
    rms: Mapping[str, float]
    correlation: Array
    singular_values: Array
    flat: tuple[Mapping[str, float], ...] = ()
    words: tuple[str, ...] = ()
    runs: int = 0
    cost: float = 0.0
    converged: bool = True
    start: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the values with their intervals, and the words."""
        parts = [f"{name}={value:.6g} {_interval(self.intervals[name])}" for name, value in self.values.items()]
        return fitted("Fit", [*parts, f"runs={self.runs}", *map(repr, self.words)])

    @property
    def determined(self) -> bool:
        """Whether the measurements determine every parameter."""
        return not self.flat

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON knows it."""
        return {
            "values": dict(self.values),
            "intervals": {name: None if x is None else list(x) for name, x in self.intervals.items()},
            "rms": dict(self.rms),
            "correlation": [[None if np.isnan(x) else float(x) for x in row] for row in self.correlation],
            "singular_values": self.singular_values.tolist(),
            "flat": [dict(direction) for direction in self.flat],
            "words": list(self.words),
            "runs": self.runs,
            "cost": self.cost,
            "converged": self.converged,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """How well parameters are known: covariance in parts of their ranges, flat directions (rows), singular values."""

    covariance: Array
    flat: Array
    singular_values: Array
    student: float


def spread_of(J: Array, cost: float, *, known_noise: bool) -> Spread:
    """Return what the Jacobian at the optimum says.

    A direction is flat where its singular value is rounding, or where its interval is wider than the whole range.

    Parameters
    ----------
    J : Array, shape (m, p)
        Of scaled residuals, to parameters as parts of their ranges.
    cost : float
        Half the sum of squares.
    known_noise : bool
        Whether residuals are in units of their noise; else that is estimated.
    """
    m, p = J.shape
    free = max(m - p, 1)
    noise = 1.0 if known_noise else float(np.sqrt(2.0 * cost / free))
    student = float(stats.norm.ppf((1.0 + LEVEL) / 2.0) if known_noise else stats.t.ppf((1.0 + LEVEL) / 2.0, free))
    s, V = np.linalg.svd(J, full_matrices=True)[1:]
    s = np.r_[s, np.zeros(p - len(s))]
    seen = (s > FLAT * max(float(s.max(initial=0.0)), 1e-300)) & (s > student * noise)
    directions = V[seen] / s[seen, None]
    return Spread(noise**2 * directions.T @ directions, V[~seen], s, student)


def flat_words(names: tuple[str, ...], direction: Array) -> str:
    """Return what a flat direction means."""
    named = [k for k in np.argsort(-np.abs(direction)) if abs(direction[k]) >= WORTH_NAMING]
    if len(named) == 1:
        return f"{names[named[0]]} is not determined: it changes nothing of what was measured beyond its noise"
    sign = np.sign(direction[named[0]])
    parts = ", ".join(f"{names[k]} {sign * direction[k]:+.2f}" for k in named)
    who = " and ".join(names[k] for k in named)
    return f"{who} cannot be told apart: changed together ({parts}, in parts of their ranges) they leave it as it is"


def _interval(ends: tuple[float, float] | None) -> str:
    return "(not determined)" if ends is None else f"[{ends[0]:.4g}, {ends[1]:.4g}]"
