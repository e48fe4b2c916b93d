"""``gaussdyn margins``: how far a run is from slipping, opening, jamming and Painlevé's situations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..app import Json, Panel, app, check_scene, console, emit, numbers, quiet, writable
from ..audit_command import is_file
from .recorded_run import recorded_run


@app.command(rich_help_panel=Panel.CHECKS)
def margins(
    target: Annotated[str, typer.Argument(metavar="RUN|SCENE", help="A run file, or a scene to run.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for a scene.")] = None,
    *,
    points: Annotated[int, typer.Option(help="How many saved states at most.", min=1)] = 200,
    out: Annotated[Path | None, typer.Option(help="Columns as CSV; RUN.h5: the run with them, all states.")] = None,
    json_wanted: Json = False,
) -> None:
    """Say how near a run came to slipping, opening, jamming and Painlevé's situations, contact by contact.

    Example: gaussdyn margins four_legs --out margins.csv
    """
    if out is not None:
        writable("--out", out)
    with quiet(json_wanted):
        from ...analysis.forces.margins_along import margins as find
        from ...analysis.forces.margins_along import with_margins
        from ...integrate.simulate import simulate
        from ...scenes import catalogue

        if is_file(target):
            run, scene = recorded_run("RUN|SCENE", target, settings)
        else:
            check_scene(target, "a run file")
            scene = catalogue.build(target, **numbers(settings))
            run = simulate(scene)
        found = find(run, scene, points=points)
        if out is not None and out.suffix == ".h5":
            with_margins(run, scene).save(out)
        elif out is not None:
            found.save(out)
    if json_wanted:
        emit({"schema": "gaussdyn/margins/1", "scene": scene.name, "params": scene.params, **found.to_json(),
              "out": out and str(out)})  # fmt: skip
    else:
        console().print(found.explain(), soft_wrap=True, markup=False)
