"""How much of all restitution an impact may keep: the largest fraction with which it has a solution and gains nothing.

One rule for time stepping (`time_stepping.scheme`) and for impacts at events (`impact_laws`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

GAIN = 1e-12  # of the work counted without signs: what may be rounding
CLOSE = 1e-3  # of a gain: loss with which a fraction is not worth being made larger, where steps err more anyway
TRIALS = 12
LEAST = 1e-9  # a smaller fraction is none


def largest_share(
    gain_with: Callable[[float], float], high: float, *, close: float = CLOSE, trials: int = TRIALS
) -> float:
    """Return the largest fraction of the restitution with a solution that gains no energy.

    Between a loss and a gain by regula falsi (Illinois), between a solution and none by bisection: a body that is
    struck on one side of a slot that fits cannot go back, but it can stay.

    Parameters
    ----------
    gain_with : callable
        gain_with(share) is the gain, relative, NaN without a solution.
    high : float
        The gain with all of it, above `GAIN`, or NaN. 1 is returned where even without any restitution there is a gain
        or no solution.
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
        share = 0.5 * (least + most) if math.isnan(high) else (least * high - most * low) / (high - low)
        if not least < share < most or most - least <= GAIN:  # the gain jumps there, between solutions of the laws
            break
        work = gain_with(share)
        if math.isnan(work):
            most, high, side = share, work, 0
        elif work > GAIN:
            most, high, low, side = share, work, low * (0.5 if side > 0 else 1.0), 1
        else:
            least, low, high, side = share, work, high * (0.5 if side < 0 else 1.0), -1
            if work >= -max(close * high, GAIN):
                break
    return least if least > LEAST else 0.0
