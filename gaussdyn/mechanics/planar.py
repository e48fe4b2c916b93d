"""Points and rigid bodies in the plane as a `System`: M constant and diagonal, dq/dt = v."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, vector
from ..errors import InputError
from .forces import Drag, Force, Load, Spring
from .planar_bodies import Body, Layout, Marker, MarkerMotion, Pair, PlanarBody, Point, nearest, pair
from .planar_contacts import Constraint, DryFriction, HalfPlane, PlanarContact, Rod, String
from .planar_shapes import drawables
from .rows import Row
from .state import State

KINDS = {
    kind.__name__: kind for kind in (Point, PlanarBody, PlanarContact, String, Rod, DryFriction, Spring, Drag, Load)
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanarSystem:
    """Bodies in the plane with contacts, strings, rods and forces.

    Parameters
    ----------
    bodies : sequence of Point or PlanarBody
        Their coordinates follow one another in q: (x, y) of a point, (x, y, angle) of a body.
    contacts : sequence of PlanarContact, String, Rod or DryFriction
        Rows come sorted by their ids.
    forces : sequence of Spring, Drag or Load
    gravity : (x, y)
        m/s^2.

    Raises
    ------
    InputError
        Names used twice, a marker on an unknown body, a contact given twice, NaN.
    """

    bodies: Sequence[Body]
    contacts: Sequence[Constraint] = ()
    forces: Sequence[Force] = ()
    gravity: Pair = (0.0, -9.81)
    layout: Layout = field(init=False, repr=False)
    _inertias: Array = field(init=False, repr=False)
    _weight: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        layout = Layout.of(tuple(self.bodies))
        gravity = pair("gravity", self.gravity)
        contacts = tuple(sorted(_checked("contacts", self.contacts, Constraint), key=lambda contact: contact.id))
        forces = tuple(_checked("forces", self.forces, Force))
        for left, right in pairwise(contacts):
            if left.id == right.id:
                raise InputError("contacts", f"two called {left.id!r}", "different ids", "Name their markers.")
        for part in (*contacts, *forces):
            for marker in part.markers:
                layout.check(marker)
        inertias = np.array([x for body in layout.bodies for x in body.inertias])
        weight = np.concatenate([body.mass * np.array([*gravity, 0.0])[: body.size] for body in layout.bodies])
        values = {"layout": layout, "gravity": gravity, "contacts": contacts, "forces": forces}
        values |= {"bodies": layout.bodies, "_inertias": inertias, "_weight": weight}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.layout.size

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return self.layout.size

    def mass(self, q: Array) -> Array:
        """Return M, shape (nv, nv), diagonal, kg and kg m^2."""
        return np.diag(self._inertias)

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return gravity, the forces and `control`, a generalised force of shape (nv,), N and N m."""
        h = self._weight.copy()
        if self.forces:
            motion = self._motion(q, v)
            for force in self.forces:
                h += force.force(motion)
        return h if control is None else h + vector("control", control, self.nv)

    def qdot(self, q: Array, v: Array) -> Array:
        """Return v."""
        return v.copy()

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return q + dt v."""
        moved: Array = q + dt * v
        return moved

    def near(self, t: float, q: Array, v: Array, dt: float) -> PlanarSystem:
        """Return the system itself: its constraints are always the same."""
        return self

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every contact, string, rod and dry friction at (q, v), sorted by id."""
        motion = self._motion(q, v)
        return tuple(contact.row(motion) for contact in self.contacts)

    def potential(self, t: float, q: Array) -> float:
        """Return the energy of gravity and springs, J; gravity is zero at the origin."""
        stored = -float(self._weight @ q)
        if self.forces:
            motion = self._motion(q, np.zeros(self.nv))
            stored += sum(force.potential(motion) for force in self.forces)
        return stored

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of dampers, drags, loads and control, W."""
        motion = self._motion(q, v)
        power = sum((force.power(motion) for force in self.forces), 0.0)
        return power if control is None else power + float(vector("control", control, self.nv) @ v)

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return shapes in the pose q; see `planar_shapes`."""
        return drawables(self.layout, self.contacts, self.forces, self._motion(q, np.zeros(self.nv)))

    def spec(self) -> dict[str, Any]:
        """Return plain data from which `from_spec` builds the same system."""
        spec: dict[str, Any] = {"kind": "PlanarSystem", "gravity": list(self.gravity)}
        for name in ("bodies", "contacts", "forces"):
            spec[name] = [{"kind": type(part).__name__, **asdict(part)} for part in getattr(self, name)]
        return spec

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> PlanarSystem:
        """Build a system from what `spec` returned."""
        parts = {name: [_part(data) for data in spec.get(name, ())] for name in ("bodies", "contacts", "forces")}
        return cls(**parts, gravity=spec["gravity"])

    def state(
        self, place: Mapping[str, ArrayLike], velocity: Mapping[str, ArrayLike] | None = None, *, t: float = 0.0
    ) -> State:
        """Return a `State` from coordinates by body name; bodies left out are at the origin, or at rest.

        Parameters
        ----------
        place, velocity : mapping of str to array_like, shape (2,) or (3,)
            (x, y) of a point or (x, y, angle) of a body, m and rad; their rates.
        t : float
            s.

        Raises
        ------
        InputError
            An unknown name, a wrong shape, NaN.
        """
        return State(q=self._gather("place", place), v=self._gather("velocity", velocity or {}), t=t)

    def index(self, body: str, coordinate: str = "x") -> int:
        """Return where coordinate ``x``, ``y`` or ``angle`` of a body stands in q (and its rate in v).

        Raises
        ------
        InputError
            An unknown name.
        """
        if body not in self.layout.start:
            raise InputError("body", repr(body), *nearest(body, self.layout.start))
        names = ("x", "y") if body in self.layout.points else ("x", "y", "angle")
        if coordinate not in names:
            raise InputError(f"coordinate of {body}", repr(coordinate), ", ".join(names))
        return self.layout.start[body] + names.index(coordinate)

    def _motion(self, q: Array, v: Array) -> Callable[[Marker], MarkerMotion]:
        """Return marker -> its motion, each evaluated once."""
        seen: dict[Marker, MarkerMotion] = {}

        def motion(marker: Marker) -> MarkerMotion:
            """Return the motion of a marker, computed once."""
            if marker not in seen:
                seen[marker] = self.layout.motion(marker, q, v)
            return seen[marker]

        return motion

    def _gather(self, what: str, values: Mapping[str, ArrayLike]) -> Array:
        x = np.zeros(self.nq)
        for name, value in values.items():
            i = self.index(name)
            size = 2 if name in self.layout.points else 3
            x[i : i + size] = vector(f"{what} of {name}", value, size)
        return x


def _checked(name: str, parts: Sequence[Any], allowed: Any) -> Sequence[Any]:
    for part in parts:
        if not isinstance(part, allowed):
            kinds = ", ".join(kind.__name__ for kind in allowed.__args__)
            raise InputError(name, repr(part), kinds)
    return parts


def _part(data: Mapping[str, Any]) -> Any:
    values = dict(data)
    kind = KINDS[values.pop("kind")]
    for name in ("point", "a", "b"):
        if isinstance(values.get(name), Mapping):
            values[name] = Marker(**values[name])
    if "plane" in values:
        values["plane"] = HalfPlane(**values["plane"])
    return kind(**values)
