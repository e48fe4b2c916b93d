"""Contacts in space as data: a pair of primitives on two bodies, and the `Row` it makes at one state.

Whatever the shapes, a contact is of one of the `KINDS`; see `feature_kinematics` and `rim_kinematics`. It holds while
its nearest points stay where they are (on the face, within the edge); detection finds the ones that do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from ...arrays import Array, BoolArray, IntArray, scalar, vector
from ...errors import InputError
from ..contact_law import ContactLaw
from ..rows import Row, pair_of
from .body_motions import BodyMotions
from .tangent_frames import in_chart

KINDS = (
    "ball_plane", "ball_ball", "ball_line", "line_line", "ellipsoid_plane", "edge_rim",
    "disc_plane", "rim_ball", "rim_line", "rim_rim",
    "ellipsoid_ball", "ellipsoid_line", "ellipsoid_rim", "ellipsoid_ellipsoid",
)  # fmt: skip
BALL_PLANE, BALL_BALL, BALL_LINE, LINE_LINE, ELLIPSOID_PLANE, EDGE_RIM = range(6)
DISC_PLANE, RIM_BALL, RIM_LINE, RIM_RIM = range(6, 10)
ELLIPSOID_BALL, ELLIPSOID_LINE, ELLIPSOID_RIM, ELLIPSOID_ELLIPSOID = range(10, 14)
ELLIPSOIDS = (ELLIPSOID_PLANE, *range(10, 14))
GUESSED = (EDGE_RIM, RIM_LINE, RIM_RIM, *range(10, 14))  # what has a third direction
FIRST = (EDGE_RIM, LINE_LINE, DISC_PLANE, RIM_BALL, RIM_LINE, RIM_RIM)  # what has a direction in the frame of A
BALLS = (BALL_BALL, RIM_BALL, ELLIPSOID_BALL, ELLIPSOID_ELLIPSOID)  # what has none in that of B
DIRECTED = np.array([[k in FIRST, k not in BALLS, k in GUESSED] for k in range(len(KINDS))]).T  # what has which
WIDTH = 25  # numbers of a contact
WIDE = 120  # velocities: with more of them J of a row is made when it is asked for
FRICTIONLESS = ContactLaw()


class Motion(Protocol):
    """How a body moves at one state; the ground stands at the origin with zero velocity.

    Attributes
    ----------
    x, R : Array, shape (3,) and (3, 3)
        Origin of its frame in space, m, and the rotation from body axes to space.
    v, omega : Array, shape (3,)
        Velocity of that point, m/s, and angular velocity, rad/s, both in space axes.
    J, turn : Array, shape (3, nv)
        v = J v and omega = turn v.
    drift : Array, shape (3,)
        Acceleration of that point is J a + drift, m/s^2; that of the angle is turn a.
    """

    @property
    def x(self) -> Array:
        """Origin of its frame in space."""
        ...

    @property
    def R(self) -> Array:
        """Rotation from body axes to space."""
        ...

    @property
    def v(self) -> Array:
        """Velocity of the origin."""
        ...

    @property
    def omega(self) -> Array:
        """Angular velocity in space axes."""
        ...

    @property
    def J(self) -> Array:
        """Derivative of v with respect to the velocities of the system."""
        ...

    @property
    def turn(self) -> Array:
        """Derivative of omega with respect to the velocities of the system."""
        ...

    @property
    def drift(self) -> Array:
        """Acceleration of the origin without that of the velocities."""
        ...


class Found(NamedTuple):
    """Contacts as arrays; detection gives them in the order of their ids.

    Attributes
    ----------
    kind : IntArray, shape (c,)
    bodies : IntArray, shape (c, 2)
        Numbers of the bodies A and B, -1 for the ground.
    label : IntArray, shape (c, 4)
        (shape A, feature, shape B, feature), see `collision.Shapes.id`.
    data : Array, shape (c, 25)
        What `Feature` holds.
    """

    kind: IntArray
    bodies: IntArray
    label: IntArray
    data: Array

    def taken(self, which: slice | Sequence[int] | BoolArray) -> Found:
        """Return some of the contacts."""
        return Found(self.kind[which], self.bodies[which], self.label[which], self.data[which])

    def directed(self) -> Found:
        """Return the contacts that have all their directions: a rim around an axis that is its own has none."""
        lost = np.zeros(len(self.kind), dtype=bool)
        for needed, i in zip(DIRECTED, (3, 10, 14), strict=True):
            lost |= needed[self.kind] & ~self.data[:, i : i + 3].any(axis=1)
        return self.taken(~lost) if lost.any() else self

    def pinned(self) -> Found:
        """Return the contacts with points over rims that stay on their edges: every rate is that of its gap then."""
        over = self.kind == EDGE_RIM
        pinned = np.where(self.data[:, 17] < 0.0, DISC_PLANE, BALL_PLANE)
        data = self.data.copy()
        data[over, :3] += data[over, 18, None] * data[over, 3:6]
        data[over, 13] = 0.0
        return self._replace(kind=np.where(over, pinned, self.kind), data=data)

    def gaps(self, bodies: BodyMotions) -> Array:
        """Return the gaps, m, shape (c,)."""
        from .contact_rows import feature_gaps

        gaps = np.empty(len(self.kind))
        feature_gaps(self.kind, self.data, self.bodies, bodies.x, bodies.R, gaps)
        return gaps

    def rows(
        self, blanks: Sequence[Row], bodies: BodyMotions, nv: int, charts: Mapping[str, int] | None = None
    ) -> list[Row]:  # fmt: skip
        """Return the contacts at one state, for what `Feature.blank` gave for each.

        Rates are the velocity of A's material relative to B's at the contact point, and the relative angular
        velocity about T1 and T2, then N; the first is exactly the derivative of the gap, unless an edge is over a rim,
        see `pinned`. Tangents come from the chart that their normal has by itself, or from the one that `charts` says
        for an id.

        Raises
        ------
        InputError
            NaN or infinity; names the contact.
        """
        from .bounds.search_records import ContactList
        from .contact_rows import ContactRows, feature_rows

        start = np.zeros(len(blanks) + 1, dtype=np.int64)
        start[1:] = np.cumsum([blank.size for blank in blanks])
        size = int(start[-1])
        moved, frames = np.empty((len(blanks), 13)), np.empty((len(blanks), 6, 3))
        J, rate, drift = np.zeros((size, nv if nv <= WIDE else 0)), np.empty(size), np.empty(size)
        out = ContactRows(moved, frames, J, rate, drift)
        feature_rows(ContactList(*self), bodies, start, out)
        rows = []
        ends = zip(blanks, moved[:, 0].tolist(), start.tolist(), start[1:].tolist(), strict=False)
        for c, (blank, gap, i, k) in enumerate(ends):
            point, frame = moved[c, 4:7], frames[c]
            values = {"gap": gap, "rate": rate[i:k], "drift": drift[i:k], "point": point, "frame": frame[:3]}
            if nv <= WIDE:
                rows.append(blank.but(J=J[i:k], **values))
            else:
                rows.append(blank.late(partial(_jacobian, bodies, self.bodies[c], point, frame, (k - i, nv)), **values))
        if not all(np.isfinite(x).all() for x in (moved, frames, rate, drift)):  # and so is J, which is made of them
            return [replace(row) for row in rows]  # checks each
        if charts:
            rows = [in_chart(row, x[7:10], charts.get(row.id, 0)) for row, x in zip(rows, moved, strict=True)]
        return rows


def _jacobian(bodies: BodyMotions, pair: IntArray, point: Array, frame: Array, shape: tuple[int, int]) -> Array:
    """Return J of one contact, shape (k, nv)."""
    from .contact_rows import contact_jacobian

    J = np.zeros(shape)
    contact_jacobian(pair, point, frame, bodies.x, bodies.J, bodies.turn, bodies.first, J)
    return J


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Feature:
    """A contact that may act: a primitive of body A against one of body B.

    Parameters
    ----------
    id : str
        Stable name, e.g. ``upper:c3/lower:f5``.
    kind : int
        Number of one of `KINDS`.
    bodies : (str, str)
        Names of A, which the normal points into, and B, ``ground`` for the ground.
    data : array_like, shape (25,) or fewer
        a (3), da (3), ra in the frame of A and b (3), db (3), rb, e (3) in that of B, reach, s0, and the second halves
        of the matrices of ellipsoids, see `smooth_kinematics`; directions of length one, lengths in m. Zeros take the
        place of what is left out behind rb; EDGE_RIM, RIM_LINE, RIM_RIM and ellipsoids need e.
    shapes : (str, str)
        Names of the two shapes, e.g. ("upper", "floor"); those of the bodies by default.

    Raises
    ------
    InputError
        An unknown kind, NaN, a negative radius, a direction that is not of length one.
    """

    id: str
    kind: int
    bodies: tuple[str, str]
    data: Array
    shapes: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        if np.ndim(self.data) == 1 and 14 <= len(self.data) < WIDTH:
            object.__setattr__(self, "data", np.append(self.data, np.zeros(WIDTH - len(self.data))))
        object.__setattr__(self, "data", vector(f"data of {self.id}", self.data, WIDTH))
        object.__setattr__(self, "shapes", (self.shapes[0] or self.bodies[0], self.shapes[1] or self.bodies[1]))
        if self.kind not in range(len(KINDS)):
            raise InputError(
                f"kind of {self.id}", self.kind, f"0 to {len(KINDS) - 1}: {', '.join(KINDS)}", "Write kind=0."
            )
        numbers = self.data.tolist()
        scalar(f"radius of {self.id}", min(numbers[6], numbers[13]), low=0.0)
        if self.kind in ELLIPSOIDS and min(numbers[3:6]) <= 0.0:
            raise InputError(
                f"matrix of {self.id}",
                numbers[3:6],
                "three numbers > 0: squares of half axes",
                "Write data[3:6] = (0.01, 0.01, 0.01).",
            )
        for needed, i in zip(DIRECTED[:, self.kind].tolist(), (3, 10, 14), strict=True):
            length = math.hypot(*numbers[i : i + 3])
            if needed and abs(length - 1.0) > 1e-9:
                raise InputError(
                    f"direction of {self.id}", f"length {length:.9g}", "length 1", "Write d / numpy.linalg.norm(d)."
                )

    def geometry(self, xA: Array, RA: Array, xB: Array, RB: Array) -> tuple[float, Array, Array]:
        """Return gap (m), normal and contact point at two poses x (3,), R (3, 3)."""
        from .feature_kinematics import feature_geometry

        out = np.empty(7)
        feature_geometry(self.kind, self.data, xA, RA, xB, RB, out)
        return float(out[0]), out[1:4], out[4:7]

    def blank(self, law: ContactLaw = FRICTIONLESS) -> Row:
        """Return the contact without the values that depend on the state; J has no columns."""
        size = law.size
        return Row(
            id=self.id,
            kind="contact" if size > 1 else "unilateral",
            J=np.zeros((size, 0)),
            rate=np.zeros(size),
            drift=np.zeros(size),
            mu=law.mu,
            mu_s=law.mu_s,
            mu_r=law.mu_r,
            mu_t=law.mu_t,
            eps_n=law.eps_n,
            eps_t=law.eps_t,
            between=pair_of(self.id, self.bodies),
        )

    def row(self, a: Motion, b: Motion, law: ContactLaw = FRICTIONLESS) -> Row:
        """Return the contact at one state: rows N, or N, T1, T2, with R1, R2 and S behind them as `law` needs them."""
        stacked = [np.stack([getattr(a, name), getattr(b, name)]) for name in BodyMotions._fields[:-1]]
        bodies = BodyMotions._make([*stacked, np.zeros(2, dtype=np.int64)])
        kind, pair, none = np.array([self.kind]), np.array([[0, 1]]), np.zeros((1, 4), dtype=np.int64)
        (row,) = Found(kind, pair, none, self.data[None]).rows([self.blank(law)], bodies, a.J.shape[1])
        return row
