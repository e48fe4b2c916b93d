"""Points and rigid bodies in the plane, and the markers fixed to them.

A body-fixed point s of a body with centre c and angle phi is at x = c + R(phi) s. Its velocity is
v + omega perp(R s) with perp(a, b) = (-b, a), and its acceleration J a - omega^2 R s.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, scalar, vector
from ..errors import InputError

Pair = tuple[float, float]
GROUND = "ground"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point mass: coordinates (x, y), m.

    Raises
    ------
    InputError
        If the mass is not positive, or the name is empty or holds one of ``. / :``.
    """

    name: str
    mass: float

    def __post_init__(self) -> None:
        check_name("name of a point", self.name)
        object.__setattr__(self, "mass", scalar(f"mass of {self.name}", self.mass, low=0.0, open_low=True))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 2

    @property
    def inertias(self) -> tuple[float, ...]:
        """Diagonal of the mass matrix, kg."""
        return (self.mass, self.mass)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarBody:
    """A rigid body: coordinates (x, y, angle) of its mass centre, m and rad.

    Parameters
    ----------
    name : str
    mass : float
        kg, > 0.
    inertia : float
        About the mass centre, kg m^2, > 0.
    outline : sequence of (x, y)
        Corners in the body frame, m, for drawings only: two make a segment, more a polygon.
    radius : float
        Drawn as a disc of this radius if > 0, m.

    Raises
    ------
    InputError
        If mass or inertia is not positive, or the name is empty or holds one of ``. / :``.
    """

    name: str
    mass: float
    inertia: float
    outline: Sequence[Pair] = ()
    radius: float = 0.0

    def __post_init__(self) -> None:
        check_name("name of a body", self.name)
        outline = tuple(pair(f"outline of {self.name}", corner) for corner in self.outline)
        object.__setattr__(self, "mass", scalar(f"mass of {self.name}", self.mass, low=0.0, open_low=True))
        object.__setattr__(self, "inertia", scalar(f"inertia of {self.name}", self.inertia, low=0.0, open_low=True))
        object.__setattr__(self, "radius", scalar(f"radius of {self.name}", self.radius, low=0.0))
        object.__setattr__(self, "outline", outline)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return 3

    @property
    def inertias(self) -> tuple[float, ...]:
        """Diagonal of the mass matrix, kg and kg m^2."""
        return (self.mass, self.mass, self.inertia)


Body = Point | PlanarBody


def box(name: str, *, mass: float, width: float, height: float) -> PlanarBody:
    """Return a homogeneous rectangle (sides in m): inertia m (w^2 + h^2) / 12."""
    a = scalar(f"width of {name}", width, low=0.0, open_low=True) / 2
    b = scalar(f"height of {name}", height, low=0.0, open_low=True) / 2
    inertia = scalar(f"mass of {name}", mass) * (a * a + b * b) / 3
    return PlanarBody(name=name, mass=mass, inertia=inertia, outline=((-a, -b), (a, -b), (a, b), (-a, b)))


@dataclass(frozen=True, slots=True)
class Marker:
    """A point fixed to a body, or to the ground.

    Parameters
    ----------
    body : str
        Name of the body, or ``"ground"``.
    at : (x, y)
        In the body's frame, from its mass centre, m; in space for the ground.
    name : str
        What to call it: ``Marker("rod", (-1, 0), "tip")`` shows as ``rod.tip``.

    Raises
    ------
    InputError
        NaN, or a name that holds one of ``. / :``.
    """

    body: str
    at: Pair = (0.0, 0.0)
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", pair(f"at of marker on {self.body}", self.at))
        if self.name:
            check_name("name of a marker", self.name)

    @property
    def label(self) -> str:
        """The full name, ``body.name``."""
        return f"{self.body}.{self.name}" if self.name else self.body


def fixed(x: float, y: float, name: str = "") -> Marker:
    """Return a marker fixed in space at (x, y), m."""
    return Marker(GROUND, (x, y), name)


@dataclass(frozen=True, slots=True, eq=False)
class MarkerMotion:
    """A marker at one state: position x, velocity v, and acceleration J a + drift; angle rate omega = turn . v.

    Attributes
    ----------
    x, v, drift : Array, shape (2,)
        m, m/s, m/s^2.
    J : Array, shape (2, nv)
    turn : Array, shape (nv,)
    angle, omega : float
        Of the body, rad and rad/s (0 for a point and the ground).
    """

    x: Array
    v: Array
    drift: Array
    J: Array
    turn: Array
    angle: float
    omega: float


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where every body's coordinates stand in q and v: `start` by name; `points` are those without an angle."""

    bodies: tuple[Body, ...]
    start: dict[str, int]
    points: frozenset[str]
    size: int

    @staticmethod
    def of(bodies: Sequence[Body]) -> Layout:
        """Number the coordinates body by body.

        Raises
        ------
        InputError
            No body, not a body, or a name used twice.
        """
        if not bodies:
            raise InputError("bodies", "none", "at least one Point or PlanarBody")
        start: dict[str, int] = {}
        size = 0
        for body in bodies:
            if not isinstance(body, Body):
                raise InputError("bodies", repr(body), "Point or PlanarBody")
            if body.name in start:
                raise InputError("bodies", f"two bodies called {body.name!r}", "different names")
            start[body.name] = size
            size += body.size
        points = frozenset(body.name for body in bodies if isinstance(body, Point))
        return Layout(tuple(bodies), start, points, size)

    def check(self, marker: Marker) -> None:
        """Raise InputError if the marker's body is unknown, or if it stands off a point mass."""
        if marker.body == GROUND:
            return
        if marker.body not in self.start:
            raise InputError("body of a marker", repr(marker.body), *nearest(marker.body, [*self.start, GROUND]))
        if marker.body in self.points and marker.at != (0.0, 0.0):
            raise InputError(f"at of marker {marker.label}", marker.at, "(0, 0) on a point mass", "Use a PlanarBody.")

    def motion(self, marker: Marker, q: Array, v: Array) -> MarkerMotion:
        """Return how the marker moves at (q, v)."""
        J, turn = np.zeros((2, self.size)), np.zeros(self.size)
        if marker.body == GROUND:
            return MarkerMotion(np.array(marker.at), np.zeros(2), np.zeros(2), J, turn, 0.0, 0.0)
        i = self.start[marker.body]
        J[0, i] = J[1, i + 1] = 1.0
        if marker.body in self.points:
            return MarkerMotion(q[i : i + 2].copy(), v[i : i + 2].copy(), np.zeros(2), J, turn, 0.0, 0.0)
        turn[i + 2] = 1.0
        angle, omega = float(q[i + 2]), float(v[i + 2])
        arm_x, arm_y = rotated(marker.at, angle)
        J[0, i + 2], J[1, i + 2] = -arm_y, arm_x
        x = np.array([q[i] + arm_x, q[i + 1] + arm_y])
        rate = np.array([v[i] - omega * arm_y, v[i + 1] + omega * arm_x])
        drift = np.array([-omega * omega * arm_x, -omega * omega * arm_y])
        return MarkerMotion(x, rate, drift, J, turn, angle, omega)


def rotated(arm: Pair, angle: float) -> Pair:
    """Return R(angle) arm."""
    if angle == 0.0:
        return arm
    c, s = math.cos(angle), math.sin(angle)
    return c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]


def pair(name: str, value: object) -> Pair:
    """Return `value` as two finite floats."""
    x = vector(name, value, 2)  # type: ignore[arg-type]
    return float(x[0]), float(x[1])


def unit(name: str, value: object) -> Pair:
    """Return `value` scaled to length one.

    Raises
    ------
    InputError
        If it is zero or not two finite numbers.
    """
    x, y = pair(name, value)
    length = math.hypot(x, y)
    if length == 0.0:
        raise InputError(name, (x, y), "a direction: two numbers that are not both zero")
    return (x, y) if abs(length - 1.0) < 1e-15 else (x / length, y / length)


def nearest(given: str, known: Iterable[str]) -> tuple[str, str]:
    """Return what is allowed and a suggestion, for an `InputError` about an unknown name."""
    names = sorted(known)
    close = difflib.get_close_matches(given, names, n=2, cutoff=0.5)
    return ", ".join(names) or "nothing", f"Did you mean {' or '.join(close)}?" if close else ""


def check_name(what: str, name: object) -> None:
    """Raise InputError unless `name` is a usable name: not empty, not ``ground``, without ``. / :``."""
    if not isinstance(name, str) or not name or name == GROUND or set(name) & set("./: "):
        raise InputError(what, repr(name), "a word without . / : and blanks, not 'ground'")
