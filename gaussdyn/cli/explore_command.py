"""``gaussdyn explore``: the tree of all futures of a scene."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .again import again
from .app import DONE, UNFINISHED, Json, MuSRule, Panel, Rule, app, console, drawable, emit, numbers, path_text, quiet


@app.command(rich_help_panel=Panel.STATES)
def explore(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SCENE", help="A scene.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER.")] = None,
    t_end: Annotated[float | None, typer.Option("--t-end", help="Until when, s.")] = None,
    dt: Annotated[float | None, typer.Option(help="Step, s.")] = None,
    depth: Annotated[int, typer.Option(help="Largest number of branchings in a row.")] = 4,
    most: Annotated[int, typer.Option(help="Largest number of futures.")] = 64,
    mu_s_rule: MuSRule = Rule.all,
    report: Annotated[Path | None, typer.Option(help="Write the tree as an HTML page.")] = None,
    json_wanted: Json = False,
) -> None:
    """Follow every motion where the acceleration is certified not to be unique.

    Example: gaussdyn explore associated_slider --t-end 0.2 --report tree.html
    """
    drawable("--report", report, "TREE_PAGE")
    with quiet(json_wanted):
        from ..integrate.futures.explore import explore as follow
        from ..integrate.time_stepping.moreau_jean import MoreauJean
        from ..scenes import catalogue

        scene = catalogue.build(name, **numbers(settings))
        stepper = MoreauJean(dt=scene.dt if dt is None else dt)
        tree = follow(scene, t_end=t_end, stepper=stepper, depth=depth, most=most, mu_s_rule=mu_s_rule.value)
        if report is not None:
            from ..report.tree import write_tree

            write_tree(report, tree, title=scene.title, source=scene.source, command=again(context))
    if json_wanted:
        emit(tree.document() | {"report": path_text(report)})
    else:
        screen = console()
        for line in tree.lines():
            screen.print(line, soft_wrap=True, markup=False)
        screen.print("complete" if tree.complete else "not complete: a bound, a stop, or a branch not followed")
    raise typer.Exit(DONE if tree.complete else UNFINISHED)
