"""How far a run is from slipping, opening, jamming and Painleve's situations, per contact, at its saved states.

Where forces are not unique these are distances of the best case over all reactions that the laws allow: at zero the
change comes whatever the distribution, as tipping does when one side must be without load.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...contact.active_set import OmegaStatus, active_set
from ...contact.assemble import blocks
from ...contact.classification.sliding_margin import sliding_margin
from ...contact.snapshot import LocalDynamics
from ...errors import InputError
from ...integrate.run.trajectory import Trajectory
from ...integrate.run.uniqueness_checks import accelerating
from ...integrate.run.values import Column
from ...linalg.factor import solve_spd
from ...mechanics.scene import Scene
from ...programs.conic.cone_slice import RAY, ConeSlice
from ...programs.conic.support import support
from ..margins import saved_state
from .at_state import forces
from .reaction_set import ReactionSet

ZERO = 1e-9  # in words
UNITS = {"slipping": "N", "opening": "N", "painleve": "1", "jamming": "1", "friction": "1"}
MEANING = {
    "slipping": "largest mu r_N - |r_T| that the laws allow",
    "opening": "largest normal force that the laws allow",
    "painleve": "effective normal compliance while it slips, over that without friction",
    "jamming": "smallest over largest sum of normal forces",
    "friction": "factor on all friction up to which the motion is unique",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Margins:
    """Margins at saved states of a run.

    Attributes
    ----------
    t : Array, shape (k,)
        s.
    columns : dict of str to Array
        "contact.slipping" and so on, shape (k,); NaN where it does not apply. Of the whole: "jamming" (1: the normal
        forces are unique, 0: wedged) and "friction".
    missing : dict of float to str
        Times at which no margins are known, and why.
    """

    t: Array
    columns: dict[str, Array]
    missing: dict[float, str]

    __repr__ = brief

    def unit(self, name: str) -> str:
        """Return the unit of a column."""
        return UNITS[name.rpartition(".")[2]]

    def smallest(self) -> dict[str, tuple[float, float]]:
        """Return the smallest value of every column, and when."""
        found = {}
        for name, values in self.columns.items():
            if np.isfinite(values).any():
                k = int(np.nanargmin(values))
                found[name] = float(values[k]), float(self.t[k])
        return found

    def explain(self) -> str:
        """Return the smallest margins in words."""
        lines = []
        for name, (value, t) in self.smallest().items():
            number, meaning = 0.0 if abs(value) < ZERO else value, MEANING[name.rpartition(".")[2]]
            lines.append(f"{name}: {number:.6g} {self.unit(name)} at t = {t:g} s ({meaning})")
        if self.missing:
            lines.append(f"Unknown at {len(self.missing)} of {len(self.t)} states: {next(iter(self.missing.values()))}")
        return "\n".join(lines) or "No contact acts at the states looked at."

    def save(self, path: str | Path) -> Path:
        """Write the columns as CSV, time first, with units in the heading."""
        path = Path(path)
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["t (s)", *(f"{name} ({self.unit(name)})" for name in self.columns)])
            table.writerows(zip(self.t, *self.columns.values(), strict=True))
        return path

    def to_json(self) -> dict[str, Any]:
        """Return the columns as the file formats describe them."""
        smallest = {name: {"value": value, "t": t} for name, (value, t) in self.smallest().items()}
        missing = [{"t": t, "why": why} for t, why in self.missing.items()]
        return {"t": self.t, "columns": self.columns, "units": {name: self.unit(name) for name in self.columns},
                "smallest": smallest, "missing": missing}  # fmt: skip


def margins(run: Trajectory, scene: Scene, *, points: int = 200) -> Margins:
    """Return the margins of a run at saved states, evenly spread.

    Parameters
    ----------
    run : Trajectory
    scene : Scene
        Of the run.
    points : int
        How many states at most, >= 1.

    Raises
    ------
    InputError
        Fewer than one point.
    """
    if points < 1:
        raise InputError("points", points, "1 or more", "Write points=100.")
    chosen = np.unique(np.linspace(0, len(run) - 1, min(points, len(run))).round().astype(int))
    rows: list[dict[str, float]] = []
    missing: dict[float, str] = {}
    for k in chosen:
        state = saved_state(run, int(run.saved[k])) or run.state(int(k))
        dynamics = accelerating(scene.system, state, scene.control)
        rows.append(compliances(dynamics))
        try:
            rows[-1] |= margins_at(dynamics)
        except InputError as error:
            missing[float(run.t[k])] = str(error)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: np.array([row.get(name, np.nan) for row in rows]) for name in sorted(names)}
    return Margins(t=np.ascontiguousarray(run.t[chosen]), columns=columns, missing=missing)


def with_margins(run: Trajectory, scene: Scene) -> Trajectory:
    """Return a run with its margins as columns, at every saved state; NaN where they do not apply, or are unknown.

    Parameters
    ----------
    run : Trajectory
    scene : Scene
        Of the run.
    """
    found = margins(run, scene, points=max(len(run), 1))
    more = {name: Column(unit=found.unit(name), values=x, partial=True) for name, x in found.columns.items()}
    return replace(run, columns={**run.columns, **more})


def margins_at(dynamics: LocalDynamics) -> dict[str, float]:
    """Return the margins of one state by name; see `Margins.columns`.

    Raises
    ------
    InputError
        A state whose acceleration is not known.
    """
    found = forces(dynamics)
    ranges = {one.of: one for one in found.ranges()}
    values: dict[str, float] = {}
    normals = np.zeros(len(found.names))
    for id, places in found.allowed.rows.items():
        name, mode = found.names[places.start], found.allowed.modes[id]
        if not name.endswith(".N"):
            continue
        normals[places.start] = 1.0
        values[f"{id}.opening"] = ranges[name].high
        if mode == "sticks":
            values[f"{id}.slipping"] = _slack(found, id, places.start)
        elif mode == "slips":
            values[f"{id}.slipping"] = 0.0
    if normals.any():
        total = found.range(normals)
        values["jamming"] = _share(total.low, total.high)
        margin = sliding_margin(dynamics)
        if margin is not None:
            values["friction"] = margin
    return values


def _share(low: float, high: float) -> float:
    return 0.0 if not np.isfinite(high) else low / high if high > 0.0 else 1.0


def _slack(found: ReactionSet, id: str, place: int) -> float:
    """Return the largest mu r_N - |r_T| of one contact: the t with which r - t / mu along the normal still sticks."""
    mu = next(part.active.row.mu_s for part in blocks(found.dynamics) if part.active.row.id == id)
    best = -np.inf
    for one in found.allowed.alternatives:
        column = np.zeros((len(one.slice.f), 1))
        column[: found.dynamics.nv, 0] = found.allowed.J[place] / mu
        C = np.zeros((1, one.slice.n + 1))
        C[0, -1] = 1.0
        wide = ConeSlice(A=np.hstack([one.slice.A, column]), f=one.slice.f, cones=(*one.slice.cones, RAY))
        best = max(best, float(support(wide, C).value[0]))
    return best


def compliances(dynamics: LocalDynamics) -> dict[str, float]:
    """Return J_N M^-1 (J_N - mu e J_T)^T / J_N M^-1 J_N^T of every contact that slips; joints hold meanwhile.

    Where it is negative more force lets the contact approach: none or two motions (Painleve, Genot, Brogliato 1999).
    """
    if active_set(dynamics).status is not OmegaStatus.READY:
        return {}
    parts = blocks(dynamics)
    held = [part.J for part in parts if part.law is None and len(part.take)]
    G = np.vstack([np.zeros((0, dynamics.nv)), *held])
    values = {}
    for part in parts:
        row = part.active.row
        if part.law is None or len(part.take) != 1 or part.spread.shape[0] < 2 or row.bilateral:
            continue
        n, b = row.J[0], row.J.T @ part.spread[:, 0]
        x = np.column_stack([solve_spd(dynamics.factor, n), solve_spd(dynamics.factor, b)])
        if len(G):
            S = solve_spd(dynamics.factor, np.ascontiguousarray(G.T))
            x = x - S @ np.linalg.lstsq(G @ S, G @ x, rcond=1e-12)[0]
        if n @ x[:, 0] > 0.0:
            values[f"{row.id}.painleve"] = float(n @ x[:, 1] / (n @ x[:, 0]))
    return values
