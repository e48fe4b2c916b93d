"""Pictures of branch points: the curves that meet there, and the reactions along one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.singular.configurations import Branches, follow
from ..analysis.singular.reaction_limits import reactions_along
from ..arrays import scalar
from ..errors import InputError
from ..mechanics.system import System
from .colours import PALETTE
from .pictures import finished, new_sheet

SIZE = (6.0, 4.5)
POINTS = 200


def draw_branches(
    system: System,
    found: Branches,
    *,
    axes: tuple[int, int] = (0, 1),
    length: float = 1.0,
    names: tuple[str, str] | None = None,
    path: str | Path | None = None,
) -> Any:
    """Draw the branches that meet at a configuration, in the plane of two coordinates, to both sides.

    Parameters
    ----------
    system : System
    found : Branches
        From `analysis.branches.branches`.
    axes : pair of int
        Which coordinates.
    length : float
        How far each branch is followed, m or rad.
    names : pair of str, optional
    path : str or Path, optional
        Where to write it too (.png, .svg, .pdf).

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        No branch, unknown coordinates.
    BackendMissing
        If matplotlib is not installed.
    """
    length = scalar("length", length, low=0.0, open_low=True)
    if not found.point.branches:
        raise InputError(
            "found", found.kind, "a configuration where branches meet", "Look where they meet: gaussdyn branches SCENE."
        )
    if any(isinstance(k, bool) or not 0 <= k < system.nq for k in axes):
        raise InputError("axes", axes, f"two numbers from 0 to {system.nq - 1}", "Write axes=(0, 1).")
    sheet = new_sheet(SIZE)
    plane = sheet.subplots()
    for j, branch in enumerate(found.point.branches):
        if branch.whole:
            ends = [follow(system, found.point.q, length=s * length, step=0.02 * length, branch=j) for s in (-1.0, 1.0)]
            places = np.vstack([ends[0][::-1], ends[1][1:]])
            plane.plot(*places[:, list(axes)].T, color=PALETTE[j % len(PALETTE)], label=f"branch {j}")
    plane.plot(*found.point.q[list(axes)], "o", color="#333333", ms=5, label=found.kind)
    words = names or (f"q{axes[0]}", f"q{axes[1]}")
    plane.set_xlabel(words[0])
    plane.set_ylabel(words[1])
    plane.legend(fontsize=8)
    return finished(sheet, path)


def draw_reactions(
    system: System,
    found: Branches,
    branch: int,
    *,
    speed: float = 1.0,
    reach: float = 0.2,
    path: str | Path | None = None,
) -> Any:
    """Draw the multipliers along a branch over the distance from the point where it meets others.

    Parameters
    ----------
    branch : int
    speed : float
        Along the tangent, m/s or rad/s.
    reach : float
        How far to both sides, m or rad.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        No such branch, a reach beyond the piece of curve that is known.
    BackendMissing
        If matplotlib is not installed.
    """
    reach = scalar("reach", reach, low=0.0, open_low=True)
    s = np.linspace(-reach, reach, POINTS)  # even: zero is not among them
    lam = reactions_along(system, found.point, branch, s, speed=speed)
    sheet = new_sheet(SIZE)
    plane = sheet.subplots()
    for k, id in enumerate(found.point.reduction.space.ids):
        for part in (s < 0.0, s > 0.0):
            words = id if part[0] else None
            plane.plot(s[part], lam[part, k], color=PALETTE[k % len(PALETTE)], lw=1.2, label=words)
    plane.set_yscale("symlog", linthresh=max(float(np.median(np.abs(lam))), 1e-12))
    plane.set_xlabel(f"distance along branch {branch}")
    plane.set_ylabel("multipliers (N)")
    plane.legend(fontsize=8)
    return finished(sheet, path)
