"""One scalar equation of a joint, in the plane or in space, and the row that keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import Array
from .rows import Row


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
    """Return one row ``name:part`` for every equation that a joint keeps at zero."""
    return tuple(
        Row(id=f"{name}:{part}", kind="bilateral", gap=e.value, J=e.J[None], rate=[e.rate], drift=[e.drift])  # type: ignore[arg-type]
        for part, e in parts
    )
