"""Reverse chatter: bounces that grow out of rest, so that a contact at rest may leave at any time, in many ways.

At a contact at rest the bounces are self-similar: impacts are homogeneous in the velocity and flights last twice the
speed over the acceleration. If one period of this map makes the speed larger, time-reversed bounces accumulate at
rest. Source: Nordmark, Dankowicz, Champneys (2011), Friction-induced reverse chatter in rigid-body mechanisms with
impacts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...contact.snapshot import LocalDynamics
from ...mechanics.rows import Row
from ...mechanics.state import State
from .impact import impact
from .impact_laws import ImpactLaw
from .problem import one_sided

STARTS = (0.0, 2.0, -2.0)  # slip over normal speed of the first bounce
BOUNCES, COUNTED = 24, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Chatter:
    """How bounces at a contact at rest go on.

    Attributes
    ----------
    id : str
    growth : float
        Factor of the normal speed per bounce in the long run; above 1 chatter is reversed, below 1 it dies out.
    """

    id: str
    growth: float

    @property
    def reversed(self) -> bool:
        """Whether bounces grow out of rest."""
        return self.growth > 1.0 + 1e-9


def chatter(dynamics: LocalDynamics, law: ImpactLaw) -> tuple[Chatter, ...]:
    """Return how bounces go on at each contact that rests, one at a time; all others stay as they are, or open.

    Only contacts in the plane that would fall back (the free normal acceleration closes the gap) are looked at.

    Parameters
    ----------
    dynamics : LocalDynamics
        On the acceleration level.
    law : ImpactLaw
        Newton's keeps the ratio of normal speeds, so that its chatter is never reversed; Poisson's does not.
    """
    found = []
    for row in dynamics.rows:
        resting = row.slip_speed <= dynamics.activation.speed and row.gap <= dynamics.activation.gap
        if not (one_sided(row) and row.size == 2 and row.mu > 0.0 and resting):
            continue
        free = row.J @ _free(dynamics) + row.drift
        if free[0] < 0.0:
            found.append(Chatter(id=row.id, growth=max(_growth(dynamics, law, row, free, s) for s in STARTS)))
    return tuple(found)


def _free(dynamics: LocalDynamics) -> Array:
    """Return the acceleration while the contacts are open, joints held."""
    held = [row for row in dynamics.rows if row.kind == "bilateral"]
    x = dynamics.x_free
    if not held:
        return x
    G = np.vstack([row.J for row in held])
    w = np.concatenate([row.drift for row in held])
    S = np.linalg.solve(dynamics.M, G.T)
    return np.asarray(x - S @ np.linalg.lstsq(G @ S, w + G @ x, rcond=1e-12)[0])


def _growth(dynamics: LocalDynamics, law: ImpactLaw, row: Row, free: Array, slip: float) -> float:
    """Return the factor of the normal speed per bounce, averaged over the last ones."""
    held = [one.J for one in dynamics.rows if one.kind == "bilateral"]
    G = np.vstack([row.J, *held])
    factors = []
    for _ in range(BOUNCES):
        v = np.linalg.lstsq(G, np.concatenate([[-1.0, slip], np.zeros(len(G) - 2)]), rcond=None)[0]
        struck = State(t=dynamics.t, q=dynamics.q, v=v)
        u = row.J @ impact(dynamics.system, struck, law=law, closed=[row.id]).v
        if u[0] <= 0.0:
            return 0.0
        factors.append(float(u[0]))
        slip = float((u[1] - 2.0 * u[0] / free[0] * free[1]) / u[0])
    return float(np.exp(np.mean(np.log(factors[-COUNTED:]))))
