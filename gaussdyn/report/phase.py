"""Pictures of a run in the plane of two coordinates, over the curve that its constraint leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..integrate.run.trajectory import Trajectory
from ..mechanics.system import System
from ..mends import one_of
from .colours import PALETTE
from .pictures import finished, new_sheet

SIZE = (6.0, 4.5)
POINTS = 121  # along each axis, for the curve


def draw_phase(
    system: System,
    row: str,
    runs: Mapping[str, Trajectory],
    *,
    names: tuple[str, str] = ("q0", "q1"),
    path: str | Path | None = None,
) -> Any:
    """Draw runs over the configuration curve gap(q) = 0 of one constraint of a system with two coordinates.

    Parameters
    ----------
    system : System
        Of two coordinates.
    row : str
        Id of the constraint whose curve is drawn.
    runs : mapping of str to Trajectory
        By the words for the legend.
    names : pair of str
        What to call the coordinates.
    path : str or Path, optional
        Where to write it too (.png, .svg, .pdf).

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        No run, no such row, a system of other than two coordinates, or a path that cannot be written.
    BackendMissing
        If matplotlib is not installed.
    """
    if not runs:
        raise InputError("runs", runs, "at least one run", "Write runs=[simulate(scene)].")
    if system.nq != 2:
        raise InputError(
            "system",
            f"{system.nq} coordinates",
            "two coordinates",
            "Write run.plot('x', 'y'): the curve is drawn in their plane.",
        )
    known = [one.id for one in system.rows(0.0, next(iter(runs.values())).q[0], np.zeros(2))]
    if row not in known:
        raise InputError("row", repr(row), ", ".join(known), one_of("row", row, known))
    sheet = new_sheet(SIZE)
    axis = sheet.subplots()
    x, y = (_span([run.q[:, k] for run in runs.values()]) for k in (0, 1))
    axis.contour(x, y, _gaps(system, known.index(row), x, y), levels=[0.0], colors="#9aa7b3", linewidths=4.0)
    for k, (words, run) in enumerate(runs.items()):
        axis.plot(*run.q.T, color=PALETTE[k % len(PALETTE)], lw=1.2, label=words)
        axis.plot(*run.q[0], "o", color=PALETTE[k % len(PALETTE)], ms=5)
    axis.set_xlabel(names[0])
    axis.set_ylabel(names[1])
    axis.legend(fontsize=8)
    return finished(sheet, path)


def _span(values: Sequence[Array]) -> Array:
    """Return a grid over all values, with a margin."""
    low, high = min(float(x.min()) for x in values), max(float(x.max()) for x in values)
    margin = 0.15 * (high - low) + 1e-6
    return np.linspace(low - margin, high + margin, POINTS)


def _gaps(system: System, index: int, x: Array, y: Array) -> Array:
    """Return the gap of one row at every point of the grid."""
    v = np.zeros(2)
    return np.array([[system.rows(0.0, np.array([a, b]), v)[index].gap for a in x] for b in y])
