"""``gaussdyn robot``: what a robot's file holds, what of it is left out or missing, and a run of it."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import (
    DONE,
    REJECTED,
    UNFINISHED,
    Json,
    Panel,
    app,
    console,
    drawable,
    emit,
    path_text,
    quiet,
    readable,
    writable,
)
from .progress import Bar
from .watched import watched

if TYPE_CHECKING:
    from ..integrate.time_stepping.moreau_jean import MoreauJean
    from ..mechanics.robots.robot import Robot
    from ..mechanics.state import State


class Base(StrEnum):
    """What the root of a URDF file is."""

    FIXED = "fixed"
    FREE = "free"


@app.command(rich_help_panel=Panel.RUNS)
def robot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="MJCF (.xml) or URDF (.urdf).", show_default=False)],
    *,
    check: Annotated[bool, typer.Option("--check", help="Only say what is there, left out and missing.")] = False,
    run: Annotated[float | None, typer.Option(help="Run for so many seconds, actuators told zero.", min=0.0)] = None,
    keyframe: Annotated[str, typer.Option(help="Begin at a keyframe of the file.")] = "",
    project: Annotated[bool, typer.Option("--project", help="Mend a start that overlaps or breaks limits.")] = False,
    mend: Annotated[
        bool,
        typer.Option("--mend", help="Mend inertias, leave out what is not known, and contacts that nothing parts."),
    ] = False,
    base: Annotated[Base | None, typer.Option(help="Root of a URDF file (default: fixed).")] = None,
    floor: Annotated[float | None, typer.Option(help="Height of a floor under a URDF file's robot, m.")] = None,
    dt: Annotated[float | None, typer.Option(help="Step, s (default: the file's).")] = None,
    no_corrections: Annotated[
        bool, typer.Option("--no-corrections", help="One contact problem a step, not corrected for its true end.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the run as HDF5.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write .html, .png, .svg, .pdf, .gif or .mp4.")] = None,
    view: Annotated[bool, typer.Option("--view", help="Show the run in the browser while it is computed.")] = False,
    json_wanted: Json = False,
) -> None:
    """Look at a robot's file, and run it.

    Example: gaussdyn robot ant.xml --run 2 --project --report run.html
    """
    if run is None and (out is not None or report is not None or view):
        raise InputError("--out, --report, --view", "no --run", "a run to show", "Add --run 2, in seconds.")
    readable("FILE", file)
    if out is not None:
        writable("--out", out)
    drawable("--report", report, "RUN_REPORT")
    with quiet(json_wanted):
        if run is not None:
            from .._warmup import ready

            ready("steps")
        document, code = examined(file, mend, base)
        if not check and code == DONE:
            from ..integrate.time_stepping.moreau_jean import MoreauJean
            from ..mechanics.robots.read_robot import read_robot

            found = read_robot(file, mend=mend, base=None if base is None else base.value, floor=floor)
            document["ignored"] = list(found.ignored)
            document["start"] = [*found.troubles(keyframe), *([] if mend else touches_always(found))]
            if run is not None:
                state = found.start(keyframe, project=project)
                stepper = MoreauJean(dt=dt or found.dt, corrections=not no_corrections)
                code = carry_out(document, found, state, run, stepper, out, report, view)
    if json_wanted:
        emit(document)
    else:
        show(document)
    raise typer.Exit(code)


def examined(file: Path, mend: bool, base: Base | None) -> tuple[dict[str, Any], int]:
    """Return what a file holds, and whether all of it can be had."""
    from ..mechanics.robots.read_robot import survey

    found = survey(file, mend=mend, base=None if base is None else base.value)
    document = {"schema": "gaussdyn/robot/1", "file": str(file), **found}
    return document, REJECTED if found["missing"] else DONE


def touches_always(robot: Robot) -> list[str]:
    """Return in words which shapes lie on one another wherever joints stand: they may hold what runs at small steps."""
    from ..mechanics.robots.built_in_overlaps import FLANGES, flanges

    return [f"{a} and {b}: {FLANGES} (--mend has them not touch)" for a, b in map(sorted, flanges(robot))]


def carry_out(
    document: dict[str, Any], found: Robot, state: State, seconds: float, stepper: MoreauJean, out: Path | None,
    report: Path | None, view: bool = False,
) -> int:  # fmt: skip
    """Run a robot, write what was asked for, and add to the document; return the exit status."""
    from ..integrate.simulate import simulate

    system, begin = found.system(), time.perf_counter()
    with watched(view, system, state) as live, Bar(found.name) as bar:
        done = simulate(
            system, state, seconds, stepper=stepper, out=out, progress=bar.update, on_interrupt="return",
            watch=None if live is None else live.watch,
        )  # fmt: skip
        wall_s = time.perf_counter() - begin
        if live is not None:
            live.finish(done)
    document["run"] = {
        "status": done.status, "t_reached": done.t_reached, "steps": done.statistics["steps"], "dt": stepper.dt,
        **{key: done.statistics.get(key) for key in ("max_residual", "max_penetration_m")},
        "energy_J": [float(done["energy"][0]), float(done["energy"][-1])],
        "wall_s": wall_s, "out": path_text(out),
        "report": path_text(report),
    }  # fmt: skip
    if report is not None:
        from ..report.write import write_report

        write_report(report, done, system, checks=[], command=" ".join(sys.argv))
    return UNFINISHED if done.stop is not None else DONE


def show(document: dict[str, Any]) -> None:
    """Print the document for people."""
    screen = console()
    holds = ", ".join(f"{count} {what}" for what, count in document["holds"].items() if count)
    screen.print(f"[bold]{document['file']}[/bold]: {holds}", soft_wrap=True)
    for title, key, style in (
        ("cannot be had yet", "missing", "red"), ("left out", "ignored", ""), ("start", "start", "yellow"),
    ):  # fmt: skip
        for line in document.get(key, ()):
            screen.print(f"{title}: {line}", soft_wrap=True, markup=False, style=style)
    ran = document.get("run")
    if ran is not None:
        screen.print(
            f"{ran['status']} at t = {ran['t_reached']:g} s, {ran['steps']} steps (dt = {ran['dt']:g} s) in "
            f"{ran['wall_s']:.2f} s, residual {ran['max_residual']:.1e}", soft_wrap=True,
        )  # fmt: skip
        for key in ("out", "report"):
            if ran[key]:
                screen.print(f"{key}: {ran[key]}", soft_wrap=True, markup=False)
