"""Pictures of runs beside measurements: tosses, impacts, joints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.measured.adams_joints import ColumnDifference
from ...analysis.measured.cube_tosses import TossErrors
from ...analysis.measured.planar_impacts import LawErrors
from ..pictures import finished, new_sheet

OURS, SEEN, BAR = "#0b6fb8", "#9aa5b1", "#d55e00"


def draw_tosses(
    errors: TossErrors, flight: tuple[float, float], bars: tuple[float, float], path: str | Path | None = None
) -> Any:
    """Draw how many tosses are predicted within which error; `bars` and `flight` are (part of the width, degrees).

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        If `path` has an unknown ending or cannot be written.
    """
    sheet = _sheet(2)
    units = (("mean error of position, % of the width", 100.0), ("mean error of rotation, degrees", 1.0))
    for axis, found, (label, unit), floor, bar in zip(
        sheet.axes, (errors.position, errors.rotation), units, flight, bars, strict=True
    ):
        axis.plot(unit * np.sort(found), np.linspace(0.0, 100.0, len(found)), color=OURS, label="predicted")
        axis.axvline(unit * floor, color=SEEN, label="flight alone (median)")
        axis.axvline(unit * bar, color=BAR, linestyle="--", label="bar for the median")
        axis.axhline(50.0, color=SEEN, linewidth=0.5)
        axis.set_xscale("log")
        axis.set_xlabel(label)
    sheet.axes[0].set_ylabel("tosses below it, %")
    return _done(sheet, f"{len(errors.position)} recorded tosses of a cube", path)


def draw_impacts(laws: Sequence[LawErrors], path: str | Path | None = None) -> Any:
    """Draw how many impacts each law predicts within which error.

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        If `path` has an unknown ending or cannot be written.
    """
    sheet = _sheet(1)
    axis = sheet.axes[0]
    for law in laws:
        floor = not law.parameters
        share = np.linspace(0.0, 100.0, len(law.errors))
        axis.plot(100.0 * np.sort(law.errors), share, label=law.name, linestyle="--" if floor else "-", linewidth=1.2)
    axis.set_xscale("log")
    axis.set_xlim(0.3, 40.0)
    axis.set_xlabel("error of the velocity after, % of its change")
    axis.set_ylabel("impacts below it, %")
    return _done(sheet, f"{len(laws[0].errors)} recorded impacts of an ellipse", path)


def draw_joints(differences: Sequence[ColumnDifference], path: str | Path | None = None) -> Any:
    """Draw the largest difference of every column over its bar; 1 is the last digit printed, or what ADAMS holds to.

    Raises
    ------
    BackendMissing
        If matplotlib is not installed.
    InputError
        If `path` has an unknown ending or cannot be written.
    """
    sheet = _sheet(1)
    axis = sheet.axes[0]
    shown = [one for one in differences if one.bar > 0.0 and one.largest > 1e-6 and one.difference > 0.0]
    cases = list(dict.fromkeys(one.case for one in shown))
    for loose, colour, label in ((False, OURS, "column"), (True, BAR, "column whose recording is off by more")):
        chosen = [one for one in shown if one.loose is loose]
        rows = [cases.index(one.case) for one in chosen]
        axis.scatter([one.difference / one.bar for one in chosen], rows, s=14, color=colour, label=label)
    axis.axvline(1.0, color=SEEN, linestyle="--", label="bar")
    axis.set_xscale("log")
    axis.set_yticks(range(len(cases)), cases, fontsize=8)
    axis.set_xlabel("largest difference over the bar")
    return _done(sheet, f"{len(cases)} ADAMS runs of joints", path)


def _sheet(count: int) -> Any:
    sheet = new_sheet((9.0, 5.2))
    sheet.subplots(1, count)
    return sheet


def _done(sheet: Any, title: str, path: str | Path | None) -> Any:
    """Add title and legend, and write the picture if a path is given."""
    sheet.axes[0].legend(frameon=False, fontsize=8)
    return finished(sheet, path, title)
