"""What springs in the contacts do in the limit of infinite stiffness: the motion of the fast time, solved by events.

While stiff springs act nothing moves but the velocity: mass, directions and slips stay, all finite forces vanish
beside theirs. In the time t sqrt(k) this is a motion without k: springs of unit stiffness along the normals, dry
friction of at most mu times their force, joints rigid. It leaves the state of rest as a pencil leaves its tip: the free
accelerations only say to which side, so that it begins with a speed of theirs so small that no more depends on it. With
one contact it is Routh's method (the normal impulse as time), with the work of the springs given back. Sources: Routh
(1905); Keller (1986), Impact with friction; Hogan, Kristiansen (2017), On the regularization of impact without
collision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...arrays import Array
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...mechanics.rows import Row
from ...mechanics.state import State
from ..impact.problem import one_sided
from .event_stepper import EventStepper
from .user_events import UserEvent

BEGINS = (1e-8, 1e-10)  # of the speeds: two beginnings, whose difference says what still depends on them
RTOL, ROUNDED = 1e-11, 1e-9  # of the integration; of the speeds: what integration and events leave
LONGEST, EVENTS = 1e6, 1000  # time, in sqrt(m / k), and events after which springs do not let go
OPEN = 1e-12  # m: what is compressed less, and opens, pushes no more
FAINT = 1e-14  # m: under a spring that does not push friction acts as if it were compressed by so little
DEPENDS = 1e-3  # of the speeds: with such a difference there is no limit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sprung:
    """How springs in the limit leave a state.

    Attributes
    ----------
    v : Array, shape (nv,)
    impulses : mapping of str to Array
        N s, by row id.
    error : float
        Of the speeds in v, over the largest of those before.
    reason : str
        Why nothing was found; empty where it was.
    """

    v: Array
    impulses: Mapping[str, Array]
    error: float = 0.0
    reason: str = ""


def spring_limit(dynamics: LocalDynamics, damping: float) -> Sprung:
    """Return how springs in the closed contacts leave a state without acceleration, for infinite stiffness.

    Parameters
    ----------
    dynamics : LocalDynamics
        On the acceleration level.
    damping : float
        Share of the critical damping.
    """
    try:
        springs = Springs.of(dynamics, damping)
    except InputError as refused:
        return Sprung(v=dynamics.v, impulses={}, reason=str(refused))
    found = [springs.leave(begin) for begin in BEGINS]
    for one in found:
        if one.reason:
            return one
    error = ROUNDED + float(np.abs(found[1].v - found[0].v).max()) / float(np.abs(dynamics.v).max())
    if error > DEPENDS:
        words = f"however stiff the springs are, what they do depends on their stiffness (by {error:.1e} of the speeds)"
        return Sprung(v=dynamics.v, impulses={}, reason=words)
    return Sprung(v=found[1].v, impulses=found[1].impulses, error=error)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Springs:
    """The system of the fast time: displacement, clock and normal impulses as coordinates, velocity over `speed`.

    Attributes
    ----------
    dynamics : LocalDynamics
    contacts, joints : tuple of Row
    normals, own : Array, shapes (m, nv), (m,)
        The rates of the gaps are normals v + own.
    k, c : Array, shape (m,)
        Stiffness and damping of every spring in units of the fast time, N/m and N s/m.
    speed : float
        The largest one of the beginning, SI.
    """

    dynamics: LocalDynamics
    contacts: tuple[Row, ...]
    joints: tuple[Row, ...]
    normals: Array
    own: Array
    k: Array
    c: Array
    speed: float

    @classmethod
    def of(cls, dynamics: LocalDynamics, damping: float) -> Springs:
        """Return springs in the place of all closed contacts that do not separate.

        Raises
        ------
        InputError
            A contact that cannot open: its spring would swing on without end.
        """
        closed = dynamics.activation
        for row in dynamics.rows:
            if row.kind == "bilateral_contact" or (row.kind in ("unilateral", "contact") and row.level != "position"):
                raise InputError(
                    row.id, f"a {row.kind} on the {row.level}", "contacts that may open", 'Write on_none="impact".'
                )
        contacts = tuple(
            row for row in dynamics.rows if one_sided(row) and row.gap <= closed.gap and row.rate[0] <= closed.speed
        )
        joints = tuple(row for row in dynamics.rows if row.kind == "bilateral")
        normals = np.array([row.J[0] for row in contacts]).reshape(len(contacts), -1)
        inertia = 1.0 / np.einsum("ij,ji->i", normals, np.linalg.solve(dynamics.M, normals.T))
        k, speed = np.full(len(contacts), float(inertia.min(initial=np.inf))), float(np.abs(dynamics.v).max())
        own = np.array([row.rate[0] for row in contacts]) - normals @ dynamics.v
        return cls(
            dynamics=dynamics, contacts=contacts, joints=joints, normals=normals, own=own / speed, k=k,
            c=2.0 * damping * np.sqrt(k * inertia), speed=speed,
        )  # fmt: skip

    def leave(self, begin: float) -> Sprung:
        """Follow the motion that begins with a speed of the free accelerations until no spring pushes any more."""
        m, push = len(self.contacts), self._free()
        v = self.dynamics.v / self.speed + begin * push / float(np.abs(push).max())
        events = {f"opens {k}": UserEvent(g=partial(self._gap, k)) for k in range(m)}
        stepper, now = EventStepper(rtol=RTOL, events=events), State(q=np.zeros(self.nq), v=v)
        friction = {row.id: np.zeros(row.size) for row in self.contacts}
        for _ in range(EVENTS):
            step = stepper.advance(self, now, LONGEST)
            if not step.solution.solved:
                return Sprung(v=self.dynamics.v, impulses={}, reason=step.solution.explain())
            now = step.state
            for key, p in step.reactions.items():
                if key in self._parts:
                    id, first = self._parts[key]
                    friction[id][first : first + len(p)] += self.speed * p
            if step.changes and self._lets_go(now):
                normal = dict(zip(friction, self.speed * now.q[-m:], strict=True))
                impulses = {key: np.concatenate([[normal[key]], p[1:]]) for key, p in friction.items()}
                return Sprung(v=self.speed * now.v, impulses=impulses)
            if now.t >= LONGEST:
                break
        return Sprung(v=self.dynamics.v, impulses={}, reason="the springs do not let go")

    def _lets_go(self, now: State) -> bool:
        """Whether no contact is pressed, or about to be, any more."""
        return bool((self._gaps(now.q) >= -OPEN).all() and (self.normals @ now.v + self.own >= 0.0).all())

    def _free(self) -> Array:
        """Return the velocity with which gaps begin to change as the free accelerations say, joints held."""
        J = np.vstack([row.J[:1] for row in self.contacts] + [row.J for row in self.joints])
        x = self.dynamics.x_free
        wanted = [float(row.J[0] @ x + row.drift[0]) for row in self.contacts]
        held = sum(row.size for row in self.joints)
        return np.asarray(np.linalg.lstsq(J, np.r_[wanted, np.zeros(held)], rcond=None)[0])

    @property
    def _parts(self) -> dict[str, tuple[str, int]]:
        """The contact of every row of friction, and where in its reaction it begins, by the id of the row."""
        return {f"{row.id} {first}": (row.id, first) for row in self.contacts for first in (1, 3) if row.size > first}

    def _own(self, row: Row) -> Array:
        """Return the part of the rates of a row that its support gives."""
        return (row.rate - row.J @ self.dynamics.v) / self.speed

    def _gaps(self, q: Array) -> Array:
        return np.asarray(self.normals @ q[: self.nv] + self.own * q[self.nv])

    def _gap(self, k: int, t: float, state: State) -> float:
        return float(self._gaps(state.q)[k])

    def _normal(self, q: Array, v: Array) -> Array:
        """Return the forces of the springs; they only push."""
        gaps, rates = self._gaps(q), self.normals @ v + self.own
        return np.where(gaps < 0.0, np.maximum(-self.k * gaps - self.c * rates, 0.0), 0.0)

    # what every system says

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.dynamics.v)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.nv + 1 + len(self.contacts)

    def mass(self, q: Array) -> Array:
        """Return the mass."""
        return np.asarray(self.dynamics.M)

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return the force of the springs."""
        return np.asarray(self._normal(q, v) @ self.normals)

    def qdot(self, q: Array, v: Array) -> Array:
        """Return velocity, one, and the forces of the springs."""
        return np.concatenate([v, [1.0], self._normal(q, v)])

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return the coordinates after a time at constant velocity."""
        return q + dt * self.qdot(q, v)

    def near(self, t: float, q: Array, v: Array, dt: float) -> Springs:
        """Return itself."""
        return self

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return rigid joints, and friction of at most mu times the force of the spring."""
        found = []
        for row in self.joints:
            own = self._own(row)
            gap = float(row.J[0] @ q[: self.nv] + own[0] * q[self.nv]) if row.size == 1 else 0.0
            found.append(row.but(level="position", gap=gap, rate=row.J @ v + own, drift=np.zeros(row.size)))
        for row, N in zip(self.contacts, self._normal(q, v), strict=True):
            for at, mu, mu_s in ((slice(1, 3), row.mu, row.mu_s), *((at, mu, mu) for at, mu in row.moments)):
                if row.size > at.start:
                    J, rate, N_T = row.J[at], row.J[at] @ v + self._own(row)[at], max(N, FAINT * self.k[0])
                    found.append(
                        Row(id=f"{row.id} {at.start}", kind="dry", J=J, rate=rate, drift=np.zeros(len(J)), cap=mu * N_T,
                            cap_s=mu_s * N_T)
                    )  # fmt: skip
        return tuple(found)

    def potential(self, t: float, q: Array) -> float:
        """Return the energy of the springs."""
        return 0.5 * float(self.k @ np.minimum(self._gaps(q), 0.0) ** 2)

    def power(self, t: float, q: Array, v: Array, control: Array | None = None) -> float:
        """Return the power of the dashpots."""
        gaps = np.minimum(self._gaps(q), 0.0)
        return float((self._normal(q, v) + self.k * gaps) @ (self.normals @ v + self.own))

    def drawables(self, q: Array) -> list[dict[str, Any]]:
        """Return nothing to draw."""
        return []

    def spec(self) -> dict[str, Any]:
        """Return the name."""
        return {"name": "springs in the limit"}
