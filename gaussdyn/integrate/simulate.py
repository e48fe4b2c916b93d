"""The main loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ..errors import InvariantBroken
from ..mechanics.scene import Scene
from ..mechanics.state import State
from ..mechanics.system import System
from .examine import Effort, Examination, OnMultiple
from .moreau_jean import MoreauJean
from .record import ProblemFiles, Target
from .recorder import Recorder
from .stepper import Control, Step, Stepper
from .task import check_length, check_options, check_stepper, describe, task_of, versions
from .trajectory import Stop, Trajectory

Progress = Callable[[float, float], None]
OnFailure = Literal["stop", "record"]


def simulate(
    scene_or_system: Scene | System,
    state: State | None = None,
    t_end: float | None = None,
    *,
    stepper: Stepper | None = None,
    control: Control | None = None,
    save: int = 1,
    examine: Effort = "off",
    on_multiple: OnMultiple = "continue",
    on_failure: OnFailure = "stop",
    progress: Progress | None = None,
    record: Target | None = None,
) -> Trajectory:
    """Run a scene or a system from a state to a time.

    Parameters
    ----------
    scene_or_system : Scene or System
        A scene brings its own state, t_end, dt, control and columns.
    state, t_end : State, float
        Where it starts and the time at which it ends, s; a system needs both.
    stepper : Stepper, optional
        Default ``MoreauJean(dt=scene.dt)``; dt = 1e-3 s for a system.
    control : callable or Array, optional
        ``control(t, state)``, evaluated at the beginning of every step and held.
    save : int
        Every how many steps a state is saved; the first and the last always are.
    examine : str
        off, cheap or full: how the acceleration problem is examined before every step.
    on_multiple : str
        Where it has several solutions: continue (nearest to the last reactions), first, or raise (the run stops).
    on_failure : str
        stop, or record: go on with the best velocity found, and keep the status.
    progress : callable, optional
        Called as ``progress(t, t_end)`` after every step.
    record : path or (path, n), optional
        Folder for the contact problems of every step, or every n-th, as FCLib files.

    Returns
    -------
    Trajectory
        COMPLETED; or STOPPED with a reason and all that was computed before: after a step that is not SOLVED, or a
        function of the system, the control or a column that raises or returns NaN in mid-run.

    Raises
    ------
    InputError
        An argument cannot be used, or a function says NaN about the first state.
    """
    check_options(save, on_failure)
    check_stepper(stepper)
    task = task_of(scene_or_system, state, t_end, control)
    system, control = task.system, task.control
    stepper = MoreauJean(dt=task.dt) if stepper is None else stepper
    check_length(task, stepper)
    examination = Examination(effort=examine, on_multiple=on_multiple)
    files = ProblemFiles.of(record, task.name)
    settings = describe(task, stepper, save=save, examine=examine, on_multiple=on_multiple, on_failure=on_failure)
    recorder = Recorder.start(task, save)
    state, stop = task.state, None
    while state.t < task.t_end and stop is None:
        try:
            outcome = examination.outcome(system, state, control)
            if stop := examination.refuses(state.t, outcome):
                break
            step = stepper.advance(system, examination.start_of_step(state, outcome), task.t_end, control=control)
            if files is not None:
                files.add(recorder.count + 1, step)
            if stop := _failure(step, on_failure):
                break
            recorder.add(step, outcome)
            state = step.state
            if progress is not None:
                progress(state.t, task.t_end)
        except InvariantBroken:
            raise
        except (Exception, KeyboardInterrupt) as error:
            stop = Stop(t=state.t, reason=f"{type(error).__name__}: {error}")
    return recorder.finish(stop, scene=task.name, settings=settings, versions=versions())


def _failure(step: Step, on_failure: OnFailure) -> Stop | None:
    """Return why the run cannot go on after this step, if it cannot."""
    if step.solution.solved or (on_failure == "record" and step.state is not step.start):
        return None
    return Stop(t=step.start.t, reason=step.solution.explain())
