"""Viscous friction: forces -N (a, v) a in the place of nonholonomic constraints and of sticking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ...arrays import Array, scalar
from ...mechanics.state import State
from ...mechanics.system import System
from ..stepper import Control, Rebuilt, Step
from .force_laws import SpringLaw
from .stepping import Accuracy, Realized

WANTED = "constraints on the velocity, or friction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Viscous:
    """Forces -N psi d psi/dv for constraints psi(t, q, v) = 0, and friction -N u_T, at most mu r_N.

    The motion tends to the nonholonomic one, positions, velocities and reactions like 1/N, but for a layer of width
    1 / (N a.M^-1 a) at the start, in which the reaction -N psi grows from 0 (and psi decays, where the start violates
    the constraint). Source: Kozlov (2008). Joints hold rigidly; contacts need a normal force, which springs give.

    Parameters
    ----------
    stiffness : float
        N, in N s/m.
    normal : float
        Stiffness of the normal springs of contacts, N/m; 0 takes `stiffness`.
    damping : float
        Of those springs, as a share of the critical one.
    dt : float
        Step, s: at its ends states are seen; within it the integration is adaptive.
    method, rtol, atol, max_steps
        See `Accuracy`.

    Raises
    ------
    InputError
        Numbers out of range, NaN, an unknown method.
    """

    stiffness: float = 1e4
    normal: float = 0.0
    damping: float = 0.0
    dt: float = 1e-3
    method: str = "auto"
    rtol: float = 1e-10
    atol: float = 1e-12
    max_steps: int = 200_000
    name: ClassVar[str] = "viscous"

    def __post_init__(self) -> None:
        for key in ("stiffness", "dt"):
            object.__setattr__(self, key, scalar(key, getattr(self, key), low=0.0, open_low=True))
        object.__setattr__(self, "normal", scalar("normal", self.normal, low=0.0))
        object.__setattr__(self, "damping", scalar("damping", self.damping, low=0.0, high=10.0))
        self._accuracy()

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return one step of length dt, or shorter if it would pass `t_max`."""
        return self.realized().advance(system, state, t_max, control)

    def rebuild(self, system: System, start: State, state: State, dt: float, control: Array | None) -> Rebuilt:
        """Return the step from `start` again."""
        return self.realized().rebuild(system, start, state, dt, control)

    def check(self, system: System, state: State) -> None:
        """Raise InputError where viscous friction does not stand for the constraints."""
        self.realized().check(system, state, WANTED)

    def outputs(self, system: System) -> dict[str, tuple[str, Callable[[State], float]]]:
        """Return the column ``spring_energy``, J: `energy` of a run is that of the bodies, without the springs."""
        return self.realized().outputs(system)

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON."""
        own = {key: getattr(self, key) for key in ("stiffness", "normal", "damping", "dt")}
        return {"name": self.name, **own, **self._accuracy().settings()}

    def realized(self) -> Realized:
        """Return the law and how it is integrated."""
        law = SpringLaw(
            stiffness=self.normal or self.stiffness, damping=self.damping, viscosity=self.stiffness, soft_joints=False
        )
        return Realized(name=self.name, law=law, dt=self.dt, stiffness=self.stiffness, accuracy=self._accuracy())

    def _accuracy(self) -> Accuracy:
        return Accuracy(method=self.method, rtol=self.rtol, atol=self.atol, max_steps=self.max_steps)
