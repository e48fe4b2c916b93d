"""What a run leaves behind: named columns with units, events, outcomes, statistics. It draws nothing."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._show import Many, cut
from ...arrays import Array, IntArray, scalar
from ...errors import BackendMissing, InputError
from ...mechanics.state import State
from ...mends import meant
from .contact_history import Contact, ContactTable, PairForce, empty_table
from .saved_between import between_states, quaternions_of
from .step_evidence import StepEvidence
from .values import Column, Event, StepTable, Stop

if TYPE_CHECKING:
    from ...mechanics.scene import Scene
    from ...mechanics.system import System
    from ..impact.history import ImpactRecord
    from .certificate_log import Proof

WHOLE = ("x", "y", "z", "qw", "qx", "qy", "qz", "angle", "position")  # what a name alone stands for
INTERRUPT = "KeyboardInterrupt"  # what the reason of a run begins with that was ended from the keyboard


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trajectory:
    """The result of `simulate`; reads like a table, saves to one HDF5 file.

    ``run["ball.x"]`` is a column as an array of shape (n,), one value per saved state; ``run.unit("ball.x")`` its
    unit; ``run.names`` lists them all. Always there: ``t``, ``q0`` .., ``v0`` .. (listed as ``ball.x`` .., ``ball.vx``
    .. where bodies have names, and found under both), ``kinetic``, ``potential``, ``energy``, ``work_reactions``,
    ``work_forces`` (of the forces that the potential does not cover), ``work_projection`` and ``energy_error`` =
    energy - energy[0] - all three works (all J); where springs stand for constraints (`Penalty`, `Viscous`)
    ``spring_energy``, J, which is no part of ``energy``: what the springs take and give is in ``work_reactions``;
    ``E`` (residual of the step that ended there); for every row that is there in every state ``<id>.gap`` (m; m/s for
    velocity rows) and its reaction ``<id>.r_N``, ``<id>.r_T`` (planar) or ``.r_T1``, ``.r_T2`` (space), ``<id>.r`` or
    ``.r_0``, .. (frictionless bilateral): the mean over the step that ended there, N, not the force at its end (0 in
    the first state); where joints are, what drives them and what they carry (``elbow.angle``, ``elbow.rate``,
    ``elbow.torque``, ``elbow.reaction``, ``elbow.reaction_x``, which is also ``elbow:x.r``: see
    `mechanics.joints.columns`); and the columns that the scene defines.
    Contacts that come and go have no columns: ``run.contacts(k)`` lists those at a saved state,
    ``run.between("box", "floor")`` sums them up over time.

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
        Status, residual, outcome and friction margin of every step.
    columns : dict of str to Column
    events : tuple of Event
    certificates : tuple of Proof
        Where a stretch of NONE, MULTIPLE or CONTINUUM begins, and where no acceleration was passed or ended the run: a
        proof that the stand-alone checkers read (of the first 100 that could be proved).
    impacts : tuple of ImpactRecord
        Impulses of all impacts of the saved steps, where the stepper locates them.
    evidence : mapping of int to StepEvidence
        By number of the step: which rows acted in a saved step, what the position projection did, smooth motion.
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
    table : ContactTable
        Contacts that come and go, and all others whose bodies and directions are known.
    running : dict
        Energy book, maxima and contact states after the last step, as a resume needs them.
    final : State
        The last state with its memory: what a resume starts from.
    state_hash : str
        SHA-256 of the exact bytes of the final state, 64 hex digits.
    system : System or None
        What was run, where it is still known: files do not hold it.
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
    certificates: tuple[Proof, ...] = ()
    impacts: tuple[ImpactRecord, ...] = ()
    evidence: Mapping[int, StepEvidence] = field(default_factory=dict)
    statistics: Mapping[str, float | int | None] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    rows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    table: ContactTable | None = None
    running: Mapping[str, Any] = field(default_factory=dict)
    final: State
    state_hash: str
    system: System | None = None
    _other: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        other = {column.also: name for name, column in self.columns.items() if column.also}
        object.__setattr__(self, "_other", other)
        if self.table is None:
            object.__setattr__(self, "table", empty_table(len(self.t)))
        for name in ("events", "certificates", "impacts"):
            object.__setattr__(self, name, Many(getattr(self, name)))

    def __len__(self) -> int:
        """Return the number of saved states."""
        return len(self.t)

    def __getitem__(self, name: str) -> Array:
        """Return a column, shape (n,); of a joint, body or sensor by its name alone its numbers, shape (n,) or (n, k).

        ``run["knee"]`` is ``run["knee.angle"]``, ``run["root"]`` the columns ``root.x`` .. ``root.qz``.

        Raises
        ------
        InputError
            If there is no such column; offers the nearest names.
        """
        known = not isinstance(name, str) or name in self
        whole = [] if known else [part for part in WHOLE if f"{name}.{part}" in self]
        if whole:
            found = np.column_stack([self._column(f"{name}.{part}").values for part in whole])
            return found[:, 0] if len(whole) == 1 else found
        return self._column(name).values

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of that name, or one that also goes by it."""
        return name in self.columns or name in self._other

    if not TYPE_CHECKING:  # a checker knows what there is

        def __getattr__(self, name: str) -> Any:
            """Say where a number or a verb is found that people look for here."""
            raise AttributeError(f"a run has no {name!r}{_instead(self, name)}")

    def __repr__(self) -> str:
        """Return what was run, how far, with what residual; why it stopped, and if it could go otherwise."""
        worst = self.statistics.get("max_residual")
        said = (
            f"Trajectory({cut(self.scene, 60)!r}, {self.status}, t={self.t_reached:g} s, "
            f"{self.statistics.get('steps', 0)} steps, {len(self)} saved, "
            f"max_residual={worst if worst is None else f'{worst:.2g}'})"
        )
        said += f"\n    {self.steps.choice}" if self.steps.choice else ""
        return said if self.stop is None else f"{said}\n    stopped: {cut(self.stop.reason, 600)}"

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
    def interrupted(self) -> bool:
        """Whether the run was ended from the keyboard."""
        return self.stop is not None and self.stop.reason.startswith(INTERRUPT)

    @property
    def outcomes(self) -> dict[str, int]:
        """Number of steps by outcome."""
        return dict(Counter(str(name) for name in self.steps.outcome))

    @property
    def outcome_intervals(self) -> dict[str, list[tuple[float, float]]]:
        """Times (s) of every outcome: beginning of the first and end of the last of its steps in a row."""
        names = self.steps.outcome
        if not len(names):
            return {}
        first = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
        borders = np.r_[self.steps.t[0] - self.steps.dt[0], self.steps.t]
        found: dict[str, list[tuple[float, float]]] = {}
        for low, high in zip(first, [*first[1:], len(names)], strict=True):
            found.setdefault(str(names[low]), []).append((float(borders[low]), float(borders[high])))
        return found

    @property
    def event_counts(self) -> dict[str, int]:
        """Number of events by kind."""
        return dict(Counter(event.kind for event in self.events))

    def reactions(self, row: str) -> Array | None:
        """Return the saved reactions of a row that has columns, shape (n, k); None if it has none.

        Parameters
        ----------
        row : str
            Its id.
        """
        names = self.reaction_names(row)
        return np.column_stack([self[name] for name in names]) if names else None

    def reaction_names(self, row: str) -> tuple[str, ...]:
        """Return the names ``<id>.r``, ``<id>.r_N`` .. by which the reactions of a row are found, in their order."""
        found = (column.also or name for name, column in self.columns.items())
        return tuple(name for name in found if name == f"{row}.r" or name.startswith(f"{row}.r_"))

    def unit(self, name: str) -> str:
        """Return the unit of a column."""
        return self._column(name).unit

    def state(self, index: int) -> State:
        """Return a saved state (negative: from the end), without memory, except the final one.

        Raises
        ------
        InputError
            If there is no such saved state.
        """
        k = self._number("index", index)
        return self.final if k == len(self) - 1 else State(t=float(self.t[k]), q=self.q[k], v=self.v[k])

    def contacts(self, k: int) -> tuple[Contact, ...]:
        """Return the contacts at saved state k (negative: from the end), in the order of their ids.

        These are the contacts that come and go, and those in columns whose bodies and directions are known.

        Raises
        ------
        InputError
            If there is no such saved state.
        """
        return self._table.at(self._number("k", k))

    def between(self, one: str, other: str) -> PairForce:
        """Return force, normal force, contact points and friction margin of two bodies at all saved states.

        Its `at` and `over` give the force at one time and its mean over an interval.

        Parameters
        ----------
        one, other : str
            Names of the bodies, or of shapes of theirs; forces are those of `other` on `one`. Zero where they do not
            touch.

        Raises
        ------
        InputError
            If a body has no contact in the whole run, or both are the same.
        """
        if one == other:
            raise InputError("one, other", repr(one), "two bodies", 'Write run.between("a", "b").')
        self._check_touching(one, other)
        return self._table.between(self.t, one, other)

    def forces(self, body: str) -> PairForce:
        """Return the same of all contacts of a body, or of a shape of it, together.

        Raises
        ------
        InputError
            It has no contact in the whole run.
        """
        self._check_touching(body)
        return self._table.between(self.t, body)

    def _check_touching(self, *names: str) -> None:
        """Raise InputError if something has no contact in the whole run."""
        known, all_of_them = self._table.names(), self._table.shapes()
        for name in names:
            if name not in all_of_them:
                near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4)
                mend = (
                    f"Nearest: {', '.join(near)}. Write {near[0]!r}."
                    if near
                    else "Its contacts may be columns: print(run.names)."
                )
                raise InputError("body", repr(name), f"bodies with contacts: {', '.join(known) or 'none'}", mend)

    def at(self, t: float) -> State:
        """Return the state at time t (s), interpolated linearly between the two saved states around it.

        Unit quaternions (of bodies in space, of balls and free bodies of trees) turn along the shorter way and
        are normalised again.

        Raises
        ------
        InputError
            If t lies outside the run.
        """
        t = scalar("t", t)
        if not self.t[0] <= t <= self.t[-1]:
            raise InputError(
                "t", t, f"a time in [{self.t[0]:g}, {self.t[-1]:g}] s", f"The run reached no further: t={self.t[-1]:g}."
            )
        right = min(int(np.searchsorted(self.t, t)), len(self) - 1)
        if self.t[right] == t:
            return self.state(right)
        s = (t - self.t[right - 1]) / (self.t[right] - self.t[right - 1])
        turns = quaternions_of(self.q, self.v.shape[1], self._other)
        q = between_states(self.q[right - 1], self.q[right], s, turns)
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

    def citations(self) -> str:
        """Return the BibTeX of this engine and of the methods that the run used."""
        from .citations import bibtex, keys_of

        rubs = bool((self._table.mu > 0.0).any()) or any((row.get("mu") or 0.0) > 0.0 for row in self.rows.values())
        return bibtex(keys_of(self.settings, friction=rubs, paradox="NONE" in self.outcomes))

    def to_xarray(self) -> Any:
        """Return all columns as an xarray Dataset over ``t`` (s), each with its unit as the attribute ``units``.

        Raises
        ------
        BackendMissing
            If xarray is not installed.
        """
        try:
            import xarray  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise BackendMissing("xarray", "data") from None
        found = {name: ("t", column.values, {"units": column.unit}) for name, column in self.columns.items()}
        told = {"scene": self.scene, "status": self.status, "state_hash": self.state_hash}
        return xarray.Dataset(found, coords={"t": found.pop("t")}, attrs=told)

    def audit(self, system: System | Scene | None = None) -> Any:
        """Return the `Audit` of the run: ``gaussdyn.audit(run, system)``, which says what it recomputes."""
        return import_module("gaussdyn.analysis.audit.audit").audit(self, system)  # of a floor above this one

    def plot(self, *columns: str, path: str | Path | None = None) -> Any:
        """Return a figure of some columns over time, of all without names: ``gaussdyn.plot(run, *columns, path=path)``.

        Raises
        ------
        BackendMissing
            If matplotlib is not installed.
        InputError
            If there is no such column; offers the nearest names. A path that cannot be written.
        """
        return import_module("gaussdyn.report.plot").plot(self, *columns, path=path)  # of a floor above this one

    def _repr_html_(self) -> str:
        """Return a card for notebooks: how it ended, its statistics, the run in motion."""
        return str(import_module("gaussdyn.report.view.notebook").run_card(self))

    def save(self, path: str | Path) -> Path:
        """Write the run to one HDF5 file (.h5, .hdf5, .hdf) and return its path; an older run there is replaced.

        Raises
        ------
        InputError
            Another ending; a path that cannot be written, or holds a file that is not a run.
        """
        from .hdf5 import save

        return save(self, Path(path))

    def page(self, path: str | Path, *, scene: Scene | System | None = None) -> Path:
        """Write one HTML page with the run in motion and all its columns (needs the extra `report`).

        Parameters
        ----------
        path : str or Path
            A file that ends in .html.
        scene : Scene or System, optional
            What was run: it knows the shapes. Needed for runs of your own systems that come from a file; without it
            their page has no pictures.

        Raises
        ------
        BackendMissing
            If plotly, jinja2 or matplotlib is not installed.
        InputError
            Another ending, a place that cannot be written, another system.
        """
        report = import_module("gaussdyn.report.write")  # the floor that draws is above this one
        return Path(report.write_only_page(path, self, scene))

    def view(self, path: str | Path, *, scene: Scene | System | None = None) -> Path:
        """Write one small HTML page that plays the run, and can be turned where it is in space (extra `report`).

        Parameters
        ----------
        path : str or Path
            A file that ends in .html. It opens offline; what is in space needs a browser with WebGL 2 to be turned.
        scene : Scene or System, optional
            As in `page`.

        Raises
        ------
        BackendMissing
            If jinja2 is not installed.
        InputError
            Another ending, a place that cannot be written; a run whose shapes are not known, or that has none.
        """
        report = import_module("gaussdyn.report.view.view_page")  # the floor that draws is above this one
        return Path(report.write_view(path, self, scene))

    @staticmethod
    def load(path: str | Path) -> Trajectory:
        """Read a run that `save` wrote.

        Raises
        ------
        SceneError
            If the file is missing, truncated or foreign; names the entry at fault.
        """
        from .chunks import load

        return load(Path(path), Trajectory)

    @property
    def _table(self) -> ContactTable:
        return empty_table(len(self)) if self.table is None else self.table

    def _number(self, what: str, k: int) -> int:
        """Return the number of a saved state, counted from the first; raise InputError if there is none."""
        n = len(self)
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not -n <= k < n:
            mend = f"Write {what}=-1 for the last one, run.at(t) for the state at a time."
            raise InputError(what, repr(k), f"the number of a saved state, {-n} to {n - 1}", mend)
        return int(k) % n

    def _column(self, name: object) -> Column:
        if not isinstance(name, str):
            mend = f"One column at a time: run[{self.names[0]!r}]; rows of a table: run.to_dataframe()."
            raise InputError("column", repr(name), "a name, one of Trajectory.names", mend)
        name = name if name in self.columns else self._other.get(name, name)
        if name not in self.columns:
            near = difflib.get_close_matches(str(name), self.names, n=3, cutoff=0.4)
            mend = f"Nearest: {', '.join(near)}. Write {near[0]!r}." if near else "See print(run.names)."
            raise InputError("column", repr(name), "one of Trajectory.names", mend)
        return self.columns[name]


def check_is_run(value: object) -> None:
    """Raise InputError unless this is a run; says how one is made of what is given."""
    if not isinstance(value, Trajectory):
        mend = "simulate(scene) and simulate(system, state, t_end) return one, Trajectory.load(path) reads one."
        raise InputError("run", type(value).__name__, "a Trajectory", mend)


def _instead(run: Trajectory, name: str) -> str:
    """Return what to write in place of an attribute that a run does not have; "" for those of Python."""
    if name.startswith("_") or name in Trajectory.__slots__:
        return ""
    if name in run or name in {part.partition(".")[0] for part in run.names}:
        return f". Its columns are entries: run[{name!r}]."
    told = meant(name, (one for one in dir(run) if not one.startswith("_")), 0.6)
    return f". {told or 'Pages, views, films: run.page(path), run.view(path), run.plot(path=path).'}"
