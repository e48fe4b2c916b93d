"""``gaussdyn fit``: parameters of a scene from recorded runs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from .app import Json, Panel, app, console, emit, numbers, quiet, readable

LISTED = "names, separated by commas"


@app.command(rich_help_panel=Panel.RUNS)
def fit(
    files: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs (.h5) or tables (.csv: t,ball.y,...).")],
    *,
    scene: Annotated[str, typer.Option(help="Name of a scene, see `gaussdyn scenes`.")],
    parameters: Annotated[str, typer.Option(help="What to find: NAME or NAME=LOW:HIGH, separated by commas.")],
    columns: Annotated[str | None, typer.Option(help=f"What is compared: {LISTED}.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER of a parameter that is known.")] = None,
    start: Annotated[list[str] | None, typer.Option(help="NAME=NUMBER where the fit begins.")] = None,
    search: Annotated[int, typer.Option(help="Points of the whole ranges that are tried first.", min=0)] = 0,
    json_wanted: Json = False,
) -> None:
    """Find parameters of a scene from runs, with 95 % intervals, and say which cannot be told apart.

    Example: gaussdyn fit run.h5 --scene incline --set slope=0.4 --parameters mu,v0=0:1 --json
    """
    _check(scene)
    wanted, known = ranges_of(parameters), numbers(set_)
    paths = [readable("RUN", path) for path in files]
    began = time.perf_counter()
    with quiet(json_wanted):
        from ..scenes import catalogue
        from ..studies.fitting.fit_runs import fit as carry_out
        from ..studies.template import Template

        limits = {name: ends or _range(catalogue.parameters(scene), scene, name) for name, ends in wanted.items()}
        names = None if columns is None else [name.strip() for name in columns.split(",")]
        made = carry_out(
            list(paths), Template(build=scene, fixed=known), limits, columns=names,
            start=numbers(start) or None, search=search,
        )  # fmt: skip
    head = {"schema": "gaussdyn/fit/1", "files": [str(path) for path in paths], "scene": scene, "fixed": known}
    document = head | made.to_json() | {"wall_s": time.perf_counter() - began}
    emit(document) if json_wanted else show(document)


def _check(scene: str) -> None:
    from ..scenes import catalogue

    if scene not in catalogue.names():
        raise InputError("--scene", repr(scene), "a scene that `gaussdyn scenes` lists", catalogue.nearest(scene))


def ranges_of(text: str) -> dict[str, tuple[float, float] | None]:
    """Read the parameters: names, each with a range or without.

    Raises
    ------
    InputError
        Something else, or a name twice.
    """
    found: dict[str, tuple[float, float] | None] = {}
    for part in text.split(","):
        name, sign, ends = (piece.strip() for piece in part.partition("="))
        if not name or name in found:
            raise InputError(
                "--parameters",
                repr(text),
                f"{LISTED}, each once, e.g. mu,eps_n=0:0.9",
                "Write --parameters mu,eps_n=0:0.9.",
            )
        try:
            low, high = (float(x) for x in ends.split(":")) if sign else (0.0, 0.0)
        except ValueError:
            raise InputError(
                "--parameters", repr(part), "NAME or NAME=LOW:HIGH, e.g. eps_n=0:0.9", "Write --parameters eps_n=0:0.9."
            ) from None
        found[name] = (low, high) if sign else None
    return found


def _range(known: dict[str, Any], scene: str, name: str) -> tuple[float, float]:
    if name not in known:
        raise InputError(
            f"--parameters of {scene}", repr(name), ", ".join(known), f"Write --parameters {next(iter(known))}."
        )
    return known[name].min, known[name].max


def show(document: dict[str, Any]) -> None:
    """Print a fit for people."""
    screen = console()
    for name, value in document["values"].items():
        ends = document["intervals"][name]
        said = "not determined" if ends is None else f"95 % in [{ends[0]:.6g}, {ends[1]:.6g}]"
        screen.print(f"{name} = {value:.6g}  ({said})", soft_wrap=True, markup=False)
    for text in document["words"]:
        screen.print(f"note: {text}", soft_wrap=True, markup=False)
    left = ", ".join(f"{name} {size:.3g}" for name, size in document["rms"].items())
    screen.print(f"left over, root mean square: {left}", soft_wrap=True, markup=False)
    screen.print(f"{document['runs']} runs, {document['wall_s']:.3g} s")
