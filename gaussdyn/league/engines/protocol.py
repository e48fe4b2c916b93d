"""What an engine of the league is: one small adapter turns plain data into its model and reads it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ...arrays import Array
from ..world import World

DEFAULTS = "defaults"


class Lacks(Exception):
    """An engine has no such feature; its words are the row of the table."""


class Simulation(Protocol):
    """A world under way in an engine; one that can refuse to go on says why in an attribute `stopped`."""

    def step(self, n: int) -> None:
        """Take n steps."""

    def states(self) -> Array:
        """Return all bodies as rows x y z, w x y z, velocity, angular velocity in space; shape (bodies, 13)."""

    def said(self) -> str:
        """Return what the engine reports by itself: warnings, stops, verdicts; empty if nothing."""


class Engine(Protocol):
    """A library and how it is asked to simulate.

    Attributes
    ----------
    name, library : str
        As people call it, and the module that is imported.
    settings : mapping of str to str
        `DEFAULTS` first, then the best known ones: names, and in words what is set.
    """

    name: str
    library: str
    settings: Mapping[str, str]

    def version(self) -> str:
        """Return the version of the library."""

    def start(self, world: World, setting: str, dt: float) -> Simulation:
        """Return a world ready for its first step of dt, s.

        Raises
        ------
        Lacks
            The engine has no such feature.
        """
