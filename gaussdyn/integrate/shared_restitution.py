"""How much of all restitution an impact may keep: the largest fraction of it with which no energy is gained.

One rule for time stepping (`dissipation`) and for impacts at events (`impact_laws`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

GAIN = 1e-12  # of the work counted without signs: what may be rounding
CLOSE = 1e-3  # of a gain: loss with which a fraction is not worth being made larger, where steps err more anyway
TRIALS = 12


def largest_share(
    gain_with: Callable[[float], float], high: float, *, close: float = CLOSE, trials: int = TRIALS
) -> float:
    """Return the largest fraction of the restitution that gains no energy (regula falsi, Illinois).

    Parameters
    ----------
    gain_with : callable
        gain_with(share) is the gain, relative, NaN without a solution.
    high : float
        The gain with all of it, above `GAIN`. 1 is returned where even without any restitution there is a gain.
    close : float
        Loss, over the smallest gain tried, with which a fraction is large enough; a loss up to `GAIN` always is.
    trials : int
        Largest number of fractions tried between 0 and 1.
    """
    low = gain_with(0.0)
    if not low <= GAIN:
        return 1.0
    most, least, side = 1.0, 0.0, 0
    for _ in range(trials):
        share = (least * high - most * low) / (high - low)
        if not least < share < most:  # the gain jumps there, from one solution of the laws to another
            break
        work = gain_with(share)
        if math.isnan(work):
            most, side = share, 0
        elif work > GAIN:
            most, high, low, side = share, work, low * (0.5 if side > 0 else 1.0), 1
        else:
            least, low, high, side = share, work, high * (0.5 if side < 0 else 1.0), -1
            if work >= -max(close * high, GAIN):
                break
    return least
