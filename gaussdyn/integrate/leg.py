"""One leg of an event-driven run: from a state to the next event.

The motion of a phase is integrated with its impulses and its work; closed gaps and the rates of what is held are put
back after every step of the integrator. An event ends the leg: impacts are solved, the modes of the next phase chosen.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Array
from ..contact.snapshot import Activation, rows_of
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..programs.solution import Solution
from .accumulation import Rebound
from .changes import Change, kind_of
from .course import SETTLED, Course, Stretch
from .dop853 import SHRINK, Piece
from .event_roots import Crossing, polished
from .holding import held
from .impact import impact
from .integration import NEARLY, Stuck
from .mode_choice import Chosen, after_event, choose, first_modes, holds, modes_of_reactions
from .mode_memory import LENGTH, rebounds, remembered
from .phases import CLOSED, OPEN, Instant, Mode, Modes, Phase
from .user_events import NamedEvent, first_of

AHEAD = 1e-4  # of a step: how far beyond an event the old phase is asked which modes come next
TOGETHER = {"place": 1e-10, "speed": 1e-9, "force": 1e-9, "acceleration": 1e-9}  # conditions that end at one time
FLIGHT = 1e-11  # m: gaps above this that were open in the step before are open, even where they count as closed
AT_ONCE = 50  # events of one leg: it goes on only where they happen at its very beginning
NARROW = 1e-8  # s, times max(1, t): shorter steps are not repeated for contacts that they overlook
PASSING = 0.05  # of the time in which shapes pass each other: how often it is asked whether they overlap
PASSIVE = 1e-12  # of the kinetic energy: gain that is rounding


@dataclass(slots=True, kw_only=True, eq=False)
class Leg(Course):
    """The running leg.

    Attributes
    ----------
    failure : Solution or None
        Why there is no phase.
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
    events : tuple of NamedEvent
        Of the user.
    ends : str
        Why the run shall end after this leg, if it shall.
    """

    failure: Solution | None = None
    kept: float = 1.0
    bounced: dict[str, Rebound] = field(default_factory=dict)
    passing: Rebound | None = None
    at_once: int = 0
    again: bool = False
    rest_at: float | None = None
    resting: tuple[str, ...] = ()
    events: tuple[NamedEvent, ...] = ()
    ends: str = ""

    def __post_init__(self) -> None:
        self.system = self.whole
        self.bounced = rebounds(self.memory)
        self.h = float(self.memory[LENGTH][0]) if LENGTH in self.memory else 0.0

    def begin(self, t_end: float) -> None:
        """Find the phase at the beginning: the one remembered if it holds, else what the laws say."""
        if self._goes_on():
            return
        rows = self._look_around(min(self.h or t_end - self.t, t_end - self.t))
        known = remembered(self.memory, [row.id for row in rows])
        if known:
            phase = Phase(system=self.system, control=self.control, modes=_completed(rows, known), rows=rows)
            if now := holds(phase, self.state(), self.accuracy.activation, touching=FLIGHT):
                self._enter(phase, now)
                return
        self._settle(rows, known, {}, None)

    def _goes_on(self) -> bool:
        """Take over the phase that a leg has just entered at the very state where this one begins, if there is one."""
        for memory, last in tuple(_ENTERED):
            if memory is not self.memory or self.again or last.whole is not self.whole or last.t != self.t:
                continue
            if last.accuracy == self.accuracy and all(_same(*pair) for pair in self._given(last)):
                self.phase, self.now, self.offsets, self.entered = last.phase, last.now, dict(last.offsets), True
                return True
        return False

    def _given(self, last: Leg) -> tuple[tuple[Array | None, Array | None], ...]:
        return (last.control, self.control), (last.q, self.q), (last.v, self.v)

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
                if piece is not None and self._pass_user(self.phase, stretch, end):
                    if self.passing is None:
                        return
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
        """Whether shapes overlap in a step, or before an event in it, with features that it does not know."""
        if phase.system is self.whole or piece.h <= NARROW * max(1.0, abs(self.t)):
            return False
        known, end = {row.id for row in phase.rows}, piece.t_end if found is None else found.t
        if self._overlaps(known, end, piece.end if found is None else piece.at(end)):
            return True
        looks = self._looks(phase, piece, end)
        return any(self._overlaps(known, t, piece.at(t)) for t in np.linspace(piece.t, end, looks + 1)[1:-1].tolist())

    def _overlaps(self, known: Container[str], t: float, y: Array) -> bool:
        """Whether shapes overlap with features that are not known."""
        q, v = self._parts(y)
        rows = rows_of(self.whole.near(t, q, v, 0.0), t, q, v)
        deep = -self.accuracy.activation.gap
        return any(row.id not in known and _one_sided(row) and row.gap < deep for row in rows)

    def _looks(self, phase: Phase, piece: Piece, end: float) -> int:
        """Return into how many parts a step is cut so that shapes cannot pass through each other in one of them."""
        transit = getattr(self.whole, "transit", None)
        if transit is None or not any(watch.kind == "touchdown" for watch in phase.watches):
            return 1
        quickest = float(min(transit(self._parts(y)[1]) for y in (piece.y, piece.end)))
        return math.ceil((end - piece.t) / (PASSING * quickest))

    def _count(self, found: Crossing) -> None:
        """Raise Stuck after too many events at one instant."""
        self.at_once += 1
        if self.at_once > AT_ONCE:
            raise Stuck(f"{self.at_once} events at one instant, the last one ({found.watch.kind}) at {found.watch.id}")

    def end_state(self, memory: Mapping[str, Array]) -> State:
        """Return the state as it is now, checked, with what it shall remember."""
        state = State(t=self.t, q=self.q, v=self.v, memory=memory)
        if self.entered and self.phase is not None and self.phase.system is self.whole:
            _ENTERED.append((state.memory, self))
        return state

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

    # events

    @property
    def every_step(self) -> bool:
        """Whether events of the user have to be looked for in every step of the integrator."""
        return bool(self.events)

    def _pass_user(self, phase: Phase, stretch: Stretch, end: float) -> bool:
        """Go to the first event of the user in a step, if there is one before any other event."""
        piece, one_step = stretch.piece, stretch.one_step
        assert piece is not None
        until = piece.t_end if stretch.found is None else stretch.found.t
        first = first_of(self.events, piece, until, self._read)
        if first is None:
            return False
        assert one_step is not None
        one, crossing, look = first
        t, y = polished(piece, lambda h: self._again_to(piece, piece.t + h, one_step), look, crossing)
        self._accept(phase, replace(piece, h=t - piece.t, end=y), None, end)
        here = self.state()
        modes = {} if self.phase is None else self.phase.modes
        change = Change(
            t=t, kind="user", id=one.name, before=here, after=here, modes_before=modes, modes_after=modes
        )  # fmt: skip
        self.changes.append(change)
        if one.event.stop:
            self.ends = f"the event {one.name!r} ends the run"
        return True

    def _read(self, t: float, y: Array) -> State:
        """Return the state at a point of the integrator."""
        q, v = (x.copy() for x in self._parts(y))
        if len(q) != len(v):
            q = self.system.move(q, np.zeros(len(v)), 0.0)
        return State(t=t, q=q, v=v)

    def _pass(self, phase: Phase, stretch: Stretch, found: Crossing, t_stop: float) -> None:
        """Go to an event and choose what comes after it."""
        piece, look, one_step = stretch.piece, stretch.look, stretch.one_step
        assert piece is not None
        assert look is not None
        assert one_step is not None
        t, y = polished(piece, lambda h: self._again_to(piece, piece.t + h, one_step), look, found)

        def later() -> State:
            """Return a state a little later along the old phase."""
            q, v = self._parts(piece.at(t + AHEAD * piece.h))
            return State(t=t + AHEAD * piece.h, q=q, v=v, memory=self.memory)

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
        self, rows: tuple[Row, ...], known: Modes, fired: Mapping[str, set[str]],
        later: Callable[[], State] | None,
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
        q, v = held(self.system, guesses[0], self.t, self.q, self.v, rows)
        if not (q is self.q and v is self.v):
            self.q, self.v = q, v
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
            self._enter(chosen.phase, chosen.now)

    def _enter(self, phase: Phase, now: Instant | None = None) -> None:
        """Begin a phase: conditions that start at zero may not end it at once."""
        self.phase, self.entered = phase, True
        self.now = now = now or phase.instant(self.t, self.q, self.v)
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
        self._enter(chosen.phase, chosen.now)

    def _note_rest(self) -> None:
        """Note the end of a sequence of impacts that was passed."""
        if self.passing is None:
            return
        after = self.state()
        for key in self.resting:
            self.changes.append(Change(t=self.passing.end, kind="accumulation", id=key, before=after, after=after))
            self.bounced.pop(key, None)
        self.passing = None


_ENTERED: deque[tuple[Mapping[str, Array], Leg]] = deque(maxlen=2)  # by the memory of the state at their end


def closes(row: Row, activation: Activation) -> bool:
    """Whether a row that is closed has a rate that its constraint does not allow, so that the velocity must jump."""
    if row.kind == "dry" or row.level == "acceleration":
        return False
    rate = row.rate[:1] if row.frictional else row.rate
    if row.bilateral:
        return bool((np.abs(rate) > activation.speed).any())
    touches = row.level == "velocity" or row.gap <= activation.gap
    return touches and bool((rate < -activation.speed).any())


def _same(x: Array | None, y: Array | None) -> bool:
    return x is y or (x is not None and y is not None and np.array_equal(x, y))


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
