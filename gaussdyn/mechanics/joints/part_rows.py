"""What acts on the coordinates of joints as rows of a table, in the plane and in space alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from .equation import AS_RATE, AS_VALUE, AS_ZERO
from .limits_motors import Gear, JointFriction, Limit, Motor, Part

DAMPER = "/damper"  # how ids of dampers begin, which have rows in kernels alone, and no others
WEAK = 1e-100  # N s/m or N m s: what resists less does nothing, and its softness overflows


class PartRow(NamedTuple):
    """The row f x + g y - taken of the coordinates x, y of two joints.

    Attributes
    ----------
    id, joint, other : str
        `other` is empty where there is no y.
    factors, taken : (float, float)
        f and g; what is taken from value and rate.
    gap : int
        What the gap is, see `equation.AS_VALUE`.
    middle : float
        An angle is taken within half a turn of this.
    """

    id: str
    joint: str
    other: str = ""
    factors: tuple[float, float] = (1.0, 0.0)
    taken: tuple[float, float] = (0.0, 0.0)
    gap: int = AS_VALUE
    middle: float = 0.0


def part_rows(part: Part) -> Iterator[PartRow]:
    """Yield the rows of a limit, a friction, a motor or a gear."""
    if isinstance(part, Limit):
        middle = 0.5 * (part.low + part.high)
        for id in part.ids:
            stop, sign = (part.high, -1.0) if id.endswith(":high") else (part.low, 1.0)
            yield PartRow(id, part.joint, "", (sign, 0.0), (sign * stop, 0.0), AS_VALUE, _finite(middle))
        return
    (id,) = part.ids
    if isinstance(part, Gear):
        yield PartRow(id, part.joint, part.other, (1.0, -part.ratio), gap=AS_RATE)
    elif isinstance(part, JointFriction):
        yield PartRow(id, part.joint, gap=AS_ZERO)
    else:
        assert isinstance(part, Motor)
        yield PartRow(id, part.joint, taken=(0.0, part.rate), gap=AS_RATE if part.cap == math.inf else AS_ZERO)


def _finite(x: float) -> float:
    return x if math.isfinite(x) else 0.0
