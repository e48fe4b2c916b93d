"""The energy of a run, and the work that changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, scalar
from ..mechanics.state import State
from ..mechanics.system import System

REST = 1e-12  # m/s, rad/s: velocities up to this are rounding, and energies made of them have no relative error


class Books(NamedTuple):
    """Energies at the end of n steps and the work over each, J, shape (n,); see `stepper.Work`."""

    kinetic: Array
    potential: Array
    reactions: Array
    forces: Array
    projection: Array


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

    def enter(self, books: Books, fastest: Array) -> tuple[Array, ...]:
        """Enter n > 0 steps, and the largest |velocity| at the end of each.

        Returns work done since the start up to the end of each, by reactions, forces and projection, and the error.
        """
        started = zip((self.reactions, self.forces, self.projection), books[2:], strict=True)
        work = tuple(np.add.accumulate(np.concatenate([[x], more]))[1:] for x, more in started)
        energies = books.kinetic + books.potential
        errors = energies - sum(self.initial) - (work[0] + work[1] + work[2])
        self.kinetic, self.potential = float(books.kinetic[-1]), float(books.potential[-1])
        self.reactions, self.forces, self.projection = (float(x[-1]) for x in work)
        self.drift = _largest(self.drift, np.abs(errors))
        self.scale = _largest(self.scale, books.kinetic + np.abs(books.potential - self.initial[1]))
        self.fastest = _largest(self.fastest, fastest)
        return *work, errors

    @property
    def drift_rel(self) -> float | None:
        """Largest |error| over the largest kinetic + |potential - initial|; None where nothing but rounding moves."""
        return self.drift / self.scale if self.scale > 0.0 and self.fastest > REST else None


def energy(system: System, state: State) -> tuple[float, float]:
    """Return kinetic and potential energy, J."""
    v: Array = state.v
    own = getattr(system, "kinetic_energy", None)
    if own is not None:
        kinetic = float(own(v))
    else:
        kinetic = float(0.5 * v @ np.asarray(system.mass(state.q), dtype=np.float64) @ v)
    return scalar("kinetic energy", kinetic), scalar("potential", system.potential(state.t, state.q))


def _largest(known: float, x: Array) -> float:
    """Return the largest number; NaN does not count."""
    return float(np.fmax(known, np.fmax.reduce(x)))


def _fastest(state: State) -> float:
    return float(np.abs(state.v).max(initial=0.0))
