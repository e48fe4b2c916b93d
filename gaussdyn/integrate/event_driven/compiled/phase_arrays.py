"""Phases for the kernels: many steps without events in one call, single steps, and cheap looks at conditions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...._jit import Held
from ....arrays import Array
from ...dop853 import TABLE, WIDTH, Piece
from ...recorded_arcs import LOBATTO, Trail
from ..event_location import Seen
from ..phase_integrator import Accuracy
from ..smooth_phase import Phase, trail_of
from .phase_tables import Kept, tables_of_phase
from .records import BEND, ERROR, RTOL, SIDE, WAY, H, PhaseStep, T, Voyage

AT_ONCE = 64  # steps in one call: a kernel hears no Ctrl-C, and only the caller knows how long steps have been


@dataclass(frozen=True, slots=True, eq=False)
class Sailed:
    """What a call of the kernels came to.

    Attributes
    ----------
    held_is_off : bool
        Whether gaps or rates that are held have to be put back.
    side : float
        Of the last step tried, see `Instant.side`.
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
    event : (float, Array) or None
        Time and state there, once the motion has been followed up to it.
    trail : Trail
        What was passed, up to the event.
    """

    held_is_off: bool
    side: float
    taken: int
    stiff: int
    t: float
    h: float
    y: Array
    piece: Piece | None
    crossing: tuple[int, float] | None
    event: tuple[float, Array] | None
    trail: Trail


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPhase:
    """One phase in the arrays of the kernels.

    Attributes
    ----------
    phase : Phase
    size : int
        Length of y = (q, v, impulses, two works).
    held : Held
        The `Voyage`.
    """

    phase: Phase
    size: int
    held: Any  # a `Held`, which kernels take for what it holds
    step: PhaseStep  # what kernels work on, until the next call

    @classmethod
    def of(cls, phase: Phase, accuracy: Accuracy, known: Kept | None = None) -> CompiledPhase | None:
        """Return a phase for the kernels, made once; None if they cannot serve it."""
        if not phase.compiled:
            phase.compiled.append(cls._made(phase, known))
        made = phase.compiled[0]
        if made is not None:
            made.step.control[RTOL], made.step.atol[:] = accuracy.rtol, accuracy.atol
        return made

    @classmethod
    def _made(cls, phase: Phase, known: Kept | None) -> CompiledPhase | None:
        tables = tables_of_phase(phase, known)
        if tables is None:
            return None
        w, size = len(phase.guards), tables.nq + tables.nv + sum(row.size for row in phase.rows) + 2
        K, F, atol = np.zeros((WIDTH + 1, size)), np.zeros((7, size)), np.zeros(tables.nq + tables.nv)
        y, end, place = np.zeros((3, size))
        offset, noise = np.zeros((2, w))
        seen = np.zeros((8, w))
        step = PhaseStep(np.zeros(13), y, end, K, F, place, offset, noise, seen, np.zeros(4), atol, TABLE)
        again = PhaseStep._make([*(x.copy() for x in step[:-2]), atol, TABLE])
        return cls(phase, size, Held(Voyage(tables, step, again)), step)

    @property
    def states(self) -> int:
        """Number of coordinates and velocities."""
        return self.phase.system.nq + self.phase.system.nv

    def sail(self, t: float, q: Array, v: Array, h: float, end: float, stiff: int) -> Sailed:
        """Take steps until something may happen, at most to `end`."""
        from .phase_loop import EVENT, HOLD, cruise

        step, nq, n = self.step, len(q), len(q) + len(v)
        step.y[:nq], step.y[nq:n], step.y[n:] = q, v, 0.0
        step.control[:] = t, h, end, stiff, 0.0, step.control[RTOL], 0.0, 0.0, 0.0, h, -1.0, 0.0, 0.0
        lines = np.empty((AT_ONCE, 2 + len(LOBATTO) * (self.size - 2)))
        code = cruise(self.held, lines)
        now, _, _, bounded, side, _, _, _, taken, ahead, which, when, found = step.control.tolist()
        piece = self._piece(step.F.copy()) if code == EVENT else None
        crossing = (int(which), when) if code == EVENT and which >= 0.0 else None
        again = self.held.value.again
        event = (float(again.control[T]), again.y.copy()) if found else None
        trail = self._trail(lines[: int(taken + found)].copy())
        return Sailed(
            code == HOLD, side, int(taken), int(bounded), now, ahead, step.y.copy(), piece, crossing, event, trail
        )

    def _piece(self, dense: Array | None = None) -> Piece:
        """Return the step that kernels have taken last."""
        step = self.step
        control = step.control.tolist()
        t, h, error, bend = control[T], control[H], control[ERROR], control[BEND]
        piece = Piece(self.slope, t, h, step.y.copy(), step.end.copy(), step.K[:WIDTH].copy(), error, bend, dense)
        piece.samples = partial(self.samples, piece)
        return piece

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
        from .phase_loop import sample

        line, step = np.empty((1, 2 + len(LOBATTO) * (self.size - 2))), self.step
        step.F[:] = piece.dense()
        self._put(piece.t, piece.y, piece.h)
        step.K[:WIDTH] = piece.K
        if sample(self.held, y, line[0], t - piece.t):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return self._trail(line)

    def _put(self, t: float, y: Array, h: float) -> None:
        """Let a step begin at a state."""
        self.step.y[:], self.step.control[T], self.step.control[H] = y, t, h

    def ends(self, piece: Piece) -> tuple[Seen, Seen]:
        """Return the conditions at the beginning and at the end of the step that `sail` returned."""
        g = self.step.seen.copy()
        return Seen(piece.t, g[0], g[1]), Seen(piece.t_end, g[4], g[5])

    def slope(self, t: float, y: Array, side: float = 0.0) -> Array:
        """Return the rates of y on one side of the poles of reactions, see `Instant.side`; 0: not known.

        Raises
        ------
        LinAlgError
            At a pole, or beyond it.
        """
        from .phase_loop import rates_at

        out = np.empty(self.size)
        if rates_at(self.held, t, y, out) or self.held.value.phase.room.info[SIDE] * side < 0.0:
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return out

    def look(self, t: float, y: Array) -> Seen:
        """Return the conditions at a state."""
        from .phase_loop import look

        w = len(self.step.offset)
        g, rate = np.empty(w), np.empty(w)
        if look(self.held, t, y, g, rate):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return Seen(t, g, rate)

    def take(self, t: float, y: Array, first: Array, h: float, side: float) -> Piece:
        """Return one step of length h (s), whatever its error, on one side of the poles of reactions; 0: not known.

        Raises
        ------
        LinAlgError
            At a pole, or beyond it.
        """
        from .phase_loop import take

        self._put(t, y, h)
        self.step.K[0], self.step.control[WAY] = first, side
        if take(self.held):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return self._piece()
