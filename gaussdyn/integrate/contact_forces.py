"""Forces between bodies, from the reactions of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Array
from ..mechanics.rows import Row


def force_between(rows: Sequence[Row], impulses: Mapping[str, Array], dt: float, one: str, other: str) -> Array:
    """Return the mean force (N) of body `other` on body `one` over a step, shape (d,)."""
    total = np.zeros(SPACE)
    for row in rows:
        sign = _sign(row.between, one, other)
        if not sign or not is_contact(row) or row.frame is None:
            continue
        total = total[: len(row.frame)]
        if row.id in impulses:
            r = impulses[row.id][: len(row.frame)]
            total = total + sign / dt * (r @ row.frame[: len(r)])
    return total


SPACE = 3  # dimension of an empty table


CONTACTS = ("contact", "bilateral_contact", "unilateral")


def may_touch(row: Row) -> bool:
    """Whether a row is that of a contact of two bodies."""
    return row.kind in CONTACTS and row.between != NOBODY


def is_contact(row: Row) -> bool:
    """Whether a row tells its bodies and its directions."""
    return may_touch(row) and row.frame is not None and row.point is not None


def _sign(pair: tuple[str, str], one: str, other: str) -> float:
    return 1.0 if pair == (one, other) else -1.0 if pair == (other, one) else 0.0


NOBODY = ("", "")
