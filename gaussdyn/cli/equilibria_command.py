"""``gaussdyn equilibria``: where dry friction can hold a scene at rest, and how that changes as a parameter moves."""

from __future__ import annotations

import itertools
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from ..mends import one_number
from .again import again
from .app import DONE, UNFINISHED, Json, Panel, app, console, drawable, emit, numbers, quiet
from .progress import Bar

if TYPE_CHECKING:
    from ..analysis.equilibria.equilibria import Bifurcation, Equilibria
    from ..analysis.equilibria.family import Family

Pair = tuple[float, float]


@app.command(rich_help_panel=Panel.RANGES)
def equilibria(
    context: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene from symbols with one friction.")],
    param: Annotated[str, typer.Option("--param", help="Parameter that moves.")],
    *,
    range_: Annotated[Pair | None, typer.Option("--range", help="Its ends (default: the scene's).")] = None,
    window: Annotated[list[str] | None, typer.Option(help="LOW,HIGH of a coordinate; once for each.")] = None,
    at: Annotated[list[float] | None, typer.Option(help="Count the families for this value as well.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for the others.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the picture (.png, .svg, .pdf).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (HTML) with the picture.")] = None,
    json_wanted: Json = False,
) -> None:
    """Find the families of equilibria of a scene over a range of a parameter, and their bifurcations.

    Example: gaussdyn equilibria duffing_plane --param A --range 0.5 4 --report trident.html
    """
    drawable("--out", out, "PICTURE")
    drawable("--report", report, "PAGE")
    start, params = time.perf_counter(), numbers(settings)
    values = [_value("--at", value) for value in at or []]
    with quiet(json_wanted):
        found, held = find(scene, param, range_, _pairs(window), params)
        extra = [found.at(value) for value in values]
        write(found, extra, scene, out, report, again(context, range_=(found.low, found.high)))
        document = document_of(found, extra, scene, held)
    document |= {"out": out and str(out), "report": report and str(report), "wall_s": time.perf_counter() - start}
    if json_wanted:
        emit(document)
    else:
        show(document)
    raise typer.Exit(DONE if document["complete"] else UNFINISHED)


def find(
    name: str, param: str, ends: Pair | None, window: list[Pair] | None, params: dict[str, float]
) -> tuple[Equilibria, dict[str, float]]:
    """Return the equilibria, and the parameters that were held.

    Raises
    ------
    InputError
        An unknown scene or parameter, a parameter that is set as well.
    """
    from ..analysis.equilibria.equilibria import equilibria as search
    from ..scenes import catalogue

    known = catalogue.parameters(name)
    if param in params:
        raise InputError(
            f"--set {param}",
            params[param],
            "a parameter that does not move",
            f"Leave --set {param}={params[param]} out.",
        )
    built = catalogue.build(name, **params)
    if param not in known and not hasattr(built.system, "params"):
        raise InputError(f"parameter of {name}", repr(param), ", ".join(known), "Choose it with --param.")
    low, high = (known[param].min, known[param].max) if ends is None and param in known else ends or (0.0, 1.0)
    with Bar(f"equilibria over {param}") as bar:
        found = search(built.system, param, low, high, window=window,  # type: ignore[arg-type]
                       progress=lambda share: bar.update(share, 1.0))  # fmt: skip
    return found, {key: value for key, value in built.params.items() if key != param}


def _value(name: str, value: float) -> float:
    """Return a finite number, or refuse it before the search."""
    if not math.isfinite(value):
        raise InputError(name, value, "a finite number", one_number(name))
    return value


def _pairs(texts: list[str] | None) -> list[Pair] | None:
    """Read ``LOW,HIGH``."""
    pairs = []
    for text in texts or []:
        try:
            low, high = (float(part) for part in text.split(","))
        except ValueError:
            raise InputError("--window", repr(text), "LOW,HIGH, e.g. --window=-2,2", "Write --window=-2,2.") from None
        pairs.append((low, high))
    return pairs or None


def write(
    found: Equilibria, extra: list[Family], title: str, out: Path | None, report: Path | None, command: str
) -> None:
    """Write picture and page, where they were asked for."""
    if out is not None or report is not None:
        from ..report.equilibria_pictures import draw_equilibria, write_equilibria_page

        if out is not None:
            draw_equilibria(found, out, title=title)
        if report is not None:
            write_equilibria_page(report, found, title=title, command=command, extra=extra)


def document_of(found: Equilibria, extra: list[Family], scene: str, params: dict[str, float]) -> dict[str, Any]:
    """Return what was found as a document."""
    cuts = [found.low, *found.values(), found.high]
    pieces = itertools.pairwise(cuts)
    families = [
        {"from": a, "to": b, **_family(one)}
        for (a, b), one in zip((p for p in pieces if p[1] > p[0]), found.families, strict=True)
    ]
    return {
        "schema": "gaussdyn/equilibria/1",
        "scene": scene,
        "params": params,
        "param": {"name": found.parameter, "unit": found.unit, "low": found.low, "high": found.high},
        "coordinates": [
            {"name": name, "unit": unit, "low": low, "high": high}
            for name, unit, (low, high) in zip(found.names, found.units, found.window, strict=True)
        ],
        "results": families,
        "bifurcations": [_bifurcation(one) for one in found.bifurcations],
        "at": [_family(one) for one in extra],
        "complete": found.complete and all(one.certified for one in (*found.families, *extra)),
        "consistent": found.consistent,
    }


def _family(one: Family) -> dict[str, Any]:
    return {
        "at": one.value, "components": one.components, "holes": one.holes, "euler": one.euler,
        "certified": one.certified, "cut": one.cut, "intervals": [list(pair) for pair in one.intervals],
        "borders": [list(pair) for pair in one.borders], "size": list(one.area), "reason": one.reason or None,
    }  # fmt: skip


def _bifurcation(one: Bifurcation) -> dict[str, Any]:
    return {
        "value": one.value, "enclosure": [one.low, one.high], "q": list(one.q), "kind": one.kind,
        "border": one.border, "A": one.A, "det": one.det, "change": one.change, "certified": one.certified,
    }  # fmt: skip


def show(document: dict[str, Any]) -> None:
    """Print what was found for people."""
    from rich.table import Table

    screen, name = console(), document["param"]["name"]
    table = Table(title=f"Equilibria of {document['scene']} over {name}", title_justify="left")
    for heading in ("from", "to", "pieces", "holes", "proved"):
        table.add_column(heading)
    for one in document["results"]:
        proved = "yes" if one["certified"] else one["reason"]
        table.add_row(f"{one['from']:.10g}", f"{one['to']:.10g}", str(one["components"]), str(one["holes"]), proved)
    screen.print(table)
    for one in document["bifurcations"]:
        place = ", ".join(f"{x:.8g}" for x in one["q"])
        sure = "" if one["certified"] else f" (not proved: A = {one['A']:.3g}, det B = {one['det']:.3g})"
        screen.print(
            f"{name} = {one['value']:.12g}: {one['kind']} at ({place}) on {one['border']}{sure}", soft_wrap=True
        )
    for one in document["at"]:
        screen.print(f"{name} = {one['at']:.10g}: pieces {one['components']}, holes {one['holes']}", soft_wrap=True)
    if any(one["cut"] for one in document["results"]):
        screen.print("A family reaches the edge of the window: what lies beyond is not counted.", soft_wrap=True)
    window = ", ".join(f"{one['name']} from {one['low']:.4g} to {one['high']:.4g}" for one in document["coordinates"])
    word = f"no others with {window}" if document["complete"] else "not complete"
    screen.print(f"{len(document['bifurcations'])} bifurcations, {word}; {document['wall_s']:.1f} s", soft_wrap=True)
