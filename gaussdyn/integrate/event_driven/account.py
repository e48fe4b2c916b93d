"""What a segment of an event-driven run has passed: what it is judged by, and what it hands to the record."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Array
from ...mechanics.collision.tangent_frames import turned_components
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..impact.history import ImpactRecord
from ..mode_changes import Change
from ..recorded_arcs import Trail
from .contact_detection import turns


@dataclass(slots=True, kw_only=True, eq=False)
class Account:
    """What happened on the way, entered as it happens.

    Attributes
    ----------
    changes : list of Change
    impulses : dict of str to Array
        N s, by row id.
    acted : dict of str to System
        With the contact that had an impulse last, by its id.
    work : list of float
        Of reactions, forces and projection, J.
    trails : list of Trail
        The motion between.
    impacts : list of ImpactRecord
    kept : float
        Fraction of all restitution that impacts kept, the least of them.
    """

    changes: list[Change] = field(default_factory=list)
    impulses: dict[str, Array] = field(default_factory=dict)
    acted: dict[str, System] = field(default_factory=dict)
    work: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    trails: list[Trail] = field(default_factory=list)
    impacts: list[ImpactRecord] = field(default_factory=list)
    kept: float = 1.0

    def push(self, key: str, impulse: Array, system: System) -> None:
        """Enter an impulse of a row of a system."""
        self.impulses[key] = self.impulses[key] + impulse if key in self.impulses else np.array(impulse)
        self.acted[key] = system

    def turn(self, system: System, rows: tuple[Row, ...]) -> None:
        """Give impulses the tangents that their contacts have in a system now."""
        for row in rows:
            found = turns(self.acted[row.id], system, (row,)) if row.id in self.acted else {}
            if found:
                self.impulses[row.id] = turned_components(self.impulses[row.id], found[row.id])
                self.acted[row.id] = system

    def strike(self, record: ImpactRecord, energy: float) -> None:
        """Enter a jump of the velocities, and the energy (J) that it took in."""
        self.impacts.append(record)
        self.work[0] += energy
        self.kept = min(self.kept, record.kept)

    def copy(self) -> Account:
        """Return the account as it is now."""
        return Account(
            changes=self.changes.copy(), impulses=self.impulses.copy(), acted=self.acted.copy(), work=self.work.copy(),
            trails=self.trails.copy(), impacts=self.impacts.copy(), kept=self.kept,
        )  # fmt: skip
