"""Which contacts a segment of an event-driven run lists, and what it knows of them when they are listed anew.

Contacts of shapes are looked for where a segment is, after every step of the integrator. Until then tangents of
contacts in space keep the chart that they have there; where it changes, slips and impulses change with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...mechanics.collision.tangent_frames import into_chart, turned_components
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..contact_modes import Mode, completed
from ..impact.problem import one_sided
from .feature_borders import going_on, keeping
from .jump import Jump
from .smooth_phase import Phase

NARROW = 1e-10  # s, times max(1, t): shorter steps are not repeated, neither for overlooked contacts nor for guesses


@dataclass(slots=True, kw_only=True, eq=False)
class ContactDetection(Jump):
    """A motion that lists the contacts that may act."""

    def _look_around(self, reach: float) -> tuple[Row, ...]:
        """Find the contacts that may act within a time, and return the rows.

        Features of shapes that meet later may overlap in the pose of now, where they do not mean a gap: then less far.
        The same where they have just crossed so: a segment that began with them would end at once, again and again.
        """
        while True:
            system = self.task.whole.near(self.t, self.q, self.v, reach)
            rows = rows_of(system, self.t, self.q, self.v)
            self.system = _steady(system, rows)
            deep = {row.id for row in rows if one_sided(row) and self._touches_now(row)}
            if not deep or self.system is self.task.whole or reach == 0.0:
                return rows
            here = rows_of(self.task.whole.near(self.t, self.q, self.v, 0.0), self.t, self.q, self.v)
            if deep <= {row.id for row in here}:
                return rows
            reach = 0.25 * reach if reach > NARROW else 0.0
            self.pace = replace(self.pace, h=min(self.pace.h, reach)) if reach else self.pace

    def _looking_on(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Take the features that shapes touch with from now on, where others end here, and return the rows."""
        if self.system is self.task.whole:
            return rows
        here = self.t, self.q, self.v
        system = going_on(self.task.whole, self.system, rows, *here, self.task.accuracy.activation.gap)
        return rows if system is self.system else self._taken(system)

    def _kept(self, phase: Phase, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Keep the closed contacts of a phase, which end where their own conditions say, and return the rows."""
        closed = [key for key, mode in phase.modes.items() if mode.closed]
        gap = self.task.accuracy.activation.gap
        system = keeping(self.system, rows, phase.system, phase.modes, closed, self.q, gap)
        return rows if system is self.system else self._taken(system)

    def _taken(self, system: System) -> tuple[Row, ...]:
        self.system = _steady(system, rows_of(system, self.t, self.q, self.v))
        return rows_of(self.system, self.t, self.q, self.v)

    def _touches_now(self, row: Row) -> bool:
        """Whether a gap is below zero, or closes, or is closed: then its features have to be those that touch now."""
        closed = self.task.accuracy.activation
        held = self.phase is not None and row.id in self.phase.modes and self.phase.modes[row.id].closed
        least = -closed.speed if held else closed.speed
        return row.gap < -closed.gap or (row.gap <= closed.gap and float(row.rate[0]) < least)

    def _seen(self, phase: Phase, reach: float = 0.0) -> Phase:
        """Return the phase with the contacts of shapes that are found where it is now, or may act within a time."""
        if phase.system is self.task.whole:
            return phase
        return self._with(phase, self._looking_on(self._look_around(reach)))

    def _with(self, phase: Phase, rows: tuple[Row, ...]) -> Phase:
        """Return the phase with the rows that have been listed now."""
        turns = _turns(phase.system, self.system, rows)
        modes = {key: _turned(mode, turns[key]) if key in turns else mode for key, mode in phase.modes.items()}
        self._turn_impulses(rows)
        return Phase(system=self.system, control=self.task.control, modes=completed(rows, modes), rows=rows)

    def _turn_impulses(self, rows: tuple[Row, ...]) -> None:
        """Give the impulses of this segment the tangents that their contacts have now."""
        for row in rows:
            turn = _turns(self.account.acted[row.id], self.system, (row,)) if row.id in self.account.acted else {}
            if turn:
                self.account.impulses[row.id] = turned_components(self.account.impulses[row.id], turn[row.id])
                self.account.acted[row.id] = self.system


def _steady(system: System, rows: tuple[Row, ...]) -> System:
    """Return the system with contacts in space that keep the chart of their tangents, and their place on an edge."""
    return system.steady(rows) if hasattr(system, "steady") else system


def _charts(system: System) -> Mapping[str, int]:
    return getattr(system, "charts", {})


def _turns(old: System, new: System, rows: tuple[Row, ...]) -> dict[str, Array]:
    """Return what turns tangential components of the contacts whose chart is another one now, by id."""
    was, now = _charts(old), _charts(new)
    return {
        row.id: into_chart(row.frame[0], now[row.id]) for row in rows
        if row.frame is not None and row.id in now and was.get(row.id, now[row.id]) != now[row.id]
    }  # fmt: skip


def _turned(mode: Mode, Q: Array) -> Mode:
    """Return a mode with its directions turned."""
    slip, roll = (tuple((Q @ e).tolist()) if len(e) == 2 else e for e in (mode.slip, mode.roll))
    return replace(mode, slip=slip, roll=roll)
