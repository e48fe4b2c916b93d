"""Collects a run, step by step, into a `Trajectory`, whole or piece by piece."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, scalar
from ..contact.snapshot import snapshot
from ..errors import InputError
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from ..programs.solution import Status
from .contact_table import NOBODY, is_contact, table_of
from .energy import EnergyBook
from .events import UNSETTLED, contact_states, events
from .examine import NOT_EXAMINED, Finding
from .mode_memory import modes_kept
from .proofs import NONE, Proofs
from .stepper import Step, Work, check_same_rows, held_control
from .strikes import Strike
from .tally import Tally
from .task import WORKS, Outputs, Task
from .trajectory import Column, Event, StepTable, Stop, Trajectory

if TYPE_CHECKING:
    from .compiled_answer import ManySteps

LETTERS = {
    ("contact", 1): ("r_N",), ("contact", 2): ("r_N", "r_T"), ("contact", 3): ("r_N", "r_T1", "r_T2"),
    ("contact", 5): ("r_N", "r_T1", "r_T2", "r_R1", "r_R2"),
    ("unilateral", 1): ("r_N",), ("dry", 1): ("r_T",), ("dry", 2): ("r_T1", "r_T2"), ("bilateral", 1): ("r",),
}  # fmt: skip
ENERGIES = ("kinetic", "potential", "energy", *WORKS, "energy_error")
NUMBERS = ("t", "dt", "E", "friction_margin", "restitution")


def component_names(row: Row) -> tuple[str, ...]:
    """Return the column suffix of every reaction component of a row."""
    kind = "contact" if row.kind == "bilateral_contact" else row.kind
    return LETTERS.get((kind, row.size)) or tuple(f"r_{k}" for k in range(row.size))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Saved:
    """One saved state: its step's number, the states around the step, its columns, its contacts, its impacts.

    start: the modes that the state before remembers.
    """

    number: int
    before: State
    state: State
    values: list[float]
    contacts: list[tuple[Row, Array, str]]
    strikes: tuple[Strike, ...] = ()
    start: Mapping[str, Array] = field(default_factory=dict)


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
    units : dict of str to str
        Of every column.
    controls : int
        Number of control values.
    tally : Tally
    proofs : Proofs
    """

    system: System
    outputs: Outputs
    save: int
    about: Mapping[str, Any]
    first_rows: tuple[Row, ...]
    changing: bool
    named: tuple[str, ...]
    units: dict[str, str]
    controls: int
    tally: Tally
    final: State
    last: Step | None = None
    extra: dict[str, float] = field(default_factory=dict)
    piece: Piece = field(default_factory=Piece)
    proofs: Proofs = field(default_factory=Proofs)

    @classmethod
    def start(cls, task: Task, save: int, about: Mapping[str, Any]) -> Recorder:
        """Record the initial state of a task.

        Raises
        ------
        InputError
            What the system or an output says about it is not finite.
        """
        system, state = task.system, task.state
        control = held_control(task.control, state)
        near = system.near(state.t, state.q, state.v, 0.0)
        rows = snapshot(near, state, control=control).rows
        changing = near is not system
        named = [row for row in rows if not changing or row.between == NOBODY]
        ids = tuple(row.id for row in named)
        recorder = cls(
            system=system, outputs=task.outputs, save=save, about=about, first_rows=rows, changing=changing, named=ids,
            units=_units(state, control, named, task.outputs), final=state,
            controls=0 if control is None else len(control),
            tally=Tally.start(EnergyBook.start(system, state), rows, frozenset(ids)),
        )  # fmt: skip
        recorder.extra = recorder._outputs(state)
        values = recorder._values(state, control, 0.0, {row.id: row for row in rows}, {}, 1.0)
        if len(values) != len(recorder.units):
            raise InputError("columns", ", ".join(task.outputs), "names that the trajectory does not use itself")
        contacts = [(row, np.zeros(row.size), "open") for row in rows if recorder._tabled(row)]
        recorder.piece.saved.append(Saved(number=0, before=state, state=state, values=values, contacts=contacts))
        return recorder

    @property
    def count(self) -> int:
        """Steps taken."""
        return self.tally.count

    def go_on(self, earlier: Trajectory) -> State:
        """Go on from the end of an earlier run, and return the state that is."""
        self.tally = Tally.again(earlier.running, earlier.rows)
        self.final = earlier.final
        self.forget()
        outcomes = earlier.steps.outcome
        self.proofs.go_on(earlier.certificates, str(outcomes[-1]) if len(outcomes) else NOT_EXAMINED)
        return earlier.final

    def add(self, step: Step, found: Finding) -> None:
        """Record one step; if a function of the system or an output fails, nothing of it is recorded."""
        self._check(step)
        extra = self._outputs(step.state)
        self.tally.book.add(self.system, step.state, step.work, step.energy)
        self.extra, self.last, self.final = extra, step, step.state
        self._note(step, found)
        if self.count % self.save == 0:
            self.piece.saved.append(self._saved(step))

    def add_many(self, many: ManySteps) -> None:
        """Record steps of which none but the last changed a contact; extra columns are asked of the last one only."""
        if many.last is None:
            return
        tally, piece, n = self.tally, self.piece, many.taken - 1
        lists = (many.E, many.cone, many.gap, many.speed, *many.books)
        for E, cone, gap, speed, kinetic, potential, *work in zip(*(x[:n].tolist() for x in lists), strict=True):
            reactions, forces, projection = work
            done = Work(reactions=reactions, forces=forces, projection=projection)
            tally.book.enter(kinetic, potential, done, speed)
            tally.note_step(E, cone, solved=True)
            tally.note_gap(gap)
        for name, values in (("t", many.spans[:n, 2]), ("dt", many.spans[:n, 1]), ("E", many.E[:n])):
            piece.numbers[name].extend(values.tolist())
        piece.numbers["friction_margin"].extend([math.nan] * n)
        piece.numbers["restitution"].extend([1.0] * n)
        piece.status.extend([str(Status.SOLVED)] * n)
        piece.outcome.extend([NOT_EXAMINED] * n)
        piece.counts.extend([0] * n)
        self.add(many.last, Finding())

    def trajectory(self, stop: Stop | None) -> Trajectory:
        """Return what was recorded since the last `forget`; the last state is in it, even if it is off the grid."""
        saved = list(self.piece.saved)
        if self.last is not None and (not saved or saved[-1].number != self.count):
            saved.append(self._saved(self.last))
        values = np.array([one.values for one in saved], dtype=np.float64).reshape(len(saved), len(self.units))
        columns = {
            name: Column(unit=unit, values=np.ascontiguousarray(values[:, k]))
            for k, (name, unit) in enumerate(self.units.items())
        }
        sizes = self.system.nq, self.system.nv
        return Trajectory(
            status="COMPLETED" if stop is None else "STOPPED",
            stop=stop,
            **_arrays("", [one.state for one in saved], sizes),
            **_arrays("before_", [one.before for one in saved], sizes),
            saved=np.array([one.number for one in saved], dtype=np.int64),
            steps=self.piece.steps(),
            columns=columns,
            events=tuple(self.piece.events),
            strikes=tuple(strike for one in saved for strike in one.strikes),
            starts={one.number: one.start for one in saved if one.start},
            certificates=tuple(self.proofs.found),
            statistics=self.tally.statistics(),
            rows=self.tally.rows,
            table=table_of([one.contacts for one in saved]),
            running=self.tally.document(),
            final=self.final,
            state_hash=self.final.digest(),
            **self.about,
        )

    def forget(self) -> None:
        """Drop what `trajectory` has returned, once it is in safety."""
        self.piece, self.last, self.proofs.found = Piece(), None, []

    def _note(self, step: Step, found: Finding) -> None:
        """Enter what is kept of every step, saved or not."""
        residuals, tally, piece, n = step.solution.residuals, self.tally, self.piece, len(self.piece.events)
        E = residuals.E if residuals is not None else 0.0
        for name, value in zip(NUMBERS, (step.state.t, step.dt, E, found.margin, step.restitution), strict=True):
            piece.numbers[name].append(value)
        piece.status.append(str(step.solution.status))
        piece.outcome.append(found.outcome)
        tally.note_step(E, (residuals.cone or 0.0) if residuals is not None else 0.0, step.solution.solved)
        tally.note_rows(step.rows)
        now = contact_states(step, tally.contacts)
        if self.count == 1:  # a contact that is closed at the start has not just touched down
            closed = {row.id for row in self.first_rows if row.kind == "dry" or row.gap <= step.dynamics.activation.gap}
            tally.contacts = {key: state for key, state in now.items() if key in closed}
        located = [Event(t=one.t, kind=one.kind, id=one.id) for one in step.changes or ()]
        for one in step.changes or ():
            self.proofs.add(one.t, NONE, one.certificate)
        piece.events += located if step.changes is not None else events(step.state.t, tally.contacts, now)
        if step.unsettled:
            piece.events.append(Event(t=step.state.t, kind=UNSETTLED, id=step.unsettled))
        piece.counts.append(len(piece.events) - n)
        tally.contacts = now

    def _check(self, step: Step) -> None:
        """Raise InputError if the step lacks rows that are columns, or its control has another size."""
        if not self.changing:
            check_same_rows(step.rows, self.first_rows)
        elif missing := set(self.named) - {row.id for row in step.rows}:
            allowed = "every constraint that is no contact between bodies, in every state"
            raise InputError("rows(t, q, v)", f"no {', '.join(sorted(missing))}", allowed)
        size = 0 if step.control is None else len(step.control)
        if size != self.controls:
            raise InputError("control", f"{size} values", f"{self.controls}, as in the first step")

    def _saved(self, step: Step) -> Saved:
        """Return the state at the end of the last step as it is saved: reactions are mean forces over the step."""
        rows, residuals = {row.id: row for row in step.rows}, step.solution.residuals
        E = residuals.E if residuals is not None else 0.0
        values = self._values(step.state, step.control, E, rows, step.reactions, step.dt)
        contacts = [
            (row, _force(row, step.reactions, step.dt), step.modes.get(row.id, "open"))
            for row in step.rows if self._tabled(row)
        ]  # fmt: skip
        struck = tuple(replace(strike, step=self.count) for strike in step.strikes)
        return Saved(
            number=self.count, before=step.start, state=step.state, values=values, contacts=contacts, strikes=struck,
            start={} if step.changes is None else modes_kept(step.start.memory),
        )  # fmt: skip

    def _values(
        self, state: State, control: Array | None, E: float, rows: Mapping[str, Row], p: Mapping[str, Array], dt: float
    ) -> list[float]:  # fmt: skip
        """Return the values of all columns, in the order of `_units`."""
        book = self.tally.book
        energy, work = book.kinetic + book.potential, (book.reactions, book.forces, book.projection)
        values = [state.t, *state.q.tolist(), *state.v.tolist(), *([] if control is None else control.tolist())]
        values += [book.kinetic, book.potential, energy, *work, book.error, E]
        for key in self.named:
            values += [rows[key].gap, *_force(rows[key], p, dt).tolist()]
        return [*values, *self.extra.values()]

    def _tabled(self, row: Row) -> bool:
        """Whether a row goes into the table of contacts: if it is no column, or knows its bodies and directions."""
        return is_contact(row) or (self.changing and row.id not in self.named)

    def _outputs(self, state: State) -> dict[str, float]:
        return {name: scalar(name, function(state)) for name, (_, function) in self.outputs.items()}


def _units(state: State, control: Array | None, named: Sequence[Row], outputs: Outputs) -> dict[str, str]:
    """Return the names and units of all columns, in the order of `Recorder._values`."""
    units = {"t": "s"}
    for name, unit, x in (("q", "SI", state.q), ("v", "SI/s", state.v), ("control", "SI", control)):
        units |= {f"{name}{k}": unit for k in range(0 if x is None else len(x))}
    units |= {**dict.fromkeys(ENERGIES, "J"), "E": "1"}
    for row in named:
        units[f"{row.id}.gap"] = "m" if row.level == "position" else "m/s"
        units |= {f"{row.id}.{name}": "N" for name in component_names(row)}
    return units | {name: unit for name, (unit, _) in outputs.items()}


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
