"""Shapes that bodies in the plane touch each other with: discs, stadiums, convex polygons.

All of them are one thing: a convex core of one, two or more corners, and a skin of constant thickness around it. An
edge runs from corner k to corner k + 1 counter-clockwise, so that its outward normal is its direction turned clockwise;
the core of a stadium has two edges, one for every side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...arrays import scalar
from ...errors import InputError
from ..names import check_name
from .vectors import Pair, pair

CAP = 12  # pieces of a round end in a drawing


@dataclass(frozen=True, slots=True, kw_only=True)
class Disc:
    """A disc around a body-fixed point.

    Parameters
    ----------
    radius : float
        m, > 0.
    at : (x, y)
        Its centre in the body's frame, m.
    name : str
        Needed where a body has several shapes, or for a shape of the ground.

    Raises
    ------
    InputError
        A radius that is not positive, NaN, an unusable name.
    """

    radius: float
    at: Pair = (0.0, 0.0)
    name: str = ""

    def __post_init__(self) -> None:
        _check(self, ("at",))
        object.__setattr__(self, "radius", scalar("radius of a disc", self.radius, low=0.0, open_low=True))

    @property
    def corners(self) -> tuple[Pair, ...]:
        """Of the core: the centre."""
        return (self.at,)

    @property
    def skin(self) -> float:
        """Thickness around the core, m."""
        return self.radius


@dataclass(frozen=True, slots=True, kw_only=True)
class Stadium:
    """All points within `radius` of a segment: a capsule in the plane.

    Parameters
    ----------
    a, b : (x, y)
        Ends of the segment in the body's frame, m.
    radius : float
        m, >= 0 (0: a plain segment, with two sides).
    name : str
        As for `Disc`.

    Raises
    ------
    InputError
        Ends that coincide, a negative radius, NaN, an unusable name.
    """

    a: Pair
    b: Pair
    radius: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        _check(self, ("a", "b"))
        object.__setattr__(self, "radius", scalar("radius of a stadium", self.radius, low=0.0))
        if self.a == self.b:
            raise InputError(
                "b of a stadium", self.b, "an end that differs from a", f"Write Disc(radius={self.radius:g})."
            )

    @property
    def corners(self) -> tuple[Pair, ...]:
        """Of the core: the ends of the segment."""
        return (self.a, self.b)

    @property
    def skin(self) -> float:
        """Thickness around the core, m."""
        return self.radius


@dataclass(frozen=True, slots=True, kw_only=True)
class Polygon:
    """A convex polygon, with round corners if it has a radius: all points within `radius` of the polygon.

    Parameters
    ----------
    points : sequence of (x, y)
        Corners in the body's frame, m, at least three, in order around it; stored counter-clockwise.
    radius : float
        m, >= 0. It adds to the polygon on all sides: middles of round corners are `radius` further in than the rim.
    name : str
        As for `Disc`.

    Raises
    ------
    InputError
        Fewer than three corners, a corner that is not convex, a negative radius, NaN, an unusable name.
    """

    points: Sequence[Pair]
    name: str = ""
    radius: float = 0.0

    def __post_init__(self) -> None:
        _check(self, ())
        object.__setattr__(self, "radius", scalar("radius of a polygon", self.radius, low=0.0))
        corners = tuple(pair("corner of a polygon", corner) for corner in self.points)
        object.__setattr__(self, "points", _convex(corners))

    @property
    def corners(self) -> tuple[Pair, ...]:
        """Of the core, counter-clockwise: its own corners, or the middles of round ones."""
        return tuple(self.points)

    @property
    def skin(self) -> float:
        """Thickness around the core, m."""
        return self.radius


Outline = Disc | Stadium | Polygon


def rectangle(width: float, height: float, name: str = "") -> Polygon:
    """Return a rectangle around the origin, sides in m."""
    a = scalar("width of a rectangle", width, low=0.0, open_low=True) / 2
    b = scalar("height of a rectangle", height, low=0.0, open_low=True) / 2
    return Polygon(points=((-a, -b), (a, -b), (a, b), (-a, b)), name=name)


def chain(name: str, points: Sequence[Pair], radius: float = 0.0) -> tuple[Stadium, ...]:
    """Return ground made of segments from point to point, ``name00`` ..: obstacles; nothing catches where it is level.

    Raises
    ------
    InputError
        Fewer than two points, two of them in one place, a negative radius, NaN, an unusable name.
    """
    if len(points) < 2:
        raise InputError(
            f"points of {name}", f"{len(points)}", "two points or more", "Write points=[(0.0, 0.0), (1.0, 0.0)]."
        )
    width = max(2, len(str(len(points) - 2)))
    return tuple(
        Stadium(a=a, b=b, radius=radius, name=f"{name}{k:0{width}d}") for k, (a, b) in enumerate(pairwise(points))
    )


def drawn_corners(shape: Outline) -> tuple[Pair, ...]:
    """Return the rim of a stadium or polygon as a polygon, round ends in small pieces."""
    if shape.skin == 0.0:
        return shape.corners
    rim, n = [], len(shape.corners)
    for k in (*range(1, n), 0):
        (ax, ay), (x, y), (bx, by) = (shape.corners[(k + m) % n] for m in (-1, 0, 1))
        start, end = math.atan2(ax - x, y - ay), math.atan2(x - bx, by - y)  # the outward normals of both edges
        sweep = (end - start) % (2.0 * math.pi)
        pieces = math.ceil(CAP * sweep / math.pi - 1e-9)
        angles = [start + sweep * m / pieces for m in range(pieces + 1)]
        rim += [(x + shape.skin * math.cos(angle), y + shape.skin * math.sin(angle)) for angle in angles]
    return tuple(rim)


def _check(shape: Outline, points: Sequence[str]) -> None:
    if shape.name:
        check_name("name of a shape", shape.name)
    for name in points:
        object.__setattr__(shape, name, pair(f"{name} of a shape", getattr(shape, name)))


def _convex(corners: tuple[Pair, ...]) -> tuple[Pair, ...]:
    """Return the corners counter-clockwise, or raise InputError if they are not those of a convex polygon."""
    around = corners + corners[:2]
    turns = [_turn(*around[k : k + 3]) for k in range(len(corners))] if len(corners) >= 3 else []
    if turns and all(turn < 0.0 for turn in turns):
        return _convex(corners[::-1])
    winds = sum(_angle(*around[k : k + 3]) for k in range(len(turns)))
    if not turns or not all(turn > 0.0 for turn in turns) or winds > 3.0 * math.pi:
        mend = "Split it into convex shapes; leave out corners on a straight edge: shapes=[Polygon(...), Polygon(...)]."
        raise InputError("points of a polygon", corners, "three corners or more that turn one way", mend)
    return corners


def _turn(a: Pair, b: Pair, c: Pair) -> float:
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def _angle(a: Pair, b: Pair, c: Pair) -> float:
    return math.atan2(_turn(a, b, c), (b[0] - a[0]) * (c[0] - b[0]) + (b[1] - a[1]) * (c[1] - b[1]))
