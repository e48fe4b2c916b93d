"""Springs, dampers and smooth forces in the place of constraints."""

from .penalty import Penalty
from .slow_manifold import slow_start
from .smooth import Smooth
from .viscous import Viscous

__all__ = ["Penalty", "Smooth", "Viscous", "slow_start"]
