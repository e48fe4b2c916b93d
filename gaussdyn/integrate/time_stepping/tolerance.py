"""The error that time stepping may make in a step, in place of the length of its steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...arrays import scalar

LEAST, MOST = 1e-11, 0.1  # contact problems are solved to 1e-12; at more than a tenth nothing is controlled


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far a step may be off, by an estimate: |error| <= atol + rtol |x| for every coordinate and velocity x.

    Parameters
    ----------
    rtol : float
        Relative; 1e-11 to 0.1.
    atol : float, optional
        Absolute, in the units of x (m, rad, m/s, rad/s); > 0. Default: the number that rtol is, which suits bodies of
        the size of metres.
    longest : float, optional
        No step is longer, s. Default: 20 times the `dt` of the stepper: what rests or sticks shows no error, and
        is to be looked at nevertheless before what drives it has changed.

    Raises
    ------
    InputError
        A number out of range, NaN.
    """

    rtol: float = field(default=1e-6, kw_only=False)
    atol: float | None = None
    longest: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rtol", scalar("rtol", self.rtol, low=LEAST, high=MOST))
        for name in ("atol", "longest"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, scalar(name, value, low=0.0, open_low=True))

    @property
    def absolute(self) -> float:
        """The absolute tolerance."""
        return self.rtol if self.atol is None else self.atol

    def settings(self) -> dict[str, Any]:
        """Return the settings, ready for JSON."""
        return {"rtol": self.rtol, "atol": self.atol, "longest": self.longest}
