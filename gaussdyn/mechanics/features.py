"""Contacts in space as data: a pair of primitives on two bodies, and the `Row` it makes at one state.

Whatever the shapes, a contact is one of BALL_PLANE, BALL_BALL, BALL_LINE and LINE_LINE; see `feature_kernels`. It holds
while its nearest points stay where they are (on the face, within the edge); detection finds the ones that do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..arrays import Array, scalar, vector
from ..errors import InputError
from .contact_law import ContactLaw
from .rows import Row, pair_of

KINDS = ("ball_plane", "ball_ball", "ball_line", "line_line")
BALL_PLANE, BALL_BALL, BALL_LINE, LINE_LINE = range(4)
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
    def x(self) -> Array: ...  # noqa: D102
    @property
    def R(self) -> Array: ...  # noqa: D102
    @property
    def v(self) -> Array: ...  # noqa: D102
    @property
    def omega(self) -> Array: ...  # noqa: D102
    @property
    def J(self) -> Array: ...  # noqa: D102
    @property
    def turn(self) -> Array: ...  # noqa: D102
    @property
    def drift(self) -> Array: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Feature:
    """A contact that may act: a primitive of body A against one of body B.

    Parameters
    ----------
    id : str
        Stable name, e.g. ``upper:c3/lower:f5``.
    kind : int
        BALL_PLANE, BALL_BALL, BALL_LINE or LINE_LINE.
    bodies : (str, str)
        Names of A, which the normal points into, and B, ``ground`` for the ground.
    data : array_like, shape (14,)
        a (3), da (3), ra in the frame of A and b (3), db (3), rb in that of B; directions of length one, lengths in m.
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
        object.__setattr__(self, "data", vector(f"data of {self.id}", self.data, 14))
        object.__setattr__(self, "shapes", (self.shapes[0] or self.bodies[0], self.shapes[1] or self.bodies[1]))
        if self.kind not in range(4):
            raise InputError(f"kind of {self.id}", self.kind, f"0 to 3: {', '.join(KINDS)}")
        *numbers, rb = self.data.tolist()
        scalar(f"radius of {self.id}", min(numbers[6], rb), low=0.0)
        for needed, i in ((self.kind == LINE_LINE, 3), (self.kind != BALL_BALL, 10)):
            length = math.hypot(*numbers[i : i + 3])
            if needed and abs(length - 1.0) > 1e-9:
                raise InputError(f"direction of {self.id}", f"length {length:.9g}", "length 1")

    def geometry(self, xA: Array, RA: Array, xB: Array, RB: Array) -> tuple[float, Array, Array]:
        """Return gap (m), normal and contact point at two poses x (3,), R (3, 3)."""
        from .feature_kernels import feature_geometry

        out = np.empty(7)
        feature_geometry(self.kind, self.data, xA, RA, xB, RB, out)
        return float(out[0]), out[1:4], out[4:7]

    def row(self, a: Motion, b: Motion, law: ContactLaw = FRICTIONLESS) -> Row:
        """Return the contact at one state: rows N, or N, T1, T2, or N, T1, T2, R1, R2, as `law` needs them.

        Rates are the velocity of A's material relative to B's at the contact point, and the relative angular
        velocity about T1 and T2; the first is exactly the derivative of the gap.
        """
        from .feature_kernels import add_body, contact_frame, feature_motion, rates_and_drifts

        moved, frame, size = np.empty(13), np.empty((6, 3)), law.size
        J, rate, drift = np.zeros((size, a.J.shape[1])), np.empty(size), np.empty(size)
        feature_motion(self.kind, self.data, a.x, a.R, a.v, a.omega, b.x, b.R, b.v, b.omega, moved)
        contact_frame(moved[1:4], moved[7:10], frame)
        add_body(1.0, a.x, moved[4:7], a.J, a.turn, frame, J)
        add_body(-1.0, b.x, moved[4:7], b.J, b.turn, frame, J)
        rates_and_drifts(a.x, a.v, a.omega, a.drift, b.x, b.v, b.omega, b.drift, moved, frame, rate, drift)
        return Row(
            id=self.id,
            kind="contact" if size > 1 else "unilateral",
            gap=float(moved[0]),
            J=J,
            rate=rate,
            drift=drift,
            mu=law.mu,
            mu_s=law.mu_s,
            mu_r=law.mu_r,
            eps_n=law.eps_n,
            eps_t=law.eps_t,
            between=pair_of(self.id, self.bodies),
            point=moved[4:7],
            frame=frame[:3],
        )
