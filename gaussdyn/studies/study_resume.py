"""How a study that was cut off is gone on with: what may have changed, and which runs are carried out again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .template import STATUSES

DIGESTS = "digests"  # key of the settings: what functions of the user do
ENDED = STATUSES[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """How to go on with a study; ``resume=True`` is Resume().

    Parameters
    ----------
    again : tuple of str
        Statuses whose runs are carried out once more, e.g. ``("DIED",)`` with more memory, ``("FAILED",)`` after an
        edit; also in a study that is complete.
    edited : bool
        Go on though `build` or `measure` were edited: runs that are there stay what they were.

    Raises
    ------
    InputError
        Something that is no status.
    """

    again: tuple[str, ...] = ()
    edited: bool = False

    def __post_init__(self) -> None:
        given: Any = self.again
        wrong = not isinstance(given, tuple) or not set(given) <= set(ENDED)
        if wrong:
            raise InputError("again", repr(given), f"a tuple of statuses among {', '.join(ENDED)}", 'E.g. ("DIED",).')

    def check(self, settings: Mapping[str, Any], found: Mapping[str, Any], where: object) -> None:
        """Refuse to go on with another study, or with functions that were edited unless that is asked for.

        Raises
        ------
        InputError
            Names the setting, or the function.
        """
        for key in settings.keys() | found.keys():
            if key != DIGESTS and settings.get(key) != found.get(key):
                said = f"{where}, whose {key} is another"
                raise InputError(
                    "resume", said, "the file of the same study", 'Write out="other.h5", or delete this one.'
                )
        now, then = settings.get(DIGESTS, {}), found.get(DIGESTS, {})
        for name in now:
            if now[name] != then.get(name) and not self.edited:
                mend = "Begin anew with another file, or resume=Resume(edited=True) keeps the runs that are there."
                raise InputError("resume", f"{where}; {name} was edited since", f"{name} as it was", mend)


def resume_of(given: object) -> Resume | None:
    """Return how to go on; None where the study shall begin.

    Raises
    ------
    InputError
        Neither a truth value nor a Resume.
    """
    if isinstance(given, bool):
        return Resume() if given else None
    if isinstance(given, Resume):
        return given
    raise InputError("resume", repr(given), "True, False or a gaussdyn.studies.Resume", "Write resume=True.")


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they are read from a file."""
    found: dict[str, Any] = json.loads(json.dumps(settings))
    return found
