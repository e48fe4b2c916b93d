"""All accelerations of a planar body from rest, by one linear program per mode: slow, and independent of the engine.

The linear programs are those of scipy (HiGHS). Each asks for the largest least slack of its mode: positive means that
the mode has solutions, and the smallest absolute value over all modes is the distance from a change of their number.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ...arrays import Array

SAME = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Motions:
    """Contact accelerations (N, T per contact) of all motions, and how far (relative) their number is from changing."""

    found: tuple[Array, ...]
    margin: float

    def distance(self, u: Array) -> float:
        """Return the distance of u from the nearest motion."""
        return min(float(np.abs(u - one).max()) for one in self.found)


def motions_from_rest(W: Array, q: Array, mu: float) -> Motions:
    """Return all motions of u = W r + q with blocks (N, T) that are at rest; each mode must fix its motion."""
    load = float(np.abs(q).max())
    W, q = W * (len(W) / np.trace(W)), q / load
    groups: list[tuple[Array, float]] = []  # motion, and the largest slack of its modes
    for slack, u in (_mode(W, q, mu, mode) for mode in itertools.product("DS+-", repeat=len(q) // 2)):
        same = next((k for k, (one, _) in enumerate(groups) if np.abs(u - one).max() <= SAME), None)
        if same is None:
            groups.append((u, slack))
        else:  # slip with a velocity that is bound to be zero is the same motion as stick, or none
            groups[same] = (groups[same][0], max(groups[same][1], slack))
    found = tuple(load * u for u, slack in groups if slack > 0.0)
    return Motions(found=found, margin=min(abs(slack) for _, slack in groups))


def _mode(W: Array, q: Array, mu: float, mode: tuple[str, ...]) -> tuple[float, Array]:
    """Return the largest least slack of a mode (-1 if its equations contradict) and its motion."""
    from scipy.optimize import linprog

    unit = np.eye(len(q))
    equal: list[Array] = []
    above: list[Array] = []
    ends: list[float] = []
    floors: list[float] = []
    for k, letter in enumerate(mode):
        N, T = 2 * k, 2 * k + 1
        if letter == "D":
            equal, ends = [*equal, unit[N], unit[T]], [*ends, 0.0, 0.0]
            above, floors = [*above, W[N]], [*floors, -q[N]]
            continue
        equal, ends, above, floors = [*equal, W[N]], [*ends, -q[N]], [*above, unit[N]], [*floors, 0.0]
        if letter == "S":
            equal, ends = [*equal, W[T]], [*ends, -q[T]]
            above = [*above, mu * unit[N] - unit[T], mu * unit[N] + unit[T]]
            floors = [*floors, 0.0, 0.0]
        else:
            s = 1.0 if letter == "+" else -1.0
            equal, ends = [*equal, unit[T] + s * mu * unit[N]], [*ends, 0.0]
            above, floors = [*above, s * W[T]], [*floors, -s * q[T]]
    columns = np.column_stack([-np.array(above), np.ones(len(above))])  # above . r - slack >= floors
    A = np.column_stack([np.array(equal), np.zeros(len(equal))])
    free = [(None, None)] * len(q) + [(-1.0, 1.0)]
    answer = linprog(-np.eye(len(q) + 1)[-1], A_ub=columns, b_ub=-np.array(floors), A_eq=A, b_eq=ends, bounds=free)
    if answer.x is None:
        return -1.0, q
    r = answer.x[:-1]
    return float(answer.x[-1]), W @ r + q
