"""How a time stepper evaluates its steps: what an audit must know to put the recorded numbers into the laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...arrays import scalar
from ...contact.snapshot import Activation
from ...errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """Where a step from (t, q, v) to (t+, q+, v+) evaluates what.

    Attributes
    ----------
    rows : float
        Masses, forces and rows stand at t + rows dt and move(q, v, rows dt), unless the step says at what place.
    force : float
        Forces are those of the velocity v + force (v+ - v).
    moves : float
        Coordinates move with the velocity v + moves (v+ - v).
    laws : str
        "end": u+ is the rate at (t+, q+, v+); "rows": the rate with v+ where the rows stand.
    project : bool
        Whether coordinates are projected onto joints and gaps afterwards.
    activation : Activation
        What counts as closed, and as approaching.
    """

    rows: float
    force: float
    moves: float
    laws: str = "end"
    project: bool = False
    activation: Activation = field(default_factory=Activation)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Scheme:
        """Return the scheme that the settings of a stepper name; theta sets all shares that are not given.

        Raises
        ------
        InputError
            A share that is not in [0, 1], unknown laws.
        """
        theta = _share(settings, "theta", 1.0)
        laws = settings.get("laws", "end")
        if laws not in ("end", "rows"):
            raise InputError("settings.stepper.laws", repr(laws), '"end" or "rows"', 'Write laws="end".')
        return cls(
            rows=_share(settings, "rows", 1.0 - theta),
            force=_share(settings, "force", theta),
            moves=_share(settings, "moves", theta),
            laws=laws,
            project=bool(settings.get("project", False)),
            activation=Activation(**dict(settings.get("activation", {}))),
        )


def _share(settings: Mapping[str, Any], name: str, default: float) -> float:
    given = settings.get(name, default)
    try:
        return scalar(name, given, low=0.0, high=1.0)
    except InputError as error:
        raise InputError(f"settings.stepper.{name}", repr(given), error.allowed, f"Write {name}=1.0.") from None
