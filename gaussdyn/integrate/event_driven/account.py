"""What a segment of an event-driven run has passed: what it is judged by, and what it hands to the record.

`flow` enters motion, impulses and work, `jump` impacts and changes; `event_stepper` makes a step of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...contact.manifolds import turns
from ...mechanics.collision.tangent_frames import turned_components
from ...mechanics.rows import Row
from ...mechanics.system import System
from ..impact.history import ImpactRecord
from ..mode_changes import Change
from ..recorded_arcs import Trail


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Account:
    """What happened on the way; whatever is entered makes another account.

    Attributes
    ----------
    changes : tuple of Change
    impulses : mapping of str to Array
        N s, by row id.
    acted : mapping of str to System
        With the contact that had an impulse last, by its id.
    work : (float, float, float)
        Of reactions, forces and projection, J.
    trails : tuple of Trail
        The motion between.
    impacts : tuple of ImpactRecord
    kept : float
        Fraction of all restitution that impacts kept, the least of them.
    """

    changes: tuple[Change, ...] = ()
    impulses: Mapping[str, Array] = field(default_factory=dict)
    acted: Mapping[str, System] = field(default_factory=dict)
    work: tuple[float, float, float] = (0.0, 0.0, 0.0)
    trails: tuple[Trail, ...] = ()
    impacts: tuple[ImpactRecord, ...] = ()
    kept: float = 1.0

    def noted(self, *changes: Change) -> Account:
        """Enter changes."""
        return replace(self, changes=(*self.changes, *changes))

    def passed(self, trail: Trail) -> Account:
        """Enter what was passed."""
        return replace(self, trails=(*self.trails, trail))

    def pushed(self, impulses: Mapping[str, Array], system: System) -> Account:
        """Enter impulses of rows of a system."""
        known = self.impulses
        added = {key: known[key] + p if key in known else np.array(p) for key, p in impulses.items()}
        return replace(self, impulses={**known, **added}, acted={**self.acted, **dict.fromkeys(impulses, system)})

    def worked(self, reactions: float = 0.0, forces: float = 0.0, projection: float = 0.0) -> Account:
        """Enter work, J."""
        a, b, c = self.work
        return replace(self, work=(a + reactions, b + forces, c + projection))

    def turned(self, system: System, rows: tuple[Row, ...]) -> Account:
        """Give impulses the tangents that their contacts have in a system now."""
        impulses, acted = dict(self.impulses), dict(self.acted)
        for row in rows:
            found = turns(acted[row.id], system, (row,)) if row.id in acted else {}
            if found:
                impulses[row.id] = turned_components(impulses[row.id], found[row.id])
                acted[row.id] = system
        return replace(self, impulses=impulses, acted=acted)

    def struck(self, record: ImpactRecord, energy: float) -> Account:
        """Enter a jump of the velocities, and the energy (J) that it took in."""
        there = replace(self, impacts=(*self.impacts, record), kept=min(self.kept, record.kept))
        return there.worked(reactions=energy)
