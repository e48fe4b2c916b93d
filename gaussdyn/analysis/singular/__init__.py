"""Configurations where constraints lose rank."""

from .configurations import Branches, branches, branches_along, follow, passages
from .explore_branches import explore_branches
from .reaction_limits import SingularLoads, reactions_along, singular_loads

__all__ = [
    "Branches",
    "SingularLoads",
    "branches",
    "branches_along",
    "explore_branches",
    "follow",
    "passages",
    "reactions_along",
    "singular_loads",
]
