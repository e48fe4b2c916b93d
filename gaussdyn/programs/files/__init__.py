"""Problems in files."""

from .fclib import read, write
from .formats import read_problem

__all__ = ["read", "read_problem", "write"]
