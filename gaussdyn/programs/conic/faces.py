"""The reactions of one block that leave its motion u as it is, as pieces of cones.

A law allows, with a motion u that is given, a convex set of reactions, or two of them where a block is held on both
sides: open nothing, slipping a ray against the slip, sticking a cone. Planar cones are written by their two edges, so
that everything in the plane is a polyhedron.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..laws.laws import (
    Associated,
    BilateralCoulomb,
    BilateralSliding,
    Coulomb,
    Dry,
    Law,
    Rolling,
    Sliding,
    Torsional,
    Unilateral,
    moment_discs,
)
from .cone_slice import RAY, Cone


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A convex set of reactions {offset + spread s : equal s = right, s in the cones}.

    Attributes
    ----------
    offset : Array, shape (dim,)
    spread : Array, shape (dim, n)
    cones : tuple of Cone
    equal, right : Array, shapes (e, n), (e,)
    mode : str
        open, bears, slips, sticks or held.
    """

    offset: Array
    spread: Array
    cones: tuple[Cone, ...]
    equal: Array
    right: Array
    mode: str

    def mapped(self, spread: Array, spread_abs: Array | None = None) -> Piece:
        """Return it with another meaning of the reactions: r stands for spread r (+ spread_abs |r|)."""
        full = spread @ self.spread
        if spread_abs is not None:
            full = full + spread_abs @ np.abs(self.spread)
        return Piece(spread @ self.offset, full, self.cones, self.equal, self.right, self.mode)


def piece(spread: Array, cones: tuple[Cone, ...], mode: str, offset: Array | None = None) -> Piece:
    """Return a set without further equations."""
    dim, n = spread.shape
    return Piece(np.zeros(dim) if offset is None else offset, spread, cones, np.zeros((0, n)), np.zeros(0), mode)


def faces(law: Law, u: Array, still: float) -> tuple[Piece, ...]:
    """Return the reactions that a law allows with the motion u of its block; several pieces are alternatives.

    Parameters
    ----------
    law : Law
    u : Array, shape (dim,)
    still : float
        What counts as rest.

    Raises
    ------
    InputError
        A law whose motion with such a reaction is another one (the associated relaxation).
    """
    if isinstance(law, Associated):
        raise InputError(
            "law", type(law).__name__, "a law of contact", "The relaxation is not Coulomb's law: write Coulomb(0.3)."
        )
    if isinstance(law, Dry):
        return (_dry(law, u, still),)
    dim = len(u)
    if isinstance(law, BilateralSliding):
        return tuple(piece(np.full((1, 1), sign), (RAY,), "slips") for sign in (1.0, -1.0))
    if isinstance(law, BilateralCoulomb):
        above, side = _coulomb(law, u, still), np.diag([-1.0] + [1.0] * (dim - 1))
        return above, above.mapped(side)
    if u[0] > still:
        return (piece(np.zeros((dim, 0)), (), "open"),)
    if isinstance(law, (Unilateral, Sliding)):
        return (piece(np.ones((1, 1)), (RAY,), "slips" if isinstance(law, Sliding) else "bears"),)
    if isinstance(law, (Rolling, Torsional)):
        return (_moments(law, u, still),)
    if isinstance(law, Coulomb):
        return (_coulomb(law, u, still),)
    raise InputError("law", type(law).__name__, "a law of contact", "Write Coulomb(0.3).")


def _coulomb(law: Coulomb, u: Array, still: float) -> Piece:
    """Return the ray of a contact that slips, or the cone of one that sticks."""
    ray = _against(u[1:], still)
    if ray is not None:
        return piece(np.r_[1.0, law.mu * ray][:, None], (RAY,), "slips")
    return _cone(law.mu_s, len(u))


def _cone(mu: float, dim: int) -> Piece:
    """Return all reactions of a contact that sticks."""
    if dim == 1 or mu == 0.0:
        return piece(np.eye(dim)[:, :1], (RAY,), "bears")
    if dim == 2:
        return piece(np.array([[1.0, 1.0], [mu, -mu]]), (RAY, RAY), "sticks")
    return piece(np.eye(dim), (Cone("cone", dim, mu),), "sticks")


def _dry(law: Dry, u: Array, still: float) -> Piece:
    """Return the friction under a given load: a given force in slip, else |r| <= c_s."""
    e, dim, c = _against(u, still), len(u), law.c_s
    if e is not None or c == 0.0:
        return piece(np.zeros((dim, 0)), (), "slips", law.c * e if e is not None else np.zeros(dim))
    if dim == 1:  # -c + s, s + s' = 2 c
        return Piece(np.array([-c]), np.array([[1.0, 0.0]]), (RAY, RAY), np.ones((1, 2)), np.array([2.0 * c]), "sticks")
    head = np.eye(dim + 1)[:1]
    return Piece(np.zeros(dim), np.eye(dim + 1)[1:], (Cone("cone", dim + 1),), head, np.array([c]), "sticks")


def _moments(law: Rolling | Torsional, u: Array, still: float) -> Piece:
    """Return slip, rolling resistance and torsion of one contact: cones whose normal forces are equal."""
    discs = moment_discs(law.size, np.array([law.parameters()]))
    parts = [_part(float(mu[0]), u[rows], still) for rows, mu in discs]
    ends = np.cumsum([0, *(part.spread.shape[1] for part in parts)])
    spread, equal = np.zeros((law.size, ends[-1])), np.zeros((len(parts) - 1, ends[-1]))
    spread[0, : ends[1]] = parts[0].spread[0]
    for k, (part, (rows, _)) in enumerate(zip(parts, discs, strict=True)):
        own = slice(ends[k], ends[k + 1])
        spread[rows, own] = part.spread[1:]
        if k > 0:
            equal[k - 1, : ends[1]], equal[k - 1, own] = parts[0].spread[0], -part.spread[0]
    cones = tuple(cone for part in parts for cone in part.cones)
    mode = "sticks" if all(part.mode == "sticks" for part in parts) else "slips"
    return Piece(np.zeros(law.size), spread, cones, equal, np.zeros(len(equal)), mode)


def _part(mu: float, u: Array, still: float) -> Piece:
    ray = _against(u, still)
    return _cone(mu, 1 + len(u)) if ray is None else piece(np.r_[1.0, mu * ray][:, None], (RAY,), "slips")


def _against(u: Array, still: float) -> Array | None:
    """Return the unit direction against a slip, None at rest."""
    speed = float(np.linalg.norm(u))
    return -u / speed if speed > still else None
