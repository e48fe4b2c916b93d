"""``gaussdyn study``: a scene over a grid of its parameters."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from ..studies.fork_server import start_ahead
from .again import again as again_command
from .app import Json, Panel, app, console, drawable, emit, numbers, path_text, quiet, writable
from .progress import Bar

if TYPE_CHECKING:
    from ..studies.study_progress import Standing
    from ..studies.study_results import Study

AXIS = "NAME=LOW:HIGH:COUNT or NAME=X,Y,..., e.g. --over mu=0.1:1.0:64"


@app.command(rich_help_panel=Panel.RUNS)
def study(
    context: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="Name of a scene, see `gaussdyn scenes`.")],
    *,
    over: Annotated[list[str], typer.Option(help="A parameter and its values: NAME=LOW:HIGH:COUNT or NAME=X,Y,...")],
    measure: Annotated[list[str], typer.Option(help="Column at the end, or max:, min:, mean:, first: COLUMN.")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER, the same in all runs.")] = None,
    t_end: Annotated[float | None, typer.Option(help="End of every run, s (default: the scene's).")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes (default: one per core).", min=1)] = None,
    at: Annotated[str | None, typer.Option(help="Address of a dask scheduler, e.g. tcp://host:8786.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write all results (.h5) as they come.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a study that was cut off.")] = False,
    again: Annotated[list[str] | None, typer.Option(help="Carry out once more what ended so, e.g. DIED.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page (HTML) with pictures.")] = None,
    json_wanted: Json = False,
) -> None:
    """Run a scene over all combinations of some parameters; what stops or fails is a result, too.

    Example: gaussdyn study incline --over mu=0.1:1.0:10 --over slope=0.2:0.6:5 --measure block.speed --out s.h5
    """
    start = time.perf_counter()
    going_on = resume or bool(again)
    if going_on and out is None:
        raise InputError("--resume", "no --out", "the file of the study that was cut off", "Add --out s.h5.")
    drawable("--report", report, "CHART_PAGE")
    if out is not None:
        writable("--out", out)
    axes = axes_of(over)
    if at is None and workers != 1:
        start_ahead()
    with quiet(json_wanted), Bar(f"study of {scene}") as bar:
        from ..studies.parameter_sets import Grid
        from ..studies.run_study import study as carry_out
        from ..studies.study_resume import Resume
        from ..studies.template import Template

        template = Template(build=scene, fixed=numbers(set_), t_end=t_end)

        def progress(now: Standing) -> None:
            said = f"{now.done} of {now.total} done, {now.running} running, {now.failed} failed"
            bar.update(now.done, now.total, said)

        where = at or workers or "here"
        how = Resume(again=tuple(again or ())) if going_on else False
        made = carry_out(template, Grid(axes), measure, where=where, out=out, resume=how, progress=progress)
        if report is not None:
            from ..report.studies.study_page import write_study_page

            write_study_page(report, made, title=scene, command=again_command(context, resume=False, again=None))
    document = document_of(made, scene) | {
        "out": path_text(out),
        "report": path_text(report),
        "wall_s": time.perf_counter() - start,
    }
    emit(document) if json_wanted else show(document)


def axes_of(texts: list[str]) -> dict[str, list[float]]:
    """Read the axes of a grid.

    Raises
    ------
    InputError
        A text that is no axis, or a parameter given twice.
    """
    axes: dict[str, list[float]] = {}
    for text in texts:
        name, sign, values = (part.strip() for part in text.partition("="))
        if not sign or not name:
            raise InputError("--over", repr(text), AXIS, "E.g. --over mu=0.1:0.9:9.")
        if name in axes:
            raise InputError(
                f"--over {name}", repr(text), "each parameter once", f"Leave one: --over {name}=0.1:0.9:9."
            )
        axes[name] = _values(text, values)
    return axes


def _values(text: str, values: str) -> list[float]:
    """Return evenly spaced numbers, or those that are listed: finite ones, one at least."""
    import numpy as np

    found: list[float] = []
    with suppress(ValueError):
        if ":" in values:
            low, high, count = values.split(":")
            found = [float(x) for x in np.linspace(float(low), float(high), int(count))]
        else:
            found = [float(x) for x in values.split(",")]
    if not found or not np.isfinite(found).all():
        raise InputError("--over", repr(text), AXIS, "E.g. --over mu=0.1:0.9:9.")
    return found


def document_of(made: Study, scene: str) -> dict[str, Any]:
    """Return a study as a document: how its runs ended, and the range of what was measured."""
    import numpy as np

    known = {name: x[np.isfinite(x)] for name, x in made.values.items()}
    ranges = {
        name: {"min": x.min(), "mean": x.mean(), "max": x.max(), "runs": len(x)} for name, x in known.items() if len(x)
    }
    reasons = sorted({str(text) for text in made.reason if text})
    return {
        "schema": "gaussdyn/study/1",
        "scene": scene,
        "parameters": list(made.parameters),
        "runs": len(made),
        "counts": made.counts,
        "measured": ranges,
        "reasons": reasons[:10],
    }


def show(document: dict[str, Any]) -> None:
    """Print a study for people."""
    screen = console()
    counts = ", ".join(f"{n} {name}" for name, n in document["counts"].items() if n)
    screen.print(f"{document['runs']} runs of {document['scene']}: {counts}", soft_wrap=True)
    for name, found in document["measured"].items():
        text = f"  {name}: {found['min']:.6g} to {found['max']:.6g}, mean {found['mean']:.6g}"
        screen.print(f"{text} ({found['runs']} runs)", soft_wrap=True)
    for reason in document["reasons"]:
        screen.print(f"  {reason}", soft_wrap=True, markup=False)
    if document["out"]:
        screen.print(f"{document['out']} holds all of them (gaussdyn.studies.Study.load)", soft_wrap=True, markup=False)
