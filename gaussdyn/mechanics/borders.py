"""How far a contact is from the end of the features that touch: the end of an edge, the border of a face.

A contact of two features, e.g. a corner on an edge, is a gap to a whole line or plane, or to a point. It is the contact
of the two shapes only while the point that touches is within borders: on the edge; for a corner, beyond the edges that
meet there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array

FLAT = 1e-9  # sine: a rim tilted by less has no lowest point, and over an edge it lies flat on the face beside it
PARALLEL = 1e-12  # square of the sine of the angle between lines that do not cross
Pose = tuple[Array, Array]  # place in space and rotation from body axes to space


class Rim(NamedTuple):
    """A circle of a body about a point of it, over a face of another one.

    Attributes
    ----------
    axis, radius : Array, float
        Across which it is, in the frame of its body, and its radius, m.
    up : Array
        The normal of the face, in the frame of that body.
    """

    axis: Array
    radius: float
    up: Array

    def lowest(self, R: Array, S: Array) -> Array | None:
        """Return its lowest point from its centre, for rotations of both bodies; None where it lies flat."""
        up = R.T @ (S @ self.up)
        across = up - (up @ self.axis) * self.axis
        size = float(np.sqrt(across @ across))
        return None if size <= FLAT else (-self.radius / size) * across


class Border(NamedTuple):
    """A line or plane of one body on one side of which a point of another one has to be.

    Attributes
    ----------
    body, point : str, Array
        The point, in its body's frame, m.
    on, at, inward : str, Array, Array
        The body that carries the border, a point of it and its direction of length one, in that body's frame.
    rim : Rim or None
        Then it is the lowest point of a rim about `point`.
    """

    body: str
    point: Array
    on: str
    at: Array
    inward: Array
    rim: Rim | None = None


class Line(NamedTuple):
    """A straight piece of a body: its middle and its direction in the body's frame, half its length, m."""

    body: str
    middle: Array
    along: Array
    half: float


class Tip(NamedTuple):
    """The end of a piece of one body that touches a straight piece of another one: its nearest point is beyond the end.

    Attributes
    ----------
    body, at, outward : str, Array, Array
        The end and the direction of length one in which its body goes no further, in its body's frame.
    line : Line
        Of the other body.
    """

    body: str
    at: Array
    outward: Array
    line: Line


class Along(NamedTuple):
    """A straight piece that a rim touches: between its ends, by a normal out of both faces beside it.

    Attributes
    ----------
    body : str
        Of the rim.
    line : Line
    touch : callable
        touch(pose of the rim's body, pose of its own) -> (normal, point) in space.
    outs : tuple of Array
        For each face the direction across the piece that leads out of it, in its plane, in the frame of its body.
    radius : float
        Of the rim: so much farther on along a face it is its lowest point, times the sine by which the normal leans, m.
    crossing : callable or None
        Of a rim whose disc the piece crosses, flatly: crossing(pose, pose, point) -> the sine of the angle between rim
        and piece, and how far they are from crossing so no more.
    """

    body: str
    line: Line
    touch: Callable[[Pose, Pose], tuple[Array, Array]]
    outs: tuple[Array, ...]
    radius: float
    crossing: Callable[[Pose, Pose, Array], tuple[float, float]] | None


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """The borders of a contact.

    Attributes
    ----------
    borders : tuple of Border
    pose : callable
        pose(q, body) -> Pose; of the ground too.
    tips : tuple of Tip
    along : tuple of Along
    """

    borders: tuple[Border, ...]
    pose: Callable[[Array, str], Pose]
    tips: tuple[Tip, ...] = ()
    along: tuple[Along, ...] = ()

    def room(self, q: Array) -> float:
        """Return how far the contact is from the nearest border, m; negative beyond."""
        return min(
            *(self._inside(one, q) for one in self.borders), *(self._beyond(one, q) for one in self.tips),
            *(self._between(one, q) for one in self.along), math.inf,
        )  # fmt: skip

    def _inside(self, one: Border, q: Array) -> float:
        (x, R), (y, S) = self.pose(q, one.body), self.pose(q, one.on)
        point = one.point
        if one.rim is not None:
            low = one.rim.lowest(R, S)
            if low is None:
                return math.inf
            point = point + low
        return float((S.T @ (x + R @ point - y) - one.at) @ one.inward)

    def _between(self, one: Along, q: Array) -> float:
        """Return how far a rim is from the ends of a straight piece that it touches, and from the faces beside it.

        Where it crosses the piece its slope counts, which lifts its lowest point, and not how its normal leans.
        """
        (y, S), line, rim = self.pose(q, one.line.body), one.line, self.pose(q, one.body)
        normal, point = one.touch(rim, (y, S))
        sine, left = (1.0, math.inf) if one.crossing is None else one.crossing(rim, (y, S), point)
        leaning = sine * min((float((S.T @ normal) @ out) for out in one.outs), default=math.inf)
        room = line.half - abs(float((S.T @ (point - y) - line.middle) @ line.along))
        return min(room, one.radius * (leaning + FLAT), one.radius * left)

    def _beyond(self, one: Tip, q: Array) -> float:
        """Return how far the nearest point of the line is beyond the end; infinite for a line along `outward`."""
        (x, R), (y, S) = self.pose(q, one.body), self.pose(q, one.line.body)
        way, e = R @ one.outward, S @ one.line.along
        slope = float(way @ e)
        if 1.0 - slope * slope <= PARALLEL:
            return math.inf
        d = y + S @ one.line.middle - x - R @ one.at
        return float(d @ way - (d @ e) * slope)


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """Where two straight pieces pass each other: it has to be between the ends of both.

    Attributes
    ----------
    a, b : Line
    pose : callable
        pose(q, body) -> Pose; of the ground too.
    """

    a: Line
    b: Line
    pose: Callable[[Array, str], Pose]

    def room(self, q: Array) -> float:
        """Return how far the crossing is from the nearest end, m; negative beyond; infinite for parallel lines."""
        (x, R), (y, S) = self.pose(q, self.a.body), self.pose(q, self.b.body)
        d, e, f = y + S @ self.b.middle - x - R @ self.a.middle, R @ self.a.along, S @ self.b.along
        slope = float(e @ f)
        across = 1.0 - slope * slope
        if across <= PARALLEL:
            return math.inf
        s, t = (float(d @ e) - slope * float(d @ f)) / across, (slope * float(d @ e) - float(d @ f)) / across
        return min(self.a.half - abs(s), self.b.half - abs(t))
