"""Constraints realized by springs: strong forces -N dW/dx in the place of holonomic and unilateral constraints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...arrays import Array, scalar
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Control, Rebuilt, Step
from .force_laws import SpringLaw, checked_weights
from .slow_manifold import fast_energy
from .stepping import Accuracy, Realized

WANTED = "constraints on the position (joints, strings, contacts), or dry friction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalty:
    """Springs N W(q), W = 1/2 sum weight gap^2, over bilateral rows and over one-sided rows that are violated.

    A spring that holds a force r is out by r / N, so that from a start on the slow manifold positions, velocities and
    reactions differ from the rigid motion by O(1/N) as long as the constraints stay regular and contacts neither open
    nor close. A start on the constraints themselves leaves a vibration of amplitude r / N: its force does not fall with
    N, its velocity falls like N^-1/2 and its energy like 1/N; a velocity across the constraints stays in vibration
    whatever N. A run says how much at its start (``settings["fast_energy_J"]``). At an impact the energy goes into the
    spring and, without damping, comes back: only a restitution of 1 is the limit then. Friction is a tangential spring
    that slips at mu r_N (its length is kept in the state's memory); sticking contacts give way by r_T / k_T.
    Constraints on the velocity have no potential and hold rigidly.

    Parameters
    ----------
    stiffness : float
        N, in N/m of a spring.
    damping : float
        Share of the critical damping of every spring, 0 for none.
    tangential : float
        Stiffness of the slipping springs over that of the normal ones.
    weights : mapping of str to float
        Factors of the stiffness by row id, 1 for the others.
    dt : float
        Step, s: at its ends states are seen; within it the integration is adaptive.
    method, rtol, atol, max_steps
        See `Accuracy`.

    Raises
    ------
    InputError
        Numbers out of range, NaN, an unknown method.
    """

    stiffness: float = 1e6
    damping: float = 0.0
    tangential: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)
    dt: float = 1e-3
    method: str = "auto"
    rtol: float = 1e-10
    atol: float = 1e-12
    max_steps: int = 200_000
    name: ClassVar[str] = "penalty"

    def __post_init__(self) -> None:
        for key in ("stiffness", "tangential", "dt"):
            object.__setattr__(self, key, scalar(key, getattr(self, key), low=0.0, open_low=True))
        object.__setattr__(self, "damping", scalar("damping", self.damping, low=0.0, high=10.0))
        object.__setattr__(self, "weights", checked_weights(self.weights))
        self._accuracy()

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return one step of length dt, or shorter if it would pass `t_max`."""
        return self.realized().advance(system, state, t_max, control)

    def rebuild(self, system: System, start: State, state: State, dt: float, control: Array | None) -> Rebuilt:
        """Return the step from `start` again."""
        return self.realized().rebuild(system, start, state, dt, control)

    def check(self, system: System, state: State) -> None:
        """Raise InputError where springs do not stand for the constraints, or are too stiff for the coordinates."""
        self.realized().check(system, state, WANTED)

    def fast_energy(self, system: System, state: State, *, control: Control | None = None) -> float | None:
        """Return the energy of the vibration in which a motion from a state stays, J; None where it is not defined."""

        found = fast_energy(system, state, self, control=control)
        return found if math.isfinite(found) else None

    def outputs(self, system: System) -> dict[str, tuple[str, Callable[[State], float]]]:
        """Return the column ``spring_energy``, J: `energy` of a run is that of the bodies, without the springs."""
        return self.realized().outputs(system)

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON."""
        own = {key: getattr(self, key) for key in ("stiffness", "damping", "tangential", "dt")}
        return {"name": self.name, **own, "weights": dict(self.weights), **self._accuracy().settings()}

    def realized(self) -> Realized:
        """Return the law and how it is integrated."""
        law = SpringLaw(
            stiffness=self.stiffness, damping=self.damping, weights=self.weights,
            slip_stiffness=self.tangential * self.stiffness,
        )  # fmt: skip
        return Realized(
            name=self.name, law=law, dt=self.dt, stiffness=self.stiffness, accuracy=self._accuracy()
        )  # fmt: skip

    def _accuracy(self) -> Accuracy:
        return Accuracy(method=self.method, rtol=self.rtol, atol=self.atol, max_steps=self.max_steps)
