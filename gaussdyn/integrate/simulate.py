"""The main loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..arrays import Array
from ..errors import PRESSED, Interrupted, InvariantBroken, interrupts, raised_in
from ..mechanics.scene import Scene
from ..mechanics.state import State
from ..mechanics.system import System
from .actuator_states import check_states, told_at
from .asked_control import Asked
from .compiled_control import CompiledControl
from .run.certificate_log import NONE
from .run.checkpoints import Archive
from .run.checkpoints import check_options as check_place
from .run.interrupts import Interrupts
from .run.problem_files import ProblemFiles, Target
from .run.recorder import Recorder
from .run.resume import check_same, complete
from .run.setup import (
    RunSetup,
    check_applies,
    check_length,
    check_options,
    check_stepper,
    chosen_stepper,
    describe,
    placed,
    setup_of,
    versions,
    with_outputs,
)
from .run.trajectory import INTERRUPT, Trajectory
from .run.uniqueness_checks import Effort, Examination, Finding, OnMultiple
from .run.values import Stop
from .stepper import Control, Step, Stepper, for_run
from .stretch import MOMENT, Stretch

MOST_AT_ONCE = 256  # steps between two looks at the clock
Progress = Callable[[float, float], None]
Watch = Callable[[Callable[[], Trajectory]], None]
Examined = tuple[Stretch, list[Finding]]  # steps, and what is found where each of them begins
OnFailure = Literal["stop", "record"]
OnInterrupt = Literal["raise", "return"]


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
    on_interrupt: OnInterrupt = "raise",
    progress: Progress | None = None,
    watch: Watch | None = None,
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
        ``control(t, state)``, evaluated at the beginning of every step and held; a `CompiledControl` costs no Python.
    save : int
        Every how many steps a state is saved; the first and the last always are. A stepper that can takes many steps
        at once, saved or not.
    examine : str, optional
        off, start, cheap or full: how the acceleration problem is examined before every step; start: before the first
        one only, up to 8 contacts. Default: start, and cheap where `on_multiple` asks for something, which it cannot
        know of without. Where a run that begins so takes one of several motions an event ``chosen`` says so.
    on_multiple : str
        Where it has several solutions: continue (nearest to the last reactions), first, or raise (the run stops).
    on_failure : str
        stop, or record: go on with the best velocity found, and keep the status.
    on_interrupt : str
        What Ctrl-C does once the run is stored (the first one; another one comes through then, a third at once): raise
        ends the program or the cell, return gives back the run as STOPPED, so that a loop over runs goes on. Before
        the first step it waits until the start is examined, and the run has no step; a second one does not wait.
    progress : callable, optional
        Called as ``progress(t, t_end)`` after every step, or after all that were taken at once.
    watch : callable, optional
        Called as ``watch(so_far)`` at the start, and after every step or all that were taken at once: ``so_far()`` is
        the run up to there, or with `out` what is not written yet, and takes time where it is long.
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
        function of the system, the control or a column that raises or returns NaN in mid-run, or Ctrl-C
        (`on_interrupt`).

    Raises
    ------
    InputError
        An argument cannot be used, a function says NaN about the first state, joints contradict it or bodies overlap
        in it (unless `project`), `out` cannot be written, or a run that shall be resumed was begun with other
        settings.
    SceneError
        A run that shall be resumed cannot be read.
    KeyboardInterrupt
        Ctrl-C, unless `on_interrupt` is return; as `errors.Interrupted` its attribute ``trajectory`` is the run up to
        there (``sys.last_value.trajectory`` in a notebook), which is in `out`, too. Without that attribute: a second
        Ctrl-C before the first step, when there is no run yet.
    """
    check_options(save, on_failure, on_interrupt, progress, project, watch)
    check_place(out, chunk, resume)
    check_stepper(stepper)
    with Interrupts() as keyboard:
        keyboard.hold()  # one that comes before the first step ends it: then there is a run that says so
        setup = setup_of(scene_or_system, state, t_end, control)
        stepper = chosen_stepper(stepper, setup)
        check_length(setup, stepper)
        check_applies(setup, stepper)
        check_states(setup.system, stepper)
        setup = with_outputs(placed(setup, stepper, project), stepper)
        examination = Examination.of(examine, on_multiple)
        examination.check_size(setup.system)
        loop = Loop(
            setup=setup, stepper=for_run(stepper), examination=examination,
            files=ProblemFiles.of(record, setup.name), on_failure=on_failure, progress=progress,
            watch=watch,
        )  # fmt: skip
        asked = {"save": save, "examine": examination.effort, "on_multiple": on_multiple, "on_failure": on_failure}
        settings = describe(setup, stepper, **asked)
        about = {"scene": setup.name, "settings": settings, "versions": versions(), "system": setup.system}
        recorder = Recorder.start(setup, save, about)
        archive = Archive.of(out, chunk, resume)
        if archive is None:
            run = recorder.trajectory(loop.run(recorder, keyboard))
        else:
            run = _archived(loop, recorder, archive, keyboard)
        if keyboard.pending or (run.interrupted and on_interrupt == "raise"):
            keyboard.pending = False
            raise Interrupted(_kept(run, out), run)
    return run


def _kept(run: Trajectory, out: str | os.PathLike[str] | None) -> str:
    """Return in words how far an interrupted run got, where it is, and how to go on."""
    said = f"{PRESSED} at t = {run.t_reached:g} s of {run.settings['t_end']:g} s."
    said += " The run up to there: `trajectory` of this exception (sys.last_value.trajectory if nobody caught it)"
    said += "" if out is None else f"; it is in {os.fspath(out)}, and resume=True goes on with it"
    return said + '. To have it returned instead: on_interrupt="return".'


def _archived(loop: Loop, recorder: Recorder, archive: Archive, keyboard: Interrupts) -> Trajectory:
    """Begin or go on with a run on disk, and return all of it."""
    try:
        earlier = archive.take_earlier()
        if earlier is not None:
            check_same(earlier, recorder.about["settings"], recorder.about["versions"])
            if complete(earlier, loop.setup.t_end):
                return replace(earlier, system=loop.setup.system)
            recorder.go_on(earlier)
        archive.begin(recorder)
        del earlier  # it is on disk, and may be large
        stop = loop.run(recorder, keyboard, archive)
        return archive.finish(recorder, stop)
    finally:
        archive.release()


@dataclass(slots=True)
class Ahead:
    """How many steps are taken at once: as many as take a moment, so that keys and clocks are looked at in between.

    Attributes
    ----------
    n : int
    single : bool
        Whether the next step is one that kernels could not take by themselves.
    looking : float
        What the examination of a step took, s.
    asked : Asked or None
        A control in Python, as the last call that asked it has left it.
    """

    n: int
    single: bool = False
    looking: float = 0.0
    asked: Asked | None = None

    @property
    def told(self) -> Array | None:
        """What a control in Python has said already for the next step."""
        return None if self.asked is None else self.asked.ahead

    @property
    def error(self) -> BaseException | None:
        """What was raised after steps that are to be recorded."""
        return None if self.asked is None else self.asked.error

    def most(self, room: int | None) -> int:
        """Return how many steps are taken, of which there is room for so many."""
        n = self.n if room is None else min(self.n, room)
        return n if n * self.looking <= 2.0 * MOMENT else max(int(2.0 * MOMENT / self.looking), 1)

    def note(self, seconds: float, whole: bool) -> None:
        """Enter how long n steps took, and whether they were all taken."""
        self.single = not whole and seconds < MOMENT  # else the clock may have ended them
        if whole and seconds < 2.0 * MOMENT:
            self.n = min(2 * self.n, MOST_AT_ONCE)
        elif seconds > 4.0 * MOMENT:
            self.n = max(self.n // 2, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What is done in every step of a run."""

    setup: RunSetup
    stepper: Stepper
    examination: Examination
    files: ProblemFiles | None
    on_failure: OnFailure
    progress: Progress | None
    watch: Watch | None = None

    def run(self, recorder: Recorder, keyboard: Interrupts, archive: Archive | None = None) -> Stop | None:
        """Advance to the end, and return why it did not get there if it did not."""
        if recorder.count == 0:
            setup, rows, name = self.setup, recorder.first_rows, self.stepper.name
            recorder.first = self.examination.at_start(setup.system, recorder.final, setup.control, rows, name)
        self._look(recorder)
        ahead = Ahead(1 if self.examination.every_step else 16)
        while recorder.final.t < self.setup.t_end:
            stop = self._advance(recorder, keyboard, archive, ahead)
            if stop is not None:
                return stop
        return None

    def _advance(
        self, recorder: Recorder, keyboard: Interrupts, archive: Archive | None, ahead: Ahead
    ) -> Stop | None:  # fmt: skip
        """Take many steps at once, or one, record them, and return why the run ends there if it does."""
        recording = False
        try:
            many, one = self._taken(recorder, keyboard, archive, ahead)
            recording = True
            self._record(recorder, many, one)
            recording = False
            self._show(recorder, archive)
            if ahead.error is not None:
                raise ahead.error
            return Stop(t=recorder.final.t, reason=one[0].ends) if one is not None and one[0].ends else None
        except (Exception, KeyboardInterrupt) as error:
            keyboard.hold()
            if recording and interrupts(error):  # the second Ctrl-C in a row: what is recorded is not whole
                raise
            return self._stopped(error, recorder.final.t, keyboard)

    def _taken(
        self, recorder: Recorder, keyboard: Interrupts, archive: Archive | None, ahead: Ahead
    ) -> tuple[list[Examined], tuple[Step, Finding] | None]:  # fmt: skip
        """Return many steps that kernels have taken, or else one by itself, with what was found where they begin."""
        keyboard.allow()
        many = self._examined(recorder, self._many(recorder, keyboard, archive, ahead), ahead)
        one = self._step(recorder, keyboard, ahead) if not many else None
        keyboard.hold()
        if ahead.error is None:  # else what was before is recorded
            keyboard.check()
        return many, one

    def _record(self, recorder: Recorder, many: list[Examined], one: tuple[Step, Finding] | None) -> None:
        """Record steps, and the one after a single step where it is known already."""
        for steps, found in many:
            recorder.add(steps, found)
        if one is not None:
            recorder.add(Stretch.of_step(one[0], self.setup.system), (one[1],))
            if then := self._then(one[0]):
                recorder.add(Stretch.of_step(then, self.setup.system))

    def _show(self, recorder: Recorder, archive: Archive | None) -> None:
        """Let those who watch look at what is recorded, put it on disk, and say how far the run is."""
        self._look(recorder)
        if archive is not None:
            archive.keep(recorder)
        if self.progress is not None:
            self.progress(recorder.final.t, self.setup.t_end)

    @staticmethod
    def _stopped(error: Exception | KeyboardInterrupt, t: float, keyboard: Interrupts) -> Stop:
        """Return in words why an error ends the run at a time; raise it where the engine itself is at fault."""
        if keyboard.behind(error):
            said = str(error) if isinstance(error, KeyboardInterrupt) else PRESSED
            return Stop(t=t, reason=f"{INTERRUPT}: {said}{raised_in(error)}")
        if isinstance(error, InvariantBroken):
            raise error
        if isinstance(error, _Stopped):
            return error.stop
        return Stop(t=t, reason=f"{type(error).__name__}: {error}{raised_in(error)}")

    def _look(self, recorder: Recorder) -> None:
        """Let those who watch look at what is recorded, if there is anything that is not on disk yet."""
        if self.watch is not None and (recorder.piece.saved or recorder.last is not None):
            self.watch(recorder.so_far)

    def _examined(
        self, recorder: Recorder, many: Sequence[Stretch], ahead: Ahead
    ) -> list[Examined]:  # fmt: skip
        """Return steps with what is found where they begin, as far as that comes."""
        if not self.examination.every_step:
            return [(steps, []) for steps in many]
        looked, first = list[Examined](), recorder.final
        for steps in many:
            begun = time.monotonic()
            found = self._findings(recorder, steps, first, not looked)
            ahead.looking = (time.monotonic() - begun) / max(len(found), 1)
            if found:
                looked.append((steps if len(found) == len(steps) else steps.until(len(found)), found))
            if len(found) < len(steps):
                break
            first = steps.end
        return looked

    def _findings(self, recorder: Recorder, steps: Stretch, first: State, alone: bool) -> list[Finding]:
        """Return what is found where steps begin, of which this is the first, up to a state at which that fails."""
        found: list[Finding] = []
        try:
            for state in steps.starts(first):
                found.append(self._found(recorder, state, self.setup.control))
        except Exception:
            if alone and not found:  # else it is raised again by the next call, once what was before is recorded
                raise
        return found

    def _found(self, recorder: Recorder, state: State, control: Control | None) -> Finding:
        """Return what the acceleration problem at a state says, and prove what needs a proof."""
        found = self.examination.look(self.setup.system, state, control)
        recorder.proofs.see(self.setup.system, state, control, found.outcome)
        return found

    def _many(
        self, recorder: Recorder, keyboard: Interrupts, archive: Archive | None, ahead: Ahead
    ) -> tuple[Stretch, ...]:  # fmt: skip
        """Return steps that kernels have taken, none where the next one must be taken by itself."""
        setup, stepper, law = self.setup, self.stepper, self._followed()
        n = ahead.most(archive.room(recorder) if archive is not None else None)
        alone = ahead.single or ahead.told is not None or self._sees_every_step(law)
        ahead.single = False
        take = None if alone else getattr(stepper, "advance_many" if law is None else "advance_asked", None)
        if take is None:
            return ()
        begun = time.monotonic()
        ahead.asked = None if law is None else Asked(law, setup.system, stepper, keyboard.check)
        control = setup.control if ahead.asked is None else ahead.asked
        found: tuple[Stretch, ...] = take(setup.system, recorder.final, n, setup.t_end, control=control)
        ahead.note(time.monotonic() - begun, whole=sum(map(len, found)) >= n)
        return found

    def _followed(self) -> Control | None:
        """Return the control if it is asked step by step: a Python function, or any where actuators have states."""
        control = self.setup.control
        in_python = callable(control) and not isinstance(control, CompiledControl)
        return control if in_python or getattr(self.setup.system, "activations", None) is not None else None

    def _sees_every_step(self, followed: Control | None) -> bool:
        """Return whether files, an examination that decides, or one beside a followed control sees every step."""
        examination = self.examination
        return self.files is not None or examination.decides or (followed is not None and examination.every_step)

    def _then(self, step: Step) -> Step | None:
        """Return the step after this one where it is known, and nothing is to be looked at in between."""
        then = None if step.sizing is None else step.sizing.then
        return None if self.files is not None or self.examination.every_step else then

    def _step(self, recorder: Recorder, keyboard: Interrupts, ahead: Ahead) -> tuple[Step, Finding]:
        """Examine the state and advance from it; libraries that write files may swallow an interrupt.

        Raises
        ------
        _Stopped
            The run shall not go on.
        """
        setup, state = self.setup, recorder.final
        said, ahead.asked = ahead.told, None
        told = told_at(setup.system, setup.control if said is None else said, state, self.stepper)
        found = self._found(recorder, state, told.control)
        if stop := self.examination.refuses(state.t, found.outcome):
            raise _Stopped(stop)
        start = self.examination.start_of_step(state, found.outcome)
        step = told.after(self.stepper.advance(setup.system, start, setup.t_end, control=told.control))
        if self.files is not None:
            keyboard.hold()
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
