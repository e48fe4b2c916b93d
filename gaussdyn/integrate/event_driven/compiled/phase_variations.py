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
from .records import PhaseTables, Voyage

SHIFT = 1e-3  # of the largest coordinate or velocity, at least 1: how far displaced states are, to order 4

AT, WEIGHTS = (-2.0, -1.0, 1.0, 2.0), (1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0)  # of a derivative of order 4
ASIDE, OF_SIDE, OF_BASE = (1.0, 2.0, 3.0, 4.0), (4.0, -3.0, 4.0 / 3.0, -0.25), -25.0 / 12.0  # from one side, of order 4
FAILED = 2


@kernel("int64(PhaseTables)", borrows=True)
def rubbing(phase: PhaseTables) -> int:
    """Return how many slips have friction where the phase was asked last."""
    found = 0
    for p in range(len(phase.held.slips)):
        found += phase.held.pull[p, 0] != 0.0
    return found


@kernel(f"int64(Voyage, float64, {A2}, {A2}, int64, float64, int64, int64)", borrows=True)
def differ(voyage: Voyage, t: float, z: Array, out: Array, k: int, h: float, side: int, many: int) -> int:
    """Put the derivative along column k into `out`, of states on one side (1, -1) or on both (0).

    0: that is it. 1, -1: that is the side on which as `many` slips have friction as here: where friction sets in, or
    ends, the equations have a bend, and states beyond it have nothing to say of what is here. FAILED: there is none.
    """
    phase, step = voyage.phase, voyage.step
    y, rates, n = step.place, step.K[WIDTH], z.shape[1]
    for j in range(n):
        out[k, j] = side * OF_BASE / h * out[0, j]
    for s in range(4):
        far, weight = (side * ASIDE[s] * h, side * OF_SIDE[s] / h) if side else (AT[s] * h, WEIGHTS[s] / h)
        for j in range(n):
            y[j] = z[0, j] + far * z[k, j]
        if slope(phase, t, y, rates):
            return FAILED
        if side == 0 and rubbing(phase) != many:
            return 1 if far < 0.0 else -1
        for j in range(n):
            out[k, j] += weight * rates[j]
    return 0


@kernel(f"int64(Voyage, float64, {A2}, {A2})", borrows=True, entry=True)
def vary(voyage: Voyage, t: float, z: Array, out: Array) -> int:
    """Fill in (y', Y') of z = (y, Y column by column), a line for each; 1 where there are none.

    The derivative along a column is that of four states displaced along it, see `differ`.
    """
    phase, step = voyage.phase, voyage.step
    y, rates, n, size = step.place, step.K[WIDTH], z.shape[1], 1.0
    for j in range(len(y)):
        y[j] = z[0, j] if j < n else 0.0
        size = max(size, abs(y[j]))
    if slope(phase, t, y, rates):
        return 1
    many = rubbing(phase)
    for j in range(n):
        out[0, j] = rates[j]
    for k in range(1, len(z)):
        most = 0.0
        for j in range(n):
            most, out[k, j] = max(most, abs(z[k, j])), 0.0
        if most == 0.0:
            continue
        h = SHIFT * size / most
        side = differ(voyage, t, z, out, k, h, 0, many)
        if side == FAILED or (side and differ(voyage, t, z, out, k, h, side, many)):
            return 1
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
