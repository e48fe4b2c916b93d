"""``gaussdyn audit``: a run, from its file or done now, checked against the laws it claims to obey."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import DONE, REJECTED, Json, Panel, app, check_scene, complain, console, emit, numbers, quiet, readable

if TYPE_CHECKING:
    from ..analysis.audit.recorded_states import RecordedStates
    from ..integrate.run.trajectory import Trajectory
    from ..mechanics.system import System

ENDINGS = (".h5", ".hdf5", ".hdf")


@app.command(rich_help_panel=Panel.CHECKS)
def audit(
    target: Annotated[str, typer.Argument(metavar="FILE|SCENE", help="A run file, or a scene to run.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for a scene.")] = None,
    robot: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="The robot that was run: .xml or .urdf.", show_default=False),
    ] = None,
    json_wanted: Json = False,
) -> None:
    """Check a run step by step, without looking at what the solver said.

    Example: gaussdyn audit run.h5
    """
    if robot is not None and not is_file(target):
        raise InputError("--robot", str(robot), "beside the file of a run", f"gaussdyn audit run.h5 --robot {robot}")
    with quiet(json_wanted):
        from ..analysis.audit.audit import audit as check

        run, system = read(target, robot) if is_file(target) else fresh(target, numbers(settings))
        verdict = check(run, system)
    document = verdict.to_json()
    if is_file(target):
        document = {"schema": document["schema"], "file": target, **document}
    if json_wanted:
        emit(document)
    else:
        show(document, verdict.explain())
    raise typer.Exit(DONE if verdict.passed else REJECTED)


def is_file(target: str) -> bool:
    """Whether the word names a file and not a scene."""
    return Path(target).exists() or "/" in target or Path(target).suffix.lower() in ENDINGS


def read(target: str, robot: Path | None = None) -> tuple[Trajectory | RecordedStates, System | None]:
    """Return the run of a file, and its system: of the model of a robot, or if the scene is in the catalogue."""
    from ..analysis.audit.recorded_states import RecordedStates, holds_states
    from ..integrate.run.trajectory import Trajectory
    from ..scenes import catalogue

    path, system = readable("FILE", Path(target)), None if robot is None else modelled(robot)
    if path.is_file() and holds_states(path):
        states = RecordedStates.load(path)
        if system is None:
            check_scene(states.scene, "the scene of recorded states")
            system = catalogue.build(states.scene, **states.params).system
        return states, system
    run = Trajectory.load(path)
    if system is not None:
        return run, system
    if run.scene in catalogue.names():
        return run, catalogue.build(run.scene, **run.params).system
    complain(
        UserWarning(
            f"{run.scene!r} is not a scene of the catalogue: only the file itself is checked. Of a robot give the "
            "model: --robot robot.xml."
        )
    )
    return run, None


def modelled(robot: Path) -> System:
    """Return what the model of a robot is."""
    from ..mechanics.robots.read_robot import read_robot

    return read_robot(readable("--robot", robot)).system()


def fresh(name: str, params: dict[str, float]) -> tuple[Trajectory, System]:
    """Return a new run of a scene, and its system."""
    from ..integrate.simulate import simulate
    from ..scenes import catalogue
    from .progress import Bar

    check_scene(name, "a run file")
    scene = catalogue.build(name, **params)
    with Bar(name) as bar:
        return simulate(scene, progress=bar.update), scene.system


def show(document: dict[str, Any], sentence: str) -> None:
    """Print the verdict for people."""
    from rich.table import Table

    table = Table()
    for heading in ("check", "largest", "allowed", ""):
        table.add_column(heading)
    for result in document["results"]:
        largest = "-" if result["max"] is None else f"{result['max'] + 0.0:.3g}"
        word = "[green]holds[/green]" if result["pass"] else "[red]fails[/red]"
        table.add_row(result["name"], largest, f"{result['tol']:.3g}", word)
    console().print(table)
    if document["residuals"]:
        console().print(
            ", ".join(f"{name} {'-' if x is None else f'{x:.1e}'}" for name, x in document["residuals"].items())
        )
    console().print(sentence, style="green" if document["pass"] else "red", soft_wrap=True, markup=False)
