"""``gaussdyn bench league``: engines on the same scenes with exact answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..again import again
from ..app import DONE, UNFINISHED, Json, console, emit, plain, quiet, writable
from ..progress import Bar
from .group import bench

Engines = Annotated[list[str] | None, typer.Argument(metavar="[ENGINE]...", help="Default: all.", show_default=False)]
PAGE, DATA = "league.html", "league.json"


@bench.command("league")
def league(
    context: typer.Context,
    engines: Engines = None,
    *,
    only: Annotated[list[str] | None, typer.Option(help="A match by its name; may be repeated.")] = None,
    also: Annotated[list[str] | None, typer.Option(help="An adapter of your own, MODULE:CLASS.")] = None,
    seconds: Annotated[float, typer.Option(help="CPU time of the steps of a game; more is cut short.")] = 20.0,
    jobs: Annotated[int | None, typer.Option(help="Processes at a time (default: one per core).")] = None,
    out: Annotated[Path | None, typer.Option(help=f"A folder for {PAGE} and {DATA}.")] = None,
    json_wanted: Json = False,
) -> None:
    """Let engines play scenes with exact answers: errors, time of a step, and what each of them said.

    What is not installed, crashes, hangs or lacks a feature is a row. Tosses are played where GAUSSDYN_MEASURED is set.

    Example: gaussdyn bench league gaussdyn MuJoCo --only thrown_ball --out .
    """
    from ...league.championship import league as championship

    _check(out)
    with quiet(json_wanted), Bar("league: games") as bar:
        document = championship(
            engines=engines or (), also=also or (), only=only or (), seconds=seconds, jobs=jobs, progress=bar.update
        )
    if out is not None:
        from ...report.measurements.league_page import write_league_page

        write_league_page(out / PAGE, document, command=again(context))
        (out / DATA).write_text(json.dumps(plain(document), indent=1) + "\n")
    emit(document) if json_wanted else show(document)
    own = [row for row in document["rows"] if row["engine"] == "gaussdyn"]
    raise typer.Exit(DONE if all(row["status"] in ("played", "cut short") for row in own) else UNFINISHED)


def _check(out: Path | None) -> None:
    """Refuse a folder that cannot be used before any game is played."""
    if out is not None:
        from ...report import needs

        for name in (PAGE, DATA):
            writable("--out", out / name)
        needs.check_format("--out", out / PAGE, needs.TREE_PAGE)


def show(document: dict[str, Any]) -> None:
    """Print a line per game, and where this package is behind."""
    from rich.table import Table

    from ...league.standings import behind, step_time

    screen, table = console(), Table(box=None)
    for heading in ("match", "engine", "setting", "figures", "us a step", ""):
        table.add_column(heading)
    for row in document["rows"]:
        figures = ", ".join(f"{one['name']} {one['value']:.2g} {one['unit']}" for one in row["figures"])
        time, ended = step_time(row), "" if row["status"] == "played" else row["status"]
        cells = figures, f"{time:.3g}" if time else "", "; ".join(filter(None, (ended, row["said"])))
        table.add_row(row["match"], row["engine"], row["setting"], *cells)
    screen.print(table)
    missing = [one["name"] for one in document["engines"] if one["version"] is None]
    if missing:
        screen.print(f"not installed: {', '.join(missing)}")
    for one in behind(document):
        screen.print(f"behind in {one['match']}: {_lost(one)}", markup=False)


def _lost(one: dict[str, Any]) -> str:
    """Return what this package has and what the best other engine has, in words."""
    theirs = f"{one['engine']} ({one['setting']})"
    if not one["unit"]:
        return f"{one['what']}: never; {theirs} does"
    return f"{one['what']} {one['own']:.2g} {one['unit']} ({one['own_setting']}); {theirs} {one['best']:.2g}"
