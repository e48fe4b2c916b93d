"""Pictures of reactions that are not unique: a bar from the smallest to the largest value of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.forces.force_polygon import ForcePolygon
from ..analysis.forces.force_range import ForceRange
from ..analysis.forces.reaction_set import ReactionSet
from .colours import INK
from .page_template import filled
from .pictures import finished, new_sheet, png_url
from .place import place

BAR, POINT, OPEN = "#a9d3ee", "#0072b2", "#d55e00"
SHOWN = 60  # bars of one picture


def draw_forces(
    ranges: Sequence[ForceRange],
    path: str | Path | None = None,
    *,
    title: str = "",
    pair: ForcePolygon | None = None,
) -> Any:
    """Draw the ranges as bars, values that are unique as points, what nothing bounds with arrows.

    Parameters
    ----------
    ranges : sequence of ForceRange
        At most 60 are drawn.
    path : str or Path, optional
        Where to write it too; the ending decides the format (.png, .svg, .pdf).
    title : str
    pair : ForcePolygon, optional
        Two forces together, drawn below.

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
    shown = list(ranges[:SHOWN])
    heights = [1.2 + 0.28 * max(len(shown), 1), *([5.0] if pair is not None else [])]
    sheet = new_sheet((8.0, sum(heights)))
    axis, *below = np.atleast_1d(sheet.subplots(len(heights), 1, height_ratios=heights))
    if pair is not None:
        _polygon(below[0], pair)
    ends = np.array([x for one in shown for x in (one.low, one.high) if np.isfinite(x)] or [0.0])
    low, high = min(float(ends.min()), 0.0), max(float(ends.max()), 0.0)
    room = 0.1 * ((high - low) or 1.0)
    for k, one in enumerate(shown):
        _bar(axis, k, one, low - room, high + room)
    axis.axvline(0.0, color=INK, lw=0.7)
    axis.set_yticks(range(len(shown)), [one.of for one in shown], fontsize=8)
    axis.set_xlim(low - 1.2 * room, high + 1.2 * room)
    axis.invert_yaxis()
    axis.set_xlabel(", ".join(dict.fromkeys(one.unit for one in shown)))
    return finished(sheet, path, f"Forces that the motion allows{': ' + title if title else ''}")


def _bar(axis: Any, k: int, one: ForceRange, low: float, high: float) -> None:
    """Draw one range."""
    if one.unique:
        axis.plot([one.low], [k], "o", ms=6, color=POINT)
        return
    a, b = max(one.low, low), min(one.high, high)
    axis.barh(k, b - a, left=a, height=0.55, color=BAR, edgecolor=POINT)
    for end, edge, marker in ((one.low, low, "<"), (one.high, high, ">")):
        if not np.isfinite(end):
            axis.plot([edge], [k], marker, ms=7, color=OPEN, clip_on=False)


def _polygon(axis: Any, pair: ForcePolygon) -> None:
    """Draw the set of two forces: between what is reached and what is proved."""
    if pair.bounded:
        axis.fill(*pair.outer.T, facecolor="none", edgecolor=OPEN, lw=1.0, label="proved: none outside")
    if len(pair.inner):
        axis.fill(*pair.inner.T, facecolor=BAR, edgecolor=POINT, label="reached" if pair.bounded else "reached, and on")
    axis.set_xlabel(pair.of[0])
    axis.set_ylabel(pair.of[1])
    axis.legend(loc="best", fontsize=8)


def write_forces_page(
    path: str | Path,
    found: ReactionSet,
    ranges: Sequence[ForceRange],
    *,
    title: str = "",
    command: str = "",
    pair: ForcePolygon | None = None,
) -> Path:
    """Write a self-contained page: the bars, all ranges with their proofs, and what would decide.

    Raises
    ------
    BackendMissing
        If matplotlib or jinja2 is not installed.
    """
    text = filled(
        "forces.html", found=found, ranges=ranges, summary=found.summary(), title=title, command=command,
        picture=png_url(draw_forces(ranges, title=title, pair=pair)),
    )  # fmt: skip
    return place(Path(path), text.encode())
