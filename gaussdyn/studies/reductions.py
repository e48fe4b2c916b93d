"""Reductions: a statistic over the runs of a study, taken in the order of their indices, that may end the study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from .._show import brief
from ..arrays import scalar
from ..errors import InputError


@runtime_checkable
class Reduction(Protocol):
    """What goes over the runs of a study as they come, in the order of their indices.

    Every study begins with a copy of it; a study that is resumed feeds it once more, from the first run on.
    """

    def add(self, parameters: Mapping[str, Any], values: Mapping[str, Any] | None) -> None:
        """Take the next run: its parameters, and what was measured; None if it failed."""

    @property
    def converged(self) -> bool:
        """Whether the study may end here."""

    def value(self) -> Mapping[str, float | None]:
        """Return the statistic, by names."""


@dataclass(slots=True, kw_only=True)
class MeanWithin:
    """Mean of a measured number; the study ends when its confidence interval is narrow enough.

    Parameters
    ----------
    name : str
        What is averaged: a name that the measure returns, of a single number.
    error : float
        Half width of the confidence interval at which the study ends, in the unit of that number; > 0.
    confidence : float
        Of the interval, in (0, 1); default 0.95.
    least : int
        Runs to take before it may end, >= 2: the estimate of the spread must mean something.

    Raises
    ------
    InputError
        A wrong number; in the study: no such name, or an array.

    Notes
    -----
    Welford's recurrence; the interval is that of the normal distribution. Runs that failed, and numbers that are not
    known, are left out and counted.
    """

    name: str
    error: float
    confidence: float = 0.95
    least: int = 30
    count: int = field(default=0, init=False)
    left_out: int = field(default=0, init=False)
    mean: float = field(default=0.0, init=False)
    squares: float = field(default=0.0, init=False)
    _factor: float = field(default=0.0, init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        scalar("error", self.error, low=0.0, open_low=True)
        self._factor = _factor_of(self.confidence, self.least)

    def add(self, parameters: Mapping[str, Any], values: Mapping[str, Any] | None) -> None:
        """Take the next run."""
        if values is None:
            self.left_out += 1
            return
        x = _single(self.name, values)
        if math.isnan(x):
            self.left_out += 1
            return
        self.count += 1
        before = x - self.mean
        self.mean += before / self.count
        self.squares += before * (x - self.mean)

    @property
    def half_width(self) -> float:
        """Half width of the confidence interval; infinite below two runs."""
        if self.count < 2:
            return math.inf
        return self._factor * math.sqrt(self.squares / (self.count - 1) / self.count)

    @property
    def converged(self) -> bool:
        """Whether the interval is narrow enough."""
        return self.count >= self.least and self.half_width <= self.error

    def value(self) -> dict[str, float | None]:
        """Return mean, half width of its interval, the runs that count and those left out."""
        mean = self.mean if self.count else None
        width = self.half_width if self.count > 1 else None
        return {"mean": mean, "half_width": width, "count": self.count, "left_out": self.left_out}


@dataclass(slots=True, kw_only=True)
class ShareWithin:
    """Share of the runs whose number lies within limits; the study ends when it is known well enough.

    What share of parts with their tolerances does what it should: the yield.

    Parameters
    ----------
    name : str
        What is judged: a name that the measure returns, of a single number.
    low, high : float
        The limits, in the unit of that number; they count as within.
    error : float
        Half width of the confidence interval at which the study ends, in (0, 1).
    confidence : float
        Of the interval, in (0, 1); default 0.95.
    least : int
        Runs to take before it may end, >= 2.

    Raises
    ------
    InputError
        A wrong number; in the study: no such name, or an array.

    Notes
    -----
    Wilson's interval (Journal of the American Statistical Association 22, 1927). Runs that failed, and numbers that are
    not known, are not within.
    """

    name: str
    low: float = -math.inf
    high: float = math.inf
    error: float
    confidence: float = 0.95
    least: int = 30
    count: int = field(default=0, init=False)
    within: int = field(default=0, init=False)
    _factor: float = field(default=0.0, init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(
                "limits",
                f"{self.low} to {self.high}",
                "low < high",
                f"Write low={min(self.low, self.high):g}, high={max(self.low, self.high) + 1.0:g}.",
            )
        scalar("error", self.error, low=0.0, high=1.0, open_low=True)
        self._factor = _factor_of(self.confidence, self.least)

    def add(self, parameters: Mapping[str, Any], values: Mapping[str, Any] | None) -> None:
        """Take the next run."""
        self.count += 1
        if values is not None:
            self.within += self.low <= _single(self.name, values) <= self.high

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the confidence interval of the share."""
        n, z2 = max(self.count, 1), self._factor**2
        share = self.within / n
        middle = (share + z2 / (2 * n)) / (1.0 + z2 / n)
        width = self._factor / (1.0 + z2 / n) * math.sqrt(share * (1.0 - share) / n + z2 / (4 * n * n))
        return middle - width, middle + width

    @property
    def converged(self) -> bool:
        """Whether the interval is narrow enough."""
        low, high = self.interval
        return self.count >= self.least and high - low <= 2.0 * self.error

    def value(self) -> dict[str, float | None]:
        """Return the share, the ends of its interval, and the runs."""
        low, high = self.interval
        share = self.within / self.count if self.count else None
        return {"share": share, "low": low, "high": high, "count": self.count, "within": self.within}


def _factor_of(confidence: float, least: object) -> float:
    """Return how many standard deviations an interval reaches to each side."""
    from statistics import NormalDist

    if scalar("confidence", confidence, low=0.0, high=1.0, open_low=True) == 1.0:
        raise InputError("confidence", confidence, "a number in (0, 1)", "Write confidence=0.95.")
    if isinstance(least, bool) or not isinstance(least, int) or least < 2:
        raise InputError("least", repr(least), "an integer >= 2", "Write least=30.")
    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def _single(name: str, values: Mapping[str, Any]) -> float:
    """Return a number that was measured."""
    if name not in values or values[name].ndim:
        raise InputError(
            "name of the reduction",
            repr(name),
            f"a single number among {', '.join(values)}",
            f'Write name="{next(iter(values), "")}".',
        )
    return float(values[name])


def check_reduction(given: object) -> None:
    """Raise InputError unless this can reduce a study (None: no reduction)."""
    if given is not None and (isinstance(given, type) or not isinstance(given, Reduction)):
        mend = 'E.g. MeanWithin(name="speed", error=0.01).'
        raise InputError("reduce", repr(given), "an object with add, converged and value, or None", mend)
