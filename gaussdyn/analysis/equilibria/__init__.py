"""Equilibria held by friction."""

from .equilibria import Equilibria, equilibria

__all__ = ["Equilibria", "equilibria"]
