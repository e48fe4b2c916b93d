"""What follows an event: the impact, the modes of the next phase, rest after infinitely many impacts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array
from ..contact.snapshot import Activation, rows_of
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..programs.solution import Solution
from .accumulation import AS_ONE, STEADY, Rebound, Rest
from .changes import Change, kind_of
from .course import SETTLED, Course
from .holding import GAP, held, placed
from .impact import impact
from .instants import Instant, Place
from .mode_choice import Chosen, after_event, choose, first_modes, modes_of_reactions, stopping
from .modes import CLOSED, Modes
from .phases import Phase

FLIGHT = 1e-11  # m: gaps above this that were open in the step before are open, even where they count as closed
APART = 1e-14  # m, times max(1, |q|): open gaps above this are open, unless they close at once
AT_ONCE = 1e-10  # s: gaps that close within this close now
ROUNDED = 1e-15  # m: rounding of a gap, times max(1, |q|)
WITH = 10.0  # times as fast as a sequence of impacts opens at most what is put to rest with it
PASSIVE = 1e-12  # of the kinetic energy: gain that is rounding


@dataclass(slots=True, kw_only=True, eq=False)
class Settling(Course):
    """A motion that goes on from phase to phase.

    Attributes
    ----------
    failure : Solution or None
        Why there is no phase.
    kept : float
        Fraction of all restitution that impacts kept, the least of them.
    bounced : dict of str to Rebound
    passing : dict of str to float
        When the sequences of impacts end that are being passed (s), by row id. The leg does not end before.
    again : bool
        Whether a leg of the past is repeated: its memory holds its impulses.
    rests : mapping of str to Rest
        The sequences of impacts that end in this leg, where that is known.
    first : bool
        Whether it is the first one that is repeated: gaps that count as closed may never have been open.
    closed : Activation
        What counts as closed here: less than elsewhere where an open gap is as small and does not close yet.
    """

    failure: Solution | None = None
    kept: float = 1.0
    bounced: dict[str, Rebound] = field(default_factory=dict)
    passing: dict[str, float] = field(default_factory=dict)
    again: bool = False
    rests: Mapping[str, Rest] = field(default_factory=dict)
    first: bool = False
    closed: Activation = field(default_factory=Activation)

    def _settle(
        self, place: Place, known: Modes, fired: Mapping[str, set[str]], later: Callable[[], State] | None,
        fresh: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Solve the impact if something closes, and choose the next phase; `fresh` are rows found only here."""
        before = self.state()
        self.closed = activation = self._closed_here([row for row in place.rows if row.id not in fresh], known)
        struck = self._impact(place.rows)
        if self.failure is not None:
            self.phase = None
            return
        if struck:
            place = self._place()
        if struck or not fired or not isinstance(place, Instant):
            guesses: list[Modes] = [first_modes(place.rows, known, activation)]
            if struck:  # what an impact has stopped sticks, if it can
                still = {key: replace(mode, slip=(), roll=()) for key, mode in known.items()}
                guesses.insert(0, first_modes(place.rows, still, activation))
            if self.again and not known and not struck:
                guesses.insert(0, modes_of_reactions(place.rows, self.memory, activation))
        else:
            guesses = after_event(known, place, fired, activation)
        q, v = held(self.system, guesses[0], self.t, self.q, self.v, place.rows)
        if not (q is self.q and v is self.v):
            self.q, self.v = self._apart(place.rows, guesses[0], q, v)
            place = self._place()
        chosen = choose(
            self.system, self.state(), place, guesses, self.control, activation, None if struck else later,
            self.sizes,
        )  # fmt: skip
        self._take_over(chosen, known, before, struck)

    def _closed_here(self, rows: Sequence[Row], known: Modes) -> Activation:
        """Return what counts as closed: no open gap that closes later, as of bodies that bounce beside each other."""
        activation = self.accuracy.activation
        small = [row.gap for row in rows if _touches(row, activation) and self._was_open(row, known)]
        return replace(activation, gap=0.5 * min(small)) if small else activation

    def _was_open(self, row: Row, known: Modes) -> bool:
        """Whether a small gap has been open up to now, and is."""
        if row.id in known:
            return not known[row.id].closed and self.aloft(row)
        kept = row.gap <= 1.5 * GAP * self._size and abs(row.rate[0]) <= self.accuracy.activation.speed
        still = kept and row.id in self.memory
        return self.again and not (self.first or still) and self.aloft(row)

    def aloft(self, row: Row) -> bool:
        """Whether a gap that has been open still is, however small it is: what has hardly left falls back slowly."""
        return one_sided(row) and row.gap > max(APART * self._size, -AT_ONCE * float(row.rate[0]))

    def _apart(self, rows: tuple[Row, ...], modes: Modes, q: Array, v: Array) -> tuple[Array, Array]:
        """Return q and v without overlaps of contacts that touched, where others have been put back."""
        touched = {row.id for row in rows if _touches(row, self.accuracy.activation) and not modes[row.id].closed}
        now = rows_of(self.system, self.t, q, v)
        under = {row.id: CLOSED for row in now if row.id in touched and row.gap < -FLIGHT}
        if not under:
            return q, v
        q, now = placed(self.system, {**modes, **under}, self.t, q, v, now)
        return held(self.system, modes, self.t, q, v, now)

    def _place(self, rows: tuple[Row, ...] | None = None) -> Place:
        """Ask the system where it is now."""
        t, q, v, system = self.t, self.q, self.v, self.system
        rows = rows_of(system, t, q, v) if rows is None else rows
        return Place(t, q, v, rows, system.mass(q), system.force(t, q, v, self.control))

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
            self._enter(chosen.phase, chosen.now)

    def _enter(self, phase: Phase, now: Instant | None = None) -> None:
        """Begin a phase: conditions that start at zero may not end it at once."""
        self.phase, self.entered = phase, True
        self.now = now = now or phase.instant(self.t, self.q, self.v)
        self._measure(now)
        self.offsets = {}
        for watch, g in zip(phase.watches, phase.conditions(now), strict=True):
            armed, least = self._unit(watch.unit, now), SETTLED
            row = now.rows[watch.k]
            if watch.kind == "touchdown" and one_sided(row) and abs(row.rate[0]) > self.closed.speed:
                armed, least = ROUNDED * self._size, 1.0  # it is known which way it goes
            if g <= least * armed:
                self.offsets[(watch.id, watch.kind)] = armed + max(0.0, -float(g))

    @property
    def _size(self) -> float:
        return max(1.0, float(np.abs(self.q).max(initial=0.0)))

    def _impact(self, rows: tuple[Row, ...]) -> tuple[str, ...]:
        """Solve the impact problem if a closed row closes further, and return the rows that do."""
        activation = self.closed
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

    def _consider_passing(self, t_stop: float) -> None:
        """Note what has rebounded, and put it to rest if infinitely many impacts follow that end soon."""
        if not any(change.kind == "impact" and change.t == self.t for change in self.changes) or self.phase is None:
            return
        closed = self.closed
        rows = [row for row in self.phase.rows if _touches(row, closed) and row.rate[0] > closed.speed]
        ready: list[Rebound] = []
        for row in rows:
            self.passing.pop(row.id, None)  # struck by another contact on the way
            last, speed = self.bounced.get(row.id), float(row.rate[0])
            new = Rebound(t=self.t, speed=speed) if last is None else last.then(self.t, speed)
            end = None if last is None else last.rest(new)
            if end is not None and self.t < end <= t_stop:
                ready.append(replace(new, end=end))
            self.bounced[row.id] = new
        if self.again:
            self._rest_again(self.phase, rows)
        elif ready:
            first = min(ready, key=lambda one: one.end)
            self._come_to_rest(self.phase, first.end, tuple(row.id for row in rows if self._ends_with(row, first)))

    def _ends_with(self, row: Row, ready: Rebound) -> bool:
        """Whether a contact that opens comes to rest with a sequence: not one that is on its way to another end."""
        own = self.bounced[row.id]
        if own.end < np.inf:
            return abs(own.end - ready.end) <= STEADY * (ready.end - self.t)
        return own.speed <= WITH * ready.speed

    def _rest_again(self, phase: Phase, rows: Sequence[Row]) -> None:
        """Put to rest what came to rest here when this leg was run first."""
        near = AS_ONE * max(1.0, abs(self.t))
        due = {row.id: self.rests[row.id].end for row in rows
               if row.id in self.rests and self.rests[row.id].last <= self.t + near}  # fmt: skip
        if due:
            end = min(due.values())
            self._come_to_rest(phase, end, tuple(key for key, one in due.items() if one == end))

    def _come_to_rest(self, phase: Phase, end: float, ids: tuple[str, ...]) -> None:
        """Put touching rows to rest, with the friction that goes with it; the leg ends when their sequence would.

        The impulse that takes the last rebound away pulls; only with the reactions up to the end of the sequence it is
        the sum of its impulses, whose friction must not drive: else the impacts are not passed.
        """
        flat = tuple(row.but(rate=_without_normal(row)) if row.id in ids else row for row in phase.rows)
        modes = first_modes(flat, phase.modes, self.closed)
        rest = phase.but(modes)
        G, B, _, _ = rest.columns(phase.rows, len(self.v))
        M, was = phase.system.mass(self.q), self.v
        X = np.linalg.solve(M, B.T)
        p = np.asarray(np.linalg.lstsq(G @ X, -(G @ was + rest.explicit(phase.rows, was)), rcond=None)[0], np.float64)
        self.v = was + X @ p
        place = self._place()
        chosen = choose(phase.system, self.state(), place, [modes], self.control, self.closed)
        before, after = 0.5 * float(was @ M @ was), 0.5 * float(self.v @ M @ self.v)
        now = chosen.now
        if chosen.phase is None or now is None or self._driven(rest, p, phase.rows, now, end) > PASSIVE * before:
            self.v = was
            return
        self.work[0] += after - before
        self.passing |= dict.fromkeys(ids, end)
        self._enter(chosen.phase, now)

    def _driven(self, rest: Phase, p: Array, rows: tuple[Row, ...], now: Instant, end: float) -> float:
        """Return the work of the impulses p that put rows to rest, and of the reactions until `end`, J."""
        work = 0.0
        for before, after, impulse, r in zip(rows, now.rows, rest.spread(rows, p), now.r, strict=True):
            work += 0.5 * float(impulse @ (before.rate + after.rate)) + (end - self.t) * float(r @ after.rate)
        return work

    def _stop_here(self) -> None:
        """Let slips stop that would stop as near beyond the end as counts: there the laws take them for at rest."""
        if self.phase is None or self.now is None:
            return
        if fired := stopping(self.phase, self.now, self.accuracy.activation):
            self._settle(self.now, self.phase.modes, fired, None)

    def _note_rest(self) -> None:
        """Note the end of sequences of impacts that were passed."""
        after = self.state()
        for key in [key for key, end in self.passing.items() if end <= self.t]:
            end = self.passing.pop(key)
            self.changes.append(Change(t=end, kind="accumulation", id=key, before=after, after=after))
            self.bounced.pop(key, None)


def closes(row: Row, activation: Activation) -> bool:
    """Whether a row that is closed has a rate that its constraint does not allow, so that the velocity must jump."""
    if row.kind == "dry" or row.level == "acceleration":
        return False
    rate = row.rate[:1] if row.frictional else row.rate
    if row.bilateral:
        return bool((np.abs(rate) > activation.speed).any())
    touches = row.level == "velocity" or row.gap <= activation.gap
    return touches and bool((rate < -activation.speed).any())


def one_sided(row: Row) -> bool:
    """Whether a row is a gap that may open."""
    return row.level == "position" and row.kind in ("contact", "unilateral")


def _touches(row: Row, activation: Activation) -> bool:
    return one_sided(row) and row.gap <= activation.gap


def _without_normal(row: Row) -> Array:
    rate = row.rate.copy()
    rate[0] = 0.0
    return rate
