"""The report of a run in the format that the ending of its file asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..integrate.trajectory import Trajectory
from ..mechanics.scene import Scene
from .animation import animate, writer
from .page import check_installed, write_page
from .pictures import matplotlib_part, plot

PAGES, PICTURES, MOVING = (".html", ".htm"), (".png", ".svg", ".pdf"), (".gif", ".mp4")


def check_report(path: Path) -> None:
    """Refuse, before any work, a report that could not be written in the end.

    Raises
    ------
    BackendMissing
        If a library that it needs is not installed.
    InputError
        An unknown ending, or .mp4 without ffmpeg.
    """
    ending = path.suffix.lower()
    if ending in PAGES:
        check_installed()
    elif ending in PICTURES:
        matplotlib_part("figure")
    elif ending in MOVING:
        writer(path)
    else:
        raise InputError("report", path, f"a file ending in {', '.join((*PAGES, *PICTURES, *MOVING))}")


def write_report(
    path: str | Path, run: Trajectory, scene: Scene, *, checks: Sequence[Mapping[str, Any]] = (), command: str = ""
) -> Path:
    """Write the report of a run: a page, a picture of all columns, or a moving picture of the scene.

    Raises
    ------
    BackendMissing
        If a library that it needs is not installed.
    InputError
        An unknown ending, .mp4 without ffmpeg, a place that cannot be written.
    """
    path = Path(path)
    check_report(path)
    if path.suffix.lower() in PAGES:
        return write_page(path, run, scene=scene, checks=checks, command=command)
    if path.suffix.lower() in MOVING:
        return animate(run, scene, path)
    plot(run, scene=scene, path=path)
    return path
