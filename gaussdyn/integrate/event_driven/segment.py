"""One segment of an event-driven run, from a state to the next event: a value, as far as it has come.

It begins as the last one has ended, or as the state remembers (`Segment.of`); `event_loop` lets it flow and jump, each
of which returns another value; what the next one shall know stands in the state at its end (`Segment.end_state`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ...contact.snapshot import Activation, rows_of
from ...mechanics.rows import Row
from ...mechanics.state import Print, State
from ...mechanics.system import System
from ...programs.solution.solution import Solution
from ..contact_modes import Modes
from ..impact.zeno import Rebound
from ..mode_memory import BROKEN, LARGEST, LENGTH, PACE, fired_memory, memory_of, rebounds
from ..stretch import Late
from .account import Account
from .phase_integrator import Pace
from .phase_state import FADED, Instant, Place
from .rank_watch import Watch
from .run_memory import Entered, Setting, Task
from .smooth_phase import Phase

FAINT = 1e-30  # N and m/s^2: where there has been none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segment:
    """What is known of the motion now.

    Attributes
    ----------
    task : Task
    t, q, v : float, Array, Array
        Where it is.
    pace : Pace
    largest : mapping of str to float
        The largest force (N) and acceleration (m/s^2) so far.
    bounced : mapping of str to Rebound
    closed : Activation
        What counted as closed where modes were chosen last, see `parted`.
    system : System
        With the contacts that may act.
    phase : Phase or None
    now : Instant or None
        Where it was asked last.
    offsets : mapping
        Of conditions that began at zero, by row id and kind.
    entered : bool
        Whether the phase has just begun.
    passing : mapping of str to float
        When the sequences of impacts end that are being passed (s), by row id: the segment does not end before.
    account : Account
    watch : Watch
        For constraints that lose rank.
    failure : Solution or None
        Why there is no phase.
    broken : mapping of str to Mode
        The modes before, where there is no phase: what comes next is a change of these.
    ends : str
        Why the run shall end after this segment, if it shall.
    """

    task: Task
    t: float
    q: Array
    v: Array
    pace: Pace
    largest: Mapping[str, float]
    bounced: Mapping[str, Rebound]
    closed: Activation
    system: System
    phase: Phase | None = None
    now: Instant | None = None
    offsets: Mapping[tuple[str, str], float] = field(default_factory=dict)
    entered: bool = False
    passing: Mapping[str, float] = field(default_factory=dict)
    account: Account = field(default_factory=Account)
    watch: Watch = field(default_factory=Watch)
    failure: Solution | None = None
    broken: Modes = field(default_factory=dict)
    ends: str = ""

    @classmethod
    def of(cls, task: Task) -> Segment:
        """Return the segment of a task: in the phase that the one before it has entered, or as the state remembers."""
        start = task.start
        for last in reversed(task.known.entered):
            if last.begins(start, task.control, task.accuracy):
                return replace(last.segment, task=task, q=start.q, v=start.v)
        memory = start.memory
        longest, steps, first = memory[PACE].tolist() if PACE in memory else (0.0, 0.0, 0.0)
        force, acceleration = memory[LARGEST].tolist() if LARGEST in memory else (FAINT, FAINT)
        return cls(
            task=task, t=start.t, q=start.q, v=start.v, system=task.whole, closed=task.accuracy.activation,
            pace=Pace(h=number_in(memory, LENGTH), longest=longest, crawled=(int(steps), first)),
            largest={"force": force, "acceleration": acceleration}, bounced=rebounds(memory),
        )  # fmt: skip

    def state(self) -> State:
        """Return the state as it is now."""
        return State.trusted(self.t, self.q, self.v, self.task.start.memory)

    def place(self, rows: tuple[Row, ...] | None = None) -> Place:
        """Ask the system where it is now."""
        rows = rows_of(self.system, self.t, self.q, self.v) if rows is None else rows
        return Place.of(self.system, self.t, self.q, self.v, self.task.control, rows)

    def parts(self, y: Array) -> tuple[Array, Array]:
        """Return places and velocities at a point of the integrator."""
        nq, nv = len(self.q), len(self.v)
        return y[:nq], y[nq : nq + nv]

    def read(self, t: float, y: Array) -> State:
        """Return the state at a point of the integrator."""
        q, v = (x.copy() for x in self.parts(y))
        if len(q) != len(v):
            q = self.system.move(q, np.zeros(len(v)), 0.0)
        return State(t=t, q=q, v=v)

    def setting(self) -> Setting:
        """Return what phases are made of here."""
        same = self.system is self.task.whole and getattr(self.system, "same_laws", False)
        phases = self.task.known.phases if same else None
        return Setting(system=self.system, control=self.task.control, known=phases)

    def located(self, phase: Phase) -> tuple[Segment, Instant]:
        """Return the segment with its phase asked where it is, and what that says."""
        now = self.now
        here = now is not None and now.t == self.t and now.q is self.q and now.v is self.v
        if now is not None and here and not now.shared:  # reactions that were shared jump against those of a step
            return self, now
        now = phase.instant(self.t, self.q, self.v)
        return replace(self, now=now), now

    def noting(self, account: Account) -> Segment:
        """Return the segment with another account."""
        return replace(self, account=account)

    # what conditions are measured by

    def measured(self, units: Collection[str], now: Instant) -> Segment:
        """Note how large forces are, and accelerations, where conditions have these units."""
        size = {"force": now.sizes[0], "acceleration": now.sizes[1]}
        new = {unit: max(x, size[unit]) if unit in units else x for unit, x in self.largest.items()}
        return self if new == self.largest else replace(self, largest=new)

    def measured_free(self, now: Instant) -> Segment:
        """Note how large forces are, and accelerations without reactions: at rest nothing else says it."""
        largest = self.largest
        new = {
            "force": max(largest["force"], now.sizes[0]),
            "acceleration": max(largest["acceleration"], now.sizes[2]),
        }
        return self if new == largest else replace(self, largest=new)

    def scales(self, units: Collection[str], now: Instant) -> dict[str, float]:
        """Return what conditions are measured by, by unit: 1 m, 1 m/s, the largest force or acceleration."""
        size = {"force": now.sizes[0], "acceleration": now.sizes[1]}
        return {unit: max(size[unit], self.floor(unit)) if unit in size else 1.0 for unit in units}

    def floor(self, unit: str) -> float:
        """Return what forces or accelerations are measured by where all of them vanish together."""
        return FADED * self.largest[unit]

    @property
    def sizes(self) -> tuple[float, float]:
        """That of forces (N) and of accelerations (m/s^2)."""
        return self.floor("force"), self.floor("acceleration")

    # its end

    def end_state(self, crowd: float) -> State:
        """Return the state as it is now, with what it shall remember: `crowd` segments in a row have hardly gone on."""
        phase, now, pace = self.phase, self.now, self.pace
        modes = self.broken if phase is None else phase.modes
        forces = {} if phase is None or now is None else {row.id: r for row, r in zip(now.rows, now.r, strict=True)}
        sizes, bounced = tuple(self.largest.values()), self.bounced
        own = [one.id for one in self.account.changes if one.kind == "user" and one.t == self.t]
        watched = bool(self.task.events)

        def memory() -> dict[str, Array]:
            """Return what the state remembers."""
            found = memory_of(modes, forces, bounced, pace.h, crowd)
            found[LARGEST] = np.array(sizes)
            found |= {BROKEN: np.ones(1)} if phase is None else {}
            found |= fired_memory(own) if watched else {}
            if pace.short:
                found[PACE] = np.array([pace.longest, *pace.crawled])
            return found

        return State.trusted(self.t, self.q, self.v, Late(memory))

    def hand_on(self, state: State) -> None:
        """Let the run know the phase that was entered at the end, so that the next segment does not find it anew."""
        phase, pace, task = self.phase, self.pace, self.task
        if not self.entered or phase is None or self.now is None or phase.system is not task.whole:
            return
        pace = Pace(h=pace.h, longest=pace.longest, crawled=pace.crawled) if pace.short else Pace(h=pace.h)
        next_one = replace(self, pace=pace, passing={}, account=Account(), watch=Watch(), ends="")
        task.known.entered.append(
            Entered(state=Print.of(state), control=task.control, accuracy=task.accuracy, segment=next_one)
        )  # fmt: skip


def number_in(memory: Mapping[str, Array], name: str) -> float:
    """Return a number that a state remembers, 0 where it does not."""
    return float(memory[name][0]) if name in memory else 0.0
