"""Phases by the readable equations of `smooth_phase` in place of kernels: what kernels are checked with."""

from __future__ import annotations

from functools import partial

import numpy as np

from gaussdyn.integrate import dop853
from gaussdyn.integrate.event_driven.compiled.phase_arrays import CompiledPhase
from gaussdyn.integrate.event_driven.compiled.phase_rhs import WILD
from gaussdyn.integrate.event_driven.flow import seen
from gaussdyn.integrate.event_driven.phase_integrator import PhaseMotion


class PlainPhase:
    """What single steps ask of kernels."""

    borders = ()
    watched = True  # takes single steps

    def __init__(self, phase, accuracy, known=None):
        self.motion = PhaseMotion(phase=phase, control=phase.control, accuracy=accuracy, kernels=self)

    def slope(self, t, y, side=0.0):
        if not float(np.abs(y).max()) < WILD:
            raise np.linalg.LinAlgError("a trial is out of bounds")
        now = self.motion.instant(t, y)
        if now.side * side < 0.0:
            raise np.linalg.LinAlgError("a trial is beyond a pole")
        return self.motion.rates(now)

    def look(self, t, y):
        return seen(self.motion.phase, self.motion.instant(t, y))

    bare = look

    def take(self, t, y, first, h, side):
        return dop853.take(partial(self.slope, side=side), t, y, first, h, self.motion.tolerance)


def without_kernels(monkeypatch):
    """Let runs integrate by the readable equations, a step at a time."""
    monkeypatch.setattr(CompiledPhase, "of", lambda phase, accuracy, known=None: PlainPhase(phase, accuracy))
    monkeypatch.setattr(CompiledPhase, "of_clear", lambda *given: None)
