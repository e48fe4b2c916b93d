"""What the segments of one run hand on, so that nothing is found twice: without it a segment finds the same.

Phases are kept by their modes. Where kernels serve a system its rows have the same laws at all states, so that a phase
differs from one with the same modes only in the rows at its beginning.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...mechanics.rows import Row
from ...mechanics.state import Print, State
from ...mechanics.system import System
from ..contact_modes import Mode, Modes
from .phase_integrator import Accuracy
from .smooth_phase import Phase
from .user_events import NamedEvent

if TYPE_CHECKING:
    from .clear_events import Start
    from .compiled.phase_tables import Kept
    from .rank_watch import Search
    from .segment import Segment

MOST = 64  # phases of a system; directions of slip in space hardly ever come back
Key = tuple[Mode, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entered:
    """A segment in a phase that begins where another one has ended: the numbers of the state there say the same."""

    state: Print
    control: Array | None
    accuracy: Accuracy
    segment: Segment

    def begins(self, state: State, control: Array | None, accuracy: Accuracy) -> bool:
        """Whether it begins at a state."""
        was = self.state.state
        if not self.state.shows(state):
            return False
        if was is state and self.control is control and self.accuracy is accuracy:
            return True
        if was.t != state.t or self.accuracy != accuracy or was.memory.keys() != state.memory.keys():
            return False
        pairs = [(self.control, control)]
        pairs += [(x, state.memory[key]) for key, x in was.memory.items()]
        return all(_same(*pair) for pair in pairs)


@dataclass(slots=True, eq=False)
class RunMemory:
    """What is known of one run.

    Attributes
    ----------
    entered : deque of Entered
        The phases that the last segments have entered as they ended.
    searches : deque of Search
        The last searches for configurations at which constraints lose rank.
    phases : dict
        By the modes of all rows, where they may be taken again.
    mechanism : list of MechanismTables or None
        Empty, or what kernels take joints and forces as.
    listed : list of System
        Empty, or the system with all contacts that it can have, or as it is where these depend on the pose.
    ahead : Start or None
        Where the motion goes on after the last clear event.
    stands : Print or None
        The state there.
    """

    entered: deque[Entered] = field(default_factory=lambda: deque(maxlen=2))
    searches: deque[Search] = field(default_factory=lambda: deque(maxlen=8))
    phases: dict[Key, Phase] = field(default_factory=dict)
    mechanism: Kept = field(default_factory=list)
    listed: list[System] = field(default_factory=list)
    ahead: Start | None = None
    stands: Print | None = None

    def whole(self, system: System, q: Array) -> System:
        """Return the system with all contacts that it can have, if they are always the same; its rows by kernels."""
        if not self.listed:
            from .compiled.kernel_rows import with_kernels

            asked = getattr(system, "listed", None)
            every: System | None = None if asked is None else asked(q)
            self.listed.append(system if every is None else with_kernels(every, self.mechanism))
        return self.listed[0]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What a segment is given.

    Attributes
    ----------
    given, whole : System
        As it was given, and with all contacts.
    control : Array or None
    accuracy : Accuracy
    start : State
    goal : float
        When the run ends, s: it may have many segments.
    events : tuple of NamedEvent
        Of the user.
    known : RunMemory
        Of its run.
    """

    given: System
    whole: System
    control: Array | None
    accuracy: Accuracy
    start: State
    goal: float
    events: tuple[NamedEvent, ...]
    known: RunMemory


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """What phases are made of besides modes.

    Attributes
    ----------
    system : System
        With the contacts that may act.
    control : Array or None
    known : dict or None
        Phases of this system; None where its rows may have other laws at other states.
    """

    system: System
    control: Array | None
    known: dict[Key, Phase] | None = None

    def phase(self, modes: Modes, rows: tuple[Row, ...]) -> Phase:
        """Return the phase with these modes that begins with these rows."""
        if self.known is None:
            return Phase(system=self.system, control=self.control, modes=modes, rows=rows)
        key = tuple(modes[row.id] for row in rows)
        last = self.known.get(key)
        if last is not None and last.control is self.control and last.serves(rows):
            return last
        phase = Phase(system=self.system, control=self.control, modes=modes, rows=rows)
        if len(self.known) >= MOST:
            self.known.clear()
        self.known[key] = phase
        return phase


def _same(x: Array | None, y: Array | None) -> bool:
    return x is y or (x is not None and y is not None and np.array_equal(x, y))
