"""Many states of one system advanced together."""

from .worlds import Worlds

__all__ = ["Worlds"]
