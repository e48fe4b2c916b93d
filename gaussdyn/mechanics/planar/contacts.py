"""Constraints in the plane: contacts with half-planes, strings and rods, dry friction under a given load.

Every class evaluates itself to one `Row` with the exact Jacobian and drift. Tangents follow the convention of the
whole package: t = (n_y, -n_x), blocks ordered (N, T), the normal pointing from the obstacle into the body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array, scalar
from ...errors import InputError
from ..names import GROUND, check_name
from ..rows import Row, pair_of
from .bodies import Marker
from .kinematics import Layout, Motion
from .vectors import Pair, pair, perp, rotated, turned, unit


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfPlane:
    """An obstacle that fills one side of a line.

    Parameters
    ----------
    name : str
    point : (x, y)
        A point of the line, m.
    normal : (x, y)
        From the obstacle outwards; scaled to length one.
    belt : float
        Speed of its surface along t = (n_y, -n_x), m/s: a conveyor belt.
    body : str
        The body it is fixed to (point and normal then in the body's frame); the ground by default.

    Attributes
    ----------
    marker : Marker
        The point of the line, on the body that carries it.

    Raises
    ------
    InputError
        A zero normal, NaN, an unusable name.
    """

    name: str
    point: Pair = (0.0, 0.0)
    normal: Pair = (0.0, 1.0)
    belt: float = 0.0
    body: str = GROUND
    marker: Marker = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_name("name of a half-plane", self.name)
        object.__setattr__(self, "point", pair(f"point of {self.name}", self.point))
        object.__setattr__(self, "marker", Marker(self.body, self.point))
        object.__setattr__(self, "normal", unit(f"normal of {self.name}", self.normal))
        object.__setattr__(self, "belt", scalar(f"belt of {self.name}", self.belt))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanarContact:
    """A body-fixed point (or the rim of a disc around it) against a half-plane, with Coulomb friction.

    Parameters
    ----------
    point : Marker
    plane : HalfPlane
    mu, mu_s : float
        Friction of slip and of rest, mu_s >= mu >= 0 (mu_s = mu by default). With mu_s = 0: one row, no friction.
    radius : float
        Of a disc around `point`, m: it rolls on its rim.
    eps_n, eps_t : float
        Newton restitution, normal in [0, 1] and tangential in [-1, 1].
    bilateral : bool
        Held on the line from both sides, as a slider in a guide.
    name : str
        Its id; by default the markers and the half-plane give it, e.g. ``rod.tip/floor``.

    Raises
    ------
    InputError
        NaN or a value out of range.
    """

    point: Marker
    plane: HalfPlane
    mu: float = 0.0
    mu_s: float = -1.0
    radius: float = 0.0
    eps_n: float = 0.0
    eps_t: float = 0.0
    bilateral: bool = False
    name: str = ""
    _row: Row = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        mu = scalar(f"mu of {self.id}", self.mu, low=0.0)
        mu_s = mu if self.mu_s == -1.0 else scalar(f"mu_s of {self.id}", self.mu_s, low=mu)
        values = {"mu": mu, "mu_s": mu_s, "radius": scalar(f"radius of {self.id}", self.radius, low=0.0)}
        values["eps_n"] = scalar(f"eps_n of {self.id}", self.eps_n, low=0.0, high=1.0)
        values["eps_t"] = scalar(f"eps_t of {self.id}", self.eps_t, low=-1.0, high=1.0)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_row", self._checked_row())

    @property
    def id(self) -> str:
        """Stable name, e.g. ``rod.tip/floor``."""
        return self.name or f"{self.point.label}/{self.plane.name}"

    @property
    def size(self) -> int:
        """Number of rows: 2 with friction, else 1."""
        return 2 if self.mu_s > 0.0 or self.eps_t != 0.0 else 1

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.point, self.plane.marker)

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return the constraint at one state: rows (N, T), or (N,) without friction.

        With d = x - x_p, the normal n turning at omega_p, and w the velocity of the point relative to the body of the
        half-plane: gap = n.d - radius, rates n.w and t.w + radius (omega - omega_p) - belt; the drifts follow by
        differentiation (dn/dt = -omega_p t, dt/dt = omega_p n).
        """
        a, p = motion(self.point), motion(self.plane.marker)
        nx, ny = rotated(self.plane.normal, p.angle)
        frame = np.array([[nx, ny], [ny, -nx]])
        d = a.x - p.x
        if self.plane.body == GROUND:  # the same, less what is zero
            J, rate, drift = frame @ a.J, frame @ a.v, frame @ a.drift
        else:
            J = frame @ (a.J - p.J - np.outer(perp(d), p.turn))
            rate = frame @ (a.v - p.v - p.omega * perp(d))
            drift = frame @ (a.drift - p.drift - p.omega * perp(a.v - p.v))
            drift += p.omega * np.array([-rate[1], rate[0]])
        if self.radius > 0.0:
            J[1] += self.radius * (a.turn - p.turn)
            rate[1] += self.radius * (a.omega - p.omega)
        rate[1] -= self.plane.belt
        gap = float(nx * d[0] + ny * d[1]) - self.radius
        point = a.x - self.radius * frame[0] if self.radius > 0.0 else a.x
        n = self._row.size
        if n == 1:
            J, rate, drift = J[:1], rate[:1], drift[:1]
        return (self._row.but(gap=gap, J=J, rate=rate, drift=drift, point=point, frame=frame),)

    def placed(self, layout: Layout, q: Array) -> tuple[Row, Array, Array]:
        """Return what does not change, and points (n, 2) and directions (n, 2, 2) at coordinates (n, nq)."""
        a, angles = layout.places(self.point, q)[0], layout.places(self.plane.marker, q)[1]
        nx, ny = turned(self.plane.normal, angles)
        frame = np.stack([np.stack([nx, ny], axis=1), np.stack([ny, -nx], axis=1)], axis=1)
        return self._row, a - self.radius * frame[:, 0] if self.radius > 0.0 else a, frame

    def _checked_row(self) -> Row:
        """Return the row with what does not change."""
        n = self.size
        kind = ("bilateral_contact" if n == 2 else "bilateral") if self.bilateral else None
        return Row(
            id=self.id,
            kind=kind or ("contact" if n == 2 else "unilateral"),  # type: ignore[arg-type]
            J=np.zeros((n, 1)),
            rate=np.zeros(n),
            drift=np.zeros(n),
            mu=self.mu,
            mu_s=self.mu_s,
            eps_n=self.eps_n,
            eps_t=self.eps_t,
            between=pair_of(self.id, (self.point.body, self.plane.body)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What `String` and `Rod` share: two markers and the distance between them.

    Parameters
    ----------
    a, b : Marker
    length : float
        m, > 0.
    eps_n : float
        Newton restitution when it becomes taut, in [0, 1].
    name : str
        That of its row; "" for one made of its ends, such as ``ball~ground``.

    Raises
    ------
    InputError
        Length not positive, both ends on one body, a wrong name, NaN.
    """

    a: Marker
    b: Marker
    length: float
    eps_n: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        if self.name:
            check_name("name of a rod or string", self.name)
        if self.a.body == self.b.body:
            raise InputError(
                f"ends of {self.id}",
                f"both on {self.a.body!r}",
                "markers on two different bodies",
                'Write b=Marker("ground", (0.0, 0.0)).',
            )
        object.__setattr__(self, "length", scalar(f"length of {self.id}", self.length, low=0.0, open_low=True))
        object.__setattr__(self, "eps_n", scalar(f"eps_n of {self.id}", self.eps_n, low=0.0, high=1.0))

    @property
    def id(self) -> str:
        """Its name, or one made of its ends, e.g. ``ball~ground``."""
        return self.name or f"{self.a.label}~{self.b.label}"

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.a, self.b)

    def _stretch(self, motion: Motion) -> tuple[float, Array, float, float]:
        """Return the distance |d|, its derivative by v, its rate and its drift."""
        a, b = motion(self.a), motion(self.b)
        d, w = a.x - b.x, a.v - b.v
        distance = math.hypot(d[0], d[1])
        # The two ends coincide: any direction will do, the string hangs loose there.
        e = d / distance if distance > 0.0 else np.array([1.0, 0.0])
        rate = float(e @ w)
        bend = (float(w @ w) - rate * rate) / distance if distance > 0.0 else 0.0
        return distance, e @ (a.J - b.J), rate, float(e @ (a.drift - b.drift)) + bend


class String(Link):
    """Distance <= length: a string that may go slack. The reaction is its tension."""

    __slots__ = ()

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return the constraint length - |d| >= 0 at one state."""
        distance, J, speed, bend = self._stretch(motion)
        J, rate, drift = -J[None], np.array([-speed]), np.array([-bend])
        gap = self.length - distance
        return (Row(id=self.id, kind="unilateral", gap=gap, J=J, rate=rate, drift=drift, eps_n=self.eps_n),)


class Rod(Link):
    """Distance = length: a massless rod. The reaction is positive when it pushes."""

    __slots__ = ()

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return the constraint |d| - length = 0 at one state."""
        distance, J, speed, bend = self._stretch(motion)
        rate, drift = np.array([speed]), np.array([bend])
        return (Row(id=self.id, kind="bilateral", gap=distance - self.length, J=J[None], rate=rate, drift=drift),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DryFriction:
    """Dry friction under a given load: a force of at most `cap` against the motion of a point along a line.

    Parameters
    ----------
    point : Marker
    direction : (x, y)
        Of the line, in space; scaled to length one.
    cap, cap_s : float
        Largest force of slip and of rest, N, cap_s >= cap >= 0 (cap_s = cap by default).
    belt : float
        Speed of the counterpart along the line, m/s.

    Raises
    ------
    InputError
        A zero direction, a negative cap, NaN.
    """

    point: Marker
    direction: Pair = (1.0, 0.0)
    cap: float
    cap_s: float = -1.0
    belt: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit(f"direction of {self.id}", self.direction))
        cap = scalar(f"cap of {self.id}", self.cap, low=0.0)
        object.__setattr__(self, "cap", cap)
        object.__setattr__(
            self, "cap_s", cap if self.cap_s == -1.0 else scalar(f"cap_s of {self.id}", self.cap_s, low=cap)
        )
        object.__setattr__(self, "belt", scalar(f"belt of {self.id}", self.belt))

    @property
    def id(self) -> str:
        """Stable name, e.g. ``slider:dry``."""
        return f"{self.point.label}:dry"

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The markers it uses."""
        return (self.point,)

    def rows(self, motion: Motion) -> tuple[Row, ...]:
        """Return one row: the velocity along the line."""
        m, e = motion(self.point), np.array(self.direction)
        J, rate, drift = (e @ m.J)[None], np.array([e @ m.v - self.belt]), np.array([e @ m.drift])
        return (Row(id=self.id, kind="dry", J=J, rate=rate, drift=drift, cap=self.cap, cap_s=self.cap_s),)
