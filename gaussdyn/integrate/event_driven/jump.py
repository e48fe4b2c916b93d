"""What follows an event: the impact, the modes of the next phase, rest after infinitely many impacts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import EPS, Array
from ...contact.snapshot import Activation, rows_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...programs.solution.solution import Solution
from ..contact_modes import CLOSED, Modes
from ..impact.history import ImpactRecord
from ..impact.impact import impact
from ..impact.problem import one_sided
from ..impact.zeno import Rebound
from ..mode_changes import Change, kind_of
from .compiled.phase_arrays import CompiledPhase
from .drift_correction import held, placed
from .event_location import Seen
from .flow import ARMED, SETTLED, SmoothFlow
from .mode_selection import Chosen, after_event, choose, first_modes, stopping
from .phase_state import Instant, Place, largest
from .run_memory import Beginning
from .simultaneous_contacts import parted, rounding, sections
from .smooth_phase import Phase

FLIGHT = 1e-11  # m: gaps above this that were open in the step before are open, even where they count as closed
WITH = 10.0  # times what is left of a sequence of impacts: contacts that come to rest within it are part of it
PASSIVE = 1e-12  # of the kinetic energy: gain that is rounding


@dataclass(slots=True, kw_only=True, eq=False)
class Jump(SmoothFlow):
    """A motion that goes on from phase to phase.

    Attributes
    ----------
    begun : Beginning
    bounced : dict of str to Rebound
    failure : Solution or None
        Why there is no phase.
    passing : dict of str to float
        When the sequences of impacts end that are being passed (s), by row id: the segment does not end before.
    closed : Activation
        What counted as closed where modes were chosen last, see `parted`.
    """

    begun: Beginning
    bounced: dict[str, Rebound]
    failure: Solution | None = None
    passing: dict[str, float] = field(default_factory=dict)
    closed: Activation = field(default_factory=Activation)

    def _settle(
        self, place: Place, known: Modes, fired: Mapping[str, set[str]], later: Callable[[], State] | None,
        landing: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Solve the impact if something closes, and choose the next phase; `landing` see `parted`."""
        before = self.state()
        self.closed = activation = parted(place, known, landing, self.task.accuracy.activation)
        fired = {key: kinds for key, kinds in fired.items() if key not in activation.aloft}
        struck, after = self._impact(place)
        if self.failure is not None:
            self.phase = None
            return
        if struck:
            place = self._place(after)
        if struck or not fired or not isinstance(place, Instant):
            guesses: list[Modes] = [first_modes(place.rows, known, activation)]
            if struck:  # what an impact has stopped sticks, if it can
                still = {
                    key: mode.but(slip=(), roll=()) if mode.slip or mode.roll else mode for key, mode in known.items()
                }
                guesses.insert(0, first_modes(place.rows, still, activation))
        else:
            guesses = after_event(known, place, fired, activation)
        q, v = held(self.system, guesses[0], self.t, self.q, self.v, place.rows)
        if not (q is self.q and v is self.v):
            self.q, self.v = self._apart(place.rows, guesses[0], q, v)
            place = self._place()
        chosen = choose(
            self._setting(), self.state(), place, guesses, activation, None if struck else later, self.sizes
        )  # fmt: skip
        self._take_over(chosen, known, before, struck)

    def _apart(self, rows: tuple[Row, ...], modes: Modes, q: Array, v: Array) -> tuple[Array, Array]:
        """Return q and v without overlaps of contacts that touched, where others have been put back."""
        touched = {row.id for row in rows if _touches(row, self.closed) and not modes[row.id].closed}
        now = rows_of(self.system, self.t, q, v)
        under = {row.id: CLOSED for row in now if row.id in touched and row.gap < -FLIGHT}
        if not under:
            return q, v
        q, now = placed(self.system, {**modes, **under}, self.t, q, v, now)
        return held(self.system, modes, self.t, q, v, now)

    def _place(self, rows: tuple[Row, ...] | None = None) -> Place:
        """Ask the system where it is now."""
        rows = rows_of(self.system, self.t, self.q, self.v) if rows is None else rows
        return Place.of(self.system, self.t, self.q, self.v, self.task.control, rows)

    def _take_over(self, chosen: Chosen, known: Modes, before: State, struck: tuple[str, ...]) -> None:
        """Enter the chosen phase and note what has changed."""
        after = self.state()
        modes = {} if chosen.phase is None else chosen.phase.modes
        kinds = [("impact", key) for key in struck]
        kinds += [
            (kind, key) for key, mode in modes.items()
            if key in known and (kind := kind_of(known[key], mode)) is not None
        ]  # fmt: skip
        self.account.changes += [
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
        now = now or phase.instant(self.t, self.q, self.v)
        task, begun = self.task, None
        whole = phase.system is task.whole
        ship = CompiledPhase.of_clear(phase, task.accuracy, task.known.mechanism) if whole else None
        if ship is not None:  # the same numbers as where kernels pass an event
            begun, size, free = ship.begun(self.t, self.q, self.v)
            now = replace(now, sizes=(size, now.sizes[1], free))
        self._measure(now)
        scales = self._scales(phase, now)
        self.now = now = phase.sharing(now)
        begun = begun or Seen(self.t, phase.conditions(now), phase.rates(now))
        self.offsets = offsets_of(phase, begun, scales, self.q, self.closed.speed)

    def _impact(self, place: Place) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        """Solve the impact problem if a closed row closes further; return the ids of those that do, and all rows."""
        activation, rows = self.closed, place.rows
        closing = tuple(row.id for row in rows if closes(row, activation))
        if not closing:
            return (), rows
        said = impact(
            self.system, self.state(), law=self.task.accuracy.law, activation=activation, known=(rows, place.h)
        )
        if not said.solved:
            self.failure = said.solution.but(status=said.status)
            return closing, rows
        for key, p in said.impulses.items():
            self.account.push(key, p, self.system)
        self.jump("impact", np.array(said.v), tuple(phase.own for phase in said.phases), said.energy, said.kept)
        return closing, said.rows

    def jump(
        self, kind: str, v: Array, problems: tuple[Mapping[str, Array], ...], energy: float, kept: float = 1.0
    ) -> None:
        """Take over a velocity, with the impulses that lead to it."""
        record = ImpactRecord(t=self.t, kind=kind, q=self.q, before=self.v, after=v, problems=problems, kept=kept)
        self.account.strike(record, energy)
        self.v = v

    def _consider_passing(self) -> None:
        """Note what has rebounded, and put it to rest if infinitely many impacts follow that end soon."""
        struck = any(change.kind == "impact" and change.t == self.t for change in self.account.changes)
        if not struck or self.phase is None or self.now is None:
            return
        closed = self.closed
        rows = [row for row in self.now.rows if _touches(row, closed) and row.rate[0] > closed.speed]
        ready: dict[str, Rebound] = {}
        for row in rows:
            self.passing.pop(row.id, None)  # struck on the way by another one
            last, speed = self.bounced.get(row.id), float(row.rate[0])
            new = rebound_of(last, self.t, speed, self.q)
            if passed_by(last, new, self.task.goal):
                ready[row.id] = new
            self.bounced[row.id] = new
        for end, ids in self._ended(rows, ready):
            self._come_to_rest(end, ids)

    def _ended(self, rows: list[Row], ready: Mapping[str, Rebound]) -> list[tuple[float, tuple[str, ...]]]:
        """Return what comes to rest and when: contacts with a body between them together."""
        if not ready or self.now is None:
            return []
        labels = sections(self.now.rows, self.now.M, self.closed)
        firsts = {labels[key]: one for key, one in ready.items()}
        return [
            (one.end, tuple(row.id for row in rows if labels[row.id] & section and self._ends_with(row, one)))
            for section, one in firsts.items()
        ]

    def _ends_with(self, row: Row, ready: Rebound) -> bool:
        """Whether an open contact comes to rest with a sequence: one that only flies by does not."""
        return row.gap <= FLIGHT or self.bounced[row.id].end - self.t <= WITH * (ready.end - self.t)

    def _come_to_rest(self, end: float, ids: tuple[str, ...]) -> None:
        """Put touching rows to rest, with the friction that goes with it; the segment ends when the sequence would.

        The impulse that takes the last rebound away pulls; only with the reactions up to the end of the sequence it is
        the sum of its impulses, whose friction must not drive: else the impacts are not passed.
        """
        phase, known = self.phase, self.now
        assert phase is not None
        assert known is not None
        rows = known.rows
        flat = tuple(row.but(rate=_without_normal(row)) if row.id in ids else row for row in rows)
        modes = first_modes(flat, phase.modes, self.closed)
        rest = phase.but(modes, rows)
        G, B, _, _ = rest.columns(rows, len(self.v))
        M, was = known.M, self.v
        X = np.linalg.solve(M, B.T)
        p = np.asarray(np.linalg.lstsq(G @ X, -(G @ was + rest.explicit(rows, was)), rcond=None)[0], np.float64)
        self.v = was + X @ p
        place = self._place()
        chosen = choose(self._setting(), self.state(), place, [modes], self.closed)
        before, after = 0.5 * float(was @ M @ was), 0.5 * float(self.v @ M @ self.v)
        now = chosen.now
        v, self.v = self.v, was
        # friction under a given load is a force: it has no impulse
        parts = zip(rest.spread(rows, p), rest.spread(rows, np.zeros_like(p)), strict=True)
        pushes = [with_p - given for with_p, given in parts]
        if chosen.phase is None or now is None or self._driven(pushes, now, rows, end) > PASSIVE * before:
            return
        impulses = {row.id: x for row, x in zip(rows, pushes, strict=True) if x.any()}
        self.jump("rest", v, (impulses,), after - before)
        self.passing |= dict.fromkeys(ids, end)
        self._enter(chosen.phase, now)

    def _driven(self, pushes: Sequence[Array], now: Instant, rows: tuple[Row, ...], end: float) -> float:
        """Return the work of the impulses that put rows to rest, and of the reactions until `end`, J."""
        work = 0.0
        for before, after, impulse, r in zip(rows, now.rows, pushes, now.r, strict=True):
            work += 0.5 * float(impulse @ (before.rate + after.rate)) + (end - self.t) * float(r @ after.rate)
        return work

    def _stop_here(self) -> None:
        """Let slips stop that would stop as near beyond the end as counts: there the laws take them for at rest."""
        if self.phase is None or self.now is None:
            return
        if fired := stopping(self.phase, self.now, self.task.accuracy.activation):
            self._settle(self.now, self.phase.modes, fired, None)

    def _note_rest(self) -> None:
        """Note the ends of sequences of impacts that were passed."""
        after = self.state()
        for key in [key for key, end in self.passing.items() if end <= self.t]:
            end = self.passing.pop(key)
            self.account.changes.append(Change(t=end, kind="accumulation", id=key, before=after, after=after))
            self.bounced.pop(key, None)


def rebound_of(last: Rebound | None, t: float, speed: float, q: Array) -> Rebound:
    """Return the rebound of a contact that opens at a speed (m/s), after the last one."""
    return Rebound(t=t, speed=speed) if last is None else last.then(t, speed, EPS * max(1.0, largest(q)))


def passed_by(last: Rebound | None, new: Rebound, goal: float) -> bool:
    """Whether all impacts after a rebound are passed: infinitely many, which end before the goal (s)."""
    return last is not None and last.passes(new) and new.end <= goal


def offsets_of(
    phase: Phase, begun: Seen, scales: Mapping[str, float], q: Array, still: float
) -> dict[tuple[str, str], float]:  # fmt: skip
    """Return by how much the conditions of a phase that begin at zero are raised, by row id and kind.

    Parameters
    ----------
    begun : Seen
        The conditions at its beginning, with their rates.
    scales : mapping of str to float
        What they are measured by, by unit.
    q : Array
        Where it begins.
    still : float
        Speeds up to this count as zero, m/s.
    """
    found = {}
    for guard, g, rate in zip(phase.guards, begun.g.tolist(), begun.rate.tolist(), strict=True):
        armed = ARMED[guard.unit] * scales[guard.unit]
        least = SETTLED * armed
        if guard.kind == "touchdown" and abs(rate) > still and one_sided(phase.rows[guard.k]):
            armed = least = rounding(q)  # it is known which way it goes
        if g <= least:
            found[guard.id, guard.kind] = armed + max(0.0, -g)
    return found


def closes(row: Row, activation: Activation) -> bool:
    """Whether a row that is closed has a rate that its constraint does not allow, so that the velocity must jump."""
    if row.kind == "dry" or row.level == "acceleration":
        return False
    rate = row.rate[:1] if row.frictional else row.rate
    if row.bilateral:
        return bool((np.abs(rate) > activation.speed).any())
    touches = row.level == "velocity" or activation.touches(row)
    return touches and bool((rate < -activation.speed).any())


def _touches(row: Row, activation: Activation) -> bool:
    return one_sided(row) and activation.touches(row)


def _without_normal(row: Row) -> Array:
    rate = row.rate.copy()
    rate[0] = 0.0
    return rate
