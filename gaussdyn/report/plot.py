"""The public verb for drawing a run: a figure, a page or a film, as the ending of the path says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..integrate.run.trajectory import Trajectory, check_is_run
from ..mechanics.scene import Scene
from ..mechanics.system import System, check_is_system
from .needs import PICTURE, PICTURES, RUN_REPORT, check_format
from .pictures import columns_figure, some_columns
from .place import check_place
from .write import write_report


def plot(
    run: Trajectory, *columns: str, scene: Scene | System | None = None, path: str | Path | None = None
) -> Any:  # fmt: skip
    """Draw all columns of a run, grouped by kind and unit, and the residual of every step; or write its page or film.

    Parameters
    ----------
    run : Trajectory
    columns : str
        Names of those that are drawn alone, one picture per unit.
    scene : Scene or System, optional
        What was run: four instants of it stand above the columns. Pages and films need it only for runs of your own
        systems that come from a file.
    path : str or Path, optional
        Where to write it too; the ending decides: .png, .svg or .pdf (this figure), .html (the page, with the run in
        motion), .gif or .mp4 (the run in motion).

    Returns
    -------
    matplotlib.figure.Figure or Path
        The figure; the path of a page or a film.

    Raises
    ------
    BackendMissing
        If a library is not installed that the ending needs.
    InputError
        If this is no run, or has no such column; `path` has an unknown ending or cannot be written; a film of something
        without shapes.
    """
    check_is_run(run)
    for name in columns:
        run.unit(name)
    if scene is not None and not isinstance(scene, Scene):
        check_is_system("scene", scene)
    if path is not None:
        check_format("path", Path(path), PICTURE if columns else RUN_REPORT)
        if Path(path).suffix.lower() not in PICTURES:
            return write_report(path, run, scene)
        check_place(Path(path))
    if columns:
        return some_columns(run, columns, path)
    return columns_figure(run, scene=scene, path=path)
