"""The energy of a run, and the work that changed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, scalar
from ..mechanics.state import State
from ..mechanics.system import System
from .stepper import Work

REST = 1e-12  # m/s, rad/s: velocities up to this are rounding, and energies made of them have no relative error


@dataclass(slots=True, kw_only=True)
class EnergyBook:
    """Running balance: energy - energy at the start - work of all forces that the potential does not cover.

    Attributes
    ----------
    kinetic, potential : float
        At the last state, J.
    reactions, forces, projection : float
        Work done since the start, J.
    drift, scale : float
        Largest |error| and largest kinetic + |potential - initial| so far, J.
    fastest : float
        Largest |velocity| of a coordinate so far, SI.
    """

    kinetic: float
    potential: float
    initial: tuple[float, float]
    reactions: float = 0.0
    forces: float = 0.0
    projection: float = 0.0
    drift: float = 0.0
    scale: float = 0.0
    fastest: float = 0.0

    @classmethod
    def start(cls, system: System, state: State) -> EnergyBook:
        """Open the book at the initial state."""
        kinetic, potential = energy(system, state)
        initial = (kinetic, potential)
        return cls(kinetic=kinetic, potential=potential, initial=initial, scale=kinetic, fastest=_fastest(state))

    def add(self, system: System, state: State, work: Work, known: tuple[float, float] | None = None) -> None:
        """Enter one step that ended in `state`, its energies there where they are known."""
        self.enter(*(energy(system, state) if known is None else known), work, _fastest(state))

    def enter(self, kinetic: float, potential: float, work: Work, fastest: float) -> None:
        """Enter one step by its numbers."""
        self.kinetic, self.potential = kinetic, potential
        self.reactions += work.reactions
        self.forces += work.forces
        self.projection += work.projection
        self.drift = max(self.drift, abs(self.error))
        self.scale = max(self.scale, self.kinetic + abs(self.potential - self.initial[1]))
        self.fastest = max(self.fastest, fastest)

    def enter_many(self, kinetic: Array, potential: Array, work: tuple[Array, Array, Array], fastest: Array) -> None:
        """Enter n > 0 steps by their numbers, each of shape (n,), with the sums that `enter` makes one by one."""
        started = zip((self.reactions, self.forces, self.projection), work, strict=True)
        reactions, forces, projection = (np.add.accumulate(np.concatenate([[x], more]))[1:] for x, more in started)
        errors = kinetic + potential - sum(self.initial) - (reactions + forces + projection)
        self.kinetic, self.potential = float(kinetic[-1]), float(potential[-1])
        self.reactions, self.forces, self.projection = float(reactions[-1]), float(forces[-1]), float(projection[-1])
        self.drift = _largest(self.drift, np.abs(errors))
        self.scale = _largest(self.scale, kinetic + np.abs(potential - self.initial[1]))
        self.fastest = _largest(self.fastest, fastest)

    @property
    def error(self) -> float:
        """Energy - energy at the start - work, J."""
        work = self.reactions + self.forces + self.projection
        return self.kinetic + self.potential - sum(self.initial) - work

    @property
    def drift_rel(self) -> float | None:
        """Largest |error| over the largest kinetic + |potential - initial|; None where nothing but rounding moves."""
        return self.drift / self.scale if self.scale > 0.0 and self.fastest > REST else None


def energy(system: System, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy, J."""
    v: Array = state.v
    if hasattr(system, "kinetic_energy"):
        kinetic = float(system.kinetic_energy(v))
    else:
        kinetic = float(0.5 * v @ np.asarray(system.mass(state.q), dtype=np.float64) @ v)
    return scalar("kinetic energy", kinetic), scalar("potential", system.potential(state.t, state.q))


def _largest(known: float, x: Array) -> float:
    """Return the largest number; NaN does not count."""
    return float(np.fmax(known, np.fmax.reduce(x)))


def _fastest(state: State) -> float:
    return float(np.abs(state.v).max(initial=0.0))
