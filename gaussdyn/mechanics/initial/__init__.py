"""First states that obey the constraints."""

from .consistent_state import check_initial
from .overlap import pushed_apart

__all__ = ["check_initial", "pushed_apart"]
