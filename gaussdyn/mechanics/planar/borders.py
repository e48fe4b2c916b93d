"""The borders of contacts in the plane: of a corner on an edge, and of a corner against a corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ..borders import Border

if TYPE_CHECKING:
    from .solids import Core, Solid


def borders(a: Solid, b: Solid, side: int, i: int, j: int) -> tuple[Border, ...]:
    """Return the borders of a contact of two shapes; none where nothing ends (half-planes, two discs).

    `side`, `i` and `j` as in `clipping`. A corner on an edge lies between its ends. A corner against a corner lies
    beyond the ends of both edges there.
    """
    if side < 0:
        return (*_at_corner(a, i, b, j), *_at_corner(b, j, a, i))
    inner, outer = (a, b) if side == 0 else (b, a)
    core = outer.core
    if core is None:
        return ()
    point, along, count = _point(inner, i), _along(core, j), len(core.corners)
    ends = core.corners[j], core.corners[(j + 1) % count]
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


def _along(core: Core, k: int) -> Array:
    nx, ny = core.normals[k]
    return np.array([-ny, nx])


def _point(solid: Solid, k: int) -> Array:
    return np.array(solid.shape.corners[k])  # type: ignore[union-attr]
