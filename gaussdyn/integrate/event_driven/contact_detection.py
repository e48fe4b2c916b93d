"""Which contacts a segment of an event-driven run lists, and what it knows of them when they are listed anew.

Contacts of shapes are looked for where a segment is, after every step of the integrator. Until then tangents of
contacts in space keep the chart that they have there; where it changes, slips and impulses change with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, rows_of
from ...mechanics.collision.tangent_frames import into_chart
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..contact_modes import Mode, Modes, completed
from ..dop853 import Piece
from ..impact.problem import one_sided
from .event_location import Crossing
from .feature_borders import going_on, keeping
from .phase_state import FLIGHT
from .smooth_phase import Phase

if TYPE_CHECKING:
    from .segment import Segment

NARROW = 1e-10  # s, times max(1, t): shorter steps are not repeated, neither for overlooked contacts nor for guesses
PASSING = 0.05  # of the time in which shapes pass each other: how often it is asked whether they overlap
Here = tuple[float, Array, Array]  # t, q, v


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The contacts that may act: a system with them, and its rows.

    Attributes
    ----------
    system : System
    rows : tuple of Row
    shorter : float
        Steps must not be longer, for features that would overlap without touching, s.
    """

    system: System
    rows: tuple[Row, ...]
    shorter: float = math.inf


def listing(segment: Segment, reach: float, held: Phase | None = None) -> tuple[Segment, Listed]:
    """List the contacts that may act within a time (s): with the closed ones of a phase, or what ends handed on."""
    whole, here, activation = segment.task.whole, (segment.t, segment.q, segment.v), segment.task.accuracy.activation
    found = listed(whole, here, reach, activation, {} if segment.phase is None else segment.phase.modes)
    found = looking_on(whole, found, here, activation) if held is None else kept(held, found, here, activation)
    pace = segment.pace
    pace = replace(pace, h=found.shorter) if found.shorter < pace.h else pace
    return replace(segment, system=found.system, pace=pace), found


def listed_anew(
    segment: Segment, phase: Phase, reach: float, held: Phase | None = None
) -> tuple[Segment, Phase]:  # fmt: skip
    """Return a phase with the contacts of shapes that may act within a time, and the impulses in their tangents."""
    if phase.system is segment.task.whole:
        return segment, phase
    segment, found = listing(segment, reach, held)
    return segment.noting(segment.account.turned(found.system, found.rows)), with_contacts(phase, found)


def overlooks(segment: Segment, phase: Phase, piece: Piece, found: Crossing | None) -> bool:
    """Whether shapes overlap in a step, or before an event in it, where its own features are open or not there.

    A crossing of edges is a point of one of them, found at the beginning of a step; by its end it has moved.
    """
    whole = segment.task.whole
    if phase.system is whole or piece.h <= NARROW * max(1.0, abs(segment.t)):
        return False
    known = {row.id for row in phase.rows if phase.modes[row.id].closed}

    def overlaps(t: float, y: Array) -> dict[str, float]:
        """Return the gaps below zero of shapes that overlap with features that are not known."""
        q, v = segment.parts(y)
        rows = rows_of(whole.near(t, q, v, 0.0), t, q, v)
        return {row.id: row.gap for row in rows if row.id not in known and one_sided(row) and row.gap < -FLIGHT}

    end = piece.t_end if found is None else found.t
    deep = overlaps(end, piece.end if found is None else piece.at(end))
    looks = _looks(segment, phase, piece, end)
    between = np.linspace(piece.t, end, looks + 1)[1:-1].tolist() if not deep else ()
    for t in between:
        deep |= overlaps(t, piece.at(t))
    before = overlaps(piece.t, piece.y) if deep else {}
    return any(gap < before.get(key, 0.0) - FLIGHT for key, gap in deep.items())


def _looks(segment: Segment, phase: Phase, piece: Piece, end: float) -> int:
    """Return into how many parts a step is cut so that shapes cannot pass through each other in one of them."""
    transit = getattr(segment.task.whole, "transit", None)
    if transit is None or not any(guard.kind == "touchdown" for guard in phase.guards):
        return 1
    quickest = float(min(transit(*segment.parts(y), end - piece.t) for y in (piece.y, piece.end)))
    return math.ceil((end - piece.t) / (PASSING * quickest))


def listed(whole: System, here: Here, reach: float, activation: Activation, known: Modes) -> Listed:
    """Find the contacts of a whole system that may act within a time; `known` are the modes so far.

    Features of shapes that meet later may overlap in the pose of now, where they do not mean a gap: then less far.
    The same where they have just crossed so: a segment that began with them would end at once, again and again.
    """
    shorter = math.inf
    while True:
        near = whole.near(*here, reach)
        rows = rows_of(near, *here)
        found = Listed(_steady(near, rows), rows, shorter)
        deep = {row.id for row in rows if one_sided(row) and _touches_now(row, activation, known)}
        if not deep or found.system is whole or reach == 0.0:
            return found
        if deep <= {row.id for row in rows_of(whole.near(*here, 0.0), *here)}:
            return found
        reach = 0.25 * reach if reach > NARROW else 0.0
        shorter = reach or shorter


def looking_on(whole: System, found: Listed, here: Here, activation: Activation) -> Listed:
    """Return the features that shapes touch with from now on, where others end here."""
    if found.system is whole:
        return found
    system = going_on(whole, found.system, found.rows, *here, activation.gap)
    return found if system is found.system else _taken(found, system, here)


def kept(phase: Phase, found: Listed, here: Here, activation: Activation) -> Listed:
    """Return the contacts found with the closed ones of a phase, which end where their own conditions say."""
    closed = [key for key, mode in phase.modes.items() if mode.closed]
    system = keeping(found.system, found.rows, phase.system, phase.modes, closed, here[1], activation.gap)
    return found if system is found.system else _taken(found, system, here)


def with_contacts(phase: Phase, found: Listed) -> Phase:
    """Return a phase with the contacts that are listed now."""
    turn = turns(phase.system, found.system, found.rows)
    modes = {key: _turned(mode, turn[key]) if key in turn else mode for key, mode in phase.modes.items()}
    return Phase(system=found.system, control=phase.control, modes=completed(found.rows, modes), rows=found.rows)


def turns(old: System, new: System, rows: tuple[Row, ...]) -> dict[str, Array]:
    """Return what turns tangential components of the contacts whose chart is another one now, by id."""
    was, now = _charts(old), _charts(new)
    return {
        row.id: into_chart(row.frame[0], now[row.id]) for row in rows
        if row.frame is not None and row.id in now and was.get(row.id, now[row.id]) != now[row.id]
    }  # fmt: skip


def _taken(found: Listed, system: System, here: Here) -> Listed:
    system = _steady(system, rows_of(system, *here))
    return replace(found, system=system, rows=rows_of(system, *here))


def _touches_now(row: Row, closed: Activation, known: Modes) -> bool:
    """Whether a gap is below zero, or closes, or is closed: then its features have to be those that touch now."""
    least = -closed.speed if row.id in known and known[row.id].closed else closed.speed
    return row.gap < -closed.gap or (row.gap <= closed.gap and float(row.rate[0]) < least)


def _steady(system: System, rows: tuple[Row, ...]) -> System:
    """Return the system with contacts in space that keep the chart of their tangents, and their place on an edge."""
    return system.steady(rows) if hasattr(system, "steady") else system


def _charts(system: System) -> Mapping[str, int]:
    return getattr(system, "charts", {})


def _turned(mode: Mode, Q: Array) -> Mode:
    """Return a mode with its directions turned."""
    slip, roll = (tuple((Q @ e).tolist()) if len(e) == 2 else e for e in (mode.slip, mode.roll))
    return replace(mode, slip=slip, roll=roll)
