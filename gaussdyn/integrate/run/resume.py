"""Going on with a run that was interrupted: only with the settings it was begun with."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import InputError
from .hdf5 import plain
from .trajectory import Trajectory

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of a function: another one in every process
MOST = 5  # differences that are named


def complete(earlier: Trajectory, t_end: float) -> bool:
    """Return whether a run has reached its end already.

    Raises
    ------
    InputError
        If it has gone beyond.
    """
    if earlier.t_reached > t_end:
        mend = "The run is there already; leave out resume=True (--resume) for a shorter one."
        raise InputError("t_end", t_end, f">= {earlier.t_reached:g} s, which the run has reached", mend)
    return earlier.status == "COMPLETED" and earlier.t_reached == t_end


def check_same(earlier: Trajectory, settings: Mapping[str, Any], versions: Mapping[str, str]) -> None:
    """Refuse to go on with other settings; t_end alone may differ. Warn of other versions.

    Raises
    ------
    InputError
        Names the settings that differ, with both values.
    """
    one, other = comparable(earlier.settings), comparable(settings)
    found = list(differences(one, other))
    if found:
        given = "; ".join(f"{key} = {_short(now)}" for key, _, now in found[:MOST])
        allowed = "; ".join(f"{key} = {_short(was)}" for key, was, _ in found[:MOST])
        mend = "These are the settings that the run was begun with; leave out resume=True (--resume) to begin anew."
        raise InputError("resume", given, allowed, mend)
    changed = [f"{key} {was} -> {now}" for key, was, now in differences(dict(earlier.versions), dict(versions))]
    if changed:
        warnings.warn(f"the run goes on with other versions: {', '.join(changed)}", UserWarning, stacklevel=4)


def comparable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as a file gives them back, without t_end and without addresses of functions."""
    text = json.dumps({key: value for key, value in settings.items() if key != "t_end"}, default=plain)
    found: dict[str, Any] = json.loads(ADDRESS.sub("", text))
    if found.get("examine") == "start":
        found["examine"] = "off"  # as it is after the first step
    return found


def differences(was: Any, now: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, was, now) of every entry that differs."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            yield from differences(was.get(key), now.get(key), f"{name}.{key}" if name else str(key))
    elif was != now:
        yield name, was, now


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
