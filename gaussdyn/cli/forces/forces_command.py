"""``gaussdyn forces``: every reaction that goes with the motion at a state, as ranges with proofs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ..again import again
from ..app import DONE, UNFINISHED, Json, Panel, app, check_scene, console, drawable, emit, numbers, quiet
from ..audit_command import is_file
from ..contacts_command import scene_at
from .recorded_run import recorded_run

if TYPE_CHECKING:
    from ...analysis.forces.force_polygon import ForcePolygon
    from ...analysis.forces.force_range import ForceRange
    from ...analysis.forces.reaction_set import ReactionSet
    from ...contact.snapshot import LocalDynamics


@app.command(rich_help_panel=Panel.STATES)
def forces(
    context: typer.Context,
    target: Annotated[str, typer.Argument(metavar="SCENE|RUN", help="A scene, or a run file of one.")],
    of: Annotated[list[str] | None, typer.Option(help="A reaction, a constraint, or a word in ids: the sum.")] = None,
    *,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for a scene.")] = None,
    at: Annotated[float | None, typer.Option(help="Time at which it is looked at, s.")] = None,
    pair: Annotated[tuple[str, str] | None, typer.Option(help="Two forces whose polygon is drawn.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Over the rationals, where the set is a polyhedron.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write a picture (.png, .svg, .pdf).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (HTML) with the picture.")] = None,
    json_wanted: Json = False,
) -> None:
    """Say which reactions the laws allow with the motion: what is unique, what lies between which ends, what is free.

    Example: gaussdyn forces four_legs --of leg3
    """
    drawable("--out", out, "PICTURE")
    drawable("--report", report, "PAGE")
    with quiet(json_wanted):
        from ...analysis.forces.at_state import forces as find
        from ...analysis.forces.force_polygon import polygon

        dynamics, about = read(target, numbers(settings), at)
        found = find(dynamics)
        ranges = [found.range(one) for one in of] if of else list(found.ranges())
        ends = exact_ends(found, of) if exact else {}
        drawn = None if pair is None else polygon(found, *pair)
        draw(found, ranges, drawn, about["scene"], (out, report), again(context))
    document = {"schema": "gaussdyn/forces/1", **about, **found.to_json()}
    document["results"] = [one.to_json() | ends.get(k, {}) for k, one in enumerate(ranges)]
    if drawn is not None:
        document["pair"] = drawn.to_json()
    document |= {"verified": found.verify(), "out": out and str(out), "report": report and str(report)}
    if json_wanted:
        emit(document)
    else:
        show(found, ranges, ends, whole=not of)
    raise typer.Exit(DONE if all(one.known for one in ranges) else UNFINISHED)


def read(target: str, params: dict[str, float], at: float | None) -> tuple[LocalDynamics, dict[str, Any]]:
    """Return a state of a scene or of a run, and what it is of.

    Raises
    ------
    InputError
        No such scene or file, a run whose scene is not in the catalogue, a time outside it, parameters for a run.
    """
    from ...integrate.run.uniqueness_checks import accelerating

    if not is_file(target):
        check_scene(target, "a run file")
        scene, state = scene_at(target, params, at)
        return accelerating(scene.system, state, scene.control), {"scene": scene.name, "params": scene.params}
    from ...analysis.margins import saved_state

    run, scene = recorded_run("SCENE|RUN", target, params)
    t = run.t_reached if at is None else at
    if not run.t[0] <= t <= run.t[-1]:
        raise InputError(
            "--at", at, f"a time of the run, {run.t[0]:g} to {run.t[-1]:g} s", f"Write --at {run.t[-1]:g}."
        )
    nearest = int(abs(run.t - t).argmin())
    state = saved_state(run, int(run.saved[nearest])) or run.state(nearest)
    about = {"scene": scene.name, "params": scene.params, "file": target}
    return accelerating(scene.system, state, scene.control), about


def exact_ends(found: ReactionSet, of: list[str] | None) -> dict[int, dict[str, Any]]:
    """Return the exact ends of all ranges."""
    from ...analysis.forces.rational_set import exact

    rational = exact(found)
    ends = [rational.range(one) for one in of or found.names]
    words = [(None if x is None else str(x) for x in (one.low, one.high)) for one in ends]
    return {k: {"low_exact": low, "high_exact": high} for k, (low, high) in enumerate(words)}


def draw(
    found: ReactionSet,
    ranges: list[ForceRange],
    pair: ForcePolygon | None,
    title: str,
    places: tuple[Path | None, Path | None],
    command: str,
) -> None:
    """Write picture and page, as far as they are wanted."""
    out, report = places
    if out is not None or report is not None:
        from ...report.forces_pictures import draw_forces, write_forces_page

        if out is not None:
            draw_forces(ranges, out, title=title, pair=pair)
        if report is not None:
            write_forces_page(report, found, ranges, title=title, command=command, pair=pair)


def show(found: ReactionSet, ranges: list[ForceRange], ends: dict[int, dict[str, Any]], *, whole: bool) -> None:
    """Print the ranges for people."""
    screen = console()
    lines = [one.explain() for one in ranges]
    for k, exact in ends.items():
        if exact["low_exact"] != exact["high_exact"] or exact["low_exact"] is None:
            lines[k] += f" (exactly {exact['low_exact'] or '-inf'} to {exact['high_exact'] or 'inf'})"
        else:
            lines[k] += f" (exactly {exact['low_exact']})"
    for line in [*lines, *(found.summary() if whole or not ranges else [])]:
        screen.print(line, soft_wrap=True, markup=False)
