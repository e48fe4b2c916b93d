"""Rows of user-written constraints: values, rates and drift terms, by accurate differences where not given.

Along the motion with constant v the coordinates are q(s) = q + s q' + s^2/2 q'', q'' the derivative of qdot along
itself; the second derivative of phi(t + s, q(s)) at s = 0 is then the drift term of phi.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import EPS, Array, matrix, vector
from ...errors import InputError
from ..rows import Row
from .constraints import Acceleration, Constraint, Position, Velocity
from .differences import derivative, gradient


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motion:
    """A state and the path through it with constant v.

    Attributes
    ----------
    t, q, v : float, Array (nq,), Array (nv,)
    qdot : callable
        qdot(q, v) -> shape (nq,), affine in v.
    plain : bool
        Whether qdot is v itself.
    drifts : bool
        Whether drift terms are asked for; else they are zeros.
    dq, ddq : Array, shape (nq,)
        First and second derivative of q along the path; ddq is None where it is zero, or no drift terms are asked for.
    N : Array, shape (nq, nv)
        d qdot / d v.
    """

    t: float
    q: Array
    v: Array
    qdot: Callable[[Array, Array], Array]
    plain: bool
    drifts: bool = True
    dq: Array = field(init=False)
    ddq: Array | None = field(init=False)
    N: Array = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.plain:
            put(self, "dq", self.v)
            put(self, "N", _unit(len(self.v)))
            put(self, "ddq", None)
            return
        dq = self.qdot(self.q, self.v)
        put(self, "dq", dq)
        rest = self.qdot(self.q, np.zeros_like(self.v))
        put(self, "N", np.stack([self.qdot(self.q, e) - rest for e in np.eye(len(self.v))], axis=1))
        bend = None
        if self.drifts:
            bend = derivative("qdot along the motion", lambda s: self.qdot(self.q + s * dq, self.v), speed=self.speed)
        put(self, "ddq", bend)

    @property
    def speed(self) -> float:
        """Largest |dq/dt|."""
        return float(max(map(abs, self.dq.tolist())))

    def along(self, name: str, f: Callable[[float, Array], ArrayLike], *, order: int = 1, noise: float = 0.0) -> Array:
        """Return the first or second derivative of f(t, q) along the path."""

        def of(s: float) -> ArrayLike:
            """Return f at the time s from now, along the motion."""
            there = self.q + s * self.dq
            return f(self.t + s, there if self.ddq is None else there + (0.5 * s * s) * self.ddq)

        return derivative(name, of, order=order, speed=self.speed, noise=noise)


class Values(NamedTuple):
    """What a constraint is at one state, but for its law; see `Row`."""

    gap: float
    J: Array
    rate: Array
    drift: Array


def values_of(name: str, constraint: Constraint, motion: Motion) -> list[Values]:
    """Return the values of the rows of one constraint (several for unilateral acceleration constraints)."""
    if isinstance(constraint, Position):
        return [_position(name, constraint, motion)]
    if isinstance(constraint, Velocity):
        return [_velocity(name, constraint, motion)]
    return _acceleration(name, constraint, motion)


def rows_of(name: str, constraint: Constraint, motion: Motion) -> list[Row]:
    """Return the rows of one constraint at one state."""
    found = values_of(name, constraint, motion)
    if isinstance(constraint, Acceleration):
        ids = [name] if len(found) == 1 else [f"{name}[{k}]" for k in range(len(found))]
        own: dict[str, Any] = {"kind": constraint.kind, "level": "acceleration"}
        return [Row(id=id, **own, **values._asdict()) for id, values in zip(ids, found, strict=True)]
    own = _law(constraint) if isinstance(constraint, Position) else _dry(constraint)
    return [Row(id=name, **own, **found[0]._asdict())]


def _law(c: Position) -> dict[str, Any]:
    """Return what the row of a position constraint says beside its values."""
    law: dict[str, Any] = {"kind": c.kind, "eps_n": c.eps_n, "eps_t": c.eps_t}
    if c.mu is None:
        return law
    kind = "contact" if c.kind == "unilateral" else "bilateral_contact"
    return law | {
        "kind": kind, "mu": c.mu, "mu_s": -1.0 if c.mu_s is None else c.mu_s, "mu_r": c.mu_r, "mu_t": c.mu_t,
    }  # fmt: skip


def _dry(c: Velocity) -> dict[str, Any]:
    """Return what the row of a velocity constraint says beside its values."""
    law: dict[str, Any] = {"kind": c.kind, "level": "velocity"}
    return law | {"cap": c.cap, "cap_s": -1.0 if c.cap_s is None else c.cap_s} if c.kind == "dry" else law


def _position(name: str, c: Position, m: Motion) -> Values:
    gap = _one(f"phi of {name}", c.phi(m.t, m.q))
    n = _slope(name, c, m)
    noise = EPS * float(np.abs(n[0]) @ np.abs(m.q)) if m.drifts or c.jacobian is None else 0.0
    J, rate, drift = n + 0.0 if m.plain else n @ m.N, _rate(name, c, m, n[0], noise), 0.0
    if m.drifts and c.drift is not None:
        drift = _one(f"drift of {name}", c.drift(m.t, m.q, m.v))
    elif m.drifts:
        drift = float(m.along(f"drift of {name}", c.phi, order=2, noise=noise)[0])
    if c.mu is None:
        return Values(gap, J, np.array([rate]), np.array([drift]))
    T, slip, slip_drift = _slip(name, c, m, n)
    for most, what, rows, turns in ((c.mu_r, "rolling", c.rolling, 2), (c.mu_t, "spin", c.spin, 1)):
        if most > 0.0 and rows is not None:
            R, turn_drift = _turn(f"{what} of {name}", rows, turns, m)
            T, slip, slip_drift = np.vstack([T, R]), np.r_[slip, R @ m.v], np.r_[slip_drift, turn_drift]
    return Values(gap, np.vstack([J, T]), np.r_[rate, slip], np.r_[drift, slip_drift])


def _rate(name: str, c: Position, m: Motion, n: Array, noise: float) -> float:
    """Return d phi / dt along the motion; n is d phi / d q."""
    if c.timeless:
        return float(n @ m.dq)
    if c.jacobian is None:
        return float(m.along(f"rate of {name}", c.phi, noise=noise)[0])
    own = derivative(f"time derivative of phi of {name}", lambda s: c.phi(m.t + s, m.q))
    return float(n @ m.dq) + float(own[0])


def _slope(name: str, c: Position, m: Motion) -> Array:
    """Return d phi / d q, shape (1, nq)."""
    if c.jacobian is None:
        return gradient(f"phi of {name}", lambda x: c.phi(m.t, x), m.q)
    return vector(f"jacobian of {name}", np.ravel(c.jacobian(m.t, m.q)), len(m.q))[None, :]


def _slip(name: str, c: Position, m: Motion, n: Array) -> tuple[Array, Array, Array]:
    """Return the tangential rows, the slip velocity and its drift term."""
    if c.tangent is None and not (m.plain and len(m.q) == 2):
        mend = "It is taken from phi only for a point in the plane, q = (x, y). Give tangent(t, q) -> rows of nv."
        raise InputError(f"tangent of {name}", None, "a function, because mu is given", mend)

    T = np.array([[n[0, 1], -n[0, 0]]]) if c.tangent is None else _tangent(name, c, m, m.t, m.q)
    ground = _ground(name, c, m.t, m.q)
    slip = vector(f"slip of {name}", T @ m.v - ground, len(T))
    if not m.drifts:
        return T, slip, np.zeros(len(T))
    if c.tangent is None and c.jacobian is None:
        drift = _turning(name, c, m, EPS * float(np.abs(n[0]) @ np.abs(m.q)))
        if callable(c.surface):
            drift = drift - m.along(f"surface of {name}", lambda t, q: _ground(name, c, t, q))
        return T, slip, drift

    def of(t: float, q: Array) -> Array:
        """Return the tangential velocity at (t, q) for the v of now."""
        body = _turned(c, m, t, q) if c.tangent is None else _tangent(name, c, m, t, q) @ m.v
        return body - _ground(name, c, t, q)

    noise = EPS * float((np.abs(T) @ np.abs(m.v)).max())
    return T, slip, m.along(f"slip drift of {name}", of, noise=noise)


def _turn(name: str, rows: Callable[..., ArrayLike], count: int, m: Motion) -> tuple[Array, Array]:
    """Return the rows of the rolling velocity or the spin, and their drift term."""

    def at(t: float, q: Array) -> Array:
        """Return the rows at (t, q), shape (count, nv)."""
        return matrix(name, np.reshape(rows(t, q), (count, -1)), count, len(m.v))

    R = at(m.t, m.q)
    if not m.drifts:
        return R, np.zeros(count)
    noise = EPS * float((np.abs(R) @ np.abs(m.v)).max())
    return R, m.along(f"drift of {name}", lambda t, q: at(t, q) @ m.v, noise=noise)


def _ground(name: str, c: Position, t: float, q: Array) -> Array:
    """Return the velocity of the ground along the tangents."""
    return vector(f"surface of {name}", c.surface(t, q) if callable(c.surface) else c.surface)


def _tangent(name: str, c: Position, m: Motion, t: float, q: Array) -> Array:
    assert c.tangent is not None
    T = matrix(f"tangent of {name}", np.atleast_2d(np.asarray(c.tangent(t, q))), None, len(m.v))
    if len(T) not in (1, 2):
        raise InputError(
            f"tangent of {name}", f"{len(T)} rows", "1 row in the plane, 2 in space", "Return numpy.atleast_2d(T)."
        )
    return T


def _turned(c: Position, m: Motion, t: float, q: Array) -> Array:
    """Return (n_y, -n_x) . v of a point in the plane, n the given gradient at (t, q)."""
    assert c.jacobian is not None
    return np.atleast_1d(np.ravel(c.jacobian(t, q)) @ np.array([-m.v[1], m.v[0]]))


def _turning(name: str, c: Position, m: Motion, noise: float) -> Array:
    """Return how (n_y, -n_x) . v of a point in the plane changes along the motion, from phi alone.

    It is the second derivative of phi in the directions (1, v) and (0, w) of (t, q), w = v turned; mixed derivatives
    are those along sums and differences: 4 phi_vw = phi_(v+w)(v+w) - phi_(v-w)(v-w).
    """
    w = np.array([-m.v[1], m.v[0]])
    speed, about = float(np.abs(m.v).sum()), f"slip drift of {name}"
    ahead, back = (
        derivative(about, lambda s, d=d: c.phi(m.t + s, m.q + s * d), order=2, speed=speed, noise=noise)  # type: ignore[misc]
        for d in (m.v + w, m.v - w)
    )
    return 0.25 * (ahead - back)


def _velocity(name: str, c: Velocity, m: Motion) -> Values:
    psi = _one(f"psi of {name}", c.psi(m.t, m.q, m.v))
    if c.jacobian is None:
        J = gradient(f"psi of {name}", lambda v: c.psi(m.t, m.q, v), m.v)
    else:
        J = vector(f"jacobian of {name}", np.ravel(c.jacobian(m.t, m.q, m.v)), len(m.v))[None, :]
    if not m.drifts:
        drift = np.zeros(1)
    elif c.drift is None:
        noise = EPS * float(np.abs(J[0]) @ np.abs(m.v))
        drift = m.along(f"drift of {name}", lambda t, q: c.psi(t, q, m.v), noise=noise)
    else:
        drift = np.array([_one(f"drift of {name}", c.drift(m.t, m.q, m.v))])
    return Values(psi, J, np.array([psi]), drift)


def _acceleration(name: str, c: Acceleration, m: Motion) -> list[Values]:
    C = matrix(f"C of {name}", np.atleast_2d(np.asarray(_value(c.C, m))), None, len(m.v))
    d = vector(f"d of {name}", _value(c.d, m), len(C))
    parts = [slice(None)] if c.kind == "bilateral" else [slice(k, k + 1) for k in range(len(C))]
    return [Values(0.0, C[part], np.zeros(len(C[part])), 0.0 - d[part]) for part in parts]


def _value(f: Any, m: Motion) -> Any:
    return f(m.t, m.q, m.v) if callable(f) else f


def _one(name: str, value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    return float(vector(name, np.ravel(value), 1)[0])


@cache
def _unit(n: int) -> Array:
    """Return the unit matrix."""
    unit = np.eye(n)
    unit.setflags(write=False)
    return unit
