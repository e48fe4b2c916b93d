"""``gaussdyn mobility``: which joints and contacts depend on each other, and what may move."""

from __future__ import annotations

from typing import Annotated

import typer

from ..app import Json, Panel, app, console, emit, numbers, quiet
from .forces_command import read


@app.command(rich_help_panel=Panel.STATES)
def mobility(
    target: Annotated[str, typer.Argument(metavar="SCENE|RUN", help="A scene, or a run file of one.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for a scene.")] = None,
    at: Annotated[float | None, typer.Option(help="Time at which it is looked at, s.")] = None,
    *,
    joints: Annotated[bool, typer.Option("--joints", help="Joints alone, no contacts.")] = False,
    json_wanted: Json = False,
) -> None:
    """Count what may move, and name the minimal sets of joints and contacts that depend on each other.

    Example: gaussdyn mobility bricard
    """
    with quiet(json_wanted):
        from ...analysis.forces.dependent_rows import dependence

        dynamics, about = read(target, numbers(settings), at)
        found = dependence(dynamics, contacts=not joints)
    if json_wanted:
        emit({"schema": "gaussdyn/mobility/1", **about, **found.to_json()})
    else:
        console().print(found.explain(), soft_wrap=True, markup=False)
