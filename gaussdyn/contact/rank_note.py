"""What an answer has to say where bilateral constraints lose rank: it is no limit of motions."""

from __future__ import annotations

import numpy as np

from ..mechanics.branching.configuration_space import RANK
from .snapshot import LocalDynamics

LISTED = 8
NO_LIMIT = (
    "acceleration and reactions need not be the limits along a branch, which "
    "gaussdyn.analysis.singular.singular_loads gives"
)
OFF_BRANCH = "only velocities along one of them, which gaussdyn.analysis.singular.branches finds, have an acceleration"


def rank_note(dynamics: LocalDynamics, moves: bool = True) -> str:
    """Return in words that bilateral constraints lose rank at a state, which has a motion or none; else empty.

    Rows that depend on each other everywhere, as those of a redundant mechanism, lose nothing. Only accelerations are
    asked for: velocities at the end of a step are admissible there as elsewhere.
    """
    if dynamics.level != "acceleration":
        return ""
    rows = [row for row in dynamics.rows if row.bilateral and row.level == "position"]
    s = np.linalg.svd(np.array([row.J[0] for row in rows]), compute_uv=False) if rows else np.ones(1)
    if len(rows) <= dynamics.nv and s[-1] > RANK * s[0]:
        return ""
    from ..mechanics.branching.rank import rank_loss_at

    loss = rank_loss_at(dynamics.system, dynamics.t, dynamics.q)
    if loss is None:
        return ""
    more = len(loss.ids) - LISTED
    named = ", ".join(loss.ids[:LISTED]) + (f" and {more} more" if more > 0 else "")
    return (
        f"constraints lose rank at this configuration, {loss.rank} instead of {loss.usual} beside it ({named}): "
        f"branches may meet here, and {NO_LIMIT if moves else OFF_BRANCH}"
    )
