"""The values that two forces take together: a polygon from outside, one from inside, and rays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...errors import InputError
from .quantity import Quantity, combination
from .reaction_set import ReactionSet


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForcePolygon:
    """All pairs of two quantities, between two polygons.

    Attributes
    ----------
    of : pair of str
    directions : Array, shape (k, 2)
        Unit vectors that were asked, once around.
    reach : Array, shape (k,)
        Largest value of direction . pair, proved; inf where nothing bounds it. The set is where all hold.
    inner : Array, shape (k', 2)
        Pairs that are reached; the set holds their hull. None are listed where the set is unbounded.
    """

    of: tuple[str, str]
    directions: Array
    reach: Array
    inner: Array

    __repr__ = brief

    @property
    def bounded(self) -> bool:
        """Whether the set is bounded."""
        return bool(np.isfinite(self.reach).all())

    @property
    def outer(self) -> Array:
        """Corners of the outer polygon, shape (k, 2), once around.

        Raises
        ------
        InputError
            The set is unbounded.
        """
        if not self.bounded:
            raise InputError(
                "outer", "an unbounded set", "a bounded one", "Look at zip(polygon.directions, polygon.reach) instead."
            )
        after, reach = np.roll(self.directions, -1, axis=0), np.roll(self.reach, -1)
        return np.asarray(
            np.linalg.solve(np.stack([self.directions, after], 1), np.c_[self.reach, reach][..., None])[..., 0]
        )

    @property
    def area(self) -> tuple[float, float]:
        """Areas of the inner and of the outer polygon."""
        return _area(self.inner), _area(self.outer)

    def to_json(self) -> dict[str, Any]:
        """Return it as the file formats describe it."""
        return {
            "of": self.of,
            "bounded": self.bounded,
            "inner": self.inner,
            "directions": self.directions,
            "reach": self.reach,
        }


def polygon(found: ReactionSet, x: Quantity, y: Quantity, *, directions: int = 72) -> ForcePolygon:
    """Return the pairs of two quantities over all reactions.

    Parameters
    ----------
    found : ReactionSet
    x, y : quantities
        See `ReactionSet.range`.
    directions : int
        How many sides the polygons may have, 4 to 10000.

    Raises
    ------
    InputError
        No such reaction, too few or too many directions.
    """
    D = around(directions)
    (label_x, a), (label_y, b) = combination(found.allowed, x), combination(found.allowed, y)
    both, parts = np.vstack([a, b]), found.supports(D @ np.vstack([a, b]))
    values = np.array([one.value for one in parts])
    best = np.argmax(values, axis=0)
    reach = values.max(axis=0)
    inner = []
    for k in np.flatnonzero(np.isfinite(reach)):
        one = found.allowed.alternatives[best[k]]
        inner.append(both @ (one.offset + one.spread @ parts[best[k]].points[k]))
    return ForcePolygon(of=(label_x, label_y), directions=D, reach=reach, inner=np.array(inner).reshape(-1, 2))


def around(directions: int) -> Array:
    """Return unit vectors once around, shape (directions, 2).

    Raises
    ------
    InputError
        Fewer than 4, or more than 10000.
    """
    if not 4 <= directions <= 10_000:
        raise InputError("directions", directions, "4 to 10000", "Write directions=64.")
    angle = 2.0 * np.pi * np.arange(directions) / directions
    D = np.c_[np.cos(angle), np.sin(angle)]
    D[np.abs(D) < 1e-15] = 0.0
    return np.asarray(D)


def _area(corners: Array) -> float:
    x, y = corners[:, 0], corners[:, 1]
    return float(0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
