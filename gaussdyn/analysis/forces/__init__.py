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
    from .margins_along import margins as margins
    from .margins_along import with_margins as with_margins
    from .rational_set import exact as exact
    from .reaction_set import ReactionSet as ReactionSet
    from .selections import elastic as elastic
    from .selections import interior as interior
    from .selections import shortest as shortest
    from .selections import smoothest as smoothest
    from .statics import holding as holding
    from .statics import limit_load as limit_load
    from .wrenches import ContactPoint as ContactPoint
    from .wrenches import bears as bears
    from .wrenches import contact_points as contact_points
    from .wrenches import force_closure as force_closure
    from .wrenches import support_region as support_region

__all__ = [
    "ContactPoint",
    "ReactionSet",
    "bears",
    "contact_points",
    "dependence",
    "dependence_along",
    "elastic",
    "exact",
    "force_closure",
    "forces",
    "holding",
    "interior",
    "limit_load",
    "margins",
    "polygon",
    "shortest",
    "smoothest",
    "support_region",
    "with_margins",
]

__getattr__, __dir__ = _on_demand(
    __name__,
    {
        "at_state": ("forces",),
        "dependent_rows": ("dependence", "dependence_along"),
        "force_polygon": ("polygon",),
        "margins_along": ("margins", "with_margins"),
        "rational_set": ("exact",),
        "reaction_set": ("ReactionSet",),
        "selections": ("elastic", "interior", "shortest", "smoothest"),
        "statics": ("holding", "limit_load"),
        "wrenches": ("ContactPoint", "bears", "contact_points", "force_closure", "support_region"),
    },
)
