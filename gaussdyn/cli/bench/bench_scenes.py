"""``gaussdyn bench scenes``: every scene of the catalogue timed, with its errors against exact answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..app import DONE, REJECTED, Json, console, emit, quiet
from ..progress import Bar
from .group import bench

if TYPE_CHECKING:
    from ...integrate.run.trajectory import Trajectory
    from ...mechanics.scene import Scene

Names = Annotated[list[str] | None, typer.Argument(metavar="[SCENE]...", help="Default: all.", show_default=False)]


@bench.command("scenes")
def scenes(
    names: Names = None,
    *,
    stepper: Annotated[str, typer.Option(help="Integrator, at every scene's own step.")] = "moreau_jean",
    json_wanted: Json = False,
) -> None:
    """Run the catalogue, time it, and print the errors against the exact answers.

    Example: gaussdyn bench scenes incline zeno_ball
    """
    with quiet(json_wanted):
        results = measure(names or [], stepper)
    if json_wanted:
        emit({"schema": "gaussdyn/bench-scenes/1", "stepper": stepper, "results": results})
    else:
        show(results)
    raise typer.Exit(DONE if all(one["pass"] is not False for one in results) else REJECTED)


def measure(names: list[str], stepper: str) -> list[dict[str, Any]]:
    """Return one entry per scene; all scenes if there are no names.

    Raises
    ------
    InputError
        An unknown scene or stepper.
    """
    from ...scenes import catalogue

    chosen = [catalogue.build(name) for name in names or catalogue.names()]
    found = []
    with Bar("scenes") as bar:
        for k, scene in enumerate(chosen):
            found.append(measured(scene, stepper))
            bar.update(k + 1, len(chosen))
    return found


def measured(scene: Scene, stepper: str) -> dict[str, Any]:
    """Run one scene: time it, and compare it. A first short run loads the kernels, and is not timed."""
    from ...integrate.simulate import simulate
    from ...integrate.stepper_names import STEPPERS, named
    from ...scenes.compare import compare

    own_step = stepper in STEPPERS and "dt" not in STEPPERS[stepper].__dataclass_fields__
    method = named(stepper) if own_step else named(stepper, dt=scene.dt)
    simulate(scene, t_end=2.0 * scene.dt, stepper=method)
    start = time.perf_counter()
    run = simulate(scene, stepper=method)
    wall = time.perf_counter() - start
    return entry(scene, run, compare(scene, run), wall)


def entry(scene: Scene, run: Trajectory, checks: list[dict[str, Any]], wall: float) -> dict[str, Any]:
    """Return what was measured; ``worst`` is the exact answer with the largest share of its tolerance."""
    steps = int(run.statistics["steps"] or 0)
    compared = [check for check in checks if check["pass"] is not None]
    worst = max(compared, key=lambda check: check["error"] / check["tol"] if check["tol"] else 0.0, default=None)
    return {
        "scene": scene.name,
        "status": run.status,
        "steps": steps,
        "wall_s": wall,
        "step_ms": 1e3 * wall / max(steps, 1),
        "max_residual": run.statistics.get("max_residual"),
        "compared": len(compared),
        "pass": all(check["pass"] for check in compared) if compared else None,
        "worst": worst,
        "checks": checks,
    }


def show(results: list[dict[str, Any]]) -> None:
    """Print the table."""
    from rich.table import Table

    words = {True: "[green]met[/green]", False: "[red]missed[/red]", None: "not compared"}
    table = Table()
    for heading in ("scene", "steps", "s", "ms/step", "residual", "largest error (share of tolerance)", ""):
        table.add_column(heading)
    for one in results:
        residual = "-" if one["max_residual"] is None else f"{one['max_residual']:.1e}"
        cells = [one["scene"], str(one["steps"]), f"{one['wall_s']:.2f}", f"{one['step_ms']:.3f}", residual]
        table.add_row(*cells, _worst(one["worst"]), words[one["pass"]])
    screen = console()
    screen.print(table)
    met = sum(one["pass"] is True for one in results)
    screen.print(f"{met} of {len(results)} scenes meet all of their exact answers, {_total(results):.1f} s in all")


def _worst(check: dict[str, Any] | None) -> str:
    if check is None:
        return "-"
    share = f" ({check['error'] / check['tol']:.2g})" if check["tol"] else ""
    return f"{check['name']}: {check['error']:.2g} {check['unit']}{share}"


def _total(results: list[dict[str, Any]]) -> float:
    return float(sum(one["wall_s"] for one in results))
