"""Pictures of families of equilibria: intervals over a parameter (trident), regions (holes, sausages)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.equilibria.equilibria import Equilibria
from ..analysis.equilibria.family import Family
from .colours import INK
from .page_template import filled
from .pictures import finished, new_sheet, png_url
from .place import place

FILL, EDGE = "#a9d3ee", "#0072b2"
GRID = 401


def draw_equilibria(found: Equilibria, path: str | Path | None = None, *, title: str = "") -> Any:
    """Draw the families.

    One coordinate: where it can rest, over the parameter. Two: the region before, at and after every bifurcation.

    Parameters
    ----------
    found : Equilibria
    path : str or Path, optional
        Where to write it too; the ending decides the format (.png, .svg, .pdf).
    title : str

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
    sheet = _bands(found) if len(found.names) == 1 else _regions(found)
    return finished(sheet, path, f"Equilibria held by friction{': ' + title if title else ''}")


def write_equilibria_page(
    path: str | Path, found: Equilibria, *, title: str = "", command: str = "", extra: Sequence[Family] = ()
) -> Path:
    """Write a self-contained page: the picture, the families and the bifurcations.

    Raises
    ------
    BackendMissing
        If matplotlib or jinja2 is not installed.
    """
    return place(Path(path), render_equilibria(found, title=title, command=command, extra=extra).encode())


def render_equilibria(found: Equilibria, *, title: str = "", command: str = "", extra: Sequence[Family] = ()) -> str:
    """Return the page as text; see `write_equilibria_page`."""
    cuts = [found.low, *found.values(), found.high]
    return filled(
        "equilibria.html", found=found, pieces=list(zip(cuts, cuts[1:], found.families, strict=False)), extra=extra,
        title=title, command=command, picture=png_url(draw_equilibria(found, title=title)),
    )  # fmt: skip


def _bands(found: Equilibria) -> Any:
    """Draw the intervals over the parameter."""
    sheet = new_sheet((8.0, 5.0))
    axis = sheet.add_subplot()
    lam, q = np.linspace(found.low, found.high, GRID), np.linspace(*found.window[0], 4 * GRID)
    excess = _excess(found, q[:, None], lam[None, :])
    axis.contourf(lam, q, excess, levels=[-np.inf, 0.0], colors=[FILL])
    axis.contour(lam, q, excess, levels=[0.0], colors=[EDGE], linewidths=1.4)
    for one in found.bifurcations:
        axis.plot(one.value, one.q[0], "o", ms=7, mfc="white", mec=INK, mew=1.6, zorder=5)
    for value in found.values():
        kinds = " and ".join(dict.fromkeys(one.kind for one in found.bifurcations if abs(one.value - value) < 1e-9))
        axis.annotate(f"{kinds}\n{found.parameter} = {value:.6g}", (value, axis.get_ylim()[0]), xytext=(4, 6),
                      textcoords="offset points", fontsize=9, color=INK)  # fmt: skip
        axis.axvline(value, color=INK, lw=0.7, ls=":")
    axis.set_xlabel(_label(found.parameter, found.unit))
    axis.set_ylabel(_label(found.names[0], found.units[0]))
    return sheet


def _regions(found: Equilibria) -> Any:
    """Draw the region between, and at, the bifurcations."""
    values = [one.value for one in found.families]
    shown = sorted([*values, *found.values()])
    columns = min(len(shown), 3)
    rows = -(-len(shown) // columns)
    x, y = (np.linspace(*_range(found, j), GRID) for j in (0, 1))
    high = min(4.0 * (y[-1] - y[0]) / (x[-1] - x[0]), 8.0) + 0.6
    sheet = new_sheet((4.0 * columns, high * rows + 0.4))
    axes = np.atleast_1d(sheet.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    for axis, value in zip(axes, shown, strict=False):
        excess = _excess(found, x[None, :], y[:, None], value)
        axis.contourf(x, y, excess, levels=[-np.inf, 0.0], colors=[FILL])
        axis.contour(x, y, excess, levels=[0.0], colors=[EDGE], linewidths=1.4)
        here = [one for one in found.bifurcations if abs(one.value - value) < 1e-9]
        for one in here:
            axis.plot(*one.q, "o", ms=6, mfc="white", mec=INK, mew=1.5, zorder=5)
        family = next((one for one in found.families if one.value == value), None)
        words = " and ".join(dict.fromkeys(one.kind for one in here)) if family is None else (
            f"pieces {family.components}, holes {family.holes}")  # fmt: skip
        axis.set_title(f"{found.parameter} = {value:.6g}: {words}", fontsize=9.5, color=INK)
        axis.set_aspect("equal")
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    for axis in axes[-columns:]:
        axis.set_xlabel(_label(found.names[0], found.units[0]))
    for axis in axes[::columns]:
        axis.set_ylabel(_label(found.names[1], found.units[1]))
    return sheet


def _range(found: Equilibria, j: int) -> tuple[float, float]:
    """Return what part of the window the families fill, with a margin."""
    boxes = [one.intervals[j] for one in found.families if one.intervals]
    low, high = min(a for a, _ in boxes), max(b for _, b in boxes)
    room = 0.08 * (high - low)
    return max(low - room, found.window[j][0]), min(high + room, found.window[j][1])


def _excess(found: Equilibria, *x: Any) -> Any:
    """Return what is <= 0 where friction holds the system."""
    conditions = found.conditions
    shape = np.broadcast_shapes(*(np.shape(one) for one in x))
    parts = [np.broadcast_to(g.number(list(x)), shape) for g in conditions.sides or (conditions.phi,)]
    if conditions.pushes is not None:
        parts.append(-np.broadcast_to(conditions.pushes.number(list(x)), shape))
    return np.max(parts, axis=0)


def _label(name: str, unit: str) -> str:
    return name if unit in ("1", "SI") else f"{name} ({unit})"
