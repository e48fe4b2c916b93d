"""What a step of the core says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....arrays import Array
from ....mechanics.state import State
from ...stepper import Shift, Work
from ..compiled.lazy_step import CompiledStep, put
from .records import AT, CONE, E_, FORCES, KEPT, KINETIC, LIFTED, POTENTIAL, REACTIONS

if TYPE_CHECKING:
    from ..moreau_jean import MoreauJean
    from .advance import CompiledSystem

NOTHING: dict[str, Any] = {"changes": None, "impacts": (), "arcs": (), "ends": "", "sizing": None}
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
        kinetic, potential, reactions, forces, lifted, E, cone, at, share = log[[*BOOKS, E_, CONE, AT, KEPT]].tolist()
        step = object.__new__(CoreStep)
        said: dict[str, Any] = {"start": ends[0], "state": ends[1], "dt": dt, "control": control, "reactions": p}
        said["unsettled"], said["crowded"] = kernels.ids[int(at) - 1] if at > 0.0 else "", ""
        said["restitution"], (said["place"], said["shifts"]) = share, projected
        said["energy"] = kinetic, potential
        said["work"] = Work(reactions=reactions, forces=forces, projection=lifted)
        said |= {"_figures": (E, cone, share), "_mode": modes, "_stepper": stepper, "_kernels": kernels}
        put(step, NOTHING | {"forces": {}})
        put(step, said)
        return step

    def numbers(self) -> dict[str, int]:
        """Return which of `WORDS` every contact that acts has, by id."""
        return dict(self._mode)
