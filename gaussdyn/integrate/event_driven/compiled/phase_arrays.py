"""Phases for the kernels: many steps without events in one call, single steps, and cheap looks at conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ...._jit import Held
from ....arrays import Array
from ....errors import InputError, interrupts
from ....mechanics.borders import Crossing, Extent
from ....mechanics.spatial.system import SpatialSystem
from ...dop853 import TABLE, WIDTH, Piece
from ...recorded_arcs import LOBATTO, Trail
from ...time_stepping.core.python_system import Answers
from ..event_location import Seen
from ..phase_integrator import Accuracy
from ..smooth_phase import Phase, trail_of
from .phase_functions import may_set_in
from .phase_tables import Kept, laws_of, tables_of_phase
from .records import (
    BEGINS,
    BEND,
    EPS_N,
    ERROR,
    FOUND,
    FREE,
    FUNCTION,
    GAINED,
    LENGTH,
    LOAD,
    LOADED,
    NEXT,
    OUTSIDE,
    REACTION,
    RTOL,
    SIDE,
    TAKEN,
    WAY,
    WHICH,
    H,
    PhaseStep,
    T,
    Voyage,
)

SAID = GAINED + 1  # numbers that kernels say of how a phase begins
AT_ONCE = 64  # steps to an event that is clear, at most
UNKEPT = np.empty((AT_ONCE, 0))  # where nothing of what is passed is written


@dataclass(frozen=True, slots=True, eq=False)
class Sailed:
    """What a call of the kernels came to.

    Attributes
    ----------
    held_is_off : bool
        Whether gaps or rates that are held may have to be put back.
    turned : bool
        Whether a slip in space has turned far away from the direction that its mode has.
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
    turned: bool
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


class Leg(NamedTuple):
    """The motion up to a clear event.

    Attributes
    ----------
    guard : int
        The number of the condition that ends there.
    t, next_h : float
        When, and the length of the next step, s.
    y, r : Array
        There: state, impulses and works; the reactions of all rows.
    size : float
        The largest force there, N.
    begun : (float, Array, float, float, Array)
        Time, state, length of the next step and the latest end where it begins, and the offsets of conditions.
    """

    guard: int
    t: float
    next_h: float
    y: Array
    r: Array
    size: float
    begun: tuple[float, Array, float, float, Array]


class Begun(NamedTuple):
    """How a phase begins: its conditions, figures as `phase_jump.begins` says, the rates of y, gaps."""

    seen: Seen
    figures: Array
    rates: Array
    gap: Array


class Bounce(NamedTuple):
    """An impact of one contact: its number, the velocity after it, the impulses of all rows, how the phase goes on."""

    k: int
    v: Array
    impulses: Array
    begun: Begun


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPhase:
    """One phase in the arrays of the kernels.

    Attributes
    ----------
    phase : Phase
    size, states : int
        Length of y = (q, v, impulses, two works), and of (q, v).
    held : Held
        The `Voyage`.
    step : PhaseStep
        What kernels work on, until the next call.
    laws : Array or None
        See `laws_of`.
    listed : Array
        Gaps up to which contacts are recorded, m.
    borders : tuple of (int, Extent or Crossing)
        The numbers of the guards of features that end, and where they do: kernels do not know that.
    answers : Answers or None
        Where the system is asked in Python.
    watched : bool
        Whether friction may set in, which kernels do not see.
    followers : dict
        What may come after a condition, with friction backwards or not, in the order in which it is tried; None: has no
        tables.
    """

    phase: Phase
    size: int
    states: int
    held: Any
    step: PhaseStep
    laws: Array | None
    listed: Array
    borders: tuple[tuple[int, Extent | Crossing], ...]
    answers: Answers | None
    watched: bool
    followers: dict[tuple[int, bool], tuple[CompiledPhase | None, ...]]

    @classmethod
    def of(cls, phase: Phase, accuracy: Accuracy, known: Kept | None = None) -> CompiledPhase:
        """Return a phase for the kernels, made once."""
        if not phase.compiled:
            phase.compiled.append(cls._made(phase, known))
        made, given = phase.compiled[0], accuracy.step
        made.step.control[RTOL], made.step.control[LENGTH] = accuracy.rtol, given or 0.0
        made.step.atol[:] = accuracy.atol if given is None else np.inf  # then errors do not matter
        return made

    @classmethod
    def _made(cls, phase: Phase, known: Kept | None) -> CompiledPhase:
        served = tables_of_phase(phase, known)
        tables = served.tables
        w, size = len(phase.guards), tables.nq + tables.nv + sum(row.size for row in phase.rows) + 2
        K, F, atol = np.zeros((WIDTH + 1, size)), np.zeros((7, size)), np.zeros(tables.nq + tables.nv)
        y, end, place = np.zeros((3, size))
        offset, noise = np.zeros((2, w))
        seen = np.zeros((8, w))
        step = PhaseStep(np.zeros(14), y, end, K, F, place, offset, noise, seen, np.zeros(4), atol, TABLE)
        again = PhaseStep._make([*(x.copy() for x in step[:-2]), atol, TABLE])
        held, states = Held(Voyage(tables, step, again)), tables.nq + tables.nv
        borders = tuple((k, guard.extent) for k, guard in enumerate(phase.guards) if guard.extent is not None)
        watched, laws = may_set_in(phase), None if tables.who == FUNCTION else laws_of(phase)
        return cls(phase, size, states, held, step, laws, _listed(phase), borders, served.answers, watched, {})

    @classmethod
    def of_clear(cls, phase: Phase, accuracy: Accuracy, known: Kept | None = None) -> CompiledPhase | None:
        """Return a phase for the kernels that may decide what comes after it; None where they do not."""
        made = cls.of(phase, accuracy, known)
        return None if made.laws is None else made

    def broken(self, words: str) -> BaseException:
        """Return why kernels have come to nothing: what Python raised, if they asked there, or a pole."""
        error = None if self.answers is None else self.answers.error(bool(self.answers.callback.answer[0]))
        error = self._bad_coefficient() if error is None else error
        return np.linalg.LinAlgError(words) if error is None else error

    def _bad_coefficient(self) -> BaseException | None:
        """Return an error for friction below zero, or that is no number, at the last place; None: there is none."""
        function, rows = self.held.value.phase.function, self.phase.rows
        slips = [rows[part.k] for part in self.phase.parts for _ in part.slips]
        limits = [rows[guard.k] for guard in self.phase.guards]
        for row, at in (*zip(slips, function.pull_at, strict=False), *zip(limits, function.limit_at, strict=False)):
            if at >= 0 and not (value := float(function.out[at])) >= 0.0:
                allowed, mend = "a number, at least 0, at every state", "Write Max(0, ..) for what may fall below zero."
                return InputError(f"friction of {row.id}", value, allowed, mend)
        return None

    def _of_rows(self, p: Array) -> Array:
        """Return what `Room` has of all rows without those that are empty."""
        tables = self.held.value.phase
        return np.concatenate([p[a : a + n] for a, n in zip(tables.start.tolist(), tables.size.tolist(), strict=True)])

    def put_offsets(self, offsets: Mapping[tuple[str, str], float]) -> None:
        """Raise conditions that began at zero, by row id and kind."""
        self.step.offset[:] = [offsets.get((guard.id, guard.kind), 0.0) for guard in self.phase.guards]

    def _set_out(self, t: float, q: Array, v: Array, h: float, end: float, stiff: int = 0) -> None:
        """Begin where steps shall be taken from."""
        step, nq, n = self.step, len(q), len(q) + len(v)
        step.y[:nq], step.y[nq:n], step.y[n:] = q, v, 0.0
        length = step.control.item(LENGTH)
        step.control[:] = t, h, end, stiff, 0.0, step.control[RTOL], 0.0, 0.0, 0.0, h, -1.0, 0.0, 0.0, length

    def _lines(self, n: int = AT_ONCE) -> Array:
        """Return room for what is passed in n steps."""
        return np.empty((n, 2 + len(LOBATTO) * (self.size - 2)))

    def sail(self, t: float, q: Array, v: Array, h: float, end: float, stiff: int, most: int) -> Sailed:
        """Take steps until something may happen, at most so many, and to `end`."""
        from .phase_loop import EVENT, FAIL, HOLD, TURNED, cruise

        step, lines = self.step, self._lines(most)
        self._set_out(t, q, v, h, end, stiff)
        code = cruise(self.held, lines)
        if self.answers is not None and code == FAIL and interrupts(error := self.broken("")):
            raise error
        now, _, _, bounded, side, _, _, _, taken, ahead, which, when, found, _ = step.control.tolist()
        piece = self._piece(step.F.copy()) if code == EVENT else None
        crossing = (int(which), when) if code == EVENT and which >= 0.0 else None
        again = self.held.value.again
        event = (float(again.control[T]), again.y.copy()) if found else None
        trail = self.trail(lines[: int(taken + found)].copy())
        return Sailed(
            code in (HOLD, TURNED), code == TURNED, side, int(taken), int(bounded), now, ahead, step.y.copy(), piece,
            crossing, event, trail,
        )  # fmt: skip

    def leg(self, t: float, q: Array, v: Array, h: float, end: float, counts: Array) -> Leg | None:
        """Follow the motion up to an event that is clear, and its only one; None where kernels do not come to one."""
        self._set_out(t, q, v, h, end)
        begun = t, self.step.y.copy(), h, end, self.step.offset.copy()
        if not _deciding()[0](self.held, UNKEPT, counts):
            return None
        again, info, control = self.held.value.again, self.held.value.phase.room.info, self.step.control
        size, r = max(info.item(LOAD), info.item(REACTION)), again.K[WIDTH]
        return Leg(
            int(control.item(WHICH)), again.control.item(T), control.item(NEXT), again.y.copy(),
            r[self.states : -2].copy(), size, begun,
        )  # fmt: skip

    def passed(self, leg: Leg, accuracy: Accuracy) -> Trail:
        """Return what was passed on a leg, followed once more.

        Raises
        ------
        LinAlgError
            At a pole of the reactions.
        """
        from .phase_loop import cruise

        lines, nq, (t, y, h, end, offset) = self._lines(), self.phase.system.nq, leg.begun
        self.of(self.phase, accuracy)
        self._set_out(t, y[:nq], y[nq : self.states], h, end)
        self.step.offset[:] = offset
        cruise(self.held, lines)
        if not self.step.control.item(FOUND):
            raise self.broken("a sample is beyond a pole")
        return self.trail(lines[: int(self.step.control.item(TAKEN)) + 1].copy())

    def begins(self, leg: Leg, counts: Array) -> Begun | int:
        """Return how the phase begins where another one has ended; REFUSED: it does not, UNCLEAR: that is not clear."""
        assert self.laws is not None
        said = np.empty(SAID)
        verdict: int = _deciding()[1](self.held, leg.t, leg.y, counts, self.laws, said)
        return self._begun_with(leg.t, said) if verdict == BEGINS else verdict

    def bounce(self, leg: Leg, counts: Array, eps: float | None) -> Bounce | None:
        """Return the impact at the end of a leg that this phase goes on after; None where that is not clear.

        eps: of all contacts, in place of their own; None: these.
        """
        assert self.laws is not None
        laws, said, p = self.laws, np.empty(SAID), np.empty(len(self.held.value.phase.room.r))
        if eps is not None:
            laws = laws.copy()
            laws[:, EPS_N:] = eps
        if _deciding()[2](self.held, counts, laws, said, p) != BEGINS:
            return None
        v = self.held.value.again.y[self.phase.system.nq : self.states].copy()
        return Bounce(self.phase.guards[leg.guard].k, v, self._of_rows(p), self._begun_with(leg.t, said))

    def _begun_with(self, t: float, said: Array) -> Begun:
        return Begun(self._seen_last(t), said, self.step.K[WIDTH].copy(), self.held.value.phase.room.gap.copy())

    def begun(self, t: float, q: Array, v: Array) -> tuple[Seen, float, float]:
        """Return the conditions at a state, the largest force (N), and the largest acceleration without reactions."""
        from .phase_jump import asked

        y, said = np.concatenate((q, v, np.zeros(self.size - len(q) - len(v)))), np.empty(SAID)
        if asked(self.held, t, y, said):
            raise self.broken("a trial is beyond a pole")
        return self._seen_last(t), said.item(LOADED), said.item(FREE)

    def _seen_last(self, t: float) -> Seen:
        return Seen(t, self.step.seen[6].copy(), self.step.seen[7].copy())

    def _piece(self, dense: Array | None = None) -> Piece:
        """Return the step that kernels have taken last."""
        step = self.step
        control = step.control.tolist()
        t, h, error, bend = control[T], control[H], control[ERROR], control[BEND]
        piece = Piece(self.slope, t, h, step.y.copy(), step.end.copy(), step.K[:WIDTH].copy(), error, bend, dense)
        piece.samples = partial(self.samples, piece)
        return piece

    def trail(self, lines: Array) -> Trail:
        """Return what `keep_samples` has written, a line for every step."""
        samples, states = lines[:, 2:].reshape(len(lines), len(LOBATTO), self.size - 2), self.states
        return trail_of(self.phase, lines[:, 0], lines[:, 1], samples[:, :, :states], samples[:, :, states:])

    def samples(self, piece: Piece, t: float, y: Array) -> Trail | None:
        """Return the way from the beginning of a step to a time and the state there.

        None where redundant reactions leave their cones: others may be inside, see `Phase.sharing`.

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
        code = sample(self.held, y, line[0], t - piece.t)
        if code == OUTSIDE:
            return None
        if code:
            raise self.broken("a trial is beyond a pole")
        return self.trail(line)

    def _put(self, t: float, y: Array, h: float) -> None:
        """Let a step begin at a state."""
        self.step.y[:], self.step.control[T], self.step.control[H] = y, t, h

    def ends(self, piece: Piece) -> tuple[Seen, Seen]:
        """Return the conditions at the beginning and at the end of the step that `sail` returned."""
        g = self.step.seen.copy()
        return self._shared(Seen(piece.t, g[0], g[1]), piece.y), self._shared(Seen(piece.t_end, g[4], g[5]), piece.end)

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
            raise self.broken("a trial is beyond a pole")
        return out

    def joint_rows(self, t: float, q: Array, v: Array) -> Array:
        """Return J of the joints at a state, shape (m, nv)."""
        from .phase_loop import rates_at

        tables = self.held.value.phase
        y = np.concatenate((q, v, np.zeros(self.size - self.states)))
        failed = rates_at(self.held, t, y, np.empty(self.size))
        if failed and not isinstance(error := self.broken(""), np.linalg.LinAlgError):  # beyond a pole rows are there
            raise error
        first = [tables.start[k] for k, row in enumerate(self.phase.rows) if row.bilateral and row.level == "position"]
        J: Array = tables.room.J[first]
        return J

    def look(self, t: float, y: Array) -> Seen:
        """Return the conditions at a state; of redundant reactions those that are inside their cones."""
        return self._shared(self.bare(t, y), y)

    def bare(self, t: float, y: Array) -> Seen:
        """Return the same where no force is asked: redundant reactions are any, and need not be shared for that."""
        from .phase_loop import look

        w = len(self.step.offset)
        g, rate = np.empty(w), np.empty(w)
        if look(self.held, t, y, g, rate):
            raise self.broken("a trial is beyond a pole")
        for k, extent in self.borders:
            g[k] = extent.room(y[: self.phase.system.nq])
        return Seen(t, g, rate)

    def _shared(self, seen: Seen, y: Array) -> Seen:
        """Return conditions with those of redundant reactions that are inside their cones."""
        phase, q = self.phase, y[: self.phase.system.nq]
        forces = [k for k, guard in enumerate(phase.guards) if guard.unit == "force"] if phase.redundant else []
        if forces and seen.g[forces].min() < 0.0:
            now = phase.instant(seen.t, q, y[len(q) : self.states])
            seen.g[forces] = phase.conditions(phase.sharing(now))[forces]
        return seen

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
            raise self.broken("a trial is beyond a pole")
        return self._piece()


@cache
def _deciding() -> tuple[Any, Any, Any]:
    from .phase_impact import rebounds
    from .phase_jump import arrives, begins

    return arrives, begins, rebounds


def _listed(phase: Phase) -> Array:
    """Return the gaps up to which rows are recorded, m: all of what is no contact of shapes, see `rows_beside`."""
    if not isinstance(phase.system, SpatialSystem):
        return np.full(len(phase.rows), math.inf)
    reach = phase.system.contacts.reach
    return np.array([math.inf if row.frame is None else reach.get(row.id, -math.inf) for row in phase.rows])
