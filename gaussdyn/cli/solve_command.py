"""``gaussdyn solve``: a problem in a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import DONE, UNFINISHED, Json, Panel, app, console, emit, path_text, quiet, readable, writable
from .methods import METHODS, solve_with

if TYPE_CHECKING:
    from ..programs.files.formats import ProblemFile
    from ..programs.solution.solution import Solution
    from ..programs.solution.wording import Wording

MODES = ("open", "stick", "slip", "degenerate")
HDF5 = (".hdf5", ".h5", ".hdf")
FINAL = ("SOLVED", "INFEASIBLE", "NO_SOLUTION")


@app.command(rich_help_panel=Panel.RUNS)
def solve(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="FCLib HDF5, or JSON of an LCP, a mixed problem or a QP.", show_default=False
        ),
    ],
    method: Annotated[str | None, typer.Option(help=f"One of {', '.join(METHODS)}; picked if not given.")] = None,
    *,
    tol: Annotated[float, typer.Option(help="Residual E that counts as solved.")] = 1e-12,
    case: Annotated[str | None, typer.Option(help="Name of a case in a JSON file of several.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write problem and solution as FCLib HDF5.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Write the proof that there is no solution.")] = None,
    json_wanted: Json = False,
) -> None:
    """Solve a contact problem, an LCP, a mixed problem or a quadratic program, and recompute its residual.

    Example: gaussdyn solve problem.hdf5 --json
    """
    if not 0.0 < tol < 1.0:
        raise InputError("--tol", tol, "a number between 0 and 1, e.g. 1e-12", "Write --tol 1e-12.")
    with quiet(json_wanted):
        document, words = perform(file, method, tol, case, save, certificate)
    if json_wanted:
        emit(document)
    else:
        show(document, words)
    raise typer.Exit(DONE if document["status"] in FINAL else UNFINISHED)


def perform(
    file: Path, method: str | None, tol: float, case: str | None, save: Path | None, certificate: Path | None
) -> tuple[dict[str, Any], Wording]:
    """Read, solve, write; return the document, and the words for it."""
    for name, path in (("--save", save), ("--certificate", certificate)):
        if path is not None:
            writable(name, path)
    from ..programs.files.formats import read_problem
    from ..programs.solution.wording import wording

    if save is not None and save.suffix.lower() not in HDF5:
        raise InputError("--save", save, f"a file ending in {', '.join(HDF5)}", f"Write --save {save}.hdf5.")
    problem_file = read_problem(readable("FILE", file), case)
    if save is not None and problem_file.fclib is None:
        raise InputError(
            "--save", f"a problem of kind {problem_file.kind}", "a friction problem (FCLib HDF5)", "Leave --save out."
        )
    from .._warmup import ready

    ready("problems")
    solution, time_s = timed(problem_file, method, tol)
    if save is not None:
        problem_file.save(save, solution)
    proof = None
    if certificate is not None and solution.certificate is not None:
        solution.certificate.save(certificate)
        proof = certificate
    paths = {"certificate": proof, "saved": save}
    document = document_of(problem_file, solution, time_s) | {k: path_text(p) for k, p in paths.items()}
    return document, wording(problem_file.problem)


def timed(problem_file: ProblemFile, method: str | None, tol: float) -> tuple[Solution, float]:
    """Solve; return the answer and how long it took, s, without compiling or loading kernels."""
    from .._jit import build_statistics

    start, before = time.perf_counter(), build_statistics()["compile_s"]
    solution = solve_with(problem_file.problem, problem_file.kind, method, tol)
    return solution, time.perf_counter() - start - (build_statistics()["compile_s"] - before)


def document_of(problem_file: ProblemFile, solution: Solution, time_s: float) -> dict[str, Any]:
    """Return the answer as the file formats describe it."""
    from .._jit import build_statistics

    residuals = None if solution.residuals is None else solution.residuals.to_json()
    return {
        "schema": "gaussdyn/solve/1",
        "file": problem_file.file,
        "name": problem_file.name,
        "kind": problem_file.kind,
        "contacts": problem_file.contacts,
        "status": str(solution.status),
        "residual": residuals,
        "modes": {mode: solution.modes.count(mode) for mode in dict.fromkeys((*MODES, *solution.modes))},
        "unique": {"u": solution.u_unique, "r": solution.r_unique},
        "method": solution.method,
        "iterations": solution.iterations,
        "time_s": time_s,
        "compile_s": build_statistics()["compile_s"],
        "solution": None if problem_file.fclib is not None or solution.x is None else solution.x.tolist(),
        "message": solution.explain(),
    }


def show(document: dict[str, Any], words: Wording) -> None:
    """Print an answer for people, in words of its problem."""
    screen, status = console(), document["status"]
    colour = {"SOLVED": "green", "INFEASIBLE": "yellow", "NO_SOLUTION": "yellow"}.get(status, "red")
    screen.print(
        f"[bold]{document['name']}[/bold] ({document['kind']}, {document['contacts']} {words.blocks}): "
        f"[{colour}]{status}[/{colour}]",
        soft_wrap=True,
    )
    if status != "SOLVED":
        screen.print(document["message"], soft_wrap=True, markup=False)
    figures = document["residual"] or {}
    known = [(name, figures.get(key)) for key, name in words.residuals.items()]
    shown = [f"{name} {value:.2g}" for name, value in known if value is not None]
    screen.print("residuals: " + (", ".join(shown) or "none"), soft_wrap=True)
    modes = [f"{count} {words.modes.get(mode, mode)}" for mode, count in document["modes"].items() if count]
    if modes:
        screen.print("modes: " + ", ".join(modes))
    said = {True: "unique", False: "not unique", None: "not known to be unique"}
    unique = document["unique"]
    screen.print(f"{words.motion} {said[unique['u']]}, {words.reactions} {said[unique['r']]}")
    screen.print(f"method: {document['method']}, {document['iterations']} iterations, {document['time_s']:.3g} s")
    for key in ("saved", "certificate"):
        if document[key]:
            screen.print(f"{key}: {document[key]}", soft_wrap=True, markup=False)
