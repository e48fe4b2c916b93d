"""The layer at the start of a viscous realization, in which the reaction grows from nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Array
from ...integrate.realizations.equations_of_motion import ForcedMotion
from ...integrate.realizations.smooth import Smooth
from ...integrate.realizations.viscous import Viscous
from ...integrate.simulate import simulate
from ...mechanics.scene import Scene

WIDTHS = 8  # of the layer that are looked at
PER_WIDTH = 25
SMALL = 1e-3  # share of its later size below which a force begins at nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryLayer:
    """How long the reaction of a viscous row takes to come up.

    Attributes
    ----------
    row : str
    stiffness : float
        N, N s/m.
    width : float
        Time in which its distance to the reaction of the rigid motion falls to 1/e, s.
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
    """Measure the layer of the first constraint on the velocity: how its force comes up to that of the rigid motion.

    None without such a constraint, where rows are not all bilateral, where the force of the rigid motion begins at
    nothing too, or the run stops.
    """
    state, system = scene.state, scene.system
    rows = system.rows(state.t, state.q, state.v)
    viscous = [row.id for row in rows if row.level == "velocity"]
    if not viscous or any(row.kind != "bilateral" for row in rows):
        return None
    motion = ForcedMotion(system=system, law=stepper.realized().law, alpha=0.0, control=None)
    predicted = 1.0 / motion.fastest(state.t, np.concatenate([state.q, state.v]))
    dt = predicted / PER_WIDTH
    rigid, soft = (
        simulate(scene, t_end=state.t + WIDTHS * predicted, stepper=one)
        for one in (Smooth(dt=dt), replace(stepper, dt=dt, method="DOP853"))
    )
    if rigid.stop is not None or soft.stop is not None:
        return None
    wanted, found = (run[f"{viscous[0]}.r"][1:] for run in (rigid, soft))
    first = 1.5 * wanted[0] - 0.5 * wanted[1]  # a mean over a step belongs to its middle
    if abs(first) <= SMALL * float(np.abs(wanted).max()):
        return None
    t = 0.5 * (soft.t[1:] + soft.t[:-1]) - state.t
    width = _falls(np.r_[0.0, t], np.r_[1.0, np.abs(found - wanted) / abs(first)], np.exp(-1.0))
    if width is None:
        return None
    return BoundaryLayer(row=viscous[0], stiffness=stepper.stiffness, width=width, predicted=predicted)


def _falls(t: Array, x: Array, level: float) -> float | None:
    """Return when x first falls below a level, by interpolation of its logarithm."""
    below = np.flatnonzero(x <= level)
    if not len(below) or below[0] == 0:
        return None
    k = int(below[0])
    y0, y1 = np.log(x[k - 1]), np.log(max(x[k], np.finfo(float).tiny))
    return float(t[k - 1] + (np.log(level) - y0) / (y1 - y0) * (t[k] - t[k - 1]))
