"""``gaussdyn bench robots``: robots beside MuJoCo, time per step and physical errors."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import InputError
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
    from ...league.robot_race import race, robot_files

    if steps < 25:
        raise InputError("--steps", steps, "at least 25, for which a control is held", "Write --steps 1000.")
    with quiet(json_wanted):
        found = [race(file, steps, random) for file in files or robot_files() for random in (False, True)]
    if json_wanted:
        emit({"schema": "gaussdyn/bench-robots/1", "steps": steps, "results": [asdict(one) for one in found]})
    else:
        show(found)
    raise typer.Exit(DONE if all(one.E <= BAR and one.gap >= -BAR for one in found) else UNFINISHED)


def show(found: list[Race]) -> None:
    """Print both tables."""
    from rich.table import Table

    times, errors = Table(box=None), Table(box=None)
    for heading in (
        "robot", "told", "nv", "ours us", "by hand us", "steps", "problems", "E", "gap m", "pyramidal us",
        "elliptic us", "gap m", "ratio",
    ):  # fmt: skip
        times.add_column(heading, justify="left" if heading in ("robot", "told") else "right")
    for heading in ("robot", "told", "engine", "creep m/s", "put in J", "friction / (mu N)"):
        errors.add_column(heading, justify="left" if heading in ("robot", "told", "engine") else "right")
    for one in found:
        times.add_row(
            one.name, one.controls, str(one.nv), f"{one.us:.0f}", f"{one.us_by_hand:.0f}", str(one.by_hand),
            f"{one.problems:.1f}", f"{one.E:.0e}", f"{one.gap:.0e}", f"{one.pyramidal_us:.0f}",
            f"{one.elliptic_us:.0f}", f"{one.their_gap:.0e}", f"{one.us / one.pyramidal_us:.1f}",
        )  # fmt: skip
        for engine in ("ours", "pyramidal", "elliptic"):
            did = getattr(one, engine)
            figures = f"{did.creep:.0e}", f"{did.put_in:.1e}", f"{did.friction:.4f}"
            errors.add_row(one.name, one.controls, engine, *figures)
    console().print(times)
    console().print(errors)
