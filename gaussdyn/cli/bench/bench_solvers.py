"""``gaussdyn bench solvers``: recorded contact problems, this solver beside those of Siconos."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import InputError
from ..app import DONE, Json, console, drawable, emit, quiet
from ..progress import Bar
from .group import bench

if TYPE_CHECKING:
    from ...analysis.benchmarks.solver_race import Row

Folder = Annotated[
    Path | None,
    typer.Argument(help="Where FCLib files lie; default: what GAUSSDYN_PROBLEMS names.", show_default=False),
]


@bench.command("solvers")
def solvers(
    folder: Folder = None,
    *,
    least: Annotated[int, typer.Option(help="Fewest contacts.")] = 30,
    most: Annotated[int, typer.Option(help="Most contacts.")] = 10**6,
    match: Annotated[str, typer.Option(help="Only files whose name contains this.")] = "",
    cap: Annotated[float, typer.Option(help="CPU seconds per run.")] = 20.0,
    picture: Annotated[Path | None, typer.Option(help="Write the performance profile (.png, .svg, .pdf).")] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Leave Siconos out.")] = False,
    json_wanted: Json = False,
) -> None:
    """Time the contact solver beside Siconos' (where installed), both judged by the same residuals; one thread.

    Example: gaussdyn bench solvers --picture profile.png
    """
    place = _folder(folder)
    drawable("--picture", picture, "PICTURE")
    with quiet(json_wanted):
        rows = race(place, least, most, match, cap, alone)
    if picture is not None and rows:
        _draw(rows, picture)
    document = {"schema": "gaussdyn/bench-solvers/1", "results": [entry(row) for row in rows], "classes": classes(rows)}
    if json_wanted:
        emit(document)
    else:
        show(document)
    raise typer.Exit(DONE)


def _folder(given: Path | None) -> Path:
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "problems"
    place = given or Path(os.environ.get("GAUSSDYN_PROBLEMS", beside))
    if not place.is_dir():
        raise InputError(
            "folder",
            place,
            "a folder with FCLib HDF5 files",
            "gaussdyn bench solvers FOLDER, or export GAUSSDYN_PROBLEMS=FOLDER",
        )
    return place


def race(folder: Path, least: int, most: int, match: str, cap: float, alone: bool) -> list[Row]:
    """Return all runs on all problems, the two sides in alternating order; the first ones are solved twice."""
    from ...analysis.benchmarks.solver_race import Row, own_runs, recorded, siconos_python, siconos_runs
    from ...programs.blocks.gauss_seidel.first_sweeps import FEW_ROWS

    problems = recorded(folder, least, most, match)
    python = None if alone else siconos_python()
    larger = [item for item in problems if len(item[1].q) > FEW_ROWS]
    for _, problem in problems[:1] + larger[:1]:
        own_runs(Row("first", 0, 3), problem, cap)  # loads the kernels
    rows = []
    with Bar("problems") as bar:
        for k, (name, problem) in enumerate(problems):
            row = Row(name, len(problem.laws), problem.laws[0].size)
            if python is not None and k % 2:
                siconos_runs(row, problem, python, cap)
            own_runs(row, problem, cap)
            if python is not None and not k % 2:
                siconos_runs(row, problem, python, cap)
            rows.append(row)
            bar.update(k + 1, len(problems))
    return rows


def entry(row: Row) -> dict[str, Any]:
    """Return what was measured on one problem; times in ms, infinite where the tolerance was missed."""
    from ...analysis.benchmarks.solver_race import AGAIN, OWN, TOLERANCES, WARM

    tight = TOLERANCES[-1]
    times = {f"{tol:g}": 1e3 * row.time(OWN, tol) for tol in TOLERANCES}
    others = {f"{tol:g}": row.best(tol) for tol in TOLERANCES}
    return {
        "problem": row.name,
        "contacts": row.contacts,
        "dim": row.dim,
        "ms": times,
        "best_ms": {tol: 1e3 * time for tol, (time, _) in others.items()},
        "best": {tol: name for tol, (_, name) in others.items()},
        "to_NSN_AC": _over(row.time(OWN, tight), row.time("NSN_AC", tight)),
        "warm": _over(row.time(WARM, TOLERANCES[0]), row.time(AGAIN, TOLERANCES[0])),
        "solvers": _successes(row),
    }


def _successes(row: Row) -> dict[str, dict[str, Any]]:
    """Return, solver by solver, the tolerances met and the false successes: claims that rel_s, or E, refutes."""
    from ...analysis.benchmarks.solver_race import TOLERANCES

    found: dict[str, dict[str, Any]] = {}
    for solver in dict.fromkeys(name for name, _ in row.runs):
        runs = [(k, row.runs[solver, tol]) for k, tol in enumerate(TOLERANCES) if (solver, tol) in row.runs]
        false = sum(run.claimed and not run.near[k] for k, run in runs)
        loose = sum(run.claimed and run.near[k] and not run.good[k] for k, run in runs)
        met = {f"{tol:g}": row.time(solver, tol) < float("inf") for tol in TOLERANCES}
        found[solver] = {"met": met, "false": false, "loose": loose}
    return found


def _over(own: float, other: float) -> float | None:
    """Return own / other; None where neither side has a time, or there is no other side."""
    if other == math.inf or own == math.inf:
        return None if other == own else (0.0 if other == math.inf else math.inf)
    return own / other if other > 0.0 else None


def classes(rows: list[Row]) -> list[dict[str, Any]]:
    """Return geometric means, worst ratios and counts for the classes of problems present."""
    found, entries = [], [entry(row) for row in rows]
    for words, chosen in (
        ("space, 30 contacts and more", [one for one in entries if one["dim"] == 3 and one["contacts"] >= 30]),
        ("space, fewer than 30", [one for one in entries if one["dim"] == 3 and one["contacts"] < 30]),
        ("plane", [one for one in entries if one["dim"] == 2]),
    ):
        if chosen:
            found.append({"class": words, "problems": len(chosen), **_summary(chosen)})
    return found


def _summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    first, last = entries[0]["ms"]
    ratios = {tol: [_over(one["ms"][tol], one["best_ms"][tol]) for one in entries] for tol in (first, last)}
    return {
        "ratio": {tol: _mean(values) for tol, values in ratios.items()},
        "worst": {tol: max((x for x in values if x is not None), default=None) for tol, values in ratios.items()},
        "tight_to_first": _mean([_over(one["ms"][last], one["ms"][first]) for one in entries]),
        "to_NSN_AC": _mean([one["to_NSN_AC"] for one in entries]),
        "warm": _mean([one["warm"] for one in entries]),
        "solvers": _counts(entries, (first, last)),
    }


def _counts(entries: list[dict[str, Any]], tolerances: tuple[str, str]) -> dict[str, dict[str, int]]:
    """Return how often each solver met each tolerance, and how often it was wrong about that."""
    solvers: dict[str, dict[str, int]] = {}
    for one in entries:
        for name, what in one["solvers"].items():
            sums = solvers.setdefault(name, dict.fromkeys((*tolerances, "false", "loose"), 0))
            for tol in tolerances:
                sums[tol] += what["met"][tol]
            for key in ("false", "loose"):
                sums[key] += what[key]
    return solvers


def _mean(values: list[float | None]) -> float | None:
    """Return the geometric mean of the finite positive ones."""
    logs = [math.log(x) for x in values if x is not None and 0.0 < x < math.inf]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _draw(rows: list[Row], path: Path) -> None:
    import numpy as np

    from ...analysis.benchmarks.solver_race import AGAIN, OWN, TOLERANCES, WARM
    from ...report.profile import profile

    solvers = [s for s in dict.fromkeys(s for row in rows for s, _ in row.runs) if s not in (WARM, AGAIN)]
    times = {solver: np.array([row.time(solver, TOLERANCES[0]) for row in rows]) for solver in solvers}
    profile(times, path, first=OWN)


def show(document: dict[str, Any]) -> None:
    """Print the table, one line per problem, and the sums of every class."""
    screen = console()
    screen.print(_table(document["results"]))
    for one in document["classes"]:
        ratio, worst = one["ratio"], one["worst"]
        parts = [f"to the best {_x(ratio[tol])} at {tol} (worst {_x(worst[tol])})" for tol in ratio]
        parts += [f"tight/first {_x(one['tight_to_first'])}", f"to NSN_AC {_x(one['to_NSN_AC'])}"]
        screen.print(f"{one['class']} ({one['problems']}): {'; '.join(parts)}; warm {_x(one['warm'])}")
        for name, sums in one["solvers"].items():
            met = ", ".join(f"{sums[tol]} at {tol}" for tol in ratio)
            screen.print(f"  {name:<20} {met}; false successes {sums['false']}, by E or rel_q only {sums['loose']}")


def _table(results: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None)
    headings = ("problem", "contacts", "ms", "tight", "best ms", "ratio", "solver", "tight", "ratio", "/NSN_AC", "warm")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("problem", "solver") else "right", no_wrap=True)
    for one in results:
        first, last = one["ms"]
        own, best = one["ms"], one["best_ms"]
        cells = [one["problem"][:30], str(one["contacts"]), f"{own[first]:.3f}", f"{own[last]:.3f}"]
        cells += [f"{best[first]:.3f}", _x(_over(own[first], best[first])), one["best"][first]]
        cells += [f"{best[last]:.3f}", _x(_over(own[last], best[last])), _x(one["to_NSN_AC"]), _x(one["warm"])]
        table.add_row(*cells)
    return table


def _x(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
