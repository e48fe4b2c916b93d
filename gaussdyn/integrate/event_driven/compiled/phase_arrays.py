"""Phases of planar systems for the kernels: many steps without events in one call, and cheap looks at conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ....arrays import Array, IntArray
from ....mechanics.planar.system import PlanarSystem
from ....mechanics.planar.tables import PlanarTables, tables_of
from ....mechanics.rows import Row
from ...contact_modes import Mode, parts_of, rough
from ...recorded_arcs import LOBATTO, Trail
from ..dop853 import A_EXTRA, C_EXTRA, ERRORS, STAGES, A, B, C, D, Piece
from ..event_location import Seen
from ..guards import Guard
from ..phase_integrator import Accuracy
from ..smooth_phase import Phase, trail_of

WIDTH = STAGES + 4
TABLE = np.zeros((24, WIDTH))
for _s in range(1, STAGES):
    TABLE[_s, :_s] = A[_s]
for _s, _row in enumerate(A_EXTRA):
    TABLE[STAGES + 1 + _s, : len(_row)] = _row
TABLE[16, :STAGES], TABLE[17:21] = B, D
TABLE[21:23, : STAGES + 1] = ERRORS
TABLE[23, :STAGES], TABLE[23, STAGES + 1 :] = C[:STAGES], C_EXTRA
KINDS = {"touchdown": 0, "lift_off": 1, "turn": 2, "slip": 3, "stop": 4}
DRY_SLIP = 5
UNITS = {"place": 0, "speed": 1, "force": 2}
AT_ONCE = 64  # steps in one call: a kernel hears no Ctrl-C, and only the caller knows how long steps have been


@dataclass(frozen=True, slots=True, eq=False)
class Sailed:
    """What a call of the kernels came to.

    Attributes
    ----------
    held_is_off : bool
        Whether gaps or rates that are held have to be put back.
    taken, stiff : int
        Steps taken; how many of the last ones stability bounds.
    t, h : float
        Where it is, and the length of the next step, s.
    y : Array
        There.
    piece : Piece or None
        The step, not taken, in which a condition may fall below zero.
    crossing : (int, float) or None
        The number of the guard that does so first, and when, if that is clear.
    trail : Trail
        What was passed.
    """

    held_is_off: bool
    taken: int
    stiff: int
    t: float
    h: float
    y: Array
    piece: Piece | None
    crossing: tuple[int, float] | None
    trail: Trail


@dataclass(slots=True, eq=False)
class CompiledPhase:
    """One phase in the arrays of the kernels.

    Attributes
    ----------
    phase : Phase
    accuracy : Accuracy
    held : int
        Number of rows that are held.
    size : int
        Length of y = (q, v, impulses, two works).
    system, work : tuple of arrays
        What is handed to every kernel: the tables, and room to work in.
    offset, noise : Array, shape (w,)
        Of the conditions, see `event_location.Search`; `noise` at the beginning of the last step.
    """

    phase: Phase
    accuracy: Accuracy
    held: int
    size: int
    guards: IntArray
    limits: Array
    system: tuple[IntArray, Array, IntArray, Array, Array]
    work: tuple[Array, Array, Array, Array]
    offset: Array
    noise: Array
    seen: Array
    control: Array = field(default_factory=lambda: np.zeros(13))

    @classmethod
    def of(cls, phase: Phase, accuracy: Accuracy) -> CompiledPhase | None:
        """Return a phase for the kernels; None if they cannot serve it."""
        system = phase.system
        tables = tables_of(system) if isinstance(system, PlanarSystem) and not phase.redundant else None
        if tables is None:
            return None
        n, w, nv, held = len(phase.rows), len(phase.guards), system.nv, phase.size
        work = np.zeros((2 * n + held + 3, nv)), np.zeros((n, 7)), np.zeros((held, held + 1)), np.zeros(4)
        guards, limits = np.zeros((w, 4), dtype=np.int64), np.zeros((w, 2))
        for k, guard in enumerate(phase.guards):
            row = phase.rows[guard.k]
            _enter_watch(guard, row, phase.modes[row.id], guards[k], limits[k])
        return cls(
            phase, accuracy, held, 2 * nv + sum(row.size for row in phase.rows) + 2, guards, limits,
            _entered(phase, tables), work, np.zeros(w), np.zeros(w), np.zeros((8, w)),
        )  # fmt: skip

    def sail(self, t: float, q: Array, v: Array, h: float, end: float, stiff: int) -> Sailed:
        """Take steps until something may happen, at most to `end`."""
        from .phase_loop import EVENT, HOLD, cruise

        control, y = self.control, np.zeros(self.size)
        nq, n = len(q), len(q) + len(v)
        y[:nq], y[nq:n] = q, v
        control[:] = t, h, end, self.accuracy.rtol, self.accuracy.atol, stiff, 0.0, 0.0, 0.0, 0.0, h, -1.0, 0.0
        trail = np.empty((AT_ONCE, 2 + len(LOBATTO) * (self.size - 2)))
        K, F, last = np.empty((WIDTH + 1, self.size)), np.empty((7, self.size)), np.empty(self.size)
        code = cruise(
            control, y, K, TABLE, last, F, np.empty(self.size), self.offset, self.noise, self.seen, trail,
            self.guards, self.limits, self.held, *self.system, *self.work,
        )  # fmt: skip
        now, length, _, _, _, bounded, _, error, bend, taken, ahead, which, when = control.tolist()
        piece = Piece(self.slope, now, length, y, last, K[:WIDTH], error, bend, F) if code == EVENT else None
        crossing = (int(which), when) if code == EVENT and which >= 0.0 else None
        if piece is not None:
            piece.samples = partial(self.samples, piece)
        passed = self._trail(trail[: int(taken)].copy())
        return Sailed(code == HOLD, int(taken), int(bounded), now, ahead, y, piece, crossing, passed)

    def _trail(self, lines: Array) -> Trail:
        """Return what `keep_samples` has written, a line for every step."""
        samples, states = lines[:, 2:].reshape(len(lines), len(LOBATTO), self.size - 2), 2 * self.phase.system.nv
        return trail_of(self.phase, lines[:, 0], lines[:, 1], samples[:, :, :states], samples[:, :, states:])

    def samples(self, piece: Piece, t: float, y: Array) -> Trail:
        """Return the way from the beginning of a step to a time and the state there.

        Raises
        ------
        LinAlgError
            At a pole of the reactions.
        """
        from .dop853 import H, T
        from .phase_loop import keep_samples

        line, control = np.empty((1, 2 + len(LOBATTO) * (self.size - 2))), self.control
        control[T], control[H] = piece.t, piece.h
        K = np.empty((WIDTH + 1, self.size))
        K[:WIDTH] = piece.K
        if keep_samples(
            control, piece.y, K, y, piece.dense(), np.empty(self.size), line[0], t - piece.t, self.held, *self.system,
            *self.work,
        ):  # fmt: skip
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return self._trail(line)

    def ends(self, piece: Piece) -> tuple[Seen, Seen]:
        """Return the conditions at the beginning and at the end of the step that `sail` returned."""
        g = self.seen.copy()
        return Seen(piece.t, g[0], g[1]), Seen(piece.t_end, g[4], g[5])

    def look_within(self, piece: Piece, t: float) -> Seen:
        """Return the conditions within the step that `sail` returned."""
        from .dop853 import between

        y = np.empty(self.size)
        between(piece.y, piece.dense(), piece.t, piece.h, t, y)
        return self.look(t, y)

    def slope(self, t: float, y: Array) -> Array:
        """Return the rates of y.

        Raises
        ------
        LinAlgError
            At a pole of the reactions.
        """
        from .phase_rhs import slope

        out = np.empty(self.size)
        if slope(t, y, self.held, *self.system, *self.work, out):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return out

    def look(self, t: float, y: Array) -> Seen:
        """Return the conditions at a state."""
        from .phase_rhs import look_at

        g, rate = np.empty(len(self.guards)), np.empty(len(self.guards))
        if look_at(
            t, y, self.guards, self.limits, self.held, *self.system, *self.work, np.empty(self.size), g, rate
        ):  # fmt: skip
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return Seen(t, g, rate)

    def take(self, t: float, y: Array, first: Array, h: float) -> Piece:
        """Return one step of length h (s), whatever its error."""
        from .dop853 import BEND, ERROR, H, T, take_step

        K, end, control = np.empty((WIDTH, self.size)), np.empty(self.size), self.control
        K[0], control[T], control[H] = first, t, h
        if take_step(control, y, K, TABLE, end, self.held, *self.system, *self.work):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return Piece(self.slope, t, h, y, end, K, float(control[ERROR]), float(control[BEND]))


def _entered(phase: Phase, tables: PlanarTables) -> tuple[IntArray, Array, IntArray, Array, Array]:
    """Return the tables of a system with the modes of a phase and its control."""
    from ....mechanics.planar.row_kernels import HELD
    from .phase_rhs import CLOSED, FRICTION, SLIPS

    numbers, data, bodies = tables.numbers.copy(), tables.data.copy(), tables.bodies
    numbers[:, HELD : HELD + 2] = -1
    for part in phase.parts:
        row, k = phase.rows[part.k], part.k
        for at, component in enumerate(part.held, start=part.at.start):
            numbers[k, HELD + component] = at
        numbers[k, CLOSED] = row.kind != "dry"
        for _, _, e in part.slips:
            numbers[k, SLIPS] = 2 if part.dry else 1
            data[k, FRICTION] = (row.cap if part.dry else part.sign * row.mu) * e[0]
    if phase.control is not None:
        bodies = bodies.copy()
        bodies[4] = phase.control
    return numbers, data, tables.forces, tables.strength, bodies


def _enter_watch(guard: Guard, row: Row, mode: Mode, numbers: IntArray, limits: Array) -> None:
    dry = row.kind == "dry"
    kind = DRY_SLIP if dry and guard.kind == "slip" else KINDS[guard.kind]
    component = parts_of(row)[0].start if rough(row) else 0
    numbers[:] = kind, guard.k, component, UNITS[guard.unit]
    sign = mode.slip[0] if guard.kind == "stop" else mode.sign
    limits[:] = sign, row.cap_s if dry else row.mu_s
