"""Pictures of a cross-check: errors of every realization over the stiffness, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.crosscheck.crosscheck import QUANTITIES
from ..analysis.crosscheck.results import CrossCheck
from .colours import PALETTE
from .page_template import figure, filled
from .pictures import finished, new_sheet, png_url
from .place import place

SIZE = (12.0, 4.0)
MARKERS, LINES = ("o", "s", "^"), ("-", "--", ":")  # realizations may lie on top of each other
UNITS = {"position": "SI", "velocity": "SI", "reaction": "N"}


def draw_crosscheck(check: CrossCheck, path: str | Path | None = None) -> Any:
    """Draw the errors of position, velocity and reaction over N, with the measured orders.

    Parameters
    ----------
    check : CrossCheck
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
    for axis, quantity in zip(sheet.subplots(1, len(QUANTITIES)), QUANTITIES, strict=True):
        _errors(axis, check, quantity)
        drawn = bool(axis.lines)
        if not drawn:
            axis.text(0.5, 0.5, "nothing to draw over N", ha="center", va="center", transform=axis.transAxes)
            axis.set_xticks([])
            axis.set_yticks([])
        if drawn and check.floor[quantity] > 0.0:
            axis.axhline(check.floor[quantity], ls=":", color="#5b6b7a", label="error of the rigid run")
        axis.set_title(quantity, loc="left")
        axis.set_xlabel("N (N/m, N s/m)")
        axis.set_ylabel(f"largest difference, {UNITS[quantity]}")
        handles, _ = axis.get_legend_handles_labels()
        if handles:
            axis.legend(fontsize=7)
    sheet.suptitle(f"{check.scene}: distance to {check.reference}", fontsize=11)
    return finished(sheet, path)


def _errors(axis: Any, check: CrossCheck, quantity: str) -> None:
    """Draw a line for every realization: its errors of a quantity over N, those that are not zero."""
    for k, one in enumerate(check.results):
        levels = [level for level in one.levels if np.isfinite(level.stiffness) and level.gaps[quantity].value > 0.0]
        if levels:
            N, e = [level.stiffness for level in levels], [level.gaps[quantity].value for level in levels]
            label = f"{one.name}, {one.orders[quantity]}"
            style = {"marker": MARKERS[k % len(MARKERS)], "ls": LINES[k % len(LINES)], "fillstyle": "none"}
            axis.loglog(N, e, color=PALETTE[k % len(PALETTE)], label=label, **style)


def write_crosscheck_page(path: str | Path, check: CrossCheck, *, command: str = "") -> Path:
    """Write a self-contained page: the picture, what was found, orders with their intervals, all differences.

    Raises
    ------
    BackendMissing
        If matplotlib or jinja2 is not installed.
    InputError
        If the place cannot be written.
    """
    return place(Path(path), render_crosscheck(check, command=command).encode())


def render_crosscheck(check: CrossCheck, *, command: str = "") -> str:
    """Return the page of a cross-check as text; see `write_crosscheck_page`."""
    picture = png_url(draw_crosscheck(check), dpi=130)
    return filled("crosscheck.html", check=check, command=command, figure=_known, picture=picture)


def _known(x: float) -> str:
    """Return a figure in words; a dash for NaN."""
    return figure(None if np.isnan(x) else float(x), 4)
