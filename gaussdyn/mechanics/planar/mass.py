"""Homogeneous bodies in the plane: area, centre and moment of discs, stadiums and polygons with round corners."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ...arrays import scalar
from ...errors import InputError
from .bodies import PlanarBody, checked_shapes
from .shapes import Disc, Outline, Stadium
from .vectors import Pair


class Fill(NamedTuple):
    """What a part of a homogeneous body of density one has.

    Attributes
    ----------
    area : float
        m^2.
    centre : (x, y)
        Of area, m.
    moment : float
        Integral of the squared distance from the centre, m^4.
    """

    area: float
    centre: Pair
    moment: float


def plate(name: str, shapes: Outline | Sequence[Outline], *, density: float) -> PlanarBody:
    """Return a homogeneous body of shapes that do not overlap, its frame moved to their mass centre.

    Mass and inertia are exact, of round corners and ends, too: cores, strips along edges, and sectors at corners.

    Parameters
    ----------
    name : str
    shapes : Disc, Stadium or Polygon, or a sequence of them
        In any frame.
    density : float
        kg/m^2, > 0: that of the material times the thickness.

    Raises
    ------
    InputError
        No shapes, or shapes without area; a density that is not positive; names as for `PlanarBody`.
    """
    density = scalar(f"density of {name}", density, low=0.0, open_low=True)
    found = checked_shapes(name, (shapes,) if isinstance(shapes, Outline) else shapes)
    parts = [part for shape in found for part in _parts(shape)]
    area = sum(part.area for part in parts)
    if not area > 0.0:
        raise InputError(f"shapes of {name}", repr(found), "shapes with an area", "Write shapes=[Disc(radius=0.05)].")
    whole = _joined(parts)
    x, y = whole.centre
    moved = tuple(_moved(shape, -x, -y) for shape in found)
    return PlanarBody(name=name, mass=density * whole.area, inertia=density * whole.moment, shapes=moved)


def _joined(parts: Sequence[Fill]) -> Fill:
    """Return what parts that do not overlap have together."""
    area = sum(part.area for part in parts)
    x, y = (sum(part.area * part.centre[k] for part in parts) / area for k in (0, 1))
    arms = ((part.centre[0] - x) ** 2 + (part.centre[1] - y) ** 2 for part in parts)
    moment = sum(part.moment + part.area * arm for part, arm in zip(parts, arms, strict=True))
    return Fill(area, (x, y), moment)


def _parts(shape: Outline) -> Iterator[Fill]:
    """Yield triangles of the core, and strips and sectors of the skin."""
    corners, r, n = shape.corners, shape.skin, len(shape.corners)
    for k in range(1, n - 1):
        yield _triangle(corners[0], corners[k], corners[k + 1])
    if n == 1:
        yield Fill(math.pi * r * r, corners[0], 0.5 * math.pi * r**4)
        return
    for k in range(n if r > 0.0 else 0):
        before, here, after = (corners[(k + m) % n] for m in (-1, 0, 1))
        yield _strip(here, after, r)
        yield _sector(before, here, after, r)


def _triangle(a: Pair, b: Pair, c: Pair) -> Fill:
    area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    sides = sum((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p, q in ((a, b), (b, c), (c, a)))
    return Fill(area, ((a[0] + b[0] + c[0]) / 3.0, (a[1] + b[1] + c[1]) / 3.0), area * sides / 36.0)


def _strip(a: Pair, b: Pair, r: float) -> Fill:
    """Return the rectangle outside an edge, as wide as the skin."""
    x, y = b[0] - a[0], b[1] - a[1]
    length = math.hypot(x, y)
    out = 0.5 * r / length
    return Fill(
        length * r, (0.5 * (a[0] + b[0]) + out * y, 0.5 * (a[1] + b[1]) - out * x),
        length * r * (length * length + r * r) / 12.0,
    )  # fmt: skip


def _sector(before: Pair, here: Pair, after: Pair, r: float) -> Fill:
    """Return the sector of the skin around a corner, between the normals of its edges."""
    x, y, u, v = here[0] - before[0], here[1] - before[1], after[0] - here[0], after[1] - here[1]
    half = 0.5 * (math.atan2(x * v - y * u, x * u + y * v) % (2.0 * math.pi))
    middle = math.atan2(-x, y) + half
    off = 2.0 * r * math.sin(half) / (3.0 * half)
    area = half * r * r
    at = here[0] + off * math.cos(middle), here[1] + off * math.sin(middle)
    return Fill(area, at, area * (0.5 * r * r - off * off))


def _moved(shape: Outline, x: float, y: float) -> Outline:
    def by(p: Pair) -> Pair:
        return p[0] + x, p[1] + y

    if isinstance(shape, Disc):
        return replace(shape, at=by(shape.at))
    if isinstance(shape, Stadium):
        return replace(shape, a=by(shape.a), b=by(shape.b))
    return replace(shape, points=[by(p) for p in shape.points])
