"""Rigid runs beside springs, dampers and other steppers."""

from .crosscheck import crosscheck
from .results import CrossCheck

__all__ = ["CrossCheck", "crosscheck"]
