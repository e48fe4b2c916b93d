"""How far shapes are apart, and where they touch: pair by pair, at one state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._show import brief
from ..arrays import scalar
from ..errors import InputError
from ..mechanics.rows import Row
from ..mechanics.scene import state_of
from ..mechanics.state import State
from ..mechanics.system import System

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Manifold:
    """How two shapes are to each other.

    Attributes
    ----------
    pair : (str, str)
        Their names, sorted: ``body``, ``body.shape``, or that of an obstacle.
    distance : float
        Signed, m: the largest separation along any direction. Below zero they overlap, and it is minus the length of
        the shortest translation that parts them.
    points : tuple of Row
        Where they touch, or would: the contacts that the engine has for them here, sorted by id. `gap` of a point
        is how far its two features are apart, e.g. a corner and a face; the least of them is the distance where
        these two features are the nearest, as they are where shapes touch.
    """

    pair: Pair
    distance: float
    points: tuple[Row, ...]

    __repr__ = brief


def manifolds_near(system: System, state: State, *, reach: float = 0.0) -> tuple[Manifold, ...]:
    """Return the pairs of shapes that are no farther apart than `reach`, sorted by their names.

    Parameters
    ----------
    system : PlanarSystem, SpatialSystem or TreeSystem
    state : State
    reach : float
        m, >= 0. With 0 shapes that touch to rounding may be missing: write 1e-9.

    Raises
    ------
    InputError
        A system without shapes of its own, a scene, a state of another system, a reach that is negative or not finite.

    Notes
    -----
    The distance is continuous in the pose: it changes by no more than the surfaces move towards each other, and with
    cylinders by 1.3e-3 of their radii besides. Curved shapes are as far from others as the nearest of their features:
    see `collision.distances`. What is deeper in a surface of triangles than `reach` and 2% of its size is not noticed.
    """
    far, state = scalar("reach", reach, low=0.0), state_of(system, state)
    asked = getattr(system, "distances", None)
    if asked is None:
        mend = "Build it of bodies with shapes, e.g. SpatialSystem(bodies=[...])."
        raise InputError("system", type(system).__name__, "shapes", mend)
    apart: dict[Pair, float] = asked(state.q, far)
    points: dict[Pair, list[Row]] = {pair: [] for pair in apart}
    for pair, row in _points(system, state, far):
        if pair in points:
            points[pair].append(row)
    return tuple(Manifold(pair=pair, distance=apart[pair], points=tuple(points[pair])) for pair in sorted(apart))


def pair_of_shapes(key: str) -> Pair:
    """Return the names of the two shapes of a contact by its id, sorted."""
    a, _, b = key.partition("/")
    one, other = sorted((a.partition(":")[0], b.partition(":")[0]))
    return one, other


def _points(system: Any, state: State, reach: float) -> Iterator[tuple[Pair, Row]]:
    """Yield the contacts of shapes that are open by `reach` (m) at most, each with its pair."""
    for row in system.within(state.q, reach).rows(state.t, state.q, np.asarray(state.v)):
        if row.kind in ("unilateral", "contact") and "/" in row.id:
            yield pair_of_shapes(row.id), row
