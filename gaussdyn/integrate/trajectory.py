"""What a run leaves behind: named columns with units, events, outcomes, statistics. It draws nothing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, IntArray, scalar
from ..errors import BackendMissing, InputError
from ..mechanics.state import State

Text = NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One named output: its unit and one value per saved state, shape (n,)."""

    unit: str
    values: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change of a constraint: its time (s), its kind, and the id of the row.

    Kinds: touchdown and lift_off (a unilateral row begins or ceases to push), stick and slip (a closed contact
    comes to rest or begins to slide). With time stepping `t` is the end of the step in which it was seen.
    """

    t: float
    kind: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why and when (s) a run ended early."""

    t: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepTable:
    """One entry per step taken, saved or not.

    Attributes
    ----------
    t, dt : Array, shape (steps,)
        End and length of every step, s.
    status : array of str, shape (steps,)
        How its contact problem ended (`Status`).
    E : Array, shape (steps,)
        Residual, recomputed from the contact problem, dimensionless.
    outcome : array of str, shape (steps,)
        UNIQUE, MULTIPLE, CONTINUUM, NONE, UNDECIDED or NOT_EXAMINED, of the acceleration at the step's beginning.
    """

    t: Array
    dt: Array
    status: Text
    E: Array
    outcome: Text


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trajectory:
    """The result of `simulate`; reads like a table, saves to one HDF5 file.

    ``run["ball.x"]`` is a column as an array of shape (n,), one value per saved state; ``run.unit("ball.x")`` its
    unit; ``run.names`` lists them all. Always there: ``t``, ``q0`` .., ``v0`` .., ``kinetic``, ``potential``,
    ``energy``, ``work_reactions``, ``work_forces`` (of the forces that the potential does not cover) and
    ``energy_error`` = energy - energy[0] - both works (all J); ``E`` (residual of the step that ended there);
    for every row ``<id>.gap`` (m; m/s for velocity rows) and its reaction ``<id>.r_N``, ``<id>.r_T`` (planar) or
    ``.r_T1``, ``.r_T2`` (space), ``<id>.r`` or ``.r_0``, .. (frictionless bilateral): mean force over the step that
    ended there, N; and the columns that the scene defines.

    Attributes
    ----------
    scene : str
        Name of the scene, or of the system's class.
    status : str
        COMPLETED or STOPPED.
    stop : Stop or None
        Why and when it stopped; what was computed before is all here.
    t, q, v : Array, shapes (n,), (n, nq), (n, nv)
        Saved states: the first, every `save`-th, and the last.
    saved : IntArray, shape (n,)
        Number of the step that ended in each saved state (0 for the first).
    before_t, before_q, before_v : Array
        The state at the beginning of that step (for the first state: itself).
    steps : StepTable
        Status, residual and outcome of every step.
    columns : dict of str to Column
    events : tuple of Event
    statistics : dict
        steps, unsolved_steps, max_residual, max_penetration_m, max_cone, energy_drift_rel (formats of `run`).
    settings : dict
        Scene, parameters, stepper with its settings, t_end, save, examine, on_multiple, on_failure.
    versions : dict
        Of the package, python, numpy, scipy, numba and h5py.
    seed : int or None
        None: nothing in a run is random.
    rows : dict of str to dict
        kind, level, mu, cap, eps_n, eps_t of every row at the start, and the largest mu_s, mu_r, cap_s, by id.
    final : State
        The last state with its memory: what a resume starts from.
    state_hash : str
        SHA-256 of the exact bytes of the final state, 64 hex digits.
    """

    scene: str
    status: str
    stop: Stop | None = None
    t: Array
    q: Array
    v: Array
    saved: IntArray
    before_t: Array
    before_q: Array
    before_v: Array
    steps: StepTable
    columns: Mapping[str, Column]
    events: tuple[Event, ...] = ()
    statistics: Mapping[str, float | int | None] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    final: State
    state_hash: str

    def __len__(self) -> int:
        """Return the number of saved states."""
        return len(self.t)

    def __getitem__(self, name: str) -> Array:
        """Return a column, shape (n,).

        Raises
        ------
        InputError
            If there is no such column; offers the nearest names.
        """
        return self._column(name).values

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of that name."""
        return name in self.columns

    def __repr__(self) -> str:
        """Return one line: what was run, how far, with what residual."""
        worst = self.statistics.get("max_residual")
        return (
            f"Trajectory({self.scene!r}, {self.status}, t={self.t_reached:g} s, {self.statistics.get('steps', 0)} "
            f"steps, {len(self)} saved, max_residual={worst if worst is None else f'{worst:.2g}'})"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.columns)

    @property
    def params(self) -> dict[str, float]:
        """Parameters that the scene was built with."""
        return dict(self.settings.get("params", {}))

    @property
    def t_reached(self) -> float:
        """Time of the last state, s."""
        return float(self.final.t)

    @property
    def outcomes(self) -> dict[str, int]:
        """Number of steps by outcome."""
        return dict(Counter(str(name) for name in self.steps.outcome))

    @property
    def event_counts(self) -> dict[str, int]:
        """Number of events by kind."""
        return dict(Counter(event.kind for event in self.events))

    def unit(self, name: str) -> str:
        """Return the unit of a column."""
        return self._column(name).unit

    def state(self, index: int) -> State:
        """Return a saved state (without memory, except the final one)."""
        if index in (-1, len(self) - 1):
            return self.final
        return State(t=float(self.t[index]), q=self.q[index], v=self.v[index])

    def at(self, t: float) -> State:
        """Return the state at time t (s), interpolated linearly between the two saved states around it.

        Raises
        ------
        InputError
            If t lies outside the run.
        """
        t = scalar("t", t)
        if not self.t[0] <= t <= self.t[-1]:
            raise InputError("t", t, f"a time in [{self.t[0]:g}, {self.t[-1]:g}] s", "The run reached no further.")
        right = int(np.searchsorted(self.t, t))
        if self.t[right] == t:
            return self.state(right)
        s = (t - self.t[right - 1]) / (self.t[right] - self.t[right - 1])
        q = (1.0 - s) * self.q[right - 1] + s * self.q[right]
        return State(t=t, q=q, v=(1.0 - s) * self.v[right - 1] + s * self.v[right])

    def to_dataframe(self) -> Any:
        """Return all columns as a pandas DataFrame.

        Raises
        ------
        BackendMissing
            If pandas is not installed.
        """
        try:
            import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise BackendMissing("pandas", "data") from None
        return pandas.DataFrame({name: column.values for name, column in self.columns.items()})

    def save(self, path: str | Path) -> Path:
        """Write the run to one HDF5 file and return its path; an older run there is replaced at the very end.

        Raises
        ------
        InputError
            If the path cannot be written, or holds a file that is not a run.
        """
        from .storage import save

        return save(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Trajectory:
        """Read a run that `save` wrote.

        Raises
        ------
        SceneError
            If the file is missing, truncated or foreign; names the entry at fault.
        """
        from .storage import load

        return load(Path(path))

    def _column(self, name: str) -> Column:
        if name not in self.columns:
            near = difflib.get_close_matches(str(name), self.names, n=3, cutoff=0.4)
            mend = f"Nearest: {', '.join(near)}." if near else ""
            raise InputError("column", repr(name), "one of Trajectory.names", mend)
        return self.columns[name]
