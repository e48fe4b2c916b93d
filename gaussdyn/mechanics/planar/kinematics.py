"""How markers move: position, velocity, Jacobian and drift at one state of a planar system.

A body-fixed point s of a body with centre c and angle phi is at x = c + R(phi) s. Its velocity is
v + omega perp(R s) with perp(a, b) = (-b, a), and its acceleration J a - omega^2 R s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...mends import other_name
from ..names import GROUND, nearest
from .bodies import Body, Marker, Point
from .vectors import Pair, rotated, turned

MOST_KEPT = 1000  # markers and directions that are remembered
NOTHING = np.zeros(2)
NOTHING.flags.writeable = False


@dataclass(slots=True, eq=False)  # not frozen: these are made at every state, in a third of the time
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
    _shape: dict[Marker, tuple[int, Array, Array]] = field(default_factory=dict, repr=False)
    _momentum: dict[Pair, Array] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(bodies: Sequence[Body]) -> Layout:
        """Number the coordinates body by body.

        Raises
        ------
        InputError
            No body, not a body, or a name used twice.
        """
        if not bodies:
            raise InputError(
                "bodies", "none", "at least one Point or PlanarBody", 'Write bodies=[Point(name="ball", mass=1.0)].'
            )
        start: dict[str, int] = {}
        size = 0
        for body in bodies:
            if not isinstance(body, Body):
                raise InputError(
                    "bodies", repr(body), "Point or PlanarBody", 'Write bodies=[Point(name="ball", mass=1.0)].'
                )
            if body.name in start:
                raise InputError("bodies", f"two bodies called {body.name!r}", "different names", other_name(body.name))
            start[body.name] = size
            size += body.size
        points = frozenset(body.name for body in bodies if isinstance(body, Point))
        return Layout(tuple(bodies), start, points, size)

    def momentum(self, direction: Pair) -> Array:
        """Return the masses spread along a direction, shape (nv,): times v, the linear momentum along it."""
        known = self._momentum.get(direction)
        if known is None:
            known = np.concatenate([body.mass * np.array([*direction, 0.0])[: body.size] for body in self.bodies])
            known.flags.writeable = False
            if len(self._momentum) < MOST_KEPT:
                self._momentum[direction] = known
        return known

    def check(self, marker: Marker) -> None:
        """Raise InputError if the marker's body is unknown, or if it stands off a point mass."""
        if marker.body == GROUND:
            return
        if marker.body not in self.start:
            raise InputError("body of a marker", repr(marker.body), *nearest(marker.body, [*self.start, GROUND]))
        if marker.body in self.points and marker.at != (0.0, 0.0):
            raise InputError(
                f"at of marker {marker.label}",
                marker.at,
                "(0, 0) on a point mass",
                "Write PlanarBody(name=..., mass=..., inertia=...).",
            )

    def check_turns(self, body: str) -> None:
        """Raise InputError if the body is unknown, or a point mass: it has no angle."""
        self.check(Marker(body))
        if body in self.points:
            raise InputError(
                "body of an angle",
                repr(body),
                "a PlanarBody or 'ground'",
                "A point mass has no angle: PlanarBody(name=..., ...).",
            )

    def motion(self, marker: Marker, q: Array, v: Array) -> MarkerMotion:
        """Return how the marker moves at (q, v)."""
        i, J, turn = self._constant(marker)
        if i < 0:
            return MarkerMotion(np.array(marker.at), NOTHING, NOTHING, J, turn, 0.0, 0.0)
        if marker.body in self.points:
            return MarkerMotion(q[i : i + 2].copy(), v[i : i + 2].copy(), NOTHING, J, turn, 0.0, 0.0)
        angle, omega = float(q[i + 2]), float(v[i + 2])
        arm_x, arm_y = rotated(marker.at, angle)
        J = J.copy()
        J[0, i + 2], J[1, i + 2] = -arm_y, arm_x
        x = np.array([q[i] + arm_x, q[i + 1] + arm_y])
        rate = np.array([v[i] - omega * arm_y, v[i + 1] + omega * arm_x])
        drift = np.array([-omega * omega * arm_x, -omega * omega * arm_y])
        return MarkerMotion(x, rate, drift, J, turn, angle, omega)

    def places(self, marker: Marker, q: Array) -> tuple[Array, Array]:
        """Return where a marker is at coordinates (n, nq), shape (n, 2), and the angles of its body, shape (n,)."""
        i, x, none = self._constant(marker)[0], np.array(marker.at), np.zeros(len(q))
        if i < 0:
            return np.tile(x, (len(q), 1)), none
        if marker.body in self.points:
            return q[:, i : i + 2].copy(), none
        return q[:, i : i + 2] + np.column_stack(turned(marker.at, q[:, i + 2])), q[:, i + 2]

    def _constant(self, marker: Marker) -> tuple[int, Array, Array]:
        """Return where the coordinates of a marker's body begin (-1: ground), and what does not change of J and turn.

        These arrays are read-only, and kept for as many markers as a system is given; shapes make theirs anew.
        """
        known = self._shape.get(marker)
        if known is not None:
            return known
        i = -1 if marker.body == GROUND else self.start[marker.body]
        J, turn = np.zeros((2, self.size)), np.zeros(self.size)
        if i >= 0:
            J[0, i] = J[1, i + 1] = 1.0
            if marker.body not in self.points:
                turn[i + 2] = 1.0
        J.flags.writeable = turn.flags.writeable = False
        if len(self._shape) < MOST_KEPT:
            self._shape[marker] = i, J, turn
        return i, J, turn


class Motion:
    """One state of a system, asked for its markers: ``motion(marker)`` is computed once for each.

    Attributes
    ----------
    layout : Layout
    t : float
        s.
    q, v : Array
    """

    __slots__ = ("_seen", "layout", "q", "t", "v")

    def __init__(self, layout: Layout, t: float, q: Array, v: Array) -> None:
        self.layout, self.t, self.q, self.v = layout, t, q, v
        self._seen: dict[Marker, MarkerMotion] = {}

    def __call__(self, marker: Marker) -> MarkerMotion:
        """Return how the marker moves at this state."""
        found = self._seen.get(marker)
        if found is None:
            found = self._seen[marker] = self.layout.motion(marker, self.q, self.v)
        return found
