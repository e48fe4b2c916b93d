"""Contacts that are on their way at an instant at which others touch: gaps that are open, however small they are.

What counts as closed is struck together. Contacts of one body need that: corners that land at one time do so up to
rounding, and gaps that are held drift. A contact that has nothing to do with those that touch, with no body between
them that could pass an impulse on, does not: it touches down at its own time, if only a microsecond later.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ...arrays import Array
from ...contact.coupled import coupled
from ...contact.snapshot import Activation
from ...mechanics.rows import Row
from ..contact_modes import OPEN, Modes
from ..impact.problem import one_sided
from .phase_state import Place, largest

ROUNDED = 1e-15  # m: rounding of a gap, times max(1, |q|)
LOCATED = 1e-12  # s, times max(1, t): up to this the time of an event is known


def parted(place: Place, known: Modes, landing: Collection[str], activation: Activation) -> Activation:
    """Return what counts as closed at an instant: no gap that is open and has nothing to do with those that touch.

    Parameters
    ----------
    known : mapping of str to Mode
        Of the phase before, as far as there was one.
    landing : collection of str
        Ids of the contacts that touch down here, or are found only here: others may have ended in their place.
    """
    small = [row for row in place.rows if one_sided(row) and activation.touches(row)]
    flying = {row.id for row in small if row.id not in landing and _flies(row, known, place, activation)}
    if not flying:
        return activation
    labels = sections(place.rows, place.M, activation)
    touched = {section for row in small if row.id not in flying for section in labels[row.id]}
    return replace(activation, aloft=frozenset(key for key in flying if not labels[key] & touched))


def _flies(row: Row, known: Modes, place: Place, activation: Activation) -> bool:
    """Whether a small gap is open for all that is known of it: it rises, or closes later than right now."""
    rate = float(row.rate[0])
    if known.get(row.id, OPEN).closed or abs(rate) <= activation.speed:
        return False
    return rate > 0.0 or row.gap > max(rounding(place.q), -rate * LOCATED * max(1.0, abs(place.t)))


def rounding(q: Array) -> float:
    """Return how far gaps are rounded, m."""
    return ROUNDED * max(1.0, largest(q))


def sections(rows: Sequence[Row], M: Array, activation: Activation) -> dict[str, frozenset[int]]:
    """Return, by row id, the parts of the system that a row acts on: impulses do not get from one to another.

    Bodies are in one part where something is between them that acts: joints, friction, gaps that are as good as closed.
    """
    acting = [row for row in rows if not one_sided(row) or activation.touches(row)]
    label = coupled(acting, M)
    return {row.id: frozenset(label[row.J.any(axis=0)].tolist()) for row in rows}
