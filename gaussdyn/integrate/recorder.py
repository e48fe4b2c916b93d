"""Collects a run, step by step, into a `Trajectory`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, scalar
from ..contact.snapshot import snapshot
from ..mechanics.rows import Row
from ..mechanics.state import State
from ..mechanics.system import System
from .energy import EnergyBook
from .events import contact_states, events
from .stepper import Step, check_same_rows, held_control
from .task import Outputs, Task
from .trajectory import Column, Event, StepTable, Stop, Trajectory

ROW_DATA = ("kind", "level", "mu", "mu_s", "mu_r", "cap", "cap_s", "eps_n", "eps_t")
LIMITS = ("mu_s", "mu_r", "cap_s")
LETTERS = {
    ("contact", 1): ("r_N",), ("contact", 2): ("r_N", "r_T"), ("contact", 3): ("r_N", "r_T1", "r_T2"),
    ("contact", 5): ("r_N", "r_T1", "r_T2", "r_R1", "r_R2"),
    ("unilateral", 1): ("r_N",), ("dry", 1): ("r_T",), ("dry", 2): ("r_T1", "r_T2"), ("bilateral", 1): ("r",),
}  # fmt: skip


def component_names(row: Row) -> tuple[str, ...]:
    """Return the column suffix of every reaction component of a row."""
    kind = "contact" if row.kind == "bilateral_contact" else row.kind
    return LETTERS.get((kind, row.size)) or tuple(f"r_{k}" for k in range(row.size))


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Running record of one run; `finish` turns it into a `Trajectory`.

    Attributes
    ----------
    system : System
    outputs : mapping
        Extra columns: name -> (unit, function of a state).
    save : int
        Every how many steps a state is saved; the first and the last always are.
    """

    system: System
    outputs: Outputs
    save: int
    book: EnergyBook
    first_rows: tuple[Row, ...]
    rows: dict[str, dict[str, Any]]
    last: Step | None = None
    count: int = 0
    extra: dict[str, float] = field(default_factory=dict)
    worst: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    states: list[tuple[int, State, State]] = field(default_factory=list)
    table: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    units: dict[str, str] = field(default_factory=dict)
    contacts: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @classmethod
    def start(cls, task: Task, save: int) -> Recorder:
        """Record the initial state of a task.

        Raises
        ------
        InputError
            What the system or an output says about it is not finite.
        """
        system, state = task.system, task.state
        control = held_control(task.control, state)
        rows = snapshot(system, state, control=control).rows
        book = EnergyBook.start(system, state)
        recorder = cls(system=system, outputs=task.outputs, save=save, book=book, first_rows=rows, rows=_row_data(rows))
        recorder._note_gaps(rows)
        recorder.extra = recorder._outputs(state)
        recorder._save(state, state, rows, {}, 1.0, control)
        return recorder

    def add(self, step: Step, outcome: str) -> None:
        """Record one step; if a function of the system or an output fails, nothing of it is recorded."""
        check_same_rows(step.rows, self.first_rows)
        extra = self._outputs(step.state)
        self.book.add(self.system, step.state, step.work)
        self.extra = extra
        self.count += 1
        self.last = step
        self._note(step, outcome)
        if self.count % self.save == 0:
            self._save_step(step)

    def finish(self, stop: Stop | None, **about: Any) -> Trajectory:
        """Return the trajectory; saves the last state if it is not yet."""
        if self.last is not None and self.states[-1][0] != self.count:
            self._save_step(self.last)
        befores, states = [b for _, b, _ in self.states], [s for _, _, s in self.states]
        columns = {name: Column(unit=self.units[name], values=np.array(x)) for name, x in self.values.items()}
        return Trajectory(
            status="COMPLETED" if stop is None else "STOPPED",
            stop=stop,
            **_arrays("", states),
            **_arrays("before_", befores),
            saved=np.array([k for k, _, _ in self.states], dtype=np.int64),
            steps=self._steps(),
            columns=columns,
            events=tuple(self.events),
            statistics=self._statistics(),
            rows=self.rows,
            final=states[-1],
            state_hash=states[-1].digest(),
            **about,
        )

    def _note(self, step: Step, outcome: str) -> None:
        """Enter what is kept of every step, saved or not."""
        residuals = step.solution.residuals
        entry: dict[str, Any] = {
            "t": step.state.t,
            "dt": step.dt,
            "status": str(step.solution.status),
            "outcome": outcome,
        }
        entry["E"] = residuals.E if residuals is not None else 0.0
        for name, value in entry.items():
            self.table[name].append(value)
        self.worst["E"] = max(self.worst["E"], entry["E"])
        self.worst["cone"] = max(self.worst["cone"], (residuals.cone or 0.0) if residuals is not None else 0.0)
        self.worst["unsolved"] += not step.solution.solved
        self._note_gaps(step.rows)
        now = contact_states(step, self.contacts)
        if self.count == 1:  # a contact that is closed at the start has not just touched down
            closed = {row.id for row in self.first_rows if row.kind == "dry" or row.gap <= step.dynamics.activation.gap}
            self.contacts = {key: state for key, state in now.items() if key in closed}
        self.events += events(step.state.t, self.contacts, now)
        self.contacts = now

    def _note_gaps(self, rows: tuple[Row, ...]) -> None:
        for row in rows:
            if row.level == "position" and row.kind != "dry":
                name = "joint" if row.bilateral else "penetration"
                depth = abs(row.gap) if row.bilateral else -row.gap
                self.worst[name] = max(self.worst[name], depth)
            for name in LIMITS:  # they may change with the state
                self.rows[row.id][name] = max(self.rows[row.id][name], getattr(row, name))

    def _save_step(self, step: Step) -> None:
        self._save(step.start, step.state, step.rows, step.reactions, step.dt, step.control)

    def _save(
        self,
        before: State,
        state: State,
        rows: tuple[Row, ...],
        p: Mapping[str, Array],
        dt: float,
        control: Array | None,
    ) -> None:
        self.states.append((self.count, before, state))
        self._put("t", "s", state.t)
        for name, unit, x in (("q", "SI", state.q), ("v", "SI/s", state.v), ("control", "SI", control)):
            for k, value in enumerate([] if x is None else x.tolist()):
                self._put(f"{name}{k}", unit, value)
        self._save_energy()
        self._put("E", "1", self.table["E"][-1] if self.count else 0.0)
        for row in rows:
            self._save_row(row, p.get(row.id), dt)
        for name, value in self.extra.items():
            self._put(name, self.outputs[name][0], value)

    def _outputs(self, state: State) -> dict[str, float]:
        return {name: scalar(name, function(state)) for name, (_, function) in self.outputs.items()}

    def _save_energy(self) -> None:
        book = self.book
        self._put("kinetic", "J", book.kinetic)
        self._put("potential", "J", book.potential)
        self._put("energy", "J", book.kinetic + book.potential)
        self._put("work_reactions", "J", book.reactions)
        self._put("work_forces", "J", book.forces)
        self._put("energy_error", "J", book.error)

    def _save_row(self, row: Row, impulse: Array | None, dt: float) -> None:
        """Save the gap and the mean reaction force of a row over the step."""
        self._put(f"{row.id}.gap", "m" if row.level == "position" else "m/s", row.gap)
        force = [0.0] * row.size if impulse is None else (impulse / dt).tolist()
        for name, value in zip(component_names(row), force, strict=True):
            self._put(f"{row.id}.{name}", "N", value)

    def _put(self, name: str, unit: str, value: float) -> None:
        self.units[name] = unit
        self.values[name].append(value)

    def _steps(self) -> StepTable:
        table = self.table
        kinds: dict[str, Any] = {
            "t": np.float64,
            "dt": np.float64,
            "E": np.float64,
            "status": np.str_,
            "outcome": np.str_,
        }
        return StepTable(**{name: np.array(table[name], dtype=kind) for name, kind in kinds.items()})

    def _statistics(self) -> dict[str, float | int | None]:
        worst = self.worst
        return {
            "steps": self.count,
            "unsolved_steps": int(worst["unsolved"]),
            "max_residual": _finite(worst["E"]),
            "max_penetration_m": worst["penetration"],
            "max_joint_error_m": worst["joint"],
            "max_cone": worst["cone"],
            "energy_drift_rel": self.book.drift_rel,
        }


def _row_data(rows: tuple[Row, ...]) -> dict[str, dict[str, Any]]:
    return {row.id: {name: getattr(row, name) for name in ROW_DATA} for row in rows}


def _arrays(prefix: str, states: list[State]) -> dict[str, Any]:
    return {
        f"{prefix}t": np.array([s.t for s in states]),
        f"{prefix}q": np.array([s.q for s in states]),
        f"{prefix}v": np.array([s.v for s in states]),
    }


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
