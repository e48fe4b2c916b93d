"""Wrenches that contacts can give: support region of a body or robot, force closure of a grasp, limits of its cone.

A wrench is (force, moment about the origin). The contacts of a robot on its feet bear the gravito-inertial wrench of
the whole; its centre of mass may be where they bear its weight. Source: Bretl, Lall (2008), Testing static equilibrium
for legged robots; Caron, Pham, Nakamura (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._show import brief
from ...arrays import Array, scalar, vector
from ...contact.active_set import active_set
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...programs.conic.cone_slice import FREE, RAY, TOL, Cone, ConeSlice, Support, Verdict
from ...programs.conic.support import support
from .force_polygon import ForcePolygon, around

RANK = 1e-9  # singular values below it, relative to the largest, are rounding


@dataclass(frozen=True, slots=True, eq=False)
class ContactPoint:
    """A point where a body is held up.

    Parameters
    ----------
    point : array_like, shape (3,)
        m.
    normal : array_like, shape (3,)
        Into the body that is held; of any length.
    mu : float
        Friction, >= 0.
    name : str

    Raises
    ------
    InputError
        Wrong shapes, a normal of zeros, mu < 0.
    """

    point: Array
    normal: Array
    mu: float
    name: str = ""

    def __post_init__(self) -> None:
        n = vector("normal", self.normal, 3)
        if not n.any():
            raise InputError("normal", "zeros", "a direction", "Write normal=(0.0, 0.0, 1.0).")
        object.__setattr__(self, "point", vector("point", self.point, 3))
        object.__setattr__(self, "normal", n / np.linalg.norm(n))
        object.__setattr__(self, "mu", scalar("mu", self.mu, low=0.0))

    def wrenches(self) -> Array:
        """Return wrenches of unit forces along normal and two tangents, shape (6, 3); (6, 1) without friction."""
        t = np.cross(self.normal, np.eye(3)[int(np.argmin(np.abs(self.normal)))])
        t /= np.linalg.norm(t)
        axes = [self.normal, t, np.cross(self.normal, t)][: 3 if self.mu else 1]
        return np.array([np.r_[e, np.cross(self.point, e)] for e in axes]).T

    @property
    def cone(self) -> Cone:
        """Its reactions."""
        return Cone("cone", 3, self.mu) if self.mu else RAY


def contact_points(dynamics: LocalDynamics, word: str = "") -> tuple[ContactPoint, ...]:
    """Return the closed contacts in space of a state, those with a word in their id.

    Raises
    ------
    InputError
        There are none.
    """
    found = []
    for row in (one.row for one in active_set(dynamics).rows if word in one.row.id and not one.row.bilateral):
        if row.point is not None and row.frame is not None and len(row.point) == 3:
            found.append(ContactPoint(row.point, row.frame[0], row.mu_s, row.id))
    if not found:
        raise InputError(
            "word",
            repr(word),
            "a word in the id of a closed contact in space",
            'Write word="floor": part of an id such as "foot/floor".',
        )
    return tuple(found)


def _stacked(contacts: Sequence[ContactPoint]) -> tuple[Array, tuple[Cone, ...]]:
    if not contacts:
        raise InputError("contacts", "none", "at least one ContactPoint", "Write contacts=[ContactPoint(...)].")
    return np.hstack([one.wrenches() for one in contacts]), tuple(one.cone for one in contacts)


def support_region(
    contacts: Sequence[ContactPoint],
    *,
    acceleration: ArrayLike = (0.0, 0.0, 0.0),
    height: float = 0.0,
    gravity: float = 9.81,
    directions: int = 72,
) -> ForcePolygon:
    """Return where the centre of mass may be, seen from above (x, y in m), so that the contacts can bear the weight.

    Parameters
    ----------
    contacts : sequence of ContactPoint
        On ground of any shape; z points up.
    acceleration : array_like, shape (3,)
        Of the centre of mass, m/s^2.
    height : float
        Of the centre of mass, m: it counts where the acceleration is not vertical.
    gravity : float
        m/s^2, > 0.
    directions : int
        Sides of the polygon, 4 to 10000.

    Returns
    -------
    ForcePolygon
        `inner` and `outer` corners; inf in `reach` where the region is unbounded.

    Raises
    ------
    InputError
        No contacts, or contacts that cannot bear the weight wherever the centre of mass is.
    """
    G, cones = _stacked(contacts)
    force = vector("acceleration", acceleration, 3)
    force[2] += scalar("gravity", gravity, low=0.0, open_low=True)
    arms = np.zeros((6, 2))
    arms[3:] = -np.array([np.cross(e, force) for e in np.eye(3)[:2]]).T  # moment of the weight at (x, y)
    load = np.r_[force, np.cross([0.0, 0.0, scalar("height", height)], force)]
    slice = ConeSlice(A=np.hstack([G, arms]), f=load, cones=(*cones, FREE, FREE))
    D = around(directions)
    C = np.hstack([np.zeros((len(D), G.shape[1])), D])
    found = support(slice, C)
    if Verdict.EMPTY in found.verdicts:
        mend = "Their forces do not reach it, whatever stands on them: add contacts=[..., ContactPoint(...)] below it."
        raise InputError("contacts", f"{len(contacts)} that cannot bear the weight", "contacts that can", mend)
    inner = found.points[np.isfinite(found.value), -2:]
    return ForcePolygon(of=("x", "y"), directions=D, reach=found.value, inner=inner)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Closure:
    """Whether contacts can give every wrench.

    Attributes
    ----------
    closed : bool
    margin : float
        How deep all forces can be within their cones while they balance and normal parts add up to 1; 0 at the border.
    squeeze : Array
        Such balanced forces, (N, T1, T2) of every contact.
    escape : Array, shape (6,)
        Where it is not closed, a twist (velocity, spin) with which no contact does positive work against it: they
        cannot resist its opposite wrench.
    proof : Support
    """

    closed: bool
    margin: float
    squeeze: Array
    escape: Array
    proof: Support

    __repr__ = brief

    def verify(self, tol: float = TOL) -> bool:
        """Whether the proof holds, recomputed from the data."""
        return self.proof.verify(tol)


def force_closure(contacts: Sequence[ContactPoint]) -> Closure:
    """Return whether contacts hold a body against every force and moment (force closure of a grasp).

    Raises
    ------
    InputError
        No contacts.
    """
    G, cones = _stacked(contacts)
    heads = np.zeros(G.shape[1])
    heads[np.cumsum([0, *(cone.size for cone in cones)])[:-1]] = 1.0
    A = np.vstack([np.c_[G, G @ heads], np.r_[heads, heads.sum()]])  # s + t e, with s in the cones
    slice = ConeSlice(A=A, f=np.r_[np.zeros(6), 1.0], cones=(*cones, FREE))
    C = np.zeros((1, A.shape[1]))
    C[0, -1] = 1.0
    found = support(slice, C)
    margin = float(found.value[0])
    U, s, _ = np.linalg.svd(G)
    full = len(s) == 6 and s[-1] > RANK * s[0]
    escape = found.multipliers[0, :6] if full else U[:, -1]
    squeeze = found.points[0, :-1] + found.points[0, -1] * heads
    return Closure(closed=bool(full and margin > TOL), margin=margin, squeeze=squeeze, escape=escape, proof=found)


def bears(contacts: Sequence[ContactPoint], wrench: ArrayLike) -> Support:
    """Return whether contacts can give a wrench: BOUNDED with reactions, or EMPTY with a twist that proves that not.

    The function asked for is the sum of the normal forces, the least of which is handed over (with its sign changed).

    Raises
    ------
    InputError
        No contacts, a wrench of another length than 6.
    """
    G, cones = _stacked(contacts)
    slice = ConeSlice(A=G, f=vector("wrench", wrench, 6), cones=cones)
    heads = np.zeros((1, G.shape[1]))
    heads[0, slice.start[:-1]] = -1.0
    return support(slice, heads)
