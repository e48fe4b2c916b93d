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
from .dop853 import STAGES, WIDTH, Piece, Slope, Tolerance, steps
from .event_driven.compiled.phase_arrays import CompiledPhase
from .event_driven.compiled.phase_variations import STILL, take_varied, vary
from .event_driven.event_location import Search, Seen
from .event_driven.guards import Guard
from .recorded_arcs import Arc

Dip = tuple[float, float, Guard | None]  # how low, when (s), of which condition
NO_DIP: Dip = (math.inf, 0.0, None)
RTOL = 1e-11  # local error per step of y, relative and absolute
COARSER = 1e2  # times that: of Y
STOPS = ("stop", "stop_roll")
MOMENT = 0.03  # of the step that ends with the stop of a slip in space, see `along`


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
        lines = np.ascontiguousarray(z).reshape(-1, self.kernels.states)
        out = np.empty_like(lines)
        if vary(self.kernels.held, t, lines, out):
            raise self.kernels.broken("a trial is beyond a pole")
        return out.ravel()

    def take(self, slope: Slope, t: float, z: Array, first: Array, h: float, tolerance: Tolerance) -> Piece:
        """Return one step, as `dop853.take`."""
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
        tolerance = Tolerance(RTOL, RTOL * np.concatenate((np.ones(n), np.full(Y.size, COARSER))))
        for arc in arcs:
            k, left = int(self._still(arc, 0)), MOMENT * arc.h if self._still(arc, -1) else 0.0
            t, Z = float(arc.times[k]), self._begun(arc, Z) if k else Z
            z, end = np.concatenate((arc.q[k], arc.v[k], Z)), arc.t_end - left
            for piece in steps(self.slope, t, z, end, tolerance, end - t, self.take):
                low = min(low, self.dip(piece), key=itemgetter(0)) if lowest else low
                Z = piece.end[n:] + (left * piece.K[STAGES, n:] if piece.t_end >= end else 0.0)
        return Z.reshape(-1, n).T.copy(), low

    def _still(self, arc: Arc, k: int) -> bool:
        """Return whether a slip in space stops, or begins, at an end of an arc.

        What displaces it across its way turns friction by one over its speed, and vanishes with it: linearly.
        """
        stops = [k for k, one in enumerate(self.kernels.phase.guards) if one.kind in STOPS and len(one.ahead) > 1]
        if not stops:
            return False
        at = self.look(float(arc.times[k]), np.concatenate((arc.q[k], arc.v[k])))
        return bool(at.g[stops].min() <= STILL)

    def _begun(self, arc: Arc, Z: Array) -> Array:
        """Return Z at the second sample of an arc that begins with a slip in space, by one implicit step of Euler's."""
        n, t, y = self.kernels.states, float(arc.times[1]), np.concatenate((arc.q[1], arc.v[1]))
        A = self.slope(t, np.concatenate((y, np.eye(n).ravel())))[n:].reshape(n, n).T
        return np.asarray(np.linalg.solve(np.eye(n) - (t - arc.t) * A, Z.reshape(-1, n).T).T.ravel(), np.float64)

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
