"""What follows an event: the impact, the modes of the next phase, rest after infinitely many impacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import EPS, Array
from ..contact.snapshot import Activation, rows_of
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..programs.solution import Solution
from .accumulation import Rebound
from .changes import Change, kind_of
from .course import SETTLED, Course
from .holding import held, placed
from .impact import impact
from .instants import Instant, Place
from .mode_choice import Chosen, after_event, choose, first_modes, modes_of_reactions, stopping
from .modes import CLOSED, Modes
from .phases import Phase

FLIGHT = 1e-11  # m: gaps above this that were open in the step before are open, even where they count as closed
WITH = 10.0  # times what is left of a sequence of impacts: contacts that come to rest within it are part of it
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
    passing : Rebound or None
        The sequence of impacts that ends with this leg.
    again : bool
        Whether a leg of the past is repeated: its memory holds its impulses.
    rest_at : float or None
        When the sequence of impacts at the end of this leg ends, where that is known.
    resting : tuple of str
        What rests after it.
    """

    failure: Solution | None = None
    kept: float = 1.0
    bounced: dict[str, Rebound] = field(default_factory=dict)
    passing: Rebound | None = None
    again: bool = False
    rest_at: float | None = None
    resting: tuple[str, ...] = ()

    def _settle(
        self, place: Place, known: Modes, fired: Mapping[str, set[str]], later: Callable[[], State] | None
    ) -> None:  # fmt: skip
        """Solve the impact if something closes, and choose the next phase."""
        before, activation = self.state(), self.accuracy.activation
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
            armed = self._unit(watch.unit, now)
            if g <= SETTLED * armed:
                self.offsets[(watch.id, watch.kind)] = armed + max(0.0, -float(g))

    def _impact(self, rows: tuple[Row, ...]) -> tuple[str, ...]:
        """Solve the impact problem if a closed row closes further, and return the rows that do."""
        activation = self.accuracy.activation
        closing = tuple(row.id for row in rows if closes(row, activation))
        if not closing:
            return ()
        start = self._left_of_claims(rows) if self.again else None
        said = impact(self.system, self.state(), law=self.accuracy.law, activation=activation, start=start)
        if not said.solved:
            self.failure = said.solution.but(status=said.status)
            return closing
        for key, p in said.impulses.items():
            self._push(key, p)
        self.v = np.array(said.v)
        self.work[0] += said.energy
        self.kept = min(self.kept, said.kept)
        return closing

    def _left_of_claims(self, rows: tuple[Row, ...]) -> dict[str, Array]:
        """Return what a leg that is repeated lacks of its impulses: among redundant contacts impacts have several."""
        claims = {row.id: self.memory[row.id] for row in rows if row.id in self.memory}
        return {key: p - self.impulses[key] if key in self.impulses else p for key, p in claims.items()}

    def _consider_passing(self, t_stop: float) -> None:
        """Note what has rebounded, and put it to rest if infinitely many impacts follow that end soon."""
        if not any(change.kind == "impact" and change.t == self.t for change in self.changes) or self.phase is None:
            return
        activation = self.accuracy.activation
        rows = [row for row in self.phase.rows if _touches(row, activation) and row.rate[0] > activation.speed]
        ready = None if self.rest_at is None else Rebound(t=self.t, speed=1.0, end=self.rest_at)
        rounding = EPS * max(1.0, float(np.abs(self.q).max(initial=0.0)))
        for row in rows:
            last, speed = self.bounced.get(row.id), float(row.rate[0])
            new = Rebound(t=self.t, speed=speed) if last is None else last.then(self.t, speed, rounding)
            if last is not None and last.passes(new) and new.end <= t_stop:
                ready = new
            self.bounced[row.id] = new
        if ready is not None:
            self._come_to_rest(self.phase, ready, tuple(row.id for row in rows if self._ends_with(row, ready)))

    def _ends_with(self, row: Row, ready: Rebound) -> bool:
        """Whether an open contact comes to rest with a sequence: one that only flies by does not."""
        if row.gap <= FLIGHT or self.again:
            return row.gap <= FLIGHT or row.id in self.memory
        return self.bounced[row.id].end - self.t <= WITH * (ready.end - self.t)

    def _come_to_rest(self, phase: Phase, ready: Rebound, ids: tuple[str, ...]) -> None:
        """Put touching rows to rest, with the friction that goes with it; the leg ends when the sequence would.

        The impulse that takes the last rebound away pulls; only with the reactions up to the end of the sequence it is
        the sum of its impulses, whose friction must not drive: else the impacts are not passed.
        """
        flat = tuple(row.but(rate=_without_normal(row)) if row.id in ids else row for row in phase.rows)
        modes = first_modes(flat, phase.modes, self.accuracy.activation)
        rest = phase.but(modes)
        G, B, _, _ = rest.columns(phase.rows, len(self.v))
        M, was = phase.system.mass(self.q), self.v
        X = np.linalg.solve(M, B.T)
        p = np.asarray(np.linalg.lstsq(G @ X, -(G @ was + rest.explicit(phase.rows, was)), rcond=None)[0], np.float64)
        self.v = was + X @ p
        place = self._place()
        chosen = choose(phase.system, self.state(), place, [modes], self.control, self.accuracy.activation)
        before, after = 0.5 * float(was @ M @ was), 0.5 * float(self.v @ M @ self.v)
        now = chosen.now
        if chosen.phase is None or now is None or self._driven(rest, p, phase.rows, now, ready.end) > PASSIVE * before:
            self.v = was
            return
        self.work[0] += after - before
        self.passing, self.resting = ready, ids
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


def one_sided(row: Row) -> bool:
    """Whether a row is a gap that may open."""
    return row.level == "position" and row.kind in ("contact", "unilateral")


def _touches(row: Row, activation: Activation) -> bool:
    return one_sided(row) and row.gap <= activation.gap


def _without_normal(row: Row) -> Array:
    rate = row.rate.copy()
    rate[0] = 0.0
    return rate
