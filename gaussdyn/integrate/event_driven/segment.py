"""One segment of an event-driven run: from a state to the next event.

The motion of a phase is integrated with its impulses and its work; closed gaps and the rates of what is held are put
back after every step of the integrator. An event ends the segment: impacts are solved, the modes of the next phase
chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...contact.resolve import NO_MOTION
from ...contact.snapshot import Activation, rows_of
from ...mechanics.state import State
from ..contact_modes import completed
from ..dop853 import SHRINK, Piece, Slope
from ..impact.problem import one_sided
from ..mode_changes import Change
from ..mode_memory import CROWD, LARGEST, LENGTH, PACE, memory_of, rebounds, remembered
from ..stretch import Late
from .contact_detection import NARROW, Listed, kept, listed, looking_on, with_contacts
from .event_location import Crossing, polished
from .feature_borders import room_of
from .flow import ARMED, FAINT, SETTLED, Stretch
from .guards import TOGETHER
from .jump import FLIGHT
from .mode_selection import choose, first_modes, holds
from .phase_integrator import NEARLY, SHORT, Pace, Stuck, again_to
from .phase_state import Instant, Place
from .rank_watch import RankWatch
from .run_memory import Beginning, Entered, Task
from .simultaneous_contacts import LOCATED
from .smooth_phase import Phase
from .user_events import first_of

AHEAD = 1e-4  # of a step: how far beyond an event the old phase is asked which modes come next
CUTS = 400  # steps of one segment that are repeated for contacts that they overlook
AT_ONCE = 50  # events of one segment: it goes on only where they happen at its very beginning
ON_THE_WAY = 2000  # or where it passes a sequence of impacts
ON = 1e-9  # m: where features end and no others follow, how far the contact goes on until it is asked again
BEYOND = 1e-5  # s, times max(1, t): so far at most beyond an event after which no acceleration seems to exist
PASSING = 0.05  # of the time in which shapes pass each other: how often it is asked whether they overlap


@dataclass(slots=True, kw_only=True, eq=False)
class Segment(RankWatch):
    """The running segment."""

    @classmethod
    def of(cls, task: Task) -> Segment:
        """Return the segment of a task: in the phase that the one before it has entered, or as the state remembers."""
        start, entered = task.start, reversed(task.known.entered)
        known = (last.what for last in entered if last.begins(start, task.control, task.accuracy))
        begun = next(known, None) or _remembered(start.memory, task.accuracy.activation)
        return cls(
            task=task, begun=begun, t=start.t, q=start.q, v=start.v, pace=begun.pace, system=task.whole,
            phase=begun.phase, now=begun.now, offsets=dict(begun.offsets), entered=begun.phase is not None,
            largest=dict(begun.largest), bounced=dict(begun.bounced), closed=begun.closed,
        )  # fmt: skip

    def begin(self, t_end: float) -> None:
        """Find the phase at the beginning: the one remembered if it holds, else what the laws say."""
        if self.phase is not None:
            return
        rows = self._list(min(self.pace.h or t_end - self.t, t_end - self.t)).rows
        known = remembered(self.task.start.memory, [row.id for row in rows])
        if not known and self._begins_without_rank(rows):
            return
        if known:
            phase = self._setting().phase(completed(rows, known), rows)
            place, activation = self._place(rows), self.task.accuracy.activation
            if now := holds(phase, place, activation, touching=FLIGHT, sizes=self.sizes):
                self._enter(phase, now)
                return
        self._settle(self._place(rows), known, {}, None)

    def run(self, t_end: float) -> None:
        """Go on to the next event, or to `t_end`; a sequence of impacts may be passed if it ends before the goal.

        Raises
        ------
        Stuck
            The integrator cannot go on.
        """
        begun, cuts, events = self.t, 0, 0
        self._fade()
        self._watch_rank()
        while self.phase is not None:
            last = min(self.passing.values(), default=t_end)
            end = min(last, self.barrier)
            if self.t < end:
                mark = self._mark()
                stretch = self._sail(self.phase, end) or self._stretch(self.phase, end)
                piece, found = stretch.piece, stretch.found
                if piece is not None and self._overlooks(self.phase, piece, found):
                    cuts += 1
                    self._shorten(piece, cuts)
                    continue
                if piece is not None and self._pass_user(self.phase, stretch, end):
                    if not self.passing:
                        return
                    continue
                if found is not None:
                    happens, events = self._pass(self.phase, stretch, found), events + 1
                    self._check_count(found, events)
                    if happens and not self.passing and self.t > begun:
                        return
                    continue
                if piece is not None:
                    self._accept(self.phase, piece, stretch.after, end)
                if self._leapt(mark):
                    continue
            if self._arrives():
                return
            if self.t >= last:
                self._stop_here()
                self._note_rest()
                if not self.passing:
                    return

    def _list(self, reach: float, held: Phase | None = None) -> Listed:
        """List the contacts that may act within a time (s): with the closed ones of a phase, or what ends handed on."""
        task, here, activation = self.task, (self.t, self.q, self.v), self.task.accuracy.activation
        found = listed(task.whole, here, reach, activation, {} if self.phase is None else self.phase.modes)
        found = looking_on(task.whole, found, here, activation) if held is None else kept(held, found, here, activation)
        self.system = found.system
        if found.shorter < self.pace.h:
            self.pace = replace(self.pace, h=found.shorter)
        return found

    def _seen(self, phase: Phase, reach: float = 0.0) -> Phase:
        """Return the phase with the contacts of shapes that are found where it is now, or may act within a time."""
        return phase if phase.system is self.task.whole else self._with(phase, self._list(reach))

    def _with(self, phase: Phase, found: Listed) -> Phase:
        self.account.turn(found.system, found.rows)
        return with_contacts(phase, found)

    def _overlooks(self, phase: Phase, piece: Piece, found: Crossing | None) -> bool:
        """Whether shapes overlap in a step, or before an event in it, where its own features are open or not there.

        A crossing of edges is a point of one of them, found at the beginning of a step; by its end it has moved.
        """
        if phase.system is self.task.whole or piece.h <= NARROW * max(1.0, abs(self.t)):
            return False
        known = {row.id for row in phase.rows if phase.modes[row.id].closed}
        end = piece.t_end if found is None else found.t
        deep = self._overlaps(known, end, piece.end if found is None else piece.at(end))
        looks = self._looks(phase, piece, end)
        between = np.linspace(piece.t, end, looks + 1)[1:-1].tolist() if not deep else ()
        for t in between:
            deep |= self._overlaps(known, t, piece.at(t))
        before = self._overlaps(known, piece.t, piece.y) if deep else {}
        return any(gap < before.get(key, 0.0) - FLIGHT for key, gap in deep.items())

    def _overlaps(self, known: Container[str], t: float, y: Array) -> dict[str, float]:
        """Return the gaps below zero of shapes that overlap with features that are not known."""
        q, v = self._parts(y)
        rows = rows_of(self.task.whole.near(t, q, v, 0.0), t, q, v)
        return {row.id: row.gap for row in rows if row.id not in known and one_sided(row) and row.gap < -FLIGHT}

    def _looks(self, phase: Phase, piece: Piece, end: float) -> int:
        """Return into how many parts a step is cut so that shapes cannot pass through each other in one of them."""
        transit = getattr(self.task.whole, "transit", None)
        if transit is None or not any(guard.kind == "touchdown" for guard in phase.guards):
            return 1
        quickest = float(min(transit(*self._parts(y), end - piece.t) for y in (piece.y, piece.end)))
        return math.ceil((end - piece.t) / (PASSING * quickest))

    def _shorten(self, piece: Piece, cuts: int) -> None:
        """Repeat a step with a shorter one; raise Stuck after too many."""
        self.pace = replace(self.pace, h=SHRINK * piece.h)
        if cuts > CUTS:
            words = f"shapes overlap again and again, however short the steps: {piece.h:.1e} s at t = {piece.t:.17g} s"
            raise Stuck(words)

    def _check_count(self, found: Crossing, events: int) -> None:
        """Raise Stuck after too many events at one instant."""
        if events > (ON_THE_WAY if self.passing else AT_ONCE):
            raise Stuck(f"{events} events at one instant, the last one ({found.guard.kind}) at {found.guard.id}")

    def end_state(self, crowd: float) -> State:
        """Return the state as it is now, with what it shall remember."""
        phase, now, pace, task = self.phase, self.now, self.pace, self.task
        modes = {} if phase is None else phase.modes
        forces = {} if phase is None or now is None else {row.id: r for row, r in zip(now.rows, now.r, strict=True)}
        short, sizes, bounced = pace.h < SHORT * pace.longest, tuple(self.largest.values()), self.bounced

        def memory() -> dict[str, Array]:
            """Return what the state remembers."""
            found = memory_of(modes, forces, bounced, pace.h, crowd)
            found[LARGEST] = np.array(sizes)
            if short:
                found[PACE] = np.array([pace.longest, *pace.crawled])
            return found

        state = State.trusted(self.t, self.q, self.v, Late(memory))
        if self.entered and phase is not None and now is not None and phase.system is task.whole:
            begins = Beginning(
                pace=Pace(h=pace.h, longest=pace.longest, crawled=pace.crawled) if short else Pace(h=pace.h),
                bounced=bounced, largest=self.largest, closed=self.closed, crowd=crowd, phase=phase, now=now,
                offsets=self.offsets,
            )  # fmt: skip
            task.known.entered.append(
                Entered(state=state, control=task.control, accuracy=task.accuracy, what=begins)
            )  # fmt: skip
        return state

    # integration

    def _accept(
        self, phase: Phase, piece: Piece, after: Instant | None, end: float, here: tuple[float, Array] | None = None
    ) -> None:  # fmt: skip
        """Go to the end of a step of the integrator, or to a time and the state there within it."""
        t, y = here or (piece.t_end, piece.end)
        t = end if abs(t - end) <= NEARLY * max(1.0, abs(end)) else t
        self._follow(phase, piece, t, y)
        after = after or phase.instant(self.t, self.q, self.v)
        if self._hold(phase, after.rows):
            after = phase.instant(self.t, self.q, self.v)
        phase = phase.turned(after)
        if phase.system is not self.task.whole:
            phase = self._with(phase, self._list(min(self.pace.h, max(end - self.t, 0.0)), phase))
            after = phase.instant(self.t, self.q, self.v)
        scales = self._scales(phase, after)
        self.phase, self.now = phase, (after := phase.sharing(after))
        for guard, g in zip(phase.guards, phase.conditions(after).tolist(), strict=True):
            if g > SETTLED * ARMED[guard.unit] * scales[guard.unit]:
                self.offsets.pop((guard.id, guard.kind), None)

    # events

    def _pass_user(self, phase: Phase, stretch: Stretch, end: float) -> bool:
        """Go to the first event of the user in a step, if there is one before any other event."""
        piece, one_step = stretch.piece, stretch.one_step
        assert piece is not None
        until = piece.t_end if stretch.found is None else stretch.found.t
        first = first_of(self.task.events, piece, until, self._read)
        if first is None:
            return False
        assert one_step is not None
        one, crossing, look = first
        t, y = polished(piece, lambda h: again_to(piece, piece.t + h, one_step), look, crossing)
        self._accept(phase, piece, None, end, (t, y))
        here = self.state()
        modes = {} if self.phase is None else self.phase.modes
        change = Change(
            t=t, kind="user", id=one.name, before=here, after=here, modes_before=modes, modes_after=modes
        )  # fmt: skip
        self.account.changes.append(change)
        if one.event.stop:
            self.ends = f"the event {one.name!r} ends the run"
        return True

    def _read(self, t: float, y: Array) -> State:
        """Return the state at a point of the integrator."""
        q, v = (x.copy() for x in self._parts(y))
        if len(q) != len(v):
            q = self.system.move(q, np.zeros(len(v)), 0.0)
        return State(t=t, q=q, v=v)

    def _pass(self, phase: Phase, stretch: Stretch, found: Crossing) -> bool:
        """Go to an event and choose what comes after it; whether it was one."""
        piece, look, one_step = stretch.piece, stretch.look, stretch.one_step
        assert piece is not None
        assert look is not None
        assert one_step is not None
        if stretch.event is None:
            offset = self.offsets.get((found.guard.id, found.guard.kind), 0.0)
            t, y = polished(piece, lambda h: again_to(piece, piece.t + h, one_step), look, found, offset)
            self._follow(phase, piece, t, y)
        else:
            t, y = stretch.event
            self._move_to(phase, t, y)

        def later() -> State:
            """Return a state a little later along the old phase."""
            q, v = self._parts(piece.at(t + AHEAD * piece.h))
            return State(t=t + AHEAD * piece.h, q=q, v=v, memory=self.task.start.memory)

        old, offsets = phase, self.offsets
        phase = self._seen(phase)
        now = phase.instant(self.t, self.q, self.v)
        self.now = now
        lost = [key for key, mode in old.modes.items() if mode.closed and key not in phase.modes]
        if lost:
            self._hand_over(old, now, phase, lost)
            return True
        self._measure_before(old, piece, now)
        if self._not_there(found, now):
            self._enter(self._seen(phase, self.pace.h))
            return False
        if found.guard.kind == "end":
            self.phase = phase
            offsets[(found.guard.id, "end")] = ON + 2.0 * abs(room_of(phase.system, found.guard.id, self.q) or 0.0)
            return False
        fired: dict[str, set[str]] = {found.guard.id: {found.guard.kind}}
        scales = self._scales(phase, now)
        self.now = now = phase.sharing(now)
        for guard, g in zip(phase.guards, phase.conditions(now).tolist(), strict=True):
            starts = (guard.id, guard.kind) in offsets
            if not starts and g <= TOGETHER[guard.unit] * scales[guard.unit]:
                fired.setdefault(guard.id, set()).add(guard.kind)
        landing = phase.modes.keys() - old.modes.keys() | {found.guard.id}
        self._settle(now, phase.modes, fired, later, landing)
        if self.phase is None and self.failure is not None and self.failure.status in NO_MOTION:
            self._go_beyond(old, piece.slope, lambda t: again_to(piece, t, one_step).end, t, y)
        self._consider_passing()
        return True

    def _not_there(self, found: Crossing, now: Instant) -> bool:
        """Whether the features that would touch have parted by now, or the place where they cross has moved on."""
        row = next((row for row in now.rows if row.id == found.guard.id), None)
        touch = found.guard.kind == "touchdown"
        return row is None or (touch and one_sided(row) and row.gap > self.task.accuracy.activation.gap)

    def _go_beyond(
        self, phase: Phase, slope: Slope, along: Callable[[float], Array], t: float, y: Array
    ) -> None:  # fmt: skip
        """Go on along the old phase to where surely no acceleration exists: at the event laws hold within rounding."""
        counted, ahead, x = len(self.q) + len(self.v), 0.0, y
        while self._may_settle(self._read(t + ahead, x)):
            ahead = 4.0 * ahead or LOCATED * max(1.0, abs(t))
            if ahead > BEYOND * max(1.0, abs(t)):
                return
            x = along(t + ahead)
        if ahead > 0.0:
            there = np.concatenate([x[:counted], x[counted:] - y[counted:]])
            self._along(phase, slope, (t, y), (t + ahead, there), along)

    def _may_settle(self, state: State) -> bool:
        """Whether a phase begins at a state."""
        place = Place.of(self.system, state.t, state.q, state.v, self.task.control)
        guess = first_modes(place.rows, {}, self.closed)
        return choose(self._setting(), state, place, [guess], self.closed).phase is not None

    def _hand_over(self, old: Phase, now: Instant, phase: Phase, lost: list[str]) -> None:
        """Choose what comes after closed contacts whose features end here; others may touch in their place."""
        here, n = self.state(), len(self.account.changes)
        self._settle(now, phase.modes, {}, None, phase.modes.keys() - old.modes.keys())
        was, new = old.modes, phase.modes if self.phase is None else self.phase.modes
        after, kind = self.state(), "lift_off"
        lifted = [
            Change(t=self.t, kind=kind, id=key, before=here, after=after, modes_before=was, modes_after=new)
            for key in lost
        ]
        self.account.changes[n:] = [
            *lifted,
            *(replace(change, modes_before=was) for change in self.account.changes[n:]),
        ]
        self._consider_passing()


def _remembered(memory: Mapping[str, Array], activation: Activation) -> Beginning:
    """Return what a state remembers of the segment that ended there."""
    h, crowd = (float(memory[name][0]) if name in memory else 0.0 for name in (LENGTH, CROWD))
    longest, steps, first = memory[PACE].tolist() if PACE in memory else (0.0, 0.0, 0.0)
    sizes = memory[LARGEST].tolist() if LARGEST in memory else (FAINT, FAINT)
    return Beginning(
        pace=Pace(h=h, longest=longest, crawled=(int(steps), first)), bounced=rebounds(memory), crowd=crowd,
        largest=dict(zip(("force", "acceleration"), sizes, strict=True)), closed=activation,
    )  # fmt: skip
