"""One leg of an event-driven run: from a state to the next event.

The motion of a phase is integrated with its impulses and its work; closed gaps and the rates of what is held are put
back after every step of the integrator. An event ends the leg: impacts are solved, the modes of the next phase chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..contact.snapshot import Activation, rows_of
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from ..programs.solution import Solution
from .accumulation import Rebound
from .changes import Change, kind_of
from .compiled_phase import CompiledPhase
from .dop853 import SHRINK, Piece
from .energy import energy
from .event_roots import Crossing, Search, Seen, polished
from .holding import held
from .impact import impact
from .integration import NEARLY, Integration, OneStep, Stuck
from .mode_choice import Chosen, after_event, choose, first_modes, holds, modes_of_reactions
from .mode_memory import LENGTH, rebounds, remembered
from .phases import CLOSED, OPEN, Instant, Mode, Modes, Phase

AHEAD = 1e-4  # of a step: how far beyond an event the old phase is asked which modes come next
ARMED = {"place": 1e-12, "speed": 1e-12, "force": 1e-10, "acceleration": 1e-10}  # forces, accelerations: relative
SETTLED = 10.0  # times `ARMED`: conditions below this start at zero
TOGETHER = {"place": 1e-10, "speed": 1e-9, "force": 1e-9, "acceleration": 1e-9}  # conditions that end at one time
AT_ONCE = 50  # events of one leg: it goes on only where they happen at its very beginning
NARROW = 1e-8  # s, times max(1, t): shorter steps are not repeated for contacts that they overlook
PASSIVE = 1e-12  # of the kinetic energy: gain that is rounding


@dataclass(slots=True, kw_only=True, eq=False)
class Stretch:
    """A step of the integrator, and the first event in it; no step where kernels have gone on without events.

    Attributes
    ----------
    after : Instant or None
        At its end, where it is known.
    look, one_step : callable
        Conditions at a state (t, y), and one step from it.
    """

    piece: Piece | None
    found: Crossing | None = None
    after: Instant | None = None
    look: Callable[[float, Array], Seen] | None = None
    one_step: OneStep | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Leg(Integration):
    """The running leg.

    Attributes
    ----------
    whole, system : System
        With all contacts, and with those that may act.
    memory : mapping
        Of the state that it began with.
    failure : Solution or None
        Why there is no phase.
    changes : list of Change
    impulses : dict of str to Array
        N s, by row id.
    work : list of float
        Of reactions, forces and projection, J.
    kept : float
        Fraction of all restitution that impacts kept, the least of them.
    bounced : dict of str to Rebound
    passing : Rebound or None
        The sequence of impacts that ends with this leg.
    at_once : int
        Events so far.
    again : bool
        Whether a leg of the past is repeated: its memory holds its impulses.
    rest_at : float or None
        When the sequence of impacts at the end of this leg ends, where that is known.
    resting : tuple of str
        What rests after it.
    offsets : dict
        Of conditions that began at zero, by row id and kind.
    """

    whole: System
    memory: Mapping[str, Array]
    system: System = field(init=False)
    failure: Solution | None = None
    changes: list[Change] = field(default_factory=list)
    impulses: dict[str, Array] = field(default_factory=dict)
    work: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    kept: float = 1.0
    bounced: dict[str, Rebound] = field(default_factory=dict)
    passing: Rebound | None = None
    at_once: int = 0
    again: bool = False
    rest_at: float | None = None
    resting: tuple[str, ...] = ()
    offsets: dict[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.system = self.whole
        self.bounced = rebounds(self.memory)
        self.h = float(self.memory[LENGTH][0]) if LENGTH in self.memory else 0.0

    def begin(self, t_end: float) -> None:
        """Find the phase at the beginning: the one remembered if it holds, else what the laws say."""
        rows = self._look_around(min(self.h or t_end - self.t, t_end - self.t))
        known = remembered(self.memory, [row.id for row in rows])
        if known:
            phase = Phase(system=self.system, control=self.control, modes=_completed(rows, known), rows=rows)
            if holds(phase, self.state(), self.accuracy.activation):
                self._enter(phase)
                return
        self._settle(rows, known, {}, None)

    def run(self, t_end: float, t_stop: float) -> None:
        """Go on to the next event, or to `t_end`; a sequence of impacts may be passed if it ends before `t_stop`.

        Raises
        ------
        Stuck
            The integrator cannot go on.
        """
        begun = self.t
        while self.phase is not None:
            end = t_end if self.passing is None else self.passing.end
            if self.t < end:
                stretch = self._sail(self.phase, end) or self._stretch(self.phase, end)
                piece, found = stretch.piece, stretch.found
                if piece is not None and self._overlooks(self.phase, piece, found):
                    self.h = SHRINK * piece.h
                    continue
                if found is not None:
                    self._pass(self.phase, stretch, found, t_stop)
                    self._count(found)
                    if self.passing is None and self.t > begun:
                        return
                    continue
                if piece is not None:
                    self._accept(self.phase, piece, stretch.after, end)
            if self.t >= end:
                self._note_rest()
                return

    def _overlooks(self, phase: Phase, piece: Piece, found: Crossing | None) -> bool:
        """Whether shapes overlap at the end of a step, or at an event in it, with features that it does not know."""
        if phase.system is self.whole or piece.h <= NARROW * max(1.0, abs(self.t)):
            return False
        y = piece.end if found is None else piece.at(found.t)
        t, q, v = piece.t_end if found is None else found.t, *self._parts(y)
        known, deep = {row.id for row in phase.rows}, -self.accuracy.activation.gap
        rows = rows_of(self.whole.near(t, q, v, 0.0), t, q, v)
        return any(row.id not in known and _one_sided(row) and row.gap < deep for row in rows)

    def _parts(self, y: Array) -> tuple[Array, Array]:
        nq, nv = len(self.q), len(self.v)
        return y[:nq], y[nq : nq + nv]

    def _count(self, found: Crossing) -> None:
        """Raise Stuck after too many events at one instant."""
        self.at_once += 1
        if self.at_once > AT_ONCE:
            raise Stuck(f"{self.at_once} events at one instant, the last one ({found.watch.kind}) at {found.watch.id}")

    def state(self, memory: Mapping[str, Array] | None = None) -> State:
        """Return the state as it is now."""
        return State(t=self.t, q=self.q, v=self.v, memory=self.memory if memory is None else memory)

    # integration

    def _look_around(self, reach: float) -> tuple[Row, ...]:
        """Find the contacts that may act within a time, and return the rows.

        Features of shapes that meet later may overlap in the pose of now, where they do not mean a gap: then less far.
        """
        while True:
            self.system = self.whole.near(self.t, self.q, self.v, reach)
            rows = rows_of(self.system, self.t, self.q, self.v)
            deep = {row.id for row in rows if _one_sided(row) and row.gap < -self.accuracy.activation.gap}
            if not deep or self.system is self.whole or reach == 0.0:
                return rows
            here = rows_of(self.whole.near(self.t, self.q, self.v, 0.0), self.t, self.q, self.v)
            if deep <= {row.id for row in here}:
                return rows
            reach = 0.25 * reach if reach > NARROW else 0.0
            self.h = min(self.h, reach) if reach else self.h

    def _stretch(self, phase: Phase, end: float) -> Stretch:
        """Take one step of the integrator, and look for the first event in it."""
        piece, after = self._step(phase, end)
        before = self._instant(phase, piece.t, piece.y)

        def look(t: float, y: Array) -> Seen:
            """Return the conditions at a state."""
            return seen(phase, self._instant(phase, t, y))

        coarse = 1e3 * SETTLED if phase.redundant else SETTLED
        noise = np.array([coarse * self._unit(watch.unit, before) for watch in phase.watches])
        search = Search(phase, lambda t: look(t, piece.at(t)), self._offsets(phase), noise, [])
        found = self._found(search, seen(phase, before), seen(phase, after))
        return Stretch(piece=piece, found=found, after=after, look=look, one_step=self._take)

    def _offsets(self, phase: Phase) -> Array:
        return np.array([self.offsets.get((watch.id, watch.kind), 0.0) for watch in phase.watches])

    def _found(self, search: Search, before: Seen, after: Seen) -> Crossing | None:
        """Return the first event of a step, and note what was too close to decide before it."""
        found = search.first(before, after)
        for graze in search.grazes:
            here = self.state()
            self.changes.append(Change(t=graze.t, kind="undecided", id=graze.id, before=here, after=here))
        return found

    def _sail(self, phase: Phase, end: float) -> Stretch | None:
        """Let the kernels take steps as long as nothing happens; None where they have taken none and cannot."""
        ship = CompiledPhase.of(phase, self.accuracy) if phase.system is self.whole and self.h > 0.0 else None
        if ship is None:
            return None
        ship.offset[:] = self._offsets(phase)
        done = ship.sail(self.t, self.q, self.v, self.h, end, self.stiff)
        self.h, self.stiff = done.h, done.stiff
        for watch, offset in zip(phase.watches, ship.offset.tolist(), strict=True):
            if offset == 0.0:
                self.offsets.pop((watch.id, watch.kind), None)
        if done.piece is not None:
            piece = done.piece
            q, v = self._parts(piece.y)
            self.t, self.q, self.v = piece.t, q.copy(), v.copy()
            search = Search(phase, lambda t: ship.look(t, piece.at(t)), ship.offset, ship.noise, [])
            found = self._found(search, *ship.ends(piece))
            return Stretch(piece=piece, found=found, look=ship.look, one_step=ship.take)
        if not done.taken:
            return None
        self._move_to(phase, done.t, done.y)
        if done.held_is_off:
            self._hold(phase, rows_of(phase.system, self.t, self.q, self.v))
        if self.t >= end:
            self.now = phase.instant(self.t, self.q, self.v)
        return Stretch(piece=None)

    def _move_to(self, phase: Phase, t: float, y: Array) -> None:
        """Take over a point of the integrator: its place, its impulses, its work."""
        nq, nv = len(self.q), len(self.v)
        self.t, self.q, self.v = t, y[:nq].copy(), y[nq : nq + nv].copy()
        if nq != nv:
            self.q = phase.system.move(self.q, np.zeros(nv), 0.0)
        for row, p in zip(phase.rows, phase.impulses(self.t, self.q, self.v, y[nq + nv : -2]), strict=True):
            if phase.modes[row.id].closed:
                self._push(row.id, p)
        self.work[0] += float(y[-2])
        self.work[1] += float(y[-1])

    def _push(self, key: str, impulse: Array) -> None:
        self.impulses[key] = self.impulses[key] + impulse if key in self.impulses else np.array(impulse)

    def _accept(self, phase: Phase, piece: Piece, after: Instant | None, end: float) -> None:
        """Go to the end of a step of the integrator."""
        t = end if abs(piece.t_end - end) <= NEARLY * max(1.0, abs(end)) else piece.t_end
        self._move_to(phase, t, piece.end)
        after = after or phase.instant(self.t, self.q, self.v)
        if self._hold(phase, after.rows):
            after = phase.instant(self.t, self.q, self.v)
        phase = phase.turned(after)
        if phase.system is not self.whole:
            rows = self._look_around(min(self.h, max(end - self.t, 0.0)))
            phase = Phase(system=self.system, control=self.control, modes=_completed(rows, phase.modes), rows=rows)
            after = phase.instant(self.t, self.q, self.v)
        self.phase, self.now = phase, after
        for watch, g in zip(phase.watches, phase.conditions(after), strict=True):
            if g > SETTLED * self._unit(watch.unit, after):
                self.offsets.pop((watch.id, watch.kind), None)

    def _hold(self, phase: Phase, rows: tuple[Row, ...]) -> bool:
        """Put back what is held, and whether anything was off."""
        q, v = held(phase.system, phase.modes, self.t, self.q, self.v, rows)
        if q is self.q and v is self.v:
            return False
        was = sum(energy(phase.system, self.state()))
        self.q, self.v = q, v
        self.work[2] += sum(energy(phase.system, self.state())) - was
        return True

    # events

    def _pass(self, phase: Phase, stretch: Stretch, found: Crossing, t_stop: float) -> None:
        """Go to an event and choose what comes after it."""
        piece, look, one_step = stretch.piece, stretch.look, stretch.one_step
        assert piece is not None
        assert look is not None
        assert one_step is not None
        t, y = polished(piece, lambda h: self._again_to(piece, piece.t + h, one_step), look, found)
        beyond = piece.at(t + AHEAD * piece.h)
        nq, nv = len(self.q), len(self.v)
        later = State(t=t + AHEAD * piece.h, q=beyond[:nq], v=beyond[nq : nq + nv], memory=self.memory)
        self._move_to(phase, t, y)
        phase, offsets = self._seen(phase), self.offsets
        now = phase.instant(self.t, self.q, self.v)
        self.now = now
        if found.watch.id not in phase.modes:  # the features that would touch have parted by now
            self._enter(phase)
            return
        fired: dict[str, set[str]] = {found.watch.id: {found.watch.kind}}
        for watch, g in zip(phase.watches, phase.conditions(now), strict=True):
            starts = (watch.id, watch.kind) in offsets
            if not starts and g <= TOGETHER[watch.unit] * self._scale(watch.unit, now):
                fired.setdefault(watch.id, set()).add(watch.kind)
        self._settle(now.rows, phase.modes, fired, later)
        self._consider_passing(t_stop)

    def _seen(self, phase: Phase) -> Phase:
        """Return the phase with the contacts of shapes that are found where it is now."""
        if phase.system is self.whole:
            return phase
        rows = self._look_around(0.0)
        return Phase(system=self.system, control=self.control, modes=_completed(rows, phase.modes), rows=rows)

    def _settle(
        self, rows: tuple[Row, ...], known: Modes, fired: Mapping[str, set[str]], later: State | None
    ) -> None:  # fmt: skip
        """Solve the impact if something closes, and choose the next phase."""
        before, now, activation = self.state(), self.now, self.accuracy.activation
        struck = self._impact(rows)
        if self.failure is not None:
            self.phase = None
            return
        if struck:
            rows = rows_of(self.system, self.t, self.q, self.v)
        if struck or not fired or now is None:
            guesses: list[Modes] = [first_modes(rows, known, activation)]
            if self.again and not known and not struck:
                guesses.insert(0, modes_of_reactions(rows, self.memory, activation))
        else:
            guesses = after_event(known, now, fired)
        self.q, self.v = held(self.system, guesses[0], self.t, self.q, self.v, rows)
        rows = rows_of(self.system, self.t, self.q, self.v)
        chosen = choose(
            self.system, self.state(), rows, guesses, self.control, activation, None if struck else later
        )  # fmt: skip
        self._take_over(chosen, known, before, struck)

    def _take_over(self, chosen: Chosen, known: Modes, before: State, struck: tuple[str, ...]) -> None:
        """Enter the chosen phase and note what has changed."""
        after = self.state()
        modes = {} if chosen.phase is None else chosen.phase.modes
        kinds = [("impact", key) for key in struck]
        kinds += [
            (kind, key) for key, mode in modes.items()
            if key in known and (kind := kind_of(known[key], mode)) is not None
        ]  # fmt: skip
        self.changes += [
            Change(t=self.t, kind=kind, id=key, before=before, after=after, modes_before=known, modes_after=modes)
            for kind, key in kinds
        ]
        if chosen.phase is None:
            self.phase, self.failure = None, chosen.failure
        else:
            self._enter(chosen.phase)

    def _enter(self, phase: Phase) -> None:
        """Begin a phase: conditions that start at zero may not end it at once."""
        self.phase = phase
        self.now = now = phase.instant(self.t, self.q, self.v)
        self.offsets = {}
        for watch, g in zip(phase.watches, phase.conditions(now), strict=True):
            armed = self._unit(watch.unit, now)
            if g <= SETTLED * armed:
                self.offsets[(watch.id, watch.kind)] = armed + max(0.0, -float(g))

    def _impact(self, rows: tuple[Row, ...]) -> tuple[str, ...]:
        """Solve the impact problem if a closed row closes further, and return the rows that do."""
        activation = self.accuracy.activation
        closing = tuple(row.id for row in rows if closes(row, activation))
        if not closing:
            return ()
        said = impact(self.system, self.state(), law=self.accuracy.law, activation=activation)
        if not said.solved:
            self.failure = said.solution.but(status=said.status)
            return closing
        for key, p in said.impulses.items():
            self._push(key, p)
        self.v = np.array(said.v)
        self.work[0] += said.energy
        self.kept = min(self.kept, said.kept)
        return closing

    def _unit(self, unit: str, now: Instant) -> float:
        return ARMED[unit] * self._scale(unit, now)

    def _scale(self, unit: str, now: Instant) -> float:
        """Return what a condition is measured by: 1 m, 1 m/s, the largest force or acceleration."""
        if unit == "force":
            return max(float(np.abs(now.h).max(initial=0.0)), *(float(np.abs(r).max()) for r in now.r))
        return float(np.abs(now.a).max(initial=0.0)) if unit == "acceleration" else 1.0

    # accumulation

    def _consider_passing(self, t_stop: float) -> None:
        """Note what has rebounded, and put it to rest if infinitely many impacts follow that end soon."""
        if not any(change.kind == "impact" and change.t == self.t for change in self.changes) or self.phase is None:
            return
        activation = self.accuracy.activation
        rows = [row for row in self.phase.rows if _touches(row, activation) and row.rate[0] > activation.speed]
        ready = None if self.rest_at is None else Rebound(t=self.t, speed=1.0, end=self.rest_at)
        for row in rows:
            last, speed = self.bounced.get(row.id), float(row.rate[0])
            new = Rebound(t=self.t, speed=speed) if last is None else last.then(self.t, speed)
            if last is not None and last.passes(new) and new.end <= t_stop:
                ready = new
            self.bounced[row.id] = new
        if ready is not None:
            self._come_to_rest(self.phase, ready, tuple(row.id for row in rows))

    def _come_to_rest(self, phase: Phase, ready: Rebound, ids: tuple[str, ...]) -> None:
        """Put touching rows to rest, with the friction that goes with it; the leg ends when the sequence would."""
        flat = tuple(row.but(rate=_without_normal(row)) if row.id in ids else row for row in phase.rows)
        modes = first_modes(flat, phase.modes, self.accuracy.activation)
        rest = phase.but(modes)
        G, B, _, _ = rest.columns(phase.rows, len(self.v))
        M, was = phase.system.mass(self.q), self.v
        X = np.linalg.solve(M, B.T)
        self.v = was - X @ np.linalg.lstsq(G @ X, G @ was + rest.explicit(phase.rows, was), rcond=None)[0]
        before, after = 0.5 * float(was @ M @ was), 0.5 * float(self.v @ M @ self.v)
        if after > before * (1.0 + PASSIVE):  # friction of this slip would drive: the impacts are not passed
            self.v = was
            return
        rows = rows_of(phase.system, self.t, self.q, self.v)
        chosen = choose(phase.system, self.state(), rows, [modes], self.control, self.accuracy.activation)
        if chosen.phase is None:
            self.v = was
            return
        self.work[0] += after - before
        self.passing, self.resting = ready, ids
        self._enter(chosen.phase)

    def _note_rest(self) -> None:
        """Note the end of a sequence of impacts that was passed."""
        if self.passing is None:
            return
        after = self.state()
        for key in self.resting:
            self.changes.append(Change(t=self.passing.end, kind="accumulation", id=key, before=after, after=after))
            self.bounced.pop(key, None)
        self.passing = None


def closes(row: Row, activation: Activation) -> bool:
    """Whether a row that is closed has a rate that its constraint does not allow, so that the velocity must jump."""
    if row.kind == "dry" or row.level == "acceleration":
        return False
    rate = row.rate[:1] if row.frictional else row.rate
    if row.bilateral:
        return bool((np.abs(rate) > activation.speed).any())
    touches = row.level == "velocity" or row.gap <= activation.gap
    return touches and bool((rate < -activation.speed).any())


def seen(phase: Phase, now: Instant) -> Seen:
    """Return the conditions at an instant."""
    return Seen(now.t, phase.conditions(now), phase.rates(now))


def _one_sided(row: Row) -> bool:
    return row.level == "position" and row.kind in ("contact", "unilateral")


def _touches(row: Row, activation: Activation) -> bool:
    return _one_sided(row) and row.gap <= activation.gap


def _without_normal(row: Row) -> Array:
    rate = row.rate.copy()
    rate[0] = 0.0
    return rate


def _completed(rows: tuple[Row, ...], known: Modes) -> dict[str, Mode]:
    """Return modes for all rows: those that are new are open."""
    return {
        row.id: known.get(row.id, CLOSED if row.kind == "dry" or row.bilateral else OPEN) for row in rows
    }  # fmt: skip
