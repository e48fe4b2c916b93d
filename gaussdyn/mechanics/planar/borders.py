"""The borders of contacts in the plane: of a corner on an edge, and of a corner against a corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ..borders import Border
from .clipping import Posed, Touch

if TYPE_CHECKING:
    from .solids import Solid


def borders(a: Solid, b: Solid, touch: Touch) -> tuple[Border, ...]:
    """Return the borders of a contact of two shapes; none where nothing ends (half-planes, two discs).

    A corner on an edge lies between its ends. A corner against a corner lies beyond the ends of both edges there.
    """
    if touch.side < 0:
        return (*_at_corner(a, touch.i, b, touch.j), *_at_corner(b, touch.j, a, touch.i))
    inner, outer = (a, b) if touch.side == 0 else (b, a)
    core = outer.core
    if core is None:
        return ()
    point, along, count = _point(inner, touch.i), _along(core, touch.j), len(core.corners)
    ends = core.corners[touch.j], core.corners[(touch.j + 1) % count]
    return tuple(
        Border(inner.body, point, outer.body, at, inward) for at, inward in zip(ends, (along, -along), strict=True)
    )


def _at_corner(inner: Solid, i: int, outer: Solid, j: int) -> tuple[Border, ...]:
    """Return the borders of what is nearest to corner j of `outer`, for corner i of `inner`."""
    core = outer.core
    if core is None or len(core.normals) == 0:
        return ()
    before, after, at = _along(core, j - 1), _along(core, j), core.corners[j]
    point = _point(inner, i)
    return tuple(Border(inner.body, point, outer.body, at, inward) for inward in (before, -after))


def _along(core: Posed, k: int) -> Array:
    nx, ny = core.normals[k]
    return np.array([-ny, nx])


def _point(solid: Solid, k: int) -> Array:
    return np.array(solid.shape.corners[k])  # type: ignore[union-attr]
