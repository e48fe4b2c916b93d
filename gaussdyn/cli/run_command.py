"""``gaussdyn run``: a scene through time, compared with its exact answers."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import (
    BAD_INPUT,
    DONE,
    REJECTED,
    UNFINISHED,
    Json,
    Panel,
    app,
    complain,
    drawable,
    emit,
    numbers,
    path_text,
    quiet,
    writable,
)
from .progress import Bar
from .run_screen import show
from .watched import watched

if TYPE_CHECKING:
    from ..integrate.run.trajectory import Trajectory
    from ..integrate.stepper import Stepper
    from ..mechanics.scene import Scene


class Examine(StrEnum):
    """How hard the acceleration problem is examined before every step."""

    off = "off"
    start = "start"
    cheap = "cheap"
    full = "full"


class OnMultiple(StrEnum):
    """What a non-unique acceleration does to the run."""

    follow = "continue"
    first = "first"
    refuse = "raise"


class OnNone(StrEnum):
    """What an event-driven run does where no acceleration exists."""

    stop = "stop"
    impact = "impact"
    compliance = "compliance"


def scene_names(incomplete: str) -> list[str]:
    """Return the scenes whose names begin so, for completion in a shell."""
    from ..scenes import catalogue

    return [name for name in catalogue.names() if name.startswith(incomplete)]


SIZING = ("rejected_steps", "forced_steps", "shortest_step_s", "longest_step_s", "achieved_order")
USUAL = {
    "stepper": "moreau_jean", "dt": None, "theta": None, "t_end": None, "examine": "cheap", "on_multiple": "continue",
    "stiffness": None, "on_none": None, "save_every": 1, "tolerance": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the command line asked for."""

    scene: str
    params: dict[str, float] = field(default_factory=dict)
    stepper: str
    dt: float | None
    theta: float | None
    t_end: float | None
    examine: str
    on_multiple: str
    record: Path | None
    record_every: int
    save_every: int
    out: Path | None
    report: Path | None
    chunk: int | None
    resume: bool
    order: bool
    stiffness: float | None = None
    on_none: str | None = None
    tolerance: float | None = None
    view: bool = False

    def going_on(self) -> str:
        """Return the command line that goes on with the run."""
        return f"{self.command()} {shlex.join(['--out', str(self.out), '--resume'])}"

    def command(self) -> str:
        """Return the command line that repeats the run."""
        words = ["gaussdyn", "run", self.scene, *(f"--set={key}={value!r}" for key, value in self.params.items())]
        for name, usual in USUAL.items():
            value = getattr(self, name)
            if value != usual:
                words += [f"--{name.replace('_', '-')}", str(value)]
        return shlex.join(words)


@app.command(rich_help_panel=Panel.RUNS)
def run(
    scene: Annotated[
        str,
        typer.Argument(metavar="SCENE", help="See: gaussdyn scenes.", show_default=False, autocompletion=scene_names),
    ],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, repeatable.")] = None,
    *,
    stepper: Annotated[str, typer.Option(help="Integrator.")] = "moreau_jean",
    dt: Annotated[float | None, typer.Option(help="Step, s (default: the scene's).")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Error of a step of moreau_jean, in place of --dt.")] = None,
    theta: Annotated[float | None, typer.Option(help="0.5 (exact energy) to 1 (damps), of moreau_jean.")] = None,
    stiffness: Annotated[float | None, typer.Option(help="N of penalty and viscous.")] = None,
    on_none: Annotated[OnNone | None, typer.Option(help="Without acceleration: of event_driven.")] = None,
    t_end: Annotated[float | None, typer.Option(help="Duration, s (default: the scene's).")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the run as HDF5.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write .html, .png, .svg, .pdf, .gif or .mp4.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Show it in the browser while it is computed.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, bit for bit.")] = False,
    chunk: Annotated[int | None, typer.Option(help="Steps between two writes (default: every 5 s).", min=1)] = None,
    examine: Annotated[Examine, typer.Option(help="Is the acceleration unique? Asked at every step.")] = Examine.cheap,
    on_multiple: Annotated[OnMultiple, typer.Option(help="What to do where it is not.")] = OnMultiple.follow,
    record: Annotated[Path | None, typer.Option(help="Folder for the contact problems, as FCLib files.")] = None,
    record_every: Annotated[int, typer.Option(help="Record every n-th step only.", min=1)] = 1,
    save_every: Annotated[int, typer.Option(help="Save every n-th state only.", min=1)] = 1,
    order: Annotated[bool, typer.Option("--order", help="Also run at dt/2 and dt/4: the observed order.")] = False,
    json_wanted: Json = False,
) -> None:
    """Run a scene and compare it with its exact answers.

    Example: gaussdyn run incline --set mu=0.2 --report run.html
    """
    if out is None and (resume or chunk is not None):
        name = "--resume" if resume else "--chunk"
        raise InputError(name, "no --out", f"{name} together with the file of the run", "Add --out run.h5.")
    request = Request(
        scene=scene, params=numbers(settings), stepper=stepper, dt=dt, theta=theta, t_end=t_end,
        examine=examine.value, on_multiple=on_multiple.value, record=record, record_every=record_every,
        save_every=save_every, out=out, report=report, chunk=chunk, resume=resume, order=order, stiffness=stiffness,
        tolerance=tolerance, view=view,
        on_none=None if on_none is None else on_none.value,
    )  # fmt: skip
    with quiet(json_wanted):
        document, code = perform(request)
    if json_wanted:
        emit(document)
    else:
        show(document)
    raise typer.Exit(code)


def perform(request: Request) -> tuple[dict[str, Any], int]:
    """Run, compare, write; return the document and the exit status.

    Raises
    ------
    InputError
        Before any work: an unknown scene, parameter or stepper, a value out of range, a place that cannot be written.
    """
    _check_places(request)
    scene = scene_of(request)
    stepper = stepper_of(request, scene)
    from .._warmup import ready

    ready(*needed(request, scene))
    resumed_from = reached(request.out) if request.resume and request.out is not None else None
    trajectory, timing = carried_out(request, scene, stepper)
    from ..scenes.compare import compare, expected

    checks = compare(scene, trajectory)
    failed = write(request, scene, trajectory, checks)
    document = document_of(request, scene, trajectory, checks) | timing
    document["report"] = None if failed else document["report"]
    document["order"] = orders(scene, stepper) if request.order else None
    document["resumed_from"] = resumed_from
    document["interrupted"] = trajectory.interrupted
    unfinished = trajectory.stop is not None and not expected(scene, trajectory)
    document["resume"] = request.going_on() if unfinished and request.out is not None else None
    return document, _exit_status(failed, unfinished, checks)


def _exit_status(failed: int, unfinished: bool, checks: Sequence[Mapping[str, Any]]) -> int:
    if failed or unfinished:
        return failed or UNFINISHED
    return REJECTED if any(check["pass"] is False for check in checks) else DONE


def scene_of(request: Request) -> Scene:
    """Return the scene that was asked for.

    Raises
    ------
    InputError
        An unknown scene or parameter, a value out of range, a report that this scene has nothing for.
    """
    from ..scenes import catalogue

    if request.scene.endswith(".xml"):
        mend = f"For a robot's file: gaussdyn robot {request.scene} --run 2"
        raise InputError("SCENE", repr(request.scene), "a scene that `gaussdyn scenes` lists", mend)
    scene = catalogue.build(request.scene, **request.params)
    if request.report is not None:
        from ..report.write import check_report

        check_report(request.report, scene)
    return scene


def carried_out(request: Request, scene: Scene, stepper: Stepper) -> tuple[Trajectory, dict[str, float]]:
    """Return the run, and the seconds that it took to compile and in all."""
    from ..integrate.simulate import simulate  # which compiles what is not there

    start, loaded = time.perf_counter(), compile_seconds()
    with watched(request.view, scene) as live, Bar(f"{scene.name}, {request.stepper}") as bar:
        trajectory = simulate(
            scene, t_end=request.t_end, stepper=stepper, save=request.save_every, progress=bar.update,
            watch=None if live is None else live.watch, on_interrupt="return",
            examine=request.examine, on_multiple=request.on_multiple,  # type: ignore[arg-type]
            record=None if request.record is None else (request.record, request.record_every),
            out=request.out, chunk=request.chunk, resume=request.resume,
        )  # fmt: skip
        timing = {"compile_s": compile_seconds() - loaded, "wall_s": time.perf_counter() - start}
        if live is not None:
            live.finish(trajectory)
    return trajectory, timing


def needed(request: Request, scene: Scene) -> list[str]:
    """Return what the run is sure to need, as `_warmup.ROOTS` has it."""
    from ..mechanics.spatial.system import SpatialSystem

    found = ["outcomes"] if request.examine != "off" else []
    if request.stepper == "moreau_jean":
        free = isinstance(scene.system, SpatialSystem) and not scene.system.joints
        found += ["free bodies"] if free else ["steps"]
    return found


def _check_places(request: Request) -> None:
    """Refuse places that cannot be written, and missing libraries, before the run."""
    if request.out is not None:
        from ..integrate.run.hdf5 import check_replaceable

        writable("--out", request.out)
        if not request.resume:
            check_replaceable(request.out)
            if request.out.exists():
                sys.stderr.write(f"{request.out} holds an older run; this one takes its place when it ends\n")
    if request.report is not None:
        drawable("--report", request.report, "RUN_REPORT")


def stepper_of(request: Request, scene: Scene) -> Stepper:
    """Return the integrator that was asked for; warn where the scene says no exact answers for it.

    Raises
    ------
    InputError
        An unknown name, a setting out of range, or of another integrator.
    """
    from ..integrate.stepper_names import named
    from ..integrate.time_stepping.tolerance import Tolerance
    from ..scenes.compare import steppers

    if request.on_none is not None and request.stepper != "event_driven":
        given = f"{request.on_none} with --stepper {request.stepper}"
        raise InputError(
            "--on-none",
            given,
            "only --stepper event_driven",
            "Other integrators find velocities there: add --stepper event_driven.",
        )
    if request.tolerance is not None and (request.stepper != "moreau_jean" or request.order):
        with_ = "--order" if request.order else f"--stepper {request.stepper}"
        raise InputError(
            "--tolerance",
            f"{request.tolerance:g} with {with_}",
            "moreau_jean, without --order",
            "Write --stepper moreau_jean --tolerance 1e-6.",
        )
    own = {"theta": request.theta, "stiffness": request.stiffness, "on_none": request.on_none}
    settings: dict[str, Any] = {"dt": scene.dt if request.dt is None else request.dt, **own}
    if request.tolerance is not None:
        settings["step"] = Tolerance(request.tolerance)
    stepper = named(request.stepper, **{key: value for key, value in settings.items() if value is not None})
    if request.stepper not in (meant := steppers(scene)):
        words = f"{scene.name} is meant for {', '.join(meant)}; with {request.stepper} its exact answers are not judged"
        sys.stderr.write(f"gaussdyn: warning: {words}\n")
    return stepper


def write(request: Request, scene: Scene, trajectory: Trajectory, checks: list[dict[str, Any]]) -> int:
    """Write the report, if it was asked for, and return the exit status if that failed: the run is not lost by it."""
    if request.report is None:
        return DONE
    from ..report.write import write_report

    try:
        write_report(request.report, trajectory, scene, checks=checks, command=request.command())
        return DONE
    except (OSError, InputError) as error:
        complain(error)
        status = BAD_INPUT
    except KeyboardInterrupt:
        complain(KeyboardInterrupt(f"the report was not written; {request.report} is as it was before"))
        status = UNFINISHED
    if request.out is not None:
        words = [request.going_on(), shlex.join(["--report", str(request.report)])]
        sys.stderr.write(f"the run is whole in {request.out}; its report again, without running: {' '.join(words)}\n")
    return status


def document_of(
    request: Request, scene: Scene, trajectory: Trajectory, checks: list[dict[str, Any]]
) -> dict[str, Any]:  # fmt: skip
    """Return the run as the file formats describe it."""
    stop, found = trajectory.stop, trajectory.statistics
    return {
        "schema": "gaussdyn/run/1",
        "scene": scene.name,
        "params": dict(scene.params),
        "stepper": trajectory.settings["stepper"],
        "t_reached": trajectory.t_reached,
        "steps": found["steps"],
        "status": trajectory.status,
        "stop": None if stop is None else {"t": stop.t, "reason": stop.reason},
        **{key: found.get(key) for key in ("max_residual", "max_penetration_m", "energy_drift_rel")},
        "sizing": {key: found[key] for key in SIZING} if SIZING[0] in found else None,
        "fast_energy_J": trajectory.settings.get("fast_energy_J"),
        "checks": checks,
        "events": trajectory.event_counts,
        "outcomes": trajectory.outcomes,
        "choice": trajectory.steps.choice or None,
        "outcome_times": trajectory.outcome_intervals,
        "certificates": [{"t": one.t, "outcome": one.outcome} for one in trajectory.certificates],
        "state_hash": trajectory.state_hash,
        "out": path_text(request.out),
        "report": path_text(request.report),
        "record": path_text(request.record),
    }


def reached(path: Path) -> float | None:
    """Return the time up to which there is a run at a path, s; None if there is none."""
    from ..integrate.run.chunks import gathered
    from ..integrate.run.trajectory import Trajectory

    earlier, _ = gathered(path, Trajectory)
    return None if earlier is None else earlier.t_reached


def compile_seconds() -> float:
    """Return the seconds that this process has spent compiling or loading kernels."""
    from .._jit import build_statistics

    return float(build_statistics()["compile_s"])


def orders(scene: Scene, stepper: Stepper) -> list[dict[str, Any]]:
    """Return errors and observed order of every exact answer at the step of `stepper`, half and a quarter of it."""
    from ..scenes.convergence import observed_order

    params: dict[str, Any] = dict(scene.params)
    found = observed_order(scene.name, stepper=stepper, dt=stepper.settings()["dt"], **params)
    return [{"name": one.name, "dt": one.dt, "error": one.error, "order": one.order} for one in found]
