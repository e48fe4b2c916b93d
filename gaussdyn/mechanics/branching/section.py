"""A curve through the configuration space along a velocity, and the first point of it at which constraints lose rank.

With more than one degree of freedom directions across the velocity are held, so that a curve is left. Where the
points at which the rank is lost are a surface in the configuration space, a motion that meets it and the curve along
its velocity both pass through it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..rows import Row
from ..system import System
from .chart import Chart, chart_around
from .configuration_space import RANK, ConfigurationSpace
from .curve import singular_places

LENGTH = 0.5  # half width of a piece of the curve at the most, m or rad
PIECES = 4  # at the most, one after the other
BEHIND = 1e-6  # of the half width: a point so near is where the curve begins
LOST = 1e-6  # of the smallest singular value where the curve begins
SLANT = 1e-6  # relative: how far a velocity may be from the kernel of J
INVOLVED = 1e-6  # of the largest entry of a null vector


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankLoss:
    """A configuration at which bilateral constraints lose rank.

    Attributes
    ----------
    q : Array, shape (nq,)
    length : float
        Half width of the piece of the curve on which it was found: a length over which the mechanism changes, m or rad.
    rank, usual : int
        Of J there, and beside it.
    certain : bool
        Whether the motion comes there: with more than one degree of freedom it comes near.
    ids : tuple of str
        The constraints that depend on each other there.
    """

    q: Array
    length: float
    rank: int
    usual: int
    certain: bool
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Section(ConfigurationSpace):
    """The bilateral position constraints, and as many further equations as leave a curve through a configuration.

    Attributes
    ----------
    origin : Array, shape (nq,)
    across : Array, shape (e, nv)
        Directions that are held, as velocities at the origin.
    """

    origin: Array
    across: Array
    _back: Array = field(init=False)  # from rates of the coordinates at the origin to velocities

    def __post_init__(self) -> None:
        object.__setattr__(self, "_back", self.across @ np.linalg.pinv(_rates(self.system, self.origin)))

    def rows(self, q: Array, v: Array | None = None) -> list[Row]:
        """Return the constraints at (q, v): bilateral ones on positions."""
        return position_rows(self.system, self.t, q, v)

    def gaps(self, q: Array) -> Array:
        """Return phi and how far q is across, shape (m + e,)."""
        return self.both(q)[0]

    def both(self, q: Array) -> tuple[Array, Array]:
        """Return the same, and the derivative, shape (m + e, nv)."""
        rows = self.rows(q)
        gaps, J = np.array([row.gap for row in rows]), np.array([row.J[0] for row in rows])
        if not len(self.across):
            return gaps, J
        turned = self._back @ _rates(self.system, q)
        return np.concatenate([gaps, self._back @ (q - self.origin)]), np.vstack([J, turned])


def position_rows(system: System, t: float, q: Array, v: Array | None = None) -> list[Row]:
    """Return the bilateral position constraints of a system at (t, q, v); by default at rest."""
    v = np.zeros(system.nv) if v is None else v
    return [row for row in system.rows(t, q, v) if row.bilateral and row.level == "position"]


def involved(ids: tuple[str, ...], N: Array, least: float = INVOLVED) -> tuple[str, ...]:
    """Return the constraints, shape (m,), that null vectors combine, shape (m, c), by more than `least` of the most."""
    size = np.abs(N).max(axis=1)
    return tuple(key for key, one in zip(ids, size > least * size.max(), strict=True) if one)


def rank_loss_ahead(system: System, t: float, q: Array, v: Array, reach: float) -> tuple[RankLoss | None, float]:
    """Return where constraints lose rank next along a velocity, if they do, and how far that has been looked for.

    Parameters
    ----------
    reach : float
        How far to look at least, m or rad; a little further is looked where the curve is smooth.

    Returns
    -------
    RankLoss or None, float
        The distance is zero where constraints move by themselves, and where the curve cannot be followed.
    """
    rows = position_rows(system, t, q)
    speed = float(np.linalg.norm(v))
    J = np.array([row.J[0] for row in rows])
    _, s, Vt = np.linalg.svd(J)
    usual = int((s > RANK * s[0]).sum())
    if speed == 0.0 or float(np.abs(J @ v).max()) > SLANT * speed * float(s[0]):
        return None, 0.0
    along = Vt[usual:] @ v
    across = np.linalg.svd((along / np.linalg.norm(along))[None])[2][1:] @ Vt[usual:]
    ids = tuple(row.id for row in rows)
    space = Section(system=system, t=t, ids=ids, origin=q, across=across)
    seen, tangent, place = 0.0, v / speed, q
    for _ in range(PIECES):
        try:
            chart = chart_around(space, place, tangent, LENGTH)
        except InputError:
            break
        for p in singular_places(chart):
            if p > BEHIND * chart.half and (found := _loss(space, chart, p, (usual, float(s[usual - 1])))) is not None:
                return found, seen + p
        seen += chart.high
        if seen >= reach:
            break
        place, tangent, _ = chart.at(chart.high)
    return None, seen


def _loss(space: Section, chart: Chart, p: float, beside: tuple[int, float]) -> RankLoss | None:
    """Return what is lost at p of a chart; None where only directions that are held lie along the curve."""
    usual, least = beside
    q, _, _ = chart.at(p)
    U, s, _ = np.linalg.svd(np.array([row.J[0] for row in space.rows(q)]))
    rank = int((s > LOST * least).sum())
    if rank >= usual:
        return None
    ids = involved(space.ids, U[:, rank:])
    return RankLoss(q=q, length=chart.half, rank=rank, usual=usual, certain=not len(space.across), ids=ids)


def _rates(system: System, q: Array) -> Array:
    """Return the matrix, shape (nq, nv), from velocities to rates of the coordinates."""
    if system.nq == system.nv:
        return np.eye(system.nv)
    return np.array([system.qdot(q, e) for e in np.eye(system.nv)]).T
