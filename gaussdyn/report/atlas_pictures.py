"""Pictures of an atlas: regions by number of motions, with the curves and points where the number changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.atlas.atlas import Atlas, Axis, Region
from ..arrays import Array
from .colours import INK
from .page_template import filled
from .pictures import finished, matplotlib_part, new_sheet, png_url
from .place import place

# By number of motions; told apart by people who see no red or no green, and in print by hatches.
COLOURS = {
    0: ("#d55e00",), 2: ("#f0c808", "#fbe27a", "#d9a900"), 3: ("#1b9e77", "#57bd9e", "#8fd3bd"), 4: ("#7b4ea3",),
}  # fmt: skip
ALONE = {"D": "#dcecf6", "L": "#a9d3ee", "l": "#8abfe3", "S": "#6fb1dd", "s": "#4d95c5", "+": "#c6ddf5", "p": "#9db8e0",
         "-": "#b3d0d9", "m": "#8fb0bd"}  # fmt: skip
HATCHES = {0: "////", 2: "....", 3: "xxxx"}
SIZE = (9.0, 6.6)


def draw_atlas(atlas: Atlas, path: str | Path | None = None) -> Any:
    """Draw an atlas.

    Parameters
    ----------
    atlas : Atlas
    path : str or Path, optional
        Where to write it too; the ending decides the format (.png, .svg, .pdf).

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        If `path` has an unknown ending or cannot be written.
    """
    sheet = new_sheet(SIZE)
    axis = sheet.add_subplot()
    regions, frame = atlas.regions(), (*_ends(atlas.x), *_ends(atlas.y))
    colours = _colours(regions)
    which = _numbered(atlas, regions)
    axis.imshow(which, origin="lower", extent=frame, aspect="auto", interpolation="nearest",
                cmap=matplotlib_part("colors").ListedColormap(colours), vmin=-0.5, vmax=len(regions) - 0.5)  # fmt: skip
    x, y = _shown(atlas.x, atlas.x.values), _shown(atlas.y, atlas.y.values)
    for k, region in enumerate(regions):
        if region.count in HATCHES:
            _hatch(axis, x, y, which == k, HATCHES[region.count])
    _curves(axis, atlas, x, y)
    _points(axis, atlas)
    _labels(axis, regions, which, x, y)
    axis.set_xlabel(_title(atlas.x))
    axis.set_ylabel(_title(atlas.y))
    axis.set_xlim(frame[:2])
    axis.set_ylim(frame[2:])
    others = ", ".join(f"{key} = {value:.4g}" for key, value in atlas.params.items())
    axis.set_title(f"Number of motions: {atlas.title}", loc="left", fontsize=12, color=INK, pad=22)
    axis.text(0.0, 1.012, others, transform=axis.transAxes, fontsize=8.5, color="#5b6b7a", va="bottom")
    _legend(sheet, atlas, regions, colours)
    return finished(sheet, path)


def write_atlas_page(path: str | Path, atlas: Atlas, *, command: str = "") -> Path:
    """Write a self-contained page: the picture, the regions, the curve and the points.

    Raises
    ------
    BackendMissing
        If matplotlib or jinja2 is not installed.
    """
    return place(Path(path), render_atlas(atlas, command=command).encode())


def render_atlas(atlas: Atlas, *, command: str = "") -> str:
    """Return the page of an atlas as text; see `write_atlas_page`."""
    regions = atlas.regions()
    rows = zip(_colours(regions), regions, strict=True)
    return filled(
        "atlas.html", atlas=atlas, rows=list(rows), command=command, value=_value, picture=png_url(draw_atlas(atlas)),
        points=atlas.codimension_two(), least=atlas.least_critical(),
    )  # fmt: skip


def _colours(regions: Sequence[Region]) -> list[str]:
    """Return one colour per region: the number of motions decides the hue."""
    used = dict.fromkeys(COLOURS, 0)
    found = []
    for region in regions:
        if region.count == 1:
            found.append(ALONE[region.modes])
            continue
        count = min(region.count, max(COLOURS))
        found.append(COLOURS[count][used[count] % len(COLOURS[count])])
        used[count] += 1
    return found


def _numbered(atlas: Atlas, regions: Sequence[Region]) -> Any:
    """Return the number of its region for every cell."""
    which = np.zeros(atlas.modes.shape, dtype=np.int64)
    for k, region in enumerate(regions):
        which[atlas.modes == region.code] = k
    return which


def _curves(axis: Any, atlas: Atlas, x: Array, y: Array) -> None:
    for field, style in ((atlas.A, "solid"), (atlas.b, (0, (4, 2)))):
        if field.min() < 0.0 < field.max():
            axis.contour(x, y, field, levels=[0.0], colors=INK, linewidths=1.4, linestyles=[style])


def _points(axis: Any, atlas: Atlas) -> None:
    """Mark the points A = b = 0, and the least critical value."""
    for x, y in atlas.codimension_two():
        axis.plot(_shown(atlas.x, x), _shown(atlas.y, y), "o", ms=9, mfc="white", mec=INK, mew=1.8, zorder=5)
    least = atlas.least_critical()
    if least is not None:
        x, y = _shown(atlas.x, least[0]), _shown(atlas.y, least[1])
        axis.plot(x, y, "D", ms=7, mfc="white", mec=INK, mew=1.8, zorder=5)
        words = f"least critical {atlas.y.name} = {y:.6g}\nat {atlas.x.name} = {x:.6g}{_degrees(atlas.x)}"
        box = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": "#c9ced4", "alpha": 0.92}
        axis.annotate(words, (x, y), xytext=(0, -16), textcoords="offset points", ha="center", va="top", fontsize=9,
                      color=INK, bbox=box, zorder=6)  # fmt: skip


def _labels(axis: Any, regions: Sequence[Region], which: Any, x: Array, y: Array) -> None:
    """Write every region's words where it is widest, if there is room."""
    from scipy.ndimage import label

    step = max(1, max(which.shape) // 250)
    coarse = which[::step, ::step]
    box = {"boxstyle": "round,pad=0.25", "fc": "white", "ec": "none", "alpha": 0.8}
    for k, region in enumerate(regions):
        lines = region.words.replace(": ", "\n").replace(" or ", "\nor ")
        pieces, count = label(coarse == k)
        for piece in range(1, count + 1):
            i, j, room = _widest(pieces == piece)
            if room < 0.02:
                continue
            words = lines if room > 0.027 * (1 + lines.count("\n")) else region.number
            axis.text(x[j * step], y[i * step], words, ha="center", va="center", fontsize=10, color=INK, zorder=4,
                      linespacing=1.25, bbox=box)  # fmt: skip


def _widest(inside: Any) -> tuple[int, int, float]:
    """Return row and column of the middle of the widest place, and its half width as a share of the picture."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    ridge = np.argwhere(depth >= 0.97 * depth.max())
    i, j = ridge[np.abs(ridge - ridge.mean(axis=0)).sum(axis=1).argmin()]
    return int(i), int(j), float(depth.max()) / max(inside.shape)


def _hatch(axis: Any, x: Array, y: Array, inside: Any, pattern: str) -> None:
    step = max(1, max(inside.shape) // 500)
    part = inside[::step, ::step].astype(float)
    if part.min() == part.max():
        return
    drawn = axis.contourf(x[::step], y[::step], part, levels=[0.5, 1.5], colors="none", hatches=[pattern])
    drawn.set_edgecolor("#00000038")
    drawn.set_linewidth(0.0)


def _legend(sheet: Any, atlas: Atlas, regions: Sequence[Region], colours: Sequence[str]) -> None:
    patches, lines = matplotlib_part("patches"), matplotlib_part("lines")
    handles: list[Any] = [
        patches.Patch(fc=colour, ec="#5b6b7a", lw=0.6, hatch=HATCHES.get(region.count),
                      label=f"{region.words}  ({100 * region.share:.1f} %)")
        for region, colour in zip(regions, colours, strict=True)
    ]  # fmt: skip
    if atlas.A.min() < 0.0 < atlas.A.max():
        handles.append(lines.Line2D([], [], color=INK, lw=1.4, label="A = 0: critical"))
    if atlas.b.min() < 0.0 < atlas.b.max():
        handles.append(
            lines.Line2D([], [], color=INK, lw=1.4, ls=(0, (4, 2)), label="b = 0: free, it neither sinks nor rises")
        )
    if atlas.codimension_two():
        marker = {"marker": "o", "mfc": "white", "mec": INK, "mew": 1.8, "ms": 8, "ls": "none"}
        handles.append(lines.Line2D([], [], label="A = b = 0", **marker))
    longest = max(len(handle.get_label()) for handle in handles)
    columns = 3 if longest <= 36 else 2 if longest <= 60 else 1
    sheet.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=9, frameon=False)


def _ends(axis: Axis) -> tuple[float, float]:
    return float(_shown(axis, axis.low)), float(_shown(axis, axis.high))


def _shown(axis: Axis, value: Any) -> Any:
    """Return a value as the picture shows it: angles in degrees."""
    return np.degrees(value) if axis.unit == "rad" else value


def _degrees(axis: Axis) -> str:
    return "°" if axis.unit == "rad" else "" if axis.unit == "1" else f" {axis.unit}"


def _title(axis: Axis) -> str:
    return f"{axis.name} (°)" if axis.unit == "rad" else axis.name if axis.unit == "1" else f"{axis.name} ({axis.unit})"


def _value(axis: Axis, value: float) -> str:
    """Return a coordinate with its name and unit."""
    return f"{axis.name} = {_shown(axis, value):.9g}{_degrees(axis)}"
