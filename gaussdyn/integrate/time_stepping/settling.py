"""Whether passes settle, compiled: by the numbers of `scheme`."""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from .scheme import JUMP, SETTLED, STALLED


@kernel("boolean(float64, float64, float64, int64)", borrows=True)
def hopeless(change: float, last: float, earlier: float, left: int) -> bool:
    """Return whether passes will not settle in those that are left: by the mean factor of the last two.

    Changes may swing as they fall, and those of the size of rounding count as stalled soon.
    """
    if not (change > STALLED and np.isfinite(last + earlier)):
        return False
    return bool(change * min(change / earlier, 1.0) ** (0.5 * left) > SETTLED)


@kernel("boolean(float64, float64, float64)", borrows=True)
def stalled(change: float, last: float, earlier: float) -> bool:
    """Return whether a change is all that rounding leaves: it hovers, or is back after a jump."""
    low, high = (0.5 * earlier, STALLED) if last > JUMP * change else (max(0.5 * last, 0.25 * earlier), JUMP * last)
    return bool(low <= change <= min(high, STALLED))
