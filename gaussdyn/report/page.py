"""One self-contained HTML page per run: it opens offline, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..contact.outcome.verdicts import ADVICE
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from .charts import charts, library
from .outcomes import stretches
from .page_template import MEANING, figure, filled, setting
from .pictures import instants
from .place import place
from .view.view_page import film_values


def write_page(
    path: str | Path,
    run: Trajectory,
    *,
    scene: Scene | None = None,
    checks: Sequence[Mapping[str, Any]] = (),
    command: str = "",
) -> Path:
    """Write the page of a run.

    Parameters
    ----------
    path : str or Path
        The HTML file to write.
    run : Trajectory
    scene : Scene, optional
        For title, source and pictures.
    checks : sequence of mappings
        Comparisons with exact answers: name, expected, got, error, tol, pass, and unit if known.
    command : str
        The command line that repeats the run.

    Returns
    -------
    Path

    Raises
    ------
    BackendMissing
        If plotly, jinja2 or matplotlib is not installed.
    InputError
        No room, no rights; an older page stays as it is.
    """
    text = render(run, scene=scene, checks=checks, command=command)
    return place(Path(path), text.encode())


def render(
    run: Trajectory, *, scene: Scene | None = None, checks: Sequence[Mapping[str, Any]] = (), command: str = ""
) -> str:
    """Return the page of a run as text; see `write_page`."""
    found, more = stretches(run, scene)
    return filled(
        "page.html",
        title=scene.title if scene is not None else run.scene,
        name=run.scene,
        source=scene.source if scene is not None else "",
        run=run,
        command=command,
        verdict=verdict(run, checks),
        checks=checks,
        pictures=[] if scene is None else instants(scene.system, run),
        statistics=[(MEANING.get(key, key), figure(value)) for key, value in run.statistics.items()],
        settings=[(key, setting(value)) for key, value in run.settings.items()],
        charts=charts(run, scene),
        outcomes=found,
        more_outcomes=more,
        words=ADVICE,
        library=library(),
        version=run.versions.get("gaussdyn", "unknown"),
        **film_values(run, scene),
    )


def verdict(run: Trajectory, checks: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return (good | bad | plain, one sentence) about the run as a whole."""
    failed = [check for check in checks if check["pass"] is False]
    if failed:
        return "bad", f"{len(failed)} of {len(checks)} exact answers missed: {failed[0]['name']}."
    if run.stop is not None:
        return "bad", f"Stopped at t = {run.stop.t:.6g} s: {run.stop.reason}"
    compared = sum(check["pass"] is True for check in checks)
    if compared:
        return "good", f"Completed; exact answers met: {compared} of {compared}."
    return "plain", "Completed; there was no exact answer to compare with."
