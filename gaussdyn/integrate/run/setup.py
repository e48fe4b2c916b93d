"""What a run is asked to do, checked before any work."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from ..._version import __version__
from ...arrays import scalar, vector
from ...errors import InputError
from ...mechanics.initial.consistent_state import check_initial
from ...mechanics.initial.overlap import check_apart, overlaps, pushed_apart
from ...mechanics.scene import Scene
from ...mechanics.state import State
from ...mechanics.system import System, check_is_system
from ...mends import one_of
from ..stepper import Control, Stepper
from ..time_stepping.moreau_jean import MoreauJean
from ..time_stepping.scheme import ALLOWED

Outputs = Mapping[str, tuple[str, Callable[[State], float]]]
MAX_STEPS = 1e9  # days of computing, and far fewer than the steps that still change t
WORKS = ("work_reactions", "work_forces", "work_projection")
OFF = 1e-6  # that coordinates may be off what they should be, relative; as in `unit_quaternion`
RESERVED = ("t", "kinetic", "potential", "energy", *WORKS, "energy_error", "E")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunSetup:
    """A system, where it starts, and when it ends.

    Attributes
    ----------
    name : str
        Of the scene, or of the system's class.
    system : System
    state : State
    t_end, dt : float
        End and default step, s.
    control : callable, Array or None
    outputs : mapping
        Extra columns: name -> (unit, function of a state).
    params : mapping of str to float
    """

    name: str
    system: System
    state: State
    t_end: float
    dt: float = 1e-3
    control: Control | None = None
    outputs: Outputs = field(default_factory=dict)
    params: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vector("q of the state", self.state.q, self.system.nq)
        vector("v of the state", self.state.v, self.system.nv)
        _check_place(self.system, self.state)
        t_end = scalar("t_end", self.t_end)
        if t_end < self.state.t:
            raise InputError(
                "t_end", t_end, f"a time >= the state's t = {self.state.t:g} s", f"Write t_end={self.state.t + 1.0:g}."
            )
        object.__setattr__(self, "t_end", t_end)
        taken = sorted(set(self.outputs) & set(RESERVED))
        if taken:
            raise InputError(
                "columns",
                ", ".join(taken),
                "names that the trajectory does not use itself",
                f'Write columns={{"my_{taken[0]}": ...}}.',
            )


def _check_place(system: System, state: State) -> None:
    """Raise InputError for coordinates that change where nothing moves: quaternions whose length is not one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        stays = np.asarray(system.move(state.q, np.zeros(system.nv), 0.0))
    if stays.shape != state.q.shape:
        return  # `vector` says so when the first step asks for it
    wrong = np.flatnonzero(~(np.abs(stays - state.q) <= OFF * np.maximum(np.abs(state.q), 1.0)))
    if len(wrong):
        k = int(wrong[0])
        mend = "Build the state with system.state(...), or with quaternions of length one (no turn: 1, 0, 0, 0)."
        raise InputError("q of the state", f"{state.q[k]:g} at index ({k},)", f"{stays[k]:g} there, by `move`", mend)


def setup_of(
    scene_or_system: Scene | System, state: State | None, t_end: float | None, control: Control | None
) -> RunSetup:  # fmt: skip
    """Return the setup; what is not given is taken from the scene.

    Raises
    ------
    InputError
        Neither a scene nor a system, or a system without state or t_end.
    """
    if isinstance(scene_or_system, Scene):
        scene = scene_or_system
        given: object = state
        if not (given is None or isinstance(given, State)):
            time = isinstance(given, int | float)
            mend = f"Write simulate(scene, t_end={given!r})." if time else "Leave it out: state=None."
            raise InputError("state", repr(given), "a State, or None for that of the scene", mend)
        return RunSetup(
            name=scene.name,
            system=scene.system,
            state=scene.state if state is None else state,
            t_end=scene.t_end if t_end is None else t_end,
            dt=scene.dt,
            control=scene.control if control is None else control,
            outputs=scene.columns,
            params=scene.params,
        )
    name = type(scene_or_system).__name__
    check_is_system("scene_or_system", scene_or_system)
    if not isinstance(state, State) or t_end is None:
        raise InputError(
            "state, t_end",
            (state, t_end),
            "a State and a time in s",
            "Write simulate(system, State(q=[...], v=[...]), 1.0): only a scene brings its own.",
        )
    activations = getattr(scene_or_system, "activations", None)
    if control is None and activations is not None:
        control = np.zeros(len(activations.actuators))  # every step tells them zero, and shows it
    return RunSetup(name=name, system=scene_or_system, state=state, t_end=t_end, control=control)


def with_outputs(setup: RunSetup, stepper: Stepper) -> RunSetup:
    """Return the setup with the columns that only the runs of such a stepper have."""
    own = getattr(stepper, "outputs", None)
    return setup if own is None else replace(setup, outputs={**own(setup.system), **setup.outputs})


def placed(setup: RunSetup, stepper: Stepper, project: bool) -> RunSetup:
    """Return the setup with a state that its joints hold, and in which no bodies overlap.

    Steppers that do not keep positions to 1e-10 m may start from what they leave: for them nothing is looked at.

    Raises
    ------
    InputError
        Violated joints or bodies that overlap, unless `project`; with it, if there is no such state nearby.
    """
    if not (project or getattr(stepper, "project", False)):
        return setup
    state = check_initial(setup.system, setup.state, project=project)
    if project and overlaps(setup.system, state, tolerance=ALLOWED):
        state = pushed_apart(setup.system, state)
    check_apart(setup.system, state, tolerance=ALLOWED)
    return setup if state is setup.state else replace(setup, state=state)


def check_options(
    save: int, on_failure: str, on_interrupt: str, progress: object, project: object, watch: object = None
) -> None:
    """Raise InputError for one of these options of `simulate` that is not allowed."""
    if watch is not None and not callable(watch):
        raise InputError(
            "watch",
            repr(watch),
            "a function of a function that returns the run so far, or None",
            "Write watch=lambda so_far: None.",
        )
    if progress is not None and not callable(progress):
        raise InputError(
            "progress", repr(progress), "a function of (t, t_end), or None", "Write progress=lambda t, t_end: print(t)."
        )
    if not isinstance(project, bool):
        raise InputError("project", repr(project), "True or False", "Write project=True.")
    if isinstance(save, bool) or not isinstance(save, int) or save < 1:
        raise InputError("save", save, "an integer >= 1", "Write save=1.")
    if on_failure not in ("stop", "record"):
        raise InputError(
            "on_failure", repr(on_failure), "stop, record", one_of("on_failure", on_failure, ("stop", "record"))
        )
    if on_interrupt not in ("raise", "return"):
        raise InputError(
            "on_interrupt",
            repr(on_interrupt),
            "raise, return",
            one_of("on_interrupt", on_interrupt, ("raise", "return")),
        )


def check_length(setup: RunSetup, stepper: Stepper) -> None:
    """Raise InputError where a fixed step is too short for the time to be covered."""
    dt = stepper.settings().get("dt")
    span = setup.t_end - setup.state.t
    if dt is not None and span > MAX_STEPS * dt:
        raise InputError(
            "dt", dt, f">= {span / MAX_STEPS:.3g} s for a run of {span:g} s", f"Write dt={span / MAX_STEPS:.3g}."
        )


def check_applies(setup: RunSetup, stepper: Stepper) -> None:
    """Raise InputError where a stepper that does not serve every system says that it does not serve this one."""
    check = getattr(stepper, "check", None)
    if check is not None:
        check(setup.system, setup.state)


def chosen_stepper(stepper: Stepper | None, setup: RunSetup) -> Stepper:
    """Return the stepper that is given, or the one that runs take by themselves, at the step of the scene."""
    return MoreauJean(dt=setup.dt) if stepper is None else stepper


def check_stepper(stepper: object) -> None:
    """Raise InputError unless this is a stepper (None takes the default)."""
    if stepper is not None and (isinstance(stepper, type) or not hasattr(stepper, "advance")):
        raise InputError("stepper", repr(stepper), "a stepper, or None", "Write e.g. MoreauJean(dt=1e-3).")


def describe(setup: RunSetup, stepper: Stepper, **options: Any) -> dict[str, Any]:
    """Return all settings of a run, ready for JSON; for springs also what the start puts into vibration."""
    vibrates = getattr(stepper, "fast_energy", None)
    start = {} if vibrates is None else {"fast_energy_J": vibrates(setup.system, setup.state, control=setup.control)}
    return {
        "scene": setup.name,
        "params": {key: float(value) for key, value in setup.params.items()},
        "system": setup.system.spec(),
        "stepper": stepper.settings(),
        "start": setup.state.digest(),
        **start,
        "t_end": setup.t_end,
        "control": setup.control is not None,
        **options,
    }


def versions() -> dict[str, str]:
    """Return the versions of the package and of what its numbers depend on."""
    return {"gaussdyn": __version__, "python": platform.python_version(), "machine": platform.machine(), **_libraries()}


@cache
def _libraries() -> dict[str, str]:
    """Return the versions of the libraries; looking them up reads a file for each."""
    return {name: version(name) for name in ("numpy", "scipy", "numba", "h5py")}
