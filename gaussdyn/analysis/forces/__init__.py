"""What is known of forces that are not unique: sets of reactions, dependent rows, loads that can be borne, margins.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from .at_state import forces as forces
    from .dependent_rows import dependence as dependence
    from .dependent_rows import dependence_along as dependence_along
    from .force_polygon import polygon as polygon
    from .rational_set import exact as exact
    from .reaction_set import ReactionSet as ReactionSet

__all__ = ["ReactionSet", "dependence", "dependence_along", "exact", "forces", "polygon"]

__getattr__, __dir__ = _on_demand(
    __name__,
    {
        "at_state": ("forces",),
        "dependent_rows": ("dependence", "dependence_along"),
        "force_polygon": ("polygon",),
        "rational_set": ("exact",),
        "reaction_set": ("ReactionSet",),
    },
)
