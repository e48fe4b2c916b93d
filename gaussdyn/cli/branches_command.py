"""``gaussdyn branches``: where constraints lose rank, and which motions meet there."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InputError
from .app import DONE, Json, Panel, app, console, emit, numbers, quiet


@app.command(rich_help_panel=Panel.STATES)
def branches(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene (see: gaussdyn scenes).", show_default=False)],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, repeatable.")] = None,
    *,
    along: Annotated[bool, typer.Option("--along", help="All points that the motion of the scene passes.")] = False,
    at: Annotated[str | None, typer.Option(help="A configuration: its coordinates, with commas.")] = None,
    project: Annotated[bool, typer.Option("--project", help="Move it to the nearest one on the constraints.")] = False,
    t_end: Annotated[float | None, typer.Option(help="Duration with --along, s (default: the scene's).")] = None,
    rank_tol: Annotated[float, typer.Option(help="Singular values below this, relative, count as zero.")] = 1e-9,
    max_branches: Annotated[int, typer.Option(help="Refuse more branches than this.")] = 16,
    json_wanted: Json = False,
) -> None:
    """Say how many branches of the configuration space meet at a configuration: crossing, tangency, isolated point.

    Example: gaussdyn branches darboux --along
    """
    if along and at is not None:
        raise InputError("--at", at, "nothing beside --along", "The motion says where to look: leave --at out.")
    with quiet(json_wanted):
        from ..analysis.singular import configurations as analysis
        from ..scenes import catalogue

        built = catalogue.build(scene, **numbers(settings))
        found: list[dict[str, Any]] = []
        words: list[str] = []
        if along:
            for one in analysis.branches_along(built, t_end):
                loads = None if one.loads is None else one.loads.to_json()
                found.append({"t": one.t, "branch": one.branch, "loads": loads} | one.branches.to_json())
                words.append(f"t = {one.t:.12g} s, on branch {one.branch}: {one.branches.explain()}")
                words.append(f"    reactions: {one.loads.explain() if one.loads is not None else 'not analysed'}")
        else:
            own = analysis.branches(
                built, _place(at), rank_tol=rank_tol, max_branches=max_branches, project=project
            )  # fmt: skip
            found.append(own.to_json())
            words.append(own.explain())
    if json_wanted:
        emit({"scene": scene, "along": along, "points": found})
    else:
        console().print("\n".join(words) or "no branch point on the way", soft_wrap=True, markup=False)
    raise typer.Exit(DONE)


def _place(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError("--at", repr(text), "numbers with commas, e.g. 0,0", "Write --at 0,0.") from None
