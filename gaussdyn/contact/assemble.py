"""From plain rows to laws: the complementarity problem of blocks at one state, and its answer back to constraints.

M x = h + G^T lam + B r (+ B_abs |r|),  G x = b,  u = J x + w,  (u_k, r_k) in law k.

Where a contact slips on the acceleration level its friction is known up to the normal reaction and is eliminated into
B; where it rests, and always on the velocity level, the exact law is kept. This is the only place that turns the
plain data of a `Row` into laws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._kept import kept
from ..arrays import Array, finite_only
from ..errors import InputError
from ..mechanics.rows import Row
from ..programs.laws.laws import (
    BilateralCoulomb,
    BilateralSliding,
    Coulomb,
    Dry,
    Law,
    Rolling,
    Sliding,
    Torsional,
    Unilateral,
)
from ..programs.problems.complementarity import ComplementarityProblem, GlobalForm
from .active_set import ActiveRow, OmegaStatus, active_set
from .snapshot import LocalDynamics, check_dynamics


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """A constraint as a block of the problem.

    Attributes
    ----------
    active : ActiveRow
    law : Law or None
        None for bilateral rows (they go to G), and for a dry row that slips (its friction is a given force).
    take : tuple of int
        Which rows of the constraint make up u.
    spread : Array, shape (row.size, len(take))
        Reaction of every row of the constraint for the block's r: B = J^T spread.
    spread_abs : Array or None
        The same for |r|.
    plain : bool
        Whether `take` names the first rows and r are their reactions: B = J^T.
    """

    active: ActiveRow
    law: Law | None
    take: tuple[int, ...]
    spread: Array
    spread_abs: Array | None = None
    plain: bool = False

    @property
    def J(self) -> Array:
        """Rows of u, shape (len(take), nv)."""
        return self.active.row.J[: len(self.take)] if self.plain else self.active.row.J[list(self.take)]

    @property
    def w(self) -> Array:
        """What u is without motion, shape (len(take),)."""
        return self.active.w[: len(self.take)] if self.plain else self.active.w[list(self.take)]

    def reaction(self, r: Array) -> Array:
        """Return the reaction of every row of the constraint, shape (row.size,), for the block's r."""
        full: Array = self.spread @ r
        return full if self.spread_abs is None else full + self.spread_abs @ np.abs(r)


def assemble(dynamics: LocalDynamics) -> ComplementarityProblem:
    """Build the complementarity problem of blocks at this state.

    Bilateral rows without friction go to G in the order of the rows; every other constraint that acts is one block
    in the order of the rows (`blocks` says which). The unknown x is the acceleration or v+; r are forces or impulses.

    Raises
    ------
    InputError
        If no acceleration exists at this state (`resolve` returns that as a status); rolling resistance at a
        bilateral contact; a block that has no positive semidefinite part.
    """
    check_dynamics(dynamics)
    return _assembled(dynamics)


@kept
def _assembled(dynamics: LocalDynamics) -> ComplementarityProblem:
    """Return the problem at a state."""
    parts = blocks(dynamics)
    held = [part for part in parts if part.law is None and part.active.row.kind != "dry"]
    given = [part for part in parts if part.law is None and part.active.row.kind == "dry"]
    laws = [part for part in parts if part.law is not None]
    h, nv = dynamics.h, dynamics.nv
    for part in given:
        h = h + part.active.row.J.T @ part.spread[:, 0]
    J, G = _rows([part.J for part in laws], nv), finite_only("G", _rows([part.J for part in held], nv))
    B, B_abs = _other_directions(laws, J), _absolute_directions(laws, nv)
    w, b = _vector([part.w for part in laws]), 0.0 - _vector([part.w for part in held])
    form = GlobalForm.trusted(dynamics.M, h, J, w, G, b, B, B_abs)
    return ComplementarityProblem.condensed(form, [part.law for part in laws if part.law is not None])


def _other_directions(laws: Sequence[Block], J: Array) -> Array | None:
    """Return B, shape (nv, R), where reactions act along others than the columns of J^T."""
    if all(part.plain for part in laws):
        return None
    B = _directions(laws, J.shape[1])
    return None if np.array_equal(B, J.T) else B


def _absolute_directions(laws: Sequence[Block], nv: int) -> Array | None:
    """Return the directions of |r|, shape (nv, R), where there are any."""
    if all(part.spread_abs is None for part in laws):
        return None
    return _rows([_absolute(part) for part in laws], nv).T


@kept
def blocks(dynamics: LocalDynamics) -> tuple[Block, ...]:
    """Return every constraint that acts as a block, in the order of the rows.

    Raises
    ------
    InputError
        If no acceleration exists at this state, or a bilateral contact has rolling resistance.
    """
    active = active_set(dynamics)
    if active.status is not OmegaStatus.READY:
        given = f"{active.status} at {', '.join(active.at_fault)}"
        raise InputError("dynamics", given, "a state with an acceleration", "resolve() returns this as a status.")
    return tuple(_block(dynamics, one) for one in active.rows)


def start_of_blocks(dynamics: LocalDynamics, last: Mapping[str, Array]) -> Array:
    """Return the reactions `last` (by id, one component per row) as r of `assemble`; zero where there is none."""
    parts = [part for part in blocks(dynamics) if part.law is not None]
    found = [last.get(part.active.row.id, np.zeros(0)) for part in parts]
    return _vector([
        r[list(part.take)] if len(r) == part.active.row.size else np.zeros(len(part.take))
        for part, r in zip(parts, found, strict=True)
    ])  # fmt: skip


def _block(dynamics: LocalDynamics, active: ActiveRow) -> Block:
    """Choose the law of one constraint."""
    row = active.row
    if row.kind == "dry":
        return _dry(dynamics, active)
    if not active.rough:
        return _plain(active, None if row.bilateral else Unilateral(), row.size if row.kind == "bilateral" else 1)
    if row.moments:
        return _moments(dynamics, active)
    e = _slip(dynamics, row.rate[1:3])
    if e is None:
        dim = min(row.size, 3)
        kind = BilateralCoulomb if row.bilateral else Coulomb
        return _plain(active, _cone(kind, row.mu, row.mu_s, dim), dim)
    normal, friction, way = _first(row.size, 1), np.zeros((row.size, 1)), tuple(e.tolist())
    friction[1:3, 0] = -row.mu * e
    if row.bilateral:
        held = _sliding(BilateralSliding, row.mu, way)
        return Block(active=active, law=held, take=(0,), spread=normal, spread_abs=friction)
    return Block(active=active, law=_sliding(Sliding, row.mu, way), take=(0,), spread=normal + friction)


def _plain(active: ActiveRow, law: Law | None, dim: int) -> Block:
    """Return a block of the first `dim` rows of a constraint, B = J^T."""
    spread = _first(active.row.size, dim)
    return Block(active=active, law=law, take=tuple(range(dim)), spread=spread, plain=True)


@lru_cache(maxsize=64)
def _cone(kind: type[Coulomb | BilateralCoulomb], mu: float, mu_s: float, dim: int) -> Law:
    return kind(mu, mu_s, dim)


@lru_cache(maxsize=64)
def _sliding(kind: type[Sliding], mu: float, way: tuple[float, ...]) -> Law:
    return kind(mu, way)


@lru_cache(maxsize=64)
def _first(size: int, dim: int) -> Array:
    """Return the first `dim` columns of the identity; the same array every time, so read-only."""
    columns = np.eye(size, dim)
    columns.flags.writeable = False
    return columns


def _dry(dynamics: LocalDynamics, active: ActiveRow) -> Block:
    """Choose the law of friction under a given load: a given force where it slips, else |r| <= cap."""
    row = active.row
    e = _slip(dynamics, row.rate)
    if e is not None:
        return Block(active=active, law=None, take=(), spread=-row.cap * e[:, None])
    scale = 1.0 if dynamics.level == "acceleration" else dynamics.dt
    return _plain(active, Dry(scale * row.cap, scale * row.cap_s, row.size), row.size)


def _moments(dynamics: LocalDynamics, active: ActiveRow) -> Block:
    """Choose the law of a contact with moments of friction: what moves on the acceleration level goes into B."""
    row, spread = active.row, np.eye(active.row.size)
    held, slip = [], None
    for rows, mu in ((slice(1, 3), row.mu), *row.moments):
        e = _slip(dynamics, row.rate[rows])
        if e is None:
            held.append((rows, mu))
            continue
        spread[rows, 0] = -mu * e
        slip = e if rows.start == 1 else slip
    take = (0, *(k for rows, _ in held for k in range(rows.start, rows.stop)))
    law = Sliding(row.mu, tuple(slip)) if slip is not None and not held else _held(row, held)
    return Block(active=active, law=law, take=take, spread=spread[:, take])


def _held(row: Row, held: Sequence[tuple[slice, float]]) -> Law:
    """Return the law of friction and moments that do not move: cones over discs, whatever these are made of."""
    sizes, mu = [rows.stop - rows.start for rows, _ in held], [mu for _, mu in held]
    if len(held) == 1:
        return Coulomb(mu[0], row.mu_s if held[0][0].start == 1 else mu[0], dim=1 + sizes[0])
    if sizes[-1] == 2:
        return Rolling(mu[0], mu[1])
    return Torsional(mu[0], mu[-1], mu[1] if len(held) == 3 else None)


def _slip(dynamics: LocalDynamics, u_T: Array) -> Array | None:
    """Return the unit direction of slip, or None at rest and on the velocity level, where the law decides."""
    speed = math.sqrt(u_T @ u_T)
    return u_T / speed if dynamics.level == "acceleration" and speed > dynamics.activation.speed else None


def _absolute(part: Block) -> Array:
    """Return the rows of B_abs^T that belong to a block, shape (len(take), nv)."""
    row = part.active.row
    return np.zeros((len(part.take), row.J.shape[1])) if part.spread_abs is None else part.spread_abs.T @ row.J


def _directions(laws: Sequence[Block], nv: int) -> Array:
    """Return B, the directions of the reactions of all blocks, shape (nv, m)."""
    return _rows([part.spread.T @ part.active.row.J for part in laws], nv).T


def _rows(parts: Sequence[Array], nv: int) -> Array:
    return np.concatenate(parts) if parts else np.zeros((0, nv))


def _vector(parts: Sequence[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0)
