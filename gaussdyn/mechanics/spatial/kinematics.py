"""How markers fixed to bodies in space move: position, frame, velocity, and acceleration as J a + drift.

A body-fixed point s of a body with centre c and frame R is at x = c + R s. With the angular velocity w in body axes and
omega = R w in space its velocity is v + omega x R s; since d omega / dt = R dw/dt, its acceleration is
dv/dt - [R s]x R dw/dt + omega x (omega x R s).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import EPS, Array, IntArray, vector
from ...errors import InputError
from ...linalg.rotations import IDENTITY, cross, cross_matrix, matrix_of, pointing, product, unit_quaternion
from ...mends import other_name
from ..collision.body_motions import BodyMotions
from ..collision.shapes import Quaternion, Triple
from ..names import GROUND, check_name, nearest
from ..placed_contacts import Legs
from .bodies import SpatialBody


@dataclass(frozen=True, slots=True)
class SpatialMarker:
    """A point with three axes fixed to a body, or in space.

    Parameters
    ----------
    body : str
        Name of the body, or ``"ground"``.
    at : (x, y, z)
        In the body's frame, from its mass centre, m; in space for the ground.
    turn : (w, x, y, z)
        Unit quaternion that turns the marker's axes into the body's frame. Joints turn about, and slide along, z:
        ``turn=pointing((1, 0, 0))`` lays it along the body's x axis.
    name : str
        What to call it: ``SpatialMarker("arm", (0, 0, 1), name="tip")`` shows as ``arm.tip``.

    Raises
    ------
    InputError
        NaN, a quaternion off length one by more than 1e-6, a name that holds one of ``. / :``.
    """

    body: str
    at: Triple = (0.0, 0.0, 0.0)
    turn: Quaternion = IDENTITY
    name: str = ""

    def __post_init__(self) -> None:
        x, y, z = vector(f"at of marker on {self.body}", self.at, 3).tolist()
        object.__setattr__(self, "at", (x, y, z))
        object.__setattr__(self, "turn", unit_quaternion(f"turn of marker on {self.body}", self.turn))
        if self.name:
            check_name("name of a marker", self.name)

    @property
    def label(self) -> str:
        """The full name, ``body.name``."""
        return f"{self.body}.{self.name}" if self.name else self.body


def mark(body: str, at: ArrayLike = (0.0, 0.0, 0.0), *, axis: ArrayLike | None = None, name: str = "") -> SpatialMarker:
    """Return a marker on a body (or "ground") whose z axis is `axis` in the body's frame."""
    x, y, z = vector(f"at of marker on {body}", at, 3).tolist()
    return SpatialMarker(body, (x, y, z), IDENTITY if axis is None else pointing(axis), name)


@dataclass(frozen=True, slots=True, eq=False)
class SpatialMotion:
    """A marker at one state: acceleration = J a + drift, angular velocity omega = turn v, its rate = turn a.

    Attributes
    ----------
    x, v, omega, drift : Array, shape (3,)
        In space: m, m/s, rad/s, m/s^2.
    R : Array, shape (3, 3)
        Its columns are the marker's axes in space.
    J, turn : Array, shape (3, nv)
    """

    x: Array
    R: Array
    v: Array
    omega: Array
    J: Array
    turn: Array
    drift: Array


Motion = Callable[[SpatialMarker], SpatialMotion]


@dataclass(frozen=True, eq=False)
class SpatialLayout:
    """Which body stands where: body k has q[7 k : 7 k + 7] and v[6 k : 6 k + 6]; `place` gives k by name."""

    bodies: tuple[SpatialBody, ...]
    place: dict[str, int]

    __repr__ = brief

    @staticmethod
    def of(bodies: Sequence[SpatialBody]) -> SpatialLayout:
        """Number the bodies.

        Raises
        ------
        InputError
            No body, not a body, or a name used twice.
        """
        if not bodies:
            raise InputError(
                "bodies", "none", "at least one SpatialBody", 'Write bodies=[ball("ball", mass=1.0, radius=0.05)].'
            )
        place: dict[str, int] = {}
        for k, body in enumerate(bodies):
            if not isinstance(body, SpatialBody):
                raise InputError(
                    "bodies", repr(body), "SpatialBody", 'Write bodies=[ball("ball", mass=1.0, radius=0.05)].'
                )
            if body.name in place:
                raise InputError("bodies", f"two bodies called {body.name!r}", "different names", other_name(body.name))
            place[body.name] = k
        return SpatialLayout(tuple(bodies), place)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return 6 * len(self.bodies)

    @cached_property
    def mass(self) -> Array:
        """The mass matrix, shape (nv, nv): read-only, made when it is first asked for, which free steps never do."""
        M = np.zeros((self.nv, self.nv))
        for k, body in enumerate(self.bodies):
            M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
            M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = body.inertia
        M.flags.writeable = False
        return M

    def check(self, marker: SpatialMarker) -> None:
        """Raise InputError unless this is a marker on a known body or the ground."""
        if not isinstance(marker, SpatialMarker):
            raise InputError("marker", repr(marker), "a SpatialMarker", 'Write SpatialMarker("body", (x, y, z)).')
        if marker.body != GROUND and marker.body not in self.place:
            raise InputError("body of a marker", repr(marker.body), *nearest(marker.body, [*self.place, GROUND]))

    def centre(self, k: int, q: Array, v: Array) -> SpatialMotion:
        """Return how the frame in the mass centre of body k moves at (q, v)."""
        R = matrix_of(q[7 * k + 3 : 7 * k + 7])
        J, turn = np.zeros((3, self.nv)), np.zeros((3, self.nv))
        J[:, 6 * k : 6 * k + 3] = np.eye(3)
        turn[:, 6 * k + 3 : 6 * k + 6] = R
        omega = R @ v[6 * k + 3 : 6 * k + 6]
        return SpatialMotion(q[7 * k : 7 * k + 3].copy(), R, v[6 * k : 6 * k + 3].copy(), omega, J, turn, np.zeros(3))

    def ground(self) -> SpatialMotion:
        """Return the motion of the frame of space: none."""
        J = np.zeros((3, self.nv))
        return SpatialMotion(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3), J, J, np.zeros(3))


class Motions:
    """The motions of all bodies and markers at one state, each evaluated once: ``motions(marker)``.

    Attributes
    ----------
    layout : SpatialLayout
    t : float
        s.
    q, v : Array, shape (nq,) and (nv,)
    """

    __slots__ = ("_bodies", "_markers", "_turns", "layout", "q", "t", "v")

    def __init__(self, layout: SpatialLayout, t: float, q: Array, v: Array) -> None:
        self.layout, self.t, self.q, self.v = layout, t, q, v
        self._bodies: dict[str, SpatialMotion] = {}
        self._markers: dict[SpatialMarker, SpatialMotion] = {}
        self._turns: Turns | None = None

    @property
    def turns(self) -> Turns:
        """The same without what only forces need."""
        if self._turns is None:
            self._turns = Turns(self.layout, self.q, self.v)
        return self._turns

    def body(self, name: str) -> SpatialMotion:
        """Return the motion of a body's frame in its mass centre, or of space for ``"ground"``."""
        if name not in self._bodies:
            layout = self.layout
            at_rest = name == GROUND
            self._bodies[name] = layout.ground() if at_rest else layout.centre(layout.place[name], self.q, self.v)
        return self._bodies[name]

    def __call__(self, marker: SpatialMarker) -> SpatialMotion:
        """Return the motion of a marker."""
        if marker not in self._markers:
            self._markers[marker] = carried(self.body(marker.body), marker)
        return self._markers[marker]


class Turns:
    """Axes and angular velocities of markers, without what only forces need: ``turns(marker)``.

    At one state, or at many at once: q (..., nq) and v (..., nv). Columns of R (..., 3, 3) are the marker's axes in
    space, omega (..., 3) is in space, rad/s.
    """

    __slots__ = ("R", "layout", "v")

    def __init__(self, layout: SpatialLayout, q: Array, v: Array) -> None:
        self.layout, self.v, self.R = layout, v, poses_at(q)[1]

    def __call__(self, marker: SpatialMarker) -> tuple[Array, Array]:
        """Return R and omega of a marker."""
        if marker.body == GROUND:
            R, omega = self.R[..., -1, :, :], np.zeros((*self.R.shape[:-3], 3))
        else:
            k = self.layout.place[marker.body]
            R = self.R[..., k, :, :]
            omega = (R @ self.v[..., 6 * k + 3 : 6 * k + 6, None])[..., 0]
        return (R if marker.turn == IDENTITY else R @ matrix_of(marker.turn)), omega


def bodies_at(q: Array, v: Array) -> BodyMotions:
    """Return how all bodies move, and last the ground; each with the six velocities that are its own."""
    from ..collision.contact_rows import body_motions

    q, v = (np.ascontiguousarray(given, dtype=np.float64) for given in (q, v))
    n = len(v) // 6
    J, first = _own_velocities(n)
    x, velocity, omega, turn = (np.zeros((n + 1, 3, *more)) for more in ((), (), (), (6,)))
    R = np.empty((n + 1, 3, 3))
    R[n] = np.eye(3)
    body_motions(q, v, x, R, velocity, omega, turn)
    return BodyMotions(x, R, velocity, omega, np.zeros((n + 1, 3)), J, turn, first)


def poses_at(q: Array) -> tuple[Array, Array]:
    """Return the poses of all bodies, the ground last, at coordinates (..., nq): x (..., b, 3) and R (..., b, 3, 3)."""
    from ..collision.contact_rows import body_motions

    q = np.ascontiguousarray(q, dtype=np.float64)
    n, most = q.size // 7, (*q.shape[:-1], q.shape[-1] // 7)
    centres, axes, unused = np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 3))
    body_motions(q.ravel(), np.zeros(6 * n), centres, axes, unused, unused, np.empty((n, 3, 6)))
    x, R = (np.zeros((*most[:-1], most[-1] + 1, 3, *more)) for more in ((), (3,)))
    x[..., :-1, :], R[..., :-1, :, :] = centres.reshape(*most, 3), axes.reshape(*most, 3, 3)
    R[..., -1, :, :] = np.eye(3)
    return x, R


def ways_of(legs: Legs) -> Array:
    """Return where bodies are in n steps, (n, 4, nq): at the starts, where these lead, at the ends, in between."""
    n, Q, V = len(legs.dt), legs.q0.reshape(-1, 7), legs.v0.reshape(-1, 6)
    times = (np.repeat(h, len(Q) // max(n, 1))[:, None] for h in (legs.dt, legs.middle * legs.dt))
    ahead, middle = (moved_bodies(Q, V, h).reshape(n, -1) for h in times)
    if legs.places is not None:
        middle = np.where(np.isnan(legs.places), middle, legs.places)
    return np.stack([legs.q0, ahead, legs.q, middle], axis=1)


@lru_cache(maxsize=16)
def _own_velocities(n: int) -> tuple[Array, IntArray]:
    """Return what is the same at every state: J of n bodies and the ground, and where the velocities of each begin."""
    J, first = np.zeros((n + 1, 3, 6)), 6 * np.arange(n + 1)
    J[:n, :, :3] = np.eye(3)
    first[n] = 0
    return J, first


def carried(body: SpatialMotion, marker: SpatialMarker) -> SpatialMotion:
    """Return the motion of a marker that a frame carries."""
    R = body.R if marker.turn == IDENTITY else body.R @ matrix_of(marker.turn)
    if marker.at == (0.0, 0.0, 0.0):
        return SpatialMotion(body.x, R, body.v, body.omega, body.J, body.turn, body.drift)
    arm = body.R @ np.array(marker.at)
    swing = cross(body.omega, arm)
    J = body.J - cross_matrix(arm) @ body.turn
    return SpatialMotion(
        body.x + arm, R, body.v + swing, body.omega, J, body.turn, body.drift + cross(body.omega, swing)
    )


def turned(q: Array, w: Array) -> Array:
    """Return the rate of a quaternion at the angular velocity w in body axes, 1/2 q (0, w), shape (4,)."""
    return 0.5 * product(q, (0.0, float(w[0]), float(w[1]), float(w[2])))


def moved_bodies(Q: Array, V: Array, dt: float | Array) -> Array:
    """Return bodies Q (n, 7) with velocities V (n, 6) after dt, one for all or of shape (n, 1), see `move`.

    Those with unit quaternions to the bit as compiled steps move them: where bodies overlap, rounding may decide in
    which features they meet.
    """
    moved = np.empty_like(Q)
    moved[:, :3] = Q[:, :3] + dt * V[:, :3]
    a, b, c, d = Q[:, 3:].T
    x, y, z = ((0.5 * dt) * V[:, 3:]).T
    turns = (x != 0.0) | (y != 0.0) | (z != 0.0)
    a, b, c, d = (
        a - b * x - c * y - d * z, b + a * x + c * z - d * y, c + a * y + d * x - b * z, d + a * z + b * y - c * x
    )  # fmt: skip
    size = np.sqrt(a * a + b * b + c * c + d * d)
    size[~turns & (np.abs(size - 1.0) < 8.0 * EPS)] = 1.0
    moved[:, 3:] = np.stack([a, b, c, d], axis=1) / size[:, None]
    return moved
