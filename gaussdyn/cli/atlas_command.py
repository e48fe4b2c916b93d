"""``gaussdyn atlas``: the number of motions of a scene over two of its parameters, as a picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .again import again
from .app import DONE, REJECTED, Json, Panel, app, console, drawable, emit, numbers, path_text, quiet

if TYPE_CHECKING:
    from ..analysis.atlas.atlas import Atlas, Axis

Range = tuple[float, float]


@app.command(rich_help_panel=Panel.RANGES)
def atlas(
    context: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene with one rough contact.")],
    x: Annotated[str, typer.Option("--x", help="Parameter to the right.")] = "angle",
    y: Annotated[str, typer.Option("--y", help="Parameter upwards.")] = "mu",
    *,
    x_range: Annotated[Range | None, typer.Option(help="Its ends (default: the scene's).")] = None,
    y_range: Annotated[Range | None, typer.Option(help="Its ends (default: the scene's).")] = None,
    cells: Annotated[int, typer.Option(help="Cells along each parameter.", min=2, max=10_000)] = 1000,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for the others.")] = None,
    check: Annotated[int, typer.Option(help="Cells, drawn at random, to compare with `outcome`.", min=0)] = 20,
    out: Annotated[Path | None, typer.Option(help="Write the picture (.png, .svg, .pdf).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (HTML) with the picture.")] = None,
    json_wanted: Json = False,
) -> None:
    """Count the motions of a scene at its start over two of its parameters.

    Example: gaussdyn atlas painleve_rod --x angle --y mu --out atlas.png
    """
    drawable("--out", out, "PICTURE")
    drawable("--report", report, "PAGE")
    start = time.perf_counter()
    params = numbers(settings)
    with quiet(json_wanted):
        found = draw(scene, (x, y), (x_range, y_range), cells, params)
        differ = found.check(check)
        document = document_of(found, check, differ)
        ends = {"x_range": (found.x.low, found.x.high), "y_range": (found.y.low, found.y.high)}
        write(found, out, report, again(context, **ends))
    document |= {
        "out": path_text(out),
        "report": path_text(report),
        "wall_s": time.perf_counter() - start,
    }
    if json_wanted:
        emit(document)
    else:
        show(document)
    raise typer.Exit(REJECTED if differ else DONE)


def draw(
    name: str, axes: tuple[str, str], ranges: tuple[Range | None, Range | None], cells: int, params: dict[str, float]
) -> Atlas:  # fmt: skip
    """Return the atlas; ranges that are not given are those of the scene.

    Raises
    ------
    InputError
        An unknown scene or parameter, a range outside that of the scene, an axis that is set as well.
    """
    from functools import partial

    from ..analysis.atlas.atlas import atlas as count
    from ..scenes import catalogue

    known = catalogue.parameters(name)
    for key in axes:
        if key not in known:
            raise InputError(f"parameter of {name}", repr(key), ", ".join(known), "Choose with --x and --y.")
        if key in params:
            raise InputError(
                f"--set {key}", params[key], "a parameter that is not an axis", f"Leave --set {key}={params[key]} out."
            )
    x, y = (_axis(known[key], key, ends, cells) for key, ends in zip(axes, ranges, strict=True))
    return count(partial(catalogue.build, name), x, y, params)


def _axis(parameter: Any, name: str, ends: Range | None, cells: int) -> Axis:
    from ..analysis.atlas.parameter_range import Axis

    low, high = (parameter.min, parameter.max) if ends is None else ends
    if low < parameter.min or high > parameter.max:
        raise InputError(
            f"range of {name}",
            f"{low:g} to {high:g}",
            f"within [{parameter.min:g}, {parameter.max:g}]",
            f"Write {parameter.min:g}:{parameter.max:g}: gaussdyn atlas --help.",
        )
    return Axis(name=name, unit=parameter.unit, low=low, high=high, size=cells)


def write(found: Atlas, out: Path | None, report: Path | None, command: str) -> None:
    """Write picture and page, where they were asked for."""
    if out is not None or report is not None:
        from ..report.atlas_pictures import draw_atlas, write_atlas_page

        if out is not None:
            draw_atlas(found, out)
        if report is not None:
            write_atlas_page(report, found, command=command)


def document_of(found: Atlas, checked: int, differ: Any) -> dict[str, Any]:
    """Return the atlas as a document."""
    least = found.least_critical()
    return {
        "schema": "gaussdyn/atlas/1",
        "scene": found.scene,
        "params": dict(found.params),
        "x": _ends(found.x),
        "y": _ends(found.y),
        "regions": [
            {"count": r.count, "modes": list(r.modes), "words": r.words, "cells": r.cells, "share": r.share}
            for r in found.regions()
        ],
        "codimension_two": [list(point) for point in found.codimension_two()],
        "least_critical": None if least is None else list(least),
        "ties": found.ties,
        "undecided": found.undecided,
        "checked": {"cells": checked, "differ": [list(one) for one in differ]},
    }


def _ends(axis: Axis) -> dict[str, Any]:
    return {"name": axis.name, "unit": axis.unit, "low": axis.low, "high": axis.high, "cells": axis.size}


def show(document: dict[str, Any]) -> None:
    """Print an atlas for people."""
    from rich.table import Table

    x, y = document["x"], document["y"]
    screen, table = (
        console(),
        Table(title=f"{document['scene']} over {x['name']} and {y['name']}", title_justify="left"),
    )
    for heading in ("number of motions", "share"):
        table.add_column(heading)
    for region in document["regions"]:
        table.add_row(region["words"], f"{100 * region['share']:.2f} %")
    screen.print(table)
    if document["least_critical"]:
        a, b = document["least_critical"]
        screen.print(f"least critical {y['name']} = {b:.10g} at {x['name']} = {a:.10g} {x['unit']}", soft_wrap=True)
    for a, b in document["codimension_two"]:
        screen.print(f"A = b = 0 at {x['name']} = {a:.10g}, {y['name']} = {b:.10g}", soft_wrap=True)
    checked = document["checked"]
    word = f"{len(checked['differ'])} differ" if checked["differ"] else "all agree"
    size = f"{x['cells']} x {y['cells']} cells in {document['wall_s']:.1f} s"
    screen.print(f"{size}; {checked['cells']} of them asked again with outcome: {word}", soft_wrap=True)
