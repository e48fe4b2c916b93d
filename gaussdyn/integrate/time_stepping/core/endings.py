"""How a step ends that the kernels have not ended by themselves.

A contact problem that they cannot solve goes to `solve` (`outside`), and they go on with its answer. Where passes do
not settle stiff forces stand beside the mass, and if that is not it, or an impact would gain energy, the laws hold at
the middle of the step: one contact problem, which no longer depends on where the step ends. What all that leaves
with a residual of CLAIMED at most is tried once more with that as its goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....arrays import Array, IntArray
from ....contact.snapshot import checked_mass
from ....programs.solution.solution import Solution
from ...impact.restitution_scaling import GAIN, largest_share
from ..scheme import CLAIMED, MAX_PASSES
from .outside.unsolved import answered, asks, known, overlap, stiffness, usable
from .python_system import Stiff
from .records import AT, BEYOND, DONE, E_, GAINED, GAINS, GOAL, HARD, MOVED, OVERLAP, UNSETTLED, Data, Span

if TYPE_CHECKING:
    from .advance import CompiledSystem

STIFF = -1  # how a step ends whose forces only Python can take beside the mass


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a step that is taken again begins with: what acts and rebounds, and what is known of the step before."""

    acts: IntArray
    joined: IntArray
    bounce: Array
    last: Array
    now: IntArray

    @staticmethod
    def of(data: Data, now: IntArray) -> _Begun:
        """Return that of the step at hand."""
        return _Begun(data.acts.copy(), np.minimum(data.joined, 0), data.bounce.copy(), data.last.copy(), now.copy())

    def put(self, data: Data, now: IntArray) -> None:
        """Put it back."""
        data.acts[:], data.joined[:], data.bounce[:] = self.acts, self.joined, self.bounce
        data.last[:], now[:] = self.last, self.now


@dataclass(slots=True)
class Ending:
    """How a step ends that the kernels have not ended by themselves.

    Attributes
    ----------
    kernels, span, control : CompiledSystem, Span, Array or None
    unsolved : Solution or None
        The first contact problem that could not be solved by any means.
    """

    kernels: CompiledSystem
    span: Span
    control: Array | None
    unsolved: Solution | None = None

    def of(self, code: int) -> int:
        """Return how the step ends: what is hard is answered, what does not settle is taken with laws at the middle."""
        code = self._answered(code, False)
        if code == UNSETTLED:
            code = self._stiffly()
        lost = code in (UNSETTLED, HARD) or (code == OVERLAP and bool(overlap(self.kernels)[0]))
        if code == GAINS or lost:
            code = self._at_middle(code)
        log = self.kernels.parts.data.log
        nearly = code in (UNSETTLED, HARD) and log[GOAL] < log[E_] <= CLAIMED
        return self._claimed(code) if nearly else code

    def _claimed(self, code: int) -> int:
        """Take the step that ended nearly solved with a residual of CLAIMED as its goal, once.

        Where more contacts stick than there are velocities (four wheels on rough ground) they contradict one another by
        what passes leave, and E keeps a small least value.
        """
        self.span = self.span._replace(tol=CLAIMED)
        ended = self._reopened()
        if ended == DONE:
            ended = self._answered(self.kernels.again(self.span, np.array([0.0, 1.0, 0.0])), False)
        return ended if ended == DONE else code

    def _stiffly(self) -> int:
        """Take the step with stiff forces beside the mass, if there are any; STIFF if Python must be asked for them."""
        S = stiffness(self.kernels, self.span, self.control)
        if S is None:
            return UNSETTLED
        python, data = self.kernels.parts.python, self.kernels.parts.data
        if python is None:
            return STIFF
        python.put_stiff(Stiff(S, data.middle.copy(), data.v.copy(), self.span.theta * self.span.dt))
        code = self._reopened()
        code = self.kernels.again(self.span, np.array([0.0, 1.0, 0.0])) if code == DONE else code
        return self._answered(code, False)

    def _reopened(self) -> int:
        """Evaluate the middle of the step once more, with another mass; what acts stays."""
        data, now = self.kernels.parts.data, self.kernels.work.now
        begun = _Begun.of(data, now)
        code = self.kernels.opened(self.span)
        begun.put(data, now)
        self._put_bare_mass()
        return code

    def _put_bare_mass(self) -> None:
        """Put the factor of the mass alone, the metric of shifts, where Python has something stand beside it."""
        python, K = self.kernels.parts.python, self.kernels.parts.data.K
        if python is None or python.stiff is None:
            return
        nv = python.system.nv
        bare = checked_mass(python.system.mass(python.stiff.q), nv)
        K[:, :nv] = np.linalg.cholesky(bare[::-1, ::-1])[::-1, ::-1].T
        K[range(nv), range(nv)] = 1.0 / np.diagonal(K)

    def _answered(self, code: int, accepts: bool) -> int:
        """Go on as long as contact problems are asked for and have answers."""
        for _ in range(MAX_PASSES):
            if not asks(self.kernels, code):
                return code
            if not known(self.kernels):
                return BEYOND
            found = answered(self.kernels, self.span, self.control)
            if not usable(found):
                self.unsolved = self.unsolved or found
                return HARD
            code = self.kernels.resumed(self.span, accepts)
        return UNSETTLED if asks(self.kernels, code) else code

    def _at_middle(self, code: int) -> int:
        """Take the step with the laws at its middle, and with as much restitution as gains no energy, see `scheme`."""
        data, now = self.kernels.parts.data, self.kernels.work.now
        known = data.log[AT] if data.log[AT] > 0.0 else data.log[MOVED]
        acting = np.flatnonzero(data.acts)
        at = float(known) if known > 0.0 or not len(acting) else 1.0 + acting[0]
        if not at > 0.0:
            return code
        python = self.kernels.parts.python
        if python is not None and python.stiff is not None:
            python.put_stiff(None)
            self._reopened()
        begun, ended = _Begun.of(data, now), code

        def gain_with(share: float, accepts: bool = False, at: float = at) -> float:
            """Take it with a fraction of all restitution; return the gain, NaN without a solution."""
            nonlocal ended
            begun.put(data, now)
            code = self.kernels.again(self.span, np.array([at, share, float(accepts)]))
            ended = self._answered(code, accepts)
            return float(data.log[GAINED]) if ended in (DONE, GAINS) else math.nan

        gain, share = gain_with(1.0), 1.0
        if math.isnan(gain):
            if code == GAINS:
                gain_with(1.0, True, 0.0)
            return ended
        begun.acts[:] = data.acts
        if gain > GAIN and self._restores():
            share = largest_share(gain_with, gain)
        if gain > GAIN:
            gain_with(share, True)
        return ended

    def _restores(self) -> bool:
        """Return whether any constraint that acts leaves with restitution."""
        start, data = self.kernels.parts.model.layout.start, self.kernels.parts.data
        return any(data.bounce[start[k] : start[k + 1]].any() for k in np.flatnonzero(data.acts))
