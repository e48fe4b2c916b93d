"""A run as a moving picture in a file (matplotlib): GIF, or MP4 where ffmpeg is installed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, scalar
from ..errors import InputError
from ..integrate.run.contact_history import Contact
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from ..mechanics.system import System
from .camera import seen_in_turn, view
from .needs import MOVING_PICTURE, check_format
from .pictures import draw, framed, matplotlib_part, points, posed
from .place import refused
from .view.film import acting, box, cone_length

SIZE = (6.4, 4.0)  # inches at 100 dots: 640 x 400
RATE = 12  # pictures per second
SECONDS = 5.0
MODES = {"stick": "#0072b2", "slip": "#d55e00"}
OTHER = "#5b6b7a"


def animate(
    run: Trajectory, scene: Scene | System, path: str | Path, *, seconds: float = SECONDS, rate: int = RATE
) -> Path:
    """Write a run as a moving picture: bodies, friction cones and reactions.

    Parameters
    ----------
    run : Trajectory
    scene : Scene or System
        What was run: it knows the shapes.
    path : str or Path
        A file that ends in .gif or .mp4.
    seconds : float
        How long the picture plays, s.
    rate : int
        Pictures per second.

    Returns
    -------
    Path

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        Another ending, .mp4 without ffmpeg, a place that cannot be written, a system without shapes.
    """
    path, seconds = Path(path), scalar("seconds", seconds, low=0.1)
    maker = writer(path)
    system = scene.system if isinstance(scene, Scene) else scene
    chosen = np.unique(np.searchsorted(run.t, np.linspace(run.t[0], run.t[-1], max(2, round(seconds * rate)))))
    poses = seen_in_turn([posed(system, run.q[k]) for k in chosen])
    if not any(poses):
        raise InputError("scene", run.scene, "a system with something to draw", "Write drawables=[...].")
    frame = framed([points(shape) for pose in poses for shape in pose if not shape.get("ground")])
    _, half = box([shape for k in chosen for shape in system.drawables(run.q[k])])
    size = float(half.max())
    length, unit = cone_length(system.drawables(run.q[0]), size), acting(run, chosen, size, 6)["force"]
    sheet = matplotlib_part("figure").Figure(figsize=SIZE)
    axis = sheet.add_axes((0.08, 0.08, 0.9, 0.84))
    title = scene.title if isinstance(scene, Scene) else run.scene

    def paint(j: int) -> None:
        """Draw the picture of the j-th chosen instant."""
        axis.clear()
        draw(axis, poses[j], frame)
        push(axis, run.contacts(int(chosen[j])), length, unit)
        axis.set_title(f"{title}   t = {run.t[chosen[j]]:.3f} s", fontsize=9, loc="left")
        axis.tick_params(labelsize=7)

    film = matplotlib_part("animation").FuncAnimation(sheet, paint, frames=len(chosen))
    draft = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        film.save(draft, writer=maker(fps=max(1, round(len(chosen) / seconds))), dpi=100)
        os.replace(draft, path)
    except OSError as error:
        raise refused(path, error) from None
    finally:
        draft.unlink(missing_ok=True) if draft.parent.is_dir() else None
    return path


def writer(path: Path) -> Any:
    """Return matplotlib's writer for the ending of a path.

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        Another ending than .gif and .mp4, or .mp4 without ffmpeg.
    """
    check_format("path", path, MOVING_PICTURE)
    module = matplotlib_part("animation")
    return module.PillowWriter if path.suffix.lower() == ".gif" else module.FFMpegWriter


def push(axis: Any, contacts: Sequence[Contact], length: float, unit: float) -> None:
    """Draw friction cones and reactions; an arrow as long as `length` (m) is `unit` (N)."""
    for c in contacts:
        if c.point is None or c.normal is None or c.force is None or not np.any(c.reaction):
            continue
        colour = MODES.get(c.mode, OTHER)
        cone = np.array([_flat(p) for p in _cone(c.point, c.normal, c.mu, length)])
        axis.fill(cone[:, 0], cone[:, 1], facecolor=colour + "2a", edgecolor=colour + "90", lw=0.8)
        big = float(np.linalg.norm(c.force))
        tip = _flat(c.point + c.force / big * length * min(big / unit, 1.4)) if unit else _flat(c.point)
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2.0, "shrinkA": 0.0, "shrinkB": 0.0}
        axis.annotate("", xy=tip, xytext=_flat(c.point), arrowprops=arrow)


def _cone(at: Array, normal: Array, mu: float, length: float) -> list[Array]:
    """Return the corners of a cone as seen: two sides in the plane, the silhouette in space."""
    tall = length / np.hypot(1.0, mu)
    tip = at + tall * normal
    if len(at) == 2:
        side = mu * tall * np.array([normal[1], -normal[0]])
        return [at, tip + side, tip - side]
    across = np.linalg.svd(normal[None])[2][1:]
    turn = np.linspace(0.0, 2.0 * np.pi, 25)
    return [at, *(tip + mu * tall * (np.cos(a) * across[0] + np.sin(a) * across[1]) for a in turn), at]


def _flat(place: Array) -> Array:
    found: Array = (view() @ place)[:2] if len(place) == 3 else place
    return found
