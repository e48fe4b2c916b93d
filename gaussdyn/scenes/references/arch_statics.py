"""Statics of an arch of stones in the plane: forces at the two ends of every joint, by linear programming.

It stands if forces that only push, within the friction cone, carry all stones; what else they can carry is a linear
program, too. Source: J. Heyman, The stone skeleton (1966); R. Livesley, Limit analysis of structures formed from
rigid blocks (1978).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array

TIGHT = 1e-10  # of HiGHS, the smallest that it takes
NORMALS_FIRST = [(0.0, None), (None, None)]  # a joint pushes; along it friction acts either way


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchStatics:
    """A half circle of n equal stones of density one; the mean radius is one.

    Attributes
    ----------
    n : int
    thickness : float
        Over the mean radius.
    mu : float
    area, centre : float
        Of a stone, and the distance of its centre from the middle of the arch.
    """

    n: int
    thickness: float
    mu: float
    area: float
    centre: float

    @property
    def stands(self) -> bool:
        """Whether it stands by itself."""
        return bool(self._program(np.zeros(0)).status == 0)

    @property
    def largest_push(self) -> float:
        """The largest share of its weight that it bears sideways, on all stones; NaN where it does not stand."""
        push = np.zeros((3 * self.n, 1))
        push[0::3] = self.area
        found = self._program(push)
        return float(found.x[-1]) if found.status == 0 else math.nan

    def _program(self, push: Array) -> Any:
        """Return what HiGHS finds for the forces, and for the largest factor of a load."""
        from scipy.optimize import linprog

        n, half = self.n, 0.5 * math.pi / self.n
        radii = 1.0 - self.thickness / 2.0, 1.0 + self.thickness / 2.0
        A, b = np.zeros((3 * n, 4 * (n + 1))), np.zeros(3 * n)
        for k in range(n):
            middle = (2 * k + 1) * half
            at = self.centre * np.array([math.cos(middle), math.sin(middle)])
            b[3 * k + 1] = self.area
            for joint, sign in ((k, 1.0), (k + 1, -1.0)):
                A[3 * k : 3 * k + 3, 4 * joint : 4 * joint + 4] = sign * _joint(2 * joint * half, radii, at)
        cone = np.zeros((2 * (n + 1), 4 * (n + 1)))
        for joint in range(n + 1):
            cone[2 * joint, 4 * joint : 4 * joint + 4] = -self.mu, 1.0, -self.mu, 1.0
            cone[2 * joint + 1, 4 * joint : 4 * joint + 4] = -self.mu, -1.0, -self.mu, -1.0
        bounds, cost = NORMALS_FIRST * (2 * (n + 1)), np.zeros(4 * (n + 1))
        if len(push):
            A, cone = np.hstack([A, push]), np.hstack([cone, np.zeros((len(cone), 1))])
            bounds, cost = [*bounds, (0.0, None)], np.append(cost, -1.0)
        zero, options = (
            np.zeros(len(cone)),
            {"primal_feasibility_tolerance": TIGHT, "dual_feasibility_tolerance": TIGHT},
        )
        return linprog(
            cost, A_ub=cone, b_ub=zero, A_eq=A, b_eq=b, bounds=bounds, method="highs", options=options
        )  # fmt: skip


def of_flat_stones(n: int, thickness: float, mu: float) -> ArchStatics:
    """Return the arch whose stones have flat sides, between the corners of their joints."""
    return ArchStatics(n=n, thickness=thickness, mu=mu, **_trapezium(n, thickness))


def _trapezium(n: int, thickness: float) -> dict[str, float]:
    """Return area and centre of a stone: what is between two triangles with their tips in the middle."""
    half = 0.5 * math.pi / n
    large, small = (r * r * math.sin(half) * math.cos(half) for r in (1.0 + thickness / 2.0, 1.0 - thickness / 2.0))
    far, near = (2.0 / 3.0 * r * math.cos(half) for r in (1.0 + thickness / 2.0, 1.0 - thickness / 2.0))
    return {"area": large - small, "centre": (large * far - small * near) / (large - small)}


@lru_cache(maxsize=256)
def largest_push(n: int, thickness: float, mu: float) -> float:
    """Return `ArchStatics.largest_push` of flat stones."""
    return of_flat_stones(n, thickness, mu).largest_push


def _joint(angle: float, radii: tuple[float, float], at: Array) -> Array:
    """Return force and moment about `at` of normal and radial forces at both ends of a joint, shape (3, 4)."""
    normal = np.array([-math.sin(angle), math.cos(angle)])
    along = np.array([math.cos(angle), math.sin(angle)])
    columns = []
    for r in radii:
        x, y = r * along - at
        columns += [[fx, fy, x * fy - y * fx] for fx, fy in (normal, along)]
    return np.array(columns).T
