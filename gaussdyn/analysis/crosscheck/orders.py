"""Orders of convergence: slopes of log error over log stiffness, with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How an error falls: like N^-value.

    Attributes
    ----------
    value : float or None
        Least-squares slope; None with fewer than two errors above the floor.
    low, high : float or None
        95 % confidence interval; None with fewer than three.
    used : tuple of float
        The stiffnesses it was measured with.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    used: tuple[float, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether its sign is known: the interval does not hold zero."""
        return self.low is not None and self.high is not None and self.low * self.high > 0.0

    def __str__(self) -> str:
        """Return the order in words."""
        if self.value is None:
            return "no order (errors at the floor)"
        if self.low is None or self.high is None:
            return f"order {self.value:.3f}"
        return f"order {self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def order_of(stiffness: Sequence[float], errors: Sequence[float], floor: float) -> Order:
    """Return the order at which errors fall, from those above `floor`.

    Parameters
    ----------
    stiffness, errors : sequences of float
    floor : float
        Below this an error is one of the reference, or of rounding.
    """
    pairs = [(N, e) for N, e in zip(stiffness, errors, strict=True) if np.isfinite(e) and e > floor]
    used = tuple(N for N, _ in pairs)
    if len(pairs) < 2:
        return Order(value=None, used=used)
    x, y = np.log([N for N, _ in pairs]), np.log([e for _, e in pairs])
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    if len(pairs) < 3:
        return Order(value=-slope, used=used)
    from scipy.stats import t

    rest = y - y.mean() - slope * x
    width = float(t.ppf(0.5 + CONFIDENCE / 2.0, len(x) - 2) * np.sqrt((rest @ rest) / (len(x) - 2) / (x @ x)))
    return Order(value=-slope, low=-slope - width, high=-slope + width, used=used)
