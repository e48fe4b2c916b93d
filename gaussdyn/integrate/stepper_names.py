"""All steppers by name: for the command line, and for files that say which one made them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..contact.snapshot import Activation
from ..errors import InputError
from ..mends import one_of
from .event_driven.integrator import EventDriven
from .event_driven.painleve_passage import Compliance
from .impact.impact_laws import law_of
from .realizations.penalty import Penalty
from .realizations.smooth import Smooth
from .realizations.viscous import Viscous
from .singular.on_branch import OnBranch
from .stepper import Stepper
from .time_stepping.moreau_jean import MoreauJean
from .time_stepping.tolerance import Tolerance

STEPPERS: dict[str, Any] = {one.name: one for one in (MoreauJean, EventDriven, Penalty, Viscous, Smooth, OnBranch)}


def named(name: str, **settings: Any) -> Stepper:
    """Return a stepper by name.

    Raises
    ------
    InputError
        An unknown name, or a setting that the stepper does not have.
    """
    if name not in STEPPERS:
        raise InputError("stepper", repr(name), ", ".join(STEPPERS), one_of("stepper", name, STEPPERS))
    known = STEPPERS[name].__dataclass_fields__
    for key in settings:
        if key not in known:
            raise InputError(
                key, settings[key], f"the settings of {name}: {', '.join(known)}", f"Leave {key} out: {name}()."
            )
    stepper: Stepper = STEPPERS[name](**settings)
    return stepper


def from_settings(document: Mapping[str, Any]) -> Stepper:
    """Return the stepper whose ``settings()`` gave this document.

    Raises
    ------
    InputError
        There is no such stepper.
    """
    try:
        return _from_settings(document)
    except (TypeError, AttributeError) as error:
        raise InputError(
            "settings.stepper", dict(document), "what a stepper says of itself", f"Write MoreauJean(dt=1e-3) ({error})."
        ) from None


def _from_settings(document: Mapping[str, Any]) -> Stepper:
    gone = ("events", "compiled")  # functions are not kept; runs of version 0.1 say whether they were compiled
    settings = {key: value for key, value in document.items() if key not in gone}
    name = str(settings.pop("name", ""))
    if "activation" in settings:
        settings["activation"] = Activation(**settings["activation"])
    if "impact" in settings:
        settings["impact"] = law_of(settings["impact"])
    if isinstance(settings.get("on_none"), Mapping):
        settings["on_none"] = Compliance(**settings["on_none"])
    if settings.get("step") is not None and name == MoreauJean.name:
        settings["step"] = Tolerance(**settings["step"])
    return named(name, **settings)
