"""Phases for the kernels: many steps without events in one call, single steps, and cheap looks at conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ...._jit import Held
from ....arrays import Array
from ...recorded_arcs import LOBATTO, Trail
from ..dop853 import A_EXTRA, C_EXTRA, ERRORS, STAGES, A, B, C, D, Piece, local_error
from ..event_location import Seen
from ..phase_integrator import Accuracy
from ..smooth_phase import Phase, trail_of
from .phase_tables import Kept, tables_of_phase

WIDTH = STAGES + 4
TABLE = np.zeros((24, WIDTH))
for _s in range(1, STAGES):
    TABLE[_s, :_s] = A[_s]
for _s, _row in enumerate(A_EXTRA):
    TABLE[STAGES + 1 + _s, : len(_row)] = _row
TABLE[16, :STAGES], TABLE[17:21] = B, D
TABLE[21:23, : STAGES + 1] = ERRORS
TABLE[23, :STAGES], TABLE[23, STAGES + 1 :] = C[:STAGES], C_EXTRA
RTOL, ATOL, SIDE = 3, 4, 6  # entries of `control`, see `dop853`
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
    size : int
        Length of y = (q, v, impulses, two works).
    tables : Held
        The `PhaseTables`.
    offset, noise : Array, shape (w,)
        Of the conditions, see `event_location.Search`; `noise` at the beginning of the last step.
    """

    phase: Phase
    size: int
    tables: Any  # a `Held`, which kernels take for what it holds
    offset: Array
    noise: Array
    seen: Array
    control: Array = field(default_factory=lambda: np.zeros(13))

    @classmethod
    def of(cls, phase: Phase, accuracy: Accuracy, known: Kept | None = None) -> CompiledPhase | None:
        """Return a phase for the kernels, made once; None if they cannot serve it."""
        if not phase.compiled:
            phase.compiled.append(cls._made(phase, known))
        made = phase.compiled[0]
        if made is not None:
            made.control[RTOL], made.control[ATOL] = accuracy.rtol, accuracy.atol
        return made

    @classmethod
    def _made(cls, phase: Phase, known: Kept | None) -> CompiledPhase | None:
        tables = tables_of_phase(phase, known)
        if tables is None:
            return None
        w, size = len(phase.guards), tables.nq + tables.nv + sum(row.size for row in phase.rows) + 2
        return cls(phase, size, Held(tables), np.zeros(w), np.zeros(w), np.zeros((8, w)))

    @property
    def side(self) -> float:
        """Of the last state, see `Instant.side`."""
        return float(self.tables.value.room.info[0])

    @property
    def states(self) -> int:
        """Number of coordinates and velocities."""
        return self.phase.system.nq + self.phase.system.nv

    def sail(self, t: float, q: Array, v: Array, h: float, end: float, stiff: int) -> Sailed:
        """Take steps until something may happen, at most to `end`."""
        from .phase_loop import EVENT, HOLD, cruise

        control, y = self.control, np.zeros(self.size)
        nq, n = len(q), len(q) + len(v)
        y[:nq], y[nq:n] = q, v
        control[:RTOL], control[ATOL + 1 :] = (t, h, end), (stiff, 0.0, 0.0, 0.0, 0.0, h, -1.0, 0.0)
        trail = np.empty((AT_ONCE, 2 + len(LOBATTO) * (self.size - 2)))
        K, F, last = np.empty((WIDTH + 1, self.size)), np.empty((7, self.size)), np.empty(self.size)
        code = cruise(
            self.tables, control, y, K, TABLE, last, F, np.empty(self.size), self.offset, self.noise, self.seen, trail
        )
        now, length, _, _, _, bounded, _, error, bend, taken, ahead, which, when = control.tolist()
        piece = Piece(self.slope, now, length, y, last, K[:WIDTH], error, bend, F) if code == EVENT else None
        crossing = (int(which), when) if code == EVENT and which >= 0.0 else None
        if piece is not None:
            piece.samples = partial(self.samples, piece)
        passed = self._trail(trail[: int(taken)].copy())
        return Sailed(code == HOLD, int(taken), int(bounded), now, ahead, y, piece, crossing, passed)

    def _trail(self, lines: Array) -> Trail:
        """Return what `keep_samples` has written, a line for every step."""
        samples, states = lines[:, 2:].reshape(len(lines), len(LOBATTO), self.size - 2), self.states
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
        if keep_samples(self.tables, control, piece.y, K, y, piece.dense(), np.empty(self.size), line[0], t - piece.t):
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
        if slope(self.tables, t, y, out):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return out

    def look(self, t: float, y: Array) -> Seen:
        """Return the conditions at a state."""
        from .phase_rhs import look_at

        g, rate = np.empty(len(self.offset)), np.empty(len(self.offset))
        if look_at(self.tables, t, y, np.empty(self.size), g, rate):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return Seen(t, g, rate)

    def take(self, t: float, y: Array, first: Array, h: float) -> Piece:
        """Return one step of length h (s), whatever its error."""
        from .dop853 import BEND, ERROR, H, T, take_step

        K, end, control = np.empty((WIDTH, self.size)), np.empty(self.size), self.control
        K[0], control[T], control[H] = first, t, h
        if take_step(self.tables, control, y, K, TABLE, end):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return Piece(self.slope, t, h, y, end, K, float(control[ERROR]), float(control[BEND]))

    def trial(self, t: float, y: Array, first: Array, h: float, side: float) -> Piece:
        """Return one step with the local error of every component, on one side of the poles of reactions."""
        self.control[SIDE] = side
        piece = self.take(t, y, first, h)
        piece.local, piece.samples = local_error(h, piece.K), partial(self.samples, piece)
        return piece
