"""``gaussdyn orbits``: the periodic orbit of a scene, its multipliers, and how it changes with a parameter."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .again import again
from .app import DONE, Json, Panel, app, console, drawable, emit, numbers, quiet
from .progress import Bar

if TYPE_CHECKING:
    from ..analysis.orbits.continuation import Branch
    from ..analysis.orbits.corrector import Change
    from ..analysis.orbits.periodic_orbit import Orbit
    from ..mechanics.lagrangian.system import LagrangianSystem

Pair = tuple[float, float]


@app.command(rich_help_panel=Panel.RANGES)
def orbits(
    context: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene from symbols.")],
    param: Annotated[str | None, typer.Option("--param", help="Parameter that moves.")] = None,
    *,
    range_: Annotated[Pair | None, typer.Option("--range", help="Its ends (default: the scene's).")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, for the others.")] = None,
    frequency: Annotated[str, typer.Option(help="Parameter with the angular frequency of what drives it.")] = "om",
    times: Annotated[int, typer.Option(help="Periods of the drive after which the orbit closes.", min=1)] = 1,
    start: Annotated[str | None, typer.Option(help="Q,..,V,.. to begin with (default: the scene's).")] = None,
    settle: Annotated[float | None, typer.Option(help="Time to wait first, s; 0 for unstable orbits.", min=0.0)] = None,
    most: Annotated[int, typer.Option(help="Orbits along a branch at most, either way.", min=2)] = 400,
    out: Annotated[Path | None, typer.Option(help="Write the diagram (.png, .svg, .pdf).")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (HTML) with the diagram.")] = None,
    json_wanted: Json = False,
) -> None:
    """Find the periodic orbit that a scene tends to; with --param, follow it and locate its bifurcations.

    Example: gaussdyn orbits stribeck_belt --param u --range 0.3 1.1 --report belt.html
    """
    drawable("--out", out, "PICTURE")
    drawable("--report", report, "PAGE")
    begun, params = time.perf_counter(), numbers(settings)
    with quiet(json_wanted):
        ends = None if param is None else span(scene, param, range_, params)
        system, orbit, period = first(scene, params, frequency, times, _numbers(start), settle)
        branch = None if param is None or ends is None else follow(system, orbit, param, ends, period, most)
        write(orbit, branch, system, scene, out, report, again(context, range_=ends))
        document = document_of(scene, orbit, branch)
    document |= {"out": out and str(out), "report": report and str(report), "wall_s": time.perf_counter() - begun}
    if json_wanted:
        emit(document)
    else:
        show(document)
    raise typer.Exit(DONE)


def first(
    name: str, params: dict[str, float], frequency: str, times: int, start: list[float] | None, settle: float | None
) -> tuple[LagrangianSystem, Orbit, Any]:
    """Return the system of a scene, its orbit, and the period of what drives it as a function.

    Raises
    ------
    InputError
        An unknown scene or parameter; a drive without a frequency; a motion that does not close.
    """
    from ..analysis.orbits.periodic_orbit import periodic_orbit
    from ..analysis.orbits.variational_flow import autonomous, system_of
    from ..scenes import catalogue

    scene = catalogue.build(name, **params)
    system = system_of(scene)
    begin = [*scene.state.q.tolist(), *scene.state.v.tolist()] if start is None else start
    if autonomous(system):
        return system, periodic_orbit(system, begin, settle=settle), None
    if frequency not in system.params:
        allowed = ", ".join(system.params)
        raise InputError(
            "--frequency",
            repr(frequency),
            f"a parameter of what depends on the time: {allowed}",
            f"Write --frequency {allowed.partition(',')[0]}.",
        )

    def period(system: LagrangianSystem) -> float:
        """Return the period of the orbit."""
        return times * 2.0 * math.pi / system.params[frequency]

    return system, periodic_orbit(system, begin, period=period(system), settle=settle), period


def span(name: str, param: str, ends: Pair | None, params: dict[str, float]) -> Pair:
    """Return the range over which orbits are followed: that of the scene, if none is given.

    Raises
    ------
    InputError
        An unknown scene or parameter, a range without the value at which the first orbit is sought.
    """
    from ..scenes import catalogue

    known = catalogue.parameters(name)
    if param not in known:
        raise InputError(f"parameter of {name}", repr(param), ", ".join(known), "Choose it with --param.")
    low, high = (known[param].min, known[param].max) if ends is None else ends
    first = params.get(param, known[param].default)
    if not (low <= first <= high and low < high):
        mend = f"The first orbit is sought at {first:g}; move it with --set {param}=NUMBER."
        raise InputError(f"range of {param}", f"{low:g} to {high:g}", f"low < high, around {first:g}", mend)
    return low, high


def follow(system: LagrangianSystem, orbit: Orbit, param: str, ends: Pair, period: Any, most: int) -> Branch:
    """Return the branch of orbits over a parameter."""
    from ..analysis.orbits.continuation import branch_of_orbits

    with Bar(f"orbits over {param}") as bar:
        return branch_of_orbits(system, orbit, param, *ends, period=period, most=most,
                                progress=lambda share: bar.update(share, 1.0))  # fmt: skip


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            "--start", repr(text), "numbers Q,..,V,.. separated by commas", "Write --start 0.1,0."
        ) from None


def write(
    orbit: Orbit,
    branch: Branch | None,
    system: LagrangianSystem,
    title: str,
    out: Path | None,
    report: Path | None,
    command: str,
) -> None:
    """Write diagram and page, where they were asked for."""
    if out is not None or report is not None:
        from ..report.orbits_pictures import draw_orbits, write_orbits_page

        if out is not None:
            draw_orbits(orbit, branch, out, names=system.names, title=title)
        if report is not None:
            write_orbits_page(report, orbit, branch, names=system.names, title=title, command=command)


def document_of(scene: str, orbit: Orbit, branch: Branch | None) -> dict[str, Any]:
    """Return what was found as a document."""
    found = [orbit] if branch is None else branch.orbits
    return {
        "schema": "gaussdyn/orbits/1",
        "scene": scene,
        "params": orbit.params,
        "param": None if branch is None else {"name": branch.parameter, "unit": branch.unit},
        "results": [_orbit(one, None if branch is None else branch.parameter) for one in found],
        "bifurcations": [] if branch is None else [_change(one) for one in branch.changes],
        "ends": None if branch is None else list(branch.ends),
    }


def _orbit(one: Orbit, param: str | None) -> dict[str, Any]:
    return {
        "value": None if param is None else one.params[param], "period": one.period, "start": one.y.tolist(),
        "multipliers": [[float(m.real), float(m.imag)] for m in one.multipliers], "autonomous": one.autonomous,
        "stable": one.stable, "sticks": one.sticks, "min": one.low.tolist(), "max": one.high.tolist(),
        "events": [{"t": e.t, "kind": e.kind, "id": e.id, "y": e.y.tolist(), "saltation": e.S.tolist()}
                   for e in one.motion.passages], "miss": one.miss,
    }  # fmt: skip


def _change(one: Change) -> dict[str, Any]:
    return {
        "kind": one.kind, "value": one.value, "angle": one.angle, "size": one.size, "before": list(one.before),
        "after": list(one.after), "period": None if one.orbit is None else one.orbit.period,
        "multipliers": None if one.orbit is None else [[float(m.real), float(m.imag)] for m in one.orbit.multipliers],
    }  # fmt: skip


def show(document: dict[str, Any]) -> None:
    """Print what was found for people."""
    screen, results = console(), document["results"]
    if document["param"] is None:
        one = results[0]
        screen.print(f"period {one['period']:.12g} s, {'stable' if one['stable'] else 'unstable'}", soft_wrap=True)
        pairs = ", ".join(f"{a:.9g}" + (f"{b:+.9g}i" if b else "") for a, b in one["multipliers"])
        screen.print(f"multipliers {pairs}", soft_wrap=True)
        for event in one["events"]:
            screen.print(f"t = {event['t']:.9g} s: {event['kind']} of {event['id']} at {event['y']}", soft_wrap=True)
        screen.print(f"it misses its beginning by {one['miss']:.1e}; {document['wall_s']:.1f} s", soft_wrap=True)
        return
    name = document["param"]["name"]
    values = [one["value"] for one in results]
    screen.print(f"{len(results)} orbits, {name} from {min(values):.9g} to {max(values):.9g}", soft_wrap=True)
    for one in document["bifurcations"]:
        angle = f", angle {one['angle']:.9g}" if one["angle"] else ""
        screen.print(f"{name} = {one['value']:.12g}: {one['kind']}{angle}", soft_wrap=True)
    for word, end in zip(("first", "last"), document["ends"], strict=True):
        screen.print(f"{word}: {end}", soft_wrap=True)
    screen.print(f"{document['wall_s']:.1f} s", soft_wrap=True)
