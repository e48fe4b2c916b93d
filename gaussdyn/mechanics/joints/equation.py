"""One scalar equation of a joint, in the plane or in space, and the row that keeps it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array
from ..rows import Row

AS_VALUE, AS_RATE, AS_ZERO = range(3)  # what kernels take for the gap of a row


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """A function of the pose at one state: value, rate = J v, second rate = J a + drift.

    Attributes
    ----------
    value, rate, drift : float
    J : Array, shape (nv,)
    """

    value: float
    J: Array
    rate: float
    drift: float


def bilateral_rows(name: str, parts: Sequence[tuple[str, Equation]]) -> tuple[Row, ...]:
    """Return one row ``name:part`` for every equation that a joint keeps at zero.

    Raises
    ------
    InputError
        An equation has no finite value here.
    """
    return tuple(_row(f"{name}:{part}", e) for part, e in parts)


def _row(id: str, e: Equation) -> Row:
    if math.isfinite(e.value + e.rate + e.drift + e.J.sum()):  # a full check takes five times as long as the equation
        return _blank(id, len(e.J)).but(
            gap=float(e.value), J=e.J[None], rate=np.array((e.rate,)), drift=np.array((e.drift,))
        )
    return Row(id=id, kind="bilateral", gap=e.value, J=e.J[None], rate=np.array((e.rate,)), drift=np.array((e.drift,)))


@lru_cache(maxsize=1024)
def _blank(id: str, nv: int) -> Row:
    return Row(id=id, kind="bilateral", J=np.zeros((1, nv)), rate=np.zeros(1), drift=np.zeros(1))
