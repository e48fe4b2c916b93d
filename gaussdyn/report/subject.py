"""What a report is about: the scene or the system that was run, as far as it is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..integrate.run.hdf5 import plain
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from ..mechanics.state import State
from ..mechanics.system import System, check_is_system
from ..scenes import catalogue

CONTROL = re.compile(r"control\d+")


def subject(run: Trajectory, given: Scene | System | None = None) -> Scene | None:
    """Return what was run as a scene: the one that is given, else with the system that the run knows or names.

    A run knows its system until it is written to a file; scenes of the catalogue are built again from their parameters.
    None where neither is known.

    Raises
    ------
    InputError
        What is given is neither a scene nor a system, or its sizes are not those of the run.
    """
    scene = given if isinstance(given, Scene) else _catalogued(run)
    system = run.system if given is None else scene.system if scene is given and scene is not None else given
    if system is None or isinstance(system, Scene):
        return scene
    check_is_system("scene", system)
    sizes, here = (run.q.shape[1], run.v.shape[1]), (system.nq, system.nv)
    if here != sizes:
        raise InputError(
            "scene",
            f"(nq, nv) = {here}",
            f"{sizes}, as in the run",
            "Give the system that was run: system=build(NAME, ...).system.",
        )
    if scene is not None and (scene.system is system or given is None):
        return scene
    return Scene(
        name=run.scene, title=run.scene, source="", system=system, state=run.state(0), t_end=run.t_reached,
        dt=max(float(run.steps.dt.max(initial=0.0)), 1e-12), control=_control(run),
    )  # fmt: skip


def is_catalogued(scene: Scene | None) -> bool:
    """Whether the command line knows the scene by its name."""
    return scene is not None and scene.name in catalogue.names()


def _control(run: Trajectory) -> Callable[[float, State], Array] | None:
    """Return the control as the run kept it, at the beginning of the steps that end in saved states; None without."""
    names = [name for name in run.names if CONTROL.fullmatch(name)]
    table = np.column_stack([run[name] for name in names]) if names else np.zeros((len(run), 0))

    def held(t: float, state: State) -> Array:
        """Return the control of the step that begins at t, or is the next of which it was kept."""
        found: Array = table[min(int(np.searchsorted(run.t, t, side="right")), len(run) - 1)]
        return found

    return held if names else None


def _catalogued(run: Trajectory) -> Scene | None:
    """Return the scene of the catalogue that was run, None if it was another system."""
    if run.scene not in catalogue.names():
        return None
    try:
        scene = catalogue.build(run.scene, **run.params)
    except InputError:
        return None
    said = json.loads(json.dumps(run.settings.get("system"), default=plain))
    return scene if json.loads(json.dumps(scene.system.spec(), default=plain)) == said else None
