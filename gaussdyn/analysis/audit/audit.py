"""Checks a finished run against the laws it claims to obey, from its saved states alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._html import card
from ..._show import fitted, names
from ...arrays import Array
from ...errors import InputError
from ...integrate.run.interrupts import interruptible
from ...integrate.run.trajectory import Trajectory, check_is_run
from ...mechanics.scene import Scene
from ...mechanics.system import System, check_is_system
from .audit_check import AuditCheck
from .from_file import file_series
from .from_states import states_series
from .from_system import state_series
from .recorded_states import RecordedStates


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Where a check fails first: its name, the time (s), the value found and the largest allowed."""

    name: str
    t: float
    value: float
    tol: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """The verdict on a run.

    Attributes
    ----------
    scene : str
    params : mapping
    series : tuple of Series
        Every check with one value per time.
    residuals : mapping of str to Array
        Nine residuals of every saved step by the names that they have elsewhere, SI, see `ncp_residuals`; empty without
        the system, and for steps that are judged by integrating them again.
    """

    scene: str
    params: Mapping[str, float]
    series: tuple[AuditCheck, ...]
    residuals: Mapping[str, Array] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every check holds everywhere."""
        return all(one.passed for one in self.series)

    @property
    def max(self) -> dict[str, float]:
        """Largest value of every check."""
        return {one.name: one.max for one in self.series}

    @property
    def first_failure(self) -> Failure | None:
        """The earliest failure, None if all hold."""
        found = [one for one in self.series if not one.passed]
        if not found:
            return None
        first = min(found, key=lambda one: one.t[one.first_bad])
        k = first.first_bad
        return Failure(name=first.name, t=float(first.t[k]), value=float(first.values[k]), tol=first.tol)

    def to_json(self) -> dict[str, Any]:
        """Return the document of the file formats (null where a value is not finite)."""
        bad = self.first_failure
        first = None if bad is None else {"name": bad.name, "t": bad.t, "value": _finite(bad.value), "tol": bad.tol}
        return {
            "schema": "gaussdyn/audit/1",
            "scene": self.scene,
            "params": dict(self.params),
            "results": [one.to_json() for one in self.series],
            "pass": self.passed,
            "max": {name: _finite(value) for name, value in self.max.items()},
            "first_failure": first,
            "residuals": {name: _finite(float(x.max(initial=0.0))) for name, x in self.residuals.items()},
        }

    def explain(self) -> str:
        """Return the verdict in one sentence."""
        bad = self.first_failure
        if bad is None:
            return f"{self.scene}: all {len(self.series)} checks hold."
        return f"{self.scene}: {bad.name} fails first at t = {bad.t:g} s: {bad.value:.3g}, allowed {bad.tol:.3g}."

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        """Return the verdict, and the checks that fail."""
        bad = [one.name for one in self.series if not one.passed]
        return fitted("Audit", [self.explain(), *([f"fails: {names(bad, 12)}"] if bad else [])])

    def _repr_html_(self) -> str:
        """Return a card for notebooks: the verdict, and every check with its largest value; those that fail first."""
        ordered = sorted(self.series, key=lambda one: one.passed)
        rows = {
            one.name: f"{'holds' if one.passed else 'FAILS'}: {one.max:.3g}, allowed {one.tol:.3g}" for one in ordered
        }
        return card("Audit", self.explain(), rows, kind="good" if self.passed else "bad")


@interruptible
def audit(trajectory: Trajectory | RecordedStates, system: System | Scene | None = None) -> Audit:
    """Recompute what a run claims.

    From the file alone: everything is finite, the columns agree with the states, every step was solved, reactions lie
    in their cones, gaps and energies agree with the statistics, the state hash is that of the last state. With the
    system also, at every saved state: the step's kinematics and momentum balance, the contact laws (residual E of the
    saved reactions), joint rates, modes, gaps, work and energies recomputed. Time steps and steps from event to event
    are judged by what they recorded (`StepEvidence`), nothing of them is taken again; a run of another engine may be
    judged likewise (see formats). Steps through springs, and along branches, are integrated again. Steps that were
    not saved are covered by the running maxima.

    Parameters
    ----------
    trajectory : Trajectory or RecordedStates
        States and impulses on record, of whatever engine, are judged by the equations alone and need the system.
    system : System or Scene, optional
        What was run; build it again from ``trajectory.settings``.

    Raises
    ------
    InputError
        If the system's sizes are not those of the run, or this is no run or no system.
    """
    if not isinstance(trajectory, RecordedStates):
        check_is_run(trajectory)
    system = system.system if isinstance(system, Scene) else system
    if system is not None:
        check_is_system("system", system)
    with np.errstate(over="ignore", invalid="ignore"):  # a file may hold any number
        if isinstance(trajectory, RecordedStates):
            series, residuals = states_series(trajectory, _needed(system))
        else:
            series, residuals = _series(trajectory, system)
    return Audit(scene=trajectory.scene, params=trajectory.params, series=tuple(series), residuals=residuals)


def _series(trajectory: Trajectory, system: System | None) -> tuple[list[AuditCheck], dict[str, Array]]:
    residuals: dict[str, Array] = {}
    series = file_series(trajectory)
    if system is not None:
        sizes = (trajectory.q.shape[1], trajectory.v.shape[1])
        if (system.nq, system.nv) != sizes:
            mend = (
                "Build the system with the scene and the parameters of the run: build(run.scene, "
                '**run.settings["params"]).'
            )
            raise InputError("system", f"(nq, nv) = {(system.nq, system.nv)}", f"{sizes}, as in the run", mend)
        more, residuals = state_series(trajectory, system)
        series += more
    return series, residuals


def _needed(system: System | None) -> System:
    if system is None:
        raise InputError("system", "none", "the system of the states", 'E.g. build("incline", mu=0.2).system.')
    return system


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
