"""All reactions that the laws allow with one motion, as slices of cones: one, or one for every side of what is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...arrays import Array, vector
from ...contact.assemble import Block, blocks
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...programs.conic.cone_slice import FREE, ConeSlice
from ...programs.conic.faces import Piece, faces, piece

RESTS = 1e-9  # |u| up to this, relative to the free motion of all rows, is rest
SIDES = 64  # alternatives that are looked at
PARTS = ("N", "T1", "T2", "R1", "R2", "S")


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """Reactions r = offset + spread s with s in a slice.

    Attributes
    ----------
    slice : ConeSlice
    offset, spread : Array, shapes (R,), (R, n)
        Of all rows of all constraints that act.
    own : int
        How many of the equations, the last ones, are not of balance but among the entries of s.
    """

    slice: ConeSlice
    offset: Array
    spread: Array
    own: int = 0

    def entries(self, r: Array) -> Array:
        """Return the s that comes nearest to some reactions and to the equations that pieces have among themselves."""
        if not self.slice.n:
            return np.zeros(0)
        first = len(self.slice.f) - self.own
        A = np.vstack([self.spread, self.slice.A[first:]])
        found = np.linalg.lstsq(A, np.concatenate([r - self.offset, self.slice.f[first:]]), rcond=None)[0]
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """What `allowed` finds.

    Attributes
    ----------
    motion : Array, shape (nv,)
    names : tuple of str
        One per reaction: id and part (N, T1, .., numbers for joints of several rows).
    rows : dict
        Places of the reactions of every constraint, by id.
    modes : dict
        open, bears, slips, sticks or held, by id.
    J : Array, shape (R, nv)
    alternatives : tuple of Alternative
    """

    motion: Array
    names: tuple[str, ...]
    rows: dict[str, slice]
    modes: dict[str, str]
    J: Array
    alternatives: tuple[Alternative, ...]


def allowed(dynamics: LocalDynamics, motion: Array, known: Mapping[str, Array] | None = None) -> Allowed:
    """Return the reactions that the laws allow with a motion.

    Parameters
    ----------
    dynamics : LocalDynamics
    motion : array_like, shape (nv,)
        Acceleration, or velocity at the end of a step.
    known : mapping, optional
        Some reactions with which it happens, by id: rounding in the motion then matters no more. Without them the
        reactions have to give M motion - h.

    Raises
    ------
    InputError
        A motion that constraints forbid (they are named), or more sides than are looked at.
    """
    motion, parts = vector("motion", motion, dynamics.nv), blocks(dynamics)
    still = _still(dynamics, parts)
    found = [_pieces(part, motion, still) for part in parts]
    _check_sides(found)
    J = np.vstack([np.zeros((0, dynamics.nv)), *(part.active.row.J for part in parts)])
    load = dynamics.M @ motion - dynamics.h
    choices = [_alternative(J, load, choice) for choice in product(*found)]
    if known is not None:
        choices = _through(choices, J, _stacked(parts, known))
    ends = np.cumsum([0, *(part.active.row.size for part in parts)])
    ids = [part.active.row.id for part in parts]
    return Allowed(
        motion=motion,
        names=tuple(name for part in parts for name in _names(part)),
        rows={id: slice(int(a), int(b)) for id, a, b in zip(ids, ends, ends[1:], strict=False)},
        modes={id: one[0].mode for id, one in zip(ids, found, strict=True)},
        J=J,
        alternatives=tuple(choices),
    )


def _still(dynamics: LocalDynamics, parts: tuple[Block, ...]) -> float:
    free = [part.J @ dynamics.x_free + part.w for part in parts if len(part.take)]
    return RESTS * max(float(np.linalg.norm(np.concatenate([np.zeros(1), *free]))), 1e-3)


def _check_sides(found: list[tuple[Piece, ...]]) -> None:
    sides = int(np.prod([len(one) for one in found])) if found else 1
    if sides > SIDES:
        mend = (
            'Contacts that are held on both sides may bear on either; say which by unilateral ones: kind="unilateral".'
        )
        raise InputError("dynamics", f"{sides} combinations of sides", f"at most {SIDES}", mend)


def _pieces(part: Block, motion: Array, still: float) -> tuple[Piece, ...]:
    """Return the reactions of all rows of one constraint that the motion allows."""
    row = part.active.row
    if part.law is None and row.kind == "dry":
        return (piece(np.zeros((row.size, 0)), (), "slips", part.spread[:, 0]),)
    u = part.J @ motion + part.w
    below = u[0] < -still and not row.bilateral and row.kind != "dry"
    against = np.linalg.norm(u if row.kind == "bilateral" else u[:1]) > still if row.bilateral else False
    if below or against:
        given = f"a motion with {np.array2string(u, precision=4)} there"
        raise InputError(
            row.id,
            given,
            "0" if row.bilateral else "0 or more",
            "It forbids this motion: look at print(found.explain()).",
        )
    if part.law is None:
        free = (FREE,) * len(part.take)
        return (piece(np.eye(len(part.take)), free, "held").mapped(part.spread),)
    return tuple(one.mapped(part.spread, part.spread_abs) for one in faces(part.law, u, still))


def _alternative(J: Array, load: Array, choice: tuple[Piece, ...]) -> Alternative:
    """Stack the pieces of all constraints: J^T r = load, with the equations that pieces have among themselves."""
    n, rows, extra = (sum(size) for size in zip(*(_sizes(one) for one in choice), strict=True)) if choice else (0, 0, 0)
    spread, equal = np.zeros((rows, n)), np.zeros((extra, n))
    row = column = line = 0
    for one in choice:
        width, height, more = _sizes(one)
        spread[row : row + height, column : column + width] = one.spread
        equal[line : line + more, column : column + width] = one.equal
        row, column, line = row + height, column + width, line + more
    offset = np.concatenate([np.zeros(0), *(one.offset for one in choice)])
    right = np.concatenate([np.zeros(0), *(one.right for one in choice)])
    A, f = np.vstack([J.T @ spread, equal]), np.concatenate([load - J.T @ offset, right])
    cones = tuple(cone for one in choice for cone in one.cones)
    return Alternative(ConeSlice(A=A, f=f, cones=cones), offset, spread, len(right))


def _sizes(one: Piece) -> tuple[int, int, int]:
    return one.spread.shape[1], len(one.offset), len(one.right)


def _through(choices: list[Alternative], J: Array, r: Array) -> list[Alternative]:
    """Return the same sets with the load that some reactions r give, moved to where they obey their laws exactly."""
    best, load = np.inf, r[:0]
    for one in choices:
        s = one.slice.nearest(one.entries(r)[None])[0]
        exact = one.offset + one.spread @ s
        miss = float(np.linalg.norm(exact - r))
        if miss < best:
            best, load = miss, J.T @ exact
    made = []
    for one in choices:
        f = one.slice.f.copy()
        f[: len(load)] = load - J.T @ one.offset
        moved = ConeSlice(A=one.slice.A, f=f, cones=one.slice.cones)
        made.append(Alternative(moved, one.offset, one.spread, one.own))
    return made


def _stacked(parts: tuple[Block, ...], known: Mapping[str, Array]) -> Array:
    return np.concatenate([np.zeros(0), *(known[part.active.row.id] for part in parts)])


def _names(part: Block) -> list[str]:
    """Return the names of the reactions of a constraint."""
    row = part.active.row
    if row.kind == "bilateral":
        return [row.id] if row.size == 1 else [f"{row.id}.{k}" for k in range(row.size)]
    names = PARTS[1:] if row.kind == "dry" else (*PARTS[:3], "S") if row.size == 4 else PARTS
    return [f"{row.id}.{name}" for name in names[: row.size]]
