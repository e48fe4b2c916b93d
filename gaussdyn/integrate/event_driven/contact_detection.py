"""The contacts of shapes in a segment of an event-driven run: listed where it is, after every step of the integrator.

Which contacts count, and where they end, is the business of the shapes (`contact.manifolds`); here the segment and its
phase take them over. Until they are listed anew tangents of contacts in space keep the chart that they have there;
where it changes, slips and impulses change with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...contact.manifolds import NARROW, Here, Known, Manifolds, manifolds_at, overlaps, passing_time, touching, turns
from ..contact_modes import Mode, completed
from ..dop853 import Piece
from .event_location import Crossing
from .phase_state import FLIGHT
from .segment import Segment
from .smooth_phase import Phase

PASSING = 0.05  # of the time in which shapes pass each other: how often it is asked whether they overlap


def listing(segment: Segment, reach: float, held: Phase | None = None) -> tuple[Segment, Manifolds]:
    """List the contacts that may act within a time (s): with the closed ones of a phase, or what ends handed on."""
    task, here = segment.task, Here(segment.t, segment.q, segment.v)
    known = None if held is None else Known(held.system, held.modes, _closed(held))
    closed = () if segment.phase is None else _closed(segment.phase)
    found = manifolds_at(task.whole, here, reach, task.accuracy.activation, closed, known)
    pace = segment.pace
    pace = replace(pace, h=found.shorter) if found.shorter < (pace.h or math.inf) else pace
    return replace(segment, system=found.system, pace=pace), found


def listed_anew(
    segment: Segment, phase: Phase, reach: float, held: Phase | None = None
) -> tuple[Segment, Phase]:  # fmt: skip
    """Return a phase with the contacts of shapes that may act within a time, and the impulses in their tangents."""
    if phase.system is segment.task.whole:
        return segment, phase
    segment, found = listing(segment, reach, held)
    system, rows = found.system, found.rows
    turn = turns(phase.system, system, rows)
    modes = {key: _turned(mode, turn[key]) if key in turn else mode for key, mode in phase.modes.items()}
    phase = Phase(system=system, control=phase.control, modes=completed(rows, modes), rows=rows)
    return segment.noting(segment.account.turned(system, rows)), phase


def overlooks(segment: Segment, phase: Phase, piece: Piece, found: Crossing | None) -> bool:
    """Whether shapes overlap in a step, or before an event in it, with features that are open or not there in it.

    A crossing of edges is a point of one of them, found at the beginning of a step; by its end it has moved.
    """
    whole, known = segment.task.whole, _closed(phase)
    if phase.system is whole or piece.h <= NARROW * max(1.0, abs(segment.t)):
        return False

    def deep(points: Sequence[tuple[float, Array]]) -> Mapping[str, float]:
        """Return the gaps below zero at points (t, y) of the integrator."""
        places = np.array([segment.parts(y)[0] for _, y in points])
        under: dict[str, float] = {}
        for k in touching(whole, places, known):
            t, y = points[k]
            under |= overlaps(whole, Here(t, *segment.parts(y)), known, FLIGHT)
        return under

    end, last = (piece.t_end, piece.end) if found is None else (found.t, piece.at(found.t))
    under, looks = deep([(end, last)]), _looks(segment, phase, piece, end)
    if not under and looks > 1:
        under = deep([(t, piece.at(t)) for t in np.linspace(piece.t, end, looks + 1)[1:-1].tolist()])
    before = deep([(piece.t, piece.y)]) if under else {}
    return any(gap < before.get(key, 0.0) - FLIGHT for key, gap in under.items())


def _looks(segment: Segment, phase: Phase, piece: Piece, end: float) -> int:
    """Return into how many parts a step is cut so that shapes cannot pass through each other in one of them."""
    if not any(guard.kind == "touchdown" for guard in phase.guards):
        return 1
    span = end - piece.t
    quickest = min(passing_time(segment.task.whole, *segment.parts(y), span) for y in (piece.y, piece.end))
    return max(1, math.ceil(span / (PASSING * quickest)))


def _closed(phase: Phase) -> frozenset[str]:
    return frozenset(key for key, mode in phase.modes.items() if mode.closed)


def _turned(mode: Mode, Q: Array) -> Mode:
    """Return a mode with its directions turned."""
    slip, roll = (tuple((Q @ e).tolist()) if len(e) == 2 else e for e in (mode.slip, mode.roll))
    return replace(mode, slip=slip, roll=roll)
