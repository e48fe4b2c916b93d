"""A system at one instant: what its functions say there, and the motion that the modes of a phase make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...linalg.redundant_rows import FLAT, directions_of, rank_of
from ...mechanics.rows import Row
from ...mechanics.system import System

Rows = tuple[Row, ...]
PLAINLY = 1e-8  # of the product of their squares: the Gram determinant of rows that are independent
FADED = 1e-3  # of the largest force, or acceleration, so far: what they are measured by where all vanish together
HOLDS = 1e-8  # violation of an inequality up to which modes hold, of the largest force or acceleration
SETTLED = 1e-8  # residual E at the end of a segment above which its modes are not those of the laws
HARDLY = 1e-7  # s, times max(1, t): events nearer to each other than this are a crowd
FLIGHT = 1e-11  # m: gaps above this that were open in the step before are open, even where they count as closed


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """What the functions of a system say at one state, whatever the modes.

    Attributes
    ----------
    t, q, v : float, Array (nq,), Array (nv,)
    rows : tuple of Row
    M, h : Array
        Mass, generalised force without reactions.
    """

    t: float
    q: Array
    v: Array
    rows: Rows
    M: Array
    h: Array

    @classmethod
    def of(cls, system: System, t: float, q: Array, v: Array, control: Array | None, rows: Rows | None = None) -> Place:
        """Ask a system what it says at a state; its rows may be known."""
        at_once = getattr(system, "rows_mass_and_force", None) if rows is None else None
        if at_once is not None and (said := at_once(t, q, v, control)) is not None:
            return Place(t, q, v, *said)
        rows = system.rows(t, q, v) if rows is None else rows
        return Place(t, q, v, rows, system.mass(q), system.force(t, q, v, control))


@dataclass(frozen=True, slots=True, eq=False)
class Instant(Place):
    """The motion at one instant of a phase.

    Attributes
    ----------
    a : Array, shape (nv,)
        Acceleration.
    r : tuple of Array
        Reaction of every row, one component per row of the constraint, N.
    push : Array, shape (nv,)
        Generalised force of all reactions.
    free : Array, shape (nv,)
        Acceleration without the reactions of what is held.
    sizes : (float, float, float)
        The largest force (generalised ones and reactions, N), and the largest of `a` and of `free`, m/s^2.
    shared : bool
        Whether redundant reactions have been put inside their cones.
    plenty : float
        Force, N: so far inside cones shared reactions are anywhere farther inside. inf where none are shared.
    side : float
        Sign of det G M^-1 B where contacts slide, 0 if unknown: where it changes reactions have a pole (Painleve).
    """

    a: Array
    r: tuple[Array, ...]
    push: Array
    free: Array
    sizes: tuple[float, float, float]
    shared: bool = False
    plenty: float = math.inf
    side: float = 0.0


def over_mass(M: Array, x: Array) -> Array:
    """Return M^-1 x for one or several columns; masses that do not change (read-only) may be diagonal."""
    diagonal: Array = M.diagonal()
    if not M.flags.writeable and np.count_nonzero(M) == len(M):
        found: Array = (x.T / diagonal).T
        return found
    return np.asarray(np.linalg.solve(M, x))


def largest(*arrays: Array) -> float:
    """Return the largest absolute value, 0 of nothing: for the few numbers of one instant."""
    return max([max(map(abs, one.tolist()), default=0.0) for one in arrays], default=0.0)


def dependent(held: Sequence[Array]) -> bool:
    """Whether rows depend on one another."""
    if sum(map(len, held)) < 2:
        return False
    G = directions_of(np.concatenate(held))
    if len(G) == 2:
        a, b, c = float(G[0] @ G[0]), float(G[1] @ G[1]), float(G[0] @ G[1])
        plain = a * b - c * c > PLAINLY * a * b
    else:  # n rows of length one: the least singular value is above sqrt(PLAINLY / e), the largest one below sqrt(n)
        gram = G @ G.T
        plain = float(np.linalg.det(gram)) > PLAINLY * math.prod(gram.diagonal().tolist())
    if plain:
        return False
    return rank_of(G) < len(G)


def side_of(W: Array) -> float:
    """Return the sign of a determinant, 0 where rounding decides."""
    if len(W) == 1:
        return float(np.sign(W[0, 0]))
    length = np.sqrt((W * W).sum(axis=1))
    sign, size = np.linalg.slogdet(W / np.where(length > 0.0, length, 1.0)[:, None])
    return float(sign) if size > math.log(FLAT) else 0.0
