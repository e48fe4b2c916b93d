"""``gaussdyn crosscheck``: constraints realized by springs, by viscous friction and smoothly, beside the rigid run."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .again import again
from .app import DONE, Json, Panel, app, console, drawable, emit, numbers, path_text, quiet

if TYPE_CHECKING:
    from ..analysis.crosscheck.results import CrossCheck


class Start(StrEnum):
    """Where the realizations begin."""

    given = "given"
    slow = "slow"


@app.command(rich_help_panel=Panel.CHECKS)
def crosscheck(
    context: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene (see: gaussdyn scenes).", show_default=False)],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, repeatable.")] = None,
    *,
    realizations: Annotated[str, typer.Option("--with", help="Names, with commas.")] = "penalty,viscous,smooth",
    stiffness: Annotated[str | None, typer.Option(help="N of every run, rising: 1e3,1e4,1e5.")] = None,
    start: Annotated[Start, typer.Option(help="The scene's start, or the slow manifold next to it.")] = Start.given,
    t_end: Annotated[float | None, typer.Option(help="Duration, s (default: the scene's).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (.html) or picture (.png, .svg, .pdf).")] = None,
    json_wanted: Json = False,
) -> None:
    """Run the constraints of a scene as springs, viscous friction and smooth equations, beside the rigid run.

    Example: gaussdyn crosscheck pendulum --with penalty,smooth
    """
    drawable("--report", report, "PAGE_OR_PICTURE")
    with quiet(json_wanted):
        from ..analysis.crosscheck.crosscheck import LADDER
        from ..analysis.crosscheck.crosscheck import crosscheck as check
        from ..scenes import catalogue

        found = check(
            catalogue.build(scene, **numbers(settings)),
            [name.strip() for name in realizations.split(",") if name.strip()],
            stiffness=LADDER if stiffness is None else _listed(stiffness),
            start=start.value,
            t_end=t_end,
        )
        if report is not None:
            _draw(found, report, again(context))
    if json_wanted:
        emit(found.to_json() | {"report": path_text(report)})
    else:
        show(found)
    raise typer.Exit(DONE)


def _draw(found: CrossCheck, report: Path, command: str) -> None:
    from ..report import needs
    from ..report.crosscheck_pictures import draw_crosscheck, write_crosscheck_page

    if report.suffix.lower() in needs.PAGES:
        write_crosscheck_page(report, found, command=command)
    else:
        draw_crosscheck(found, report)


def _listed(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            "--stiffness", repr(text), "numbers with commas, e.g. 1e3,1e4,1e5", "Write --stiffness 1e3,1e4,1e5."
        ) from None


def show(found: CrossCheck) -> None:
    """Print what was found, for people."""
    from rich.table import Table

    table = Table()
    for heading in ("realization", "N", "position", "velocity", "reaction", "fast energy (J)"):
        table.add_column(heading)
    for one in found.results:
        for level in one.levels:
            gaps = [level.gaps[key].value for key in ("position", "velocity", "reaction")]
            known = [level.stiffness, *gaps, level.fast_end]
            table.add_row(one.name, *("-" if math.isnan(x) else f"{x:.3g}" for x in known))
    screen = console()
    screen.print(table)
    screen.print(found.explain(), soft_wrap=True, markup=False)
