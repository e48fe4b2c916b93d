"""The event loop: flow in a phase until an event, jump, and again, up to an event that ends the segment.

    begin                 the phase at the beginning: the one remembered if it holds, else what the laws say; also
                          where the modes remembered are those before an event at which no others were found
    onward                the loop
      _flow_and_jump      `flow.flow`: a stretch of the motion, and the first event in it; then one of
        _at_event         follow the motion to the event,
          _jumped           and jump: `jump.settle`, impact and modes of the next phase
        _event_of_user    the same where a function of the user vanishes: nothing changes
        _gone_on          follow the motion to the end of a step, put back what is held, list contacts anew

Segments are values: the last one yielded is how far the motion has come, also where the integrator is stuck beyond it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace

import numpy as np

from ...arrays import EPS, Array
from ...contact.manifolds import extent_of, goes_on, room_of
from ...contact.resolve import NO_MOTION
from ...contact.snapshot import rows_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ..contact_modes import Modes, completed
from ..dop853 import SHRINK, Piece, Slope, growth
from ..impact.problem import one_sided
from ..mode_changes import Change, ChangeKind
from ..mode_memory import BROKEN, all_remembered, fired, remembered
from ..recorded_arcs import LOBATTO
from ..stepper import near_of
from .clear_events import ahead_of
from .contact_detection import listed_anew, listing, overlooks
from .event_location import Crossing, polished
from .flow import ARMED, SETTLED, Stretch, Way, along, faded, flow, follow, hold, move_to, set_in, turns_beyond
from .guards import ONSET, TOGETHER
from .jump import enter, note_rest, rest_soon, settle, stop_slips
from .mode_selection import choose, first_modes, holds
from .phase_integrator import NEARLY, Crowded, error_of_impulses
from .phase_state import FADED, FLIGHT, HOLDS, Instant, Place, largest
from .rank_watch import arriving, leapt, lost_at_start, watching
from .segment import Segment
from .simultaneous_contacts import LOCATED
from .smooth_phase import Phase
from .user_events import NamedEvent, first_of

AHEAD = 1e-4  # of a step: how far beyond an event the old phase is asked which modes come next
CUTS = 400  # steps of one segment that are repeated for contacts that they overlook
AT_ONCE = 50  # events of one segment: it goes on only where they happen at its very beginning
ON_THE_WAY = 2000  # or where it passes a sequence of impacts
ON = 1e-9  # m: where features end and no others follow, how far the contact goes on until it is asked again
SHORT_OF = 0.9  # of the way to where a slip in space stops: so far goes a step that is not exact enough up to there
SLIVER = 1e-9  # s, times max(1, t): steps so short are not cut
MOMENT = 1e-11  # s, times max(1, t): so near to where a slip in space stops its direction is not known
SHORTER = 0.9  # of a step: so long at most is the next one where it has to be cut
BEYOND = 1e-5  # s, times max(1, t): so far at most beyond an event after which no acceleration seems to exist

END, EVENT, USER, NONE, AGAIN = "end", "event", "user", "none", "again"  # of a step, that was none, with another step
Going = Generator[Segment, None, tuple[Segment, str]]
Point = tuple[float, Array]  # t, y of the integrator


def begin(segment: Segment, end: float) -> Segment:
    """Return the segment with the phase at its beginning, or with the reason why there is none."""
    if segment.phase is not None:
        return segment
    if (ahead := ahead_of(segment)) is not None:
        return enter(segment, ahead.ship.phase)
    left = end - segment.t
    segment, found = listing(segment, min(segment.pace.h or left, left))
    rows = found.rows
    known = remembered(segment.task.start.memory, [row.id for row in rows])
    if (old := _before_an_end(segment, rows)) is not None:
        lost = [key for key, mode in old.modes.items() if mode.closed and key not in known]
        return _handed_over(segment, old, segment.place(rows), completed(rows, known), lost)
    if known and BROKEN not in segment.task.start.memory:
        phase = segment.setting().phase(completed(rows, known), rows)
        activation = segment.task.accuracy.activation
        if now := holds(phase, segment.place(rows), activation, touching=FLIGHT, sizes=segment.sizes):
            return enter(segment, phase, now)
    elif not known and (failure := lost_at_start(segment, rows)) is not None:
        return replace(segment, failure=failure)
    return settle(segment, segment.place(rows), known)


def onward(segment: Segment, t_end: float) -> Iterator[Segment]:
    """Yield the segment as it goes on, to the next event or to `t_end`, past sequences of impacts that end soon.

    Raises
    ------
    Stuck
        The integrator cannot go on.
    """
    begun, tries = segment.t, Counter[str]()
    yield (segment := watching(_faded(segment)))
    while segment.phase is not None:
        last = min(segment.passing.values(), default=t_end)
        end = min(last, segment.watch.barrier)
        if segment.t < end:
            segment, came = yield from _flow_and_jump(segment, segment.phase, end, tries)
            yield segment
            happened = came == USER or (came == EVENT and segment.t > begun)
            if happened and not segment.passing:
                return
            if came != END:
                continue
        segment, arrived = arriving(segment)
        yield segment
        if arrived:
            return
        if segment.t >= last:
            yield (segment := note_rest(stop_slips(segment)))
            if not segment.passing:
                return


def _faded(segment: Segment) -> Segment:
    """Begin with what forces and accelerations are now, and hardly with what they were before."""
    assert segment.now is not None
    return replace(segment, largest=faded(segment.largest, segment.now.sizes[0], segment.now.sizes[2]))


def _flow_and_jump(segment: Segment, phase: Phase, end: float, tries: Counter[str]) -> Going:
    """Flow to an event and jump, or to where nothing has happened yet; return what it has come to."""
    before, stretch = segment, flow(segment, phase, end)
    segment, piece, found = stretch.segment, stretch.piece, stretch.found
    yield segment
    if piece is not None and overlooks(segment, phase, piece, found):
        tries[AGAIN] += 1
        if tries[AGAIN] > CUTS:
            words = f"shapes overlap again and again, however short the steps: {piece.h:.1e} s at t = {piece.t:.17g} s"
            raise Crowded(words)
        return replace(segment, pace=replace(segment.pace, h=SHRINK * piece.h)), AGAIN
    if piece is not None and (own := _event_of_user(stretch, piece)) is not None:
        one, there = own
        yield (segment := _followed(segment, phase, piece, there, end))
        segment, back = leapt(before, segment)
        if back:
            return segment, AGAIN
        return _noted(_gone_on(segment, phase, None, end), one, there[0]), USER
    if piece is not None and found is not None:
        segment, there, since = _at_event(phase, stretch, piece, found)
        least = MOMENT if turns_beyond(found.guard) else SLIVER
        if since > piece.t and there[0] - piece.t > least * max(1.0, abs(there[0])):
            back_there, h = move_to(stretch.segment, phase, piece.t, piece.y), since - piece.t
            h = h if h <= SHORTER * piece.h else 0.5 * h  # else the same step may be taken, up to the end
            return replace(back_there, pace=replace(back_there.pace, h=h)), AGAIN
        segment, there = _past(segment, phase, stretch, piece, there)
        segment, back = leapt(before, segment)
        yield segment
        if back:
            return segment, AGAIN
        segment, came = _jumped(segment, phase, stretch, piece, there)
        yield segment
        tries[EVENT] += 1
        if tries[EVENT] > (ON_THE_WAY if segment.passing else AT_ONCE):
            last = f"the last one ({found.guard.kind}) at {found.guard.id}"
            raise Crowded(f"{tries[EVENT]} events at one instant, {last}")
        return segment, came
    if piece is not None:
        yield (segment := _followed(segment, phase, piece, (piece.t_end, piece.end), end))
        segment = _gone_on(segment, phase, stretch.after, end)
        if segment.phase is not None and _lost(phase, segment.phase):
            segment, anew = listed_anew(segment, segment.phase, 0.0)  # others that were held may end with it
            now = anew.instant(segment.t, segment.q, segment.v)
            return _handed_over(segment, phase, now, anew.modes, _lost(phase, anew)), EVENT
    segment, back = leapt(before, segment)
    return segment, AGAIN if back else END


# to the end of a step


def _followed(segment: Segment, phase: Phase, piece: Piece, there: Point, end: float) -> Segment:
    """Follow the motion to the end of a step of the integrator, or to a point within it."""
    t, y = there
    return follow(segment, phase, piece, end if abs(t - end) <= NEARLY * max(1.0, abs(end)) else t, y)


def _gone_on(segment: Segment, phase: Phase, after: Instant | None, end: float) -> Segment:
    """Put back what is held, list contacts anew, and go on in the phase."""
    after = after or phase.instant(segment.t, segment.q, segment.v)
    on = hold(segment, phase, after.rows)
    if on is not segment:
        after = phase.instant(on.t, on.q, on.v)
    phase = phase.turned(after)
    if phase.system is not on.task.whole:
        on, phase = listed_anew(on, phase, min(on.pace.h, max(end - on.t, 0.0)), held=phase)
        after = phase.instant(on.t, on.q, on.v)
    on = on.measured(phase.units, after)
    scales, after = on.scales(phase.units, after), phase.sharing(after)
    left = {
        (guard.id, guard.kind) for guard, g in zip(phase.guards, phase.conditions(after).tolist(), strict=True)
        if g > SETTLED * ARMED[guard.unit] * scales[guard.unit]
    }  # fmt: skip
    offsets = {key: offset for key, offset in on.offsets.items() if key not in left}
    return replace(on, phase=phase, now=after, offsets=offsets)


# events


def _event_of_user(stretch: Stretch, piece: Piece) -> tuple[NamedEvent, Point] | None:
    """Return the first event of the user in a step and where it is, if there is one before any other event."""
    until = piece.t_end if stretch.found is None else stretch.found.t
    task = stretch.segment.task
    names = fired(task.start.memory) if task.events else None
    first = first_of(task.events, piece, until, stretch.segment.read, task.start.t, names)
    if first is None:
        return None
    one, crossing, look = first
    return one, polished(piece, lambda h: stretch.again_to(piece.t + h), look, crossing)


def _noted(segment: Segment, one: NamedEvent, t: float) -> Segment:
    """Note an event of the user."""
    here, modes = segment.state(), {} if segment.phase is None else segment.phase.modes
    change = Change(t=t, kind="user", id=one.name, before=here, after=here, modes_before=modes, modes_after=modes)
    ends = f"the event {one.name!r} ends the run" if one.event.stop else segment.ends
    return replace(segment, account=segment.account.noted(change), ends=ends)


def _at_event(phase: Phase, stretch: Stretch, piece: Piece, found: Crossing) -> tuple[Segment, Point, float]:
    """Follow the motion to the event of a step.

    Return when the last of the steps that lead to it begins, too: later than the step where one is not exact enough, as
    where a slip in space turns at once as it stops. What is recorded between follows that step, so that it is cut then.
    The same where the motion is exact enough, but not what friction has given. Where a slip stops, that time is not
    next to it: friction changes as a power of the time left, so that steps up to there go a part of the way.
    """
    segment, there = stretch.segment, stretch.event
    if there is not None:
        return move_to(segment, phase, *there), there, piece.t
    assert stretch.look is not None
    offset, last = segment.offsets.get((found.guard.id, found.guard.kind), 0.0), piece

    def redo(h: float) -> Piece:
        """Return the last step of those of length h together."""
        nonlocal last
        last = stretch.again_to(piece.t + h)
        return last

    if found.guard.kind == ONSET:
        last = stretch.again_to(found.t)
        there = found.t, last.end
    else:
        look = stretch.look if found.guard.unit == "force" else stretch.bare or stretch.look
        there = polished(piece, redo, look, found, offset)
    if not turns_beyond(found.guard):
        return follow(segment, phase, piece, *there), there, last.t
    if last.t > piece.t:
        since = min(last.t, piece.t + SHORT_OF * (there[0] - piece.t))
        return follow(segment, phase, piece, *there), there, since
    off = 0.0
    if stretch.judged and last.explicit:
        off = error_of_impulses(phase, last, phase.system.mass(segment.parts(piece.y)[0]))
    share = growth(off) if off > 1.0 else SHORT_OF if _gets_faster(segment, phase, last, found) else 0.0
    return follow(segment, phase, last, *there), there, piece.t + share * (there[0] - piece.t)


def _past(segment: Segment, phase: Phase, stretch: Stretch, piece: Piece, there: Point) -> tuple[Segment, Point]:
    """Go on along the phase to where the force that ends it has vanished, if that is not so where it was located.

    Where a slip is about to stop, rounding turns it by more than laws are judged by, and a force may vanish between two
    times next to each other. A contact that still pushes there can neither open nor go on.
    """
    found, look = stretch.found, stretch.look
    assert found is not None
    if found.guard.unit != "force" or found.guard.kind == ONSET or look is None:
        return segment, there
    now, n = phase.instant(segment.t, segment.q, segment.v), len(segment.q) + len(segment.v)
    left = found.guard.value(now)
    if left <= HOLDS * max(now.sizes[0], segment.floor("force")):
        return segment, there
    t, y = segment.t, np.concatenate((segment.q, segment.v, np.zeros(len(there[1]) - n)))
    rates, ahead, most = piece.slope(t, y), EPS * max(1.0, abs(t)), LOCATED * max(1.0, abs(t))
    while ahead <= most and float(look(t + ahead, y + ahead * rates).g[found.k]) > -left:
        ahead *= 2.0
    if ahead > most:
        return segment, there
    on = along(segment, phase, piece.slope, Way((t, y), (t + ahead, y + ahead * rates), lambda x: y + (x - t) * rates))
    return on, (on.t, there[1] + ahead * rates)


def _gets_faster(segment: Segment, phase: Phase, piece: Piece, found: Crossing) -> bool:
    """Return whether what stops at the end of a step, a slip or rolling, is faster within it than where it begins.

    What stops gets slower: between its stages such a step knows nothing of it.
    """
    guard, speeds = found.guard, list[float]()
    for t in (piece.t + (piece.t_end - piece.t) * LOBATTO[:-1]).tolist():
        y = piece.at(t) if t > piece.t else piece.y
        rate = rows_of(phase.system, t, *segment.parts(y))[guard.k].rate
        speeds.append(float(np.linalg.norm(rate[guard.part])))
    return max(speeds) > speeds[0]


def _jumped(segment: Segment, old: Phase, stretch: Stretch, piece: Piece, there: Point) -> tuple[Segment, str]:
    """Choose what comes after an event; return whether it was one."""
    found, t, offsets = stretch.found, there[0], segment.offsets
    assert found is not None

    def later() -> State:
        """Return a state a little later along the old phase."""
        q, v = segment.parts(piece.at(t + AHEAD * piece.h))
        return State(t=t + AHEAD * piece.h, q=q, v=v, memory=segment.task.start.memory)

    segment, phase = listed_anew(segment, old, 0.0)
    now = phase.instant(segment.t, segment.q, segment.v)
    segment = replace(segment, now=now)
    if lost := _lost(old, phase):
        return _handed_over(segment, old, now, phase.modes, lost), EVENT
    segment = _measured_before(segment, old, piece, now)
    if _not_there(segment, found, now):
        segment, phase = listed_anew(segment, phase, segment.pace.h)
        return enter(segment, phase), NONE
    if (on := _slides_on(phase, found, now, segment.task.accuracy.activation.speed)) is not None:
        return enter(segment, on), NONE
    if found.guard.kind == "end":
        further = ON + 2.0 * abs(room_of(phase.system, found.guard.id, segment.q) or 0.0)
        return replace(segment, phase=phase, offsets={**offsets, (found.guard.id, "end"): further}), NONE
    ended: dict[str, set[str]] = {found.guard.id: {found.guard.kind}}
    segment = segment.measured(phase.units, now)
    scales, now = segment.scales(phase.units, now), phase.sharing(now)
    segment = replace(segment, now=now)
    for guard, g in zip(phase.guards, phase.conditions(now).tolist(), strict=True):
        starts = (guard.id, guard.kind) in offsets
        opens = guard.kind == "touchdown" and guard.unit == "place" and guard.rate(now) > segment.closed.speed
        if not (starts or opens) and g <= TOGETHER[guard.unit] * scales[guard.unit]:
            ended.setdefault(guard.id, set()).add(guard.kind)
    for key in set_in(old, now.rows):
        ended.setdefault(key, set()).add(ONSET)
    landing = phase.modes.keys() - old.modes.keys() | {found.guard.id}
    segment = settle(segment, now, phase.modes, ended, later, landing)
    if segment.phase is None and segment.failure is not None and segment.failure.status in NO_MOTION:
        segment = _gone_beyond(segment, old, piece.slope, lambda t: stretch.again_to(t).end, there)
    return rest_soon(segment), EVENT


def _measured_before(segment: Segment, phase: Phase, piece: Piece, now: Instant) -> Segment:
    """Note how large forces were at the beginning of a step where all of them have vanished together by its end."""
    if now.sizes[0] >= FADED * largest(piece.K[0][len(segment.q) + len(segment.v) : -2]):
        return segment
    return segment.measured_free(phase.instant(piece.t, *segment.parts(piece.y)))


def _not_there(segment: Segment, found: Crossing, now: Instant) -> bool:
    """Whether the features that would touch have parted by now, or part, or the place where they cross has moved on."""
    row = next((row for row in now.rows if row.id == found.guard.id), None)
    if row is None or found.guard.kind != "touchdown" or not one_sided(row):
        return row is None
    activation = segment.task.accuracy.activation
    return row.gap > activation.gap or float(row.rate[0]) > activation.speed


def _slides_on(phase: Phase, found: Crossing, now: Instant, still: float) -> Phase | None:
    """Return the phase with a slip, or rolling, in space where it has turned across its way, and goes on."""
    row = next((row for row in now.rows if row.id == found.guard.id), None)
    if row is None or found.guard.kind not in ("stop", "stop_roll"):
        return None
    u = row.rate[found.guard.part]
    size = float(np.sqrt(u @ u))
    if len(u) < 2 or size <= still:
        return None
    mode, way = phase.modes[row.id], tuple((u / size).tolist())
    mode = mode.but(slip=way) if found.guard.kind == "stop" else mode.but(roll=way)
    return phase.but({**phase.modes, row.id: mode}, now.rows)


def _gone_beyond(segment: Segment, phase: Phase, slope: Slope, at: Callable[[float], Array], there: Point) -> Segment:
    """Go on along the old phase to where surely no acceleration exists: at the event laws hold within rounding."""
    (t, y), counted, ahead = there, len(segment.q) + len(segment.v), 0.0
    x = y
    while _may_settle(segment, segment.read(t + ahead, x)):
        ahead = 4.0 * ahead or LOCATED * max(1.0, abs(t))
        if ahead > BEYOND * max(1.0, abs(t)):
            return segment
        x = at(t + ahead)
    if ahead == 0.0:
        return segment
    first, beyond = (np.concatenate([one[:counted], one[counted:] - y[counted:]]) for one in (y, x))
    return along(segment, phase, slope, Way((t, first), (t + ahead, beyond), at))


def _may_settle(segment: Segment, state: State) -> bool:
    """Whether a phase begins at a state."""
    place = Place.of(segment.system, state.t, state.q, state.v, segment.task.control)
    guess = first_modes(place.rows, {}, segment.closed)
    return choose(segment.setting(), state, place, [guess], segment.closed).phase is not None


def _lost(old: Phase, phase: Phase) -> list[str]:
    """Return the closed contacts of a phase that have no features any more."""
    return [key for key, mode in old.modes.items() if mode.closed and key not in phase.modes]


def _before_an_end(segment: Segment, rows: tuple[Row, ...]) -> Phase | None:
    """Return the phase that a state remembers where a closed feature of it ends just there, None elsewhere.

    As where a run that goes on, or a step of the length dt, begins at the end of an edge.
    """
    task, listed = segment.task, {row.id for row in rows}
    known = {key: mode for key, mode in all_remembered(task.start.memory).items() if mode.closed and key not in listed}
    if not known or segment.system is task.whole:
        return None
    near, modes = near_of(task.whole, task.start, 0.0), {**known, **remembered(task.start.memory, listed)}
    there = tuple(row for row in rows_of(near, segment.t, segment.q, segment.v) if row.id in modes)
    if not any(row.id in known and extent_of(near, row.id) is not None for row in there):
        return None
    return Phase(system=near, control=task.control, rows=there, modes={row.id: modes[row.id] for row in there})


def _handed_over(segment: Segment, old: Phase, now: Place, modes: Modes, lost: list[str]) -> Segment:
    """Choose what comes after closed contacts whose features end here; others may touch in their place.

    Those that push on in the same way take over: neither has lifted off, nor touched down.
    """
    here, n = segment.state(), len(segment.account.changes)
    segment = settle(segment, now, modes, landing=modes.keys() - old.modes.keys())
    was, new = old.modes, modes if segment.phase is None else segment.phase.modes
    after, settled = segment.state(), segment.account.changes[n:]
    struck = {change.id for change in settled if change.kind == "impact"}
    heirs = _heirs(segment, old, now, lost, struck)
    if segment.phase is None:  # what is found when the motion goes on is no news of theirs
        segment = replace(segment, broken={**segment.broken, **{key: was[one] for key, one in heirs.items()}})
    told: list[tuple[ChangeKind, str]] = [("handed_over" if key in heirs.values() else "lift_off", key) for key in lost]
    told += [("taken_over", key) for key in heirs]
    changes = [
        Change(t=segment.t, kind=kind, id=key, before=here, after=after, modes_before=was, modes_after=new)
        for kind, key in told
    ]
    others = [
        replace(change, modes_before=was) for change in settled
        if not (change.kind == "touchdown" and change.id in heirs)
    ]  # fmt: skip
    account = replace(segment.account, changes=(*segment.account.changes[:n], *changes, *others))
    return rest_soon(segment.noting(account))


def _heirs(segment: Segment, old: Phase, now: Place, lost: list[str], struck: set[str]) -> dict[str, str]:
    """Return the contacts that push on in place of those lost, by id with these; of what touches, if modes lack."""
    ended = [row for row in rows_of(old.system, segment.t, segment.q, segment.v) if row.id in lost]
    if segment.phase is None:
        gap = segment.task.accuracy.activation.gap
        closed = {row.id for row in now.rows if one_sided(row) and row.gap <= gap}
    else:
        closed = {key for key, mode in segment.phase.modes.items() if mode.closed}
    begun = closed - struck - {key for key, mode in old.modes.items() if mode.closed}
    return {other.id: one.id for other in now.rows if other.id in begun for one in ended if goes_on(one, other)}
