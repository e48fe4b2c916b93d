"""The flow of a phase: its motion up to the first event, by compiled steps where they serve, else one by one.

What was integrated is entered: place, impulses, work; what is held is put back. Conditions that start at zero are
raised by an offset until they have left it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...contact.snapshot import rows_of
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..contact_modes import rough, stopped
from ..dop853 import STAGES, Piece, Slope
from ..energy import energy
from ..mode_changes import Change
from ..recorded_arcs import LOBATTO
from .account import Account
from .compiled.phase_arrays import CompiledPhase
from .drift_correction import held
from .event_location import Crossing, Search, Seen
from .feature_borders import room_of
from .phase_integrator import OneStep, Pace, PhaseMotion, Stuck
from .phase_state import FADED, Instant, largest
from .run_memory import Setting, Task
from .smooth_phase import Phase, trail_of

ARMED = {"place": 1e-12, "speed": 1e-12, "force": 1e-10, "acceleration": 1e-10}  # forces, accelerations: relative
BESIDE = 1e-6  # m: so near to the end of a feature another one may touch
FAINT = 1e-30  # N and m/s^2: where there has been none
SETTLED = 10.0  # times `ARMED`: conditions below this start at zero
SHORTLY = 1e-4  # of a step: so long before its end what stops there still has its direction


class Stretch(NamedTuple):
    """A step of the integrator, and the first event in it; no step where kernels have gone on without events.

    Attributes
    ----------
    event : (float, Array) or None
        Time and state there, where the motion up to it is in the account already.
    after : Instant or None
        At its end, where it is known.
    look, one_step : callable
        Conditions at a state (t, y), and one step from it.
    """

    piece: Piece | None
    found: Crossing | None = None
    event: tuple[float, Array] | None = None
    after: Instant | None = None
    look: Callable[[float, Array], Seen] | None = None
    one_step: OneStep | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class SmoothFlow:
    """What is known of the motion in a phase.

    Attributes
    ----------
    task : Task
    t, q, v : float, Array, Array
        Where it is.
    pace : Pace
    largest : dict of str to float
        The largest force (N) and acceleration so far.
    system : System
        With the contacts that may act.
    phase : Phase or None
    now : Instant or None
        Where it was asked last.
    account : Account
    offsets : dict
        Of conditions that began at zero, by row id and kind.
    entered : bool
        Whether the phase has just begun.
    """

    task: Task
    t: float
    q: Array
    v: Array
    pace: Pace
    largest: dict[str, float]
    system: System
    phase: Phase | None = None
    now: Instant | None = None
    account: Account = field(default_factory=Account)
    offsets: dict[tuple[str, str], float] = field(default_factory=dict)
    entered: bool = False

    def state(self) -> State:
        """Return the state as it is now."""
        return State.trusted(self.t, self.q, self.v, self.task.start.memory)

    def _setting(self) -> Setting:
        """Return what phases are made of here."""
        same = self.system is self.task.whole and getattr(self.system, "same_laws", False)
        phases = self.task.known.phases if same else None
        return Setting(system=self.system, control=self.task.control, known=phases)

    def _parts(self, y: Array) -> tuple[Array, Array]:
        nq, nv = len(self.q), len(self.v)
        return y[:nq], y[nq : nq + nv]

    def _here(self, phase: Phase) -> Instant:
        """Return the phase where it is."""
        now = self.now
        here = now is not None and now.t == self.t and now.q is self.q and now.v is self.v
        if now is None or not here or now.shared:  # reactions that have been shared jump against those of a step
            self.now = now = phase.instant(self.t, self.q, self.v)
        return now

    def _stretch(self, phase: Phase, end: float) -> Stretch:
        """Take one step of the integrator, and look for the first event in it."""
        ship = self._compiled(phase) if self.task.accuracy.step is None else None
        motion = PhaseMotion(phase=phase, control=self.task.control, accuracy=self.task.accuracy, kernels=ship)
        before = self._here(phase)
        done = motion.step(before, self.pace, end, self.task.goal)
        piece, after, self.pace = done.piece, done.after, done.pace
        _watch_caps(phase, after.rows)

        def look(t: float, y: Array) -> Seen:
            """Return the conditions at a state."""
            return seen(phase, motion.instant(t, y)) if ship is None else ship.look(t, y)

        self._scale("force", after)
        coarse = 1e3 * SETTLED if phase.redundant else SETTLED
        scales = self._scales(phase, before)
        noise = np.array([coarse * ARMED[guard.unit] * scales[guard.unit] for guard in phase.guards])
        after = phase.sharing(after)
        ends = seen(phase, before), seen(phase, after)
        search = Search(phase, lambda t: look(t, piece.at(t)), self._offsets(phase), noise, [])
        found = self._found(search, piece, *ends)
        return Stretch(piece=piece, found=found, after=after, look=look, one_step=done.one_step)

    def _compiled(self, phase: Phase) -> CompiledPhase | None:
        return CompiledPhase.of(phase, self.task.accuracy, self.task.known.mechanism)

    def _offsets(self, phase: Phase) -> Array:
        return np.array([self.offsets.get((guard.id, guard.kind), 0.0) for guard in phase.guards])

    def _found(self, search: Search, piece: Piece, before: Seen, after: Seen) -> Crossing | None:
        """Return the first event of a step, and note what was too close to decide before it.

        A feature that begins where the one that touches ends, as an edge beside a face, grazes there: that is no touch.
        """
        found = search.first(before, after)
        for graze in search.grazes:
            room = room_of(search.phase.system, graze.id, self._parts(piece.at(graze.t))[0])
            if room is not None and room <= BESIDE:
                continue
            here = self.state()
            self.account.changes.append(Change(t=graze.t, kind="undecided", id=graze.id, before=here, after=here))
        return found

    def _sail(self, phase: Phase, end: float) -> Stretch | None:
        """Let the kernels take steps as long as nothing happens; None where they have taken none and cannot."""
        task = self.task
        served = phase.system is task.whole and self.pace.h > 0.0 and not task.events and task.accuracy.step is None
        ship = self._compiled(phase) if served else None
        if ship is None:
            return None
        ship.put_offsets(self.offsets)
        done = ship.sail(self.t, self.q, self.v, self.pace.h, end, self.pace.stiff)
        self.pace = replace(self.pace, h=done.h, stiff=done.stiff)
        if len(done.trail):
            self.account.trails.append(done.trail)
        for guard, offset in zip(phase.guards, ship.step.offset.tolist(), strict=True):
            if offset == 0.0:
                self.offsets.pop((guard.id, guard.kind), None)
        if done.piece is not None:
            piece = done.piece
            q, v = self._parts(piece.y)
            self.t, self.q, self.v = piece.t, q.copy(), v.copy()
            if done.crossing is not None:
                k, t = done.crossing
                found: Crossing | None = Crossing(t=t, guard=phase.guards[k], k=k)
            else:
                search = Search(
                    phase, lambda t: ship.look(t, piece.at(t)), ship.step.offset.copy(), ship.step.noise.copy(), []
                )
                found = self._found(search, piece, *ship.ends(piece))
            return Stretch(
                piece=piece, found=found, event=done.event, look=ship.look, one_step=partial(ship.take, side=done.side)
            )  # fmt: skip
        if not done.taken:
            return None
        mean, left = (done.t - self.t) / done.taken, max(end, self.task.goal) - done.t
        self.pace = self.pace.passed(mean, mean, left, self.now, done.taken)
        self.pace.check_stiffness(mean, left)
        self._move_to(phase, done.t, done.y)
        if done.held_is_off:
            self._hold(phase, rows_of(phase.system, self.t, self.q, self.v))
        if self.t >= end:
            self.now = phase.instant(self.t, self.q, self.v)
        return Stretch(piece=None)

    def _follow(self, phase: Phase, piece: Piece, t: float, y: Array) -> None:
        """Go along a step of the integrator to a time and the state there, and keep what was passed."""
        if piece.samples is not None and t > piece.t:
            self.account.trails.append(piece.samples(t, y))
            self._move_to(phase, t, y)
            return
        known = piece.K[0], piece.K[STAGES] if y is piece.end else None
        self._along(phase, piece.slope, (piece.t, piece.y), (t, y), piece.at, known)

    def _along(
        self, phase: Phase, slope: Slope, start: tuple[float, Array], end: tuple[float, Array],
        at: Callable[[float], Array], known: tuple[Array | None, Array | None] = (None, None),
    ) -> None:  # fmt: skip
        """Go from a state to another one; `known`: the rates there, `at`: the states in between."""
        (t, y), h = start, end[0] - start[0]
        given = None
        if h > 0.0:
            times = (t + h * LOBATTO).tolist()
            places = [y, *(at(x) for x in times[1:-1]), end[1]]
            rates = [known[0], *(None for _ in times[1:-1]), known[1]]
            if phase.redundant:
                phases = [phase] * len(times)
                if any(stopped(row, phase.modes[row.id]) for row in phase.system.rows(end[0], *self._parts(end[1]))):
                    shortly = end[0] - SHORTLY * h
                    phases[-1] = phase.turned(phase.instant(shortly, *self._parts(at(shortly))))
                r = [self._shared(*one) for one in zip(phases, times, places, strict=True)]
            else:
                n = len(self.q) + len(self.v)
                r = [
                    (slope(x, place) if rate is None else rate)[n:-2]
                    for x, place, rate in zip(times, places, rates, strict=True)
                ]
            trail = trail_of(phase, np.array([t]), np.array([h]), np.array([places]), np.array([r]))
            self.account.trails.append(trail)
            given = trail[0].impulses() if phase.redundant else None
        self._move_to(phase, *end, given)

    def _shared(self, phase: Phase, t: float, y: Array) -> Array:
        """Return redundant reactions at a state, inside their cones if they can be."""
        now = phase.sharing(phase.instant(t, *self._parts(y)))
        return np.concatenate([np.zeros(0), *now.r])

    def _move_to(self, phase: Phase, t: float, y: Array, given: Mapping[str, Array] | None = None) -> None:
        """Take over a point of the integrator: its place, its impulses (those `given`, else its own), its work."""
        nq, nv = len(self.q), len(self.v)
        self.entered = False
        self.t, self.q, self.v = t, y[:nq].copy(), y[nq : nq + nv].copy()
        if nq != nv:
            self.q = phase.system.move(self.q, np.zeros(nv), 0.0)
        p = y[nq + nv : -2]
        for key, at in phase.pushes.items():
            self.account.push(key, p[at] if given is None else given[key], self.system)
        self.account.work[0] += float(y[-2])
        self.account.work[1] += float(y[-1])

    def _hold(self, phase: Phase, rows: tuple[Row, ...]) -> bool:
        """Put back what is held, and whether anything was off."""
        q, v = held(phase.system, phase.modes, self.t, self.q, self.v, rows)
        if q is self.q and v is self.v:
            return False
        was = sum(energy(phase.system, self.state()))
        self.q, self.v = q, v
        self.account.work[2] += sum(energy(phase.system, self.state())) - was
        return True

    def _scales(self, phase: Phase, now: Instant) -> dict[str, float]:
        """Return what the conditions of a phase are measured by, by unit."""
        return {unit: self._scale(unit, now) for unit in phase.units}

    def _scale(self, unit: str, now: Instant) -> float:
        """Return what a condition is measured by: 1 m, 1 m/s, the largest force or acceleration."""
        if unit not in self.largest:
            return 1.0
        size = now.sizes[0] if unit == "force" else now.sizes[1]
        self.largest[unit] = max(self.largest[unit], size)
        return max(size, self.floor(unit))

    def _measure(self, now: Instant) -> None:
        """Note how large forces are, and accelerations without reactions: at rest nothing else says it."""
        self._scale("force", now)
        self.largest["acceleration"] = max(self.largest["acceleration"], now.sizes[2])

    def _fade(self) -> None:
        """Begin a segment with what forces and accelerations are now, and hardly with what they were before."""
        assert self.now is not None
        self.largest = faded(self.largest, self.now.sizes[0], self.now.sizes[2])

    def _measure_before(self, phase: Phase, piece: Piece, now: Instant) -> None:
        """Note the same at the beginning of a step where all forces have vanished together by its end."""
        if now.sizes[0] < FADED * largest(piece.K[0][len(self.q) + len(self.v) : -2]):
            self._measure(phase.instant(piece.t, *self._parts(piece.y)))

    @property
    def sizes(self) -> tuple[float, float]:
        """What forces (N) and accelerations (m/s^2) are measured by where all of them vanish together."""
        return self.floor("force"), self.floor("acceleration")

    def floor(self, unit: str) -> float:
        """Return what forces or accelerations are measured by where all of them vanish together."""
        return FADED * self.largest[unit]


def faded(largest: Mapping[str, float], force: float, acceleration: float) -> dict[str, float]:
    """Return the largest force and acceleration where a segment begins, from those so far and those there."""
    now = {"force": force, "acceleration": acceleration}
    return {unit: max(FADED * x, now[unit]) for unit, x in largest.items()}


def seen(phase: Phase, now: Instant) -> Seen:
    """Return the conditions at an instant."""
    now = phase.sharing(now)
    return Seen(now.t, phase.conditions(now), phase.rates(now))


def _watch_caps(phase: Phase, rows: Sequence[Row]) -> None:
    """Raise Stuck where dry friction has set in within a phase that began without any: no mode of it was chosen."""
    for first, row in zip(phase.rows, rows, strict=True):
        if row.kind == "dry" and rough(row) and not rough(first):
            words = f"the cap of {row.id} was zero and has grown to {row.cap_s:.2g} N"
            raise Stuck(f"{words}: friction that sets in like this is not followed; let it be 1e-12 N where it is none")
