"""Impacts: their problem, their laws, and infinitely many of them."""

from .impact import Impact, impact
from .impact_laws import Moreau, Newton, OneByOne, Poisson

__all__ = ["Impact", "Moreau", "Newton", "OneByOne", "Poisson", "impact"]
