"""Points and rigid bodies in the plane with their shapes, and the markers fixed to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...arrays import scalar
from ...errors import InputError
from ..names import GROUND, check_name
from .shapes import Disc, Outline, rectangle
from .vectors import Pair, pair


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
    shapes : sequence of Disc, Stadium or Polygon
        What it touches other bodies with, if the system detects contacts, and what is drawn. Several have names.
    outline : sequence of (x, y)
        Of a body without shapes: corners in the body frame, m, for drawings only; two make a segment, more a polygon.
    radius : float
        Of a body without shapes: drawn as a disc of this radius if > 0, m.

    Raises
    ------
    InputError
        If mass or inertia is not positive, the name is empty or holds one of ``. / :``, shapes have no different names.
    """

    name: str
    mass: float
    inertia: float
    outline: Sequence[Pair] = ()
    radius: float = 0.0
    shapes: Sequence[Outline] = ()

    def __post_init__(self) -> None:
        check_name("name of a body", self.name)
        outline = tuple(pair(f"outline of {self.name}", corner) for corner in self.outline)
        object.__setattr__(self, "mass", scalar(f"mass of {self.name}", self.mass, low=0.0, open_low=True))
        object.__setattr__(self, "inertia", scalar(f"inertia of {self.name}", self.inertia, low=0.0, open_low=True))
        object.__setattr__(self, "radius", scalar(f"radius of {self.name}", self.radius, low=0.0))
        object.__setattr__(self, "outline", outline)
        object.__setattr__(self, "shapes", checked_shapes(self.name, self.shapes))

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
    w, h = _size(f"width of {name}", width), _size(f"height of {name}", height)
    inertia = _size(f"mass of {name}", mass) * (w * w + h * h) / 12.0
    return PlanarBody(name=name, mass=mass, inertia=inertia, shapes=(rectangle(w, h),))


def disc(name: str, *, mass: float, radius: float) -> PlanarBody:
    """Return a homogeneous disc (radius in m): inertia m r^2 / 2."""
    r = _size(f"radius of {name}", radius)
    inertia = _size(f"mass of {name}", mass) * r * r / 2.0
    return PlanarBody(name=name, mass=mass, inertia=inertia, shapes=(Disc(radius=r),))


def checked_shapes(owner: str, shapes: Sequence[Outline]) -> tuple[Outline, ...]:
    """Return the shapes of a body or of the ground, or raise InputError if they cannot be told apart by name."""
    names = set()
    for shape in shapes:
        if not isinstance(shape, Outline):
            raise InputError(
                f"shapes of {owner}", repr(shape), "Disc, Stadium or Polygon", "Write shapes=[Disc(radius=0.05)]."
            )
        names.add(shape.name)
    if len(names) < len(shapes) or (len(shapes) > 1 and "" in names):
        mend = 'Give every shape a name of its own: Disc(radius=0.05, name="left").'
        raise InputError(f"shapes of {owner}", [shape.name for shape in shapes], "different names", mend)
    return tuple(shapes)


def _size(name: str, value: float) -> float:
    return scalar(name, value, low=0.0, open_low=True)


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
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", pair(f"at of marker on {self.body}", self.at))
        if self.name:
            check_name("name of a marker", self.name)
        object.__setattr__(self, "_hash", hash((self.body, self.at, self.name)))

    def __hash__(self) -> int:
        """Return the hash that was computed once: markers are looked up at every state."""
        return self._hash

    def __reduce__(self) -> tuple[type[Marker], tuple[str, Pair, str]]:
        """Build it again where it is unpickled: hashes of words differ between processes."""
        return Marker, (self.body, self.at, self.name)

    @property
    def label(self) -> str:
        """The full name, ``body.name``."""
        return f"{self.body}.{self.name}" if self.name else self.body


def fixed(x: float, y: float, name: str = "") -> Marker:
    """Return a marker fixed in space at (x, y), m."""
    return Marker(GROUND, (x, y), name)
