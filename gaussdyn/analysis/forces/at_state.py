"""The verb: which reactions go with the motion at a state."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...contact.active_set import OmegaStatus, active_set
from ...contact.resolve import reactions, resolve
from ...contact.snapshot import LocalDynamics, snapshot
from ...errors import InputError
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System
from .allowed import allowed
from .reaction_set import ReactionSet

OTHERS = "The motion is the one that the solver found; `gaussdyn.outcome` says whether friction allows others."


def forces(
    system: System | Scene | LocalDynamics,
    state: State | None = None,
    *,
    level: Literal["acceleration", "velocity"] = "acceleration",
    dt: float = 0.0,
    motion: ArrayLike | None = None,
) -> ReactionSet:
    """Return all reactions that the laws allow with the motion at a state.

    Where contacts or joints are redundant the motion is unique and its reactions are not: the set holds every one,
    and gives the range of each, of sums and of any linear combination, with both ends proved.

    Parameters
    ----------
    system : System, Scene or LocalDynamics
        A scene brings its start; a snapshot is taken as it is.
    state : State, optional
    level, dt : str, float
        As of `snapshot`: forces at the acceleration, or impulses of one step.
    motion : array_like, shape (nv,), optional
        A motion that is asked for, in the place of the one that the laws give: which reactions give it? None may.

    Raises
    ------
    InputError
        A state without a motion (or whose motion is not found), a motion that constraints forbid.
    """
    given = isinstance(system, LocalDynamics)
    dynamics = system if isinstance(system, LocalDynamics) else snapshot(system, state, level=level, dt=dt)
    if given and (state is not None or level != "acceleration" or dt):
        raise InputError(
            "state, level, dt",
            "a snapshot and these",
            "either of them",
            "Leave state=, level= and dt= out: a snapshot has its own.",
        )
    status = active_set(dynamics)
    if status.status is not OmegaStatus.READY:
        mend = "Ask on the velocity level: level='velocity'."
        given_as = f"{status.status} at {', '.join(status.at_fault)}"
        raise InputError("state", given_as, "a state with an acceleration", mend)
    unit = "N" if dynamics.level == "acceleration" else "N s"
    if motion is not None:
        return ReactionSet(dynamics=dynamics, allowed=allowed(dynamics, np.asarray(motion)), unit=unit)
    solution = resolve(dynamics)
    if solution.x is None or not solution.solved:
        mend = "gaussdyn.outcome(system, state) says how many motions there are."
        raise InputError("state", f"{solution.status}: {solution.message}", "a state whose motion is known", mend)
    found = allowed(dynamics, solution.x, reactions(dynamics, solution))
    rough = any(mode in ("sticks", "slips") for mode in found.modes.values())
    return ReactionSet(dynamics=dynamics, allowed=found, unit=unit, note=OTHERS if rough else "")
