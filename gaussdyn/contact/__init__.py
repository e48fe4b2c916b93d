"""Bodies meet optimisation here: from constraints at a state to a problem, and from its solution to reactions."""

from .pair_manifolds import Manifold, manifolds_near
from .reactions import reactions

__all__ = ["Manifold", "manifolds_near", "reactions"]
