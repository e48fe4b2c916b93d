"""``gaussdyn bench measured``: recorded tosses, impacts and ADAMS joints as judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import InputError
from ..app import DONE, UNFINISHED, Json, console, emit, numbers, quiet
from ..progress import Bar
from .group import bench

SETS = ("tosses", "impacts", "joints")
BARS = {"position_percent": 10.0, "rotation_deg": 7.7, "Newton": 5.9, "Poisson": 7.7}
CUBE = "(inertia=, offset= or the source's)"
SOURCE = {"inertia": 0.00081, "offset": 0.0}  # kg m^2, m: the cube as it was published
SOFT = {"stiffness": 1e4, "tangential": 1.0}  # N/m of a corner, and that of friction over it
Folder = Annotated[Path | None, typer.Argument(metavar="[FOLDER]", show_default="GAUSSDYN_MEASURED")]


@bench.command("measured")
def measured(
    folder: Folder = None,
    *,
    only: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(SETS)}; may be repeated.")] = None,
    toss: Annotated[list[str] | None, typer.Option(help=f"mu=, eps_n=, floor= {CUBE}: no fit then.")] = None,
    springs: Annotated[list[str] | None, typer.Option(help=f"mu=, damping=, floor= {CUBE}: springs too.")] = None,
    limits: Annotated[bool, typer.Option("--limits", help="What limits the prediction of tosses, too.")] = False,
    pictures: Annotated[Path | None, typer.Option(help="A folder for one picture per set.")] = None,
    json_wanted: Json = False,
) -> None:
    """Judge the engine by recorded tosses, impacts and ADAMS joints, beside the floor that the data set.

    Example: gaussdyn bench measured FOLDER --only impacts --json
    """
    from ...analysis.measured.recorded_file import measured_folder

    sets, given = _sets(only), _given("--toss", toss, ("mu", "eps_n", "floor"), SOURCE)
    soft = _given("--springs", springs, ("mu", "damping", "floor"), SOURCE | SOFT)
    place = measured_folder(folder)
    if pictures is not None:
        _place(pictures)
    document: dict[str, Any] = {"schema": "gaussdyn/bench-measured/1"}
    with quiet(json_wanted):
        if "tosses" in sets:
            document["tosses"] = tosses(place, given, pictures)
            document["tosses"] |= _by_springs(place, soft) if soft else {}
            document["tosses"] |= _limits(place, document["tosses"]["parameters"]) if limits else {}
        if "impacts" in sets:
            document["impacts"] = impacts(place, pictures)
        if "joints" in sets:
            document["joints"] = joints(place, pictures)
    emit(document) if json_wanted else show(document)
    raise typer.Exit(DONE if all(_reached(document[name]) for name in sets) else UNFINISHED)


def _reached(found: dict[str, Any]) -> bool:
    """Whether all bars of a set are reached; of tosses by rigid contacts or by springs."""
    ways = [found["bars"], *([found["springs"]["bars"]] if "springs" in found else [])]
    return any(all(one["reached"] for one in bars) for bars in ways)


def _sets(only: list[str] | None) -> tuple[str, ...]:
    for name in only or ():
        if name not in SETS:
            raise InputError("--only", repr(name), ", ".join(SETS), f"Write --only {next(iter(SETS))}.")
    return tuple(name for name in SETS if name in (only or SETS))


def _given(
    option: str, settings: list[str] | None, needed: tuple[str, ...], others: dict[str, float]
) -> dict[str, float]:
    """Return the parameters of the tosses that are given, with the others as they are by default; or none."""
    given = numbers(settings)
    for name in given:
        if name not in (*needed, *others):
            raise InputError(option, repr(name), ", ".join((*needed, *others)), f"Write {option} {needed[0]}=1.0.")
    if given and not set(needed) <= set(given):
        raise InputError(
            option,
            ", ".join(given),
            f"all of {', '.join(needed)}, or none",
            "Add " + " ".join(f"{option} {one}" for one in needed),
        )
    return others | given if given else {}


def _place(pictures: Path) -> None:
    """Refuse a place for pictures before any work."""
    from ...report import needs

    if not pictures.is_dir():
        raise InputError("--pictures", pictures, "an existing folder", f"mkdir {pictures}")
    needs.check_format("--pictures", pictures / "tosses.png", needs.PICTURE)


def tosses(place: Path, given: dict[str, float], pictures: Path | None) -> dict[str, Any]:
    """Fit on 60 tosses (unless parameters are given), and judge on 150 others."""
    from dataclasses import asdict

    from ...analysis.measured.cube_tosses import CubeTosses
    from ...analysis.measured.toss_limits import flight_errors
    from ...analysis.measured.toss_prediction import TossParameters, fit_tosses, judged

    data = CubeTosses.load(place)
    fitted: dict[str, Any] = {}
    if given:
        parameters = TossParameters(**given)
    else:
        with Bar("tosses: sets of parameters") as bar:
            found = fit_tosses(data, data.names("fit"), progress=lambda count: bar.update(count, 60))
        parameters, fitted = found.parameters, {"objective": found.objective, "tried": found.tried}
    names = data.names("test")
    errors, flight = judged(data, names, parameters), flight_errors(data, names, parameters.offset)
    summary = errors.summary()
    bars = _toss_bars("tosses", summary)
    if pictures is not None:
        from ...report.measurements.measured_pictures import draw_tosses

        draw_tosses(errors, flight, (BARS["position_percent"] / 100.0, BARS["rotation_deg"]), pictures / "tosses.png")
    floor = {"position_percent": 100.0 * flight[0], "rotation_deg": flight[1]}
    return {
        "parameters": asdict(parameters),
        "fit": fitted or None,
        "test": summary,
        "flight_alone": floor,
        "bars": bars,
    }


def _by_springs(place: Path, given: dict[str, float]) -> dict[str, Any]:
    """Judge springs in the place of contacts on the 150 tosses."""
    from ...analysis.measured.cube_tosses import CubeTosses
    from ...analysis.measured.toss_prediction import TossSprings, judged

    data = CubeTosses.load(place)
    test = judged(data, data.names("test"), TossSprings(**given)).summary()
    return {"springs": {"parameters": given, "test": test, "bars": _toss_bars("tosses by springs", test)}}


def _toss_bars(name: str, summary: dict[str, float]) -> list[dict[str, Any]]:
    return [_bar(f"{name}, {key}", summary[key], BARS[key]) for key in ("position_percent", "rotation_deg")]


def _limits(place: Path, values: dict[str, float]) -> dict[str, Any]:
    """Return what moves predictions by how much, friction toss by toss, single bounces, and how errors grow."""
    from dataclasses import asdict

    from ...analysis.measured import toss_limits
    from ...analysis.measured.cube_tosses import CubeTosses
    from ...analysis.measured.mass_centre import mass_centre
    from ...analysis.measured.toss_prediction import TossParameters

    data, parameters = CubeTosses.load(place), TossParameters(**values)
    names = data.names("test")
    grown = toss_limits.growth(data, names, parameters)
    found = {
        "changes": [asdict(one) for one in toss_limits.shifts(data, names, parameters)],
        "own_friction": toss_limits.own_friction(data, names, parameters).summary(),
        "mass_centre": mass_centre(data, data.names("all")).summary(),
        "corner_bounces": _bounces(data, parameters),
        "growth": [{"t_s": t, "position_percent": 100.0 * x, "rotation_deg": turn} for t, x, turn in grown],
    }
    return {"limits": found}


def _bounces(data: Any, parameters: Any) -> dict[str, Any]:
    """Return bounces of single corners of the cube as published, and of the one that was fitted."""
    from ...analysis.measured.corner_bounces import corner_bounces

    cubes = {"published": SOURCE, "fitted": {name: getattr(parameters, name) for name in SOURCE}}
    names = data.names("all")
    return {key: corner_bounces(data, names, parameters.floor, **cube).summary() for key, cube in cubes.items()}


def impacts(place: Path, pictures: Path | None) -> dict[str, Any]:
    """Judge impact laws on recorded impacts."""
    from ...analysis.measured.planar_impacts import EllipseImpacts, judged_laws

    laws = judged_laws(EllipseImpacts.load(place))
    if pictures is not None:
        from ...report.measurements.measured_pictures import draw_impacts

        draw_impacts(laws, pictures / "impacts.png")
    results = [law.summary() for law in laws]
    medians = {str(one["law"]): one["median_percent"] for one in results}
    return {
        "results": results,
        "bars": [_bar(f"impacts, {name}", medians[name], BARS[name]) for name in ("Newton", "Poisson")],
    }


def joints(place: Path, pictures: Path | None) -> dict[str, Any]:
    """Compare ADAMS runs of joints with ours, in the coordinates of bodies and in those of joints."""
    from dataclasses import asdict

    from ...analysis.measured.adams_joints import Coordinates, joint_cases

    kinds: tuple[Coordinates, ...] = ("bodies", "joints")
    found = [one for kind in kinds for case in joint_cases(place, coordinates=kind) for one in case.differences]
    if pictures is not None:
        from ...report.measurements.measured_pictures import draw_joints

        draw_joints(found, pictures / "joints.png")
    results = [asdict(one) | {"holds": one.holds, "loose": one.loose} for one in found]
    wrong = {kind: sum(not one.holds for one in found if one.coordinates == kind) for kind in kinds}
    bars = [_bar(f"joints, columns that differ, coordinates of {kind}", float(wrong[kind]), 0.0) for kind in kinds]
    return {"results": results, "bars": bars}


def _bar(name: str, value: Any, bar: float) -> dict[str, Any]:
    return {"name": name, "value": value, "bar": bar, "reached": bool(value <= bar)}


def show(document: dict[str, Any]) -> None:
    """Print the table: what was judged, the bar, and the floor that the data set."""
    from rich.table import Table

    screen = console()
    table = Table(box=None)
    for heading in ("judged by", "found", "bar", "floor of the data"):
        table.add_column(heading)
    for name, value, bar, floor in _lines(document):
        table.add_row(name, value, bar, floor)
    screen.print(table)
    for one in document.get("tosses", {}).get("limits", {}).get("changes", ()):
        moved = f"{one['position_percent']:.2f} % and {one['rotation_deg']:.2f} deg"
        screen.print(f"{one['change']}: predictions move by {moved}", markup=False)
    for one in document.get("joints", {}).get("results", ()):
        if not one["holds"]:
            said = f"off by {one['difference']:.2g}, bar {one['bar']:.2g}"
            screen.print(f"{one['case']} {one['column']}, coordinates of {one['coordinates']}: {said}", markup=False)


def _lines(document: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table."""
    rows = []
    if "tosses" in document:
        rows += _toss_lines(document["tosses"])
    if "impacts" in document:
        results = document["impacts"]["results"]
        least = f"{results[0]['median_percent']:.2f} %"
        for one in results[1:]:
            bar = BARS.get(one["law"])
            rows.append(
                (f"impacts, {one['law']}", f"{one['median_percent']:.2f} %", f"{bar:g} %" if bar else "", least)
            )
    rows += _joint_lines(document.get("joints", {}).get("results", ()))
    return rows


def _joint_lines(results: Sequence[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return a row for each kind of coordinates."""
    rows = []
    for kind in dict.fromkeys(one["coordinates"] for one in results):
        chosen = [one for one in results if one["coordinates"] == kind]
        cases, holds = len({one["case"] for one in chosen}), sum(one["holds"] for one in chosen)
        head, loose = f"ADAMS columns, {cases} runs, coordinates of {kind}", sum(one["loose"] for one in chosen)
        rows.append((head, f"{holds} of {len(chosen)}", str(len(chosen)), f"{loose} recorded loosely"))
    return rows


def _toss_lines(found: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return the rows of the tosses: by rigid contacts, and by springs where they were judged."""
    rows, floor = [], found["flight_alone"]
    ways = {"": found["test"]} | ({", springs": found["springs"]["test"]} if "springs" in found else {})
    for way, test in ways.items():
        for key, unit in (("position_percent", "%"), ("rotation_deg", "deg")):
            head = f"{test['tosses']} tosses{way}, median {key.split('_')[0]}"
            rows.append((head, f"{test[key]:.2f} {unit}", f"{BARS[key]:g} {unit}", f"{floor[key]:.2f} {unit} (flight)"))
    return rows
