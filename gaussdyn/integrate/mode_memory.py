"""What a state remembers of the phase that it is in: modes, rebounds, the length of the integrator's step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..arrays import Array
from .contact_modes import Mode, Modes
from .impact.zeno import Rebound

MODE, REBOUND, LENGTH, CROWD = ":mode", ":rebound", "event_driven:h", "event_driven:crowd"
LARGEST, PACE, FIRED, WATCHED = "event_driven:largest", "event_driven:pace", ":fired", "event_driven:watched"
BROKEN = "event_driven:broken"  # the modes are those before an event at which no others were found


def remembered(memory: Mapping[str, Array], ids: Iterable[str]) -> dict[str, Mode]:
    """Return the modes that a state remembers of these rows."""
    return {key: _mode(memory[key + MODE]) for key in ids if key + MODE in memory}


def all_remembered(memory: Mapping[str, Array]) -> dict[str, Mode]:
    """Return the modes of all rows of which a state remembers any."""
    return {key[: -len(MODE)]: _mode(x) for key, x in memory.items() if key.endswith(MODE)}


def fired(memory: Mapping[str, Array]) -> set[str] | None:
    """Return the events of the user that the segment before a state ended with; None where that is not known.

    States that no segment led to do not say it, nor those of earlier versions, and of runs without such events.
    """
    return {key[: -len(FIRED)] for key in memory if key.endswith(FIRED)} if WATCHED in memory else None


def fired_memory(names: Iterable[str]) -> dict[str, Array]:
    """Return the memory of a run with events of the user, of which these end a segment."""
    return {WATCHED: np.ones(1), **{name + FIRED: np.ones(1) for name in names}}


def rebounds(memory: Mapping[str, Array]) -> dict[str, Rebound]:
    """Return the last rebound of every contact that a state remembers."""
    found = {key[: -len(REBOUND)]: Rebound.of(x) for key, x in memory.items() if key.endswith(REBOUND)}
    return {key: one for key, one in found.items() if one is not None}


def memory_of(
    modes: Modes, forces: Mapping[str, Array], bounced: Mapping[str, Rebound], h: float, crowd: float
) -> dict[str, Array]:  # fmt: skip
    """Return the memory of a state at the end of a leg.

    Parameters
    ----------
    modes : mapping of str to Mode
    forces : mapping of str to Array
        Reactions there, N.
    bounced : mapping of str to Rebound
    h : float
        Next step of the integrator, s.
    crowd : float
        Number of events in a row that are hardly apart.
    """
    memory = {key: r for key, r in forces.items() if r.any()}
    memory |= {key + MODE: _numbers(mode) for key, mode in modes.items()}
    memory |= {key + REBOUND: one.as_memory() for key, one in bounced.items()}
    return memory | {LENGTH: np.array([h]), CROWD: np.array([crowd])}


def _numbers(mode: Mode) -> Array:
    return np.array([mode.closed, mode.sign, len(mode.slip), *mode.slip, len(mode.roll), *mode.roll], dtype=np.float64)


def _mode(x: Array) -> Mode:
    n = 3 + int(x[2])
    slip, roll = x[3:n], x[n + 1 : n + 1 + int(x[n])]
    return Mode(closed=bool(x[0]), slip=tuple(slip.tolist()), roll=tuple(roll.tolist()), sign=float(x[1]))
