"""``gaussdyn bench robots``: robots beside MuJoCo, time per step and physical errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError, SolveFailed
from ..app import DONE, UNFINISHED, Json, console, emit, quiet
from .group import bench

if TYPE_CHECKING:
    from ...league.robot_race import Race

BAR = 1e-10  # largest residual E, and deepest overlap in m, of any step
Files = Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", show_default=False, exists=True)]


@bench.command("robots")
def robots(
    files: Files = None,
    *,
    steps: Annotated[int, typer.Option(help="Of 2 ms, for each robot and kind of control.")] = 1000,
    json_wanted: Json = False,
) -> None:
    """Run robots that hold still and at random, beside MuJoCo; without files those that gymnasium brings.

    Needs the extra mjcf. The bar is what holds in each step: E and overlaps up to 1e-10.

    Example: gaussdyn bench robots examples/quadruped.xml --steps 500
    """
    from ...league.robot_race import robot_files

    if steps < 25:
        raise InputError("--steps", steps, "at least 25, for which a control is held", "Write --steps 1000.")
    with quiet(json_wanted):
        found, stopped = _races(files or robot_files(), steps)
    if json_wanted:
        results = [asdict(one) for one in found]
        emit({"schema": "gaussdyn/bench-robots/2", "steps": steps, "results": results, "stopped": stopped})
    else:
        show(found)
        typer.echo("\n".join(stopped), nl=bool(stopped))
    own = [run for one in found for run in (one.corrected, one.once)]
    good = not stopped and all(run.E <= BAR and run.gap >= -BAR for run in own)
    raise typer.Exit(DONE if good else UNFINISHED)


def _races(files: Iterable[Path], steps: int) -> tuple[list[Race], list[str]]:
    """Return the races of robots that hold still and at random, and in words those that could not go on."""
    from ...league.robot_race import race

    found: list[Race] = []
    stopped: list[str] = []
    for file, random in product(files, (False, True)):
        try:
            found.append(race(file, steps, random))
        except SolveFailed as stop:
            stopped.append(f"{file.stem} {'random' if random else 'held'}: {stop}")
    return found, stopped


def show(found: list[Race]) -> None:
    """Print both tables."""
    from rich.table import Table

    times, errors = Table(box=None), Table(box=None)
    for heading in (
        "robot", "told", "nv", "steps of ours", "us", "by hand us", "steps", "problems", "E", "gap m", "pyramidal us",
        "elliptic us", "gap m", "ratio",
    ):  # fmt: skip
        times.add_column(heading, justify="left" if heading in ("robot", "told", "steps of ours") else "right")
    for heading in ("robot", "told", "engine", "creep m/s", "put in J", "friction / (mu N)"):
        errors.add_column(heading, justify="left" if heading in ("robot", "told", "engine") else "right")
    for one in found:
        theirs = f"{one.pyramidal_us:.0f}", f"{one.elliptic_us:.0f}", f"{one.their_gap:.0e}"
        for way, own in (("corrected", one.corrected), ("once", one.once)):
            times.add_row(
                one.name, one.controls, str(one.nv), way, f"{own.us:.0f}", f"{own.us_by_hand:.0f}", str(own.by_hand),
                f"{own.problems:.1f}", f"{own.E:.0e}", f"{own.gap:.0e}", *theirs, f"{own.us / one.pyramidal_us:.1f}",
            )  # fmt: skip
        ours = {"ours, corrected": one.corrected.contacts, "ours, once": one.once.contacts}
        for engine, did in (ours | {"pyramidal": one.pyramidal, "elliptic": one.elliptic}).items():
            figures = f"{did.creep:.0e}", f"{did.put_in:.1e}", f"{did.friction:.4f}"
            errors.add_row(one.name, one.controls, engine, *figures)
    console().print(times)
    console().print(errors)
