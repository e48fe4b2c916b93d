"""Steps through springs, and along branches: judged by integrating them again.

What is recorded of one are its ends and its impulses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...contact.reactions import law_residual
from ...contact.snapshot import LocalDynamics, rows_of
from ...integrate.run.trajectory import Trajectory
from ...integrate.stepper import Repeats
from ...mechanics.state import State
from ...mechanics.system import System
from .saved_rows import control_of, ends_of, local_system, said_of
from .step_figures import EXACT, relative


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedStep:
    """One saved step, integrated again, and the impulses that the run claims (N s)."""

    start: State
    state: State
    dt: float
    dynamics: LocalDynamics
    q: Array
    impulses: dict[str, Array]
    forces: float | None

    def figures(self) -> tuple[float, float, float, float]:
        """Return the errors of kinematics and momentum, the residual of the laws, and the rate of the joints."""
        moved = relative(np.abs(self.q - self.state.q), np.abs(self.start.q) + np.abs(self.q))
        return moved, self._momentum(), self._laws(), self._joint_rate()

    def _momentum(self) -> float:
        """Return the largest |M v+ - h - J^T p| of a coordinate, relative to its terms."""
        d = self.dynamics
        gain, size = d.M @ self.state.v - d.h, np.abs(d.M) @ (np.abs(self.state.v) + np.abs(self.start.v)) + np.abs(d.h)
        for row in d.rows:
            p = self.impulses.get(row.id, np.zeros(row.size))
            gain, size = gain - row.J.T @ p, size + np.abs(row.J.T) @ np.abs(p)
        return float(np.abs(gain).max(initial=0.0)) / float(size.max(initial=0.0) or 1.0)

    def _laws(self) -> float:
        """Return the residual E of the claimed impulses in the contact problem; reactions of rows that do not act."""
        if self.forces is not None:
            return self.forces
        acting = {row.id for row in self.dynamics.rows}
        rounding = EXACT * max((float(np.abs(p).max()) for p in self.impulses.values()), default=0.0)
        if any((np.abs(p) > rounding).any() for key, p in self.impulses.items() if key not in acting):
            return float("inf")
        return law_residual(self.dynamics, self.impulses)

    def _joint_rate(self) -> float:
        """Return the largest rate of an equality at the end of the step, relative to the largest speed."""
        worst = 0.0
        speeds = np.abs(self.start.v) + np.abs(self.state.v) + np.abs(self.dynamics.x_free)
        reach = np.full(len(speeds), speeds.max(initial=0.0))
        for row in self.dynamics.rows:
            if row.bilateral:
                n = 1 if row.kind == "bilateral_contact" else row.size
                rate = row.J @ (self.state.v - self.start.v)
                rate = (rate + (self.dt * row.drift if row.level == "acceleration" else row.rate))[:n]
                worst = max(worst, relative(np.abs(rate), np.abs(row.J[:n]) @ reach))
        return worst


def repeated_step(run: Trajectory, system: System, stepper: Repeats, k: int) -> RepeatedStep:
    """Integrate the step that ended in saved state k again; rows that react count as closed."""
    start, state, dt = ends_of(run, k)
    rows = rows_of(local_system(run, system, k), state.t, state.q, state.v)
    impulses = {key: dt * reaction for key, (_, reaction) in said_of(run, k, rows).items()}
    acts = {key: p for key, p in impulses.items() if p.any()}
    start = replace(start, memory=acts)
    rebuilt = stepper.rebuild(system, start, state, dt, control_of(run, k))
    return RepeatedStep(
        start=start, state=state, dt=dt, dynamics=rebuilt.dynamics, q=rebuilt.q, impulses=impulses, forces=rebuilt.laws
    )
