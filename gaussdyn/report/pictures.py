"""Pictures of runs and scenes (matplotlib), for a screen, a file or the page."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import BackendMissing, InputError
from ..integrate.run.trajectory import Trajectory
from ..mechanics.scene import Scene
from ..mechanics.system import System
from .camera import body_of, from_space, seen_in_turn
from .charts import FLOOR
from .colours import INK, PALETTE, STILL
from .ground import round_length
from .place import data_url, place
from .series import Group, by_unit, groups, thinned
from .view.skeleton import skeleton

Shape = Mapping[str, Any]
Frame = tuple[float, float, float, float]  # x0, x1, y0, y1, m
GROUND, LINES, SHADOW = "#d9dee3", "#c3cad2", "#b3bcc6"  # the ground, its grid, and what is not in the light
LINE_STYLES = ("-", "--", ":", "-.")  # one after the other where colours begin anew
APART = 3.0  # times the largest pose: from there on pictures of a motion follow what moves


def columns_figure(run: Trajectory, *, scene: Scene | System | None = None, path: str | Path | None = None) -> Any:
    """Return the figure of all columns, grouped by kind and unit, and the residual of every step; see `plot`."""
    pyplot = matplotlib_part("pyplot")
    parts = groups(run)
    shown = [] if scene is None else _poses(scene.system if isinstance(scene, Scene) else scene, run)
    rows = len(parts) + 1 + bool(shown)
    figure = pyplot.figure(figsize=(8, 2.2 * rows), layout="constrained")
    grid = figure.add_gridspec(rows, max(len(shown), 1))
    _instants(figure, grid, shown)
    axes = [figure.add_subplot(grid[k, :]) for k in range(bool(shown), rows)]
    for axis, part in zip(axes, parts, strict=False):
        _lines(axis, run, part)
        axis.set_title(part.title, loc="left", fontsize=10)
    last = axes[-1]
    last.semilogy(run.steps.t, np.maximum(run.steps.E, FLOOR), ".", ms=2, color=PALETTE[0])
    last.set_title("Residual of every step", loc="left", fontsize=10)
    last.set_ylabel("E")
    last.set_xlabel("t (s)")
    return finished(figure, path)


def some_columns(run: Trajectory, names: Sequence[str], path: str | Path | None = None) -> Any:
    """Return a figure of some columns over time, one picture per unit; see `plot`."""
    parts = by_unit(run, names)
    figure = matplotlib_part("pyplot").figure(figsize=(8, 2.6 * len(parts)), layout="constrained")
    for axis, part in zip(np.ravel(figure.subplots(len(parts), 1, sharex=True)), parts, strict=True):
        _lines(axis, run, part)
        axis.set_xlabel("t (s)")
    return finished(figure, path)


def _lines(axis: Any, run: Trajectory, part: Group) -> None:
    """Draw the columns of a group over time."""
    for k, name in enumerate(part.names):
        keep = thinned([run[name]])
        line = {"color": PALETTE[k % len(PALETTE)], "ls": LINE_STYLES[k // len(PALETTE) % len(LINE_STYLES)]}
        axis.plot(run["t"][keep], run[name][keep], lw=1.2, label=name, **line)
    axis.set_ylabel(part.unit)
    if len(part.names) <= 10:
        axis.legend(fontsize=7, ncols=2)


def new_sheet(size: tuple[float, float]) -> Any:
    """Return an empty figure of a width and height in inches, whose parts find their places.

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    """
    return matplotlib_part("figure").Figure(figsize=size, layout="constrained")


def finished(sheet: Any, path: str | Path | None, title: str = "") -> Any:
    """Return a figure with its title, at the upper left, written to `path` if there is one.

    Raises
    ------
    InputError
        Unknown ending, or a place that cannot be written.
    """
    if title:
        sheet.suptitle(title, x=0.01, ha="left", color=INK)
    if path is not None:
        save(sheet, Path(path))
    return sheet


def save(figure: Any, path: Path) -> Path:
    """Write a figure; the ending of `path` decides the format.

    Raises
    ------
    InputError
        Unknown ending, or a place that cannot be written.
    """
    image = io.BytesIO()
    try:
        figure.savefig(image, dpi=150, format=path.suffix[1:].lower() or None)
    except ValueError:
        raise InputError(
            "path", path, "a file ending in .png, .svg or .pdf", f'Write path="{path.stem}.png".'
        ) from None
    place(path, image.getbuffer())
    return path


def png_url(figure: Any, *, dpi: int = 150) -> str:
    """Return a figure as the URL of a PNG picture, for a page that holds all it shows."""
    image = io.BytesIO()
    figure.savefig(image, dpi=dpi, format="png")
    return data_url("image/png", image.getvalue())


def instants(system: System, run: Trajectory, count: int = 4) -> list[tuple[float, str]]:
    """Return (t, SVG) of the scene at a few saved instants, all in the same frame; [] if it has no shapes."""
    shown = _poses(system, run, count)
    if not shown:
        return []
    return [(t, _svg(shapes, frame)) for (t, shapes), frame in zip(shown, frames(shown), strict=True)]


def _poses(system: System, run: Trajectory, count: int = 4) -> list[tuple[float, list[dict[str, Any]]]]:
    """Return (t, shapes as the camera sees them) at a few saved states; [] if there are no shapes."""
    chosen = np.unique(np.linspace(0, len(run) - 1, count).round().astype(int))
    poses = seen_in_turn([posed(system, run.q[k]) for k in chosen])
    return [(float(run.t[k]), pose) for k, pose in zip(chosen, poses, strict=True)] if any(poses) else []


def posed(system: System, q: Array) -> list[dict[str, Any]]:
    """Return the shapes of a system in one pose, and of trees what ties bodies that have none to the others."""
    bones = [{**one, "still": True} for one in skeleton(system, q)[0] if one["shape"] == "segment"]
    return [*system.drawables(q), *bones]


def frames(shown: Sequence[tuple[float, Sequence[Shape]]]) -> list[Frame]:
    """Return the frame of each pose: one for all, or of one size about each where they are far apart."""
    clouds = [_cloud(shapes) for _, shapes in shown]
    common, alone = framed(clouds), [framed([cloud]) for cloud in clouds]
    half = max(max(x1 - x0, y1 - y0) for x0, x1, y0, y1 in alone) / 2.0
    if max(common[1] - common[0], common[3] - common[2]) <= 2.0 * APART * half:
        return [common] * len(shown)
    middles = [((x0 + x1) / 2.0, (y0 + y1) / 2.0) for x0, x1, y0, y1 in alone]
    return [(x - half, x + half, y - half, y + half) for x, y in middles]


def _cloud(shapes: Sequence[Shape]) -> Array:
    """Return the points of a pose that its picture must show: not the ground, unless there is nothing else."""
    above = [points(shape) for shape in shapes if not shape.get("ground") and shape["shape"] != "halfplane"]
    cloud = np.vstack([np.zeros((0, 2)), *above])
    return cloud if len(cloud) else np.vstack([np.zeros((0, 2)), *(points(shape) for shape in shapes)])


def _instants(figure: Any, grid: Any, shown: Sequence[tuple[float, Sequence[Shape]]]) -> None:
    """Draw the instants beside each other in the first row."""
    for k, ((t, shapes), frame) in enumerate(zip(shown, frames(shown) if shown else (), strict=True)):
        axis = figure.add_subplot(grid[0, k])
        draw(axis, shapes, frame)
        axis.set_title(f"t = {t:.4g} s", fontsize=8)
        axis.tick_params(labelsize=6)


def draw(axis: Any, shapes: Sequence[Shape], frame: Frame) -> None:
    """Draw shapes (see `System.drawables`) on matplotlib axes, within frame = (x0, x1, y0, y1), m.

    What is seen from space has a bar of a round length in the place of axes: heights and depths share them there.
    """
    axis.set_xlim(frame[0], frame[1])
    axis.set_ylim(frame[2], frame[3])
    axis.set_aspect("equal")
    ranked = sorted(shapes, key=lambda shape: shape["shape"] != "halfplane")
    bodies = list(dict.fromkeys(body_of(shape) for shape in ranked))
    for shape in ranked:
        painter = PAINTERS.get(shape["shape"])
        if painter is not None:
            painter(axis, shape, _colour(shape, bodies.index(body_of(shape))), frame)
    if from_space(shapes):
        _put_bar(axis, frame)


def _colour(shape: Shape, number: int) -> str:
    """Return the colour of a shape: its own, that of obstacles, or of the body that has this number."""
    if "colour" in shape:
        return "#" + "".join(f"{round(255 * part):02x}" for part in shape["colour"][:3])
    return STILL if shape.get("still") else PALETTE[shape.get("number", number) % len(PALETTE)]


def _put_bar(axis: Any, frame: Frame) -> None:
    """Say how long things are, at the lower left."""
    axis.set_axis_off()
    width, height = frame[1] - frame[0], frame[3] - frame[2]
    length, x, y = round_length(0.3 * width), frame[0] + 0.03 * width, frame[2] + 0.04 * height
    axis.plot([x, x + length], [y, y], "-", lw=2, color=INK, solid_capstyle="butt")
    axis.annotate(f"{length:g} m", (x, y), (0, 3), textcoords="offset points", fontsize=7, color=INK)


def points(shape: Shape) -> Array:
    """Return the points a frame must contain to show the shape, shape (k, 2), m."""
    if shape["shape"] == "disc":
        at, radius = np.array(shape["at"][:2]), shape["radius"]
        return np.array([at - radius, at + radius])
    key = {"segment": "ends", "polygon": "points"}.get(shape["shape"], "at")
    value = np.array(shape.get(key, []), dtype=np.float64)
    return np.atleast_2d(value)[:, :2] if value.size else np.zeros((0, 2))


def framed(sets: Sequence[Array]) -> Frame:
    """Return (x0, x1, y0, y1) of a picture that holds all points, m."""
    cloud = np.vstack(sets)
    low, high = cloud.min(axis=0), cloud.max(axis=0)
    size = max(float((high - low).max()), 1e-3)
    middle, half = (low + high) / 2, 0.62 * size
    width, height = np.maximum((high - low) / 2 + 0.12 * size, 0.3 * half)
    return float(middle[0] - width), float(middle[0] + width), float(middle[1] - height), float(middle[1] + height)


def _svg(shapes: Sequence[Shape], frame: Frame) -> str:
    ratio = (frame[3] - frame[2]) / (frame[1] - frame[0])
    figure = new_sheet((3.2, float(np.clip(3.2 * ratio, 1.6, 4.5))))
    axis = figure.add_subplot()
    draw(axis, shapes, frame)
    axis.tick_params(labelsize=7)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _point(axis: Any, shape: Shape, colour: str, frame: Any) -> None:
    axis.plot(*shape["at"][:2], "o", ms=6, color=colour)


def _segment(axis: Any, shape: Shape, colour: str, frame: Any) -> None:
    ends = points(shape)
    if shape.get("ground"):
        axis.plot(ends[:, 0], ends[:, 1], "-", lw=0.6, color=LINES)
        return
    axis.plot(ends[:, 0], ends[:, 1], "-", lw=2, color=colour, solid_capstyle="round")


def _polygon(axis: Any, shape: Shape, colour: str, frame: Any) -> None:
    corners = points(shape)
    if shape.get("ground"):
        axis.fill(corners[:, 0], corners[:, 1], facecolor=SHADOW if shape.get("shadow") else GROUND, edgecolor="none")
        return
    axis.fill(corners[:, 0], corners[:, 1], facecolor=colour + "55", edgecolor=colour, lw=1.4)


def _disc(axis: Any, shape: Shape, colour: str, frame: Any) -> None:
    circle = np.linspace(0.0, 2.0 * np.pi, 73)
    (x, y), radius, angle = shape["at"][:2], shape["radius"], shape.get("angle", 0.0)
    axis.fill(x + radius * np.cos(circle), y + radius * np.sin(circle), facecolor=colour + "55", edgecolor=colour)
    axis.plot([x, x + radius * np.cos(angle)], [y, y + radius * np.sin(angle)], "-", color=colour)


def _halfplane(axis: Any, shape: Shape, colour: str, frame: Any) -> None:
    """Fill the side that bodies cannot enter: behind the normal."""
    at, normal = np.array(shape["at"][:2]), np.array(shape["normal"][:2], dtype=np.float64)
    normal = normal / (np.sqrt(normal @ normal) or 1.0)
    reach = 4.0 * (abs(frame[1] - frame[0]) + abs(frame[3] - frame[2]))
    along, behind = reach * np.array([normal[1], -normal[0]]), -reach * normal
    corners = np.array([at - along, at + along, at + along + behind, at - along + behind])
    axis.fill(corners[:, 0], corners[:, 1], facecolor=GROUND, edgecolor="#5b6b7a", lw=1.0)


PAINTERS = {"point": _point, "segment": _segment, "polygon": _polygon, "disc": _disc, "halfplane": _halfplane}


def matplotlib_part(module: str) -> Any:
    """Return a module of matplotlib.

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    """
    try:
        from importlib import import_module

        return import_module(f"matplotlib.{module}")
    except ImportError:
        raise BackendMissing("matplotlib", "report") from None
