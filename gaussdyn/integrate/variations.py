"""Motion of a phase with its derivative with respect to where it began.

    y' = f(t, y),   Y' = (df/dy) Y,

are integrated together along the steps of a run, by its own method (`dop853`) and its own kernels, whatever kind of
system it is of: df/dy by differences of order 4. How Y changes at an event says `saltation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from ..arrays import Array
from .dop853 import WIDTH, Piece, Slope, Tolerance, steps
from .event_driven.compiled.phase_arrays import CompiledPhase
from .event_driven.event_location import Search, Seen
from .event_driven.guards import Guard
from .recorded_arcs import Arc

Dip = tuple[float, float, Guard | None]  # how low, when (s), of which condition
NO_DIP: Dip = (math.inf, 0.0, None)
RTOL = 1e-11  # local error per step of y, relative and absolute
COARSER = 1e2  # times that: of Y


@dataclass(frozen=True, slots=True, eq=False)
class VariedPhase:
    """A phase with its derivative, z = (y, Y column by column)."""

    kernels: CompiledPhase

    def slope(self, t: float, z: Array) -> Array:
        """Return (y', Y').

        Raises
        ------
        LinAlgError
            At a pole of the reactions.
        """
        from .event_driven.compiled.phase_variations import vary

        lines = np.ascontiguousarray(z).reshape(-1, self.kernels.states)
        out = np.empty_like(lines)
        if vary(self.kernels.held, t, lines, out):
            raise self.kernels.broken("a trial is beyond a pole")
        return out.ravel()

    def take(self, slope: Slope, t: float, z: Array, first: Array, h: float, tolerance: Tolerance) -> Piece:
        """Return one step, as `dop853.take`."""
        from .event_driven.compiled.phase_variations import take_varied

        K, end = np.empty((WIDTH + 1, len(z))), np.empty(len(z))
        K[0] = first
        error = take_varied(self.kernels.held, t, h, z, K, end, *tolerance)
        if error == np.inf and not isinstance(said := self.kernels.broken(""), np.linalg.LinAlgError):
            raise said
        return Piece(slope, t, h, z, end, K[:WIDTH], error, 0.0)

    def look(self, t: float, z: Array) -> Seen:
        """Return the conditions and their rates."""
        kernels = self.kernels
        return kernels.bare(t, np.concatenate((z[: kernels.states], np.zeros(kernels.size - kernels.states))))

    def along(self, arcs: Sequence[Arc], Y: Array, lowest: bool = False) -> tuple[Array, Dip]:
        """Return what has become of the derivative Y, shape (n, m), after some arcs, and `dip` over all of them.

        Parameters
        ----------
        lowest : bool
            Whether minima of conditions are looked for.

        Raises
        ------
        NoStep
            No step is short enough.
        """
        n, low, Z = self.kernels.states, NO_DIP, Y.T.ravel()
        atol = RTOL * np.concatenate((np.ones(n), np.full(Y.size, COARSER)))
        for arc in arcs:
            z = np.concatenate((arc.q[0], arc.v[0], Z))
            for piece in steps(self.slope, arc.t, z, arc.t_end, Tolerance(RTOL, atol), arc.h, self.take):
                low = min(low, self.dip(piece), key=itemgetter(0)) if lowest else low
                Z = piece.end[n:]
        return Z.reshape(-1, n).T.copy(), low

    def dip(self, piece: Piece) -> Dip:
        """Return the lowest minimum of a condition inside a step: value, when and of which; inf where none has one."""
        phase, found = self.kernels.phase, NO_DIP
        before, after = self.look(piece.t, piece.y), self.look(piece.t_end, piece.end)
        still = np.zeros(len(phase.guards))
        search = Search(phase, lambda t: self.look(t, piece.at(t)), still, still)
        for k in np.flatnonzero((before.rate < 0.0) & (after.rate > 0.0)).tolist():
            if (low := search.lowest(before, after, k)) is not None and low[1] < found[0]:
                found = low[1], low[0], phase.guards[k]
        return found
