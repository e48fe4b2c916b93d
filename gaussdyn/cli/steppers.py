"""Names of integrators on the command line."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ..errors import InputError

if TYPE_CHECKING:
    from ..integrate.stepper import Stepper

STEPPERS = ("moreau_jean",)
PLANNED = ("event_driven", "penalty", "viscous", "smooth")


def stepper_of(name: str, *, dt: float, theta: float | None = None) -> Stepper:
    """Return the integrator of that name.

    Raises
    ------
    InputError
        An unknown name, one that is not available yet, or a step that is not positive.
    """
    if name not in STEPPERS:
        near = difflib.get_close_matches(name, STEPPERS, n=1)
        mend = "It is not available yet." if name in PLANNED else f"Did you mean {near[0]}?" if near else ""
        raise InputError("--stepper", repr(name), ", ".join(STEPPERS), mend)
    from ..integrate.moreau_jean import MoreauJean

    return MoreauJean(dt=dt) if theta is None else MoreauJean(dt=dt, theta=theta)
