"""Jump: what follows an event: the impact, the modes of the next phase, rest after infinitely many impacts.

`event_loop` asks for the next phase (`settle`) where the flow has come to an event, and then whether infinitely many
impacts follow that end soon (`rest_soon`), which are passed in one phase whose end is noted (`note_rest`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import EPS, Array
from ...contact.manifolds import Here, doubles
from ...contact.snapshot import Activation, rows_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ..contact_modes import CLOSED, OPEN, Modes, parts_of, rough
from ..impact.history import ImpactRecord
from ..impact.impact import Impact, impact
from ..impact.problem import one_sided
from ..impact.zeno import Rebound
from ..mode_changes import Change, ChangeKind, kind_of
from .compiled.phase_arrays import CompiledPhase
from .drift_correction import RATE, held, placed
from .event_location import Seen
from .flow import ARMED, SETTLED
from .guards import ONSET
from .mode_selection import Chosen, after_event, choose, first_modes, stopping
from .phase_state import FLIGHT, HOLDS, Instant, Place, largest
from .segment import Segment
from .simultaneous_contacts import parted, rounding, sections
from .smooth_phase import Phase

WITH = 10.0  # times what is left of a sequence of impacts: contacts that come to rest within it are part of it
ENDLESS = 1e-7  # part of their speed that single impacts take away: with less they do not come to rest
STARTS = {"slip", "roll"}  # from rest: in space errors of the velocities would give them a direction
PASSIVE = 1e-12  # of the kinetic energy: gain that is rounding


def settle(
    segment: Segment, place: Place, known: Modes, fired: Mapping[str, set[str]] | None = None,
    later: Callable[[], State] | None = None, landing: Collection[str] = (),
) -> Segment:  # fmt: skip
    """Solve the impact if something closes, and choose the next phase.

    Parameters
    ----------
    place : Place
        What the system says where the segment is.
    known : mapping of str to Mode
        Modes before.
    fired : mapping of str to set of str, optional
        The kinds of the conditions that have ended, by row id.
    later, landing
        See `choose` and `parted`.
    """
    before = segment.state()
    activation = parted(place, known, landing, segment.task.accuracy.activation)
    if twice := doubles(segment.system, Here(place.t, place.q, place.v), place.rows, activation.gap):
        activation = replace(activation, aloft=activation.aloft | twice)
    segment = replace(segment, closed=activation)
    fired = {key: kinds for key, kinds in (fired or {}).items() if key not in activation.aloft}
    segment, struck, after = _impact(segment, place)
    if segment.failure is not None:
        return replace(segment, phase=None, broken=known)
    if struck:
        place = segment.place(after)
    if struck or not fired or not isinstance(place, Instant):
        guesses: list[Modes] = [first_modes(place.rows, known, activation)]
        if struck:  # what an impact has stopped sticks, if it can
            still = {key: mode.but(slip=(), roll=()) if mode.slip or mode.roll else mode for key, mode in known.items()}
            guesses.insert(0, first_modes(place.rows, still, activation))
    else:  # what is passed on to another feature here ends, also where the end of the first is not reached to rounding
        guesses = after_event({**known, **dict.fromkeys(twice & known.keys(), OPEN)}, place, fired, activation)
    starting = {row.id: known[row.id] for row in place.rows if row.size > 2 and fired.get(row.id, set()) & STARTS}
    modes, least = {**guesses[0], **starting}, 0.0 if starting else RATE
    q, v = held(segment.system, modes, segment.t, segment.q, segment.v, place.rows, least)
    if not (q is segment.q and v is segment.v):
        q, v = _apart(segment, place.rows, guesses[0], q, v)
        moved = replace(segment, q=q, v=v).place()
        activation = still_open(activation, place.rows, moved.rows, rounding(q))
        segment, place = replace(segment, q=q, v=v, closed=activation), moved
    chosen = choose(
        segment.setting(), segment.state(), place, guesses, activation, None if struck else later, segment.sizes
    )  # fmt: skip
    begun = {key for key, kinds in fired.items() if ONSET in kinds}
    return _taken_over(segment, chosen, known, before, struck, begun)


def still_open(
    activation: Activation, before: tuple[Row, ...], after: tuple[Row, ...], least: float
) -> Activation:  # fmt: skip
    """Return what counts as closed where others have been put back: what was open, and is by `least` (m), flies on."""
    flying = {row.id for row in before if one_sided(row) and not activation.touches(row)}
    near = frozenset(row.id for row in after if row.id in flying and row.gap > least and activation.touches(row))
    return replace(activation, aloft=activation.aloft | near) if near else activation


def _apart(segment: Segment, rows: tuple[Row, ...], modes: Modes, q: Array, v: Array) -> tuple[Array, Array]:
    """Return q and v without overlaps of contacts that touched, where others have been put back."""
    system, t = segment.system, segment.t
    touched = {row.id for row in rows if _touches(row, segment.closed) and not modes[row.id].closed}
    now = rows_of(system, t, q, v)
    under = {row.id: CLOSED for row in now if row.id in touched and row.gap < -FLIGHT}
    if not under:
        return q, v
    q, now = placed(system, {**modes, **under}, t, q, v, now)
    return held(system, modes, t, q, v, now)


def _taken_over(
    segment: Segment, chosen: Chosen, known: Modes, before: State, struck: tuple[str, ...], begun: Collection[str]
) -> Segment:  # fmt: skip
    """Enter the chosen phase and note what has changed: also what sticks where friction has just `begun`."""
    after = segment.state()
    modes = {} if chosen.phase is None else chosen.phase.modes
    kinds: list[tuple[ChangeKind, str]] = [("impact", key) for key in struck]
    kinds += [
        (kind, key) for key, mode in modes.items()
        if key in known and (kind := kind_of(known[key], mode) or ("stick" if key in begun and mode.closed else None))
    ]  # fmt: skip
    changes = [
        Change(t=segment.t, kind=kind, id=key, before=before, after=after, modes_before=known, modes_after=modes)
        for kind, key in kinds
    ]
    segment = segment.noting(segment.account.noted(*changes))
    if chosen.phase is None:
        return replace(segment, phase=None, failure=chosen.failure, broken=known)
    return enter(segment, chosen.phase, chosen.now)


def enter(segment: Segment, phase: Phase, now: Instant | None = None) -> Segment:
    """Begin a phase: conditions that start at zero may not end it at once."""
    now = now or phase.instant(segment.t, segment.q, segment.v)
    task, begun = segment.task, None
    whole = phase.system is task.whole
    ship = CompiledPhase.of_clear(phase, task.accuracy, task.known.mechanism) if whole else None
    if ship is not None:  # the same numbers as where kernels pass an event
        begun, size, free = ship.begun(segment.t, segment.q, segment.v)
        now = replace(now, sizes=(size, now.sizes[1], free))
    segment = segment.measured_free(now).measured(phase.units, now)
    scales = segment.scales(phase.units, now)
    now = phase.sharing(now)
    begun = begun or Seen(segment.t, phase.conditions(now), phase.rates(now))
    offsets = offsets_of(phase, begun, scales, segment.q, segment.closed.speed)
    return replace(segment, phase=phase, entered=True, now=now, offsets=offsets)


def _impact(segment: Segment, place: Place) -> tuple[Segment, tuple[str, ...], tuple[Row, ...]]:
    """Solve the impact problem if a closed row closes further; return the ids of those that do, and all rows."""
    activation, rows = segment.closed, place.rows
    closing = tuple(row.id for row in rows if closes(row, activation))
    if not closing:
        return segment, (), rows
    law = segment.task.accuracy.law
    said = impact(segment.system, segment.state(), law=law, activation=activation, known=(rows, place.h))
    if not said.solved:
        words = said.solution.message or _unsolved(said, closing, activation.speed)
        return replace(segment, failure=said.solution.but(status=said.status, message=words)), closing, rows
    segment = segment.noting(segment.account.pushed(said.impulses, segment.system))
    problems = tuple(phase.own for phase in said.phases)
    return jump(segment, "impact", np.array(said.v), problems, said.energy, said.kept), closing, said.rows


def _unsolved(said: Impact, closing: Collection[str], still: float) -> str:
    """Return why an impact has not come to an end; what approaches no faster than `still` (m/s) is at rest."""
    where = f"the impact of {', '.join(closing)} at t = {said.state.t:.17g} s"
    if said.solution.solved:
        n, (speed, factor) = len(said.phases), said.approach
        words = f"{where} does not end: contacts hit each other again after {n} single ones, at {speed:.3g} m/s"
        if factor > 1.0 - ENDLESS:
            return f"{words}."
        more = n + int(np.ceil(np.log(still / speed) / np.log(factor)))
        fewer = f"{words}, {1.0 - factor:.3g} less in each"
        most = int(float(f"{1.2 * more:.2g}"))
        return f"{fewer}: they would be at rest after about {more}, which OneByOne(most={most}) allows."
    return f"{where} is not solved: E = {said.residual:.1e} is left in its laws."


def jump(
    segment: Segment, kind: str, v: Array, problems: tuple[Mapping[str, Array], ...], energy: float, kept: float = 1.0
) -> Segment:  # fmt: skip
    """Take over a velocity, with the impulses that lead to it."""
    before = segment.v
    record = ImpactRecord(t=segment.t, kind=kind, q=segment.q, before=before, after=v, problems=problems, kept=kept)
    return replace(segment, v=v, account=segment.account.struck(record, energy))


def rest_soon(segment: Segment) -> Segment:
    """Note what has rebounded, and put it to rest if infinitely many impacts follow that end soon."""
    struck = any(change.kind == "impact" and change.t == segment.t for change in segment.account.changes)
    if not struck or segment.phase is None or segment.now is None:
        return segment
    closed, bounced = segment.closed, dict(segment.bounced)
    rows = [row for row in segment.now.rows if _touches(row, closed) and row.rate[0] > closed.speed]
    ready: dict[str, Rebound] = {}
    for row in rows:
        last, speed = bounced.get(row.id), float(row.rate[0])
        new = rebound_of(last, segment.t, speed, segment.q)
        if passed_by(last, new, segment.task.goal):
            ready[row.id] = new
        bounced[row.id] = new
    again = {row.id for row in rows}  # struck on the way by another one
    passing = {key: end for key, end in segment.passing.items() if key not in again}
    segment = replace(segment, bounced=bounced, passing=passing)
    for end, ids in _ended(segment, rows, ready):
        segment = _at_rest(segment, end, ids)
    return segment


def _ended(
    segment: Segment, rows: list[Row], ready: Mapping[str, Rebound]
) -> list[tuple[float, tuple[str, ...]]]:  # fmt: skip
    """Return what comes to rest and when: contacts with a body between them together."""
    if not ready or segment.now is None:
        return []
    labels = sections(segment.now.rows, segment.now.M, segment.closed)
    firsts = {labels[key]: one for key, one in ready.items()}
    return [
        (one.end, tuple(row.id for row in rows if labels[row.id] & section and _ends_with(segment, row, one)))
        for section, one in firsts.items()
    ]


def _ends_with(segment: Segment, row: Row, ready: Rebound) -> bool:
    """Whether an open contact comes to rest with a sequence: one that only flies by does not."""
    return row.gap <= FLIGHT or segment.bounced[row.id].end - segment.t <= WITH * (ready.end - segment.t)


def _at_rest(segment: Segment, end: float, ids: tuple[str, ...]) -> Segment:
    """Put touching rows to rest, with the friction that goes with it; the segment ends when the sequence would.

    The impulse that takes the last rebound away pulls; only with the impact before it, and with the reactions up to the
    end of the sequence, it is the sum of its impulses. That has to be in its cone, and its friction must not drive:
    contacts that are pulled, or would need more friction than they have, fly on, and where friction drives the impacts
    are not passed.
    """
    phase, known, was = segment.phase, segment.now, segment.v
    assert phase is not None
    assert known is not None
    rows, M = known.rows, known.M
    flat = tuple(row.but(rate=_without_normal(row)) if row.id in ids else row for row in rows)
    modes = first_modes(flat, phase.modes, segment.closed)
    rest = phase.but(modes, rows)
    G, B, _, _ = rest.columns(rows, was)
    X = np.linalg.solve(M, B.T)
    p = np.asarray(np.linalg.lstsq(G @ X, -(G @ was + rest.explicit(rows, was)), rcond=None)[0], np.float64)
    still = replace(segment, v=was + X @ p)
    place = still.place()
    guess = _with_sticking(place.rows, modes, still.closed.speed)
    chosen = choose(still.setting(), still.state(), place, [guess], still.closed)
    before, after = 0.5 * float(was @ M @ was), 0.5 * float(still.v @ M @ still.v)
    now = chosen.now
    # friction under a given load is a force: it has no impulse
    parts = zip(rest.spread(rows, was, p), rest.spread(rows, was, np.zeros_like(p)), strict=True)
    pushes = [with_p - given for with_p, given in parts]
    if chosen.phase is None or now is None:
        return segment
    if off := _off_cones(segment, pushes, now, ids, end - segment.t):
        left = tuple(key for key in ids if key not in off)
        return _at_rest(segment, end, left) if left else segment
    if _driven(pushes, now, rows, end - segment.t) > PASSIVE * before:
        return segment
    impulses = {row.id: x for row, x in zip(rows, pushes, strict=True) if x.any()}
    segment = jump(segment, "rest", still.v, (impulses,), after - before)
    segment = replace(segment, passing={**segment.passing, **dict.fromkeys(ids, end)})
    return enter(segment, chosen.phase, now)


def _with_sticking(rows: Sequence[Row], modes: Modes, speed: float) -> Modes:
    """Return the modes with those contacts sticking that slip no faster than a speed (m/s)."""
    slow = [
        row.id for row in rows
        if row.frictional and modes[row.id].slip and np.linalg.norm(row.rate[parts_of(row)[0]]) <= speed
    ]  # fmt: skip
    return {**modes, **{key: modes[key].but(slip=()) for key in slow}}


def _off_cones(segment: Segment, pushes: Sequence[Array], now: Instant, ids: Collection[str], left: float) -> set[str]:
    """Return the contacts that all impulses pull, here and in the time that is left (s); else those off their cones.

    Without those that are pulled the others may be inside.
    """
    struck = [own for one in segment.account.impacts if one.t == segment.t for own in one.problems]
    total = {
        row.id: p + left * r + sum(own[row.id] for own in struck if row.id in own)
        for row, p, r in zip(now.rows, pushes, now.r, strict=True) if row.id in ids
    }  # fmt: skip
    pulled = {key for key, p in total.items() if p[0] < 0.0}
    allowed = HOLDS * largest(*total.values())
    return pulled or {row.id for row in now.rows if row.id in ids and _excess(row, total[row.id]) > allowed}


def _excess(row: Row, p: Array) -> float:
    """Return by how much friction or rolling resistance in an impulse is more than a row has, N s."""
    parts = [(parts_of(row)[0], row.mu_s), *row.moments] if rough(row) else []
    return max([float(np.linalg.norm(p[where]) - mu * p[0]) for where, mu in parts], default=0.0)


def _driven(pushes: Sequence[Array], now: Instant, rows: tuple[Row, ...], left: float) -> float:
    """Return the work of the impulses that put rows to rest, and of the reactions in the time that is left (s), J."""
    work = 0.0
    for before, after, impulse, r in zip(rows, now.rows, pushes, now.r, strict=True):
        work += 0.5 * float(impulse @ (before.rate + after.rate)) + left * float(r @ after.rate)
    return work


def stop_slips(segment: Segment) -> Segment:
    """Let slips stop that would stop as near beyond the end as counts: there the laws take them for at rest."""
    if segment.phase is None or segment.now is None:
        return segment
    fired = stopping(segment.phase, segment.now, segment.task.accuracy.activation)
    return settle(segment, segment.now, segment.phase.modes, fired) if fired else segment


def note_rest(segment: Segment) -> Segment:
    """Note the ends of sequences of impacts that were passed."""
    here = segment.state()
    ended = {key: end for key, end in segment.passing.items() if end <= segment.t}
    if not ended:
        return segment
    changes = [Change(t=end, kind="accumulation", id=key, before=here, after=here) for key, end in ended.items()]
    return replace(
        segment, account=segment.account.noted(*changes),
        passing={key: end for key, end in segment.passing.items() if key not in ended},
        bounced={key: one for key, one in segment.bounced.items() if key not in ended},
    )  # fmt: skip


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
