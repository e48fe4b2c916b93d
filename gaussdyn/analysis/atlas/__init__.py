"""How many motions there are, over parameters and loads."""

from .atlas import Atlas, atlas
from .census import Census, census
from .parameter_range import Axis

__all__ = ["Atlas", "Axis", "Census", "atlas", "census"]
