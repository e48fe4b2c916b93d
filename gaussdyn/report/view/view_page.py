"""A run as a page of its own that plays it, and can be turned where it is in space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...errors import InputError
from ...integrate.run.trajectory import Trajectory
from ...mechanics.scene import Scene
from ...mechanics.system import System
from ..colours import OUTCOME_COLOURS
from ..needs import PAGES, TREE_PAGE, check_format
from ..page_template import filled
from ..place import place
from ..subject import subject
from .film import film
from .packing import packed_film


def write_view(path: str | Path, run: Trajectory, scene: Scene | System | None = None) -> Path:
    """Write a self-contained page with the run in motion; see `Trajectory.view`.

    Raises
    ------
    BackendMissing
        If jinja2 is not installed.
    InputError
        Another ending than .html; a place that cannot be written; a run whose shapes are not known, or that has none.
    """
    path = Path(path)
    if path.suffix.lower() not in PAGES:
        raise InputError("path", path, f"a file ending in {' or '.join(PAGES)}", 'E.g. run.view("run.html").')
    check_format("path", path, TREE_PAGE)
    return place(path, render_view(run, subject(run, scene)).encode())


def render_view(run: Trajectory, scene: Scene | None) -> str:
    """Return the page of `write_view` as text."""
    values = film_values(run, scene)
    if values["film"] is None:
        mend = "A run from a file does not know the shapes of your own system: run.view(path, scene=system)."
        raise InputError("scene", run.scene, "a run whose system is known and has something to draw", mend)
    title = scene.title if scene is not None else run.scene
    return filled("view/view.html", title=title, name=run.scene, run=run, **values)


def film_values(run: Trajectory, scene: Scene | None, *, live: bool = False) -> dict[str, Any]:
    """Return what the templates of the player know; ``film`` is None where there is nothing to draw.

    The page of a run that is being computed (`live`) is ready for what may come yet.
    """
    moving = None if scene is None else film(scene.system, run)
    return {
        "film": None if moving is None else packed_film(moving),
        "film_space": moving is not None and moving["space"],
        "film_contacts": live or (moving is not None and bool(moving["ids"])),
        "film_frames": 0 if moving is None else len(moving["t"]),
        "film_outcomes": [label for label in OUTCOME_COLOURS if live or label in run.outcomes],
        "film_live": live,
        "colours": OUTCOME_COLOURS,
    }
