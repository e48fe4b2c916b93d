"""Collects a run, step by step, into a `Trajectory`, whole or piece by piece."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array, scalar, vector
from ...contact.snapshot import rows_at_start
from ...errors import InputError
from ...mechanics.joints.columns import Readings
from ...mechanics.rows import Row
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.solution.status import Status
from ..contact_forces import NOBODY, is_contact
from ..energy import EnergyBook
from ..impact.history import ImpactRecord
from ..stepper import Step, check_same_rows, held_control
from .certificate_log import NONE, Proofs
from .column_names import Heads, Winding, heads_of, readings_of
from .contact_history import table_of
from .mode_events import CROWDED, UNSETTLED, contact_states, events
from .sensor_columns import check_sensor_names, with_sensors
from .setup import Outputs, RunSetup
from .statistics import RunningStatistics
from .step_evidence import StepEvidence
from .trajectory import Trajectory
from .uniqueness_checks import CHOSEN, NOT_EXAMINED, Finding
from .values import Column, Event, StepTable, Stop

if TYPE_CHECKING:
    from ..time_stepping.compiled.lazy_step import ManySteps

NUMBERS = ("t", "dt", "E", "friction_margin", "restitution")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Saved:
    """One saved state: its step's number, the states around the step, its columns, contacts, impacts, evidence."""

    number: int
    before: State
    state: State
    values: list[float]
    contacts: list[tuple[Row, Array, str]]
    impacts: tuple[ImpactRecord, ...] = ()
    evidence: StepEvidence | None = None


@dataclass(slots=True, kw_only=True)
class Piece:
    """What was recorded since the last piece was handed over."""

    saved: list[Saved] = field(default_factory=list)
    numbers: dict[str, array[float]] = field(default_factory=lambda: {name: array("d") for name in NUMBERS})
    status: list[str] = field(default_factory=list)
    outcome: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

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
    last: Step | None = None
    extra: dict[str, float] = field(default_factory=dict)
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
        recorder.extra = recorder._outputs(state)
        values = recorder._values(state, control, 0.0, {row.id: row for row in rows}, {}, 1.0)
        contacts = [(row, np.zeros(row.size), "open") for row in rows if recorder._tabled(row)]
        recorder.piece.saved.append(Saved(number=0, before=state, state=state, values=values, contacts=contacts))
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

    def add(self, step: Step, found: Finding) -> None:
        """Record one step; if a function of the system or an output fails, nothing of it is recorded."""
        self._check(step)
        extra = self._outputs(step.state)
        self.totals.book.add(self.system, step.state, step.work, step.energy)
        self.extra, self.last, self.final = extra, step, step.state
        if self.winding is not None:
            self.winding.follow(step.state.q, step.state.v, step.dt)
        self._note(step, found)
        if self.count % self.save == 0:
            self.piece.saved.append(self._saved(step))

    def add_many(self, many: ManySteps) -> None:
        """Record steps of which none but the last changed a contact; extra columns are asked of the last one only."""
        if many.last is None:
            return
        totals, piece, n = self.totals, self.piece, many.taken - 1
        if n:
            kinetic, potential, *work = (x[:n] for x in many.books)
            totals.book.enter_many(kinetic, potential, (work[0], work[1], work[2]), many.speed[:n])
            totals.note_steps(many.E[:n], many.cone[:n], many.gap[:n])
        for k in range(n if self.winding is not None else 0):
            self.winding.follow(many.q[k], many.v[k], float(many.spans[k, 1]))  # type: ignore[union-attr]
        for name, values in (("t", many.spans[:n, 2]), ("dt", many.spans[:n, 1]), ("E", many.E[:n])):
            piece.numbers[name].extend(values.tolist())
        piece.numbers["friction_margin"].extend([math.nan] * n)
        piece.numbers["restitution"].extend([1.0] * n)
        piece.status.extend([str(Status.SOLVED)] * n)
        piece.outcome.extend([NOT_EXAMINED] * n)
        piece.counts.extend([0] * n)
        if n and totals.count == n:
            piece.outcome[-n] = self.first.outcome
            piece.counts[-n] = self._note_choice(self.final.t)
        self.add(many.last, Finding())

    def trajectory(self, stop: Stop | None) -> Trajectory:
        """Return what was recorded since the last `forget`; the last state is in it, even if it is off the grid."""
        saved = list(self.piece.saved)
        if self.last is not None and (not saved or saved[-1].number != self.count):
            saved.append(self._saved(self.last))
        values = np.array([one.values for one in saved], dtype=np.float64).reshape(len(saved), len(self.heads))
        columns = {
            name: Column(unit=unit, values=np.ascontiguousarray(values[:, k]), also=also)
            for k, (name, (unit, also)) in enumerate(self.heads.items())
        }
        angles = {} if self.winding is None else {"angles": self.winding.angle.tolist()}
        sizes = self.system.nq, self.system.nv
        run = Trajectory(
            status="COMPLETED" if stop is None else "STOPPED",
            stop=stop,
            **_arrays("", [one.state for one in saved], sizes),
            **_arrays("before_", [one.before for one in saved], sizes),
            saved=np.array([one.number for one in saved], dtype=np.int64),
            steps=self.piece.steps(),
            columns=columns,
            events=tuple(self.piece.events),
            impacts=tuple(strike for one in saved for strike in one.impacts),
            evidence={one.number: one.evidence for one in saved if one.evidence is not None},
            certificates=tuple(self.proofs.found),
            statistics=self.totals.statistics(),
            rows=self.totals.rows,
            table=table_of([one.contacts for one in saved]),
            running=self.totals.document() | angles,
            final=self.final,
            state_hash=self.final.digest(),
            **self.about,
        )
        return with_sensors(self.system, run)

    def so_far(self) -> Trajectory:
        """Return what `trajectory` would if the run ended here; it goes on."""
        return self.trajectory(Stop(t=self.final.t, reason="it is still being computed"))

    def forget(self) -> None:
        """Drop what `trajectory` has returned, once it is in safety."""
        self.piece, self.last, self.proofs.found = Piece(), None, []

    def _note(self, step: Step, found: Finding) -> None:
        """Enter what is kept of every step, saved or not."""
        residuals, totals, piece, n = step.solution.residuals, self.totals, self.piece, len(self.piece.events)
        E = residuals.E if residuals is not None else 0.0
        if self.count == 0 and found.outcome == NOT_EXAMINED:
            found = self.first
            self._note_choice(step.start.t)
        for name, value in zip(NUMBERS, (step.state.t, step.dt, E, found.margin, step.restitution), strict=True):
            piece.numbers[name].append(value)
        piece.status.append(str(step.solution.status))
        piece.outcome.append(found.outcome)
        totals.note_step(E, (residuals.cone or 0.0) if residuals is not None else 0.0, step.solution.solved)
        totals.note_rows(step.rows)
        if step.sizing is not None:
            totals.note_sizing(step.sizing, step.dt)
        now = contact_states(step, totals.contacts)
        if self.count == 1:  # a contact that is closed at the start has not just touched down
            closed = {row.id for row in self.first_rows if row.kind == "dry" or row.gap <= step.activation.gap}
            totals.contacts = {key: state for key, state in now.items() if key in closed}
        located = [Event(t=one.t, kind=one.kind, id=one.id) for one in step.changes or ()]
        for one in step.changes or ():
            self.proofs.add(one.t, NONE, one.certificate)
        piece.events += located if step.changes is not None else events(step.state.t, totals.contacts, now)
        if step.unsettled:
            piece.events.append(Event(t=step.state.t, kind=UNSETTLED, id=step.unsettled))
        if step.crowded:
            piece.events.append(Event(t=step.state.t, kind=CROWDED, id=step.crowded))
        piece.counts.append(len(piece.events) - n)
        totals.contacts = now

    def _note_choice(self, t: float) -> int:
        """Enter that the run begins with one of several motions, if it does, and return the number of events."""
        if not self.first.chosen:
            return 0
        self.piece.events.append(Event(t=t, kind=CHOSEN, id=", ".join(self.first.chosen)))
        return 1

    def _check(self, step: Step) -> None:
        """Raise InputError if the step lacks rows that are columns, or its control has another size."""
        if not self.changing:
            check_same_rows(step.rows, self.first_rows)
        elif missing := set(self.named) - {row.id for row in step.rows}:
            allowed = "every constraint that is no contact between bodies, in every state"
            raise InputError(
                "rows(t, q, v)", f"no {', '.join(sorted(missing))}", allowed, "Return them always: [Row(id=...), ...]."
            )
        size = 0 if step.control is None else len(step.control)
        if size != self.controls:
            raise InputError(
                "control",
                f"{size} values",
                f"{self.controls}, as in the first step",
                f"Write numpy.zeros({self.controls}).",
            )

    def _saved(self, step: Step) -> Saved:
        """Return the state at the end of the last step as it is saved: reactions are mean forces over the step."""
        rows, residuals = {row.id: row for row in step.rows}, step.solution.residuals
        E = residuals.E if residuals is not None else 0.0
        values = self._values(step.state, step.control, E, rows, step.reactions, step.dt)
        contacts = [
            (row, _force(row, step.reactions, step.dt), step.modes.get(row.id, "open"))
            for row in step.rows if self._tabled(row)
        ]  # fmt: skip
        struck = tuple(replace(strike, step=self.count) for strike in step.impacts)
        return Saved(
            number=self.count, before=step.start, state=step.state, values=values, contacts=contacts, impacts=struck,
            evidence=StepEvidence.of(step),
        )  # fmt: skip

    def _values(
        self, state: State, control: Array | None, E: float, rows: Mapping[str, Row], p: Mapping[str, Array], dt: float
    ) -> list[float]:  # fmt: skip
        """Return the values of all columns, in the order of `heads_of`."""
        book = self.totals.book
        energy, work = book.kinetic + book.potential, (book.reactions, book.forces, book.projection)
        values = [state.t, *state.q.tolist(), *state.v.tolist(), *([] if control is None else control.tolist())]
        values += [book.kinetic, book.potential, energy, *work, book.error, E]
        for key in self.named:
            values += [rows[key].gap, *_force(rows[key], p, dt).tolist()]
        if self.readings is not None and self.readings.more:
            forces = {key: impulse / dt for key, impulse in p.items() if key in self.readings.rows}
            angles = self.winding.by_joint() if self.winding is not None else {}
            values += self.readings.read(state.t, state.q, state.v, forces, angles)
        return [*values, *self.extra.values()]

    def _tabled(self, row: Row) -> bool:
        """Whether a row goes into the table of contacts: if it is no column, or knows its bodies and directions."""
        return is_contact(row) or (self.changing and row.id not in self.named)

    def _outputs(self, state: State) -> dict[str, float]:
        return {name: scalar(name, function(state)) for name, (_, function) in self.outputs.items()}


def _force(row: Row, impulses: Mapping[str, Array], dt: float) -> Array:
    """Return the mean reaction of a row over a step, N."""
    found: Array = impulses[row.id] / dt if row.id in impulses else np.zeros(row.size)
    return found


def _arrays(prefix: str, states: list[State], sizes: tuple[int, int]) -> dict[str, Any]:
    nq, nv = sizes
    return {
        f"{prefix}t": np.array([s.t for s in states], dtype=np.float64),
        f"{prefix}q": np.array([s.q for s in states], dtype=np.float64).reshape(len(states), nq),
        f"{prefix}v": np.array([s.v for s in states], dtype=np.float64).reshape(len(states), nv),
    }
