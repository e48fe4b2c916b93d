"""What a solver returns, and how good it is, recomputed from the problem."""

from .residuals import Residuals
from .solution import Solution
from .status import Status

__all__ = ["Residuals", "Solution", "Status"]
