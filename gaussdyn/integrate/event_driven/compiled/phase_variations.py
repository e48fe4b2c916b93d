"""A phase with its derivative with respect to where it began, compiled, whatever kind of system it is of."""

from __future__ import annotations

import numpy as np

from ...._jit import A2, kernel
from ....arrays import Array
from ...dop853 import WIDTH
from ..event_location import Seen
from ..guards import Guard
from .phase_arrays import CompiledPhase
from .phase_rhs import slope
from .records import Voyage

SHIFT = 1e-3  # of the largest coordinate or velocity, at least 1: how far displaced states are, to order 4

AT, WEIGHTS = (-2.0, -1.0, 1.0, 2.0), (1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0)  # of a derivative of order 4


@kernel(f"int64(Voyage, float64, {A2}, {A2})", borrows=True, entry=True)
def vary(voyage: Voyage, t: float, z: Array, out: Array) -> int:
    """Fill in (y', Y') of z = (y, Y column by column), a line for each; 1 where there are none.

    The derivative along a column is that of four states displaced along it.
    """
    phase, step = voyage.phase, voyage.step
    y, rates, n, size = step.place, step.K[WIDTH], z.shape[1], 1.0
    for j in range(len(y)):
        y[j] = z[0, j] if j < n else 0.0
        size = max(size, abs(y[j]))
    if slope(phase, t, y, rates):
        return 1
    for j in range(n):
        out[0, j] = rates[j]
    for k in range(1, len(z)):
        most = 0.0
        for j in range(n):
            most, out[k, j] = max(most, abs(z[k, j])), 0.0
        if most == 0.0:
            continue
        h = SHIFT * size / most
        for s in range(4):
            far, weight = AT[s] * h, WEIGHTS[s] / h
            for j in range(n):
                y[j] = z[0, j] + far * z[k, j]
            if slope(phase, t, y, rates):
                return 1
            for j in range(n):
                out[k, j] += weight * rates[j]
    return 0


class VariedPhase:
    """What `variations.varied` follows up to a given time."""

    __slots__ = ("kernels",)
    guards: tuple[Guard, ...] = ()
    redundant = False

    def __init__(self, kernels: CompiledPhase) -> None:
        self.kernels = kernels

    def slope(self, t: float, z: Array) -> Array:
        """Return (y', Y'), of z = (y, Y row by row).

        Raises
        ------
        LinAlgError
            At a pole of the reactions.
        """
        n = self.kernels.states
        lines, out = np.empty((2, len(z) // n, n))
        lines[0], lines[1:] = z[:n], z[n:].reshape(n, -1).T
        if vary(self.kernels.held, t, lines, out):
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return np.concatenate([out[0], out[1:].T.ravel()])

    def look(self, t: float, z: Array) -> Seen:
        """Return no conditions."""
        return Seen(t, np.zeros(0), np.zeros(0))
