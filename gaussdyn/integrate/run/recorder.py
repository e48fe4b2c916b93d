"""Collects a run, step by step, into a `Trajectory`, whole or piece by piece."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import numpy as np

from ...arrays import Array, IntArray, scalar, vector
from ...contact.snapshot import rows_at_start
from ...errors import InputError
from ...mechanics.joints.columns import Readings
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ..contact_forces import NOBODY, is_contact
from ..contact_modes import FREE
from ..energy import EnergyBook
from ..stepper import check_same_rows, held_control
from ..stretch import WORDS, Stretch
from .certificate_log import NONE, Proofs
from .column_names import Heads, Winding, heads_of, readings_of
from .contact_history import ContactTable, LateTable, empty_table
from .contact_lines import table_of_steps
from .mode_events import OPEN, contact_states, events
from .sensor_columns import check_sensor_names, with_sensors
from .setup import Outputs, RunSetup
from .statistics import RunningStatistics
from .step_evidence import LateEvidence
from .trajectory import Trajectory
from .uniqueness_checks import CHOSEN, NOT_EXAMINED, Finding
from .values import Column, Event, StepTable, Stop

NUMBERS = ("t", "dt", "E", "friction_margin", "restitution")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Saved:
    """Saved states: the numbers of their steps, the steps, and the values of all columns, a line for each state."""

    numbers: IntArray
    steps: Stretch
    values: Array

    def take(self, lines: slice) -> Saved:
        """Return some of them."""
        return Saved(
            numbers=self.numbers[lines], steps=self.steps.chosen(np.arange(len(self.numbers))[lines]),
            values=self.values[lines],
        )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Piece:
    """What was recorded since the last piece was handed over."""

    saved: list[Saved] = field(default_factory=list)
    numbers: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in NUMBERS})
    status: list[str] = field(default_factory=list)
    outcome: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, steps: Stretch, found: Sequence[Finding], happened: list[list[Event]]) -> None:
        """Enter what is kept of every step, saved or not; found: of the first ones."""
        n = len(steps)
        margin = np.full(n, math.nan)
        margin[: len(found)] = [one.margin for one in found]
        lines = (steps.spans[:, 2], steps.spans[:, 1], steps.E, margin, steps.restitution)
        for name, values in zip(NUMBERS, lines, strict=True):
            self.numbers[name].frombytes(np.ascontiguousarray(values).tobytes())
        self.status += [str(steps.status)] * n
        self.outcome += [one.outcome for one in found] + [NOT_EXAMINED] * (n - len(found))
        self.counts += [len(one) for one in happened]
        self.events += [event for one in happened for event in one]

    def steps(self) -> StepTable:
        """Return the steps as a table."""
        status, outcome = np.array(self.status, dtype=np.str_), np.array(self.outcome, dtype=np.str_)
        counts = np.array(self.counts, dtype=np.int64)
        numbers = {name: np.array(x) for name, x in self.numbers.items()}
        return StepTable(**numbers, status=status, outcome=outcome, events=counts)


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Running record of one run; `trajectory` returns what came since the last `forget`.

    Attributes
    ----------
    system : System
    outputs : mapping
        Extra columns: name -> (unit, function of a state).
    save : int
        Every how many steps a state is saved; the first and the last always are.
    about : mapping
        Scene, settings and versions of the run.
    first_rows : tuple of Row
    changing : bool
        Whether contacts come and go; else every step has the rows of the first state.
    named : tuple of str
        Ids of the rows that are columns.
    heads : dict of str to (str, str)
        Unit and other name of every column.
    controls : int
        Number of control values.
    readings : Readings or None
        What the system calls its numbers.
    winding : Winding or None
    totals : RunningStatistics
    proofs : Proofs
    first : Finding
        What was found before the first step, where steps are not examined.
    """

    system: System
    outputs: Outputs
    save: int
    about: Mapping[str, Any]
    first_rows: tuple[Row, ...]
    changing: bool
    named: tuple[str, ...]
    heads: Heads
    controls: int
    totals: RunningStatistics
    final: State
    readings: Readings | None = None
    winding: Winding | None = None
    last: Saved | None = None
    piece: Piece = field(default_factory=Piece)
    proofs: Proofs = field(default_factory=Proofs)
    first: Finding = field(default_factory=Finding)

    @classmethod
    def start(cls, setup: RunSetup, save: int, about: Mapping[str, Any]) -> Recorder:
        """Record the initial state of a run.

        Raises
        ------
        InputError
            What the system or an output says about it is not finite.
        """
        system, state = setup.system, setup.state
        control = held_control(setup.control, state)
        near = system.near(state.t, state.q, state.v, 0.0)
        rows = rows_at_start(near, state, None if control is None else vector("control", control))
        changing = near is not system
        named = [row for row in rows if not changing or row.between == NOBODY]
        ids = tuple(row.id for row in named)
        readings = readings_of(system)
        recorder = cls(
            system=system, outputs=setup.outputs, save=save, about=about, first_rows=rows, changing=changing, named=ids,
            heads=heads_of(state, control, named, setup.outputs, readings), final=state,
            readings=readings, winding=Winding.start(readings, state),
            controls=0 if control is None else len(control),
            totals=RunningStatistics.start(EnergyBook.start(system, state), rows, frozenset(ids)),
        )  # fmt: skip
        check_sensor_names(system, recorder.heads)
        steps = Stretch.at_start(state, rows, control, recorder.totals.book)
        none, angles = np.zeros(1, dtype=np.int64), {} if recorder.winding is None else recorder.winding.by_joint()
        values = recorder._values(steps, none, np.zeros((4, 1)), [angles], [recorder._outputs(state)])
        recorder.piece.saved.append(Saved(numbers=none, steps=steps, values=values))
        return recorder

    @property
    def count(self) -> int:
        """Steps taken."""
        return self.totals.count

    def go_on(self, earlier: Trajectory) -> State:
        """Go on from the end of an earlier run, and return the state that is."""
        self.totals = RunningStatistics.again(earlier.running, earlier.rows)
        self.final = earlier.final
        if self.winding is not None:
            self.winding.go_on(earlier.final, earlier.running.get("angles", ()))
        self.forget()
        outcomes = earlier.steps.outcome
        self.proofs.go_on(earlier.certificates, str(outcomes[-1]) if len(outcomes) else NOT_EXAMINED)
        return earlier.final

    def add(self, steps: Stretch, found: Sequence[Finding] = ()) -> None:
        """Record steps, of whose first ones this was found.

        If a function of the system or an output fails at a state, what was before is recorded, and it is raised; so is
        a step that ends in no state.
        """
        self._check(steps)
        if (n := steps.sound) < len(steps):
            self._first(n, steps, found)
            given = f"a step from t = {self.final.t:g} s to numbers that are not finite"
            raise InputError("stepper", given, "states", "Take smaller steps, as MoreauJean(dt=1e-4).")
        numbers = self.count + 1 + np.arange(len(steps))
        chosen = self._chosen(numbers)
        extra: list[list[float]] = []
        try:
            for k in chosen.tolist() if self.outputs else ():
                extra.append(self._outputs(steps.end if k == len(steps) - 1 else steps.step(k).state))
        except Exception:
            self._first(int(chosen[len(extra)]), steps, found)
            raise
        begins = self.count == 0
        if begins and (not found or found[0].outcome == NOT_EXAMINED):
            found = (self.first, *found[1:])
        angles = self._wound(steps)
        works = self.totals.book.enter(steps.books, np.abs(steps.v).max(axis=1, initial=0.0))
        self.totals.note(steps)
        self._note(steps, found, begins)
        values = self._values(steps, chosen, np.array(works)[:, chosen], [angles[k] for k in chosen], extra)
        saved = self.last = Saved(numbers=numbers[chosen], steps=steps.chosen(chosen), values=values)
        self.final = steps.end
        if numbers[-1] % self.save:
            saved, self.last = saved.take(slice(0, -1)), saved.take(slice(-1, None))
        if len(saved.numbers):
            self.piece.saved.append(saved)

    def _first(self, n: int, steps: Stretch, found: Sequence[Finding]) -> None:
        """Record the first n of some steps, after which something failed."""
        if n > 0:
            self.add(steps.until(n), found[:n])

    def _chosen(self, numbers: IntArray) -> IntArray:
        """Return which of the steps with these numbers are saved: those of the grid, and the last one for now."""
        chosen = np.flatnonzero(numbers % self.save == 0)
        if not len(chosen) or chosen[-1] < len(numbers) - 1:
            chosen = np.append(chosen, len(numbers) - 1)
        return chosen

    def trajectory(self, stop: Stop | None) -> Trajectory:
        """Return what was recorded since the last `forget`; the last state is in it, even if it is off the grid."""
        saved = list(self.piece.saved)
        if self.last is not None and (not saved or saved[-1].numbers[-1] != self.count):
            saved.append(self.last)
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *(one.numbers for one in saved)])
        values = np.concatenate([np.zeros((0, len(self.heads))), *(one.values for one in saved)])
        angles = {} if self.winding is None else {"angles": self.winding.angle.tolist()}
        run = Trajectory(
            status="COMPLETED" if stop is None else "STOPPED",
            stop=stop,
            **_arrays(saved, self.system.nq, self.system.nv),
            saved=numbers,
            steps=self.piece.steps(),
            columns=self._columns(values),
            events=tuple(self.piece.events),
            impacts=tuple(
                replace(strike, step=int(one.numbers[k])) for one in saved for k, strike in one.steps.impacts
            ),
            evidence=LateEvidence([(one.numbers, one.steps.step) for one in saved if one.numbers[0] > 0]),
            certificates=tuple(
                sorted((one for one in self.proofs.found if one.t <= self.final.t), key=attrgetter("t"))
            ),
            statistics=self.totals.statistics(),
            rows=self.totals.rows,
            table=self._table(saved),
            running=self.totals.document() | angles,
            final=self.final,
            state_hash=self.final.digest(),
            **self.about,
        )
        return with_sensors(self.system, run)

    def _columns(self, values: Array) -> dict[str, Column]:
        """Return the columns of a run by name."""
        return {
            name: Column(unit=unit, values=np.ascontiguousarray(values[:, k]), also=also)
            for k, (name, (unit, also)) in enumerate(self.heads.items())
        }

    def so_far(self) -> Trajectory:
        """Return what `trajectory` would if the run ended here; it goes on."""
        return self.trajectory(Stop(t=self.final.t, reason="it is still being computed"))

    def forget(self) -> None:
        """Drop what `trajectory` has returned, once it is in safety."""
        self.piece, self.last, self.proofs.found = Piece(), None, []

    def _note(self, steps: Stretch, found: Sequence[Finding], begins: bool) -> None:
        """Enter what is kept of every step, and what happened in it."""
        totals, closed = self.totals, None
        for _, one in steps.changes or ():
            self.proofs.add(one.t, NONE, one.certificate)
        if begins:  # a contact that is closed at the start has not just touched down
            gap = steps.step(0).activation.gap
            closed = {row.id for row in self.first_rows if row.kind == "dry" or row.gap <= gap}
        states = contact_states(steps, totals.contacts, closed)
        happened = events(steps, states, totals.contacts)
        if begins and self.first.chosen and found[0] is self.first:
            happened[0].insert(0, Event(t=float(steps.spans[0, 0]), kind=CHOSEN, id=", ".join(self.first.chosen)))
        self.piece.add(steps, found, happened)
        now = zip(steps.of.ids, states[-1].tolist(), steps.of.changes.tolist(), strict=True)
        totals.contacts = {key: FREE if state == OPEN else WORDS[state] for key, state, can in now if can}

    def _check(self, steps: Stretch) -> None:
        """Raise InputError if steps lack rows that are columns, or their control has another size."""
        if not self.changing and steps.step.kind is None:
            check_same_rows(steps.rows(0), self.first_rows)
        elif missing := set(self.named).difference(steps.of.ids):
            allowed = "every constraint that is no contact between bodies, in every state"
            mend = "Return them always: [Row(id=...), ...]."
            raise InputError("rows(t, q, v)", f"no {', '.join(sorted(missing))}", allowed, mend)
        if steps.control.shape[1] != self.controls:
            raise InputError(
                "control",
                f"{steps.control.shape[1]} values",
                f"{self.controls}, as in the first step",
                f"Write numpy.zeros({self.controls}).",
            )

    def _wound(self, steps: Stretch) -> list[Mapping[str, float]]:
        """Return the angles after every step, full turns counted."""
        return [{}] * len(steps) if self.winding is None else self.winding.follow(steps.q, steps.v, steps.spans[:, 1])

    def _values(
        self, steps: Stretch, chosen: IntArray, works: Array, angles: list[Mapping[str, float]],
        extra: list[list[float]],
    ) -> Array:  # fmt: skip
        """Return the values of all columns at the ends of chosen steps, in the order of `heads_of`.

        works: by reactions, forces and projection since the start, and the error of the energy, J.
        """
        dt = steps.spans[chosen, 1]
        kinetic, potential = steps.books.kinetic[chosen], steps.books.potential[chosen]
        columns = [steps.spans[chosen, 2, None], steps.q[chosen], steps.v[chosen], steps.control[chosen]]
        columns += [np.column_stack([kinetic, potential, kinetic + potential, *works, steps.E[chosen]])]
        forces, read = steps.impulses[chosen] / dt[:, None], () if self.readings is None else self.readings.rows
        wanted = {*self.named, *read}
        at = {key: k for k, key in enumerate(steps.of.ids) if key in wanted} if wanted else {}
        spread = {key: slice(steps.of.start[at[key]], steps.of.start[at[key] + 1]) for key in at}
        for key in self.named:
            columns += [steps.gap[chosen, at[key], None], forces[:, spread[key]]]
        if self.readings is not None and self.readings.more:
            known = [key for key in self.readings.rows if key in at]
            lines = zip(steps.spans[chosen, 2].tolist(), steps.q[chosen], steps.v[chosen], forces, angles, strict=True)
            columns.append(np.array([
                self.readings.read(t, q, v, {key: r[spread[key]] for key in known}, wound)
                for t, q, v, r, wound in lines
            ]))  # fmt: skip
        return np.concatenate([*columns, np.array(extra).reshape(len(chosen), len(self.outputs))], axis=1)

    def _table(self, saved: list[Saved]) -> ContactTable:
        """Return the table of contacts, which is made when it is asked for."""
        ends = np.cumsum([0, *(len(one.numbers) for one in saved)])
        if not self.changing and not any(map(is_contact, self.first_rows)):
            return empty_table(int(ends[-1]))
        columns = frozenset(self.named) if self.changing else None

        def make(states: slice) -> ContactTable:
            """Return the table of some saved states."""
            low, high, _ = states.indices(int(ends[-1]))
            parts, spans = [], zip(saved, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
            for one, a, b in spans if high - low > 1 else [_around(saved, ends, low)]:
                if a < high and b > low:
                    whole = low <= a and b <= high
                    parts.append(one.steps if whole else one.steps.chosen(np.arange(max(a, low), min(b, high)) - a))
            return table_of_steps(parts, columns)

        return LateTable.of(make)

    def _outputs(self, state: State) -> list[float]:
        """Return what the functions of the user say of a state."""
        return [scalar(name, function(state)) for name, (_, function) in self.outputs.items()]


def _around(saved: list[Saved], ends: IntArray, k: int) -> tuple[Saved, int, int]:
    """Return the saved states among which the k-th is, and the numbers of the first of them and of what follows."""
    at = int(np.searchsorted(ends, k, side="right")) - 1
    return saved[at], int(ends[at]), int(ends[at + 1])


def _arrays(saved: list[Saved], nq: int, nv: int) -> dict[str, Any]:
    """Return the saved states, and those before their steps."""
    found = {}
    for prefix, c, q, v in (("", 2, "q", "v"), ("before_", 0, "before_q", "before_v")):
        found[f"{prefix}t"] = np.concatenate([np.zeros(0), *(one.steps.spans[:, c] for one in saved)])
        found[f"{prefix}q"] = np.concatenate([np.zeros((0, nq)), *(getattr(one.steps, q) for one in saved)])
        found[f"{prefix}v"] = np.concatenate([np.zeros((0, nv)), *(getattr(one.steps, v) for one in saved)])
    return found
