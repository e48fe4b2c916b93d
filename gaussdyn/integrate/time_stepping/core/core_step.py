"""What a step of the core says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....arrays import Array
from ....mechanics.state import State
from ....programs.solution.residuals import Residuals
from ....programs.solution.status import Status
from ...contact_modes import acting_mode
from ...stepper import Shift, Work
from ..compiled.lazy_step import WORDS, CompiledSolution, CompiledStep, put
from .records import AT, CONE, E_, FORCES, KEPT, KINETIC, LIFTED, POTENTIAL, REACTIONS

if TYPE_CHECKING:
    from ..moreau_jean import MoreauJean
    from .advance import CompiledSystem

BOOKS = (KINETIC, POTENTIAL, REACTIONS, FORCES, LIFTED)  # in the order of `Books`


class CoreStep(CompiledStep):
    """A step that the compiled step has taken; what else there is to say about it is made when it is asked for."""

    __slots__ = ()

    @staticmethod
    def made(
        stepper: MoreauJean, kernels: CompiledSystem, ends: tuple[State, State], dt: float, control: Array | None,
        p: Mapping[str, Array], modes: Mapping[str, int], log: Array,
        projected: tuple[Array | None, tuple[Shift, ...]],
    ) -> CoreStep:  # fmt: skip
        """Return the step between two states; `log` as in `records`, projected: `Step.place` and `Step.shifts`."""
        kinetic, potential, reactions, forces, lifted = log[list(BOOKS)].tolist()
        done = Work(reactions=reactions, forces=forces, projection=lifted)
        figures = Residuals(E=float(log[E_]), cone=float(log[CONE]))
        step = object.__new__(CoreStep)
        said: dict[str, Any] = {"start": ends[0], "state": ends[1], "dt": dt, "control": control, "reactions": p}
        unsettled = kernels.ids[int(log[AT]) - 1] if log[AT] > 0.0 else ""
        said |= {"unsettled": unsettled, "crowded": "", "restitution": float(log[KEPT])}
        said |= {
            "place": projected[0],
            "shifts": projected[1],
            "changes": None,
            "impacts": (),
            "arcs": (),
            "forces": {},
            "ends": "",
            "sizing": None,
        }
        said |= {"energy": (kinetic, potential), "work": done}
        said |= {"modes": {id: acting_mode(WORDS[m]) for id, m in modes.items()}, "_mode": modes}
        said |= {"_stepper": stepper, "_kernels": kernels}
        put(step, said)
        put(step, {"solution": CompiledSolution.of(step, Status.SOLVED, ends[1].v, figures)})
        return step

    def numbers(self) -> dict[str, int]:
        """Return which of `WORDS` every contact that acts has, by id."""
        return dict(self._mode)
