"""The main loop."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import InvariantBroken, raised_in
from ..mechanics.scene import Scene
from ..mechanics.state import State
from ..mechanics.system import System
from .archive import Archive
from .examine import Effort, Examination, Finding, OnMultiple
from .interrupts import Interrupts
from .moreau_jean import MoreauJean
from .proofs import NONE
from .record import ProblemFiles, Target
from .recorder import Recorder
from .resume import check_same, complete
from .stepper import Control, Step, Stepper, held_control
from .task import Task, check_applies, check_length, check_options, check_stepper, describe, placed, task_of, versions
from .trajectory import Stop, Trajectory

if TYPE_CHECKING:
    from .compiled_answer import ManySteps

MOST_AT_ONCE = 256  # steps between two looks at the clock
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
    examine: Effort | None = None,
    on_multiple: OnMultiple = "continue",
    on_failure: OnFailure = "stop",
    progress: Progress | None = None,
    record: Target | None = None,
    out: str | os.PathLike[str] | None = None,
    chunk: int | None = None,
    resume: bool = False,
    project: bool = False,
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
        Every how many steps a state is saved; the first and the last always are. Where `MoreauJean` takes compiled
        steps it takes many at once in between, as long as no contact opens, closes, sticks or slips.
    examine : str, optional
        off, cheap or full: how the acceleration problem is examined before every step. Default: off, and cheap where
        `on_multiple` asks for something, which it cannot know of without.
    on_multiple : str
        Where it has several solutions: continue (nearest to the last reactions), first, or raise (the run stops).
    on_failure : str
        stop, or record: go on with the best velocity found, and keep the status.
    progress : callable, optional
        Called as ``progress(t, t_end)`` after every step, or after all that were taken at once.
    record : path or (path, n), optional
        Folder for the contact problems of every step, or every n-th, as FCLib files.
    out : path, optional
        Write the run there as HDF5, chunk by chunk: killed at any moment it loses at most one chunk, and
        ``Trajectory.load(out)`` gives what is there. What was written does not stay in memory during the run.
    chunk : int, optional
        Steps per chunk; default: as many as fit into 5 s.
    resume : bool
        Go on with the run in `out` where it ended, bit for bit as if it had not; a control must be the same function
        of time and state. A completed run is returned, or goes on to a later `t_end`; without a run in `out` it begins.
    project : bool
        Mend the first state: joints that it violates are closed, bodies that overlap are pushed apart.

    Returns
    -------
    Trajectory
        COMPLETED; or STOPPED with a reason and all that was computed before: after a step that is not SOLVED, or a
        function of the system, the control or a column that raises or returns NaN in mid-run, or an interrupt.

    Raises
    ------
    InputError
        An argument cannot be used, a function says NaN about the first state, joints contradict it or bodies overlap
        in it (unless `project`), `out` cannot be written, or a run that shall be resumed was begun with other
        settings.
    SceneError
        A run that shall be resumed cannot be read.
    """
    check_options(save, on_failure, progress, project)
    check_stepper(stepper)
    task = task_of(scene_or_system, state, t_end, control)
    stepper = MoreauJean(dt=task.dt) if stepper is None else stepper
    check_length(task, stepper)
    check_applies(task, stepper)
    task = placed(task, stepper, project)
    examination = Examination.of(examine, on_multiple)
    loop = Loop(
        task=task, stepper=stepper, examination=examination,
        files=ProblemFiles.of(record, task.name), on_failure=on_failure, progress=progress,
    )  # fmt: skip
    asked = {"save": save, "examine": examination.effort, "on_multiple": on_multiple, "on_failure": on_failure}
    settings = describe(task, stepper, **asked)
    recorder = Recorder.start(task, save, {"scene": task.name, "settings": settings, "versions": versions()})
    archive = Archive.of(out, chunk, resume)
    with Interrupts() as interrupts:
        if archive is None:
            return recorder.trajectory(loop.run(recorder, task.state, interrupts))
        return _archived(loop, recorder, archive, interrupts)


def _archived(loop: Loop, recorder: Recorder, archive: Archive, interrupts: Interrupts) -> Trajectory:
    """Begin or go on with a run on disk, and return all of it."""
    try:
        state, earlier = loop.task.state, archive.take_earlier()
        if earlier is not None:
            check_same(earlier, recorder.about["settings"], recorder.about["versions"])
            if complete(earlier, loop.task.t_end):
                return earlier
            state = recorder.go_on(earlier)
        archive.begin(recorder)
        del earlier  # it is on disk, and may be large
        stop = loop.run(recorder, state, interrupts, archive)
        return archive.finish(recorder, stop)
    finally:
        archive.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What is done in every step of a run."""

    task: Task
    stepper: Stepper
    examination: Examination
    files: ProblemFiles | None
    on_failure: OnFailure
    progress: Progress | None

    def run(
        self, recorder: Recorder, state: State, interrupts: Interrupts, archive: Archive | None = None
    ) -> Stop | None:  # fmt: skip
        """Advance to the end, and return why it did not get there if it did not."""
        while state.t < self.task.t_end:
            try:
                interrupts.allow()
                many = self._many(recorder, state, archive)
                one = self._step(recorder, state, interrupts) if many is None else None
                interrupts.hold()
                if many is not None:
                    recorder.add_many(many)
                if one is not None:
                    recorder.add(*one)
                state = recorder.final
                if archive is not None:
                    archive.keep(recorder)
                if self.progress is not None:
                    self.progress(state.t, self.task.t_end)
                if one is not None and one[0].ends:
                    return Stop(t=state.t, reason=one[0].ends)
            except InvariantBroken:
                raise
            except _Stopped as stopped:
                return stopped.stop
            except (Exception, KeyboardInterrupt) as error:
                return Stop(t=state.t, reason=f"{type(error).__name__}: {error}{raised_in(error)}")
            finally:
                interrupts.hold()
        return None

    def _many(self, recorder: Recorder, state: State, archive: Archive | None) -> ManySteps | None:
        """Return steps that kernels have taken up to the next one to be saved, or that changed a contact; None if none.

        A control that depends on the state, examinations and files need to see every step.
        """
        task, stepper = self.task, self.stepper
        room = archive.room(recorder) if archive is not None else None
        n = min(MOST_AT_ONCE, recorder.save - recorder.count % recorder.save, MOST_AT_ONCE if room is None else room)
        seen = self.files is not None or self.examination.effort != "off" or callable(task.control)
        if n < 2 or seen or not isinstance(stepper, MoreauJean):
            return None
        kernels = stepper.kernels(task.system)
        if kernels is None:
            return None
        held = held_control(task.control, state)
        many = kernels.advance_many(stepper, state, n, held, t_max=task.t_end, whole=False)
        return many if many.taken else None

    def _step(self, recorder: Recorder, state: State, interrupts: Interrupts) -> tuple[Step, Finding]:
        """Examine the state and advance from it; libraries that write files may swallow an interrupt.

        Raises
        ------
        _Stopped
            The run shall not go on.
        """
        task = self.task
        found = self.examination.look(task.system, state, task.control)
        recorder.proofs.see(task.system, state, task.control, found.outcome)
        if stop := self.examination.refuses(state.t, found.outcome):
            raise _Stopped(stop)
        start = self.examination.start_of_step(state, found.outcome)
        step = self.stepper.advance(task.system, start, task.t_end, control=task.control)
        if self.files is not None:
            interrupts.hold()
            self.files.add(recorder.count + 1, step)
        if not (step.solution.solved or (self.on_failure == "record" and step.state is not step.start)):
            recorder.proofs.add(step.start.t, NONE, step.solution.certificate)
            raise _Stopped(Stop(t=step.start.t, reason=step.solution.explain()))
        return step, found


class _Stopped(Exception):
    """Carries why a run ends early out of its step."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.reason)
        self.stop = stop
