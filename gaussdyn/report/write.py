"""The report of a run in the format that the ending of its file asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from ..mechanics.system import System
from .animation import animate
from .needs import MOVING, PAGES, PICTURES, RUN_REPORT, check_format
from .page import write_page
from .pictures import columns_figure
from .place import check_place
from .subject import subject


def check_report(path: Path, scene: Scene | None = None, name: str = "report") -> None:
    """Refuse, before any work, a report that could not be written in the end.

    Raises
    ------
    BackendMissing
        If a library that it needs is not installed.
    InputError
        An unknown ending (`name` is what the caller calls the path), .mp4 without ffmpeg, a moving picture of a scene
        with nothing to draw.
    """
    check_format(name, path, RUN_REPORT)
    if scene is not None and path.suffix.lower() in MOVING and not scene.system.drawables(scene.state.q):
        mend = f'Its `drawables` are empty: path="run{PICTURES[0]}", or {PAGES[0]}.'
        raise InputError(name, f"{path} of {scene.name}", "a scene with something to draw", mend)


def write_only_page(path: str | Path, run: Trajectory, scene: Scene | System | None) -> Path:
    """Write the page of a run; see `Trajectory.page`."""
    if Path(path).suffix.lower() not in PAGES:
        mend = "Pictures and films: gaussdyn.plot(run, path=...)."
        raise InputError("path", path, f"a file ending in {' or '.join(PAGES)}", mend)
    return write_report(path, run, scene)


def write_report(
    path: str | Path,
    run: Trajectory,
    scene: Scene | System | None = None,
    *,
    checks: Sequence[Mapping[str, Any]] = (),
    command: str = "",
) -> Path:
    """Write the report of a run: a page, a picture of all columns, or a moving picture of the scene.

    Raises
    ------
    BackendMissing
        If a library that it needs is not installed.
    InputError
        An unknown ending, .mp4 without ffmpeg, a place that cannot be written; a film without anything to draw.
    """
    path = Path(path)
    check_report(path, scene if isinstance(scene, Scene) else None)
    check_place(path)
    if path.suffix.lower() in PAGES:
        return write_page(path, run, scene=subject(run, scene), checks=checks, command=command)
    if path.suffix.lower() in MOVING:
        shown = subject(run, scene)
        if shown is None:
            mend = "A run from a file does not know the shapes of your own system: plot(run, scene=system, path=...)."
            raise InputError("scene", "none", "the scene or the system that was run", mend)
        return animate(run, shown, path)
    columns_figure(run, scene=scene, path=path)
    return path
