"""One self-contained HTML page per run: it opens offline, on a phone and on a desk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._version import __version__
from ..contact.outcome.verdicts import ADVICE
from ..errors import BackendMissing
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from .charts import OUTCOME_COLOURS, charts, library
from .film import embedded, film
from .outcomes import stretches
from .pictures import instants
from .place import place

HERE = Path(__file__).resolve().parent
MEANING = {
    "steps": "steps taken",
    "unsolved_steps": "steps whose contact problem was not solved",
    "max_residual": "largest residual E of a step (dimensionless)",
    "max_penetration_m": "largest penetration (m)",
    "max_joint_error_m": "largest error of a bilateral position constraint (m)",
    "max_cone": "largest violation of a friction cone (relative)",
    "energy_drift_rel": "largest error of the energy balance (relative)",
}


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
    moving = None if scene is None else film(scene.system, run)
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
        film=None if moving is None else embedded(moving),
        film_space=moving is not None and moving["space"],
        film_contacts=moving is not None and bool(moving["ids"]),
        film_frames=0 if moving is None else len(moving["t"]),
        film_outcomes=[label for label in OUTCOME_COLOURS if label in run.outcomes],
        colours=OUTCOME_COLOURS,
        statistics=[(MEANING.get(key, key), figure(value)) for key, value in run.statistics.items()],
        settings=[(key, setting(value)) for key, value in run.settings.items()],
        charts=charts(run, scene),
        outcomes=found,
        more_outcomes=more,
        words=ADVICE,
        library=library(),
        version=run.versions.get("gaussdyn", "unknown"),
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


def figure(value: Any, digits: int = 6) -> str:
    """Return a number as the page shows it; a dash where it is unknown."""
    if value is None:
        return "–"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def setting(value: Any) -> str:
    """Return a setting as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {setting(item)}" for key, item in value.items()) or "–"
    return figure(value) if not isinstance(value, (list, tuple)) else json.dumps(value, default=str)


def filled(template: str, **values: Any) -> str:
    """Return a page: a template with its values. All know `version` and, unless it is given, `figure`.

    Raises
    ------
    BackendMissing
        If jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError:
        raise BackendMissing("jinja2", "report") from None
    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return str(environment.get_template(template).render({"figure": figure, "version": __version__, **values}))
