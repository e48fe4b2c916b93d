"""Whether passes settle, compiled: by the numbers of `scheme`."""

from __future__ import annotations

import numpy as np

from ..._jit import kernel
from .scheme import JUMP, MAX_PASSES, ROUGH, SETTLED, STALLED

NEXT_TO_LAST = 1e-8, 1e-10  # change from which on a pass may be the last, where its end is put anew, and where not
FORESIGHT = 0.1  # times the change that ends passes: what that after it shall be by the rate of the two before
STIFF = 0.03  # of the last change, from which on dh/dv must stand beside the mass


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


@kernel("boolean(int64, float64, float64, float64, boolean)", borrows=True)
def lost(k: int, change: float, last: float, earlier: float, rough: bool) -> bool:
    """Return whether passes after pass k will not settle; rough: the force is followed by a slope, and yet no end."""
    if rough and k > 2 and change > max(STIFF * last, ROUGH):
        return True
    return bool(hopeless(change, last, earlier, MAX_PASSES - k))


@kernel("boolean(float64, float64, float64, boolean)", borrows=True)
def foretold(change: float, last: float, enough: float, anew: bool) -> bool:
    """Return whether passes contract so well that the change after the next one is small enough without a look.

    anew: the end that it leads to is put by itself, and does not move along. After a single pass no rate is known.
    """
    low = NEXT_TO_LAST[0] if anew and np.isfinite(last) else NEXT_TO_LAST[1]
    return change <= low and change * change <= enough * FORESIGHT * last
