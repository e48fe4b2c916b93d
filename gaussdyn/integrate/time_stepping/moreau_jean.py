"""Moreau-Jean time stepping: the theta scheme on the velocity level, impacts included.

Sources: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics; Jean (1999), The non-smooth
contact dynamics method. The laws hold at the end of the step, see `scheme`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from ...arrays import EPS, Array, scalar
from ...contact.snapshot import Activation
from ...errors import InputError
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State
from ...mechanics.system import System
from ...programs.solution.residuals import TOL
from ..compiled_control import CompiledControl
from ..stepper import Control, Step, check_span, held_control
from .tolerance import Tolerance

if TYPE_CHECKING:
    from ..asked_control import Asked
    from ..stretch import Stretch
    from .compiled.free_bodies import CompiledBodies
    from .core.advance import CompiledSystem, ListedSystem
    from .core.outside.many_steps import ManySteps


IN_PAIRS = 16  # free bodies up to which dense kernels, which take many pairs in a call, cost less than sparse ones


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreauJean:
    """The theta scheme of Moreau and Jean for any `System`.

    Order 2 in smooth motion, bilateral and planar contacts included, with theta = 1/2 (order 1 where a slip turns
    its direction in space); order 1 at impacts and at changes between stick, slip and open, whose times are known to
    within a step. Coulomb's law, the contact laws and joint rates hold at the end of every step to the residual of
    the solution (at its midpoint where passes do not settle, an event: four-bars that lie flat), and no gap is
    negative and no joint open by more than 1e-10 m (or the rounding of the coordinates): positions are projected, see
    `projection`. A contact that closes within a step acts in that step.

    Parameters
    ----------
    dt : float
        Step, s; > 0. The last step is shortened to end at `t_max` exactly.
    step : Tolerance, optional
        How far a step may be off, in place of its length: pairs of steps are as long as an estimate of their error
        allows, the first pair at most dt. Default: all steps are dt long.
    theta : float
        1/2 (conserves energy) to 1 (damps); below 1/2 the scheme gains energy.
    activation : Activation
        When a gap counts as closed.
    project : bool
        Whether positions are projected. Without it closed gaps keep what is left of the step in which they closed
        (up to dt |u_N|), joints and curved contacts are off by O(dt^2) without piling up.
    tol : float
        Residual E of a contact problem that counts as solved; > 0. Steps of free bodies that are not solved to less
        are taken with 1e-10; their `E` says so.
    corrections : bool
        Whether the contact problem of a step is solved again for the end that it leads to, until nothing changes.
        Without (trees and robots only) most steps have one contact problem and take two thirds of the time: the laws
        hold at the end that is foreseen with the impulses of the last step, of the same order, see `core.solve_once`.

    Raises
    ------
    InputError
        dt <= 0, theta outside [0.5, 1], tol <= 0, NaN; a `step` that is no `Tolerance`.
    """

    dt: float = 1e-3
    theta: float = 0.5
    activation: Activation = field(default_factory=Activation)
    project: bool = True
    tol: float = TOL
    step: Tolerance | None = None
    corrections: bool = True
    name: ClassVar[str] = "moreau_jean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", scalar("dt", self.dt, low=0.0, open_low=True))
        object.__setattr__(self, "theta", scalar("theta", self.theta, low=0.5, high=1.0))
        object.__setattr__(self, "tol", scalar("tol", self.tol, low=0.0, open_low=True))
        if not isinstance(self.activation, Activation):
            raise InputError(
                "activation", repr(self.activation), "an Activation", "Write activation=Activation(gap=1e-9)."
            )
        if not (self.step is None or isinstance(self.step, Tolerance)):
            raise InputError("step", repr(self.step), "a Tolerance, or None", "Write e.g. step=Tolerance(1e-6).")
        for name in ("project", "corrections"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(name, repr(getattr(self, name)), "True or False", f"Write {name}=True.")

    def settings(self) -> dict[str, Any]:
        """Return name and settings, ready for JSON."""
        closed = {"gap": self.activation.gap, "speed": self.activation.speed}
        plain = {name: getattr(self, name) for name in ("name", "dt", "theta", "project", "tol")}
        chosen: dict[str, Any] = {} if self.step is None else {"step": self.step.settings()}
        chosen |= {} if self.corrections else {"corrections": False}
        return {**plain, "activation": closed, **chosen}

    def check(self, system: System, state: State) -> None:
        """Raise InputError unless it serves this system: without corrections it serves trees only."""
        if not self.corrections:
            self.kernels(system, state)

    def advance(self, system: System, state: State, t_max: float, *, control: Control | None = None) -> Step:
        """Return one step of length dt, or as long as the tolerance allows; shorter if it would pass `t_max`.

        Raises
        ------
        InputError
            `t_max` is not after the state; a function of the system or the control returns NaN or a wrong shape.
        """
        check_span(state, t_max)
        if self.step is not None:
            from .step_control import advance_within

            return advance_within(self, self.step, system, state, t_max, control)
        held = held_control(control, state)
        kernels = self.kernels(system, state)
        dt, t_end = kernels.span(self, state, t_max)
        return kernels.advance(self, state, dt, t_end, held)

    def advance_many(
        self, system: System, state: State, n: int, t_max: float, *, control: Control | None = None
    ) -> tuple[Stretch, ...]:  # fmt: skip
        """Take up to n steps in one call, as many as kernels take by themselves."""
        from .core.advance import CompiledSystem, ListedSystem

        law = control if isinstance(control, CompiledControl) else None
        held = held_control(control, state)
        kernels = self.kernels(system, state)
        if isinstance(kernels, ListedSystem):
            return ()
        if self.step is not None:
            if law is not None or not isinstance(kernels, CompiledSystem):
                return ()
            return kernels.advance_within(self, state, n, held, t_max)
        if law is None:
            return kernels.advance_many(self, state, n, held, t_max=t_max, whole=False).stretches
        if isinstance(kernels, CompiledSystem) and kernels.asks(law):
            from .driven_steps import driven

            return kernels.advance_many(self, state, n, driven=driven(law), t_max=t_max).stretches
        return ()

    def advance_asked(
        self, system: System, state: State, n: int, t_max: float, *, control: Asked
    ) -> tuple[Stretch, ...]:  # fmt: skip
        """Take up to n steps in one call, a control in Python asked before each, as `advance_many` does otherwise."""
        from .core.advance import CompiledSystem

        kernels = self.kernels(system, state)
        if not isinstance(kernels, CompiledSystem) or self.step is not None:
            return ()
        return kernels.advance_many(self, state, n, t_max=t_max, driven=control).stretches

    def advance_unrecorded(
        self, system: System, state: State, n: int, *, control: Control | Asked | None = None
    ) -> ManySteps | None:  # fmt: skip
        """Take up to n steps of which only states, residuals and lowest gaps are kept.

        Under the control at the state, or one that is asked before each; as many as kernels take by themselves: the
        next is left to `advance`. None for systems that Python is asked for in every step, and where a tolerance
        decides the lengths of steps.
        """
        from ..asked_control import Asked
        from .core.advance import CompiledSystem

        asked = control if isinstance(control, Asked) else None
        held = None if isinstance(control, Asked) else held_control(control, state)
        kernels = self.kernels(system, state)
        if not isinstance(kernels, CompiledSystem) or self.step is not None:
            return None
        return kernels.advance_many(self, state, n, held, record=False, driven=asked)

    def kernels(self, system: System, state: State) -> CompiledBodies | CompiledSystem | ListedSystem:
        """Return the system compiled: free bodies for sparse kernels, all others for dense ones."""
        if isinstance(system, SpatialSystem) and self.corrections and self._many(system):
            free = _sparse().of(system)
            if free is not None:
                return free
        found = _dense().of(system, state)
        if not self.corrections and not found.foresees:
            raise InputError(
                "corrections", False, "True for this system: only trees go without, told by their actuators",
                'Write MoreauJean(...) without it, or put bodies into joints: SpatialSystem(coordinates="joints").',
            )  # fmt: skip
        return found

    def _many(self, system: SpatialSystem) -> bool:
        """Return whether free bodies are so many that sparse kernels are to step them."""
        return self.step is None or len(system.bodies) > IN_PAIRS

    def dense_step(self, system: System, state: State, dt: float, t_end: float, control: Array | None) -> Step:
        """Return one step by dense kernels, which take those of free bodies that sparse ones cannot solve."""
        return _dense().of(system, state).whole(self, state, dt, t_end, control)

    def span(self, t: float, t_max: float) -> tuple[float, float]:
        """Return the length and the end of the next step: on the grid k dt where t is, and no sliver at the end."""
        k = round(t / self.dt)
        near = 1e-9 * self.dt + 8.0 * EPS * abs(t_max)
        t_end = (k + 1) * self.dt if abs(t - k * self.dt) <= near else t + self.dt
        if t_max > t_end + near:
            return self.dt, t_end
        return (self.dt if abs(t_max - t_end) <= near else t_max - t), t_max


@cache
def _sparse() -> type[CompiledBodies]:
    """Return what steps free bodies, imported with the first of them: to import again takes a twentieth of a step."""
    from .compiled.free_bodies import CompiledBodies

    return CompiledBodies


@cache
def _dense() -> type[CompiledSystem]:
    """Return what steps all others, imported with the first of them."""
    from .core.advance import CompiledSystem

    return CompiledSystem
