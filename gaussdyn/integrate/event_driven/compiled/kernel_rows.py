"""A system of bodies in space, with all contacts that it can have, whose rows and forces kernels evaluate at once.

At an event the same few states are asked for rows and force by the impact, the modes that follow and the step that is
recorded: one call of a kernel answers all of them. The numbers are those of the kernels that integrate between events.
"""

from __future__ import annotations

from copy import copy
from dataclasses import fields
from typing import Any

import numpy as np

from ...._jit import Held
from ....arrays import Array, vector
from ....mechanics.rows import Row
from ....mechanics.spatial.system import SpatialSystem
from ....mechanics.system import System
from ...contact_modes import OPEN
from ..smooth_phase import Phase
from .phase_tables import Kept, mechanism_of, tables_of_phase
from .records import LOADS, SPATIAL


def with_kernels(system: System, known: Kept) -> System:
    """Return a system whose contacts are always the same with rows by kernels, itself where these cannot serve it.

    `known` see `tables_of_phase`.
    """
    if type(system) is not SpatialSystem or system.contacts.found is None:
        return system
    if not known:
        known.append(mechanism_of(system))
    if known[0] is None:
        return system
    q = np.zeros((len(system.bodies), 7))
    q[:, 3] = 1.0
    blanks = system.rows(0.0, q.ravel(), np.zeros(system.nv))
    phase = Phase(system=system, control=None, modes={row.id: OPEN for row in blanks}, rows=blanks)
    served = tables_of_phase(phase, known)
    if served.tables.who != SPATIAL:
        return system
    tables = served.tables
    made, point = object.__new__(KernelRows), np.zeros((len(system.contacts.blanks), 3))
    values = {one.name: getattr(system, one.name) for one in fields(system)}
    values |= {"_plain": system, "_blanks": blanks, "_held": Held(tables), "_point": point, "_last": (np.nan, q)}
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


class KernelRows(SpatialSystem):
    """See `with_kernels`; a copy of it is a plain system again, which may have other contacts."""

    __slots__ = ("_blanks", "_held", "_last", "_plain", "_point")
    _plain: SpatialSystem
    _blanks: tuple[Row, ...]
    _held: Any  # the tables of a phase in which everything is open
    _point: Array
    _last: tuple[float, Array]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how it is copied."""
        return copy, (self._plain,)

    def rows(self, t: float, q: Array, v: Array) -> tuple[Row, ...]:
        """Return every joint and every contact at (t, q, v), sorted by id."""
        self._ask(t, q, v)
        tables = self._held.value
        room, touches, n = tables.room, tables.touches, len(self._blanks)
        J, rate, drift = room.J.copy(), room.rate.copy(), room.drift.copy()
        if not (np.isfinite(J).all() and np.isfinite(rate).all() and np.isfinite(drift).all()):
            return self._plain.rows(t, q, v)  # it names the row
        frame, point, found = touches.frame[:, :3].copy(), self._point.copy(), []
        first, size, numbers = tables.start.tolist(), tables.size.tolist(), touches.joint.tolist()
        for k, blank, gap in zip(range(n), self._blanks, room.gap.tolist(), strict=True):
            part, c = slice(first[k], first[k] + size[k]), -1 - numbers[k]
            where = {"point": point[c], "frame": frame[c]} if c >= 0 else {}
            found.append(blank.but(gap=gap, J=J[part], rate=rate[part], drift=drift[part], **where))
        return tuple(found)

    def force(self, t: float, q: Array, v: Array, control: Array | None = None) -> Array:
        """Return gravity, -w x J w, the forces and `control`, as a plain system does."""
        self._ask(t, q, v)
        h: Array = self._held.value.room.V[LOADS].copy()
        return h if control is None else h + vector("control", control, self.nv)

    def move(self, q: Array, v: Array, dt: float) -> Array:
        """Return x + dt v and q (1, dt w / 2) scaled to length one, to the bit as a plain system does."""
        from .row_places import put_moved

        moved = np.empty(len(q))
        put_moved(np.ascontiguousarray(q), np.ascontiguousarray(v), dt, moved)
        return moved

    def _ask(self, t: float, q: Array, v: Array) -> None:
        """Have the kernel answer, unless this was the last question."""
        from .row_places import put_place

        y = np.concatenate((q, v))
        if t == self._last[0] and np.array_equal(y, self._last[1]):
            return
        put_place(self._held, t, y, self._point)
        object.__setattr__(self, "_last", (t, y))
