"""The activation table: which constraints act at a state, and what motion of theirs the reactions have to obey.

Source: Grzesikiewicz, Jarzebowska, Wakulicz (1993), the sets built from contingent derivatives; on the velocity level
Moreau's time stepping with Newton's restitution. Both levels give the same shape: u = J x + w for every row that
acts, so that the admissible set and the block problem are built from one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from .._kept import kept
from .._show import brief
from ..arrays import Array
from ..mechanics.rows import Row
from .snapshot import Activation, LocalDynamics


class OmegaStatus(StrEnum):
    """Whether an admissible motion can be asked for at this state."""

    READY = "READY"
    IMPACT_NEEDED = "IMPACT_NEEDED"
    PENETRATING = "PENETRATING"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActiveRow:
    """A constraint that acts: its motion is u = J x + w, with x the acceleration or the velocity v+.

    Attributes
    ----------
    row : Row
    w : Array, shape (row.size,)
        Drift terms (acceleration level, m/s^2), or offset and restitution (velocity level, m/s).
    """

    row: Row
    w: Array

    @property
    def rough(self) -> bool:
        """Whether the constraint carries friction that can act."""
        return self.row.frictional and max(self.row.mu_s, self.row.mu_r, self.row.mu_t, self.row.cap_s) > 0.0

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActiveSet:
    """All rows that act, or the ids of those at which no acceleration exists."""

    status: OmegaStatus
    rows: tuple[ActiveRow, ...]
    at_fault: tuple[str, ...] = ()

    @property
    def rough(self) -> bool:
        """Whether any acting constraint carries friction."""
        return any(active.rough for active in self.rows)

    __repr__ = brief


@kept
def active_set(dynamics: LocalDynamics) -> ActiveSet:
    """Return the constraints that act at this state; PENETRATING takes precedence over IMPACT_NEEDED.

    Every stage of a solve asks this of the same snapshot, which keeps the answer.
    """
    if dynamics.level == "velocity":
        found = tuple(ActiveRow(row=row, w=_offset(dynamics, row)) for row in dynamics.rows if _near(dynamics, row))
        return ActiveSet(status=OmegaStatus.READY, rows=found)
    verdict = [_examine(row, dynamics.activation) for row in dynamics.rows]
    said = list(zip(dynamics.rows, verdict, strict=True))
    rows = tuple(ActiveRow(row=row, w=row.drift) for row, say in said if say == "active")
    for status in (OmegaStatus.PENETRATING, OmegaStatus.IMPACT_NEEDED):
        at_fault = tuple(row.id for row, say in said if say == status)
        if at_fault:
            return ActiveSet(status=status, rows=rows, at_fault=at_fault)
    return ActiveSet(status=OmegaStatus.READY, rows=rows)


def _examine(row: Row, activation: Activation) -> str:
    """Return free, active, IMPACT_NEEDED or PENETRATING: the table of the acceleration level, line by line."""
    if row.kind == "dry" or row.level == "acceleration":
        return "active"
    if row.level == "position":
        if _penetrates(row, activation):
            return OmegaStatus.PENETRATING
        if not activation.touches(row):
            return "free"
    rate = row.rate[:1] if row.frictional else row.rate
    if (rate < -activation.speed).any() or (row.bilateral and (rate > activation.speed).any()):
        return OmegaStatus.IMPACT_NEEDED
    return "active" if row.bilateral or (rate <= activation.speed).all() else "free"


def _penetrates(row: Row, activation: Activation) -> bool:
    """Return whether a gap is below zero, or that of a joint is off zero at all."""
    return row.gap < -activation.gap or (row.bilateral and row.gap > activation.gap)


def _near(dynamics: LocalDynamics, row: Row) -> bool:
    """Return whether a row is taken on the velocity level: closed, or closing within the step."""
    if row.kind == "dry" or row.level != "position" or row.bilateral or dynamics.activation.touches(row):
        return True
    if row.eps_n > 0:  # a bounce starts from a closed gap: its restitution is the one of the true impact speed
        return False
    ending = float(row.J[0] @ (dynamics.x_free - dynamics.v) + row.rate[0])
    return row.gap + 2.0 * dynamics.ahead * min(float(row.rate[0]), ending, 0.0) <= 0.0


def _offset(dynamics: LocalDynamics, row: Row) -> Array:
    """Return w of u = J v+ + w: explicit time dependence, restitution, and what is left of an open gap."""
    if row.level == "acceleration":  # C (v+ - v) - dt d; multiplied by dt, so that its reaction is an impulse
        return dynamics.dt * row.drift - row.J @ dynamics.v
    w: Array = row.rate - row.J @ dynamics.v
    if row.level == "velocity" or row.kind in ("bilateral", "dry"):
        return w
    closed = row.bilateral or dynamics.activation.touches(row)
    if not closed and dynamics.ahead > 0.0:  # an open gap may close, but not more, by the end of the step
        w[0] += row.gap / dynamics.ahead
    if closed:  # restitution
        w[0] += 0.0 if row.bilateral else row.eps_n * min(float(row.rate[0]), 0.0)
        w[1:3] += row.eps_t * row.rate[1:3]
    return w
