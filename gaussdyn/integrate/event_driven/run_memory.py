"""What the segments of one run hand on, so that nothing is found twice: without it a segment finds the same.

Phases are kept by their modes. Where kernels serve a system its rows have the same laws at all states, so that a phase
differs from one with the same modes only in the rows at its beginning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...arrays import Array
from ...mechanics.rows import Row
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.system import System
from ..contact_modes import Mode, Modes
from .smooth_phase import Phase

if TYPE_CHECKING:
    from .compiled.phase_tables import Kept
    from .rank_watch import Search
    from .segment import Segment

MOST = 64  # phases of a system; directions of slip in space hardly ever come back
Key = tuple[Mode, ...]


@dataclass(slots=True, eq=False)
class RunMemory:
    """What is known of one run.

    Attributes
    ----------
    entered : deque of (mapping, Segment)
        The last segments that ended within a phase, by the memory of the state at their end.
    searches : deque of Search
        The last searches for configurations at which constraints lose rank.
    phases : dict
        By the modes of all rows, where they may be taken again.
    mechanism : list of MechanismTables or None
        Empty, or what kernels take joints and forces as.
    listed : list of System
        Empty, or the system with all contacts that it can have, or as it is where these depend on the pose.
    """

    entered: deque[tuple[Mapping[str, Array], Segment]] = field(default_factory=lambda: deque(maxlen=2))
    searches: deque[Search] = field(default_factory=lambda: deque(maxlen=8))
    phases: dict[Key, Phase] = field(default_factory=dict)
    mechanism: Kept = field(default_factory=list)
    listed: list[System] = field(default_factory=list)

    def whole(self, system: System, q: Array) -> System:
        """Return the system with all contacts that it can have, if they are always the same."""
        if not self.listed:
            every = system.listed(q) if isinstance(system, SpatialSystem) else None
            self.listed.append(system if every is None else every)
        return self.listed[0]


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
        if last is not None and last.control is self.control and (again := last.beginning(rows)) is not None:
            return again
        phase = Phase(system=self.system, control=self.control, modes=modes, rows=rows)
        if len(self.known) >= MOST:
            self.known.clear()
        self.known[key] = phase
        return phase
