"""The energy of a run, and the work that changed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, scalar
from ..mechanics.state import State
from ..mechanics.system import System
from .stepper import Work


@dataclass(slots=True, kw_only=True)
class EnergyBook:
    """Running balance: energy - energy at the start - work of all forces that the potential does not cover.

    Attributes
    ----------
    kinetic, potential : float
        At the last state, J.
    reactions, forces : float
        Work done since the start, J.
    drift, scale : float
        Largest |error| and largest kinetic + |potential - initial| so far, J.
    """

    kinetic: float
    potential: float
    initial: tuple[float, float]
    reactions: float = 0.0
    forces: float = 0.0
    drift: float = 0.0
    scale: float = 0.0

    @classmethod
    def start(cls, system: System, state: State) -> EnergyBook:
        """Open the book at the initial state."""
        kinetic, potential = energy(system, state)
        return cls(kinetic=kinetic, potential=potential, initial=(kinetic, potential), scale=kinetic)

    def add(self, system: System, state: State, work: Work) -> None:
        """Enter one step that ended in `state`."""
        self.kinetic, self.potential = energy(system, state)
        self.reactions += work.reactions
        self.forces += work.forces
        self.drift = max(self.drift, abs(self.error))
        self.scale = max(self.scale, self.kinetic + abs(self.potential - self.initial[1]))

    @property
    def error(self) -> float:
        """Energy - energy at the start - work, J."""
        return self.kinetic + self.potential - sum(self.initial) - self.reactions - self.forces

    @property
    def drift_rel(self) -> float | None:
        """Largest |error| over the largest kinetic + |potential - initial|; None where that is 0."""
        return self.drift / self.scale if self.scale > 0.0 else None


def energy(system: System, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy, J."""
    v: Array = state.v
    M = np.asarray(system.mass(state.q), dtype=np.float64)
    return scalar("kinetic energy", float(0.5 * v @ M @ v)), scalar("potential", system.potential(state.t, state.q))
