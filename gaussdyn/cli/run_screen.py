"""A run on the screen, for people."""

from __future__ import annotations

from typing import Any

from .app import console

COMPILED = 5.0  # s: kernels that only had to be loaded never take that long
VIBRATES = 1e-12  # J
WORDS = {True: "[green]met[/green]", False: "[red]missed[/red]", None: "not compared"}


def show(document: dict[str, Any]) -> None:
    """Print what a run found (the document of the file formats)."""
    screen = console()
    screen.print(headline(document), soft_wrap=True)
    _show_course(screen, document)
    screen.print(
        f"residual {_figure(document['max_residual'])}, penetration {_figure(document['max_penetration_m'])} m, "
        f"energy error {_figure(document['energy_drift_rel'])}",
        soft_wrap=True,
    )
    if (document["fast_energy_J"] or 0.0) > VIBRATES:
        words = "J of vibration across the constraints from the start on: no slow start"
        screen.print(f"{_figure(document['fast_energy_J'])} {words}", soft_wrap=True)
    for key in ("events", "outcomes"):
        if document[key]:
            screen.print(f"{key}: " + ", ".join(f"{n} {kind}" for kind, n in document[key].items()), soft_wrap=True)
    if document["checks"]:
        screen.print(table(document["checks"]))
    for one in document["order"] or []:
        screen.print(_order(one), soft_wrap=True)
    for key in ("out", "report", "record"):
        if document[key]:
            screen.print(f"{key}: {document[key]}", soft_wrap=True, markup=False)


def _show_course(screen: Any, document: dict[str, Any]) -> None:
    """Print what the run chose, where it began and ended, and how it goes on."""
    if document["choice"]:
        screen.print(f"it {document['choice']}", soft_wrap=True, style="yellow", markup=False)
    if document["resumed_from"] is not None:
        screen.print(_resumed(document), soft_wrap=True)
    if document["stop"]:
        screen.print(f"stopped at t = {document['stop']['t']:g} s: {document['stop']['reason']}", markup=False)
    if document["resume"]:
        screen.print(f"go on with: {document['resume']}", soft_wrap=True, markup=False)
    elif document["interrupted"]:
        screen.print("not kept: with --out run.h5 an interrupted run can be gone on with", soft_wrap=True, markup=False)


def headline(document: dict[str, Any]) -> str:
    """Return name, status, steps and time."""
    stepper, compile_s = document["stepper"], document["compile_s"]
    colour = "green" if document["status"] == "COMPLETED" else "yellow"
    once = f" (and {compile_s:.0f} s to compile, once)" if compile_s > COMPILED else ""
    return (
        f"[bold]{document['scene']}[/bold]  [{colour}]{document['status']}[/{colour}] at t = "
        f"{document['t_reached']:g} s, {document['steps']} steps of {stepper['name']} "
        f"(dt = {stepper.get('dt', 0):g} s) in {document['wall_s'] - compile_s:.2f} s{once}"
    )


def table(checks: list[dict[str, Any]]) -> Any:
    """Return the comparison with the exact answers as a table."""
    from rich.table import Table

    found = Table()
    for heading in ("exact answer", "expected", "got", "error", "tolerance", ""):
        found.add_column(heading)
    for check in checks:
        figures = [_figure(check[key], 7) for key in ("expected", "got", "error", "tol")]
        found.add_row(f"{check['name']} ({check['unit']})", *figures, WORDS[check["pass"]])
    return found


def _resumed(document: dict[str, Any]) -> str:
    if document["status"] == "COMPLETED" and document["resumed_from"] == document["t_reached"]:
        return "it was completed already: nothing was left to do"
    return f"resumed at t = {document['resumed_from']:g} s"


def _order(one: dict[str, Any]) -> str:
    errors = ", ".join(_figure(error) for error in one["error"])
    word = "exact to rounding" if one["order"] is None else f"order {one['order']:.2f}"
    return f"{one['name']}: errors {errors} at dt, dt/2, dt/4; {word}"


def _figure(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}"
