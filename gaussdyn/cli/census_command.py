"""``gaussdyn census``: the number of motions of one contact in space over the direction of its load."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import Json, Panel, app, console, drawable, emit, path_text, quiet, readable

if TYPE_CHECKING:
    from ..analysis.atlas.census import Census


@app.command(rich_help_panel=Panel.RANGES)
def census(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A spatial body (JSON).")],
    case: Annotated[str | None, typer.Option(help="Name of a case in a file of several.")] = None,
    *,
    mu: Annotated[float | None, typer.Option(help="Friction in slip (default: the body's).")] = None,
    mu_s: Annotated[float | None, typer.Option(help="Friction at rest (default: mu, or the body's).")] = None,
    cells: Annotated[int, typer.Option(help="Cells along the azimuth.", min=4, max=4000)] = 360,
    out: Annotated[Path | None, typer.Option(help="Write the picture (.png, .svg, .pdf).")] = None,
    json_wanted: Json = False,
) -> None:
    """Count the motions of a body on one contact from rest, over all directions of its load.

    Example: gaussdyn census body.json --mu 0.5 --out census.png
    """
    drawable("--out", out, "PICTURE")
    start = time.perf_counter()
    with quiet(json_wanted):
        from ..analysis.atlas.census import census as count
        from ..contact.outcome.problem_file import read_outcome_problem
        from ..mechanics.spatial.body_file import ExactSpatialBody

        body = read_outcome_problem(readable("FILE", file), case)
        if not isinstance(body, ExactSpatialBody):
            raise InputError(
                "FILE",
                str(file),
                "a spatial_body",
                'Write kind = "spatial_body", J = ..., r = ..., mu = ..., F_star = ...',
            )
        found = count(body, mu=mu, mu_s=mu_s, cells=cells)
        if out is not None:
            from ..report.census_pictures import draw_census

            draw_census(found, out, title=body.name or file.stem)
    document = document_of(found, file) | {
        "out": path_text(out),
        "wall_s": time.perf_counter() - start,
    }
    emit(document) if json_wanted else show(document)


def document_of(found: Census, file: Path) -> dict[str, Any]:
    """Return the census as a document."""
    return {
        "schema": "gaussdyn/census/1",
        "file": str(file),
        "mu": found.mu,
        "mu_s": found.mu_s,
        "cells": list(found.total.shape),
        "regions": [
            {"modes": list(name), "count": len(name), "share": share}
            for name, share in sorted(found.shares().items(), key=lambda item: (len(item[0]), item[0]))
        ],
        "exact": found.exact,
        "undecided": found.undecided,
    }


def show(document: dict[str, Any]) -> None:
    """Print a census for people."""
    screen = console()
    screen.print(f"mu = {document['mu']:g}, mu_s = {document['mu_s']:g}; share of all load directions:", soft_wrap=True)
    for region in document["regions"]:
        screen.print(f"  {region['count']}  {' '.join(region['modes']):10} {100 * region['share']:8.4f} %")
    size = f"{document['cells'][0]} x {document['cells'][1]} cells in {document['wall_s']:.1f} s"
    screen.print(f"{size}; {document['exact']} counted exactly, {document['undecided']} undecided", soft_wrap=True)
