"""A run in a file, and the scene of the catalogue that it is of."""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError
from ..app import readable

if TYPE_CHECKING:
    from ...integrate.run.trajectory import Trajectory
    from ...mechanics.scene import Scene


def recorded_run(argument: str, target: str, params: Sized | None) -> tuple[Trajectory, Scene]:
    """Return a recorded run and its scene, with the parameters that the run has.

    Parameters
    ----------
    argument : str
        What the command calls the file.
    target : str
        Its path.
    params : sized, optional
        What was set for a scene: nothing may be.

    Raises
    ------
    InputError
        No such file, a run whose scene is not in the catalogue, or parameters for a run.
    """
    from ...integrate.run.trajectory import Trajectory
    from ...scenes import catalogue

    if params:
        raise InputError(
            "--set", target, "nothing of the kind for a run", "It has its own: leave --set and --param out."
        )
    run = Trajectory.load(readable(argument, Path(target)))
    if run.scene not in catalogue.names():
        listed = "a run of a scene that `gaussdyn scenes` lists"
        raise InputError("RUN", repr(run.scene), listed, "Make one: gaussdyn run table --out run.h5.")
    return run, catalogue.build(run.scene, **run.params)
