"""Which joints and contacts depend on each other, how many constraints are too many, and what may move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._show import brief
from ...arrays import Array
from ...contact.active_set import ActiveRow, active_set
from ...contact.snapshot import LocalDynamics, snapshot
from ...integrate.run.trajectory import Trajectory
from ...linalg.circuits import Circuits, circuits
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System
from .allowed import PARTS

LISTED = 6  # circuits in words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dependence:
    """Dependences among the constraints at a configuration.

    Attributes
    ----------
    t : float
    names : tuple of str
        Rows, joints first as the system has them.
    owners : tuple of str
        The joint or contact of every row.
    circuits : Circuits
    velocities : int
        Of the system.
    """

    t: float
    names: tuple[str, ...]
    owners: tuple[str, ...]
    circuits: Circuits
    velocities: int

    __repr__ = brief

    @property
    def degree(self) -> int:
        """How many rows are too many: numbers of the reactions that stay free."""
        return self.circuits.degree

    @property
    def mobility(self) -> int:
        """How many independent velocities the rows leave at this configuration."""
        return self.velocities - self.circuits.rank

    @property
    def kutzbach(self) -> int:
        """What counting says (Gruebler, Kutzbach): velocities less rows."""
        return self.velocities - len(self.names)

    @property
    def overconstrained(self) -> bool:
        """Whether it moves more than counting says."""
        return self.degree > 0

    def sets(self) -> list[tuple[str, ...]]:
        """Return the names of the rows of every minimal dependent set: any one of a set may go."""
        return [tuple(self.names[i] for i in one) for one in self.circuits.sets()]

    def members(self) -> list[tuple[str, ...]]:
        """Return the joints and contacts of every minimal dependent set."""
        return [tuple(dict.fromkeys(self.owners[i] for i in one)) for one in self.circuits.sets()]

    def needed(self) -> tuple[str, ...]:
        """Return the rows of which none may go: the motion would be another."""
        return tuple(self.names[i] for i in self.circuits.needed())

    def verify(self, J: Array) -> bool:
        """Whether the combinations of rows vanish on a Jacobian, e.g. one computed by other means."""
        left = np.abs(self.circuits.factors @ J).max(initial=0.0)
        return bool(left <= 1e-8 * float(np.abs(J).max(initial=0.0)))

    def explain(self) -> str:
        """Return counts and dependent sets in words."""
        lines = [
            f"Velocities {self.velocities}, constraint rows {len(self.names)}, independent {self.circuits.rank}: "
            f"mobility {self.mobility} (counting says {self.kutzbach})."
        ]
        if not self.degree:
            return lines[0] + " No row is too many."
        lines.append(f"{self.degree} too many: that many numbers of the reactions are free.")
        for members, rows in list(zip(self.members(), self.sets(), strict=True))[:LISTED]:
            lines.append(f"{', '.join(members)}: any one of {len(rows)} rows may go ({', '.join(rows[:8])}"
                         f"{', ..' if len(rows) > 8 else ''}).")  # fmt: skip
        more = len(self.circuits.factors) - LISTED
        if more > 0:
            lines.append(f"{more} further minimal sets.")
        if not self.circuits.complete:
            lines.append("There are more; these make up all others.")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return it as the file formats describe it."""
        return {
            "t": self.t, "velocities": self.velocities, "rows": len(self.names), "rank": self.circuits.rank,
            "degree": self.degree, "mobility": self.mobility, "kutzbach": self.kutzbach,
            "overconstrained": self.overconstrained, "complete": self.circuits.complete, "rank_gap": self.circuits.gap,
            "sets": [list(one) for one in self.sets()], "members": [list(one) for one in self.members()],
            "needed": list(self.needed()),
        }  # fmt: skip


def dependence(
    system: System | Scene | LocalDynamics, state: State | None = None, *, contacts: bool = True
) -> Dependence:
    """Return which constraints depend on each other at a state.

    Parameters
    ----------
    system : System, Scene or LocalDynamics
    state : State, optional
    contacts : bool
        Whether closed contacts count (those that stick with all rows, others with their normal one), or joints alone.

    Raises
    ------
    InputError
        See `snapshot`.
    """
    dynamics = system if isinstance(system, LocalDynamics) else snapshot(system, state)
    chosen = [one for one in active_set(dynamics).rows if contacts or one.row.kind == "bilateral"]
    J, names, owners = [np.zeros((0, dynamics.nv))], [], []
    for one in chosen:
        rows, words = _rows(dynamics, one)
        J.append(rows)
        names += words
        owners += [one.row.id.split(":")[0] if one.row.kind == "bilateral" else one.row.id] * len(words)
    return Dependence(t=dynamics.t, names=tuple(names), owners=tuple(owners), circuits=circuits(np.vstack(J)),
                      velocities=dynamics.nv)  # fmt: skip


def _rows(dynamics: LocalDynamics, active: ActiveRow) -> tuple[Array, list[str]]:
    """Return the rows of a constraint that hold, and their names."""
    row = active.row
    if row.kind == "dry":
        return row.J[:0], []
    if row.kind == "bilateral":
        return row.J, [row.id] if row.size == 1 else [f"{row.id}.{k}" for k in range(row.size)]
    sticks = active.rough and row.slip_speed <= dynamics.activation.speed
    count = min(row.size, 3) if sticks else 1
    return row.J[:count], [f"{row.id}.{part}" for part in PARTS[:count]]


def dependence_along(run: Trajectory, scene: Scene, *, points: int = 200, contacts: bool = False) -> list[Dependence]:
    """Return the dependences at saved states of a run, evenly spread; joints alone unless `contacts`."""
    chosen = np.unique(np.linspace(0, len(run) - 1, min(points, len(run))).round().astype(int))
    found = []
    for k in chosen:
        state = run.state(int(k))
        near = scene.system.near(state.t, state.q, state.v, 0.0)
        found.append(dependence(near, state, contacts=contacts))
    return found
