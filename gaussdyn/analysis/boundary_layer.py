"""The layer at the start of a viscous realization, in which the reaction grows from nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..integrate.realizations.forced_motion import ForcedMotion
from ..integrate.realizations.viscous import Viscous
from ..integrate.simulate import simulate
from ..mechanics.scene import Scene

WIDTHS = 8  # of the layer that are looked at
PER_WIDTH = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryLayer:
    """How long the reaction of a viscous row takes to come up.

    Attributes
    ----------
    row : str
    stiffness : float
        N, N s/m.
    width : float
        Time until the reaction has come within 1/e of what it is after the layer, s.
    predicted : float
        1 / (N a.M^-1 a), s.
    """

    row: str
    stiffness: float
    width: float
    predicted: float

    def __str__(self) -> str:
        """Return it in words."""
        return f"layer of {self.width:.3g} s at the start ({self.row}; 1/(N a.M^-1 a) = {self.predicted:.3g} s)"


def layer_of(scene: Scene, stepper: Viscous) -> BoundaryLayer | None:
    """Measure the layer of the first constraint on the velocity; None without one, or where it carries nothing."""
    state, system = scene.state, scene.system
    rows = [
        row for row in system.rows(state.t, state.q, state.v) if row.kind == "bilateral" and row.level == "velocity"
    ]
    if not rows:
        return None
    law = stepper.realized().law
    motion = ForcedMotion(system=system, law=law, alpha=0.0, control=None)
    predicted = 1.0 / motion.fastest(state.t, np.concatenate([state.q, state.v]))
    dt = predicted / PER_WIDTH
    near = replace(stepper, dt=dt, method="DOP853")
    run = simulate(scene, t_end=state.t + WIDTHS * predicted, stepper=near)
    r = np.abs(run[f"{rows[0].id}.r"][1:])
    late = float(r[-1])
    if run.stop is not None or late == 0.0:
        return None
    t = 0.5 * (run.t[1:] + run.t[:-1]) - state.t  # a mean over a step belongs to its middle
    grown = 1.0 - np.exp(-1.0)
    k = int(np.argmax(r >= grown * late))
    before = (t[k - 1], r[k - 1]) if k else (0.0, 0.0)
    share = (grown * late - before[1]) / (r[k] - before[1])
    width = float(before[0] + share * (t[k] - before[0]))
    return BoundaryLayer(row=rows[0].id, stiffness=stepper.stiffness, width=width, predicted=predicted)
