"""``gaussdyn bench walls``: how the contact solver grows with the number of contacts."""

from __future__ import annotations

import resource
import time
from typing import Annotated, Any

import typer

from ...errors import InputError
from ..app import DONE, UNFINISHED, Json, console, emit, quiet
from .group import bench

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000)
Contacts = Annotated[list[int] | None, typer.Argument(metavar="[CONTACTS]...", show_default=False)]


@bench.command("walls")
def walls(
    contacts: Contacts = None,
    *,
    tol: Annotated[float, typer.Option(help="Residual E that counts as solved.")] = 1e-6,
    seconds: Annotated[float, typer.Option(help="Wall time after which each is stopped.")] = 600.0,
    json_wanted: Json = False,
) -> None:
    """Time generated brick walls (global form, with bilateral rows), of about so many contacts; default 1000 to 20000.

    Example: gaussdyn bench walls 1000 5000
    """
    sizes = contacts or list(SIZES)
    if min(sizes) < 32:
        raise InputError(
            "CONTACTS", min(sizes), "at least 32, a wall of two courses", "Write gaussdyn bench walls 32 64."
        )
    with quiet(json_wanted):
        measured(sizes[0], tol, seconds)  # loads the kernels
        results = [measured(size, tol, seconds) for size in sizes]
    if json_wanted:
        emit({"schema": "gaussdyn/bench-walls/1", "tol": tol, "results": results})
    else:
        show(results)
    raise typer.Exit(DONE if all(one["status"] == "SOLVED" for one in results) else UNFINISHED)


def measured(size: int, tol: float, seconds: float) -> dict[str, Any]:
    """Return CPU seconds (elimination of the velocities included), residuals, and the memory the process ever held."""
    from ...analysis.benchmarks.brick_walls import wall
    from ...programs.blocks.solve_blocks import solve_blocks
    from ...programs.problems.complementarity import ComplementarityProblem
    from ...programs.solution.residuals import block_residuals

    form, laws = wall(size)
    start = time.process_time()
    problem = ComplementarityProblem.condensed(form, laws)
    answer = solve_blocks(problem, tol=tol, seconds=seconds)
    spent = time.process_time() - start
    figures = block_residuals(problem, answer.r)
    return {
        "contacts": len(laws),
        "bilateral_rows": len(form.b),
        "status": str(answer.status),
        "cpu_s": spent,
        "ms_per_contact": 1e3 * spent / len(laws),
        "E": figures.E,
        "rel_s": figures.rel_s,
        "iterations": answer.iterations,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def show(results: list[dict[str, Any]]) -> None:
    """Print the table."""
    from rich.table import Table

    table = Table(box=None)
    for heading in ("contacts", "bilateral rows", "status", "CPU s", "ms per contact", "E", "rel_s", "steps", "MB"):
        table.add_column(heading, justify="right")
    for one in results:
        cells = [str(one["contacts"]), str(one["bilateral_rows"]), one["status"], f"{one['cpu_s']:.2f}"]
        cells += [f"{one['ms_per_contact']:.2f}", f"{one['E']:.1e}", f"{one['rel_s']:.1e}", str(one["iterations"])]
        table.add_row(*cells, str(one["memory_mb"]))
    screen = console()
    screen.print(table)
    growth = results[-1]["ms_per_contact"] / results[0]["ms_per_contact"]
    screen.print(f"time per contact, last over first: {growth:.2f}")
