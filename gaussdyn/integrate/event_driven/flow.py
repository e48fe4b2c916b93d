"""Flow: the motion of a phase up to the first event, by compiled steps where they serve, else step by step.

`event_loop` asks for a `Stretch` (`flow`), looks at what else may happen in it, and follows it to its end or to an
event (`follow`): that enters what was integrated, place, impulses and work, and what is held is put back (`hold`).
Conditions that start at zero are raised by an offset until they have left it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...contact.manifolds import room_of
from ...contact.snapshot import rows_of
from ...errors import interrupts
from ...mechanics.rows import Row
from ..contact_modes import rough, stopped
from ..dop853 import STAGES, Piece, Slope
from ..energy import energy
from ..mode_changes import Change
from ..recorded_arcs import LOBATTO
from .compiled.phase_arrays import CompiledPhase, Sailed
from .compiled.phase_loop import COARSE
from .drift_correction import held
from .event_location import Crossing, Search, Seen
from .guards import ONSET, Guard
from .phase_integrator import SUSPECTED, Accuracy, OneStep, PhaseMotion, again_to
from .phase_state import FADED, Instant, Place
from .run_memory import Task
from .segment import Segment
from .simultaneous_contacts import LOCATED
from .smooth_phase import Phase, trail_of
from .stiff_slip import beginning, changing, slowest, turnings

ARMED = {"place": 1e-12, "speed": 1e-12, "force": 1e-10, "acceleration": 1e-10}  # forces, accelerations: relative
BESIDE = 1e-6  # m: so near to the end of a feature another one may touch
SETTLED = 10.0  # times `ARMED`: conditions below this start at zero
LOOKED_AT = 0.25, 0.5, 0.75  # of a step: where friction that sets in is looked for, besides its end
MOST = 64  # steps in one call: a kernel hears no Ctrl-C, and only the caller knows how long steps have been
SHORTLY = 1e-4, 1e-3, 1e-2, 0.1, 0.5  # of a step: so long before its end what stops there still has its direction
PART = 0.25  # of the time in which a slip changes: steps that are tried first where it may stop
DIRECTED = 1e-10  # m/s: if it is as fast as this, far above the error of velocities


class Stretch(NamedTuple):
    """A step of the integrator, and the first event in it; no step where kernels have gone on without events.

    Attributes
    ----------
    segment : Segment
        Where the step begins.
    event : (float, Array) or None
        Time and state there, where the motion up to it is in the account already.
    after : Instant or None
        At its end, where it is known.
    look, bare, one_step : callable
        Conditions at a state (t, y), those that are no forces there, and one step from it.
    judged : bool
        Whether the step is as short as its error asks.
    """

    segment: Segment
    piece: Piece | None = None
    found: Crossing | None = None
    event: tuple[float, Array] | None = None
    after: Instant | None = None
    look: Callable[[float, Array], Seen] | None = None
    bare: Callable[[float, Array], Seen] | None = None
    one_step: OneStep | None = None
    judged: bool = True

    def again_to(self, t: float) -> Piece:
        """Return the motion from the beginning of the step to t (s), integrated again: its last step."""
        assert self.piece is not None
        assert self.one_step is not None
        return again_to(self.piece, t, self.one_step)


def flow(segment: Segment, phase: Phase, end: float) -> Stretch:
    """Go on in a phase to where something may happen: as far as kernels come, or one step of the integrator."""
    many = _many_steps(segment, phase, end)
    gone = many.piece is not None or many.segment.t > segment.t
    return many if gone else _step(many.segment, phase, end)


def _step(segment: Segment, phase: Phase, end: float) -> Stretch:
    """Take one step of the integrator, and look for the first event in it.

    A step whose length is given is judged by its error none the less where a slip may stop in it, or turn round:
    beyond that friction points elsewhere, so that a step across it leads anywhere.
    """
    segment, before = segment.located(phase)
    given, pace, accuracy = segment.task.accuracy.step, segment.pace, segment.task.accuracy
    if given is None:
        return _step_of(segment, phase, end, before, accuracy)
    time, h = changing(turnings(phase), before), pace.h or given
    if time >= min(h, end - before.t):
        stretch = _step_of(segment, phase, end, before, accuracy)
        if stretch.found is None or not turns_beyond(stretch.found.guard):
            return stretch
    short = replace(segment, pace=replace(pace, h=PART * time if h >= given else h))
    stretch = _step_of(short, phase, end, before, replace(accuracy, step=None))
    if stretch.found is None:
        return stretch
    return stretch._replace(segment=replace(stretch.segment, pace=replace(stretch.segment.pace, h=given)))


def turns_beyond(guard: Guard) -> bool:
    """Whether a slip in space stops, so that a step beyond it, in which friction turns over, is not smooth before."""
    return guard.kind in ("stop", "stop_roll") and len(guard.ahead) == 2


def _step_of(segment: Segment, phase: Phase, end: float, before: Instant, accuracy: Accuracy) -> Stretch:
    """Take one step with an accuracy, and look for the first event in it."""
    task = segment.task
    kernels = _compiled(phase, task, accuracy)
    motion = PhaseMotion(phase=phase, control=task.control, accuracy=accuracy, kernels=kernels)
    done = motion.step(before, segment.pace, end, task.goal)
    piece, after = done.piece, done.after
    segment = replace(segment, pace=done.pace).measured(("force",), after).measured(phase.units, before)
    coarse = COARSE * SETTLED if phase.redundant else SETTLED
    scales = segment.scales(phase.units, before)
    noise = np.array([coarse * ARMED[guard.unit] * scales[guard.unit] for guard in phase.guards])
    after = phase.sharing(after)
    ends = seen(phase, before), seen(phase, after)
    offsets = np.array([segment.offsets.get((guard.id, guard.kind), 0.0) for guard in phase.guards])
    search = _search(phase, kernels, piece, offsets, noise)
    segment, found = _found(segment, search, piece, *ends)
    onset = _onset(segment, phase, piece, done.one_step) if kernels.watched else None
    found = onset if onset is not None and (found is None or onset.t < found.t) else found
    judged = accuracy.step is None
    return Stretch(
        segment, piece, found, after=after, look=kernels.look, bare=kernels.bare, one_step=done.one_step, judged=judged
    )  # fmt: skip


def _search(phase: Phase, kernels: CompiledPhase, piece: Piece, offsets: Array, noise: Array) -> Search:
    """Return the conditions of a phase along a step."""
    look, bare = (lambda t: kernels.look(t, piece.at(t))), (lambda t: kernels.bare(t, piece.at(t)))
    return Search(phase, look, offsets, noise, bare)


def _compiled(phase: Phase, task: Task, accuracy: Accuracy) -> CompiledPhase:
    return CompiledPhase.of(phase, accuracy, task.known.mechanism)


def _found(
    segment: Segment, search: Search, piece: Piece, before: Seen, after: Seen
) -> tuple[Segment, Crossing | None]:  # fmt: skip
    """Return the first event of a step, and note what was too close to decide before it.

    A feature that begins where the one that touches ends, as an edge beside a face, grazes there: that is no touch.
    """
    found, grazes = search.first(before, after)
    for graze in grazes:
        room = room_of(segment.system, graze.id, segment.parts(piece.at(graze.t))[0])
        if room is not None and room <= BESIDE:
            continue
        here = segment.state()
        change = Change(t=graze.t, kind="undecided", id=graze.id, before=here, after=here)
        segment = segment.noting(segment.account.noted(change))
    return segment, found


def _many_steps(segment: Segment, phase: Phase, end: float) -> Stretch:
    """Let the kernels take steps as long as nothing happens, if they serve.

    They do not where a slip in space begins, which friction turns at once, nor where stability bounds their steps and a
    slip that turns may be the reason: see `PhaseMotion.step`; nor steps of a given length then, each of which begins
    with the direction that the slip has; nor where friction may set in, see `_onset`.
    """
    task, pace = segment.task, segment.pace
    turning, slow = bool(turnings(phase)), False
    if turning and (pace.turns or pace.stiff >= SUSPECTED or task.accuracy.step is not None):
        return Stretch(segment)
    if phase.system is not task.whole or pace.h <= 0.0 or task.events:
        return Stretch(segment)
    kernels = _compiled(phase, task, task.accuracy)
    if kernels.borders or kernels.watched:
        return Stretch(segment)
    if turning:
        segment, now = segment.located(phase)
        if beginning(phase, now, task.accuracy.activation.speed):
            return Stretch(segment)
        slow = slowest(turnings(phase), now) <= task.accuracy.activation.speed
    kernels.put_offsets(segment.offsets)
    one = slow or segment.watch.begun is not None  # where constraints may lose rank that is looked at after each
    done = _sailed(kernels, segment, end, 1 if one else MOST)
    done = _as_recorded(done, phase) if slow else done
    segment = replace(
        segment, pace=replace(pace, h=done.h, stiff=min(done.stiff, SUSPECTED) if turning else done.stiff),
        account=segment.account.passed(done.trail) if len(done.trail) else segment.account,
        offsets=_left(segment.offsets, phase, kernels.step.offset.tolist()),
    )  # fmt: skip
    if done.piece is not None:
        return _near_event(segment, phase, kernels, done, done.piece)
    return Stretch(_gone_on(segment, phase, done, end, turning) if done.taken else segment)


def _near_event(segment: Segment, phase: Phase, kernels: CompiledPhase, done: Sailed, piece: Piece) -> Stretch:
    """Return the step that kernels have not taken, with the event in it."""
    q, v = segment.parts(piece.y)
    segment = replace(segment, t=piece.t, q=q.copy(), v=v.copy())
    if done.crossing is not None:
        k, t = done.crossing
        found: Crossing | None = Crossing(t=t, guard=phase.guards[k], k=k)
    else:
        step = kernels.step
        search = _search(phase, kernels, piece, step.offset.copy(), step.noise.copy())
        segment, found = _found(segment, search, piece, *kernels.ends(piece))
    one_step = partial(kernels.take, side=done.side)
    return Stretch(segment, piece, found, event=done.event, look=kernels.look, bare=kernels.bare, one_step=one_step)


def _gone_on(segment: Segment, phase: Phase, done: Sailed, end: float, turning: bool) -> Segment:
    """Return the segment after steps without events: what is held put back, slips in space turned."""
    mean, left = (done.t - segment.t) / done.taken, max(end, segment.task.goal) - done.t
    segment = replace(segment, pace=segment.pace.passed(mean, mean, left, segment.now, done.taken))
    if not turning:
        segment.pace.check_stiffness(mean, left)
    segment = move_to(segment, phase, done.t, done.y)
    if done.held_is_off:
        segment = hold(segment, phase, rows_of(phase.system, segment.t, segment.q, segment.v))
    if done.turned:
        phase = phase.turned(phase.instant(segment.t, segment.q, segment.v))
        segment = replace(segment, phase=phase)
    if segment.t >= end:
        segment = replace(segment, now=phase.instant(segment.t, segment.q, segment.v))
    return segment


def _sailed(kernels: CompiledPhase, segment: Segment, end: float, most: int) -> Sailed:
    """Return up to so many steps; one, where a function of the system raises in a later one: that is not lost then."""
    try:
        return kernels.sail(segment.t, segment.q, segment.v, segment.pace.h, end, segment.pace.stiff, most)
    except Exception as error:
        if most == 1 or interrupts(error):
            raise
    kernels.put_offsets(segment.offsets)
    return _sailed(kernels, segment, end, 1)


def _as_recorded(done: Sailed, phase: Phase) -> Sailed:
    """Return a step with the impulses that its samples give.

    A slip that has just begun along a line, as of a body on two points, has a direction that is rounding across it: it
    differs from stage to stage and from sample to sample.
    """
    if not len(done.trail):
        return done
    y, event = done.y.copy(), done.event
    there = y if event is None else event[1].copy()
    r = there[phase.system.nq + phase.system.nv : -2]
    for key, p in done.trail.impulses().items():
        r[phase.pushes[key]] = p
    return replace(done, y=y, event=None if event is None else (event[0], there))


def follow(segment: Segment, phase: Phase, piece: Piece, t: float, y: Array) -> Segment:
    """Go along a step of the integrator to a time and the state there, and keep what was passed."""
    if piece.samples is not None and t > piece.t and not _stops(segment, phase, t, y):
        trail = piece.samples(t, y)
        if trail is not None:
            return move_to(segment.noting(segment.account.passed(trail)), phase, t, y)
    known = piece.K[0], piece.K[STAGES] if y is piece.end else None
    return along(segment, phase, piece.slope, Way((piece.t, piece.y), (t, y), piece.at, known))


class Way(NamedTuple):
    """From a state (t, y) to another one; `known`: the rates there, `at`: the states in between."""

    start: tuple[float, Array]
    end: tuple[float, Array]
    at: Callable[[float], Array]
    known: tuple[Array | None, Array | None] = (None, None)


def along(segment: Segment, phase: Phase, slope: Slope, way: Way) -> Segment:
    """Go along a way within a phase, and keep what was passed."""
    (t, y), at, known, h = way.start, way.at, way.known, way.end[0] - way.start[0]
    given, stops, n = None, False, len(segment.q) + len(segment.v)
    if h > 0.0:
        times = (t + h * LOBATTO).tolist()
        places = [y, *(at(x) for x in times[1:-1]), way.end[1]]
        if phase.redundant:
            r = _shared_along(segment, phase, times, places, at)
        else:
            rates = [known[0], *(None for _ in times[1:-1]), known[1]]
            r = [
                (slope(x, place) if rate is None else rate)[n:-2]
                for x, place, rate in zip(times, places, rates, strict=True)
            ]
            if stops := _stops(segment, phase, *way.end):
                r[-1] = _last_forces(segment, phase, way)
        trail = trail_of(phase, np.array([t]), np.array([h]), np.array([places]), np.array([r]))
        segment = segment.noting(segment.account.passed(trail))
        # steps that end where a slip stops take its last direction from before them
        if phase.redundant or stops:
            given = {key: y[n:-2][phase.pushes[key]] + p for key, p in trail[0].impulses().items()}
    return move_to(segment, phase, *way.end, given)


def _shared_along(
    segment: Segment, phase: Phase, times: Sequence[float], places: Sequence[Array], at: Callable[[float], Array]
) -> list[Array]:
    """Return redundant reactions along a way, inside their cones if they can be."""
    found = [_forces(segment, phase, t, y) for t, y in zip(times, places, strict=True)]
    if _stops(segment, phase, times[-1], places[-1]):
        found[-1] = _last_forces(segment, phase, Way((times[0], places[0]), (times[-1], places[-1]), at))
    return found


def _stops(segment: Segment, phase: Phase, t: float, y: Array) -> bool:
    """Whether a slip in space stops at a state: there it has no direction."""
    slides = any(part.slips for part in phase.parts) if phase.redundant else bool(turnings(phase))
    if not slides:
        return False
    (q, v), still = segment.parts(y), segment.task.accuracy.activation.speed
    return any(stopped(row, phase.modes[row.id], v, still) for row in phase.system.rows(t, q, v))


def _last_forces(segment: Segment, phase: Phase, way: Way) -> Array:
    """Return the reactions at the end of a way where slips stop, with the directions that these have shortly before."""
    (t, y), h, turning = way.end, way.end[0] - way.start[0], turnings(phase)
    q, v = segment.parts(y)
    for share in SHORTLY:
        before = phase.instant(t - share * h, *segment.parts(way.at(t - share * h)))
        if slowest(turning, before) > DIRECTED:
            break
    still, rows = segment.task.accuracy.activation.speed, []
    for row in phase.system.rows(t, q, v):
        rate = row.rate.copy()
        for part in stopped(row, phase.modes[row.id], v, still):
            rate[part] = 0.0
        rows.append(row.but(rate=rate))
    phase = phase.turned(before)
    now = phase.sharing(phase.at(Place.of(phase.system, t, q, v, phase.control, tuple(rows))))
    return np.concatenate([np.zeros(0), *now.r])


def _forces(segment: Segment, phase: Phase, t: float, y: Array) -> Array:
    """Return the reactions of all rows at a state."""
    now = phase.sharing(phase.instant(t, *segment.parts(y)))
    return np.concatenate([np.zeros(0), *now.r])


def move_to(
    segment: Segment, phase: Phase, t: float, y: Array, given: Mapping[str, Array] | None = None
) -> Segment:  # fmt: skip
    """Take over a point of the integrator: its place, its impulses (those `given`, else its own), its work."""
    nq, nv = len(segment.q), len(segment.v)
    q, v = y[:nq].copy(), y[nq : nq + nv].copy()
    if nq != nv:
        q = phase.system.move(q, np.zeros(nv), 0.0)
    p = y[nq + nv : -2]
    impulses = {key: p[at] if given is None else given[key] for key, at in phase.pushes.items()}
    account = segment.account.pushed(impulses, segment.system).worked(float(y[-2]), float(y[-1]))
    return replace(segment, entered=False, t=t, q=q, v=v, account=account)


def hold(segment: Segment, phase: Phase, rows: tuple[Row, ...]) -> Segment:
    """Put back what is held; the very same segment where nothing is off."""
    q, v = held(phase.system, phase.modes, segment.t, segment.q, segment.v, rows)
    if q is segment.q and v is segment.v:
        return segment
    was = sum(energy(phase.system, segment.state()))
    segment = replace(segment, q=q, v=v)
    gained = sum(energy(phase.system, segment.state())) - was
    return segment.noting(segment.account.worked(projection=gained))


def _left(
    offsets: Mapping[tuple[str, str], float], phase: Phase, now: Sequence[float]
) -> Mapping[tuple[str, str], float]:  # fmt: skip
    """Return the offsets without those that are zero now, in the order of the conditions of a phase."""
    gone = {(guard.id, guard.kind) for guard, offset in zip(phase.guards, now, strict=True) if offset == 0.0}
    return {key: offset for key, offset in offsets.items() if key not in gone}


def faded(largest: Mapping[str, float], force: float, acceleration: float) -> dict[str, float]:
    """Return the largest force and acceleration where a segment begins, from those so far and those there."""
    now = {"force": force, "acceleration": acceleration}
    return {unit: max(FADED * x, now[unit]) for unit, x in largest.items()}


def seen(phase: Phase, now: Instant) -> Seen:
    """Return the conditions at an instant."""
    now = phase.sharing(now)
    return Seen(now.t, phase.conditions(now), phase.rates(now))


def set_in(phase: Phase, rows: Sequence[Row]) -> list[str]:
    """Return the ids of the rows that have friction, and had none where the phase began: no mode of it was chosen."""
    smooth = {
        row.id for row in phase.rows
        if row.frictional and not rough(row) and (row.kind == "dry" or phase.modes[row.id].closed)
    }  # fmt: skip
    return [row.id for row in rows if row.id in smooth and rough(row)] if smooth else []


def _onset(segment: Segment, phase: Phase, piece: Piece, one_step: OneStep) -> Crossing | None:
    """Return when friction sets in within a step, where there was none: the first time at which there is some."""

    def found(t: float, y: Array) -> list[str]:
        """Return which rows have friction at a state."""
        return set_in(phase, phase.system.rows(t, *segment.parts(y)))

    if not any(row.frictional and not rough(row) for row in phase.rows):
        return None
    times = [piece.t, *(piece.t + share * piece.h for share in LOOKED_AT), piece.t_end]
    late = next((i for i, t in enumerate(times) if i and found(t, piece.at(t))), None)
    if late is None:
        return None
    low, high = times[late - 1], times[late]
    while high - low > LOCATED * max(1.0, abs(high)):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if found(middle, again_to(piece, middle, one_step).end) else (middle, high)
    key = next(iter(found(high, again_to(piece, high, one_step).end)), None)
    k = next((k for k, row in enumerate(phase.rows) if row.id == key), None)
    if k is None:  # the end of the step only seemed to be beyond it
        return None
    return Crossing(t=high, guard=Guard(ONSET, phase.rows[k].id, k, "force", phase.modes[phase.rows[k].id]), k=k)
