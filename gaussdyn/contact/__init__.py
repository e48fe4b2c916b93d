"""Bodies meet optimisation here: from constraints at a state to a problem, and from its solution to reactions."""

from .reactions import reactions

__all__ = ["reactions"]
