"""What a cross-check finds: how far realizations are from the rigid run, level by level of stiffness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._show import brief
from .boundary_layer import BoundaryLayer
from .orders import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The largest difference of a quantity between two runs: how much, when, and which component."""

    value: float
    t: float
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A realization at one stiffness, against the rigid run.

    Attributes
    ----------
    stiffness : float
        N; nan for a realization without.
    gaps : mapping of str to Gap
        Largest difference of position (SI), velocity (SI) and reaction (N, mean over an interval).
    fast_start, fast_end : float
        Energy in vibration across the constraints, J; nan where it is not defined.
    stop : str
        Why it did not get to the end, "" if it did.
    t_reached : float
        Time up to which it is compared, s.
    wall_s : float
    """

    stiffness: float
    gaps: Mapping[str, Gap]
    fast_start: float
    fast_end: float
    stop: str = ""
    t_reached: float
    wall_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """One realization over a ladder of stiffnesses.

    Attributes
    ----------
    name : str
    levels : tuple of Level
    orders : mapping of str to Order
        Of position, velocity and reaction, in 1/N.
    layer : BoundaryLayer or None
        At the start, for viscous realizations.
    reason : str
        Why it does not apply, "" if it does.
    words : str
        What was found, in a sentence.
    """

    name: str
    levels: tuple[Level, ...] = ()
    orders: Mapping[str, Order]
    layer: BoundaryLayer | None = None
    reason: str = ""
    words: str = ""

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossCheck:
    """What the realizations of a scene have in common with its rigid run.

    Attributes
    ----------
    scene : str
    params : mapping
    t_end : float
    start : str
        given, or slow (on the slow manifold).
    reference : str
        Stepper of the rigid run that errors are measured against.
    floor : mapping of str to float
        Its own error, by step halving.
    results : tuple of Compared
    """

    scene: str
    params: Mapping[str, float]
    t_end: float
    start: str
    reference: str
    floor: Mapping[str, float]
    results: tuple[Compared, ...]

    __repr__ = brief

    def __getitem__(self, name: str) -> Compared:
        """Return the result of one realization."""
        for one in self.results:
            if one.name == name:
                return one
        raise KeyError(name)

    def explain(self) -> str:
        """Return what was found, one line per realization."""
        head = f"{self.scene}: against {self.reference} over {self.t_end:g} s, from the {self.start} start"
        return "\n".join([head, *(f"{one.name}: {one.words or one.reason}" for one in self.results)])

    def __str__(self) -> str:
        return self.explain()

    def to_json(self) -> dict[str, Any]:
        """Return the document of the file formats."""
        from .document import document

        return document(self)
