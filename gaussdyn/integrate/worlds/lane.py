"""The work space of one thread that advances worlds, and how states of a system come into a stock and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import IntArray
from ...mechanics.state import State
from ...mechanics.system import System
from ..time_stepping.core.advance import CompiledSystem
from ..time_stepping.core.outside.lazy_step import others_of, remembered
from ..time_stepping.core.records import FIXED, FOREST, PLANAR, PROGRAM, REACH, Span
from ..time_stepping.core.row_model import Built
from ..time_stepping.core.work_space import UNSEEN
from .world_kernels import Call, Stock, advance_worlds

if TYPE_CHECKING:
    from ..time_stepping.moreau_jean import MoreauJean


class Lane(CompiledSystem):
    """A compiled system with arrays of its own: one thread at a time may use it."""

    def __init__(self, system: System, parts: Built) -> None:
        from ..._jit import address_of, entry_of
        from ..time_stepping.core.step import take_step

        super().__init__(system, parts)
        self._advance, self._step_at = entry_of(advance_worlds), address_of(take_step)

    def stock(self, worlds: int) -> Stock:
        """Return room for so many worlds."""
        layout, nq, nv = self.parts.model.layout, self.system.nq, self.system.nv
        n, m, contacts = len(layout.kind), len(layout.reach), len(self.parts.model.carried.place)
        bodies = len(self.parts.model.shapes.radius) if layout.who == FOREST else 0
        placed = 1 + 13 * bodies if bodies and contacts else 0
        real = [np.zeros((worlds, k)) for k in (nq, nv, m, placed)]
        whole = [np.zeros((worlds, k), dtype=np.int64) for k in (n, 2, n + 1, 4 * contacts, contacts, 1)]
        return Stock._make([*real, *whole])

    @property
    def labels(self) -> IntArray:
        """Labels of the contacts of shapes that are listed, shape (c, 4)."""
        model = self.parts.model
        return model.touches.found if model.layout.who == PLANAR else model.shapes.label

    @property
    def controls(self) -> int:
        """Number of controls: those of actuators or of a program, else a force for every velocity."""
        model = self.parts.model
        if model.layout.who == FOREST:
            return len(model.forest.drives.control)
        given = len(model.program.control) if model.layout.who == PROGRAM else 0
        return given or int(self.system.nv)

    def put(self, stock: Stock, k: int, state: State, dt: float) -> bool:
        """Put a state into world k; return False if its contacts do not fit."""
        if not self._load(state, None, dt):
            return False
        layout, data, carried = self.parts.model.layout, self.parts.data, self.parts.model.carried
        stock.q[k], stock.v[k], stock.last[k], stock.now[k] = data.q, data.v, data.last, self.work.now
        stock.counts[k], stock.start[k], stock.place[k] = layout.counts[:FIXED], layout.start, carried.place
        stock.label[k], stock.placed[k] = self.labels.reshape(-1), -1.0
        self._disown()
        return True

    def state(self, stock: Stock, k: int, t: float, before: State) -> State:
        """Return world k as a state; what it remembers of other things than constraints is that of `before`."""
        layout, data, carried = self.parts.model.layout, self.parts.data, self.parts.model.carried
        data.q[:], data.v[:], data.last[:], self.work.now[:] = stock.q[k], stock.v[k], stock.last[k], stock.now[k]
        layout.counts[:FIXED], layout.start[:], carried.place[:] = stock.counts[k], stock.start[k], stock.place[k]
        self.labels.reshape(-1)[:] = stock.label[k]
        ids = self.ids
        memory = {**others_of(before.memory, ids), **remembered(ids, layout.start, data.last)}
        found = State.trusted(t, data.q.copy(), data.v.copy(), memory)
        self._disown()
        return found

    def _disown(self) -> None:
        """Let the arrays be no world's: rows of contacts of shapes in them are others than those that are listed."""
        self._last, self.parts.model.carried.place[:] = None, -1
        self.parts.model.shapes.numbers[REACH : REACH + 1] = -1.0

    def advance_worlds(self, stock: Any, call: Call) -> int:
        """Take worlds through the steps; return how many could not: `taken` of the held `Stock` tells which."""
        self.work.course[UNSEEN] = 1
        return int(self._advance(self._step_at, *self._sim, stock, call))


def rules_of(stepper: MoreauJean) -> Span:
    """Return what all steps of a stepper share."""
    active = stepper.activation
    return Span(
        0.0, 0.0, 0.0, stepper.theta, active.gap, active.speed, stepper.tol, stepper.project, stepper.corrections
    )
