"""The performance profile of a race: the share of problems that a solver does within a factor of the best time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..arrays import Array

FARTHEST = 1e4  # times the best


def profile(times: Mapping[str, Array], path: Path, *, first: str) -> None:
    """Draw the profile (Dolan and Moré 2002) to a file.

    Parameters
    ----------
    times : mapping of str to Array, shape (problems,)
        Times of every solver; infinite where it failed.
    path : Path
        PNG, SVG or PDF.
    first : str
        The solver whose line is thick.
    """
    from matplotlib.figure import Figure

    table = np.array(list(times.values()))
    best = np.maximum(table.min(axis=0), 1e-9)
    axes = (figure := Figure(figsize=(7.0, 4.5))).subplots()
    for solver, own in zip(times, table, strict=True):
        done = np.isfinite(own)
        factor = np.sort(own[done] / best[done])
        x, share = np.r_[1.0, factor, FARTHEST], np.r_[0.0, np.arange(1, len(factor) + 1), len(factor)]
        axes.step(x, share / table.shape[1], where="post", label=solver, linewidth=2.5 if solver == first else 1.0)
    axes.set(xscale="log", xlim=(1.0, FARTHEST), ylim=(0.0, 1.02))
    axes.set(xlabel="time / best time", ylabel="share of problems solved")
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150, bbox_inches="tight")
